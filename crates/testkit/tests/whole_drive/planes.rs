//! Planes of a die that read by themselves: in what order, and when.

use firstread_core::{HostOp, OpClass, PageType};
use firstread_testkit::{IDEAL, SMALL_BLOCKS, Scripted, aged, drive, profile, run, try_run};
use insta::assert_snapshot;

use crate::scenario::{KIB, READ_4K, Scenario, WORDLINE, decoded, reads, wanted};

const APART: &str = "chip.timing.independent_plane_reads=true";
/// Bytes of a page, which lies on one plane.
const PAGE: u64 = 16 * KIB;

fn scenario(apart: bool, own: &[&str]) -> Scenario {
    let mut set = IDEAL.to_vec();
    set.extend(own);
    set.extend(apart.then_some(APART));
    Scenario::new(&set, &aged(0, 0))
}

/// Two reads of the host, on planes 0 and `plane` of die 0, of different wordlines.
fn two_reads(plane: u64) -> [Scripted; 2] {
    [
        (0, HostOp::Read, 0, READ_4K),
        (10, HostOp::Read, 7 * WORDLINE + plane * PAGE, READ_4K),
    ]
}

#[test]
fn sequence_of_reads_on_two_planes() {
    let mut together = scenario(false, &[]);
    let port_calls = together.play(&two_reads(1));
    assert_snapshot!(together.text(&port_calls), @r"
         0  host      #0 Read 0+4K
         0  issue     HostRead tag 0 die 0 waited 0 b0 w0 LSB cw 000f factory 0
     10000  host      #1 Read 7184K+4K
    115580  event     die 0 free of tag 0
    115580  issue     HostRead tag 1 die 0 waited 105580 b0 w7 LSB cw 0000.000f factory 0
    115680  event     decoded tag 0
    115680  complete  #0 Read 0+4K Ok
    231160  event     die 0 free of tag 1
    231260  event     decoded tag 1
    231260  complete  #1 Read 7184K+4K Ok
    ");
    let mut apart = scenario(true, &[]);
    let port_calls = apart.play(&two_reads(1));
    assert_snapshot!(apart.text(&port_calls), @r"
         0  host      #0 Read 0+4K
         0  issue     HostRead tag 0 die 0 waited 0 b0 w0 LSB cw 000f factory 0
     10000  host      #1 Read 7184K+4K
     10000  issue     HostRead tag 1 die 0 waited 0 b0 w7 LSB cw 0000.000f factory 0
    115580  event     die 0 planes 0001 free of tag 0
    115680  event     decoded tag 0
    115680  complete  #0 Read 0+4K Ok
    125580  event     die 0 planes 0010 free of tag 1
    125680  event     decoded tag 1
    125680  complete  #1 Read 7184K+4K Ok
    ");
}

#[test]
fn sequence_of_reads_on_one_plane() {
    let mut apart = scenario(true, &[]);
    let port_calls = apart.play(&two_reads(0));
    assert_snapshot!(apart.text(&port_calls), @r"
         0  host      #0 Read 0+4K
         0  issue     HostRead tag 0 die 0 waited 0 b0 w0 LSB cw 000f factory 0
     10000  host      #1 Read 7M+4K
    115580  event     die 0 planes 0001 free of tag 0
    115580  issue     HostRead tag 1 die 0 waited 105580 b0 w7 LSB cw 000f factory 0
    115680  event     decoded tag 0
    115680  complete  #0 Read 0+4K Ok
    231160  event     die 0 planes 0001 free of tag 1
    231260  event     decoded tag 1
    231260  complete  #1 Read 7M+4K Ok
    ");
}

/// A read of a row takes all planes; one that wants a plane behind it waits, one that came first and
/// is on another plane does not hold it up longer than its own sense.
#[test]
fn sequence_of_a_row_between_single_planes() {
    let mut apart = scenario(true, &[]);
    let script = [
        (0, HostOp::Read, 2 * PAGE, READ_4K),
        (10, HostOp::Read, WORDLINE, 2 * PAGE as u32),
        (20, HostOp::Read, 2 * WORDLINE + PAGE, READ_4K),
        (30, HostOp::Read, 3 * WORDLINE + 3 * PAGE, READ_4K),
    ];
    let port_calls = apart.play(&script);
    assert_snapshot!(apart.text(&port_calls), @r"
         0  host      #0 Read 32K+4K
         0  issue     HostRead tag 0 die 0 waited 0 b0 w0 LSB cw 0000.0000.000f factory 0
     10000  host      #1 Read 1M+32K
     10000  issue     HostRead tag 1 die 0 waited 0 b0 w1 LSB cw ffff.ffff factory 0
     20000  host      #2 Read 2064K+4K
     30000  host      #3 Read 3120K+4K
     30000  issue     HostRead tag 3 die 0 waited 0 b0 w3 LSB cw 0000.0000.0000.000f factory 0
    115580  event     die 0 planes 0100 free of tag 0
    115680  event     decoded tag 0
    115680  complete  #0 Read 32K+4K Ok
    145740  event     die 0 planes 0011 free of tag 1
    145740  issue     HostRead tag 2 die 0 waited 125740 b0 w2 LSB cw 0000.000f factory 0
    145840  event     decoded tag 1
    145840  complete  #1 Read 1M+32K Ok
    148820  event     die 0 planes 1000 free of tag 3
    148920  event     decoded tag 3
    148920  complete  #3 Read 3120K+4K Ok
    261320  event     die 0 planes 0010 free of tag 2
    261420  event     decoded tag 2
    261420  complete  #2 Read 2064K+4K Ok
    ");
}

/// The channel is one for both: what has been sensed at the same time leaves one after the other.
#[test]
fn formula_pages_sensed_at_once_leave_one_after_another() {
    let mut apart = scenario(true, &[]);
    let script = [0, 1, 2, 3].map(|p| (0, HostOp::Read, p * (WORDLINE + PAGE), PAGE as u32));
    let port_calls = apart.play(&script);
    let ends = decoded(&port_calls);
    let p = apart.drive.profile();
    let transfer = p.channel.transfer_ns(16 * 1152);
    let first = p.channel.command_ns + apart.sense_ns(PageType(0)) + transfer;
    let setup = p.ecc.timing.setup_ns as u64;
    let lanes = p.ecc.engines_per_channel as u64;
    let decode = setup.max((16 * setup).div_ceil(lanes).saturating_sub(transfer));
    let start = reads(&port_calls)[0].0;
    for (i, (end, _)) in ends.iter().enumerate() {
        assert_eq!(
            end.since(start).0,
            first + i as u64 * transfer + decode,
            "read {i}"
        );
    }
}

/// A plane retries while another reads: neither waits for the other.
#[test]
fn sequence_of_a_retry_beside_a_read() {
    let set = ["schemes.read_levels=factory", APART];
    let mut scenario = Scenario::new(&set, &aged(10, 300));
    let (failing, alone) = scenario.find(16 << 10, |c| {
        decoded(c)[0].1.count_ones() > 12 && reads(c).len() == 2
    });
    // Begins while the first page is sensed, ends while it is retried.
    let other = (40, HostOp::Read, (failing + 5) * WORDLINE + PAGE, READ_4K);
    let port_calls = scenario.play(&[(0, HostOp::Read, failing * WORDLINE, 16 << 10), other]);
    let of_plane = |plane: u32| {
        let all = reads(&port_calls).into_iter();
        all.filter(move |(_, op)| wanted(op).trailing_zeros() / 16 == plane)
    };
    let start = |ops: &[(firstread_core::Ns, firstread_core::FlashOp)]| ops[0].0;
    let began: Vec<u64> = of_plane(0)
        .map(|(at, _)| at.since(start(&reads(&port_calls))).0)
        .collect();
    let by_itself: Vec<u64> = reads(&alone)
        .iter()
        .map(|(at, _)| at.since(start(&reads(&alone))).0)
        .collect();
    assert_eq!(
        began, by_itself,
        "the retry begins as without the other read"
    );
    let (at, op) = of_plane(1).next().unwrap();
    assert_eq!(
        (op.class, at),
        (OpClass::HostRead, op.queued),
        "it does not wait"
    );
    let retry = of_plane(0).nth(1).unwrap();
    assert!(at < retry.0, "and is under way when the retry begins");
}

/// A program takes the whole die: it waits for the planes that read, and they for it; suspended, it
/// goes on when every plane has read.
#[test]
fn sequence_of_a_program_between_reads_of_planes() {
    for suspend in ["none", "program"] {
        let mut apart = scenario(true, &[&format!("schemes.suspend={suspend}")]);
        let script = [
            (0, HostOp::Write, 0, WORDLINE as u32),
            (100, HostOp::Read, 8 * WORDLINE, READ_4K),
            (3_000, HostOp::Read, 9 * WORDLINE, READ_4K),
            (3_010, HostOp::Read, 10 * WORDLINE + PAGE, READ_4K),
            (3_200, HostOp::Read, 11 * WORDLINE + PAGE, READ_4K),
        ];
        let port_calls = apart.play(&script);
        // What concerns die 0 alone.
        let text = apart.text(&port_calls);
        let of_die = |line: &&str| !["die 1", "die 2", "die 3"].iter().any(|d| line.contains(d));
        let text: Vec<&str> = text.lines().filter(of_die).collect();
        let text = text.join("\n");
        match suspend {
            "none" => assert_snapshot!(text, @r"
                  0  host      #1 Read 8M+4K
                  0  issue     HostRead tag 0 die 0 waited 0 b0 w8 LSB cw 000f factory 0
              49797  host      #0 Write 0+1M
              49797  complete  #0 Write 0+1M Ok
             237197  event     die 0 planes 0001 free of tag 0
             237197  issue     Program tag 1 die 0 waited 187400 program b18 w0
             237297  event     decoded tag 0
             237297  complete  #1 Read 8M+4K Ok
            2900000  host      #1 Read 9M+4K
            2910000  host      #0 Read 10256K+4K
            3100000  host      #2 Read 11280K+4K
            8834317  event     programmed tag 2 ok true
            8834317  event     programmed tag 3 ok true
            9018837  event     programmed tag 4 ok true
            9021717  event     programmed tag 1 ok true
            9021717  event     die 0 free of tag 1
            9021717  issue     HostRead tag 0 die 0 waited 6121717 b0 w9 LSB cw 000f factory 0
            9021717  issue     HostRead tag 5 die 0 waited 6111717 b0 w10 LSB cw 0000.000f factory 0
            9137297  event     die 0 planes 0001 free of tag 0
            9137397  event     decoded tag 0
            9137397  complete  #1 Read 9M+4K Ok
            9140177  event     die 0 planes 0010 free of tag 5
            9140177  issue     HostRead tag 6 die 0 waited 6040177 b0 w11 LSB cw 0000.000f factory 0
            9140277  event     decoded tag 5
            9140277  complete  #0 Read 10256K+4K Ok
            9255757  event     die 0 planes 0010 free of tag 6
            9255857  event     decoded tag 6
            9255857  complete  #2 Read 11280K+4K Ok
            "),
            _ => assert_snapshot!(text, @r"
                  0  host      #1 Read 8M+4K
                  0  issue     HostRead tag 0 die 0 waited 0 b0 w8 LSB cw 000f factory 0
              49797  host      #0 Write 0+1M
              49797  complete  #0 Write 0+1M Ok
             237197  event     die 0 planes 0001 free of tag 0
             237197  issue     Program tag 1 die 0 waited 187400 program b18 w0
             237297  event     decoded tag 0
             237297  complete  #1 Read 8M+4K Ok
            2900000  host      #1 Read 9M+4K
            2900000  issue     Program tag 1 die 0 waited 0 suspend 1
            2910000  host      #0 Read 10256K+4K
            3000000  event     suspended tag 1, 6021717 left
            3000000  issue     HostRead tag 0 die 0 waited 100000 b0 w9 LSB cw 000f factory 0
            3000000  issue     HostRead tag 5 die 0 waited 90000 b0 w10 LSB cw 0000.000f factory 0
            3100000  host      #2 Read 11280K+4K
            3115580  event     die 0 planes 0001 free of tag 0
            3115680  event     decoded tag 0
            3115680  complete  #1 Read 9M+4K Ok
            3118460  event     die 0 planes 0010 free of tag 5
            3118460  issue     HostRead tag 6 die 0 waited 18460 b0 w11 LSB cw 0000.000f factory 0
            3118560  event     decoded tag 5
            3118560  complete  #0 Read 10256K+4K Ok
            3234040  event     die 0 planes 0010 free of tag 6
            3234040  issue     Program tag 1 die 0 waited 0 resume 1
            3234140  event     decoded tag 6
            3234140  complete  #2 Read 11280K+4K Ok
            "),
        }
    }
}

#[test]
fn smoke_schemes_that_use_the_whole_die_are_refused() {
    use firstread_drive::profile::{Library, Override, load_drive};
    for retry in ["pipelined", "adaptive", "pipelined-adaptive"] {
        let set = [APART.to_owned(), format!("schemes.retry={retry}")];
        let overrides: Vec<Override> = set.iter().map(|s| Override::parse(s).unwrap()).collect();
        let axes = firstread_firmware::policy::AXES;
        let error = load_drive(&Library::new(), "dc-qlc-15t", &overrides, axes).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("schemes.retry") && text.contains("independent_plane_reads"),
            "{text}"
        );
        assert!(text.contains("choose sequential or single-step"), "{text}");
    }
}

/// Everything at once: reads of all sizes, retries, writes, trims, cleaning, suspension, a map that is
/// not in memory. A stale read ends the run, and every nanosecond is charged or a debug build says so.
#[test]
fn model_planes_that_read_apart_change_no_data() {
    for own in [
        &["schemes.suspend=program-erase"][..],
        &["dram.map_cache=256KiB", "schemes.read_ahead=sequential"],
    ] {
        let mut set = SMALL_BLOCKS.to_vec();
        set.extend([
            "schemes.read_levels=factory",
            "schemes.gc_victim=greedy",
            APART,
        ]);
        set.extend(own);
        let job = "[global]\nsize=200m\niodepth=24\nnorandommap\n\
                   [w]\nrw=randrw\nrwmixread=50\nbssplit=512/10:4k/60:20k/20:80k/10\nblockalign=512\nio_size=500m\n\
                   [s]\nrw=read\nbs=64k\n\
                   [t]\nrw=randtrim\nbs=32k\nnumber_ios=2000\n";
        let stats = run(profile("dc-qlc-15t", &set), &aged(28, 2500), job, u64::MAX);
        let c = &stats.counters;
        assert!(
            c.erases > 20 && c.retries[1..].iter().sum::<u64>() > 1_000,
            "{c:?}"
        );
    }
}

/// With single pages in flight on every plane the die has as many senses under way as planes.
#[test]
fn formula_reads_scale_with_planes_until_the_channel_is_full() {
    let rate = |apart: bool, depth: u32| {
        let mut set = IDEAL.to_vec();
        set.extend(firstread_testkit::FOUR_DIES);
        // A channel that is never full, so that the arrays bound the rate.
        set.extend(["chip.timing.io=100000 MT/s", "channel.rate=100000 MT/s"]);
        set.extend(apart.then_some(APART));
        let mut drive = drive(profile("dc-qlc-15t", &set), &aged(0, 0), 1);
        let job =
            format!("[r]\nrw=randread\nbs=4k\niodepth={depth}\nnorandommap\nnumber_ios=20000\n");
        let stats = try_run(&mut drive, &job, 1, None).unwrap();
        stats.requests as f64 / stats.simulated.0 as f64
    };
    let gain = rate(true, 512) / rate(false, 512);
    println!("{gain:.3} times as many reads a second");
    // Four planes, of which some have nothing to do for a moment.
    assert!((3.6..=4.0).contains(&gain), "{gain}");
    let alone = rate(true, 1) / rate(false, 1);
    assert!(
        (alone - 1.0).abs() < 1e-9,
        "one read at a time gains nothing: {alone}"
    );
}
