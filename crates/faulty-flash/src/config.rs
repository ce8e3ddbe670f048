//! How a drive of a trial is built.

use firstread_core::params::Need;
use firstread_core::sensing::SensingTable;
use firstread_core::voltage::{Line, MAX_FACTORY, MAX_PAGES, Parabola, VoltageTables};
use firstread_core::{CellMode, Geometry, LevelOffsets, Lpn, Ns, Stream, StripeOrder};
use firstread_firmware::ftl::MAP_ENTRY_BYTES;
use firstread_firmware::observe::{Epoch, Future, FutureBuilder, HeatConfig};
use firstread_firmware::policy::{ModeSetup, ReadTime};
use firstread_firmware::{ChangeTimes, Config, Setup, Turns, WriteCache};
use thiserror::Error;

use super::schemes::SchemeChoices;

/// Multi-plane pages read at the same time: few, so that reads wait for each other.
const READS: u32 = 8;
/// Suspends of one program or erase that a chip allows.
const SUSPENDS: u16 = 3;
/// What a program or erase of this flash is said to need, when it starts and whenever it is suspended. It ends when
/// chance draws.
pub(crate) const CHANGE_LEFT: Ns = Ns(1_000);
/// Superblocks that every drive keeps beyond its capacity: without a map on flash, and with one beside those of the map.
const KEPT: u64 = 3;
const KEPT_WITH_MAP: u64 = 4;

/// A drive: its geometry, its schemes and how it is set up. Small drives find more: a drive of few slots reaches the end
/// of its superblocks, of its buffers and of its spare within a few thousand commands.
#[derive(Clone, PartialEq, Debug)]
pub struct DriveConfig {
    /// Geometry. Parity in each stripe is what the scheme that needs it asks for.
    pub geometry: Geometry,
    /// Cell mode of superblocks.
    pub mode: CellMode,
    /// Capacity in logical pages, one slot each.
    pub capacity_slots: u64,
    /// Logical pages, from the first on, that hold data before the first command.
    pub filled_slots: u64,
    /// P/E cycles that the chip is rated for. Schemes know them; what fails follows from [`super::Faults`] alone.
    pub rated_pe_cycles: u32,
    /// The schemes under test, one of each axis.
    pub schemes: SchemeChoices,
    /// How the write buffer appears to the host.
    pub write_cache: WriteCache,
    /// Slots of the read cache; 0 for none.
    pub read_cache_slots: u32,
    /// Pages of the map in memory; 0 for all of the map.
    pub map_cache_pages: u32,
    /// Pages in the journal of trims and losses at most.
    pub most_journal_pages: u64,
    /// Whether planes of a die read independently.
    pub independent_planes: bool,
    /// Commands in flight at most.
    pub queue_depth: u32,
    /// Longest wait of other work behind reads of the host (ns). An event of the flash takes 100 ns.
    pub max_wait_ns: u64,
}

/// Why a drive cannot be built.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "an error's message says what its values are")]
pub enum ConfigError {
    /// A number of the geometry is zero, or does not divide what it has to.
    #[error("the geometry has no {0}")]
    Geometry(&'static str),
    /// The superblocks do not hold the capacity and what every drive keeps.
    #[error("a capacity of {capacity_slots} slots; {superblocks} superblocks hold {most} at most")]
    Capacity {
        capacity_slots: u64,
        /// Superblocks of the drive.
        superblocks: u32,
        /// Most slots that they leave for it.
        most: u64,
    },
    /// More pages are filled than there are.
    #[error("{filled_slots} slots are filled of {capacity_slots}")]
    Filled {
        filled_slots: u64,
        capacity_slots: u64,
    },
    /// No command may be in flight.
    #[error("the queue depth is 0")]
    QueueDepth,
    /// A scheme needs parity in each stripe, and the geometry has none.
    #[error("`{0}` needs `stripe_parity` of the geometry, and dies to keep it on")]
    Parity(SchemeChoices),
    /// A scheme needs superblocks in other modes, SLC and TLC among them, and those of this drive are not QLC.
    #[error("`{0}` needs a drive whose `mode` is QLC")]
    NoModes(SchemeChoices),
}

/// A geometry with pages of 8 KiB, slots of 4 KiB, and codewords of 2 KiB: `channels` with `dies` dies each, `planes` a
/// die with `blocks` blocks each, and `wordlines` a block.
pub fn geometry(channels: u16, dies: u16, planes: u8, blocks: u32, wordlines: u16) -> Geometry {
    Geometry {
        channels,
        chips_per_channel: dies,
        dies_per_chip: 1,
        planes,
        blocks_per_plane: blocks,
        wordlines_per_block: wordlines,
        page_bytes: 8192,
        slot_bytes: 4096,
        codeword_bytes: 2048,
        stripe: StripeOrder::DieFirst,
        stripe_parity: false,
    }
}

/// P/E cycles that the flash of [`setup`] is rated for: few, so that schemes that level wear late do so in short trials.
const RATED_PE_CYCLES: u32 = 16;

/// What schemes are built from where cells have no voltages: every table is flat.
pub fn setup(geometry: Geometry, mode: CellMode, capacity_slots: u64, seed: u64) -> Setup {
    let tables = |mode| VoltageTables {
        mode,
        page_of_valley: [0; 15],
        factory: [LevelOffsets::default(); MAX_FACTORY],
        factory_len: 4,
        sentinel: [1; 4],
        projection: [Line::IDENTITY; 15],
        curved: [Parabola::IDENTITY; 15],
        spare: [[0; 33]; 4],
        dac_mv: 5,
    };
    Setup {
        geometry,
        capacity_slots,
        rated_pe_cycles: RATED_PE_CYCLES,
        tables: tables(mode),
        other_modes: CellMode::ALL
            .into_iter()
            .filter(|&other| other < mode)
            .map(|other| ModeSetup {
                tables: tables(other),
                sensing: SensingTable::NOTHING,
                read_time: read_time(other),
            })
            .collect(),
        layer_of: (0..geometry.wordlines_per_block).collect(),
        sensing: SensingTable::NOTHING,
        correctable_bits: 72,
        read_time: read_time(mode),
        program: CellMode::ALL.map(|mode| Ns(100_000 * u64::from(mode.bits() * mode.bits()))),
        cycle_damage: firstread_core::CycleDamage::ALIKE,
        temperature_c: 25,
        seed,
    }
}

/// Durations of a step of a read: longer with each bit.
fn read_time(mode: CellMode) -> ReadTime {
    let sense_ns = u32::from(mode.bits()) * 20_000;
    ReadTime {
        sense_ns: [sense_ns; MAX_PAGES],
        ..ReadTime::default()
    }
}

impl Default for DriveConfig {
    /// A drive of four dies and 24 superblocks of TLC, two thirds of them its capacity, half of which is filled.
    fn default() -> DriveConfig {
        DriveConfig::for_schemes(SchemeChoices::default())
    }
}

impl DriveConfig {
    /// The default drive with `schemes`, and with parity in each stripe if a scheme needs it.
    pub fn for_schemes(schemes: SchemeChoices) -> DriveConfig {
        let geometry = Geometry {
            stripe_parity: schemes.requires(Need::StripeParity),
            ..geometry(2, 2, 1, 24, 4)
        };
        let mode = match schemes.requires(Need::CellModes) {
            true => CellMode::Qlc,
            false => CellMode::Tlc,
        };
        let capacity_slots = 16 * u64::from(geometry.slots_per_superblock(mode));
        DriveConfig {
            geometry,
            mode,
            capacity_slots,
            filled_slots: capacity_slots / 2,
            rated_pe_cycles: RATED_PE_CYCLES,
            schemes,
            write_cache: WriteCache::default(),
            read_cache_slots: 20,
            map_cache_pages: 0,
            most_journal_pages: u64::MAX,
            independent_planes: false,
            queue_depth: 16,
            max_wait_ns: 20_000,
        }
    }

    /// Bytes that the host sees: a slot for each logical page.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_slots * u64::from(self.geometry.slot_bytes)
    }

    /// Map pages that hold `slots` entries; none where memory holds the map.
    pub(crate) fn map_pages(&self, slots: u64) -> u64 {
        let entries = u64::from(self.geometry.slot_bytes / MAP_ENTRY_BYTES);
        match self.map_cache_pages {
            0 => 0,
            _ => slots.div_ceil(entries),
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let g = &self.geometry;
        let counts = [
            (u64::from(g.channels), "channels"),
            (u64::from(g.chips_per_channel), "chips per channel"),
            (u64::from(g.dies_per_chip), "dies per chip"),
            (u64::from(g.planes), "planes"),
            (u64::from(g.blocks_per_plane), "blocks per plane"),
            (u64::from(g.wordlines_per_block), "wordlines per block"),
            (u64::from(g.codeword_bytes), "codeword"),
            (u64::from(g.slot_bytes / 512), "slot of a sector"),
            (u64::from(self.mode.bits()), "bits per cell"),
        ];
        if let Some((_, what)) = counts.iter().find(|(n, _)| *n == 0) {
            return Err(ConfigError::Geometry(what));
        }
        let divides = |of: u32, by: u32| of >= by && of.is_multiple_of(by);
        if !divides(g.page_bytes, g.slot_bytes) {
            return Err(ConfigError::Geometry("whole slots in a page"));
        }
        if !divides(g.slot_bytes, g.codeword_bytes) {
            return Err(ConfigError::Geometry("whole codewords in a slot"));
        }
        if g.codewords_per_page() * u32::from(g.planes) > 64 || g.planes > 8 {
            return Err(ConfigError::Geometry(
                "room for a multi-plane page: 64 codewords, 8 planes",
            ));
        }
        let needs_parity = self.schemes.requires(Need::StripeParity);
        if (needs_parity || g.stripe_parity) && (g.dies() < 2 || !g.stripe_parity) {
            return Err(ConfigError::Parity(self.schemes.clone()));
        }
        let per_block = u64::from(g.slots_per_superblock(self.mode));
        let map_blocks = self.map_pages(self.capacity_slots).div_ceil(per_block);
        let kept = match map_blocks {
            0 => KEPT,
            _ => KEPT_WITH_MAP + map_blocks,
        };
        let changes_modes = self.schemes.requires(Need::CellModes);
        if changes_modes && self.mode != CellMode::Qlc {
            return Err(ConfigError::NoModes(self.schemes.clone()));
        }
        let of_modes = self.schemes.kept_in_modes();
        let kept = kept + of_modes + self.schemes.own_streams();
        let most = u64::from(g.blocks_per_plane).saturating_sub(kept) * per_block;
        if self.capacity_slots == 0 || self.capacity_slots > most {
            return Err(ConfigError::Capacity {
                capacity_slots: self.capacity_slots,
                superblocks: g.blocks_per_plane,
                most,
            });
        }
        if self.filled_slots > self.capacity_slots {
            return Err(ConfigError::Filled {
                filled_slots: self.filled_slots,
                capacity_slots: self.capacity_slots,
            });
        }
        if self.queue_depth == 0 {
            return Err(ConfigError::QueueDepth);
        }
        Ok(())
    }

    pub(crate) fn setup(&self, seed: u64) -> Setup {
        Setup {
            rated_pe_cycles: self.rated_pe_cycles,
            ..setup(self.geometry, self.mode, self.capacity_slots, seed)
        }
    }

    /// What oracles are told of the future: chance, since a load does not know what it will be. What a host may read
    /// must not hang on it.
    pub(crate) fn future(&self, seed: u64) -> Future {
        let draw = Stream::new(seed).named("future");
        let mut future = FutureBuilder::new(self.capacity_slots);
        for i in 0..8 * self.capacity_slots {
            let s = draw.at(i);
            // Few pages are read often.
            let most = 1 + s.at(0).below(self.capacity_slots);
            let lpn = Lpn(s.at(1).below(most));
            match s.at(2).below(10) {
                0 => future.write(lpn, 1),
                _ => future.read(lpn, 1),
            }
        }
        future.build().expect("the drive has few pages")
    }

    /// Suspends of one program or erase that the chip of this drive allows.
    pub(crate) fn most_suspends(&self) -> u16 {
        match self.schemes.requires(Need::FreeSuspends) {
            true => u16::MAX,
            false => SUSPENDS,
        }
    }

    pub(crate) fn firmware(&self) -> Config {
        Config {
            identity: 1,
            geometry: self.geometry,
            mode: self.mode,
            cycle_damage: firstread_core::CycleDamage::ALIKE,
            capacity_slots: self.capacity_slots,
            least_spare_slots: 0,
            most_journal_pages: self.most_journal_pages,
            max_commands: self.queue_depth,
            max_reads: READS,
            independent_planes: self.independent_planes,
            turns: Turns {
                max_wait: Ns(self.max_wait_ns),
                share_permille: 300,
                slice: Ns(400),
                least_slice: Ns(100),
                max_suspends: SUSPENDS,
            },
            change_times: ChangeTimes {
                program: [CHANGE_LEFT; CellMode::ALL.len()],
                erase: [CHANGE_LEFT; CellMode::ALL.len()],
            },
            read_cache_slots: self.read_cache_slots,
            write_cache: self.write_cache,
            map_cache_pages: self.map_cache_pages,
            heat: (self.schemes.requires(Need::Heat) || self.schemes.requires(Need::SlcAlone))
                .then(|| self.heat()),
        }
    }

    /// Heat with epochs so short that superblocks in other modes become cold before cleaning takes them.
    fn heat(&self) -> HeatConfig {
        let heat = HeatConfig::default();
        match self.schemes.requires(Need::CellModes) {
            true => HeatConfig {
                epoch: Epoch::Accesses((self.capacity_slots / 4).max(1)),
                ..heat
            },
            false => heat,
        }
    }
}
