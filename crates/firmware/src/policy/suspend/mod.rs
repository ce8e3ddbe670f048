//! Axis `suspend`: whether a die suspends a program or erase for a host read.
//!
//! `suspends` is called when a host read arrives at a die that runs a program or erase, and when a program or
//! erase takes a turn while host reads wait. The suspended operation resumes when no host read is left on the die, or when it takes a
//! turn (`schedule/turns.rs`). The chip's profile says how often it allows a suspend and what a suspend costs.

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
        none::NoSuspend,
        erase::SuspendErase,
        program::SuspendProgram,
        program_erase::SuspendProgramErase,
        free::FreeSuspend,
    }
    #[inline]
    fn suspends(&self, running: Running) -> bool;
    #[inline]
    fn is_free(&self) -> bool;
}
