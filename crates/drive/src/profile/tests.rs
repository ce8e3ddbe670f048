use std::fmt::Debug;

use firstread_core::CellMode;
use firstread_core::params::{Axis, Need, Param, ParamKind, Role, Scheme};
use firstread_ecc::Code;
use firstread_nand::profile::ProgramTiming;
use proptest::prelude::*;

use super::drive::Cells;
use super::*;

const fn number(key: &'static str, unit: &'static str, default: i64, min: i64, max: i64) -> Param {
    Param {
        key,
        doc: "",
        kind: ParamKind::Number {
            unit,
            default,
            min,
            max,
        },
    }
}

const CALIBRATION: &[Param] = &[
    number(
        "interval",
        "ns",
        18_000_000_000_000,
        1_000_000_000,
        i64::MAX,
    ),
    number("threshold", "permille", 10, 0, 1_000),
    number("pages", "pages", 64, 1, 4_096),
    number("start", "units", 0, -128, 127),
    Param {
        key: "tracking",
        doc: "",
        kind: ParamKind::Flag(true),
    },
    Param {
        key: "direction",
        doc: "",
        kind: ParamKind::Choice(&["corrected", "as-printed"]),
    },
];

const fn scheme(name: &'static str, role: Role, params: &'static [Param]) -> Scheme {
    Scheme {
        name,
        summary: "",
        source: "",
        role,
        needs: &[],
        ordered: &[],
        params,
    }
}

const fn needing(needs: &'static [Need], name: &'static str) -> Scheme {
    Scheme {
        needs,
        ..scheme(name, Role::Scheme, &[])
    }
}

/// Axes of a firmware with the schemes that shipped drives name.
static AXES: &[Axis] = &[
    Axis {
        name: "read_levels",
        summary: "",
        schemes: &[
            scheme("factory", Role::Baseline, &[]),
            scheme(
                "frozen",
                Role::Scheme,
                &[number("entries", "entries", 3, 1, 9)],
            ),
            scheme("ct-qlc", Role::Scheme, CALIBRATION),
        ],
    },
    Axis {
        name: "retry",
        summary: "",
        schemes: &[
            scheme("sequential", Role::Baseline, &[]),
            needing(&[Need::WholeDie], "pipelined"),
        ],
    },
    Axis {
        name: "suspend",
        summary: "",
        schemes: &[
            scheme("none", Role::Baseline, &[]),
            scheme("program-erase", Role::Scheme, &[]),
        ],
    },
    Axis {
        name: "wear",
        summary: "",
        schemes: &[
            scheme("none", Role::Baseline, &[]),
            scheme("static", Role::Scheme, &[]),
        ],
    },
    Axis {
        name: "read_recovery",
        summary: "",
        schemes: &[
            scheme("none", Role::Baseline, &[]),
            needing(&[Need::StripeParity], "parity"),
            needing(&[Need::SoftDecoder, Need::StripeParity], "soft-parity"),
        ],
    },
    Axis {
        name: "gc_victim",
        summary: "",
        schemes: &[
            scheme("fifo", Role::Baseline, &[]),
            scheme("greedy", Role::Scheme, &[]),
            scheme("cost-benefit", Role::Scheme, &[]),
            scheme("d-choices", Role::Scheme, &[]),
        ],
    },
    Axis {
        name: "refresh",
        summary: "",
        schemes: &[
            scheme("none", Role::Baseline, &[]),
            scheme(
                "read-count",
                Role::Scheme,
                &[number("reads", "reads", 60_000, 1, 1 << 40)],
            ),
        ],
    },
];

fn set(texts: &[&str]) -> Vec<Override> {
    texts.iter().map(|t| Override::parse(t).unwrap()).collect()
}

fn drive(name: &str, overrides: &[&str]) -> Result<DriveProfile, ProfileError> {
    load_drive(&Library::new(), name, &set(overrides), AXES)
}

fn chip(name: &str, overrides: &[&str]) -> Result<LoadedChip, ProfileError> {
    load_chip(&Library::new(), name, &set(overrides))
}

/// A library whose only own profile is `text`, called `mine`.
fn mine(kind: Kind, text: &str) -> Library {
    let mut library = Library::new();
    library.add(kind, "mine", text);
    library
}

fn message(result: Result<impl Debug, ProfileError>) -> String {
    result.unwrap_err().to_string()
}

/// The struct without its listing.
fn resolved(drive: &DriveProfile) -> String {
    let drive = DriveProfile {
        resolved: Vec::new(),
        ..drive.clone()
    };
    format!("{drive:?}")
}

/// The earlier name of a drive is the drive, under its name today, and it is no name of its own.
#[test]
fn sequence_an_earlier_name_is_the_drive_of_today() {
    let library = Library::new();
    let of = |name: &str| load_drive(&library, name, &[], AXES).unwrap();
    let (earlier, today) = (of("ct-qlc"), of("dc-qlc-15t"));
    assert_eq!(earlier.resolved, today.resolved);
    assert_eq!(earlier.name, "dc-qlc-15t");
    assert!(library.has(Kind::Drive, "ct-qlc") && !library.has(Kind::Chip, "ct-qlc"));
    assert!(!library.names(Kind::Drive).contains(&"ct-qlc"));
    // What a dump knows its drive by has no name in it.
    let named = load_drive(&library, "ct-qlc", &set(&["name=mine"]), AXES).unwrap();
    assert_eq!(named.name, "mine");
    assert!(named.fixed().eq(today.fixed()));
    // Whoever has a drive of that name has that one.
    let mut own = Library::new();
    own.add(
        Kind::Drive,
        "ct-qlc",
        "based_on = \"bench-4g\"\nname = \"own\"\n",
    );
    assert_eq!(load_drive(&own, "ct-qlc", &[], AXES).unwrap().name, "own");
}

/// A profile that says nothing of itself has not the summary of its base, which would be untrue of it.
#[test]
fn sequence_a_profile_has_a_summary_of_its_own() {
    let summary = |text: &str| {
        let mut library = Library::new();
        library.add(Kind::Drive, "mine.toml", text);
        load_drive(&library, "mine.toml", &[], AXES)
            .unwrap()
            .summary
    };
    let text = "based_on = \"bench-4g\"\nname = \"mine\"\n";
    assert_eq!(summary(text), "bench-4g with changes of its own");
    let told = format!("{text}summary = \"What it is\"\n");
    assert_eq!(summary(&told), "What it is");
}

#[test]
fn smoke_every_shipped_chip_loads() {
    for (name, _) in CHIPS {
        let loaded = chip(name, &[]).unwrap_or_else(|e| panic!("{name}:\n{e}"));
        assert_eq!(&loaded.chip.name, name);
        for mode in [CellMode::Slc, CellMode::Mlc, CellMode::Tlc] {
            assert!(
                loaded.chip.mode(mode).is_some(),
                "{name} has no {}",
                mode.name()
            );
        }
        for entry in &loaded.resolved {
            let numeric = entry
                .value
                .starts_with(|c: char| "[-0123456789".contains(c));
            assert!(
                !numeric || entry.source.len() > 5,
                "{name}: {} has no source",
                entry.path
            );
            assert!(!entry.overridden, "{name}: {}", entry.path);
        }
    }
}

#[test]
fn smoke_every_shipped_drive_loads() {
    use firstread_firmware::policy::AXES;
    for (name, _) in DRIVES {
        let drive = load_drive(&Library::new(), name, &[], AXES);
        let drive = drive.unwrap_or_else(|e| panic!("{name}:\n{e}"));
        assert_eq!(&drive.name, name);
        assert!(drive.fill_rate().bytes_per_s() > 0);
        assert_eq!(drive.schemes.len(), AXES.len());
        assert!(Code::named(&drive.ecc.code).is_ok());
    }
}

/// Drives that stand for products have what products have; test drives and emulators have the baseline of an
/// axis. A drive that is neither fails here, so that its schemes are decided.
#[test]
fn formula_products_have_the_schemes_of_products_and_test_drives_the_baselines() {
    use firstread_firmware::policy::AXES;
    const AXES_DECIDED: [&str; 5] = ["suspend", "wear", "read_recovery", "gc_victim", "refresh"];
    const PRODUCT: [&str; 5] = [
        "program-erase",
        "static",
        "soft-parity",
        "cost-benefit",
        "read-count",
    ];
    // A threshold code gains nothing from soft senses, and FlashCore modules decode hard decisions alone.
    const HARD_DECISIONS: [&str; 5] = [
        "program-erase",
        "static",
        "parity",
        "cost-benefit",
        "read-count",
    ];
    const BASELINES: [&str; 5] = ["none", "none", "none", "fifo", "none"];
    const EMULATOR: [&str; 5] = ["none", "none", "none", "cost-benefit", "none"];
    /// It has wear leveling, which its paper is about.
    const SIMULATOR: [&str; 5] = ["none", "static", "none", "cost-benefit", "none"];
    for (name, _) in DRIVES {
        let expected = match *name {
            "dc-qlc-15t" | "ct-qlc-recommended" | "ct-qlc-as-printed" => PRODUCT,
            "fg-qlc" | "ibm-qlc" | "ibm-qlc-paca" | "a-tlc" | "s-tlc" => PRODUCT,
            "tlc-48l" | "ibm-fcm2" => HARD_DECISIONS,
            "raro-femu" => EMULATOR,
            "dwr-256g" => SIMULATOR,
            "bench-512g" | "bench-4g" => BASELINES,
            _ => panic!("{name}: is it a product?"),
        };
        let drive = load_drive(&Library::new(), name, &[], AXES).unwrap();
        for (axis, expected) in AXES_DECIDED.iter().zip(expected) {
            let scheme = drive.scheme(axis).unwrap().scheme;
            assert_eq!(scheme.name, expected, "{name}: {axis}");
            // A bench drive's baseline is written down, and what a product has says why.
            let path = format!("schemes.{axis}");
            let entry = drive.resolved.iter().find(|e| e.path == path).unwrap();
            let is_baseline = scheme.role == Role::Baseline;
            assert!(
                is_baseline || entry.source.len() > 20,
                "{name}: {path} has no source"
            );
        }
        assert_eq!(
            drive.geometry.stripe_parity,
            expected[2].contains("parity"),
            "{name}"
        );
    }
}

/// TLC drives that stand for products keep their read levels true, as products do, and learn them from an earlier fill.
#[test]
fn formula_tlc_products_read_with_levels_that_are_kept_true() {
    use firstread_firmware::policy::AXES;
    for name in ["a-tlc", "s-tlc"] {
        let drive = load_drive(&Library::new(), name, &[], AXES).unwrap();
        let ct_qlc = load_drive(&Library::new(), "dc-qlc-15t", &[], AXES).unwrap();
        assert_eq!(drive.scheme("read_levels").unwrap().scheme.name, "ct-qlc");
        assert_eq!(drive.history, ct_qlc.history, "{name}");
        let entry = drive
            .resolved
            .iter()
            .find(|e| e.path == "schemes.read_levels");
        assert_ne!(entry.unwrap().source, "", "{name}: no source");
    }
}

#[test]
fn every_scheme_of_the_firmware_can_be_chosen() {
    use firstread_firmware::policy::AXES;
    for (name, _) in DRIVES {
        let loaded = load_drive(&Library::new(), name, &[], AXES);
        assert!(loaded.is_ok(), "{name}: {}", message(loaded));
    }
    for axis in AXES {
        for scheme in axis.schemes {
            let set = [Override::new(
                &format!("schemes.{}", axis.name),
                scheme.name,
            )];
            let drive = match scheme.requires(Need::CellModes) {
                true => "raro-femu",
                false => "ct-qlc",
            };
            let first = load_drive(&Library::new(), drive, &set, AXES).unwrap();
            let choice = first.scheme(axis.name).unwrap();
            assert_eq!(choice.scheme.name, scheme.name);
            let defaults: Vec<i64> = scheme.params.iter().map(Param::default).collect();
            assert_eq!(choice.values, defaults, "{}", scheme.name);
            // Each parameter is listed in a form that sets it to the same value.
            let replay: Vec<Override> = first
                .resolved
                .iter()
                .map(ResolvedEntry::to_override)
                .collect();
            let second = load_drive(&Library::new(), drive, &replay, AXES)
                .unwrap_or_else(|e| panic!("{}: {e}", scheme.name));
            assert_eq!(resolved(&first), resolved(&second));
        }
    }
}

#[test]
fn formula_the_drive_of_the_paper() {
    let drive = drive("ct-qlc", &[]).unwrap();
    let g = drive.geometry;
    assert_eq!(drive.capacity_bytes, 15_360_000_000_000);
    assert_eq!(
        (g.dies(), g.wordlines_per_block, g.codeword_bytes),
        (128, 1_408, 1_024)
    );
    // The die of 128 that holds the parity of a wordline is not for data.
    assert_eq!(
        g.raw_bytes(CellMode::Qlc),
        410 * 1_408 * 4 * 4 * 127 * 16_384
    );
    assert_eq!(drive.over_provisioning_permille(), 251);
    assert_eq!(drive.channel.transfer_ns(16_384), 10_240);
    assert_eq!(drive.stored_bytes(16_384), 18_432);
    assert_eq!((drive.cells, drive.mode), (Cells::Modelled, CellMode::Qlc));
    assert_eq!(drive.scheme("read_levels").unwrap().scheme.name, "ct-qlc");
    assert_eq!(drive.scheme("retry").unwrap().scheme.name, "sequential");

    // 64 KiB x 4 pages on each of 128 dies, 127 of them data: a command, 16 pages that cross the channel and a
    // program of 8.6 ms. The channels, 8 x 1.6 GB/s, are faster.
    let fill = drive.fill_rate();
    assert_eq!(fill.bytes_per_s(), fill.program);
    let ms: f64 = 4.0 * 65_536.0 * 127.0 / fill.program as f64 * 1e3;
    let transfer_ns = 16.0 * 18_432.0 / 1.6 + 200.0;
    assert!((ms - 8.6 - transfer_ns / 1e6).abs() < 1e-3, "{ms}");
    let channels = 8.0 * 16.0 * 16_384.0 / transfer_ns * 1e9 * 127.0 / 128.0;
    assert!((fill.channels as f64 / channels - 1.0).abs() < 1e-6);

    // The decoders keep up with the channel at the three iterations of a codeword with few errors.
    let decode = drive.ecc.timing.setup_ns + 3 * drive.ecc.timing.iteration_ns;
    let arrival = drive.channel.transfer_ns(1_152) * u64::from(drive.ecc.engines_per_channel);
    assert!(u64::from(decode) < arrival);
}

#[test]
fn formula_sense_times_are_those_of_the_sources() {
    let mean_us = |name: &str, mode| {
        let chip = chip(name, &[]).unwrap().chip;
        let m = chip.mode(mode).unwrap();
        let pages = m.pages.len();
        (0..pages).map(|page| m.read_ns(page)).sum::<u64>() as f64 / pages as f64 / 1e3
    };
    for (name, mode, us) in [
        ("ct-qlc-176l", CellMode::Qlc, 140.6),
        ("ct-qlc-176l", CellMode::Tlc, 50.0),
        ("fg-qlc-144l", CellMode::Qlc, 85.0),
        ("ct-tlc-48l", CellMode::Tlc, 91.0),
        ("raro-hybrid", CellMode::Slc, 20.0),
        ("raro-hybrid", CellMode::Tlc, 66.0),
        ("raro-hybrid", CellMode::Qlc, 140.0),
        ("ibm-qlc-x", CellMode::Qlc, 160.0),
        ("paca-qlc-96l", CellMode::Qlc, 121.7),
        ("constant-256p", CellMode::Slc, 75.0),
    ] {
        let mean = mean_us(name, mode);
        assert!((mean - us).abs() < 0.1, "{name} {}: {mean} us", mode.name());
    }
    let fg = chip("fg-qlc-144l", &[]).unwrap().chip;
    let m = fg.mode(CellMode::Qlc).unwrap();
    let slowest = m.setup_ns + 6 * (m.sense.pre_ns + m.sense.eval_ns + m.sense.disch_ns);
    assert_eq!(slowest, 128_000);
}

/// The chip with measured times has them to the nanosecond. Without them its model is within 7 us.
#[test]
fn golden_the_measured_times_of_the_96_layer_chip() {
    let measured = [47_900, 76_200, 134_600, 228_100];
    let mut paca = chip("paca-qlc-96l", &[]).unwrap().chip;
    let of = |chip: &firstread_nand::ChipProfile| {
        let mode = chip.mode(CellMode::Qlc).unwrap();
        assert_eq!(
            [0, 1, 2, 3].map(|page| mode.pages[page].len()),
            [1, 2, 4, 8]
        );
        [0, 1, 2, 3].map(|page| mode.read_ns(page))
    };
    assert_eq!(of(&paca), measured);
    for mode in &mut paca.modes {
        mode.measured_read_ns.clear();
    }
    assert_eq!(of(&paca), [51_100, 76_800, 128_200, 231_000]);
}

#[test]
fn formula_measured_times_are_in_the_order_of_their_senses_and_one_a_page_type() {
    let with = |list: &str| {
        let text = format!(
            "based_on = \"paca-qlc-96l\"\nname = \"mine\"\n[modes.qlc]\nread = {{ value = {list}, source = \"test\" }}\n"
        );
        load_chip(&mine(Kind::Chip, &text), "mine", &[])
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    let ordered = r#"["40 us", "50 us", "60 us", "70 us"]"#;
    assert_eq!(with(ordered), Ok(()));
    for (list, says) in [
        (
            r#"["50 us", "50 us", "60 us", "70 us"]"#,
            "modes.qlc.read: page type 1 has 2 senses and takes no longer than page type 0 with 1",
        ),
        (
            r#"["40 us", "50 us", "80 us", "70 us"]"#,
            "modes.qlc.read: page type 3 has 8 senses and takes no longer than page type 2 with 4",
        ),
        (
            r#"["40 us", "50 us", "60 us"]"#,
            "modes.qlc.read: 3 values for 4 page types",
        ),
        ("[]", "modes.qlc.read: has no time"),
        (r#"["0 us", "50 us", "60 us", "70 us"]"#, "modes.qlc.read"),
    ] {
        let error = with(list).unwrap_err();
        assert!(error.contains(says), "{list}: {error}");
    }
}

#[test]
fn sequence_what_is_printed_reads_back() {
    for (name, _) in CHIPS {
        let first = chip(name, &[]).unwrap();
        let text = to_toml(&first.resolved);
        let second = load_chip(&mine(Kind::Chip, &text), "mine", &[]);
        assert_eq!(
            first,
            second.unwrap_or_else(|e| panic!("{name}:\n{e}\n{text}"))
        );
    }
    use firstread_firmware::policy::AXES;
    for (name, _) in DRIVES {
        let changes = set(&[
            "chip.retention.late.onset=2h",
            "ecc.setup=1us",
            "heat.epoch=5000",
        ]);
        let first = load_drive(&Library::new(), name, &changes, AXES).unwrap();
        let replay: Vec<Override> = first
            .resolved
            .iter()
            .map(ResolvedEntry::to_override)
            .collect();
        let second = load_drive(&Library::new(), "bench-4g", &replay, AXES).unwrap();
        assert_eq!(resolved(&first), resolved(&second), "{name}");
    }
}

/// `text` with key `path` (or every key below it) renamed.
fn rename(text: &str, path: &str, to: &str) -> String {
    let lines = text.lines().map(|line| match line.strip_prefix(path) {
        Some(rest) if rest.starts_with([' ', '.']) => format!("{to}{rest}"),
        _ => line.to_string(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_misspelled_key_is_told_the_right_one() {
    let of_chip = to_toml(&chip("ct-qlc-176l", &[]).unwrap().resolved);
    let mut of_drive = drive("ct-qlc", &[]).unwrap().resolved;
    of_drive.retain(|e| !e.path.starts_with("chip."));
    let of_drive = to_toml(&of_drive);
    for (kind, text) in [(Kind::Chip, &of_chip), (Kind::Drive, &of_drive)] {
        let mut paths: Vec<&str> = Vec::new();
        for line in text.lines() {
            let path = line.split(' ').next().unwrap();
            let tables = path.match_indices('.').map(|(i, _)| &path[..i]);
            for path in tables.chain([path]) {
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        assert!(paths.len() > 30);
        for path in paths {
            let library = mine(kind, &rename(text, path, &format!("{path}_")));
            let problems = match kind {
                Kind::Chip => load_chip(&library, "mine", &[]).map(|_| ()),
                Kind::Drive => load_drive(&library, "mine", &[], AXES).map(|_| ()),
            };
            let problems = problems.expect_err(path).problems;
            let expected = format!("unknown key; the nearest is `{path}`");
            let told = problems.iter().find(|p| p.message == expected);
            let told = told.unwrap_or_else(|| panic!("{path}: {problems:?}"));
            assert_eq!(told.key, format!("{path}_"));
            assert!(told.place.starts_with("mine:"), "{}", told.place);
        }
    }
}

#[test]
fn every_missing_key_is_named() {
    let listing = chip("ct-tlc-48l", &[]).unwrap().resolved;
    for i in 0..listing.len() {
        let mut rest = listing.clone();
        let gone = rest.remove(i);
        let problems = load_chip(&mine(Kind::Chip, &to_toml(&rest)), "mine", &[]);
        let problems = problems.expect_err(&gone.path).problems;
        // The only key of a table takes the table with it.
        let table = gone.path.rsplit_once('.').map_or("", |(table, _)| table);
        assert!(
            problems
                .iter()
                .any(|p| p.message == "is missing" && (p.key == gone.path || p.key == table)),
            "{}: {problems:?}",
            gone.path
        );
    }
}

/// Other values for `entry`, nearest first.
fn variants(entry: &ResolvedEntry) -> Vec<String> {
    let near = |n: f64| {
        [
            n * 1.01,
            n * 0.99,
            n + 1.0,
            n - 1.0,
            n * 2.0,
            n * 0.5,
            n * 0.75,
            1.0,
            0.1,
            n + 1_048_576.0,
        ]
    };
    let unit = |n: f64| match entry.unit.as_str() {
        "" => n.to_string(),
        unit => format!("\"{n} {unit}\""),
    };
    if let Ok(n) = entry.value.parse::<f64>() {
        return near(n).into_iter().filter(|m| *m != n).map(unit).collect();
    }
    let Some(list) = entry
        .value
        .strip_prefix('[')
        .and_then(|v| v.strip_suffix(']'))
    else {
        return Vec::new();
    };
    let Ok(numbers) = list
        .split(", ")
        .map(str::parse)
        .collect::<Result<Vec<f64>, _>>()
    else {
        return Vec::new();
    };
    let mut variants = Vec::new();
    for i in 0..numbers.len() {
        for m in near(numbers[i]) {
            let other = numbers
                .iter()
                .enumerate()
                .map(|(j, n)| unit(if i == j { m } else { *n }));
            variants.push(format!("[{}]", other.collect::<Vec<_>>().join(", ")));
        }
    }
    variants
}

#[test]
fn every_number_reaches_the_drive() {
    // A capacity that leaves room to shrink the rest.
    let small = Override::new("capacity", "1 TB");
    let base = load_drive(
        &Library::new(),
        "ct-qlc",
        std::slice::from_ref(&small),
        AXES,
    )
    .unwrap();
    let mut checked = 0;
    for entry in &base.resolved {
        // The only sentinel of one page, the only valley of SLC, has no other value. A memory of a few bytes holds no drive.
        if ["chip.modes.slc.sentinels", "dram.size"].contains(&entry.path.as_str()) {
            continue;
        }
        let variants = variants(entry);
        if variants.is_empty() {
            continue;
        }
        let changed = variants.iter().any(|value| {
            let set = [small.clone(), Override::new(&entry.path, value)];
            let other = load_drive(&Library::new(), "dc-qlc-15t", &set, AXES);
            other.is_ok_and(|other| resolved(&other) != resolved(&base))
        });
        assert!(
            changed,
            "{} = {} changes nothing",
            entry.path, entry.literal
        );
        checked += 1;
    }
    assert!(checked > 120, "only {checked} numbers");
}

#[test]
fn what_is_wrong_is_said() {
    for (set, expected) in [
        (
            "ecc.setup=3",
            "--set ecc.setup=3: ecc.setup: `3` has no unit; expected a time (ns, us, ms, s, min, h, d, mo, y)",
        ),
        (
            "ecc.setup=3mV",
            "--set ecc.setup=3mV: ecc.setup: `3mV` is a voltage; expected a time",
        ),
        (
            "ecc.setup=-3us",
            "--set ecc.setup=-3us: ecc.setup: `-3 us` is outside 0 to 1000000000 ns",
        ),
        ("ecc.setup=0.5ns", "`0.5 ns` is not a whole number of ns"),
        ("ecc.setup=[1]", "ecc.setup: is a list; expected a time"),
        ("ecc.setup=true", "ecc.setup: is a switch; expected a time"),
        (
            "ecc.setup={ a = 1 }",
            "ecc.setup: is a table of keys; expected a value",
        ),
        ("ecc.setup=[", "--set ecc.setup=[: "),
        (
            "ecc.setp=3us",
            "--set ecc.setp=3us: ecc.setp: unknown key; the nearest is `ecc.setup`",
        ),
        ("ecc=3us", "--set ecc=3us: `ecc` is a table of keys"),
        (
            "capacity.size=3TB",
            "--set capacity.size=3TB: `capacity` has no keys below it",
        ),
        ("eccc.setup=3us", "eccc: unknown key; the nearest is `ecc`"),
        (
            "geometry.superblock=16 MiB",
            "geometry.superblock: unknown key; a superblock is a block of each plane and die: `geometry.wordlines_per_block` makes it smaller",
        ),
        (
            "superblock_size=16 MiB",
            "superblock_size: unknown key; a superblock is a block of each plane and die",
        ),
        // Version 0.1.0 called the axis so.
        (
            "schemes.recovery=none",
            "--set schemes.recovery=none: schemes.recovery: unknown key; the nearest is `schemes.read_recovery`",
        ),
        (
            "recovery.after=0",
            "recovery: unknown key; the nearest is `read_recovery`",
        ),
        (
            "ecc.code=ldpc-2k",
            "there is no `ldpc-2k`; the nearest is `ldpc-1k` of threshold, ldpc-1k, ldpc-4k",
        ),
        (
            "chip=ct-qlc-167l",
            "there is no chip `ct-qlc-167l`; the nearest is `ct-qlc-176l`",
        ),
        (
            "chip.retention.late.onse=1h",
            "retention.late.onse: unknown key; the nearest is `retention.late.onset`",
        ),
        (
            "chip.retention.late.onset=1",
            "--set chip.retention.late.onset=1: retention.late.onset: `1` has no unit",
        ),
        (
            "chip.factory_default.temperature=151degC",
            "`151 degC` is outside -55 to 150 degC",
        ),
        (
            "chip.factory_default.temperature=-56degC",
            "`-56 degC` is outside -55 to 150 degC",
        ),
        (
            "chip.retention.late.saturation=1min",
            "retention.late.saturation: must exceed onset_h",
        ),
        (
            "chip.modes.mlc.mean=[\"-2500 mV\", \"400 mV\", \"300 mV\", \"2600 mV\"]",
            "modes.mlc.mean: states 1 and 2 are not in rising order",
        ),
        (
            "chip.modes.mlc.mean=[\"-2500 mV\", \"400 mV\"]",
            "modes.mlc.mean: 2 values for 4 states",
        ),
        (
            "chip.modes.mlc.mean=[\"-2.5 V\", \"400 mV\", \"1500 mV\", \"2600 mV\"]",
            "`400 mV` is not in the unit of the first",
        ),
        (
            "chip.modes.mlc.pages=[[1, 3], [2]]",
            "modes.mlc.sentinels: valley 2 is not on page 0",
        ),
        (
            "chip.modes.mlc.pages=[[2], [1]]",
            "modes.mlc.pages: valley 3 is on no page",
        ),
        (
            "chip.modes.mlc.pages=[[2, 3], [1, 3]]",
            "modes.mlc.pages: valley 3 is on page 0 and on page 1",
        ),
        (
            "chip.modes.tlc.pages=[[1, 3, 5], [2, 4, 6], [7]]",
            "modes.tlc.pages: states 0 and 4 share the word",
        ),
        (
            "chip.modes.mlc.sentinels=[2, 1.5]",
            "modes.mlc.sentinels: has a valley that is not whole",
        ),
        (
            "chip.modes.mlc.sentinels=[1, 3]",
            "modes.mlc.sentinels: valley 1 is not on page 0",
        ),
        (
            "chip.modes.mlc.program=[\"1 ms\", \"1 ms\", \"1 ms\"]",
            "modes.mlc.program: has more than two passes",
        ),
        (
            "chip.retention.early.onset=1h",
            "retention.early.activation_energy: is missing",
        ),
        (
            "chip.sensing.noise=60mV",
            "sensing.noise: is part of modes.qlc.sigma_mv and must be below it",
        ),
        (
            "capacity=19.4TB",
            "19400000000000 B are more than the 410 superblocks hold in qlc mode, less 3 that cleaning keeps, 7 to spare: ",
        ),
        (
            "capacity=1001B",
            "capacity: is not a multiple of `geometry.mapping_unit`",
        ),
        (
            "queues.classes=high, urgnt",
            "queues.classes: there is no `urgnt`; the nearest is `urgent` of urgent, high, medium, low",
        ),
        (
            "queues.classes=high, low",
            "queues.classes: names 2 classes, but there are 1 queues",
        ),
        ("queues.burst=3", "queues.burst: is 3; expected 1, 2, 4, 8"),
        ("queues.low_weight=0", "`0` is outside 1 to 256"),
        (
            "queues.arbitration=weighted",
            "there is no `weighted`; the nearest is `weighted-round-robin`",
        ),
        ("mode=plc", "there is no `plc`; the nearest is `"),
        (
            "geometry.page=10KiB",
            "geometry.mapping_unit: does not divide `geometry.page`",
        ),
        (
            "geometry.page=64KiB",
            "geometry.page: one sense of all planes has 256 codewords, at most 64",
        ),
        (
            "geometry.mapping_unit=512B",
            "geometry.mapping_unit: is not a multiple of the codeword, 1024 B",
        ),
        (
            "geometry.blocks_per_plane=20000",
            "geometry.blocks_per_plane: the blocks hold",
        ),
        (
            "capacity=80TB",
            "capacity: 19531250000 mapping units, those of the map among them, are more than the 17179869183",
        ),
        ("geometry.planes=5", "`5` is outside 1 to 4"),
        ("geometry.channels=0", "`0` is outside 1 to 256"),
        (
            "geometry.stripe=plan-first",
            "there is no `plan-first`; the nearest is `plane-first` of plane-first, die-first",
        ),
        (
            "channel.rate=2400MT/s",
            "channel.rate: is faster than the chip, whose `timing.io` is 1600 MT/s",
        ),
        (
            "schemes.read_levels=factry",
            "there is no `factry`; the nearest is `factory` of factory, frozen, ct-qlc",
        ),
        (
            "schemes.read_level=factory",
            "schemes.read_level: unknown key; the nearest is `schemes.read_levels`",
        ),
        (
            "read_levels.intervall=5h",
            "read_levels.intervall: unknown key; the nearest is `read_levels.interval`",
        ),
        (
            "read_levels.interval=5",
            "read_levels.interval: `5` has no unit; expected a time",
        ),
        (
            "read_levels.interval=1ms",
            "`1 ms` is outside 1000000000 to",
        ),
        (
            "read_levels.entries=4",
            "read_levels.entries: is a parameter of frozen, and the scheme is ct-qlc: write `read_levels.frozen.entries`",
        ),
        ("read_levels.frozen.entries=40", "`40` is outside 1 to 9"),
        (
            "read_levels.tracking=1",
            "read_levels.tracking: is a text; expected true or false",
        ),
        (
            "read_levels.direction=printed",
            "there is no `printed`; the nearest is `",
        ),
    ] {
        let result = drive("ct-qlc", &[set]);
        let message = message(result);
        assert!(
            message.contains(expected),
            "{set}\n  is: {message}\n  not: {expected}"
        );
    }
}

#[test]
fn where_it_is_wrong_is_said() {
    let text = "based_on = \"dc-qlc-15t\"\nname = \"mine\"\n\n[ecc]\nsetup = { value = \"3 mV\", source = \"x\" }\n\
                engines = { value = 3, source = \"x\" }\niteration = \"3 ns\"\n[link]\nfetch = { vlue = 3, source = \"x\" }\n\
                [host]\n";
    let message = message(load_drive(&mine(Kind::Drive, text), "mine", &[], AXES));
    let lines: Vec<&str> = message.lines().collect();
    assert!(lines[0].starts_with("mine:5: ecc.setup: `3 mV` is a voltage; expected a time"));
    assert_eq!(
        lines[1],
        "mine:6: ecc.engines: unknown key; the nearest is `ecc.engines_per_channel`"
    );
    assert!(lines[2].starts_with("mine:7: ecc.iteration: has no source"));
    assert_eq!(
        lines[3],
        "mine:9: link.fetch.vlue: unknown key; the nearest is `value`"
    );
    assert_eq!(lines[4], "mine:9: link.fetch: has no `value`");
    assert!(
        lines[5].starts_with("mine:10: host: unknown key; the nearest is `"),
        "{message}"
    );
    assert_eq!(lines.len(), 6, "{message}");

    for (text, expected) in [
        ("a = 1\nb = = 2\n", "mine:2: "),
        (
            "based_on = \"ct-qcl\"\n",
            "mine:1: based_on: there is no drive `ct-qcl`; the nearest is `dc-qlc-15t`",
        ),
        (
            "based_on = 3\n",
            "mine:1: based_on: is a number; expected the name of a drive",
        ),
        (
            "based_on = \"mine\"\n",
            "mine:1: based_on: profiles are based on each other in a circle",
        ),
        (
            "based_on = \"dc-qlc-15t\"\nchip = 3\n",
            "mine:2: chip: is a number; expected a text",
        ),
        (
            "based_on = \"dc-qlc-15t\"\necc = 3\n",
            "mine:2: ecc: is a number; expected a table of keys",
        ),
        (
            "based_on = \"dc-qlc-15t\"\nname = 1979-05-27\n",
            "mine:2: name: is a date; expected a text",
        ),
    ] {
        let message = self::message(load_drive(&mine(Kind::Drive, text), "mine", &[], AXES));
        assert!(message.contains(expected), "{text}{message}");
    }
    let unknown = self::message(drive("ct-qcl", &[]));
    assert!(
        unknown
            .starts_with("there is no drive `ct-qcl`; the nearest is `dc-qlc-15t` of dc-qlc-15t,")
    );
    assert!(Override::parse("a.b").is_err() && Override::parse("a..b=3").is_err());
    assert!(Override::parse("=3").is_err() && Override::parse("a=").is_err());
}

#[test]
fn what_overrides_do() {
    let drive = drive(
        "ct-qlc",
        &[
            "chip=fg-qlc-144l",
            "channel.rate=1200MT/s",
            "chip.modes.qlc.program=[\"7 ms\"]",
            "chip.retention.low_energy={ onset = \"1 h\" }",
            "chip.retention.low_energy.activation_energy=0.4eV",
            "chip.retention.low_energy.per_kpe=0%/kP/E",
            "chip.retention.low_energy.saturation=none",
            "chip.modes.qlc.retention.low_energy=2mV/decade",
            "chip.modes.tlc.retention.low_energy=2mV/decade",
            "chip.modes.mlc.retention.low_energy=2mV/decade",
            "chip.modes.slc.retention.low_energy=2mV/decade",
            // Fewer wordlines leave no room for parity.
            "schemes.read_recovery=none",
            "read_levels.ct-qlc.pages=32 pages",
            "read_levels.frozen.entries=2",
            "read_levels.threshold=2%",
            "read_levels.start=-3",
        ],
    );
    let drive = drive.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(drive.geometry.wordlines_per_block, 1_152);
    let qlc = drive.chip.mode(CellMode::Qlc).unwrap();
    assert_eq!(
        qlc.program,
        ProgramTiming::OneShot {
            wordline_ns: 7_000_000
        }
    );
    assert_eq!(qlc.retention_mv_per_decade, [8.0, 2.0]);
    assert_eq!(
        drive.chip.laws.retention.components[1].saturation_h,
        f64::INFINITY
    );
    let choice = drive.scheme("read_levels").unwrap();
    let values = choice.values();
    assert_eq!(values.get("pages"), 32);
    assert_eq!(values.get("threshold"), 20);
    assert_eq!(values.get("start"), -3);
    assert_eq!(values.get("interval"), 18_000_000_000_000);
    assert!(values.flag("tracking"));

    let entry = |path: &str| {
        drive
            .resolved
            .iter()
            .find(|e| e.path == path)
            .unwrap()
            .clone()
    };
    let late = entry("chip.retention.late.onset");
    assert_eq!(
        (late.value.as_str(), late.unit.as_str(), late.overridden),
        ("1", "h", false)
    );
    let rate = entry("channel.rate");
    assert_eq!((rate.value.as_str(), rate.overridden), ("1200", true));
    assert_eq!(rate.source, "set on the command line");
    assert_eq!(entry("read_levels.ct-qlc.interval").literal, "\"5 h\"");
    assert_eq!(entry("schemes.retry").value, "sequential");
    // Another scheme leaves the parameters of the first alone.
    let frozen = load_drive(
        &mine(
            Kind::Drive,
            "based_on = \"dc-qlc-15t\"\n[read_levels.ct-qlc]\npages = { value = 9, source = \"a test\" }",
        ),
        "mine",
        &set(&["schemes.read_levels=frozen"]),
        AXES,
    );
    assert_eq!(frozen.unwrap().scheme("read_levels").unwrap().values, [3]);
}

#[test]
fn own_files_come_first() {
    let mut library = mine(
        Kind::Drive,
        "based_on = \"dc-qlc-15t\"\nchip = \"dir/chip.toml\"\n",
    );
    let missing = message(load_drive(&library, "mine", &[], AXES));
    assert!(
        missing.contains("mine:2: chip: there is no chip `dir/chip.toml`"),
        "{missing}"
    );
    assert_eq!(
        chip_reference(&library, "mine", &[]).unwrap().as_deref(),
        Some("dir/chip.toml")
    );
    library.add(
        Kind::Chip,
        "dir/chip.toml",
        "based_on = \"ct-qlc-176l\"\nname = \"own\"\nnmae = 3\n",
    );
    let wrong = message(load_drive(&library, "mine", &[], AXES));
    assert_eq!(
        wrong,
        "dir/chip.toml:3: nmae: unknown key; the nearest is `name`"
    );
    library.add(
        Kind::Chip,
        "dir/chip.toml",
        "based_on = \"ct-qlc-176l\"\nname = \"own\"\n",
    );
    assert_eq!(
        load_drive(&library, "mine", &[], AXES).unwrap().chip.name,
        "own"
    );
    assert_eq!(library.names(Kind::Drive)[0], "mine");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn fuzz_any_text(text in "\\PC{0,80}", path in "[a-z_.]{0,20}", value in "\\PC{0,20}") {
        let _ = load_chip(&mine(Kind::Chip, &text), "mine", &[]);
        let set = [Override::new(&path, &value)];
        prop_assert!(load_drive(&mine(Kind::Drive, &text), "mine", &set, AXES).is_err());
        let _ = load_drive(&Library::new(), "dc-qlc-15t", &set, AXES);
    }

    #[test]
    fn fuzz_mutated_profiles(
        i in 0..CHIPS.len(),
        j in 0..DRIVES.len(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), "[0-9a-z\"\\[\\]{}=. \n%-]{0,3}", 0usize..6), 1..6),
    ) {
        for (kind, text) in [(Kind::Chip, CHIPS[i].1), (Kind::Drive, DRIVES[j].1)] {
            let mut text: Vec<char> = text.chars().collect();
            for (at, insert, remove) in &cuts {
                let at = at.index(text.len());
                let end = (at + remove).min(text.len());
                text.splice(at..end, insert.chars());
            }
            let text: String = text.into_iter().collect();
            let library = mine(kind, &text);
            // Whatever loads must be sound enough to compute with.
            match kind {
                Kind::Chip => drop(load_chip(&library, "mine", &[])),
                Kind::Drive => if let Ok(drive) = load_drive(&library, "mine", &[], AXES) {
                    let _ = (drive.fill_rate().bytes_per_s(), drive.over_provisioning_permille());
                },
            }
        }
    }

    #[test]
    fn fuzz_overrides(i in 0..160usize, value in "-?[0-9]{1,18}(\\.[0-9]{1,3})?(ns|h|mV|degC|eV|%|x|KiB|TB|MT/s|P/E|GB/s|)") {
        let base = drive("ct-qlc", &[]).unwrap();
        let entry = &base.resolved[i % base.resolved.len()];
        let set = [Override::new(&entry.path, &value)];
        if let Ok(drive) = load_drive(&Library::new(), "dc-qlc-15t", &set, AXES) {
            let _ = (drive.fill_rate().bytes_per_s(), drive.over_provisioning_permille());
        }
    }
}

/// Fewer wordlines than the chip's block has make smaller superblocks; the capacity has to follow, and the message says
/// to what. More than the block has is refused.
#[test]
fn formula_wordlines_of_a_block_can_be_fewer() {
    let of = |sets: &[&str]| drive("ct-qlc", sets);
    let whole = of(&[]).unwrap();
    assert_eq!(whole.geometry.wordlines_per_block, 1_408);
    let message = of(&["geometry.wordlines_per_block=88"]).map(|_| ());
    let message = message.unwrap_err().to_string();
    let scaled = whole.capacity_bytes / 16;
    assert!(
        message.contains("With 88 of 1408 wordlines a block")
            && message.contains(&format!("capacity={scaled} B")),
        "{message}"
    );
    let capacity = format!("capacity={scaled} B");
    let fewer = of(&["geometry.wordlines_per_block=88", &capacity]).unwrap();
    assert_eq!(
        fewer.geometry.raw_bytes(fewer.mode) * 16,
        whole.geometry.raw_bytes(whole.mode)
    );
    let of_default = |drive: &DriveProfile| {
        let mut entries = drive.resolved.iter();
        let entry = entries.find(|e| e.path == "geometry.wordlines_per_block");
        entry.map(|e| e.value.clone())
    };
    assert_eq!(of_default(&whole).as_deref(), Some("1408"));
    assert_eq!(of_default(&fewer).as_deref(), Some("88"));
    let message = of(&["geometry.wordlines_per_block=1409"]).map(|_| ());
    let message = message.unwrap_err().to_string();
    assert!(
        message.contains("is 1409, and a block of chip"),
        "{message}"
    );
}
