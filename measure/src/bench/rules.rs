//! A small model of reads on dies behind channels, with the rules of either simulator: what makes their
//! mean latencies differ.
//!
//! A host keeps a number of reads in flight, each of one page of a random die. A die takes a command,
//! senses, and gives its data; commands and data share the channel. Data then cross a link, one read's
//! after another's.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use firstread_core::Stream;

/// Which of a channel's dies and transfers goes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Data that wait go before any command. Otherwise commands go before data.
    pub data_first: bool,
    /// A chip takes a command only when none of its dies senses or holds data. Otherwise dies are
    /// independent.
    pub one_die_a_chip: bool,
}

/// Durations (ns).
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Command and address cycles.
    pub command: u64,
    pub sense: u64,
    /// Data of a read on the channel.
    pub transfer: u64,
    /// Data of a read on the link.
    pub link: u64,
    /// From the host's next command to its die, and from the end of the data to the host.
    pub host: u64,
}

/// Dies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dies {
    pub channels: u32,
    pub chips_per_channel: u32,
    pub dies_per_chip: u32,
}

/// Events. Of several at one time, the one listed first here is handled first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    Transferred(u32),
    CommandEnded(u32),
    Sensed(u32),
    Arrives,
    LinkEnded,
}

#[derive(Default)]
struct Die {
    waiting: u32,
    is_busy: bool,
}

struct Channel {
    is_busy: bool,
    /// Dies whose data wait for the channel, oldest first.
    data: VecDeque<u32>,
    /// Dies with reads and no command yet, the first to come first. With one die a chip: of each chip.
    commands: Vec<VecDeque<u32>>,
    /// The chip whose turn it is.
    turn: usize,
    /// Chips of which a die senses or holds data.
    chip_is_busy: Vec<bool>,
}

struct Model {
    rules: Rules,
    times: Times,
    of: Dies,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    /// Number of events so far; it orders events of equal time.
    made: u64,
    now: u64,
    link: VecDeque<()>,
}

/// Mean latency (ns) of `requests` reads with `depth` of them in flight.
pub fn mean_latency_ns(rules: Rules, times: Times, of: Dies, depth: u32, requests: u64) -> f64 {
    let per_channel = of.chips_per_channel * of.dies_per_chip;
    let queues = if rules.one_die_a_chip {
        of.chips_per_channel
    } else {
        1
    };
    let channel = || Channel {
        is_busy: false,
        data: VecDeque::new(),
        commands: (0..queues).map(|_| VecDeque::new()).collect(),
        turn: 0,
        chip_is_busy: vec![false; queues as usize],
    };
    let mut model = Model {
        rules,
        times,
        of,
        dies: (0..of.channels * per_channel)
            .map(|_| Die::default())
            .collect(),
        channels: (0..of.channels).map(|_| channel()).collect(),
        events: BinaryHeap::new(),
        made: 0,
        now: 0,
        link: VecDeque::new(),
    };
    for _ in 0..requests.min(u64::from(depth)) {
        model.after(times.host, Event::Arrives);
    }
    model.run(requests);
    model.now as f64 * f64::from(depth) / requests as f64
}

impl Model {
    fn after(&mut self, ns: u64, event: Event) {
        self.made += 1;
        let at = self.now + ns;
        self.events.push(Reverse((at, self.made, event)));
    }

    fn run(&mut self, requests: u64) {
        let draws = Stream::new(798).named("dies");
        // The last reads are waited for, with none behind them, as on either drive.
        let (mut arrived, mut issued) = (0, requests.min(self.events.len() as u64));
        while let Some(Reverse((now, _, event))) = self.events.pop() {
            self.now = now;
            match event {
                Event::Arrives => {
                    let die = draws.at(arrived).below(self.dies.len() as u64) as u32;
                    arrived += 1;
                    self.arrives(die);
                }
                Event::CommandEnded(die) => {
                    self.after(self.times.sense, Event::Sensed(die));
                    self.channel_is_free(die);
                }
                Event::Sensed(die) => {
                    let channel = self.channel_of(die);
                    self.channels[channel].data.push_back(die);
                    self.next_on(channel);
                }
                Event::Transferred(die) => {
                    self.link.push_back(());
                    if self.link.len() == 1 {
                        self.after(self.times.link, Event::LinkEnded);
                    }
                    self.die_is_free(die);
                    self.channel_is_free(die);
                }
                Event::LinkEnded => {
                    self.link.pop_front();
                    if !self.link.is_empty() {
                        self.after(self.times.link, Event::LinkEnded);
                    }
                    if issued < requests {
                        issued += 1;
                        self.after(self.times.host, Event::Arrives);
                    }
                }
            }
        }
    }

    fn channel_of(&self, die: u32) -> usize {
        (die / (self.of.chips_per_channel * self.of.dies_per_chip)) as usize
    }

    /// Which of its channel's queues of commands the die uses.
    fn queue_of(&self, die: u32) -> usize {
        if self.rules.one_die_a_chip {
            (die / self.of.dies_per_chip % self.of.chips_per_channel) as usize
        } else {
            0
        }
    }

    fn arrives(&mut self, die: u32) {
        let (channel, queue) = (self.channel_of(die), self.queue_of(die));
        if self.rules.one_die_a_chip {
            // The chip's queue holds every read; which die is free does not matter.
            self.channels[channel].commands[queue].push_back(die);
            self.next_on(channel);
        } else if self.dies[die as usize].is_busy {
            self.dies[die as usize].waiting += 1;
        } else {
            self.dies[die as usize].is_busy = true;
            self.channels[channel].commands[queue].push_back(die);
            self.next_on(channel);
        }
    }

    fn die_is_free(&mut self, die: u32) {
        let (channel, queue) = (self.channel_of(die), self.queue_of(die));
        let state = &mut self.dies[die as usize];
        if self.rules.one_die_a_chip {
            self.channels[channel].chip_is_busy[queue] = false;
        } else if state.waiting > 0 {
            state.waiting -= 1;
            self.channels[channel].commands[queue].push_back(die);
        } else {
            state.is_busy = false;
        }
    }

    fn channel_is_free(&mut self, die: u32) {
        let channel = self.channel_of(die);
        self.channels[channel].is_busy = false;
        self.next_on(channel);
    }

    /// Lets the next one cross the channel, if it is free.
    fn next_on(&mut self, channel: usize) {
        let state = &mut self.channels[channel];
        if state.is_busy {
            return;
        }
        let data = |state: &mut Channel| state.data.pop_front();
        let command = |state: &mut Channel| {
            let queues = state.commands.len();
            for _ in 0..queues {
                let queue = state.turn;
                state.turn = (state.turn + 1) % queues;
                if !state.chip_is_busy[queue]
                    && let Some(die) = state.commands[queue].pop_front()
                {
                    return Some((die, queue));
                }
            }
            None
        };
        let first_data = if self.rules.data_first {
            data(state)
        } else {
            None
        };
        if let Some(die) = first_data {
            state.is_busy = true;
            self.after(self.times.transfer, Event::Transferred(die));
        } else if let Some((die, queue)) = command(state) {
            state.is_busy = true;
            state.chip_is_busy[queue] = self.rules.one_die_a_chip;
            self.after(self.times.command, Event::CommandEnded(die));
        } else if let Some(die) = data(state) {
            state.is_busy = true;
            self.after(self.times.transfer, Event::Transferred(die));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Times = Times {
        command: 200,
        sense: 75_000,
        transfer: 12_300,
        link: 585,
        host: 0,
    };

    const OURS: Rules = Rules {
        data_first: false,
        one_die_a_chip: false,
    };

    #[test]
    fn formula_one_read_at_a_time_waits_for_nothing() {
        let of = Dies {
            channels: 8,
            chips_per_channel: 4,
            dies_per_chip: 2,
        };
        for (data_first, one_die_a_chip) in [(false, false), (true, false), (true, true)] {
            let rules = Rules {
                data_first,
                one_die_a_chip,
            };
            let mean = mean_latency_ns(rules, TIMES, of, 1, 1_000);
            assert_eq!(mean, (200 + 75_000 + 12_300 + 585) as f64);
        }
    }

    #[test]
    fn formula_a_saturated_channel_carries_commands_and_data_alone() {
        let of = Dies {
            channels: 1,
            chips_per_channel: 32,
            dies_per_chip: 1,
        };
        let mean = mean_latency_ns(OURS, TIMES, of, 512, 200_000);
        let bound = 512.0 * (200 + 12_300) as f64;
        assert!(
            (mean / bound - 1.0).abs() < 0.005,
            "{mean} ns, bound {bound} ns"
        );
    }

    #[test]
    fn formula_one_die_a_channel_is_busy_all_the_time() {
        let of = Dies {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
        };
        for data_first in [false, true] {
            let rules = Rules {
                data_first,
                one_die_a_chip: data_first,
            };
            let mean = mean_latency_ns(rules, TIMES, of, 16, 100_000);
            let bound = 16.0 * (200 + 75_000 + 12_300) as f64;
            assert!(
                (mean / bound - 1.0).abs() < 0.001,
                "{mean} ns, bound {bound} ns"
            );
        }
    }
}
