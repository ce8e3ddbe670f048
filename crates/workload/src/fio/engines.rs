//! fio's I/O engines, and whether an engine makes a load for a drive.

use super::error::ValueError;
use crate::nearest::likely;

/// Engines whose requests go to a drive. All of them are treated alike.
const SERVED: &[&str] = &[
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "libaio",
    "io_uring",
    "io_uring_cmd",
    "posixaio",
    "solarisaio",
    "windowsaio",
    "mmap",
    "splice",
    "sg",
    "libzbc",
    "null",
    "cpp_null",
    "rados",
    "rbd",
    "http",
    "gfapi",
    "gfapi_async",
    "libhdfs",
    "mtd",
    "libpmem",
    "libpmem2",
    "pmemblk",
    "dev-dax",
    "ime_psync",
    "ime_psyncv",
    "ime_aio",
    "libiscsi",
    "nbd",
    "nfs",
    "libcufile",
    "dfs",
    "xnvme",
    "libblkio",
    "guasi",
    "binject",
    "syslet-rw",
    "external",
    "skeleton_external",
];

const NETWORK: &str = "sends data over a network to another process; no drive takes part";
const NAMES: &str = "works on the names of many files and moves no data; a drive has no files";
const SPACE: &str = "allocates and frees the space of a file and moves no data; for a drive, write \
    `rw=trim` with `ioengine=libaio`";

/// Engines that move no data to or from a drive, with what they do instead.
const OTHER: &[(&str, &str)] = &[
    ("net", NETWORK),
    ("netsplice", NETWORK),
    ("rdma", NETWORK),
    ("librpma_apm_client", NETWORK),
    ("librpma_apm_server", NETWORK),
    ("librpma_gpspm_client", NETWORK),
    ("librpma_gpspm_server", NETWORK),
    ("cpuio", "burns processor time and does no I/O"),
    ("exec", "runs a program and does no I/O of its own"),
    ("filecreate", NAMES),
    ("filestat", NAMES),
    ("filedelete", NAMES),
    ("dircreate", NAMES),
    ("dirstat", NAMES),
    ("dirdelete", NAMES),
    ("falloc", SPACE),
    (
        "ftruncate",
        "changes the length of a file and moves no data; a drive has no files",
    ),
    (
        "e4defrag",
        "has the file system swap the blocks of two files; a drive has no files",
    ),
];

/// Fails for an engine that makes no load for a drive, and for one that does not exist.
pub(super) fn check(text: &str) -> Result<(), ValueError> {
    // `external:PATH` and options of the engine after a colon.
    let name = text.split(':').next().unwrap_or(text).trim();
    if SERVED.contains(&name) {
        return Ok(());
    }
    if let Some((_, does)) = OTHER.iter().find(|(other, _)| *other == name) {
        return Err(ValueError::NoLoad(does));
    }
    let known = SERVED.iter().copied().chain(OTHER.iter().map(|o| o.0));
    Err(ValueError::NoEngine {
        nearest: likely(name, known),
    })
}
