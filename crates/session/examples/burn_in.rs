//! A burnt-in drive is cloned and measured under two schemes of suspending programs.

use firstread_session::{BurnInSetup, Error, Input, Simulation, simulate_on};

fn main() -> Result<(), Error> {
    let job = "[mixed]\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=16\nnorandommap\n";
    let base = Simulation {
        drive: "bench-4g".to_owned(),
        limit: Some(20_000),
        burn_in: Some(BurnInSetup {
            most_drive_writes: 2.0,
            ..BurnInSetup::BY_ITSELF
        }),
        ..Simulation::of(Input::job_file("mixed", job.to_owned())?)
    };
    let burnt_in = base.setup()?.prepare(&mut |_| {})?;
    if let Some(took) = &burnt_in.burn_in {
        println!("{:.2} drive writes, {:?}", took.drive_writes, took.ended);
    }
    for scheme in ["suspend=none", "suspend=program-erase"] {
        let setup = Simulation {
            schemes: vec![scheme.parse()?],
            ..base.clone()
        }
        .setup()?;
        // A scheme is part of the firmware: the clone activates one with the other schemes, by a reset.
        let mut drive = burnt_in.drive.clone();
        drive.activate(drive.now(), (*setup.profile).clone())?;
        let outcome = simulate_on(&mut drive, &setup, &mut |_| {})?;
        println!(
            "{scheme}: P99.9 of reads {} ns",
            outcome.percentile(99.9).ns
        );
    }
    Ok(())
}
