//! Commands of the host.

/// A command's slot in the host queues: a small index, unique among the commands in flight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct CommandId(pub u32);

/// What a host asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum HostOp {
    /// Return the last version written.
    Read,
    /// Store.
    Write,
    /// Forget: later reads return zeros.
    Trim,
    /// Complete when all earlier acknowledged writes are safe from power loss.
    Flush,
}

/// One command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostCommand {
    /// Echoed in the completion.
    pub id: CommandId,
    /// What to do.
    pub op: HostOp,
    /// Who asks: sequential streams are looked for among the commands of one asker.
    pub client: u16,
    /// First byte, a multiple of 512.
    pub offset_bytes: u64,
    /// Length in bytes, a multiple of 512, not zero except for a flush.
    pub len_bytes: u32,
    /// Force Unit Access: a write completes only when its data are safe from power loss.
    pub fua: bool,
}

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// As asked.
    Ok,
    /// Some of the data could not be corrected; none of it is returned.
    Uncorrectable,
    /// No free superblock is left to write to.
    NoSpace,
    /// The command reaches past the end of the drive.
    OutOfRange,
    /// The drive has reached its end of life and takes no more writes.
    ReadOnly,
}
