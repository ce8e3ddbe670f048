//! What schemes are built from.

use alloc::boxed::Box;

use firstread_core::sensing::SensingTable;
use firstread_core::voltage::{MAX_PAGES, VoltageTables};
use firstread_core::{CellMode, CycleDamage, Geometry, Ns};

/// What schemes are built from, besides their parameters: what is known of a drive when its power comes on. A
/// scheme uses the part that it needs.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Geometry of the drive.
    pub geometry: Geometry,
    /// Capacity in logical pages.
    pub capacity_slots: u64,
    /// P/E cycles that the chip is rated for, in the mode in which superblocks start.
    pub rated_pe_cycles: u32,
    /// Voltage tables of the chip, in the mode in which superblocks start.
    pub tables: VoltageTables,
    /// Layer of each wordline of a block.
    pub layer_of: Box<[u16]>,
    /// Errors that short senses of the chip add; an empty table if no scheme of the drive asks for them
    /// ([`firstread_core::params::Need::SafeSenses`]).
    pub sensing: SensingTable,
    /// Errors in a codeword that the code nearly always corrects, in bits.
    pub correctable_bits: u16,
    /// Durations of a step of a read.
    pub read_time: ReadTime,
    /// Time of a program of a wordline, all its pages, by cell mode in the order of [`CellMode::ALL`].
    pub program: [Ns; CellMode::ALL.len()],
    /// What a cycle in each cell mode damages.
    pub cycle_damage: CycleDamage,
    /// Temperature measured by the drive (°C).
    pub temperature_c: i16,
    /// Seed of the firmware's random choices and samples.
    pub seed: u64,
    /// The other cell modes that superblocks may be erased into; none on a drive whose superblocks keep their mode.
    pub other_modes: Box<[ModeSetup]>,
}

/// What differs by cell mode.
#[derive(Clone, Debug)]
pub struct ModeSetup {
    /// Voltage tables of the chip in this mode.
    pub tables: VoltageTables,
    /// Errors that short senses add in this mode.
    pub sensing: SensingTable,
    /// Durations of a step of a read in this mode.
    pub read_time: ReadTime,
}

impl Setup {
    /// This setup in each of the other modes, in which it has no others itself.
    pub fn in_other_modes(&self) -> impl Iterator<Item = (CellMode, Setup)> {
        self.other_modes.iter().map(|other| {
            let ModeSetup {
                tables,
                sensing,
                read_time,
            } = other.clone();
            let setup = Setup {
                tables,
                sensing,
                read_time,
                layer_of: self.layer_of.clone(),
                other_modes: Box::default(),
                ..*self
            };
            (setup.tables.mode, setup)
        })
    }
}

/// Durations of a step of a read on an idle drive, in one cell mode (ns).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ReadTime {
    /// Sense at the default time, `tR`, by page type.
    pub sense_ns: [u32; MAX_PAGES],
    /// Part of it that is precharge, `tPRE` of all its levels, by page type.
    pub precharge_ns: [u32; MAX_PAGES],
    /// Transfer of a page of one plane, `tDMA`.
    pub transfer_ns: u32,
    /// Decoding of a page that fails, `tECC`.
    pub decode_ns: u32,
    /// Change of the sense time of a die, `tSET`.
    pub set_feature_ns: u32,
}

impl ReadTime {
    /// Time of a sense of page type `page`, with a precharge of `pre_permille` thousandths of the default.
    pub fn short_sense_ns(&self, page: u8, pre_permille: u16) -> u32 {
        let at = usize::from(page) % MAX_PAGES;
        let cut = u64::from(1000 - pre_permille.min(1000));
        let less = (u64::from(self.precharge_ns[at]) * cut / 1000) as u32;
        self.sense_ns[at].saturating_sub(less)
    }

    /// Time from the end of a sense to its verdict: transfer and decoding.
    pub fn rest_ns(&self) -> u32 {
        self.transfer_ns.saturating_add(self.decode_ns)
    }

    /// Time that a step of page type `page` at the default sense time adds to a read.
    pub fn step_ns(&self, page: u8) -> u32 {
        self.short_sense_ns(page, 1000)
            .saturating_add(self.rest_ns())
    }
}
