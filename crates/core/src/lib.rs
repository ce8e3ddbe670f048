//! The vocabulary of firstread, and the interfaces between its crates.
//!
//! Everything here is plain data: no clock, no file, no allocation, no float. The crates above this one share
//! only these types:
//!
//! - [`units`]: simulated time.
//! - [`geometry`]: how a drive is built, and where a slot of a superblock lies.
//! - [`address`]: logical pages, physical slots, dies, pages of a die.
//! - [`cell`]: cell modes and page types.
//! - [`levels`]: the read levels of one sense.
//! - [`flash`]: operations that the firmware issues, and events that come back.
//! - [`host`]: host commands and their completions.
//! - [`port`]: what the firmware needs from the platform it runs on.
//! - [`accounting`]: reports of the firmware by which time is charged. Nothing acts on them.
//! - [`initial_contents`]: the contents of a drive before the first write of its firmware.
//! - [`params`]: one record per scheme, the source of help, configuration keys and tests.
//! - [`permutation`]: keyed permutations with their inverses.
//! - [`random`]: counter-based random streams, keyed by purpose.
//! - [`sensing`]: how short a sense may be: an integer table made by characterization.
//! - [`voltage`]: integer voltage tables made by characterization.
//! - [`wear`]: damage by program/erase cycles in each cell mode.
#![no_std]

pub mod accounting;
pub mod address;
pub mod cache_line;
pub mod cell;
pub mod flash;
pub mod geometry;
pub mod host;
pub mod initial_contents;
pub mod levels;
pub mod params;
pub mod permutation;
pub mod port;
pub mod random;
pub mod sensing;
pub mod units;
pub mod voltage;
pub mod wear;

pub use accounting::{Accounting, Wait};
pub use address::{BlockId, DieId, Lpn, PageAddr, Ppa, SuperblockId};
pub use cell::{CellMode, PageType};
pub use flash::{
    Buf, FlashEvent, FlashKind, FlashOp, OpClass, Priority, SenseMode, SenseTiming, SpareErrors,
    Tag,
};
pub use geometry::{Divisor, Geometry, Layout, StripeOrder};
pub use host::{CommandId, HostCommand, HostOp, Status};
pub use initial_contents::InitialContents;
pub use levels::{IdealScope, LevelOffsets, Levels, ValleySearch};
pub use permutation::Permutation;
pub use port::{Arena, Ports, Spare};
pub use random::Stream;
pub use units::Ns;
pub use wear::{CycleDamage, Damage, MOST_WEAR_RATE};
