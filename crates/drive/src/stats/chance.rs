//! What parts of a series differ by where they differ by chance.

/// Variance of one of `values`, estimated from the steps between neighbours. Unlike deviations from the mean,
/// steps reveal a drift.
pub(super) fn step_variance(values: &[f64]) -> f64 {
    let steps = values.windows(2).map(|two| {
        let step = two[1] - two[0];
        step * step
    });
    steps.sum::<f64>() / (2 * (values.len() - 1)) as f64
}

/// Deviation of the rank sum of `part` among `values` from its expectation, in standard deviations
/// (Wilcoxon's rank sum): one outlier does not hide a drift of the others.
pub(super) fn rank_sum(values: &[f64], part: &[usize]) -> f64 {
    let n = values.len() as f64;
    let rank = |value: f64| {
        let (below, equal) = values.iter().fold((0.0, 0.0), |(below, equal), &v| {
            (below + f64::from(v < value), equal + f64::from(v == value))
        });
        below + (equal + 1.0) / 2.0
    };
    let ranks: Vec<f64> = values.iter().map(|&value| rank(value)).collect();
    let mean = (n + 1.0) / 2.0;
    let squares: f64 = ranks.iter().map(|r| (r - mean) * (r - mean)).sum();
    let a = part.len() as f64;
    let sum: f64 = part.iter().map(|&i| ranks[i] - mean).sum();
    let variance = squares * a * (n - a) / (n * (n - 1.0));
    if variance == 0.0 {
        return 0.0;
    }
    sum.abs() / variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wilcoxon's rank sum: ranks 1 and 2 of six are 4 below the mean, with a variance of 14/3; equal values share their
    /// mean rank.
    #[test]
    fn formula_rank_sums_are_those_of_wilcoxon() {
        let of = |values: &[f64], part: &[usize]| rank_sum(values, part);
        let six = [3.0, 5.0, 7.0, 11.0, 13.0, 17.0];
        for part in [[0, 1], [5, 4]] {
            assert!((of(&six, &part) - 4.0 / (14.0f64 / 3.0).sqrt()).abs() < 1e-12);
        }
        assert_eq!(of(&six, &[0, 5]), 0.0);
        assert!((of(&[2.0, 2.0, 3.0, 4.0], &[1]) - 1.0 / 1.125f64.sqrt()).abs() < 1e-12);
        assert_eq!(of(&[2.0; 4], &[0, 1]), 0.0);
    }
}
