//! How a drive of these tests is built: a drive of `firstread_faulty_flash`, with schemes by their place in
//! the table of their axis.

use firstread_core::{CellMode, Geometry};
use firstread_faulty_flash::{
    Cut, DriveConfig, Faults, FaultyDrive, Load, PowerCuts, SchemeChoices, Trial, When, geometry,
};
use firstread_firmware::WriteCache;
use firstread_firmware::policy::{
    area, cell_mode, gc_victim, page_type, read_ahead, read_recovery, refresh, stream, suspend,
    wear,
};

use crate::memory::allocations;

/// How often flash fails (‰).
#[derive(Clone, Copy, Debug, Default)]
pub struct Chances {
    /// Of programs.
    pub program: u32,
    /// Of erases.
    pub erase: u32,
    /// Of codewords, one sense each.
    pub sense: u32,
}

/// Superblocks that scheme `wear` of its axis keeps for streams of its own.
pub fn kept_by(wear: usize) -> u32 {
    wear::AXIS.schemes[wear].own_streams() as u32
}

/// Superblocks that scheme `cell_mode` of its axis keeps for superblocks in other modes.
pub fn kept_in_modes(cell_mode: usize) -> u32 {
    let schemes = SchemeChoices::default().with(cell_mode::AXIS, cell_mode);
    schemes.kept_in_modes() as u32
}

/// The same of scheme `area` of its axis.
pub fn kept_by_area(area: usize) -> u32 {
    area::AXIS.schemes[area].own_streams() as u32
}

/// A write cache of three kinds: every second one is protected.
pub fn write_cache(seed: u64) -> WriteCache {
    match seed / 11 % 4 {
        0 => WriteCache::Volatile,
        1 => WriteCache::WriteThrough,
        _ => WriteCache::Protected,
    }
}

/// A scheme of axis `page_type`: half of the drives place in order.
pub fn page_type(seed: u64) -> usize {
    let schemes = page_type::AXIS.schemes.len() as u64;
    (seed / 13 % (2 * schemes)).saturating_sub(schemes) as usize
}

/// How a drive is built.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    pub geometry: Geometry,
    pub mode: CellMode,
    pub capacity: u64,
    /// Logical pages filled before the first command.
    pub fill: u64,
    pub victim: usize,
    pub wear: usize,
    pub suspend: usize,
    pub read_recovery: usize,
    pub cell_mode: usize,
    pub refresh: usize,
    pub area: usize,
    pub page_type: usize,
    pub stream: usize,
    pub write_cache: WriteCache,
    pub faults: Chances,
    /// Slots of the read cache.
    pub read_cache: u32,
    /// Whether streams are read ahead of.
    pub read_ahead: bool,
    /// Pages of the map in memory; 0 for all.
    pub map_cache: u32,
    /// Whether planes of a die read by themselves.
    pub planes_apart: bool,
    pub seed: u64,
    /// Commands in flight at most.
    pub depth: u32,
    /// Longest wait behind reads of the host; a step takes 100 ns.
    pub max_wait_ns: u64,
}

impl Build {
    /// A drive that is full of `capacity` pages, with the baselines of all axes but greedy garbage collection.
    pub fn full(geometry: Geometry, mode: CellMode, capacity: u64) -> Build {
        Build {
            geometry,
            mode,
            capacity,
            fill: capacity,
            victim: 1,
            wear: 0,
            suspend: 0,
            read_recovery: 0,
            cell_mode: 0,
            refresh: 0,
            area: 0,
            page_type: 0,
            stream: 0,
            write_cache: WriteCache::Protected,
            faults: Chances::default(),
            read_cache: 0,
            read_ahead: false,
            map_cache: 0,
            planes_apart: false,
            seed: 1,
            depth: 8,
            max_wait_ns: 20_000,
        }
    }

    /// This drive with several streams of the host and of moves, if its seed says so and it has room for them.
    pub fn with_streams(self) -> Build {
        let schemes = stream::AXIS.schemes.len() as u64;
        let stream = (self.seed / 17 % (2 * schemes)).saturating_sub(schemes) as usize;
        let choices = SchemeChoices::default().with(stream::AXIS, stream);
        let slots = u64::from(self.geometry.slots_per_superblock(self.mode));
        let kept = slots * u64::from(choices.streams_of(stream::AXIS));
        match self.capacity > kept {
            true => Build {
                stream,
                capacity: self.capacity - kept,
                fill: self.fill * (self.capacity - kept) / self.capacity,
                ..self
            },
            false => self,
        }
    }

    fn faults(&self) -> Faults {
        Faults {
            failed_programs: When::permille(self.faults.program),
            failed_erases: When::permille(self.faults.erase),
            failed_senses: When::permille(self.faults.sense),
            ..Faults::default()
        }
    }

    fn config(&self) -> DriveConfig {
        DriveConfig {
            geometry: self.geometry,
            mode: self.mode,
            capacity_slots: self.capacity,
            filled_slots: self.fill,
            schemes: SchemeChoices::default()
                .with(gc_victim::AXIS, self.victim)
                .with(wear::AXIS, self.wear)
                .with(suspend::AXIS, self.suspend)
                .with(read_recovery::AXIS, self.read_recovery)
                .with(cell_mode::AXIS, self.cell_mode)
                .with(refresh::AXIS, self.refresh)
                .with(area::AXIS, self.area)
                .with(page_type::AXIS, self.page_type)
                .with(stream::AXIS, self.stream)
                .with(read_ahead::AXIS, usize::from(self.read_ahead)),
            write_cache: self.write_cache,
            read_cache_slots: self.read_cache,
            map_cache_pages: self.map_cache,
            most_journal_pages: match self.seed % 3 {
                0 => self.seed % 64,
                _ => u64::MAX,
            },
            independent_planes: self.planes_apart,
            queue_depth: self.depth,
            max_wait_ns: self.max_wait_ns,
            ..DriveConfig::default()
        }
    }

    /// The drive. Its emergency dumps and recoveries may allocate nothing.
    pub fn drive(&self) -> FaultyDrive {
        let mut drive = FaultyDrive::new(&self.config(), &self.faults(), self.seed).unwrap();
        drive.count_allocations(allocations);
        drive
    }

    /// A trial of `steps` on the drive, whose power is cut after events with a chance of `cuts` ‰.
    pub fn trial(&self, steps: u64, cuts: u32) -> Trial {
        let power_cuts = match cuts {
            0 => PowerCuts::default(),
            _ => PowerCuts::permille(cuts),
        };
        Trial {
            drive: self.config(),
            faults: Faults {
                power_cuts,
                ..self.faults()
            },
            load: Load::default(),
            seed: self.seed,
            steps,
        }
    }

    /// The same, with the power cut after each `every` events.
    pub fn trial_cut_every(&self, steps: u64, every: u64) -> Trial {
        let mut trial = self.trial(steps, 0);
        let cuts = (1..10 * steps / every).map(|i| Cut::After(i * every));
        trial.faults.power_cuts.script = cuts.collect();
        trial
    }
}

/// A drive with schemes by their names that is full of `capacity_slots` pages, rated for `rated_pe_cycles` P/E cycles, whose
/// reads wait as long as it takes.
pub fn full_drive(
    geometry: Geometry,
    mode: CellMode,
    (capacity_slots, rated_pe_cycles): (u64, u32),
    schemes: &str,
) -> DriveConfig {
    DriveConfig {
        geometry,
        mode,
        capacity_slots,
        filled_slots: capacity_slots,
        rated_pe_cycles,
        read_cache_slots: 0,
        queue_depth: 8,
        max_wait_ns: 1 << 40,
        ..DriveConfig::for_schemes(schemes.parse::<SchemeChoices>().unwrap())
    }
}

/// A full drive with blocks of `wordlines`, and `spare` superblocks beyond those that every drive keeps.
pub fn tight(wordlines: u16, spare: u64) -> Build {
    let g = geometry(2, 1, 2, 16, wordlines);
    let capacity = (13 - spare) * g.slots_per_superblock(CellMode::Tlc) as u64;
    Build::full(g, CellMode::Tlc, capacity)
}
