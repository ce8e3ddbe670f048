use crate::fio::parse_with;
use crate::{JobStream, Request};
use firstread_core::HostOp;

const SCHEME: &str = "0,1048576,3\n524288,2097152,1\n\n4194304,8388608,2\n";

/// The stream of the only job with these options, on a drive with eight placement handles.
fn stream(options: &str, seed: u64) -> JobStream {
    let text = format!("[j]\nsize=16m\n{}\n", options.replace(' ', "\n"));
    let workload = parse_with("t.fio", &text, &|file| match file {
        "scheme.txt" => Ok(SCHEME.to_owned()),
        other => panic!("{other} is no file of the test"),
    });
    let job = &workload.unwrap_or_else(|e| panic!("{options}: {e}")).jobs[0];
    let mut stream = JobStream::new(job, 16 << 20, seed).unwrap();
    stream.on_handles(Some(8)).unwrap();
    stream
}

/// The handles of the first `n` writes.
fn handles(options: &str, seed: u64, n: usize) -> Vec<u16> {
    let writes = stream(options, seed).filter(|r| r.op == HostOp::Write);
    writes.map(|r| r.placement).take(n).collect()
}

#[test]
fn sequence_writes_take_turns_at_the_handles() {
    for options in [
        "rw=write fdp=1 plids=5,0,2-3",
        "rw=randwrite dataplacement=fdp fdp_pli=5,0,2-3",
        "rw=randwrite fdp plids=5,0,2-3 plid_select=roundrobin",
        // Reads take no turn.
        "rw=randrw fdp=1 plids=0,2-3,5",
    ] {
        assert_eq!(
            handles(options, 1, 9),
            [0, 2, 3, 5, 0, 2, 3, 5, 0],
            "{options}"
        );
    }
    // A handle that is named twice has two turns.
    assert_eq!(handles("rw=write fdp=1 plids=1,4,1", 1, 4), [1, 1, 4, 1]);
    // Without a list all handles of the drive, 128 at most.
    assert_eq!(
        handles("rw=write fdp=1", 1, 10),
        [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]
    );
    let mut many = stream("rw=write fdp=1 bs=4k", 1);
    many.on_handles(Some(300)).unwrap();
    let placements: Vec<u16> = many.map(|r| r.placement).collect();
    assert_eq!(placements.iter().max(), Some(&127));
    assert_eq!(placements[127..130], [127, 0, 1]);
}

#[test]
fn sequence_only_writes_name_a_handle() {
    let of = |options: &str| -> Vec<(HostOp, u16)> {
        let requests = stream(options, 1).take(6);
        requests.map(|r| (r.op, r.placement)).collect()
    };
    use HostOp::{Flush, Read, Trim, Write};
    assert_eq!(
        of("rw=trimwrite fdp=1 plids=2-3"),
        [
            (Trim, 0),
            (Write, 2),
            (Trim, 0),
            (Write, 3),
            (Trim, 0),
            (Write, 2)
        ]
    );
    assert_eq!(
        of("rw=write fsync=1 fdp=1 plids=2-3"),
        [
            (Write, 2),
            (Flush, 0),
            (Write, 3),
            (Flush, 0),
            (Write, 2),
            (Flush, 0)
        ]
    );
    assert_eq!(of("rw=read fdp=1 plids=2-3"), [(Read, 0); 6]);
    // Nor does a job without `fdp`.
    for options in [
        "rw=write",
        "rw=randwrite plids=2-3",
        "rw=write dataplacement=none",
    ] {
        assert_eq!(of(options), [(Write, 0); 6], "{options}");
    }
}

/// What the job asks for is the same with handles and without.
#[test]
fn sequence_handles_change_no_other_part_of_a_request() {
    for options in [
        "rw=randwrite",
        "rw=randrw bssplit=4k/50:16k/50",
        "rw=randrw random_distribution=zipf:1.2",
    ] {
        let plain = stream(options, 9);
        let with = stream(&format!("{options} fdp=1 plid_select=random"), 9);
        let without = |r: Request| Request { placement: 0, ..r };
        assert!(plain.eq(with.map(without)), "{options}");
    }
}

#[test]
fn sequence_drawn_handles_replay_by_their_seed() {
    let options = "rw=randwrite fdp=1 plid_select=random plids=1,3,6,7";
    let of = |seed| handles(options, seed, 4000);
    assert_eq!(of(5), of(5));
    assert_ne!(of(5), of(6));
    let drawn = of(5);
    for handle in 0..8 {
        let share = drawn.iter().filter(|&&h| h == handle).count();
        let expected = match handle {
            1 | 3 | 6 | 7 => 900..1100,
            _ => 0..1,
        };
        assert!(expected.contains(&share), "seed 5: {handle}: {share}");
    }
    // Which handle a write has does not follow from its place.
    let of_quarter = |quarter: u64| {
        let writes = stream(
            &format!("{options} bs=4k norandommap time_based runtime=1"),
            5,
        );
        let writes = writes.take(4000);
        let lies = |r: &Request| r.offset_bytes / (4 << 20) == quarter;
        writes.filter(|r| lies(r) && r.placement == 1).count()
    };
    for quarter in 0..4 {
        let n = of_quarter(quarter);
        assert!((200..300).contains(&n), "seed 5: quarter {quarter}: {n}");
    }
    // Without a list any handle of the drive.
    let mut all = handles("rw=randwrite fdp=1 plid_select=random", 5, 4000);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn formula_a_range_of_offsets_has_its_handle() {
    let options = "rw=randwrite bs=4k fdp=1 plid_select=scheme dp_scheme=scheme.txt";
    let mut seen = [0; 4];
    for r in stream(options, 1) {
        let expected = match r.offset_bytes {
            0..0x10_0000 => 3,
            0x10_0000..0x20_0000 => 1,
            0x40_0000..0x80_0000 => 2,
            _ => 0,
        };
        assert_eq!(r.placement, expected, "at {}", r.offset_bytes);
        seen[usize::from(expected)] += 1;
    }
    // 16 MiB of blocks, of which 1, 1 and 4 MiB have a handle of their own.
    assert_eq!(seen, [2560, 256, 1024, 256]);
    // Offsets are those of the drive, not of the job's region.
    let mut behind = stream(&format!("{options} offset=4m size=4m"), 1);
    assert!(behind.all(|r| r.placement == 2));
}

#[test]
fn golden_errors_of_handles_that_a_drive_does_not_have() {
    let check = |options: &str, drive| {
        let text = format!("[j]\nrw=write\n{}\n", options.replace(' ', "\n"));
        let workload = parse_with("t.fio", &text, &|_| Ok(SCHEME.to_owned())).unwrap();
        let told = workload.check_handles(drive).map_err(|e| e.to_string());
        // A stream says the same.
        let mut stream = JobStream::new(&workload.jobs[0], 16 << 20, 1).unwrap();
        let by_stream = stream.on_handles(drive);
        assert_eq!(
            by_stream.map_err(|why| workload.jobs[0].error(why).to_string()),
            told
        );
        told
    };
    for (options, handles) in [("fdp=1", 1), ("fdp=1 plids=0-7", 8), ("rw=write", 1)] {
        assert_eq!(check(options, Some(handles)), Ok(()), "{options}");
    }
    assert_eq!(check("plids=9", None), Ok(()));
    let scheme = "fdp=1 plid_select=scheme dp_scheme=a/scheme.txt";
    assert_eq!(check(scheme, Some(4)), Ok(()));
    for (options, drive, message) in [
        (
            "fdp=1",
            None,
            "t.fio:1: job `j`: fdp=1: the drive takes no placement handles; `--scheme stream=fdp` does",
        ),
        (
            "fdp=1 plids=0-8",
            Some(8),
            "t.fio:1: job `j`: plids: there is no placement handle 8: the drive has 8, from 0 on; `stream.handles` sets \
             how many",
        ),
        (
            scheme,
            Some(2),
            "t.fio:1: job `j`: a/scheme.txt:1: there is no placement handle 3: the drive has 2, from 0 on; \
             `stream.handles` sets how many",
        ),
    ] {
        assert_eq!(check(options, drive), Err(message.to_owned()), "{options}");
    }
}
