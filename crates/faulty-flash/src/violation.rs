//! What a checker found.
#![allow(missing_docs, reason = "an error's message says what its values are")]

use firstread_core::{FlashOp, HostCommand, Lpn, Spare, Status, SuperblockId, Tag};
use firstread_firmware::format::MountError;
use firstread_firmware::ftl::Inconsistency;
use thiserror::Error;

/// A contract that the firmware has broken, or that something between it and its flash made it break.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Violation {
    /// A read returned an older version than the host may still see.
    #[error(
        "page {} was read in version {read:?} (none: zeros), though {expected:?} or newer was to be read",
        lpn.0
    )]
    StaleRead {
        lpn: Lpn,
        /// Version that was read: its sequence number; none for zeros.
        read: Option<u64>,
        /// The oldest version that the host may see; none for zeros.
        expected: Option<u64>,
    },
    /// Data that were safe from power loss are gone after a power cut.
    #[error(
        "page {} was read in version {read:?} (none: zeros), though version {safe:?} was safe before the last power cut",
        lpn.0
    )]
    LostInPowerCut {
        lpn: Lpn,
        /// Version that was read; none for zeros.
        read: Option<u64>,
        /// The version that was safe; none for zeros.
        safe: Option<u64>,
    },
    /// A read returned data of another page, or of no page.
    #[error("page {} was read as {got:?}: data of another page, or never written", lpn.0)]
    WrongData { lpn: Lpn, got: Spare },
    /// A map page that came from flash is not its last version.
    #[error("map page {} was read as {got:?}, and its last version is {last}", page.0)]
    StaleMapPage {
        /// The map page, numbered past the pages of the host.
        page: Lpn,
        got: Option<Spare>,
        /// Sequence number of its last version.
        last: u64,
    },
    /// A read failed though no codeword of its pages has ever failed to decode.
    #[error("{command:?} ended as uncorrectable, and every sense of its pages was decoded")]
    FalseUncorrectable { command: HostCommand },
    /// A command was acknowledged that has not done all that it says.
    #[error("{command:?} was acknowledged without page {}", lpn.0)]
    NotDone {
        command: HostCommand,
        /// A page that it has not read, written or trimmed.
        lpn: Lpn,
    },
    /// A command ended twice, or was never submitted.
    #[error("{command:?} ended, and is not in flight")]
    NotInFlight { command: HostCommand },
    /// A command ended with a status that this drive has no reason for.
    #[error("{command:?} ended with {status:?}")]
    UnexpectedStatus {
        command: HostCommand,
        status: Status,
    },
    /// More writes were refused because of the wear of an area than are counted.
    #[error("{refused} writes ended as refused at the bound of wear, and {counted} are counted")]
    RefusalsMiscounted {
        /// Commands that ended so.
        refused: u64,
        /// What the firmware counts.
        counted: u64,
    },
    /// Commands wait, flash has nothing to do, and the firmware asks for nothing.
    #[error("{commands} commands wait and nothing is under way:\n{state}")]
    CommandsNeverEnd {
        commands: u32,
        /// The firmware's state, for people.
        state: String,
    },
    /// Flash is busy without end though no command waits, or none of those that wait ends.
    #[error("flash does not come to rest after {events} events:\n{state}")]
    NeverRests {
        events: u64,
        /// The firmware's state, for people.
        state: String,
    },
    /// An operation that no chip would do.
    #[error("{why}: {op:?}")]
    Illegal {
        /// What is wrong with it.
        why: Illegal,
        op: FlashOp,
    },
    /// A call of the ports names a read that there is none of.
    #[error("{tag:?} is no read in flight")]
    NoSuchRead { tag: Tag },
    /// A superblock is erased that holds the only copy of the last version of a page.
    #[error(
        "superblock {} is erased, and holds the only copy of page {} in its last version {version}",
        block.0, lpn.0
    )]
    ErasedValidData {
        block: SuperblockId,
        lpn: Lpn,
        /// Sequence number of its last version.
        version: u64,
    },
    /// The audit of the firmware's own tables: two pages in one slot, or counts that disagree.
    #[error("the audit found {0:?}")]
    Inconsistency(Inconsistency),
    /// More superblocks were retired and more blocks were replaced than programs and erases have failed.
    #[error(
        "{retired} superblocks are retired and {replaced} blocks replaced after {failures} failures"
    )]
    SpareLeaked {
        retired: u64,
        /// Blocks of one die that were replaced.
        replaced: u64,
        /// Programs and erases that failed.
        failures: u64,
    },
    /// Nothing is under way, and a superblock is still being erased or read.
    #[error("superblock {} is being erased or read, though nothing is under way", block.0)]
    NotAtRest { block: SuperblockId },
    /// The drive takes no more writes though nothing has failed and the power was never cut.
    #[error("the drive has reached its end of life, though nothing has failed")]
    EndOfLifeWithoutFailure,
    /// After a recovery more valid slots lie in the superblock that is being emptied than before the power cut.
    #[error("{after} slots are valid in superblock {}, and {before} were before the power cut", block.0)]
    WorkUndone {
        block: SuperblockId,
        /// Valid slots before the power cut.
        before: u32,
        /// Valid slots after the recovery.
        after: u32,
    },
    /// A drive does not mount from the dump that it has written.
    #[error("the drive does not mount: {0}")]
    DoesNotMount(MountError),
    /// The state that is kept as it changes is not what a dump has.
    #[error("section `{section}` of what was kept is not that of a dump")]
    KeptOther {
        /// Name of the section.
        section: &'static str,
    },
    /// The emergency dump or the recovery allocated memory.
    #[error("an emergency dump or a recovery allocated memory {allocations} times")]
    Allocated { allocations: u64 },
    #[error("the firmware panicked: {0}")]
    Panicked(String),
}

/// What is wrong with an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Illegal {
    /// The die or the planes are busy.
    #[error("the planes are busy")]
    Busy,
    /// The die, superblock, wordline, page or buffer does not exist.
    #[error("there is no such address")]
    NoSuchAddress,
    /// An operation with this tag is in flight.
    #[error("the tag is in use")]
    TagInUse,
    /// Wordlines of a block are programmed in order.
    #[error("wordlines are programmed out of order, or twice without an erase")]
    OutOfOrder,
    /// The superblock does not have the block, or has not erased it since it has it.
    #[error("the superblock has another block")]
    OtherBlock,
    /// An erase of the block has failed.
    #[error("the block has failed")]
    FailedBlock,
    /// The block was not erased since its erase was interrupted.
    #[error("the block is not erased")]
    NotErased,
    /// A page is read that was not programmed since the erase.
    #[error("the page is not programmed")]
    NotProgrammed,
    /// Another program or erase is suspended on the die.
    #[error("a program or erase is suspended on the die")]
    WhileSuspended,
    /// The operation to be suspended does not run.
    #[error("the operation to be suspended does not run")]
    NotRunning,
    /// Nothing is suspended on the die, or another operation is.
    #[error("the operation to be resumed is not suspended")]
    NotSuspended,
    /// The operation was suspended more often than the chip allows.
    #[error("the operation was suspended too often")]
    SuspendedTooOften,
    /// A rebuild takes a stripe of which a part is not programmed or torn.
    #[error("the stripe is not complete")]
    StripeIncomplete,
    /// The flash here has neither read voltages nor a cache register.
    #[error("the faulty flash cannot do it (ones-count, cache read)")]
    NotSimulated,
}
