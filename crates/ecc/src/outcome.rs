//! Failures and iterations by error weight.
//!
//! The committed tables hold measured counts. Everything else is derived here when a code is built. At each
//! measured weight the iterations give a survival function `S(k) = P(more than k iterations)`; a failure
//! counts as infinitely many. For each `k` the measured points are made monotone in the weight (pool adjacent
//! violators) and joined by straight lines in the logit. The curve is continued beyond the outermost points
//! that have at least [`MIN_COUNT`] events (and non-events), along the line through the outermost point and
//! the fourth from it.
//!
//! This line is the rule for weights too rare to measure, and its values are extrapolations
//! ([`Outcomes::measured_from`] tells where they begin). The logit bends downward toward low weights, so
//! within the waterfall the line errs on the side of failures. An error floor below the line would not be
//! seen: the lowest measured points agree with the line within their 99.9 % intervals, which for `ldpc-1k`
//! (soft, 3 failures in 2 million) leaves room for a factor of ten.

use alloc::vec::Vec;
use core::fmt;

use crate::ldpc::MAX_ITERATIONS;
use crate::measure::DecodeCounts;
use crate::soft::SoftWeights;
use crate::verdict::Verdict;

/// Number of events that a point needs in order to support an extrapolation.
pub const MIN_COUNT: u32 = 10;

/// Number of points that determine the slope of an extrapolation.
const SPAN: usize = 4;

/// Largest score that a table may contain. Rows are kept up to the last score.
const MAX_SCORE: u32 = 4_000;

const K: usize = MAX_ITERATIONS as usize;

/// The committed tables: file name and text.
pub const TABLES: [(&str, &str); 4] = [
    (
        "ldpc-1k-hard.csv",
        include_str!("../tables/ldpc-1k-hard.csv"),
    ),
    (
        "ldpc-1k-soft.csv",
        include_str!("../tables/ldpc-1k-soft.csv"),
    ),
    (
        "ldpc-4k-hard.csv",
        include_str!("../tables/ldpc-4k-hard.csv"),
    ),
    (
        "ldpc-4k-soft.csv",
        include_str!("../tables/ldpc-4k-soft.csv"),
    ),
];

/// Columns of a table. Errors and bits are given by class, the most reliable first: one class for a hard
/// read, two for three senses, three for five. The last column holds `iterations:codewords` pairs for the
/// codewords that were correct. The interval and the mean are for the reader; they follow from the counts.
pub const COLUMNS: &str =
    "score,errors,bits,frames,failed,undetected,failed_low,failed_high,mean_iterations,right_after";

/// One line of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// Error weight of a hard read, or score of a soft read: [`SoftWeights::score`].
    pub score: u32,
    /// The errors that were drawn.
    pub weights: SoftWeights,
    /// How many codewords with this score were decoded, and how that ended.
    pub decode_counts: DecodeCounts,
}

/// Why a table of outcomes does not parse.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableError {
    /// Line number, from 1.
    pub line: u32,
    /// What the line has that a table cannot have.
    pub what: TableFault,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "outcome table, line {}: {}", self.line, self.what)
    }
}

impl core::error::Error for TableError {}

/// What is wrong with a line of a table of outcomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableFault {
    /// The first line names other columns.
    Header,
    /// There are fewer columns.
    Missing,
    /// A count is not a whole number.
    Count,
    /// There are more classes than a soft read of five senses has.
    TooManyClasses,
    /// Errors and bits are of other classes, or of none.
    Classes,
    /// The score is above that of any code.
    ScoreTooLarge,
    /// The score is not that of its errors and bits.
    Score,
    /// The score is not above that of the point before.
    Order,
    /// A pair of the last column is not written `iterations:codewords`.
    Pair,
    /// There are more iterations than the decoder runs.
    Iterations,
    /// Codewords right and failed do not add up to the frames.
    Frames,
    /// The table ends with fewer than two points.
    FewPoints,
}

impl fmt::Display for TableFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TableFault::Header => "the columns are not those of an outcome table",
            TableFault::Missing => "columns are missing",
            TableFault::Count => "a count is not a whole number",
            TableFault::TooManyClasses => "more classes than five senses tell apart",
            TableFault::Classes => "errors and bits are not of the same classes",
            TableFault::ScoreTooLarge => "the score is larger than any code's",
            TableFault::Score => "the score is not that of its errors and bits",
            TableFault::Order => "the score does not rise",
            TableFault::Pair => "a pair of the last column is not written iterations:codewords",
            TableFault::Iterations => "more iterations than the decoder runs",
            TableFault::Frames => "codewords right and failed do not add up to the frames",
            TableFault::FewPoints => "fewer than two points",
        })
    }
}

/// Reads the points of a table.
pub fn parse_points(text: &str) -> Result<Vec<Point>, TableError> {
    let mut points: Vec<Point> = Vec::new();
    let mut header = false;
    let mut line = 0;
    for row in text.lines() {
        line += 1;
        let fail = |what| TableError { line, what };
        if row.starts_with('#') || row.is_empty() {
            continue;
        }
        if !header {
            header = true;
            if row != COLUMNS {
                return Err(fail(TableFault::Header));
            }
            continue;
        }
        let point = parse_point(row).map_err(fail)?;
        let score = point.weights.exact_score();
        if points
            .last()
            .is_some_and(|p| p.weights.exact_score() >= score)
        {
            return Err(fail(TableFault::Order));
        }
        points.push(point);
    }
    if points.len() < 2 {
        let what = TableFault::FewPoints;
        return Err(TableError { line, what });
    }
    Ok(points)
}

fn parse_point(row: &str) -> Result<Point, TableFault> {
    let mut fields = row.split(',');
    let mut field = || fields.next().ok_or(TableFault::Missing);
    let count = |text: &str| text.parse::<u32>().map_err(|_| TableFault::Count);
    let classes = |text: &str| -> Result<(u8, [u32; 3]), TableFault> {
        let (mut n, mut counts) = (0, [0; 3]);
        for one in text.split_whitespace() {
            let place = counts.get_mut(usize::from(n));
            *place.ok_or(TableFault::TooManyClasses)? = count(one)?;
            n += 1;
        }
        Ok((n, counts))
    };
    let score = count(field()?)?;
    let ((classes, errors), (same, bits)) = (classes(field()?)?, classes(field()?)?);
    if classes != same || classes == 0 {
        return Err(TableFault::Classes);
    }
    let weights = SoftWeights {
        classes,
        errors,
        bits,
    };
    if score > MAX_SCORE {
        return Err(TableFault::ScoreTooLarge);
    }
    if errors.iter().zip(bits).any(|(&e, b)| e > b) || weights.score() != score {
        return Err(TableFault::Score);
    }
    let (frames, failed, undetected) = (count(field()?)?, count(field()?)?, count(field()?)?);
    let mut decode_counts = DecodeCounts {
        frames,
        undetected,
        ..DecodeCounts::default()
    };
    for pair in fields.nth(3).ok_or(TableFault::Missing)?.split_whitespace() {
        let (k, n) = pair.split_once(':').ok_or(TableFault::Pair)?;
        let k: usize = k.parse().map_err(|_| TableFault::Pair)?;
        let after = decode_counts.after.get_mut(k);
        *after.ok_or(TableFault::Iterations)? = n.parse().map_err(|_| TableFault::Pair)?;
    }
    let right: u64 = decode_counts.after.iter().map(|&n| u64::from(n)).sum();
    if frames == 0 || right + u64::from(failed) != u64::from(frames) {
        return Err(TableFault::Frames);
    }
    Ok(Point {
        score,
        weights,
        decode_counts,
    })
}

/// Outcomes by score, one row per score.
#[derive(Clone, Debug)]
pub struct Outcomes {
    rows: Vec<Row>,
    measured_from: u32,
}

/// A probability below this, of failure or of success, counts as zero. In units of 2^-64.
const CERTAIN: u64 = (1e-5 * TWO_64) as u64;

/// Number of entries in the table of search starts, indexed by the highest bits of a draw.
const STARTS: usize = 16;

/// Outcomes at one score. What most codewords need is in one cache line: the failure probability, and the
/// first iterations.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Row {
    /// `P(fail)` in units of 2^-64.
    fail: u64,
    /// Minimum number of iterations for the draws with each value of the highest bits.
    start: [u8; STARTS],
    /// `P(more than k iterations)` at index `k`, in units of 2^-32, in descending order. The last two entries
    /// are never exceeded.
    survival: [u32; 32],
}

impl Row {
    const NONE: Row = Row {
        fail: 0,
        start: [0; STARTS],
        survival: [0; 32],
    };

    /// Whether a codeword may either fail or succeed.
    #[inline(always)]
    const fn is_open(&self) -> bool {
        self.fail.wrapping_sub(CERTAIN) < u64::MAX - 2 * CERTAIN
    }

    /// Iterations of a codeword that succeeds: the number of entries of `survival` above its draw.
    #[inline]
    fn iterations(&self, draw: u64) -> u32 {
        let mut k = u32::from(self.start[(draw >> 60) as usize % STARTS]);
        let draw = (draw >> 32) as u32;
        // Two at a time: which of the two it is depends on chance, so a branch would be mispredicted.
        loop {
            let [one, two] = [k, k + 1].map(|k| draw < self.survival[k as usize % 32]);
            k += u32::from(one) + u32::from(two);
            if !two {
                return k;
            }
        }
    }
}

impl Outcomes {
    /// Builds the outcomes from the text of a table.
    pub fn parse(text: &str) -> Result<Outcomes, TableError> {
        Ok(Outcomes::from_points(&parse_points(text)?))
    }

    /// Builds the outcomes from measured points in ascending order of score. Beyond the last point every
    /// codeword fails.
    fn from_points(points: &[Point]) -> Outcomes {
        let top = points.last().map_or(0, |p| p.score) as usize;
        let mut rows = alloc::vec![Row::NONE; top + 1];
        let mut measured_from = 0;
        // From the last iteration down, so that S(k) is never below S(k + 1).
        let mut above = alloc::vec![0.0; top + 1];
        for k in (0..=K).rev() {
            let curve = Curve::fit(points, k);
            let mut before = 0.0f64;
            for (score, above) in above.iter_mut().enumerate().skip(1) {
                let p = curve.at(score as f64).max(*above).max(before);
                (*above, before) = (p, p);
                if k == K {
                    rows[score].fail = (p * TWO_64) as u64;
                } else {
                    rows[score].survival[k] = (p * TWO_32) as u32;
                }
            }
            if k == K {
                measured_from = curve.knots.first().map_or(0, |knot| knot.0 as u32);
            }
        }
        for row in &mut rows {
            for (bits, start) in (0..).zip(&mut row.start) {
                let last = (bits << 28) | 0x0fff_ffff;
                *start = row.survival.iter().filter(|&&s| last < s).count() as u8;
            }
        }
        Outcomes {
            rows,
            measured_from,
        }
    }

    /// Verdict on a codeword with score `score` and `errors` wrong bits. A codeword fails if its draw lies
    /// below `P(fail)`. The closer the draw comes to that, the more iterations the codeword takes. `persistent_draw` is
    /// called for another draw if the score leaves open whether the codeword fails.
    #[inline(always)] // Its verdict then stays in registers.
    pub fn judge(
        &self,
        score: u32,
        errors: u32,
        draw: u64,
        persistent_draw: impl FnOnce() -> u64,
    ) -> Verdict {
        const FAILED: Verdict = Verdict {
            ok: false,
            corrected: 0,
            iterations: MAX_ITERATIONS as u32,
        };
        let Some(row) = self.rows.get(score as usize) else {
            return FAILED;
        };
        let draw = if row.is_open() {
            persistent_draw()
        } else {
            draw
        };
        if draw < row.fail {
            return FAILED;
        }
        Verdict {
            ok: true,
            corrected: errors,
            iterations: row.iterations(draw),
        }
    }

    /// `P(fail)` at `score`.
    pub fn failure_probability(&self, score: u32) -> f64 {
        match self.rows.get(score as usize) {
            Some(row) => row.fail as f64 / TWO_64,
            None => 1.0,
        }
    }

    /// Mean iterations of the codewords with score `score` that succeed; none if all fail.
    pub fn mean_iterations(&self, score: u32) -> Option<f64> {
        let row = self.rows.get(score as usize)?;
        let fail = self.failure_probability(score);
        let more = row.survival[..K].iter().map(|&s| f64::from(s) / TWO_32);
        let sum: f64 = more.map(|s| (s - fail).max(0.0)).sum();
        (fail < 1.0).then(|| sum / (1.0 - fail))
    }

    /// The score below which failure probabilities are extrapolated.
    pub fn measured_from(&self) -> u32 {
        self.measured_from
    }
}

const TWO_32: f64 = 4_294_967_296.0;
const TWO_64: f64 = 18_446_744_073_709_551_616.0;

/// `P(more than k iterations)` as a function of score, for one `k`.
struct Curve {
    /// Score and logit, in ascending order of score.
    knots: Vec<(f64, f64)>,
}

/// Points that share a probability.
struct Pool {
    events: f64,
    frames: f64,
    /// Range of the points.
    first: usize,
    end: usize,
}

impl Curve {
    fn fit(points: &[Point], k: usize) -> Curve {
        let mut pools: Vec<Pool> = Vec::new();
        for (i, p) in points.iter().enumerate() {
            let ended: u32 = p.decode_counts.after[..=k].iter().sum();
            let mut pool = Pool {
                events: f64::from(p.decode_counts.frames - ended),
                frames: f64::from(p.decode_counts.frames),
                first: i,
                end: i + 1,
            };
            while let Some(last) = pools.last()
                && last.events * pool.frames > pool.events * last.frames
            {
                pool.events += last.events;
                pool.frames += last.frames;
                pool.first = last.first;
                pools.pop();
            }
            pools.push(pool);
        }
        let min = f64::from(MIN_COUNT);
        let trusted = |p: &&Pool| p.events >= min && p.frames - p.events >= min;
        let knots = |pools: &mut dyn Iterator<Item = &Pool>, add: f64| -> Vec<(f64, f64)> {
            let each = pools.flat_map(|pool| {
                let odds = (pool.events + add) / (pool.frames - pool.events + add);
                let points = &points[pool.first..pool.end];
                points
                    .iter()
                    .map(move |p| (p.weights.exact_score(), libm::log(odds)))
            });
            each.collect()
        };
        let mut curve = Curve {
            knots: knots(&mut pools.iter().filter(trusted), 0.0),
        };
        if curve.knots.len() < 2 {
            // If the probability goes from 0 to 1 between two points, half a count replaces a count of zero.
            curve.knots = knots(&mut pools.iter(), 0.5);
        }
        curve
    }

    fn at(&self, score: f64) -> f64 {
        let knots = &self.knots;
        let last = knots.len() - 1;
        let (a, b) = match knots.iter().position(|knot| knot.0 >= score) {
            Some(0) => (knots[0], knots[last.min(SPAN - 1)]),
            Some(i) => (knots[i - 1], knots[i]),
            None => (knots[last], knots[last.saturating_sub(SPAN - 1)]),
        };
        let slope = (b.1 - a.1) / (b.0 - a.0);
        let logit = a.1 + slope * (score - a.0);
        1.0 / (1.0 + libm::exp(-logit))
    }
}

/// `Σ_w Binomial(n, p)(w) f(w)`.
pub fn mix(n: u32, p: f64, f: impl Fn(u32) -> f64) -> f64 {
    if p <= 0.0 {
        return f(0);
    }
    if p >= 1.0 {
        return f(n);
    }
    let (log_p, log_q) = (libm::log(p), libm::log1p(-p));
    let mut log_pmf = f64::from(n) * log_q;
    let mut sum = 0.0;
    for w in 0..=n {
        // Smaller terms underflow to zero.
        if log_pmf > -700.0 {
            sum += libm::exp(log_pmf) * f(w);
        }
        log_pmf += libm::log(f64::from(n - w) / f64::from(w + 1)) + log_p - log_q;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use firstread_core::Stream;

    #[test]
    fn fuzz_damaged_tables_are_refused_or_still_monotone() {
        let text = TABLES[0].1;
        for seed in 0..400 {
            let s = Stream::new(seed).named("damage");
            let mut bytes = text.as_bytes().to_vec();
            for i in 0..1 + s.at(0).below(3) {
                let at = s.at(1).at(i).below(bytes.len() as u64) as usize;
                let with = b"0123456789,: \n#x-"[s.at(2).at(i).below(17) as usize];
                bytes[at] = with;
            }
            let damaged = String::from_utf8_lossy(&bytes);
            if let Ok(outcomes) = Outcomes::parse(&damaged) {
                for w in 1..outcomes.rows.len() {
                    assert!(
                        outcomes.rows[w - 1].fail <= outcomes.rows[w].fail,
                        "seed {seed}, weight {w}"
                    );
                }
            }
        }
    }

    #[test]
    fn formula_rows_only_rise_with_the_weight() {
        for (file, text) in TABLES {
            let o = Outcomes::parse(text).unwrap_or_else(|e| panic!("{file}: {e}"));
            for w in 1..o.rows.len() {
                assert!(
                    o.rows[w - 1].fail <= o.rows[w].fail,
                    "{file}: failures at {w}"
                );
                for k in 0..K {
                    assert!(
                        o.rows[w - 1].survival[k] <= o.rows[w].survival[k],
                        "{file}: {k} iterations at {w}"
                    );
                    assert!(k == 0 || o.rows[w].survival[k] <= o.rows[w].survival[k - 1]);
                }
            }
        }
    }

    #[test]
    fn formula_the_extrapolation_errs_toward_failures() {
        // Below the last trusted point, the line stays above what the measured points allow.
        for (file, text) in TABLES {
            let o = Outcomes::parse(text).unwrap_or_else(|e| panic!("{file}: {e}"));
            let points = parse_points(text).unwrap_or_else(|e| panic!("{file}: {e}"));
            let below = points.iter().filter(|p| p.score < o.measured_from());
            for p in below {
                let (low, _) =
                    crate::measure::wilson(p.decode_counts.failures(), p.decode_counts.frames, 3.3);
                let line = o.failure_probability(p.score);
                assert!(low <= line, "{file}, {}: {line} below {low}", p.score);
            }
        }
    }

    /// A table of hard reads: score, failed of the frames, and what the others took.
    fn table(rows: &[(u32, u32, u32, &str)]) -> String {
        let mut text = std::format!("# made by hand\n{COLUMNS}\n");
        for (score, failed, frames, right) in rows {
            text += &std::format!("{score},{score},9216,{frames},{failed},0,0,0,0,{right}\n");
        }
        text
    }

    fn outcomes(rows: &[(u32, u32, u32, &str)]) -> Outcomes {
        Outcomes::parse(&table(rows)).unwrap_or_else(|e| panic!("{e}"))
    }

    fn near(is: f64, expected: f64) {
        assert!((is / expected - 1.0).abs() < 1e-9, "{is}, not {expected}");
    }

    #[test]
    fn formula_between_points_the_odds_of_failure_are_a_power_law() {
        let o = outcomes(&[
            (100, 100, 1000, "5:900"),
            (110, 200, 1000, "5:800"),
            (120, 500, 1000, "5:500"),
            (130, 800, 1000, "5:200"),
            (140, 900, 1000, "5:100"),
            (170, 1000, 1000, ""),
        ]);
        for (score, failed) in [(100, 0.1), (110, 0.2), (120, 0.5), (130, 0.8), (140, 0.9)] {
            near(o.failure_probability(score), failed);
        }
        // Halfway between odds of 1 to 9 and 1 to 4 they are 1 to 6, and between 1 to 4 and 1 to 1 they are 1 to 2.
        near(o.failure_probability(105), 1.0 / 7.0);
        near(o.failure_probability(115), 1.0 / 3.0);
        // Beyond them the odds go on as from the outermost point to the fourth: by 36 in 30. The last point is none of
        // these: too few codewords are right there.
        near(o.failure_probability(70), 1.0 / 325.0);
        near(o.failure_probability(155), 54.0 / 55.0);
        near(o.failure_probability(170), 324.0 / 325.0);
        assert_eq!(o.measured_from(), 100);
        let beyond = (o.failure_probability(171), o.mean_iterations(171));
        assert_eq!(
            beyond,
            (1.0, None),
            "beyond the last point every codeword fails"
        );
        assert_eq!(
            (o.failure_probability(0), o.mean_iterations(0)),
            (0.0, Some(0.0))
        );
        // All that is right is right after five iterations: of no other number was any seen, which counts as half a
        // codeword of 1,001.
        let mean = o.mean_iterations(120).unwrap_or(0.0);
        assert!((mean - 5.0).abs() < 0.01, "{mean}");
    }

    #[test]
    fn formula_points_that_fall_share_their_failures() {
        let o = outcomes(&[
            (10, 100, 1000, "3:900"),
            (20, 400, 1000, "3:600"),
            (30, 300, 1000, "3:700"),
            (40, 800, 4000, "3:3200"),
            (50, 800, 1000, "3:200"),
        ]);
        near(o.failure_probability(10), 0.1);
        for score in [20, 25, 30, 33, 40] {
            near(o.failure_probability(score), 1500.0 / 6000.0);
        }
        near(o.failure_probability(50), 0.8);
    }

    #[test]
    fn formula_a_point_of_fewer_than_ten_events_supports_no_line() {
        // Nine failures are no support, ten are: the line below begins at 110.
        let rows = [
            (100, 9, 1000, "3:991"),
            (110, 10, 1000, "3:990"),
            (120, 100, 1000, "3:900"),
            (130, 990, 1000, "3:10"),
            (140, 991, 1000, "3:9"),
        ];
        let o = outcomes(&rows);
        assert_eq!(o.measured_from(), 110);
        near(o.failure_probability(110), 0.01);
        near(o.failure_probability(130), 0.99);
        // From 110 to 130, the outermost of three points, odds grow by 99^2.
        near(o.failure_probability(100), 1.0 / (1.0 + 99.0 * 99.0));
        // Points of equal shares are not put together: nine failures each are no support.
        let o = outcomes(&[
            (90, 9, 1000, "3:991"),
            (100, 9, 1000, "3:991"),
            (110, 10, 1000, "3:990"),
            (120, 100, 1000, "3:900"),
            (130, 990, 1000, "3:10"),
        ]);
        assert_eq!(o.measured_from(), 110);
    }

    #[test]
    fn formula_two_supported_points_make_a_line_and_one_makes_half_counts() {
        let o = outcomes(&[(10, 100, 1000, "3:900"), (20, 900, 1000, "3:100")]);
        near(o.failure_probability(10), 0.1);
        near(o.failure_probability(15), 0.5);
        let o = outcomes(&[(10, 0, 1000, "3:1000"), (20, 1000, 1000, "")]);
        near(o.failure_probability(10), 0.5 / 1001.0);
        near(o.failure_probability(15), 0.5);
        near(o.failure_probability(20), 1000.5 / 1001.0);
    }

    #[test]
    fn formula_iterations_are_those_that_a_share_of_codewords_took() {
        // At 20, two in ten take two iterations, three take four, and five fail.
        let o = outcomes(&[
            (10, 100, 1000, "2:600 4:300"),
            (20, 500, 1000, "2:200 4:300"),
            (30, 900, 1000, "2:40 4:60"),
            (400, 1000, 1000, ""),
        ]);
        let of = |share: f64| {
            let verdict = o.judge(20, 20, (share * TWO_64) as u64, || (share * TWO_64) as u64);
            verdict.ok.then_some(verdict.iterations)
        };
        assert_eq!((of(0.0), of(0.2), of(0.499)), (None, None, None));
        assert_eq!((of(0.501), of(0.7), of(0.799)), (Some(4), Some(4), Some(4)));
        assert_eq!((of(0.801), of(0.9), of(0.998)), (Some(2), Some(2), Some(2)));
        let mean = o.mean_iterations(20).unwrap_or(0.0);
        assert!(
            (mean - (0.2 * 2.0 + 0.3 * 4.0) / 0.5).abs() < 0.01,
            "{mean}"
        );
        // At 400 the odds are beyond what a float tells from certainty.
        assert_eq!(
            (o.failure_probability(400), o.mean_iterations(400)),
            (1.0, None)
        );
        let failed = o.judge(20, 20, 0, || 0);
        assert_eq!(
            (failed.corrected, failed.iterations),
            (0, u32::from(MAX_ITERATIONS))
        );
        assert_eq!(o.judge(20, 17, u64::MAX, || u64::MAX).corrected, 17);
        assert!(!o.judge(401, 401, u64::MAX, || u64::MAX).ok);
        let clean = o.judge(0, 0, 0, || 0);
        assert_eq!(
            (clean.ok, clean.iterations),
            (true, 0),
            "no draw makes a clean word fail"
        );
    }

    /// The other draw is asked for where the score leaves the outcome open, and it decides there.
    #[test]
    fn sequence_the_draw_that_persists_decides_where_the_outcome_is_open() {
        let o = Outcomes::parse(TABLES[0].1).unwrap_or_else(|e| panic!("{e}"));
        let mut counts = [0; 2];
        for score in 0..o.rows.len() as u32 {
            let p = o.failure_probability(score);
            let open = (1e-5..1.0 - 1e-5).contains(&p);
            let mut asked = false;
            let verdict = o.judge(score, score, u64::MAX, || {
                asked = true;
                0
            });
            assert_eq!(asked, open, "{score}: {p}");
            // Of a score that is certain, the least draw but none would change nothing.
            assert_eq!(verdict.ok, !open && p < 0.5, "{score}: {p}");
            counts[usize::from(open)] += 1;
        }
        assert!(counts.iter().all(|&n| n > 10), "{counts:?}");
    }

    /// The search for the iterations of a draw, against a count over all of a row, at both ends of each of its bins.
    #[test]
    fn model_the_search_for_iterations_counts_what_is_above_the_draw() {
        for (file, text) in TABLES {
            let o = Outcomes::parse(text).unwrap_or_else(|e| panic!("{file}: {e}"));
            for (score, row) in o.rows.iter().enumerate() {
                let count = |draw: u64| {
                    let above = row
                        .survival
                        .iter()
                        .filter(|&&s| (draw >> 32) < u64::from(s));
                    above.count() as u32
                };
                for bin in 0..STARTS as u64 {
                    let (first, last) = (bin << 60, bin << 60 | u64::MAX >> 4);
                    for draw in [first, first + (1 << 59), last] {
                        assert_eq!(row.iterations(draw), count(draw), "{file} {score} {draw:x}");
                    }
                    // The search begins at what all draws of the bin need.
                    assert_eq!(
                        u32::from(row.start[bin as usize]),
                        count(last),
                        "{file} {score}"
                    );
                }
            }
        }
    }

    #[test]
    fn formula_a_table_that_does_not_parse_names_line_and_fault() {
        const GOOD: &str = "10,10,9216,100,50,0,0,0,0,3:30 4:20";
        const NEXT: &str = "4000,4000,9216,100,90,1,0,0,0,5:10";
        let text = |rows: &[&str]| {
            let mut text = std::format!("# a comment\n\n{COLUMNS}\n");
            for row in rows {
                text += &std::format!("{row}\n");
            }
            text
        };
        let points = parse_points(&text(&[GOOD, "# between", NEXT]));
        let points = points.unwrap_or_else(|e| panic!("{e}"));
        let [first, last] = points.as_slice() else {
            panic!("{points:?}");
        };
        assert_eq!(
            (first.score, first.weights.errors, first.weights.bits[0]),
            (10, [10, 0, 0], 9216)
        );
        assert_eq!(
            (first.weights.classes, first.decode_counts.frames),
            (1, 100)
        );
        assert_eq!(first.decode_counts.after[3..5], [30, 20]);
        assert_eq!((last.score, last.decode_counts.undetected), (4000, 1));
        for (row, fault) in [
            ("11,11", TableFault::Missing),
            ("11,11,9216,100,50,0,0,0,0", TableFault::Missing),
            ("x,11,9216,100,50,0,0,0,0,3:50", TableFault::Count),
            ("11,1x,9216,100,50,0,0,0,0,3:50", TableFault::Count),
            ("11,11,9216,-1,50,0,0,0,0,3:50", TableFault::Count),
            (
                "11,1 2 3 4,9216,100,50,0,0,0,0,3:50",
                TableFault::TooManyClasses,
            ),
            ("11,11,9000 216,100,50,0,0,0,0,3:50", TableFault::Classes),
            ("11,,,100,50,0,0,0,0,3:50", TableFault::Classes),
            (
                "4001,4001,9216,100,50,0,0,0,0,3:50",
                TableFault::ScoreTooLarge,
            ),
            ("12,11,9216,100,50,0,0,0,0,3:50", TableFault::Score),
            ("11,11,10,100,50,0,0,0,0,3:50", TableFault::Score),
            (GOOD, TableFault::Order),
            ("9,9,9216,100,50,0,0,0,0,3:50", TableFault::Order),
            ("11,11,9216,100,50,0,0,0,0,3-50", TableFault::Pair),
            ("11,11,9216,100,50,0,0,0,0,x:50", TableFault::Pair),
            ("11,11,9216,100,50,0,0,0,0,3:x", TableFault::Pair),
            ("11,11,9216,100,50,0,0,0,0,31:50", TableFault::Iterations),
            ("11,11,9216,100,50,0,0,0,0,3:49", TableFault::Frames),
            ("11,11,9216,0,0,0,0,0,0,", TableFault::Frames),
        ] {
            let error = parse_points(&text(&[GOOD, row, NEXT])).err();
            let expected = TableError {
                line: 5,
                what: fault,
            };
            assert_eq!(error, Some(expected), "{row}");
        }
        // All bits may be wrong.
        assert!(parse_points(&text(&[GOOD, "11,11,11,100,50,0,0,0,0,3:50"])).is_ok());
        for (text, line, what) in [
            ("", 0, TableFault::FewPoints),
            (text(&[GOOD]).as_str(), 4, TableFault::FewPoints),
            ("# a comment\nscore,errors", 2, TableFault::Header),
        ] {
            assert_eq!(
                parse_points(text).err(),
                Some(TableError { line, what }),
                "{text}"
            );
        }
    }

    #[test]
    fn golden_the_text_of_an_error_names_the_line() {
        let error = TableError {
            line: 7,
            what: TableFault::Order,
        };
        let text = std::format!("{error}");
        assert_eq!(text, "outcome table, line 7: the score does not rise");
    }

    /// Moments and a term of a binomial distribution, and its limits.
    #[test]
    fn formula_a_mixture_is_an_expectation_over_the_binomial() {
        let of = |f: fn(f64) -> f64| mix(20, 0.3, |w| f(f64::from(w)));
        near(of(|_| 1.0), 1.0);
        near(of(|w| w), 6.0);
        near(of(|w| w * w), 6.0 * 0.7 + 36.0);
        // 15,504 ways to choose 5 of 20.
        let five = 15_504.0 * 0.3f64.powi(5) * 0.7f64.powi(15);
        near(of(|w| f64::from(u8::from(w == 5.0))), five);
        // Terms that are too small for a float are left out.
        near(mix(9216, 0.9, f64::from), 9216.0 * 0.9);
        assert_eq!(mix(20, 0.0, f64::from), 0.0);
        assert_eq!(mix(20, 1.0, f64::from), 20.0);
    }
}
