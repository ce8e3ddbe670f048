//! Factory bad blocks, and when other blocks fail.
//!
//! The failure of a block is drawn once, from its address: the cycle in which it fails, and whether the erase
//! fails to verify or the program of which wordline. Planes are operated together, so the first plane of a block to fail
//! takes the block out of use on all of them; makers count the planes that are bad.
//!
//! A spare that has replaced a block fails by its own draw and its own cycles: those that it had in its retired superblock,
//! and those of the superblock that it has joined since.
//!
//! Failures follow cells as far as the chip says (`chip.failures.cell_correlation`): a block whose cells lose charge fast
//! fails early.
//!
//! Where each simulated erase stands for several cycles, a block fails in the step of so many cycles in which its cycle
//! lies.
//!
//! Cycles count by their damage, in cycles of the drive's own mode. A mode has failed when its blocks have gone through
//! its rating in cycles of its own: rating times damage of a cycle. So a block may fail in one mode and be good in
//! another.

use std::collections::BTreeMap;

use firstread_core::{BlockId, CellMode, CycleDamage, DieId, Geometry, Stream, SuperblockId};
use firstread_nand::CellScores;
use firstread_nand::chip::FailureProfile;

/// 2^-53: sixty-four bits to a number between zero and one.
const UNIT: f64 = 1.0 / (1u64 << 53) as f64;

/// A superblock and a die.
type Place = (u32, u16);

/// A spare in a superblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Joined {
    block: u32,
    /// Cycles of the superblock minus those of the spare.
    less: i64,
}

/// The failures of a drive's blocks.
#[derive(Clone, Debug)]
pub(crate) struct Failures {
    law: FailureProfile,
    /// Damage by which the law's share of blocks has failed, by mode.
    endurance: [f64; CellMode::ALL.len()],
    cycle_damage: CycleDamage,
    /// Mode of each superblock.
    modes: Vec<CellMode>,
    /// Thousandths of a cycle that each superblock's erases have damaged it less than as many cycles of the drive's own
    /// mode. Negative where they have damaged it more.
    spared_milli: Vec<i64>,
    stream: Stream,
    /// Scores of cells, if failures follow them.
    scores: Option<CellScores>,
    dies: u16,
    planes: u8,
    wordlines: u16,
    /// P/E cycles of each superblock when the drive was made.
    made_with: Vec<u32>,
    /// Die erases of each superblock since then.
    erases: Vec<u64>,
    /// Step that each superblock is in.
    steps: Vec<u32>,
    /// Step in which the first block of each superblock fails.
    first: Vec<u32>,
    /// Whether each superblock was programmed since its last erase.
    programmed: Vec<bool>,
    /// Whether each superblock was erased on each die since it was last programmed.
    erased: Vec<bool>,
    /// Spares that have replaced blocks of superblocks.
    joined: BTreeMap<Place, Joined>,
}

impl Failures {
    pub(crate) fn new(
        law: FailureProfile,
        endurance_pe_cycles: [u32; CellMode::ALL.len()],
        (mode, cycle_damage): (CellMode, CycleDamage),
        geometry: &Geometry,
        seed: u64,
    ) -> Failures {
        let blocks = geometry.blocks_per_plane as usize;
        Failures {
            law,
            endurance: CellMode::ALL.map(|of| {
                let rated = f64::from(endurance_pe_cycles[of.index()]);
                // Exact for the drive's own mode.
                rated * f64::from(cycle_damage.milli(of)) / 1000.0
            }),
            cycle_damage,
            modes: vec![mode; blocks],
            spared_milli: vec![0; blocks],
            stream: Stream::new(seed).named("failures"),
            scores: (law.cell_correlation > 0.0).then(|| CellScores::new(seed)),
            dies: geometry.dies(),
            planes: geometry.planes,
            wordlines: geometry.wordlines_per_block,
            made_with: vec![0; blocks],
            erases: vec![0; blocks],
            steps: vec![0; blocks],
            first: vec![u32::MAX; blocks],
            programmed: vec![false; blocks],
            erased: vec![false; blocks * usize::from(geometry.dies())],
            joined: BTreeMap::new(),
        }
    }

    fn draw(&self, block: u32, die: u16, plane: u8, purpose: u64) -> f64 {
        let place = self.stream.at((block as u64) << 16 | die as u64);
        let bits = place.at(u64::from(plane)).draw(purpose);
        (bits >> 11) as f64 * UNIT + UNIT / 2.0
    }

    /// The survival at which block `block` of plane `plane` of `die` fails.
    fn survives_to(&self, block: u32, die: u16, plane: u8) -> f64 {
        let draw = self.draw(block, die, plane, 1);
        match &self.scores {
            None => draw,
            Some(scores) => {
                let score = scores.score(DieId(die), plane, BlockId(block));
                self.law.drawn(draw, score)
            }
        }
    }

    /// Superblock `block` has `pe_cycles` cycles when the drive is made. Calls `bad` for each of its blocks that has failed by
    /// then, with the planes that were bad from the factory and those that have failed since.
    pub(crate) fn make(
        &mut self,
        block: SuperblockId,
        pe_cycles: u32,
        mut bad: impl FnMut(DieId, BadPlanes),
    ) {
        if self.law.is_null() {
            return;
        }
        self.made_with[block.0 as usize] = pe_cycles;
        self.count_steps(block);
        let lived = self
            .law
            .survival(pe_cycles as f64, self.endurance_of(block));
        for die in 0..self.dies {
            let planes = self.bad_planes(block.0, die, lived);
            if planes != BadPlanes::default() {
                bad(DieId(die), planes);
            }
        }
        self.find_first(block);
    }

    /// The bad planes of block `block` of `die`, once `lived` is left of the survival.
    fn bad_planes(&self, block: u32, die: u16, lived: f64) -> BadPlanes {
        let mut bad = BadPlanes::default();
        for plane in 0..self.planes {
            if self.draw(block, die, plane, 0) < self.law.factory_bad {
                bad.factory += 1;
            } else if self.survives_to(block, die, plane) >= lived {
                bad.grown += 1;
            }
        }
        bad
    }

    /// Planes that have failed of the block of `block` on `die`, whose program or erase has just failed: one at least.
    pub(crate) fn failed_planes(&self, block: SuperblockId, die: DieId) -> u32 {
        let (on, less) = self.block_of(block, die);
        let cycles = (i64::from(self.cycles(block)) - less).max(0);
        let lived = self.law.survival(cycles as f64, self.endurance_of(block));
        self.bad_planes(on, die.0, lived).grown.max(1)
    }

    /// The block of `block` on `die`, and the cycles of the superblock minus those of the block.
    fn block_of(&self, block: SuperblockId, die: DieId) -> (u32, i64) {
        match self.joined.get(&(block.0, die.0)) {
            None => (block.0, 0),
            Some(joined) => (joined.block, joined.less),
        }
    }

    /// Superblock `block` has block `on` of `die` from now on. Returns whether the superblock had another block there.
    pub(crate) fn joins(&mut self, block: SuperblockId, die: DieId, on: BlockId) -> bool {
        if self.block_of(block, die).0 == on.0 {
            return false;
        }
        // The superblock that it was in is retired, so that no longer counts cycles.
        let before = self.joined.iter();
        let before = before.filter(|((_, of), joined)| (*of, joined.block) == (die.0, on.0));
        let before = before
            .map(|((superblock, _), joined)| (*superblock, joined.less))
            .next();
        let (superblock, less) = before.unwrap_or((on.0, 0));
        self.joined.remove(&(superblock, die.0));
        let own = i64::from(self.cycles(SuperblockId(superblock))) - less;
        let less = i64::from(self.cycles(block)) - own;
        let joined = Joined { block: on.0, less };
        self.joined.insert((block.0, die.0), joined);
        self.find_first(block);
        true
    }

    /// `block` was erased into `to`, which ends a cycle in `from`.
    pub(crate) fn cycled(&mut self, block: SuperblockId, from: CellMode, to: CellMode) {
        let b = block.0 as usize;
        self.programmed[b] = false;
        self.spared_milli[b] += 1000 - i64::from(self.cycle_damage.milli_of_erase(from));
        self.count_steps(block);
        if std::mem::replace(&mut self.modes[b], to) != to && !self.law.is_null() {
            self.find_first(block);
        }
    }

    fn endurance_of(&self, block: SuperblockId) -> f64 {
        self.endurance[self.modes[block.0 as usize].index()]
    }

    /// Program/erase cycles of `block`, by their damage.
    fn cycles(&self, block: SuperblockId) -> u32 {
        let b = block.0 as usize;
        let cycles = self.made_with[b] + (self.erases[b] / self.dies as u64) as u32;
        match self.spared_milli[b] {
            0 => cycles,
            spared => ((i64::from(cycles) * 1000 - spared).max(0) / 1000) as u32,
        }
    }

    fn find_first(&mut self, block: SuperblockId) {
        let spares = self.joined.range((block.0, 0)..=(block.0, u16::MAX));
        let spares = || spares.clone().map(|((_, die), _)| DieId(*die));
        let own = (0..self.dies).map(DieId);
        // The highest draw is the shortest life, so a single logarithm suffices.
        let highest = own
            .filter(|die| !spares().any(|spare| spare == *die))
            .map(|die| self.highest(block.0, die))
            .fold(0.0, f64::max);
        let of_spares = spares().map(|die| self.fails_at(block, die)).min();
        let first = self
            .cycle(block, highest)
            .min(of_spares.unwrap_or(u32::MAX));
        self.first[block.0 as usize] = self.step(first);
    }

    /// The cycle of `block` in which its block on `die` fails.
    fn fails_at(&self, block: SuperblockId, die: DieId) -> u32 {
        let (on, less) = self.block_of(block, die);
        let own = self.cycle(block, self.highest(on, die));
        (i64::from(own) + less).clamp(0, u32::MAX.into()) as u32
    }

    /// The survival probability at which the first plane of block `block` of `die` fails: the highest draw.
    fn highest(&self, block: u32, die: DieId) -> f64 {
        let planes = (0..self.planes).map(|p| self.survives_to(block, die.0, p));
        planes.fold(0.0, f64::max)
    }

    /// The cycle in which a block fails if its life is drawn as `survival`.
    fn cycle(&self, block: SuperblockId, survival: f64) -> u32 {
        self.law.life(survival, self.endurance_of(block)) as u32
    }

    /// The cycles of `block` have changed.
    fn count_steps(&mut self, block: SuperblockId) {
        self.steps[block.0 as usize] = self.step(self.cycles(block));
    }

    /// The step of `cycles`: each erase ends one.
    #[inline]
    fn step(&self, cycles: u32) -> u32 {
        match self.cycle_damage.rate() {
            1 => cycles,
            rate => cycles / rate,
        }
    }

    /// Whether the program of `wordline` of block `on` fails to verify.
    #[inline]
    pub(crate) fn program_fails(
        &mut self,
        block: SuperblockId,
        die: DieId,
        on: BlockId,
        wordline: u16,
    ) -> bool {
        if on.0 != block.0 {
            self.joins(block, die, on);
        }
        let b = block.0 as usize;
        if !std::mem::replace(&mut self.programmed[b], true) {
            let dies = usize::from(self.dies);
            self.erased[b * dies..][..dies].fill(false);
        }
        let step = self.steps[b];
        step >= self.first[b] && self.has_failed(block, die, step, Some(wordline))
    }

    /// Block `on` of `die` is about to be erased. Returns whether the erase ends a cycle of superblock `block`: not if a spare
    /// joins the superblock, which is erased already.
    pub(crate) fn ends_cycle(&mut self, block: SuperblockId, die: DieId, on: BlockId) -> bool {
        let at = block.0 as usize * usize::from(self.dies) + usize::from(die.0);
        let was_erased = std::mem::replace(&mut self.erased[at], true);
        !(self.joins(block, die, on) && was_erased)
    }

    /// Whether the erase that has ended fails to verify. `ends_cycle` is what [`Failures::ends_cycle`] has said.
    pub(crate) fn erase_fails(
        &mut self,
        block: SuperblockId,
        die: DieId,
        ends_cycle: bool,
    ) -> bool {
        let step = self.steps[block.0 as usize];
        if ends_cycle {
            self.erases[block.0 as usize] += 1;
            self.count_steps(block);
        }
        step >= self.first[block.0 as usize] && self.has_failed(block, die, step, None)
    }

    #[cold]
    fn has_failed(
        &self,
        block: SuperblockId,
        die: DieId,
        step: u32,
        wordline: Option<u16>,
    ) -> bool {
        let fails_in = self.step(self.fails_at(block, die));
        if step != fails_in {
            return step > fails_in;
        }
        let (on, _) = self.block_of(block, die);
        // Programs come first in a cycle; the erase is at its end.
        let in_erase = self.draw(on, die.0, 0, 2) < self.law.erase_share;
        match wordline {
            None => true,
            Some(wordline) => {
                let at = self.draw(on, die.0, 0, 3) * self.wordlines as f64;
                !in_erase && wordline >= at as u16
            }
        }
    }
}

/// Planes of a block that are bad.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct BadPlanes {
    /// From the factory.
    pub(crate) factory: u32,
    /// Since.
    pub(crate) grown: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Library, load_drive};
    use firstread_firmware::policy::AXES;

    fn failures(law: FailureProfile, seed: u64) -> (Failures, Geometry) {
        let profile = load_drive(&Library::new(), "dc-qlc-15t", &[], AXES).unwrap();
        let geometry = profile.geometry;
        let alike = (CellMode::Qlc, CycleDamage::ALIKE);
        (
            Failures::new(law, [3000; 4], alike, &geometry, seed),
            geometry,
        )
    }

    const LAW: FailureProfile = FailureProfile {
        factory_bad: 0.005,
        grown_bad: 0.015,
        shape: 3.0,
        erase_share: 0.5,
        cell_correlation: 0.0,
    };

    /// The share of initially bad blocks is that of the law, at any wear.
    #[test]
    fn formula_bad_blocks_at_the_start() {
        for pe_cycles in [0, 1500, 3000, 6000] {
            let (mut failures, g) = failures(LAW, 7);
            let mut bad = 0;
            for block in 0..g.blocks_per_plane {
                failures.make(SuperblockId(block), pe_cycles, |_, _| bad += 1);
            }
            let good = 0.995 * LAW.survival(pe_cycles as f64, 3000.0);
            let expected = 1.0 - good.powi(g.planes as i32);
            let all = g.blocks_per_plane as f64 * g.dies() as f64;
            let (share, sigma) = (bad as f64 / all, (expected / all).sqrt());
            assert!(
                (share - expected).abs() < 4.0 * sigma,
                "{share} of {expected} are bad at {pe_cycles}"
            );
        }
    }

    /// A block that fails in the drive's own mode may be good in a mode with more margin, and the less a cycle in that
    /// mode damages, the longer it lasts there.
    #[test]
    fn formula_a_mode_fails_by_its_own_rating() {
        let profile = load_drive(&Library::new(), "dc-qlc-15t", &[], AXES).unwrap();
        let g = profile.geometry;
        let law = FailureProfile {
            factory_bad: 0.0,
            grown_bad: 0.99,
            shape: 50.0,
            erase_share: 1.0,
            cell_correlation: 0.0,
        };
        // The SLC cycle in which the first block of a superblock fails, after `own` cycles in QLC mode.
        let fails_at = |slc_milli: u32, to: CellMode, own: u32| {
            let damage = CycleDamage::new([slc_milli, 1000, 1000, 1000]);
            let rated = [20_000, 1000, 1000, 1000];
            let mut failures = Failures::new(law, rated, (CellMode::Qlc, damage), &g, 3);
            let block = SuperblockId(0);
            failures.make(block, own, |_, _| {});
            let mut cycle = |to| {
                let dies = (0..g.dies()).map(DieId);
                let ok = !dies.fold(false, |failed, die| {
                    failures.erase_fails(block, die, true) | failed
                });
                let from = failures.modes[0];
                failures.cycled(block, from, to);
                ok
            };
            cycle(to);
            (1..40_000).find(|_| !cycle(to)).unwrap_or(0)
        };
        let qlc = fails_at(1000, CellMode::Qlc, 0);
        assert!((800..1050).contains(&qlc), "QLC at {qlc}");
        for slc_milli in [50, 200, 1000] {
            let slc = fails_at(slc_milli, CellMode::Slc, 0);
            assert!(
                (16_000..21_000).contains(&slc),
                "SLC of {slc_milli} at {slc}"
            );
        }
        // 700 cycles of QLC are 14,000 of SLC, where those damage by the ratio of the ratings, and 700 where alike.
        let (least, alike) = (
            fails_at(50, CellMode::Slc, 0) - fails_at(50, CellMode::Slc, 700),
            fails_at(1000, CellMode::Slc, 0) - fails_at(1000, CellMode::Slc, 700),
        );
        assert!((13_900..14_100).contains(&least), "{least}");
        assert!((699..=701).contains(&alike), "{alike}");
    }

    /// The number of failures between two wear levels is that of the law, partly in programs and partly in
    /// erases, however many cycles an erase stands for.
    #[test]
    fn formula_blocks_fail_as_they_wear() {
        [1, 10].into_iter().for_each(blocks_fail_at_wear_rate);
    }

    fn blocks_fail_at_wear_rate(rate: u32) {
        let law = FailureProfile {
            factory_bad: 0.0,
            grown_bad: 0.3,
            ..LAW
        };
        let (mut failures, g) = failures(law, 3);
        failures.cycle_damage = CycleDamage::ALIKE.at_rate(rate);
        let (mut programs, mut erases, mut good) = (0, 0, 0.0);
        for block in (0..40).map(SuperblockId) {
            let mut failed = std::collections::BTreeSet::new();
            failures.make(block, 1000, |die, _| _ = failed.insert(die));
            good += f64::from(g.dies()) - failed.len() as f64;
            for _ in (1000..2000).step_by(rate as usize) {
                for die in (0..g.dies()).map(DieId) {
                    if die.0 == 0 {
                        failures.cycled(block, CellMode::Qlc, CellMode::Qlc);
                    }
                    let last = g.wordlines_per_block - 1;
                    let program = failures.program_fails(block, die, BlockId(block.0), last);
                    let erase = failures.erase_fails(block, die, true);
                    if (program || erase) && failed.insert(die) {
                        programs += u64::from(program);
                        erases += u64::from(!program);
                    }
                }
            }
        }
        let (then, now) = (law.survival(1000.0, 3000.0), law.survival(2000.0, 3000.0));
        let expected = good * (1.0 - (now / then).powi(g.planes.into()));
        let counted = (programs + erases) as f64;
        assert!(
            (counted - expected).abs() < 4.0 * expected.sqrt(),
            "{counted} failed of {expected} at {rate}"
        );
        let share = erases as f64 / counted;
        assert!(
            (share - 0.5).abs() < 2.0 / counted.sqrt(),
            "{share} in erases at {rate}"
        );
    }

    /// A block that fails in a program fails at a wordline that any is as likely as any other, and at all that follow.
    #[test]
    fn formula_programs_fail_from_any_wordline_on() {
        let law = FailureProfile {
            factory_bad: 0.0,
            grown_bad: 0.9,
            shape: 3.0,
            erase_share: 0.0,
            cell_correlation: 0.0,
        };
        let (mut failures, g) = failures(law, 5);
        let last = g.wordlines_per_block - 1;
        let mut from = Vec::new();
        for block in (0..8).map(SuperblockId) {
            let mut failed = std::collections::BTreeSet::new();
            failures.make(block, 2_000, |die, _| _ = failed.insert(die));
            for _ in 0..300 {
                failures.cycled(block, CellMode::Qlc, CellMode::Qlc);
                for die in (0..g.dies()).map(DieId) {
                    let on = BlockId(block.0);
                    if failures.program_fails(block, die, on, last) && failed.insert(die) {
                        let mut fails = |wordline| failures.program_fails(block, die, on, wordline);
                        let first = (0..=last).find(|w| fails(*w)).expect("the last one fails");
                        assert!(
                            (first..=last).all(&mut fails),
                            "{block:?} {die:?} from {first}"
                        );
                        from.push(f64::from(first));
                    }
                    failures.erase_fails(block, die, true);
                }
            }
        }
        let blocks = from.len() as f64;
        assert!(blocks > 50.0, "{blocks} blocks failed");
        let (mean, expected) = (from.iter().sum::<f64>() / blocks, f64::from(last) / 2.0);
        let sigma = f64::from(last + 1) / libm::sqrt(12.0 * blocks);
        assert!(
            (mean - expected).abs() < 4.0 * sigma,
            "{mean} on average, {expected}"
        );
    }

    /// A spare fails in the cycle of its own draw, counted from the cycles that it had when it joined; and the other blocks of the
    /// superblock as if it had not.
    #[test]
    fn formula_a_spare_fails_by_its_own_cycles() {
        let law = FailureProfile {
            factory_bad: 0.0,
            grown_bad: 0.9,
            shape: 3.0,
            erase_share: 1.0,
            cell_correlation: 0.0,
        };
        let mut joined = 0;
        for seed in 0..20 {
            let (mut failures, g) = failures(law, seed);
            let (block, spare) = (SuperblockId(1), SuperblockId(7));
            failures.make(block, 900, |_, _| {});
            failures.make(spare, 200, |_, _| {});
            let dies = (0..g.dies()).map(DieId);
            let before: Vec<u32> = dies
                .clone()
                .map(|die| failures.fails_at(block, die))
                .collect();
            let own: Vec<u32> = dies
                .clone()
                .map(|die| failures.fails_at(spare, die))
                .collect();
            let die = DieId((seed % u64::from(g.dies())) as u16);
            assert!(failures.joins(block, die, BlockId(spare.0)));
            assert!(!failures.joins(block, die, BlockId(spare.0)));
            for other in dies {
                let at = failures.fails_at(block, other);
                let expected = match other == die {
                    true => own[usize::from(die.0)] + 700,
                    false => before[usize::from(other.0)],
                };
                assert_eq!(at, expected, "seed {seed}, {other:?}");
                joined += u32::from(other == die);
            }
            let first = (0..g.dies())
                .map(|die| failures.fails_at(block, DieId(die)))
                .min();
            assert_eq!(Some(failures.first[1]), first, "seed {seed}");
        }
        assert_eq!(joined, 20);
    }
}
