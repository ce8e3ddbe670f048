//! Suspending a program or erase: when it stops, and what is left of it.

use firstread_core::Ns;
use firstread_nand::profile::ChipTiming;

#[derive(Clone, Copy, Debug)]
pub(crate) struct SuspendTimes {
    /// Time from the command until the array is free, for a program and for an erase (ns).
    pub program_ns: u64,
    pub erase_ns: u64,
    /// Time added to the remaining operation when it resumes (ns).
    pub resume_ns: u64,
    /// Minimum time between a resume and the next suspend (ns).
    pub min_progress_ns: u64,
}

impl SuspendTimes {
    /// The times of `chip`.
    pub(crate) const fn of(chip: &ChipTiming) -> SuspendTimes {
        SuspendTimes {
            program_ns: chip.program_suspend_ns,
            erase_ns: chip.erase_suspend_ns,
            resume_ns: chip.resume_ns,
            min_progress_ns: chip.min_progress_ns,
        }
    }
    /// Suspends at once and resumes without loss: no chip does.
    pub(crate) const FREE: SuspendTimes = SuspendTimes {
        program_ns: 0,
        erase_ns: 0,
        resume_ns: 0,
        min_progress_ns: 0,
    };
}

/// A program or erase on the array.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Work {
    /// Start of its current run: its start, or its last resume.
    pub started: Ns,
    pub until: Ns,
    /// Whether it has been suspended before.
    pub resumed: bool,
}

impl Work {
    /// When its current run has done `progress` of the work.
    pub(crate) fn reaches(&self, progress: Ns, times: &SuspendTimes) -> Ns {
        let resume_ns = if self.resumed { times.resume_ns } else { 0 };
        self.started + progress + Ns(resume_ns)
    }

    /// Suspends the operation, which runs on until it stops `latency_ns` after `now`. Returns when it stops
    /// and what is then left of it; none if it ends first.
    pub(crate) fn stop(&self, now: Ns, latency_ns: u64, times: &SuspendTimes) -> Option<(Ns, Ns)> {
        let mut stops = now + Ns(latency_ns);
        if self.resumed {
            stops = stops.max(self.started + Ns(times.min_progress_ns));
        }
        (stops < self.until).then(|| (stops, self.until.since(stops)))
    }

    /// Resumes at `now` with `left` still to do.
    pub(crate) fn resume(now: Ns, left: Ns, times: &SuspendTimes) -> Work {
        Work {
            started: now,
            until: now + left + Ns(times.resume_ns),
            resumed: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Library, load_drive};
    use firstread_core::{Stream, SuperblockId};
    use firstread_firmware::policy::AXES;
    use firstread_nand::Medium;
    use firstread_nand::die::DieState;

    /// Agrees with the medium's own model of a die at any time.
    #[test]
    fn model_stops_when_a_die_does() {
        let profile = load_drive(&Library::new(), "dc-qlc-15t", &[], AXES).unwrap();
        let mut medium = Medium::new(profile.chip.clone(), profile.geometry, 1).unwrap();
        medium.set_temperature(Ns::ZERO, 25.0).unwrap();
        let times = SuspendTimes::of(&profile.chip.timing);
        for seed in 0..200 {
            let stream = Stream::new(seed);
            let mut die = DieState::new(1);
            let mut now = die
                .erase(Ns::ZERO, SuperblockId(0), profile.mode, &medium)
                .unwrap();
            let until = die.program(now, SuperblockId(0), 0, &medium).unwrap();
            let mut work = Work {
                started: now,
                until,
                resumed: false,
            };
            for i in 0..profile.chip.timing.max_suspends as u64 {
                now += Ns(stream.at(i).below(200_000));
                if now >= work.until {
                    break;
                }
                let (free, left) = die.suspend(now, &medium).unwrap();
                let stop = work.stop(now, times.program_ns, &times);
                assert_eq!(stop.unwrap_or((work.until, Ns::ZERO)), (free, left));
                if stop.is_none() {
                    break;
                }
                now = free + Ns(stream.at(i).at(1).below(300_000));
                assert_eq!(
                    die.resume(now, &medium).unwrap(),
                    now + left + Ns(times.resume_ns)
                );
                work = Work::resume(now, left, &times);
            }
        }
    }
}
