//! What is told of a profile that is wrong.

use super::*;

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
