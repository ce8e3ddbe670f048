//! What is asked of a life, and what comes of it.

use firstread_drive::WornBlocks;
use firstread_firmware::observe::{OWNERS, Owner};

use super::lost::Rates;
use super::probe::Probe;
use super::smart::Smart;
use super::until::{Class, Until};
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

/// What is asked of a life, whatever drive lives it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Terms {
    pub until: Until,
    /// Cycles that each simulated erase stands for.
    pub wear_rate: u32,
    /// Years over which drive writes a day are stated.
    pub warranty_years: f64,
    /// Drive writes a day of a load that has no times of its own.
    pub drive_writes_a_day: f64,
    /// Requests of a probe; 0 for no probes.
    pub probe_requests: u64,
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

/// A drive at some time of its life.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Bytes that the host has written, those that a wear rate stands for among them.
    pub host_bytes: f64,
    /// Time since the beginning of the life (years).
    pub years: f64,
    /// Share of all blocks that are bad, those of the factory among them.
    pub bad_share: f64,
    /// Blocks that are bad.
    pub bad_blocks: u64,
    /// Superblocks that are retired.
    pub retired: u32,
    /// Bytes programmed for each that the host wrote until then.
    pub write_amplification: f64,
    pub wear: Vec<AreaWear>,
    /// Uncorrectable bit error rates of data kept as the classes of JESD218 say, where cells have voltages.
    pub lost: Option<Rates>,
    /// Wear of each superblock.
    pub blocks: WornBlocks,
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
    /// Bytes programmed for each that the host wrote.
    pub write_amplification: f64,
    /// Slots moved for each that the host wrote, by owner.
    pub moved: [f64; OWNERS],
    /// Share of the host's page reads that the low wearing area served; none without areas, or without reads.
    pub low_read_share: Option<f64>,
    /// What the drive says of itself at the end.
    pub smart: Smart,
}

impl Lived {
    /// The end of the life.
    pub fn last(&self) -> &Sample {
        self.samples.last().expect("a life has a beginning")
    }

    /// Bytes that the host has written.
    pub fn written_bytes(&self) -> f64 {
        self.last().host_bytes
    }

    /// Write amplification with wear levelling as often as at a wear rate of 1: its share divided by the rate.
    pub fn corrected_amplification(&self) -> f64 {
        let levelling = self.moved[Owner::Wear as usize];
        self.write_amplification - levelling * (1.0 - 1.0 / f64::from(self.rate))
    }

    /// How many more bytes the same wear takes with wear levelling as often as at a wear rate of 1.
    pub fn corrected(&self) -> f64 {
        self.write_amplification / self.corrected_amplification()
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

/// A stage of a life.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Share of the bytes that the host writes in the whole life, as near as a sample is.
    pub share: f64,
    pub sample: Sample,
    /// What its reads are like; none where no probes are asked for.
    pub probe: Option<Probe>,
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
