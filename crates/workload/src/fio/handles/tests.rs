use super::*;
use crate::fio::{UnreadFile, parse, parse_with};
use proptest::prelude::*;

#[test]
fn formula_indices_are_numbers_and_ranges_in_order() {
    for (text, list) in [
        ("0", &[0][..]),
        ("1,2-4,5,6-8", &[1, 2, 3, 4, 5, 6, 7, 8]),
        (" 7 , 3 - 4 ", &[3, 4, 7]),
        ("5,0,5", &[0, 5, 5]),
        ("0x10,2-2", &[2, 16]),
        ("65535", &[65535]),
    ] {
        assert_eq!(indices(text).as_deref(), Ok(list), "{text}");
    }
    assert_eq!(indices("0-127").map(|list| list.len()), Ok(128));
    let message = |text: &str| indices(text).unwrap_err().to_string();
    for (text, expected) in [
        ("0-128", "at most 128 indices, as in fio"),
        ("0-126,7,8", "at most 128 indices, as in fio"),
        ("4-2", "the first index of a range is not above its last"),
        ("65536", "an index is at most 65535"),
        ("99999999999999999999", "an index is at most 65535"),
        ("1,,2", "`` is not a number"),
        ("1-", "`` is not a number"),
        ("1-2-3", "`2-3` is not a number"),
        ("all", "`all` is not a number"),
        ("+1", "`+1` is not a number"),
        ("0x", "`0x` is not a number"),
        (
            "010",
            "write indices without leading zeros, which fio takes for octal numbers",
        ),
    ] {
        assert_eq!(message(text), expected, "{text}");
    }
}

fn handles(options: &str) -> (Option<Handles>, Vec<String>) {
    let text = format!("[j]\nrw=write\n{}\n", options.replace(' ', "\n"));
    let read = |file: &str| Ok(format!("0,512,{}", file.len()));
    let workload = parse_with("t.fio", &text, &read);
    let mut workload = workload.unwrap_or_else(|e| panic!("{options}: {e}"));
    let notices = workload.notices.iter().map(|n| n.text.clone()).collect();
    (workload.jobs.remove(0).handles, notices)
}

#[test]
fn formula_a_job_chooses_handles_as_in_fio() {
    let these = || Given::These(vec![1, 2]);
    let by_offset = || {
        let range = HandleRange {
            start_bytes: 0,
            end_bytes: 512,
            handle: 4,
            line: 1,
        };
        Handles::ByOffset(Ranges {
            file: "file".into(),
            ranges: vec![range],
        })
    };
    let no_fdp = |name| format!("`{name}` has no effect without `fdp=1`, as in fio");
    for (options, handles_of_it, notices) in [
        ("", None, vec![]),
        ("fdp=0", None, vec![]),
        ("dataplacement=none", None, vec![]),
        ("fdp=1", Some(Handles::RoundRobin(Given::All)), vec![]),
        (
            "fdp=0 dataplacement=fdp plids=2,1",
            Some(Handles::RoundRobin(these())),
            vec![],
        ),
        (
            "fdp=1 data_placement=fdp fdp_pli_select=random fdp_pli=1-2",
            Some(Handles::Random(these())),
            vec![],
        ),
        (
            "fdp=1 plid_select=scheme dp_scheme=file",
            Some(by_offset()),
            vec![],
        ),
        (
            "fdp=1 plid_select=scheme dp_scheme=file plids=1",
            Some(by_offset()),
            vec!["`plids` has no effect with `plid_select=scheme`, as in fio".into()],
        ),
        (
            "fdp=1 dp_scheme=file",
            Some(Handles::RoundRobin(Given::All)),
            vec!["`dp_scheme` has no effect without `plid_select=scheme`, as in fio".into()],
        ),
        (
            "plids=1 plid_select=scheme dp_scheme=file",
            None,
            ["plid_select", "plids", "dp_scheme"].map(no_fdp).to_vec(),
        ),
    ] {
        assert_eq!(handles(options), (handles_of_it, notices), "{options}");
    }
}

#[test]
fn golden_errors_of_handles() {
    let of = |text: &str| {
        let read = |file: &str| match file {
            "none.txt" => Err(UnreadFile::Fault {
                fault: "none.txt: no such file".to_owned(),
            }),
            text => Ok(text.replace(';', "\n").replace('_', ",")),
        };
        parse_with("t.fio", text, &read).unwrap_err().to_string()
    };
    let by = |file: &str| {
        of(&format!(
            "[global]\ndp_scheme={file}\n[j]\nfdp=1\nplid_select=scheme\n"
        ))
    };
    let all = [
        of("[j]\nfdp=yes\n"),
        of("[j]\ndataplacement=streams\n"),
        of("[j]\ndataplacement=fpd\n"),
        of("[j]\nplid_select=round\n"),
        of("[j]\nplids=\n"),
        of("[j]\nplids=3-1\n"),
        of("[j]\nfdp=1\ndataplacement=none\n"),
        of("[j]\nfdp=1\nplid_select=scheme\n"),
        by("none.txt"),
        by("0_512_1 512_1024"),
        by("0_512"),
        by("0_0_1"),
        by("-1_512_1"),
        by("0_512_65536"),
        parse("t.fio", "[j]\nfdp=1\nplid_select=scheme\ndp_scheme=a\n")
            .unwrap_err()
            .to_string(),
    ];
    assert_eq!(
        all.join("\n"),
        "t.fio:2: fdp=yes: must be 0 or 1\n\
         t.fio:2: dataplacement=streams: the drive does not take NVMe's streams directive; `fdp` names placement handles\n\
         t.fio:2: dataplacement=fpd: must be one of none, fdp; did you mean `fdp`?\n\
         t.fio:2: plid_select=round: must be one of random, roundrobin, scheme; did you mean `roundrobin`?\n\
         t.fio:2: plids=: a value is missing\n\
         t.fio:2: plids=3-1: the first index of a range is not above its last\n\
         t.fio:1: job `j`: fdp=1 together with dataplacement=none\n\
         t.fio:1: job `j`: plid_select=scheme needs dp_scheme\n\
         t.fio:2: dp_scheme=none.txt: none.txt: no such file\n\
         t.fio:2: dp_scheme=0_512_1 512_1024: line 1: `0,512,1 512,1024` is not `first byte,byte after the last,index`\n\
         t.fio:2: dp_scheme=0_512: line 1: `0,512` is not `first byte,byte after the last,index`\n\
         t.fio:2: dp_scheme=0_0_1: line 1: `0,0,1` is a range that holds no byte\n\
         t.fio:2: dp_scheme=-1_512_1: line 1: `-1,512,1` is not `first byte,byte after the last,index`\n\
         t.fio:2: dp_scheme=0_512_65536: line 1: `0,512,65536` has an index above 65535\n\
         t.fio:4: dp_scheme=a: no file can be read here"
    );
}

#[test]
fn formula_ranges_of_a_file() {
    let (list, more) = ranges("0, 512, 1\r\n\n  512,1024,65535  \n").unwrap();
    let range = |start_bytes, end_bytes, handle, line| HandleRange {
        start_bytes,
        end_bytes,
        handle,
        line,
    };
    assert_eq!(list, [range(0, 512, 1, 1), range(512, 1024, 65535, 3)]);
    assert!(!more);
    let lines = |n: u64| {
        (0..n)
            .map(|i| format!("{i},{},1\n", i + 1))
            .collect::<String>()
    };
    for (n, kept) in [(32, (32, false)), (33, (32, true))] {
        let (list, more) = ranges(&lines(n)).unwrap();
        assert_eq!((list.len(), more), kept);
        assert_eq!(list[31].line, 32);
    }
    assert_eq!(
        ranges("\n \n").unwrap_err().to_string(),
        "the file has no range"
    );
    // A job says that more ranges stand there.
    let text = "[j]\nfdp=1\nplid_select=scheme\ndp_scheme=a\n";
    let workload = parse_with("t.fio", text, &|_| Ok(lines(40))).unwrap();
    assert_eq!(
        workload.notices[0].to_string(),
        "t.fio:4: `dp_scheme`: the first 32 ranges count, as in fio"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn fuzz_a_file_of_ranges_never_panics(text in "[0-9, \n-]{0,60}") {
        if let Ok((list, _)) = ranges(&text) {
            prop_assert!(list.iter().all(|r| r.start_bytes < r.end_bytes));
        }
    }

    #[test]
    fn fuzz_a_list_of_indices_never_panics(text in "[0-9x,-]{0,20}") {
        if let Ok(list) = indices(&text) {
            prop_assert!(!list.is_empty() && list.len() <= 128 && list.is_sorted());
        }
    }
}
