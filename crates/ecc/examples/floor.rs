use firstread_core::Stream;
use firstread_ecc::{SoftWeights, ldpc::*, measure::*};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let code = Ldpc::named(&a[1]).unwrap();
    let mut t = Trial::new(&code);
    for w in a[3..].iter() {
        let w: u32 = w.parse().unwrap();
        let r = t.run(&SoftWeights::hard(w), Stream::new(77).at(w as u64), 0..a[2].parse().unwrap());
        println!("{w}: {} failed, {} und, {:?}", r.failures(), r.undetected, r.after);
    }
}
