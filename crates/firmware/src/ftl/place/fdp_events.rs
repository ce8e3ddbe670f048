//! Events of placement handles: what each handle has left unwritten, and what was moved out of each superblock.

use alloc::boxed::Box;

use firstread_core::{Ns, SuperblockId};

use crate::format::{Cursor, Record};
use crate::observe::{FdpEvent, FdpEventKind, FdpLog, KEPT_FDP_EVENTS};

/// What a handle has done with the superblock that it fills.
#[derive(Clone, Copy, Debug, Default)]
struct Filling {
    /// Slots that were padded.
    padded: u32,
    /// Whether the drive has taken the handle off a superblock that is not full. What is padded there is padded by the drive.
    was_taken: bool,
}

/// The events. Of a drive without placement handles all lists are empty, and nothing is noted.
#[derive(Clone, Debug)]
pub(super) struct FdpEvents {
    counts: [u64; FdpEventKind::ALL.len()],
    /// The last ones, the oldest of which is overwritten next.
    kept: Box<[FdpEvent]>,
    /// By handle.
    filling: Box<[Filling]>,
    /// Slots of the host moved out of each superblock since it was filled.
    moved: Box<[u32]>,
}

impl FdpEvents {
    /// For a drive with so many handles and superblocks; none where there are no handles.
    pub(super) fn new(handles: u8, superblocks: u32) -> FdpEvents {
        let none = FdpEvent {
            at: Ns::ZERO,
            kind: FdpEventKind::NotFullyWritten,
            handle: None,
            slots: 0,
        };
        let superblocks = superblocks * u32::from(handles > 0);
        let kept = KEPT_FDP_EVENTS * usize::from(handles > 0);
        FdpEvents {
            counts: Default::default(),
            kept: alloc::vec![none; kept].into(),
            filling: alloc::vec![Filling::default(); usize::from(handles)].into(),
            moved: alloc::vec![0; superblocks as usize].into(),
        }
    }

    /// The events so far; none of a drive without placement handles.
    pub(super) fn log(&self) -> Option<FdpLog<'_>> {
        let n = self.number();
        let (last, kept) = (&self.kept, self.kept.len() as u64);
        let next = n.checked_rem(kept)? as usize;
        let counts = self.counts;
        let last = match n < kept {
            true => [&last[..next], &[]],
            false => [&last[next..], &last[..next]],
        };
        Some(FdpLog { counts, last })
    }

    fn number(&self) -> u64 {
        self.counts.iter().fold(0, |sum, n| sum.wrapping_add(*n))
    }

    #[cold]
    fn note(&mut self, at: Ns, kind: FdpEventKind, handle: Option<u8>, slots: u32) {
        let Some(next) = self.number().checked_rem(self.kept.len() as u64) else {
            return;
        };
        self.kept[next as usize] = FdpEvent {
            at,
            kind,
            handle,
            slots,
        };
        let count = &mut self.counts[kind as usize];
        *count = count.wrapping_add(1);
    }

    /// A slot of the superblock that `handle` fills was padded.
    pub(super) fn pads(&mut self, handle: u8) {
        if let Some(filling) = self.filling.get_mut(usize::from(handle)) {
            filling.padded = filling.padded.saturating_add(1);
        }
    }

    /// The drive takes `handle` off the superblock that it fills, of which `slots` slots are left.
    pub(super) fn takes_off(&mut self, now: Ns, handle: u8, slots: u32) {
        let filling = self.filling.get_mut(usize::from(handle));
        if let Some(filling) = filling.filter(|filling| slots > 0 && !filling.was_taken) {
            filling.was_taken = true;
            self.note(now, FdpEventKind::ImplicitlyModified, Some(handle), slots);
        }
    }

    /// `handle` goes on to its next superblock.
    pub(super) fn opens(&mut self, now: Ns, handle: u8) {
        let Some(filling) = self.filling.get_mut(usize::from(handle)) else {
            return;
        };
        let Filling { padded, was_taken } = core::mem::take(filling);
        if padded > 0 && !was_taken {
            self.note(now, FdpEventKind::NotFullyWritten, Some(handle), padded);
        }
    }

    /// A slot of the host was moved out of `block`.
    pub(super) fn moves(&mut self, block: SuperblockId) {
        if let Some(moved) = self.moved.get_mut(block.0 as usize) {
            *moved = moved.saturating_add(1);
        }
    }

    /// `block` is erased or retired, which was filled with data of `handle`; none where they are not of a single one.
    pub(super) fn erases(&mut self, now: Ns, block: SuperblockId, handle: Option<u8>) {
        let moved = self.moved.get_mut(block.0 as usize);
        let moved = moved.map_or(0, core::mem::take);
        if moved > 0 {
            self.note(now, FdpEventKind::MediaReallocated, handle, moved);
        }
    }
}

/// Kept over a power cut. The lists are as long as the configuration says, so a drive without handles keeps nothing.
impl Record for FdpEvents {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        let FdpEvents {
            counts,
            kept,
            filling,
            moved,
        } = self;
        if kept.is_empty() {
            return;
        }
        counts.transfer(cursor);
        kept.iter_mut().for_each(|event| event.transfer(cursor));
        for Filling { padded, was_taken } in filling.iter_mut() {
            padded.transfer(cursor);
            was_taken.transfer(cursor);
        }
        moved.iter_mut().for_each(|slots| slots.transfer(cursor));
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const BLOCK: SuperblockId = SuperblockId(2);

    fn told(events: &FdpEvents) -> Vec<(u64, u8, Option<u8>, u32)> {
        let log = events.log().unwrap();
        let all = log.last.into_iter().flatten();
        all.map(|e| (e.at.0, e.kind.code(), e.handle, e.slots))
            .collect()
    }

    /// What the host has padded is the host's, what the drive has padded is the drive's, and what was moved counts once.
    #[test]
    fn sequence_each_event_is_told_once() {
        let mut events = FdpEvents::new(2, 4);
        events.opens(Ns(1), 0);
        events.pads(0);
        events.pads(0);
        events.pads(1);
        events.opens(Ns(2), 0);
        events.opens(Ns(3), 0);
        events.takes_off(Ns(4), 1, 7);
        events.takes_off(Ns(5), 1, 7);
        events.pads(1);
        events.opens(Ns(6), 1);
        events.takes_off(Ns(7), 1, 0);
        events.moves(BLOCK);
        events.moves(BLOCK);
        events.erases(Ns(8), SuperblockId(3), Some(0));
        events.erases(Ns(9), BLOCK, Some(1));
        events.erases(Ns(10), BLOCK, Some(1));
        // A handle and a superblock that the drive lacks.
        events.pads(2);
        events.opens(Ns(11), 2);
        events.moves(SuperblockId(4));
        assert_eq!(
            told(&events),
            [
                (2, 0x00, Some(0), 2),
                (4, 0x81, Some(1), 7),
                (9, 0x80, Some(1), 2)
            ]
        );
        assert_eq!(events.log().unwrap().counts, [1, 1, 1]);
    }

    #[test]
    fn formula_the_last_events_are_kept_and_all_are_counted() {
        let mut events = FdpEvents::new(1, 4);
        for at in 0..1_000 {
            events.moves(BLOCK);
            events.erases(Ns(at), BLOCK, None);
            let from = (at + 1).saturating_sub(KEPT_FDP_EVENTS as u64);
            let times: Vec<u64> = told(&events).iter().map(|event| event.0).collect();
            assert!(times.into_iter().eq(from..=at), "after {at}");
        }
        assert_eq!(events.log().unwrap().counts, [0, 1_000, 0]);
    }

    /// A dump holds all of it, and of a drive without handles nothing.
    #[test]
    fn powerloss_events_are_kept() {
        let mut events = FdpEvents::new(2, 4);
        events.pads(1);
        events.moves(BLOCK);
        events.pads(0);
        events.takes_off(Ns(5), 0, 9);
        let mut bytes = [0; 4096];
        let mut cursor = Cursor::saving(&mut bytes);
        events.transfer(&mut cursor);
        let len = cursor.end().unwrap();
        let mut loaded = FdpEvents::new(2, 4);
        loaded.transfer(&mut Cursor::loading(&bytes[..len]));
        for events in [&mut events, &mut loaded] {
            events.opens(Ns(6), 1);
            events.opens(Ns(6), 0);
            events.erases(Ns(7), BLOCK, None);
        }
        assert_eq!(told(&loaded), told(&events));
        assert_eq!(told(&loaded).len(), 3);
        let mut cursor = Cursor::saving(&mut bytes);
        FdpEvents::new(0, 4).transfer(&mut cursor);
        assert_eq!(cursor.end(), Some(0));
        assert_eq!(FdpEvents::new(0, 4).log(), None);
    }
}
