//! Programs that had not begun when power was cut, in the order in which they are reissued.

use firstread_core::{Buf, OpClass, PageAddr};

use super::buffer::SUPERWORDLINES;
use crate::config::Config;
use crate::format::{record, tags};
use crate::observe::StreamId;
use crate::schedule::{Job, Purpose};

/// The program of a die's part of a wordline, which waits for a recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingProgram {
    stream: StreamId,
    class: OpClass,
    superwordline: u8,
    buf: Buf,
    pub(super) at: PageAddr,
}

/// What a program in a list of them does; after the last one there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ProgramState {
    None,
    Waits,
    Runs,
}

tags!(ProgramState {
    None = 0,
    Waits = 1,
    Runs = 2,
});

impl WaitingProgram {
    /// Its stream, and the superwordline of the write buffer that it is of.
    pub(super) fn part(&self) -> (StreamId, u8) {
        (self.stream, self.superwordline)
    }

    /// The program that `job` is for, if it is for one.
    pub(super) fn of(job: &Job) -> Option<WaitingProgram> {
        let Purpose::Program {
            stream,
            class,
            superwordline,
            buf,
        } = job.purpose
        else {
            return None;
        };
        let at = job.at;
        Some(WaitingProgram {
            stream,
            class,
            superwordline,
            buf,
            at,
        })
    }

    /// Whether a drive of `config` with `streams` streams, `blocks` superblocks and `slot_buffers` slot buffers has such a
    /// program.
    pub(super) fn is_sound(
        &self,
        streams: usize,
        blocks: u32,
        slot_buffers: u32,
        config: &Config,
    ) -> bool {
        let (at, geometry) = (self.at, &config.geometry);
        usize::from(self.stream.0) < streams
            && matches!(
                self.class,
                OpClass::MapProgram | OpClass::Program | OpClass::MoveProgram
            )
            && usize::from(self.superwordline) < SUPERWORDLINES
            && self.buf.0 < slot_buffers
            && at.block.0 < blocks
            && at.die.0 < geometry.dies()
            && at.wordline < geometry.wordlines_per_block
            && at.page.0 < config.mode.bits()
    }

    /// What its next job is for.
    pub(super) fn purpose(&self) -> Purpose {
        let WaitingProgram {
            stream,
            class,
            superwordline,
            buf,
            at: _,
        } = *self;
        Purpose::Program {
            stream,
            class,
            superwordline,
            buf,
        }
    }
}

record! {
    of values WaitingProgram as "waiting program" {
        stream: "write stream",
        class: "what its time is charged to: 9 map, 10 data of the host, 11 moved data",
        superwordline: "superwordline of the write buffer",
        buf: "the first of its slot buffers",
        at: "where it is programmed",
    }
}
