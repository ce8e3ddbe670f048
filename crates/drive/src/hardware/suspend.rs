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
    use firstread_core::Stream;
    use firstread_nand::reference;

    /// However often a program is suspended, its array works as long as it does at once, and each resume adds its time: it
    /// stops after the latency, after a resume not before its least progress, and not where it ends first.
    #[test]
    fn formula_a_suspended_program_conserves_its_work() {
        const PROGRAM: Ns = Ns(3_000_000);
        let times = SuspendTimes::of(&reference::ct_a().timing);
        let mut suspended = 0;
        for seed in 0..200 {
            let stream = Stream::new(seed);
            let mut now = Ns(7_000);
            let mut work = Work {
                started: now,
                until: now + PROGRAM,
                resumed: false,
            };
            // Time in which the array worked, and what resumes added to it.
            let (mut worked, mut added) = (Ns::ZERO, Ns::ZERO);
            for i in 0..32 {
                now += Ns(stream.at(i).below(200_000));
                if now >= work.until {
                    break;
                }
                let Some((free, left)) = work.stop(now, times.program_ns, &times) else {
                    let least = match work.resumed {
                        true => (work.started + Ns(times.min_progress_ns)).0,
                        false => 0,
                    };
                    let ends = (now.0 + times.program_ns).max(least) >= work.until.0;
                    assert!(ends, "seed {seed}: it could stop");
                    break;
                };
                let latest = free == now + Ns(times.program_ns)
                    || work.resumed && free == work.started + Ns(times.min_progress_ns);
                assert!(latest && free >= now + Ns(times.program_ns), "seed {seed}");
                worked += free.since(work.started);
                suspended += 1;
                now = free + Ns(stream.at(i).at(1).below(300_000));
                work = Work::resume(now, left, &times);
                added += Ns(times.resume_ns);
                assert_eq!(work.until, now + left + Ns(times.resume_ns), "seed {seed}");
            }
            worked += work.until.since(work.started);
            assert_eq!(worked, PROGRAM + added, "seed {seed}");
        }
        assert!(suspended > 1_000, "{suspended}");
    }
}
