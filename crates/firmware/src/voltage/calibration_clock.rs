//! When the groups are calibrated: each one an interval after its own last calibration, or all of them at once.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::Ns;

use super::groups::GroupSet;
use super::members::Members;
use super::pass_schedule::PassSchedule;
use crate::format::{Cursor, Record, record};

/// From what the interval counts.
#[derive(Clone, Debug)]
pub enum CalibrationClock {
    /// From a group's own last calibration.
    Group(GroupClock),
    /// From the last pass over all groups.
    Global(PassSchedule),
}

impl CalibrationClock {
    /// Power is on for the first time.
    pub fn start(&mut self, now: Ns) {
        match self {
            CalibrationClock::Group(clock) => clock.start(),
            CalibrationClock::Global(schedule) => schedule.start(now),
        }
    }

    /// Power is on, on a drive that was erased and filled again: `populated` have entries of earlier data.
    /// Assumed: these entries are verified as soon as new data enter the group.
    pub fn start_again(&mut self, now: Ns, populated: GroupSet) {
        self.start(now);
        if let CalibrationClock::Group(clock) = self {
            clock.overdue(populated);
        }
    }

    /// When the next calibration begins, at the earliest.
    pub fn due(&self) -> Ns {
        match self {
            CalibrationClock::Group(clock) => clock.due(),
            CalibrationClock::Global(schedule) => schedule.due(),
        }
    }

    /// The groups whose calibration begins now. None if nothing is due.
    pub fn take_due(&mut self, now: Ns, members: &Members) -> Option<GroupSet> {
        match self {
            CalibrationClock::Group(clock) if clock.due() <= now => {
                Some(clock.take_due(now, members.occupied())).filter(|groups| !groups.is_empty())
            }
            CalibrationClock::Group(_) => None,
            CalibrationClock::Global(schedule) => schedule.turn(now).then(|| members.occupied()),
        }
    }

    /// Superblocks have entered `groups`.
    pub fn entered(&mut self, groups: GroupSet) {
        if let CalibrationClock::Group(clock) = self {
            clock.entered(groups);
        }
    }

    /// `group` is calibrated at `now`.
    pub fn calibrated(&mut self, now: Ns, group: u8) {
        if let CalibrationClock::Group(clock) = self {
            clock.calibrated(now, group);
        }
    }

    /// A pass has ended, in which the levels in use moved by up to `units`.
    pub fn moved(&mut self, now: Ns, units: u8) {
        if let CalibrationClock::Global(schedule) = self {
            schedule.moved(now, units);
        }
    }

    /// Bytes of the clock.
    pub fn bytes(&self) -> usize {
        let of_groups = match self {
            CalibrationClock::Group(clock) => size_of_val(&*clock.due_at),
            CalibrationClock::Global(_) => 0,
        };
        size_of::<CalibrationClock>() + of_groups
    }
}

/// A clock for each group, from its last calibration. It goes on while the group has no superblocks, though
/// nothing is due then: the first superblock that enters a group whose interval is over makes it due at once.
#[derive(Clone, Debug)]
pub struct GroupClock {
    interval: Ns,
    /// When the interval of each group is over; [`Ns::MAX`] if it has no entries yet.
    due_at: Box<[Ns]>,
    /// A lower bound of the time at which the next group is due.
    next: Ns,
}

impl GroupClock {
    /// Clocks of `groups` groups, all stopped.
    pub fn new(interval: Ns, groups: usize) -> GroupClock {
        GroupClock {
            interval: Ns(interval.0.max(1)),
            due_at: vec![Ns::MAX; groups].into_boxed_slice(),
            next: Ns::MAX,
        }
    }

    fn start(&mut self) {
        self.due_at.fill(Ns::MAX);
        self.next = Ns::MAX;
    }

    /// The intervals of `groups` are over. They are due once superblocks enter them.
    fn overdue(&mut self, mut groups: GroupSet) {
        while let Some(group) = groups.pop() {
            self.due_at[group as usize] = Ns::ZERO;
        }
    }

    /// A lower bound of the time at which the next group is due. It is too early where a group has lost its last
    /// superblock.
    pub fn due(&self) -> Ns {
        self.next
    }

    fn due_at(&self, group: u8) -> Ns {
        let due = self.due_at.get(group as usize);
        due.copied().unwrap_or(Ns::MAX)
    }

    /// The groups of `occupied` that are due at `now`. A group that is returned is not due again before
    /// `calibrated`.
    pub fn take_due(&mut self, now: Ns, mut occupied: GroupSet) -> GroupSet {
        let mut due = GroupSet::EMPTY;
        self.next = Ns::MAX;
        while let Some(group) = occupied.pop() {
            match self.due_at(group) {
                at if at <= now => {
                    due.insert(group);
                    self.due_at[group as usize] = Ns::MAX;
                }
                at => self.next = self.next.min(at),
            }
        }
        due
    }

    /// Superblocks have entered `groups`.
    pub fn entered(&mut self, mut groups: GroupSet) {
        while let Some(group) = groups.pop() {
            self.next = self.next.min(self.due_at(group));
        }
    }

    /// `group` is calibrated at `now`: its interval begins.
    pub fn calibrated(&mut self, now: Ns, group: u8) {
        if let Some(due_at) = self.due_at.get_mut(group as usize) {
            *due_at = now.saturating_add(self.interval);
            self.next = self.next.min(*due_at);
        }
    }
}

/// Which clock it is follows from the configuration.
impl Record for CalibrationClock {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        match self {
            CalibrationClock::Group(clock) => clock.transfer(cursor),
            CalibrationClock::Global(schedule) => schedule.transfer(cursor),
        }
    }
}

record! {
    GroupClock as "clock of groups" {
        due_at ["ns"]: "when the interval of each group is over; the maximum if it has no entries yet",
        next ["ns"]: "lower bound of the time at which the next group is due",
    } not {
        interval: "of the configuration",
    }
}
