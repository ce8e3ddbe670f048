//! Programs: issued when a die's part of a wordline is complete. If a program fails, its data are rewritten:
//! they wait to be written elsewhere.

use firstread_core::{Buf, DieId, Ns, OpClass, PageAddr, PageType, Ppa, SuperblockId};

use super::Placement;
use super::buffer::Program;
use crate::observe::{StreamId, SuperblockUse, Writer};
use crate::schedule::{Job, Purpose};
use crate::shared::{Out, Shared};

impl Placement {
    /// Queues `program` of `stream`.
    #[inline]
    pub(crate) fn push_program(
        &mut self,
        now: Ns,
        (stream, program): (StreamId, Program),
        shared: &mut Shared,
    ) {
        let Program {
            die,
            block,
            wordline,
            superwordline,
        } = program;
        let at = PageAddr {
            die,
            block,
            wordline,
            page: PageType(0),
        };
        self.space.programs += 1;
        let class = match self.streams.row(stream).writer() {
            Writer::Host => OpClass::Program,
            _ if self.is_of_pool(stream) => OpClass::Program,
            Writer::Mover | Writer::Copy => OpClass::MoveProgram,
            Writer::Map => OpClass::MapProgram,
        };
        let purpose = Purpose::Program {
            stream,
            class,
            superwordline,
            buf: self.streams.of(stream).ring_buffer(superwordline as usize),
        };
        shared.push_change(now, purpose, at);
    }

    /// The program of `job` has ended; if it failed, its data are rewritten. Returns whether a wordline of the stream's
    /// buffer has become free.
    pub(crate) fn programmed(
        &mut self,
        now: Ns,
        job: u32,
        ok: bool,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) -> bool {
        let Job { purpose, .. } = shared.jobs[job];
        let Purpose::Program {
            stream,
            superwordline,
            ..
        } = purpose
        else {
            unreachable!("{purpose:?} programs nothing")
        };
        let at = shared.schedule.change_ended(job, &mut shared.jobs);
        self.space.programs -= 1;
        if ok {
            let mode = shared.blocks.info(at.block).mode;
            let slots = u64::from(shared.layout.slots_per_mp_page() * u32::from(mode.bits()));
            shared.counters.slots_programmed += slots;
            shared.counters.slots_programmed_by_mode[mode.index()] += slots;
            return self.release_part(stream, at.block, at.die, superwordline, shared, ports);
        }
        let program = Program {
            die: at.die,
            block: at.block,
            wordline: at.wordline,
            superwordline,
        };
        self.program_failed(now, stream, program, shared, ports)
    }

    /// The write buffer of `stream` no longer needs the part of `die` in superwordline `superwordline`. Returns whether
    /// the superwordline has become free.
    #[inline]
    fn release_part(
        &mut self,
        stream: StreamId,
        block: SuperblockId,
        die: DieId,
        superwordline: u8,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) -> bool {
        // The buffers hold most before a program ends.
        self.streams.note_held();
        let free = self.streams.of_mut(stream).done(die, superwordline);
        if free {
            self.close_if_done(block, shared);
            if self.streams.row(stream).writer() == Writer::Host {
                ports.buffer_freed(die);
            }
        }
        free
    }

    /// Marks `block` as full, if nothing more will be programmed in it or read from a buffer.
    pub(super) fn close_if_done(&mut self, block: SuperblockId, shared: &mut Shared) {
        let mut buffers = self.streams.iter();
        if !buffers.any(|b| b.fills(block) || b.is_busy_with(block))
            && !self.rewrites.is_busy_with(block)
        {
            let info = shared.blocks.info_mut(block);
            info.usage = SuperblockUse::Full;
            info.closed = self.space.close();
        }
    }

    /// A program has failed: its superblock is closed. Data in the buffer that can no longer be programmed
    /// there are rewritten. Returns whether a wordline of the stream's buffer has become free: nothing else tells of it
    /// where all that was to be programmed is padding.
    fn program_failed(
        &mut self,
        now: Ns,
        stream: StreamId,
        program: Program,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) -> bool {
        self.bad.note(program.block, program.die);
        let mut frees =
            self.queue_rewrite(stream, program.die, program.superwordline, shared, ports);
        let info = shared.blocks.info_mut(program.block);
        if info.failed {
            return frees;
        }
        info.failed = true;
        self.space.failed += 1;
        self.space.is_short = true;
        let buffer = self.streams.of(stream);
        if let Some(handle) = self.handle_of_host(stream)
            && (buffer.fills(program.block) || buffer.fills_superwordline_of(program.block))
        {
            let left = buffer.slots_left();
            self.events.takes_off(now, handle, left);
        }
        let Some(superwordline) = self.streams.of_mut(stream).abandon(program.block) else {
            return frees;
        };
        for die in (0..shared.config.geometry.dies()).map(DieId) {
            if self.streams.of(stream).is_incomplete(die, superwordline) {
                frees |= self.queue_rewrite(stream, die, superwordline, shared, ports);
            }
        }
        frees
    }

    /// Copies the part of `die` of superwordline `superwordline` from the write buffer of `stream` to the rewrite
    /// queue. Returns whether the superwordline has become free.
    pub(super) fn queue_rewrite(
        &mut self,
        stream: StreamId,
        die: DieId,
        superwordline: u8,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) -> bool {
        let buffer = self.streams.of(stream);
        let block = buffer.block_of(superwordline);
        shared.blocks.info_mut(block).stripe_broken = true;
        for (ppa, from) in buffer.filled_of(die, superwordline) {
            // Padding has no data, and a power cut has lost the data of a volatile write cache.
            if ports.buffered(from).is_some() {
                let to = self.rewrites.take(ppa);
                ports.copy(from, to);
                self.older.copy(from, to);
            }
        }
        self.release_part(stream, block, die, superwordline, shared, ports)
    }

    /// Whether data wait to be rewritten.
    #[inline]
    pub(crate) fn has_rewrites(&self) -> bool {
        !self.rewrites.is_empty()
    }

    /// The slot to be rewritten next: its intended place, and its buffer.
    pub(crate) fn next_rewrite(&self) -> Option<(Ppa, Buf)> {
        self.rewrites.next()
    }

    /// The slot of [`Placement::next_rewrite`] has been written again, or is no longer the last version.
    pub(crate) fn rewrite_done(&mut self, shared: &mut Shared) {
        self.keep_newer_of_rewrite();
        if let Some(block) = self.rewrites.advance() {
            self.close_if_done(block, shared);
        }
    }
}
