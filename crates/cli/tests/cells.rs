//! `firstread cells` as users and scripts meet it.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run the binary and read what it wrote"
)]

mod command;

use std::fs;

use command::{Folder, Ran};
use serde_json::Value;

/// `firstread cells ARGS` in `folder`.
fn run(folder: &Folder, args: &[&str]) -> Ran {
    folder.run(&[&["cells"], args].concat())
}

fn ok(folder: &Folder, args: &[&str]) -> String {
    let ran = run(folder, args);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
    ran.out
}

fn json(folder: &Folder, args: &[&str]) -> Value {
    let args = [args, &["--output", "json"]].concat();
    serde_json::from_str(&ok(folder, &args)).unwrap()
}

/// The shipped chips with their modes.
const CHIPS: [(&str, &[&str]); 10] = [
    ("ct-qlc-176l", &["slc", "mlc", "tlc", "qlc"]),
    ("fg-qlc-144l", &["slc", "mlc", "tlc", "qlc"]),
    ("ct-tlc-48l", &["slc", "mlc", "tlc"]),
    ("tlc-dc", &["slc", "mlc", "tlc"]),
    ("dwr-tlc", &["slc", "mlc", "tlc"]),
    ("ibm-qlc-x", &["slc", "mlc", "tlc", "qlc"]),
    ("paca-qlc-96l", &["slc", "mlc", "tlc", "qlc"]),
    ("raro-hybrid", &["slc", "mlc", "tlc", "qlc"]),
    ("constant-256p", &["slc", "mlc", "tlc", "qlc"]),
    ("constant-128p", &["slc", "mlc", "tlc", "qlc"]),
];

#[test]
fn golden_help() {
    insta::assert_snapshot!("cells_help", ok(&Folder::new("help"), &["--help"]));
}

#[test]
fn golden_errors() {
    let folder = Folder::new("errors");
    let small = "based_on = \"ct-qlc-176l\"\nname = \"mine\"\ndac_stepp = 4\n";
    fs::write(folder.0.join("chip.toml"), small).unwrap();
    let chip = "ct-qlc-176l";
    let cases: &[&[&str]] = &[
        &[],
        &["ct-qlc"],
        &["./nosuch.toml"],
        &["chip.toml"],
        &["ct-tlc-48l", "--mode", "qlc"],
        &[chip, "--mode", "plc"],
        &[chip, "--age", "28 hours"],
        &[chip, "--age", "1h,60min"],
        &[chip, "--age", "1h,2h,3h,4h,5h,6h,7h"],
        &[chip, "--age", "200y"],
        &[chip, "--temperature", "5000"],
        &[chip, "--pe-cycles", "0..300"],
        &[chip, "--reads", "-1"],
        &[chip, "--code", "ldpc"],
        &[chip, "--pages", "0"],
        &[chip, "--valleys", "16"],
        &[chip, "--valleys", "1,2,3"],
        &[chip, "--set", "dac_step=4 mV"],
        &[chip, "--set", "chip.dac_stepp=4 mV"],
        &[chip, "--pages", "1", "--out", "chip.toml"],
    ];
    let mut text = String::new();
    for case in cases {
        let Ran { code, out, err } = run(&folder, case);
        assert_eq!(out, "", "{case:?} prints data");
        text += &format!(
            "$ firstread cells {}\n{err}[exit {code}]\n\n",
            case.join(" ")
        );
    }
    insta::assert_snapshot!("cells_errors", text);
    assert_eq!(
        fs::read_dir(&folder.0).unwrap().count(),
        1,
        "no file is left behind"
    );
}

#[test]
fn smoke_every_chip_in_every_mode() {
    let folder = Folder::new("smoke");
    for (chip, modes) in CHIPS {
        for mode in modes {
            let args = [chip, "--mode", mode, "--pages", "5", "--out", mode];
            let text = ok(&folder, &args);
            let mode_line = format!("{} mode, 55 °C, 300 P/E", mode.to_uppercase());
            assert!(
                text.starts_with(chip) && text.contains(&mode_line),
                "{text}"
            );
            let svg = fs::read_to_string(folder.0.join(mode).join("cells.svg")).unwrap();
            assert!(!svg.contains("NaN") && svg.ends_with("</svg>\n"));
            let png = fs::read(folder.0.join(mode).join("cells.png")).unwrap();
            assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
        }
        // The densest mode where none is named.
        let config = &json(&folder, &[chip, "--pages", "1"])["firstread"]["config"];
        assert_eq!(config["mode"].as_str(), modes.last().copied());
    }
}

#[test]
fn sequence_twice_the_same_command_is_the_same_bytes() {
    let folder = Folder::new("twice");
    let args = |out| {
        [
            "ct-qlc-176l",
            "--age",
            "0h,28h",
            "--pages",
            "50",
            "--out",
            out,
        ]
    };
    let (a, b) = (ok(&folder, &args("a")), ok(&folder, &args("b")));
    assert_eq!(a, b);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder.0.join("a")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let read = |out| fs::read(folder.0.join(out).join(&name)).unwrap();
        assert!(read("a") == read("b"), "{name}");
        names.push(name);
    }
    names.sort();
    assert_eq!(names, ["cells.json", "cells.png", "cells.svg", "cells.txt"]);
    assert_eq!(fs::read_to_string(folder.0.join("a/cells.txt")).unwrap(), a);
    let printed = json(&folder, &args("c"));
    let kept = fs::read_to_string(folder.0.join("a/cells.json")).unwrap();
    assert_eq!(printed, serde_json::from_str::<Value>(&kept).unwrap());
}

#[test]
fn formula_what_ages_reads_and_settings_do() {
    let folder = Folder::new("formula");
    let few = |more: &[&str]| {
        let all = [&["ct-qlc-176l", "--pages", "100"], more].concat();
        json(&folder, &all)
    };
    let number = |v: &Value| v.as_f64().unwrap();
    let r = few(&["--age", "28h,0h,2h"]);
    let ages = r["ages"].as_array().unwrap();
    assert_eq!(r["valleys"].as_array().unwrap().len(), 15);
    // Ages come in order; levels fall and pages fail more the older they are.
    for (young, old) in [(0, 1), (1, 2)] {
        assert!(number(&ages[young]["age_h"]) < number(&ages[old]["age_h"]));
        let levels = |age: usize| ages[age]["valleys"].as_array().unwrap().iter();
        for (young, old) in levels(young).zip(levels(old)) {
            let at = |valley: &Value| number(&valley["optimum_mv"]);
            assert!(at(old) < at(young), "valley {}", old["valley"]);
        }
        let failing = |age: usize| number(&ages[age]["entries"][0]["failing"]["share"]);
        assert!(failing(old) > failing(young));
    }
    // Shares lie in their intervals.
    for age in ages {
        for entry in age["entries"].as_array().unwrap() {
            let f = &entry["failing"];
            assert_eq!(f["of"], 400);
            let (low, high) = (number(&f["interval_95"][0]), number(&f["interval_95"][1]));
            assert!((low..=high).contains(&number(&f["share"])));
        }
    }
    // At the condition the factory trimmed at, its levels are the best ones.
    let trimmed = few(&["--age", "1h", "--temperature", "25", "--pe-cycles", "0"]);
    for v in trimmed["ages"][0]["valleys"].as_array().unwrap() {
        assert!(number(&v["shift_mv"]).abs() < 1e-6, "{v}");
    }
    // Reads raise the erased state, and little else.
    let read = few(&["--age", "2h", "--reads", "50k"]);
    let rise = |s: usize| {
        number(&read["ages"][0]["states"][s]["mean_mv"]) - number(&ages[1]["states"][s]["mean_mv"])
    };
    assert!(rise(0) > 100.0 && rise(15) < 10.0);
    // A setting reaches the cells and is told.
    let set = few(&["--age", "2h", "--set", "chip.retention.late.onset=100h"]);
    let shift = |r: &Value, age: usize| number(&r["ages"][age]["valleys"][14]["shift_mv"]);
    assert!(shift(&set, 0) > shift(&r, 1) + 10.0);
    let config = &set["firstread"]["config"];
    assert_eq!(config["set"][0], "chip.retention.late.onset=100h");
    assert_eq!(config["profile"]["retention.late.onset"]["value"], "100");
    // Another seed draws other pages of the same nominal page.
    let other = few(&["--age", "2h", "--seed", "2"]);
    let page = |r: &Value, age: usize| r["ages"][age]["pages"][1].clone();
    assert_eq!(page(&other, 0)["rber_nominal"], page(&r, 1)["rber_nominal"]);
    assert_ne!(page(&other, 0)["rber_mean"], page(&r, 1)["rber_mean"]);
}

#[test]
fn sequence_a_chip_profile_of_ones_own() {
    let folder = Folder::new("own");
    let text = "based_on = \"ct-qlc-176l\"\nname = \"mine\"\nsummary = \"my chip\"\n\
                dac_step = { value = \"10 mV\", source = \"datasheet\" }\n";
    fs::write(folder.0.join("mine.toml"), text).unwrap();
    let r = json(&folder, &["mine.toml", "--mode", "tlc", "--pages", "1"]);
    assert_eq!(r["firstread"]["config"]["chip"], "mine");
    assert_eq!(r["dac_step_mv"], 10.0);
    assert_eq!(r["valleys"].as_array().unwrap().len(), 7);
}
