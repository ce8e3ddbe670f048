//! Stand-ins for the eight MSR Cambridge volumes of the DWR paper (Table I).
//!
//! Where the numbers come from:
//! - Requests, sectors and unique data written of six volumes: statistics published with a fork of
//!   SSDSim over the first 1,000,001 requests, rounded to 4 KiB (1020xyr/ssdsim,
//!   `program/trace_characteristic/stat.txt`, commit cdc1aea7). Its bytes agree with Table I to the
//!   digits printed, which is why the paper's slice is taken to be this one (inference).
//! - The paper's *footprint* is smaller than the data written and fits unique data *read*
//!   (inference); it is used as that.
//! - `proj_0` and `wdev_0` are in Table I alone. Requests: 1,000,001 as for the others, split so that
//!   reads are 1.19 times as long as writes (assumed: the median of the six). Update ratio 0.9703 and
//!   gap 265.6 ms likewise (assumed: medians of the six).
//!
//! The model: a request is a read with the volume's share of reads, as long as a geometric number of
//! 4 KiB pages with the mean of its kind (assumed: lengths are known by their mean only). It touches
//! new data with probability unique bytes / bytes, of those still to come, else data touched before,
//! where a fifth of the data gets four fifths of such requests (assumed, since no skew is published
//! for the slices). Half of the smaller set of data is both read and written, hot or not (assumed:
//! no figure for the slices; 0.02 to 0.71 of the data read in three other production traces). Gaps
//! are exponential with the published mean (assumed; real ones come in bursts).

use firstread_core::{HostOp, Stream};

use crate::error::{Location, WorkloadError};
use crate::nearest::likely;
use crate::stream::JobError;
use crate::stream::{Permutation, exponential, unit};
use crate::trace::TraceRecord;

/// Published statistics of one volume's slice.
#[derive(Clone, Copy, Debug)]
pub struct StandIn {
    /// Its name, beginning with `synthetic-`.
    pub name: &'static str,
    /// Read requests of the slice.
    pub reads: u64,
    /// Write requests of the slice.
    pub writes: u64,
    /// Sectors of 512 B read.
    pub read_sectors: u64,
    /// Sectors of 512 B written.
    pub write_sectors: u64,
    /// Unique data read, in hundredths of a GiB (Table I, "Footprint").
    pub footprint_gib_100: u64,
    /// Unique data written, in thousandths of a GiB.
    pub unique_written_gib_1000: u64,
    /// Mean gap between requests, in tenths of a ms.
    pub gap_ms_10: u64,
    /// Which of these numbers are published and which assumed.
    pub source: &'static str,
}

const MEASURED: &str = "requests, sectors, unique data written and gap: statistics of the slice \
                        published with a fork of SSDSim; footprint: DWR Table I";
const TABLE_ONLY: &str = "bytes and footprint: DWR Table I; split of requests, update ratio and gap \
                          assumed: medians of the other six";

#[allow(clippy::too_many_arguments)] // One row of a table.
const fn row(
    name: &'static str,
    reads: u64,
    writes: u64,
    read_sectors: u64,
    write_sectors: u64,
    footprint_gib_100: u64,
    unique_written_gib_1000: u64,
    gap_ms_10: u64,
    source: &'static str,
) -> StandIn {
    StandIn {
        name,
        reads,
        writes,
        read_sectors,
        write_sectors,
        footprint_gib_100,
        unique_written_gib_1000,
        gap_ms_10,
        source,
    }
}

/// A volume of which Table I alone is known, with bytes in hundredths of a GiB.
const fn from_table(
    name: &'static str,
    footprint_gib_100: u64,
    read_gib_100: u64,
    write_gib_100: u64,
) -> StandIn {
    const REQUESTS: u64 = 1_000_001;
    const SECTORS_PER_GIB: u64 = 1 << 21;
    // With reads 1.19 times as long as writes: reads / writes = (read bytes / 1.19) / write bytes.
    let scaled_reads = read_gib_100 * 100;
    let scaled_writes = write_gib_100 * 119;
    let reads = REQUESTS * scaled_reads / (scaled_reads + scaled_writes);
    row(
        name,
        reads,
        REQUESTS - reads,
        read_gib_100 * SECTORS_PER_GIB / 100,
        write_gib_100 * SECTORS_PER_GIB / 100,
        footprint_gib_100,
        write_gib_100 * 10 * (10_000 - 9_703) / 10_000,
        2_656,
        TABLE_ONLY,
    )
}

/// The stand-ins, in the order of Table I.
pub const STAND_INS: &[StandIn] = &[
    row(
        "synthetic-msr-hm_0",
        249_162,
        750_839,
        5_787_256,
        16_837_464,
        65,
        764,
        1_952,
        MEASURED,
    ),
    from_table("synthetic-msr-proj_0", 171, 415, 1_471),
    row(
        "synthetic-msr-prxy_0",
        29_362,
        970_639,
        570_704,
        12_188_096,
        8,
        174,
        481,
        MEASURED,
    ),
    row(
        "synthetic-msr-stg_0",
        230_897,
        769_104,
        15_496_472,
        19_519_904,
        617,
        275,
        3_360,
        MEASURED,
    ),
    row(
        "synthetic-msr-src1_2",
        153_632,
        846_369,
        5_209_504,
        75_468_912,
        111,
        642,
        1_707,
        MEASURED,
    ),
    row(
        "synthetic-msr-rsrch_0",
        90_442,
        909_559,
        2_840_216,
        23_099_336,
        7,
        273,
        4_411,
        MEASURED,
    ),
    from_table("synthetic-msr-wdev_0", 20, 318, 924),
    row(
        "synthetic-msr-src2_0",
        135_066,
        864_935,
        3_414_496,
        19_060_768,
        40,
        481,
        4_810,
        MEASURED,
    ),
];

const PAGE_BYTES: u64 = 4096;
/// Pages that stay together when data are scattered over the volume: 1 MiB.
const CHUNK_PAGES: u64 = 256;
/// Longest request, in pages.
const MAX_PAGES: u64 = 128;
/// Share of the smaller set of data that lies in the other set too.
const OVERLAP: f64 = 0.5;
/// `ln 0.2 / ln 0.8`: a fifth of the data touched gets four fifths of the requests to it.
const SKEW_POWER: f64 = 7.212_567_439;

impl StandIn {
    /// The stand-in called `name`.
    pub fn find(name: &str) -> Result<&'static StandIn, WorkloadError> {
        STAND_INS
            .iter()
            .find(|s| s.name == name)
            .ok_or_else(|| WorkloadError::UnknownName {
                what: "synthetic stream",
                name: name.to_owned(),
                nearest: likely(name, STAND_INS.iter().map(|s| s.name)),
            })
    }

    /// Reads and writes of the slice together.
    pub const fn requests(&self) -> u64 {
        self.reads + self.writes
    }

    /// Unique data read, in 4 KiB pages.
    pub const fn read_pages(&self) -> u64 {
        self.footprint_gib_100 * (1 << 30) / 100 / PAGE_BYTES
    }

    /// Unique data written, in 4 KiB pages.
    pub const fn written_pages(&self) -> u64 {
        self.unique_written_gib_1000 * (1 << 30) / 1000 / PAGE_BYTES
    }

    /// Its requests on a drive of `capacity_bytes`, with the run's `seed`.
    pub fn stream(
        &'static self,
        capacity_bytes: u64,
        seed: u64,
    ) -> Result<StandInStream, WorkloadError> {
        // The last request that touches new pages may touch more than are missing.
        let chunks = |pages: u64| (pages + MAX_PAGES).div_ceil(CHUNK_PAGES);
        let (read, written) = (chunks(self.read_pages()), chunks(self.written_pages()));
        let shared = (read.min(written) as f64 * OVERLAP) as u64;
        let total = read + written - shared;
        let needed = total * CHUNK_PAGES * PAGE_BYTES;
        if needed > capacity_bytes {
            return Err(WorkloadError::Job {
                place: Location::whole(self.name),
                job: self.name.to_owned(),
                why: JobError::Capacity {
                    needed_bytes: needed,
                    capacity_bytes,
                },
            });
        }
        let key = Stream::new(seed).named(self.name);
        let set = |first, chunks, pages: u64, sectors: u64, requests: u64, name| Set {
            key: key.named(name),
            first_chunk: first,
            order: Permutation::new(chunks, key.named(name).named("order")),
            limit: chunks * CHUNK_PAGES,
            touched: 0,
            wanted: pages,
            left: sectors / 8,
            inverse_log_more: 1.0
                / libm::log1p(-(requests as f64 * 8.0 / sectors as f64).min(0.999_999)),
        };
        Ok(StandInStream {
            row: self,
            mix: key.named("direction"),
            gap: key.named("gap"),
            order: Permutation::new(total, key.named("scatter")),
            sets: [
                set(
                    0,
                    read,
                    self.read_pages(),
                    self.read_sectors,
                    self.reads,
                    "reads",
                ),
                set(
                    read - shared,
                    written,
                    self.written_pages(),
                    self.write_sectors,
                    self.writes,
                    "writes",
                ),
            ],
            count: 0,
            time_ns: 0,
        })
    }
}

/// The data that reads, or writes, touch: pages numbered in the order of first touch.
#[derive(Clone, Debug)]
struct Set {
    key: Stream,
    /// Its first chunk of the volume, before scattering.
    first_chunk: u64,
    /// Order of its chunks, so that hot ones are as likely shared as others.
    order: Permutation,
    /// Pages there is room for.
    limit: u64,
    /// Pages touched so far.
    touched: u64,
    /// Unique pages in the end.
    wanted: u64,
    /// Pages that all requests still to come are expected to have.
    left: u64,
    /// `1 / ln q`, where `q` is the probability that a request has one more page.
    inverse_log_more: f64,
}

impl Set {
    /// First page and number of pages of request `count`.
    fn next(&mut self, count: u64) -> (u64, u64) {
        let key = self.key.at(count);
        let more = libm::log(1.0 - unit(key.bits())) * self.inverse_log_more;
        let pages = (1 + more as u64).min(MAX_PAGES);
        // Unique pages left over pages left: what is missing so far is made up for.
        let unique_left = self.wanted.saturating_sub(self.touched);
        let new = key.at(1).below(self.left.max(1)) < unique_left;
        let new = new && self.touched + pages <= self.limit;
        self.left = self.left.saturating_sub(pages);
        let page = if new || self.touched < pages {
            let page = within_chunk(self.touched, pages);
            self.touched = self.touched.max(page + pages);
            page
        } else {
            // The pages touched first are the hottest.
            let rank = libm::pow(unit(key.at(2).bits()), SKEW_POWER) * self.touched as f64;
            within_chunk((rank as u64).min(self.touched - pages), pages)
        };
        (page, pages)
    }
}

/// `page`, or so much less that `pages` from there on lie in one chunk.
const fn within_chunk(page: u64, pages: u64) -> u64 {
    let into = page % CHUNK_PAGES;
    if into + pages > CHUNK_PAGES {
        page - (into + pages - CHUNK_PAGES)
    } else {
        page
    }
}

/// The requests of a [`StandIn`], as an iterator.
#[derive(Clone, Debug)]
pub struct StandInStream {
    row: &'static StandIn,
    mix: Stream,
    gap: Stream,
    order: Permutation,
    /// Reads, writes.
    sets: [Set; 2],
    count: u64,
    time_ns: u64,
}

impl StandInStream {
    /// What it stands in for.
    pub fn stand_in(&self) -> &'static StandIn {
        self.row
    }
}

impl Iterator for StandInStream {
    type Item = TraceRecord;

    fn next(&mut self) -> Option<TraceRecord> {
        if self.count == self.row.requests() {
            return None;
        }
        if self.count > 0 {
            let mean_ns = self.row.gap_ms_10 as f64 * 1e5;
            self.time_ns += (mean_ns * exponential(self.gap.at(self.count)) + 0.5) as u64;
        }
        let read = self.mix.at(self.count).below(self.row.requests()) < self.row.reads;
        let set = &mut self.sets[usize::from(!read)];
        let (page, pages) = set.next(self.count);
        let chunk = set.first_chunk + set.order.at(page / CHUNK_PAGES);
        let chunk = self.order.at(chunk);
        self.count += 1;
        Some(TraceRecord {
            time_ns: self.time_ns,
            op: if read { HostOp::Read } else { HostOp::Write },
            offset_bytes: (chunk * CHUNK_PAGES + page % CHUNK_PAGES) * PAGE_BYTES,
            len_bytes: (pages * PAGE_BYTES) as u32,
            device: 0,
            placement: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: u64 = 16 << 30;

    fn close(what: &str, name: &str, got: f64, wanted: f64, band: f64) {
        println!("{name} {what}: {got:.4}, published {wanted:.4}");
        assert!(
            (got / wanted - 1.0).abs() < band,
            "{name} {what}: {got}, published {wanted}, band {band}"
        );
    }

    /// Each stream against the numbers it was made from: bands hold the statistical error and what
    /// keeping requests within chunks costs.
    #[test]
    fn each_stand_in_has_the_published_statistics() {
        for row in STAND_INS {
            let mut bytes = [0u64; 2];
            let mut requests = [0u64; 2];
            let mut seen = [0, 1].map(|_| vec![false; (CAPACITY / PAGE_BYTES) as usize]);
            let mut last_ns = 0;
            for r in row.stream(CAPACITY, 1).unwrap() {
                let i = usize::from(r.op == HostOp::Write);
                bytes[i] += u64::from(r.len_bytes);
                requests[i] += 1;
                let first = r.offset_bytes / PAGE_BYTES;
                let end = first + u64::from(r.len_bytes) / PAGE_BYTES;
                seen[i][first as usize..end as usize].fill(true);
                last_ns = r.time_ns;
            }
            let both = seen[0]
                .iter()
                .zip(&seen[1])
                .filter(|(r, w)| **r && **w)
                .count();
            let unique = seen.map(|s| s.iter().filter(|p| **p).count() as f64);
            let (read, written) = (bytes[0] as f64, bytes[1] as f64);
            let n = row.name;
            let smaller = unique[0].min(unique[1]);
            close("share of both", n, both as f64 / smaller, OVERLAP, 0.15);
            assert_eq!(requests[0] + requests[1], row.requests());
            close(
                "share of reads",
                n,
                requests[0] as f64,
                row.reads as f64,
                0.03,
            );
            close("bytes read", n, read, row.read_sectors as f64 * 512.0, 0.04);
            close(
                "bytes written",
                n,
                written,
                row.write_sectors as f64 * 512.0,
                0.02,
            );
            close(
                "unique pages read",
                n,
                unique[0],
                row.read_pages() as f64,
                0.05,
            );
            close(
                "unique pages written",
                n,
                unique[1],
                row.written_pages() as f64,
                0.05,
            );
            let gap = last_ns as f64 / row.requests() as f64 / 1e5;
            close("gap", n, gap, row.gap_ms_10 as f64, 0.01);
        }
    }

    /// Table I, as printed: footprint, read and write in GB, share of reads in percent.
    #[test]
    fn the_table_agrees_with_the_paper() {
        let table = [
            ("hm_0", 0.65, 2.76, 8.03, 25.6),
            ("proj_0", 1.71, 4.15, 14.71, 22.0),
            ("prxy_0", 0.08, 0.27, 5.81, 4.4),
            ("stg_0", 6.17, 7.39, 9.31, 44.3),
            ("src1_2", 1.11, 2.49, 35.99, 6.5),
            ("rsrch_0", 0.07, 1.36, 11.02, 10.9),
            ("wdev_0", 0.20, 3.18, 9.24, 25.6),
            ("src2_0", 0.40, 1.63, 9.09, 15.2),
        ];
        assert_eq!(table.len(), STAND_INS.len());
        for (row, (volume, footprint, read, write, percent)) in STAND_INS.iter().zip(table) {
            assert_eq!(row.name, format!("synthetic-msr-{volume}"));
            let gib = |sectors: u64| sectors as f64 / (1u64 << 21) as f64;
            let (r, w) = (gib(row.read_sectors), gib(row.write_sectors));
            assert!((r - read).abs() < 0.0101, "{volume} read {r}");
            assert!((w - write).abs() < 0.0101, "{volume} write {w}");
            assert!(
                (r / (r + w) * 100.0 - percent).abs() < 0.11,
                "{volume} {}",
                r / (r + w)
            );
            assert_eq!(
                row.footprint_gib_100,
                (footprint * 100.0 + 0.5) as u64,
                "{volume}"
            );
            assert_eq!(row.requests(), 1_000_001);
        }
    }

    #[test]
    fn streams_repeat_by_seed() {
        let row = StandIn::find("synthetic-msr-prxy_0").unwrap();
        let of = |seed| {
            row.stream(CAPACITY, seed)
                .unwrap()
                .take(1000)
                .collect::<Vec<_>>()
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn messages_name_what_is_missing() {
        assert_eq!(
            StandIn::find("synthetic-msr-hm0").unwrap_err().to_string(),
            "unknown synthetic stream `synthetic-msr-hm0`; the nearest valid name is \
             `synthetic-msr-hm_0`"
        );
        let e = STAND_INS[0].stream(1 << 20, 1).unwrap_err().to_string();
        assert!(e.contains("it needs a drive of"), "{e}");
    }

    /// Volumes of which Table I is all that is known have the medians of the six others: reads 1.19 times as long as writes,
    /// 97.03 % of what is written written again, and 265.6 ms between requests.
    #[test]
    fn formula_volumes_of_the_table_alone_have_the_medians_of_the_others() {
        let length = |sectors: u64, requests: u64| sectors as f64 / requests as f64;
        let ratio =
            |s: &StandIn| length(s.read_sectors, s.reads) / length(s.write_sectors, s.writes);
        let update = |s: &StandIn| {
            let written = s.write_sectors as f64 / (1u64 << 21) as f64;
            1.0 - s.unique_written_gib_1000 as f64 / 1000.0 / written
        };
        let alone: Vec<&StandIn> = STAND_INS
            .iter()
            .filter(|s| s.source == TABLE_ONLY)
            .collect();
        assert_eq!(alone.len(), 2);
        for row in alone {
            assert!(
                (ratio(row) - 1.19).abs() < 1e-4,
                "{}: {}",
                row.name,
                ratio(row)
            );
            assert!(
                (update(row) - 0.9703).abs() < 2e-4,
                "{}: {}",
                row.name,
                update(row)
            );
            assert_eq!(row.gap_ms_10, 2_656);
        }
        // The medians themselves, of six: between the third and the fourth.
        let median = |of: &dyn Fn(&StandIn) -> f64| {
            let measured = STAND_INS.iter().filter(|s| s.source == MEASURED);
            let mut all: Vec<f64> = measured.map(of).collect();
            all.sort_by(f64::total_cmp);
            assert_eq!(all.len(), 6);
            (all[2] + all[3]) / 2.0
        };
        assert!((median(&ratio) - 1.19).abs() < 0.01, "{}", median(&ratio));
        assert!(
            (median(&update) - 0.9703).abs() < 0.001,
            "{}",
            median(&update)
        );
        assert!((median(&|s| s.gap_ms_10 as f64) - 2_656.0).abs() < 1.0);
    }

    #[test]
    fn formula_a_request_stays_within_its_chunk() {
        for page in 0..600 {
            for pages in [1, 2, 100, 128] {
                let moved = within_chunk(page, pages);
                let end = (page / CHUNK_PAGES + 1) * CHUNK_PAGES;
                // As little less as will do.
                assert_eq!(moved, page.min(end - pages), "{pages} pages from {page} on");
            }
        }
    }

    /// 0.65 GiB in pages of 4 KiB, and 0.764 GiB.
    #[test]
    fn formula_unique_data_are_counted_in_pages() {
        let row = StandIn::find("synthetic-msr-hm_0").unwrap();
        let pages = |gib: f64| (gib * 262_144.0) as u64;
        assert_eq!(
            (row.read_pages(), row.written_pages()),
            (pages(0.65), pages(0.764))
        );
        let stream = row.stream(CAPACITY, 1).unwrap();
        assert_eq!(stream.stand_in().name, row.name);
    }

    /// The first and some later requests of a stream: offset in pages, pages, and time in microseconds.
    #[test]
    fn golden_requests_of_a_stand_in() {
        let row = StandIn::find("synthetic-msr-stg_0").unwrap();
        let all: Vec<TraceRecord> = row.stream(CAPACITY, 7).unwrap().take(50_001).collect();
        let of = |i: usize| {
            let r = &all[i];
            assert_eq!((r.offset_bytes % PAGE_BYTES, r.device), (0, 0));
            let pages = u64::from(r.len_bytes) / PAGE_BYTES;
            (r.op, r.offset_bytes / PAGE_BYTES, pages, r.time_ns / 1000)
        };
        assert_eq!(
            [0, 1, 2, 3, 1000, 50_000].map(of),
            [
                (HostOp::Write, 440_832, 3, 0),
                (HostOp::Write, 440_832, 2, 25_591),
                (HostOp::Read, 656_640, 4, 38_615),
                (HostOp::Read, 656_644, 5, 322_575),
                (HostOp::Write, 440_832, 1, 330_963_090),
                (HostOp::Read, 1_389_082, 7, 16_765_363_075),
            ]
        );
    }
}
