//! The steps of a read under axis `retry`: which commands pass, when, and what they cost.
//!
//! On the drive and the timings that PR2 and AR2 were published for.

use firstread_core::{
    FlashEvent, FlashKind, FlashOp, HostOp, Levels, Ns, OpClass, PageType, SenseTiming,
};
use firstread_drive::port_log::{PortCall, PortCallKind};
use firstread_drive::profile::{Library, Override, load_drive};
use firstread_drive::{DriveState, RunStats};
use firstread_firmware::policy::AXES;
use firstread_testkit::{aged, digest_of, drive, profile, try_run};
use insta::assert_snapshot;

use crate::scenario::{STRIPE, Scenario, WORDLINE, decoded, reads, wanted};

/// One page: what the published timings are of.
const PAGE: u32 = 16 << 10;
const SEQUENTIAL: &[&str] = &[];
const PIPELINED: &[&str] = &["schemes.retry=pipelined"];
const FROM_FIRST: &[&str] = &["schemes.retry=pipelined", "retry.from=first-read"];
const SINGLE: &[&str] = &["schemes.retry=single-step"];

/// The TLC drive with four dies, on the manufacturer's levels, a year old at 30 °C or so.
fn scenario(retry: &[&str], age_h: u64) -> Scenario {
    let set = ["capacity=2 GiB", "schemes.read_levels=factory"];
    let set: Vec<&str> = set.iter().chain(retry).copied().collect();
    Scenario::on("tlc-48l", &set, &aged(age_h, 1000))
}

/// An age (h at 55 °C) at which reads take as many retries, among others.
const fn age_h(retries: usize) -> u64 {
    match retries {
        0 => 1,
        1 => 12,
        _ => 48,
    }
}

/// What passes when a page of `page` is read that takes `retries` retries.
fn read(scenario: &mut Scenario, page: u8, retries: usize) -> Vec<PortCall> {
    (0..2_000u64)
        .map(|wordline| {
            let at = (3 * wordline + page as u64) * STRIPE;
            // Later than what the read before it left: the end of a sense that was not needed.
            let port_calls = scenario.play(&[(100, HostOp::Read, at, PAGE)]);
            let new = |c: &PortCall| matches!(c.what, PortCallKind::Submitted(_));
            let first = port_calls.iter().position(new).unwrap();
            port_calls[first..].to_vec()
        })
        .find(|c| decoded(c).len() == retries + 1)
        .expect("some page of thousands takes as many")
}

/// The same as text. Which page it is says something of the cells and nothing of the sequence.
fn text(scenario: &mut Scenario, retries: usize) -> String {
    let port_calls = read(scenario, 0, retries);
    let FlashKind::Read {
        block, wordline, ..
    } = reads(&port_calls)[0].1.kind
    else {
        unreachable!("a read reads")
    };
    let text = scenario.text(&port_calls);
    let text = text.replace(&format!("b{} w{wordline} ", block.0), "");
    let lines = text.lines().map(|l| match l.find("#0 Read") {
        Some(at) => format!(
            "{}{}\n",
            &l[..at + 7],
            if l.ends_with("Ok") { " Ok" } else { "" }
        ),
        None => format!("{l}\n"),
    });
    lines.collect()
}

#[test]
fn sequence_pipelined_without_retries() {
    let mut scenario = scenario(PIPELINED, age_h(0));
    assert_snapshot!(text(&mut scenario, 0), @r"
         0  host      #0 Read
         0  issue     HostRead tag 0 die 0 waited 0 LSB cw ffff factory 0
     96632  event     die 0 free of tag 0
    116632  event     decoded tag 0
    116632  complete  #0 Read Ok
    ");
}

#[test]
fn sequence_sequential_with_one_retry() {
    let mut scenario = scenario(SEQUENTIAL, age_h(1));
    assert_snapshot!(text(&mut scenario, 1), @r"
         0  host      #0 Read
         0  issue     HostRead tag 0 die 0 waited 0 LSB cw ffff factory 0
     96632  event     die 0 free of tag 0
    116632  event     failed tag 0: cw 0400
    116632  issue     HostRetry tag 0 die 0 waited 0 LSB cw 0400 factory 1
    196984  event     die 0 free of tag 0
    216984  event     decoded tag 0
    216984  complete  #0 Read Ok
    ");
}

#[test]
fn sequence_pipelined_with_one_retry() {
    let mut scenario = scenario(PIPELINED, age_h(1));
    assert_snapshot!(text(&mut scenario, 1), @r"
         0  host      #0 Read
         0  issue     HostRead tag 0 die 0 waited 0 LSB cw ffff factory 0
     96632  event     die 0 free of tag 0
    116632  event     failed tag 0: cw 0400
    116632  issue     HostRetry tag 0 die 0 waited 0 LSB cw 0400 factory 1
    116632  issue     HostRetry tag 4129 die 0 after 0 LSB cw 0400 factory 2
    221184  event     decoded tag 0
    221184  issue     HostRetry tag 4129 die 0 waited 0 cancel 4129
    221184  complete  #0 Read Ok
    226184  event     die 0 free of tag 4129
    ");
}

#[test]
fn sequence_sequential_with_five_retries() {
    let mut scenario = scenario(SEQUENTIAL, age_h(5));
    assert_snapshot!(text(&mut scenario, 5), @r"
         0  host      #0 Read
         0  issue     HostRead tag 0 die 0 waited 0 LSB cw ffff factory 0
     97632  event     die 0 free of tag 0
    117632  event     failed tag 0: cw ffff
    117632  issue     HostRetry tag 0 die 0 waited 0 LSB cw ffff factory 1
    215264  event     die 0 free of tag 0
    235264  event     failed tag 0: cw eddf
    235264  issue     HostRetry tag 0 die 0 waited 0 LSB cw eddf factory 2
    329440  event     die 0 free of tag 0
    349440  event     failed tag 0: cw cdd5
    349440  issue     HostRetry tag 0 die 0 waited 0 LSB cw cdd5 factory 3
    440160  event     die 0 free of tag 0
    460160  event     failed tag 0: cw 0010
    460160  issue     HostRetry tag 0 die 0 waited 0 LSB cw 0010 factory 4
    540512  event     die 0 free of tag 0
    560512  event     failed tag 0: cw 0010
    560512  issue     HostRetry tag 0 die 0 waited 0 LSB cw 0010 factory 5
    640864  event     die 0 free of tag 0
    660864  event     decoded tag 0
    660864  complete  #0 Read Ok
    ");
}

#[test]
fn sequence_pipelined_with_five_retries() {
    let mut scenario = scenario(PIPELINED, age_h(5));
    assert_snapshot!(text(&mut scenario, 5), @r"
         0  host      #0 Read
         0  issue     HostRead tag 0 die 0 waited 0 LSB cw ffff factory 0
     97632  event     die 0 free of tag 0
    117632  event     failed tag 0: cw ffff
    117632  issue     HostRetry tag 0 die 0 waited 0 LSB cw ffff factory 1
    117632  issue     HostRetry tag 4129 die 0 after 0 LSB cw ffff factory 2
    239464  event     failed tag 0: cw eddf
    239464  issue     HostRetry tag 0 die 0 after 4129 LSB cw eddf factory 3
    239464  issue     HostRetry tag 4129 die 0 waited 0 output 4129 cw eddf
    318208  event     failed tag 4129: cw cdd5
    318208  issue     HostRetry tag 4129 die 0 after 0 LSB cw cdd5 factory 4
    318208  issue     HostRetry tag 0 die 0 waited 0 output 0 cw cdd5
    396952  event     failed tag 0: cw 0010
    396952  issue     HostRetry tag 0 die 0 after 4129 LSB cw 0010 factory 5
    396952  issue     HostRetry tag 4129 die 0 waited 0 output 4129 cw 0010
    468784  event     failed tag 4129: cw 0010
    468784  issue     HostRetry tag 4129 die 0 after 0 LSB cw 0010 factory 6
    468784  issue     HostRetry tag 0 die 0 waited 0 output 0 cw 0010
    550984  event     decoded tag 0
    550984  issue     HostRetry tag 4129 die 0 waited 0 cancel 4129
    550984  complete  #0 Read Ok
    555984  event     die 0 free of tag 4129
    ");
}

/// Where an LSB page of die 0 lies that takes five retries or more.
fn long_walk(scenario: &mut Scenario) -> u64 {
    WORDLINE * scenario.find(PAGE, |c| decoded(c).len() > 5).0
}

/// What is issued to the die while a walk is under way and another read comes during its first retry: the
/// class of each read, and whether it is sensed ahead.
fn a_read_behind_a_walk(retry: &[&str]) -> (Vec<(OpClass, bool)>, String) {
    let mut scenario = scenario(retry, age_h(5));
    let long = long_walk(&mut scenario);
    let port_calls = scenario.play(&[
        (100, HostOp::Read, long, PAGE),
        (280, HostOp::Read, long + WORDLINE, PAGE),
    ]);
    let issued = reads(&port_calls);
    let issued = issued.iter().map(|(_, op)| (op.class, op.after.is_some()));
    (issued.collect(), scenario.text(&port_calls))
}

const READ: (OpClass, bool) = (OpClass::HostRead, false);
const RETRY: (OpClass, bool) = (OpClass::HostRetry, false);
const AHEAD: (OpClass, bool) = (OpClass::HostRetry, true);

/// A read that waits for the die of a walk is sensed once the walk has held the die for `hold` steps; the walk
/// goes on after it, and looks ahead again when no read waits.
#[test]
fn sequence_a_pipelined_read_gives_way() {
    for (hold, expected) in [
        ("retry.hold=1", [READ, RETRY, AHEAD, READ, RETRY, AHEAD]),
        ("retry.hold=2", [READ, RETRY, AHEAD, AHEAD, READ, RETRY]),
        ("retry.hold=255", [READ, RETRY, AHEAD, AHEAD, AHEAD, AHEAD]),
    ] {
        let (issued, text) = a_read_behind_a_walk(&[PIPELINED[0], hold]);
        assert_eq!(issued[..6], expected, "{hold}\n{text}");
    }
}

/// A sequential walk gives way after each step.
#[test]
fn sequence_a_sequential_read_gives_way() {
    let (issued, text) = a_read_behind_a_walk(SEQUENTIAL);
    assert_eq!(issued[..4], [READ, RETRY, READ, RETRY], "{text}");
}

/// A program that has waited for `max_wait` has its turn in the middle of a walk, whatever `hold` says.
#[test]
fn sequence_a_pipelined_read_gives_way_to_what_has_waited_enough() {
    // When the first program of die 0 starts, and when the walk ends.
    let starts = |max_wait: &str| {
        let mut scenario = scenario(&[PIPELINED[0], "retry.hold=255", max_wait], age_h(5));
        let mut script = vec![(100, HostOp::Read, long_walk(&mut scenario), PAGE)];
        // More than a wordline of every die.
        script.extend((0..4).map(|i| (160, HostOp::Write, i * WORDLINE, WORDLINE as u32)));
        let port_calls = scenario.play(&script);
        let program = |c: &PortCall| match c.what {
            PortCallKind::Issued(op) => {
                op.die.0 == 0 && matches!(op.kind, FlashKind::Program { .. })
            }
            _ => false,
        };
        let first = port_calls.iter().find(|c| program(c));
        let first = first.expect("a wordline is full").at;
        let ended = decoded(&port_calls).last().unwrap().0;
        (first < ended, scenario.text(&port_calls))
    };
    let (before, text) = starts("firmware.max_wait=50us");
    assert!(before, "{text}");
    let (before, text) = starts("firmware.max_wait=1s");
    assert!(!before, "{text}");
}

/// The tail of mixed load on a worn drive, where one read in some thousands walks the whole table: pipelined,
/// it is no longer than sequential, since a walk does not keep its die from the reads behind it.
#[test]
fn model_a_pipelined_tail_is_no_longer() {
    let job = "[j]\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=32\nnorandommap\n";
    let tail = |retry: &[&str]| {
        let set = [
            "schemes.read_levels=ct-qlc",
            "schemes.suspend=program-erase",
            // Soft senses would end the walks.
            "schemes.read_recovery=none",
        ];
        let set: Vec<&str> = set.iter().chain(retry).copied().collect();
        let mut drive = drive(profile("ibm-qlc", &set), &aged(28, 1000), 1);
        let stats = try_run(&mut drive, job, 1, Some(40_000)).unwrap();
        stats.all.read.percentile(99.9).ns as f64 / 1e6
    };
    let (plain, piped) = (tail(SEQUENTIAL), tail(PIPELINED));
    let held = tail(&[PIPELINED[0], "retry.hold=255"]);
    println!("P99.9 ms: sequential {plain:.2}, pipelined {piped:.2}, held to the end {held:.2}");
    assert!(piped < 1.25 * plain, "{piped:.2} ms, sequential {plain:.2}");
    assert!(
        held > 3.0 * plain,
        "walks are long enough to tell: {held:.2} ms"
    );
}

#[test]
fn sequence_pipelined_from_the_first_read_on() {
    let mut scenario = scenario(FROM_FIRST, age_h(1));
    assert_snapshot!(text(&mut scenario, 0), @r"
         0  host      #0 Read
         0  issue     HostRead tag 0 die 0 waited 0 LSB cw ffff factory 0
         0  issue     HostRetry tag 4129 die 0 after 0 LSB cw ffff factory 1
    120832  event     decoded tag 0
    120832  issue     HostRetry tag 4129 die 0 waited 0 cancel 4129
    120832  complete  #0 Read Ok
    125832  event     die 0 free of tag 4129
    ");
    assert_snapshot!(text(&mut scenario, 1), @r"
         0  host      #0 Read
         0  issue     HostRead tag 0 die 0 waited 0 LSB cw ffff factory 0
         0  issue     HostRetry tag 4129 die 0 after 0 LSB cw ffff factory 1
    121832  event     failed tag 0: cw 0800
    121832  issue     HostRetry tag 0 die 0 after 4129 LSB cw 0800 factory 2
    121832  issue     HostRetry tag 4129 die 0 waited 0 output 4129 cw 0800
    186752  event     decoded tag 4129
    186752  issue     HostRetry tag 0 die 0 waited 0 cancel 0
    186752  complete  #0 Read Ok
    191752  event     die 0 free of tag 0
    ");
}

#[test]
fn sequence_single_step() {
    let mut scenario = scenario(SINGLE, age_h(5));
    assert_snapshot!(text(&mut scenario, 1), @r"
         0  host      #0 Read
         0  issue     HostRead tag 0 die 0 waited 0 LSB cw ffff factory 0
     96632  event     die 0 free of tag 0
    116632  event     failed tag 0: cw 0200
    116632  issue     HostRetry tag 0 die 0 waited 0 LSB cw 0200 levels of PageAtAnyTime
    164384  event     die 0 free of tag 0
    184384  event     decoded tag 0
    184384  complete  #0 Read Ok
    ");
}

/// Times of the drive's parts (ns).
struct Times {
    command: u64,
    cache_busy: u64,
    /// Setting other levels than those of the step before.
    levels: u64,
    sense: [u64; 3],
    transfer: u64,
    decode: u64,
}

fn times(scenario: &Scenario) -> Times {
    let p = scenario.drive.profile();
    Times {
        command: p.channel.command_ns,
        cache_busy: p.chip.timing.cache_busy_ns,
        levels: p.chip.timing.set_levels_ns,
        sense: [0, 1, 2].map(|page| scenario.sense_ns(PageType(page))),
        transfer: p.channel.transfer_ns(16 * 1152),
        decode: p.ecc.timing.setup_ns as u64,
    }
}

/// Retries of a page read.
fn retries_mean(stats: &RunStats) -> f64 {
    let retries = &stats.counters.retries;
    let steps: u64 = retries.iter().zip(0u64..).map(|(n, k)| n * k).sum();
    steps as f64 / retries.iter().sum::<u64>() as f64
}

/// Reads of a page each, at random.
fn random_pages(scenario: &mut Scenario, depth: u32, reads: u32) -> RunStats {
    let job =
        format!("[j]\nrw=randread\nbs=16k\niodepth={depth}\nnorandommap\nnumber_ios={reads}\n");
    try_run(&mut scenario.drive, &job, 1, None).unwrap()
}

/// Times between decodes of which every codeword failed, and failed again: whole retry steps (ns).
fn whole_steps(scenario: &mut Scenario, page: u8) -> Vec<u64> {
    let mut steps = Vec::new();
    for retries in 4..7 {
        let ends = decoded(&read(scenario, page, retries));
        // The first retry begins when the first read has been decoded, whatever the scheme.
        let pairs = ends[1..].windows(2);
        let whole = pairs.filter(|p| p[0].1 == 0xffff && p[1].1 == 0xffff);
        steps.extend(whole.map(|p| p[1].0.since(p[0].0).0));
    }
    assert!(!steps.is_empty(), "some page fails whole, twice");
    steps
}

/// A step takes as long as its sense, or as the transfer and decoding of the one before: PR2 says
/// 28.5 % less than both, of unpublished timings.
#[test]
fn formula_pipelined_step_takes_the_longer_part() {
    // Its own decoder, and one that is slower than a sense.
    for decoder in ["ecc.setup=20 us", "ecc.setup=300 us"] {
        let mut sum = (0, 0);
        for page in 0..3 {
            let mut plain = scenario(&[decoder], age_h(5));
            let mut piped = scenario(&[PIPELINED[0], decoder], age_h(5));
            let t = times(&plain);
            let (sense, out) = (t.sense[page as usize], t.transfer + t.decode);
            let one = t.command + t.levels + sense + out;
            // The levels are set before the page moves, as the same command begins the sense.
            let other = t.command + t.levels + t.cache_busy + sense.max(out);
            for step in whole_steps(&mut plain, page) {
                assert_eq!(step, one, "sequential, page {page}, {decoder}");
            }
            for step in whole_steps(&mut piped, page) {
                assert_eq!(step, other, "pipelined, page {page}, {decoder}");
            }
            sum = (sum.0 + one, sum.1 + other);
        }
        let cut = 100.0 * (1.0 - sum.1 as f64 / sum.0 as f64);
        println!("{decoder}: a retry step is {cut:.1} % shorter over the page types");
    }
}

/// Cache reads by the chip's times: a page moves to the cache register once it is sensed and the register free, and the next
/// sense begins then.
#[test]
fn formula_cache_reads_have_the_times_of_the_chip() {
    let mut scenario = scenario(PIPELINED, age_h(5));
    let port_calls = read(&mut scenario, 1, 5);
    let (t, drive) = (times(&scenario), &scenario.drive);
    let (medium, profile) = (drive.medium(), drive.profile());
    let cache_busy = Ns(profile.chip.timing.cache_busy_ns);
    let (mut sensed, mut moved, mut out) = (Ns::ZERO, Ns::ZERO, Ns::ZERO);
    let mut ahead = None;
    let mut checked = 0;
    let mut set = Levels::DEFAULT;
    let mut setting = |levels| {
        let changes = set != levels;
        set = levels;
        Ns(changes as u64 * t.levels)
    };
    for crossing in &port_calls {
        let at = crossing.at;
        match crossing.what {
            PortCallKind::Issued(FlashOp {
                after,
                kind:
                    FlashKind::Read {
                        page,
                        mode,
                        timing,
                        levels,
                        ..
                    },
                ..
            }) => {
                let sense = medium.read_ns(profile.mode, page, mode, timing);
                let sense = Ns(sense.unwrap());
                let changes = setting(levels);
                if after.is_some() {
                    ahead = Some((sense, changes));
                } else {
                    moved = Ns::MAX;
                    let at = at + changes + Ns(t.command);
                    sensed = at + sense;
                }
                // The first of a row of cache reads goes on as soon as it is sensed.
                if after.is_some() && moved == Ns::MAX {
                    let at = sensed + changes + Ns(t.command);
                    moved = at + cache_busy;
                    sensed = moved + sense;
                }
            }
            PortCallKind::Issued(FlashOp {
                kind: FlashKind::Output { .. },
                ..
            }) => {
                let (sense, changes) = ahead.unwrap();
                let at = sensed.max(at) + changes + Ns(t.command);
                assert!(at >= out, "the register is free");
                moved = at + cache_busy;
                sensed = moved + sense;
            }
            PortCallKind::Issued(FlashOp {
                kind: FlashKind::Cancel { .. },
                ..
            }) => {}
            PortCallKind::Event(FlashEvent::Decoded { .. }) => {
                let op = reads(&port_calls)[checked].1;
                // The first read is alone: no page has moved.
                if checked > 0 {
                    let codewords = wanted_of(&port_calls, checked, wanted(&op));
                    out = moved + Ns(profile.channel.transfer_ns(codewords * 1152));
                    assert_eq!(at, out + Ns(t.decode), "step {checked}");
                }
                checked += 1;
            }
            _ => {}
        }
    }
    assert_eq!(checked, 6);
}

/// Codewords that step `step` transfers: those the step before failed.
fn wanted_of(port_calls: &[PortCall], step: usize, issued: u64) -> u64 {
    let failed = decoded(port_calls)[step - 1].1;
    assert_eq!(failed & !issued, 0, "only what was sensed is transferred");
    failed.count_ones() as u64
}

/// Where no read fails, pipelining from the first failure on is as if it were not there.
#[test]
fn model_pipelined_without_failures_is_sequential() {
    let job = "[j]\nrw=randrw\nrwmixread=80\nbs=16k\niodepth=16\nnorandommap\nnumber_ios=3000\n";
    let run = |retry: &[&str]| {
        let mut scenario = scenario(retry, 0);
        let stats = try_run(&mut scenario.drive, job, 1, None).unwrap();
        assert_eq!(stats.counters.retries[1..].iter().sum::<u64>(), 0);
        digest_of(&stats)
    };
    assert_eq!(run(PIPELINED), run(SEQUENTIAL));
}

/// A read that comes to the end of the table has nothing more to be sensed ahead: its last page leaves
/// through the registers of its own die, as any read's does.
#[test]
fn model_the_end_of_the_table_is_output_on_its_die() {
    let year = Ns::from_h(8760);
    let state = DriveState {
        age: (year, year),
        temperature_c: 30.0,
        ..aged(0, 3000)
    };
    // What a rebuild reads would cancel senses too. The addresses of 2 TB are drawn so that some of the reads
    // come to the end of the table.
    let set = [FROM_FIRST, &["schemes.read_recovery=none", "capacity=2 TB"]].concat();
    let mut drive = drive(profile("tlc-48l", &set), &state, 2);
    let job = "[j]\nrw=randread\nbs=16k\niodepth=1\nnorandommap\nnumber_ios=20000\n";
    let stats = try_run(&mut drive, job, 2, None).unwrap();
    let failed_first = 20_000 - stats.counters.retries[0];
    // One that has nothing left to be sensed ahead cancels nothing.
    assert!(stats.counters.cancelled_senses < failed_first);
}

/// The same reads fail under every way to execute retries, but for the noise of a sense; and each
/// nanosecond of them is charged (a debug assertion for each request).
#[test]
fn model_pipelined_takes_as_many_retries() {
    let run = |retry: &[&str]| {
        let mut scenario = scenario(retry, age_h(5));
        let stats = random_pages(&mut scenario, 1, 4000);
        assert_eq!(stats.counters.uncorrectable, 0);
        (retries_mean(&stats), stats)
    };
    let (plain, piped) = (run(SEQUENTIAL), run(PIPELINED));
    let first = run(FROM_FIRST);
    let single = run(SINGLE);
    assert!(plain.0 > 2.0, "{} retries", plain.0);
    for (name, other) in [
        ("from the first failure", &piped),
        ("from the first read", &first),
    ] {
        assert!(
            (other.0 / plain.0 - 1.0).abs() < 0.01,
            "{name}: {} retries, sequential {}",
            other.0,
            plain.0
        );
        assert!(
            other.1.all.read.mean_ns() < plain.1.all.read.mean_ns(),
            "{name}"
        );
        // All but the reads that used up the table end a sense that nobody needs.
        let reads = other.1.counters.retries.iter().sum::<u64>();
        let failed = reads - other.1.counters.retries[0];
        let ended = if name.ends_with("read") {
            reads
        } else {
            failed
        };
        assert_eq!(other.1.counters.cancelled_senses, ended, "{name}");
    }
    assert!(single.0 <= 1.0, "{} retries", single.0);
    println!(
        "retries {:.2}; mean us: sequential {:.0}, pipelined {:.0}, from the first read {:.0}, single step {:.0}",
        plain.0,
        plain.1.all.read.mean_ns() / 1e3,
        piped.1.all.read.mean_ns() / 1e3,
        first.1.all.read.mean_ns() / 1e3,
        single.1.all.read.mean_ns() / 1e3,
    );
}

/// Shorter senses save time, whether steps are pipelined, whether the walk is long, and whether the last step has
/// much margin. No read is lost for them.
#[test]
fn model_adaptive_is_faster() {
    for (levels, hours, pe) in [
        ("factory", 48, 1000),
        ("frozen", 48, 1000),
        ("factory", 24, 0),
    ] {
        let run = |retry: &str| {
            let levels = format!("schemes.read_levels={levels}");
            let retry = format!("schemes.retry={retry}");
            let set = ["capacity=2 GiB", &levels, &retry];
            let mut scenario = Scenario::on("tlc-48l", &set, &aged(hours, pe));
            let stats = random_pages(&mut scenario, 1, 8000);
            assert_eq!(stats.counters.uncorrectable, 0, "{retry}");
            (retries_mean(&stats), stats.all.read.mean_ns() / 1e3)
        };
        let (plain, adaptive) = (run("sequential"), run("adaptive"));
        let (piped, both) = (run("pipelined"), run("pipelined-adaptive"));
        println!(
            "{levels}, {hours} h, {pe} P/E: retries {:.3} {:.3} {:.3} {:.3}; mean us {:.1} {:.1} {:.1} {:.1}",
            plain.0, adaptive.0, piped.0, both.0, plain.1, adaptive.1, piped.1, both.1
        );
        assert!(plain.0 > 0.02, "reads are retried");
        for (one, other) in [(plain, adaptive), (piped, both)] {
            assert!(other.1 < one.1, "mean {} us became {}", one.1, other.1);
        }
    }
}

/// Planes that share their level registers are set and sensed one after another where each needs levels of
/// its own, which is where an oracle gives them; all others share theirs.
#[test]
fn formula_planes_with_one_register_are_sensed_in_turn() {
    let row = |levels: &str, plane_levels: bool| {
        let levels = format!("schemes.read_levels={levels}");
        let planes = format!("chip.timing.plane_levels={plane_levels}");
        let set = [
            &levels,
            &planes,
            "capacity=2 GiB",
            "chip.timing.set_levels=2us",
        ];
        let mut scenario = Scenario::on("tlc-48l", &set, &aged(1, 0));
        let ends = scenario.play(&[(0, HostOp::Read, 0, 4 * PAGE)]);
        let first = decoded(&ends)[0].0.since(reads(&ends)[0].0).0;
        (first, times(&scenario))
    };
    for levels in ["factory", "frozen"] {
        assert_eq!(row(levels, true).0, row(levels, false).0, "{levels}");
    }
    let both = ["plane_levels=false", "independent_plane_reads=true"];
    let both = both.map(|s| Override::parse(&format!("chip.timing.{s}")).unwrap());
    let error = load_drive(&Library::new(), "tlc-48l", &both, AXES).unwrap_err();
    assert!(error.to_string().contains("timing.plane_levels"), "{error}");
    let ((own, t), (shared, _)) = (row("optimal", true), row("optimal", false));
    assert_eq!(shared - own, 3 * (t.levels + t.sense[0]));
}

/// A short step takes what its precharge says, and a SET FEATURE wherever the sensing time of the die, or
/// its levels, change.
#[test]
fn formula_short_steps_take_less() {
    let mut scenario = scenario(&["schemes.retry=adaptive"], age_h(5));
    // Until it knows how many retries reads take.
    random_pages(&mut scenario, 4, 6000);
    let t = times(&scenario);
    let (mut short, mut steps) = (0, 0);
    let mut set = (SenseTiming::DEFAULT, Levels::DEFAULT);
    for wordline in 0..200u64 {
        // CSB pages of the first superblocks.
        let at = (3 * 5 * wordline + 1) * STRIPE;
        let port_calls = scenario.play(&[(0, HostOp::Read, at, PAGE)]);
        for ((issued, op), (ends, _)) in reads(&port_calls).iter().zip(decoded(&port_calls)) {
            let FlashKind::Read { timing, levels, .. } = op.kind else {
                unreachable!("a read reads")
            };
            let p = scenario.drive.profile();
            let sense = p.chip.mode(p.mode).unwrap().sense;
            let pre = sense.pre_ns * timing.pre_permille as u64 / 1000;
            let sensed = 3 * (pre + sense.eval_ns + sense.disch_ns);
            let changes = (timing != set.0) as u64 * p.chip.timing.set_feature_ns
                + (levels != set.1) as u64 * t.levels;
            let transfer = p.channel.transfer_ns(wanted(op).count_ones() as u64 * 1152);
            let expected = t.command + changes + sensed + transfer + t.decode;
            // What the die was set to before the first read is not known.
            if steps > 0 {
                assert_eq!(ends.since(*issued).0, expected, "{timing:?} after {set:?}");
            }
            set = (timing, levels);
            short += (timing.pre_permille < 1000) as u32;
            steps += 1;
        }
    }
    assert!(
        short > 100 && steps > short + 200,
        "{short} of {steps} steps are short"
    );
}

/// Steps of a retry that are short, by rule: all of them as published, which adds steps where the last one fails for
/// it; those that fail anyway, which adds none; and where the expected latency is least, more of them and shorter.
/// The first step of a read never is.
#[test]
fn sequence_rules_say_which_steps_are_short() {
    let counted = |levels: &str, rule: &str, age_h: u64, pe_cycles: u32| {
        let levels = format!("schemes.read_levels={levels}");
        let rule = format!("retry.rule={rule}");
        let set = ["capacity=2 GiB", &levels, "schemes.retry=adaptive", &rule];
        let mut scenario = Scenario::on("tlc-48l", &set, &aged(age_h, pe_cycles));
        // Until it knows how many retries reads take.
        random_pages(&mut scenario, 4, 6000);
        let (mut short, mut retries) = (0u32, 0u32);
        for wordline in 0..200u64 {
            // CSB pages of the first superblocks.
            let at = (3 * 5 * wordline + 1) * STRIPE;
            let port_calls = scenario.play(&[(0, HostOp::Read, at, PAGE)]);
            for (_, op) in reads(&port_calls) {
                let FlashKind::Read { timing, levels, .. } = op.kind else {
                    unreachable!("a read reads")
                };
                let is_short = timing != SenseTiming::DEFAULT;
                match op.class {
                    OpClass::HostRead => assert!(!is_short, "{rule}: {levels:?}"),
                    _ => (short, retries) = (short + u32::from(is_short), retries + 1),
                }
            }
        }
        println!("{levels} {rule}: {short} of {retries} retries are short");
        (short, retries)
    };
    let rules = ["expected-latency", "as-published", "surely-failing"];
    let [expected, published, failing] = rules.map(|rule| counted("frozen", rule, 48, 1000));
    assert_eq!(published.0, published.1);
    assert!(failing.0 > 0 && expected.0 > 0, "{failing:?} {expected:?}");
    let [expected, published, failing] = rules.map(|rule| counted("factory", rule, 24, 0));
    assert_eq!(published.0, published.1);
    assert!(
        published.1 > expected.1 * 5 / 4,
        "{published:?} {expected:?}"
    );
    assert!(failing.1 <= expected.1, "{failing:?} adds no step");
}
