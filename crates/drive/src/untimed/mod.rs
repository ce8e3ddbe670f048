//! A drive without time: the same firmware over flash whose operations end as soon as they are issued.
//!
//! What a drive writes and wears in years is decided by its firmware, by what its host writes and by which blocks fail;
//! cells and latencies decide none of it. So lives are run here: all machines of the firmware, slots that hold their
//! logical page, the failures of blocks by the law of the timed drive, and a clock that the load moves. No read fails or
//! is retried, so schemes that act on retries do nothing here.
//!
//! - `build`: made from a profile, filled and worn as a timed drive is.
//! - `flash`: the firmware's ports.

mod build;
mod flash;
#[cfg(test)]
mod tests;

use firstread_core::{CommandId, HostCommand, HostOp, Ns, Status, SuperblockId};
use firstread_firmware::Firmware;
use firstread_firmware::ftl::MAP_ENTRY_BYTES;
use firstread_firmware::observe::{Counters, SuperblockTable};
use thiserror::Error;

use crate::drive::{OVERLAY_RESERVE, SubmitError};
use crate::initial_contents::FilledMemory;
use crate::profile::DriveProfile;
use flash::InstantFlash;

pub use build::UntimedError;

/// A drive without time.
#[derive(Clone, Debug)]
pub struct UntimedDrive {
    profile: DriveProfile,
    firmware: Firmware<FilledMemory>,
    flash: InstantFlash,
}

/// Why a drive without time cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum CommandError {
    /// The command does not fit the drive.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// A read returned another page than the host asked for: a defect.
    #[error("a read of logical page {asked} returned page {}", told(*.returned))]
    WrongPage {
        /// The page that was read.
        asked: u64,
        /// The page that came; none for no data.
        returned: Option<u64>,
    },
    /// A command has not completed although no operation is under way: a defect.
    #[error("a command at byte {offset_bytes} waits for nothing and does not end")]
    Stuck {
        /// First byte of the command.
        offset_bytes: u64,
    },
}

fn told(page: Option<u64>) -> String {
    page.map_or("none".into(), |page| page.to_string())
}

impl UntimedDrive {
    /// The host's command, which completes at once; of a write with its placement handle. The clock of the drive is at `at` from now on, if it was not later.
    ///
    /// # Errors
    /// [`CommandError`]; a write that the drive refuses at its end of life is no error but [`Status::ReadOnly`].
    #[inline]
    pub fn command(
        &mut self,
        at: Ns,
        op: HostOp,
        offset_bytes: u64,
        len_bytes: u32,
        placement: u16,
    ) -> Result<Status, CommandError> {
        let capacity_bytes = self.profile.capacity_bytes;
        if offset_bytes.saturating_add(u64::from(len_bytes)) > capacity_bytes {
            let out = SubmitError::OutOfRange {
                op,
                offset_bytes,
                len_bytes,
                capacity_bytes,
            };
            return Err(out.into());
        }
        let now = self.flash.advance(at);
        let command = HostCommand {
            id: CommandId(0),
            op,
            client: 0,
            offset_bytes,
            len_bytes,
            fua: false,
            placement,
        };
        self.flash.submitted(&command);
        self.firmware.submit(now, command, &mut self.flash);
        self.settle();
        if let Some((asked, returned)) = self.flash.wrong_page() {
            return Err(CommandError::WrongPage { asked, returned });
        }
        self.flash
            .take_completed()
            .ok_or(CommandError::Stuck { offset_bytes })
    }

    /// Every operation under way ends, and those that follow from it.
    #[inline]
    fn settle(&mut self) {
        loop {
            let now = self.flash.now();
            while let Some((event, free)) = self.flash.next_event() {
                // A program or erase ends before its die is free; a read's die is free before it is decoded.
                self.firmware.complete(now, event, &mut self.flash);
                self.firmware.complete(now, free, &mut self.flash);
            }
            while self.firmware.overlay_is_short(OVERLAY_RESERVE) {
                let grow = FilledMemory::grow;
                self.firmware.grow_overlay(now, grow, &mut self.flash);
            }
            if self.flash.is_idle() {
                if self.firmware.next_wakeup() > now {
                    return;
                }
                self.firmware.poll(now, &mut self.flash);
            }
        }
    }

    /// The clock, which the load moves.
    pub fn now(&self) -> Ns {
        self.flash.now()
    }
    /// The profile it was made from.
    pub fn profile(&self) -> &DriveProfile {
        &self.profile
    }
    /// Counters of the firmware since the drive was made.
    #[inline]
    pub fn counters(&self) -> &Counters {
        self.firmware.counters()
    }
    /// What the firmware knows of its superblocks.
    pub fn blocks(&self) -> &SuperblockTable {
        self.firmware.blocks()
    }
    /// Whether it has reached its end of life and takes no more writes.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.firmware.is_read_only()
    }
    /// Bytes that the write buffers hold at most.
    pub fn write_buffer_bytes(&self) -> u64 {
        let (slots, _) = self.firmware.write_buffer_slots();
        u64::from(slots) * u64::from(self.profile.geometry.slot_bytes)
    }
    /// Memory of the controller for its map, or the part of it that is in memory at a time, for its write buffers, with as much
    /// again for data whose program failed, and for its read cache (bytes). Tables of schemes are not in it.
    pub fn memory_bytes(&self) -> u64 {
        let (geometry, dram) = (&self.profile.geometry, &self.profile.dram);
        let entries = self.profile.capacity_bytes / u64::from(geometry.slot_bytes);
        let map = match dram.map_cache_bytes {
            0 => entries * u64::from(MAP_ENTRY_BYTES),
            part => part,
        };
        map + 2 * self.write_buffer_bytes() + dram.read_cache_bytes
    }
    /// Blocks of one plane that are bad, as makers count them: from the factory, and since. The good ones beside them on other
    /// planes are out of use too, and do not count.
    pub fn bad_blocks(&self) -> (u64, u64) {
        let bad = self.flash.bad_planes();
        (bad.factory.into(), bad.grown.into())
    }
    /// Program/erase cycles of each superblock, and whether it is retired.
    pub fn wear(&self) -> impl Iterator<Item = (SuperblockId, u32, bool)> {
        use firstread_firmware::observe::SuperblockUse;
        let infos = self.blocks().iter();
        infos.map(|(block, info)| (block, info.pe_cycles, info.usage == SuperblockUse::Bad))
    }
}
