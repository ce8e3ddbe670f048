//! Requests of one job, made one at a time without allocating.
//!
//! A stream knows the order and pacing of requests, not when they complete. The runner keeps at
//! most [`JobSpec::iodepth`] in flight, issues none before its `not_before_ns`, pauses where
//! `think_ns` says so, and ends the job at its run time.

mod distribution;
mod error;
mod pacing;
mod placement;

pub use distribution::{Normal, Pareto, Zipf};
pub(crate) use distribution::{exponential, unit};
pub use error::JobError;
pub use firstread_core::permutation::{MAX_NUMBERS, Permutation};

use firstread_core::{HostOp, Stream};

use crate::error::WorkloadError;
use crate::handles::Chooser;
use crate::job::{
    Direction, Distribution, Extent, JobSpec, Modifier, Operations, Rate, Sizes, Strides,
};
use pacing::RateClock;
use placement::{Placement, Scatter, zone_blocks};

/// Bytes of a sector: every offset and length is a multiple.
pub const SECTOR_BYTES: u64 = 512;

/// One request of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Read, write, trim or flush, by the job's `rw`.
    pub op: HostOp,
    /// First byte on the drive, a multiple of 512; 0 for a flush.
    pub offset_bytes: u64,
    /// Length, a multiple of 512; 0 for a flush.
    pub len_bytes: u32,
    /// Whether a write completes only when its data are safe from power loss.
    pub fua: bool,
    /// Placement handle of a write; 0 where the job names none.
    pub placement: u16,
    /// Earliest issue, in ns from the start of the job; 0 where the job is not paced. Never
    /// decreases.
    pub not_before_ns: u64,
    /// If not 0: the job waits until its earlier requests have completed, and then pauses for this time, in ns.
    pub think_ns: u64,
}

/// The requests of one [`JobSpec`] on one drive, as an iterator.
#[derive(Clone, Debug)]
pub struct JobStream {
    operations: Operations,
    random: bool,
    modifier: Modifier,
    read_percent: u64,
    random_percent: [u8; 3],
    sizes: [Sizes; 3],
    sizes_by_randomness: bool,
    /// Distance between two neighbouring random positions, in bytes.
    align: [u64; 3],
    placements: Vec<Placement>,
    /// Index of a direction's placement: directions with equal positions share one random map.
    placement_of: [usize; 3],
    region_start: u64,
    region_len: u64,
    start_delay_ns: u64,
    amount_bytes: Option<u64>,

    mix: Stream,
    place: Stream,
    length: Stream,
    choice: Stream,
    /// Requests made, flushes not counted: the index of every draw.
    count: u64,
    random_count: u64,
    bytes_left: u64,
    requests_left: u64,
    /// Where the last request of a direction ended, began and how long it was, from the region's
    /// start.
    end_of_last: [u64; 3],
    last: [(u64, u32); 3],
    started: [bool; 3],
    run_left: u32,
    strides: Option<Strides>,
    /// Start of the zone from the region's start, and bytes moved in it.
    zone: (u64, u64),
    write_is_next: bool,
    paces: [RateClock; 3],
    clock_ns: u64,
    think_ns: u64,
    think_blocks: u32,
    until_think: u32,
    fua: bool,
    writes_per_flush: u32,
    until_flush: u32,
    flush_is_next: bool,
    handles: Option<Chooser>,
    /// What all requests have, if they are of one length, at random places, and not paced.
    plain: Option<Plain>,
}

/// Which of its random requests a job issues. What is hot is the same for all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Draws {
    /// Those of a run.
    Run,
    /// Those of a pass of a burn-in before it.
    Pass(u64),
    /// Those of a part of a run that is split into parts.
    Part(u64),
    /// Those before such a part.
    LeadIn(u64),
}

impl JobStream {
    /// The stream of `spec` on a drive of `capacity_bytes`, with the run's `seed`. Fails where the
    /// job does not fit on the drive.
    pub fn new(spec: &JobSpec, capacity_bytes: u64, seed: u64) -> Result<JobStream, WorkloadError> {
        JobStream::drawn(spec, capacity_bytes, seed, Draws::Run)
    }

    /// The same with other random draws for each of `draws`: other requests of the same job, with the same hot spots.
    ///
    /// # Errors
    /// As [`JobStream::new`].
    pub fn drawn(
        spec: &JobSpec,
        capacity_bytes: u64,
        seed: u64,
        draws: Draws,
    ) -> Result<JobStream, WorkloadError> {
        JobStream::build(spec, capacity_bytes, seed, draws).map_err(|why| spec.error(why))
    }

    fn build(
        spec: &JobSpec,
        capacity_bytes: u64,
        seed: u64,
        draws: Draws,
    ) -> Result<JobStream, JobError> {
        check(spec)?;
        let key = job_key(seed, spec);
        let draws = match draws {
            Draws::Run => key,
            Draws::Pass(pass) => key.named("pass of a burn-in").at(pass),
            Draws::Part(part) => key.named("part of a run").at(part),
            Draws::LeadIn(part) => key.named("lead-in of a part").at(part),
        };
        let directions = spec.operations.directions();
        let min_len =
            |d: Direction, random: bool| u64::from(size_of(spec, d as usize, random).min());
        let least = directions
            .iter()
            .flat_map(|&d| [min_len(d, true), min_len(d, false)])
            .min()
            .unwrap_or(SECTOR_BYTES);
        let (region_start, region_len) = region(spec, capacity_bytes, least)?;
        for &d in directions {
            let longest = min_len(d, true).max(min_len(d, false));
            if region_len < longest {
                return Err(JobError::Region {
                    region_bytes: region_len,
                    block_bytes: longest,
                });
            }
        }

        let mut align = [SECTOR_BYTES; 3];
        let mut placements: Vec<Placement> = Vec::new();
        let mut placement_of = [0usize; 3];
        let place = draws.named("position");
        if spec.random {
            let mut made: Vec<(u64, u64)> = Vec::new();
            for &d in directions {
                let unit = min_len(d, true);
                let step = spec.align_bytes[d as usize].map_or(unit, u64::from);
                align[d as usize] = step;
                let n = (region_len - unit) / step + 1;
                if n > MAX_NUMBERS {
                    return Err(JobError::Blocks(n));
                }
                let zoned = matches!(
                    spec.distribution,
                    Distribution::Zoned(_) | Distribution::ZonedAbsolute(_)
                );
                // As in fio, one map and one skew for all directions, wherever blocks agree.
                placement_of[d as usize] = match made.iter().position(|m| *m == (step, n)) {
                    Some(i) if !zoned => i,
                    _ => {
                        made.push((step, n));
                        placements.push(placement(spec, d, n, step, key, place)?);
                        placements.len() - 1
                    }
                };
            }
        }

        let size = match (spec.io_size, spec.size) {
            (Some(Extent::Bytes(bytes)), _) => bytes,
            (Some(Extent::Percent(p)), _) => percent(region_len, p),
            // The part of the region that whole blocks cover. A remainder shorter than a block does
            // not start another pass.
            (None, Some(Extent::Bytes(bytes))) if spec.file_size.is_some() => bytes,
            (None, _) => region_len / least * least,
        };
        let amount_bytes = if spec.time_based {
            None
        } else {
            Some(size.saturating_mul(u64::from(spec.loops)))
        };
        let think = spec.think.filter(|t| t.time_ns > 0);
        Ok(JobStream {
            operations: spec.operations,
            random: spec.random,
            modifier: spec.modifier,
            read_percent: u64::from(spec.read_percent),
            random_percent: spec.random_percent,
            sizes: spec.sizes.clone(),
            sizes_by_randomness: spec.sizes_by_randomness,
            align,
            placements,
            placement_of,
            region_start,
            region_len,
            start_delay_ns: {
                let [from, to] = spec.start_delay_ns;
                from + key
                    .named("start delay")
                    .below(to.saturating_sub(from).saturating_add(1))
            },
            amount_bytes,
            mix: draws.named("direction"),
            place,
            length: draws.named("length"),
            choice: draws.named("random or sequential"),
            count: 0,
            random_count: 0,
            bytes_left: amount_bytes.unwrap_or(u64::MAX),
            requests_left: spec.number_ios.unwrap_or(u64::MAX),
            end_of_last: [0; 3],
            last: [(0, 0); 3],
            started: [false; 3],
            run_left: 0,
            strides: spec.strides,
            zone: (0, 0),
            write_is_next: false,
            paces: core::array::from_fn(|d| {
                RateClock::new(
                    spec.rate[d],
                    spec.arrivals,
                    draws.named("gap").at(d as u64),
                    spec.sizes[d].min(),
                )
            }),
            clock_ns: 0,
            think_ns: think.map_or(0, |t| t.time_ns),
            think_blocks: think.map_or(0, |t| t.blocks.max(1)),
            until_think: think.map_or(0, |t| t.blocks.max(1)),
            fua: spec.fua,
            writes_per_flush: spec.writes_per_flush.unwrap_or(0),
            until_flush: spec.writes_per_flush.unwrap_or(0),
            flush_is_next: false,
            handles: spec
                .handles
                .as_ref()
                .map(|handles| Chooser::new(handles, draws.named("placement handle"))),
            plain: Plain::of(spec),
        })
    }

    /// First byte and length of the region that requests stay in, in bytes.
    pub fn region_bytes(&self) -> (u64, u64) {
        (self.region_start, self.region_len)
    }

    /// The drive has so many placement handles; none where it takes no handle. Until this is told, it has one.
    ///
    /// # Errors
    /// [`JobError`] where the job names a handle that the drive does not have.
    pub fn on_handles(&mut self, drive: Option<u16>) -> Result<(), JobError> {
        match &mut self.handles {
            Some(chooser) => Ok(chooser.on_drive(drive)?),
            None => Ok(()),
        }
    }

    /// Bytes after which the job ends, trims that precede a write not counted; `None` where only
    /// its run time or `number_ios` ends it.
    pub fn amount_bytes(&self) -> Option<u64> {
        self.amount_bytes
    }

    /// Whether only its run time ends it.
    pub fn is_endless(&self) -> bool {
        self.amount_bytes.is_none() && self.requests_left == u64::MAX
    }

    /// Delay of the job after the start of its group, in ns.
    pub fn start_delay_ns(&self) -> u64 {
        self.start_delay_ns
    }

    #[inline]
    fn direction(&mut self) -> Direction {
        match self.operations {
            Operations::Read => Direction::Read,
            Operations::Write => Direction::Write,
            Operations::Trim => Direction::Trim,
            Operations::TrimWrite if self.write_is_next => Direction::Write,
            Operations::TrimWrite => Direction::Trim,
            Operations::Mixed => {
                // If both directions have a rate, the direction that is due first is next, as in fio.
                let [read, write, _] = &self.paces;
                if read.is_limited() && write.is_limited() && read.due_ns() != write.due_ns() {
                    if read.due_ns() < write.due_ns() {
                        Direction::Read
                    } else {
                        Direction::Write
                    }
                } else {
                    self.mixed()
                }
            }
        }
    }

    /// The direction of the next request of a mixed job without rates.
    #[inline]
    fn mixed(&self) -> Direction {
        match self.mix.at(self.count).below(100) < self.read_percent {
            true => Direction::Read,
            false => Direction::Write,
        }
    }

    /// Offset from the region's start, and whether it is a random one.
    #[inline]
    fn position(&mut self, d: usize) -> (u64, bool) {
        if !self.random {
            return (self.next_in_sequence(d), false);
        }
        if let Modifier::RunsOf(n) | Modifier::RepeatsOf(n) = self.modifier {
            if self.run_left > 0 && self.started[d] {
                self.run_left -= 1;
                return match self.modifier {
                    Modifier::RunsOf(_) => (self.next_in_sequence(d), false),
                    _ => (self.last[d].0, false),
                };
            }
            self.run_left = n.saturating_sub(1);
        }
        let share = u64::from(self.random_percent[d]);
        if share < 100 && self.choice.at(self.count).below(100) >= share {
            return (self.next_in_sequence(d), false);
        }
        let index = self.placements[self.placement_of[d]].draw(self.place, self.random_count);
        self.random_count += 1;
        (index * self.align[d], true)
    }

    /// Place and length of the next request of a job that goes from zone to zone.
    fn in_zone(&mut self, d: usize, strides: Strides) -> (u64, u32) {
        if self.zone.1 >= strides.move_bytes {
            let next = self.zone.0 + strides.zone_bytes + strides.skip_bytes;
            let fits = next + strides.zone_bytes <= self.region_len;
            self.zone = (if fits { next } else { 0 }, 0);
            self.started = [false; 3];
        }
        let (start, moved) = self.zone;
        let end = start + strides.zone_bytes;
        let at = if self.random {
            let blocks = (strides.zone_bytes / self.align[d]).max(1);
            let block = self.place.at(self.random_count).below(blocks);
            self.random_count += 1;
            start + block * self.align[d]
        } else if self.started[d] && self.end_of_last[d] < end {
            self.end_of_last[d]
        } else {
            start
        };
        let len = self.len(d, at, self.random);
        // At the end of a zone a request is as long as fits.
        let len = u64::from(len).min(end - at) as u32;
        self.zone.1 = moved + u64::from(len);
        if self.zone.1 >= strides.move_bytes && self.amount_bytes.is_some() {
            // Skipped blocks count as moved, so that a pass goes through the region once.
            self.bytes_left = self.bytes_left.saturating_sub(strides.skip_bytes);
        }
        (at, len)
    }

    fn next_in_sequence(&self, d: usize) -> u64 {
        let room = u64::from(self.size(d, false).min());
        let last_start = (self.region_len - room) / room * room;
        let skip = match self.modifier {
            Modifier::Skip(bytes) => bytes,
            _ => 0,
        };
        if !self.started[d] {
            return if skip < 0 { last_start } else { 0 };
        }
        match self.end_of_last[d].checked_add_signed(skip) {
            Some(at) if at <= self.region_len - room => at,
            _ if skip < 0 => last_start,
            _ => 0,
        }
    }

    #[inline]
    fn size(&self, d: usize, random: bool) -> &Sizes {
        &self.sizes[size_index(self.sizes_by_randomness, d, random)]
    }

    #[inline]
    fn len(&self, d: usize, at: u64, random: bool) -> u32 {
        let sizes = self.size(d, random);
        let (len, unit) = match sizes {
            Sizes::Fixed(bytes) => return *bytes,
            Sizes::Range { min, max } => {
                let steps = self.length.at(self.count).below(u64::from(max / min));
                (min + min * steps as u32, *min)
            }
            Sizes::Split(parts) => {
                let mut draw = self.length.at(self.count).below(100);
                let mut len = sizes.min();
                for (bytes, share) in parts {
                    if draw < u64::from(*share) {
                        len = *bytes;
                        break;
                    }
                    draw -= u64::from(*share);
                }
                (len, sizes.min())
            }
        };
        // At the end of the region a request is as long as fits, in units of the shortest.
        let room = self.region_len - at;
        if u64::from(len) <= room {
            len
        } else {
            (room / u64::from(unit) * u64::from(unit)) as u32
        }
    }
}

impl JobStream {
    /// The next request of a job of one length and kind of placement, which nothing paces; none of other jobs, and none
    /// at the end.
    #[inline]
    pub fn next_plain(&mut self) -> Option<Request> {
        let Plain { direction, len } = self.plain?;
        if self.bytes_left < u64::from(len) || self.requests_left == 0 {
            return None;
        }
        let direction = match direction {
            Some(direction) => direction,
            None => self.mixed(),
        };
        let d = direction as usize;
        let draw = self.placements[self.placement_of[d]].draw(self.place, self.random_count);
        self.random_count += 1;
        self.count += 1;
        self.requests_left -= 1;
        if self.amount_bytes.is_some() {
            self.bytes_left -= u64::from(len);
        }
        Some(Request {
            op: operation(direction),
            offset_bytes: self.region_start + draw * self.align[d],
            len_bytes: len,
            fua: self.fua && direction == Direction::Write,
            placement: 0,
            not_before_ns: 0,
            think_ns: 0,
        })
    }
}

impl Iterator for JobStream {
    type Item = Request;

    #[inline]
    fn next(&mut self) -> Option<Request> {
        // The rest of this function handles all jobs, and gives the same requests for these.
        if let Some(request) = self.next_plain() {
            return Some(request);
        }
        if self.flush_is_next {
            self.flush_is_next = false;
            return Some(Request {
                op: HostOp::Flush,
                offset_bytes: 0,
                len_bytes: 0,
                fua: false,
                placement: 0,
                not_before_ns: self.clock_ns,
                think_ns: 0,
            });
        }
        if (self.bytes_left == 0 || self.requests_left == 0) && !self.write_is_next {
            return None;
        }
        let direction = self.direction();
        let d = direction as usize;
        let (at, len) = if self.write_is_next {
            self.last[Direction::Trim as usize]
        } else if let Some(strides) = self.strides {
            self.in_zone(d, strides)
        } else {
            let (at, random) = self.position(d);
            (at, self.len(d, at, random))
        };
        self.started[d] = true;
        self.end_of_last[d] = at + u64::from(len);
        self.last[d] = (at, len);

        if self.operations == Operations::TrimWrite && direction == Direction::Trim {
            self.write_is_next = true;
        } else {
            self.write_is_next = false;
            self.requests_left -= 1;
            if self.amount_bytes.is_some() {
                self.bytes_left = self.bytes_left.saturating_sub(u64::from(len));
            }
        }
        if self.paces[d].is_limited() {
            self.clock_ns = self.clock_ns.max(self.paces[d].due_ns());
            self.paces[d].advance(len);
        }
        let mut think_ns = 0;
        if self.think_blocks > 0 {
            if self.until_think == 0 {
                think_ns = self.think_ns;
                self.until_think = self.think_blocks;
            }
            self.until_think -= 1;
        }
        if self.writes_per_flush > 0 && direction == Direction::Write {
            self.until_flush -= 1;
            if self.until_flush == 0 {
                self.until_flush = self.writes_per_flush;
                self.flush_is_next = true;
            }
        }
        let offset_bytes = self.region_start + at;
        let placement = match &mut self.handles {
            Some(chooser) if direction == Direction::Write => {
                chooser.next(offset_bytes, self.count)
            }
            _ => 0,
        };
        self.count += 1;
        Some(Request {
            op: operation(direction),
            offset_bytes,
            len_bytes: len,
            fua: self.fua && direction == Direction::Write,
            placement,
            not_before_ns: self.clock_ns,
            think_ns,
        })
    }
}

const fn operation(direction: Direction) -> HostOp {
    match direction {
        Direction::Read => HostOp::Read,
        Direction::Write => HostOp::Write,
        Direction::Trim => HostOp::Trim,
    }
}

/// What all requests of a job have that differ in their place, and perhaps in their direction.
#[derive(Clone, Copy, Debug)]
struct Plain {
    /// None: reads and writes in turn as they are drawn.
    direction: Option<Direction>,
    len: u32,
}

impl Plain {
    /// Of `spec`, if its requests are of one length, at random places, unpaced and without flushes between them, and name no placement handle.
    fn of(spec: &JobSpec) -> Option<Plain> {
        let (direction, drawn): (_, &[Direction]) = match spec.operations {
            Operations::Read => (Some(Direction::Read), &[Direction::Read]),
            Operations::Write => (Some(Direction::Write), &[Direction::Write]),
            Operations::Trim => (Some(Direction::Trim), &[Direction::Trim]),
            Operations::Mixed => (None, &[Direction::Read, Direction::Write]),
            Operations::TrimWrite => return None,
        };
        let len_of = |d: &Direction| match *size_of(spec, *d as usize, true) {
            Sizes::Fixed(len) => Some(len),
            _ => None,
        };
        let len = len_of(&drawn[0])?;
        let is_plain = drawn.iter().all(|d| {
            len_of(d) == Some(len)
                && spec.random_percent[*d as usize] == 100
                && spec.rate[*d as usize] == Rate::Unlimited
        }) && spec.random
            && matches!(spec.modifier, Modifier::None)
            && spec.think.is_none_or(|think| think.time_ns == 0)
            && spec.writes_per_flush.is_none()
            && spec.strides.is_none()
            && spec.handles.is_none();
        is_plain.then_some(Plain { direction, len })
    }
}

fn size_index(by_randomness: bool, d: usize, random: bool) -> usize {
    match (by_randomness, random) {
        (false, _) => d,
        (true, false) => Direction::Read as usize,
        (true, true) => Direction::Write as usize,
    }
}

fn size_of(spec: &JobSpec, d: usize, random: bool) -> &Sizes {
    &spec.sizes[size_index(spec.sizes_by_randomness, d, random)]
}

fn percent(of: u64, percent: u8) -> u64 {
    (u128::from(of) * u128::from(percent) / 100) as u64
}

/// First byte and length of the job's region.
fn region(spec: &JobSpec, capacity_bytes: u64, least: u64) -> Result<(u64, u64), JobError> {
    let capacity = capacity_bytes / SECTOR_BYTES * SECTOR_BYTES;
    let resolve = |e: Extent| match e {
        Extent::Bytes(bytes) => bytes,
        Extent::Percent(p) => percent(capacity, p) / least * least,
    };
    let start = resolve(spec.offset_increment)
        .checked_mul(u64::from(spec.clone))
        .and_then(|more| more.checked_add(resolve(spec.offset)))
        .filter(|&start| start < capacity)
        .ok_or(JobError::Offset {
            clone: spec.clone,
            capacity_bytes: capacity,
        })?;
    let behind = capacity - start;
    let len = match (spec.file_size, spec.size) {
        (Some(bytes), _) | (None, Some(Extent::Bytes(bytes))) => bytes,
        (None, Some(Extent::Percent(p))) => percent(behind, p) / least * least,
        (None, None) => behind,
    };
    if len > behind {
        return Err(JobError::Size {
            len_bytes: len,
            start_bytes: start,
            capacity_bytes: capacity,
        });
    }
    Ok((start, len))
}

/// What a job made by hand rather than by the parser could have wrong.
fn check(spec: &JobSpec) -> Result<(), JobError> {
    let sector = |bytes: u32| bytes > 0 && u64::from(bytes) % SECTOR_BYTES == 0;
    let sizes_ok = spec.sizes.iter().all(|sizes| match sizes {
        Sizes::Fixed(bytes) => sector(*bytes),
        Sizes::Range { min, max } => sector(*min) && sector(*max) && min <= max,
        Sizes::Split(parts) => !parts.is_empty() && parts.iter().all(|part| sector(part.0)),
    });
    if !sizes_ok
        || !spec
            .align_bytes
            .iter()
            .flatten()
            .all(|&bytes| sector(bytes))
    {
        return Err(JobError::Rule(
            "sizes and alignments are multiples of 512, not 0",
        ));
    }
    if spec.rate.contains(&Rate::BytesPerSecond(0)) || spec.rate.contains(&Rate::Iops(0)) {
        return Err(JobError::Rule("a rate of 0 never issues anything"));
    }
    if let Some(strides) = spec.strides {
        let shortest = spec.operations.directions().iter();
        let longest = shortest.map(|&d| spec.sizes[d as usize].min()).max();
        if strides.zone_bytes < u64::from(longest.unwrap_or(0)) {
            return Err(JobError::Rule(
                "a zone is shorter than a request: raise zonesize or zonerange",
            ));
        }
        if spec.distribution != Distribution::Uniform
            || spec.modifier != Modifier::None
            || spec.random_percent != [100; 3]
        {
            return Err(JobError::Rule(
                "zones (zonesize) go together with plain sequential or uniform random requests",
            ));
        }
    }
    let (range, center) = match spec.distribution {
        Distribution::Zipf { theta, center } => (theta > 0.0 && theta <= 100.0, center),
        Distribution::Pareto { h, center } => (h > 0.0 && h < 1.0, center),
        Distribution::Normal { deviation, center } => {
            (deviation > 0.0 && deviation < 100.0, center)
        }
        _ => (true, None),
    };
    if !range || center.is_some_and(|c| !(0.0..=1.0).contains(&c)) {
        return Err(JobError::Rule(
            "a parameter of random_distribution is out of its range",
        ));
    }
    Ok(())
}

/// Purpose of the stream that scatters ranks.
const SCATTER: &str = "scatter";

fn job_key(seed: u64, spec: &JobSpec) -> Stream {
    Stream::new(seed)
        .named("job")
        .at(u64::from(spec.section))
        .at(u64::from(spec.clone))
        .at(spec.rand_seed)
}

/// Which of `n` blocks are hot under `random_distribution=zipf`, in the first job of a file that is
/// run with `seed` and leaves `randseed` as it is: rank `r` is block `Permutation::new(n, key).at(r)`.
pub fn hot_page_order(seed: u64) -> Stream {
    job_key(seed, &JobSpec::new("")).named(SCATTER)
}

/// The placement of `n` positions, `step` bytes apart, for direction `d`.
fn placement(
    spec: &JobSpec,
    d: Direction,
    n: u64,
    step: u64,
    key: Stream,
    place: Stream,
) -> Result<Placement, JobError> {
    let scatter = |peak, center| Scatter::new(n, key.named(SCATTER), peak, center);
    Ok(match &spec.distribution {
        Distribution::Uniform if spec.random_map => Placement::Map {
            order: Permutation::new(n, place.named("pass").at(0)),
            next: 0,
            pass: 0,
        },
        Distribution::Uniform => Placement::Uniform { n },
        Distribution::Zipf { theta, center } => Placement::Zipf {
            ranks: Zipf::new(n, *theta),
            scatter: scatter(0, *center),
        },
        Distribution::Pareto { h, center } => Placement::Pareto {
            ranks: Pareto::new(n, *h),
            scatter: scatter(0, *center),
        },
        Distribution::Normal { deviation, center } => Placement::Normal {
            ranks: Normal::new(n, *deviation),
            scatter: scatter(n / 2, *center),
        },
        Distribution::Zoned(zones) | Distribution::ZonedAbsolute(zones) => {
            let absolute = matches!(spec.distribution, Distribution::ZonedAbsolute(_));
            let zones = &zones[d as usize];
            if zones.is_empty() {
                Placement::Uniform { n }
            } else {
                Placement::Zoned {
                    zones: zone_blocks(zones, n, absolute.then_some(step))?,
                }
            }
        }
    })
}

#[cfg(test)]
mod tests;
