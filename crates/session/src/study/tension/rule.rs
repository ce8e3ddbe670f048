//! When a row holds: the paper measured one drive, so its band has to meet the interval in which one new drive lies.

use super::super::points::Estimate;

/// What a row comes to in a case: its numbers over drives, part by part.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    pub parts: Vec<Part>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// The number of each drive.
    pub drives: Vec<f64>,
    /// Mean over drives.
    pub mean: f64,
    /// The interval in which one new drive lies, 19 times out of 20.
    pub new_drive: [f64; 2],
    pub band: [f64; 2],
}

/// How a row holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Holds {
    /// The mean over drives is in the band.
    Mean,
    /// The band meets the interval of one new drive, and the mean is outside.
    Spread,
    No,
}

/// The interval of one new drive: `mean ± t s √(1 + 1/n)`, from the interval of the mean, `mean ± t s √(1/n)`, by √(n + 1).
/// A single drive has none, and lies where it lies.
pub fn of_new_drive(e: &Estimate) -> [f64; 2] {
    let half = e.half.unwrap_or(0.0) * libm::sqrt(e.drives as f64 + 1.0);
    [e.mean - half, e.mean + half]
}

impl Part {
    /// Of the numbers of `drives`; none where there is none, or one is no number.
    pub fn new(drives: Vec<f64>, band: [f64; 2]) -> Option<Part> {
        let e = Estimate::of(&drives).filter(|e| e.mean.is_finite())?;
        Some(Part {
            drives,
            mean: e.mean,
            new_drive: of_new_drive(&e),
            band,
        })
    }

    fn holds(&self) -> Holds {
        let [low, high] = self.band;
        if (low..=high).contains(&self.mean) {
            return Holds::Mean;
        }
        match self.new_drive[0] <= high && self.new_drive[1] >= low {
            true => Holds::Spread,
            false => Holds::No,
        }
    }

    /// How far the interval of a new drive is from the band, in halves of the band; 0 where they meet. Of a band without
    /// width: in its value.
    fn miss(&self) -> f64 {
        let [low, high] = self.band;
        let gap = (low - self.new_drive[1]).max(self.new_drive[0] - high);
        let unit = match high > low {
            true => (high - low) / 2.0,
            false => high.abs().max(f64::MIN_POSITIVE),
        };
        gap.max(0.0) / unit
    }
}

impl Judged {
    /// As its worst part.
    pub fn holds(&self) -> Holds {
        let all = self.parts.iter().map(Part::holds);
        all.max().unwrap_or(Holds::No)
    }

    /// That of its worst part.
    pub fn miss(&self) -> f64 {
        self.parts.iter().map(Part::miss).fold(0.0, f64::max)
    }

    /// The part that is furthest off, or the first where all hold.
    pub fn worst(&self) -> Option<&Part> {
        let parts = self.parts.iter();
        parts.reduce(|a, b| if b.miss() > a.miss() { b } else { a })
    }
}

#[cfg(test)]
mod tests {
    use firstread_core::random::Stream;

    use super::*;

    /// Three drives with 1, 2 and 3: the mean's interval is 4.303 / √3 = 2.484 either way, that of a new drive twice as much.
    #[test]
    fn formula_the_interval_of_one_new_drive() {
        let e = Estimate::of(&[1.0, 2.0, 3.0]).unwrap();
        let [low, high] = of_new_drive(&e);
        assert!(
            (low + 2.968).abs() < 2e-3 && (high - 6.968).abs() < 2e-3,
            "{low} {high}"
        );
        let one = Estimate::of(&[7.0]).unwrap();
        assert_eq!(of_new_drive(&one), [7.0, 7.0]);
        let part = |band| Judged {
            parts: Part::new(vec![1.0, 2.0, 3.0], band).into_iter().collect(),
        };
        for (band, holds, miss) in [
            ([1.5, 2.5], Holds::Mean, 0.0),
            ([6.0, 9.0], Holds::Spread, 0.0),
            ([8.968, 10.968], Holds::No, 2.0),
            ([-4.968, -4.0], Holds::No, 1.032 / 0.484),
        ] {
            let judged = part(band);
            assert_eq!(judged.holds(), holds, "{band:?}");
            assert!(
                (judged.miss() - miss).abs() < 5e-3,
                "{band:?}: {}",
                judged.miss()
            );
        }
    }

    /// Of normal drives, nineteen new ones in twenty lie in the interval, whatever their mean and spread.
    #[test]
    fn model_a_new_drive_lies_in_its_interval_at_the_nominal_rate() {
        let stream = Stream::new(1).named("drives");
        // Twelve uniform numbers: normal to within what counts here.
        let normal = |i: u64| {
            let of = |k: u64| stream.at(i).draw(k) as f64 / u64::MAX as f64;
            (0..12).map(of).sum::<f64>() - 6.0
        };
        let trials = 8_000u64;
        let within = (0..trials).filter(|trial| {
            let drive = |k: u64| 40.0 + 3.0 * normal(4 * trial + k);
            let e = Estimate::of(&[drive(0), drive(1), drive(2)]).unwrap();
            let [low, high] = of_new_drive(&e);
            (low..=high).contains(&drive(3))
        });
        let share = within.count() as f64 / trials as f64;
        assert!((share - 0.95).abs() < 0.01, "seed 1: {share}");
    }
}
