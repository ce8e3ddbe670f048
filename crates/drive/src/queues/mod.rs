//! Several submission queues, and how many commands the controller holds.
//!
//! A command waits in its queue until the controller fetches it. The controller fetches one at a time,
//! at the rate at which it takes commands, from the queue that the [`arbiter`] names, as long as it
//! holds fewer than it may; one that the firmware has completed makes room for another. Commands have
//! no weight but one: arbitration shares commands, not bytes, as the specification has it.

pub mod arbiter;

use std::collections::VecDeque;

use firstread_core::{CommandId, Ns};

use crate::profile::QueuesProfile;
use arbiter::Arbiter;

/// The queues of a drive.
#[derive(Clone, Debug)]
pub(crate) struct Queues {
    /// Commands of each queue, with the time from which on they may be fetched.
    waiting: Box<[VecDeque<(Ns, CommandId)>]>,
    arbiter: Arbiter,
    /// Commands that the controller may take on, and may hold at most.
    room: u32,
    held_most: u32,
    /// When the fetch under way began.
    began: Option<Ns>,
    /// When the last one ended.
    free_at: Ns,
}

impl Queues {
    /// None where one queue is fetched from at once, which needs no arbitration. Commands wait in the
    /// queues only where a drive has several, or holds fewer than `max_outstanding`.
    pub(crate) fn new(profile: &QueuesProfile, max_outstanding: u32) -> Option<Box<Queues>> {
        let held_most = profile.fetched.min(max_outstanding);
        if profile.count == 1 && held_most == max_outstanding {
            return None;
        }
        Some(Box::new(Queues {
            waiting: vec![VecDeque::new(); profile.count as usize].into(),
            arbiter: profile.arbiter(),
            room: held_most,
            held_most,
            began: None,
            free_at: Ns::ZERO,
        }))
    }

    /// Command `id` is put into queue `queue` of the host; it may be fetched from `visible` on.
    pub(crate) fn put(&mut self, queue: u32, id: CommandId, visible: Ns) {
        let queue = queue as usize % self.waiting.len();
        self.waiting[queue].push_back((visible, id));
    }

    /// Begins the next fetch, if none is under way, there is room, and something to fetch: since when
    /// it is under way.
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

    /// The fetch under way ends at `now`: what it has fetched, of what there was when it began, and
    /// when that was.
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

    /// Power was cut: they are empty.
    pub(crate) fn clear(&mut self) {
        self.waiting.iter_mut().for_each(VecDeque::clear);
        self.room = self.held_most;
        self.began = None;
        self.free_at = Ns::ZERO;
    }
}
