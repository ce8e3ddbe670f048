//! Bins of P/E cycles and of retention time (CT-QLC §III-E1: four of 1,000 cycles, eleven of time).

use firstread_core::params::{Param, ParamKind, Values};
use firstread_core::voltage::{BlockGroups, MAX_RETENTION_BINS};

/// Parameter: choice of retention bins.
pub const RETENTION_BINS_PARAM: Param = Param {
    key: "retention_bins",
    doc: "edges of the retention bins: 11 of the published number, 20 finer ones, 11 in log steps, or 20 of the \
          published widths",
    kind: ParamKind::Choice(&["default", "fine", "log", "as-printed"]),
};

/// Lower edges in tenths of an hour. The published text asks for at least 15 bins and leaves 48 to
/// 72 h undefined, so `default` fills the gap; see `docs/firmware/ct-qlc.md`.
const DEFAULT: [u32; 11] = [0, 20, 50, 100, 240, 480, 720, 960, 1200, 1440, 1680];
const FINE: [u32; 20] = [
    0, 10, 20, 35, 50, 75, 100, 150, 200, 240, 300, 360, 480, 600, 720, 960, 1200, 1440, 1680, 3360,
];
const LOG: [u32; 11] = [0, 5, 12, 30, 70, 160, 360, 840, 1680, 4000, 9000];
/// The published widths: 2 to 5 h up to 48 h, 24 h from 72 h to 7 d, 7 d beyond. What the text leaves undefined, 48
/// to 72 h, is one more bin of 24 h. Widths of 2 to 5 h take 11 bins for the first 48 h alone, as many as are
/// published for all. The last bin is open, from 28 d on.
const AS_PRINTED: [u32; 20] = [
    0, 20, 50, 100, 150, 200, 250, 300, 350, 400, 450, 480, 720, 960, 1200, 1440, 1680, 3360, 5040,
    6720,
];

/// Width of a P/E bin, in cycles.
pub const PE_WIDTH: u32 = 1000;
/// Number of P/E bins.
pub const PE_BINS: u8 = 4;

/// The groups for choice `retention_bins` (index into the parameter's words).
pub fn groups(retention_bins: i64) -> BlockGroups {
    let edges: &[u32] = match retention_bins {
        1 => &FINE,
        2 => &LOG,
        3 => &AS_PRINTED,
        _ => &DEFAULT,
    };
    BlockGroups::from_hours(PE_WIDTH, PE_BINS, edges)
}

/// Parameter: whether superblocks are grouped at all.
pub const GROUPING_PARAM: Param = Param {
    key: "grouping",
    doc: "group superblocks by P/E cycles and retention time; without it all share one group",
    kind: ParamKind::Flag(true),
};

/// One group for the whole drive: the effect of `grouping=false`.
pub const fn single() -> BlockGroups {
    BlockGroups::from_hours(u32::MAX, 1, &[0])
}

/// The groups chosen by the values of [`GROUPING_PARAM`] and [`RETENTION_BINS_PARAM`].
pub fn chosen(values: &Values) -> BlockGroups {
    match values.flag(GROUPING_PARAM.key) {
        true => groups(values.get(RETENTION_BINS_PARAM.key)),
        false => single(),
    }
}

// A set of groups fits into one word.
const _: () = assert!(PE_BINS as usize * MAX_RETENTION_BINS <= u128::BITS as usize);

/// A set of groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GroupSet(u128);

impl GroupSet {
    /// The set without any group.
    pub const EMPTY: GroupSet = GroupSet(0);

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Number of groups in the set.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }
    /// Whether `group` is in the set.
    pub const fn contains(self, group: u8) -> bool {
        self.0 >> group & 1 != 0
    }
    /// Adds `group`, which is below 128.
    pub const fn insert(&mut self, group: u8) {
        self.0 |= 1 << group;
    }
    /// Takes `group` out, if it is in the set.
    pub const fn remove(&mut self, group: u8) {
        self.0 &= !(1 << group);
    }
    /// Adds every group of `other`.
    pub const fn extend(&mut self, other: GroupSet) {
        self.0 |= other.0;
    }
    /// Removes the groups that are also in `other`, and returns them.
    pub const fn take_common(&mut self, other: GroupSet) -> GroupSet {
        let common = GroupSet(self.0 & other.0);
        self.0 &= !other.0;
        common
    }
    /// Removes the lowest group and returns it.
    pub const fn pop(&mut self) -> Option<u8> {
        if self.0 == 0 {
            return None;
        }
        let group = self.0.trailing_zeros() as u8;
        self.0 &= self.0 - 1;
        Some(group)
    }
    /// Empties the set, and returns what it held.
    pub const fn take(&mut self) -> GroupSet {
        let all = *self;
        *self = GroupSet::EMPTY;
        all
    }
}
