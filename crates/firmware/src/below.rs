//! What lies below a machine, for the machines above it to call through their doors.

use firstread_core::{Arena, Buf, Ns, PageAddr, Ppa, Priority};

use crate::base::{Base, Out};
use crate::ftl::map::Table;
use crate::ftl::pager::Pager;
use crate::ftl::place::{Item, Place, Placed, Programs, Refusal};
use crate::read::Read;
use crate::schedule::Purpose;

/// What the pager stands on: the table, placement and reads.
#[derive(Debug)]
pub(crate) struct Store<M> {
    pub(crate) table: Table<M>,
    pub(crate) place: Place,
    pub(crate) read: Read,
    pub(crate) base: Base,
}

/// What the host's commands and relocation stand on: the same, and the pager.
#[derive(Debug)]
pub(crate) struct Below<M> {
    pub(crate) pager: Pager,
    pub(crate) store: Store<M>,
}

impl<M: Arena> Store<M> {
    /// Takes a place for `item`: [`Place::take`].
    #[inline]
    pub(crate) fn take(&mut self, now: Ns, item: &Item) -> Result<Placed, Refusal> {
        let placed = self.place.take(now, item, &self.table, &mut self.base);
        self.tell_opened(now);
        placed
    }

    /// Tells reads of the superblock that placement has opened, if it has.
    #[inline]
    pub(crate) fn tell_opened(&mut self, now: Ns) {
        if let Some(block) = self.place.opened() {
            self.read.block_changed(now, block, &self.base.blocks);
        }
    }

    /// The data of `placed` are in their buffer: [`Place::commit`].
    #[inline]
    pub(crate) fn commit(&mut self, placed: Placed) -> Programs {
        self.place.commit(placed, &mut self.table, &mut self.base)
    }

    /// Starts the programs that are due: [`Place::start`].
    #[inline]
    pub(crate) fn start(&mut self, now: Ns, programs: Programs, ports: &mut impl Out) {
        self.place.start(now, programs, &mut self.base, ports);
    }

    /// Queues a read of page row `at` under `job`: [`Read::start`].
    #[inline]
    #[allow(clippy::too_many_arguments)] // the fields of a job, spelled out once
    pub(crate) fn start_read(
        &mut self,
        now: Ns,
        job: u32,
        purpose: Purpose,
        priority: Priority,
        at: PageAddr,
        wanted: u64,
        ports: &mut impl Out,
    ) {
        let base = &mut self.base;
        self.read
            .start(now, job, purpose, priority, at, wanted, base, ports);
    }

    /// The buffer that holds `ppa`, if it is not programmed yet.
    pub(crate) fn buffered(&self, ppa: Ppa) -> Option<Buf> {
        self.place.buffered(ppa, &self.base)
    }

    /// Whether the map cache may write a page: [`Place::map_may_write`].
    pub(crate) fn map_may_write(&mut self, now: Ns) -> bool {
        let may = self.place.map_may_write(now, &mut self.base).is_ok();
        self.tell_opened(now);
        may
    }
}
