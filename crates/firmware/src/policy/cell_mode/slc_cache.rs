//! `slc-cache`: every write goes to a cache in SLC mode and is moved to the drive's own mode later: the comparator of direct placement.
//!
//! Consumer drives do so. The cache has a fixed part, and a dynamic part that is as large as what the host has not written of the capacity
//! leaves room for. While the host rests the cache is emptied, the oldest superblock first, and all of it is erased ahead of the next burst.
//! When the cache is full, writes go straight to the drive's own mode, and the cache is emptied as far as the host leaves time.

use firstread_core::params::{Need, Order, Param, Role, Scheme, Values};
use firstread_core::{CellMode, Ns};

use super::params::{KEEP_OF_DATA, LEVEL, READY_HIGH, READY_LOW, WRITTEN_SLC};
use super::{CellModes, LevelBy, PoolSize, PoolState, PoolWrite, WritePool};
use crate::observe::StreamRow;
use crate::policy::Setup;

const DYNAMIC: Param = Param::flag(
    "dynamic",
    "whether the cache also takes what the host has not written yet, beside `share`",
    true,
);
const SHARE: Param = Param::number(
    "share",
    "superblocks that the cache takes of the over-provisioning, as a share of all",
    "permille",
    (20, 1, 1000),
);
const IDLE: Param = Param::number(
    "idle",
    "time without a command of the host after which the cache is emptied and erased ahead",
    "ns",
    (100_000_000, 1_000_000, 3_600_000_000_000),
);

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "slc-cache",
    summary: "every write goes to a cache in SLC mode, which is emptied and erased ahead while the host rests",
    source: "consumer drives; the comparator of direct placement",
    role: Role::Scheme,
    needs: &[Need::CellModes, Need::SlcAlone],
    ordered: &[Order::AtMost("ready_low", "ready_high")],
    params: &[
        DYNAMIC,
        SHARE,
        KEEP_OF_DATA,
        READY_LOW,
        READY_HIGH,
        LEVEL,
        IDLE,
    ],
};

static WRITTEN: [StreamRow; 1] = [WRITTEN_SLC];

/// The cache.
#[derive(Clone, Debug)]
pub struct SlcCache {
    rule: WritePool,
    share_permille: u64,
    is_dynamic: bool,
}

impl SlcCache {
    /// The scheme with the parameters `values`.
    pub fn new(_setup: &Setup, values: &Values) -> SlcCache {
        SlcCache {
            rule: WritePool {
                mode: CellMode::Slc,
                ready: (
                    values.get(READY_LOW.key) as u32,
                    values.get(READY_HIGH.key) as u32,
                ),
                keep_permille: values.get(KEEP_OF_DATA.key) as u32,
                level: values.get(LEVEL.key) as u32,
                level_by: LevelBy::Mean,
                idle: Some(Ns(values.get(IDLE.key) as u64)),
            },
            share_permille: values.get(SHARE.key) as u64,
            is_dynamic: values.flag(DYNAMIC.key),
        }
    }
}

impl CellModes for SlcCache {
    fn streams(&self) -> &'static [StreamRow] {
        &WRITTEN
    }

    fn write_pool(&self) -> Option<WritePool> {
        Some(self.rule)
    }

    #[inline]
    fn of_write(&self, _: &PoolWrite) -> bool {
        true
    }

    fn resize(&mut self, state: &PoolState) -> PoolSize {
        let fixed = (u64::from(state.superblocks) * self.share_permille).div_ceil(1000);
        let lent = state.own_slots.saturating_sub(state.slots).max(1);
        let unwritten = match self.is_dynamic {
            true => state.unwritten / lent,
            false => 0,
        };
        PoolSize {
            written: (fixed + unwritten).min(state.most.into()) as u32,
            promoted: 0,
            keeps: false,
        }
    }
}
