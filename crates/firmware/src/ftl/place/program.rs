//! Programs: issued when a die's part of a wordline is complete. If a program fails, its data are rescued:
//! they wait to be written elsewhere.

use firstread_core::{BlockId, Buf, DieId, Ns, PageAddr, PageType, Ppa};

use super::Place;
use super::buffer::Program;
use crate::base::{Base, Out};
use crate::observe::{BlockUse, StreamId};
use crate::schedule::{Job, Purpose};

impl Place {
    /// Queues `program` of `stream`.
    pub(crate) fn push_program(
        &mut self,
        now: Ns,
        (stream, program): (StreamId, Program),
        base: &mut Base,
    ) {
        let Program {
            die,
            block,
            wordline,
            line,
        } = program;
        let at = PageAddr {
            die,
            block,
            wordline,
            page: PageType(0),
        };
        self.space.programs += 1;
        let purpose = Purpose::Program {
            stream,
            line,
            buf: self.buffers[stream as usize].ring_buffer(line as usize),
        };
        base.push_change(now, purpose, at);
    }

    /// The program of `job` has ended; if it failed, its data are rescued. Returns whether a wordline of the
    /// stream's buffer has become free.
    pub(crate) fn programmed(
        &mut self,
        job: u32,
        ok: bool,
        base: &mut Base,
        ports: &mut impl Out,
    ) -> bool {
        let Job { purpose, .. } = base.jobs[job];
        let Purpose::Program { stream, line, .. } = purpose else {
            unreachable!("{purpose:?} programs nothing")
        };
        let at = base.schedule.change_ended(job, &mut base.jobs);
        self.space.programs -= 1;
        if ok {
            let bits = base.blocks.row(at.block).mode.bits();
            let slots = base.layout.slots_per_row() * bits as u32;
            base.counters.slots_programmed += slots as u64;
            return self.release_part(stream, at.block, at.die, line, base, ports);
        }
        let program = Program {
            die: at.die,
            block: at.block,
            wordline: at.wordline,
            line,
        };
        self.program_failed(stream, program, base, ports);
        false
    }

    /// The write buffer of `stream` no longer needs the part of `die` in ring line `line`. Returns whether a
    /// wordline has become free.
    fn release_part(
        &mut self,
        stream: StreamId,
        block: BlockId,
        die: DieId,
        line: u8,
        base: &mut Base,
        ports: &mut impl Out,
    ) -> bool {
        let free = self.buffers[stream as usize].done(die, line);
        if free {
            self.close_if_done(block, base);
            if stream == StreamId::Host {
                ports.buffer_freed(die);
            }
        }
        free
    }

    /// Marks `block` as full, if nothing more will be programmed in it or read from a buffer.
    fn close_if_done(&self, block: BlockId, base: &mut Base) {
        let mut buffers = self.buffers.iter();
        if !buffers.any(|b| b.fills(block) || b.is_busy_with(block))
            && !self.rescue.is_busy_with(block)
        {
            base.blocks.row_mut(block).usage = BlockUse::Full;
        }
    }

    /// A program has failed: its superblock is closed. Data in the buffer that can no longer be programmed
    /// there are rescued.
    fn program_failed(
        &mut self,
        stream: StreamId,
        program: Program,
        base: &mut Base,
        ports: &mut impl Out,
    ) {
        self.bad.note(program.block, program.die);
        self.rescue_part(stream, program.die, program.line, base, ports);
        let row = base.blocks.row_mut(program.block);
        if row.failed {
            return;
        }
        row.failed = true;
        self.space.failed += 1;
        self.space.is_short = true;
        let Some(line) = self.buffers[stream as usize].abandon(program.block) else {
            return;
        };
        for die in (0..base.config.geometry.dies()).map(DieId) {
            if self.buffers[stream as usize].is_incomplete(die, line) {
                self.rescue_part(stream, die, line, base, ports);
            }
        }
    }

    /// Copies the part of `die` of ring line `line` from the write buffer of `stream` to the rescue buffers.
    pub(super) fn rescue_part(
        &mut self,
        stream: StreamId,
        die: DieId,
        line: u8,
        base: &mut Base,
        ports: &mut impl Out,
    ) {
        let buffer = &self.buffers[stream as usize];
        let block = buffer.block_of(line);
        base.blocks.row_mut(block).stripe_broken = true;
        for (ppa, from) in buffer.filled_of(die, line) {
            ports.copy(from, self.rescue.take(ppa));
        }
        self.release_part(stream, block, die, line, base, ports);
    }

    /// Whether rescued data wait to be written again.
    #[inline]
    pub(crate) fn has_rescued(&self) -> bool {
        !self.rescue.is_empty()
    }

    /// The rescued slot to be written next: its intended place, and its buffer.
    pub(crate) fn next_rescued(&self) -> Option<(Ppa, Buf)> {
        self.rescue.next()
    }

    /// That slot has been written again, or is no longer the last version.
    pub(crate) fn rescued(&mut self, base: &mut Base) {
        if let Some(block) = self.rescue.advance() {
            self.close_if_done(block, base);
        }
    }
}
