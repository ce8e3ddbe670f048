use firstread_core::Stream;
use firstread_ecc::ldpc::*;
fn q(x: f64) -> f64 { 0.5 * libm::erfc(x / 2f64.sqrt()) }

fn run(dec: &mut Decoder, rber: f64, frames: u64, d1: f64, d2: Option<f64>) -> (f64, [f64; 6]) {
    let (mut lo, mut hi) = (0.0, 10.0);
    for _ in 0..80 { let m = (lo + hi) / 2.0; if q(m) > rber { lo = m } else { hi = m } }
    let d = lo;
    let dd = d2.unwrap_or(d1);
    let p = if d1 == 0.0 { [q(d), q(d), q(d), q(d), q(d)] } else { [q(d + dd), q(d + d1), q(d), q(d - d1), q(d - dd)] };
    let c = p.map(|p| (p * 18446744073709551616.0) as u64);
    let n = dec.code().codeword_bits() as u64;
    let s = Stream::new(9);
    let mut fails = 0;
    for f in 0..frames {
        let st = s.at(f);
        let z = vec![0u64; (n / 64) as usize];
        let (mut w, mut weak, mut med) = (z.clone(), z.clone(), z);
        for i in 0..n {
            let u = st.at(i).bits();
            if u >= c[4] { continue }
            let class = c.iter().position(|&c| u < c).unwrap_or(5);
            let m = 1 << (i % 64); let k = (i / 64) as usize;
            if class < 3 { w[k] |= m }
            if class == 2 || class == 3 { weak[k] |= m }
            if class == 1 || class == 4 { med[k] |= m }
        }
        let r = dec.decode(&mut w, if d2.is_some() { Reliability::Five { weak: &weak, medium: &med } } else { Reliability::Three { weak: &weak } });
        if !r.ok { fails += 1 }
    }
    let mut last = 0.0;
    let mut e = [0.0; 6];
    for i in 0..5 { e[i] = (p[i] - last) * n as f64; last = p[i]; }
    (fails as f64 / frames as f64, e)
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let code = Ldpc::named(&args[1]).unwrap();
    let frames: u64 = args[2].parse().unwrap();
    let mut dec = Decoder::new(&code);
    let t: f64 = args[3].parse().unwrap();
    let five: Vec<(f64, Option<f64>)> = [(0.2,0.4),(0.35,0.7),(0.45,0.9),(0.6,1.2),(0.8,1.6),(0.1,0.6),(0.2,0.8),(0.4,0.6),(0.4,1.2),(0.6,0.9),(0.8,1.0),(0.3,1.1),(0.1,0.3)].iter().map(|&(d,e)| (d, Some(e))).collect();
    let three: Vec<(f64, Option<f64>)> = [0.0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9, 1.1].iter().map(|&d| (d, None)).collect();
    for (d1, d2) in if args[4] == "3" { three } else { five } {
        let (mut lo, mut hi) = (0.005f64, 0.03f64);
        for _ in 0..9 { let m = (lo + hi) / 2.0; if run(&mut dec, m, frames, d1, d2).0 < t { lo = m } else { hi = m } }
        let r = (lo + hi) / 2.0;
        let (f, e) = run(&mut dec, r, frames, d1, d2);
        println!("{},{d1},{},{r:.5},{f:.3},{:.1},{:.1},{:.1},{:.1},{:.1}", args[1], d2.unwrap_or(0.0), e[0], e[1], e[2], e[3], e[4]);
    }
}
