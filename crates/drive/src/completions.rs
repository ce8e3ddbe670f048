//! A digest of every completion that reaches the host: equal if two runs are equal, completion by completion.

use crate::commands::Completed;

/// The digest. Completions are folded into it eight bytes at a time, with the constants of FNV-1a.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digest {
    /// Completions that were folded into `hash`.
    pub count: u64,
    /// Hash over all completions in the order in which they reached the host. For each: number, operation,
    /// client, address and length (bytes), times of submission and completion (ns), status, and the time by
    /// cause (ns).
    pub hash: u64,
}

/// The digest, if it is switched on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completions(Option<Digest>);

impl Completions {
    pub(crate) fn start(&mut self) {
        self.0 = Some(Digest {
            count: 0,
            hash: 0xcbf2_9ce4_8422_2325,
        });
    }

    /// The digest since `start`; none if it was never started.
    pub(crate) fn digest(&self) -> Option<Digest> {
        self.0
    }

    /// A completion has reached the host.
    #[inline]
    pub(crate) fn note(&mut self, completed: &Completed<'_>) {
        if let Some(digest) = &mut self.0 {
            // A copy, so that without a digest the completion need not be in memory.
            digest.add(&{ *completed });
        }
    }
}

impl Digest {
    #[inline(never)]
    fn add(&mut self, completed: &Completed<'_>) {
        let command = completed.command;
        let words = [
            u64::from(command.id.0),
            command.op as u64,
            u64::from(command.client),
            command.offset_bytes,
            u64::from(command.len_bytes),
            completed.since.0,
            completed.at.0,
            completed.status as u64,
        ];
        for word in words.iter().chain(completed.ns_by_cause) {
            self.hash = (self.hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
            self.hash ^= self.hash >> 32;
        }
        self.count += 1;
    }
}
