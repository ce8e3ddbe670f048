//! The end of a read: its turn with the decoder, its verdicts, and its data in the buffers.

use firstread_core::{Buf, CellMode, FlashEvent, FlashKind, Ns, OpClass, PageAddr};

use super::charge::Cause;
use super::in_flight::InFlight;
use super::state::{Hardware, Resource};
use super::timers::Timers;
use crate::payload::Stamps;

impl Hardware {
    /// The data of `tag` have reached the decoder.
    pub(super) fn decode(&mut self, now: Ns, tag: u32, timers: &mut Timers) {
        self.ensure_sensed(now, tag);
        self.start_decode(now, tag, false, timers);
    }

    /// The data of `tag` are queued for the decoder. Returns true if the decoder has already finished with
    /// them, which is allowed only with `may_be_now`.
    #[inline(always)] // Once for a plain read, once for a cache read.
    pub(super) fn start_decode(
        &mut self,
        now: Ns,
        tag: u32,
        may_be_now: bool,
        timers: &mut Timers,
    ) -> bool {
        let InFlight {
            channel,
            transfer_starts,
            sensed,
            ..
        } = &self.ops[tag as usize];
        let (channel, since) = (*channel, *transfer_starts);
        let lanes = self.times.decoder_lanes;
        let work = Ns(lanes.div(sensed.decode_sum_ns + lanes.get() - 1));
        let last = Ns(sensed.decode_last_ns);
        let decoder = &mut self.decoders[channel as usize];
        let end = if self.times.decode_streams {
            // Codewords are decoded as they arrive. The last one cannot start before it has arrived.
            (decoder.free_at().max(since) + work).max(now + last)
        } else {
            decoder.free_at().max(now) + work.max(last)
        };
        if may_be_now && end == now && decoder.is_idle() {
            return true;
        }
        if decoder.enter(&mut self.ops, tag, end) {
            timers.set(self.timer(Resource::Decoder(channel)), end);
        }
        false
    }

    /// The decoder of `channel` has finished the first operation in its queue.
    #[inline]
    pub(crate) fn decode_done(
        &mut self,
        now: Ns,
        channel: u16,
        timers: &mut Timers,
        stamps: &mut Stamps,
    ) -> FlashEvent {
        let (tag, next) = self.decoders[channel as usize].leave(&self.ops);
        if next != Ns::MAX {
            timers.set(self.timer(Resource::Decoder(channel)), next);
        }
        self.decoded(now, tag, stamps)
    }

    /// The read under `tag` has been decoded.
    #[inline]
    pub(crate) fn decoded(&mut self, now: Ns, tag: u32, stamps: &mut Stamps) -> FlashEvent {
        self.charge(now, tag, Cause::Decode);
        if self.recorder.is_some() {
            self.record_decoded(now, tag);
        }
        if self.ops[tag as usize].op.class == OpClass::HostRetry {
            self.count_retry(tag);
        }
        let InFlight { op, sensed, .. } = &self.ops[tag as usize];
        let FlashKind::Read {
            block,
            wordline,
            page,
            cell_mode,
            wanted,
            buf,
            ..
        } = op.kind
        else {
            unreachable!("only reads are decoded")
        };
        if buf != Buf::NONE {
            let at = PageAddr {
                die: op.die,
                block,
                wordline,
                page,
            };
            self.deliver(at, cell_mode, wanted & !sensed.failed, buf, stamps);
        }
        FlashEvent::Decoded {
            tag: op.tag,
            failed: sensed.failed,
            max_errors: sensed.max_errors,
            sum_errors: sensed.sum_errors,
            unsatisfied: sensed.unsatisfied,
            spare: sensed.spare,
        }
    }

    /// Codewords `made` of the read under `tag` have been rebuilt from the rest of their stripe. In
    /// simulation a stamp names its page, which is what the sum of the other pages would yield.
    pub(crate) fn rebuilt(&mut self, now: Ns, tag: u32, made: u64, stamps: &mut Stamps) {
        self.breakdown_of(tag).charge(now, Cause::ReadRecovery);
        self.record_part(now, tag, Cause::ReadRecovery);
        let state = &self.ops[tag as usize];
        let die = state.op.die;
        let FlashKind::Read {
            block,
            wordline,
            page,
            cell_mode,
            buf,
            ..
        } = state.op.kind
        else {
            unreachable!("only a read is made anew")
        };
        let at = PageAddr {
            die,
            block,
            wordline,
            page,
        };
        self.deliver(at, cell_mode, made, buf, stamps);
    }

    /// Moves the slots of the `decoded` codewords into the buffers of a multi-plane page. Parity has no
    /// buffers: it goes into the sum.
    #[inline(always)] // Of one read, and of one in millions that is made anew.
    fn deliver(&self, at: PageAddr, mode: CellMode, decoded: u64, buf: Buf, stamps: &mut Stamps) {
        if self.layout.parity_die(at.wordline) == Some(at.die) {
            return;
        }
        let per_slot = self.layout.codewords_per_slot();
        let mut left = decoded;
        while left != 0 {
            let mp_page_slot = self.layout.slot_of_codeword(left.trailing_zeros());
            left &= !((u64::MAX >> (64 - per_slot)) << (mp_page_slot * per_slot));
            stamps.read(
                self.layout.slot_at(at, mp_page_slot, mode),
                buf.slot(mp_page_slot),
            );
        }
    }
}
