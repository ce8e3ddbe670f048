//! The state of a drive when a run begins: filled, worn and aged arithmetically.

use firstread_core::voltage::BlockGroups;
use firstread_core::{Ns, Stream};

use crate::precondition::Precondition;
use crate::profile::DriveProfile;

/// A fill that the drive had before the one that is measured. The drive lived with it at its first temperature, with
/// power on and without a host; then all of it was erased and filled again. Of that life only what the firmware has
/// learned is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EarlierFill {
    /// There was none: the firmware has learned nothing yet.
    #[default]
    None,
    /// As the profile of the drive says (`history.earlier_fill`), where the drive was erased before and holds data.
    OfDrive,
    /// It was this old when it was erased.
    Lived(Ns),
}

/// The last superblocks of a drive, by their numbers, which are worn otherwise than the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LastSuperblocks {
    /// Their share of all superblocks (permille), rounded up to whole ones.
    pub permille: u32,
    /// Their P/E cycles.
    pub pe_cycles: u32,
}

/// The state that a drive is asked to be in when a run begins.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DriveState {
    /// Time since the end of the fill, with power on: of the youngest and of the oldest superblock.
    pub age: (Ns, Ns),
    /// P/E cycles, lowest to highest.
    pub pe_cycles: (u32, u32),
    /// Superblocks at the end of the drive that are worn otherwise, if there are any.
    pub last: Option<LastSuperblocks>,
    /// Temperature of storage and reads (°C).
    pub temperature_c: f64,
    /// A change to another temperature (°C), at a time after the end of the fill.
    pub temperature_step: Option<(Ns, f64)>,
    /// The highest temperature that a run brings the drive to (°C), if it changes the temperature at all
    /// ([`Drive::set_temperature`](crate::Drive::set_temperature)): the firmware has to know how hot the drive gets.
    pub hottest_in_run_c: Option<f64>,
    /// Time without power after that.
    pub unpowered: Ns,
    /// The fill before that, which the firmware has learned from. P/E cycles are those of the measured fill; the
    /// earlier one had one less.
    pub earlier_fill: EarlierFill,
    /// Share of the capacity that was written, 0 to 1.
    pub fill: f64,
    /// How the written share was overwritten afterwards.
    pub precondition: Precondition,
    /// Seed of the workload that overwrote it: the hot pages are those of a run with this seed.
    pub workload_seed: u64,
}

impl Default for DriveState {
    /// Just filled, new, at 25 °C.
    fn default() -> DriveState {
        DriveState {
            age: (Ns::ZERO, Ns::ZERO),
            pe_cycles: (0, 0),
            last: None,
            temperature_c: 25.0,
            temperature_step: None,
            hottest_in_run_c: None,
            unpowered: Ns::ZERO,
            earlier_fill: EarlierFill::None,
            fill: 1.0,
            precondition: Precondition::None,
            workload_seed: 1,
        }
    }
}

/// A superblock to be filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Planned {
    /// End of its fill, on the firmware's clock.
    pub at: Ns,
    pub pe_cycles: u32,
}

/// When each superblock is filled, in the order of filling, and when the workload starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    pub blocks: Vec<Planned>,
    /// Power-on of the firmware, which populates its tables.
    pub start: Ns,
    /// Start of the workload.
    pub run: Ns,
}

impl DriveState {
    /// The highest temperature (°C).
    pub(crate) fn hottest_c(&self) -> f64 {
        let later = self.temperature_step.map(|(_, celsius)| celsius);
        let later = later.into_iter().chain(self.hottest_in_run_c);
        later.fold(self.temperature_c, f64::max)
    }

    /// How long the earlier fill lived on a drive of `profile`, if there was one.
    pub fn earlier_fill(&self, profile: &DriveProfile) -> Option<Ns> {
        let erased_before = self.pe_cycles.1 > 0 && self.fill > 0.0;
        let lived = match self.earlier_fill {
            EarlierFill::None => None,
            EarlierFill::OfDrive => profile.history.earlier_fill,
            EarlierFill::Lived(lived) => Some(lived),
        };
        lived.filter(|_| erased_before)
    }

    /// The plan for superblocks that take `block_fill` each to write. `since` has for each superblock the
    /// number of others filled since, in the order of filling; `wear` has its P/E cycles.
    /// With a single age, superblocks were filled one after another at the drive's sustained rate, and the
    /// age counts from the end of the last one. A drive filled in address order took its own length to fill.
    /// On a preconditioned drive, superblocks that were filled meanwhile and erased again count too. With a
    /// range of ages or of P/E cycles, superblocks are distributed evenly over the groups of `groups` that
    /// the ranges touch, the oldest at the lowest addresses.
    pub(crate) fn plan(
        &self,
        since: &[u64],
        wear: &[u32],
        block_fill: Ns,
        groups: &BlockGroups,
    ) -> Plan {
        let blocks = since.len() as u32;
        let all = since.first().map_or(0, |n| n + 1);
        let fill = |n: u64| Ns(block_fill.0.saturating_mul(n));
        let (youngest, oldest) = self.age;
        if youngest == oldest {
            let end = fill(all);
            let planned = |i: u32| Planned {
                at: fill(all - since[i as usize]),
                pe_cycles: wear[i as usize],
            };
            return Plan {
                blocks: (0..blocks).map(planned).collect(),
                start: end,
                run: end + oldest,
            };
        }
        let run = block_fill + oldest;
        let ages = self.deal_ages(blocks, groups);
        let planned = |i: u32| Planned {
            at: run - ages[i as usize],
            pe_cycles: wear[i as usize],
        };
        Plan {
            blocks: (0..blocks).map(planned).collect(),
            start: run - ages.first().copied().unwrap_or(oldest),
            run,
        }
    }

    /// Ages, oldest first: the same number in each retention bin that the range touches, evenly spread within
    /// a bin.
    fn deal_ages(&self, blocks: u32, groups: &BlockGroups) -> Vec<Ns> {
        let (youngest, oldest) = self.age;
        let edges = &groups.edges[..groups.retention_bins as usize];
        let upper = |bin: usize| edges.get(bin + 1).copied().unwrap_or(Ns::MAX).min(oldest);
        let bins: Vec<(Ns, Ns)> = (0..edges.len())
            .map(|bin| (edges[bin].max(youngest), upper(bin)))
            .filter(|(low, high)| low < high)
            .collect();
        let mut ages = Vec::with_capacity(blocks as usize);
        for (i, &(low, high)) in bins.iter().enumerate().rev() {
            let share = |i: usize| (blocks as u64 * i as u64 / bins.len() as u64) as u32;
            let n = share(i + 1) - share(i);
            for j in (0..n as u64).rev() {
                // The middle of each of n equal parts of the bin.
                ages.push(Ns(low.0
                    + ((high.0 - low.0) as u128 * (2 * j as u128 + 1) / (2 * n as u128))
                        as u64));
            }
        }
        ages
    }

    /// Wear in address order: takes the P/E bins that the range touches in turn, so that superblocks of
    /// similar age have different wear; evenly spread within a bin.
    pub(crate) fn deal_wear(&self, blocks: u32, groups: &BlockGroups, seed: u64) -> Vec<u32> {
        let (low, high) = self.pe_cycles;
        let (first, last) = (groups.pe_bin(low), groups.pe_bin(high));
        let bins = (last - first) as u32 + 1;
        let stream = Stream::new(seed).named("wear");
        let of = |i: u32| {
            let bin = first as u32 + i % bins;
            let from = (bin * groups.pe_width).max(low);
            let to = if bin == last as u32 {
                high
            } else {
                (bin + 1) * groups.pe_width - 1
            };
            from + stream.at(i as u64).below((to - from) as u64 + 1) as u32
        };
        (0..blocks).map(of).collect()
    }

    /// Gives the last superblocks their own wear; `wear` is that of all superblocks.
    pub(crate) fn wear_of_last(&self, wear: &mut [u32]) {
        let Some(LastSuperblocks {
            permille,
            pe_cycles,
        }) = self.last
        else {
            return;
        };
        let last = (wear.len() as u64 * u64::from(permille)).div_ceil(1000) as usize;
        let first = wear.len().saturating_sub(last);
        wear[first..].fill(pe_cycles);
    }

    /// The highest wear of any superblock.
    pub fn most_pe_cycles(&self) -> u32 {
        let last = self.last.map(|last| last.pe_cycles);
        last.unwrap_or(0).max(self.pe_cycles.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_firmware::voltage::groups;
    use std::collections::BTreeSet;

    fn in_address_order(blocks: u64) -> Vec<u64> {
        (0..blocks).rev().collect()
    }

    #[test]
    fn formula_one_age_counts_from_the_end_of_the_fill() {
        let state = DriveState {
            age: (Ns::from_h(28), Ns::from_h(28)),
            pe_cycles: (300, 300),
            ..DriveState::default()
        };
        let groups = groups::groups(0);
        let wear = state.deal_wear(325, &groups, 1);
        let plan = state.plan(&in_address_order(325), &wear, Ns::from_s(10), &groups);
        assert_eq!(plan.run - plan.blocks[324].at, Ns::from_h(28));
        assert_eq!(
            plan.run - plan.blocks[0].at,
            Ns::from_h(28) + Ns::from_s(3240)
        );
        assert_eq!(plan.start, plan.blocks[324].at);
        assert!(plan.blocks.iter().all(|b| b.pe_cycles == 300));
    }

    #[test]
    fn formula_ranges_reach_every_group() {
        let state = DriveState {
            age: (Ns::ZERO, Ns::from_h(200)),
            pe_cycles: (0, 3999),
            ..DriveState::default()
        };
        let groups = groups::groups(0);
        let wear = state.deal_wear(325, &groups, 1);
        let plan = state.plan(&in_address_order(325), &wear, Ns::from_s(10), &groups);
        let reached: BTreeSet<u8> = plan
            .blocks
            .iter()
            .map(|b| groups.group(b.pe_cycles, plan.run - b.at))
            .collect();
        assert_eq!(reached.len(), groups.len());
        assert!(
            plan.blocks.is_sorted_by_key(|b| b.at),
            "address order is age order"
        );
        assert_eq!(plan.blocks.len(), 325);
    }

    #[test]
    fn formula_the_last_superblocks_have_their_own_wear() {
        let worn = |permille| {
            let last = LastSuperblocks {
                permille,
                pe_cycles: 100,
            };
            let state = DriveState {
                pe_cycles: (500, 500),
                last: Some(last),
                ..DriveState::default()
            };
            let mut wear = vec![500; 64];
            state.wear_of_last(&mut wear);
            assert!(wear.is_sorted_by(|a, b| a >= b), "{wear:?}");
            assert_eq!(state.most_pe_cycles(), 500);
            wear.iter().filter(|&&pe| pe == 100).count()
        };
        assert_eq!([0, 1, 200, 500, 1000].map(worn), [0, 1, 13, 32, 64]);
    }
}
