//! Contents of superblocks in a steady state, as expectations and as whole numbers.

/// Sizes of the area, in superblocks of the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LowShape {
    /// Superblocks that are not bad: of the area, and of the high wearing one.
    pub(crate) usable: (u32, u32),
    /// Superblocks of the area that are free.
    pub(crate) free: u32,
    /// Superblocks of the area without settled data, the free ones among them.
    pub(crate) spare: u32,
}

impl LowShape {
    /// Superblocks of the area that hold data.
    pub(super) fn filled(&self) -> u32 {
        self.usable.0.saturating_sub(self.free)
    }
}

/// Contents of superblocks: valid slots by heat class, in the order in which the superblocks were opened.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Counts {
    /// Number of heat classes.
    pub classes: usize,
    /// Valid slots; the classes of a superblock are adjacent.
    pub valid: Vec<u32>,
    /// Number of superblocks opened since each one.
    pub since: Vec<u64>,
    /// Slots programmed per host slot.
    pub amplification: f64,
    /// The region that each superblock lies in.
    pub regions: Vec<Region>,
    /// Whether relocation has filled each superblock.
    pub have_moved: Vec<bool>,
}

/// A region of superblocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Region {
    /// The high wearing area, or the whole drive.
    High,
    /// The low wearing area.
    Low,
}

/// Superblocks of `slots` slots that share `pages` pages: `blocks` of them, and those of the low wearing area `low` beside
/// them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub blocks: u32,
    pub slots: u32,
    pub pages: u64,
    pub low: Option<LowShape>,
}

/// Whole numbers close to `parts`, scaled so that they add up to `total`.
pub(super) fn whole(parts: &[f64], total: u64) -> Vec<u32> {
    let all: f64 = parts.iter().sum();
    let (mut sum, mut given) = (0.0, 0u64);
    let share = |part: &f64| {
        sum += part;
        let until = if all > 0.0 {
            sum / all * total as f64
        } else {
            0.0
        };
        let until = (until.round() as u64).clamp(given, total);
        let n = until - given;
        given = until;
        n as u32
    };
    let mut numbers: Vec<u32> = parts.iter().map(share).collect();
    // The remainder of rounding, or everything if all parts are zero.
    if let Some(last) = numbers.last_mut() {
        *last += (total - given) as u32;
    }
    numbers
}

/// Takes valid slots from superblocks with more than they can hold, and gives them to those with the most
/// room.
pub(super) fn fit(valid: &mut [u32], classes: usize, slots: u32) {
    let mut sums: Vec<u64> = valid
        .chunks_exact(classes)
        .map(|block| block.iter().map(|&n| n as u64).sum())
        .collect();
    for from in 0..sums.len() {
        while sums[from] > slots as u64 {
            let of_block = from * classes..(from + 1) * classes;
            let Some(class) = of_block.max_by_key(|&i| valid[i]) else {
                return;
            };
            let class = class % classes;
            let Some(to) = (0..sums.len()).min_by_key(|&to| sums[to]) else {
                return;
            };
            let excess = (sums[from] - slots as u64).min(valid[from * classes + class] as u64);
            let n = excess.min((slots as u64).saturating_sub(sums[to]));
            if n == 0 {
                return;
            }
            valid[from * classes + class] -= n as u32;
            valid[to * classes + class] += n as u32;
            sums[from] -= n;
            sums[to] += n;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_numbers_add_up_and_fit() {
        for (parts, total) in [
            (vec![0.5, 0.25, 0.25], 10),
            (vec![0.0, 0.0], 7),
            (vec![1e-9, 3.3, 5.7], 9),
        ] {
            let numbers = whole(&parts, total);
            assert_eq!(numbers.iter().map(|&n| n as u64).sum::<u64>(), total);
        }
        let mut valid = vec![12, 0, 3, 4, 1, 2];
        fit(&mut valid, 2, 10);
        assert_eq!(valid.iter().sum::<u32>(), 22);
        assert!(
            valid.chunks_exact(2).all(|b| b[0] + b[1] <= 10),
            "{valid:?}"
        );
    }
}
