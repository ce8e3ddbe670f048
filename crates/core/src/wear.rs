//! Wear: how much a program/erase cycle in each cell mode damages a block.

use crate::CellMode;

/// Thousandths of a cycle.
const MILLI: u32 = 1000;

/// Damage by one program/erase cycle in each cell mode, in thousandths of a cycle in the mode that a drive's
/// superblocks start in. Whole numbers, so that medium and firmware add up the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CycleDamage {
    milli: [u32; CellMode::ALL.len()],
    /// Cycles that each simulated erase stands for.
    rate: u32,
}

/// The most cycles that a simulated erase may stand for.
pub const MOST_WEAR_RATE: u32 = 1000;

impl CycleDamage {
    /// Every cycle damages like any other.
    pub const ALIKE: CycleDamage = CycleDamage::new([MILLI; CellMode::ALL.len()]);

    /// The damage of a cycle in each mode, in the order of [`CellMode::ALL`].
    pub const fn new(milli: [u32; CellMode::ALL.len()]) -> CycleDamage {
        CycleDamage { milli, rate: 1 }
    }

    /// The same where each simulated erase stands for `rate` cycles, from 1 to [`MOST_WEAR_RATE`]: the **wear rate** of
    /// a life.
    #[must_use]
    pub const fn at_rate(self, rate: u32) -> CycleDamage {
        CycleDamage { rate, ..self }
    }

    /// Cycles that each simulated erase stands for.
    #[inline]
    pub const fn rate(self) -> u32 {
        self.rate
    }

    /// Damage of a cycle in `mode`, in thousandths.
    #[inline]
    pub const fn milli(self, mode: CellMode) -> u32 {
        self.milli[mode.index()]
    }

    /// Damage by a simulated erase that ends a cycle in `mode`, in thousandths: of all cycles that it stands for.
    #[inline]
    pub const fn milli_of_erase(self, mode: CellMode) -> u32 {
        self.milli[mode.index()] * self.rate
    }
}

/// Damage of a block so far, in cycles of the mode that a drive's superblocks start in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Damage {
    /// Whole cycles, rounded down.
    pub cycles: u32,
    /// Thousandths of a cycle beyond, below 1,000.
    pub milli: u16,
}

impl Damage {
    /// The damage after one more simulated erase that ends a cycle in `mode`.
    #[must_use]
    pub const fn after_cycle(self, mode: CellMode, by: CycleDamage) -> Damage {
        let milli = self.milli as u32 + by.milli_of_erase(mode);
        Damage {
            cycles: self.cycles + milli / MILLI,
            milli: (milli % MILLI) as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand cycles damage exactly a thousand times as much as one, and cycles that damage alike are counted.
    #[test]
    fn formula_damage_adds_up_exactly() {
        let by = CycleDamage::new([10, 70, 333, 1000]);
        for mode in CellMode::ALL {
            let (mut damage, mut alike) = (Damage::default(), Damage::default());
            for n in 1..=5_000 {
                damage = damage.after_cycle(mode, by);
                alike = alike.after_cycle(mode, CycleDamage::ALIKE);
                let all = damage.cycles * MILLI + u32::from(damage.milli);
                assert_eq!(all, n * by.milli(mode));
                assert_eq!((alike.cycles, alike.milli), (n, 0));
            }
        }
    }

    /// At a wear rate of ten, one erase damages as ten do at one, and a cycle's own damage is what it was.
    #[test]
    fn formula_an_erase_at_a_wear_rate_stands_for_so_many() {
        let by = CycleDamage::new([10, 70, 333, 1000]);
        for mode in CellMode::ALL {
            let ten = (0..10).fold(Damage::default(), |d, _| d.after_cycle(mode, by));
            assert_eq!(
                Damage::default().after_cycle(mode, by.at_rate(10)),
                ten,
                "{mode:?}"
            );
            assert_eq!(by.at_rate(10).milli(mode), by.milli(mode));
        }
    }

    #[test]
    fn formula_a_wear_rate_is_told_and_is_one_by_default() {
        assert_eq!(CycleDamage::ALIKE.rate(), 1);
        assert_eq!(CycleDamage::ALIKE.at_rate(MOST_WEAR_RATE).rate(), 1000);
        let by = CycleDamage::new([10, 70, 333, 1000]).at_rate(7);
        let of_erase = CellMode::ALL.map(|mode| by.milli_of_erase(mode));
        assert_eq!(of_erase, [70, 490, 2331, 7000]);
        // 0.6 cycles, and 2.331 more.
        let before = Damage {
            cycles: 4,
            milli: 600,
        };
        let after = Damage {
            cycles: 6,
            milli: 931,
        };
        assert_eq!(before.after_cycle(CellMode::Tlc, by), after);
    }
}
