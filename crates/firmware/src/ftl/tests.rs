//! A drive for the unit tests of machines: all its memory and tables, and a flash that takes operations and never
//! ends one. What a machine decides can be asked in any state, however rarely a run comes there.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use firstread_core::params::{Axis, Param, Scheme};
use firstread_core::sensing::SensingTable;
use firstread_core::voltage::{Line, MAX_FACTORY, Parabola, VoltageTables};
use firstread_core::{
    Accounting, Buf, CellMode, CommandId, FlashOp, Geometry, HostCommand, Levels, Lpn, Ns, Ports,
    Ppa, Spare, Status, StripeOrder, SuperblockId, Tag,
};

use crate::config::{ChangeTimes, Config, Turns, WriteCache};
use crate::ftl::place::Evacuation;
use crate::log::Record;
use crate::observe::{Owner, SuperblockUse};
use crate::policy::{AXES, ModeSetup};
use crate::{Firmware, Schemes, Setup};

/// The memory of the drive is never given back: a test is short.
pub(crate) type Drive = Firmware<&'static mut [u8]>;

/// Slots of a superblock.
pub(crate) const SLOTS: u32 = 64;

/// Flash that records operations and answers nothing.
#[derive(Default)]
pub(crate) struct Silent {
    pub(crate) issued: Vec<FlashOp>,
    /// The logical pages that its slots hold, by slot.
    pub(crate) stored: BTreeMap<Ppa, Lpn>,
    /// Commands that have completed.
    pub(crate) completed: Vec<CommandId>,
}

impl Accounting for Silent {}

impl Ports for Silent {
    type Record = Record;

    fn issue(&mut self, op: FlashOp) {
        self.issued.push(op);
    }
    fn data_in(&mut self, _id: CommandId, _first: u32, _slots: u32, _buf: Buf) {}
    fn data_out(&mut self, _id: CommandId, _first: u32, _slots: u32, _buf: Buf, _bytes: u32) {}
    fn zeros_out(&mut self, _id: CommandId, _first: u32, _slots: u32, _bytes: u32) {}
    fn copy(&mut self, _from: Buf, _to: Buf) {}
    fn pad(&mut self, _buf: Buf) {}
    fn restore(&mut self, _buf: Buf, _spare: Option<Spare>) {}
    fn buffered(&self, _buf: Buf) -> Option<Spare> {
        None
    }
    fn stored(&self, ppa: Ppa) -> Option<Spare> {
        let lpn = *self.stored.get(&ppa)?;
        Some(Spare { lpn, sequence: 0 })
    }
    fn sequence(&self) -> u64 {
        0
    }
    fn widen(&mut self, _tag: Tag, _more: u64) -> bool {
        false
    }
    fn rebuilt(&mut self, _tag: Tag, _made: u64) {}
    fn map_in(&mut self, _page: Lpn, _buf: Buf) {}
    fn map_out(&mut self, _page: Lpn, _buf: Buf) {}
    fn complete(&mut self, command: HostCommand, status: Status, _last: Option<Tag>) {
        assert_eq!(status, Status::Ok);
        self.completed.push(command.id);
    }
    fn log(&mut self, _record: Record) {}
}

/// An empty drive of `superblocks` superblocks for `capacity` logical pages, of whose map `map_cache` pages are in
/// memory; 0 for all.
pub(crate) fn drive(superblocks: u32, capacity: u64, map_cache: u32) -> Drive {
    drive_with(superblocks, capacity, map_cache, ("", ""))
}

/// The same with a scheme by the name of its axis and its own; all others are the baselines.
pub(crate) fn drive_with(
    superblocks: u32,
    capacity: u64,
    map_cache: u32,
    scheme: (&str, &str),
) -> Drive {
    let mode = CellMode::Slc;
    let geometry = geometry(superblocks);
    assert_eq!(geometry.slots_per_superblock(mode), SLOTS);
    drive_of(mode, &setup(mode, geometry, capacity), map_cache, scheme)
}

/// Two dies, whose rows have two slots of two codewords.
pub(crate) fn geometry(superblocks: u32) -> Geometry {
    Geometry {
        channels: 2,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes: 1,
        blocks_per_plane: superblocks,
        wordlines_per_block: 16,
        page_bytes: 8192,
        slot_bytes: 4096,
        codeword_bytes: 2048,
        stripe: StripeOrder::DieFirst,
        stripe_parity: false,
    }
}

/// What schemes are built from on a drive whose superblocks start in `mode`, and may be erased into modes of fewer bits.
pub(crate) fn setup(mode: CellMode, geometry: Geometry, capacity: u64) -> Setup {
    let Levels::Offsets(zero) = Levels::DEFAULT else {
        unreachable!("the default is an offset of zero")
    };
    let tables = |mode| VoltageTables {
        mode,
        page_of_valley: [0; 15],
        factory: [zero; MAX_FACTORY],
        factory_len: 1,
        sentinel: [1; 4],
        projection: [Line::IDENTITY; 15],
        curved: [Parabola::IDENTITY; 15],
        spare: [[0; 33]; 4],
        dac_mv: 5,
    };
    let others = CellMode::ALL.into_iter().filter(|other| *other < mode);
    let others = others.map(|other| ModeSetup {
        tables: tables(other),
        sensing: SensingTable::NOTHING,
        read_time: crate::policy::ReadTime::default(),
    });
    Setup {
        geometry,
        capacity_slots: capacity,
        rated_pe_cycles: 1_000,
        tables: tables(mode),
        layer_of: (0..geometry.wordlines_per_block).collect(),
        sensing: SensingTable::NOTHING,
        correctable_bits: 72,
        read_time: crate::policy::ReadTime::default(),
        program: CellMode::ALL.map(|mode| Ns(100_000 * u64::from(mode.bits() * mode.bits()))),
        cycle_damage: firstread_core::CycleDamage::ALIKE,
        temperature_c: 25,
        seed: 1,
        other_modes: others.collect(),
    }
}

/// An empty drive of `setup`, whose superblocks start in `mode`, with a scheme by the name of its axis and its own.
pub(crate) fn drive_of(
    mode: CellMode,
    setup: &Setup,
    map_cache: u32,
    scheme: (&str, &str),
) -> Drive {
    drive_with_spare(mode, setup, (map_cache, 0), scheme)
}

/// The same with so many slots of spare at least.
pub(crate) fn drive_with_spare(
    mode: CellMode,
    setup: &Setup,
    sizes: (u32, u64),
    scheme: (&str, &str),
) -> Drive {
    drive_with_write_cache(mode, setup, sizes, WriteCache::default(), scheme)
}

/// The same with a write cache.
pub(crate) fn drive_with_write_cache(
    mode: CellMode,
    setup: &Setup,
    sizes: (u32, u64),
    write_cache: WriteCache,
    (axis, scheme): (&str, &str),
) -> Drive {
    drive_with_params(mode, setup, sizes, write_cache, (axis, scheme, &[]))
}

/// The same with parameters of the scheme that are not its defaults.
pub(crate) fn drive_with_params(
    mode: CellMode,
    setup: &Setup,
    (map_cache, least_spare_slots): (u32, u64),
    write_cache: WriteCache,
    (axis_name, scheme, params): (&str, &str, &[(&str, i64)]),
) -> Drive {
    let (geometry, capacity) = (setup.geometry, setup.capacity_slots);
    let config = Config {
        identity: 1,
        geometry,
        mode,
        cycle_damage: firstread_core::CycleDamage::ALIKE,
        capacity_slots: capacity,
        least_spare_slots,
        most_journal_pages: u64::MAX,
        max_commands: 8,
        max_reads: 8,
        independent_planes: false,
        turns: Turns {
            max_wait: Ns(1_000_000),
            share_permille: 300,
            slice: Ns(1_000),
            least_slice: Ns(1_000),
            max_suspends: 0,
        },
        change_times: ChangeTimes::default(),
        read_cache_slots: 0,
        write_cache,
        map_cache_pages: map_cache,
        heat: None,
    };
    let defaults: Vec<(&Scheme, Vec<i64>)> = AXES
        .iter()
        .map(|axis| {
            let chosen = axis
                .schemes
                .iter()
                .find(|s| axis.name == axis_name && s.name == scheme);
            let set = |param: &Param| {
                let set = params.iter().find(|(key, _)| *key == param.key);
                set.filter(|_| chosen.is_some()).map(|(_, value)| *value)
            };
            let chosen = chosen.unwrap_or(&axis.schemes[0]);
            let values = chosen.params.iter();
            let values = values.map(|param| set(param).unwrap_or_else(|| param.default()));
            (chosen, values.collect())
        })
        .collect();
    let choice = |axis: &Axis| {
        let at = AXES.iter().position(|a| a.name == axis.name);
        let (scheme, values) = &defaults[at.expect("an axis of the table")];
        (scheme.name, &values[..])
    };
    let schemes = Schemes::new(setup, choice).expect("schemes of the table");
    let memory = Box::leak(vec![0u8; 1 << 20].into_boxed_slice());
    Firmware::new(config, schemes, memory)
}

/// Cuts the power of `drive`. `next`, which was newly made, mounts what that has left.
pub(crate) fn restarted(mut drive: Drive, mut next: Drive) -> Drive {
    let ports = &mut Silent::default();
    let cut = drive.cut(ports);
    let mut dump = vec![0; drive.dump_bytes(&cut, ports)];
    drive.save(Ns::ZERO, &cut, &mut dump, ports);
    let mounted = next.mount(drive.into_flash(), &dump, ports);
    mounted.expect("a drive mounts from its own dump");
    next
}

/// Fills all superblocks of `drive` but the last `free`, each with `valid` valid slots.
pub(crate) fn fill(drive: &mut Drive, free: u32, valid: u32) {
    let store = &mut drive.lower.store;
    for block in (0..store.shared.blocks.len() - free).map(SuperblockId) {
        store.mark_filled(Ns::ZERO, block, 0, valid);
        assert_eq!(store.shared.blocks.info(block).usage, SuperblockUse::Full);
    }
}

/// `block`, opened as the `opened`th, being emptied for `owner`.
pub(crate) fn emptying(owner: Owner, block: SuperblockId, opened: u64) -> Evacuation {
    Evacuation {
        owner,
        block,
        opened,
        mode: CellMode::Slc,
        mp_page: 0,
        mp_pages: 32,
        shrinks: 0,
    }
}
