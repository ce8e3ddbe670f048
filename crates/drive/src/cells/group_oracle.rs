//! The best levels that the pages of a block group can share: what the oracle `optimal-group` asks the medium
//! for.

use firstread_core::voltage::BlockGroups;
use firstread_core::{CellMode, LevelOffsets, Ns, SuperblockId};
use firstread_ecc::Code;
use firstread_nand::{BlockState, Medium};

/// Levels are searched again once the group is older by this share of its youngest member's age.
const REFRESH_SHARE: u64 = 20;
/// Levels are not searched again before this time has passed: no level moves by a DAC unit within it.
const REFRESH_MIN: Ns = Ns::from_s(60);

/// Wordlines sampled per group. From a few hundred on, the levels are stable within a DAC unit.
const SAMPLES: u32 = 1024;

/// The superblocks of a drive.
pub(crate) struct Members<'a> {
    pub medium: &'a Medium,
    pub blocks: &'a [BlockState],
    /// By the firmware's clock; none for superblocks without data.
    pub programmed_at: &'a [Option<Ns>],
}

/// Levels of a group.
#[derive(Clone, Copy, Debug)]
struct Found {
    levels: LevelOffsets,
    /// Time until which the levels are valid.
    until: Ns,
}

/// Best levels by group, searched on request.
#[derive(Clone, Debug)]
pub(crate) struct GroupOracle {
    groups: Option<BlockGroups>,
    /// Number of errors in a codeword that the code corrects about half the time.
    limit: u16,
    found: Vec<Option<Found>>,
}

impl GroupOracle {
    pub(crate) fn new(groups: Option<BlockGroups>, code: Code) -> GroupOracle {
        let limit = (1..code.codeword_bits())
            .find(|&w| code.failure_probability(w) >= 0.5)
            .unwrap_or(1) as u16
            - 1;
        GroupOracle {
            found: vec![None; groups.map_or(0, |g| g.len()) * CellMode::ALL.len()],
            groups,
            limit,
        }
    }

    /// The levels of `group` of the superblocks in `mode`. `now` is the firmware's time, `real` the time of the cells.
    #[inline]
    pub(crate) fn levels(
        &mut self,
        (mode, group): (CellMode, u8),
        now: Ns,
        real: Ns,
        members: &Members,
    ) -> LevelOffsets {
        self.found((mode, group), now, real, members).levels
    }

    #[inline]
    fn found(&mut self, of: (CellMode, u8), now: Ns, real: Ns, members: &Members) -> Found {
        match self.found[self.index(of)] {
            Some(found) if now < found.until => found,
            _ => self.search(of, now, real, members),
        }
    }

    fn index(&self, (mode, group): (CellMode, u8)) -> usize {
        let groups = self.found.len() / CellMode::ALL.len();
        mode as usize * groups + usize::from(group)
    }

    fn search(&mut self, of: (CellMode, u8), now: Ns, real: Ns, members: &Members) -> Found {
        let groups = self
            .groups
            .expect("a scheme that asks for a group has groups");
        let (mode, group) = of;
        let of_group = |(i, programmed): (usize, &Option<Ns>)| {
            let age = now.since((*programmed)?);
            let state = &members.blocks[i];
            let is_member = state.mode == mode && groups.group(state.pe_cycles, age) == group;
            is_member.then_some((i as u32, age))
        };
        let in_group: Vec<(u32, Ns)> = members
            .programmed_at
            .iter()
            .enumerate()
            .filter_map(of_group)
            .collect();
        let youngest = in_group.iter().map(|&(_, age)| age.0).min().unwrap_or(0);
        let blocks: Vec<(SuperblockId, BlockState)> = in_group
            .iter()
            .map(|&(i, _)| (SuperblockId(i), members.blocks[i as usize]))
            .collect();
        let levels = members
            .medium
            .group_optimum(&blocks, real, mode, self.limit, SAMPLES)
            .unwrap_or_default();
        let until = now + REFRESH_MIN.max(Ns(youngest / REFRESH_SHARE));
        let found = Found { levels, until };
        let at = self.index(of);
        self.found[at] = Some(found);
        found
    }
}
