//! What schemes of axes `cell_mode`, `refresh` and `area` make of the host's reads, against models: the tables of their papers,
//! and plain records of what has happened, over random reads.

use firstread_core::params::Axis;
use firstread_core::{CellMode, Ns, Stream, SuperblockId};
use firstread_faulty_flash::{geometry, setup};
use firstread_firmware::observe::{PageFuture, PageHeat, SuperblockTable, SuperblockUse};
use firstread_firmware::policy::area::{AnyArea, Areas, Entry, HIGH, LOW, PageWrite};
use firstread_firmware::policy::cell_mode::{AnyCellMode, CellModes, GiveBack, ReclaimState};
use firstread_firmware::policy::hot_pages::PageRead;
use firstread_firmware::policy::refresh::{AnyRefresh, Refresh};
use firstread_firmware::policy::{Setup, area, cell_mode, refresh};

/// Superblocks of the drive.
const SUPERBLOCKS: u32 = 16;

/// A drive of four dies whose superblocks start in QLC mode. A read in a mode takes 20 µs for each bit of a cell.
fn of_drive() -> Setup {
    setup(geometry(2, 2, 1, SUPERBLOCKS, 8), CellMode::Qlc, 100, 3)
}

/// Parameters of scheme `name` of `axis`: the defaults of its record but for `set`.
fn values(axis: &Axis, name: &str, set: &[(&str, i64)]) -> Vec<i64> {
    let record = axis.schemes.iter().find(|s| s.name == name).unwrap();
    let known = |key: &str| record.params.iter().any(|p| p.key == key);
    assert!(set.iter().all(|(key, _)| known(key)), "{name}: {set:?}");
    let of = |key| set.iter().find(|(k, _)| *k == key).map(|(_, value)| *value);
    let params = record.params.iter();
    params.map(|p| of(p.key).unwrap_or(p.default())).collect()
}

fn modes(name: &str, set: &[(&str, i64)]) -> AnyCellMode {
    AnyCellMode::new(name, &of_drive(), &values(&cell_mode::AXIS, name, set)).unwrap()
}

fn refreshes(name: &str, set: &[(&str, i64)]) -> AnyRefresh {
    AnyRefresh::new(name, &of_drive(), &values(&refresh::AXIS, name, set)).unwrap()
}

fn areas(set: &[(&str, i64)]) -> AnyArea {
    let name = "differential";
    AnyArea::new(name, &of_drive(), &values(&area::AXIS, name, set)).unwrap()
}

/// A read drawn from `s`, of a page of the first four superblocks.
fn any_read(s: Stream) -> PageRead {
    let mode = [CellMode::Slc, CellMode::Tlc, CellMode::Qlc][s.at(0).below(3) as usize];
    PageRead {
        block: SuperblockId(s.at(1).below(4) as u32),
        mode,
        pe_cycles: s.at(2).below(1_200) as u32,
        page: s.at(3).below(u64::from(mode.bits())) as u8,
        block_reads: s.at(4).below(10_000),
        retries: s.at(5).below(8) as u8,
        age: Ns(s.at(6).below(2_000)),
        heat: PageHeat {
            reads: s.at(7).below(12) as u8,
            writes: s.at(8).below(4) as u8,
        },
        future: PageFuture::default(),
    }
}

/// Table II of RARO without its last condition: where a page goes that is read so often.
fn by_heat(read: &PageRead, warm: u8, hot: u8) -> Option<CellMode> {
    match read.mode {
        CellMode::Qlc | CellMode::Tlc if read.heat.reads >= hot => Some(CellMode::Slc),
        CellMode::Qlc if read.heat.reads >= warm => Some(CellMode::Tlc),
        _ => None,
    }
}

/// The last condition: retries of this read.
fn by_retries(read: &PageRead, to: CellMode, r1: u8, r2: u8) -> bool {
    let least = if to == CellMode::Slc { r1 } else { r2 };
    read.retries >= least
}

/// Random thresholds: warm, hot, R1, R2.
fn thresholds(s: Stream) -> [u8; 4] {
    let warm = 1 + s.at(0).below(5) as u8;
    let r1 = s.at(2).below(4) as u8;
    [
        warm,
        warm + 1 + s.at(1).below(5) as u8,
        r1,
        r1 + s.at(3).below(4) as u8,
    ]
}

/// RARO and its comparators decide by its table II: which pages go to which mode, stay there when their superblock is emptied,
/// or are rewritten where they are.
#[test]
fn model_pages_go_where_table_ii_of_raro_says() {
    for seed in 0..40 {
        let s = Stream::new(seed).named("table");
        let [warm, hot, r1, r2] = thresholds(s.named("thresholds"));
        let least_age = s.named("age").below(2_000);
        let stay = |below: u8, n| s.named("stay").at(n).below(u64::from(below)) as u8;
        let (stay_slc, stay_tlc) = (stay(hot, 0), stay(warm, 1));
        let by_heat_alone = [
            ("warm", warm.into()),
            ("hot", hot.into()),
            ("stay_slc", stay_slc.into()),
            ("stay_tlc", stay_tlc.into()),
        ];
        let by_all = [
            ("warm", warm.into()),
            ("hot", hot.into()),
            ("r1", r1.into()),
            ("r2", r2.into()),
        ];
        let with_age = [&by_all[..], &[("age", least_age as i64)]].concat();
        let with_stay = [&by_all[..], &by_heat_alone[2..]].concat();
        let of_page = [
            ("hot", hot.into()),
            ("retries", r2.into()),
            ("age", least_age as i64),
        ];
        let mut hotness = modes("hotness", &by_heat_alone);
        let mut raro = modes("raro", &with_stay);
        let mut control = refreshes("hot", &with_age);
        let mut lightweight = refreshes("lightweight", &of_page);
        for i in 0..500 {
            let read = any_read(s.at(i));
            let to = by_heat(&read, warm, hot);
            let promoted = to.filter(|&to| by_retries(&read, to, r1, r2));
            let is_old = read.age.0 >= least_age;
            let case = format!("seed {seed}, read {i}: {read:?}");
            assert_eq!(hotness.after_read(&read), to, "hotness, {case}");
            assert_eq!(raro.after_read(&read), promoted, "raro, {case}");
            let rewritten = promoted.is_some() && is_old;
            assert_eq!(control.rewrites(&read), rewritten, "hot, {case}");
            let rewritten = read.heat.reads >= hot && read.retries >= r2 && is_old;
            assert_eq!(
                lightweight.rewrites(&read),
                rewritten,
                "lightweight, {case}"
            );
            let PageRead { heat, future, .. } = read;
            for (mode, least) in [(CellMode::Slc, stay_slc), (CellMode::Tlc, stay_tlc)] {
                let expected = heat.reads >= least;
                for scheme in [&hotness, &raro] {
                    let stays = scheme.stays(mode, heat, future);
                    assert_eq!(stays, expected, "stays in {mode:?}, {case}");
                }
            }
        }
    }
}

/// Equation 3 of RARO, fitted: retries of a page after `cycles` P/E cycles.
fn equation_3(cycles: u32) -> f64 {
    let thousands = f64::from(cycles) / 1000.0;
    let load = 0.00896 + 0.088 * libm::pow(thousands, 5.16) + 0.0946 * libm::pow(thousands, 1.19);
    libm::log(load / (72.0 / 8192.0)) / libm::log(1.0 / 0.8)
}

/// Retries that are computed are those of equation 3, rounded up. The table in between is straight.
#[test]
fn formula_computed_retries_are_those_of_equation_3() {
    let retries = |cycles: u32| {
        let reached = (0..=20).take_while(|&r1| {
            let mut raro = modes("raro", &[("trigger", 1), ("r1", r1)]);
            let read = PageRead {
                mode: CellMode::Qlc,
                pe_cycles: cycles,
                retries: 0,
                heat: PageHeat {
                    reads: 200,
                    writes: 0,
                },
                ..any_read(Stream::new(1))
            };
            raro.after_read(&read) == Some(CellMode::Slc)
        });
        reached.count() as f64 - 1.0
    };
    for cycles in (0..=1_000).step_by(9) {
        let (found, expected) = (retries(cycles), equation_3(cycles));
        // Between 0 and 100 P/E the logarithm is steep and the table straight: up to 0.6 retries below.
        let low = expected - 0.6;
        assert!(
            (low..expected + 1.1).contains(&found),
            "{found} retries after {cycles} P/E, {expected} computed"
        );
    }
    assert_eq!(retries(5_000), retries(1_000), "beyond the table");
}

/// A read is slow where the expected time of one, with the retries that its superblock has taken of late, is so many times that
/// of a read in the mode that its page goes to. Cases too close to tell without the rounding of the scheme are left out.
#[test]
fn model_reads_are_slow_by_the_recent_retries_of_their_superblock() {
    let (mut slow, mut quick, mut close) = (0, 0, 0);
    for seed in 0..40 {
        let s = Stream::new(seed).named("slow");
        let slower = 2_000 + s.named("slower").below(10_000);
        let mut raro = modes("raro", &[("trigger", 2), ("slower", slower as i64)]);
        let mut recent = [0.0; 4];
        for i in 0..600 {
            let mut read = any_read(s.at(i));
            // The retries of a superblock change slowly.
            let level = 8 * (i / 100 + u64::from(read.block.0)) % 7;
            read.retries = (level + s.at(i).named("more").below(3)) as u8;
            let of_block: &mut f64 = &mut recent[read.block.0 as usize];
            *of_block += (f64::from(read.retries) - *of_block) / 16.0;
            let to = by_heat(&read, 3, 8);
            let found = raro.after_read(&read);
            let Some(to) = to else {
                assert_eq!(found, None, "seed {seed}, read {i}");
                continue;
            };
            // Averages are rounded down to 256ths, 16 of them at a time.
            let step = f64::from(read.mode.bits());
            let limit = f64::from(to.bits()) * slower as f64 / 1_000.0;
            let sure = |retries: f64| step * (1.0 + retries) >= limit;
            let (least, most) = (sure(*of_block - 0.08), sure(*of_block + 0.08));
            if least != most {
                close += 1;
                continue;
            }
            let expected = least.then_some(to);
            assert_eq!(
                found, expected,
                "seed {seed}, read {i}: {recent:?} {read:?}"
            );
            *(if least { &mut slow } else { &mut quick }) += 1;
        }
    }
    assert!(slow > 1_000 && quick > 1_000, "{slow} slow, {quick} quick");
    assert!(close < 1_000, "{close} too close");
}

/// The limit of reads is one of a block in a mode, and a superblock has a block a die.
#[test]
fn formula_a_superblock_may_be_sensed_as_often_as_its_blocks_together() {
    let limits = [
        ("reads_slc", 1_000),
        ("reads_mlc", 700),
        ("reads_tlc", 500),
        ("reads_qlc", 1),
    ];
    let expected = [4_000, 2_800, 2_000, 4];
    for name in ["read-count", "lightweight", "hot"] {
        let most = refreshes(name, &limits).most_senses();
        let found = CellMode::ALL.map(|mode| most.of(mode));
        assert_eq!(found, expected, "{name}");
    }
    let never = refreshes("none", &[]).most_senses();
    assert_eq!(CellMode::ALL.map(|mode| never.of(mode)), [u64::MAX; 4]);
}

/// What is known of a superblock at the end of an epoch.
#[derive(Clone, Copy)]
struct Look {
    /// Whether it is full, at rest and in a mode of the scheme.
    is_candidate: bool,
    opened: u64,
    mode: CellMode,
    valid: u64,
    /// Slots read in the epoch.
    reads: u64,
    /// Slots that superblocks in other modes cost, and may still cost; slots moved by cleaning, and spare ones.
    costs: [u64; 4],
}

/// Slots that a superblock in `mode` holds less than one in QLC mode.
fn loses(mode: CellMode) -> u64 {
    256 - 64 * u64::from(mode.bits())
}

/// The heat in the last epoch (thousandths) of the superblock of `looks`, if it is cold, and what it has been charged with.
fn charged(looks: &[Look], stay: [u64; 2]) -> Option<(u64, u64)> {
    let mut heat = None;
    let mut charge = 0;
    for pair in looks.windows(2).rev() {
        let (before, look) = (pair[0], pair[1]);
        let is_same = before.is_candidate && look.is_candidate && before.opened == look.opened;
        let heat_milli = 2_000 * look.reads / look.valid.max(1);
        let least = stay[usize::from(look.mode == CellMode::Tlc)];
        if !is_same || heat_milli >= 1_000 * least {
            break;
        }
        heat = heat.or(Some(heat_milli));
        let [lost, left, cleaned, spare] = look.costs;
        charge += loses(look.mode) * lost / (lost + left);
        charge += loses(look.mode) * cleaned / spare;
    }
    heat.map(|heat| (heat, charge))
}

/// Changes a superblock as a drive might between two reads.
fn change(blocks: &mut SuperblockTable, opened: &mut u64, s: Stream) {
    let block = SuperblockId(s.at(0).below(u64::from(blocks.len())) as u32);
    let info = blocks.info_mut(block);
    match s.at(1).below(300) {
        0 => {
            *opened += 1;
            info.opened = *opened;
            info.valid_slots = s.at(2).below(60) as u32;
            info.mode = [CellMode::Slc, CellMode::Tlc, CellMode::Qlc][s.at(3).below(3) as usize];
            let uses = [
                SuperblockUse::Full,
                SuperblockUse::Full,
                SuperblockUse::Open,
            ];
            info.usage = uses[s.at(4).below(3) as usize];
            info.evacuating = false;
        }
        1 => info.evacuating = s.at(2).below(4) == 0,
        2..20 => info.valid_slots = info.valid_slots.saturating_sub(1),
        _ => {}
    }
}

/// Superblocks whose slots were read too little in the last epoch of heat are charged with what they cost, and one is given back
/// a period once its charge reaches its valid slots, or if pages wait for its room: the coldest one.
#[test]
fn model_cold_superblocks_are_given_back_when_they_cost_more_than_their_moves() {
    // Pages of more reads have full counters.
    const MOST_HEAT: u8 = 9;
    let (mut given, mut for_room, mut cold, mut kept) = (0, 0, 0, 0);
    for seed in 0..60 {
        let s = Stream::new(seed).named("cold");
        let stay = [s.at(0).below(6), s.at(1).below(4)];
        let period = [0, 1, 7, 40][s.named("period").below(4) as usize];
        let set = [
            ("warm", 5),
            ("hot", 9),
            ("stay_slc", stay[0] as i64),
            ("stay_tlc", stay[1] as i64),
            ("reclaim_period", period as i64),
        ];
        let mut scheme = modes(["hotness", "raro"][seed as usize % 2], &set);
        let mut blocks = SuperblockTable::new(SUPERBLOCKS, CellMode::Qlc);
        let mut looks = vec![Vec::new(); SUPERBLOCKS as usize];
        let mut reads = vec![0; SUPERBLOCKS as usize];
        let (mut opened, mut epoch, mut cleaned, mut cleaned_before) = (0, 0, 0, 0);
        let (mut refused, mut refused_before) = (0, 0);
        for i in 1..=4_000u64 {
            let draw = s.at(i);
            for j in 0..4 {
                change(&mut blocks, &mut opened, draw.at(j));
            }
            let block = SuperblockId(draw.at(5).below(u64::from(SUPERBLOCKS)) as u32);
            let mode = blocks.info(block).mode;
            let read = PageRead {
                block,
                mode,
                ..any_read(draw.named("read"))
            };
            scheme.after_read(&read);
            // Before the first epoch has ended the scheme does not know what the observer counts.
            let counts = read.heat.reads < MOST_HEAT && !looks[0].is_empty();
            reads[block.0 as usize] += u64::from(mode != CellMode::Qlc && counts);
            cleaned += u64::from(draw.at(6).below(40) == 0);
            refused += u64::from(draw.at(7).below(60) == 0);
            let ends = draw.at(8).below(120) == 0;
            epoch += u32::from(ends);
            let (spare, left) = (100 + draw.at(9).below(800), draw.at(10).below(9_000));
            let lost: u64 = blocks.iter().map(|(_, info)| loses(info.mode)).sum();
            if ends && period > 0 {
                for ((block, info), looks) in blocks.iter().zip(&mut looks) {
                    let at_rest = info.usage == SuperblockUse::Full && !info.evacuating;
                    looks.push(Look {
                        is_candidate: at_rest && info.mode != CellMode::Qlc,
                        opened: info.opened,
                        mode: info.mode,
                        valid: info.valid_slots.into(),
                        reads: core::mem::take(&mut reads[block.0 as usize]),
                        costs: [lost, left, cleaned - cleaned_before, spare],
                    });
                }
                cleaned_before = cleaned;
            }
            let state = ReclaimState {
                blocks: &blocks,
                heat_epoch: epoch,
                most_heat: MOST_HEAT,
                spare_slots: spare,
                left_slots: left,
                slots_cleaned: cleaned,
                refused_for_room: refused,
            };
            let found = scheme.gives_back(&state);
            let mut expected = None;
            if period > 0 && i % period == 0 {
                let waits = refused > refused_before;
                refused_before = refused;
                let all = blocks
                    .iter()
                    .zip(&looks)
                    .filter_map(|((block, info), looks)| {
                        let last = looks.last()?;
                        let (heat, charge) = charged(looks, stay)?;
                        let at_rest = info.usage == SuperblockUse::Full && !info.evacuating;
                        (at_rest && info.opened == last.opened)
                            .then_some((heat, block, info, charge))
                    });
                let all: Vec<_> = all.collect();
                cold += all.len();
                let worth = all
                    .iter()
                    .filter(|(.., info, charge)| waits || *charge >= u64::from(info.valid_slots));
                expected = worth
                    .min_by_key(|(heat, ..)| *heat)
                    .map(|(_, block, ..)| match waits {
                        true => GiveBack::ForRoom(*block),
                        false => GiveBack::Now(*block),
                    });
                kept += usize::from(expected.is_none() && !all.is_empty());
            }
            assert_eq!(found, expected, "seed {seed}, read {i}, stay {stay:?}");
            given += u32::from(matches!(found, Some(GiveBack::Now(_))));
            for_room += u32::from(matches!(found, Some(GiveBack::ForRoom(_))));
        }
    }
    let all = format!("{given} given back, {for_room} for room, {cold} cold, {kept} times none");
    assert!(given > 500 && for_room > 500 && kept > 500, "{all}");
}

/// The budget of migrations is so many thousandths of a page for each page read or written, is spent by a page each, and holds
/// no more than a thousand pages.
#[test]
fn model_the_budget_of_migrations_is_earned_saved_up_and_spent() {
    let (mut refused, mut allowed, mut at_most) = (0, 0, 0);
    for seed in 0..40 {
        let s = Stream::new(seed).named("budget");
        let share = [1, 30, 250, 1_000][s.named("share").below(4) as usize];
        let mut scheme = areas(&[("budget", share as i64), ("rule", 1)]);
        let mut left_milli = 0;
        let mut earn = |left: &mut u64, pages: u64| {
            let all = *left + share * pages;
            at_most += u64::from(all > 1_000_000);
            *left = all.min(1_000_000);
        };
        // Long times of saving and long ones of spending.
        for i in 0..6_000u64 {
            let draw = s.at(i);
            let saves = (i / 1_500) % 2 == 0;
            match draw.at(0).below(4) {
                0 => {
                    scheme.has_written();
                    earn(&mut left_milli, 1);
                }
                1 if saves => {
                    let pages = draw.at(1).below(64);
                    scheme.has_read(pages as u32);
                    earn(&mut left_milli, pages);
                }
                _ => {
                    let read = PageRead {
                        retries: 1,
                        heat: PageHeat {
                            reads: 9,
                            writes: 0,
                        },
                        ..any_read(draw.at(2))
                    };
                    let migrates = scheme.after_read(HIGH, &read);
                    earn(&mut left_milli, 1);
                    let has_page = left_milli >= 1_000;
                    assert_eq!(
                        migrates,
                        Some(has_page),
                        "seed {seed}, step {i}: {left_milli}"
                    );
                    // Not each finds a slot.
                    if has_page && !saves && draw.at(3).below(4) > 0 {
                        scheme.has_entered(Entry::Read, None);
                        left_milli -= 1_000;
                    }
                    *(if has_page { &mut allowed } else { &mut refused }) += 1;
                }
            }
        }
        // Nothing is left that was not saved.
        for i in 0..4_000 {
            let read = PageRead {
                retries: 1,
                heat: PageHeat {
                    reads: 9,
                    writes: 0,
                },
                ..any_read(s)
            };
            let migrates = scheme.after_read(HIGH, &read);
            earn(&mut left_milli, 1);
            let has_page = left_milli >= 1_000;
            assert_eq!(
                migrates,
                Some(has_page),
                "seed {seed}, at its end {i}: {left_milli}"
            );
            if has_page {
                scheme.has_entered(Entry::Read, None);
                left_milli -= 1_000;
            }
        }
    }
    assert!(refused > 1_000 && allowed > 1_000, "{refused} {allowed}");
    assert!(at_most > 100, "{at_most} times at most");
}

/// Locality is that of the last window of the host's reads, of either area, and of no earlier one.
#[test]
fn model_locality_is_that_of_the_last_window() {
    const WINDOW: u64 = 1 << 14;
    let mut changes = 0;
    for seed in 0..6 {
        let s = Stream::new(seed).named("locality");
        let least = 50 + s.named("least").below(200);
        let set = [
            ("low_locality", 1),
            ("locality", least as i64),
            ("rule", 1),
            ("by_read", 0),
        ];
        let mut scheme = areas(&set);
        let mut was_low = false;
        for window in 0..6 {
            // Well below or above the limit.
            let share = match s.at(window).below(2) {
                0 => least / 2,
                _ => least * 2,
            };
            let mut hot_reads = 0;
            for i in 0..WINDOW {
                let draw = s.at(window * WINDOW + i);
                let is_hot = draw.at(0).below(1_000) < share;
                hot_reads += u64::from(is_hot);
                let reads = if is_hot { 9 } else { 1 };
                let read = PageRead {
                    heat: PageHeat { reads, writes: 0 },
                    ..any_read(draw)
                };
                scheme.after_read([HIGH, LOW][draw.at(1).below(2) as usize], &read);
                let is_low = match i == WINDOW - 1 {
                    true => hot_reads * 1_000 < WINDOW * least,
                    false => was_low,
                };
                if i % 512 == 0 || i == WINDOW - 1 {
                    let by_reads = PageWrite {
                        heat: PageHeat {
                            reads: 2,
                            writes: 1,
                        },
                        future: PageFuture::default(),
                        from: Some(SuperblockId(0)),
                    };
                    let enters = scheme.of_write(&by_reads).is_some();
                    assert_eq!(enters, is_low, "seed {seed}, window {window}, read {i}");
                }
                changes += u32::from(is_low != was_low);
                was_low = is_low;
            }
        }
    }
    assert!(changes > 8, "{changes} changes");
}
