//! Unloaded latency and saturated bandwidth against closed form, for every shipped drive.

use firstread_core::StripeOrder;
use firstread_drive::profile::{DriveProfile, Kind, Library};
use firstread_drive::{Cause, DriveState};
use firstread_nand::profile::ProgramTiming;
use firstread_testkit::{IDEAL, aged, profile, run};

/// Every shipped drive, with cells that never err: each read is decoded at once.
fn shipped() -> Vec<DriveProfile> {
    let library = Library::new();
    let names = library.names(Kind::Drive);
    names.iter().map(|name| profile(name, IDEAL)).collect()
}

/// Time of the array for a read of page type `page` (ns).
fn sense_ns(p: &DriveProfile, page: usize) -> u64 {
    let mode = p.chip.mode(p.mode).unwrap();
    mode.read_ns(page)
}

/// Bytes in flash of a read of `bytes`: whole codewords.
fn stored(p: &DriveProfile, bytes: u64) -> u64 {
    let codewords = bytes / p.geometry.codeword_bytes as u64;
    codewords * u64::from(p.ecc.codeword_bits).div_ceil(8)
}

/// tR of the page, its transfer, its decode, and the way there and back.
fn unloaded_ns(p: &DriveProfile, page: usize, bytes: u64) -> u64 {
    let link = (bytes * 1_000_000_000).div_ceil(p.link.bytes_per_s);
    p.link.fetch_ns
        + p.firmware.command_ns
        + p.firmware.command_interval_ns
        + p.channel.command_ns
        + sense_ns(p, page)
        + p.channel.transfer_ns(stored(p, bytes))
        + p.ecc.timing.setup_ns as u64
        + link
        + p.link.completion_ns
}

#[test]
fn formula_unloaded_read_is_the_sum_of_its_steps() {
    for p in shipped() {
        let g = p.geometry;
        let page = u64::from(g.page_bytes);
        let dies = u64::from(g.dies());
        // The page types of a wordline follow one another over all dies and planes.
        let type_bytes = page * u64::from(g.planes) * dies;
        let slot = u64::from(g.slot_bytes);
        for page_type in 0..p.mode.bits() as usize {
            for bytes in [slot, page] {
                let expected = unloaded_ns(&p, page_type, bytes);
                let offset = page_type as u64 * type_bytes;
                let job = format!("[j]\nrw=read\nbs={bytes}\noffset={offset}\nsize={bytes}\n");
                let stats = run(p.clone(), &DriveState::default(), &job, 1);
                assert_eq!(stats.all.read.count(), 1);
                let measured = stats.all.read.mean_ns() as u64;
                assert!(
                    measured.abs_diff(expected) <= 2,
                    "{}, page type {page_type}, {bytes} B: {measured} ns, expected {expected} ns",
                    p.name
                );
            }
        }
    }
}

/// Codewords decoded as they come off the channel, or once all of them have.
#[test]
fn formula_decoding_overlaps_the_transfer_where_codewords_stream() {
    for (streams, setup_us) in [(true, 1), (false, 1), (true, 4), (false, 4)] {
        let set = [
            format!("ecc.streams={streams}"),
            format!("ecc.setup={setup_us}us"),
        ];
        let set = IDEAL.iter().copied().chain(set.iter().map(String::as_str));
        let p = profile("dc-qlc-15t", &set.collect::<Vec<_>>());
        let bytes = u64::from(p.geometry.page_bytes);
        let codewords = bytes / u64::from(p.geometry.codeword_bytes);
        let one = u64::from(p.ecc.timing.setup_ns);
        let all = one * codewords / u64::from(p.ecc.engines_per_channel);
        let transfer = p.channel.transfer_ns(stored(&p, bytes));
        let both = match streams {
            true => all.max(transfer + one),
            false => transfer + all.max(one),
        };
        let expected = unloaded_ns(&p, 0, bytes) - transfer - one + both;
        let job = format!("[j]\nrw=read\nbs={bytes}\nsize={bytes}\n");
        let stats = run(p, &DriveState::default(), &job, 1);
        let measured = stats.all.read.mean_ns() as u64;
        assert!(
            measured.abs_diff(expected) <= 2,
            "streams {streams}, {setup_us} us: {measured} ns, expected {expected} ns"
        );
    }
}

/// What bounds sequential reads (bytes/s): the link, the channels, the dies.
fn read_bounds(p: &DriveProfile) -> [f64; 3] {
    let g = &p.geometry;
    // What one read senses: where pages follow one another over dies first, its planes are far apart.
    let planes = match g.stripe {
        StripeOrder::PlaneFirst => f64::from(g.planes),
        StripeOrder::DieFirst => 1.0,
    };
    let row = f64::from(g.page_bytes) * planes;
    let transfer = (p.channel.transfer_ns(stored(p, row as u64))) as f64;
    let types = p.mode.bits() as usize;
    let sense = (0..types).map(|page| sense_ns(p, page) as f64).sum::<f64>() / types as f64;
    let command = p.channel.command_ns as f64;
    let die_ns = command + sense + transfer;
    [
        p.link.bytes_per_s as f64,
        f64::from(g.channels) * row * 1e9 / (command + transfer),
        f64::from(g.dies()) * row * 1e9 / die_ns,
    ]
}

#[test]
fn formula_saturated_reads_reach_what_bounds_them() {
    for p in shipped() {
        let bounds = read_bounds(&p);
        let bound = bounds.iter().copied().fold(f64::MAX, f64::min);
        let stats = run(
            p.clone(),
            &DriveState::default(),
            "[j]\nrw=read\nbs=1m\niodepth=128\n",
            6_000,
        );
        let measured = stats.all.read.bytes as f64 / (stats.all.runtime_ns as f64 * 1e-9);
        assert!(
            (measured / bound - 1.0).abs() < 0.002,
            "{}: {measured:.4e} B/s, bounds {bounds:?}",
            p.name
        );
    }
}

/// One channel of 64 dies, which have more data ready than it takes: each read costs the channel its
/// transfer, and its command where commands use the channel.
#[test]
fn formula_commands_take_their_share_of_a_saturated_channel() {
    for (command, occupies) in [
        ("200ns", true),
        ("2us", true),
        ("200ns", false),
        ("2us", false),
    ] {
        let command = format!("channel.command={command}");
        let occupy = format!("channel.commands_occupy={occupies}");
        let build = [
            "geometry.channels=1",
            "geometry.chips_per_channel=32",
            "geometry.dies_per_chip=2",
            "capacity=7 TB",
            // Every die has data of every wordline.
            "schemes.read_recovery=none",
            &command,
            &occupy,
        ];
        let set: Vec<&str> = IDEAL.iter().copied().chain(build).collect();
        let p = profile("dc-qlc-15t", &set);
        let each = p.channel.transfer_ns(stored(&p, 4096))
            + if occupies { p.channel.command_ns } else { 0 };
        // Each read is of the next die. What it takes until the channel is saturated, and from its last
        // command on, is in both runs.
        let run = |requests: u64| {
            let job = "[j]\nrw=read:60k\nbs=4k\niodepth=1024\n";
            let stats = run(p.clone(), &DriveState::default(), job, requests);
            assert_eq!(stats.all.read.count(), requests);
            stats.all.runtime_ns as f64
        };
        let measured = (run(9_000) - run(3_000)) / 6_000.0;
        assert!(
            (measured / each as f64 - 1.0).abs() < 0.002,
            "{build:?}: {measured} ns a read, expected {each} ns"
        );
        // Nothing is in the way of a single read.
        let job = "[j]\nrw=read\nbs=4k\nsize=4k\n";
        let stats = self::run(p.clone(), &DriveState::default(), job, 1);
        let (measured, expected) = (stats.all.read.mean_ns() as u64, unloaded_ns(&p, 0, 4096));
        assert!(
            measured.abs_diff(expected) <= 2,
            "{build:?}: {measured} ns, expected {expected} ns"
        );
    }
}

/// What bounds sequential writes (bytes/s): the link, the channels, the dies.
fn write_bounds(p: &DriveProfile) -> [f64; 3] {
    let g = &p.geometry;
    let row = f64::from(g.page_bytes) * f64::from(g.planes) * f64::from(p.mode.bits());
    let transfer = p.channel.transfer_ns(stored(p, row as u64)) as f64;
    // One die of each wordline may hold parity, which crosses its channel and is programmed as data are.
    let data = row * f64::from(g.data_dies()) / f64::from(g.dies());
    let program = match p.chip.mode(p.mode).unwrap().program {
        ProgramTiming::OneShot { wordline_ns } => wordline_ns,
        ProgramTiming::TwoStep {
            first_ns,
            second_ns,
        } => first_ns + second_ns,
    };
    [
        p.link.bytes_per_s as f64,
        f64::from(g.channels) * data * 1e9 / (transfer + p.channel.command_ns as f64),
        f64::from(g.dies()) * data * 1e9
            / (p.channel.command_ns as f64 + transfer + program as f64),
    ]
}

#[test]
fn formula_sustained_writes_reach_what_bounds_them() {
    for p in shipped() {
        let bounds = write_bounds(&p);
        let bound = bounds.iter().copied().fold(f64::MAX, f64::min);
        // The rate that `show` prints, and by which the age of a filled drive is reckoned.
        let fill = p.fill_rate().bytes_per_s() as f64;
        assert!(
            (fill / bound - 1.0).abs() < 1e-4,
            "{}: {fill:.4e} B/s, bounds {bounds:?}",
            p.name
        );
        let state = DriveState {
            fill: 0.0,
            ..DriveState::default()
        };
        // What the write buffer takes is in both runs, so the difference is without it. Where the
        // link is hardly faster than the dies, the buffer needs a hundred wordlines to fill.
        let wordline = u64::from(p.geometry.page_bytes)
            * u64::from(p.geometry.planes)
            * u64::from(p.geometry.data_dies())
            * u64::from(p.mode.bits());
        let run = |wordlines: u64| {
            let job = format!(
                "[j]\nrw=write\nbs=256k\niodepth=64\nio_size={}\n",
                wordlines * wordline
            );
            let stats = run(p.clone(), &state, &job, u64::MAX);
            (
                stats.all.write.bytes as f64,
                stats.all.runtime_ns as f64 * 1e-9,
            )
        };
        let (few, many) = (run(160), run(200));
        let measured = (many.0 - few.0) / (many.1 - few.1);
        assert!(
            (measured / bound - 1.0).abs() < 0.005,
            "{}: {measured:.4e} B/s, bounds {bounds:?}",
            p.name
        );
    }
}

#[test]
fn model_reads_return_the_last_version_written() {
    let p = profile("dc-qlc-15t", IDEAL);
    let state = DriveState {
        fill: 0.01,
        ..DriveState::default()
    };
    let job = "[global]\nbs=4k\nsize=64m\niodepth=16\nnorandommap\n\
               [w]\nrw=randrw\nio_size=400m\nbssplit=512/20:4k/50:20k/30\nblockalign=512\nnumber_ios=20000\n\
               [r]\nstonewall\nrw=read\nbs=128k\n\
               [t]\nstonewall\nrw=randtrim\nnumber_ios=2000\n\
               [again]\nstonewall\nrw=randread\nnumber_ios=10000\n";
    // A stale read ends the run with an error.
    let stats = run(p, &state, job, u64::MAX);
    assert!(
        stats.all.write.count() > 5000,
        "{} writes",
        stats.all.write.count()
    );
    assert_eq!(stats.all.trim.count(), 2000);
    assert_eq!(stats.all.uncorrectable(), 0);
}

#[test]
fn formula_time_is_charged_whole() {
    let p = profile("dc-qlc-15t", &["schemes.read_levels=factory"]);
    let stats = run(
        p,
        &aged(28, 2500),
        "[j]\nrw=randread\nbs=64k\niodepth=64\nnorandommap\n",
        5_000,
    );
    let share = stats.all.read.tail.slowest(0.01).unwrap();
    assert!((share.share.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(
        stats.counters.retries[0] < 20_000,
        "an aged drive on factory levels retries"
    );
}

/// Commands in flight at one page share its sense: a round of 32 takes one read, and what 32 of them take on
/// their way there and back.
#[test]
fn formula_one_sense_serves_all_reads_in_flight_of_a_page() {
    let p = profile("dc-qlc-15t", IDEAL);
    let job = "[j]\nrw=randread\nbs=4k\nsize=4k\nio_size=12800k\niodepth=32\nnorandommap\n";
    let stats = run(p.clone(), &DriveState::default(), job, u64::MAX);
    let rows: u64 = stats.counters.retries.iter().sum();
    assert_eq!(stats.counters.joined_reads + rows, 3_200);
    assert!(rows <= 105, "{rows} senses for 100 rounds");
    let link = (4096u64 * 1_000_000_000).div_ceil(p.link.bytes_per_s);
    let each = link + p.firmware.command_interval_ns;
    let bound = unloaded_ns(&p, 0, 4096) + 32 * each;
    let mean = stats.all.read.mean_ns() as u64;
    assert!(mean <= bound, "{mean} ns, {bound} ns at most");
}

/// Sequential reads of a slot find their rows on the way: two senses a row, that of the plane of the first
/// slot and that of the others.
#[test]
fn formula_sequential_small_reads_share_the_senses_of_their_rows() {
    let p = profile("dc-qlc-15t", IDEAL);
    let row = u64::from(p.geometry.page_bytes) * u64::from(p.geometry.planes);
    let job = "[j]\nrw=read\nbs=4k\niodepth=128\n";
    let stats = run(p, &DriveState::default(), job, 32_768);
    let rows = 32_768 * 4_096 / row;
    let senses: u64 = stats.counters.retries.iter().sum();
    assert!(senses <= 2 * rows + 16, "{senses} senses of {rows} rows");
    assert_eq!(stats.counters.joined_reads + senses, 32_768);
}

/// Writes in part of neighbouring slots: each slot is read once, and written once, unless the part of its
/// die was complete before the second write came: one in 64 slots or so is the last of such a part.
#[test]
fn formula_sequential_writes_in_part_take_as_many_slots_as_their_bytes() {
    let p = profile("dc-qlc-15t", IDEAL);
    for (job, slots) in [
        ("rw=write\nbs=4k\noffset=1k\nsize=64m", 16_385),
        ("rw=write\nbs=2k\nsize=32m", 8_192),
    ] {
        let job = format!("[j]\n{job}\niodepth=128\n");
        let stats = run(p.clone(), &DriveState::default(), &job, 16_384);
        assert_eq!(stats.all.write.count(), 16_384);
        let c = &stats.counters;
        assert!(
            (slots..slots + slots / 40).contains(&c.host_slots_written),
            "{} slots written, {slots} expected: {job}",
            c.host_slots_written
        );
        // The reads of their old versions overlap: one at a time they would take 1.5 s.
        let seconds = stats.all.runtime_ns as f64 * 1e-9;
        assert!(seconds < 0.15, "{seconds} s: {job}");
    }
}

/// How long a write waits for the programs of its wordline: all dies of a channel take their data one
/// after another, the last one programs them.
fn programmed_ns(p: &DriveProfile, bytes: u64) -> u64 {
    let g = &p.geometry;
    let row = u64::from(g.page_bytes) * u64::from(g.planes) * u64::from(p.mode.bits());
    let dies = u64::from(g.dies() / g.channels);
    let transfer = p.channel.command_ns + p.channel.transfer_ns(stored(p, row));
    let ProgramTiming::OneShot { wordline_ns } = p.chip.mode(p.mode).unwrap().program else {
        panic!("{}: a program of one step", p.name)
    };
    let link = (bytes * 1_000_000_000).div_ceil(p.link.bytes_per_s);
    p.link.fetch_ns
        + p.firmware.command_ns
        + p.firmware.command_interval_ns
        + link
        + dies * transfer
        + wordline_ns
        + p.link.completion_ns
}

/// A write with FUA waits for its program on a drive whose cache is volatile, and any write on one that
/// writes through; the rest of the wordline is padded. A flush waits for what was acknowledged before.
#[test]
fn formula_fua_and_flush_wait_for_programs_where_the_cache_is_not_protected() {
    let state = DriveState {
        fill: 0.0,
        ..DriveState::default()
    };
    for (cache, option, waits, flushes) in [
        ("protected", "sync=1", false, false),
        ("protected", "fsync=1", false, false),
        ("volatile", "", false, false),
        ("volatile", "sync=1", true, false),
        ("volatile", "fsync=1", false, true),
        ("write-through", "", true, false),
        ("write-through", "fsync=1", true, false),
    ] {
        let cache = format!("dram.write_cache={cache}");
        let set: Vec<&str> = IDEAL.iter().copied().chain([cache.as_str()]).collect();
        let p = profile("bench-4g", &set);
        let job = format!("[j]\nrw=write\nbs=4k\nnumber_ios=8\n{option}\n");
        let stats = run(p.clone(), &state, &job, u64::MAX);
        let what = format!("{cache} {option}");
        let expected = programmed_ns(&p, 4096);
        let write = stats.all.write.mean_ns() as u64;
        let flush = stats.all.flush.mean_ns() as u64;
        assert_eq!(stats.all.write.count(), 8, "{what}");
        match waits {
            true => assert!(
                write.abs_diff(expected) <= 100,
                "{what}: {write}, {expected}"
            ),
            false => assert!(write < 20_000, "{what}: {write} ns"),
        }
        match flushes {
            // Its data have crossed the link before.
            true => assert!(
                flush.abs_diff(expected) <= 1_000,
                "{what}: {flush}, {expected}"
            ),
            false => assert!(flush < 20_000, "{what}: {flush} ns"),
        }
        // Nearly all of the wait is charged to it, and none where there is none.
        for (latencies, waits) in [(&stats.all.write, waits), (&stats.all.flush, flushes)] {
            let Some(tail) = latencies.tail.slowest(1.0) else {
                continue;
            };
            let share = tail.share[Cause::Flush as usize];
            assert!(
                if waits { share > 0.97 } else { share == 0.0 },
                "{what}: {share}"
            );
        }
        let g = &p.geometry;
        let line = g.page_bytes / g.slot_bytes * u32::from(g.planes) * u32::from(g.dies());
        let padded = u64::from(line * u32::from(p.mode.bits()) - 1) * 8;
        let expected = if waits || flushes { padded } else { 0 };
        assert_eq!(stats.counters.slots_padded, expected, "{what}");
    }
}
