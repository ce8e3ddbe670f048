//! The load of a trial: commands drawn at random, and moves and changes of mode inside the drive.

use firstread_core::{CellMode, HostOp, Lpn, Stream, SuperblockId};
use firstread_firmware::ftl::Owner;

use super::config::DriveConfig;

/// Longest command in slots, and longest one that is not aligned to slots, in sectors of 512 bytes.
const SLOTS_AT_MOST: u64 = 8;
const SECTORS_AT_MOST: u64 = 24;

/// What a step of a trial does: one of these, each drawn as often as its share of their sum says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Load {
    /// Writes of 512 bytes to 8 slots; two of three go to the first quarter of the drive.
    pub writes: u32,
    /// Reads of such lengths and places.
    pub reads: u32,
    /// Reads of one slot that go on where the last one ended.
    pub sequential_reads: u32,
    /// Trims of such lengths and places.
    pub trims: u32,
    /// Flushes of the whole drive.
    pub flushes: u32,
    /// Moves of one page and changes of a superblock's cell mode, as refresh and conversion ask for them.
    pub moves: u32,
    /// Share of reads, writes and trims that are aligned to slots (‰).
    pub aligned_permille: u32,
    /// Events of the flash for a step (‰): with fewer than it takes to do what is asked, the queue fills up and each
    /// command waits for room.
    pub events_permille: u32,
}

impl Default for Load {
    /// Half writes; all that a host may ask for.
    fn default() -> Load {
        Load {
            writes: 110,
            reads: 30,
            sequential_reads: 40,
            trims: 10,
            flushes: 5,
            moves: 10,
            aligned_permille: 500,
            events_permille: 250,
        }
    }
}

/// What a step asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A command: what, first byte, bytes, FUA, placement handle.
    Command(HostOp, u64, u32, bool, u16),
    /// A move of a page.
    Move(Owner, Lpn),
    /// A change of a superblock's mode.
    Mode(SuperblockId, CellMode),
}

impl Load {
    /// Step `i` of a load that draws from `stream`. `cursor` is where sequential reads go on (bytes).
    pub(crate) fn step(
        &self,
        config: &DriveConfig,
        stream: Stream,
        i: u64,
        cursor: &mut u64,
    ) -> Step {
        let s = stream.at(i);
        let size = u64::from(config.geometry.slot_bytes);
        let bytes = config.capacity_bytes();
        // A part of the drive is hot, so that superblocks differ.
        let hot = (config.capacity_slots / 4).max(1);
        let lpn = match s.at(0).below(3) {
            0 => s.at(1).below(config.capacity_slots),
            _ => s.at(1).below(hot),
        };
        let is_aligned = s.at(3).below(1000) < u64::from(self.aligned_permille);
        let sector = s.at(2).below(size / 512) * 512;
        let offset = lpn * size + if is_aligned { 0 } else { sector };
        let len = match is_aligned {
            true => (1 + s.at(4).below(SLOTS_AT_MOST)) * size,
            false => (1 + s.at(4).below(SECTORS_AT_MOST)) * 512,
        };
        let len = len.min(bytes - offset) as u32;
        let kinds = [
            self.writes,
            self.reads,
            self.sequential_reads,
            self.trims,
            self.flushes,
            self.moves,
        ];
        let sum: u64 = kinds.iter().map(|&n| u64::from(n)).sum();
        let mut drawn = s.at(5).below(sum.max(1));
        let kind = kinds.iter().position(|&n| {
            let found = drawn < u64::from(n);
            drawn = drawn.saturating_sub(n.into());
            found
        });
        match kind {
            Some(0) => {
                let handles = u64::from(config.schemes.placement_handles());
                let (fua, placement) = (s.at(14).below(8) == 0, s.at(15).below(handles) as u16);
                Step::Command(HostOp::Write, offset, len, fua, placement)
            }
            Some(2) => {
                let at = *cursor;
                let len = size.min(bytes - at);
                *cursor = (at + len) % bytes;
                Step::Command(HostOp::Read, at, len as u32, false, 0)
            }
            Some(3) => Step::Command(HostOp::Trim, offset, len, false, 0),
            Some(4) => Step::Command(HostOp::Flush, 0, 0, false, 0),
            Some(5) => {
                let modes = [CellMode::Slc, CellMode::Tlc, config.mode];
                let mode = modes[s.at(7).below(3) as usize];
                let blocks = u64::from(config.geometry.blocks_per_plane);
                match s.at(8).below(8) {
                    0..2 if mode <= config.mode => {
                        Step::Mode(SuperblockId(s.at(6).below(blocks) as u32), mode)
                    }
                    _ => Step::Move(Owner::Refresh, Lpn(lpn)),
                }
            }
            _ => Step::Command(HostOp::Read, offset, len, false, 0),
        }
    }

    /// Events of the flash after step `i`.
    pub(crate) fn events(&self, stream: Stream, i: u64) -> u64 {
        let permille = u64::from(self.events_permille);
        let more = stream.at(i).at(9).below(1000) < permille % 1000;
        permille / 1000 + u64::from(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SchemeChoices;

    /// Writes name every handle that the schemes know, and other commands name none.
    #[test]
    fn sequence_writes_of_a_load_name_all_handles() {
        for (schemes, handles) in [("stream=fdp stream.handles=5", 5), ("stream=one", 8)] {
            let schemes: SchemeChoices = schemes.parse().unwrap();
            let config = DriveConfig::for_schemes(schemes);
            let (mut seen, mut cursor) = (vec![0u32; handles], 0);
            for i in 0..4000 {
                let stream = Stream::new(7).named("host");
                match Load::default().step(&config, stream, i, &mut cursor) {
                    Step::Command(HostOp::Write, .., handle) => seen[usize::from(handle)] += 1,
                    Step::Command(.., handle) => assert_eq!(handle, 0, "seed 7, step {i}"),
                    Step::Move(..) | Step::Mode(..) => {}
                }
            }
            assert!(seen.iter().all(|&n| n > 100), "seed 7: {seen:?}");
        }
    }
}
