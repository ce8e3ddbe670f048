//! Write amplification of the drive against a log-structured simulator that shares no code with it: pages, superblocks, a rule
//! that chooses victims, and the same writes.
//!
//! Like the drive the simulator has one open superblock for the host and one for moves, spreads moves over the host's writes, lets the
//! host open a superblock while the last victim is still being emptied, and takes no superblock as a victim whose last wordlines are
//! still to be programmed. Each of them matters under skewed writes: docs/firmware/cleaning.md has the figures.

use firstread_core::HostOp;
use firstread_drive::{DriveState, Host};
use firstread_testkit::{drive, profile};
use firstread_workload::TraceRecord;

/// Superblocks of the drive, and slots of one.
const BLOCKS: usize = 256;
const SLOTS: usize = 512;
/// Slots of headroom when the host opens a superblock: of the one that it takes, of two that cleaning keeps, and those that a power cut
/// can tear, which are a wordline's.
const HEADROOM: usize = 3 * SLOTS + 4;
/// Host writes after which the moves that are due are reckoned anew.
const RECKONED_EVERY: usize = 8;
/// Slots that the host has left in its superblock when the moves for the next one end, as in the drive. Less than a quarter of what is
/// left does not hurry the moves further.
const AHEAD: usize = SLOTS / 8;
/// Victims that are planned at most.
const PLANNED: usize = 32;
/// Host writes for which a full superblock is no victim, because its last wordlines are still to be programmed: the drive has three
/// wordlines of four slots in its buffer.
const UNPROGRAMMED: usize = 3 * 4;
/// Writes before and during the measurement, as multiples of the capacity.
const SETTLES: usize = 4;
const MEASURED: usize = 2;
/// Victims cleaned during the measurement where they are drawn one by one: what one yields scatters by as much as its mean, and the
/// drive draws others.
const DRAWN: usize = 6_000;
/// Seeds whose mean is compared where victims are drawn.
const SEEDS_DRAWN: u64 = 4;
/// A victim of a guarded rule yields at least this part of what the emptiest superblock yields.
const LEAST_SHARE: usize = 16;
/// Draws of the emptiest of several.
const CHOICES: u64 = 10;

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

impl Rule {
    /// Whether a superblock that yields next to nothing is no victim.
    fn is_guarded(self) -> bool {
        matches!(self, Rule::Emptiest | Rule::OfTen)
    }
    fn is_drawn(self) -> bool {
        matches!(self, Rule::Random | Rule::OfTen)
    }
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
        Load::new((1..=pages).map(|rank| libm::pow(rank as f64, -1.2)), seed)
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
    seed: u64,
    /// Slot of each page, and page of each slot.
    slot_of: Vec<usize>,
    page_of: Vec<usize>,
    valid: Vec<usize>,
    /// Number of the opening of each superblock that is full.
    full: Vec<Option<u64>>,
    /// Writes of the host before each was full.
    filled_at: Vec<usize>,
    free: Vec<usize>,
    /// Open superblocks of the host and of moves, and slots written to them.
    open: [(usize, usize); 2],
    opened: u64,
    opened_as: [u64; 2],
    moved: u64,
    /// The superblock that is emptied, and slots of it that have been looked at.
    emptied: Option<(usize, usize)>,
    written: usize,
    /// Victims chosen, and those that are planned until the host opens its next superblock.
    chosen: u64,
    planned: Vec<usize>,
    /// Moves that are due with each write of the host, and altogether.
    each: f64,
    due: f64,
}

impl Log {
    fn new(rule: Rule, pages: usize, seed: u64) -> Log {
        Log {
            rule,
            seed,
            slot_of: vec![NONE; pages],
            page_of: vec![NONE; BLOCKS * SLOTS],
            valid: vec![0; BLOCKS],
            full: vec![None; BLOCKS],
            filled_at: vec![0; BLOCKS],
            free: (0..BLOCKS).rev().collect(),
            open: [(NONE, SLOTS); 2],
            opened: 0,
            opened_as: [0; 2],
            moved: 0,
            emptied: None,
            written: 0,
            chosen: 0,
            planned: Vec::new(),
            each: 0.0,
            due: 0.0,
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
            if stream == 0 {
                self.planned.clear();
            }
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
            self.filled_at[block] = self.written;
        }
    }
    /// Headroom that is missing before the host may open a superblock, once the current victim is emptied.
    fn missing(&self) -> i64 {
        let gain = self
            .emptied
            .map_or(0, |(block, _)| SLOTS - self.valid[block]);
        HEADROOM as i64 - (self.headroom() + gain) as i64
    }
    /// Moves until the host may open a superblock, for each slot over which they are spread. The host may open one while the last victim
    /// is being emptied, if another is free.
    fn moves_each(&mut self) -> f64 {
        let left_open = SLOTS - self.open[1].1;
        let (mut moves, mut free, mut missing) = (0, self.free.len(), self.missing());
        let mut next = self.emptied.map(|(block, _)| self.valid[block]);
        let taken = |moves: usize| moves.saturating_sub(left_open).div_ceil(SLOTS);
        for after in 0..PLANNED {
            if missing <= 0 && free > taken(moves) {
                break;
            }
            if let Some(valid) = next {
                moves += valid;
                free += 1;
            }
            let block = self.planned(after);
            let valid = self.valid[block];
            missing -= (SLOTS - valid) as i64;
            next = Some(valid);
        }
        let left = SLOTS - self.open[0].1;
        moves as f64 / left.saturating_sub(AHEAD).max(left / 4).max(1) as f64
    }
    /// The victim after `after` others: as it was planned, or planned now.
    fn planned(&mut self, after: usize) -> usize {
        let has_garbage = |b: usize| self.valid[b] < SLOTS || !self.rule.is_guarded();
        let before = self.planned.get(after).copied();
        if let Some(block) = before.filter(|b| self.full[*b].is_some() && has_garbage(*b)) {
            return block;
        }
        self.planned.truncate(after);
        let at_rest = (0..BLOCKS).filter(|b| self.full[*b].is_some());
        let victims = at_rest.filter(|b| !self.planned.contains(b)).collect();
        let block = self.choose(victims, after as u64);
        self.planned.push(block);
        block
    }
    /// A write of the host, after the moves that are due. Before it opens a superblock, victims are emptied until it may.
    fn write(&mut self, page: usize) {
        if self.written.is_multiple_of(RECKONED_EVERY) {
            self.each = self.moves_each();
        }
        self.written += 1;
        self.due += self.each;
        let has_to_open = self.open[0].1 == SLOTS;
        while self.due >= 1.0 || has_to_open && (self.missing() > 0 || self.free.is_empty()) {
            if !self.empty_further() {
                self.due = 0.0;
            }
        }
        self.put(page, 0);
    }
    /// Moves a page, or frees the superblock that is emptied. False if there is headroom enough.
    fn empty_further(&mut self) -> bool {
        let Some((block, at)) = self.emptied else {
            let goes_on = self.missing() > 0;
            if goes_on {
                let victim = self.victim();
                self.full[victim] = None;
                self.emptied = Some((victim, 0));
            }
            return goes_on;
        };
        let left = block * SLOTS + at..(block + 1) * SLOTS;
        match left.clone().find(|slot| self.page_of[*slot] != NONE) {
            Some(slot) => {
                self.put(self.page_of[slot], 1);
                self.moved += 1;
                self.due -= 1.0;
                self.emptied = Some((block, slot + 1 - block * SLOTS));
            }
            None => {
                self.free.insert(0, block);
                self.emptied = None;
            }
        }
        true
    }
    /// The next victim: as the rule chooses now, or the planned one if that holds less.
    fn victim(&mut self) -> usize {
        let is_victim =
            |b: usize| self.full[b].is_some() && self.filled_at[b] + UNPROGRAMMED <= self.written;
        let now = self.choose((0..BLOCKS).filter(|b| is_victim(*b)).collect(), 0);
        let planned = self.planned.first().copied();
        let emptier = planned.filter(|b| is_victim(*b) && self.valid[*b] < self.valid[now]);
        let victim = emptier.unwrap_or(now);
        self.chosen += 1;
        self.planned.retain(|b| *b != victim);
        victim
    }
    /// What the rule chooses of `victims` after `after` others. Superblocks are drawn until one is a victim, so that the
    /// same one is drawn again after others have come or gone.
    fn choose(&self, mut victims: Vec<usize>, after: u64) -> usize {
        let emptier = |b: &usize| (self.valid[*b], self.full[*b]);
        let least = victims.iter().map(|b| self.valid[*b]).min();
        let best = SLOTS - least.expect("there are full ones");
        if self.rule.is_guarded() {
            victims.retain(|b| (SLOTS - self.valid[*b]) * LEAST_SHARE >= best);
        }
        let draw = |i: u64| {
            let numbers = [self.seed, self.chosen + after, i].into_iter();
            let key = numbers.fold(1, |key: u64, n| {
                (key ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ key >> 29
            });
            let mut draws = Draws(key | 1);
            (0..8).for_each(|_| _ = draws.next());
            loop {
                let block = draws.below(BLOCKS);
                if victims.contains(&block) {
                    return block;
                }
            }
        };
        let chosen = match self.rule {
            Rule::Oldest => victims.iter().copied().min_by_key(|b| self.full[*b]),
            Rule::Emptiest => victims.iter().copied().min_by_key(emptier),
            Rule::Random => Some(draw(0)),
            Rule::OfTen => (0..CHOICES).map(draw).min_by_key(emptier),
        };
        chosen.expect("there are victims")
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
    let measured = match rule {
        // A victim frees the share to spare of its slots.
        Rule::Random => MEASURED.max(DRAWN * SLOTS * spare / 100 / pages),
        _ => MEASURED,
    };
    let mut log = Log::new(rule, pages, seed);
    (0..pages).for_each(|page| log.write(page));
    let mut load = law(pages, seed);
    (0..SETTLES * pages).for_each(|_| log.write(load.next()));
    let before = log.moved;
    (0..measured * pages).for_each(|_| log.write(load.next()));
    let of_log = 1.0 + (log.moved - before) as f64 / (measured * pages) as f64;

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
    let c = run(measured * pages);
    let of_drive = 1.0 + c.slots_moved as f64 / c.host_slots_written as f64;
    [of_log, of_drive]
}

/// Most by which the drive may amplify more or less than the simulator, as a share of that.
const WITHIN: f64 = 0.03;

/// Rules, laws and percent to spare: the drive amplifies as the simulator.
fn compare(cases: &[(usize, usize, usize)]) {
    let mut apart = Vec::new();
    for &(rule, law, spare) in cases {
        let ((scheme, rule), (name, law_of)) = (RULES[rule], LAWS[law]);
        let seeds = if rule.is_drawn() { SEEDS_DRAWN } else { 1 };
        let each = (1..=seeds).map(|seed| amplifications(scheme, rule, law_of, spare, seed));
        let sums = each.fold([0.0; 2], |sums, each| {
            [sums[0] + each[0], sums[1] + each[1]]
        });
        let [of_log, of_drive] = sums.map(|sum| sum / seeds as f64);
        let ratio = of_drive / of_log;
        let what =
            format!("{scheme} {name} {spare} %: {of_log:.3}, drive {of_drive:.3}, {ratio:.3}");
        println!("{what}");
        if (ratio - 1.0).abs() > WITHIN {
            apart.push(what);
        }
    }
    assert!(apart.is_empty(), "{apart:#?}");
}

#[test]
fn formula_a_drive_amplifies_as_an_independent_simulator() {
    compare(&[(0, 0, 28), (2, 0, 28)]);
}

/// All rules, both laws, 7, 15 and 28 % to spare.
#[test]
#[ignore = "minutes: cargo test --release -p firstread-testkit --test whole_drive -- --ignored independent"]
fn formula_a_drive_amplifies_as_an_independent_simulator_everywhere() {
    let mut cases = Vec::new();
    for spare in [28, 15, 7] {
        for law in 0..LAWS.len() {
            (0..RULES.len()).for_each(|rule| cases.push((rule, law, spare)));
        }
    }
    compare(&cases);
}
