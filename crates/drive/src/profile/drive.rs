//! A drive, fully resolved.

use std::fmt;
use std::sync::Arc;

use firstread_core::params::Need;
use firstread_core::{CellMode, CycleDamage, Geometry, Ns};
use firstread_ecc::DecodeTiming;
use firstread_firmware::observe::{Heat, HeatConfig};
use firstread_firmware::{ChangeTimes, Turns, WriteCache};
use firstread_nand::ChipProfile;
use firstread_nand::formula::{RetryFormula, Stage, TLC_SHARE_MILLIONTHS};

use crate::profile::ResolvedEntry;
use crate::profile::heat::HeatProfile;
use crate::profile::queues::QueuesProfile;
use crate::profile::schemes::{SchemeChoice, any_needs};
use crate::profile::value::{Words, keys, words};
use crate::worn::WornBlocks;

/// A drive, fully resolved.
#[derive(Clone, Debug)]
pub struct DriveProfile {
    /// Name, as in `--drive NAME`.
    pub name: String,
    /// What it is, in a line or two.
    pub summary: String,
    /// The chip that all dies are of.
    pub chip: ChipProfile,
    /// Whether its cells age and err.
    pub cells: Cells,
    /// Stages of wear of [`Cells::Stages`], in the order of their wear; none where the profile has none.
    pub stages: Vec<Stage>,
    /// Mode its blocks start in, one of the chip's.
    pub mode: CellMode,
    /// Physical build. The codeword is that of the code.
    pub geometry: Geometry,
    /// Bytes the host sees.
    pub capacity_bytes: u64,
    /// The buses between controller and dies.
    pub channel: ChannelProfile,
    /// The code, and how long its decoder takes.
    pub ecc: EccProfile,
    /// The way to the host.
    pub link: LinkProfile,
    /// Time that the processors take, and how work takes turns on a die.
    pub firmware: FirmwareProfile,
    /// What the controller's memory is used for.
    pub dram: DramProfile,
    /// How heat is counted, where it is.
    pub heat: HeatProfile,
    /// What a drive that is measured has lived through before.
    pub history: HistoryProfile,
    /// Submission queues, and how they are arbitrated.
    pub queues: QueuesProfile,
    /// Wear of each superblock, where it is not the same of all: as a life left it.
    pub worn: Option<Arc<WornBlocks>>,
    /// Cycles that each simulated erase stands for: 1, but in a life at another wear rate.
    pub wear_rate: u32,
    /// One scheme for each axis, in the order of the axes.
    pub schemes: Vec<SchemeChoice>,
    /// Every value with unit and source, the chip's below `chip.`.
    pub resolved: Vec<ResolvedEntry>,
}

/// What the cells of a drive do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cells {
    /// They age and err as the chip profile says.
    Modelled,
    /// They never err: constant latencies, for comparison with simulators that have no cells.
    Ideal,
    /// They have no voltages: RARO's formula says how many retries each page needs. The load of a TLC page is in millionths of that
    /// of a QLC page.
    Formula(u32),
    /// They have no voltages: every read of a page in the mode in which superblocks start needs so many retries, and of
    /// other pages none.
    FixedRetries(u8),
    /// They have no voltages: every read of a page in the mode in which superblocks start needs the retries of the stage
    /// that the wear of its superblock is in (`stages` of the drive), and of other pages none.
    Stages,
}

impl Cells {
    /// Whether reads depend on the levels at which cells are sensed.
    pub const fn have_voltages(self) -> bool {
        matches!(self, Cells::Modelled | Cells::Ideal)
    }

    /// The word for it in a profile.
    pub const fn name(self) -> &'static str {
        match self {
            Cells::Modelled => "modelled",
            Cells::Ideal => "ideal",
            Cells::Formula(_) => "formula",
            Cells::FixedRetries(_) => "fixed-retries",
            Cells::Stages => "stages",
        }
    }

    /// What a user has to know of results of such cells; nothing of modelled ones.
    pub const fn notice(self) -> Option<&'static str> {
        match self {
            Cells::Modelled => None,
            Cells::Ideal => Some("cells never err, and age, wear and temperature change no read"),
            Cells::Formula(_) => Some(
                "retries follow RARO's formula from wear alone, and age, time without power, reads and temperature change \
                 none",
            ),
            Cells::FixedRetries(_) => Some(
                "every page in the drive's mode has the same retries and others have none, and age, wear, reads and temperature change none",
            ),
            Cells::Stages => Some(
                "every page in the drive's mode has the retries of the stage of its superblock's wear and others have none, and \
                 age, time without power, reads and temperature change none",
            ),
        }
    }
}

impl Words for Cells {
    fn words() -> Vec<(&'static str, Cells)> {
        let all = [
            Cells::Modelled,
            Cells::Ideal,
            Cells::Formula(TLC_SHARE_MILLIONTHS),
            Cells::FixedRetries(0),
            Cells::Stages,
        ];
        all.map(|cells| (cells.name(), cells)).to_vec()
    }
}

/// As results name it: `formula`, `formula: 0 permille of the load in TLC`, `fixed-retries: 10`.
impl fmt::Display for Cells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cells::FixedRetries(retries) => write!(f, "{}: {retries}", self.name()),
            Cells::Formula(share) if *share != TLC_SHARE_MILLIONTHS => {
                let permille = f64::from(*share) / 1e3;
                write!(f, "{}: {permille} permille of the load in TLC", self.name())
            }
            _ => f.write_str(self.name()),
        }
    }
}

keys! {
    /// A channel: a bus eight bits wide that the dies on it share.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct ChannelProfile {
        /// Transfers per second, a byte each (MT/s).
        rate_mt_per_s: u32 = "rate" [MT_PER_S, 1, 100_000];
        /// Bus time of the command, address and status cycles of one operation (ns).
        command_ns: u64 = "command" [NS, 0, 1_000_000_000];
        /// Whether the channel is in use during these cycles. If it is not, a command delays only its
        /// own operation, as if each die had its own command lines. For comparisons with other simulators.
        commands_occupy: bool = "commands_occupy" or "true" =>
            "default: command cycles use the channel, and go before data that wait for it; false: they only delay their own operation, for comparisons";
    }
}

impl ChannelProfile {
    /// Bus time of `bytes` (ns, rounded up), without the command.
    pub const fn transfer_ns(&self, bytes: u64) -> u64 {
        (bytes * 1_000).div_ceil(self.rate_mt_per_s as u64)
    }
}

/// Error correction of a drive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EccProfile {
    /// Name of the code, for [`firstread_ecc::Code::named`].
    pub code: String,
    /// Bits of a codeword, data and parity.
    pub codeword_bits: u32,
    /// Decoders that work side by side on the codewords of a channel.
    pub engines_per_channel: u16,
    /// Whether a codeword is decoded while later ones of its read are still on the channel.
    pub streams: bool,
    /// How long one decode takes.
    pub timing: DecodeTiming,
}

keys! {
    /// The link to the host.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct LinkProfile {
        /// Payload, each way (bytes/s).
        bytes_per_s: u64 = "rate" [B_PER_S, 1_000, 1u64 << 50];
        /// From the doorbell until the drive has the command (ns).
        fetch_ns: u64 = "fetch" [NS, 0, 1_000_000_000];
        /// From the last byte until the host sees the completion (ns).
        completion_ns: u64 = "completion" [NS, 0, 1_000_000_000];
        /// Commands in flight at most, over all queues.
        max_outstanding: u32 = "max_outstanding" [ONE, 1, 1 << 20];
    }
}

/// Shortest turn of a program or erase on a chip that makes progress in any time (ns): assumed, because a command
/// crosses the channel in less.
const LEAST_SLICE_NS: u64 = 1_000;

keys! {
    /// What the controller's processors cost.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct FirmwareProfile {
        /// Latency added to each command: parsing, mapping lookup, completion (ns).
        command_ns: u64 = "command" [NS, 0, 1_000_000_000];
        /// Least time between the starts of two commands, over all processors: its inverse is the most
        /// commands per second (ns).
        command_interval_ns: u64 = "command_interval" [NS, 0, 1_000_000_000];
        /// How long programs, moves, erases and background reads wait behind host reads that arrived later before they
        /// take turns on their die (ns).
        max_wait_ns: u64 = "max_wait" [NS, 1_000, 1e12];
        /// Share of a die's time that work in turns gets while host reads wait (permille).
        turn_share_permille: u16 = "turn_share" [PERMILLE, 1, 999];
        /// Longest part of a program or erase that runs before it can be suspended (ns).
        slice_ns: u64 = "slice" [NS, 1_000, 1e12];
        /// Size of the journal of trims and losses in an emergency dump. When it is full, part of a region of 4,096 pages is
        /// no longer trimmed.
        journal_bytes: u64 = "journal" [B, 0, 1u64 << 36] or "64 MiB" =>
            "default: assumed, because capacitors that save write buffers of hundreds of megabytes save this too; once it is full, trims may leave pages as they were";
        /// Cell modes that the firmware keeps read levels for, and so may erase superblocks into.
        cell_modes: CellModes = "cell_modes" or "one" =>
            "default: superblocks keep the cell mode in which they start; all: they may be erased into every mode of the chip with fewer bits a cell";
    }
}

/// Cell modes that superblocks of a drive may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellModes {
    /// The mode in which they start.
    One,
    /// That one, and every mode of the chip with fewer bits a cell.
    All,
}

words! {
    CellModes: "one" = One, "all" = All;
}

keys! {
    /// What the controller's memory is used for, beyond what every drive needs.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct DramProfile {
        /// Memory of the controller that map, write buffers, caches and heat have to fit in; 0 where it is not stated.
        size_bytes: u64 = "size" [B, 0, 1u64 << 40] or "0 B" =>
            "default: not stated, so nothing has to fit; else map, write buffers (twice, for data whose program failed), read cache and heat are refused where they do not";
        /// Data that the host has read, kept for when it reads them again; 0 for none.
        read_cache_bytes: u64 = "read_cache" [B, 0, 1u64 << 40] or "0 B" =>
            "default: no read cache";
        /// Pages of the map that are in memory at a time; 0 for the whole map.
        map_cache_bytes: u64 = "map_cache" [B, 0, 1u64 << 40] or "0 B" =>
            "default: the whole map in memory";
        /// What the write buffer is to the host.
        write_cache: WriteCache = "write_cache" or "protected" =>
            "default: the write buffer is protected from power loss, so a flush and FUA have nothing to wait for; volatile: they wait for programs; write-through: every write does";
    }
}

/// A hundred years (ns).
const LONGEST_LIFE_NS: u64 = 876_000 * 3_600_000_000_000;

keys! {
    /// What a drive has lived through before the fill that is measured, where its state does not say.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct HistoryProfile {
        /// How long an earlier fill lived; none for a drive that is filled for the first time.
        earlier_fill: Option<Ns> = "earlier_fill" [NS, 1, LONGEST_LIFE_NS] or "none" =>
            "default: the fill that is measured is the first, and the firmware has learned nothing before; a time: an earlier fill lived so long";
    }
}

/// What a long sequential write is limited by (bytes/s of user data).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FillRate {
    /// By the link to the host.
    pub link: u64,
    /// By the channels, parity and command cycles included.
    pub channels: u64,
    /// By all dies taking data and programming them all the time.
    pub program: u64,
}

impl FillRate {
    /// The rate at which a fresh drive fills.
    pub fn bytes_per_s(&self) -> u64 {
        self.link.min(self.channels).min(self.program)
    }
}

/// A drive has one superblock in so many to spare, or more, or is at its end of life.
pub(super) const LEAST_SPARE: u32 = 64;

/// Superblocks of the low wearing area at least: one that is filled, a free one, one of garbage, and one of data.
pub(crate) const LEAST_LOW: u32 = 4;

impl DriveProfile {
    /// The resolved keys that say what the drive is, with their values: all but those of schemes and heat, which another
    /// firmware may change, and what it is called: a drive that gets another name stays the drive that it was.
    pub(crate) fn fixed(&self) -> impl Iterator<Item = (&str, &str)> {
        const CALLED: [&str; 4] = ["name", "summary", "chip.name", "chip.summary"];
        let is_scheme = |path: &str| {
            let section = path.split('.').next().unwrap_or(path);
            let mut axes = self.schemes.iter().map(|choice| choice.axis.name);
            section == "schemes" || section == "heat" || axes.any(|axis| section == axis)
        };
        let entries = self.resolved.iter();
        entries
            .filter(move |entry| !is_scheme(&entry.path))
            .filter(|entry| !CALLED.contains(&entry.path.as_str()))
            .map(|entry| (&*entry.path, &*entry.literal))
    }

    /// Superblocks of the low wearing area, those among them that are bad from the factory included; none on a drive without
    /// areas.
    pub fn low_superblocks(&self) -> Option<u32> {
        let share = self.scheme("area")?.values().find("low_share")? as u64;
        let superblocks = u64::from(self.geometry.blocks_per_plane);
        Some((superblocks * share).div_ceil(1000) as u32)
    }

    /// What the retries of pages follow, on cells that are known by their retries alone.
    pub fn retry_formula(&self) -> Option<RetryFormula> {
        match self.cells {
            Cells::Modelled | Cells::Ideal => None,
            Cells::Formula(tlc_share) => Some(RetryFormula::raro(tlc_share)),
            Cells::FixedRetries(retries) => Some(RetryFormula::fixed(self.mode, retries)),
            Cells::Stages => Some(RetryFormula::stages(self.mode, &self.stages)),
        }
    }

    /// Slots that must be left beyond the capacity and the reserve of cleaning. With fewer, the
    /// superblocks that are cleaned would be nearly full: one in `LEAST_SPARE` bounds what cleaning
    /// costs.
    pub fn least_spare_slots(&self) -> u64 {
        let g = &self.geometry;
        let superblocks = g.blocks_per_plane.div_ceil(LEAST_SPARE);
        u64::from(superblocks) * u64::from(g.slots_per_superblock(self.mode))
    }

    /// How the time of a die is shared between host reads and work that waits behind them.
    pub fn turns(&self) -> Turns {
        let (firmware, chip) = (&self.firmware, &self.chip.timing);
        let slice_ns = firmware.slice_ns;
        Turns {
            max_wait: Ns(firmware.max_wait_ns),
            share_permille: firmware.turn_share_permille,
            slice: Ns(slice_ns),
            least_slice: Ns(chip
                .min_progress_ns
                .clamp(LEAST_SLICE_NS.min(slice_ns), slice_ns)),
            // The firmware counts the suspends of an operation in a byte.
            max_suspends: chip.max_suspends.min(u8::MAX.into()),
        }
    }

    /// How long programs and erases take in each mode that the chip has.
    pub fn change_times(&self) -> ChangeTimes {
        let modes = CellMode::ALL.map(|mode| self.chip.mode(mode));
        ChangeTimes {
            program: modes.map(|m| Ns(m.map_or(0, |m| m.program.wordline_ns()))),
            erase: modes.map(|m| Ns(m.map_or(0, |m| m.erase_ns))),
        }
    }

    /// P/E cycles that the chip is rated for, in the mode that blocks start in.
    pub fn rated_pe_cycles(&self) -> u32 {
        let mode = self.chip.mode(self.mode);
        mode.map_or(1, |mode| mode.endurance_pe_cycles)
    }

    /// Damage by a program/erase cycle in each cell mode, in cycles of the drive's own, and how many cycles a simulated
    /// erase stands for.
    pub fn cycle_damage(&self) -> CycleDamage {
        let of = |mode| self.chip.mode(mode).map_or(1.0, |m| m.cycle_damage);
        let milli = |mode| libm::round(of(mode) / of(self.mode) * 1000.0) as u32;
        CycleDamage::new(CellMode::ALL.map(milli)).at_rate(self.wear_rate)
    }

    /// The sustained rate of a sequential write in the mode that blocks start in.
    pub fn fill_rate(&self) -> FillRate {
        let g = &self.geometry;
        let page_ns = self.channel.transfer_ns(self.stored_bytes(g.page_bytes));
        let row = u64::from(g.page_bytes) * u64::from(g.planes) * u64::from(self.mode.bits());
        // One command for each program, of a wordline on all planes of a die.
        let pages = u64::from(g.planes) * u64::from(self.mode.bits());
        let transfer_ns = pages * page_ns + self.channel.command_ns;
        let channel = per_second(row, transfer_ns);
        let program = self.chip.mode(self.mode).map_or(0, |m| {
            // The die takes its data before it programs them.
            per_second(row, transfer_ns + m.program.wordline_ns())
        });
        // What is programmed includes the parity of stripes.
        let of_data = |rate: u64| {
            (u128::from(rate) * u128::from(g.data_dies()) / u128::from(g.dies())) as u64
        };
        FillRate {
            link: self.link.bytes_per_s,
            channels: of_data(channel.saturating_mul(u64::from(g.channels))),
            program: of_data(program.saturating_mul(u64::from(g.dies()))),
        }
    }

    /// Bytes in flash of `bytes` of user data, parity included.
    pub fn stored_bytes(&self, bytes: u32) -> u64 {
        let codewords = u64::from(bytes / self.geometry.codeword_bytes);
        codewords * u64::from(self.ecc.codeword_bits).div_ceil(8)
    }

    /// Raw bytes beyond the capacity, in thousandths of the capacity, with every block in the mode
    /// it starts in.
    pub fn over_provisioning_permille(&self) -> u64 {
        let raw = self.geometry.raw_bytes(self.mode);
        (raw - self.capacity_bytes) * 1_000 / self.capacity_bytes
    }

    /// The cell modes that superblocks may be erased into, but for the one in which they start.
    pub fn other_modes(&self) -> impl Iterator<Item = CellMode> {
        let fewer = |mode: &CellMode| *mode < self.mode && self.chip.mode(*mode).is_some();
        let converts = self.firmware.cell_modes == CellModes::All;
        let modes = CellMode::ALL.into_iter();
        modes.filter(move |mode| converts && fewer(mode))
    }

    /// Whether a scheme of the drive needs `need`.
    pub fn needs(&self, need: Need) -> bool {
        any_needs(&self.schemes, need)
    }

    /// Axes whose schemes have a write stream of their own in the drive's own mode, once for each stream.
    pub fn axes_with_own_stream(&self) -> impl Iterator<Item = &str> {
        let choices = self.schemes.iter();
        choices.flat_map(|choice| {
            let streams = choice.values().own_streams();
            core::iter::repeat_n(choice.axis.name, streams)
        })
    }

    /// How the drive's firmware counts heat, with what it draws from `seed`; none where nobody asks for it.
    pub fn heat_config(&self, seed: u64) -> Option<HeatConfig> {
        let counts = self.heat.enabled || self.needs(Need::Heat);
        counts.then(|| self.heat.config(self.geometry.slot_bytes, seed))
    }

    /// Memory that heat takes once all of it was touched; none where nobody asks for it.
    pub fn heat_bytes(&self) -> Option<u64> {
        let slots = self.capacity_bytes / u64::from(self.geometry.slot_bytes);
        let config = self.heat_config(0)?;
        Some(Heat::bytes_for(&config, slots))
    }

    /// Placement handles that the drive has for writes of the host; none where it takes no handle.
    pub fn placement_handles(&self) -> Option<u16> {
        let stream = self.scheme("stream")?;
        let fdp = (stream.scheme.name == "fdp").then(|| stream.values())?;
        u16::try_from(fdp.find("handles")?).ok()
    }

    /// The choice on the axis called `axis`.
    pub fn scheme(&self, axis: &str) -> Option<&SchemeChoice> {
        self.schemes.iter().find(|c| c.axis.name == axis)
    }
}

/// `bytes` in each `ns`, as bytes per second.
const fn per_second(bytes: u64, ns: u64) -> u64 {
    (bytes as u128 * 1_000_000_000 / ns as u128) as u64
}
