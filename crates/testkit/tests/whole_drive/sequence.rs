//! Which commands pass between host, firmware and flash, in what order, and when.

use firstread_core::{HostOp, OpClass, PageType};
use firstread_drive::port_log::{PortCall, PortCallKind};
use firstread_testkit::Scripted;
use insta::assert_snapshot;

use crate::scenario::{READ_4K, ROW, STRIPE, Scenario, WORDLINE, decoded, reads, wanted};

#[test]
fn sequence_of_a_read_that_succeeds_at_once() {
    let mut scenario = Scenario::factory(2, 300);
    assert_snapshot!(scenario.codeword_read(0), @r"
         0  host      #0 Read
         0  issue     HostRead tag 0 die 0 waited 0 LSB cw 0001 factory 0
    113420  event     die 0 free of tag 0
    113520  event     decoded tag 0
    113520  complete  #0 Read Ok
    ");
}

#[test]
fn sequence_of_a_read_with_one_retry() {
    let mut scenario = Scenario::factory(10, 300);
    assert_snapshot!(scenario.codeword_read(1), @r"
         0  host      #0 Read
         0  issue     HostRead tag 0 die 0 waited 0 LSB cw 0001 factory 0
    113420  event     die 0 free of tag 0
    113520  event     failed tag 0: cw 0001
    113520  issue     HostRetry tag 0 die 0 waited 0 LSB cw 0001 factory 1
    226940  event     die 0 free of tag 0
    227040  event     decoded tag 0
    227040  complete  #0 Read Ok
    ");
}

#[test]
fn sequence_of_a_read_with_several_retries() {
    let mut scenario = Scenario::factory(28, 2500);
    assert_snapshot!(scenario.codeword_read(5), @r"
         0  host      #0 Read
         0  issue     HostRead tag 0 die 0 waited 0 LSB cw 0001 factory 0
    113420  event     die 0 free of tag 0
    113520  event     failed tag 0: cw 0001
    113520  issue     HostRetry tag 0 die 0 waited 0 LSB cw 0001 factory 1
    226940  event     die 0 free of tag 0
    227040  event     failed tag 0: cw 0001
    227040  issue     HostRetry tag 0 die 0 waited 0 LSB cw 0001 factory 2
    340460  event     die 0 free of tag 0
    340560  event     failed tag 0: cw 0001
    340560  issue     HostRetry tag 0 die 0 waited 0 LSB cw 0001 factory 3
    453980  event     die 0 free of tag 0
    454080  event     failed tag 0: cw 0001
    454080  issue     HostRetry tag 0 die 0 waited 0 LSB cw 0001 factory 4
    567500  event     die 0 free of tag 0
    567600  event     failed tag 0: cw 0001
    567600  issue     HostRetry tag 0 die 0 waited 0 LSB cw 0001 factory 5
    681020  event     die 0 free of tag 0
    681120  event     decoded tag 0
    681120  complete  #0 Read Ok
    ");
}

#[test]
fn sequence_of_a_row_of_which_one_plane_fails() {
    // Only what failed is sensed, transferred and decoded again: the planes that succeeded are not
    // touched, and the die is free sooner.
    let mut scenario = Scenario::factory(5, 300);
    let one_plane = |mask: u64| (0..4).any(|p| mask & !(0xffff << (16 * p)) == 0);
    let (_, port_calls) = scenario.find(64 << 10, |c| {
        reads(c).len() == 2 && one_plane(decoded(c)[0].1)
    });
    let ops = reads(&port_calls);
    let ends = decoded(&port_calls);
    let failed = ends[0].1;
    assert_eq!(wanted(&ops[0].1), u64::MAX);
    assert_eq!(wanted(&ops[1].1), failed);
    assert_eq!(ops[1].1.class, OpClass::HostRetry);
    assert_eq!(
        ops[1].0, ends[0].0,
        "the die is idle, so the retry starts at once"
    );
    let p = scenario.drive.profile();
    let (setup, lanes) = (
        p.ecc.timing.setup_ns as u64,
        p.ecc.engines_per_channel as u64,
    );
    for ((issued, op), (end, _)) in ops.iter().zip(&ends) {
        let codewords = wanted(op).count_ones() as u64;
        let transfer = p.channel.transfer_ns(codewords * 1152);
        // Codewords are decoded as they arrive; only the last one is still to be decoded.
        let decode = setup.max((codewords * setup).div_ceil(lanes).saturating_sub(transfer));
        let expected = p.channel.command_ns + scenario.sense_ns(PageType(0)) + transfer + decode;
        assert_eq!(end.since(*issued).0, expected, "{codewords} codewords");
    }
}

#[test]
fn sequence_of_a_retry_ahead_of_waiting_reads() {
    // Three reads on one die; the first fails. While it is decoded the second is sensed already;
    // then the retry goes first, and the third, which has waited longer, goes last.
    let mut scenario = Scenario::factory(10, 300);
    // A page of which nearly every codeword fails does so each time.
    let (failing, _) = scenario.find(16 << 10, |c| decoded(c)[0].1.count_ones() > 12);
    let script =
        [failing, failing + 1, failing + 2].map(|w| (0, HostOp::Read, w * WORDLINE, 16 << 10));
    let port_calls = scenario.play(&script);
    let first: Vec<(u32, OpClass)> = reads(&port_calls)
        .iter()
        .map(|(_, op)| (op.tag.0, op.class))
        .take(4)
        .collect();
    let (read, retry) = (OpClass::HostRead, OpClass::HostRetry);
    assert_eq!(first[..2], [(0, read), (1, read)]);
    assert_eq!(first[2], (0, retry));
    assert!(first[3] == (1, retry) || first[3] == (2, read), "{first:?}");
}

#[test]
fn sequence_of_two_reads_on_one_die() {
    // The second waits until the first has left the array and the page registers.
    let mut scenario = Scenario::ideal();
    let script = [
        (0, HostOp::Read, 0, READ_4K),
        (0, HostOp::Read, STRIPE, READ_4K),
    ];
    let port_calls = scenario.play(&script);
    assert_snapshot!(scenario.text(&port_calls), @r"
         0  host      #0 Read 0+4K
         0  issue     HostRead tag 0 die 0 waited 0 b0 w0 LSB cw 000f factory 0
       500  host      #1 Read 256K+4K
    115580  event     die 0 free of tag 0
    115580  issue     HostRead tag 1 die 0 waited 115080 b0 w0 CSB cw 000f factory 0
    115680  event     decoded tag 0
    115680  complete  #0 Read 0+4K Ok
    268660  event     die 0 free of tag 1
    268760  event     decoded tag 1
    268760  complete  #1 Read 256K+4K Ok
    ");
}

#[test]
fn sequence_of_two_reads_on_one_channel() {
    // Dies 0 and 2 sense side by side; the bus carries one row after the other, and the second die
    // keeps its data in its registers meanwhile.
    let mut scenario = Scenario::ideal();
    let script = [
        (0, HostOp::Read, 0, 64 << 10),
        (0, HostOp::Read, 2 * ROW, 64 << 10),
    ];
    let port_calls = scenario.play(&script);
    assert_snapshot!(scenario.text(&port_calls), @r"
         0  host      #0 Read 0+64K
         0  issue     HostRead tag 0 die 0 waited 0 b0 w0 LSB cw ffff.ffff.ffff.ffff factory 0
       500  host      #1 Read 128K+64K
       500  issue     HostRead tag 1 die 2 waited 0 b0 w0 LSB cw ffff.ffff.ffff.ffff factory 0
    158780  event     die 0 free of tag 0
    158880  event     decoded tag 0
    158880  complete  #0 Read 0+64K Ok
    204860  event     die 2 free of tag 1
    204960  event     decoded tag 1
    204960  complete  #1 Read 128K+64K Ok
    ");
}

#[test]
fn sequence_of_reads_on_two_channels() {
    // Nothing is shared but the firmware and the link.
    let mut scenario = Scenario::ideal();
    let script = [
        (0, HostOp::Read, 0, 64 << 10),
        (0, HostOp::Read, ROW, 64 << 10),
    ];
    let port_calls = scenario.play(&script);
    assert_snapshot!(scenario.text(&port_calls), @r"
         0  host      #0 Read 0+64K
         0  issue     HostRead tag 0 die 0 waited 0 b0 w0 LSB cw ffff.ffff.ffff.ffff factory 0
       500  host      #1 Read 64K+64K
       500  issue     HostRead tag 1 die 1 waited 0 b0 w0 LSB cw ffff.ffff.ffff.ffff factory 0
    158780  event     die 0 free of tag 0
    158880  event     decoded tag 0
    158880  complete  #0 Read 0+64K Ok
    159280  event     die 1 free of tag 1
    159380  event     decoded tag 1
    159380  complete  #1 Read 64K+64K Ok
    ");
}

#[test]
fn sequence_of_a_background_read_behind_host_reads() {
    // A pass is due 1 ms after the run begins. Two host reads are ahead of its first read, and one
    // that comes later overtakes it too.
    let (mut scenario, probe) = Scenario::before_a_pass();
    let on_die = |wordline: u64| wordline * WORDLINE + probe.0 as u64 * ROW;
    let script = [
        (985, HostOp::Read, on_die(0), READ_4K),
        (990, HostOp::Read, on_die(1), READ_4K),
        (1_010, HostOp::Read, on_die(2), READ_4K),
    ];
    let port_calls = scenario.play(&script);
    let until = |c: &&PortCall| !matches!(c.what, PortCallKind::Issued(op) if op.class == OpClass::Calibration);
    let n = port_calls.iter().take_while(until).count() + 1;
    assert_snapshot!(scenario.text(&port_calls[..n]), @r"
         0  host      #0 Read 192K+4K
         0  issue     HostRead tag 0 die 3 waited 0 b0 w0 LSB cw 000f factory 0
      5000  host      #1 Read 1216K+4K
     25000  host      #2 Read 2240K+4K
    115580  event     die 3 free of tag 0
    115580  issue     HostRead tag 1 die 3 waited 110580 b0 w1 LSB cw 000f factory 0
    115680  event     decoded tag 0
    115680  complete  #0 Read 192K+4K Ok
    231160  event     die 3 free of tag 1
    231160  issue     HostRead tag 3 die 3 waited 206160 b0 w2 LSB cw 000f factory 0
    231260  event     decoded tag 1
    231260  complete  #1 Read 1216K+4K Ok
    346740  event     die 3 free of tag 3
    346740  issue     Calibration tag 2 die 3 waited 335240 b8 w1008 LSB cw 0000.0000.0000.ffff factory 0
    ");
}

#[test]
fn sequence_of_a_written_wordline() {
    // Pages of one type come first over all dies, then the next type: each die's part is complete,
    // and is programmed, when its share of the last page type is there.
    let mut scenario = Scenario::ideal();
    let script: Vec<Scripted> = (0..16)
        .map(|row| (10 * row, HostOp::Write, row * ROW, 64 << 10))
        .chain([(20_000, HostOp::Read, 0, READ_4K)])
        .collect();
    let port_calls = scenario.play(&script);
    assert_snapshot!(scenario.text(&port_calls), @r"
           0  host      #0 Write 0+64K
           0  complete  #0 Write 0+64K Ok
       10000  host      #1 Write 64K+64K
       10000  complete  #1 Write 64K+64K Ok
       20000  host      #0 Write 128K+64K
       20000  complete  #0 Write 128K+64K Ok
       30000  host      #1 Write 192K+64K
       30000  complete  #1 Write 192K+64K Ok
       40000  host      #0 Write 256K+64K
       40000  complete  #0 Write 256K+64K Ok
       50000  host      #1 Write 320K+64K
       50000  complete  #1 Write 320K+64K Ok
       60000  host      #0 Write 384K+64K
       60000  complete  #0 Write 384K+64K Ok
       70000  host      #1 Write 448K+64K
       70000  complete  #1 Write 448K+64K Ok
       80000  host      #0 Write 512K+64K
       80000  complete  #0 Write 512K+64K Ok
       90000  host      #1 Write 576K+64K
       90000  complete  #1 Write 576K+64K Ok
      100000  host      #0 Write 640K+64K
      100000  complete  #0 Write 640K+64K Ok
      110000  host      #1 Write 704K+64K
      110000  complete  #1 Write 704K+64K Ok
      120000  host      #0 Write 768K+64K
      120000  issue     Program tag 0 die 0 waited 0 program b18 w0
      120000  complete  #0 Write 768K+64K Ok
      130000  host      #1 Write 832K+64K
      130000  issue     Program tag 1 die 1 waited 0 program b18 w0
      130000  complete  #1 Write 832K+64K Ok
      140000  host      #0 Write 896K+64K
      140000  issue     Program tag 2 die 2 waited 0 program b18 w0
      140000  complete  #0 Write 896K+64K Ok
      150000  host      #1 Write 960K+64K
      150000  issue     Program tag 3 die 3 waited 0 program b18 w0
      150000  complete  #1 Write 960K+64K Ok
     8904520  event     programmed tag 0 ok true
     8904520  event     die 0 free of tag 0
     8914520  event     programmed tag 1 ok true
     8914520  event     die 1 free of tag 1
     9089040  event     programmed tag 2 ok true
     9089040  event     die 2 free of tag 2
     9099040  event     programmed tag 3 ok true
     9099040  event     die 3 free of tag 3
    19990637  host      #1 Read 0+4K
    19990637  issue     HostRead tag 3 die 0 waited 0 b18 w0 LSB cw 000f factory 0
    20106217  event     die 0 free of tag 3
    20106317  event     decoded tag 3
    20106317  complete  #1 Read 0+4K Ok
    ");
}
