//! A digest of every completion that reaches the host: equal where two runs are, completion by completion.

use crate::commands::Completed;

/// What completions fold into, eight bytes at a time, by the constants of FNV-1a.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digest {
    /// Completions.
    pub count: u64,
    /// Of each: number, operation, client, address and length (bytes), when it was submitted and when it reached
    /// the host (ns), status, and the time by cause (ns), in the order in which completions reached the host.
    pub hash: u64,
}

/// The digest, once it is switched on.
#[derive(Clone, Debug, Default)]
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

    /// A completion has reached the host.
    #[inline]
    pub(crate) fn note(&mut self, completed: &Completed<'_>) {
        if let Some(digest) = &mut self.0 {
            // A copy, so that without a digest the completion need not lie in memory.
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
        for word in words.iter().chain(completed.parts) {
            self.hash = (self.hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
            self.hash ^= self.hash >> 32;
        }
        self.count += 1;
    }
}
