//! Superblocks as a life left them.

/// Wear of every superblock, and which of them are retired.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WornBlocks {
    /// Program/erase cycles of each.
    pub pe_cycles: Vec<u32>,
    /// Whether each is retired. As long as the other.
    pub retired: Vec<bool>,
}

impl WornBlocks {
    /// Those that are not retired: number and program/erase cycles.
    pub fn in_use(&self) -> impl Iterator<Item = (u32, u32)> {
        let all = (0..).zip(self.pe_cycles.iter().zip(&self.retired));
        all.filter_map(|(block, (&pe_cycles, &retired))| (!retired).then_some((block, pe_cycles)))
    }

    /// The wear of those in use, in their order, then that of the retired ones, and how many these are. A drive that is
    /// filled by arithmetic retires its last superblocks, so it has them in this order.
    pub(crate) fn retired_last(&self) -> (Vec<u32>, u32) {
        let mut wear: Vec<u32> = self.in_use().map(|(_, pe_cycles)| pe_cycles).collect();
        let in_use = wear.len();
        let all = self.pe_cycles.iter().zip(&self.retired);
        wear.extend(all.filter_map(|(&pe_cycles, &retired)| retired.then_some(pe_cycles)));
        let retired = wear.len() - in_use;
        (wear, retired as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_retired_superblocks_come_last() {
        let worn = WornBlocks {
            pe_cycles: vec![5, 9, 7, 8],
            retired: vec![false, true, false, true],
        };
        assert_eq!(worn.in_use().collect::<Vec<_>>(), [(0, 5), (2, 7)]);
        assert_eq!(worn.retired_last(), (vec![5, 7, 9, 8], 2));
    }
}
