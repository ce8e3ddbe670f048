//! A channel: command cycles, data, and the reads whose data will arrive.
//!
//! Data cross a channel in order of arrival: data of a program arrive when it is issued, data of a read when
//! it has been sensed. Command and address cycles are short, and an operation starts on its die as soon as
//! they have crossed. So commands go before all waiting data, in the order in which they are issued. A
//! transfer that has begun is not interrupted. Data that could begin at the very moment at which a command is
//! issued have not begun yet, so a die whose data have crossed gets its next command at once.
//!
//! The end of a sense is known when the read is issued, so it is not an event: reads being sensed are queued
//! in the order in which they will arrive, behind data that have arrived. The time at which the first of them
//! will have crossed is known too, unless a command or other data go first. Only that end has a timer. A
//! command has no timer either: it delays the waiting data.

use std::collections::VecDeque;

use firstread_core::Ns;

/// No channel.
pub(super) const NONE: u16 = u16::MAX;

/// Data that have arrived or will arrive.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingTransfer {
    /// When they arrive; for a read, when it has been sensed.
    pub at: Ns,
    /// The die or lane. If reads arrive at the same time, the lower number goes first.
    pub lane: u16,
    /// Whether they leave through the cache register, while the die senses the next page.
    pub is_cached: bool,
    pub tag: u32,
    /// Duration of the transfer.
    pub transfer: Ns,
}

impl PendingTransfer {
    fn order(&self) -> (Ns, u16) {
        (self.at, self.lane)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Channel {
    /// When the first data may begin to cross: everything ahead of them has crossed by then.
    free_at: Ns,
    /// Duration of commands that were issued while the first data crossed, and that follow them.
    commands: Ns,
    /// In order of arrival.
    pub(super) coming: VecDeque<PendingTransfer>,
}

impl Channel {
    /// An idle channel of `lanes` dies or lanes.
    pub(super) fn new(lanes: usize) -> Channel {
        Channel {
            free_at: Ns::ZERO,
            commands: Ns::ZERO,
            coming: VecDeque::with_capacity(lanes),
        }
    }

    /// Power was cut: nothing is on the channel or queued.
    pub(super) fn clear(&mut self) {
        self.free_at = Ns::ZERO;
        self.commands = Ns::ZERO;
        self.coming.clear();
    }

    /// A command of `cycles` is issued at `now`. Returns when it has crossed, and whether it has delayed the
    /// first data.
    #[inline]
    pub(super) fn command(&mut self, now: Ns, cycles: Ns) -> (Ns, bool) {
        let mut shifts = false;
        if let Some(first) = self.coming.front() {
            let starts = self.free_at.max(first.at);
            if starts < now {
                self.commands += cycles;
                return (starts + first.transfer + self.commands, false);
            }
            shifts = self.free_at.max(now) + cycles > starts;
        }
        self.free_at = self.free_at.max(now) + cycles;
        (self.free_at, shifts)
    }

    /// Adds `data` that will arrive, or have just arrived behind all others. Returns whether they are the
    /// first.
    #[inline]
    pub(super) fn expect(&mut self, now: Ns, data: PendingTransfer) -> bool {
        let order = (data.at, if data.at > now { data.lane } else { u16::MAX });
        let is_last = self.coming.back().is_none_or(|last| last.order() <= order);
        if !is_last {
            return self.expect_before(order, data);
        }
        self.coming.push_back(data);
        self.coming.len() == 1
    }

    /// Adds `data` that will arrive before others. Returns whether they are the first.
    #[inline(never)]
    fn expect_before(&mut self, order: (Ns, u16), data: PendingTransfer) -> bool {
        let later = self.coming.iter().rev();
        let later = later.take_while(|other| other.order() > order).count();
        let place = self.coming.len() - later;
        self.coming.insert(place, data);
        place == 0
    }

    /// Whether the data of `tag` have begun to cross by `now`.
    pub(super) fn has_begun(&self, now: Ns, tag: u32) -> bool {
        self.crosses_since(now, tag).is_some()
    }

    /// When the data of `tag` began to cross, if they have begun by `now`.
    pub(super) fn crosses_since(&self, now: Ns, tag: u32) -> Option<Ns> {
        let first = self.coming.front().filter(|first| first.tag == tag)?;
        Some(self.free_at.max(first.at)).filter(|since| *since <= now)
    }

    /// The first data have crossed: removes and returns them.
    #[inline]
    pub(super) fn crossed(&mut self, now: Ns) -> PendingTransfer {
        self.free_at = now + std::mem::take(&mut self.commands);
        let first = self.coming.pop_front();
        first.expect("its timer runs only while there is one")
    }

    /// Lane of the first data, whether they are cached, and when they will have crossed if nothing goes
    /// before them.
    #[inline]
    pub(super) fn first_ends(&self) -> Option<(u16, bool, Ns)> {
        let first = self.coming.front()?;
        let ends = self.free_at.max(first.at) + first.transfer;
        Some((first.lane, first.is_cached, ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// After a power cut a channel is as good as new: nothing is queued, and the next data need not wait.
    #[test]
    fn powerloss_a_channel_is_idle_after_a_cut() {
        let mut channel = Channel::new(2);
        let data = |at, transfer| PendingTransfer {
            at: Ns(at),
            lane: 0,
            is_cached: false,
            tag: 0,
            transfer: Ns(transfer),
        };
        channel.expect(Ns(0), data(0, 5_000));
        channel.expect(Ns(0), data(10, 1_000));
        assert_eq!(channel.command(Ns(7), Ns(200)), (Ns(5_200), false));
        channel.clear();
        assert!(channel.first_ends().is_none());
        channel.expect(Ns(100), data(100, 7));
        assert_eq!(channel.first_ends().map(|(.., ends)| ends), Some(Ns(107)));
        channel.crossed(Ns(107));
        assert_eq!(channel.command(Ns(107), Ns(5)), (Ns(112), false));
    }

    /// An arrival at a channel: a read with its sense time, other data, or a command.
    #[derive(Clone, Copy, Debug)]
    enum Comes {
        Read(u64),
        Data,
        Command,
    }

    fn comes() -> impl Strategy<Value = Comes> {
        prop_oneof![
            (1u64..100).prop_map(Comes::Read),
            Just(Comes::Data),
            Just(Comes::Command),
        ]
    }

    proptest! {
        /// Compared with a server that looks at all arrivals each time it is free: data are served first
        /// come, first served, unless a command has arrived before they can begin.
        #[test]
        fn model_commands_go_before_data_that_cross_in_the_order_in_which_they_come(
            // Each entry: time since the one before, kind, and duration of the transfer.
            plan in prop::collection::vec((0u64..40, comes(), 1u64..30), 1..60),
        ) {
            let mut channel = Channel::new(plan.len());
            let mut ends = vec![Ns::ZERO; plan.len()];
            // Arrival times; equal times in this order.
            let mut data = Vec::new();
            let mut commands = VecDeque::new();
            let mut now = Ns::ZERO;
            for (i, &(after, what, takes)) in plan.iter().enumerate() {
                now += Ns(after);
                while let Some((.., end)) = channel.first_ends().filter(|(.., end)| *end <= now) {
                    ends[channel.crossed(end).tag as usize] = end;
                }
                // Lanes in random order.
                let lane = (i as u16).wrapping_mul(40_503);
                let at = match what {
                    Comes::Command => {
                        let before = channel.first_ends();
                        let (end, shifts) = channel.command(now, Ns(takes));
                        ends[i] = end;
                        commands.push_back((now, i));
                        let after = channel.first_ends();
                        prop_assert_eq!(shifts, before.map(|b| b.2) != after.map(|a| a.2));
                        continue;
                    }
                    Comes::Read(sense) => now + Ns(sense),
                    Comes::Data => now,
                };
                let (tag, transfer) = (i as u32, Ns(takes));
                channel.expect(now, PendingTransfer { at, lane, is_cached: false, tag, transfer });
                data.push((at, if at > now { lane } else { u16::MAX }, i));
            }
            while let Some((.., end)) = channel.first_ends() {
                ends[channel.crossed(end).tag as usize] = end;
            }
            data.sort();
            let mut data = VecDeque::from(data);
            let mut free_at = Ns::ZERO;
            while !data.is_empty() || !commands.is_empty() {
                let first = data.front().map(|d| (free_at.max(d.0), d.2));
                let command = commands.front().copied();
                let next = command.filter(|&command| first.is_none_or(|first| command.0 <= first.0));
                let (at, i) = match next {
                    Some(command) => {
                        commands.pop_front();
                        command
                    }
                    None => {
                        let (at, _, i) = data.pop_front().unwrap();
                        (at, i)
                    }
                };
                free_at = free_at.max(at) + Ns(plan[i].2);
                prop_assert_eq!(ends[i], free_at, "{}: {:?}", i, &plan);
            }
        }
    }
}
