//! What a job file asks of the log, and what becomes of it on a drive.

use super::error::HostLogError;

/// Heads of a log, at most: as many placement handles as a drive may have.
pub const MOST_HEADS: u8 = 16;

/// Zones that cleaning needs beside the open ones: one is kept for it, and one is to gain something.
const FOR_CLEANING: u64 = 2;

/// A percentage of the drive is rounded down to a multiple of this (bytes).
const STEP: u64 = 1 << 20;

/// What a job file asks of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostLogSpec {
    /// What the log offers to jobs.
    pub capacity: LogCapacity,
    /// Length of a zone (bytes); that of a superblock where none is given.
    pub zone_bytes: Option<u64>,
    /// Heads for what applications write: placement handle `h` of a job has head `h`.
    pub heads: u8,
    /// Where pages go that cleaning moves.
    pub moves: MovesTo,
    /// Which zone is cleaned next.
    pub victim: Victim,
}

/// A capacity of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogCapacity {
    /// So many bytes.
    Bytes(u64),
    /// Percent of the drive.
    Percent(u8),
}

/// Where pages go that cleaning moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MovesTo {
    /// To the head of the handle that they were written with.
    WithWrites,
    /// To one head for all of them.
    Apart,
    /// To a head for each handle.
    ByHandle,
}

/// Which zone is cleaned next, of those that hold a page that is no longer valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Victim {
    /// The one with the fewest valid pages.
    Greedy,
    /// The one with the greatest (garbage x age) / (2 x valid pages), as in a log-structured file system; age counts from when the zone was full.
    CostBenefit,
    /// The one that has been full for the longest time.
    Fifo,
}

/// The drive that a log lies on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnderLog {
    /// Bytes that it offers.
    pub capacity_bytes: u64,
    /// Data that a superblock holds (bytes).
    pub superblock_bytes: u64,
    /// What the drive maps, and so a page of the log (bytes).
    pub page_bytes: u32,
    /// Placement handles of the drive; none where it takes none.
    pub handles: Option<u16>,
}

/// A log on a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogPlan {
    /// What was asked for.
    pub spec: HostLogSpec,
    /// A page: what the drive maps (bytes).
    pub page_bytes: u32,
    /// Pages of a zone.
    pub zone_pages: u32,
    /// Zones on the drive; what is left of it behind them is not used.
    pub zones: u32,
    /// Pages that the log offers to jobs.
    pub pages: u32,
    /// Whether each head writes with a placement handle of its own.
    pub has_handles: bool,
}

impl HostLogSpec {
    /// A log with one head for what is written and one for what moves, as a drive without handles has them.
    pub fn new(capacity: LogCapacity) -> HostLogSpec {
        HostLogSpec {
            capacity,
            zone_bytes: None,
            heads: 1,
            moves: MovesTo::Apart,
            victim: Victim::Greedy,
        }
    }

    /// All heads, those of moves with them.
    pub fn all_heads(&self) -> u8 {
        self.heads
            + match self.moves {
                MovesTo::WithWrites => 0,
                MovesTo::Apart => 1,
                MovesTo::ByHandle => self.heads,
            }
    }

    /// What the log offers to jobs, on a drive of `drive_bytes`.
    pub fn capacity_bytes(&self, drive_bytes: u64) -> u64 {
        match self.capacity {
            LogCapacity::Bytes(bytes) => bytes,
            LogCapacity::Percent(percent) => {
                let part = u128::from(drive_bytes) * u128::from(percent) / 100;
                part as u64 / STEP * STEP
            }
        }
    }

    /// The log on a drive.
    ///
    /// # Errors
    /// [`HostLogError`] where the drive has no room for it.
    pub fn plan(&self, under: &UnderLog) -> Result<LogPlan, HostLogError> {
        let page = u64::from(under.page_bytes);
        let zone = self.zone_bytes.unwrap_or(under.superblock_bytes);
        let capacity = self.capacity_bytes(under.capacity_bytes);
        for (option, bytes) in [("host_log", capacity), ("host_log_zone", zone)] {
            if bytes == 0 || bytes % page != 0 {
                let nearest = (bytes / page * page).max(page);
                return Err(HostLogError::Page {
                    option,
                    bytes,
                    page,
                    nearest,
                });
            }
        }
        let heads = self.all_heads();
        let spare = u64::from(heads) + FOR_CLEANING;
        let zones = under.capacity_bytes / zone;
        if zones <= spare {
            return Err(HostLogError::Zones {
                zones,
                zone,
                heads,
                spare,
                zone_that_fits: under.capacity_bytes / (spare + 1) / page * page,
            });
        }
        if capacity.div_ceil(zone) + spare > zones {
            return Err(HostLogError::Spare {
                zones,
                left: zones.saturating_sub(capacity.div_ceil(zone)),
                heads,
                spare,
                most: (zones - spare) * zone,
            });
        }
        let all_pages = zones * (zone / page);
        if all_pages > u64::from(u32::MAX) {
            return Err(HostLogError::Large {
                pages: all_pages,
                most: u64::from(u32::MAX),
            });
        }
        if let Some(handles) = under.handles
            && handles < u16::from(heads)
        {
            return Err(HostLogError::Handles { heads, handles });
        }
        Ok(LogPlan {
            spec: *self,
            page_bytes: under.page_bytes,
            zone_pages: (zone / page) as u32,
            zones: zones as u32,
            pages: (capacity / page) as u32,
            has_handles: under.handles.is_some(),
        })
    }
}
