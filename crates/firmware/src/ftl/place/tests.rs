use alloc::vec::Vec;

use firstread_core::{Buf, CellMode, DieId, Geometry, Layout, StripeOrder, SuperblockId};

use super::{Evacuation, WriteBuffer};
use crate::ftl::tests::{SLOTS, drive, fill};
use crate::observe::Owner;

/// A power cut tears what is being programmed and keeps what still fills. So the part of a die, data or parity, is
/// incomplete until its program is due, and complete from then on.
#[test]
fn model_a_part_is_complete_once_its_program_is_due() {
    for (stripe_parity, mode) in [
        (true, CellMode::Tlc),
        (true, CellMode::Slc),
        (false, CellMode::Tlc),
    ] {
        let geometry = Geometry {
            channels: 3,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes: 2,
            blocks_per_plane: 4,
            wordlines_per_block: 2,
            page_bytes: 8192,
            slot_bytes: 4096,
            codeword_bytes: 4096,
            stripe: StripeOrder::DieFirst,
            stripe_parity,
        };
        let layout = Layout::new(geometry);
        let mut buffer = WriteBuffer::new(layout, mode, Buf(0));
        buffer.open(SuperblockId(2), mode);
        let dies: Vec<DieId> = (0..3).map(DieId).collect();
        for wordline in 0..geometry.wordlines_per_block {
            assert_eq!(buffer.lines_begun(), u64::from(wordline));
            let mut complete = Vec::new();
            while complete.len() < dies.len() {
                let slot = buffer.allocate().expect("the buffer holds three wordlines");
                assert_eq!(slot.due.wordline, wordline);
                complete.extend(slot.due.die);
                complete.extend(slot.due.parity);
                for &die in &dies {
                    assert_eq!(
                        buffer.is_incomplete(die, slot.due.line),
                        !complete.contains(&die),
                        "{die:?} of wordline {wordline} after {:?}",
                        slot.ppa
                    );
                }
            }
            assert_eq!(buffer.lines_begun(), u64::from(wordline) + 1);
        }
        assert!(buffer.allocate().is_err(), "the superblock is full");
    }
}

/// The host may have a superblock the sooner the more the victim gives back; a victim whose failed block may not be
/// replaced gives back nothing and takes what is valid in it.
#[test]
fn formula_a_victim_counts_as_what_it_gives_back() {
    let mut drive = drive(12, 6 * u64::from(SLOTS), 0);
    fill(&mut drive, 2, 40);
    let store = &mut drive.lower.store;
    let without = store.place.missing_room(&store.shared);
    store.shared.blocks.row_mut(SuperblockId(0)).leaving = true;
    store.place.relocation.emptying = Some(Evacuation {
        owner: Owner::Gc,
        block: SuperblockId(0),
        opened: 1,
        mode: CellMode::Slc,
        row: 0,
        rows: 32,
        shrinks: 0,
    });
    assert_eq!(
        store.place.missing_room(&store.shared),
        without - i64::from(SLOTS - 40)
    );
    store.shared.blocks.row_mut(SuperblockId(0)).failed = true;
    assert_eq!(store.place.missing_room(&store.shared), without + 40);
}
