//! The least that a controller has to be: fixed memory, one die, every port, and nothing that accounts for time.

use std::collections::{BTreeMap, VecDeque};

use firstread_core::sensing::SensingTable;
use firstread_core::voltage::{Line, MAX_FACTORY, Parabola, VoltageTables};
use firstread_core::{
    Accounting, Buf, CellMode, CommandId, CycleDamage, FlashEvent, FlashKind, FlashOp, Geometry,
    HostCommand, HostOp, Layout, Levels, Lpn, Ns, PageAddr, Ports, Ppa, Spare, Status, StripeOrder,
    Tag,
};
use firstread_firmware::log::Record;
use firstread_firmware::{ChangeTimes, Config, Firmware, Schemes, Setup, Turns, WriteCache};

const SLOT: u32 = 4096;
const PAGES: u64 = 96;
const MODE: CellMode = CellMode::Slc;
const GEOMETRY: Geometry = Geometry {
    channels: 1,
    chips_per_channel: 1,
    dies_per_chip: 1,
    planes: 1,
    blocks_per_plane: 12,
    wordlines_per_block: 8,
    page_bytes: 2 * SLOT,
    slot_bytes: SLOT,
    codeword_bytes: SLOT,
    stripe: StripeOrder::DieFirst,
    stripe_parity: false,
};

/// Its buffers and its flash hold spare areas in place of data.
struct Controller {
    layout: Layout,
    sequence: u64,
    buffers: Vec<Option<Spare>>,
    flash: BTreeMap<Ppa, Option<Spare>>,
    issued: VecDeque<FlashOp>,
    /// The command in flight: first page.
    first: u64,
    completed: Option<Status>,
    /// What the host got last.
    sent: Vec<Option<Spare>>,
}

impl Accounting for Controller {}

impl Ports for Controller {
    type Record = Record;

    fn issue(&mut self, op: FlashOp) {
        self.issued.push_back(op);
    }
    fn data_in(&mut self, _id: CommandId, first: u32, slots: u32, buf: Buf) {
        for i in 0..slots {
            self.sequence += 1;
            self.buffers[(buf.0 + i) as usize] = Some(Spare {
                lpn: Lpn(self.first + u64::from(first + i)),
                sequence: self.sequence,
            });
        }
    }
    fn data_out(&mut self, _id: CommandId, _first: u32, slots: u32, buf: Buf, _bytes: u32) {
        let from = buf.0 as usize;
        self.sent
            .extend_from_slice(&self.buffers[from..from + slots as usize]);
    }
    fn zeros_out(&mut self, _id: CommandId, _first: u32, slots: u32, _bytes: u32) {
        self.sent.extend((0..slots).map(|_| None));
    }
    fn copy(&mut self, from: Buf, to: Buf) {
        self.buffers[to.0 as usize] = self.buffers[from.0 as usize];
    }
    fn pad(&mut self, buf: Buf) {
        self.buffers[buf.0 as usize] = None;
    }
    fn restore(&mut self, buf: Buf, spare: Option<Spare>) {
        self.buffers[buf.0 as usize] = spare;
    }
    fn buffered(&self, buf: Buf) -> Option<Spare> {
        self.buffers[buf.0 as usize]
    }
    fn stored(&self, ppa: Ppa) -> Option<Spare> {
        self.flash.get(&ppa).copied().flatten()
    }
    fn sequence(&self) -> u64 {
        self.sequence
    }
    fn widen(&mut self, _tag: Tag, _more: u64) -> bool {
        false
    }
    fn rebuilt(&mut self, _tag: Tag, _made: u64) {
        unreachable!("there is no parity")
    }
    fn map_in(&mut self, _page: Lpn, _buf: Buf) {
        unreachable!("all of the map is in memory")
    }
    fn map_out(&mut self, _page: Lpn, _buf: Buf) {
        unreachable!("all of the map is in memory")
    }
    fn complete(&mut self, _command: HostCommand, status: Status, _last: Option<Tag>) {
        self.completed = Some(status);
    }
    fn log(&mut self, _record: Record) {}
}

impl Controller {
    /// The die does what it was asked for longest ago.
    fn step(&mut self) -> Option<[FlashEvent; 2]> {
        let op = self.issued.pop_front()?;
        let (tag, die) = (op.tag, op.die);
        let free = FlashEvent::ArrayFree {
            tag,
            die,
            planes: u8::MAX,
        };
        Some(match op.kind {
            FlashKind::Read {
                block,
                wordline,
                page,
                wanted,
                buf,
                ..
            } => {
                let at = PageAddr {
                    die,
                    block,
                    wordline,
                    page,
                };
                for i in (0..self.layout.slots_per_mp_page()).filter(|i| wanted >> i & 1 != 0) {
                    let ppa = self.layout.slot_at(at, i, MODE);
                    self.buffers[(buf.0 + i) as usize] = self.flash[&ppa];
                }
                let decoded = FlashEvent::Decoded {
                    tag,
                    failed: 0,
                    max_errors: 0,
                    sum_errors: 0,
                    unsatisfied: 0,
                    spare: Default::default(),
                };
                [free, decoded]
            }
            FlashKind::Program {
                block,
                wordline,
                buf,
                ..
            } => {
                let slots = GEOMETRY.slots_per_stripe();
                for i in 0..slots {
                    let ppa = Ppa::new(block, u32::from(wordline) * slots + i);
                    let before = self.flash.insert(ppa, self.buffers[(buf.0 + i) as usize]);
                    assert_eq!(before, None, "{ppa:?} was not erased");
                }
                [FlashEvent::Programmed { tag, ok: true }, free]
            }
            FlashKind::Erase { block, .. } => {
                self.flash.retain(|ppa, _| ppa.block() != block);
                [FlashEvent::Erased { tag, ok: true }, free]
            }
            other => panic!("{other:?} was not to be expected"),
        })
    }
}

fn firmware(memory: &mut [u8]) -> Firmware<&mut [u8]> {
    let Levels::Offsets(zero) = Levels::DEFAULT else {
        unreachable!("the default is an offset of zero")
    };
    let setup = Setup {
        geometry: GEOMETRY,
        capacity_slots: PAGES,
        rated_pe_cycles: 1_000,
        tables: VoltageTables {
            mode: MODE,
            page_of_valley: [0; 15],
            factory: [zero; MAX_FACTORY],
            factory_len: 1,
            sentinel: [1; 4],
            projection: [Line::IDENTITY; 15],
            curved: [Parabola::IDENTITY; 15],
            spare: [[0; 33]; 4],
            dac_mv: 5,
        },
        layer_of: (0..GEOMETRY.wordlines_per_block).collect(),
        sensing: SensingTable::NOTHING,
        correctable_bits: 72,
        read_time: firstread_firmware::policy::ReadTime::default(),
        program: [Ns(1_000_000); 4],
        cycle_damage: CycleDamage::ALIKE,
        temperature_c: 25,
        seed: 1,
        other_modes: Box::default(),
    };
    let baselines = |axis: &firstread_core::params::Axis| (axis.schemes[0].name, &[][..]);
    let config = Config {
        identity: 1,
        geometry: GEOMETRY,
        mode: MODE,
        cycle_damage: firstread_core::CycleDamage::ALIKE,
        capacity_slots: PAGES,
        least_spare_slots: 0,
        most_journal_pages: u64::MAX,
        max_commands: 1,
        max_reads: 2,
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
        write_cache: WriteCache::default(),
        map_cache_pages: 0,
        heat: None,
    };
    Firmware::new(config, Schemes::new(&setup, baselines).unwrap(), memory)
}

/// Random overwrites over and over, and every page read back: the last version, on a drive that was empty.
#[test]
fn model_a_drive_on_a_controller_is_a_drive() {
    let mut memory = vec![0xa5; 1 << 20];
    let mut firmware = firmware(&mut memory);
    let mut controller = Controller {
        layout: Layout::new(GEOMETRY),
        sequence: 0,
        buffers: vec![None; firmware.buffer_slots() as usize],
        flash: BTreeMap::new(),
        issued: VecDeque::new(),
        first: 0,
        completed: None,
        sent: Vec::new(),
    };
    let mut now = Ns::ZERO;
    firmware.start(now, &mut controller);
    let mut run = |op, page: u64, pages: u64| {
        (controller.first, controller.completed) = (page, None);
        controller.sent.clear();
        let command = HostCommand {
            id: CommandId(0),
            op,
            client: 0,
            offset_bytes: page * u64::from(SLOT),
            len_bytes: pages as u32 * SLOT,
            fua: false,
            placement: 0,
        };
        firmware.submit(now, command, &mut controller);
        while controller.completed.is_none() {
            now += Ns(1_000);
            match controller.step() {
                Some(events) => events
                    .into_iter()
                    .for_each(|event| firmware.complete(now, event, &mut controller)),
                None => firmware.poll(now, &mut controller),
            }
        }
        assert_eq!(controller.completed, Some(Status::Ok), "{op:?} of {page}");
        (controller.sequence, controller.sent.clone())
    };
    let mut last = BTreeMap::new();
    for n in 0..2_000u64 {
        let page = n * n % 1_009 % PAGES;
        let (sequence, _) = run(HostOp::Write, page, 1);
        last.insert(page, sequence);
        if n % 250 == 0 {
            let (_, sent) = run(HostOp::Read, 0, PAGES);
            let expected = (0..PAGES).map(|page| {
                let (lpn, sequence) = (Lpn(page), *last.get(&page)?);
                Some(Spare { lpn, sequence })
            });
            // Parts of a command are served in any order, those that hold nothing without a page.
            let (mut sent, mut expected) = (sent, expected.collect::<Vec<_>>());
            let key = |spare: &Option<Spare>| spare.map(|s| s.lpn.0);
            sent.sort_by_key(key);
            expected.sort_by_key(key);
            assert_eq!(sent, expected, "after {n} writes");
        }
    }
    assert!(firmware.counters().erases > 50, "it was cleaned");
}
