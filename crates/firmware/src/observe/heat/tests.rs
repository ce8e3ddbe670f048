//! Heat against a model that halves every counter at the end of every epoch, and the bounded form against the flat one.

use std::vec::Vec;
use std::{println, vec};

use firstread_core::{Lpn, Stream};

use super::{Epoch, Heat, HeatConfig, PageHeat};

fn config() -> HeatConfig {
    HeatConfig::default()
}

/// Counters that are halved all at once.
struct Model {
    config: HeatConfig,
    epoch_accesses: u64,
    heat: Vec<(u32, u32)>,
    accesses: u64,
}

impl Model {
    fn new(config: HeatConfig, slots: u64) -> Model {
        let units = slots.div_ceil(u64::from(config.unit_slots));
        Model {
            config,
            epoch_accesses: match config.epoch {
                Epoch::Counters(each) => units * u64::from(each),
                Epoch::Accesses(accesses) => accesses,
                Epoch::Never => u64::MAX,
            },
            heat: vec![(0, 0); units as usize],
            accesses: 0,
        }
    }

    fn access(&mut self, slots: core::ops::Range<u64>, writes: bool) {
        let unit = u64::from(self.config.unit_slots);
        for at in slots.start / unit..=(slots.end - 1) / unit {
            let (read, written) = &mut self.heat[at as usize];
            if writes {
                *written = (*written + 1).min((1 << self.config.write_bits) - 1);
                if self.config.reset_on_update {
                    *read = 0;
                }
            } else {
                *read = (*read + 1).min((1 << self.config.read_bits) - 1);
            }
            let is_counted = !writes || self.config.epoch_counts_writes;
            self.accesses += u64::from(is_counted);
            if is_counted && self.accesses.is_multiple_of(self.epoch_accesses) {
                self.heat
                    .iter_mut()
                    .for_each(|(r, w)| (*r, *w) = (*r / 2, *w / 2));
            }
        }
    }

    fn of(&self, lpn: u64) -> PageHeat {
        let (reads, writes) = self.heat[(lpn / u64::from(self.config.unit_slots)) as usize];
        PageHeat {
            reads: reads as u8,
            writes: writes as u8,
        }
    }
}

fn write(heat: &mut Heat, slots: core::ops::Range<u64>) {
    for lpn in slots.clone() {
        heat.on_write(Lpn(lpn), lpn == slots.start);
    }
}

fn number_epochs_from(epoch: u32, heat: &mut Heat) {
    heat.0.as_mut().expect("heat is counted").epoch = epoch;
}

#[test]
fn model_counters_are_halved_as_if_all_at_once() {
    for seed in 0..120 {
        let draw = Stream::new(seed).named("heat");
        let mut draws = 0;
        let mut below = |n: u64| {
            draws += 1;
            draw.at(draws).below(n)
        };
        let slots = 1 + below(3_000);
        let read_bits = 1 + below(7) as u8;
        let config = HeatConfig {
            unit_slots: 1 << below(5),
            read_bits,
            write_bits: 1 + below(u64::from(8 - read_bits)) as u8,
            epoch: match below(8) {
                0 => Epoch::Never,
                1 => Epoch::Counters(1 + below(4) as u32),
                _ => Epoch::Accesses(1 + below(400)),
            },
            epoch_counts_writes: below(3) > 0,
            reset_on_update: below(2) == 0,
            ..config()
        };
        let mut heat = Heat::new(&config, slots);
        if seed % 4 == 0 {
            // Epochs are soon numbered anew.
            number_epochs_from(u32::MAX - below(9) as u32, &mut heat);
        }
        let mut model = Model::new(config, slots);
        for step in 0..2_000 {
            // Half of the commands go to few pages, and some chunks are left alone for many epochs.
            let region = if below(2) == 0 { slots } else { 1 + slots / 50 };
            let first = below(region);
            let range = first..(first + 1 + below(40)).min(slots);
            let writes = below(3) == 0;
            match writes {
                true => write(&mut heat, range.clone()),
                false => heat.on_read(Lpn(first), (range.end - first) as u32),
            }
            model.access(range, writes);
            let asked = below(slots);
            for lpn in [first, asked] {
                let (ours, right) = (heat.of(Lpn(lpn)), model.of(lpn));
                assert_eq!(
                    ours, right,
                    "seed {seed}, step {step}, page {lpn}: {config:?}"
                );
            }
            if step % 500 == 0 {
                heat = heat.clone();
            }
        }
        for lpn in 0..slots {
            assert_eq!(heat.of(Lpn(lpn)), model.of(lpn), "seed {seed}, page {lpn}");
        }
    }
}

/// The tagged form as well forgets nothing as long as a set has room.
#[test]
fn model_the_bounded_form_counts_alike() {
    let slots = 40_000_000;
    for seed in 0..10 {
        let draw = Stream::new(seed).named("heat");
        let config = HeatConfig {
            epoch: Epoch::Accesses(700),
            reset_on_update: true,
            most_bytes: 1 << 20,
            ..config()
        };
        let (mut heat, mut model) = (
            Heat::new(&config, slots),
            Model::new(config, slots / 20_000),
        );
        number_epochs_from(u32::MAX - 10, &mut heat);
        // One page in 20,000: 2,000 pages in 16,000 sets.
        for i in 0..20_000u64 {
            let page = draw.at(i).below(slots / 20_000);
            let writes = draw.named("writes").at(i).below(4) == 0;
            let lpn = page * 20_000;
            match writes {
                true => write(&mut heat, lpn..lpn + 1),
                false => heat.on_read(Lpn(lpn), 1),
            }
            model.access(page..page + 1, writes);
            assert_eq!(heat.of(Lpn(lpn)), model.of(page), "seed {seed}, step {i}");
            assert_eq!(heat.of(Lpn(lpn + 1)), PageHeat::default(), "never accessed");
        }
    }
}

#[test]
fn formula_counters_saturate_and_fade() {
    let config = HeatConfig {
        epoch: Epoch::Accesses(100),
        ..config()
    };
    let mut heat = Heat::new(&config, 1_000);
    for _ in 0..40 {
        heat.on_read(Lpn(7), 1);
        heat.on_write(Lpn(7), true);
    }
    assert_eq!(
        heat.of(Lpn(7)),
        PageHeat {
            reads: 15,
            writes: 15
        }
    );
    for left in [7, 3, 1, 0, 0] {
        (0..100).for_each(|_| heat.on_read(Lpn(900), 1));
        assert_eq!(
            heat.of(Lpn(7)),
            PageHeat {
                reads: left,
                writes: left
            }
        );
    }
    assert_eq!(heat.of(Lpn(8)), PageHeat::default());
    assert_eq!(
        heat.of(Lpn(1_000)),
        PageHeat::default(),
        "a page of the map"
    );
}

/// A command counts once for a unit, however many slots of it it covers.
#[test]
fn formula_a_command_counts_once_for_each_unit() {
    let config = HeatConfig {
        unit_slots: 16,
        reset_on_update: true,
        ..config()
    };
    let mut heat = Heat::new(&config, 1_000);
    heat.on_read(Lpn(8), 40);
    write(&mut heat, 24..41);
    let shown = [0, 16, 32, 48].map(|lpn| heat.of(Lpn(lpn)));
    let of = |reads, writes| PageHeat { reads, writes };
    assert_eq!(shown, [of(1, 0), of(0, 1), of(0, 1), of(0, 0)]);
}

#[test]
fn formula_no_heat_is_cold_and_takes_no_memory() {
    let mut heat = Heat::none();
    heat.on_read(Lpn(0), 1);
    heat.on_write(Lpn(0), true);
    assert!(!heat.is_on());
    assert_eq!((heat.of(Lpn(0)), heat.bytes()), (PageHeat::default(), 0));
}

/// The control shows the same heat, each to another page; pages outside of what the host uses keep none.
#[test]
fn model_shuffled_heat_is_a_permutation() {
    for (seed, bounded) in [(1, false), (2, false), (1, true)] {
        let slots = if bounded { 4_000_000 } else { 100_000 };
        let plain = HeatConfig {
            epoch: Epoch::Never,
            most_bytes: if bounded { 1 << 20 } else { 1 << 30 },
            ..config()
        };
        let shuffle = HeatConfig {
            shuffle: true,
            seed,
            ..plain
        };
        let mut heat = Heat::new(&plain, slots);
        let mut shown = Heat::new(&shuffle, slots);
        let mut again = Heat::new(&shuffle, slots);
        let draw = Stream::new(3);
        for i in 0..30_000 {
            let lpn = Lpn(20_000 + draw.at(i).below(5_000));
            for heat in [&mut heat, &mut shown, &mut again] {
                heat.on_read(lpn, 1);
            }
        }
        let all = |heat: &Heat| -> Vec<PageHeat> { (0..slots).map(|l| heat.of(Lpn(l))).collect() };
        let (own, others) = (all(&heat), all(&shown));
        assert_eq!(others, all(&again), "by the seed alone");
        assert_eq!(others, all(&shown.clone()));
        let sorted = |heat: &[PageHeat]| {
            let mut heat: Vec<u8> = heat.iter().map(|h| h.reads).collect();
            heat.sort_unstable();
            heat
        };
        assert_eq!(sorted(&own), sorted(&others), "seed {seed}");
        let warm = |heat: &[PageHeat]| heat.iter().filter(|h| h.reads > 0).count();
        // Multiples of 512, an eighth of 4,096.
        let (used, outside) = (19_968..25_088, 0..19_968);
        assert_eq!(warm(&others[outside]), 0);
        assert_eq!(warm(&others[used.clone()]), warm(&own));
        // 6 reads a page: two pages at random agree in one case of eight.
        let same = used.filter(|&l| own[l] == others[l]).count();
        assert!(
            same < 900,
            "seed {seed}: {same} of 5,120 pages show their own heat"
        );
        if bounded {
            continue;
        }
        let other_seed = Heat::new(
            &HeatConfig {
                seed: seed + 1,
                ..shuffle
            },
            slots,
        );
        let mut other_seed = other_seed;
        (0..30_000).for_each(|i| other_seed.on_read(Lpn(20_000 + draw.at(i).below(5_000)), 1));
        assert_ne!(others, all(&other_seed), "another seed shows other pages");
    }
}

/// The same page shows the same other page until the host uses more of the drive.
#[test]
fn sequence_the_shuffle_stays_while_the_range_does() {
    let config = HeatConfig {
        shuffle: true,
        seed: 5,
        epoch: Epoch::Never,
        ..config()
    };
    let mut heat = Heat::new(&config, 4_096);
    heat.on_read(Lpn(0), 4_096);
    let shown_by = |heat: &Heat, reads| (0..4_096).find(|&l| heat.of(Lpn(l)).reads == reads);
    (0..5).for_each(|_| heat.on_read(Lpn(77), 1));
    let page = shown_by(&heat, 6);
    (0..5).for_each(|_| heat.on_read(Lpn(77), 1));
    assert_eq!(page, shown_by(&heat, 11));
    assert_ne!(page, Some(77));
}

/// Ranks of a Zipf law by inverting its continuous form: how often rank `r` comes falls as `r^-theta`.
fn zipf(draw: Stream, i: u64, units: u64, theta: f64) -> u64 {
    let u = draw.draw(i) as f64 / u64::MAX as f64;
    let e = 1.0 - theta;
    let top = libm::pow(units as f64 + 1.0, e) - 1.0;
    (libm::pow(1.0 + u * top, 1.0 / e) as u64 - 1).min(units - 1)
}

/// A drive of 2^26 units under Zipf reads, in a table of 2^18 units: the hot ones stay.
#[test]
fn formula_the_bounded_form_keeps_the_hot_units() {
    let units = 1u64 << 26;
    for (theta, seed) in [(1.2, 1), (0.99, 2), (0.9, 3)] {
        let exact = HeatConfig {
            epoch: Epoch::Accesses(1 << 18),
            ..config()
        };
        let bounded = HeatConfig {
            most_bytes: 1 << 20,
            ..exact
        };
        let (mut exact, mut heat) = (Heat::new(&exact, units), Heat::new(&bounded, units));
        assert!(
            heat.bytes() <= 1 << 20 && exact.bytes() > units,
            "one is bounded"
        );
        let draw = Stream::new(seed);
        let scatter = |rank: u64| rank.wrapping_mul(0x9e37_79b9_7f4a_7c15) % units;
        for i in 0..2_000_000 {
            let lpn = Lpn(scatter(zipf(draw, i, units, theta)));
            exact.on_read(lpn, 1);
            heat.on_read(lpn, 1);
        }
        let hot = |heat: &Heat, rank: &u64| heat.of(Lpn(scatter(*rank))).reads >= 8;
        let top: Vec<u64> = (0..1_000).collect();
        let truly = top.iter().filter(|rank| hot(&exact, rank)).count();
        let found = top
            .iter()
            .filter(|rank| hot(&exact, rank) && hot(&heat, rank))
            .count();
        let known = top.iter().filter(|rank| {
            let (right, ours) = (
                exact.of(Lpn(scatter(**rank))),
                heat.of(Lpn(scatter(**rank))),
            );
            right == ours
        });
        let known = known.count();
        println!(
            "zipf {theta}: {truly} of 1,000 hot, {found} found, {known} with their exact count"
        );
        assert!(truly > 100, "zipf {theta}: only {truly} pages are hot");
        assert!(
            known >= 950 && found * 100 >= truly * 95,
            "zipf {theta}: {known}, {found} of {truly}"
        );
        // It never counts more than there was.
        let more = (0..100_000).filter(|&rank| {
            let lpn = Lpn(scatter(rank));
            heat.of(lpn).reads > exact.of(lpn).reads
        });
        assert_eq!(more.count(), 0, "zipf {theta}");
    }
}

/// Slots of 4 KiB of 15.36 TB, and the largest drive that can be simulated.
#[test]
fn formula_memory_of_a_full_drive_is_bounded() {
    for (slots, unit_slots) in [
        (3_750_000_000u64, 1),
        (3_750_000_000, 4),
        (3_750_000_000, 16),
        (1 << 36, 1),
    ] {
        let config = HeatConfig {
            unit_slots,
            ..config()
        };
        let heat = Heat::new(&config, slots);
        assert!(heat.bytes() < 256 << 20, "{} bytes", heat.bytes());
        assert_eq!(heat.bytes(), Heat::bytes_for(&config, slots));
        let mut clone = heat.clone();
        for lpn in [0, 100, slots / 2, slots - 1] {
            clone.on_read(Lpn(lpn), 1);
            assert_eq!(clone.of(Lpn(lpn)).reads, 1, "page {lpn}");
        }
    }
    let small = HeatConfig {
        most_bytes: 1 << 20,
        ..config()
    };
    assert!(Heat::new(&small, 1 << 36).bytes() <= 1 << 20);
}

/// Tags of 24 bits have to tell all units of a set apart, so a large drive has many sets however little memory is allowed.
#[test]
fn formula_the_least_memory_is_what_tags_need() {
    for (units, least) in [
        (1u64 << 20, 64),
        (1 << 26, 4 * 64),
        (3_750_000_000, 256 * 64),
        (1 << 36, 4_096 * 64),
    ] {
        let bytes = |most_bytes| {
            let config = HeatConfig {
                most_bytes,
                ..config()
            };
            Heat::bytes_for(&config, units)
        };
        assert_eq!(bytes(least), least, "{units} units");
        assert_eq!(bytes(least - 1), least, "{units} units");
        assert_eq!(bytes(2 * least), 2 * least, "{units} units");
    }
}

/// What it costs to make heat for a full drive and to clone it, and what an access costs:
/// `cargo test -p firstread-firmware --lib heat -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
#[expect(clippy::disallowed_methods)] // It measures the host.
fn nanoseconds_of_an_access() {
    let accesses = 4_000_000u64;
    let began = std::time::Instant::now();
    let heat = Heat::new(&config(), 3_750_000_000);
    let made = began.elapsed();
    let clone = heat.clone();
    let cloned = began.elapsed() - made;
    println!(
        "{} bytes: made in {made:?}, cloned in {cloned:?}",
        clone.bytes()
    );
    for (name, slots, epoch) in [
        ("off", 0, Epoch::Never),
        ("flat, 1 M units, never halved", 1 << 20, Epoch::Never),
        ("flat, 1 M units", 1 << 20, Epoch::Counters(1)),
        ("flat, 200 M units", 200 << 20, Epoch::Counters(1)),
        (
            "flat, 200 M units, halved at every touch",
            200 << 20,
            Epoch::Accesses(10_000),
        ),
        ("bounded, 3.75 G units", 3_750_000_000, Epoch::Counters(1)),
        (
            "bounded, halved at every touch",
            3_750_000_000,
            Epoch::Accesses(10_000),
        ),
    ] {
        let config = HeatConfig { epoch, ..config() };
        let mut heat = if slots == 0 {
            Heat::none()
        } else {
            Heat::new(&config, slots)
        };
        let draw = Stream::new(1);
        // The second time nothing is touched for the first time.
        let reads = [0; 2].map(|_| {
            let began = std::time::Instant::now();
            for i in 0..accesses {
                heat.on_read(Lpn(draw.draw(i) % slots.max(1)), 1);
            }
            began.elapsed().as_nanos() as f64 / accesses as f64
        });
        let began = std::time::Instant::now();
        let mut sum = 0u64;
        for i in 0..accesses {
            sum += u64::from(heat.of(Lpn(draw.draw(i) % slots.max(1))).reads);
        }
        let asked = began.elapsed().as_nanos() as f64 / accesses as f64;
        let [first, again] = reads;
        println!("{name}: {first:.1} ns a read, {again:.1} ns again, {asked:.1} ns asked ({sum})");
    }
}
