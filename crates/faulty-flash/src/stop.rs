//! The firmware is stopped at any instruction, and its memory survives.

use firstread_core::{CommandId, HostCommand, HostOp, Ports as _, Stream};
use firstread_firmware::format::{SectionId, section_of};
use firstread_firmware::ftl::Recovering;
use firstread_firmware::{Firmware, Keeper, KeptPlaces, WriteCache};

use super::drive::{FaultyDrive, firmware};
use super::memory::{Memory, Survives};
use super::violation::Violation;

/// Bytes of a copy of the mark of a step: a step is done once the first of two copies is whole.
const MARK_BYTES: usize = 64;

/// Sections with what is learned and counted, which is old where it was not kept in each step.
const LEARNED: [SectionId; 3] = [
    SectionId::Superblocks,
    SectionId::ReadLevels,
    SectionId::Retry,
];

/// Sections that a mount from a dump and one from memory that survives have alike. The others count what was in flight.
const ALIKE: [SectionId; 8] = [
    SectionId::Superblocks,
    SectionId::Placement,
    SectionId::Buffers,
    SectionId::Journal,
    SectionId::MapCache,
    SectionId::Relocation,
    SectionId::ReadLevels,
    SectionId::Retry,
];

impl FaultyDrive {
    /// Memory for the state of the firmware, from its start on.
    pub(crate) fn start_keeping(&mut self) {
        if !self.is_stopped || self.keeper.is_some() {
            return;
        }
        let places = match self.places {
            Some(places) => places,
            None => KeptPlaces::of(&mut firmware(&self.config, self.seed, 0)),
        };
        self.places = Some(places);
        let (memory, every) = (Survives::new(places.bytes()), self.learned_every());
        self.keeper = Some(Keeper::new(memory, places, &mut self.firmware, every));
        self.keep();
    }

    /// What is learned is kept every so many steps: on half of the drives not in each.
    fn learned_every(&self) -> u32 {
        if self.seed.is_multiple_of(2) { 5 } else { 1 }
    }

    /// Keeps what has changed.
    pub(crate) fn keep(&mut self) {
        if let Some(keeper) = &mut self.keeper {
            let at_first = self.allocations.map_or(0, |count| count());
            keeper.keep(self.now, self.platform.sequence(), &mut self.firmware);
            self.kept_allocations += self.allocations.map_or(0, |count| count()) - at_first;
        }
    }

    /// The firmware is stopped: between two steps, or in one. Returns its memory.
    pub(crate) fn stop(&mut self) -> Option<Survives> {
        self.keep();
        let s = Stream::new(self.seed)
            .named("stop")
            .at(self.power_cuts.cuts);
        if s.at(0).below(4) == 0 {
            return self.keeper.take().map(Keeper::into_memory);
        }
        let mut stopped = self.firmware.clone();
        // An operation whose end no kept step has seen has not ended: a program is torn, as in a power cut.
        let flash = self.platform.flash.clone();
        self.platform.stops();
        let event = match s.at(1).below(2) {
            0 => self.platform.end_one().first().copied(),
            _ => None,
        };
        match event {
            Some(event) => stopped.complete(self.now, event, &mut self.platform),
            None => self.asks(s, &mut stopped),
        }
        let mut keeper = self.keeper.take()?;
        let mut whole = keeper.clone();
        whole.memory_mut().written = 0;
        let sequence = self.platform.sequence();
        whole.keep(self.now, sequence, &mut stopped.clone());
        let written = whole.memory_mut().written - 2 * MARK_BYTES;
        let (before, mark) = (written as u64 + 1, MARK_BYTES as u64);
        keeper.memory_mut().left = match s.at(2).below(4) {
            0 => written + s.at(3).below(mark) as usize,
            _ => s.at(3).below(before) as usize,
        };
        keeper.keep(self.now, sequence, &mut stopped);
        self.platform.stopped();
        self.platform.flash = flash;
        self.power_cuts.stopped_in_a_step += 1;
        let mut memory = keeper.into_memory();
        memory.left = usize::MAX;
        Some(memory)
    }

    /// The host or time asks `stopped` for something.
    fn asks(&mut self, s: Stream, stopped: &mut Firmware<Memory>) {
        let depth = self.config.queue_depth;
        let is_free = |i: &u32| !self.platform.model.is_in_flight(CommandId(*i));
        let size = u64::from(self.config.geometry.slot_bytes);
        let ops = [HostOp::Write, HostOp::Trim, HostOp::Read];
        let slots = 1 + s.at(5).below(16).min(self.config.capacity_slots - 1);
        let first = s.at(6).below(self.config.capacity_slots - slots + 1);
        match (0..depth).find(is_free) {
            Some(id) => {
                let op = ops[s.at(4).below(3) as usize];
                let handles = u64::from(self.config.schemes.placement_handles());
                let command = HostCommand {
                    id: CommandId(id),
                    op,
                    client: 0,
                    offset_bytes: first * size,
                    len_bytes: (slots * size) as u32,
                    fua: false,
                    placement: match op {
                        HostOp::Write => s.at(8).below(handles) as u16,
                        _ => 0,
                    },
                };
                stopped.submit(self.now, command, &mut self.platform);
            }
            None => stopped.poll(self.now, &mut self.platform),
        }
    }

    /// A new firmware goes on from `memory`.
    pub(crate) fn mount_kept(
        &mut self,
        memory: Survives,
        allocated: &mut u64,
    ) -> Result<Recovering, Violation> {
        let mut next = firmware(&self.config, self.seed, 0);
        let opened = Keeper::open(memory, &mut next, self.learned_every());
        let mut keeper = opened.map_err(Violation::DoesNotMount)?;
        let before = std::mem::replace(&mut self.firmware, next);
        let at_first = self.allocations.map_or(0, |count| count());
        let flash = before.into_flash();
        let mounted = self
            .firmware
            .mount_kept(flash, &mut keeper, &mut self.platform);
        *allocated += self.allocations.map_or(0, |count| count()) - at_first;
        self.keeper = Some(keeper);
        mounted.map_err(Violation::DoesNotMount)
    }

    /// Whether what was kept in `memory` is what a dump has: both are mounted, and each saves its state again.
    pub(crate) fn compare_with_dump(&mut self, memory: &Survives) -> Result<(), Violation> {
        if self.config.write_cache == WriteCache::Volatile {
            // The dump has lost what memory that survives has.
            return Ok(());
        }
        let (firmware, keeper) = (self.firmware.clone(), self.keeper.clone());
        let buffers = self.platform.buffers_mut().clone();
        let mut allocated = 0;
        self.mount_kept(memory.clone(), &mut allocated)?;
        let kept = self.saved();
        self.firmware = firmware.clone();
        *self.platform.buffers_mut() = buffers.clone();
        let (dump, _) = self.dump(&mut allocated);
        self.mount(&dump, &mut allocated)?;
        let dumped = self.saved();
        (self.firmware, self.keeper) = (firmware, keeper);
        *self.platform.buffers_mut() = buffers;
        let is_old = |id: &SectionId| self.learned_every() > 1 && LEARNED.contains(id);
        let alike = ALIKE.into_iter().filter(|id| !is_old(id));
        let other = { alike }.find(|id| section_of(&kept, *id) != section_of(&dumped, *id));
        match other {
            None => Ok(()),
            Some(id) => Err(Violation::KeptOther { section: id.name() }),
        }
    }

    /// What the firmware saves after a mount.
    fn saved(&mut self) -> Vec<u8> {
        let cut = Default::default();
        let bytes = self.firmware.dump_bytes(&cut, &self.platform);
        let mut dump = vec![0; bytes];
        let saved = self
            .firmware
            .save(self.now, &cut, &mut dump, &self.platform);
        assert_eq!(saved, Some(bytes), "a dump is as long as it was counted");
        dump
    }
}
