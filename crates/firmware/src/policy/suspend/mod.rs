//! Axis `suspend`: whether a die stops a program or an erase for a read of the host.
//!
//! `suspends` is called when a read of the host comes to a die that runs a program or an erase, and
//! once more for each that comes while it runs; what is suspended resumes when the die has no read
//! of the host left. What a chip allows and what it costs is the chip's.

mod contract;
mod erase;
mod free;
mod none;
mod program;
mod program_erase;

use crate::policy::axis::axis;
pub use contract::{Running, Suspend};

axis! {
    "suspend": "whether a die stops a program or an erase for a read of the host";
    AnySuspend: Suspend {
        none::Uninterrupted,
        erase::Erases,
        program::Programs,
        program_erase::Both,
        free::Free,
    }
    #[inline]
    fn suspends(&self, running: Running, times: u16, most: u16) -> bool;
}
