//! What the hardware is made of, and its timers.

use firstread_core::{FlashEvent, Geometry, Layout, Levels, Ns, SenseTiming, Tag};

use super::cache_register::CacheRegisters;
use super::channel::{self, Channel};
use super::charge::{Breakdowns, DieLog};
use super::decoder::Decoder;
use super::die::{Die, DiePhase};
use super::failures::Failures;
use super::in_flight::InFlight;
use super::lanes::Lanes;
use super::recorder::Recorder;
use super::suspend::Work;
use super::times::Times;
use crate::cells::Cells;

/// The timer of a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resource {
    Decoder(u16),
    Die(u16),
}

/// Result of an expired timer of a die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Done {
    GoesOn,
    /// The operation has ended, and the die is free.
    Free(Tag),
    /// The read has ended on the die, which is free; its decoding took no time, and is complete too.
    FreeThenDecoded(Tag),
    /// The firmware gets this event. Then the operation has ended, and the die is free.
    EventThenFree(FlashEvent, Tag),
    /// The firmware gets the first event, if any. Then planes of the die are free.
    Planes(Option<FlashEvent>, FlashEvent),
    /// The firmware gets this event, which tells it the state of the die.
    Event(FlashEvent),
}

/// The hardware below the firmware.
#[derive(Clone, Debug)]
pub(crate) struct Hardware {
    pub(super) layout: Layout,
    pub(super) times: Times,
    pub(super) cells: Cells,
    pub(crate) failures: Failures,
    /// Dies, followed by their lanes.
    pub(super) dies: Vec<Die>,
    pub(super) lanes: Lanes,
    pub(super) channels: Vec<Channel>,
    /// The channel over which data have just crossed, until it is known which operations are issued in
    /// response.
    pub(super) untimed: u16,
    pub(super) decoders: Vec<Decoder>,
    pub(super) ops: Vec<InFlight>,
    /// Senses that were requested and whose outcome has not been computed yet: time and tag.
    pub(super) unsensed: Vec<(Ns, u32)>,
    /// Computes each outcome at once.
    #[cfg(test)]
    pub(crate) one_by_one: bool,
    pub(crate) breakdowns: Breakdowns,
    /// Records what all parts do, if that is asked for.
    pub(crate) recorder: Option<Box<Recorder>>,
    /// Tags below this have a latency breakdown. Higher tags are second steps of reads.
    pub(super) jobs: u32,
}

impl Hardware {
    pub(crate) fn new(
        geometry: Geometry,
        times: Times,
        cells: Cells,
        failures: Failures,
        tags: u32,
        jobs: u32,
        commands: u32,
    ) -> Hardware {
        let die = || Die {
            phase: DiePhase::Idle,
            since: Ns::ZERO,
            log: DieLog::new(),
            work: Work::default(),
            suspending_since: None,
            progress: Ns::ZERO,
            suspended: None,
            cache_read: CacheRegisters::NOTHING,
            timing: SenseTiming::DEFAULT,
            levels: Levels::DEFAULT,
        };
        let lanes = Lanes::new(
            times.independent_planes,
            geometry.dies(),
            geometry.planes,
            geometry.codewords_per_page(),
        );
        Hardware {
            breakdowns: Breakdowns::new(jobs + commands),
            recorder: None,
            jobs,
            dies: (0..lanes.count()).map(|_| die()).collect(),
            lanes,
            channels: (0..geometry.channels)
                .map(|_| Channel::new(lanes.count().div_ceil(geometry.channels as usize)))
                .collect(),
            untimed: channel::NONE,
            decoders: vec![Decoder::IDLE; geometry.channels as usize],
            ops: vec![InFlight::idle(); tags as usize],
            unsensed: Vec::with_capacity(tags as usize),
            #[cfg(test)]
            one_by_one: false,
            layout: Layout::new(geometry),
            times,
            cells,
            failures,
        }
    }

    /// Number of timers: one per decoder, one per die, one per lane.
    pub(crate) fn resources(&self) -> usize {
        self.decoders.len() + self.dies.len()
    }

    /// The resource of timer `index`. Decoders come first: of simultaneous events, the one closest to the
    /// host is handled first.
    #[inline]
    pub(crate) fn resource(&self, index: usize) -> Resource {
        match index.checked_sub(self.decoders.len()) {
            None => Resource::Decoder(index as u16),
            Some(die) => Resource::Die(die as u16),
        }
    }

    #[inline]
    pub(super) fn timer(&self, resource: Resource) -> usize {
        match resource {
            Resource::Decoder(channel) => channel as usize,
            Resource::Die(die) => self.decoders.len() + die as usize,
        }
    }
}
