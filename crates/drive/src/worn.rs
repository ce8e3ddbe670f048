//! Superblocks as a life left them.

use firstread_core::Ns;

/// Wear of every superblock, which of them are retired, and what the drive has lived through by then.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WornBlocks {
    /// Program/erase cycles of each.
    pub pe_cycles: Vec<u32>,
    /// Whether each is retired. As long as the other.
    pub retired: Vec<bool>,
    /// Bytes that the host has written.
    pub written_bytes: u64,
    /// Time since the beginning of the life.
    pub lived: Ns,
}

impl WornBlocks {
    /// Those that are not retired: number and program/erase cycles.
    pub fn in_use(&self) -> impl Iterator<Item = (u32, u32)> {
        let all = (0..).zip(self.pe_cycles.iter().zip(&self.retired));
        all.filter_map(|(block, (&pe_cycles, &retired))| (!retired).then_some((block, pe_cycles)))
    }

    /// Numbers of those that are retired, in rising order.
    pub fn retired(&self) -> Vec<u32> {
        let all = (0..).zip(&self.retired);
        all.filter_map(|(block, &retired)| retired.then_some(block))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_retired_superblocks_are_not_in_use() {
        let worn = WornBlocks {
            pe_cycles: vec![5, 9, 7, 8],
            retired: vec![false, true, false, true],
            ..WornBlocks::default()
        };
        assert_eq!(worn.in_use().collect::<Vec<_>>(), [(0, 5), (2, 7)]);
        assert_eq!(worn.retired(), [1, 3]);
    }
}
