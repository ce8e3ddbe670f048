use std::io::Write as _;

use super::*;

/// Small samples of every layout, made for these tests.
const SAMPLES: [(&str, &str, &[u8]); 19] = [
    ("msr.csv", "msr", include_bytes!("../../tests/data/msr.csv")),
    (
        "alibaba.csv",
        "alibaba",
        include_bytes!("../../tests/data/alibaba.csv"),
    ),
    (
        "tencent.csv",
        "tencent",
        include_bytes!("../../tests/data/tencent.csv"),
    ),
    ("spc.csv", "spc", include_bytes!("../../tests/data/spc.csv")),
    (
        "systor17.csv",
        "systor17",
        include_bytes!("../../tests/data/systor17.csv"),
    ),
    (
        "cloudphysics.csv",
        "cloudphysics-csv",
        include_bytes!("../../tests/data/cloudphysics.csv"),
    ),
    (
        "flashnet.csv",
        "flashnet",
        include_bytes!("../../tests/data/flashnet.csv"),
    ),
    (
        "ssdsim.ascii",
        "ssdsim-ns",
        include_bytes!("../../tests/data/ssdsim.ascii"),
    ),
    (
        "disksim.ascii",
        "disksim",
        include_bytes!("../../tests/data/disksim.ascii"),
    ),
    (
        "blkparse.txt",
        "blkparse",
        include_bytes!("../../tests/data/blkparse.txt"),
    ),
    (
        "blkparse-issue.txt",
        "blkparse-issue",
        include_bytes!("../../tests/data/blkparse-issue.txt"),
    ),
    (
        "iolog2.log",
        "fio-iolog",
        include_bytes!("../../tests/data/iolog2.log"),
    ),
    (
        "iolog3.log",
        "fio-iolog",
        include_bytes!("../../tests/data/iolog3.log"),
    ),
    (
        "msr-header.csv",
        "msr",
        include_bytes!("../../tests/data/msr-header.csv"),
    ),
    (
        "systor17-header.csv",
        "systor17",
        include_bytes!("../../tests/data/systor17-header.csv"),
    ),
    (
        "libcachesim.csv",
        "libcachesim-csv",
        include_bytes!("../../tests/data/libcachesim.csv"),
    ),
    (
        "oracle-general.bin",
        "oracle-general",
        include_bytes!("../../tests/data/oracle-general.bin"),
    ),
    (
        "vscsi1.bin",
        "vscsi",
        include_bytes!("../../tests/data/vscsi1.bin"),
    ),
    (
        "vscsi2.bin",
        "vscsi",
        include_bytes!("../../tests/data/vscsi2.bin"),
    ),
];

fn sample(name: &str) -> &'static [u8] {
    SAMPLES.iter().find(|s| s.0 == name).unwrap().2
}

fn read(bytes: &[u8], options: TraceOptions) -> (Vec<TraceRecord>, Vec<String>, Option<String>) {
    let mut reader = match TraceReader::open("t", bytes, options) {
        Ok(reader) => reader,
        Err(e) => return (vec![], vec![], Some(e.to_string())),
    };
    let (mut records, mut error) = (Vec::new(), None);
    for next in reader.by_ref() {
        match next {
            Ok(record) => records.push(record),
            Err(e) => error = Some(e.to_string()),
        }
    }
    let notices = reader.notices().iter().map(Notice::to_string).collect();
    (records, notices, error)
}

fn lines(name: &str) -> Vec<String> {
    let (records, _, error) = read(sample(name), TraceOptions::default());
    assert_eq!(error, None, "{name}");
    records
        .iter()
        .map(|r| {
            format!(
                "{} {:?} {} {} {}",
                r.time_ns, r.op, r.offset_bytes, r.len_bytes, r.device
            )
        })
        .collect()
}

fn error(text: &str) -> String {
    read(text.as_bytes(), TraceOptions::default())
        .2
        .unwrap_or_default()
}

#[test]
fn every_sample_is_detected() {
    for (name, format, bytes) in SAMPLES {
        let reader = TraceReader::open(name, bytes, TraceOptions::default()).unwrap();
        assert_eq!(reader.format().name, format, "{name}");
    }
}

/// A format that is detected has a sample, so that the test of detection and the fuzz test know it.
#[test]
fn formula_every_format_that_is_detected_has_a_sample() {
    let mut detected = 0;
    for format in FORMATS {
        let example = format.example.as_bytes();
        let Ok(reader) = TraceReader::open(format.name, example, TraceOptions::default()) else {
            continue;
        };
        let name = reader.format().name;
        assert!(SAMPLES.iter().any(|sample| sample.1 == name), "{name}");
        detected += 1;
    }
    assert!(detected > 5, "{detected}");
}

#[test]
fn golden_records_of_every_layout() {
    assert_eq!(
        lines("blkparse-issue.txt"),
        [
            "0 Read 144703488 4096 271581186",
            "100000 Write 524288 8192 271581186",
        ]
    );
    assert_eq!(
        lines("msr.csv"),
        [
            "0 Read 2088960 4096 1",
            "1000000 Write 8192 16384 1",
            "1000000000 Read 1073741824 65536 1"
        ]
    );
    assert_eq!(
        lines("alibaba.csv"),
        [
            "0 Write 8589934592 16384 17",
            "1000000 Read 8589938688 4096 17",
            "1000000000 Write 0 512 18"
        ]
    );
    assert_eq!(
        lines("tencent.csv"),
        [
            "0 Read 536870912 65536 7",
            "0 Write 1048576 4096 8",
            "1000000000 Read 972800000000 196608 9"
        ]
    );
    assert_eq!(
        lines("spc.csv"),
        [
            "0 Write 2097152000 8192 0",
            "2335000 Write 4194304 8192 0",
            "1004496000 Read 1572864 1536 1"
        ]
    );
    assert_eq!(
        lines("systor17.csv"),
        [
            "0 Read 1178099712 8192 1",
            "2335000 Write 4096 4096 1",
            "936859000 Read 0 512 6"
        ]
    );
    assert_eq!(
        lines("cloudphysics.csv"),
        [
            "0 Write 3072000000 4096 0",
            "1560000 Write 32768 4096 0",
            "73831000 Read 12288000512 512 0"
        ]
    );
    assert_eq!(
        lines("flashnet.csv"),
        [
            "0 Write 40960 4096 0",
            "500000 Read 8192 4096 0",
            "1000000000 Write 1048576 8192 0"
        ]
    );
    assert_eq!(
        lines("ssdsim.ascii"),
        [
            "0 Write 2097152 3584 0",
            "26214000 Write 122880000 3072 1",
            "78643005 Read 28160000 3072 1"
        ]
    );
    assert_eq!(
        lines("disksim.ascii"),
        [
            "0 Write 204800000 20480 0",
            "5859 Write 32768 8192 0",
            "40000826172 Read 1024000000 4096 0"
        ]
    );
    let device = 259 << 20 | 2;
    assert_eq!(
        lines("blkparse.txt"),
        [
            format!("0 Read 33554432 4096 {device}"),
            format!("105462 Write 524288 8192 {device}"),
            format!("205462 Flush 0 0 {device}"),
            format!("305462 Trim 1048576 2147483136 {device}"),
        ]
    );
    assert_eq!(
        lines("iolog2.log"),
        [
            "0 Read 0 4096 0",
            "250000 Write 8192 16384 0",
            "250000 Flush 0 0 0",
            "1250000 Trim 4096 8192 0"
        ]
    );
    assert_eq!(
        lines("iolog3.log"),
        [
            "0 Read 0 4096 0",
            "250000 Write 8192 16384 1",
            "1250000 Flush 0 0 0"
        ]
    );
    assert_eq!(
        lines("msr-header.csv"),
        [
            "0 Read 383496192 32768 1",
            "1332052600 Write 2822144000 4096 1"
        ]
    );
    assert_eq!(
        lines("systor17-header.csv"),
        ["0 Read 1178099712 8192 1", "2335000 Write 4096 4096 2"]
    );
    assert_eq!(
        lines("libcachesim.csv"),
        [
            "0 Write 21981565440 512 0",
            "0 Read 20689874432 6656 0",
            "1000000000 Write 3154148864 4096 0"
        ]
    );
    assert_eq!(
        lines("oracle-general.bin"),
        [
            "0 Read 21981565440 512 0",
            "0 Read 3154148864 4096 0",
            "5000000000 Read 21981565440 512 0",
            "7000000000 Read 4096 8192 0"
        ]
    );
    let vscsi = [
        "0 Read 1048576 4096 0",
        "250000 Write 2096640 512 0",
        "1000000000 Read 1099511627776 65536 0",
    ];
    assert_eq!(lines("vscsi1.bin"), vscsi);
    assert_eq!(lines("vscsi2.bin"), vscsi);
}

#[test]
fn every_row_of_the_table_has_an_example_that_parses() {
    for format in FORMATS {
        assert_eq!(Format::find(format.name).unwrap().name, format.name);
        assert!(format.columns.len() >= 4 && !format.summary.is_empty());
        let times = format
            .columns
            .iter()
            .filter(|c| matches!(c.role, Role::Time(_) | Role::DecimalTime(_)));
        assert_eq!(times.count(), 1, "{}", format.name);
        if matches!(
            format.layout,
            Layout::Csv { .. } | Layout::Blanks | Layout::Blkparse(_)
        ) {
            let options = TraceOptions {
                format: Some(format),
                ..TraceOptions::default()
            };
            let (records, _, error) = read(format.example.as_bytes(), options);
            assert_eq!((records.len(), error), (1, None), "{}", format.name);
            // What can be told from its content is.
            if format.detected.is_some() {
                let detected = detect(format.example.as_bytes()).unwrap();
                assert_eq!(detected.name, format.name);
            }
        }
    }
    assert_eq!(
        Format::find("ssdsim-ps").unwrap_err().to_string(),
        "unknown trace format `ssdsim-ps`; the nearest valid name is `ssdsim-ns`"
    );
}

#[test]
fn units_of_time_can_be_named() {
    for (name, factor) in [
        ("ssdsim-ns", 1),
        ("mqsim", 1),
        ("ssdsim-100ns", 100),
        ("ssdsim-us", 1000),
        ("ssdsim-ms", 1_000_000),
        ("ssdsim-s", 1_000_000_000),
    ] {
        let options = TraceOptions {
            format: Some(Format::find(name).unwrap()),
            ..TraceOptions::default()
        };
        let (records, notices, _) = read(sample("ssdsim.ascii"), options);
        assert_eq!(records[2].time_ns, 78_643_005 * factor, "{name}");
        assert!(notices.iter().all(|n| !n.contains("taken as ns")));
    }
    let (_, notices, _) = read(sample("ssdsim.ascii"), TraceOptions::default());
    assert!(notices[0].contains("times are taken as ns"), "{notices:?}");
}

#[test]
fn a_decimal_point_among_the_first_times_means_disksim() {
    let text = "0 0 8 8 1\n1 0 8 8 1\n1.5 0 8 8 1\n";
    assert_eq!(detect(text.as_bytes()).unwrap().name, "disksim");
    let mut late = "1 0 8 8 1\n".repeat(100);
    late += "1.5 0 8 8 1\n";
    assert_eq!(
        error(&late),
        "t:101: ssdsim-ns column `time`: `1.5` has a decimal point where whole numbers stand"
    );
}

#[test]
fn headers_must_name_the_columns() {
    let good = "device_id,opcode,offset,length,timestamp\n419,W,0,16384,1577808144360767\n";
    assert_eq!(read(good.as_bytes(), TraceOptions::default()).0.len(), 1);
    let swapped = "device_id,opcode,length,offset,timestamp\n419,W,0,16384,1577808144360767\n";
    assert_eq!(
        error(swapped),
        "t:1: alibaba column `offset`: unknown column `length` in the header"
    );
}

/// Files that people have, as they are brought (the same lie in `crates/cli/tests/cases`): each is a kind.
#[test]
fn golden_traces_that_people_have() {
    let cases = |name: &str| match name {
        "names" => {
            include_bytes!("../../../cli/tests/cases/header-with-other-names.txt").as_slice()
        }
        "hex" => include_bytes!("../../../cli/tests/cases/hex.csv"),
        "mark" => include_bytes!("../../../cli/tests/cases/bom-comment-quotes.csv"),
        _ => include_bytes!("../../../cli/tests/cases/decimal-seconds.trace"),
    };
    let of = |bytes: &[u8], options: TraceOptions| {
        let (records, notices, error) = read(bytes, options);
        let of = |r: &TraceRecord| (r.time_ns, r.op, r.offset_bytes, r.len_bytes);
        (records.iter().map(of).collect::<Vec<_>>(), notices, error)
    };
    let (r, w) = (HostOp::Read, HostOp::Write);
    let columns = "time:s,-,-,-,op,offset:sector,size:B,-";
    let two = vec![
        (0, w, 83_886_336 * 512, 4096),
        (410_000, r, 83_886_344 * 512, 8192),
    ];
    assert_eq!(
        of(cases("names"), told(columns)),
        (two.clone(), vec![], None)
    );
    let text = r"^(?<time_s>\S+) (\S+ ){3}(?<op>[RWF])\S* (?<offset_sector>\d+) (?<size_B>\d+)";
    let options = TraceOptions {
        pattern: Some(Pattern::parse(text).unwrap()),
        ..TraceOptions::default()
    };
    let (records, notices, error) = of(cases("names"), options.clone());
    assert_eq!((records, error), (two, None));
    assert_eq!(
        notices,
        ["t:1: 1 lines that do not match the expression were skipped"]
    );
    assert_eq!(
        of(b"nothing\n", options).2.unwrap(),
        "t: no line of the trace matches the expression; the first line is `nothing`"
    );
    let two = vec![(0, r, 4096, 4096), (0, w, 12_288, 8192)];
    assert_eq!(
        of(cases("hex"), told("op,offset:B,size:B")),
        (two, vec![], None)
    );
    let two = vec![(0, r, 4096, 4096), (100_000, w, 8192, 4096)];
    assert_eq!(
        of(cases("mark"), told("time:us,op,offset:B,size:B")),
        (two, vec![], None)
    );
    let flags = b"RS;4,096;4096\nWSM;8,192;4_096\n";
    let two = vec![(0, r, 4096, 4096), (0, w, 8192, 4096)];
    assert_eq!(of(flags, told("op,offset:B,size:B")), (two, vec![], None));
    // The same three requests in ms and in s: nothing tells, so the other reading is named.
    let (records, notices, error) = of(cases("seconds"), TraceOptions::default());
    assert_eq!((records.len(), error), (3, None));
    assert!(
        notices[0].contains("lie within 3.027 ms; if they are in s, and lie within 3.027 s, name the format: ssdsim-s"),
        "{notices:?}"
    );
    let options = TraceOptions {
        format: Some(Format::find("ssdsim-s").unwrap()),
        ..TraceOptions::default()
    };
    let (records, notices, _) = of(cases("seconds"), options);
    assert_eq!((records[2].0, notices), (3_027_000_000, vec![]));
}

/// What a header or the data say against what was told.
#[test]
fn golden_what_contradicts_columns_that_were_told() {
    for (spec, text, message) in [
        (
            "time:s,op,offset:B,size:B",
            "Time (ms),op,offset,size\n1,R,0,512\n",
            "t:1: columns column `time`: the header `Time (ms)` has the unit ms, and s was told",
        ),
        (
            "offset:sector,size:B",
            "offset_bytes,size_bytes\n0,512\n",
            "t:1: columns column `offset`: the header `offset_bytes` has the unit B, and sector was told",
        ),
        (
            "time:us,op,offset:B,size:B",
            "# by hand\ntime,op,size,offset\n1,R,0,512\n",
            "t:2: columns column `offset`: unknown column `size` in the header",
        ),
        (
            "time:us,op,offset:B,size:B",
            "1,R,0\n",
            "t:1: columns 3 columns where 4 are expected (time, op, offset, size): `1,R,0`",
        ),
    ] {
        assert_eq!(
            read(text.as_bytes(), told(spec)).2.unwrap_or_default(),
            message,
            "{spec}"
        );
    }
    for (spec, text, notice) in [
        (
            "op,offset:B,size:B",
            "disk,offset,size\nR,0,512\n",
            "t:1: the header calls column 1 `disk`, and it was told as `op`",
        ),
        (
            "time:s,offset:B,size:B",
            "0,0,512\n1000000,0,512\n",
            "t: the first 2 requests lie 1000000 s apart on average, which is far apart: are their times in s?",
        ),
        (
            "op,offset:B,size:sector",
            "R,0,4096\nR,0,4096\nR,0,8192\nR,0,4096\n",
            "t: every size (column `size`) of the first 4 requests is a multiple of 512, and is taken in sectors of 512 B; \
             if it is in bytes, tell it so",
        ),
    ] {
        let (_, notices, error) = read(text.as_bytes(), told(spec));
        assert_eq!((error, notices), (None, vec![notice.to_owned()]), "{spec}");
    }
}

fn told(spec: &str) -> TraceOptions {
    TraceOptions {
        columns: Some(Columns::parse(spec).unwrap()),
        ..TraceOptions::default()
    }
}

/// One request each, however its columns are separated and called.
#[test]
fn golden_columns_as_the_user_tells_them() {
    for (spec, text) in [
        ("time:us,op,offset:B,size:B", "5.5,R,8192,4096\n"),
        (
            "time:us,op,offset:B,size:B",
            "time,op,offset,size\n5.5,read,8192,4096\n",
        ),
        ("size:B,-,offset:sector,op:r0w1", "4096;abc;16;0\n"),
        (
            "op:r1w0,size:KiB,offset:4KiB,...",
            "op\tlen\tlba\tx\n1\t4\t2\tx y z\n",
        ),
        ("offset:B,size:B", "\n8192 4096\n"),
    ] {
        let (records, notices, error) = read(text.as_bytes(), told(spec));
        assert_eq!((error, notices.len()), (None, 0), "{spec}");
        let is = TraceRecord {
            time_ns: 0,
            op: HostOp::Read,
            offset_bytes: 8192,
            len_bytes: 4096,
            device: 0,
            placement: 0,
        };
        assert_eq!(records, [is], "{spec}");
    }
    let times = read(b"1.5,0,512\n2,0,512\n", told("time:ms,offset:B,size:B")).0;
    assert_eq!(times[1].time_ns, 500_000);
    for (spec, text, message) in [
        (
            "time:us,op,offset:B,size:B",
            "1,R,0,512\n2,R,0,-1\n",
            "t:2: columns column `size`: `-1` is no whole number",
        ),
        (
            "time:us,op,offset:B,size:B",
            "time,op,size,offset\n1,R,0,512\n",
            "t:1: columns column `offset`: unknown column `size` in the header",
        ),
        (
            "offset:B,size:B",
            "0,512,7\n",
            "t:1: columns 3 columns where 2 are expected (offset, size): `0,512,7`",
        ),
        (
            "op,offset:B,size:B",
            "1,0,512\n",
            "t:1: columns column `op`: `1` is not one of R, W, read, write, trim, T, discard, D, flush, F",
        ),
        (
            "offset:4KiB,size:B",
            "18446744073709551615,512\n",
            "t:1: columns column `offset`: `18446744073709551615` is too large",
        ),
    ] {
        assert_eq!(
            read(text.as_bytes(), told(spec)).2.as_deref(),
            Some(message),
            "{spec}"
        );
    }
}

/// A column of placement handles: those of writes count, and a drive has them.
#[test]
fn golden_a_column_of_placement_handles() {
    let spec = "op,offset:B,size:B,placement";
    let text = b"op,offset,size,handle\nW,0,512,3\nR,0,512,9\nD,0,512,9\nF,0,512,9\nW,0,512,0\n";
    let of = |handles, spec: &str, text: &[u8]| {
        let options = TraceOptions {
            placement_handles: handles,
            ..told(spec)
        };
        let (records, notices, error) = read(text, options);
        assert!(notices.is_empty(), "{notices:?}");
        let placements: Vec<u16> = records.iter().map(|r| r.placement).collect();
        (placements, error)
    };
    assert_eq!(of(Some(4), spec, text), (vec![3, 0, 0, 0, 0], None));
    assert_eq!(
        of(Some(3), spec, text),
        (
            vec![],
            Some(
                "t:2: columns column `placement`: there is no placement handle 3: the drive has 3, from 0 on; \
                 `stream.handles` sets how many"
                    .into()
            )
        )
    );
    assert_eq!(
        of(None, spec, b"W,0,512,0\nW,0,512,1\n"),
        (
            vec![0],
            Some(
                "t:2: columns column `placement`: there is no placement handle 1: the drive takes none; \
                 `--scheme stream=fdp` does"
                    .into()
            )
        )
    );
    assert_eq!(
        of(Some(4), spec, b"W,0,512,65536\n").1.as_deref(),
        Some("t:1: columns column `placement`: 65536 is too large")
    );
    // Without the column no write names a handle.
    assert_eq!(
        of(None, "op,offset:B,size:B", b"W,0,512\n"),
        (vec![0], None)
    );
    let pattern = Pattern::parse(r"(?<op>\w) (?<offset_B>\d+) (?<size_B>\d+) h(?<placement>\d+)");
    let options = TraceOptions {
        pattern: Some(pattern.unwrap()),
        ..TraceOptions::default()
    };
    assert_eq!(read(b"W 0 512 h6\n", options).0[0].placement, 6);
}

/// Bytes in a column of sectors are asked about, with the columns that say so; sectors are not.
#[test]
fn golden_sectors_that_may_be_bytes_are_questioned() {
    let asked = |text: &str| {
        let reader = TraceReader::open("t", text.as_bytes(), TraceOptions::default()).unwrap();
        let notices = reader.notices();
        let asked = notices.iter().find(|n| n.text.contains("multiple of 512"));
        asked.map(|notice| notice.text.clone())
    };
    let disksim = "0.5 0 8192 4096 1\n1.5 0 4096 512 0\n2.5 0 0 8192 1\n3 0 12288 4096 1\n";
    assert_eq!(
        asked(disksim).unwrap(),
        "every size (column `size`) of the first 4 requests is a multiple of 512, and is taken in sectors of 512 B; \
         if it is in bytes, tell the trace's columns: time:ms,device,offset:B,size:B,op:r1w0"
    );
    let cloudphysics = "1,8192,r,4096\n2,512,w,4096\n3,1024,r,512\n4,0,r,4096\n";
    assert_eq!(
        asked(cloudphysics).unwrap(),
        "every offset (column `lba`) of the first 4 requests is a multiple of 512, and is taken in sectors of 512 B; \
         if it is in bytes, tell the trace's columns: time:us,offset:B,op,size:B"
    );
    for text in [
        disksim
            .replace("8192 1", "8 1")
            .replace(" 4096 512", " 4097 512"),
        cloudphysics.replace("512,w", "520,w"),
        // Few requests tell nothing, and neither does one place.
        disksim.lines().take(3).collect::<Vec<_>>().join("\n"),
        "1,512,r,4096\n".repeat(8),
        // Bytes are bytes.
        "17,W,8192,4096,1\n".repeat(8),
    ] {
        assert_eq!(asked(&text), None, "{text}");
    }
    // What a notice tells to say reads as bytes.
    let (records, ..) = read(
        disksim.as_bytes(),
        told("time:ms,device,offset:B,size:B,op:r1w0"),
    );
    assert_eq!(
        (records[0].offset_bytes, records[0].len_bytes),
        (8192, 4096)
    );
}

#[test]
fn formula_what_is_understood_adds_up() {
    let text = "0,R,4096,4096\n1,W,0,512\n2,F,0,0\n1000,T,1048576,8192\n";
    let reader = TraceReader::open("t", text.as_bytes(), told("time:us,op,offset:B,size:B"));
    let is = Understood {
        format: "columns",
        requests: 4,
        by_op: [("reads", 1), ("writes", 1), ("trims", 1), ("flushes", 1)],
        size_bytes: Some((512, 8192)),
        bytes: 4096 + 512 + 8192,
        range_bytes: Some((0, 1048576 + 8192)),
        span_ns: 1_000_000,
        devices: 1,
    };
    assert_eq!(reader.unwrap().understood().unwrap(), is);
}

#[test]
fn golden_object_ids_are_in_the_units_that_are_named() {
    for (name, offset) in [
        ("oracle-general", 8 * 512),
        ("oracle-general-4k", 8 * 4096),
        ("oracle-general-bytes", 0),
    ] {
        let options = TraceOptions {
            format: Some(Format::find(name).unwrap()),
            ..TraceOptions::default()
        };
        let (records, notices, error) = read(sample("oracle-general.bin"), options);
        assert_eq!((records[3].offset_bytes, error), (offset, None), "{name}");
        assert!(notices.iter().all(|n| !n.contains("taken as reads")));
    }
    let cut = &sample("oracle-general.bin")[..50];
    let (_, notices, error) = read(cut, TraceOptions::default());
    assert_eq!(
        error.unwrap(),
        "t: byte 48: oracle-general the last record has 2 of 24 bytes"
    );
    assert!(
        notices[0].contains("all requests are taken as reads"),
        "{notices:?}"
    );
}

#[test]
fn compressed_traces_read_the_same() {
    let plain = read(sample("ssdsim.ascii"), TraceOptions::default());
    let packed: [&[u8]; 4] = [
        include_bytes!("../../tests/data/ssdsim.ascii.gz"),
        include_bytes!("../../tests/data/ssdsim.ascii.zst"),
        include_bytes!("../../tests/data/ssdsim.ascii.xz"),
        include_bytes!("../../tests/data/ssdsim.ascii.bz2"),
    ];
    let kinds = [
        Compression::Gzip,
        Compression::Zstd,
        Compression::Xz,
        Compression::Bzip2,
    ];
    for (bytes, kind) in packed.into_iter().zip(kinds) {
        assert_eq!(read(bytes, TraceOptions::default()), plain);
        let reader = TraceReader::open("t", bytes, TraceOptions::default()).unwrap();
        assert_eq!(reader.compression(), kind);
        // Two frames or members make one trace; times must go on, so read it twice with a clamp.
        let twice = [bytes, bytes].concat();
        let options = TraceOptions {
            on_time_back: TimeBack::Clamp,
            ..TraceOptions::default()
        };
        let (records, notices, error) = read(&twice, options);
        assert_eq!((records.len(), error), (2 * plain.0.len(), None));
        assert!(
            notices.iter().any(|n| n.contains("were given its time")),
            "{notices:?}"
        );
    }
    // A skippable frame before the data.
    let skip = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3], packed[1]].concat();
    assert_eq!(read(&skip, TraceOptions::default()), plain);
}

#[test]
fn truncated_or_corrupt_compression_is_an_error() {
    for (bytes, word) in [
        (
            include_bytes!("../../tests/data/ssdsim.ascii.gz").as_slice(),
            "gzip",
        ),
        (
            include_bytes!("../../tests/data/ssdsim.ascii.zst").as_slice(),
            "zstd",
        ),
        (
            include_bytes!("../../tests/data/ssdsim.ascii.xz").as_slice(),
            "xz",
        ),
        (
            include_bytes!("../../tests/data/ssdsim.ascii.bz2").as_slice(),
            "bzip2",
        ),
    ] {
        let marks = if matches!(word, "xz" | "bzip2") {
            10
        } else {
            4
        };
        for cut in marks..bytes.len() {
            let error = read(&bytes[..cut], TraceOptions::default()).2;
            let error = error.unwrap_or_else(|| panic!("{word} cut at {cut} reads"));
            assert!(
                error.contains("corrupt or cut short"),
                "{word} cut at {cut}: {error}"
            );
        }
        let mut flipped = bytes.to_vec();
        let last = flipped.len() - 6;
        flipped[last] ^= 0x10;
        assert!(
            read(&flipped, TraceOptions::default()).2.is_some(),
            "{word} flipped"
        );
    }
}

#[test]
fn errors_name_file_place_column_and_reason() {
    let cases = [
        ("", "t: the trace is empty"),
        ("\n\n", "t: no line in the first 32 KiB"),
        (
            "1 2 3\n4 5 6\n",
            "t: no known trace format: the first record is `1 2 3`; name the format if it is one \
             of fio-iolog, msr, alibaba, tencent, spc, systor17, cloudphysics-csv, libcachesim-csv, \
             flashnet, ssdsim-ns, disksim, mqsim, ssdsim-100ns, ssdsim-us, ssdsim-ms, ssdsim-s, blkparse, \
             blkparse-issue, vscsi, oracle-general, oracle-general-4k, oracle-general-bytes",
        ),
        (
            "0 0 8 8 1\n10 0 8 0 1\n",
            "t:2: ssdsim-ns column `size`: a request of no bytes",
        ),
        (
            "10 0 8 8 1\n20 0 8 8 1\n12 0 8 8 1\n",
            "t:3: ssdsim-ns column `time`: time goes back by 8 ns; allow it with the policy `clamp`",
        ),
        (
            "0 0 8 8 1\n5 0 99999999999999999999 8 0\n",
            // One bad line of two is no majority: the format is not told.
            "t: no known trace format",
        ),
        (
            "0 0 8 8 1\n0 0 36028797018963968 8 1\n",
            "t: no known trace format",
        ),
        (
            "fio version 1 iolog\n0, 4096, 4096\n",
            "t:1: fio-iolog the first line is",
        ),
        (
            "fio version 2 iolog\n/a read 0 4096\n",
            "t:2: fio-iolog column `file`: `/a` was not added before",
        ),
        (
            "fio version 2 iolog\n/a add\n/a open\n/a close\n",
            "t: the trace holds no request",
        ),
        (
            "fio version 2 iolog\n/a add\n/a open\n/a erase 0 4096\n",
            "t:4: fio-iolog column `action`: `erase` is none of",
        ),
    ];
    for (text, message) in cases {
        let got = error(text);
        assert!(got.starts_with(message), "{text:?}: {got}");
    }
    let long = |bad: &str| format!("{}{bad}\n", "0 0 8 8 1\n".repeat(40));
    for (bad, message) in [
        (
            "5 0 8 8",
            "t:41: ssdsim-ns 4 columns where 5 are expected (time, device, lba, size, operation): `5 0 8 8`",
        ),
        (
            "5 0 8 8 1 9",
            "t:41: ssdsim-ns 6 columns where 5 are expected",
        ),
        (
            "5 0 8 8 2",
            "t:41: ssdsim-ns column `operation`: `2` is not one of 1, 0",
        ),
        (
            "5 0 x 8 1",
            "t:41: ssdsim-ns column `lba`: `x` is no whole number",
        ),
        (
            "5 0 -8 8 1",
            "t:41: ssdsim-ns column `lba`: `-8` is no whole number",
        ),
        (
            "5 0 36028797018963968 8 1",
            "t:41: ssdsim-ns column `lba`: `36028797018963968` is too large",
        ),
        (
            "5 0 36028797018963967 8 1",
            "t:41: ssdsim-ns column `lba`: the request ends past 2^64 bytes",
        ),
        (
            "5 0 0 99999999 1",
            "t:41: ssdsim-ns column `size`: a request of 51199999488 bytes; at most",
        ),
    ] {
        let got = error(&long(bad));
        assert!(got.starts_with(message), "{bad}: {got}");
    }
    let long_line = format!("0 0 8 8 1\n{}", "7".repeat(40_000));
    assert!(
        error(&long_line).contains("longer than 16384 bytes"),
        "{}",
        error(&long_line)
    );
}

#[test]
fn a_cut_or_corrupt_vscsi_record_is_an_error_with_its_byte() {
    let bytes = sample("vscsi1.bin");
    let cut = read(&bytes[..bytes.len() - 5], TraceOptions::default()).2;
    assert_eq!(
        cut.unwrap(),
        "t: byte 96: vscsi the last record has 27 of 32 bytes"
    );
    let mut bad = bytes.to_vec();
    bad[96 + 15] = 7;
    assert_eq!(
        read(&bad, TraceOptions::default()).2.unwrap(),
        "t: byte 96: vscsi column `ver`: version 7 in a trace of version 1: the trace is corrupt, or \
         a record was lost"
    );
    bad[96 + 15] = 1;
    bad[96 + 12] = 0xc1;
    assert_eq!(
        read(&bad, TraceOptions::default()).2.unwrap(),
        "t: byte 96: vscsi column `cmd`: SCSI operation code 0xc1 has no known meaning"
    );
    let (_, notices, _) = read(bytes, TraceOptions::default());
    assert_eq!(
        notices,
        ["t: byte 64: 1 records of commands that move no data were skipped"]
    );
}

/// Every operation code of SBC-3 that moves data, each in a record of its own, in both versions: read and write of 6,
/// 10, 12 and 16 bytes, write and verify of 10, 12 and 16 bytes, synchronize cache of 10 and 16 bytes.
#[test]
fn golden_every_operation_code_of_vscsi_that_moves_data() {
    use HostOp::{Flush, Read, Write};
    let codes: [(u16, HostOp); 13] = [
        (0x08, Read),
        (0x28, Read),
        (0xa8, Read),
        (0x88, Read),
        (0x0a, Write),
        (0x2a, Write),
        (0xaa, Write),
        (0x8a, Write),
        (0x2e, Write),
        (0xae, Write),
        (0x8e, Write),
        (0x35, Flush),
        (0x91, Flush),
    ];
    for version in [1u16, 2] {
        let mut bytes = Vec::new();
        for (i, (code, _)) in (0u64..).zip(codes) {
            let head: [&[u8]; 5] = [
                &code.to_le_bytes(),
                &(version << 8).to_le_bytes(),
                &(i as u32).to_le_bytes(),
                &4096u32.to_le_bytes(),
                &1u32.to_le_bytes(),
            ];
            // Version 1 has the command after the numbers, version 2 before them.
            let order = if version == 1 {
                [2, 3, 4, 0, 1]
            } else {
                [0, 1, 2, 3, 4]
            };
            order.iter().for_each(|&n| bytes.extend_from_slice(head[n]));
            for number in [8 * i, 1_000_000 + i] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            bytes.resize(bytes.len() + if version == 1 { 0 } else { 8 }, 0);
        }
        let (records, notices, error) = read(&bytes, TraceOptions::default());
        assert_eq!((error, notices), (None, vec![]), "version {version}");
        let ops: Vec<HostOp> = records.iter().map(|r| r.op).collect();
        assert_eq!(ops, codes.map(|(_, op)| op), "version {version}");
        for (i, r) in (0u64..).zip(&records) {
            let (offset, len) = if r.op == Flush {
                (0, 0)
            } else {
                (4096 * i, 4096)
            };
            assert_eq!(
                (r.time_ns, r.offset_bytes, r.len_bytes),
                (1_000 * i, offset, len)
            );
        }
    }
}

/// Every device that Linux has, 12 bits of major and 20 bits of minor number, is told apart, and a larger one is refused.
#[test]
fn formula_devices_of_blkparse_are_those_of_linux() {
    let of = |device: &str| format!("{device} 0 1 0.5 1 Q R 8 + 8 [x]\n");
    for (device, is) in [
        ("0,0", 0),
        ("8,16", 8 << 20 | 16),
        ("4095,1048575", u32::MAX),
    ] {
        let (records, _, error) = read(of(device).as_bytes(), TraceOptions::default());
        assert_eq!((error, records[0].device), (None, is), "{device}");
    }
    for device in ["4096,0", "0,1048576", "4295032832,1", "1,4295032832"] {
        // The first line tells the format; the second one is wrong.
        let text = of("8,0") + &of(device);
        let expected = format!("t:2: blkparse column `device`: `{device}` is too large");
        assert_eq!(error(&text), expected);
    }
}

/// Times that go back are given the highest time before them, however far they go back and come again.
#[test]
fn model_clamped_times_are_the_running_maximum() {
    let draws = firstread_core::Stream::new(1).named("times");
    let times: Vec<u64> = (0..500)
        .map(|i| 1_000 + 10 * i + draws.at(i).below(200))
        .collect();
    let line = |t: &u64| format!("1,W,0,512,{t}\n");
    let text: String = times.iter().map(line).collect();
    let options = TraceOptions {
        on_time_back: TimeBack::Clamp,
        ..TraceOptions::default()
    };
    let (records, notices, error) = read(text.as_bytes(), options);
    assert_eq!(error, None);
    let mut highest = times[0];
    let mut clamped = 0;
    for (record, time) in records.iter().zip(&times) {
        clamped += u64::from(*time < highest);
        highest = highest.max(*time);
        assert_eq!(record.time_ns, (highest - times[0]) * 1_000);
    }
    assert_eq!(records.len(), times.len());
    assert!(clamped > 100, "{clamped}");
    assert!(
        notices
            .iter()
            .any(|n| n.contains(&format!("{clamped} records have a time before")))
    );
}

/// Flushes have a device, too: those of others are left out as other requests are.
#[test]
fn formula_flushes_of_other_devices_are_left_out() {
    let text = "259,1 0 1 0.0 1 Q WS 8 + 8 [x]\n259,2 0 2 0.1 1 Q FWS [x]\n259,1 0 3 0.2 1 Q FWS 0 + 0 [x]\n\
                259,2 0 4 0.3 1 Q RS 8 + 8 [x]\nThroughput (R/W): 1KiB/s / 1KiB/s\nEvents (x): 4 entries\n";
    for (minor, ops) in [
        (1, [HostOp::Write, HostOp::Flush]),
        (2, [HostOp::Flush, HostOp::Read]),
    ] {
        let options = TraceOptions {
            device: Some(259 << 20 | minor),
            ..TraceOptions::default()
        };
        let (records, notices, error) = read(text.as_bytes(), options);
        assert_eq!(error, None);
        assert_eq!(records.iter().map(|r| r.op).collect::<Vec<_>>(), ops);
        assert!(
            notices[0].contains("2 requests of other devices"),
            "{notices:?}"
        );
    }
}

#[test]
fn addresses_past_the_drive_fail_or_wrap() {
    let text = "0 0 100 8 1\n5 0 1000 16 0\n9 0 1023 8 0\n";
    let mut options = TraceOptions {
        capacity_bytes: 512 * 512,
        ..TraceOptions::default()
    };
    let (records, _, error) = read(text.as_bytes(), options.clone());
    assert_eq!(records.len(), 1);
    assert_eq!(
        error.unwrap(),
        "t:2: ssdsim-ns column `lba`: bytes 512000 to 520192 lie past the drive's 262144; take a \
         larger drive, or wrap addresses"
    );
    options.wrap = true;
    let (records, notices, error) = read(text.as_bytes(), options.clone());
    assert_eq!(error, None);
    let sectors: Vec<u64> = records.iter().map(|r| r.offset_bytes / 512).collect();
    assert_eq!(sectors, [100, 488, 504]);
    assert!(notices.contains(
        &"t:2: 2 requests lie past the drive's 262144 bytes and were moved to their offset modulo \
          that"
            .to_owned()
    ));
    options.capacity_bytes = 2048;
    assert!(
        read(b"0 0 100 8 1\n", options.clone()).2.is_some(),
        "longer than the drive"
    );
    options.capacity_bytes = 0;
    assert!(
        read(b"0 0 100 8 1\n", options.clone()).2.is_some(),
        "no drive"
    );
}

#[test]
fn requests_are_widened_to_whole_sectors() {
    let text = "0,R,100,1000,5\n0,W,512,512,6\n";
    let (records, notices, _) = read(text.as_bytes(), TraceOptions::default());
    assert_eq!((records[0].offset_bytes, records[0].len_bytes), (0, 1536));
    assert_eq!((records[1].offset_bytes, records[1].len_bytes), (512, 512));
    assert_eq!(
        notices,
        ["t:1: 1 requests do not begin and end on 512 bytes and were widened to do so"]
    );
}

#[test]
fn speed_limit_and_device_are_honoured() {
    let text = "1000 0 8 8 1\n3000 1 16 8 0\n7000 0 24 8 1\n";
    let of = |options: TraceOptions| read(text.as_bytes(), options);
    let base = TraceOptions::default();
    let times = |options| -> Vec<u64> { of(options).0.iter().map(|r| r.time_ns).collect() };
    assert_eq!(times(base.clone()), [0, 2000, 6000]);
    assert_eq!(
        times(TraceOptions {
            speed: 2.0,
            ..base.clone()
        }),
        [0, 1000, 3000]
    );
    assert_eq!(
        times(TraceOptions {
            limit: Some(2),
            ..base.clone()
        }),
        [0, 2000]
    );
    assert_eq!(
        times(TraceOptions {
            limit: Some(0),
            ..base.clone()
        }),
        []
    );
    assert_eq!(
        times(TraceOptions {
            device: Some(0),
            ..base.clone()
        }),
        [0, 6000]
    );
    let (_, notices, _) = of(TraceOptions {
        device: Some(0),
        ..base.clone()
    });
    assert!(notices.contains(&"t: 1 requests of other devices were left out".to_owned()));
    let missing = of(TraceOptions {
        device: Some(9),
        ..base.clone()
    })
    .2;
    assert_eq!(
        missing.unwrap(),
        "t: the trace holds no request of device 9"
    );
    let (_, notices, _) = of(base.clone());
    assert!(notices.contains(&"t: requests of 2 devices share the drive's addresses".to_owned()));
    assert!(
        of(TraceOptions {
            speed: 0.0,
            ..base.clone()
        })
        .2
        .is_some()
    );
    assert!(
        of(TraceOptions {
            speed: f64::NAN,
            ..base.clone()
        })
        .2
        .is_some()
    );
}

#[test]
fn a_reader_that_fails_is_an_error() {
    struct Failing(usize);
    impl Read for Failing {
        fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
            let text = b"0 0 8 8 1\n";
            if self.0 == 0 {
                return Err(std::io::Error::other("the disk is on fire"));
            }
            self.0 -= 1;
            buf[..text.len()].copy_from_slice(text);
            Ok(text.len())
        }
    }
    for reads in [0, 3, 5000] {
        let opened = TraceReader::open("t", Failing(reads), TraceOptions::default());
        let error = match opened {
            Err(e) => e,
            Ok(reader) => reader.filter_map(Result::err).next().unwrap(),
        };
        assert!(error.to_string().contains("on fire"), "{error}");
    }
}

mod fuzz {
    use super::*;
    use flate2::Compression as Level;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    fn exhaust(bytes: &[u8], format: Option<&'static Format>) {
        for on_time_back in [TimeBack::Error, TimeBack::Clamp] {
            let options = TraceOptions {
                format,
                on_time_back,
                wrap: true,
                capacity_bytes: 1 << 30,
                ..TraceOptions::default()
            };
            let Ok(mut reader) = TraceReader::open("fuzz", bytes, options) else {
                continue;
            };
            let mut last = 0;
            for record in reader.by_ref().flatten() {
                assert!(record.offset_bytes + u64::from(record.len_bytes) <= 1 << 30);
                assert!(record.offset_bytes % 512 == 0 && record.len_bytes % 512 == 0);
                assert!(record.time_ns >= last);
                last = record.time_ns;
            }
            let _ = reader.notices();
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        #[test]
        fn arbitrary_bytes_never_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..400), format in 0..FORMATS.len()
        ) {
            exhaust(&bytes, None);
            exhaust(&bytes, Some(&FORMATS[format]));
        }

        #[test]
        fn fuzz_told_columns_never_panic(
            spec in "([a-z0-9-]{1,6}(:[a-zA-Z0-9]{0,5})?,){0,4}(offset:B,size:B)?", text in "[0-9RWrw.,; \t\n-]{0,200}"
        ) {
            if let Ok(columns) = Columns::parse(&spec) {
                let options = TraceOptions { columns: Some(columns), ..TraceOptions::default() };
                if let Ok(mut reader) = TraceReader::open("fuzz", text.as_bytes(), options) {
                    reader.by_ref().for_each(drop);
                }
            }
        }

        #[test]
        fn arbitrary_columns_never_panic(text in "[0-9a-zA-Z.,+ \n-]{0,300}", format in 0..FORMATS.len()) {
            exhaust(text.as_bytes(), None);
            exhaust(text.as_bytes(), Some(&FORMATS[format]));
        }

        #[test]
        fn mutations_of_valid_traces_never_panic(
            which in 0..SAMPLES.len(),
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = SAMPLES[which].2.to_vec();
            for (at, byte) in &edits {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            let format = Format::find(SAMPLES[which].1).unwrap();
            exhaust(&bytes, None);
            exhaust(&bytes, Some(format));
            bytes.truncate(cut.index(bytes.len()));
            exhaust(&bytes, Some(format));
        }

        #[test]
        fn mutations_of_compressed_traces_never_panic(
            zstd in any::<bool>(),
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut bytes = if zstd {
                include_bytes!("../../tests/data/ssdsim.ascii.zst").to_vec()
            } else {
                let mut gzip = GzEncoder::new(Vec::new(), Level::fast());
                gzip.write_all(sample("ssdsim.ascii")).unwrap();
                gzip.finish().unwrap()
            };
            for (at, byte) in &edits {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            exhaust(&bytes, None);
        }
    }
}
