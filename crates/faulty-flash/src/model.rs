//! The reference model: what a host may read.
//!
//! A read returns the last version of a page that was acknowledged before the read was submitted, or any newer one
//! whose write is in flight. A version that a read has returned counts as acknowledged for reads that are submitted
//! later. A power cut leaves of each page the newest version that was safe from power loss, or any newer one; the
//! first read afterwards decides which, and it stays that one.
//!
//! Trims have no number: all of them read as zeros. Where zeros may be what the power cut has left, or a trim that came
//! later, the read decides nothing: another one, which is in flight with it, may still return what the power cut has
//! left instead. For reads that are submitted later, both cases exclude the same versions: all others from before the
//! cut.
//!
//! When a version is safe depends on the write cache ([`WriteCache`], NVMe's volatile write cache):
//!
//! | write cache | a write or trim is safe once |
//! |---|---|
//! | protected from power loss | it is acknowledged |
//! | volatile | it is acknowledged with FUA, or a flush that was submitted later has completed |
//! | write-through | it is acknowledged |
//!
//! Versions are the sequence numbers that [`firstread_core::Ports`] asks for; 0 is what the drive was filled with.

use std::collections::{BTreeMap, BTreeSet};

use firstread_core::{CommandId, HostCommand, HostOp, Lpn, Spare, Status};
use firstread_firmware::WriteCache;

use super::violation::Violation;

/// A version of a page. Times are those of the model's own clock, which counts what happens to it.
#[derive(Clone, Copy, Debug)]
struct Version {
    /// Sequence number; none for a trimmed or never written page, which reads as zeros.
    number: Option<u64>,
    /// When the drive took it.
    taken: u64,
    /// Since when reads have to see it or a newer one.
    visible: Option<u64>,
    /// Since when reads may not see it, though an older one may be seen: a read has returned zeros, which are either
    /// what the power cut has left instead of it or a later trim.
    excluded: Option<u64>,
    /// When its command was acknowledged.
    acknowledged: Option<u64>,
    /// Whether it is safe without a flush.
    is_safe: bool,
    /// Whether it was left by a power cut that may have lost it.
    is_undecided: bool,
}

/// A command in flight.
#[derive(Clone, Debug)]
struct InFlight {
    command: HostCommand,
    since: u64,
    /// Versions taken for it, by page.
    taken: Vec<(u64, u64)>,
    /// Pages that were sent to the host.
    sent: BTreeSet<u64>,
}

/// What a host may read of each page, and what it has asked for.
#[derive(Clone, Debug)]
pub struct Model {
    slot_bytes: u64,
    filled_slots: u64,
    write_cache: WriteCache,
    /// Whether a trim may leave data as they are.
    leaves_trims: bool,
    clock: u64,
    /// The last sequence number given out.
    sequence: u64,
    pages: BTreeMap<u64, Vec<Version>>,
    commands: BTreeMap<u32, InFlight>,
    /// When each command in flight was submitted.
    since: BTreeSet<u64>,
    /// What was acknowledged until then is flushed.
    flushed: u64,
    /// When power was cut last.
    cut: u64,
    /// Last version of each map page.
    map_pages: BTreeMap<u64, u64>,
    checked_slots: u64,
}

impl Model {
    /// A drive with slots of `slot_bytes`, of which the first `filled_slots` hold version 0.
    pub fn new(slot_bytes: u32, filled_slots: u64, write_cache: WriteCache) -> Model {
        Model {
            slot_bytes: slot_bytes.into(),
            filled_slots,
            write_cache,
            leaves_trims: false,
            clock: 0,
            sequence: 0,
            pages: BTreeMap::new(),
            commands: BTreeMap::new(),
            since: BTreeSet::new(),
            flushed: 0,
            cut: 0,
            map_pages: BTreeMap::new(),
            checked_slots: 0,
        }
    }

    /// The last sequence number given out.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }
    /// Commands that were submitted and have not completed.
    pub fn in_flight(&self) -> u32 {
        self.commands.len() as u32
    }
    /// Whether command `id` is in flight.
    pub fn is_in_flight(&self, id: CommandId) -> bool {
        self.commands.contains_key(&id.0)
    }
    /// Slots that were read and checked.
    pub fn checked_slots(&self) -> u64 {
        self.checked_slots
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn filled(&self, lpn: u64) -> Version {
        Version {
            number: (lpn < self.filled_slots).then_some(0),
            taken: 0,
            visible: Some(0),
            excluded: None,
            acknowledged: Some(0),
            is_safe: true,
            is_undecided: false,
        }
    }

    /// Versions of a page that may still be read, the oldest first.
    fn versions(&self, lpn: u64) -> Vec<Version> {
        let known = self.pages.get(&lpn);
        known.map_or_else(|| vec![self.filled(lpn)], Vec::clone)
    }

    /// What a read of page `lpn` that is submitted now may return, the oldest first: sequence numbers, or none for
    /// zeros.
    pub fn may_read(&self, lpn: Lpn) -> Vec<Option<u64>> {
        let versions = self.versions(lpn.0);
        readable(&versions, self.clock)
            .map(|(_, v)| v.number)
            .collect()
    }

    /// The last version taken of page `lpn`: its sequence number, or none for zeros.
    pub fn last(&self, lpn: Lpn) -> Option<u64> {
        let last = self.pages.get(&lpn.0).and_then(|v| v.last());
        last.map_or_else(|| self.filled(lpn.0).number, |v| v.number)
    }

    /// The host submits `command`.
    pub fn submit(&mut self, command: HostCommand) {
        let since = self.tick();
        self.since.insert(since);
        let in_flight = InFlight {
            command,
            since,
            taken: Vec::new(),
            sent: BTreeSet::new(),
        };
        self.commands.insert(command.id.0, in_flight);
    }

    /// The logical page of slot `slot` of command `id`. None if the command is not in flight.
    pub fn page_of(&self, id: CommandId, slot: u32) -> Option<Lpn> {
        let command = self.commands.get(&id.0)?.command;
        Some(Lpn(command.offset_bytes / self.slot_bytes + u64::from(slot)))
    }

    fn push(&mut self, lpn: u64, number: Option<u64>) {
        let taken = self.tick();
        let oldest = self.since.first().copied().unwrap_or(taken);
        let filled = self.filled(lpn);
        let versions = self.pages.entry(lpn).or_insert_with(|| vec![filled]);
        // No read in flight may return what is older.
        let unseen = oldest_visible(versions, oldest);
        // What is safe is kept until something newer is: a power cut may bring it back.
        let safe = newest_safe(versions, self.write_cache, self.flushed);
        versions.drain(..unseen.min(safe));
        versions.push(Version {
            number,
            taken,
            visible: None,
            excluded: None,
            acknowledged: None,
            is_safe: false,
            is_undecided: false,
        });
    }

    /// The drive takes slot `slot` of write `id` from the host: its next version. None if the command is not in flight.
    pub fn take(&mut self, id: CommandId, slot: u32) -> Option<Spare> {
        let lpn = self.page_of(id, slot)?;
        self.sequence += 1;
        let sequence = self.sequence;
        self.push(lpn.0, Some(sequence));
        let command = self.commands.get_mut(&id.0)?;
        command.taken.push((lpn.0, sequence));
        Some(Spare { lpn, sequence })
    }

    /// The drive takes map page `page`: its next version.
    pub fn take_map(&mut self, page: Lpn) -> Spare {
        self.sequence += 1;
        self.map_pages.insert(page.0, self.sequence);
        Spare {
            lpn: page,
            sequence: self.sequence,
        }
    }

    /// Map page `page` is read as `got`.
    pub fn read_map(&self, page: Lpn, got: Option<Spare>) -> Result<(), Violation> {
        let last = self.last_of_map(page);
        let expected = Spare {
            lpn: page,
            sequence: last,
        };
        if got == Some(expected) {
            return Ok(());
        }
        Err(Violation::StaleMapPage { page, got, last })
    }

    /// Sequence number of the last version of map page `page`.
    pub fn last_of_map(&self, page: Lpn) -> u64 {
        self.map_pages.get(&page.0).copied().unwrap_or(0)
    }

    /// A trim has reached `pages` pages from `first` on.
    pub fn trim(&mut self, first: Lpn, pages: u32) {
        for lpn in first.0..first.0 + u64::from(pages) {
            self.push(lpn, None);
        }
    }

    /// Slot `slot` of read `id` is sent to the host: `got`, or zeros.
    ///
    /// # Errors
    /// The violation, if the host may not read that.
    pub fn send(&mut self, id: CommandId, slot: u32, got: Option<Spare>) -> Result<(), Violation> {
        let now = self.tick();
        let Some(lpn) = self.page_of(id, slot) else {
            return Ok(());
        };
        self.checked_slots += 1;
        let cut = self.cut;
        let filled = self.filled(lpn.0);
        let Some(command) = self.commands.get_mut(&id.0) else {
            return Ok(());
        };
        command.sent.insert(lpn.0);
        let since = command.since;
        if let Some(got) = got
            && got.lpn != lpn
        {
            return Err(Violation::WrongData { lpn, got });
        }
        let read = got.map(|spare| spare.sequence);
        if read.is_some_and(|read| read > self.sequence) {
            let got = got.expect("it has a number");
            return Err(Violation::WrongData { lpn, got });
        }
        let versions = self.pages.entry(lpn.0).or_insert_with(|| vec![filled]);
        let mut equal = readable(versions, since).filter(|(_, v)| v.number == read);
        let (found, last) = (equal.next(), equal.last());
        let Some((found, Version { taken, .. })) = found else {
            let expected = readable(versions, since).next();
            let (_, expected) = expected.expect("the last version is never excluded");
            return Err(
                match cut > 0 && expected.acknowledged.is_some_and(|at| at <= cut) {
                    true => Violation::LostInPowerCut {
                        lpn,
                        read,
                        safe: expected.number,
                    },
                    false => Violation::StaleRead {
                        lpn,
                        read,
                        expected: expected.number,
                    },
                },
            );
        };
        let one = &mut versions[found];
        one.visible = Some(one.visible.map_or(now, |at| at.min(now)));
        if taken > cut {
            return Ok(());
        }
        let is_other = |v: &Version| v.taken <= cut && v.taken != taken;
        if last.is_some_and(|(_, v)| v.taken > cut) {
            // What the power cut has left, or a trim that came later.
            for other in versions.iter_mut().filter(|v| is_other(v)) {
                other.excluded.get_or_insert(now);
            }
            return Ok(());
        }
        if one.is_undecided {
            // It has come through a power cut.
            (one.is_undecided, one.is_safe, one.acknowledged) = (false, true, Some(now));
        }
        // What a power cut has left is one version, and this is it.
        versions.retain(|v| !is_other(v));
        Ok(())
    }

    /// Command `command` ends with `status`.
    ///
    /// # Errors
    /// The violation, if it is not in flight, or is acknowledged without all that it says.
    pub fn complete(&mut self, command: HostCommand, status: Status) -> Result<(), Violation> {
        let now = self.tick();
        let Some(ended) = self.commands.remove(&command.id.0) else {
            return Err(Violation::NotInFlight { command });
        };
        self.since.remove(&ended.since);
        if ended.command != command {
            return Err(Violation::NotInFlight { command });
        }
        if status != Status::Ok {
            return Ok(());
        }
        match command.op {
            HostOp::Read => {
                let mut pages = self.touched(&command);
                let missing = pages.find(|lpn| !ended.sent.contains(lpn));
                missing.map_or(Ok(()), |lpn| not_done(command, lpn))
            }
            HostOp::Write => {
                let taken = |lpn: &u64| ended.taken.iter().any(|(page, _)| page == lpn);
                if let Some(lpn) = self.touched(&command).find(|lpn| !taken(lpn)) {
                    return not_done(command, lpn);
                }
                for (lpn, number) in ended.taken {
                    self.acknowledge(lpn, Some(number), now, command.fua);
                }
                Ok(())
            }
            HostOp::Trim => {
                let size = self.slot_bytes;
                let end = command.offset_bytes + u64::from(command.len_bytes);
                for lpn in command.offset_bytes.div_ceil(size)..end / size {
                    let last = self.versions(lpn);
                    let last = last.last().expect("a page has a version");
                    if last.number.is_some() && self.leaves_trims {
                        continue;
                    }
                    if last.number.is_some() && last.taken < ended.since {
                        return not_done(command, lpn);
                    }
                    self.acknowledge(lpn, None, now, command.fua);
                }
                Ok(())
            }
            HostOp::Flush => {
                self.flushed = self.flushed.max(ended.since);
                Ok(())
            }
        }
    }

    /// From now on a trim may leave data as they are: its journal has a bound.
    pub(crate) fn leave_trims(&mut self) {
        self.leaves_trims = true;
    }

    /// Pages that `command` touches.
    fn touched(&self, command: &HostCommand) -> impl Iterator<Item = u64> + use<> {
        let end = command.offset_bytes + u64::from(command.len_bytes);
        command.offset_bytes / self.slot_bytes..end.div_ceil(self.slot_bytes)
    }

    fn acknowledge(&mut self, lpn: u64, number: Option<u64>, now: u64, fua: bool) {
        let Some(versions) = self.pages.get_mut(&lpn) else {
            return;
        };
        for version in versions.iter_mut().filter(|v| v.number == number) {
            version.visible.get_or_insert(now);
            version.acknowledged.get_or_insert(now);
            version.is_safe |= fua;
        }
    }

    /// Power is cut: commands in flight are gone, and of each page only the newest version that is safe is certain.
    /// Returns how many commands are lost.
    pub fn power_cut(&mut self) -> u32 {
        let lost = self.in_flight();
        self.commands.clear();
        self.since.clear();
        self.cut = self.tick();
        let (cache, flushed, cut) = (self.write_cache, self.flushed, self.cut);
        for versions in self.pages.values_mut() {
            let safe = newest_safe(versions, cache, flushed);
            versions.drain(..safe);
            for (i, version) in versions.iter_mut().enumerate() {
                version.is_undecided = i > 0;
                if i > 0 {
                    // A later flush does not make safe what this cut may have lost.
                    version.acknowledged = None;
                }
                version.visible = (i == 0).then_some(cut);
                version.excluded = None;
                version.is_safe |= i == 0;
            }
        }
        lost
    }
}

fn not_done(command: HostCommand, lpn: u64) -> Result<(), Violation> {
    let lpn = Lpn(lpn);
    Err(Violation::NotDone { command, lpn })
}

/// The oldest of `versions` that a read submitted at `since` may return.
fn oldest_visible(versions: &[Version], since: u64) -> usize {
    let visible = |v: &Version| v.visible.is_some_and(|at| at <= since);
    versions.iter().rposition(visible).unwrap_or(0)
}

/// Those of `versions` that a read submitted at `since` may return, each with its index, the oldest first.
fn readable(versions: &[Version], since: u64) -> impl Iterator<Item = (usize, Version)> {
    let is_excluded = move |v: &Version| v.excluded.is_some_and(|at| at <= since);
    let all = versions.iter().copied().enumerate();
    all.skip(oldest_visible(versions, since))
        .filter(move |(_, v)| !is_excluded(v))
}

/// The newest of `versions` that is safe from power loss.
fn newest_safe(versions: &[Version], cache: WriteCache, flushed: u64) -> usize {
    let is_safe = |v: &Version| match cache {
        _ if v.is_safe => true,
        WriteCache::Volatile => v.acknowledged.is_some_and(|at| at <= flushed),
        WriteCache::Protected | WriteCache::WriteThrough => v.acknowledged.is_some(),
    };
    versions.iter().rposition(is_safe).unwrap_or(0)
}
