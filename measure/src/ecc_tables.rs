//! Measures the outcome tables of the LDPC codes (`crates/ecc/tables`).
//!
//! `ecc-tables` measures all of them, about seven processor minutes. `ecc-tables --check` measures
//! points of the committed ones again: all cheap points with the same error patterns, which must give
//! the same counts, and points of the waterfall with fresh ones, which must give a compatible
//! probability.

use std::fmt::Write as _;
use std::path::Path;

use firstread_core::Stream;
use firstread_ecc::ldpc::Ldpc;
use firstread_ecc::measure::{
    DecodeCounts, TABLE_DISTANCE, Trial, place, weights_of_place, wilson,
};
use firstread_ecc::outcome::{COLUMNS, MIN_COUNT, Point, TABLES, parse_points};
use firstread_ecc::{Code, SoftWeights};

/// Seed of the error patterns. Arbitrary.
const SEED: u64 = 1;

/// Failures after which a point is measured well enough: a standard deviation of 6 %.
const ENOUGH: u32 = 300;

/// Codewords between two looks at the failures.
const ROUND: u32 = 2_000;

/// Codewords of a point at which failures are too rare to be found; they measure the iterations only.
const FEW: u32 = 10_000;

/// The measurements of one table.
struct Plan {
    /// File of the table.
    file: &'static str,
    /// Its code.
    code: &'static str,
    /// Places of the points ([`place`]): from, to, step, by range.
    places: [(u32, u32, usize); 2],
    /// Most codewords of a point.
    most: u32,
    /// Whether reads are soft.
    soft: bool,
}

const fn plan(file: &'static str, code: &'static str, soft: bool) -> Plan {
    let (places, most) = match code.as_bytes() {
        b"ldpc-1k" => ([(1, 45, 4), (48, 112, 3)], 2_000_000),
        _ => ([(2, 200, 18), (206, 391, 8)], 400_000),
    };
    Plan {
        file,
        code,
        places,
        most,
        soft,
    }
}

const PLANS: [Plan; 4] = [
    plan("ldpc-1k-hard.csv", "ldpc-1k", false),
    plan("ldpc-1k-soft.csv", "ldpc-1k", true),
    plan("ldpc-4k-hard.csv", "ldpc-4k", false),
    plan("ldpc-4k-soft.csv", "ldpc-4k", true),
];

/// Measures the tables, or with `check` compares the committed ones with fresh measurements.
pub fn run(check: bool) -> Result<(), String> {
    if check {
        return check_all();
    }
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/ecc/tables");
    for plan in &PLANS {
        let path = dir.join(plan.file);
        let text = measure(plan)?;
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// The workers' trials; what they measure does not depend on how many they are.
fn trials(code: &str) -> Result<(Ldpc, Vec<Trial>), String> {
    let code = Ldpc::named(code).ok_or_else(|| format!("{code} is not an LDPC code"))?;
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    let trials = (0..workers).map(|_| Trial::new(&code)).collect();
    Ok((code, trials))
}

/// The stream of error patterns of one point.
fn stream(seed: u64, file: &str, weights: &SoftWeights) -> Stream {
    let tables = Stream::new(seed).named("ecc tables").named(file);
    tables.at(u64::from(place(weights)))
}

/// Decodes codewords `first` to `end`, shared among the trials.
fn decode(
    trials: &mut [Trial],
    weights: &SoftWeights,
    stream: Stream,
    first: u32,
    end: u32,
) -> DecodeCounts {
    let workers = trials.len() as u32;
    let each = (end - first).div_ceil(workers);
    std::thread::scope(|scope| {
        let shares = trials.iter_mut().zip(0..).map(|(trial, i)| {
            let from = (first + i * each).min(end);
            let to = (from + each).min(end);
            scope.spawn(move || trial.run(weights, stream, from..to))
        });
        let shares: Vec<_> = shares.collect();
        let mut sum = DecodeCounts::default();
        for share in shares {
            if let Ok(decode_counts) = share.join() {
                sum.add(&decode_counts);
            }
        }
        sum
    })
}

fn measure(plan: &Plan) -> Result<String, String> {
    let (code, mut trials) = trials(plan.code)?;
    let places = plan.places.iter();
    let places: Vec<u32> = places
        .flat_map(|&(from, to, step)| (from..to).step_by(step))
        .collect();
    let mut points: Vec<Point> = Vec::new();
    let mut rare = false;
    // From the top, so that it is known when failures become too rare to look for.
    for &at in places.iter().rev() {
        let bits = code.codeword_bits();
        let weights = if plan.soft {
            weights_of_place(bits, at)
        } else {
            SoftWeights {
                bits: [bits, 0, 0],
                ..SoftWeights::hard(at)
            }
        };
        let score = weights.score();
        let stream = stream(SEED, plan.file, &weights);
        let most = if rare { FEW } else { plan.most };
        let mut decode_counts = DecodeCounts::default();
        while decode_counts.frames < most && decode_counts.failures() < ENOUGH {
            let first = decode_counts.frames;
            let end = (first + ROUND).min(most);
            decode_counts.add(&decode(&mut trials, &weights, stream, first, end));
        }
        rare |= decode_counts.failures() < MIN_COUNT;
        eprintln!(
            "{} score {score}: {} of {} failed",
            plan.file,
            decode_counts.failures(),
            decode_counts.frames
        );
        // Of the points at which everything fails, the lowest is enough.
        if decode_counts.failures() == decode_counts.frames {
            points.clear();
        }
        if points.last().is_none_or(|p| p.score > score) {
            points.push(Point {
                score,
                weights,
                decode_counts,
            });
        }
    }
    points.reverse();
    Ok(table(plan, &code, &points))
}

fn table(plan: &Plan, code: &Ldpc, points: &[Point]) -> String {
    let mut out = String::new();
    let kind = if plan.soft {
        format!(
            "soft decodes (three senses, the outer two {TABLE_DISTANCE} standard deviations off)"
        )
    } else {
        "hard decodes".to_string()
    };
    let _ = write!(
        out,
        "# Outcomes of {kind}, of {} (4 x 36 circulants of {}).\n\
         # Made by `cargo xtask ecc-tables`; not to be edited.\n\
         # code {:08x}, seed {SEED}; a point ends at {ENOUGH} failures or {} codewords\n\
         # ({FEW} below the first point with fewer than {MIN_COUNT} failures).\n\
         # failed_low and failed_high bound the failure probability with 95 % confidence (Wilson).\n\
         {COLUMNS}\n",
        plan.code,
        code.z(),
        code.fingerprint(),
        plan.most
    );
    for p in points {
        let (t, w) = (&p.decode_counts, &p.weights);
        let (low, high) = wilson(t.failures(), t.frames, 1.96);
        let after = t.after.iter().enumerate().filter(|(_, n)| **n > 0);
        let by_class = |counts: [u32; 3]| {
            let counts = counts[..usize::from(w.classes)].iter();
            counts.map(u32::to_string).collect::<Vec<_>>().join(" ")
        };
        let after: Vec<String> = after.map(|(k, n)| format!("{k}:{n}")).collect();
        let _ = writeln!(
            out,
            "{},{},{},{},{},{},{low:.3e},{high:.3e},{:.2},{}",
            p.score,
            by_class(w.errors),
            by_class(w.bits),
            t.frames,
            t.failures(),
            t.undetected,
            t.mean_iterations(),
            after.join(" ")
        );
    }
    out
}

/// Standard deviations by which two measurements of a point may differ: one check in a thousand
/// points fails for nothing.
const CHECK_Z: f64 = 3.3;

fn check_all() -> Result<(), String> {
    let mut wrong = Vec::new();
    for plan in &PLANS {
        let (code, mut trials) = trials(plan.code)?;
        let Some((_, text)) = TABLES.iter().find(|t| t.0 == plan.file) else {
            return Err(format!("{} is not among the committed tables", plan.file));
        };
        let points = parse_points(text).map_err(|e| format!("{}: {e}", plan.file))?;
        let name = format!("code {:08x}, seed {SEED};", code.fingerprint());
        if !text.contains(&name) {
            wrong.push(format!("{}: made for another code or seed", plan.file));
        }
        let found_wrong = wrong.len();
        let (mut repeated, mut fresh) = (0, 0);
        let cheap = points.iter().filter(|p| p.decode_counts.frames <= ROUND);
        for p in cheap {
            let stream = stream(SEED, plan.file, &p.weights);
            let again = decode(&mut trials, &p.weights, stream, 0, p.decode_counts.frames);
            repeated += 1;
            if again != p.decode_counts {
                wrong.push(format!(
                    "{}, score {}: {again:?}, but the table has {:?}",
                    plan.file, p.score, p.decode_counts
                ));
            }
        }
        let waterfall = points.iter().filter(|p| {
            let share = f64::from(p.decode_counts.failures()) / f64::from(p.decode_counts.frames);
            (0.003..0.98).contains(&share)
        });
        for p in waterfall.step_by(2) {
            let stream = stream(SEED + 1, plan.file, &p.weights);
            let again = decode(&mut trials, &p.weights, stream, 0, ROUND);
            fresh += 1;
            let (a, b) = wilson(p.decode_counts.failures(), p.decode_counts.frames, CHECK_Z);
            let (c, d) = wilson(again.failures(), again.frames, CHECK_Z);
            if a > d || c > b {
                wrong.push(format!(
                    "{}, score {}: {c:.4} to {d:.4} of codewords fail, but the table has {a:.4} to {b:.4}",
                    plan.file, p.score
                ));
            }
        }
        println!(
            "{}: {repeated} points repeated with the same seed, {fresh} of the waterfall with another: {} wrong",
            plan.file,
            wrong.len() - found_wrong
        );
    }
    for name in Code::NAMES {
        Code::named(name).map_err(|e| format!("{name}: {e}"))?;
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}
