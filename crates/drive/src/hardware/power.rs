//! Effect of a power cut on the hardware.

use firstread_core::{DieId, FlashKind, Levels, Ns, SenseTiming};

use super::cache_register::CacheRegisters;
use super::channel::Channel;
use super::decoder::Decoder;
use super::die::DiePhase;
use super::in_flight::InFlight;
use super::state::Hardware;
use crate::payload::Stamps;

impl Hardware {
    /// Power is cut. A running program leaves nothing readable in its wordline, so its slots count as never
    /// programmed. A running erase has destroyed its block. All other operations in flight are lost.
    pub(crate) fn power_cut(&mut self, now: Ns, stamps: &mut Stamps) {
        self.record_rest(now);
        if let Some(recorder) = &mut self.recorder {
            recorder.power_cut();
        }
        self.sense_all();
        for die in &mut self.dies {
            let on_array = match die.phase {
                DiePhase::Array(tag) | DiePhase::Stopping(tag) => Some(tag),
                DiePhase::Idle
                | DiePhase::Registers(_)
                | DiePhase::Aborting(_)
                | DiePhase::Cache(_) => None,
            };
            let suspended = die.suspended.take().map(|(tag, _)| tag);
            for tag in on_array.into_iter().chain(suspended) {
                let op = self.ops[tag as usize].op;
                if let FlashKind::Erase { block, on, mode } = op.kind {
                    stamps.erase(block);
                    let ends_cycle = self.failures.ends_cycle(block, op.die, on);
                    if op.die == DieId(0) && ends_cycle {
                        let from = self.cells.mode(block);
                        self.cells.erased(block, mode);
                        self.failures.cycled(block, from, mode);
                    }
                }
            }
            die.phase = DiePhase::Idle;
            die.suspending_since = None;
            die.cache_read = CacheRegisters::NOTHING;
            die.timing = SenseTiming::DEFAULT;
            die.levels = Levels::DEFAULT;
        }
        for op in &mut self.ops {
            op.breakdown = None;
        }
        self.breakdowns.close_all();
        self.channels.iter_mut().for_each(Channel::clear);
        self.decoders.fill(Decoder::IDLE);
    }

    /// The next firmware has `tags` tags. Operations in flight under tags of the old firmware stay.
    pub(crate) fn add_tags(&mut self, tags: u32) {
        let tags = self.ops.len().max(tags as usize);
        self.ops.resize(tags, InFlight::idle());
        if let Some(recorder) = &mut self.recorder {
            recorder.add_tags(tags);
        }
        self.unsensed.reserve(tags - self.unsensed.len());
    }
}
