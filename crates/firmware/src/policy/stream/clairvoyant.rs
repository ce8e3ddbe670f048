//! `clairvoyant`: the oracle. It knows when each page will be overwritten.
//!
//! Pages are grouped by the time that is left to them: the first stream takes those that die while the host fills one more
//! superblock, each further one those that live for up to twice as long, and the last one all others. It is the best that is known and no bound.

use firstread_core::params::{Need, Param, Role, Scheme, Values};

use super::rows::{host_rows, move_rows};
use super::{HostStreams, MovedPage, WrittenPage};
use crate::observe::{PageFuture, StreamRow};
use crate::policy::Setup;

const GROUPS: Param = Param::number(
    "groups",
    "groups of pages by the time left to them, each with a stream of the host and one of moves",
    "groups",
    (6, 2, 12),
);

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "clairvoyant",
    summary: "by the slots that the host will write until the page is overwritten",
    source: "the oracle: it sees when each page will be overwritten, luck included",
    role: Role::Oracle,
    needs: &[
        Need::Future,
        Need::OwnStreamsBeyond("groups", 1),
        Need::OwnStreamsBeyond("groups", 1),
    ],
    ordered: &[],
    params: &[GROUPS],
};

/// Groups by the time that is left.
#[derive(Clone, Debug)]
pub struct Clairvoyant {
    groups: u8,
    /// Slots of a superblock.
    superblock: u32,
}

impl Clairvoyant {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> Clairvoyant {
        Clairvoyant {
            groups: values.get(GROUPS.key) as u8,
            superblock: setup.geometry.slots_per_superblock(setup.tables.mode),
        }
    }

    fn group(&self, future: &PageFuture) -> u8 {
        let superblocks = future.overwritten_in / self.superblock;
        (superblocks.checked_ilog2().map_or(0, |log| log + 1) as u8).min(self.groups - 1)
    }
}

impl HostStreams for Clairvoyant {
    fn of_host(&self) -> &'static [StreamRow] {
        host_rows(self.groups)
    }

    fn of_moves(&self) -> &'static [StreamRow] {
        move_rows(self.groups)
    }

    fn of_write(&self, page: &WrittenPage) -> u8 {
        self.group(&page.future)
    }

    fn of_move(&self, page: &MovedPage) -> u8 {
        self.group(&page.future)
    }
}
