//! `fdp`: the host says which data belong together, as NVMe's Flexible Data Placement lets it.
//!
//! A write names a placement handle. The drive has one reclaim group and a reclaim unit handle for each placement handle, so the handle
//! picks the stream. The reclaim unit is the superblock. *Initially isolated*: what cleaning moves is mixed in one stream. *Persistently
//! isolated*: what was written with a handle stays with what was written with it, in a stream of moves of its own.

use firstread_core::params::{Need, Param, Role, Scheme, Values};

use super::rows::{host_rows, move_rows};
use super::{HostStreams, MovedPage, WrittenPage};
use crate::observe::{OpenedFor, StreamRow};
use crate::policy::Setup;

const HANDLES: Param = Param::number(
    "handles",
    "placement handles, from 0 on; each has a superblock open, and a second one where isolation is persistent",
    "handles",
    (8, 1, 16),
);
const PERSISTENT: Param = Param::flag(
    "persistent",
    "what cleaning moves stays apart by handle: reclaim unit handles are persistently isolated, and not initially",
    false,
);

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "fdp",
    summary: "by the placement handle that the host names with a write; a reclaim unit is a superblock",
    source: "NVM Express, Flexible Data Placement (TP4146)",
    role: Role::Scheme,
    needs: &[
        Need::OwnStreamsBeyond("handles", 1),
        Need::OwnStreamsBeyondIf("handles", 1, "persistent"),
    ],
    ordered: &[],
    params: &[HANDLES, PERSISTENT],
};

/// Handles and isolation.
#[derive(Clone, Debug)]
pub struct Fdp {
    handles: u8,
    is_persistent: bool,
}

impl Fdp {
    /// The scheme with the parameters `values`.
    pub fn new(_setup: &Setup, values: &Values) -> Fdp {
        Fdp {
            handles: values.get(HANDLES.key) as u8,
            is_persistent: values.flag(PERSISTENT.key),
        }
    }
}

impl HostStreams for Fdp {
    fn of_host(&self) -> &'static [StreamRow] {
        host_rows(self.handles)
    }

    fn of_moves(&self) -> &'static [StreamRow] {
        move_rows(if self.is_persistent { self.handles } else { 1 })
    }

    fn handles(&self) -> u8 {
        self.handles
    }

    #[inline]
    fn goes_to_neighbour(&self) -> bool {
        false
    }

    /// The stream of the handle. A handle that the drive lacks gets the first one, as a write without a handle does.
    fn of_write(&self, page: &WrittenPage) -> u8 {
        match page.placement < u16::from(self.handles) {
            true => page.placement as u8,
            false => 0,
        }
    }

    fn of_move(&self, page: &MovedPage) -> u8 {
        match (self.is_persistent, page.lies.opened_for) {
            (true, Some(OpenedFor::Host(handle) | OpenedFor::Moves(handle))) => handle,
            _ => 0,
        }
    }
}
