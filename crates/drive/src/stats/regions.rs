//! Regions that wear apart, at the end of a run.

use firstread_firmware::observe::{SuperblockTable, SuperblockUse};

/// Wear of superblocks (P/E cycles).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Wear {
    /// That of the superblock least worn.
    pub min: u32,
    /// Mean over superblocks.
    pub mean: f64,
    /// What 99 % of the superblocks do not exceed.
    pub p99: u32,
    /// That of the superblock most worn.
    pub max: u32,
}

impl Wear {
    /// Of superblocks with `pe_cycles`; none where there are none.
    pub fn of(mut pe_cycles: Vec<u32>) -> Option<Wear> {
        pe_cycles.sort_unstable();
        let (&min, &max) = (pe_cycles.first()?, pe_cycles.last()?);
        let sum: u64 = pe_cycles.iter().copied().map(u64::from).sum();
        let p99 = ((pe_cycles.len() as f64 * 0.99).ceil() as usize).max(1) - 1;
        Some(Wear {
            min,
            mean: sum as f64 / pe_cycles.len() as f64,
            p99: pe_cycles[p99],
            max,
        })
    }
}

/// A region, without its superblocks that are retired.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct OfRegion {
    /// How many superblocks it has.
    pub superblocks: u32,
    /// Their slots that hold the last version of a page.
    pub valid_slots: u64,
    /// Their wear; none where all are retired.
    pub wear: Option<Wear>,
}

/// The regions of a drive with the superblocks of `table`, the drive's own first.
pub(crate) fn regions(table: &SuperblockTable) -> Vec<OfRegion> {
    let of = |region| {
        let in_use = || {
            let infos = table.in_region(region).iter().map(|(_, info)| info);
            infos.filter(|info| info.usage != SuperblockUse::Bad)
        };
        OfRegion {
            superblocks: in_use().count() as u32,
            valid_slots: in_use().map(|info| u64::from(info.valid_slots)).sum(),
            wear: Wear::of(in_use().map(|info| info.pe_cycles).collect()),
        }
    };
    table.regions().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::{CellMode, SuperblockId};
    use firstread_firmware::observe::Regions;

    /// Each region has its own superblocks, those that are retired left out; a drive that is not divided has one.
    #[test]
    fn formula_superblocks_are_counted_by_region() {
        let mut table = SuperblockTable::new(6, CellMode::Tlc);
        assert_eq!(regions(&table).len(), 1);
        table.divide(Regions::new(6, [4]));
        for i in 0..6 {
            table.info_mut(SuperblockId(i)).valid_slots = i;
        }
        table.info_mut(SuperblockId(1)).usage = SuperblockUse::Bad;
        let found = regions(&table);
        let found = found.iter().map(|of| (of.superblocks, of.valid_slots));
        assert_eq!(found.collect::<Vec<_>>(), [(3, 5), (2, 9)]);
    }

    #[test]
    fn formula_wear_is_that_of_the_superblocks() {
        let wear = Wear::of((1..=200).collect()).unwrap();
        assert_eq!((wear.min, wear.p99, wear.max), (1, 198, 200));
        assert!((wear.mean - 100.5).abs() < 1e-9);
        assert_eq!(Wear::of(Vec::new()), None);
    }
}
