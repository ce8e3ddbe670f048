//! Factory bad blocks, and when other blocks fail.
//!
//! The failure of a block is drawn once, from its address: the cycle in which it fails, and whether the erase
//! fails to verify or the program of which wordline. The blocks of all planes of a die count as one, because
//! planes are operated together: the first of them to fail fails all. A spare that replaces the block has a
//! draw of its own, and as many cycles as the superblock that it joins.
//!
//! Where each simulated erase stands for several cycles, a block fails in the step of so many cycles in which its cycle
//! lies.
//!
//! Cycles count by their damage, in cycles of the drive's own mode. A mode has failed when its blocks have gone through
//! its rating in cycles of its own: rating times damage of a cycle. So a block may fail in one mode and be good in
//! another.

use std::collections::BTreeMap;

use firstread_core::{CellMode, CycleDamage, DieId, Geometry, Stream, SuperblockId};
use firstread_nand::chip::FailureProfile;

/// 2^-53: sixty-four bits to a number between zero and one.
const UNIT: f64 = 1.0 / (1u64 << 53) as f64;

/// A block of a die, on all its planes.
type DieBlock = (u32, u16);

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
    /// Replaced blocks: number of the spare, and cycle of the replacement.
    replaced: BTreeMap<DieBlock, (u32, u32)>,
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
            dies: geometry.dies(),
            planes: geometry.planes,
            wordlines: geometry.wordlines_per_block,
            made_with: vec![0; blocks],
            erases: vec![0; blocks],
            steps: vec![0; blocks],
            first: vec![u32::MAX; blocks],
            replaced: BTreeMap::new(),
        }
    }

    fn draw(&self, block: u32, die: u16, plane: u8, spare: u32, purpose: u64) -> f64 {
        let place = self.stream.at((block as u64) << 16 | die as u64);
        let bits = place.at((spare as u64) << 8 | plane as u64).draw(purpose);
        (bits >> 11) as f64 * UNIT + UNIT / 2.0
    }

    /// Superblock `block` has `pe_cycles` cycles when the drive is made. Blocks that have failed by then have
    /// been replaced by spares; calls `bad` for each.
    pub(crate) fn make(&mut self, block: SuperblockId, pe_cycles: u32, mut bad: impl FnMut(DieId)) {
        if self.law.is_null() {
            return;
        }
        self.made_with[block.0 as usize] = pe_cycles;
        self.count_steps(block);
        let lived = self
            .law
            .survival(pe_cycles as f64, self.endurance_of(block));
        for die in 0..self.dies {
            let is_bad = (0..self.planes).any(|plane| {
                self.draw(block.0, die, plane, 0, 0) < self.law.factory_bad
                    || self.draw(block.0, die, plane, 0, 1) >= lived
            });
            if is_bad {
                self.replaced.insert((block.0, die), (1, pe_cycles));
                bad(DieId(die));
            }
        }
        self.find_first(block);
    }

    /// `block` of `die` is replaced by a spare.
    pub(crate) fn replace(&mut self, block: SuperblockId, die: DieId) {
        let cycles = self.cycles(block);
        let entry = self.replaced.entry((block.0, die.0)).or_default();
        *entry = (entry.0 + 1, cycles);
        self.find_first(block);
    }

    /// `block` was erased into `to`, which ends a cycle in `from`.
    pub(crate) fn cycled(&mut self, block: SuperblockId, from: CellMode, to: CellMode) {
        let b = block.0 as usize;
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
        let first = (0..self.dies).map(|die| self.highest(block, die));
        // The highest draw is the shortest life, so a single logarithm suffices.
        let highest = first.fold(0.0, f64::max);
        self.first[block.0 as usize] = self.step(self.cycle(block, highest));
    }

    /// The survival probability at which the first block of `die` fails.
    fn highest(&self, block: SuperblockId, die: u16) -> f64 {
        let replaced = self.replaced.get(&(block.0, die));
        let &(spare, since) = replaced.unwrap_or(&(0, 0));
        let lived = match since {
            0 => 1.0,
            _ => self.law.survival(since as f64, self.endurance_of(block)),
        };
        let planes = (0..self.planes).map(|p| self.draw(block.0, die, p, spare, 1));
        // A spare has survived the cycles of its superblock until `since`, so its draw is a share of the survival
        // that is left. The highest draw is the plane that fails first.
        lived * planes.fold(0.0, f64::max)
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

    /// Whether the program of `wordline` fails to verify.
    #[inline]
    pub(crate) fn program_fails(&self, block: SuperblockId, die: DieId, wordline: u16) -> bool {
        let step = self.steps[block.0 as usize];
        step >= self.first[block.0 as usize] && self.has_failed(block, die, step, Some(wordline))
    }

    /// Whether the erase that has ended fails to verify.
    pub(crate) fn erase_fails(&mut self, block: SuperblockId, die: DieId) -> bool {
        let step = self.steps[block.0 as usize];
        self.erases[block.0 as usize] += 1;
        self.count_steps(block);
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
        let fails_in = self.step(self.cycle(block, self.highest(block, die.0)));
        if step != fails_in {
            return step > fails_in;
        }
        let spare = self.replaced.get(&(block.0, die.0)).map_or(0, |r| r.0);
        // Programs come first in a cycle; the erase is at its end.
        let in_erase = self.draw(block.0, die.0, 0, spare, 2) < self.law.erase_share;
        match wordline {
            None => true,
            Some(wordline) => {
                let at = self.draw(block.0, die.0, 0, spare, 3) * self.wordlines as f64;
                !in_erase && wordline >= at as u16
            }
        }
    }
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
    };

    /// The share of initially bad blocks is that of the law, at any wear.
    #[test]
    fn formula_bad_blocks_at_the_start() {
        for pe_cycles in [0, 1500, 3000, 6000] {
            let (mut failures, g) = failures(LAW, 7);
            let mut bad = 0;
            for block in 0..g.blocks_per_plane {
                failures.make(SuperblockId(block), pe_cycles, |_| bad += 1);
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
        };
        // The SLC cycle in which the first block of a superblock fails, after `own` cycles in QLC mode.
        let fails_at = |slc_milli: u32, to: CellMode, own: u32| {
            let damage = CycleDamage::new([slc_milli, 1000, 1000, 1000]);
            let rated = [20_000, 1000, 1000, 1000];
            let mut failures = Failures::new(law, rated, (CellMode::Qlc, damage), &g, 3);
            let block = SuperblockId(0);
            failures.make(block, own, |_| {});
            let mut cycle = |to| {
                let dies = (0..g.dies()).map(DieId);
                let ok = !dies.fold(false, |failed, die| {
                    failures.erase_fails(block, die) | failed
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
        let (mut programs, mut erases) = (0, 0);
        let blocks = 40;
        for block in (0..blocks).map(SuperblockId) {
            failures.make(block, 1000, |_| {});
            for _ in (1000..2000).step_by(rate as usize) {
                for die in (0..g.dies()).map(DieId) {
                    if die.0 == 0 {
                        failures.cycled(block, CellMode::Qlc, CellMode::Qlc);
                    }
                    let last = g.wordlines_per_block - 1;
                    let program = failures.program_fails(block, die, last);
                    programs += program as u64;
                    if failures.erase_fails(block, die) {
                        erases += !program as u64;
                        failures.replace(block, die);
                    }
                }
            }
        }
        let (then, now) = (law.survival(1000.0, 3000.0), law.survival(2000.0, 3000.0));
        // A failed block is replaced by one that may fail too, so this compares rates, not shares.
        let rate = -libm::log(now / then) * g.planes as f64;
        let expected = rate * blocks as f64 * g.dies() as f64;
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
        };
        let (mut failures, g) = failures(law, 5);
        let last = g.wordlines_per_block - 1;
        let mut from = Vec::new();
        for block in (0..8).map(SuperblockId) {
            failures.make(block, 2_000, |_| {});
            for _ in 0..300 {
                failures.cycled(block, CellMode::Qlc, CellMode::Qlc);
                for die in (0..g.dies()).map(DieId) {
                    if failures.program_fails(block, die, last) {
                        let fails = |wordline| failures.program_fails(block, die, wordline);
                        let first = (0..=last).find(|w| fails(*w)).expect("the last one fails");
                        assert!((first..=last).all(fails), "{block:?} {die:?} from {first}");
                        from.push(f64::from(first));
                        failures.replace(block, die);
                    }
                    failures.erase_fails(block, die);
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
}
