//! Several submission queues, and how many commands the controller holds.
//!
//! A command waits in its queue until the controller fetches it. The controller fetches one command at a
//! time, at its own rate, from the queue chosen by the `arbiter`, as long as it holds fewer than its
//! maximum. A completed command makes room for another. Every command counts as one: arbitration shares
//! commands, not bytes, as the specification says.

mod arbiter;

use std::collections::VecDeque;

use firstread_core::{CommandId, Ns};

use crate::profile::QueuesProfile;
use arbiter::Arbiter;

/// The queues of a drive.
#[derive(Clone, Debug)]
pub(crate) struct Queues {
    /// Commands of each queue, with the time from which they may be fetched.
    waiting: Box<[VecDeque<(Ns, CommandId)>]>,
    arbiter: Arbiter,
    /// Commands that the controller may still accept, and the maximum it may hold.
    room: u32,
    held_most: u32,
    /// Start of the fetch in progress.
    began: Option<Ns>,
    /// End of the last fetch.
    free_at: Ns,
}

impl Queues {
    /// None if there is one queue with immediate fetches, which needs no arbitration. Commands wait in queues
    /// only if a drive has several queues, or holds fewer commands than `max_outstanding`.
    pub(crate) fn new(profile: &QueuesProfile, max_outstanding: u32) -> Option<Box<Queues>> {
        let held_most = profile.fetched.0.min(max_outstanding);
        if profile.count == 1 && held_most == max_outstanding {
            return None;
        }
        Some(Box::new(Queues {
            waiting: vec![VecDeque::new(); profile.count as usize].into(),
            arbiter: Arbiter::of(profile),
            room: held_most,
            held_most,
            began: None,
            free_at: Ns::ZERO,
        }))
    }

    /// Command `id` enters submission queue `queue`. It may be fetched from `visible` on.
    pub(crate) fn put(&mut self, queue: u32, id: CommandId, visible: Ns) {
        let queue = queue as usize % self.waiting.len();
        self.waiting[queue].push_back((visible, id));
    }

    /// Begins the next fetch, if no fetch is in progress and there is room and a command. Returns the start
    /// of the fetch.
    pub(crate) fn begin(&mut self, now: Ns) -> Option<Ns> {
        if self.began.is_some() || self.room == 0 {
            return None;
        }
        let fronts = self.waiting.iter().filter_map(|q| q.front());
        let first = fronts.map(|&(visible, _)| visible).min()?;
        self.room -= 1;
        self.began = Some(first.max(self.free_at).max(now));
        self.began
    }

    /// The fetch in progress ends at `now`. Returns the command, chosen among those present when the fetch
    /// began, and the time when it began.
    pub(crate) fn end(&mut self, now: Ns) -> (CommandId, Ns) {
        let began = self.began.take().expect("a fetch is under way");
        let waiting = &self.waiting;
        let has = |queue: usize| waiting[queue].front().is_some_and(|c| c.0 <= began);
        let fetched = self.arbiter.next(has);
        let fetched = fetched.and_then(|queue| self.waiting[queue].pop_front());
        self.free_at = now;
        (
            fetched.expect("a fetch begins when there is a command").1,
            began,
        )
    }

    /// The firmware has completed a command.
    pub(crate) fn completed(&mut self) {
        self.room += 1;
    }

    /// Power was cut: empties the queues.
    pub(crate) fn clear(&mut self) {
        self.waiting.iter_mut().for_each(VecDeque::clear);
        self.room = self.held_most;
        self.began = None;
        self.free_at = Ns::ZERO;
    }
}
