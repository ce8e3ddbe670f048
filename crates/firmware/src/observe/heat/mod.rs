//! Heat: how often the host has read and written each page lately, counted once for all schemes.
//!
//! A unit of one or more slots has two saturating counters in a byte (`counters`). After every epoch of accesses all
//! counters are halved. A cache line of them is halved when it is touched (`lines`), and [`Heat::of`] halves what it
//! shows, so what is shown is what it would be had all been halved at once. An epoch may count reads alone: on a load that
//! writes much, one that counts writes too ends before the reads of a page have added up. `flat` has a counter for every unit. Where
//! that takes more memory than allowed, `bounded` keeps the units that were accessed lately and often. Accesses are
//! counted several at a time (`accesses`); those that are not counted yet are shown all the same.
//!
//! A command counts once for each unit that it touches. Reads count when they are submitted, so also those that memory
//! answers. Heat lies in memory and is lost at a power cut.

mod accesses;
mod bounded;
mod config;
mod counters;
mod flat;
mod lines;
mod shuffled;
#[cfg(test)]
mod tests;

use firstread_core::Lpn;

use accesses::{Access, Accesses};
use bounded::Bounded;
pub use config::{Epoch, HeatConfig};
use counters::Counters;
pub use counters::PageHeat;
use flat::Flat;
use shuffled::Shuffled;

/// Heat of the pages of a drive.
#[derive(Clone, Debug)]
pub struct Heat(Option<Observer>);

#[derive(Clone, Debug)]
struct Observer {
    counters: Counters,
    table: Table,
    /// Accesses of this epoch that are not counted yet.
    accesses: Accesses,
    units: u64,
    unit_shift: u32,
    /// Epochs so far, from 1.
    epoch: u32,
    epoch_accesses: u64,
    epoch_counts_writes: bool,
    /// Accesses that are left of this epoch.
    accesses_left: u64,
    shuffled: Option<Shuffled>,
}

#[derive(Clone, Debug)]
enum Table {
    Flat(Flat),
    Bounded(Bounded),
}

impl Heat {
    /// No heat: every page is cold.
    pub const fn none() -> Heat {
        Heat(None)
    }

    /// Heat of a drive of `capacity_slots`, all of it cold.
    pub fn new(config: &HeatConfig, capacity_slots: u64) -> Heat {
        let units = config.units(capacity_slots);
        let table = match Flat::bytes_of(units) <= config.most_bytes {
            true => Table::Flat(Flat::new(units)),
            false => Table::Bounded(Bounded::new(units, config.most_bytes)),
        };
        let epoch_accesses = match (config.epoch, &table) {
            (Epoch::Counters(each), Table::Flat(_)) => units * u64::from(each),
            (Epoch::Counters(each), Table::Bounded(table)) => {
                table.units().min(units) * u64::from(each)
            }
            (Epoch::Accesses(accesses), _) => accesses,
            (Epoch::Never, _) => u64::MAX,
        };
        let epoch_accesses = epoch_accesses.max(1);
        assert!(
            config.unit_slots.is_power_of_two(),
            "a unit of {} slots",
            config.unit_slots
        );
        Heat(Some(Observer {
            counters: Counters::new(config),
            table,
            accesses: Accesses::default(),
            units,
            unit_shift: config.unit_slots.ilog2(),
            epoch: 1,
            epoch_accesses,
            epoch_counts_writes: config.epoch_counts_writes,
            accesses_left: epoch_accesses,
            shuffled: config.shuffle.then(|| Shuffled::new(units, config.seed)),
        }))
    }

    /// Whether heat is counted.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Number of the epoch, which grows by one whenever counters are halved; zero if heat is not counted.
    #[inline]
    pub fn epoch(&self) -> u32 {
        self.0.as_ref().map_or(0, |observer| observer.epoch)
    }

    /// The most reads that a counter shows; zero if heat is not counted.
    #[inline]
    pub fn most_reads(&self) -> u8 {
        self.0
            .as_ref()
            .map_or(0, |observer| observer.counters.most_reads())
    }

    /// A command of the host reads `slots` slots from `first` on.
    #[inline]
    pub fn on_read(&mut self, first: Lpn, slots: u32) {
        if let Some(observer) = &mut self.0 {
            observer.read(first.0, slots);
        }
    }

    /// A command of the host writes the slot `lpn`, after all slots before it; it is the first one that the command
    /// writes if it `begins`.
    #[inline]
    pub fn on_write(&mut self, lpn: Lpn, begins: bool) {
        if let Some(observer) = &mut self.0
            && (begins || lpn.0 & ((1 << observer.unit_shift) - 1) == 0)
        {
            observer.written(lpn.0 >> observer.unit_shift);
        }
    }

    /// Heat of page `lpn`: nothing for one that is not known, or beyond the capacity as pages of the map are.
    #[inline]
    pub fn of(&self, lpn: Lpn) -> PageHeat {
        match &self.0 {
            Some(observer) => observer.of(lpn.0 >> observer.unit_shift),
            None => PageHeat::default(),
        }
    }

    /// The mean heat of the units that the `slots` pages from `first` on lie in.
    #[inline]
    pub fn mean(&self, first: Lpn, slots: u32) -> PageHeat {
        match &self.0 {
            Some(observer) if slots > 1 => observer.mean(first.0, slots),
            _ => self.of(first),
        }
    }

    /// Memory that heat of `config` takes on a drive of `capacity_slots` once all of it was touched (bytes).
    pub fn bytes_for(config: &HeatConfig, capacity_slots: u64) -> u64 {
        let units = config.units(capacity_slots);
        let flat = Flat::bytes_of(units);
        match flat <= config.most_bytes {
            true => flat,
            false => Bounded::bytes_of(units, config.most_bytes),
        }
    }

    /// The same of this one.
    pub fn bytes(&self) -> u64 {
        match &self.0 {
            Some(observer) => match &observer.table {
                Table::Flat(table) => table.bytes(),
                Table::Bounded(table) => table.bytes(),
            },
            None => 0,
        }
    }
}

impl Observer {
    #[inline(never)] // A read of a drive without heat has one branch.
    fn read(&mut self, first: u64, slots: u32) {
        let last = (first + u64::from(slots.max(1)) - 1) >> self.unit_shift;
        for unit in first >> self.unit_shift..=last {
            self.access(Access::new(unit, false));
        }
    }

    #[inline(never)]
    fn written(&mut self, unit: u64) {
        self.access(Access::new(unit, true));
    }

    #[inline]
    fn access(&mut self, access: Access) {
        let unit = access.unit();
        if unit >= self.units {
            return;
        }
        if let Some(shuffled) = &mut self.shuffled {
            shuffled.accessed(unit);
        }
        let is_counted = self.epoch_counts_writes | !access.writes();
        self.accesses_left -= u64::from(is_counted);
        if self.accesses.push(access) | (self.accesses_left == 0) {
            self.count();
        }
    }

    /// Counts the accesses that wait. Begins an epoch if the last one is over.
    fn count(&mut self) {
        let (accesses, waiting) = self.accesses.take();
        let (accesses, epoch) = (&accesses[..waiting], self.epoch);
        match &mut self.table {
            Table::Flat(table) => table.count(accesses, epoch, &self.counters),
            Table::Bounded(table) => table.count(accesses, epoch, &self.counters),
        }
        if self.accesses_left == 0 {
            self.accesses_left = self.epoch_accesses;
            self.begin_epoch();
        }
    }

    fn begin_epoch(&mut self) {
        if self.epoch == u32::MAX {
            match &mut self.table {
                Table::Flat(table) => table.number_anew(self.epoch, &self.counters),
                Table::Bounded(table) => table.number_anew(self.epoch, &self.counters),
            }
            self.epoch = 1;
        }
        self.epoch += 1;
    }

    fn mean(&self, first: u64, slots: u32) -> PageHeat {
        let last = (first + u64::from(slots) - 1) >> self.unit_shift;
        let (mut reads, mut writes, mut units) = (0, 0, 0);
        for unit in first >> self.unit_shift..=last {
            let heat = self.of(unit);
            reads += u32::from(heat.reads);
            writes += u32::from(heat.writes);
            units += 1;
        }
        let mean = |sum: u32| ((sum + units / 2) / units) as u8;
        PageHeat {
            reads: mean(reads),
            writes: mean(writes),
        }
    }

    #[inline]
    fn of(&self, unit: u64) -> PageHeat {
        if unit >= self.units {
            return PageHeat::default();
        }
        let unit = self.shuffled.as_ref().map_or(unit, |s| s.of(unit));
        let counted = match &self.table {
            Table::Flat(table) => table.of(unit, self.epoch, &self.counters),
            Table::Bounded(table) => table.of(unit, self.epoch, &self.counters),
        };
        let byte = self.accesses.of(unit).fold(counted, |byte, access| {
            self.counters.after(byte, access.writes())
        });
        self.counters.heat(byte)
    }
}
