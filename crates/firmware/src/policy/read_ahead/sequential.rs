//! `sequential`: detects sequential streams and reads ahead of them, in a window that grows as the stream
//! continues.
//!
//! A table holds the most recent streams, each with the byte at which it would continue. A read that begins
//! there continues the stream. Any other read begins a new stream, which replaces the one that has been idle
//! longest. From `trigger` consecutive reads on, the scheme reads ahead of the stream, up to a window past
//! its end. It asks for the next stretch when half of the window is used, so that the data arrive in time.
//! With each stretch the window grows by `growth`. Stretches end at the end of a multi-plane page, because
//! such a page is sensed at once.

use alloc::boxed::Box;

use firstread_core::params::{Param, ParamKind, Role, Scheme, Values};

use super::{HostRead, ReadAhead, ReadAheadRange};
use crate::policy::Setup;

const KIB: i64 = 1 << 10;
const MIB: i64 = 1 << 20;

pub const SCHEME: Scheme = Scheme {
    name: "sequential",
    summary: "sequential streams are read ahead of, in windows that grow",
    source: "windows that double and are asked for in advance: Wu et al., On the design of a new \
             Linux readahead framework (SIGOPS OSR 2008). CT-QLC names read-ahead in the firmware \
             for low queue depths and says no more",
    role: Role::Scheme,
    needs: &[],
    ordered: &[],
    params: &[
        Param {
            key: "streams",
            doc: "streams told apart at a time; assumed, because it is more than the jobs of a \
                  usual benchmark",
            kind: ParamKind::Number {
                unit: "streams",
                default: 32,
                min: 1,
                max: 1024,
            },
        },
        Param {
            key: "trigger",
            doc: "reads in a row from which on a stream is read ahead of; assumed, because two \
                  that touch by chance are one pair in as many as the drive has pages",
            kind: ParamKind::Number {
                unit: "reads",
                default: 2,
                min: 2,
                max: 1000,
            },
        },
        Param {
            key: "initial",
            doc: "first window; assumed, because Linux begins with as much as its default \
                  limit, 128 KiB, for reads of that size",
            kind: ParamKind::Number {
                unit: "bytes",
                default: 128 * KIB,
                min: 512,
                max: 256 * MIB,
            },
        },
        Param {
            key: "maximum",
            doc: "largest window; assumed, because 7 GB/s times the 300 us of a read with a retry \
                  are 2 MiB",
            kind: ParamKind::Number {
                unit: "bytes",
                default: 2 * MIB,
                min: 512,
                max: 256 * MIB,
            },
        },
        Param {
            key: "growth",
            doc: "factor by which the window grows with each stretch, in thousandths; 2000 as in \
                  Linux, 1000 to keep it",
            kind: ParamKind::Number {
                unit: "permille",
                default: 2000,
                min: 1000,
                max: 16_000,
            },
        },
        Param {
            key: "buffer",
            doc: "memory for what was read ahead, beyond the read cache; assumed, because it \
                  holds eight streams at their largest window",
            kind: ParamKind::Number {
                unit: "bytes",
                default: 16 * MIB,
                min: 64 * KIB,
                max: 1024 * MIB,
            },
        },
        Param {
            key: "rows",
            doc: "multi-plane pages read ahead at a time; assumed, because it is four windows of 2 MiB",
            kind: ParamKind::Number {
                unit: "rows",
                default: 128,
                min: 1,
                max: 4096,
            },
        },
    ],
};

#[derive(Clone, Copy, Debug)]
struct SequentialStream {
    client: u16,
    /// Consecutive reads so far; 0 for an unused entry.
    run: u32,
    /// Byte at which the stream would continue.
    next: u64,
    /// First page that was not read ahead.
    ahead: u64,
    /// Size of the window in pages.
    window: u32,
    /// When the stream last continued, as a number of reads.
    moved: u64,
}

impl SequentialStream {
    const NONE: SequentialStream = SequentialStream {
        client: 0,
        run: 0,
        next: 0,
        ahead: 0,
        window: 0,
        moved: 0,
    };
}

/// Sizes of the drive, in logical pages.
#[derive(Clone, Copy, Debug)]
struct Pages {
    /// Bytes of a logical page.
    slot_bytes: u32,
    /// Logical pages in a multi-plane page, which is sensed at once.
    mp_page_slots: u32,
    /// Capacity in logical pages.
    capacity_slots: u64,
}

#[derive(Clone, Debug)]
pub struct Sequential {
    pages: Pages,
    streams: Box<[SequentialStream]>,
    trigger: u32,
    initial: u32,
    maximum: u32,
    growth_permille: u64,
    buffer_slots: u32,
    rows: u32,
    reads: u64,
}

impl Sequential {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> Sequential {
        let pages = Pages {
            slot_bytes: setup.geometry.slot_bytes,
            mp_page_slots: setup.geometry.slots_per_mp_page(),
            capacity_slots: setup.capacity_slots,
        };
        Sequential::over(pages, values)
    }

    fn over(pages: Pages, values: &Values) -> Sequential {
        let slots = |key| (values.get(key) as u64).div_ceil(pages.slot_bytes as u64) as u32;
        Sequential {
            pages,
            streams: alloc::vec![SequentialStream::NONE; values.get("streams") as usize]
                .into_boxed_slice(),
            trigger: values.get("trigger") as u32,
            initial: slots("initial"),
            maximum: slots("maximum").max(slots("initial")),
            growth_permille: values.get("growth") as u64,
            // At least one multi-plane page, or nothing could be read ahead.
            buffer_slots: slots("buffer").max(pages.mp_page_slots),
            rows: values.get("rows") as u32,
            reads: 0,
        }
    }
}

impl ReadAhead for Sequential {
    #[inline]
    fn on_read(&mut self, read: HostRead) -> Option<ReadAheadRange> {
        self.reads += 1;
        let next = read.offset_bytes + read.len_bytes as u64;
        let goes_on = |s: &SequentialStream| {
            s.next == read.offset_bytes && s.client == read.client && s.run > 0
        };
        let Some(i) = self.streams.iter().position(goes_on) else {
            let oldest = self.streams.iter_mut().min_by_key(|s| s.moved)?;
            *oldest = SequentialStream {
                client: read.client,
                run: 1,
                next,
                ahead: 0,
                window: self.initial,
                moved: self.reads,
            };
            return None;
        };
        let stream = &mut self.streams[i];
        stream.run = stream.run.saturating_add(1);
        stream.next = next;
        stream.moved = self.reads;
        if stream.run < self.trigger {
            return None;
        }
        let page = next.div_ceil(self.pages.slot_bytes as u64);
        stream.ahead = stream.ahead.max(page);
        if stream.ahead - page > stream.window as u64 / 2 {
            return None;
        }
        let mp_page = self.pages.mp_page_slots as u64;
        let end = (page + stream.window as u64).div_ceil(mp_page) * mp_page;
        let end = end.min(self.pages.capacity_slots);
        (stream.ahead < end).then_some(ReadAheadRange {
            stream: i as u16,
            first: stream.ahead,
            end,
        })
    }

    fn started(&mut self, stream: u16, end: u64) {
        let stream = &mut self.streams[stream as usize];
        if end == stream.ahead {
            return;
        }
        stream.ahead = end;
        let grown = stream.window as u64 * self.growth_permille / 1000;
        stream.window = grown.min(self.maximum as u64) as u32;
    }

    fn buffer_slots(&self) -> u32 {
        self.buffer_slots
    }

    fn rows(&self) -> u32 {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const PAGE: u64 = 4096;

    fn scheme(set: &[(&str, i64)]) -> Sequential {
        let values: Vec<i64> = SCHEME
            .params
            .iter()
            .map(|p| {
                let own = set.iter().find(|(key, _)| *key == p.key);
                own.map_or(p.default(), |(_, value)| *value)
            })
            .collect();
        let pages = Pages {
            slot_bytes: PAGE as u32,
            mp_page_slots: 16,
            capacity_slots: 10_000,
        };
        Sequential::over(pages, &Values::new(&SCHEME, &values))
    }

    fn read(s: &mut Sequential, client: u16, page: u64, pages: u64) -> Option<(u64, u64)> {
        let ahead = s.on_read(HostRead {
            client,
            offset_bytes: page * PAGE,
            len_bytes: (pages * PAGE) as u32,
        })?;
        s.started(ahead.stream, ahead.end);
        Some((ahead.first, ahead.end))
    }

    #[test]
    fn sequence_of_windows_that_double_up_to_the_largest() {
        let mut s = scheme(&[("maximum", 512 << 10)]);
        let asked: Vec<(u64, u64)> = (0..400).filter_map(|p| read(&mut s, 0, p, 1)).collect();
        // Windows of 32, 64, 128, 128 ... pages past the stream, extended to the end of a multi-plane page of
        // 16. The next stretch is requested when at most half of the window is left.
        let expected = [(2, 48), (48, 80), (80, 160), (160, 224), (224, 288)];
        assert_eq!(asked[..5], expected, "{asked:?}");
        for (a, b) in asked.iter().zip(&asked[1..]) {
            assert_eq!(a.1, b.0, "nothing is left out or asked for twice");
        }
    }

    #[test]
    fn sequence_of_interleaved_streams_and_random_reads() {
        let mut s = scheme(&[("streams", 8)]);
        let stream = firstread_core::Stream::new(3).named("reads");
        let mut asked = [0; 4];
        for i in 0..50u64 {
            for (k, asked) in asked.iter_mut().enumerate() {
                *asked += read(&mut s, 0, 2000 * k as u64 + i, 1).is_some() as u32;
            }
            let at = stream.at(i).below(500) + 9_000;
            assert_eq!(read(&mut s, 0, at, 1), None, "a random read");
        }
        assert!(asked.iter().all(|&n| n >= 2), "{asked:?}");
    }

    #[test]
    fn sequence_of_two_clients_is_no_stream() {
        let mut s = scheme(&[]);
        for page in 0..100 {
            assert_eq!(read(&mut s, (page % 2) as u16, page, 1), None);
        }
    }

    #[test]
    fn model_nothing_lies_past_the_drive() {
        let mut s = scheme(&[]);
        let last = (9_900..10_000).filter_map(|p| read(&mut s, 0, p, 1)).last();
        assert_eq!(last.map(|(_, end)| end), Some(10_000));
        // The part that could not be started is requested again.
        let mut s = scheme(&[]);
        assert_eq!(read(&mut s, 0, 0, 1), None);
        let ask = |s: &mut Sequential, page: u64| {
            s.on_read(HostRead {
                client: 0,
                offset_bytes: page * PAGE,
                len_bytes: PAGE as u32,
            })
        };
        let first = ask(&mut s, 1).unwrap();
        s.started(first.stream, first.first);
        assert_eq!(ask(&mut s, 2).unwrap().first, 3);
    }
}
