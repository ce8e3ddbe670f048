//! Studies of one's own: what may be left out, in which ways values may be written, and what errors say.

use firstread_session::study::dimension::Dimension;
use firstread_session::study::spec::Study;
use firstread_session::study::{NEW, plan};

const LEAST: &str = "
[[experiment]]
id = \"wear\"
variants = [\"ct-qlc\", \"fg-qlc\"]
workloads = \"randread-4k-qd32\"
pe_cycles = [100, 1000.0, \"2000\"]
requests = 20000
";

fn said(text: &str) -> String {
    Study::parse("mine.toml", text).map_or_else(|error| error.to_string(), |_| "ok".into())
}

#[test]
fn smoke_the_study_to_begin_with_is_one() {
    let study = Study::parse("new", NEW).unwrap();
    let inputs = plan::Inputs::open(&study, None).unwrap();
    let (points, absent) = plan::points(&study, &inputs, &[], true).unwrap();
    // Two variants, three ages, two drives.
    assert_eq!((points.len(), absent.len()), (12, 0));
}

#[test]
fn golden_what_a_study_leaves_out_has_a_default() {
    let study = Study::parse("mine", LEAST).unwrap();
    assert_eq!(
        (&*study.title, &*study.experiments[0].title),
        ("mine", "wear")
    );
    assert_eq!(study.variants["fg-qlc"].drive, "fg-qlc");
    assert!(study.workloads["randread-4k-qd32"].job.is_some());
    let e = &study.experiments[0];
    assert_eq!(
        e.values(Dimension::PeCycles, false),
        ["100", "1000", "2000"]
    );
    assert_eq!(e.values(Dimension::Age, false), ["28h"]);
    assert_eq!(e.values(Dimension::Temperature, false), ["55"]);
    let requests = e.requests.unwrap();
    assert_eq!((requests.full, requests.quick), (20_000, 20_000));
    assert_eq!((e.repetitions.full, e.repetitions.quick), (5, 1));
    assert_eq!(
        (e.figure.x, e.figure.series),
        (Dimension::PeCycles, Dimension::Variant)
    );
    assert_eq!(e.figure.y, ["mean_us", "p99_us"]);
    let inputs = plan::Inputs::open(&study, None).unwrap();
    assert_eq!(plan::points(&study, &inputs, &[], true).unwrap().0.len(), 6);
}

#[test]
fn golden_all_that_is_missing_comes_in_one_message() {
    assert_eq!(
        said("title = \"x\"\n"),
        "mine.toml: missing: the study: [[experiment]]"
    );
    let text = "
[variants.a]
schemes = []
[[experiment]]
id = \"one\"
[[experiment]]
variants = \"ct-qlc\"
cells = { chips = 1, wordlines = 1 }
[[claim]]
id = \"ours.x\"
points = { metric = \"iops\" }
";
    assert_eq!(
        said(text),
        "mine.toml: missing: experiment `one`: variants; experiment `one`: workloads, requests; experiment 2: id; \
         claim `ours.x`: says, unit; points of claim `ours.x`: experiment; variants.a: drive"
    );
}

#[test]
fn golden_a_wrong_value_is_told_what_may_stand_there() {
    for (from, to, message) in [
        (
            "requests = 20000",
            "requests = \"many\"",
            "expected a whole number, or { full = N, quick = N }",
        ),
        (
            "requests = 20000",
            "requests = -5",
            "a number of requests or drives is not below 0",
        ),
        (
            "requests = 20000",
            "requests = { full = 5, fast = 1 }",
            "unknown field `fast`, expected `full` or `quick`",
        ),
        (
            "[100, 1000.0, \"2000\"]",
            "[[1]]",
            "expected text or a number",
        ),
        (
            "[100, 1000.0, \"2000\"]",
            "true",
            "expected a value or a list of values, each text or a number",
        ),
        (
            "requests = 20000",
            "requests = 1\nfigure = 5",
            "expected a table with x and y, say { x = \"age\", y = [\"mean_us\"] }",
        ),
        (
            "requests = 20000",
            "requests = 1\nfigure = { y = \"p9999_us\" }",
            "there is no metric `p9999_us`; the nearest is `p99.99_us`",
        ),
        (
            "requests = 20000",
            "requests = 1\nfigure = { y = \"P99_us\" }",
            "the nearest is `p99_us`",
        ),
        ("\"fg-qlc\"", "\"fg-qcl\"", "there is no variant `fg-qcl`"),
        (
            "\"randread-4k-qd32\"",
            "\"randread\"",
            "there is no workload `randread`",
        ),
    ] {
        let text = LEAST.replace(from, to);
        assert_ne!(text, LEAST);
        let said = said(&text);
        assert!(said.contains(message), "{to}: {said}");
        assert!(!said.contains("struct "), "{to}: {said}");
    }
}
