//! What the shipped chips and drives are.

use firstread_core::CellMode;
use firstread_core::params::{Need, Param, Role};
use firstread_ecc::Code;

use super::super::drive::Cells;
use super::*;

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
