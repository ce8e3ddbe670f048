//! The page rows that are being read ahead.

use alloc::boxed::Box;

use crate::policy::read_ahead::{AnyReadAhead, ReadAhead};
use crate::schedule::{Jobs, Purpose};

/// A page row that is read ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Logical page at `row_slot` of the row; `slots` of them follow each other.
    pub(super) first: u64,
    pub(super) row_slot: u8,
    pub(super) slots: u8,
    /// Codewords of those that are to be read.
    pub(super) wanted: u64,
    /// Codewords of slots that commands have joined for and got.
    pub(super) used: u64,
}

/// What is being read ahead.
#[derive(Clone, Debug)]
pub(crate) struct Ahead {
    pub(super) scheme: AnyReadAhead,
    /// By job; none where nothing is read ahead.
    pub(super) rows: Box<[Row]>,
    /// Rows that may still be started.
    pub(super) left: u32,
}

impl Ahead {
    /// For a drive of `jobs`.
    pub(crate) fn new(scheme: AnyReadAhead, jobs: &Jobs) -> Ahead {
        let row = Row {
            first: 0,
            row_slot: 0,
            slots: 0,
            wanted: 0,
            used: 0,
        };
        let left = scheme.rows();
        let rows = if left == 0 { 0 } else { jobs.len() as usize };
        Ahead {
            scheme,
            rows: alloc::vec![row; rows].into_boxed_slice(),
            left,
        }
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Commands got codewords `used` of what `job` reads.
    pub(crate) fn served(&mut self, job: u32, used: u64) {
        self.rows[job as usize].used |= used;
    }

    /// Codewords that are being read.
    pub(crate) fn under_way(&self, jobs: &Jobs) -> u32 {
        let rows = self.rows.iter().zip(jobs.iter());
        let under_way = rows.filter(|(_, job)| job.purpose == Purpose::ReadAhead);
        under_way.map(|(row, _)| row.wanted.count_ones()).sum()
    }
}
