//! A digest of every completion that reaches the host: equal where two runs are, completion by completion.

use firstread_core::{HostCommand, Ns, Status};

use crate::hardware::charge::Parts;

/// What completions fold into (FNV-1a, eight bytes at a time).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digest {
    /// Completions.
    pub count: u64,
    /// Of each: number, what was asked, when it was submitted and when it ended (ns), how, and the time by
    /// cause (ns), in the order in which completions reached the host.
    pub hash: u64,
}

/// The digest, once it is switched on.
#[derive(Debug, Default)]
pub(crate) struct Completions(Option<Digest>);

impl Completions {
    /// Completions count from now on.
    pub(crate) fn start(&mut self) {
        self.0 = Some(Digest {
            count: 0,
            hash: 0xcbf2_9ce4_8422_2325,
        });
    }

    /// What has completed since; none where nothing was switched on.
    pub(crate) fn digest(&self) -> Option<Digest> {
        self.0
    }

    /// `command`, submitted at `submitted`, has ended at `ended`.
    #[inline]
    pub(crate) fn note(
        &mut self,
        command: &HostCommand,
        submitted: Ns,
        ended: Ns,
        status: Status,
        parts: &Parts,
    ) {
        if let Some(digest) = &mut self.0 {
            digest.add(command, submitted, ended, status, parts);
        }
    }
}

impl Digest {
    #[inline(never)]
    fn add(
        &mut self,
        command: &HostCommand,
        submitted: Ns,
        ended: Ns,
        status: Status,
        parts: &Parts,
    ) {
        let words = [
            u64::from(command.id.0),
            command.op as u64,
            u64::from(command.client),
            command.offset_bytes,
            u64::from(command.len_bytes),
            submitted.0,
            ended.0,
            status as u64,
        ];
        for word in words.iter().chain(parts) {
            self.hash = (self.hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
            self.hash ^= self.hash >> 32;
        }
        self.count += 1;
    }
}
