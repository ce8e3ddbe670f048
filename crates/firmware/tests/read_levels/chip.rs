//! A small chip for the tests: Gaussian states that drift with the logarithm of time.
//!
//! Charge-trap QLC with the parameters of the CT-A set (assumed in the nand model's documents):
//! states 250 mV apart, sigma 42 mV, the highest state losing 28 mV a decade after 0.5 h at 25 °C.
//! Codewords fail beyond 306 errors in 4 KiB and its parity, the waterfall of an LDPC code of rate 0.9.

use std::sync::LazyLock;

use firstread_core::sensing::SensingTable;
use firstread_core::voltage::{Line, MAX_FACTORY, Parabola, SPARE_NODES, VoltageTables};
use firstread_core::{
    CellMode, Geometry, LevelOffsets, Levels, Ns, PageAddr, SenseMode, SpareErrors, Stream,
    StripeOrder,
};
use firstread_firmware::observe::{Outcome, Probe, ProbeResult, SuperblockTable, SuperblockUse};
use firstread_firmware::policy::{ReadTime, Setup};

/// Millivolts of a DAC unit.
pub const DAC_MV: f64 = 5.0;
/// Cells of a page, parity included.
pub const CELLS: f64 = 147_456.0;
const CODEWORDS: u32 = 4;
const CODEWORD_CELLS: f64 = CELLS / 4.0;
const CORRECTABLE: f64 = 306.0;

/// Page type of each valley: LSB 5 7 10, CSB 1 6 12 15, MSB 2 4 8 14, TSB 3 9 11 13.
pub const PAGE_OF_VALLEY: [u8; 15] = [1, 2, 3, 2, 0, 1, 0, 2, 3, 0, 3, 1, 3, 2, 1];
/// Sentinels: 7 LSB, 6 CSB, 8 MSB, 9 TSB.
pub const SENTINEL: [u8; 4] = [7, 6, 8, 9];

pub fn geometry() -> Geometry {
    Geometry {
        channels: 4,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes: 4,
        blocks_per_plane: 40,
        wordlines_per_block: 1408,
        page_bytes: 16384,
        slot_bytes: 4096,
        codeword_bytes: 4096,
        stripe: StripeOrder::PlaneFirst,
        stripe_parity: false,
    }
}

/// Share of the top state's loss that valley `k` (0-based) sees.
fn drift_share(k: usize) -> f64 {
    0.3 + 0.7 * (k as f64 + 0.5) / 15.0
}

/// The tables that characterizing this chip would give.
pub fn tables() -> VoltageTables {
    let mut factory = [[0i8; 15]; MAX_FACTORY];
    const LEN: usize = 24;
    for (i, entry) in factory.iter_mut().enumerate().take(LEN) {
        for (k, offset) in entry.iter_mut().enumerate() {
            *offset = -libm::round(drift_share(k) * i as f64 * 15.0 / DAC_MV) as i8;
        }
    }
    let mut projection = [Line::IDENTITY; 15];
    for (k, line) in projection.iter_mut().enumerate() {
        let sentinel = SENTINEL[PAGE_OF_VALLEY[k] as usize] as usize - 1;
        line.slope = libm::round(drift_share(k) / drift_share(sentinel) * 65536.0) as i32;
    }
    VoltageTables {
        mode: CellMode::Qlc,
        page_of_valley: PAGE_OF_VALLEY,
        factory,
        factory_len: LEN as u8,
        sentinel: SENTINEL,
        projection,
        curved: projection.map(|line| Parabola { line, square: 0 }),
        spare: [*CURVE; 4],
        dac_mv: DAC_MV as u8,
    }
}

/// The curve of every page type, whose sentinels are all between states alike.
static CURVE: LazyLock<[i8; SPARE_NODES]> = LazyLock::new(|| core::array::from_fn(correction));

/// Units to the middle between two fresh states, where the shares beyond differ by `i / 16 - 1`.
fn correction(i: usize) -> i8 {
    let wanted = (i as f64 / 16.0 - 1.0).clamp(-0.98, 0.98);
    let difference = |mv: f64| below((-125.0 - mv) / 42.0) - below((mv - 125.0) / 42.0);
    let (mut lo, mut hi) = (-500.0, 500.0);
    for _ in 0..50 {
        let mid = 0.5 * (lo + hi);
        if difference(mid) > wanted {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    libm::round(-lo / DAC_MV) as i8
}

pub fn setup() -> Setup {
    Setup {
        geometry: geometry(),
        capacity_slots: 0,
        rated_pe_cycles: 1_000,
        tables: tables(),
        layer_of: (0..1408).map(|w| w / 8).collect(),
        sensing: SensingTable::NOTHING,
        correctable_bits: 72,
        read_time: ReadTime::default(),
        program: [firstread_core::Ns(1_000_000); 4],
        cycle_damage: firstread_core::CycleDamage::ALIKE,
        temperature_c: 25,
        seed: 1,
        other_modes: Box::default(),
    }
}

/// Share of a normal distribution below `z`.
pub fn below(z: f64) -> f64 {
    0.5 * libm::erfc(-z / core::f64::consts::SQRT_2)
}

/// A normal draw from the bits of `stream`, by the sum of twelve uniforms.
fn normal(stream: Stream) -> f64 {
    (0..12)
        .map(|i| stream.at(i).bits() as f64 / u64::MAX as f64)
        .sum::<f64>()
        - 6.0
}

pub struct Chip {
    /// How much faster they age than at 25 °C.
    pub acceleration: f64,
}

impl Chip {
    /// Mean and sigma of state `s`, `hours` after the program.
    fn state(&self, s: usize, hours: f64, pe: u32, rate: f64) -> (f64, f64) {
        let pe = pe as f64 / 1000.0;
        let decades = libm::log10(1.0 + hours * self.acceleration / 0.5);
        let loss = match s {
            0 => -0.5 * 28.0 * decades,
            _ => 28.0 * (0.3 + 0.7 * s as f64 / 15.0) * (1.0 + 0.1 * pe) * decades * rate,
        };
        let fresh = match s {
            0 => -2500.0,
            _ => 400.0 + 250.0 * (s as f64 - 1.0),
        };
        let sigma = match s {
            0 => 350.0,
            _ => 42.0 * (1.0 + 0.04 * pe),
        };
        (fresh - loss, libm::hypot(sigma, 0.2 * loss))
    }

    /// Level of valley `k` (0-based) at `offset`: the factory default is best after 1 h at 25 °C.
    fn level_mv(&self, k: usize, offset: i8) -> f64 {
        let fresh = Chip { acceleration: 1.0 };
        let ((lo, lo_sigma), (hi, hi_sigma)) =
            (fresh.state(k, 1.0, 0, 1.0), fresh.state(k + 1, 1.0, 0, 1.0));
        (lo * hi_sigma + hi * lo_sigma) / (lo_sigma + hi_sigma) + offset as f64 * DAC_MV
    }

    /// Pages of a layer lose charge alike, those of other layers 12 % more or less.
    fn rate(&self, at: &PageAddr) -> f64 {
        let layer = Stream::new(3).at(at.wordline as u64 / 8);
        0.88 + 0.24 * (layer.bits() as f64 / u64::MAX as f64)
    }

    /// Expected errors of a codeword of the page, read with `levels`.
    pub fn errors(&self, at: &PageAddr, levels: &LevelOffsets, hours: f64, pe: u32) -> f64 {
        let rate = self.rate(at);
        let valleys = (0..15).filter(|&k| PAGE_OF_VALLEY[k] == at.page.0);
        let wrong = valleys.map(|k| {
            let v = self.level_mv(k, levels[k]);
            let (lo, lo_sigma) = self.state(k, hours, pe, rate);
            let (hi, hi_sigma) = self.state(k + 1, hours, pe, rate);
            below((lo - v) / lo_sigma) + below((v - hi) / hi_sigma)
        });
        wrong.sum::<f64>() * CODEWORD_CELLS / 16.0
    }

    /// What 59 spare cells of each state around the page type's sentinel show.
    fn spare(
        &self,
        at: &PageAddr,
        plane: u8,
        levels: &LevelOffsets,
        hours: f64,
        pe: u32,
    ) -> SpareErrors {
        let k = SENTINEL[at.page.0 as usize] as usize - 1;
        let v = self.level_mv(k, levels[k]);
        let rate = self.rate(at);
        let key = page_stream(at, plane).named("spare");
        let beyond = |s: usize, sign: f64| {
            let (mean, sigma) = self.state(s, hours, pe, rate);
            let cell = |i: u64| mean + sigma * normal(key.at(s as u64).at(i));
            (0..59).filter(|&i| (cell(i) - v) * sign > 0.0).count() as u16
        };
        SpareErrors {
            above: beyond(k, 1.0),
            below: beyond(k + 1, -1.0),
            cells: 59,
        }
    }

    /// Reads a plane's page.
    pub fn read(
        &self,
        at: &PageAddr,
        plane: u8,
        levels: &LevelOffsets,
        hours: f64,
        pe: u32,
    ) -> Outcome {
        let mean = self.errors(at, levels, hours, pe);
        let page = page_stream(at, plane);
        let mut outcome = Outcome {
            wanted: 0xf << (plane as u32 * CODEWORDS),
            failed: 0,
            max_errors: 0,
            sum_errors: 0,
            unsatisfied: 0,
            spare: SpareErrors::default(),
        };
        for codeword in 0..CODEWORDS {
            let errors = mean + libm::sqrt(mean) * normal(page.at(codeword as u64));
            if errors > CORRECTABLE {
                outcome.failed |= 1 << (plane as u32 * CODEWORDS + codeword);
            } else {
                let errors = errors.max(0.0) as u32;
                outcome.sum_errors += errors;
                outcome.max_errors = outcome.max_errors.max(errors as u16);
            }
        }
        if outcome.failed != 0 {
            outcome.spare = self.spare(at, plane, levels, hours, pe);
        }
        outcome
    }

    /// Cells that conduct at `offset` of valley `valley` (1-based).
    pub fn ones(&self, at: &PageAddr, valley: u8, offset: i8, hours: f64, pe: u32) -> u32 {
        let v = self.level_mv(valley as usize - 1, offset);
        let rate = self.rate(at);
        let cells = (0..16).map(|s| {
            let (mean, sigma) = self.state(s, hours, pe, rate);
            below((v - mean) / sigma)
        });
        (cells.sum::<f64>() * CELLS / 16.0) as u32
    }

    pub fn answer(&self, probe: &Probe, hours: f64, pe: u32) -> ProbeResult {
        let Levels::Offsets(levels) = probe.levels else {
            panic!("a probe of ct-qlc names its levels")
        };
        assert_eq!(probe.planes.count_ones(), 1, "a block is of one plane");
        let plane = probe.planes.trailing_zeros() as u8;
        match probe.mode {
            SenseMode::OnesCount { valley } => ProbeResult::Ones {
                count: self.ones(&probe.at, valley, levels[valley as usize - 1], hours, pe),
                cells: CELLS as u32,
            },
            _ => ProbeResult::Decoded(self.read(&probe.at, plane, &levels, hours, pe)),
        }
    }
}

/// The persistent chance of a page.
fn page_stream(at: &PageAddr, plane: u8) -> Stream {
    Stream::new(9)
        .at(at.block.0 as u64)
        .at(at.die.0 as u64)
        .at(plane as u64)
        .at(at.wordline as u64)
        .at(at.page.0 as u64)
}

/// Hours as time.
pub fn h(hours: f64) -> Ns {
    Ns((hours * 3.6e12) as u64)
}

/// A monitor whose first superblocks are full, `(pe, programmed at h)` each.
pub fn monitor(rows: &[(u32, f64)]) -> SuperblockTable {
    let mut blocks = SuperblockTable::new(geometry().blocks_per_plane, CellMode::Qlc);
    for (i, &(pe, at)) in rows.iter().enumerate() {
        fill(&mut blocks, i as u32, pe, h(at));
    }
    blocks
}

/// Makes superblock `block` full.
pub fn fill(blocks: &mut SuperblockTable, block: u32, pe: u32, at: Ns) {
    let info = blocks.info_mut(firstread_core::SuperblockId(block));
    info.usage = SuperblockUse::Full;
    info.pe_cycles = pe;
    info.programmed_at = at;
}
