//! Percentiles of a job on a drive that is a month old, each with its interval.

use firstread_session::conditions::parse_age;
use firstread_session::{Error, Input, Simulation};

fn main() -> Result<(), Error> {
    let job = "[reads]\nrw=randread\nbs=4k\niodepth=16\n";
    let input = Input::job_file("reads", job.to_owned())?;
    let mut simulation = Simulation {
        drive: "bench-4g".to_owned(),
        schemes: vec!["read_levels=frozen".parse()?],
        limit: Some(50_000),
        ..Simulation::of(input)
    };
    simulation.state.age = parse_age("30d")?.into();
    let outcome = simulation.setup()?.simulate()?;
    for percent in [50.0, 99.0, 99.9] {
        let p = outcome.percentile(percent);
        let interval = p.interval_ns.map(|(low, high)| low..=high);
        println!("P{percent}: {} ns, 95 % within {interval:?}", p.ns);
    }
    Ok(())
}
