//! `static`: as `dynamic`, and data that hold back a young superblock are moved to a worn one.

use firstread_core::BlockId;
use firstread_core::params::{Param, ParamKind, Role, Scheme, Values};

use super::{Wear, free};
use crate::observe::{BlockMonitor, BlockUse};

/// Its row.
pub const SCHEME: Scheme = Scheme {
    name: "static",
    summary: "dynamic, and cold data move from the youngest superblock once wear spreads too far",
    source: "Chang, Hsieh and Kuo (DAC 2007), by P/E cycles instead of their erase bits",
    role: Role::Scheme,
    params: &[Param {
        key: "spread",
        doc: "P/E cycles that the most worn superblock may be ahead of the least worn with data",
        kind: ParamKind::Number {
            unit: "P/E",
            default: 100,
            min: 1,
            max: 1_000_000,
        },
    }],
};

/// The scheme.
#[derive(Debug)]
pub struct Static {
    spread: u32,
}

impl Static {
    /// From its parameters.
    pub fn new(values: &Values) -> Static {
        Static {
            spread: values.get("spread") as u32,
        }
    }
}

impl Wear for Static {
    fn open(&mut self, blocks: &BlockMonitor, cold: bool) -> Option<BlockId> {
        // Cold data rest the most worn superblock.
        let chosen = match cold {
            true => free(blocks).max_by_key(|(block, row)| (row.pe_cycles, u32::MAX - block.0)),
            false => free(blocks).min_by_key(|(block, row)| (row.pe_cycles, block.0)),
        };
        chosen.map(|(block, _)| block)
    }

    fn cold(&mut self, blocks: &BlockMonitor) -> Option<BlockId> {
        let alive = blocks.iter().filter(|(_, row)| row.usage != BlockUse::Bad);
        let most = alive.map(|(_, row)| row.pe_cycles).max()?;
        let (block, row) = blocks
            .iter()
            .filter(|(_, row)| row.usage == BlockUse::Full && !row.leaving)
            .min_by_key(|(block, row)| (row.pe_cycles, block.0))?;
        (most - row.pe_cycles > self.spread).then_some(block)
    }
}
