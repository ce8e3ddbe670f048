//! The flash against plain records of what was written, erased and has failed.

use std::collections::{BTreeMap, BTreeSet};

use firstread_core::flash::OpClass;
use firstread_core::{
    BlockId, Buf, CellMode, CommandId, CycleDamage, DieId, FlashEvent, FlashKind, FlashOp,
    Geometry, HostCommand, HostOp, Layout, Levels, Ns, PageAddr, Ports, Ppa, SenseMode,
    SenseTiming, Stream, StripeOrder, SuperblockId, Tag,
};

use firstread_nand::chip::FailureProfile;

use super::InstantFlash;
use crate::hardware::failures::Failures;

fn geometry(stripe: StripeOrder) -> Geometry {
    Geometry {
        channels: 2,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes: 2,
        blocks_per_plane: 400,
        wordlines_per_block: 4,
        page_bytes: 8192,
        slot_bytes: 4096,
        codeword_bytes: 4096,
        stripe,
        stripe_parity: false,
    }
}

fn read_of(at: PageAddr, cell_mode: CellMode, buf: Buf) -> FlashKind {
    FlashKind::Read {
        block: at.block,
        on: BlockId(at.block.0),
        wordline: at.wordline,
        page: at.page,
        cell_mode,
        wanted: 0b1111,
        levels: Levels::DEFAULT,
        timing: SenseTiming::DEFAULT,
        mode: SenseMode::Hard,
        buf,
    }
}

/// A flash operation of `die`.
fn op(die: DieId, kind: FlashKind) -> FlashOp {
    FlashOp {
        tag: Tag(3),
        die,
        after: None,
        class: OpClass::Program,
        queued: Ns::ZERO,
        kind,
    }
}

/// Flash in plain records: the page in each slot, the mode of each superblock, and blocks that fail by the law that is tested
/// in `hardware/failures.rs`.
struct Plain {
    pages: BTreeMap<Ppa, u64>,
    modes: Vec<CellMode>,
    failures: Failures,
    failed: BTreeSet<(SuperblockId, DieId)>,
    failed_ever: u64,
    /// The spare that each superblock has on a die.
    spares: BTreeMap<(SuperblockId, DieId), BlockId>,
    spares_used: u32,
}

impl Plain {
    fn note(&mut self, block: SuperblockId, die: DieId, ok: bool) {
        if !ok && self.failed.insert((block, die)) {
            self.failed_ever += u64::from(self.failures.failed_planes(block, die));
        }
    }

    fn on(&self, block: SuperblockId, die: DieId) -> BlockId {
        let spare = self.spares.get(&(block, die)).copied();
        spare.unwrap_or(BlockId(block.0))
    }

    /// Superblock `block` is erased into `to`; whether that verifies on each die.
    fn erase(&mut self, block: SuperblockId, to: CellMode, dies: u16) -> Vec<bool> {
        let from = std::mem::replace(&mut self.modes[block.0 as usize], to);
        let on = self.on(block, DieId(0));
        self.failures.joins(block, DieId(0), on);
        self.failures.cycled(block, from, to);
        self.pages.retain(|ppa, _| ppa.block() != block);
        let erase = |die| {
            let on = self.on(block, DieId(die));
            self.failures.joins(block, DieId(die), on);
            let ok = !self.failures.erase_fails(block, DieId(die), true);
            self.note(block, DieId(die), ok);
            ok
        };
        (0..dies).map(erase).collect()
    }
}

/// Superblocks are erased from mode to mode, programmed and read until their blocks fail, and failed blocks are replaced or
/// not: what lies where, what verifies and how many blocks have failed are those of plain records.
#[test]
fn model_instant_flash_is_slots_with_pages_and_blocks_that_fail() {
    let law = FailureProfile {
        factory_bad: 0.0,
        grown_bad: 0.9,
        shape: 3.0,
        erase_share: 0.5,
        cell_correlation: 0.0,
    };
    // A cycle of SLC is worth little of one of QLC.
    let damage = CycleDamage::new([100, 400, 600, 1000]);
    let modes = [CellMode::Slc, CellMode::Tlc, CellMode::Qlc];
    let (mut failures, mut replaced, mut again) = (0, 0, 0);
    for (seed, stripe) in (0..12).zip(
        [StripeOrder::DieFirst, StripeOrder::PlaneFirst]
            .iter()
            .cycle(),
    ) {
        let geometry = geometry(*stripe);
        let layout = Layout::new(geometry);
        let of_drive = (CellMode::Qlc, damage);
        let of_blocks = Failures::new(law, [400, 150, 100, 60], of_drive, &geometry, seed);
        let wordline_slots = layout.slots_per_stripe() * 4;
        let buffers = 2 * wordline_slots;
        let mut flash = InstantFlash::new(geometry, CellMode::Qlc, buffers, of_blocks.clone());
        let mut plain = Plain {
            pages: BTreeMap::new(),
            modes: vec![CellMode::Qlc; 4],
            failures: of_blocks,
            failed: BTreeSet::new(),
            failed_ever: 0,
            spares: BTreeMap::new(),
            spares_used: 0,
        };
        for block in (0..4).map(SuperblockId) {
            flash.failures.make(block, 0, |_, _| {});
            plain.failures.make(block, 0, |_, _| {});
        }
        let s = Stream::new(seed).named("instant flash");
        let mut written = 0u64;
        for i in 0..700 {
            let draw = s.at(i);
            let case = format!("seed {seed}, step {i}");
            let block = SuperblockId(draw.at(0).below(4) as u32);
            let to = modes[draw.at(1).below(3) as usize];
            let dies = geometry.dies();
            for (die, ok) in (0..).map(DieId).zip(plain.erase(block, to, dies)) {
                let on = plain.on(block, die);
                flash.issue(op(
                    die,
                    FlashKind::Erase {
                        block,
                        on,
                        mode: to,
                    },
                ));
                let event = flash.next_event().map(|(event, _)| event);
                assert_eq!(
                    event,
                    Some(FlashEvent::Erased { tag: Tag(3), ok }),
                    "{case}"
                );
            }
            for wordline in 0..1 + draw.at(2).below(4) as u16 {
                let mut command = HostCommand {
                    id: CommandId(0),
                    op: HostOp::Write,
                    client: 0,
                    offset_bytes: 0,
                    len_bytes: 4096,
                    fua: false,
                    placement: 0,
                };
                let slots = layout.slots_per_stripe() * u32::from(to.bits());
                command.offset_bytes = 4096 * written;
                flash.submitted(&command);
                flash.data_in(CommandId(0), 0, slots, Buf(0));
                for die in (0..dies).map(DieId) {
                    let (buf, on) = (Buf(0), plain.on(block, die));
                    flash.issue(op(
                        die,
                        FlashKind::Program {
                            block,
                            on,
                            wordline,
                            buf,
                        },
                    ));
                    let ok = !plain.failures.program_fails(block, die, on, wordline);
                    plain.note(block, die, ok);
                    let event = flash.next_event().map(|(event, _)| event);
                    let expected = FlashEvent::Programmed { tag: Tag(3), ok };
                    assert_eq!(event, Some(expected), "{case}");
                }
                let first = u32::from(wordline) * slots;
                for slot in first..first + slots {
                    let ppa = Ppa::new(block, slot);
                    let (at, _) = layout.mp_page_of(ppa, to);
                    let on = plain.on(block, at.die);
                    let ok = !plain.failures.program_fails(block, at.die, on, wordline);
                    if ok {
                        plain.pages.insert(ppa, written + u64::from(slot - first));
                    }
                }
                written += u64::from(slots);
            }
            // A row is read behind the buffers of the write.
            let rows =
                u32::from(geometry.wordlines_per_block) * u32::from(dies) * u32::from(to.bits());
            let at = layout.data_mp_page(draw.at(3).below(u64::from(rows)) as u32, block, to);
            let buf = Buf(wordline_slots);
            flash.issue(op(at.die, read_of(at, to, buf)));
            assert!(matches!(
                flash.next_event(),
                Some((
                    FlashEvent::ArrayFree { .. },
                    FlashEvent::Decoded { failed: 0, .. }
                ))
            ));
            for mp_page_slot in 0..layout.slots_per_mp_page() {
                let ppa = layout.slot_at(at, mp_page_slot, to);
                let found = flash
                    .buffered(buf.slot(mp_page_slot))
                    .map(|spare| spare.lpn.0);
                assert_eq!(found, plain.pages.get(&ppa).copied(), "{case}: {ppa:?}");
            }
            for slot in 0..geometry.slots_per_superblock(to) {
                let ppa = Ppa::new(block, slot);
                let found = flash.stored(ppa).map(|spare| spare.lpn.0);
                assert_eq!(found, plain.pages.get(&ppa).copied(), "{case}: {ppa:?}");
            }
            for die in (0..dies).map(DieId) {
                if plain.failed.contains(&(block, die)) {
                    failures += 1;
                    if draw.at(4).below(2) == 0 {
                        let spare = BlockId(4 + plain.spares_used);
                        plain.spares_used += 1;
                        plain.spares.insert((block, die), spare);
                        plain.failed.remove(&(block, die));
                        replaced += 1;
                    } else {
                        again += 1;
                    }
                }
            }
            assert_eq!(
                u64::from(flash.bad_planes().grown),
                plain.failed_ever,
                "{case}"
            );
        }
    }
    let found = [failures, replaced, again];
    assert!(found.iter().all(|n| *n > 50), "{found:?}");
}

/// The clock is the latest time that it was told.
#[test]
fn model_the_clock_never_goes_back() {
    let geometry = geometry(StripeOrder::DieFirst);
    let of_drive = (CellMode::Qlc, CycleDamage::ALIKE);
    let law = FailureProfile {
        factory_bad: 0.0,
        grown_bad: 0.0,
        shape: 1.0,
        erase_share: 0.0,
        cell_correlation: 0.0,
    };
    let failures = Failures::new(law, [1; 4], of_drive, &geometry, 1);
    let mut flash = InstantFlash::new(geometry, CellMode::Qlc, 8, failures);
    let s = Stream::new(1).named("clock");
    let mut latest = 0;
    for i in 0..1_000 {
        let at = (latest + s.at(i).below(1_000_000)).saturating_sub(500_000);
        latest = latest.max(at);
        assert_eq!(flash.advance(Ns(at)), Ns(latest), "step {i}: {at} ns");
        assert_eq!(flash.now(), Ns(latest), "step {i}: {at} ns");
    }
}
