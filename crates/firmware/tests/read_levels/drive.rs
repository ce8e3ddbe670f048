//! A drive of the tests: a scheme, a chip, a table of superblocks and a clock.

use firstread_core::{
    CellMode, DieId, LevelOffsets, Levels, Ns, PageAddr, PageType, Stream, SuperblockId,
};
use firstread_firmware::log::{Record, What};
use firstread_firmware::observe::{Outcome, Probe, ReadCtx, SuperblockTable};
use firstread_firmware::policy::read_levels::{AXIS, AnyReadLevels, ReadLevels};

use crate::chip::{self, Chip};

/// Array time and decode of a probe, about.
const PROBE: Ns = Ns::from_us(250);

/// Values of scheme `name` with `set` changed.
pub fn values(name: &str, set: &[(&str, i64)]) -> Vec<i64> {
    let scheme = AXIS.schemes.iter().find(|s| s.name == name).unwrap();
    let mut values: Vec<i64> = scheme.params.iter().map(|p| p.default()).collect();
    for (key, value) in set {
        let i = scheme.params.iter().position(|p| p.key == *key);
        values[i.unwrap_or_else(|| panic!("{name} has no {key}"))] = *value;
    }
    values
}

pub fn scheme(name: &str, set: &[(&str, i64)]) -> AnyReadLevels {
    AnyReadLevels::new(name, &chip::setup(), &values(name, set)).unwrap()
}

pub struct Drive {
    pub scheme: AnyReadLevels,
    pub chip: Chip,
    pub blocks: SuperblockTable,
    pub now: Ns,
    pub log: Vec<Record>,
    pub probes: Vec<(Ns, Probe)>,
}

impl Drive {
    /// `name` on a drive that is started now.
    pub fn start(
        name: &str,
        set: &[(&str, i64)],
        acceleration: f64,
        blocks: SuperblockTable,
        now: Ns,
    ) -> Drive {
        let mut drive = Drive {
            scheme: scheme(name, set),
            chip: Chip { acceleration },
            blocks,
            now,
            log: Vec::new(),
            probes: Vec::new(),
        };
        drive.scheme.start(now, &drive.blocks);
        drive
    }

    /// Age of a superblock's data in hours, and its P/E cycles.
    pub fn age(&self, block: SuperblockId) -> (f64, u32) {
        let info = self.blocks.info(block);
        (
            self.now.since(info.programmed_at).0 as f64 / 3.6e12,
            info.pe_cycles,
        )
    }

    /// One background read, if one is due now.
    pub fn step(&mut self) -> bool {
        let mut records = Vec::new();
        let probe = self
            .scheme
            .probe(self.now, &self.blocks, &|_| true, &mut |r| records.push(r));
        if let Some(probe) = probe {
            self.now += PROBE;
            let (hours, pe) = self.age(probe.at.block);
            let result = self.chip.answer(&probe, hours, pe);
            self.scheme
                .on_probe(self.now, &probe, &result, &self.blocks, &mut |r| {
                    records.push(r)
                });
            self.probes.push((self.now, probe));
        } else {
            assert!(
                self.scheme.due() > self.now,
                "nothing to do, and yet it is due"
            );
        }
        self.log.append(&mut records);
        probe.is_some()
    }

    /// All background work until `end`; each time one is due it is called, as the drive does.
    pub fn run_to(&mut self, end: Ns) {
        while self.scheme.due() <= end {
            self.now = self.now.max(self.scheme.due());
            self.step();
        }
        self.now = self.now.max(end);
    }

    /// Context of a read of a page of `block`.
    pub fn ctx(&self, at: PageAddr) -> ReadCtx {
        let info = self.blocks.info(at.block);
        ReadCtx {
            now: self.now,
            at,
            mode: CellMode::Qlc,
            pe_cycles: info.pe_cycles,
            age: self.now.since(info.programmed_at),
        }
    }

    /// Reads a page of one plane for the host: the levels of its attempts.
    pub fn read(&mut self, at: PageAddr, plane: u8) -> Vec<LevelOffsets> {
        let ctx = self.ctx(at);
        let (hours, pe) = self.age(at.block);
        let (mut tried, mut note) = (Vec::new(), 0);
        let mut last: Option<Outcome> = None;
        for step in 0..=u8::MAX {
            let levels = self.scheme.attempt(&ctx, step, last.as_ref(), &mut note);
            let Some(Levels::Offsets(levels)) = levels else {
                break;
            };
            tried.push(levels);
            let outcome = self.chip.read(&at, plane, &levels, hours, pe);
            last = Some(outcome);
            if outcome.failed == 0 {
                break;
            }
        }
        let outcome = last.expect("every scheme has a first attempt");
        self.scheme
            .on_read(&ctx, tried.len() as u8 - 1, &outcome, note);
        tried
    }

    /// Reads `n` random pages of the first `blocks` superblocks: share whose first attempt fails,
    /// and mean retries.
    pub fn reads(&mut self, blocks: u32, n: u64) -> (f64, f64) {
        let stream = Stream::new(77).named("host");
        let geometry = chip::geometry();
        let (mut failed, mut retries) = (0, 0);
        for i in 0..n {
            let s = stream.at(i);
            let at = PageAddr {
                block: SuperblockId(s.at(0).below(blocks as u64) as u32),
                die: DieId(s.at(1).below(geometry.dies() as u64) as u16),
                wordline: s.at(2).below(geometry.wordlines_per_block as u64) as u16,
                page: PageType(s.at(3).below(4) as u8),
            };
            let step = self.read(at, s.at(4).below(4) as u8).len() as u64 - 1;
            failed += (step > 0) as u64;
            retries += step;
        }
        (failed as f64 / n as f64, retries as f64 / n as f64)
    }

    pub fn count(&self, what: impl Fn(&What) -> bool) -> usize {
        self.log.iter().filter(|r| what(&r.what)).count()
    }
}
