//! What a load will read and write, told before it runs to a drive whose schemes ask ([`Need::Future`]).
//!
//! Requests of a job or a trace are the same each time that they are made, so they are made once more beforehand. In
//! which order the jobs of a phase issue theirs is not known: it follows from how long each takes. They are told as
//! if the jobs went on evenly and ended together. Phases are told one after another.
//!
//! Where no job writes what another one reads, what is told of each version of a page is exact. Otherwise it is as
//! exact as that assumption, and the sums are right: see [`firstread_firmware::observe::Future`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use firstread_core::params::Need;
use firstread_core::{HostOp, Lpn};
use firstread_firmware::observe::{Future, FutureBuilder};
use firstread_workload::{JobStream, Request};

use super::client::{Client, Source, from_record};
use super::error::{ForesightError, RunError};
use super::host::Host;
use crate::drive::Drive;
use crate::profile::DriveProfile;

impl Host<'_> {
    /// Tells `drive` what it will be asked for, if a scheme of it asks.
    pub(super) fn foretell(&mut self, drive: &mut Drive) -> Result<(), RunError> {
        let choices = &drive.profile().schemes;
        let Some(asks) = choices.iter().find(|c| c.scheme.requires(Need::Future)) else {
            return Ok(());
        };
        let scheme = format!("{}={}", asks.axis.name, asks.scheme.name);
        let unknown = |why| RunError::Foresight { scheme, why };
        if self.log_of.is_some() {
            return Err(unknown(ForesightError::HostLog));
        }
        let mut told = Told::new(drive.profile(), self.limit);
        match self.again.take() {
            Some(records) => {
                for record in records {
                    if !told.goes_on(&from_record(record?)) {
                        break;
                    }
                }
            }
            None => {
                let limit = self.limit;
                match jobs(&self.clients, limit.is_some()) {
                    Ok(jobs) => tell_jobs(jobs, limit, &mut told),
                    Err(why) => return Err(unknown(why)),
                }
            }
        }
        let future = told.end();
        drive.foretell(future.map_err(unknown)?);
        Ok(())
    }
}

/// The streams of all `clients`, each with its phase.
fn jobs(clients: &[Client<'_>], limited: bool) -> Result<Vec<(u32, JobStream)>, ForesightError> {
    let of = |client: &Client<'_>| {
        let (Source::Job(stream), Some((place, job))) = (&client.source, &client.job) else {
            return Err(ForesightError::OneReading);
        };
        let (place, job) = (place.clone(), job.clone());
        if let Some(option) = client.may_end_sooner(limited) {
            return Err(ForesightError::EndsSooner { place, job, option });
        }
        if stream.is_endless() && !limited {
            return Err(ForesightError::Endless { place, job });
        }
        Ok((client.group, JobStream::clone(stream)))
    };
    clients.iter().map(of).collect()
}

/// Tells the requests of `jobs`, phase after phase, at most `limit` of each phase.
fn tell_jobs(mut jobs: Vec<(u32, JobStream)>, limit: Option<u64>, told: &mut Told) {
    jobs.sort_by_key(|(group, _)| *group);
    for phase in jobs.chunk_by_mut(|a, b| a.0 == b.0) {
        told.left = limit.unwrap_or(u64::MAX);
        let most = usize::try_from(told.left).unwrap_or(usize::MAX);
        let requests: Vec<u64> = phase
            .iter()
            .map(|(_, stream)| stream.clone().take(most).count() as u64)
            .collect();
        // The next request of a job is due once the job has issued this share of its requests.
        let share = |job: usize, next: u64| (u128::from(next) << 64) / u128::from(requests[job]);
        let mut due: BinaryHeap<Reverse<(u128, usize, u64)>> = (0..phase.len())
            .filter(|&job| requests[job] > 0)
            .map(|job| Reverse((share(job, 1), job, 1)))
            .collect();
        while let Some(Reverse((_, job, next))) = due.pop() {
            let Some(request) = phase[job].1.next() else {
                continue;
            };
            if !told.goes_on(&request) {
                break;
            }
            if next < requests[job] {
                due.push(Reverse((share(job, next + 1), job, next + 1)));
            }
        }
    }
}

/// What has been told.
struct Told {
    future: FutureBuilder,
    slot_bytes: u64,
    /// Requests that the phase may still issue.
    left: u64,
}

impl Told {
    fn new(profile: &DriveProfile, limit: Option<u64>) -> Told {
        let slot_bytes = u64::from(profile.geometry.slot_bytes);
        Told {
            future: FutureBuilder::new(profile.capacity_bytes / slot_bytes),
            slot_bytes,
            left: limit.unwrap_or(u64::MAX),
        }
    }

    /// Tells `request`, unless the run has ended before it, or more was told than can be. Returns whether it has not.
    fn goes_on(&mut self, request: &Request) -> bool {
        if self.left == 0 || self.future.is_too_long() {
            return false;
        }
        self.left -= 1;
        if request.len_bytes == 0 {
            return true;
        }
        let first = request.offset_bytes / self.slot_bytes;
        let last = (request.offset_bytes + u64::from(request.len_bytes) - 1) / self.slot_bytes;
        let slots = (last - first + 1) as u32;
        match request.op {
            HostOp::Read => self.future.read(Lpn(first), slots),
            HostOp::Write => self.future.write(Lpn(first), slots),
            _ => {}
        }
        true
    }

    fn end(self) -> Result<Future, ForesightError> {
        self.future.build().map_err(|_| ForesightError::TooMany)
    }
}
