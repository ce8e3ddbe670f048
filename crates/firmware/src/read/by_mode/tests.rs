//! The instance of another mode against the same scheme alone: from the first data in its mode on, each is told the same.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use firstread_core::params::Param;
use firstread_core::{
    CellMode, DieId, Levels, Ns, PageAddr, PageType, SenseMode, Stream, SuperblockId,
};

use super::{Asked, ByMode};
use crate::format::{Cursor, Record};
use crate::ftl::tests::{geometry, setup};
use crate::observe::{Outcome, Probe, ProbeResult, SuperblockTable, SuperblockUse};
use crate::policy::read_levels::{AXIS, AnyReadLevels, ReadLevels};

const OWN: CellMode = CellMode::Qlc;
const OTHER: CellMode = CellMode::Slc;
const SUPERBLOCKS: u32 = 8;

/// Scheme `name` for superblocks in each of the two modes.
fn schemes(name: &str, set: &[(&str, i64)]) -> [AnyReadLevels; 2] {
    let record = AXIS.schemes.iter().find(|s| s.name == name);
    let record = record.expect("a scheme of the axis");
    let of = |p: &Param| set.iter().find(|(key, _)| *key == p.key).map(|(_, v)| *v);
    let values = record.params.iter().map(|p| of(p).unwrap_or(p.default()));
    let values: Vec<i64> = values.collect();
    let own = setup(OWN, geometry(SUPERBLOCKS), 100);
    let other = own.in_other_modes().find(|(mode, _)| *mode == OTHER);
    let (_, other) = other.expect("a drive with other modes");
    [own, other].map(|setup| AnyReadLevels::new(name, &setup, &values).expect("a scheme"))
}

/// The schemes alone, and whether the one of the other mode has begun.
struct Alone {
    own: AnyReadLevels,
    other: AnyReadLevels,
    has_started: bool,
}

impl Alone {
    /// Tells `other` what it is told if it has begun, or that it begins if there are data in its mode now.
    fn tell(&mut self, now: Ns, blocks: &SuperblockTable, what: impl FnOnce(&mut AnyReadLevels)) {
        let is_used = blocks.with_data().any(|(_, info)| info.mode == OTHER);
        if self.has_started {
            what(&mut self.other);
        } else if is_used {
            self.other.start(now, blocks);
            self.has_started = true;
        }
    }

    fn due(&self) -> Ns {
        match self.has_started {
            true => self.own.due().min(self.other.due()),
            false => self.own.due(),
        }
    }
}

fn told(scheme: &AnyReadLevels) -> String {
    format!("{scheme:?}")
}

/// A superblock goes on from free to open, full, erased, in one of the modes.
fn change(blocks: &mut SuperblockTable, now: Ns, opened: u64, s: Stream) -> SuperblockId {
    let block = SuperblockId(s.at(0).below(u64::from(SUPERBLOCKS)) as u32);
    let info = blocks.info_mut(block);
    match info.usage {
        SuperblockUse::Free => {
            info.usage = SuperblockUse::Full;
            (info.programmed_at, info.opened) = (now, opened);
        }
        _ => {
            info.usage = SuperblockUse::Free;
            info.mode = [OWN, OTHER, OWN][s.at(1).below(3) as usize];
            info.pe_cycles += 1 + s.at(2).below(20) as u32;
        }
    }
    block
}

/// A result of `probe` as chance draws it.
fn result_of(probe: &Probe, s: Stream) -> ProbeResult {
    match probe.mode {
        SenseMode::Hard => {
            let failed = u64::from(s.at(0).below(4) == 0);
            ProbeResult::Decoded(Outcome {
                wanted: 0b1111,
                failed,
                max_errors: s.at(1).below(70) as u16,
                sum_errors: 100,
                unsatisfied: 9 * failed as u16,
                spare: Default::default(),
            })
        }
        _ => ProbeResult::Ones {
            count: s.at(0).below(8_192) as u32,
            cells: 8_192,
        },
    }
}

/// Data come and go in both modes, power goes off and comes back, and the drive is filled again: each instance does what the
/// same scheme alone does, begins with the first data in its mode and stops where a new fill has none.
#[test]
fn model_the_instance_of_another_mode_is_told_what_its_scheme_alone_is_told() {
    let (mut probes, mut powered, mut again, mut stopped) = (0, 0, 0, 0);
    for seed in 0..48 {
        let s = Stream::new(seed).named("by mode");
        let (name, set): (_, &[_]) = match seed % 4 {
            0 => ("ct-qlc", &[("verify_at_power_on", 1)]),
            1 => ("ct-qlc", &[]),
            2 => ("block-calibration", &[]),
            _ => ("similar-page", &[]),
        };
        let [own, other] = schemes(name, set);
        let others = core::iter::once((OTHER, other.clone()));
        let mut by_mode = ByMode::new(OWN, own.clone(), others);
        let mut alone = Alone {
            own,
            other,
            has_started: false,
        };
        let mut blocks = SuperblockTable::new(SUPERBLOCKS, OWN);
        let mut now = Ns(1);
        let mut is_on = false;
        for i in 0..400 {
            let draw = s.at(i);
            let case = format!("seed {seed}, {name}, step {i}");
            let what = draw.at(0).below(100);
            if !is_on && i == 10 {
                is_on = true;
                by_mode.start(now, &blocks);
                alone.own.start(now, &blocks);
                alone.tell(now, &blocks, |_| unreachable!("nothing begins before"));
            } else if what < 30 {
                now.0 += draw.at(1).below(3_600_000_000_000);
                let block = change(&mut blocks, now, i, draw.at(2));
                by_mode.on_block(now, block, &blocks, is_on);
                alone.own.on_block(now, block, &blocks);
                if is_on {
                    alone.tell(now, &blocks, |other| other.on_block(now, block, &blocks));
                }
            } else if is_on && what < 33 {
                by_mode.power_on(now, &blocks);
                alone.own.power_on(now, &blocks);
                if alone.has_started {
                    alone.other.power_on(now, &blocks);
                }
                powered += u32::from(alone.has_started);
            } else if is_on && what < 36 {
                // A fill of the drive anew, sometimes in one mode.
                if draw.at(1).below(2) == 0 {
                    for block in (0..SUPERBLOCKS).map(SuperblockId) {
                        let info = blocks.info_mut(block);
                        (info.mode, info.usage) = (OWN, SuperblockUse::Full);
                    }
                }
                by_mode.start_again(now, &blocks);
                alone.own.start_again(now, &blocks);
                let is_used = blocks.with_data().any(|(_, info)| info.mode == OTHER);
                let had_started = core::mem::replace(&mut alone.has_started, is_used);
                match (had_started, is_used) {
                    (true, true) => alone.other.start_again(now, &blocks),
                    (false, true) => alone.other.start(now, &blocks),
                    _ => {}
                }
                again += u32::from(had_started && is_used);
                stopped += u32::from(had_started && !is_used);
            } else if is_on && let Some(mode) = by_mode.next_due(now) {
                let scheme = match mode == OWN {
                    true => &mut alone.own,
                    false => &mut alone.other,
                };
                assert!(scheme.due() <= now, "{case}");
                let log = &mut |_| {};
                let probe = by_mode.of(mode).probe(now, &blocks, &|_| true, log);
                assert_eq!(probe, scheme.probe(now, &blocks, &|_| true, log), "{case}");
                if let Some(probe) = probe {
                    let result = result_of(&probe, draw.at(3));
                    let found = by_mode.of(mode);
                    found.on_probe(now, &probe, &result, &blocks, log);
                    scheme.on_probe(now, &probe, &result, &blocks, log);
                    probes += u32::from(mode == OTHER);
                }
            }
            assert_eq!(by_mode.due(), alone.due(), "{case}");
            let is_due = alone.has_started && alone.other.due() <= now;
            let expected = match alone.own.due() <= now {
                true => Some(OWN),
                false => is_due.then_some(OTHER),
            };
            assert_eq!(by_mode.next_due(now), expected, "{case}");
            if (30..36).contains(&what) || i % 50 == 0 {
                assert_eq!(told(by_mode.of(OWN)), told(&alone.own), "{case}");
                assert_eq!(told(by_mode.of(OTHER)), told(&alone.other), "{case}");
            }
        }
    }
    assert!(probes > 100, "{probes} background reads in the other mode");
    let rare = [powered, again, stopped];
    assert!(rare.iter().all(|n| *n > 20), "{rare:?}");
}

/// The instances of both modes, and the background read in flight, outlive a cut of power.
#[test]
fn model_a_dump_keeps_the_instance_of_each_mode() {
    let transfer = |by_mode: &mut ByMode<_>, probe: &mut Option<Asked>, cursor: &mut Cursor<'_>| {
        by_mode.transfer(cursor);
        probe.transfer(cursor);
    };
    let (mut started, mut in_flight) = (0, 0);
    for seed in 0..40 {
        let s = Stream::new(seed).named("dump by mode");
        let name = ["block-calibration", "similar-page"][seed as usize % 2];
        let [own, other] = schemes(name, &[]);
        let new = || ByMode::new(OWN, own.clone(), core::iter::once((OTHER, other.clone())));
        let (mut by_mode, mut probe) = (new(), None);
        let mut blocks = SuperblockTable::new(SUPERBLOCKS, OWN);
        let mut now = Ns(1);
        by_mode.start(now, &blocks);
        for i in 0..s.at(0).below(120) {
            let draw = s.at(i).named("step");
            if draw.at(0).below(8) == 0 {
                now.0 += draw.at(1).below(3_600_000_000_000);
                let block = change(&mut blocks, now, i, draw.at(2));
                by_mode.on_block(now, block, &blocks, true);
            }
            now = now.max(by_mode.due().min(Ns(now.0 + 60_000_000_000)));
            let log = &mut |_| {};
            if let Some((mode, probe)) = probe.take() {
                let result = result_of(&probe, draw.at(3));
                let levels = by_mode.of(mode);
                levels.on_probe(now, &probe, &result, &blocks, log);
            } else if let Some(mode) = by_mode.next_due(now) {
                probe = by_mode
                    .of(mode)
                    .probe(now, &blocks, &|_| true, log)
                    .map(|probe| (mode, probe));
            }
        }
        started += u32::from(by_mode.others[0].has_started);
        in_flight += u32::from(probe.is_some());

        let mut cursor = Cursor::counting(false);
        transfer(&mut by_mode, &mut probe, &mut cursor);
        let mut bytes = vec![0; cursor.end().expect("a length")];
        transfer(&mut by_mode, &mut probe, &mut Cursor::saving(&mut bytes));
        let (mut loaded, mut its_probe) = (new(), None);
        let mut cursor = Cursor::loading(&bytes);
        transfer(&mut loaded, &mut its_probe, &mut cursor);
        assert!(cursor.is_whole(), "seed {seed}");
        assert_eq!(its_probe, probe, "seed {seed}");
        assert_eq!(format!("{loaded:?}"), format!("{by_mode:?}"), "seed {seed}");
    }
    let both = 5..35;
    assert!(
        both.contains(&started) && both.contains(&in_flight),
        "{started}, {in_flight}"
    );
}

/// A background read is saved as it was asked for, with whatever level and valley.
#[test]
fn model_a_dump_keeps_a_background_read() {
    for (levels, mode) in [
        ([0; 15], SenseMode::Hard),
        (
            core::array::from_fn(|k| k as i8 - 7),
            SenseMode::OnesCount { valley: 9 },
        ),
    ] {
        let at = PageAddr {
            die: DieId(1),
            block: SuperblockId(7),
            wordline: 15,
            page: PageType(3),
        };
        let levels = Levels::Offsets(levels);
        let probe = Probe {
            at,
            planes: 1,
            levels,
            mode,
        };
        let mut asked = Some((OTHER, probe));
        let mut bytes = [0; 64];
        asked.transfer(&mut Cursor::saving(&mut bytes));
        let mut loaded: Option<Asked> = None;
        loaded.transfer(&mut Cursor::loading(&bytes));
        assert_eq!(loaded, asked);

        let fits = |probe: Probe, mode| probe.lies_within(&geometry(SUPERBLOCKS), mode);
        assert!(fits(probe, OWN));
        assert!(!fits(probe, OTHER), "no such page type");
        assert!(!fits(Probe { planes: 2, ..probe }, OWN), "no such plane");
        assert!(!fits(Probe { planes: 0, ..probe }, OWN), "no plane");
        let elsewhere = [
            PageAddr {
                die: DieId(2),
                ..at
            },
            PageAddr {
                block: SuperblockId(8),
                ..at
            },
            PageAddr { wordline: 16, ..at },
        ];
        for at in elsewhere {
            assert!(!fits(Probe { at, ..probe }, OWN), "{at:?}");
        }
        let mode = SenseMode::OnesCount { valley: 16 };
        assert!(!fits(Probe { mode, ..probe }, OWN), "no such valley");
    }
}
