//! One life, at one wear rate.

use std::ops::Range;

use firstread_core::{HostOp, Ns, Status};
use firstread_drive::profile::DriveProfile;
use firstread_drive::profile::drive::CellModes;
use firstread_drive::stats::{Wear, Written};
use firstread_drive::{DriveState, Precondition, UntimedDrive, WornBlocks, tables};
use firstread_firmware::observe::{Counters, Owner, SuperblockUse};
use firstread_firmware::policy::area::{AREAS, LOW};

use super::bounds::{MOST_BUFFERED, MOST_ENDURANCES, YEAR_S};
use super::error::LifeError;
use super::load::Load;
use super::lost::Losses;
use super::parts::{AreaWear, Life, LifeEnd, LifeProgress, Lived, Sample, Totals, mean_wear};
use super::smart::{Smart, Traffic};
use super::until::Until;
use crate::error::Error;
use crate::results::modes::program_ns_per_page;

/// Looks at a drive in the time in which it is written once.
const LOOKS: u64 = 32;
/// Samples that are kept at most: then every other one goes, and they are taken half as often.
const MOST_SAMPLES: usize = 256;

/// A life under way.
struct Living<'a> {
    life: &'a Life,
    rate: f64,
    drive: UntimedDrive,
    losses: Option<Losses>,
    /// What the host had written in an earlier life of the drive (bytes), and how long that took.
    earlier: (f64, Ns),
    began: Ns,
    before: Counters,
    requests: u64,
    written: u64,
    reads: (u64, u64),
    writes: u64,
    samples: Vec<Sample>,
    /// Looks between samples, and until the next one.
    every: u64,
    left: u64,
}

/// Lives `life` at `rate`.
pub(super) fn live(
    life: &Life,
    rate: u32,
    progress: &mut dyn FnMut(LifeProgress),
) -> Result<Lived, Error> {
    let setup = &life.setup;
    let profile = DriveProfile::clone(&setup.profile);
    // From the profile without the wear rate: superblocks report real cycles, and so does the curve of losses.
    let losses = Losses::of(&profile, setup.seed)?;
    let profile = profile.at_wear_rate(rate).map_err(LifeError::from)?;
    let state = DriveState {
        age: (Ns::ZERO, Ns::ZERO),
        precondition: Precondition::None,
        ..setup.state
    };
    let tables = tables::for_drive(&profile)?;
    let worn = profile.worn.as_ref();
    let earlier = worn.map_or((0.0, Ns::ZERO), |worn| {
        (worn.written_bytes as f64, worn.lived)
    });
    let drive = UntimedDrive::new(profile, tables, &state, setup.seed).map_err(LifeError::from)?;
    let mut living = Living {
        life,
        rate: f64::from(rate),
        losses,
        earlier,
        began: drive.now(),
        before: drive.counters().clone(),
        drive,
        requests: 0,
        written: 0,
        reads: (0, 0),
        writes: 0,
        samples: Vec::new(),
        every: 1,
        left: 1,
    };
    let end = living.run_to_end(progress)?;
    let counters = living.drive.counters().since(&living.before);
    let slots = counters.host_slots_written.max(1) as f64;
    let retired = |sample: Option<&Sample>| sample.map_or(0, |s| s.retired);
    let retired = (
        retired(living.samples.first()),
        retired(living.samples.last()),
    );
    let wear = living.samples.last().map_or(0.0, mean_wear);
    let smart = Smart::of(&living.drive, &living.own_traffic(), retired, wear);
    Ok(Lived {
        rate,
        end,
        requests: living.requests,
        write_amplification: living.amplification(),
        levelling: living.levelling(&counters),
        moved: counters.slots_moved_by.map(|n| n as f64 / slots),
        low_read_share: low_read_share(&living.drive, &counters),
        smart,
        memory_bytes: living.drive.memory_bytes(),
        samples: living.samples,
    })
}

impl Living<'_> {
    fn run_to_end(&mut self, progress: &mut dyn FnMut(LifeProgress)) -> Result<LifeEnd, Error> {
        let mut load = Load::new(self.life, self.began)?;
        let look = (self.life.setup.profile.capacity_bytes / LOOKS).max(1);
        let first = self.sample();
        self.samples.push(first);
        let most_bytes = match self.life.terms.until {
            Until::Bytes(bytes) => (bytes - self.earlier.0).max(0.0),
            _ => f64::INFINITY,
        };
        let most_years = match self.life.terms.until {
            Until::Years(all) => (all - years(self.earlier.1)).max(0.0),
            _ => f64::INFINITY,
        };
        // A simulated erase stands for `rate` cycles, and so each simulated byte and second for `rate` of them.
        let most_ns = (most_years / self.rate * YEAR_S * 1e9) as u64;
        let most_ns = self.began.saturating_add(Ns(most_ns));
        let most_written = (most_bytes / self.rate) as u64;
        let mut next_look = look;
        let end = loop {
            if self.life.setup.interrupt.is_asked() {
                break LifeEnd::Interrupted;
            }
            let (at, request) = load.next()?;
            let (offset, len) = (request.offset_bytes, request.len_bytes);
            let status = self
                .drive
                .command(at, request.op, offset, len, request.placement);
            match status.map_err(LifeError::from)? {
                Status::Ok => {}
                Status::WriteProtected => break LifeEnd::WriteProtected,
                _ => break LifeEnd::Full,
            }
            self.requests += 1;
            match request.op {
                HostOp::Write => {
                    self.written += u64::from(len);
                    self.writes += 1;
                }
                HostOp::Read => {
                    self.reads.0 += 1;
                    self.reads.1 += u64::from(len);
                }
                HostOp::Trim | HostOp::Flush => {}
            }
            if self.written >= most_written || at >= most_ns {
                break LifeEnd::Reached;
            }
            if self.written >= next_look {
                next_look += look;
                if self.looks(progress)? {
                    break LifeEnd::Reached;
                }
            }
        };
        let last = self.sample();
        self.samples.push(last);
        Ok(end)
    }

    /// Looks at the drive; whether its life has ended.
    fn looks(&mut self, progress: &mut dyn FnMut(LifeProgress)) -> Result<bool, Error> {
        let (factory, grown) = self.drive.bad_blocks();
        let bad = (factory + grown) as f64 / self.all_blocks();
        let ended = match self.life.terms.until {
            Until::Bad(share) => bad >= share,
            Until::Lost(class) => {
                let in_use = self.drive.wear().filter(|(.., retired)| !retired);
                let rate =
                    |l: &mut Losses| l.rate(class, in_use.map(|(_, pe_cycles, _)| pe_cycles));
                let rate = self.losses.as_mut().map(rate).transpose()?;
                rate.is_some_and(|rate| rate.host > class.most)
            }
            Until::Bytes(_) | Until::Years(_) | Until::Full => false,
        };
        self.left -= 1;
        if self.left == 0 || ended {
            let sample = self.sample();
            let mean_pe_cycles = mean_wear(&sample);
            progress(LifeProgress::Lives {
                rate: self.rate as u32,
                host_bytes: sample.host_bytes,
                mean_pe_cycles,
            });
            let profile = &self.life.setup.profile;
            let until = self.life.terms.until;
            let rated = profile
                .chip
                .mode(profile.mode)
                .map_or(1, |m| m.endurance_pe_cycles);
            if mean_pe_cycles > MOST_ENDURANCES * f64::from(rated) {
                return Err(LifeError::Endless {
                    until,
                    mean_pe_cycles,
                }
                .into());
            }
            if self.samples.len() == MOST_SAMPLES {
                // Every other one goes, and the first stays: it is the drive at the beginning of its life.
                let mut n = 0;
                self.samples.retain(|_| {
                    n += 1;
                    n % 2 == 1
                });
                self.every *= 2;
            }
            if !ended {
                self.samples.push(sample);
            }
            self.left = self.every;
        }
        Ok(ended)
    }

    fn all_blocks(&self) -> f64 {
        let geometry = &self.drive.profile().geometry;
        f64::from(geometry.blocks_per_plane)
            * f64::from(geometry.dies())
            * f64::from(geometry.planes)
    }

    /// What was written until now.
    fn totals(&self) -> Totals {
        let profile = self.drive.profile();
        let counters = self.drive.counters().since(&self.before);
        let written = Written::of(&counters, profile.geometry.slot_bytes);
        let per_page = program_ns_per_page(profile, &counters).unwrap_or(0.0);
        Totals {
            host_bytes: written.host_bytes,
            host_pages: counters.host_slots_written,
            flash_bytes: written.flash_bytes,
            program_ns: per_page * counters.host_slots_written as f64,
        }
    }

    fn amplification(&self) -> Option<f64> {
        let slot_bytes = self.drive.profile().geometry.slot_bytes;
        let counters = self.drive.counters().since(&self.before);
        let written = Written::of(&counters, slot_bytes);
        let buffered = self.drive.write_buffer_bytes() as f64;
        let tells = written.host_bytes as f64 * MOST_BUFFERED > buffered;
        written.ratio().filter(|_| tells)
    }

    /// Bytes that wear levelling programmed for each that the host wrote, with their part of parity.
    fn levelling(&self, counters: &Counters) -> f64 {
        let geometry = &self.drive.profile().geometry;
        let dies = f64::from(geometry.dies());
        let with_parity = match geometry.stripe_parity {
            true => dies / (dies - 1.0),
            false => 1.0,
        };
        let slots = counters.slots_moved_by[Owner::Wear as usize] as f64;
        let bytes = slots * f64::from(geometry.slot_bytes) * with_parity;
        bytes / counters.host_bytes_written.max(1) as f64
    }

    /// What the host has asked of the drive in this life.
    fn own_traffic(&self) -> Traffic {
        Traffic {
            read_bytes: self.reads.1 as f64 * self.rate,
            reads: self.reads.0 as f64 * self.rate,
            written_bytes: self.written as f64 * self.rate,
            writes: self.writes as f64 * self.rate,
            years: years(self.drive.now() - self.began) * self.rate,
        }
    }

    fn sample(&mut self) -> Sample {
        let (pe_cycles, retired) = self.drive.wear().map(|(_, pe, bad)| (pe, bad)).unzip();
        let own = self.own_traffic();
        let written_bytes = self.earlier.0 + own.written_bytes;
        let years = years(self.earlier.1) + own.years;
        let blocks = WornBlocks {
            pe_cycles,
            retired,
            written_bytes: written_bytes as u64,
            lived: Ns((years * YEAR_S * 1e9) as u64),
        };
        let lost = self.losses.as_mut().and_then(|l| l.rates(&blocks).ok());
        let (factory, grown) = self.drive.bad_blocks();
        let bad_blocks = factory + grown;
        let (totals, write_amplification) = (self.totals(), self.amplification());
        Sample {
            host_bytes: written_bytes,
            years,
            bad_share: bad_blocks as f64 / self.all_blocks(),
            bad_blocks,
            factory_bad_blocks: factory,
            retired: blocks.retired.iter().filter(|r| **r).count() as u32,
            write_amplification,
            program_ns_per_page: write_amplification
                .map(|_| totals.program_ns / totals.host_pages.max(1) as f64),
            totals,
            other_modes_share: other_modes_share(&self.drive),
            wear: areas(&self.drive)
                .into_iter()
                .filter_map(|(name, of)| area_wear(name, of, &blocks))
                .collect(),
            lost,
            blocks,
        }
    }
}

/// Wear of the superblocks `of` that are not retired; none where all are.
fn area_wear(name: &'static str, of: Range<u32>, blocks: &WornBlocks) -> Option<AreaWear> {
    let in_area = blocks.in_use().filter(|(block, _)| of.contains(block));
    let wear = Wear::of(in_area.map(|(_, pe_cycles)| pe_cycles).collect())?;
    Some(AreaWear {
        name,
        min: wear.min,
        mean: wear.mean,
        p99: wear.p99,
        max: wear.max,
    })
}

/// The areas of a drive: each with its superblocks.
fn areas(drive: &UntimedDrive) -> Vec<(&'static str, Range<u32>)> {
    let blocks = drive.blocks();
    match blocks.has_regions() {
        true => AREAS
            .map(|(area, name)| (name, blocks.numbers_in(area)))
            .to_vec(),
        false => vec![("one", 0..blocks.len())],
    }
}

/// Share of the superblocks in use of `drive` that are in another cell mode than its own; none where none may be.
fn other_modes_share(drive: &UntimedDrive) -> Option<f64> {
    let profile = drive.profile();
    let in_use = drive.blocks().iter().map(|(_, info)| info);
    let in_use = in_use.filter(|info| info.usage != SuperblockUse::Bad);
    let (all, others) = in_use.fold((0u32, 0u32), |(all, others), info| {
        (all + 1, others + u32::from(info.mode != profile.mode))
    });
    let may_change = profile.firmware.cell_modes == CellModes::All;
    (may_change && all > 0).then(|| f64::from(others) / f64::from(all))
}

/// Share of the page reads in `counters` that the low wearing area of `drive` served; none without areas, or without reads.
fn low_read_share(drive: &UntimedDrive, counters: &Counters) -> Option<f64> {
    let all: u64 = counters.page_reads_by_mode.iter().sum();
    let share = counters.page_reads_by_region[LOW.index()] as f64 / all as f64;
    (drive.blocks().has_regions() && all > 0).then_some(share)
}

/// `ns` in years.
fn years(ns: Ns) -> f64 {
    ns.0 as f64 * 1e-9 / YEAR_S
}
