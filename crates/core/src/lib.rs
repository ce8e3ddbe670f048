//! The vocabulary of firstread and the seams between its parts.
//!
//! Everything here is plain data: no clock, no file, no allocation, no float. The crates above it
//! meet only through these types:
//!
//! - [`units`]: simulated time.
//! - [`geometry`]: how a drive is built, and where a slot of a superblock lies.
//! - [`address`]: logical pages, physical slots, dies, pages of a die.
//! - [`cell`]: cell modes and page types.
//! - [`levels`]: the read levels of one sense.
//! - [`flash`]: operations the firmware issues, events that come back.
//! - [`host`]: commands of the host and their completions.
//! - [`port`]: what firmware needs from the world it runs in.
//! - [`account`]: what it says of its time, on which nothing acts.
//! - [`before`]: what lay on a drive before its firmware wrote anything.
//! - [`params`]: one record per scheme, from which help, keys and tests are made.
//! - [`permutation`]: keyed permutations, computed both ways.
//! - [`random`]: counter-based random streams, keyed by purpose.
//! - [`sensing`]: how short a sense may be, an integer table from characterization.
//! - [`voltage`]: integer voltage tables that characterization makes for the firmware.
#![no_std]

pub mod account;
pub mod address;
pub mod before;
pub mod cell;
pub mod flash;
pub mod geometry;
pub mod host;
pub mod levels;
pub mod params;
pub mod permutation;
pub mod port;
pub mod random;
pub mod sensing;
pub mod units;
pub mod voltage;

pub use account::{Account, Wait};
pub use address::{BlockId, DieId, Lpn, PageAddr, Ppa};
pub use before::Before;
pub use cell::{CellMode, PageType};
pub use flash::{
    Buf, FlashEvent, FlashKind, FlashOp, OpClass, Priority, SenseMode, SenseTiming, SpareErrors,
    Tag,
};
pub use geometry::{Divisor, Geometry, Layout, StripeOrder};
pub use host::{CommandId, HostCommand, HostOp, Status};
pub use levels::{IdealScope, LevelOffsets, Levels};
pub use permutation::Permutation;
pub use port::{Arena, Ports, Spare};
pub use random::Stream;
pub use units::Ns;
