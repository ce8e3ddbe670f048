//! What a profile says reaches the drive, and its listing says it again.

use firstread_core::CellMode;
use firstread_nand::profile::ProgramTiming;
use proptest::prelude::*;

use super::*;

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
