//! What a dump keeps of each scheme: a scheme that was saved and loaded goes on as the scheme that was saved.

use std::format;
use std::string::String;
use std::vec::Vec;

use firstread_core::params::{Param, ParamKind, Scheme};
use firstread_core::voltage::{Line, Parabola, VoltageTables};
use firstread_core::{CellMode, DieId, Geometry, PageAddr, PageType, SenseMode, Stream};

use super::*;
use crate::format::{Cursor, Record as _};
use crate::observe::SuperblockUse;
use crate::policy::Setup;

const MODE: CellMode = CellMode::Qlc;
const SUPERBLOCKS: u32 = 10;
const HOUR: u64 = 3_600_000_000_000;

fn geometry() -> Geometry {
    Geometry {
        planes: 2,
        ..crate::ftl::tests::geometry(SUPERBLOCKS)
    }
}

/// A chip whose valleys drift apart.
fn setup() -> Setup {
    let mut setup = crate::ftl::tests::setup(MODE, geometry(), 100);
    let line = |k: usize| Line {
        intercept: 20_000 * k as i32,
        slope: 65_536 - 3_000 * k as i32,
    };
    let mut tables = VoltageTables {
        page_of_valley: core::array::from_fn(|k| k as u8 % 4),
        factory_len: 9,
        sentinel: [1, 2, 3, 4],
        projection: core::array::from_fn(line),
        curved: core::array::from_fn(|k| Parabola {
            line: line(k),
            square: 100 * k as i32,
        }),
        ..setup.tables
    };
    for (i, entry) in tables.factory.iter_mut().enumerate().take(9) {
        *entry = core::array::from_fn(|k| -((i * (4 + k % 4)) as i8));
    }
    setup.tables = tables;
    setup
}

/// Values of parameters: often the default, with few pages in a sample.
fn values(record: &Scheme, s: Stream) -> Vec<i64> {
    let value = |(i, param): (usize, &Param)| {
        let s = s.at(i as u64);
        let between = |min: i64, max: i64| min + s.at(1).below((max - min + 1) as u64) as i64;
        match param.kind {
            ParamKind::Number { min, .. } if param.key == "pages_per_block" => between(min, 10),
            _ if s.at(0).below(2) == 0 || param.key == "interval" => param.default(),
            ParamKind::Number { min, max, .. } => between(min, max.min(min + 1_000)),
            ParamKind::Choice(words) => between(0, words.len() as i64 - 1),
            ParamKind::Flag(_) => between(0, 1),
        }
    };
    record.params.iter().enumerate().map(value).collect()
}

/// What schemes are told, and what they answer.
struct World {
    blocks: SuperblockTable,
    now: Ns,
    setup: Setup,
}

impl World {
    fn new() -> World {
        let mut blocks = SuperblockTable::new(SUPERBLOCKS, MODE);
        for block in 0..6 {
            let info = blocks.info_mut(SuperblockId(block));
            info.usage = SuperblockUse::Full;
            info.pe_cycles = block * 600;
            info.programmed_at = Ns(u64::from(block) * HOUR);
        }
        let (now, setup) = (Ns(30 * HOUR), setup());
        World { blocks, now, setup }
    }

    /// Errors grow with the distance of the levels from where they belong, which moves with time.
    fn result_of(&self, probe: &Probe, s: Stream) -> ProbeResult {
        let Levels::Offsets(levels) = probe.levels else {
            panic!("{probe:?} is at ideal levels");
        };
        let age = self
            .now
            .since(self.blocks.info(probe.at.block).programmed_at);
        let belongs = -((age.0 / HOUR / 2 % 50) as i64) - i64::from(probe.at.page.0);
        match probe.mode {
            SenseMode::OnesCount { valley } => {
                let far = i64::from(levels[usize::from(valley) - 1]) - belongs;
                let count = 2_000_000 + 10 * far + far * far * far + s.at(0).below(40) as i64;
                ProbeResult::Ones {
                    count: count as u32 / 2,
                    cells: 8_192,
                }
            }
            _ => {
                let far = (i64::from(levels[usize::from(probe.at.page.0)]) - belongs).abs();
                let failed = u64::from(far + s.at(0).below(6) as i64 > 7);
                ProbeResult::Decoded(outcome(failed, far as u16 + s.at(1).below(20) as u16))
            }
        }
    }

    fn ctx(&self, s: Stream) -> ReadCtx {
        let at = PageAddr {
            die: DieId(s.at(0).below(2) as u16),
            block: SuperblockId(s.at(1).below(u64::from(SUPERBLOCKS)) as u32),
            wordline: s.at(2).below(16) as u16,
            page: PageType(s.at(3).below(4) as u8),
        };
        let info = self.blocks.info(at.block);
        ReadCtx {
            now: self.now,
            at,
            mode: info.mode,
            pe_cycles: info.pe_cycles,
            age: self.now.since(info.programmed_at),
        }
    }

    /// Something happens that each of `schemes` is told. Returns what each of several has answered.
    fn goes_on(&mut self, schemes: &mut [&mut AnyReadLevels], s: Stream) -> Vec<Answers> {
        let answers = Answers((schemes.len() > 1).then(String::new));
        let mut told = std::vec![answers; schemes.len()];
        let what = s.at(0).below(100);
        let block = SuperblockId(s.at(1).below(u64::from(SUPERBLOCKS)) as u32);
        match what {
            0..10 => {
                self.now.0 += s.at(2).below(2 * HOUR);
                let now = self.now;
                let info = self.blocks.info_mut(block);
                let changes = match info.usage {
                    SuperblockUse::Free => {
                        (info.usage, info.programmed_at) = (SuperblockUse::Open, now);
                        info.pe_cycles += 1 + s.at(3).below(700) as u32;
                        info.mode = [MODE, CellMode::Slc][usize::from(s.at(4).below(8) == 0)];
                        true
                    }
                    SuperblockUse::Open => {
                        info.usage = SuperblockUse::Full;
                        false
                    }
                    _ => {
                        info.usage = SuperblockUse::Free;
                        true
                    }
                };
                for scheme in schemes.iter_mut().filter(|_| changes) {
                    scheme.on_block(now, block, &self.blocks);
                }
            }
            10..12 => self.now.0 += s.at(2).below(30 * HOUR),
            12 => {
                for scheme in schemes.iter_mut() {
                    scheme.power_on(self.now, &self.blocks);
                }
            }
            13 if s.at(2).below(4) == 0 => {
                for scheme in schemes.iter_mut() {
                    scheme.start_again(self.now, &self.blocks);
                }
            }
            13..45 => {
                let ctx = self.ctx(s.at(2));
                let steps = s.at(3).below(8) as u8;
                for (scheme, told) in schemes.iter_mut().zip(&mut told) {
                    let mut note = 0;
                    let failed = outcome(1, 60);
                    for step in 0..=steps {
                        let last = (step > 0).then_some(&failed);
                        let levels = scheme.attempt(&ctx, step, last, &mut note);
                        told.add(levels);
                        if levels.is_none() {
                            break;
                        }
                    }
                    scheme.on_read(&ctx, steps, &outcome(0, 20), note);
                }
            }
            _ => {
                for i in 0..s.at(3).below(200) {
                    if !self.reads(schemes, &mut told, s.at(2).at(i)) {
                        break;
                    }
                }
            }
        }
        for (scheme, told) in schemes.iter().zip(&mut told) {
            told.add(scheme.due());
        }
        told
    }

    /// A background read of each scheme. Returns whether there was one.
    fn reads(
        &mut self,
        schemes: &mut [&mut AnyReadLevels],
        told: &mut [Answers],
        s: Stream,
    ) -> bool {
        let due = schemes[0].due();
        if due.since(self.now).0 > HOUR {
            return false;
        }
        self.now = self.now.max(due);
        let mut has_read = false;
        for (scheme, told) in schemes.iter_mut().zip(told) {
            let probe = scheme.probe(self.now, &self.blocks, &|_| true, &mut |record| {
                told.add(record);
            });
            told.add(probe);
            let Some(probe) = probe else {
                continue;
            };
            has_read = true;
            assert!(probe.lies_within(&self.setup.geometry, MODE), "{probe:?}");
            let result = self.result_of(&probe, s);
            scheme.on_probe(self.now, &probe, &result, &self.blocks, &mut |record| {
                told.add(record);
            });
        }
        has_read
    }
}

/// What a scheme answers; of no use where there is one scheme.
#[derive(Clone, PartialEq, Debug)]
struct Answers(Option<String>);

impl Answers {
    fn add(&mut self, answer: impl core::fmt::Debug) {
        if let Some(all) = &mut self.0 {
            *all += &format!("{answer:?} ");
        }
    }
}

fn outcome(failed: u64, max_errors: u16) -> Outcome {
    Outcome {
        wanted: 0b1111,
        failed,
        max_errors,
        sum_errors: 3 * u32::from(max_errors),
        unsatisfied: 0,
        spare: Default::default(),
    }
}

fn saved(scheme: &mut AnyReadLevels) -> Vec<u8> {
    let [len, most] = [false, true].map(|most| {
        let mut cursor = Cursor::counting(most);
        scheme.transfer(&mut cursor);
        cursor.end().expect("a length")
    });
    assert!(len <= most);
    let mut bytes = std::vec![0; len];
    let mut cursor = Cursor::saving(&mut bytes);
    scheme.transfer(&mut cursor);
    assert_eq!(cursor.end(), Some(len));
    bytes
}

/// Whether `bytes` are a scheme such as `scheme`, which they are loaded into.
fn loads(scheme: &mut AnyReadLevels, bytes: &[u8]) -> bool {
    let mut cursor = Cursor::loading(bytes);
    scheme.transfer(&mut cursor);
    cursor.is_whole()
}

/// The state of the scheme. Tables that are not in use do not count.
fn state(scheme: &AnyReadLevels) -> String {
    let mut scheme = scheme.clone();
    match &mut scheme {
        AnyReadLevels::CtQlc(s) => s.tables_mut().leave_in_use(),
        AnyReadLevels::Frozen(s) => s.tables_mut().leave_in_use(),
        _ => {}
    }
    format!("{scheme:#?}")
}

/// A scheme after a random history.
fn after_history(record: &Scheme, seed: u64) -> (World, AnyReadLevels, Vec<i64>) {
    let s = Stream::new(seed).named(record.name);
    let values = values(record, s.named("values"));
    let mut world = World::new();
    let mut scheme = AnyReadLevels::new(record.name, &world.setup, &values).expect("a scheme");
    if s.at(0).below(16) > 0 {
        scheme.start(world.now, &world.blocks);
    }
    for i in 0..s.at(1).below(120) {
        world.goes_on(&mut [&mut scheme], s.named("history").at(i));
    }
    (world, scheme, values)
}

#[test]
fn model_a_dump_keeps_all_that_a_scheme_of_read_levels_has_learned() {
    let in_progress = [
        "phase: Idle",
        "phase: Verify(",
        "phase: Track(",
        "phase: Validate(",
        "populating: Some(",
        "phase: Find {",
        "phase: Refine(",
        "patrol: Some(",
    ];
    let (mut seen, mut several) = ([0; 8], 0);
    for record in AXIS.schemes {
        let seeds = if record.name == "ct-qlc" { 240 } else { 40 };
        for seed in 0..seeds {
            let case = format!("{} with seed {seed}", record.name);
            let (mut world, mut scheme, values) = after_history(record, seed);
            // Some dumps are made while background reads are in flight.
            let s = Stream::new(seed).named("dump");
            let mut probes: Vec<Probe> = Vec::new();
            if s.at(0).below(2) == 0 {
                for _ in 0..scheme.most_probes() {
                    let due = scheme.due();
                    if due.since(world.now).0 > HOUR {
                        break;
                    }
                    world.now = world.now.max(due);
                    let channels = world.setup.geometry.channels;
                    let on = |die: DieId| die.0 % channels;
                    let is_free = |die| probes.iter().all(|p| on(p.at.die) != on(die));
                    let probe = scheme.probe(world.now, &world.blocks, &is_free, &mut |_| {});
                    probes.extend(probe);
                }
            }
            several += u32::from(probes.len() > 1);
            let bytes = saved(&mut scheme);
            let mut loaded = AnyReadLevels::new(record.name, &world.setup, &values).unwrap();
            assert!(loads(&mut loaded, &bytes), "{case}");
            let (before, after) = (state(&scheme), state(&loaded));
            for (before, after) in before.lines().zip(after.lines()) {
                assert_eq!(before, after, "{case}");
            }
            assert_eq!(before, after, "{case}");
            assert_eq!(bytes, saved(&mut loaded), "{case}");
            for (seen, what) in seen.iter_mut().zip(in_progress) {
                *seen += u32::from(before.contains(what));
            }
            let mut both = [&mut scheme, &mut loaded];
            // They end in another order than they began, some without a result.
            for (i, probe) in probes.iter().enumerate().rev() {
                let result = world.result_of(probe, s);
                for scheme in &mut both {
                    match i == 1 {
                        true => scheme.given_up(probe),
                        false => {
                            let log = &mut |_| {};
                            scheme.on_probe(world.now, probe, &result, &world.blocks, log);
                        }
                    }
                }
            }
            for i in 0..30 {
                let told = world.goes_on(&mut both, s.named("after").at(i));
                assert_eq!(told[0], told[1], "{case}, {i} after");
            }
        }
    }
    std::println!("{in_progress:?} {seen:?}, {several}");
    assert!(several > 5, "{several} dumps with several background reads");
    assert!(
        seen.iter().all(|seen| *seen > 2),
        "{in_progress:?}: {seen:?}"
    );
}

/// Bytes that were changed, or that are any. What is loaded is refused, or goes on without a panic.
#[test]
fn fuzz_a_dump_of_read_levels_may_hold_anything() {
    let (mut refused, mut taken) = (0, 0);
    for record in AXIS.schemes {
        for seed in 0..30 {
            let (world, mut scheme, values) = after_history(record, seed);
            let bytes = saved(&mut scheme);
            for i in 0..12 {
                let s = Stream::new(seed).named("anything").at(i);
                let mut bytes = bytes.clone();
                let len = bytes.len() as u64;
                let changes = if i == 0 {
                    len
                } else {
                    len.min(1 + s.at(0).below(4))
                };
                for k in 0..changes {
                    let at = if i == 0 { k } else { s.at(1).at(k).below(len) };
                    let any = s.at(2).at(k).bits() as u8;
                    bytes[at as usize] = [any, 0xff, 0, any % 8][s.at(3).at(k).below(4) as usize];
                }
                if i == 1 {
                    bytes.truncate(s.at(4).below(len + 1) as usize);
                }
                let mut loaded = AnyReadLevels::new(record.name, &world.setup, &values).unwrap();
                if !loads(&mut loaded, &bytes) {
                    refused += 1;
                    continue;
                }
                taken += 1;
                let mut world = World {
                    blocks: world.blocks.clone(),
                    now: world.now,
                    setup: world.setup.clone(),
                };
                for i in 0..30 {
                    world.goes_on(&mut [&mut loaded], s.named("after").at(i));
                }
            }
        }
    }
    std::println!("{refused} refused, {taken} taken");
    assert!(
        refused > 100 && taken > 100,
        "{refused} refused, {taken} taken"
    );
}
