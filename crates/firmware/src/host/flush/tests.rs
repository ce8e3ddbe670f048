use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use firstread_core::{
    CellMode, CommandId, DieId, FlashEvent, FlashKind, FlashOp, Geometry, HostCommand, HostOp, Lpn,
    Ns, Ppa, Stream, StripeOrder,
};

use crate::config::WriteCache;
use crate::ftl::tests::{Drive, Silent, drive_with_write_cache, setup};

const CAPACITY: u64 = 256;

/// The die and the wordline of a superblock that a part is of.
type Part = (u32, u16, DieId);

/// A command that waits until data are programmed.
#[derive(Debug)]
struct Waits {
    /// The slots that have to be programmed before it completes.
    needs: Vec<Ppa>,
    /// The slots for whose sake parts may be padded: beside these, all that its streams held.
    pads: Vec<Ppa>,
}

/// A drive, whose programs end when the test says so, with a model of what is programmed.
struct Bench {
    drive: Drive,
    ports: Silent,
    mode: CellMode,
    /// Slots of the host that no program has finished, with their streams.
    held: BTreeMap<Ppa, u16>,
    running: Vec<FlashOp>,
    waits: BTreeMap<u32, Waits>,
    free_ids: BTreeSet<u32>,
    /// The write that has no slot yet: its command, its page, where that lay before, and its stream.
    coming: Option<(u32, Lpn, Option<Ppa>, u16)>,
    /// Parts that were programmed with padding, and without.
    padded: u32,
    full: u32,
}

impl Bench {
    fn new(
        stripe: StripeOrder,
        stripe_parity: bool,
        mode: CellMode,
        scheme: (&str, &str),
    ) -> Bench {
        let geometry = Geometry {
            channels: 3,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes: 2,
            blocks_per_plane: 96,
            wordlines_per_block: 8,
            page_bytes: 8192,
            slot_bytes: 4096,
            codeword_bytes: 4096,
            stripe,
            stripe_parity,
        };
        let setup = setup(mode, geometry, CAPACITY);
        Bench {
            drive: drive_with_write_cache(mode, &setup, (0, 0), WriteCache::Volatile, scheme),
            ports: Silent::default(),
            mode,
            held: BTreeMap::new(),
            running: Vec::new(),
            waits: BTreeMap::new(),
            free_ids: (0..8).collect(),
            coming: None,
            padded: 0,
            full: 0,
        }
    }

    fn part_of(&self, ppa: Ppa) -> Part {
        let (at, _) = self
            .drive
            .lower
            .store
            .shared
            .layout
            .mp_page_of(ppa, self.mode);
        (at.block.0, at.wordline, at.die)
    }

    fn slots_padded(&self) -> u64 {
        self.drive.lower.store.shared.counters.slots_padded
    }

    /// Programs that were issued, or wait for their dies.
    fn programs(&self) -> u32 {
        self.drive.lower.store.place.space.programs
    }

    /// Flushes, or writes a page with handle `placement`.
    fn submit(&mut self, op: HostOp, lpn: u64, placement: u16, fua: bool) {
        let Some(id) = self.free_ids.pop_first() else {
            return;
        };
        let was_at = self.drive.lower.store.table.map.at(Lpn(lpn));
        let before: Vec<(Ppa, u16)> = self.held.iter().map(|(ppa, to)| (*ppa, *to)).collect();
        let is_write = op == HostOp::Write;
        let command = HostCommand {
            id: CommandId(id),
            op,
            client: 0,
            offset_bytes: if is_write { lpn * 4096 } else { 0 },
            len_bytes: if is_write { 4096 } else { 0 },
            fua,
            placement,
        };
        let (padded, programs) = (self.slots_padded(), self.programs());
        let waits = || {
            before
                .iter()
                .filter(|(_, to)| !is_write || *to == placement)
        };
        let waits = waits().map(|(ppa, _)| *ppa).collect::<Vec<_>>();
        if !is_write || fua {
            let needs = if is_write { Vec::new() } else { waits.clone() };
            self.waits.insert(id, Waits { needs, pads: waits });
        }
        self.coming = is_write.then_some((id, Lpn(lpn), was_at, placement));
        self.drive.submit(Ns::ZERO, command, &mut self.ports);
        self.look_for_slot();
        if programs == 0 && !is_write {
            // Of parts on the same die one is programmed after the other.
            for ppa in &self.waits[&id].needs {
                let (.., die) = self.part_of(*ppa);
                let mut issued = self.running.iter().chain(&self.ports.issued);
                assert!(
                    issued.any(|op| op.die == die),
                    "{ppa:?} is not being programmed"
                );
            }
        }
        if programs > 0 && !is_write && !self.drive.lower.store.place.has_several_of_host() {
            let padded = self.slots_padded() - padded;
            assert_eq!(padded, 0, "{programs} programs had not ended");
        }
        self.look();
        while self.coming.is_some() {
            assert!(self.end_program(0), "the write waits for a program");
        }
    }

    /// Looks whether the write that comes has a slot now.
    fn look_for_slot(&mut self) {
        let Some((id, lpn, was_at, placement)) = self.coming else {
            return;
        };
        let is_at = self.drive.lower.store.table.map.at(lpn);
        if let Some(ppa) = is_at.filter(|_| is_at != was_at) {
            self.coming = None;
            self.held.insert(ppa, placement);
            if let Some(waits) = self.waits.get_mut(&id) {
                waits.needs.push(ppa);
                waits.pads.push(ppa);
            }
        }
    }

    /// Looks at what the drive has done.
    fn look(&mut self) {
        self.look_for_slot();
        for op in core::mem::take(&mut self.ports.issued) {
            let FlashKind::Program {
                block, wordline, ..
            } = op.kind
            else {
                panic!("{op:?} is not to be expected");
            };
            self.running.push(op);
            let layout = self.drive.lower.store.shared.layout;
            if layout.parity_die(wordline) == Some(op.die) {
                continue;
            }
            let part = (block.0, wordline, op.die);
            let has = self
                .held
                .keys()
                .filter(|ppa| self.part_of(**ppa) == part)
                .count() as u32;
            if has == layout.slots_per_mp_page() * u32::from(self.mode.bits()) {
                self.full += 1;
                continue;
            }
            self.padded += 1;
            // With the planes last the parts of a wordline are complete together.
            let is_of = |ppa: &Ppa| match layout.geometry.stripe {
                StripeOrder::PlaneFirst => self.part_of(*ppa) == part,
                StripeOrder::DieFirst => {
                    let (block, wordline, _) = self.part_of(*ppa);
                    (block, wordline) == (part.0, part.1)
                }
            };
            let mut waits = self.waits.values();
            assert!(
                waits.any(|waits| waits.pads.iter().any(is_of)),
                "{part:?} was padded for nobody: {:?}",
                self.waits
            );
        }
        for CommandId(id) in core::mem::take(&mut self.ports.completed) {
            if let Some(waits) = self.waits.remove(&id) {
                let lost = waits.needs.iter().find(|ppa| self.held.contains_key(ppa));
                assert_eq!(lost, None, "command {id} completed before");
            }
            self.free_ids.insert(id);
        }
    }

    /// Ends a program, if one runs.
    fn end_program(&mut self, draw: usize) -> bool {
        if self.running.is_empty() {
            return false;
        }
        let op = self.running.swap_remove(draw % self.running.len());
        let FlashKind::Program {
            block, wordline, ..
        } = op.kind
        else {
            unreachable!("{op:?} is no program");
        };
        let part = (block.0, wordline, op.die);
        let (layout, mode) = (self.drive.lower.store.shared.layout, self.mode);
        self.held.retain(|ppa, _| {
            let (at, _) = layout.mp_page_of(*ppa, mode);
            (at.block.0, at.wordline, at.die) != part
        });
        let (tag, die) = (op.tag, op.die);
        let programmed = FlashEvent::Programmed { tag, ok: true };
        self.drive.complete(Ns::ZERO, programmed, &mut self.ports);
        let free = FlashEvent::ArrayFree {
            tag,
            die,
            planes: u8::MAX,
        };
        self.drive.complete(Ns::ZERO, free, &mut self.ports);
        self.look();
        true
    }
}

/// Whatever writes, flushes and ends of programs come in whatever order: a flush completes once all that was written before it is
/// programmed, and a write with FUA once its page is, and both do. No part of a die is padded in which nobody waits for data. Nothing is
/// padded while something is being programmed, and all that is waited for is programmed at once where nothing is.
#[test]
fn model_a_flush_pads_the_parts_that_hold_what_it_waits_for() {
    let mut seen = BTreeMap::new();
    for stripe in [StripeOrder::PlaneFirst, StripeOrder::DieFirst] {
        for (stripe_parity, mode) in [
            (true, CellMode::Tlc),
            (true, CellMode::Slc),
            (false, CellMode::Qlc),
        ] {
            for (scheme, seed) in [("", ""), ("stream", "fdp")]
                .into_iter()
                .flat_map(|scheme| (0..12).map(move |seed| (scheme, seed)))
            {
                let s = Stream::new(seed).named("flush");
                let mut bench = Bench::new(stripe, stripe_parity, mode, scheme);
                let handles = if scheme.1.is_empty() { 1 } else { 3 };
                // Some have long queues, others mostly one command at a time.
                let ends = 1 + s.at(1_000).below(6);
                for i in 0..150 {
                    let draw = s.at(i);
                    match draw.at(0).below(6 + ends) {
                        0 => bench.submit(HostOp::Flush, 0, 0, false),
                        1..6 => {
                            let fua = draw.at(1).below(5) == 0;
                            let placement = draw.at(2).below(handles) as u16;
                            bench.submit(HostOp::Write, draw.at(3).below(CAPACITY), placement, fua);
                        }
                        _ => {
                            bench.end_program(draw.at(4).below(64) as usize);
                        }
                    }
                }
                while bench.end_program(0) {}
                assert!(bench.waits.is_empty(), "seed {seed}: {:?}", bench.waits);
                let count = seen
                    .entry((stripe == StripeOrder::PlaneFirst, handles))
                    .or_insert((0, 0));
                count.0 += bench.padded;
                count.1 += bench.full;
            }
        }
    }
    assert!(
        seen.len() == 4 && seen.values().all(|(padded, _)| *padded > 100),
        "{seen:?}"
    );
}

/// A wordline is filled on behind the parts that were padded, and each flush of a page takes the part of a die.
#[test]
fn formula_each_flush_of_a_page_takes_the_part_of_a_die() {
    for mode in [CellMode::Slc, CellMode::Qlc] {
        let mut bench = Bench::new(StripeOrder::PlaneFirst, true, mode, ("", ""));
        let part = 4 * u64::from(mode.bits());
        for flushes in 1..=10 {
            bench.submit(HostOp::Write, flushes, 0, false);
            bench.submit(HostOp::Flush, 0, 0, false);
            while bench.end_program(0) {}
            assert!(bench.waits.is_empty());
            assert_eq!(bench.slots_padded(), flushes * (part - 1));
        }
        // Two parts of data in each wordline, and one of parity.
        let programs = bench.padded + bench.full;
        assert_eq!((programs, bench.programs()), (10, 0));
        let programmed = bench.drive.lower.store.shared.counters.slots_programmed;
        assert_eq!(programmed, 15 * part);
    }
}
