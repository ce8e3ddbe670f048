//! `write-heat`: pages that are overwritten climb, pages that are moved sink.
//!
//! The heat of a page is the level of the superblock in which it lies, so no page needs a counter. A page that the host
//! overwrites goes one level up, a page that cleaning moves goes one level down. Level 0 is the coldest: only moves reach it. The
//! host writes to the levels above it, a page that it writes for the first time to the lowest of these.
//!
//! With two levels the host has one stream and moves have one, as with `one`.

use firstread_core::params::{Need, Param, Role, Scheme, Values};

use super::rows::{host_rows, move_rows};
use super::{HostStreams, Lay, MovedPage, WrittenPage};
use crate::observe::{OpenedFor, StreamRow};
use crate::policy::Setup;

const LEVELS: Param = Param::number(
    "levels",
    "levels of write heat; one stream of moves for each but the hottest, one stream of the host for each but the coldest",
    "levels",
    (6, 2, 12),
);

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "write-heat",
    summary: "by the heat of the superblock that a page lay in: one level up when it is overwritten, one down when it moves",
    source: "Achieving Latency and Reliability Targets with QLC in Enterprise Controllers (IBM), Flash Memory Summit: write \
             heat separation",
    role: Role::Scheme,
    needs: &[
        Need::OwnStreamsBeyond("levels", 2),
        Need::OwnStreamsBeyond("levels", 2),
    ],
    ordered: &[],
    params: &[LEVELS],
};

/// Level of a page of which nothing is known: the lowest that the host writes to.
const UNKNOWN: u8 = 1;

/// Levels of superblocks.
#[derive(Clone, Debug)]
pub struct WriteHeat {
    levels: u8,
}

impl WriteHeat {
    /// The scheme with the parameters `values`.
    pub fn new(_setup: &Setup, values: &Values) -> WriteHeat {
        WriteHeat {
            levels: values.get(LEVELS.key) as u8,
        }
    }

    /// The level of a superblock. Streams of the host begin at level 1.
    fn level(lay: &Lay) -> u8 {
        match lay.opened_for {
            Some(OpenedFor::Host(number)) => number + 1,
            Some(OpenedFor::Moves(number)) => number,
            None => UNKNOWN,
        }
    }
}

impl HostStreams for WriteHeat {
    fn of_host(&self) -> &'static [StreamRow] {
        host_rows(self.levels - 1)
    }

    fn of_moves(&self) -> &'static [StreamRow] {
        move_rows(self.levels - 1)
    }

    fn hottest(&self) -> u8 {
        self.levels - 2
    }

    #[inline]
    fn sees_overwritten(&self) -> bool {
        true
    }

    fn of_write(&self, page: &WrittenPage) -> u8 {
        let level = match &page.overwritten {
            Some(lay) => (WriteHeat::level(lay) + 1).min(self.levels - 1),
            None => UNKNOWN,
        };
        level - 1
    }

    fn of_move(&self, page: &MovedPage) -> u8 {
        WriteHeat::level(&page.lies).saturating_sub(1)
    }
}
