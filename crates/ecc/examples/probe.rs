use firstread_core::Stream;
use firstread_ecc::ldpc::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let code = Ldpc::named(&args[1]).unwrap();
    let rber: f64 = args[2].parse().unwrap();
    let frames: u64 = args[3].parse().unwrap();
    let portable = args.get(4).is_some();
    let mut d = if portable { Decoder::portable(&code) } else { Decoder::new(&code) };
    let enc = Encoder::new(&code);
    let mut word = vec![0u64; code.codeword_words()];
    let s = Stream::new(5);
    for (i, w) in word[..code.data_words()].iter_mut().enumerate() { *w = s.at(i as u64).bits(); }
    #[allow(clippy::disallowed_methods)]
    let t = std::time::Instant::now();
    for _ in 0..1000 { enc.encode(&mut word); }
    let te = t.elapsed().as_secs_f64();
    println!("encode {:.2} us  {:.2} Gb/s", te*1e3, code.data_words() as f64*64.0*1000.0/te/1e9);
    let n = code.codeword_bits() as u64;
    // pre-make noisy words
    let mut words: Vec<Vec<u64>> = vec![];
    for f in 0..frames {
        let mut w = word.clone();
        let st = s.at(1000 + f);
        for i in 0..n { if (st.at(i).bits() as f64) < rber * 18446744073709551616.0 { w[(i/64) as usize] ^= 1 << (i%64); } }
        words.push(w);
    }
    let mut best = f64::MAX;
    let mut line = String::new();
    for _ in 0..8 {
    let mut words = words.clone();
    #[allow(clippy::disallowed_methods)]
    let t = std::time::Instant::now();
    let (mut fails, mut its) = (0, 0u64);
    for w in &mut words { let r = d.decode(w, Reliability::Hard); if !r.ok { fails += 1 } its += r.iterations as u64; }
    let td = t.elapsed().as_secs_f64();
    let und = words.iter().filter(|w| code.is_codeword(w) && **w != word).count();
    if td < best { best = td;
    line = format!("rber {rber} fer {:.5} und {und} it {:.2}  {:.2} us/frame {:.3} Gb/s  {:.2} us/it", fails as f64/frames as f64, its as f64/frames as f64, td/frames as f64*1e6, code.data_words() as f64*64.0*frames as f64/td/1e9, td*1e6/its as f64); }
    }
    println!("{line}");
}
