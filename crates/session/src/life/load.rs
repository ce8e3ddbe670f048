//! The load of a life: a job file, a trace or a stand-in, run again and again.

use firstread_core::{HostOp, Ns};
use firstread_workload::job::Rate;
use firstread_workload::{Draws, JobStream, Request, TraceRecord, WorkloadError};

use super::bounds::DAY_S;
use super::error::LifeError;
use super::parts::Life;
use crate::error::Error;
use crate::input::Input;
use crate::simulate::stand_in;

/// A request, and when it comes after the beginning of its pass (ns); none where it has no time of its own.
type Timed = (Option<u64>, Request);

/// A pass of the load.
type Requests<'a> = Box<dyn Iterator<Item = Result<Timed, WorkloadError>> + 'a>;

/// The load, cycled. Requests that have times keep them; of those that have none, the time follows from what was
/// written.
pub(super) struct Load<'a> {
    life: &'a Life,
    capacity_bytes: u64,
    /// Whether requests come at times of their own.
    has_times: bool,
    requests: Requests<'a>,
    pass: u64,
    /// When the pass began, and when its last request was.
    began: Ns,
    last: Ns,
    /// Whether the pass has written anything.
    wrote: bool,
    ns_per_byte: f64,
    clock_ns: f64,
}

impl<'a> Load<'a> {
    /// The load of `life` from `began` on.
    pub(super) fn new(life: &'a Life, began: Ns) -> Result<Load<'a>, Error> {
        let capacity_bytes = life.setup.profile.capacity_bytes;
        Ok(Load {
            has_times: has_times(life, capacity_bytes)?,
            requests: requests(life, capacity_bytes, 0)?,
            life,
            capacity_bytes,
            pass: 0,
            began,
            last: began,
            wrote: false,
            ns_per_byte: 1e9 * DAY_S / (capacity_bytes as f64 * life.terms.drive_writes_a_day),
            clock_ns: began.0 as f64,
        })
    }

    /// The next request, and when it comes.
    #[inline]
    pub(super) fn next(&mut self) -> Result<(Ns, Request), Error> {
        loop {
            if let Some(request) = self.requests.next() {
                let (due, request) = request?;
                let at = match due.filter(|_| self.has_times) {
                    None => Ns(self.clock_ns as u64).max(self.last),
                    Some(due) => self.began.saturating_add(Ns(due)).max(self.last),
                };
                self.last = at;
                if request.op == HostOp::Write {
                    self.wrote = true;
                    self.clock_ns += f64::from(request.len_bytes) * self.ns_per_byte;
                }
                return Ok((at, request));
            }
            if !std::mem::take(&mut self.wrote) {
                let name = self.life.setup.input.name().to_owned();
                return Err(LifeError::ReadOnlyLoad(name).into());
            }
            self.pass += 1;
            self.began = self.last;
            self.requests = requests(self.life, self.capacity_bytes, self.pass)?;
        }
    }
}

/// Whether any request of the load comes later than the first of its pass by a time of its own. Columns of a trace need not
/// have times: then all of them are zero.
fn has_times(life: &Life, capacity_bytes: u64) -> Result<bool, Error> {
    for request in requests(life, capacity_bytes, 0)? {
        match request? {
            // Jobs without a rate are endless, perhaps.
            (None, _) => return Ok(false),
            (Some(0), _) => {}
            (Some(_), _) => return Ok(true),
        }
    }
    Ok(false)
}

/// The requests of a pass: those of a trace are the same each time, those of jobs are drawn anew and have the same hot
/// spots.
fn requests(life: &Life, capacity_bytes: u64, pass: u64) -> Result<Requests<'_>, Error> {
    let seed = life.setup.state.workload_seed;
    let handles = life.setup.profile.placement_handles();
    let of_record = |record: TraceRecord| {
        let request = Request {
            op: record.op,
            offset_bytes: record.offset_bytes,
            len_bytes: match record.op {
                HostOp::Flush => 0,
                _ => record.len_bytes,
            },
            fua: false,
            placement: record.placement,
            not_before_ns: record.time_ns,
            think_ns: 0,
        };
        (Some(record.time_ns), request)
    };
    Ok(match &*life.setup.input {
        Input::Jobs { workload, .. } => {
            let draws = match pass {
                0 => Draws::Run,
                _ => Draws::Pass(pass),
            };
            let mut streams = Vec::new();
            for job in &workload.jobs {
                let mut stream = JobStream::drawn(job, capacity_bytes, seed, draws)?;
                let told = stream.on_handles(handles);
                told.map_err(|why| job.error(why))?;
                let paced = job.rate.iter().any(|rate| *rate != Rate::Unlimited);
                streams.push((job.group, paced, stream));
            }
            Box::new(InTurn { streams, next: 0 }.map(Ok))
        }
        Input::Trace(trace) => {
            let records = trace.reader(capacity_bytes, handles)?;
            Box::new(records.map(move |record| record.map(of_record)))
        }
        Input::StandIn { row, speed } => {
            let records = stand_in(row, *speed, capacity_bytes, seed)?;
            Box::new(records.map(move |record| record.map(of_record)))
        }
    })
}

/// The jobs of a group take turns, a request each; then the next group.
struct InTurn {
    /// The group of each, and whether it has a rate.
    streams: Vec<(u32, bool, JobStream)>,
    next: usize,
}

impl Iterator for InTurn {
    type Item = Timed;

    fn next(&mut self) -> Option<Timed> {
        loop {
            let group = self.streams.iter().map(|(group, ..)| *group).min()?;
            let n = self.streams.len();
            let of_group = |i: &usize| self.streams[i % n].0 == group;
            let i = (self.next..self.next + n).find(of_group)? % n;
            let (_, paced, stream) = &mut self.streams[i];
            if let Some(request) = stream.next() {
                self.next = i + 1;
                return Some((paced.then_some(request.not_before_ns), request));
            }
            self.streams.remove(i);
        }
    }
}
