//! Write amplification of the drive against a log-structured simulator that shares no code with it: pages, superblocks, a rule
//! that chooses victims, and the same writes.

use firstread_core::HostOp;
use firstread_drive::{DriveState, Host};
use firstread_testkit::{drive, profile};
use firstread_workload::TraceRecord;

/// Superblocks of the drive, and slots of one.
const BLOCKS: usize = 256;
const SLOTS: usize = 512;
/// Superblocks of headroom that there are when the host opens one: the one that it takes, and two that cleaning keeps.
const HEADROOM: usize = 3;
/// Writes before and during the measurement, as multiples of the capacity.
const SETTLES: usize = 4;
const MEASURED: usize = 2;

const NONE: usize = usize::MAX;

/// The rules of choice.
#[derive(Clone, Copy, Debug)]
enum Rule {
    Oldest,
    Random,
    Emptiest,
    /// The emptiest of ten superblocks.
    OfTen,
}

const RULES: [(&str, Rule); 4] = [
    ("fifo", Rule::Oldest),
    ("random", Rule::Random),
    ("greedy", Rule::Emptiest),
    ("d-choices", Rule::OfTen),
];

/// Numbers drawn by xorshift (Marsaglia, Journal of Statistical Software 2003).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

/// Writes of single pages.
struct Load {
    draws: Draws,
    /// Sums of the weights by rank, and the page of each rank.
    sums: Vec<f64>,
    pages: Vec<usize>,
}

impl Load {
    /// Pages of these `weights` by rank, scattered over the drive.
    fn new(weights: impl Iterator<Item = f64>, seed: u64) -> Load {
        let sums = weights.scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        let sums: Vec<f64> = sums.collect();
        let mut pages: Vec<usize> = (0..sums.len()).collect();
        let mut draws = Draws(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for i in (1..pages.len()).rev() {
            pages.swap(i, draws.below(i + 1));
        }
        Load { draws, sums, pages }
    }
    /// Zipf's law with exponent 1.2 over `pages` pages.
    fn zipf(pages: usize, seed: u64) -> Load {
        Load::new((1..=pages).map(|rank| (rank as f64).powf(-1.2)), seed)
    }
    /// 90 % of the writes to 10 % of `pages` pages.
    fn hot_cold(pages: usize, seed: u64) -> Load {
        let hot = pages / 10;
        let weight = |rank| match rank < hot {
            true => 0.9 / hot as f64,
            false => 0.1 / (pages - hot) as f64,
        };
        Load::new((0..pages).map(weight), seed)
    }
    fn next(&mut self) -> usize {
        let all = self.sums[self.sums.len() - 1];
        let at = self.draws.next() as f64 / 2f64.powi(64) * all;
        let rank = self.sums.partition_point(|sum| *sum <= at);
        self.pages[rank.min(self.pages.len() - 1)]
    }
}

/// A log-structured drive: what the host writes goes to one open superblock, and what is moved to another.
struct Log {
    rule: Rule,
    draws: Draws,
    /// Slot of each page, and page of each slot.
    slot_of: Vec<usize>,
    page_of: Vec<usize>,
    valid: Vec<usize>,
    /// Number of the opening of each superblock that is full.
    full: Vec<Option<u64>>,
    free: Vec<usize>,
    /// Open superblocks of the host and of moves, and slots written to them.
    open: [(usize, usize); 2],
    opened: u64,
    opened_as: [u64; 2],
    moved: u64,
}

impl Log {
    fn new(rule: Rule, pages: usize, seed: u64) -> Log {
        Log {
            rule,
            draws: Draws(seed | 1 << 40),
            slot_of: vec![NONE; pages],
            page_of: vec![NONE; BLOCKS * SLOTS],
            valid: vec![0; BLOCKS],
            full: vec![None; BLOCKS],
            free: (0..BLOCKS).rev().collect(),
            open: [(NONE, SLOTS); 2],
            opened: 0,
            opened_as: [0; 2],
            moved: 0,
        }
    }
    fn headroom(&self) -> usize {
        self.free.len() * SLOTS + SLOTS - self.open[1].1
    }
    fn put(&mut self, page: usize, stream: usize) {
        if self.open[stream].1 == SLOTS {
            let block = self.free.pop().expect("cleaning keeps superblocks free");
            self.opened += 1;
            self.opened_as[stream] = self.opened;
            self.open[stream] = (block, 0);
        }
        let (block, filled) = self.open[stream];
        let slot = block * SLOTS + filled;
        let before = core::mem::replace(&mut self.slot_of[page], slot);
        if before != NONE {
            self.valid[before / SLOTS] -= 1;
            self.page_of[before] = NONE;
        }
        self.page_of[slot] = page;
        self.valid[block] += 1;
        self.open[stream].1 += 1;
        if filled + 1 == SLOTS {
            self.full[block] = Some(self.opened_as[stream]);
        }
    }
    /// A write of the host. Before it opens a superblock, victims are emptied until there is headroom.
    fn write(&mut self, page: usize) {
        while self.open[0].1 == SLOTS && self.headroom() < HEADROOM * SLOTS {
            let victim = self.victim();
            self.full[victim] = None;
            for slot in victim * SLOTS..(victim + 1) * SLOTS {
                let page = self.page_of[slot];
                if page != NONE {
                    self.put(page, 1);
                    self.moved += 1;
                }
            }
            self.free.insert(0, victim);
        }
        self.put(page, 0);
    }
    fn victim(&mut self) -> usize {
        let full: Vec<usize> = (0..BLOCKS).filter(|b| self.full[*b].is_some()).collect();
        let any = self.draws.below(full.len());
        let oldest = full.iter().min_by_key(|b| self.full[**b]);
        let emptiest = full.iter().min_by_key(|b| self.valid[**b]);
        match self.rule {
            Rule::Oldest => *oldest.expect("there are full ones"),
            Rule::Emptiest => *emptiest.expect("there are full ones"),
            Rule::Random => full[any],
            Rule::OfTen => {
                let drawn = (0..10).map(|_| full[self.draws.below(full.len())]);
                let drawn: Vec<usize> = drawn.collect();
                let valid = |b: &usize| self.valid[*b];
                drawn.into_iter().min_by_key(valid).expect("ten are drawn")
            }
        }
    }
}

/// Pages of a drive with `spare` percent to spare of what the host can have.
fn pages_of(spare: usize) -> usize {
    BLOCKS * SLOTS * (100 - spare) / 100 / SLOTS * SLOTS
}

type Laws = fn(usize, u64) -> Load;
const LAWS: [(&str, Laws); 2] = [("zipf:1.2", Load::zipf), ("90/10", Load::hot_cold)];

/// Write amplification of the log and of the drive under the same writes.
fn amplifications(scheme: &str, rule: Rule, law: Laws, spare: usize, seed: u64) -> [f64; 2] {
    let pages = pages_of(spare);
    let mut log = Log::new(rule, pages, seed);
    (0..pages).for_each(|page| log.write(page));
    let mut load = law(pages, seed);
    (0..SETTLES * pages).for_each(|_| log.write(load.next()));
    let before = log.moved;
    (0..MEASURED * pages).for_each(|_| log.write(load.next()));
    let of_log = 1.0 + (log.moved - before) as f64 / (MEASURED * pages) as f64;

    let capacity = format!("capacity={} KiB", pages * 4);
    let scheme = format!("schemes.gc_victim={scheme}");
    let set = [
        "geometry.channels=2",
        "geometry.chips_per_channel=1",
        "geometry.dies_per_chip=1",
        "geometry.blocks_per_plane=256",
        &capacity,
        &scheme,
    ];
    let mut drive = drive(profile("bench-4g", &set), &DriveState::default(), seed);
    let mut load = law(pages, seed);
    let mut run = |writes: usize| {
        let records = (0..writes).map(|_| {
            Ok(TraceRecord {
                time_ns: 0,
                op: HostOp::Write,
                offset_bytes: load.next() as u64 * 4096,
                len_bytes: 4096,
                device: 0,
                placement: 0,
            })
        });
        let stats = Host::trace("w", records, 32, None).run(&mut drive, &mut |_| {});
        stats.unwrap().counters
    };
    run(SETTLES * pages);
    let c = run(MEASURED * pages);
    let of_drive = 1.0 + c.slots_moved as f64 / c.host_slots_written as f64;
    [of_log, of_drive]
}

fn compare(cases: &[(usize, usize, usize)]) {
    let mut apart = Vec::new();
    for &(rule, law, spare) in cases {
        let ((scheme, rule), (name, law)) = (RULES[rule], LAWS[law]);
        let [of_log, of_drive] = amplifications(scheme, rule, law, spare, 1);
        let ratio = of_drive / of_log;
        let what =
            format!("{scheme} {name} {spare} %: {of_log:.3}, drive {of_drive:.3}, {ratio:.3}");
        println!("{what}");
        if (ratio - 1.0).abs() > 0.03 {
            apart.push(what);
        }
    }
    assert!(apart.is_empty(), "{apart:#?}");
}

#[test]
fn formula_a_drive_amplifies_as_an_independent_simulator() {
    compare(&[(0, 0, 28), (1, 1, 28)]);
}

/// All rules, both laws, 7, 15 and 28 % to spare.
#[test]
#[ignore = "minutes: cargo test --release -p firstread-testkit --test whole_drive -- --ignored independent"]
fn formula_a_drive_amplifies_as_an_independent_simulator_everywhere() {
    let mut cases = Vec::new();
    for law in 0..LAWS.len() {
        for spare in [7, 15, 28] {
            (0..RULES.len()).for_each(|rule| cases.push((rule, law, spare)));
        }
    }
    compare(&cases);
}
