//! A run that its host stops early.

use std::cell::Cell;

use firstread_core::Ns;
use firstread_drive::{BurnIn, BurnInEnd, DriveState, Ended, Host, RunError, RunStats};
use firstread_testkit::{drive, profile};
use firstread_workload::fio;

const JOBS: &str = "[a]\nrw=randrw\nbs=4k\niodepth=16\nnorandommap\nnumber_ios=200000\n\
                    [b]\nstonewall\nrw=randread\nbs=4k\nnumber_ios=1000\n";

/// A run that is stopped issues nothing more and loses nothing: what it issued has completed, later phases do not
/// begin, and the drive can be used again. It is what the same run is that ends there.
#[test]
fn model_a_stopped_run_is_the_beginning_of_the_whole_one() {
    let workload = fio::parse("t.fio", JOBS).unwrap();
    let new = || drive(profile("bench-4g", &[]), &DriveState::default(), 1);
    let run = |limit, asked: &dyn Fn() -> bool, drive: &mut firstread_drive::Drive| {
        let mut host = Host::jobs(&workload, drive.capacity_bytes(), 1, limit).unwrap();
        host.stop_when(asked);
        host.run(drive, &mut |_| {}).unwrap()
    };
    let asked = Cell::new(0);
    let third = || {
        asked.set(asked.get() + 1);
        asked.get() >= 3
    };
    let mut stopped = new();
    let stats = run(None, &third, &mut stopped);
    assert_eq!(stats.ended, Ended::Interrupted);
    assert_eq!(asked.get(), 3, "it is not asked again");
    assert!(
        (1_000..200_000).contains(&stats.requests),
        "{}",
        stats.requests
    );
    assert_eq!(stats.all.all_requests(), stats.requests);
    assert_eq!(stats.reports[1].read.count(), 0);
    let limited = run(Some(stats.requests), &|| false, &mut new());
    assert_eq!(limited.ended, Ended::Completed);
    let mean = |of: &RunStats| of.reports[0].read.mean_ns();
    assert_eq!(mean(&limited), mean(&stats));
    assert_eq!(limited.phases[0].ended, Some(Ns(stats.simulated.0)));
    let after = run(Some(100), &|| false, &mut stopped);
    assert_eq!((after.ended, after.requests), (Ended::Completed, 2 * 100));
}

#[test]
fn sequence_a_burn_in_is_stopped() {
    let workload = fio::parse("t.fio", JOBS).unwrap();
    let mut drive = drive(profile("bench-4g", &[]), &DriveState::default(), 1);
    let capacity = drive.capacity_bytes();
    let pass = |pass| -> Result<Host<'_>, RunError> {
        let mut host = Host::pass(&workload, capacity, 1, pass)?;
        host.stop_when(&|| true);
        Ok(host)
    };
    let burnt = BurnIn::run(&mut drive, 10.0, pass, &mut |_| {}).unwrap();
    assert_eq!(burnt.ended, BurnInEnd::Interrupted);
    assert!(burnt.requests > 0 && burnt.passes == 1);
}
