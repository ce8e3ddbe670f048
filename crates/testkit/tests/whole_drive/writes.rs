//! Whether writes end, whatever they wait for.

use firstread_core::HostOp;
use firstread_testkit::{IDEAL, SMALL_BLOCKS, Scripted, aged, drive, play, profile};

const SLOT: u64 = 4096;
/// Slots of a page row, of which there is one a die in a stripe.
const ROW: u64 = 8;
/// Slots of a wordline over all dies, which is a third of the write buffer.
const WORDLINE: u64 = 128;

/// Two writes change slots in part and so read the old ones first. While the write buffer is full
/// both reads end; `later` ends last and goes on first, up to a slot that `earlier` still holds.
#[test]
fn writes_in_part_that_overlap_do_not_wait_for_each_other_forever() {
    let set: Vec<&str> = SMALL_BLOCKS.iter().chain(IDEAL).copied().collect();
    let mut drive = drive(profile("ct-qlc", &set), &aged(0, 0), 1);
    let far = 10_000 * SLOT;
    let slots = |n: u64| (n * SLOT) as u32;
    let earlier = (2_000, HostOp::Write, SLOT + 2048, 512);
    let later = (2_010, HostOp::Write, 512, 4096);
    let script: [Scripted; 6] = [
        // All of the first wordline but the last row of the last die, which comes a millisecond
        // later: that die is the last to be programmed, long after die 0.
        (0, HostOp::Write, far, slots(WORDLINE - ROW)),
        (
            1_000,
            HostOp::Write,
            far + (WORDLINE - ROW) * SLOT,
            slots(ROW),
        ),
        // The rest of the buffer.
        (
            1_100,
            HostOp::Write,
            far + WORDLINE * SLOT,
            slots(2 * WORDLINE),
        ),
        earlier,
        later,
        (30_000, HostOp::Read, 0, slots(2)),
    ];
    let stats = play(&mut drive, &script).unwrap();
    assert_eq!(stats.requests, script.len() as u64);
}
