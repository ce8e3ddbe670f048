//! Wear: how much a program/erase cycle in each cell mode damages a block.

use crate::CellMode;

/// Thousandths of a cycle.
const MILLI: u32 = 1000;

/// Damage by one program/erase cycle in each cell mode, in thousandths of a cycle in the mode that a drive's
/// superblocks start in. Whole numbers, so that medium and firmware add up the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CycleDamage([u32; CellMode::ALL.len()]);

impl CycleDamage {
    /// Every cycle damages like any other.
    pub const ALIKE: CycleDamage = CycleDamage([MILLI; CellMode::ALL.len()]);

    /// The damage of a cycle in each mode, in the order of [`CellMode::ALL`].
    pub const fn new(milli: [u32; CellMode::ALL.len()]) -> CycleDamage {
        CycleDamage(milli)
    }

    /// Damage of a cycle in `mode`, in thousandths.
    #[inline]
    pub const fn milli(self, mode: CellMode) -> u32 {
        self.0[mode.index()]
    }
}

/// Damage of a block so far, in cycles of the mode that a drive's superblocks start in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Damage {
    /// Whole cycles.
    pub cycles: u32,
    /// Thousandths of a cycle beyond, below 1,000.
    pub milli: u16,
}

impl Damage {
    /// The damage after one more cycle in `mode`.
    #[must_use]
    pub const fn after_cycle(self, mode: CellMode, by: CycleDamage) -> Damage {
        let milli = self.milli as u32 + by.milli(mode);
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
}
