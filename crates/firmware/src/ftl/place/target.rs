//! Where a page goes: the one table that every page is looked up in.
//!
//! Each writer has a list of choices, in order. A choice names a stream, and what becomes of the page if the stream's write
//! buffer is full, and if the stream has no superblock or cleaning needs those that are left. Facts are looked up only
//! where a scheme of the drive asks for them.
//!
//! | writer | choice | proposed by | buffer full | no superblock |
//! |---|---|---|---|---|
//! | host | a declared region | `area` | the next choice | the next choice |
//! | | the pool of another cell mode | `cell_mode` | waits | the next choice |
//! | | the host's stream | `stream` | waits | the nearest stream of the host with room, if the scheme lets it; waits |
//! | moves | the mode that the page lies in | `cell_mode` | the next choice; a refresh waits | the next choice |
//! | | a declared region | `area` | waits | the next choice |
//! | | pages read often that move anyway; cold data; else the stream of moves | `wear`, `stream` | waits | another stream of moves, any stream as a last resort, waits |
//! | copies after a read | another mode, before a declared region, before the own mode | `cell_mode`, `area`, `refresh` | not copied | not copied |
//! | map | the stream of the map | | waits | waits |
//!
//! Map pages that move go to the stream of the map in place of that of moves, and no scheme is asked about them.
//! With a cache that may lose data the host has its own streams alone: a flush waits for no other.

use firstread_core::{Arena, Ns, Status, Wait};

use super::buffer::Allocated;
use super::{Item, Placement, TakeError, Why};
use crate::config::WriteCache;
use crate::ftl::map::Table;
use crate::observe::{CopyRefused, OpenedFor, Owner, RegionId, StreamId, StreamUse, Writer};
use crate::policy::area::{Areas, Entry, PageMove, PageWrite};
use crate::policy::page_type::Wish;
use crate::policy::stream::HostStreams;
use crate::policy::wear::Wear;
use crate::shared::Shared;

/// A stream and a slot of it.
pub(super) type Taken = (StreamId, Allocated);

/// What becomes of a page for which a choice has no slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Otherwise {
    /// The page waits, or is not copied.
    Wait,
    /// The page goes to the next choice.
    Next,
}

/// A place for a page.
#[derive(Clone, Copy, Debug)]
struct Choice {
    stream: StreamId,
    /// How the page enters a declared region, if the stream is that of the region.
    entry: Option<Entry>,
    if_full: Otherwise,
    if_none: Otherwise,
}

impl Choice {
    const fn new(stream: StreamId, if_full: Otherwise, if_none: Otherwise) -> Choice {
        Choice {
            stream,
            entry: None,
            if_full,
            if_none,
        }
    }

    fn otherwise(&self, refusal: TakeError) -> Otherwise {
        match refusal {
            TakeError::Wait(Wait::Buffer) => self.if_full,
            _ => self.if_none,
        }
    }
}

/// The choices of a page, in order.
type Target = [Option<Choice>; 3];

impl Placement {
    /// Whether `item` has the stream of its writer alone, so that nothing has to be looked up.
    #[inline(always)]
    pub(super) fn has_one_choice(&self, item: &Item, shared: &Shared) -> bool {
        match item.why {
            Why::Host { .. } => {
                !self.chooses_streams()
                    && !self.pool.is_on()
                    && (!shared.blocks.has_regions()
                        || shared.config.write_cache != WriteCache::Protected)
            }
            Why::Moved { .. } => !self.streams.declares_any(),
            Why::Copied(_) => false,
            Why::Map => true,
        }
    }

    /// The choices of `item`.
    fn target<M: Arena>(&self, item: &Item, table: &Table<M>, shared: &Shared) -> Target {
        use Otherwise::{Next, Wait};
        let of = |what, if_full, if_none| {
            let stream = self.streams.that_takes(what)?;
            Some(Choice::new(stream, if_full, if_none))
        };
        let enters = |entry, if_full, if_none| {
            let choice = of(StreamUse::Region(RegionId::DECLARED), if_full, if_none)?;
            Some(Choice {
                entry: Some(entry),
                ..choice
            })
        };
        match item.why {
            Why::Host { .. } => [
                self.entry_of_write(item, table, shared)
                    .and_then(|entry| enters(entry, Next, Next)),
                self.pool_of_write(item, table, shared)
                    .map(|stream| Choice::new(stream, Wait, Next)),
                Some(Choice::new(
                    self.stream_of_write(item, table, shared),
                    Wait,
                    Wait,
                )),
            ],
            Why::Moved { .. } if table.directory.is_map(item.lpn) => [
                Some(Choice::new(self.streams.of_map(), Wait, Wait)),
                None,
                None,
            ],
            Why::Moved { owner, stays } => [
                // A superblock that is emptied because of its reads is not urgent, and its pages are read most. One that is emptied for
                // room in the pool of the host's writes is not urgent either.
                stays.and_then(|mode| {
                    let if_full = match owner {
                        Owner::Refresh | Owner::Destage => Wait,
                        _ => Next,
                    };
                    of(StreamUse::Promoted(mode), if_full, Next)
                }),
                self.entry_of_move(owner, item, shared)
                    .and_then(|entry| enters(entry, Wait, Next)),
                Some(Choice::new(
                    self.stream_of_move(owner, item, shared),
                    Wait,
                    Wait,
                )),
            ],
            Why::Copied(StreamUse::Region(_)) => {
                [enters(Entry::AFTER_READ, Wait, Wait), None, None]
            }
            Why::Copied(what) => [of(what, Wait, Wait), None, None],
            Why::Map => [
                Some(Choice::new(self.streams.of_map(), Wait, Wait)),
                None,
                None,
            ],
        }
    }

    /// How a page that the host writes enters the declared region, if it does.
    fn entry_of_write<M: Arena>(
        &self,
        item: &Item,
        table: &Table<M>,
        shared: &Shared,
    ) -> Option<Entry> {
        if !shared.blocks.has_regions() || shared.config.write_cache != WriteCache::Protected {
            return None;
        }
        self.area.of_write(&PageWrite {
            heat: shared.heat.of(item.lpn),
            future: shared.future.of(item.lpn),
            from: match self.area.tells_updates() {
                true => table.map.at(item.lpn).map(|ppa| ppa.block()),
                false => None,
            },
        })
    }

    /// How a page of the host that moves for `owner` enters the declared region or stays there, if it does.
    fn entry_of_move(&self, owner: Owner, item: &Item, shared: &Shared) -> Option<Entry> {
        if !shared.blocks.has_regions() {
            return None;
        }
        let from = item.expect?.block();
        self.area.of_move(&PageMove {
            owner,
            block: from,
            from: shared.blocks.region_of(from),
            has_moved: self.streams.have_moved(shared.blocks.info(from)),
            heat: shared.heat.of(item.lpn),
            future: shared.future.of(item.lpn),
        })
    }

    /// The stream of moves that a page of the host which moves for `owner` goes to: wear leveling has one of its own for
    /// cold data, and one for pages read often that move anyway, if its scheme declares them.
    fn stream_of_move(&self, owner: Owner, item: &Item, shared: &Shared) -> StreamId {
        match owner {
            Owner::Gc | Owner::Wear
                if shared.heat.is_on()
                    && let Some(stream) = self.streams.read_often()
                    && self.wear[RegionId::MAIN.index()].takes_along(shared.heat.of(item.lpn)) =>
            {
                stream
            }
            Owner::Wear if let Some(cold) = self.streams.cold() => cold,
            _ => self.numbered_stream_of_move(owner, item, shared),
        }
    }

    /// A slot of the first choice of `item` that has one.
    #[inline(never)] // Most drives ask few schemes.
    pub(super) fn take_by_target<M: Arena>(
        &mut self,
        now: Ns,
        item: &Item,
        table: &Table<M>,
        shared: &mut Shared,
    ) -> Result<Taken, TakeError> {
        if let Why::Host { has_merged, .. } = item.why
            && let Some(wait) = self.waits_for_cleaning(has_merged, shared)
        {
            return Err(TakeError::Wait(wait));
        }
        let mut refused = None;
        for choice in self.target(item, table, shared).into_iter().flatten() {
            let refusal = match self.take_choice(now, &choice, item, shared) {
                Ok(taken) => {
                    self.note_taken(&taken, &choice, item.why, refused, shared);
                    return Ok(taken);
                }
                Err(refusal) => refusal,
            };
            if choice.otherwise(refusal) == Otherwise::Wait {
                return Err(refusal);
            }
            if self.is_of_pool(choice.stream) && choice.otherwise(refusal) == Otherwise::Next {
                self.note_bypass(CopyRefused::of(refusal), shared);
            }
            refused = choice.entry.map(|_| CopyRefused::of(refusal)).or(refused);
        }
        // A copy into a stream that no scheme declares.
        Err(TakeError::Never(Status::NoSpace))
    }

    /// A slot of `choice`.
    fn take_choice(
        &mut self,
        now: Ns,
        choice: &Choice,
        item: &Item,
        shared: &mut Shared,
    ) -> Result<Taken, TakeError> {
        let (stream, wish) = (choice.stream, item.wish);
        if let Some(entry) = choice.entry {
            return self.take_for_entry(now, stream, entry, wish, shared);
        }
        match (self.streams.row(stream).writer(), item.why) {
            (Writer::Host, Why::Host { has_merged, .. }) => {
                match self.take_for_host(now, stream, has_merged, wish, shared) {
                    Ok(slot) => Ok((stream, slot)),
                    Err(
                        refusal @ (TakeError::Wait(Wait::Superblock)
                        | TakeError::Never(Status::NoSpace)),
                    ) => match self.neighbour(stream) {
                        Some(neighbour) => self.take_of_neighbour(neighbour, wish),
                        None => Err(refusal),
                    },
                    Err(refusal) => Err(refusal),
                }
            }
            (Writer::Copy, _) => self.take_for_copy(now, stream, wish, shared),
            _ => self.take_for_move(now, stream, wish, shared),
        }
    }

    /// The stream of the host that a page of stream `own` of the host goes to, where `own` lacks a superblock: the nearest one with room,
    /// if the scheme lets the page.
    #[cold]
    fn neighbour(&self, own: StreamId) -> Option<StreamId> {
        let may = self.chooses_streams() && self.host_streams.goes_to_neighbour();
        match self.streams.row(own).number() {
            Some(OpenedFor::Host(number)) if may => {
                self.nearest_with_room(self.streams.of_host(), number)
            }
            _ => None,
        }
    }

    /// A slot of stream `neighbour` of the host, which has room.
    #[cold]
    fn take_of_neighbour(
        &mut self,
        neighbour: StreamId,
        wish: Option<Wish>,
    ) -> Result<Taken, TakeError> {
        let slot = self.streams.allocate(neighbour, wish);
        let slot = slot.map_err(|_| TakeError::Wait(Wait::Buffer))?;
        self.relocation.host_waits.set(Wait::Superblock, false);
        Ok((neighbour, slot))
    }

    /// A page has been given the slot `taken` of `choice`. That it was `refused` a slot of a declared region is counted
    /// now, and not before: a page that has to wait asks again.
    fn note_taken(
        &mut self,
        taken: &Taken,
        choice: &Choice,
        why: Why,
        refused: Option<CopyRefused>,
        shared: &mut Shared,
    ) {
        let along = Some(taken.0) == self.streams.read_often() && taken.0 == choice.stream;
        shared.counters.slots_taken_along += u64::from(along);
        if let Some(reason) = refused {
            shared.counters.entries_refused[reason as usize] += 1;
        }
        if let Some(entry) = choice.entry {
            let owner = match why {
                Why::Moved { owner, .. } => Some(owner),
                _ => None,
            };
            self.area.has_entered(entry, owner);
        }
    }
}

impl CopyRefused {
    /// The reason that a page finds no slot in a declared region.
    fn of(refusal: TakeError) -> CopyRefused {
        match refusal {
            TakeError::Wait(Wait::Buffer) => CopyRefused::Buffer,
            TakeError::Wait(Wait::Rewrite) => CopyRefused::Rewrites,
            TakeError::Wait(Wait::Reserve) => CopyRefused::Reserve,
            _ => CopyRefused::NoSuperblock,
        }
    }
}
