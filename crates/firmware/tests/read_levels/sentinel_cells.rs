//! `sentinel-cells`: what spare cells show, and what follows from it.

use firstread_core::{DieId, PageAddr, PageType, SpareErrors, SuperblockId};

use crate::chip::{self, h, monitor};
use crate::drive::Drive;

const AT_55C: f64 = 50.1;

fn aged(set: &[(&str, i64)]) -> Drive {
    let blocks = monitor(&[(300, 0.0); 6]);
    Drive::start("sentinel-cells", set, AT_55C, blocks, h(28.0))
}

/// The correction is odd in the difference of the two sides, grows with it, is what the curve says at
/// its points and lies between them elsewhere; without cells it is none.
#[test]
fn formula_correction_interpolates_the_curve() {
    let tables = chip::tables();
    let of = |above: u16, below: u16, cells: u16| {
        tables.correction(
            2,
            SpareErrors {
                above,
                below,
                cells,
            },
        )
    };
    assert_eq!(of(5, 9, 0), 0);
    for (i, &point) in tables.spare[2].iter().enumerate() {
        let [above, below] = [
            (i as u16).saturating_sub(16),
            16u16.saturating_sub(i as u16),
        ];
        assert_eq!(of(above, below, 16), point);
    }
    let mut last = i8::MIN;
    for difference in -59i16..=59 {
        let [above, below] = [difference.max(0), -difference.min(0)].map(|n| n as u16);
        let (this, other) = (of(above, below, 59), of(below, above, 59));
        assert!(this >= last && (this as i16 + other as i16).abs() <= 1);
        // Errors on both sides alike say nothing of the middle.
        assert_eq!(of(above + 7, below + 7, 66) == 0, of(above, below, 66) == 0);
        last = this;
    }
    assert_eq!(of(0, 0, 59), 0);
    assert!(of(0, 59, 59) <= -30, "all below: far too high");
}

/// A failed read is repeated at the levels that its spare cells give: those of its page type alone
/// change, and by the projection of the sentinel's.
#[test]
fn sequence_infer_then_walk() {
    let mut drive = aged(&[]);
    let tables = chip::tables();
    let mut inferred = 0;
    for wordline in (0..1408).step_by(7) {
        for page in 0..4u8 {
            let at = PageAddr {
                die: DieId(1),
                block: SuperblockId(2),
                wordline,
                page: PageType(page),
            };
            let tried = drive.read(at, 1);
            assert_eq!(tried[0], [0; 15], "the default comes first");
            let Some(second) = tried.get(1) else {
                continue;
            };
            inferred += 1;
            let sentinel = chip::SENTINEL[page as usize] as usize - 1;
            let mut expected = [0; 15];
            tables.project(page, second[sentinel], &mut expected);
            assert_eq!(*second, expected);
            assert!(second[sentinel] < 0, "charge was lost");
        }
    }
    assert!(
        inferred > 300,
        "{inferred} of 808 reads failed at the default"
    );
}

/// Where the cells say nothing, a little below and then above; then the table from there.
#[test]
fn sequence_without_spare_cells_it_feels_its_way() {
    use firstread_core::Levels;
    use firstread_firmware::policy::read_levels::ReadLevels;
    let mut drive = aged(&[]);
    let ctx = drive.ctx(PageAddr::default());
    let mut note = 0;
    let tried: Vec<i8> = (0..=u8::MAX)
        .map_while(
            |step| match drive.scheme.attempt(&ctx, step, None, &mut note)? {
                Levels::Offsets(levels) => Some(levels[chip::SENTINEL[0] as usize - 1]),
                Levels::Ideal(_) | Levels::OnDie(_) => None,
            },
        )
        .collect();
    assert_eq!(tried[..4], [0, -3, 3, 0]);
    assert_eq!(tried.len(), 4 + chip::tables().factory_len as usize);
    assert_eq!(tried[4], 0, "the nearest entry is the default");
}

/// Most reads that fail at the default succeed at the first inference, and hardly one takes more than
/// two; a superblock's first read teaches the others.
#[test]
fn model_inference_takes_one_retry() {
    let mut published = aged(&[]);
    let mut table = Drive::start("factory", &[], AT_55C, monitor(&[(300, 0.0); 6]), h(28.0));
    let mut remembers = aged(&[("start", 1)]);
    let [walk, infer, remember] =
        [&mut table, &mut published, &mut remembers].map(|drive| drive.reads(6, 4_000));
    println!(
        "first reads that fail, retries: table {walk:.3?}, inferred {infer:.3?}, remembered {remember:.3?}"
    );
    let first_fails = (walk.0, infer.0);
    assert_eq!(first_fails.0, first_fails.1, "both begin with the default");
    assert!(
        infer.1 < 1.25 * infer.0,
        "retries a failed read: {:.2}",
        infer.1 / infer.0
    );
    assert!(walk.1 > 1.5 * infer.1);
    assert!(remember.0 < 0.3 * infer.0);
}
