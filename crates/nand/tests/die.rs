//! Sequence: what a die accepts, and when it is free.
#![allow(missing_docs)]

use firstread_core::{
    CellMode, Geometry, Ns, PageType, SenseMode, SenseTiming, StripeOrder, SuperblockId,
};
use firstread_nand::die::{DieState, Illegal, ReadCommand};
use firstread_nand::{Medium, SenseError, reference};

const B: SuperblockId = SuperblockId(3);

fn medium() -> Medium {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes: 2,
        blocks_per_plane: 8,
        wordlines_per_block: 16,
        page_bytes: 16_384,
        slot_bytes: 4_096,
        codeword_bytes: 1_024,
        stripe: StripeOrder::PlaneFirst,
        stripe_parity: false,
    };
    Medium::new(reference::ct_a(), geometry, 1).unwrap()
}

fn read(wordline: u16) -> ReadCommand {
    ReadCommand {
        block: B,
        wordline,
        page: PageType(1),
        mode: SenseMode::Hard,
        timing: SenseTiming::DEFAULT,
    }
}

#[test]
fn sequence_erase_program_read() {
    let m = medium();
    let mut d = DieState::new(8);
    assert_eq!(d.read(Ns::ZERO, &read(0), &m), Err(Illegal::NotErased(B)));
    assert_eq!(d.program(Ns::ZERO, B, 0, &m), Err(Illegal::NotErased(B)));
    assert_eq!(
        d.erase(Ns::ZERO, B, CellMode::Tlc, &m),
        Err(Illegal::NoPlace(SenseError::Mode(CellMode::Tlc)))
    );
    let t = d.erase(Ns::ZERO, B, CellMode::Qlc, &m).unwrap();
    assert_eq!(t, Ns::from_ms(10));
    assert_eq!(d.read(Ns(1), &read(0), &m), Err(Illegal::Busy { until: t }));
    assert_eq!(
        d.read(t, &read(0), &m),
        Err(Illegal::NotProgrammed { written: 0 })
    );
    assert_eq!(d.program(t, B, 1, &m), Err(Illegal::OutOfOrder { next: 0 }));
    let t = d.program(t, B, 0, &m).unwrap();
    assert_eq!(t, Ns(18_600_000));
    assert_eq!(d.program(t, B, 0, &m), Err(Illegal::OutOfOrder { next: 1 }));
    let t = d.read(t, &read(0), &m).unwrap();
    assert_eq!(t, Ns(18_750_000));
    assert_eq!(
        d.read(t, &read(99), &m),
        Err(Illegal::NoPlace(SenseError::Wordline(99)))
    );
    let no = ReadCommand {
        page: PageType(4),
        ..read(0)
    };
    assert!(matches!(
        d.read(t, &no, &m),
        Err(Illegal::NoPlace(SenseError::Page(..)))
    ));
    assert_eq!(
        d.erase(t, SuperblockId(8), CellMode::Qlc, &m),
        Err(Illegal::NoBlock(SuperblockId(8)))
    );
    assert_eq!(d.written(B), Some((CellMode::Qlc, 1)));
}

#[test]
fn sequence_suspend_conserves_the_work() {
    let m = medium();
    let t = m.chip().timing;
    let mut d = DieState::new(8);
    d.preset(B, CellMode::Qlc, 5).unwrap();
    assert_eq!(d.suspend(Ns::ZERO, &m), Err(Illegal::NothingToSuspend));
    let start = Ns::from_ms(1);
    let end = d.program(start, B, 5, &m).unwrap();
    assert_eq!(end - start, Ns(8_600_000));
    let (free, left) = d.suspend(start + Ns(1_000_000), &m).unwrap();
    assert_eq!(free, start + Ns(1_000_000 + t.program_suspend_ns));
    assert_eq!(left, end - free);
    assert!(d.is_suspended());
    assert_eq!(d.suspend(free, &m), Err(Illegal::NothingToSuspend));
    // Others of the block can be read, the wordline itself cannot; nothing else may be programmed.
    assert_eq!(d.read(free, &read(5), &m), Err(Illegal::BlockSuspended(B)));
    let after = d.read(free, &read(4), &m).unwrap();
    assert_eq!(
        d.program(after, SuperblockId(1), 0, &m),
        Err(Illegal::AlreadySuspended)
    );
    assert_eq!(
        d.erase(after, SuperblockId(1), CellMode::Qlc, &m),
        Err(Illegal::AlreadySuspended)
    );
    let end = d.resume(after, &m).unwrap();
    assert_eq!(end, after + left + Ns(t.resume_ns));
    assert_eq!(d.resume(end, &m), Err(Illegal::NotSuspended));
    // Just resumed, it first makes progress.
    let (free, _) = d.suspend(after + Ns(1), &m).unwrap();
    assert_eq!(free, after + Ns(t.min_progress_ns));
    // An operation that was never suspended stops as soon as it can, and one that has ended is not stopped.
    let mut d = DieState::new(8);
    let end = d.erase(start, B, CellMode::Qlc, &m).unwrap();
    let (free, left) = d.suspend(start + Ns(1), &m).unwrap();
    assert_eq!(free, start + Ns(1 + t.erase_suspend_ns));
    assert_eq!(left, end - free);
    let end = d.resume(free, &m).unwrap();
    assert_eq!(d.suspend(end, &m), Err(Illegal::NothingToSuspend));
}

#[test]
fn sequence_suspend_near_the_end_and_too_often() {
    let m = medium();
    let mut d = DieState::new(8);
    let end = d.erase(Ns::ZERO, B, CellMode::Qlc, &m).unwrap();
    assert_eq!(d.suspend(Ns(end.0 - 10), &m), Ok((end, Ns::ZERO)));
    assert!(!d.is_suspended());
    let mut now = end;
    d.erase(now, B, CellMode::Qlc, &m).unwrap();
    for i in 0.. {
        match d.suspend(now, &m) {
            Ok((free, left)) if left > Ns::ZERO => {
                now = free;
                d.resume(now, &m).unwrap();
            }
            Ok(_) => break,
            Err(e) => {
                assert_eq!(
                    (e, i),
                    (Illegal::TooManySuspends, m.chip().timing.max_suspends)
                );
                break;
            }
        }
        assert!(i < 1000, "it ends");
    }
}

#[test]
fn sequence_reset_ends_a_read() {
    let m = medium();
    let mut d = DieState::new(8);
    d.preset(B, CellMode::Qlc, 16).unwrap();
    let end = d.read(Ns::ZERO, &read(2), &m).unwrap();
    assert_eq!(d.reset_read(Ns(10_000), &m), Ns(15_000));
    assert_eq!(d.reset_read(Ns(20_000), &m), Ns(15_000));
    let t = d.set_feature(Ns(20_000), &m).unwrap();
    assert_eq!(t, Ns(21_000));
    let late = d.read(t, &read(2), &m).unwrap();
    assert_eq!(
        d.reset_read(Ns(late.0 - 1), &m),
        late,
        "never later than its own end"
    );
    assert_eq!(end, Ns(150_000));
    // A read that has just ended is not ended again: its page stays, and can move on.
    let end = d.read(late, &read(2), &m).unwrap();
    assert_eq!(d.reset_read(end, &m), end);
    let moved = d.cache_end(end, &m).unwrap();
    assert_eq!(moved, end + Ns(m.chip().timing.cache_busy_ns));
}

#[test]
fn sequence_cache_reads() {
    let m = medium();
    let busy = Ns(m.chip().timing.cache_busy_ns);
    let mut d = DieState::new(8);
    d.preset(B, CellMode::Qlc, 16).unwrap();
    assert_eq!(
        d.cache_read(Ns::ZERO, &read(2), &m),
        Err(Illegal::NothingRead)
    );
    let sensed = d.read(Ns::ZERO, &read(2), &m).unwrap();
    assert_eq!(sensed, Ns(150_000));
    assert_eq!(
        d.cache_read(Ns(1), &read(2), &m),
        Err(Illegal::Busy { until: sensed })
    );
    // The same page again: its first copy leaves while the second one is sensed.
    let (moved, sensed) = d.cache_read(sensed, &read(2), &m).unwrap();
    assert_eq!((moved, sensed), (Ns(150_000) + busy, Ns(300_000) + busy));
    // It leaves late, for the channel is busy: the next one has to wait for the register.
    let out = sensed + Ns(7);
    d.data_out(out);
    let late = Illegal::RegisterBusy { until: out };
    assert_eq!(d.cache_read(sensed, &read(2), &m), Err(late));
    assert_eq!(d.cache_end(sensed, &m), Err(late));
    let (_, sensed) = d.cache_read(out, &read(3), &m).unwrap();
    let end = d.cache_end(sensed, &m).unwrap();
    assert_eq!(end, sensed + busy);
    assert_eq!(d.cache_end(end, &m), Err(Illegal::NothingRead));
    // A sense that was ended leaves nothing to move.
    d.read(end, &read(2), &m).unwrap();
    let free = d.reset_read(end + Ns(10), &m);
    assert_eq!(free, end + Ns(10 + m.chip().timing.reset_ns));
    assert_eq!(d.cache_end(free, &m), Err(Illegal::NothingRead));
    // New levels for the next sense leave the page of the last one where it is; a program does not.
    let sensed = d.read(free, &read(2), &m).unwrap();
    let set = d.set_feature(sensed, &m).unwrap();
    let (_, sensed) = d.cache_read(set, &read(2), &m).unwrap();
    let free = d.erase(sensed, SuperblockId(1), CellMode::Qlc, &m).unwrap();
    assert_eq!(d.cache_end(free, &m), Err(Illegal::NothingRead));
}

#[test]
fn sequence_planes_that_read_by_themselves() {
    let together = medium();
    let mut d = DieState::new(8);
    d.preset(B, CellMode::Qlc, 16).unwrap();
    assert_eq!(
        d.read_planes(Ns::ZERO, &read(2), 1, &together),
        Err(Illegal::PlanesTogether)
    );
    let mut chip = reference::ct_a();
    chip.timing.independent_plane_reads = true;
    let m = Medium::new(chip, *together.geometry(), 1).unwrap();
    for planes in [0, 4, 7] {
        let no = Err(Illegal::NoPlane { planes });
        assert_eq!(d.read_planes(Ns::ZERO, &read(2), planes, &m), no);
    }
    // Two pages of different wordlines, one a plane, each free when it has been sensed.
    let first = d.read_planes(Ns::ZERO, &read(2), 0b01, &m).unwrap();
    let second = d.read_planes(Ns(40_000), &read(5), 0b10, &m).unwrap();
    assert_eq!((first, second), (Ns(150_000), Ns(190_000)));
    // The same plane, both of them, or the die as a whole: all wait.
    let busy = |until| Err(Illegal::Busy { until });
    assert_eq!(d.read_planes(Ns(50_000), &read(3), 0b01, &m), busy(first));
    assert_eq!(d.read_planes(Ns(50_000), &read(3), 0b11, &m), busy(second));
    assert_eq!(d.read(Ns(160_000), &read(3), &m), busy(second));
    assert_eq!(d.program(Ns(160_000), B, 15, &m), busy(second));
    assert_eq!(d.erase(Ns(160_000), B, CellMode::Qlc, &m), busy(second));
    assert_eq!(d.set_feature(Ns(160_000), &m), busy(second));
    // A plane that has read goes on alone.
    let third = d.read_planes(first, &read(3), 0b01, &m).unwrap();
    assert_eq!(third, Ns(300_000));
    assert_eq!(d.free_at(), third);
    // No plane reads while the die programs; while that is suspended each does, and it resumes when
    // all have.
    let other = SuperblockId(1);
    let erased = d.erase(third, other, CellMode::Qlc, &m).unwrap();
    let end = d.program(erased, other, 0, &m).unwrap();
    assert_eq!(d.read_planes(erased + Ns(1), &read(3), 1, &m), busy(end));
    let (stops, left) = d.suspend(erased + Ns(1_000), &m).unwrap();
    let a = d.read_planes(stops, &read(3), 0b01, &m).unwrap();
    let b = d.read_planes(stops + Ns(10), &read(4), 0b10, &m).unwrap();
    assert_eq!(d.resume(a, &m), busy(b));
    assert_eq!(
        d.resume(b, &m),
        Ok(b + left + Ns(m.chip().timing.resume_ns))
    );
}
