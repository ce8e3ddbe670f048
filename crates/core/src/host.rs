//! Host commands.

/// Identifier of a command in flight: a small index, unique among the commands in flight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct CommandId(pub u32);

/// Operation of a host command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum HostOp {
    /// Return the last version written.
    Read,
    /// Store data as the last version of each sector.
    Write,
    /// Deallocate: later reads return zeros.
    Trim,
    /// Complete once all writes acknowledged before it are safe from power loss.
    Flush,
}

/// A command of the host, as the controller has fetched it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostCommand {
    /// Echoed in the completion.
    pub id: CommandId,
    /// Operation on the range of bytes that the command names.
    pub op: HostOp,
    /// The host-side client that issues it. Sequential streams are detected among the commands of one client.
    pub client: u16,
    /// First byte, a multiple of 512.
    pub offset_bytes: u64,
    /// Length in bytes, a multiple of 512; zero only for a flush.
    pub len_bytes: u32,
    /// Force Unit Access: a write completes only when its data are safe from power loss.
    pub fua: bool,
    /// Placement handle of a write, as NVMe's Flexible Data Placement numbers them; 0 where the host names none.
    pub placement: u16,
}

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Completed as asked.
    Ok,
    /// Some of the data could not be corrected. No data are returned.
    Uncorrectable,
    /// No free superblock is left.
    NoSpace,
    /// The command reaches past the end of the drive.
    OutOfRange,
    /// The drive has reached its end of life and takes no more writes.
    ReadOnly,
    /// The drive takes no writes for now, by a rule of its firmware (NVMe: Namespace is Write Protected).
    WriteProtected,
}
