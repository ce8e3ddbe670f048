//! One figure over several drives, which differ in their chips but run the same load.

use super::format::range;

/// The median over drives, and how far they lie apart.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Spread {
    /// Of one value a drive; none where a drive has none.
    pub fn of(values: impl Iterator<Item = Option<f64>>) -> Option<Spread> {
        let mut values: Vec<f64> = values.collect::<Option<_>>()?;
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            1 => values[middle],
            _ => (values.get(middle.checked_sub(1)?)? + values[middle]) / 2.0,
        };
        Some(Spread {
            median,
            low: *values.first()?,
            high: *values.last()?,
        })
    }

    /// From the lowest to the highest: `11.8 … 50.9 ms`.
    pub fn range(&self, show: impl Fn(f64) -> String) -> String {
        range(&show(self.low), &show(self.high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_medians_of_odd_and_even() {
        let of = |values: &[f64]| Spread::of(values.iter().map(|&v| Some(v)));
        let spread = |median, low, high| Some(Spread { median, low, high });
        assert_eq!(of(&[3.0, 1.0, 8.0]), spread(3.0, 1.0, 8.0));
        assert_eq!(of(&[3.0, 1.0, 8.0, 4.0]), spread(3.5, 1.0, 8.0));
        assert_eq!(of(&[2.0]), spread(2.0, 2.0, 2.0));
        assert_eq!(of(&[]), None);
        assert_eq!(Spread::of([Some(1.0), None].into_iter()), None);
    }
}
