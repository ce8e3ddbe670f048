//! Drives whose cells are known by their retries alone: `cells` is `formula`, `fixed-retries` or `stages`.

use std::collections::BTreeMap;

use firstread_core::{CellMode, FlashKind, HostOp, Ns, OpClass, Tag};
use firstread_drive::port_log::PortCallKind;
use firstread_drive::profile::{DriveProfile, Library, Override, load_drive};
use firstread_drive::{Drive, DriveState, Host, LastSuperblocks, RunStats};
use firstread_firmware::observe::{SuperblockInfo, SuperblockUse};
use firstread_firmware::policy::AXES;
use firstread_testkit::{aged, drive, profile, run, try_run, voltages};
use firstread_workload::TraceRecord;

/// Reads of whole pages at random.
const RANDOM: &str = "[j]\nrw=randread\nbs=16k\niodepth=16\nnorandommap\n";

/// RARO's drive with no bad blocks, by the formula and `set`.
fn by_formula(set: &[&str]) -> DriveProfile {
    let all = [
        "cells=formula",
        "chip.failures.factory_bad=0 %",
        "chip.failures.grown_bad=0 %",
    ];
    let set: Vec<&str> = all.iter().chain(set).copied().collect();
    profile("raro-femu", &set)
}

/// The same with `retries` of every page.
fn fixed(retries: u8, set: &[&str]) -> DriveProfile {
    let retries = format!("cells_retries={retries}");
    let all = ["cells=fixed-retries", &retries];
    let set: Vec<&str> = all.iter().chain(set).copied().collect();
    profile("raro-femu", &set)
}

/// How many pages took how many retries in the run. None is lost.
fn retries(stats: &RunStats) -> BTreeMap<usize, u64> {
    assert_eq!(stats.counters.uncorrectable, 0);
    let counts = stats.counters.retries.iter().copied().enumerate();
    counts.filter(|&(_, pages)| pages > 0).collect()
}

fn mean(retries: &BTreeMap<usize, u64>) -> f64 {
    let sum: u64 = retries.iter().map(|(&k, pages)| k as u64 * pages).sum();
    sum as f64 / retries.values().sum::<u64>() as f64
}

fn range(retries: &BTreeMap<usize, u64>) -> (usize, usize) {
    let (first, last) = (retries.first_key_value(), retries.last_key_value());
    (*first.unwrap().0, *last.unwrap().0)
}

/// The firmware walks the factory's table, and takes as many steps as Fig. 6 of RARO has.
#[test]
fn formula_cells_are_retried_as_often_as_in_fig_6() {
    for (pe_cycles, expected, (low, high)) in [
        (333, 6.4, (1, 9)),
        (666, 10.0, (4, 13)),
        (1000, 14.2, (11, 16)),
    ] {
        let stats = run(by_formula(&[]), &aged(0, pe_cycles), RANDOM, 60_000);
        let retries = retries(&stats);
        let (mean, range) = (mean(&retries), range(&retries));
        let pages: u64 = retries.values().sum();
        let last = retries[&range.1] as f64 / pages as f64;
        println!(
            "{pe_cycles} P/E: mean {mean:.2}, {range:?}, {:.2} % at the last",
            100.0 * last
        );
        assert!(pages > 59_000, "{pages} pages");
        assert!((mean - expected).abs() < 0.3, "{pe_cycles} P/E: {mean}");
        assert!(range.0.abs_diff(low) <= 1 && range.1.abs_diff(high) <= 1);
        if pe_cycles == 1000 {
            assert!(range.1 == 16 && (last - 0.096).abs() < 0.006, "{last}");
        }
    }
}

/// A page that is read again fails again as often, whatever happens in between; another page by itself.
#[test]
fn formula_cells_have_the_same_retries_at_every_read_of_a_page() {
    let tables = voltages(&by_formula(&[]));
    let read = |page: u64, age_h: u64, set: &[&str]| {
        let job = format!(
            "[j]\nrw=read\nbs=16k\nsize=16k\noffset={}k\ntime_based\nruntime=1h\n",
            16 * page
        );
        let drive = Drive::new(by_formula(set), tables.clone(), &aged(age_h, 666), 1);
        retries(&try_run(&mut drive.unwrap(), &job, 1, Some(40)).unwrap())
    };
    let mut different = BTreeMap::new();
    for page in 0..16 {
        let one = read(page, 0, &[]);
        assert_eq!(one.len(), 1, "page {page}: {one:?}");
        assert_eq!(read(page, 90 * 24, &[]), one, "page {page} after 90 days");
        let ahead = read(page, 0, &["schemes.retry=pipelined"]);
        assert_eq!(ahead, one, "page {page}, sensed ahead");
        *different.entry(range(&one).0).or_insert(0) += 1;
    }
    assert!(different.len() > 4, "{different:?}");
}

/// Drives in other modes: one retry of a TLC page at most, none of an SLC page.
#[test]
fn formula_cells_of_other_modes_need_one_retry_or_none() {
    let in_mode = |mode: &str, capacity: &str, pe_cycles| {
        let set = [format!("mode={mode}"), format!("capacity={capacity}")];
        let profile = by_formula(&[&set[0], &set[1]]);
        retries(&run(profile, &aged(0, pe_cycles), RANDOM, 20_000))
    };
    let young = in_mode("tlc", "8 GiB", 333);
    assert_eq!(range(&young), (0, 0));
    let old = mean(&in_mode("tlc", "8 GiB", 1000));
    println!("TLC at 1,000 P/E: {old:.3} retries");
    assert!((old - 0.29).abs() < 0.02, "{old}");
    assert_eq!(range(&in_mode("tlc", "8 GiB", 3000)), (1, 1));
    assert_eq!(range(&in_mode("slc", "2600 MiB", 1000)), (0, 0));
}

/// On one drive, pages of superblocks that were converted to TLC are retried as TLC pages, and the others as before.
#[test]
fn formula_cells_of_a_converted_superblock_are_those_of_its_mode() {
    let profile = by_formula(&["capacity=11 GiB", "schemes.gc_victim=greedy"]);
    let mut drive = drive(profile, &aged(0, 666), 1);
    for _ in 0..10 {
        let free =
            |info: &SuperblockInfo| info.usage == SuperblockUse::Free && info.mode == CellMode::Qlc;
        let (block, _) = drive.blocks().iter().find(|(_, info)| free(info)).unwrap();
        drive.ask_mode(block, CellMode::Tlc).unwrap();
        drive.advance(drive.now() + Ns::from_s(1));
    }
    request(&mut drive, HostOp::Write, 0..2048);
    drive.log_ports();
    request(&mut drive, HostOp::Read, 0..4096);
    let mut of_mode: BTreeMap<CellMode, (u64, u64)> = BTreeMap::new();
    let mut mode_of: BTreeMap<Tag, CellMode> = BTreeMap::new();
    for call in drive.port_calls() {
        if let PortCallKind::Issued(op) = call.what
            && let FlashKind::Read { cell_mode, .. } = op.kind
        {
            let (pages, retries) = of_mode.entry(cell_mode).or_default();
            match op.class {
                OpClass::HostRead => *pages += 1,
                OpClass::HostRetry => *retries += 1,
                _ => {}
            }
            mode_of.insert(op.tag, cell_mode);
        }
    }
    println!("pages and retries: {of_mode:?}");
    let (pages, retries) = of_mode[&CellMode::Tlc];
    assert!(pages > 10_000 && retries == 0, "{of_mode:?}");
    let (pages, retries) = of_mode[&CellMode::Qlc];
    let mean = retries as f64 / pages as f64;
    assert!(pages > 10_000 && (mean - 10.0).abs() < 0.3, "{mean}");
}

/// Requests of 128 KiB for each of these MiB.
fn request(drive: &mut Drive, op: HostOp, mib: std::ops::Range<u64>) {
    let records = (mib.start * 8..mib.end * 8).map(|i| {
        Ok(TraceRecord {
            time_ns: 0,
            op,
            offset_bytes: i << 17,
            len_bytes: 1 << 17,
            device: 0,
            placement: 0,
        })
    });
    let host = Host::trace("stretch", records, 16, None);
    host.run(drive, &mut |_| {}).unwrap();
}

/// Every read takes the same number of steps, and each step the same time.
#[test]
fn formula_fixed_retries_are_those_of_every_read() {
    let job = "[j]\nrw=randread\nbs=16k\nnorandommap\n";
    let mean_ns = |n: u8, set: &[&str]| {
        let stats = run(fixed(n, set), &DriveState::default(), job, 5_000);
        assert_eq!(retries(&stats), BTreeMap::from([(n.into(), 5_000)]));
        stats.all.read.mean_ns()
    };
    let [none, one, ten] = [0, 1, 10].map(|n| mean_ns(n, &[]));
    println!("mean {none} ns, {one} with a retry, {ten} with ten");
    assert!((ten - none - 10.0 * (one - none)).abs() < 1.0);
    assert!(one - none > 140_000.0, "a step senses the page");
    // Steps that are sensed ahead are no fewer, and shorter.
    let ahead = mean_ns(10, &["schemes.retry=pipelined"]);
    assert!(ahead < ten && ahead > none + 9.0 * 140_000.0, "{ahead}");
    // The mode in which superblocks start has them, whichever it is.
    mean_ns(3, &["mode=tlc", "capacity=8 GiB"]);
    mean_ns(35, &[]);
}

/// Table I of DWR: reads take 127 us and as much again for each retry, of which the stage of the superblock's wear says how
/// many. Wear is that of the superblock: the last fifth of a drive may be in another stage than the rest.
#[test]
fn formula_stages_are_those_of_table_i() {
    // Whole pages at the end of the capacity, which lie in the last superblocks, and at its beginning.
    let job = |at: &str| format!("[j]\nrw=randread\nbs=16k\n{at}\nsize=1g\nnorandommap\n");
    let read = |at: &str, state: &DriveState| {
        let stats = run(profile("dwr-256g", &[]), state, &job(at), 1_000);
        let found = retries(&stats);
        assert_eq!(found.len(), 1, "{found:?}");
        let us = stats.all.read.mean_ns() / 1e3;
        (*found.first_key_value().unwrap().0, us)
    };
    for (pe_cycles, expected) in [
        (0, 0),
        (49, 0),
        (50, 5),
        (300, 7),
        (500, 11),
        (649, 11),
        (650, 23),
        (800, 23),
    ] {
        let (found, us) = read("offset=0", &aged(90 * 24, pe_cycles));
        assert_eq!(found, expected, "{pe_cycles} P/E");
        let published = 127.0 * (1.0 + expected as f64);
        assert!(
            (us - published) / published < 0.09,
            "{us} us, {published} in table I"
        );
        assert!(us > published, "{us} us, {published} in table I");
    }
    let old = DriveState {
        last: Some(LastSuperblocks {
            permille: 200,
            pe_cycles: 300,
        }),
        ..aged(0, 800)
    };
    assert_eq!(read("offset=0", &old).0, 23);
    assert_eq!(read("offset=230g", &old).0, 7);
}

/// The text of what is wrong with `set` on RARO's drive.
fn refused(set: &[&str]) -> String {
    // Parity takes a die of four.
    refused_of("raro-femu", &[&["capacity=8 GiB"], set].concat())
}

/// The text of what is wrong with `set` on `drive`.
fn refused_of(drive: &str, set: &[&str]) -> String {
    let set: Vec<Override> = set.iter().map(|s| Override::parse(s).unwrap()).collect();
    let loaded = load_drive(&Library::new(), drive, &set, AXES);
    loaded.map_or_else(|e| e.to_string(), |_| String::new())
}

#[test]
fn formula_stages_are_refused_where_they_say_nothing() {
    for (set, parts) in [
        (
            &[
                r#"stages.from=["0 P/E", "200 P/E", "200 P/E"]"#,
                "stages.retries=[0, 1, 2]",
            ][..],
            &["stages.from", "200 comes before 200"][..],
        ),
        (
            &[
                r#"stages.from=["0 P/E", "200 P/E"]"#,
                "stages.retries=[0, 1, 2]",
            ],
            &["stages.retries", "has 3 numbers and `from` has 2"],
        ),
        (
            &[
                r#"stages.from=["0 P/E", "200.5 P/E"]"#,
                "stages.retries=[0, 1]",
            ],
            &["stages.from", "`200.5` is no whole number"],
        ),
        (
            &[r#"stages.from=["0 P/E"]"#, "stages.retries=[1.5]"],
            &["stages.retries", "`1.5` is no whole number"],
        ),
        (
            &[r#"stages.from=["0 P/E"]"#, "stages.retries=[64]"],
            &["stages.retries", "outside 0 to 63"],
        ),
        (
            &["chip.factory_table.down=18"],
            &["cells: `stages`", "up to 23 retries", "22 entries"],
        ),
        (
            &["schemes.read_levels=ct-qlc"],
            &[
                "schemes.read_levels: `ct-qlc`",
                "`stages`",
                "choose factory",
            ],
        ),
    ] {
        let text = refused_of("dwr-256g", set);
        let says = parts.iter().all(|part| text.contains(part));
        assert!(says, "{set:?}: {text}");
    }
    // Other drives have no stages.
    let text = refused(&["cells=stages"]);
    assert!(
        text.contains("stages: is missing") && text.contains("`stages.retries`"),
        "{text}"
    );
    assert_eq!(refused_of("dwr-256g", &["cells=modelled"]), "");
    assert_eq!(refused_of("dwr-256g", &[]), "");
}

/// Cells without voltages are read by schemes that ask for none, and all others are refused by name.
#[test]
fn formula_cells_refuse_every_scheme_that_reads_voltages() {
    for cells in [
        &["cells=formula"][..],
        &["cells=fixed-retries", "cells_retries=4"],
    ] {
        let name = cells[0].strip_prefix("cells=").unwrap();
        for (axis, good) in [
            ("read_levels", &["factory"][..]),
            ("retry", &["sequential", "pipelined"]),
            ("read_recovery", &["none", "parity"]),
        ] {
            let schemes = AXES.iter().find(|a| a.name == axis).unwrap().schemes;
            let choose = format!("choose {}", good.join(" or "));
            for scheme in schemes {
                let chosen = format!("schemes.{axis}={}", scheme.name);
                let text = refused(&[cells, &[&*chosen]].concat());
                let of = [
                    format!("schemes.{axis}: `{}`", scheme.name),
                    format!("`{name}`"),
                    choose.clone(),
                ];
                match good.contains(&scheme.name) {
                    true => assert_eq!(text, "", "{chosen}"),
                    false => assert!(of.iter().all(|part| text.contains(part)), "{text}"),
                }
            }
        }
        let others = AXES
            .iter()
            .filter(|axis| !["read_levels", "retry", "read_recovery"].contains(&axis.name));
        for (axis, scheme) in others.flat_map(|a| a.schemes.iter().map(move |s| (a.name, s.name))) {
            let chosen = format!("schemes.{axis}={scheme}");
            assert_eq!(refused(&[cells, &[&*chosen]].concat()), "", "{chosen}");
        }
    }
}

#[test]
fn formula_cells_name_the_value_and_the_bound_where_they_are_refused() {
    let short = ["chip.factory_table.down=8", "chip.factory_table.up=2"];
    for (set, parts) in [
        (
            &["cells=formula", short[0], short[1]][..],
            &["cells: `formula`", "up to 16 retries", "11 entries", "63"][..],
        ),
        (
            &[
                "cells=fixed-retries",
                "cells_retries=11",
                short[0],
                short[1],
            ],
            &["`fixed-retries: 11`", "up to 11 retries", "11 entries"],
        ),
        (
            &["cells=fixed-retries", "cells_retries=64"],
            &["cells_retries", "`64` is outside 0 to 63"],
        ),
        (&["cells=fixed-retries"], &["cells_retries: is missing"]),
        (
            &["cells=ideal", "cells_retries=4"],
            &["cells_retries", "`cells` is `ideal`"],
        ),
        (
            &["cells=modelled", "cells_tlc_share=40 permille"],
            &[
                "cells_tlc_share: goes with `cells = \"formula\"`, and `cells` is `modelled`: leave one of them out",
            ],
        ),
        (
            &["cells=formula", "cells_tlc_share=101 %"],
            &["cells_tlc_share: `101 %` is outside 0 to 1000 permille"],
        ),
        (
            &["cells=formula", "cells_tlc_shares=0 permille"],
            &["cells_tlc_shares: unknown key; the nearest is `cells_tlc_share`"],
        ),
        (
            &["cells=formulas"],
            &[
                "there is no `formulas`; the nearest is `formula` of modelled, ideal, formula, fixed-retries, stages",
            ],
        ),
    ] {
        let text = refused(set);
        assert!(
            parts.iter().all(|part| text.contains(part)),
            "{set:?}: {text}"
        );
    }
    assert_eq!(
        refused(&[
            "cells=fixed-retries",
            "cells_retries=10",
            short[0],
            short[1]
        ]),
        ""
    );
    // A table whose entries repeat is walked without end.
    let set = ["cells=formula", "chip.factory_table.step=1 mV"];
    let profile = profile("raro-femu", &set);
    let tables = voltages(&profile);
    let made = Drive::new(profile, tables, &DriveState::default(), 1);
    let text = made.err().map_or(String::new(), |e| e.to_string());
    assert!(
        text.contains("in qlc mode are read by up to 17 entries")
            && text.contains("only the first "),
        "{text}"
    );
}
