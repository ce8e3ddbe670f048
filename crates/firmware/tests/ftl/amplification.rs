//! Write amplification under uniform random writes against theory.
//!
//! FIFO cleaning of `T` physical slots that hold `U` logical pages has `A = α / (α + W(-α e^-α))`,
//! `α = T / U`, `W` the principal branch of Lambert's function (Desnoyers, SYSTOR 2012). Of victims drawn at
//! random see [`at_random`]. `T` and `U` count neither free superblocks nor those being filled, nor what these
//! hold. Superblocks are small, so that one more or less is no matter.

use firstread_core::{CellMode, HostOp, Stream};
use firstread_firmware::observe::SuperblockUse;
use firstread_firmware::policy::gc_victim::AXIS;

use crate::build::Build;
use firstread_faulty_flash::geometry;

const SUPERBLOCKS: u32 = 500;

/// `A` of FIFO cleaning.
fn fifo(alpha: f64) -> f64 {
    // The valid share u of a victim solves u = exp(-α (1 - u)): a fixed point below one.
    let mut u: f64 = 0.5;
    for _ in 0..10_000 {
        u = libm::exp(-alpha * (1.0 - u));
    }
    1.0 / (1.0 - u)
}

/// `A` where the victim is any superblock of `slots` slots that has lost `least` or more, each as likely.
///
/// A superblock loses its slots one by one, each valid one at the rate 1, and is cleaned at the rate `h` once it may
/// be. The time it spends with each number of lost slots gives `α`, where it is cleaned the share that is moved.
/// Of `h` there is one for every `α`: the more often superblocks are cleaned, the fewer slots they have lost.
fn at_random(alpha: f64, slots: u32, least: u32) -> f64 {
    let cleaned = |h: f64| {
        let (mut reached, mut all, mut valid, mut moved) = (1.0, 0.0, 0.0, 0.0);
        for lost in 0..=slots {
            let left = f64::from(slots - lost);
            let h = if lost < least { 0.0 } else { h };
            let stays = reached / (left + h);
            all += stays * f64::from(slots);
            valid += stays * left;
            moved += stays * h * left / f64::from(slots);
            reached = stays * left;
        }
        (all / valid, 1.0 / (1.0 - moved))
    };
    let (mut low, mut high) = (1e-6, 1e6);
    for _ in 0..200 {
        let middle = libm::sqrt(low * high);
        if cleaned(middle).0 > alpha {
            low = middle;
        } else {
            high = middle;
        }
    }
    cleaned(high).1
}

/// What a run measured.
struct Measured {
    amplification: f64,
    /// `T / U`.
    alpha: f64,
    /// Slots of a superblock.
    slots: u32,
    /// Fewest slots that a victim must have lost, the mean over the run: a sixteenth of the most that any has.
    least: f64,
}

/// Random writes cleaned by `victim`. `used` is the share of the slots that the capacity takes.
fn measure(victim: &str, used: f64) -> Measured {
    // 64 slots a superblock.
    let g = geometry(1, 1, 1, SUPERBLOCKS, 32);
    let per_block = g.slots_per_superblock(CellMode::Slc);
    let slots = SUPERBLOCKS as u64 * per_block as u64;
    let capacity = (slots as f64 * used) as u64;
    let build = Build {
        victim: AXIS.schemes.iter().position(|s| s.name == victim).unwrap(),
        seed: 11,
        depth: 4,
        max_wait_ns: 1 << 40,
        ..Build::full(g, CellMode::Slc, capacity)
    };
    let mut drive = build.drive();
    let stream = Stream::new(12).named("uniform");
    let (settle, measured) = (5 * capacity, 4 * capacity);
    let mut before = drive.firmware.counters().clone();
    let (mut full, mut valid, mut least, mut looks) = (0u64, 0u64, 0u64, 0u64);
    for i in 0..settle + measured {
        let lpn = stream.at(i).below(capacity);
        drive.submit(HostOp::Write, lpn * 4096, 4096).unwrap();
        if i == settle {
            before = drive.firmware.counters().clone();
        }
        if i >= settle && i % 97 == 0 {
            let blocks = drive.firmware.blocks().iter();
            let of_full = blocks.filter(|(_, info)| info.usage == SuperblockUse::Full);
            let mut emptiest = per_block;
            for (_, info) in of_full {
                full += 1;
                valid += info.valid_slots as u64;
                emptiest = emptiest.min(info.valid_slots);
            }
            least += u64::from((per_block - emptiest).div_ceil(16).max(1));
            looks += 1;
        }
    }
    let c = drive.firmware.counters().since(&before);
    let amplification = (c.host_slots_written + c.slots_moved) as f64 / c.host_slots_written as f64;
    Measured {
        amplification,
        alpha: full as f64 * f64::from(per_block) / valid as f64,
        slots: per_block,
        least: least as f64 / looks as f64,
    }
}

#[test]
fn formula_fifo_cleaning_amplifies_as_theory_says() {
    for used in [0.93, 0.85, 0.75] {
        let Measured {
            amplification: measured,
            alpha,
            ..
        } = measure("fifo", used);
        let expected = fifo(alpha);
        println!("alpha {alpha:.4}: {measured:.4}, theory {expected:.4}");
        assert!(
            (measured / expected - 1.0).abs() < 0.02,
            "alpha {alpha:.4}: amplification {measured:.4}, theory {expected:.4}"
        );
    }
}

#[test]
fn formula_schemes_are_ordered_as_theory_says() {
    let runs = ["fifo", "greedy", "d-choices", "random", "random-guarded"]
        .map(|victim| measure(victim, 0.85));
    let [fifo, greedy, d_choices, random, guarded] = runs.each_ref().map(|run| run.amplification);
    println!("fifo {fifo:.4} greedy {greedy:.4} d-choices {d_choices:.4}");
    assert!(greedy < 0.97 * fifo, "greedy {greedy:.4}, fifo {fifo:.4}");
    assert!(
        greedy < d_choices && d_choices < fifo,
        "d-choices {d_choices:.4} lies between {greedy:.4} and {fifo:.4}"
    );
    let theory = |run: &Measured, least: u32| at_random(run.alpha, run.slots, least);
    let of_any = theory(&runs[3], 0);
    let last = &runs[4];
    let (few, more) = (libm::floor(last.least) as u32, last.least % 1.0);
    let of_guarded = (1.0 - more) * theory(last, few) + more * theory(last, few + 1);
    println!("{:.2} slots lost at least", last.least);
    for (name, measured, expected) in [
        ("random", random, of_any),
        ("random-guarded", guarded, of_guarded),
    ] {
        println!("{name} {measured:.4}, theory {expected:.4}");
        assert!(
            (measured / expected - 1.0).abs() < 0.02,
            "{name} {measured:.4}, theory {expected:.4}"
        );
    }
}
