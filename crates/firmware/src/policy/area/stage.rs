//! Stages of life, and how many reads make a page hot in each.
//!
//! DWR has new, middle and old in words (section IV-A): HWA is worn "with only a little number of P/E cycles", "with
//! several hundreds", and "approaching the wear rate limit" of 80 %. `N_R` is 5, 4 and 3.

use firstread_core::params::{Param, Values};

use crate::policy::Setup;

/// Where the middle stage begins. 20 % is the first wear at which the paper's figure 3 shows slower reads.
pub(super) const MIDDLE: Param = Param::number(
    "middle",
    "mean wear of the high wearing area from which the drive is middle-aged, as a share of the rated P/E cycles",
    "permille",
    (200, 1, 1000),
);

/// Where the old stage begins: 650 of 1,000 P/E is where `dwr-256g` has the retries of table I for the old stage.
pub(super) const OLD: Param = Param::number(
    "old",
    "mean wear of the high wearing area from which the drive is old, as a share of the rated P/E cycles",
    "permille",
    (650, 1, 1000),
);

/// `N_R` of a new drive.
pub(super) const NEW_READS: Param = Param::number(
    "new_reads",
    "N_R of a new drive: read heat above which a page is read often",
    "reads",
    (5, 0, 254),
);

/// `N_R` of a middle-aged drive.
pub(super) const MIDDLE_READS: Param = Param::number(
    "middle_reads",
    "N_R of a middle-aged drive",
    "reads",
    (4, 0, 254),
);

/// `N_R` of an old drive.
pub(super) const OLD_READS: Param =
    Param::number("old_reads", "N_R of an old drive", "reads", (3, 0, 254));

/// `N_R` of a drive of any age.
pub(super) const FIXED_READS: Param = Param::number(
    "reads",
    "N_R at any stage of life: read heat above which a page is read often",
    "reads",
    (5, 0, 254),
);

/// `N_R`, the number of reads that a page has to exceed.
#[derive(Clone, Debug)]
pub(super) struct Stages {
    /// Mean wear from which `N_R` is the second and the third one, in thousandths of a cycle.
    from: [u64; 2],
    n_r: [u8; 3],
    now: u8,
}

impl Stages {
    /// DWR's, one `N_R` a stage, or FDWR's one for life, if the record of `values` has that.
    pub(super) fn new(setup: &Setup, values: &Values) -> Stages {
        let rated = u64::from(setup.rated_pe_cycles);
        let (from, n_r) = match values.find(FIXED_READS.key) {
            Some(reads) => ([u64::MAX; 2], [reads; 3]),
            None => (
                [MIDDLE, OLD].map(|param| rated * values.get(param.key) as u64),
                [NEW_READS, MIDDLE_READS, OLD_READS].map(|param| values.get(param.key)),
            ),
        };
        let n_r = n_r.map(|reads| reads as u8);
        Stages {
            from,
            n_r,
            now: n_r[0],
        }
    }

    /// HWA has had `wear_milli` thousandths of a cycle on average.
    pub(super) fn look(&mut self, wear_milli: u64) {
        let stage = self.from.iter().filter(|from| wear_milli >= **from).count();
        self.now = self.n_r[stage];
    }

    /// Whether a page of so many reads is read often.
    #[inline]
    pub(super) fn is_hot(&self, reads: u8) -> bool {
        reads > self.now
    }
}
