//! How long the steps of reads take on this drive, under the load that it has.
//!
//! What follows a sense, its transfer and its decoding, takes longer the more reads wait for the channel and its
//! decoder. The firmware knows when it asked for a sense, how long the sense takes, and when the verdict came. A channel
//! and its decoder serve one read after another. So the part of that time before the last verdict of the channel was a
//! wait, and the part after it is what this read needed for itself.

use alloc::boxed::Box;

use firstread_core::Ns;

/// Time from the end of the sense of a step to its verdict (ns).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StepRest {
    /// With the wait for the channel and its decoder.
    pub observed_ns: u32,
    /// Without it.
    pub alone_ns: u32,
}

/// A new step counts as much as one of so many, once there have been as many.
const MEAN_OF: u32 = 32;

/// Running means over the steps that fail.
#[derive(Clone, Debug)]
pub struct StepTimes {
    /// The last verdict of each channel.
    verdicts: Box<[Ns]>,
    rest: Option<StepRest>,
    /// Steps that have failed, as far as they are counted.
    failed: u32,
}

impl StepTimes {
    /// For `channels` channels; with none, nothing is observed.
    pub fn new(channels: u16) -> StepTimes {
        StepTimes {
            verdicts: alloc::vec![Ns::ZERO; usize::from(channels)].into_boxed_slice(),
            rest: None,
            failed: 0,
        }
    }

    /// The means; none if no step has failed yet.
    pub fn rest(&self) -> Option<StepRest> {
        self.rest
    }

    /// The verdict of a step came over `channel`. Its sense ended at `sensed`, which is not known of one that was sensed
    /// ahead.
    pub fn decoded(&mut self, now: Ns, channel: u16, sensed: Option<Ns>, failed: bool) {
        let Some(verdict) = self.verdicts.get_mut(usize::from(channel)) else {
            return;
        };
        let before = core::mem::replace(verdict, now);
        let Some(sensed) = sensed.filter(|_| failed) else {
            return;
        };
        let since = |from: Ns| u32::try_from(now.0.saturating_sub(from.0)).unwrap_or(u32::MAX);
        let (observed_ns, alone_ns) = (since(sensed), since(sensed.max(before)));
        self.failed = (self.failed + 1).min(MEAN_OF);
        let of = u64::from(self.failed);
        let mean = |old: u32, new: u32| {
            let [old, new] = [old, new].map(u64::from);
            ((old * (of - 1) + new) / of) as u32
        };
        let old = self.rest.unwrap_or(StepRest {
            observed_ns,
            alone_ns,
        });
        self.rest = Some(StepRest {
            observed_ns: mean(old.observed_ns, observed_ns),
            alone_ns: mean(old.alone_ns, alone_ns),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_a_wait_for_the_decoder_is_no_part_of_what_a_read_needs_alone() {
        let mut times = StepTimes::new(2);
        assert_eq!(times.rest(), None);
        // A read that succeeds, and one that was sensed ahead, tell when their channel was busy and nothing else.
        times.decoded(Ns(100), 0, Some(Ns(50)), false);
        times.decoded(Ns(120), 0, None, true);
        assert_eq!(times.rest(), None);
        // On the other channel nothing was before it.
        times.decoded(Ns(150), 1, Some(Ns(90)), true);
        let of = |observed_ns, alone_ns| {
            Some(StepRest {
                observed_ns,
                alone_ns,
            })
        };
        assert_eq!(times.rest(), of(60, 60));
        // It waited from 80 to 120.
        times.decoded(Ns(140), 0, Some(Ns(80)), true);
        assert_eq!(times.rest(), of(60, 40));
        for n in 10..2_000 {
            times.decoded(Ns(140 + 200 * n), 0, Some(Ns(200 * n + 140 - 1_000)), true);
        }
        let rest = times.rest().unwrap();
        assert!(
            rest.observed_ns.abs_diff(1_000) < 32 && rest.alone_ns.abs_diff(200) < 32,
            "{rest:?}"
        );
        // Any time, in any order.
        times.decoded(Ns(0), 0, Some(Ns(u64::MAX)), true);
        times.decoded(Ns(u64::MAX), 1, Some(Ns(0)), true);
        times.decoded(Ns(5), 7, Some(Ns(0)), true);
    }
}
