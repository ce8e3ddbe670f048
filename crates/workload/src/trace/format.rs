//! The table of trace formats: from it come detection, parsing, messages and `list traces`.

use firstread_core::HostOp;

use crate::error::WorkloadError;
use crate::nearest::likely;

/// Most columns a record has.
pub(super) const MAX_COLUMNS: usize = 16;

/// What stands between the columns of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Separator {
    Commas,
    Semicolons,
    Blanks,
}

/// Columns of a line, what stands between them, and whether more columns may follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape<'a> {
    pub(super) columns: &'a [Column],
    pub(super) separator: Separator,
    pub(super) more: bool,
}

/// A trace format: a row of [`FORMATS`], from which detection, parsing and help come.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name, to be given where detection fails or errs.
    pub name: &'static str,
    /// What it is and where it comes from, one line.
    pub summary: &'static str,
    /// Its columns or fields, in order.
    pub columns: &'static [Column],
    /// How it is recognized; `None` where it has to be named.
    pub detected: Option<&'static str>,
    /// A record, as text.
    pub example: &'static str,
    pub(super) layout: Layout,
}

/// One column or field.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// What the column holds, as messages name it.
    pub name: &'static str,
    /// Its unit or values.
    pub unit: &'static str,
    pub(super) role: Role,
}

/// What a column is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    /// Whole numbers of so many ns.
    Time(u64),
    /// Decimal numbers of so many ns.
    DecimalTime(u64),
    /// A number that tells volumes apart.
    Device,
    /// Placement handle of a write.
    Placement,
    /// First byte, in units of so many bytes.
    Offset(u64),
    /// Length, in units of so many bytes.
    Len(u64),
    /// The operation; letters in either case.
    Op(&'static [(&'static str, HostOp)]),
    /// Any number, not used.
    Number,
    /// Anything, not used.
    Any,
}

/// How records are laid out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    /// One record a line, columns separated by commas. More columns may follow where `more`.
    Csv { more: bool },
    /// One record a line, columns separated by blanks.
    Blanks,
    /// 32 or 40 bytes a record.
    Vscsi,
    /// 24 bytes a record: libCacheSim's oracleGeneral, whose object ids are units of so many bytes.
    OracleGeneral(u64),
    /// Output of blkparse, of which the events with this action are the requests.
    Blkparse(u8),
    /// fio's iolog.
    Iolog,
}

const fn column(name: &'static str, unit: &'static str, role: Role) -> Column {
    Column { name, unit, role }
}

const NS: u64 = 1;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// Operation columns where 1 is a read.
const READ_IS_1: Role = Role::Op(&[("1", HostOp::Read), ("0", HostOp::Write)]);
/// Operation columns where 0 is a read.
const READ_IS_0: Role = Role::Op(&[("0", HostOp::Read), ("1", HostOp::Write)]);
/// Operation columns with letters.
const R_AND_W: Role = Role::Op(&[("R", HostOp::Read), ("W", HostOp::Write)]);

/// Operation columns with codes of SCSI.
const SCSI: Role = Role::Op(&[
    ("28", HostOp::Read),
    ("2a", HostOp::Write),
    ("88", HostOp::Read),
    ("8a", HostOp::Write),
    ("a8", HostOp::Read),
    ("aa", HostOp::Write),
    ("8", HostOp::Read),
    ("a", HostOp::Write),
    ("08", HostOp::Read),
    ("0a", HostOp::Write),
]);

const fn ssdsim(unit: &'static str, time: Role) -> [Column; 5] {
    [
        column("time", unit, time),
        column("device", "number", Role::Device),
        column("lba", "512 B", Role::Offset(512)),
        column("size", "512 B", Role::Len(512)),
        column("operation", "1 read, 0 write", READ_IS_1),
    ]
}

/// Every format, in the order in which detection tries them.
pub const FORMATS: &[Format] = &[
    Format {
        name: "fio-iolog",
        summary: "fio's I/O log, version 2 or 3 (write_iolog)",
        columns: &[
            column("timestamp", "us (version 3 alone)", Role::Time(US)),
            column("file", "name: a device of its own", Role::Any),
            column(
                "action",
                "add open close read write trim sync datasync wait",
                Role::Any,
            ),
            column(
                "offset",
                "B (of `wait`: us since the last request)",
                Role::Offset(1),
            ),
            column("length", "B", Role::Len(1)),
        ],
        detected: Some("the first line is `fio version 2 iolog` or `fio version 3 iolog`"),
        example: "fio version 2 iolog",
        layout: Layout::Iolog,
    },
    Format {
        name: "msr",
        summary: "MSR Cambridge CSV (SNIA), as used by most papers",
        columns: &[
            column("timestamp", "100 ns (Windows file time)", Role::Time(100)),
            column("hostname", "text", Role::Any),
            column("disk", "number", Role::Device),
            column(
                "type",
                "Read, Write",
                Role::Op(&[("Read", HostOp::Read), ("Write", HostOp::Write)]),
            ),
            column("offset", "B", Role::Offset(1)),
            column("size", "B", Role::Len(1)),
            column("response time", "100 ns", Role::Number),
        ],
        detected: Some("seven columns, the fourth `Read` or `Write`"),
        example: "128166000000000100,node,1,Read,2088960,4096,24931",
        layout: Layout::Csv { more: false },
    },
    Format {
        name: "alibaba",
        summary: "Alibaba Cloud block traces, 2020 (io_traces.csv)",
        columns: &[
            column("device_id", "number", Role::Device),
            column("opcode", "R, W", R_AND_W),
            column("offset", "B", Role::Offset(1)),
            column("length", "B", Role::Len(1)),
            column("timestamp", "us", Role::Time(US)),
        ],
        detected: Some("five columns, the second `R` or `W`"),
        example: "17,W,8589934592,16384,1577900000000700",
        layout: Layout::Csv { more: false },
    },
    Format {
        name: "tencent",
        summary: "Tencent Cloud block storage traces, 2018 (SNIA)",
        columns: &[
            column("timestamp", "s", Role::Time(S)),
            column("offset", "512 B", Role::Offset(512)),
            column("size", "512 B", Role::Len(512)),
            column("io_type", "0 read, 1 write", READ_IS_0),
            column("volume_id", "number", Role::Device),
        ],
        detected: Some("five columns of whole numbers, the fourth 0 or 1"),
        example: "1538400000,1048576,128,0,7",
        layout: Layout::Csv { more: false },
    },
    Format {
        name: "spc",
        summary: "SPC trace file format 1.0.1 (UMass: Financial, WebSearch)",
        columns: &[
            column("asu", "number", Role::Device),
            column("lba", "512 B", Role::Offset(512)),
            column("size", "B", Role::Len(1)),
            column("opcode", "R, W", R_AND_W),
            column("timestamp", "s, decimal", Role::DecimalTime(S)),
        ],
        detected: Some("at least five columns, the fourth `R` or `W`, the fifth a decimal number"),
        example: "0,4096000,8192,W,0.502335",
        layout: Layout::Csv { more: true },
    },
    Format {
        name: "systor17",
        summary: "SYSTOR'17 traces of virtual desktops (SNIA)",
        columns: &[
            column("timestamp", "s, decimal", Role::DecimalTime(S)),
            column("response", "s, decimal", Role::Any),
            column("iotype", "R, W", R_AND_W),
            column("lun", "number", Role::Device),
            column("offset", "B", Role::Offset(1)),
            column("size", "B", Role::Len(1)),
        ],
        detected: Some("six columns, the third `R` or `W`"),
        example: "1455592331.063141,0.000347,R,1,1178099712,8192",
        layout: Layout::Csv { more: false },
    },
    Format {
        name: "cloudphysics-csv",
        summary: "CloudPhysics block traces as CSV (Cydonia)",
        columns: &[
            column("time", "us", Role::Time(US)),
            column("lba", "512 B", Role::Offset(512)),
            column("operation", "r, w", R_AND_W),
            column("size", "B", Role::Len(1)),
        ],
        detected: Some("four columns, the third `r` or `w`"),
        example: "1560,64,w,4096",
        layout: Layout::Csv { more: false },
    },
    Format {
        name: "libcachesim-csv",
        summary: "block traces as CSV as libCacheSim ships them (cloudPhysicsIO.csv)",
        columns: &[
            column("version", "number", Role::Number),
            column("time", "s, decimal", Role::DecimalTime(S)),
            column("op", "SCSI operation code, hexadecimal", SCSI),
            column("size", "B", Role::Len(1)),
            column("lbn", "512 B", Role::Offset(512)),
        ],
        detected: Some("five columns, the third a SCSI read or write: 28, 2a, 88, 8a, ..."),
        example: "1,33898,2a,6656,40409911",
        layout: Layout::Csv { more: false },
    },
    Format {
        name: "flashnet",
        summary: "a trace as replayed by the FlashNet and LinnOS replayers (a Tencent window)",
        columns: &[
            column("time", "ms, decimal", Role::DecimalTime(MS)),
            column("latency", "us", Role::Number),
            column("operation", "1 read, 0 write", READ_IS_1),
            column("size", "B", Role::Len(1)),
            column("offset", "B", Role::Offset(1)),
            column("submitted", "ms, decimal", Role::Number),
            column("size after replay", "B", Role::Number),
        ],
        detected: Some("seven columns of numbers, the third 0 or 1"),
        example: "0.000,84,0,4096,40960,0.101,4096",
        layout: Layout::Csv { more: false },
    },
    Format {
        name: "ssdsim-ns",
        summary: "SSDSim and MQSim ASCII with times in ns, as both read them",
        columns: &ssdsim("ns", Role::Time(NS)),
        detected: Some(
            "five columns between blanks, all whole numbers, the last 0 or 1: times are taken as \
             ns, which the columns cannot tell; name another ssdsim-... where they are not",
        ),
        example: "97900000 0 2400 128 1",
        layout: Layout::Blanks,
    },
    Format {
        name: "disksim",
        summary: "DiskSim ASCII, which many SSDSim traces are",
        columns: &ssdsim("ms, decimal", Role::DecimalTime(MS)),
        detected: Some(
            "five columns between blanks, the last 0 or 1, and one of the first times has a \
             decimal point",
        ),
        example: "0.005859 0 64 16 0",
        layout: Layout::Blanks,
    },
    Format {
        name: "mqsim",
        summary: "MQSim ASCII: the columns of ssdsim-ns, under the name its users know",
        columns: &ssdsim("ns", Role::Time(NS)),
        detected: None,
        example: "938513000 4 2640 16 0",
        layout: Layout::Blanks,
    },
    Format {
        name: "ssdsim-100ns",
        summary: "SSDSim ASCII with times in units of 100 ns",
        columns: &ssdsim("100 ns", Role::Time(100)),
        detected: None,
        example: "979000 0 2400 128 1",
        layout: Layout::Blanks,
    },
    Format {
        name: "ssdsim-us",
        summary: "SSDSim ASCII with times in us",
        columns: &ssdsim("us", Role::DecimalTime(US)),
        detected: None,
        example: "97900 0 2400 128 1",
        layout: Layout::Blanks,
    },
    Format {
        name: "ssdsim-ms",
        summary: "SSDSim ASCII with times in ms",
        columns: &ssdsim("ms", Role::DecimalTime(MS)),
        detected: None,
        example: "97.9 0 2400 128 1",
        layout: Layout::Blanks,
    },
    Format {
        name: "ssdsim-s",
        summary: "SSDSim ASCII with times in s",
        columns: &ssdsim("s", Role::DecimalTime(S)),
        detected: None,
        example: "242.504 0 2640 16 0",
        layout: Layout::Blanks,
    },
    Format {
        name: "blkparse",
        summary: "text output of blkparse in its default format: requests as they were queued (Q)",
        columns: BLKPARSE,
        detected: Some("the first column is major,minor and an event has action Q"),
        example: "259,2 0 1 0.000000000 4020 Q R 282624 + 8 [db]",
        layout: Layout::Blkparse(b'Q'),
    },
    Format {
        name: "blkparse-issue",
        summary: "text output of blkparse: requests as they were issued to the device (D)",
        columns: BLKPARSE,
        detected: Some("the first column is major,minor, and D is the only request action"),
        example: "259,2 0 5 0.000005462 4020 D RS 282624 + 8 [db]",
        layout: Layout::Blkparse(b'D'),
    },
    Format {
        name: "vscsi",
        summary: "CloudPhysics vscsi binary, records of version 1 (32 B) or 2 (40 B)",
        columns: &[
            column("sn", "u32, serial number", Role::Any),
            column("len", "u32, B", Role::Len(1)),
            column("nSG", "u32, scatter-gather elements", Role::Any),
            column("cmd", "u16, SCSI operation code", Role::Any),
            column("ver", "u16, version in the high byte", Role::Any),
            column("lbn", "u64, 512 B", Role::Offset(512)),
            column("ts", "u64, us", Role::Time(US)),
            column(
                "rt",
                "u64, response time; version 2 alone, where cmd and ver come first",
                Role::Any,
            ),
        ],
        detected: Some("the version byte stands at its place in the first two records"),
        example: "(binary)",
        layout: Layout::Vscsi,
    },
    Format {
        name: "oracle-general",
        summary: "libCacheSim's oracleGeneral, binary: object ids are blocks of 512 B, requests are reads",
        columns: ORACLE_GENERAL,
        detected: Some(
            "24 bytes a record, times that never go back, next accesses that lie ahead: units of the \
             object id cannot be told; name another oracle-general-... where they are not 512 B",
        ),
        example: "(binary)",
        layout: Layout::OracleGeneral(512),
    },
    Format {
        name: "oracle-general-4k",
        summary: "oracleGeneral whose object ids are blocks of 4 KiB",
        columns: ORACLE_GENERAL,
        detected: None,
        example: "(binary)",
        layout: Layout::OracleGeneral(4096),
    },
    Format {
        name: "oracle-general-bytes",
        summary: "oracleGeneral whose object ids are byte offsets",
        columns: ORACLE_GENERAL,
        detected: None,
        example: "(binary)",
        layout: Layout::OracleGeneral(1),
    },
];

/// Stands for an expression that the user has told.
pub(super) const PATTERN: Format = Format {
    name: "expression",
    summary: "lines that match an expression",
    ..OWN
};

/// Stands for columns that the user has told.
pub(super) const OWN: Format = Format {
    name: "columns",
    summary: "columns as they were told",
    columns: &[],
    detected: None,
    example: "",
    layout: Layout::Csv { more: false },
};

const ORACLE_GENERAL: &[Column] = &[
    column("timestamp", "u32, s", Role::Time(S)),
    column(
        "obj_id",
        "u64, blocks or bytes: see the summary",
        Role::Offset(1),
    ),
    column("obj_size", "u32, B", Role::Len(1)),
    column("next_access_vtime", "i64, number of a request", Role::Any),
];

const BLKPARSE: &[Column] = &[
    column("device", "major,minor", Role::Device),
    column("cpu", "number", Role::Any),
    column("sequence", "number", Role::Any),
    column("time", "s, decimal", Role::DecimalTime(S)),
    column("pid", "number", Role::Any),
    column("action", "Q, D, C, ...", Role::Any),
    column(
        "rwbs",
        "R read, W write, D discard, F flush, and flags",
        Role::Any,
    ),
    column("sector", "512 B", Role::Offset(512)),
    column("+", "", Role::Any),
    column("sectors", "512 B", Role::Len(512)),
];

impl Format {
    /// Its columns and how they are separated.
    pub(super) fn shape(&self) -> Shape<'static> {
        let (separator, more) = match self.layout {
            Layout::Csv { more } => (Separator::Commas, more),
            _ => (Separator::Blanks, false),
        };
        Shape {
            columns: self.columns,
            separator,
            more,
        }
    }

    /// The format called `name`.
    pub fn find(name: &str) -> Result<&'static Format, WorkloadError> {
        FORMATS
            .iter()
            .find(|f| f.name == name)
            .ok_or_else(|| WorkloadError::UnknownName {
                what: "trace format",
                name: name.to_owned(),
                nearest: likely(name, FORMATS.iter().map(|f| f.name)),
            })
    }
}
