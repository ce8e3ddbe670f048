//! The search of the chip for its valleys against where they are.

use firstread_core::{CellMode, DieId, Ns, PageAddr, PageType, SuperblockId, ValleySearch};
use firstread_nand::{BlockState, Medium, ReadLevels, reference};

const SEARCH: ValleySearch = ValleySearch {
    sense_percent: 200,
    step: 4,
    reach: 6,
    center: -12,
};

fn medium() -> Medium {
    let chip = reference::ct_a();
    let geometry = firstread_core::Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 2,
        planes: 2,
        blocks_per_plane: 8,
        wordlines_per_block: chip.wordlines() as u16,
        page_bytes: 16 << 10,
        slot_bytes: 4 << 10,
        codeword_bytes: 4 << 10,
        stripe: firstread_core::StripeOrder::PlaneFirst,
        stripe_parity: false,
    };
    Medium::new(chip, geometry, 5).unwrap()
}

fn pages() -> impl Iterator<Item = PageAddr> {
    (0..1408).step_by(71).flat_map(|wordline| {
        (0..4).map(move |page| PageAddr {
            die: DieId(1),
            block: SuperblockId(2),
            wordline,
            page: PageType(page),
        })
    })
}

fn aged(m: &Medium, hours: f64) -> BlockState {
    m.programmed_before(CellMode::Qlc, 1_500, 3, Ns::from_h(200), &[(hours, 55.0)])
}

/// Within two steps of the true valley where that is within reach, but for one in twenty: where a valley is flat, the fewest cells lie anywhere
/// in it. The errors are nearly those of the true valleys.
#[test]
fn formula_a_search_finds_valleys_within_its_reach() {
    let m = medium();
    let now = Ns::from_h(200);
    let (mut far, mut found, mut rber) = (0, 0, [0.0; 3]);
    for hours in [1.0, 10.0, 28.0] {
        let block = aged(&m, hours);
        for (id, at) in (0..).zip(pages()) {
            let offsets = m.searched(at, 1, &block, now, &SEARCH, id).unwrap();
            let truth = m.ideal_offsets(at, 1, &block, now).unwrap();
            let model = m.chip().mode(CellMode::Qlc).unwrap();
            for &valley in &model.pages[usize::from(at.page.0)] {
                let k = usize::from(valley) - 1;
                if (f64::from(SEARCH.center) - truth[k]).abs() > 20.0 {
                    continue;
                }
                found += 1;
                far += u32::from((f64::from(offsets[k]) - truth[k]).abs() > 8.0);
            }
            let levels = [
                ReadLevels::Offsets([0; 15]),
                ReadLevels::Offsets(offsets),
                ReadLevels::Ideal,
            ];
            for (sum, levels) in rber.iter_mut().zip(levels) {
                *sum += m.page_rber(at, 1, &block, now, &levels).unwrap();
            }
        }
    }
    println!(
        "{far} of {found} valleys further than two steps off; RBER default, found, best: {rber:.4?}"
    );
    assert!(far * 20 < found, "{far} of {found}");
    assert!(
        rber[1] < 1.3 * rber[2] && rber[1] < 0.5 * rber[0],
        "{rber:?}"
    );
}

/// No level is beyond the reach, whatever the search, and another sense finds nearly the same.
#[test]
fn model_a_search_stays_within_its_reach() {
    let m = medium();
    let block = aged(&m, 100.0);
    for (step, reach, center) in [
        (1, 1, 0),
        (4, 6, -12),
        (16, 15, -60),
        (16, 15, 60),
        (0, 0, 0),
    ] {
        let search = ValleySearch {
            step,
            reach,
            center,
            ..SEARCH
        };
        for at in pages().step_by(7) {
            let offsets = m
                .searched(at, 0, &block, Ns::from_h(200), &search, 7)
                .unwrap();
            let most = i32::from(step) * i32::from(reach.max(1));
            for offset in offsets.into_iter().filter(|o| *o != 0) {
                let off = (i32::from(offset) - i32::from(center)).abs();
                assert!(off <= most, "{offset} of {search:?}");
            }
        }
    }
}
