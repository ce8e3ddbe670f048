//! Tests schemes on a faulty flash: those named as arguments, or these.

use firstread_faulty_flash::{Faults, PowerCuts, SchemeError, Trial, When};

fn main() -> Result<(), SchemeError> {
    let named: Vec<String> = std::env::args().filter(|a| a.contains('=')).collect();
    let schemes = match named.is_empty() {
        true => "gc_victim=cost-benefit wear=static wear.spread=8".to_owned(),
        false => named.join(" "),
    };
    for seed in 1..=4 {
        let faults = Faults {
            failed_programs: When::permille(1),
            failed_erases: When::permille(2).or(When::nth(40)),
            failed_senses: When::permille(20),
            power_cuts: PowerCuts::permille(2),
            ..Faults::default()
        };
        let trial = Trial {
            seed,
            faults,
            ..Trial::of(&schemes)?
        };
        match trial.run() {
            Ok(summary) => println!("seed {seed}: {summary}"),
            Err(found) => println!("{found}"),
        }
    }
    Ok(())
}
