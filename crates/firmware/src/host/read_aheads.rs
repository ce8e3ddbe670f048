//! The multi-plane pages that are being read ahead.

use alloc::boxed::Box;

use crate::policy::read_ahead::{AnyReadAhead, ReadAhead};
use crate::schedule::{Jobs, Purpose};

/// A multi-plane page that is being read ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Logical page at index `row_slot` of the multi-plane page. It and the next ones fill `slots` slots
    /// there.
    pub(super) first: u64,
    pub(super) row_slot: u8,
    pub(super) slots: u8,
    /// Codewords that are read.
    pub(super) wanted: u64,
    /// Codewords of the slots that commands have joined for and received.
    pub(super) used: u64,
}

/// The read-ahead in flight.
#[derive(Clone, Debug)]
pub(crate) struct ReadAheads {
    pub(super) scheme: AnyReadAhead,
    /// Per job; empty if the drive does not read ahead.
    pub(super) rows: Box<[Row]>,
    /// Multi-plane pages for which read-ahead may still be started.
    pub(super) left: u32,
}

impl ReadAheads {
    /// Read-ahead of a drive with `jobs`.
    pub(crate) fn new(scheme: AnyReadAhead, jobs: &Jobs) -> ReadAheads {
        let row = Row {
            first: 0,
            row_slot: 0,
            slots: 0,
            wanted: 0,
            used: 0,
        };
        let left = scheme.rows();
        let rows = if left == 0 { 0 } else { jobs.len() as usize };
        ReadAheads {
            scheme,
            rows: alloc::vec![row; rows].into_boxed_slice(),
            left,
        }
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Commands have received codewords `used` of what `job` reads.
    pub(crate) fn served(&mut self, job: u32, used: u64) {
        self.rows[job as usize].used |= used;
    }

    /// Number of codewords being read ahead.
    pub(crate) fn under_way(&self, jobs: &Jobs) -> u32 {
        let rows = self.rows.iter().zip(jobs.iter());
        let under_way = rows.filter(|(_, job)| job.purpose == Purpose::ReadAhead);
        under_way.map(|(row, _)| row.wanted.count_ones()).sum()
    }
}
