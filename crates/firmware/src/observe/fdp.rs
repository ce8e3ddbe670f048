//! Events of placement handles, as the log of NVMe's Flexible Data Placement (TP4146) has them.

use firstread_core::Ns;

use crate::format::{record, tags};

/// What has happened to a reclaim unit. The drive has no event of the other types of the standard: a reclaim unit has no time limit, a
/// power cut leaves each handle with its reclaim unit, and a write with a handle that the drive lacks is an error before it is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FdpEventKind {
    /// A handle has left a reclaim unit of which a part was padded, because a flush or a write waited for its data.
    NotFullyWritten,
    /// Data of the host were moved out of a reclaim unit, which is then erased or retired.
    MediaReallocated,
    /// The drive has given a handle another reclaim unit before the first one was full: a program had failed there, or reads had
    /// disturbed it.
    ImplicitlyModified,
}

tags!(FdpEventKind {
    NotFullyWritten = 0x00,
    MediaReallocated = 0x80,
    ImplicitlyModified = 0x81,
});

impl FdpEventKind {
    /// All of them.
    pub const ALL: [FdpEventKind; 3] = [
        FdpEventKind::NotFullyWritten,
        FdpEventKind::MediaReallocated,
        FdpEventKind::ImplicitlyModified,
    ];

    /// Event type of the standard: from 80h on those of the controller, below those of the host.
    pub const fn code(self) -> u8 {
        match self {
            FdpEventKind::NotFullyWritten => 0x00,
            FdpEventKind::MediaReallocated => 0x80,
            FdpEventKind::ImplicitlyModified => 0x81,
        }
    }

    /// Its key in results.
    pub const fn name(self) -> &'static str {
        match self {
            FdpEventKind::NotFullyWritten => "ru_not_fully_written",
            FdpEventKind::MediaReallocated => "media_reallocated",
            FdpEventKind::ImplicitlyModified => "ruh_implicitly_modified",
        }
    }
}

/// An event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FdpEvent {
    /// When it happened.
    pub at: Ns,
    /// What.
    pub kind: FdpEventKind,
    /// Placement handle of the reclaim unit; none where data of several handles were mixed in it.
    pub handle: Option<u8>,
    /// Slots that were padded, moved, or left unwritten.
    pub slots: u32,
}

record! {
    of values FdpEvent as "event of a placement handle" {
        at ["ns"]: "when it happened",
        kind: "what",
        handle: "placement handle, if it is of one",
        slots ["slots"]: "padded, moved, or left unwritten",
    }
}

/// Events that are kept.
pub const KEPT_FDP_EVENTS: usize = 64;

/// The events so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FdpLog<'a> {
    /// How many there were, in the order of [`FdpEventKind::ALL`].
    pub counts: [u64; FdpEventKind::ALL.len()],
    /// The last ones, in two parts, the first one first.
    pub last: [&'a [FdpEvent]; 2],
}
