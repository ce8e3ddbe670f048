use super::options::{Support, markdown};
use super::*;
use crate::job::*;

fn job(options: &str) -> JobSpec {
    let text = format!("[j]\n{}\n", options.replace(' ', "\n"));
    match parse("test.fio", &text) {
        Ok(mut workload) => workload.jobs.remove(0),
        Err(e) => panic!("{options}: {e}"),
    }
}

fn error(text: &str) -> String {
    match parse("job.fio", text) {
        Ok(workload) => panic!("{text:?} gives {workload:?}"),
        Err(e) => e.to_string(),
    }
}

#[test]
fn golden_a_file_with_phases_clones_and_comments() {
    let w = parse("mixed.fio", include_str!("../../tests/data/mixed.fio")).unwrap();
    let names: Vec<_> = w
        .jobs
        .iter()
        .map(|j| (j.name.as_str(), j.section, j.clone, j.group, j.report))
        .collect();
    assert_eq!(
        names,
        [
            ("fill", 0, 0, 0, 0),
            ("readers", 1, 0, 1, 1),
            ("readers", 1, 1, 1, 1),
            ("readers", 1, 2, 1, 1),
            ("writer", 2, 0, 1, 2),
        ]
    );
    let notices: Vec<String> = w.notices.iter().map(Notice::to_string).collect();
    assert_eq!(
        notices,
        [
            "mixed.fio:3: `ioengine` is ignored: requests go to the simulated drive at the given \
             iodepth, whatever the engine",
            "mixed.fio:4: `direct` is ignored: no page cache lies between the job and the drive",
            "mixed.fio:26: block sizes vary: each block of the smallest size is where one request \
             of a pass begins, so requests may overlap (fio shortens them instead)",
        ]
    );
    let (fill, reader, writer) = (&w.jobs[0], &w.jobs[2], &w.jobs[4]);
    let mut expected = JobSpec::new("fill");
    expected.place = Location::line("mixed.fio", 9);
    expected.operations = Operations::Write;
    expected.sizes = [(); 3].map(|()| Sizes::Fixed(1 << 20));
    expected.iodepth = 8;
    expected.size = Some(Extent::Percent(50));
    expected.percentiles = vec![50.0, 99.0, 99.99];
    assert_eq!(*fill, expected);

    assert_eq!(reader.sizes[0], Sizes::Fixed(16 << 10));
    assert!(reader.random && !reader.random_map);
    let zipf = Distribution::Zipf {
        theta: 0.99,
        center: None,
    };
    assert_eq!(reader.distribution, zipf);
    assert_eq!(reader.io_size, Some(Extent::Bytes(64 << 20)));
    assert_eq!(reader.start_delay_ns, [1_000_000_000, 2_000_000_000]);
    assert_eq!(reader.offset_increment, Extent::Percent(10));

    assert_eq!(writer.modifier, Modifier::RunsOf(4));
    assert_eq!(writer.sizes[1], Sizes::Split(vec![(4096, 75), (65536, 25)]));
    assert_eq!(writer.rate, [Rate::Iops(2048); 3]); // fio's `2k` is 2048 for counts too.
    assert_eq!(writer.arrivals, Arrivals::Poisson);
    assert_eq!(writer.writes_per_flush, Some(16));
    assert_eq!(writer.runtime_ns, Some(120_000_000_000));
    let think = Think {
        time_ns: 500_000,
        blocks: 8,
    };
    assert_eq!(writer.think, Some(think));
}

#[test]
fn a_section_alone_has_fios_defaults() {
    let mut expected = JobSpec::new("j");
    expected.place = Location::line("test.fio", 1);
    assert_eq!(job(""), expected);
}

/// Every row of the table, under every name, does what the row says.
#[test]
fn every_row_of_the_table_takes_its_example() {
    for row in OPTIONS {
        for name in row.aliases.iter().chain([&row.name]) {
            assert_eq!(
                options::find(name).map(|r| r.name),
                Some(row.name),
                "{name} twice"
            );
            let mut text = format!("[j]\n{name}={}\n", row.example);
            if row.name == "ioengine" {
                text = "[j]\nioengine=libaio\n".into();
            }
            // What some options need beside them.
            match row.name {
                "time_based" => text += "runtime=1\n",
                "latency_window" | "latency_run" => text += "latency_target=1ms\n",
                "zonemode" => text += "zonesize=1m\n",
                "wait_for" => text = format!("[writers]\n{text}"),
                _ => {}
            }
            match (row.support(), parse("t", &text)) {
                (Support::Yes, Ok(w)) => {
                    assert!(
                        w.notices.iter().all(|n| !n.text.contains("is ignored")),
                        "{text}"
                    );
                }
                (Support::Ignored, Ok(w)) => {
                    let expected = format!("`{}` is ignored: {}", row.name, row.doc);
                    assert_eq!(w.notices[0].text, expected);
                }
                (Support::No, Err(WorkloadError::UnsupportedOption { option, .. })) => {
                    assert_eq!(option, row.name);
                }
                (_, other) => panic!("{text}: {other:?}"),
            }
        }
    }
}

/// The default column is what a job has that says nothing, and the example is something else.
#[test]
fn every_default_that_can_be_written_changes_nothing() {
    let words = [
        "none",
        "no limit",
        "section name",
        "shortest length",
        "size",
        "zonesize",
        "the drive behind the offset",
        "all of the drive",
    ];
    for row in OPTIONS.iter().filter(|r| r.support() == Support::Yes) {
        if !words.contains(&row.default) && row.name != "zonemode" {
            let given = job(&format!("{}={}", row.name, row.default));
            assert_eq!(given, job(""), "{}", row.name);
        }
        let no_trace = [
            "nrfiles",
            "kb_base",
            "stonewall",
            "new_group",
            "group_reporting",
            "randrepeat",
            "random_generator",
            "thinktime_blocks",
            "thinktime_blocks_type",
            "latency_window",
            "latency_run",
            "latency_percentile",
            "time_based",
            "numjobs",
            "rw_sequencer",
            "description",
            "exit_what",
            "exitall",
            "fill_device",
            "flow_id",
            "flow_sleep",
            "wait_for",
            "zonemode",
            "zonerange",
            "zoneskip",
            "plid_select",
            "plids",
            "dp_scheme",
        ];
        if !no_trace.contains(&row.name) {
            let given = job(&format!("{}={}", row.name, row.example));
            assert_ne!(given, job(""), "{}", row.name);
        }
    }
}

#[test]
fn the_reference_lists_every_option_once() {
    let text = markdown();
    for row in OPTIONS {
        let quoted = format!("`{}`", row.name);
        let lines = text.lines().filter(|l| {
            l.starts_with(&format!("| {quoted}")) || (l.starts_with("- ") && l.contains(&quoted))
        });
        assert!(lines.count() >= 1, "{}", row.name);
    }
}

#[test]
fn errors_name_file_line_and_the_nearest_option() {
    let cases = [
        (
            "[a]\nrw=randread\niodpeth=4\n",
            "job.fio:3: unknown option `iodpeth`; the nearest valid name is `iodepth`",
        ),
        (
            "[a]\nblock_size=4k\n",
            "job.fio:2: unknown option `block_size`; the nearest valid name is `blocksize`",
        ),
        (
            "[a]\nqqqqqqqqqqqqqqqqqq=1\n",
            "job.fio:2: unknown option `qqqqqqqqqqqqqqqqqq`",
        ),
        ("[a]\nbs=0\n", "job.fio:2: bs=0: must not be 0"),
        (
            "[a]\nbs=1000\n",
            "job.fio:2: bs=1000: 1000 bytes are no multiple of 512",
        ),
        ("[a]\nsize=0\n", "job.fio:2: size=0: must not be 0"),
        (
            "[a]\niodepth=0\n",
            "job.fio:2: iodepth=0: must be from 1 to 1048576",
        ),
        ("[a]\niodepth\n", "job.fio:2: iodepth=: a value is missing"),
        (
            "[a]\nruntime=5parsec\n",
            "job.fio:2: runtime=5parsec: unknown unit `parsec`; use us, ms, s, m, h or d",
        ),
        (
            "[a]\nsize=1.5g\n",
            "job.fio:2: size=1.5g: `1.5g`: write a whole number of a smaller unit",
        ),
        (
            "[a]\nrw=randomread\n",
            "job.fio:2: rw=randomread: must be one of read, write, trim, randread, randwrite, \
             randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite; did you mean `randread`?",
        ),
        (
            "[a]\nzonemode=zbd\n",
            "job.fio:2: zonemode=zbd: the drive has no zones of its own; `strided` works on any drive",
        ),
        (
            "rw=read\n",
            "job.fio:1: an option before the first [section]",
        ),
        ("[a\nrw=read\n", "job.fio:1: a section is written [name]"),
        ("[]\n", "job.fio:1: a section is written [name]"),
        (
            "[global]\nbs=4k\n",
            "job.fio: no job: a job file has at least one [section] other than [global]",
        ),
        (
            "[globals]\nbs=4k\n[a]\n",
            "job.fio:1: fio takes [globals] for a [global] section, since its name begins with \
             `global`; call it [global], or rename the job",
        ),
        (
            "[a]\ninclude other.fio\n",
            "job.fio:2: `include` is not supported: paste the included lines here",
        ),
        (
            "[a]\nsize=${SIZE}\n",
            "job.fio:2: `${SIZE}` has no value: set SIZE in the environment, or tell its value",
        ),
        (
            "[a]\nrwmixread=70\nrwmixwrite=40\n",
            "job.fio:1: job `a`: rwmixread=70 and rwmixwrite=40 do not add up to 100",
        ),
        (
            "[a]\nioengine=libaoi\n",
            "job.fio:2: ioengine=libaoi: fio has no such engine; the nearest is `libaio`",
        ),
        (
            // Said before anything else of the job, since it is why.
            "[a]\ncpuload=100\nnrfiles=7\nioengine=cpuio\n",
            "job.fio:4: ioengine=cpuio: this engine burns processor time and does no I/O",
        ),
        (
            "[a]\n[b]\nwait_for=c\n[c]\n",
            "job.fio:2: wait_for=c: no job of that name stands before `b`",
        ),
        (
            "[a]\nzonemode=strided\n",
            "job.fio:1: job `a`: zonemode=strided needs zonesize",
        ),
        (
            "[a]\nrandom_distribution=zipf:0\n",
            "job.fio:2: random_distribution=zipf:0: theta must be above 0",
        ),
        (
            "[a]\nrandom_distribution=zoned:60/10:30/20\n",
            "job.fio:2: random_distribution=zoned:60/10:30/20: shares of access add up to 90, not \
             100",
        ),
        (
            "[a]\nnrfiles=4\n",
            "job.fio:1: job `a`: nrfiles=4: a drive is one file, so what is sequential in each of \
             several is not; leave it out, or write a job for each with its `offset` and `size`",
        ),
        (
            "[a]\nnumjobs=5000\n",
            "job.fio:2: numjobs=5000: must be from 1 to 4096",
        ),
        (
            "[a]\nnumjobs=4000\n[b]\nnumjobs=97\n",
            "job.fio:3: more than 4096 jobs and clones",
        ),
        (
            "[global]\nbs=3\n[a]\n",
            "job.fio:2: bs=3: 3 bytes are no multiple of 512",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(error(text), message);
    }
}

#[test]
fn what_others_must_end_or_wait_for_is_read() {
    let w = parse(
        "t",
        "[a]\nflow=3\nflow_id=2\nflow_sleep=5\nexitall\n[b]\nnew_group\nwait_for=a\nexitall\n\
         exit_what=all\n[c]\nstonewall\nsync=dsync\n[d]\nrw=read\ntime_based\n",
    )
    .unwrap();
    let [a, b, c, d] = &w.jobs[..] else {
        panic!("{w:?}")
    };
    let flow = Flow {
        id: 2,
        weight: 3,
        sleep_ns: 5_000,
    };
    assert_eq!(a.flow, Some(flow));
    assert_eq!(
        (a.exit_all, b.exit_all),
        (Some(ExitWhat::ReportingGroup), Some(ExitWhat::All))
    );
    assert_eq!((b.wait_for, a.wait_for), (Some(0), None));
    let groups: Vec<u32> = w.jobs.iter().map(|j| j.reporting_group).collect();
    assert_eq!(groups, [0, 1, 2, 2]);
    assert!(c.fua && c.writes_per_flush.is_none());
    assert!(!d.time_based);
    let notice = "t:14: `time_based` without `runtime` has no effect, as in fio";
    assert_eq!(w.notices.last().unwrap().to_string(), notice);
}

#[test]
fn a_value_that_means_nothing_may_depend_on_the_machine() {
    let w = parse(
        "t",
        "[a]\ndirectory=${HOME}/x\nuri=nbd+unix:///?socket=${S}\n",
    )
    .unwrap();
    assert_eq!(w.notices.len(), 2);
}

#[test]
fn the_last_value_counts_and_a_repeated_one_is_named() {
    let w = parse("t", "[global]\nbs=4k\n[a]\nbs=8k\nblocksize=16k\n").unwrap();
    assert_eq!(w.jobs[0].sizes[0], Sizes::Fixed(16384));
    assert_eq!(
        w.notices[0].to_string(),
        "t:4: `bs` is given again on line 5, which counts"
    );
    assert_eq!(
        w.notices.len(),
        1,
        "a job may override [global] without a notice"
    );
}

#[test]
fn sections_and_later_globals_follow_in_order() {
    let w = parse(
        "t",
        "[global]\nrw=randread\n[a]\n[global]\niodepth=7\n[b]\nrw=write\n",
    )
    .unwrap();
    let seen: Vec<_> = w.jobs.iter().map(|j| (j.random, j.iodepth)).collect();
    assert_eq!(seen, [(true, 1), (false, 7)]);
}

#[test]
fn kb_base_counts_wherever_it_stands() {
    let w = parse("t", "[a]\nsize=512k\nkb_base=1000\n").unwrap();
    assert_eq!(w.jobs[0].size, Some(Extent::Bytes(512_000)));
}

#[test]
fn distributions_parse() {
    let zones =
        |text: &str| match job(&format!("rw=randread random_distribution={text}")).distribution {
            Distribution::Zoned(zones) => zones[0].iter().map(|z| z.size).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
    assert_eq!(zones("zoned:50/5:30/15:20/"), [5, 15, 80]);
    assert_eq!(zones("zoned:50/:30/15:20/"), [43, 15, 42]);
    let of = |text: &str| job(&format!("rw=randread random_distribution={text}")).distribution;
    assert_eq!(
        of("zipf"),
        Distribution::Zipf {
            theta: 1.1,
            center: None
        }
    );
    assert_eq!(
        of("zipf:1.2:0.25"),
        Distribution::Zipf {
            theta: 1.2,
            center: Some(0.25)
        }
    );
    assert_eq!(
        of("pareto:0.3"),
        Distribution::Pareto {
            h: 0.3,
            center: None
        }
    );
    assert_eq!(
        of("normal:10:0.75"),
        Distribution::Normal {
            deviation: 10.0,
            center: Some(0.75)
        }
    );
    let zone = |access_percent, size| Zone {
        access_percent,
        size,
    };
    let list = vec![zone(60, 10), zone(30, 20), zone(8, 30), zone(2, 40)];
    assert_eq!(
        of("zoned:60/10:30/20:8/30:2/40"),
        Distribution::Zoned([list.clone(), list.clone(), list])
    );
    let list = vec![zone(60, 20 << 30), zone(40, 100 << 30)];
    assert_eq!(
        of("zoned_abs=60/20G:40/100g,"),
        Distribution::ZonedAbsolute([list, vec![], vec![]])
    );
    for bad in [
        "zipf:0",
        "pareto:1",
        "pareto:0",
        "normal",
        "normal:0",
        "normal:100",
        "zipf:1:2",
        "zipf:1:0.5:3",
        "zipf:",
        "zipf:NaN",
        "zipf:inf",
        "random:1",
        "zoned",
        "zoned:100",
        "zoned:100/101",
        "zoned_abs:100/0",
        "gauss:1",
        "",
    ] {
        let text = format!("[j]\nrandom_distribution={bad}\n");
        assert!(parse("t", &text).is_err(), "{bad}");
    }
}

#[test]
fn modifiers_parse() {
    assert_eq!(job("rw=read:-8k").modifier, Modifier::Skip(-8192));
    assert_eq!(job("rw=write:4k").modifier, Modifier::Skip(4096));
    assert_eq!(job("rw=randread:8").modifier, Modifier::RunsOf(8));
    assert_eq!(
        job("rw=randread:8 rw_sequencer=identical").modifier,
        Modifier::RepeatsOf(8)
    );
    assert!(error("[a]\nrw=randread:-8\n").contains("is no number of requests"));
    assert!(error("[a]\nrw=read:100\n").contains("no multiple of 512"));
}

#[test]
fn formula_a_rate_of_zero_is_none() {
    let rates = |options: &str| job(options).rate;
    let iops = |n| Rate::Iops(n);
    assert_eq!(rates("rate=0"), [Rate::Unlimited; 3]);
    assert_eq!(rates("rate_iops=0"), [Rate::Unlimited; 3]);
    assert_eq!(
        rates("rate_iops=100,0"),
        [iops(100), Rate::Unlimited, Rate::Unlimited]
    );
    // It lifts the rate that was given before, of either kind, in its direction alone.
    assert_eq!(rates("rate=1m rate=0"), [Rate::Unlimited; 3]);
    let reads = [
        iops(100),
        Rate::BytesPerSecond(1 << 20),
        Rate::BytesPerSecond(1 << 20),
    ];
    assert_eq!(rates("rate=1m rate=0,1m,1m rate_iops=100,,"), reads);
    let both = error("[a]\nrate=1m\nrate_iops=100\n");
    assert!(
        both.contains("`rate` and `rate_iops` for the same direction"),
        "{both}"
    );
}

/// An alignment turns the map off: positions lie closer than blocks, so blocks overlap and no map can visit each once.
#[test]
fn formula_an_alignment_turns_the_map_off() {
    let map = |options: &str| job(&format!("rw=randread {options}")).random_map;
    assert!(map("bs=16k"));
    assert!(!map("bs=16k blockalign=4k"));
    assert!(!map("norandommap"));
    let text = "[j]\nrw=randread\nbs=16k\nblockalign=4k\n";
    let notices = parse("t", text).unwrap().notices;
    assert!(
        notices[0]
            .text
            .contains("`blockalign` turns the random map off")
    );
    // A sequential job has none to turn off.
    assert!(job("rw=read blockalign=4k").random_map);
}

/// `fill_device` is all of the drive behind the offset, whatever size is given.
#[test]
fn formula_a_filled_device_has_no_other_size() {
    for size in [
        "size=1m",
        "size=10%",
        "filesize=1m",
        "size=2m filesize=1m",
        "",
    ] {
        let spec = job(&format!("rw=write {size} fill_device=1"));
        assert_eq!((spec.size, spec.file_size), (None, None), "{size}");
        let stream = crate::JobStream::new(&spec, 64 << 20, 1).unwrap();
        assert_eq!(stream.region_bytes(), (0, 64 << 20), "{size}");
    }
    assert_eq!(job("filesize=1m fill_device=0").file_size, Some(1 << 20));
}

#[test]
fn formula_a_share_of_writes_is_one_of_reads() {
    for write in [0, 30, 100] {
        assert_eq!(
            job(&format!("rw=randrw rwmixwrite={write}")).read_percent,
            100 - write
        );
        assert_eq!(
            job(&format!("rw=randrw rwmixread={write}")).read_percent,
            write
        );
    }
    assert_eq!(job("rw=randrw rwmixread=70 rwmixwrite=30").read_percent, 70);
}

#[test]
fn formula_zones_of_a_job_are_as_long_as_what_is_moved_unless_told() {
    let strides = |options: &str| {
        let s = job(&format!("rw=read {options}")).strides;
        s.map(|s| (s.move_bytes, s.zone_bytes, s.skip_bytes))
    };
    assert_eq!(strides(""), None);
    assert_eq!(strides("zonesize=64k"), Some((65_536, 65_536, 0)));
    assert_eq!(
        strides("zonesize=64k zonerange=128k zoneskip=8k"),
        Some((65_536, 131_072, 8_192))
    );
    assert_eq!(strides("zonesize=64k zonemode=none"), None);
}

#[test]
fn formula_zones_in_bytes_have_sizes() {
    let e = error("[a]\nrandom_distribution=zoned_abs:50/1m:50/\n");
    assert!(e.starts_with("job.fio:2: random_distribution="), "{e}");
}

#[test]
fn reports_group_as_in_fio() {
    let reports = |text: &str| -> Vec<(u32, u32)> {
        let w = parse("t", text).unwrap();
        w.jobs.iter().map(|j| (j.group, j.report)).collect()
    };
    assert_eq!(reports("[a]\nnumjobs=2\n[b]\n"), [(0, 0), (0, 1), (0, 2)]);
    assert_eq!(
        reports("[global]\ngroup_reporting\n[a]\nnumjobs=2\n[b]\n[c]\nnew_group\n[d]\nstonewall\n"),
        [(0, 0), (0, 0), (0, 0), (0, 1), (1, 2)]
    );
}

mod fuzz {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

        #[test]
        fn arbitrary_text_never_panics(text in "\\PC{0,200}") {
            let _ = parse("fuzz", &text);
        }

        /// Lines of real options with values made of the characters that values are made of.
        #[test]
        fn plausible_lines_never_panic(
            lines in prop::collection::vec((0..OPTIONS.len(), "[0-9a-zkmg:/,%.=-]{0,14}"), 0..12)
        ) {
            let mut text = String::from("[j]\n");
            for (row, value) in &lines {
                text += &format!("{}={value}\n", OPTIONS[*row].name);
            }
            if let Ok(w) = parse("fuzz", &text) {
                for job in &w.jobs {
                    if let Ok(mut stream) = crate::JobStream::new(job, 1 << 30, 1) {
                        for r in stream.by_ref().take(200) {
                            prop_assert!(r.offset_bytes + u64::from(r.len_bytes) <= 1 << 30);
                            prop_assert!(r.offset_bytes % 512 == 0 && r.len_bytes % 512 == 0);
                        }
                    }
                }
            }
        }

        /// A valid file with one byte changed.
        #[test]
        fn mutations_of_a_valid_file_never_panic(at in 0usize..800, byte in 0u8..128) {
            let mut bytes = include_bytes!("../../tests/data/mixed.fio").to_vec();
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Ok(text) = String::from_utf8(bytes) {
                let _ = parse("fuzz", &text);
            }
        }
    }
}

/// What fio has no option for stands in comments: fio ignores them.
#[test]
fn formula_temperatures_stand_in_comments() {
    let text = "[global]\n; firstread: temperature=55\n[a]\nrw=read\n[b]\nstonewall\n# firstread: temperature=-10\n\
                ;firstread:delay_temperature=85.5\n; any other comment: temperature=3\n";
    let jobs = parse("t.fio", text).unwrap().jobs;
    let of = |i: usize| (jobs[i].temperature_c, jobs[i].delay_temperature_c);
    assert_eq!(of(0), (Some(55.0), None));
    assert_eq!(of(1), (Some(-10.0), Some(85.5)));
    assert_eq!(parse("t.fio", text).unwrap().hottest_c(), Some(85.5));
}

#[test]
fn formula_power_cuts_stand_in_comments() {
    let text = "[a]\nrw=read\n; firstread: power_cut=30\n[b]\nstonewall\n; firstread: power_cut=500ms\n[c]\n";
    let jobs = parse("t.fio", text).unwrap().jobs;
    let cuts: Vec<_> = jobs.iter().map(|job| job.power_cut_ns).collect();
    assert_eq!(cuts, [Some(30_000_000_000), Some(500_000_000), None]);
    let error = parse("t.fio", "[a]\n; firstread: power_cut=soon\n").unwrap_err();
    assert!(error.to_string().contains("power_cut=soon"), "{error}");
}

#[test]
fn golden_errors_of_temperatures() {
    let message = |text: &str| parse("t.fio", text).unwrap_err().to_string();
    let all = [
        message("[a]\n; firstread: temprature=55\n"),
        message("[a]\n; firstread: temperature=warm\n"),
        message("[a]\n; firstread: temperature=1000\n"),
        message("[a]\n; firstread: temperature\n"),
        message("; firstread: temperature=5\n[a]\n"),
        message("[a]\n; firstread: temperature=25\n[b]\n; firstread: temperature=55\n"),
    ];
    assert_eq!(
        all.join("\n"),
        "t.fio:2: unknown option `temprature`; the nearest valid name is `temperature`\n\
         t.fio:2: temperature=warm: `warm` is not a number\n\
         t.fio:2: temperature=1000: `1000` must be from -55 to 150\n\
         t.fio:2: temperature=: a value is missing\n\
         t.fio:1: an option before the first [section]\n\
         t.fio:3: job `b`: temperature=55, but job `a` of the same phase has 25: a drive has one temperature at a \
         time; part the jobs by `stonewall`, or give one temperature"
    );
}

/// A prefix is a name within the folder of results; without one it is the name of the job.
#[test]
fn formula_logs_that_a_job_asks_for() {
    assert_eq!(job("").logs, JobLogs::NONE);
    let asked = "write_iops_log=/x/y/a write_lat_log log_avg_msec=100 log_max_value per_job_logs=0";
    let expected = JobLogs {
        iops: Some("a".into()),
        bw: None,
        lat: Some("j".into()),
        window_ms: 100,
        value: LogValue::Max,
        per_job: false,
    };
    assert_eq!(job(asked).logs, expected);
    // Without a window fio logs each request, and here it is told what there is in place of that.
    for (window, ms, is_told) in [
        ("", 500, true),
        ("log_avg_msec=0", 500, true),
        ("log_avg_msec=7", 7, false),
    ] {
        let w = parse("t", &format!("[j]\nwrite_bw_log=b\n{window}\n")).unwrap();
        assert_eq!(w.jobs[0].logs.window_ms, ms);
        let [notice] = &w.notices[..] else {
            panic!("{:?}", w.notices);
        };
        assert!(notice.text.contains("kept by `firstread run --out DIR`"));
        assert_eq!(
            notice.text.contains("a line each 500 ms"),
            is_told,
            "{notice}"
        );
    }
    for wrong in [
        "write_bw_log=a/",
        "write_bw_log=..",
        "log_window_value=both",
        "log_avg_msec=1e30",
    ] {
        let error = parse("t", &format!("[j]\n{wrong}\n")).unwrap_err();
        assert!(
            matches!(error, WorkloadError::BadValue { .. }),
            "{wrong}: {error}"
        );
    }
}
