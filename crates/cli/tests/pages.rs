//! Pages of runs, comparisons, matrices, lives and studies.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run the binary and read what it wrote"
)]

mod command;

use command::Folder;

/// The page of `folder`: one file, whose links lead somewhere, with what matters first.
fn page(folder: &Folder, of: &str) -> String {
    let page = folder.read(&format!("{of}/report.html"));
    for foreign in ["<script", "src=", "href=\"http", "@import", "url(", "NaN"] {
        assert!(!page.contains(foreign), "{of}: {foreign}");
    }
    let links = page.split("href=\"#").skip(1);
    let links: Vec<&str> = links.filter_map(|rest| rest.split('"').next()).collect();
    assert!(!links.is_empty(), "{of}: no contents");
    for link in links {
        assert!(page.contains(&format!("id=\"{link}\"")), "{of}: {link}");
    }
    let at = |part: &str| page.find(part).unwrap_or_else(|| panic!("{of}: no {part}"));
    assert!(at("<h1>") < at("<nav>") && at("<nav>") < at("<h2"), "{of}");
    // Each figure for wide and for narrow screens, with texts as text.
    let count = |part: &str| page.matches(part).count();
    assert!(count("<svg") > 0 && count("<text ") > 5, "{of}");
    let (wide, narrow) = (count("class=\"wide\""), count("class=\"narrow\""));
    assert!(wide > 0 && wide == narrow, "{of}");
    page
}

/// What `line` keeps as a page, with `parts` before its contents.
fn headline(folder: &Folder, line: &str, out: &str, parts: &[&str]) -> String {
    let ran = folder.run(&format!("{line} --out {out}"));
    assert!(ran.code == 0 || ran.code == 3, "{line}: {}", ran.err);
    let page = page(folder, out);
    let top = page.split("<nav>").next().unwrap_or_default();
    for part in parts {
        assert!(top.contains(part), "{line}: {part}: {top}");
    }
    page
}

/// Every command that runs something has a page with `--out`, and its headline is first.
#[test]
fn smoke_a_page_of_every_command() {
    let folder = Folder::new("pages")
        .with("w.fio", "[w]\nrw=randwrite\nbs=4k\nnorandommap\n")
        .with(
            "g.fio",
            "[global]\nbs=4k\nnumber_ios=200\n[a]\nrw=randread\n[b]\nstonewall\nrw=randread\n",
        );
    let run = "run mixed-70-30 --drive bench-4g --limit 500";
    let one = headline(&folder, run, "one", &["P90 of reads: ", "of writes: "]);
    assert!(one.contains("Latency by percentile</h2>") && one.contains(">P50</text>"));
    assert!(one.contains("first try"), "{one}");
    headline(
        &folder,
        "run g.fio --drive bench-4g",
        "groups",
        &["of reads, jobs a: ", "of reads, jobs b: "],
    );
    let accept = ["--accept", "read:max=1ns"].join("=");
    let drives = format!("{run} --drives 2 {accept}");
    let verdict = "<p>Acceptance: 0 of 2 pass, 2 fail";
    headline(&folder, &drives, "drives", &[verdict, "P90 of reads: "]);
    let compare = run.replace("run", "compare") + " --scheme gc_victim=fifo,greedy";
    let compared = headline(&folder, &compare, "compare", &["P90 of reads: ", " with "]);
    for scheme in [
        "<td>fifo</td>",
        "<td>greedy</td>",
        ">greedy</text>",
        "greedy.json",
    ] {
        assert!(compared.contains(scheme), "{scheme}");
    }
    let matrix = headline(
        &folder,
        &format!("{run} --age 0,1h"),
        "matrix",
        &[": from "],
    );
    assert!(matrix.contains("<th>age</th>"), "{matrix}");
    let life = "life w.fio --drive bench-4g --until bytes=300MB --probe 50";
    headline(&folder, life, "life", &[" written; "]);
    let lives = format!("{life} --drives 2");
    let lives = headline(&folder, &lives, "lives", &["all drives: ", "2 of 2"]);
    assert!(lives.contains("write amplification"), "{lives}");
}

/// A page of several runs is told in the closing line, and is the same when all is found.
#[test]
fn sequence_a_page_is_the_same_when_all_is_found() {
    let folder = Folder::new("found");
    let line = "run randread-4k-qd1 --drive bench-4g --limit 200 --drives 2 --out d";
    folder
        .run(line)
        .ok()
        .says("of them on one core; d/report.html\n");
    let first = page(&folder, "d");
    folder.run(line).ok().says("2 of 2 runs were there already");
    assert!(page(&folder, "d") == first);
    folder
        .run(&line.replace(" --out d", ""))
        .ok()
        .says("of them on one core; --out DIR keeps a page, tables and every result\n");
}
