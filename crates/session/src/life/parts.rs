//! What is asked of a life, and what comes of it.

use std::sync::Arc;

use firstread_drive::{Precondition, WornBlocks};
use firstread_firmware::observe::OWNERS;

use super::lost::Rates;
use super::smart::Smart;
use super::until::{Class, Until};
use crate::input::Input;
use crate::outcome::Outcome;
use crate::setup::Setup;

/// A life that is asked for.
#[derive(Clone, Debug)]
pub struct Life {
    /// The load, the drive, and the state in which its reads are probed: age and temperature. The drive begins its life
    /// filled, with the P/E cycles of the state.
    pub setup: Setup,
    /// What is asked of it.
    pub terms: Terms,
}

/// A load by which reads are probed at the stages of a life. What it writes is written to the drive that is probed alone.
#[derive(Clone, Debug)]
pub struct ProbeJob {
    pub input: Arc<Input>,
    /// Requests that are measured.
    pub requests: u64,
    /// Overwrites that the drive has had before, besides its fill.
    pub precondition: Precondition,
}

/// What is asked of a life, whatever drive lives it.
#[derive(Clone, Debug)]
pub struct Terms {
    pub until: Until,
    /// Cycles that each simulated erase stands for.
    pub wear_rate: u32,
    /// Years over which drive writes a day are stated.
    pub warranty_years: f64,
    /// Drive writes a day of a load that has no times of its own.
    pub drive_writes_a_day: f64,
    /// Requests of a standard probe; 0 for none.
    pub probe_requests: u64,
    /// What reads are probed by beside that.
    pub probe_job: Option<ProbeJob>,
}

/// As `firstread life` has them where nothing else is said.
impl Default for Terms {
    fn default() -> Terms {
        Terms {
            until: Until::Lost(Class::ENTERPRISE),
            wear_rate: 1,
            warranty_years: 5.0,
            drive_writes_a_day: 1.0,
            probe_requests: 100_000,
            probe_job: None,
        }
    }
}

/// Wear of the superblocks of an area that are not retired (P/E cycles).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AreaWear {
    pub name: &'static str,
    pub min: u32,
    pub mean: f64,
    /// That of the superblock which 99 % wear no more than.
    pub p99: u32,
    pub max: u32,
}

/// What was written in a life until some time of it, as it was simulated: without what a wear rate stands for.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Totals {
    /// Bytes that the host wrote.
    pub host_bytes: u64,
    /// Pages that the host wrote, those written in part among them.
    pub host_pages: u64,
    /// Bytes programmed.
    pub flash_bytes: u64,
    /// Time of all programs, by the chip's times (ns).
    pub program_ns: f64,
}

/// What writes cost between two samples of a life.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Recent {
    /// Bytes programmed for each that the host wrote.
    pub write_amplification: f64,
    /// Time of programs for each page that the host wrote (ns).
    pub program_ns_per_page: f64,
}

/// A drive at some time of its life.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Bytes that the host has written, those that a wear rate stands for among them.
    pub host_bytes: f64,
    /// Time since the beginning of the life (years).
    pub years: f64,
    /// Share of all blocks that are bad, those of the factory among them.
    pub bad_share: f64,
    /// Blocks that are bad, counted by plane.
    pub bad_blocks: u64,
    /// Those of them that were bad when the drive left its factory. The others have failed since.
    pub factory_bad_blocks: u64,
    /// Superblocks that are retired.
    pub retired: u32,
    /// Bytes programmed for each that the host wrote until then; none while the write buffer holds a tenth of that or more.
    pub write_amplification: Option<f64>,
    /// Time of programs for each page that the host wrote until then (ns), by the chip's times; none as of `write_amplification`.
    pub program_ns_per_page: Option<f64>,
    /// What was written in this life until then.
    pub totals: Totals,
    /// Share of the superblocks in use that are in another cell mode than the drive's own; none where all keep their mode.
    pub other_modes_share: Option<f64>,
    pub wear: Vec<AreaWear>,
    /// Uncorrectable bit error rates of data kept as the classes of JESD218 say, where cells have voltages.
    pub lost: Option<Rates>,
    /// Wear of each superblock.
    pub blocks: WornBlocks,
}

impl Sample {
    /// What writes cost since `before`; none where the host wrote nothing, or while the write buffer holds a tenth of what was written
    /// in the life.
    pub fn since(&self, before: &Sample) -> Option<Recent> {
        before.write_amplification.or_else(|| {
            // Nothing is buffered at the beginning of a life.
            (before.totals == Totals::default()).then_some(0.0)
        })?;
        self.write_amplification?;
        let (now, then) = (&self.totals, &before.totals);
        let bytes = now.host_bytes - then.host_bytes;
        let pages = now.host_pages - then.host_pages;
        (bytes > 0 && pages > 0).then(|| Recent {
            write_amplification: (now.flash_bytes - then.flash_bytes) as f64 / bytes as f64,
            program_ns_per_page: (now.program_ns - then.program_ns) / pages as f64,
        })
    }
}

/// How a life ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LifeEnd {
    Reached,
    /// The drive can no longer hold its capacity.
    Full,
    /// The high wearing area is worn to its bound, and writes are refused from then on (`area.at_bound=read-only`).
    WriteProtected,
    /// It was asked to end before ([`Setup::interrupt`]): what it says is of the life until then.
    Interrupted,
}

#[derive(Clone, Debug)]
pub struct Lived {
    pub rate: u32,
    pub end: LifeEnd,
    /// Requests of the load that were simulated.
    pub requests: u64,
    /// From its beginning to its end.
    pub samples: Vec<Sample>,
    /// Bytes programmed for each that the host wrote; none while the write buffer holds a tenth of that or more.
    pub write_amplification: Option<f64>,
    /// Bytes of these that wear levelling programmed, with their parity.
    pub levelling: f64,
    /// Slots moved for each that the host wrote, by owner.
    pub moved: [f64; OWNERS],
    /// Share of the host's page reads that the low wearing area served; none without areas, or without reads.
    pub low_read_share: Option<f64>,
    /// What the drive says of itself at the end.
    pub smart: Smart,
    /// Memory of the controller for map, write buffers and read cache.
    pub memory_bytes: u64,
}

impl Lived {
    /// The samples, each with what writes cost since the one before.
    pub fn over_life(&self) -> impl Iterator<Item = (&Sample, Option<Recent>)> {
        let before = std::iter::once(None).chain(self.samples.iter().map(Some));
        let samples = self.samples.iter().zip(before);
        samples.map(|(sample, before)| (sample, before.and_then(|before| sample.since(before))))
    }

    /// The end of the life.
    pub fn last(&self) -> &Sample {
        self.samples.last().expect("a life has a beginning")
    }

    /// Bytes that the host has written, those of an earlier life that this one goes on from among them.
    pub fn written_bytes(&self) -> f64 {
        self.last().host_bytes
    }

    /// Bytes that the host had written when this life began: those of an earlier one.
    pub fn earlier_bytes(&self) -> f64 {
        self.samples.first().map_or(0.0, |first| first.host_bytes)
    }

    /// `bytes` that the host has written by some time of this life, with wear levelling as often as at a wear rate of 1.
    pub fn corrected_bytes(&self, bytes: f64) -> f64 {
        let earlier = self.earlier_bytes();
        earlier + (bytes - earlier) * self.corrected()
    }

    /// Whether wear ended the life, which was lived `until` then: what was written is what the drive can be written. Bytes and
    /// years end a life whatever its wear.
    pub fn is_worn_out(&self, until: Until) -> bool {
        match self.end {
            LifeEnd::Reached => matches!(until, Until::Lost(_) | Until::Bad(_)),
            LifeEnd::Full | LifeEnd::WriteProtected => true,
            LifeEnd::Interrupted => false,
        }
    }

    /// The 95 % interval of what was written, by the pages that its end was told from; none where lost data did not end it.
    pub fn written_interval(&self, until: Until) -> Option<(f64, f64)> {
        let Until::Lost(class) = until else {
            return None;
        };
        if self.end != LifeEnd::Reached {
            return None;
        }
        let rate = |sample: &Sample| Some(sample.lost?.of(class)).filter(|rate| rate.host > 0.0);
        let last = rate(self.last())?;
        // How much more the host writes for each factor of e that the rate grows by, over the last tenth of the life.
        let earlier = self.earlier_bytes();
        let tenth = earlier + 0.9 * (self.written_bytes() - earlier);
        let before = self.samples.iter().rev().find(|s| s.host_bytes <= tenth)?;
        let grown = libm::log(last.host / rate(before)?.host);
        let by_e = (self.written_bytes() - before.host_bytes) / grown;
        if by_e <= 0.0 || !by_e.is_finite() {
            return None;
        }
        let (low, high) = last.interval;
        let sooner = by_e * libm::log(high / last.host);
        let later = by_e * libm::log(last.host / low);
        Some((
            (self.written_bytes() - sooner).max(0.0),
            self.written_bytes() + later,
        ))
    }

    /// Write amplification with wear levelling as often as at a wear rate of 1: its share divided by the rate.
    pub fn corrected_amplification(&self) -> Option<f64> {
        let more = self.levelling * (1.0 - 1.0 / f64::from(self.rate));
        self.write_amplification.map(|all| all - more)
    }

    /// How many more bytes the same wear takes with wear levelling as often as at a wear rate of 1.
    pub fn corrected(&self) -> f64 {
        match (self.write_amplification, self.corrected_amplification()) {
            (Some(all), Some(corrected)) => all / corrected,
            _ => 1.0,
        }
    }
}

/// A life with its check and its probes.
#[derive(Clone, Debug)]
pub struct LifeOutcome {
    pub lived: Lived,
    /// The same at half the wear rate, where that is above 1 and the life and its check were not interrupted.
    pub check: Option<Lived>,
    /// Probes of reads, from the beginning to the end.
    pub stages: Vec<Stage>,
    /// Whether the life, its check or its probes were asked to end early. What had not ended by then is left out.
    pub interrupted: bool,
}

/// Reads of a drive at a stage. A standard probe reads 4 KiB, one at a time, all over a drive that was just filled and has then
/// aged as the life says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Probe {
    /// Bytes that the host had written when the drive was worn so: less than at the stage where it could no longer be filled.
    pub host_bytes: f64,
    /// Mean wear of its superblocks in use (P/E cycles).
    pub pe_cycles: f64,
    pub reads: u64,
    pub mean_ns: f64,
    /// Latency that 99 % of reads do not exceed (ns).
    pub p99_ns: u64,
    /// The same for 99.9 %.
    pub p999_ns: u64,
    /// The same for 99.99 %; none where fewer than 100 reads are beyond it.
    pub p9999_ns: Option<u64>,
    /// Its 95 % interval over other requests of the same load.
    pub p9999_interval_ns: Option<(u64, u64)>,
    /// Retries of a page read on average.
    pub retries_mean: f64,
    /// Share of reads that ended without data.
    pub lost_share: f64,
    /// Its writes; none where it has none.
    pub writes: Option<ProbedWrites>,
    /// Bytes that the probe itself has written, to the drive that is probed and to no other.
    pub written_bytes: u64,
}

/// Writes of a probe.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ProbedWrites {
    pub writes: u64,
    pub mean_ns: f64,
    /// Latency that 99.9 % of writes do not exceed (ns).
    pub p999_ns: u64,
    pub max_ns: u64,
}

/// A stage of a life.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Share of the bytes that the host writes in this life, as near as a sample is.
    pub share: f64,
    pub sample: Sample,
    /// What its reads are like by the standard probe; none where that is not asked for.
    pub probe: Option<Probe>,
    /// The same by the load that is asked for.
    pub by_job: Option<Probe>,
    /// The run of the standard probe.
    pub probe_run: Option<Arc<ProbeRun>>,
    /// The run of the load that is asked for.
    pub by_job_run: Option<Arc<ProbeRun>>,
}

/// The run of a probe: all percentiles with their intervals, and what requests waited for.
#[derive(Clone, Debug)]
pub struct ProbeRun {
    pub setup: Setup,
    /// Without its reports of single jobs and its log, which take most of the memory.
    pub outcome: Outcome,
}

/// What a life tells while it is under way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LifeProgress {
    /// Bytes written in the life at this wear rate, and mean wear (P/E cycles).
    Lives {
        rate: u32,
        /// Bytes of the host.
        host_bytes: f64,
        mean_pe_cycles: f64,
    },
    /// The probe of this stage is run.
    Probes(usize),
}

/// Mean wear of the superblocks in use (P/E cycles).
pub(super) fn mean_wear(sample: &Sample) -> f64 {
    let live = sample.blocks.in_use();
    let (sum, n) = live.fold((0u64, 0u64), |(sum, n), (_, pe)| {
        (sum + u64::from(pe), n + 1)
    });
    sum as f64 / n.max(1) as f64
}
