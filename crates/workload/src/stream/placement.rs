//! Where random requests go: an index of a position, drawn or taken from a random map.

use firstread_core::{Permutation, Stream};

use super::distribution::{Normal, Pareto, Zipf};
use super::error::JobError;
use crate::job::Zone;

/// Positions of one direction of a random job.
#[derive(Clone, Debug)]
pub(super) enum Placement {
    /// Every position once a pass, in random order.
    Map {
        order: Permutation,
        next: u64,
        pass: u64,
    },
    Uniform {
        n: u64,
    },
    Zipf {
        ranks: Zipf,
        scatter: Scatter,
    },
    Pareto {
        ranks: Pareto,
        scatter: Scatter,
    },
    Normal {
        ranks: Normal,
        scatter: Scatter,
    },
    Zoned {
        zones: Vec<ZoneBlocks>,
    },
}

/// A permutation that spreads ranks over the region, so that hot blocks are not adjacent,
/// rotated so that a given rank has a given position.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    order: Permutation,
    turn: u64,
}

impl Scatter {
    /// `peak`, the most probable rank, goes to fraction `center` of the region, if one is given.
    pub(super) fn new(n: u64, key: Stream, peak: u64, center: Option<f64>) -> Scatter {
        let order = Permutation::new(n, key);
        let turn = match center {
            Some(center) => {
                let wanted = ((n as f64 * center) as u64).min(n - 1);
                (wanted + n - order.at(peak)) % n
            }
            None => 0,
        };
        Scatter { order, turn }
    }
    fn at(&self, rank: u64) -> u64 {
        let x = self.order.at(rank) + self.turn;
        if x >= self.order.len() {
            x - self.order.len()
        } else {
            x
        }
    }
}

/// A zone: requests whose draw of 0..100 is below `until_percent` go to it.
#[derive(Clone, Debug)]
pub(super) struct ZoneBlocks {
    until_percent: u64,
    start: u64,
    n: u64,
}

/// Zones in positions out of `n`. `unit_bytes` is the distance of two positions for absolute zones,
/// `None` for zones in percent.
pub(super) fn zone_blocks(
    zones: &[Zone],
    n: u64,
    unit_bytes: Option<u64>,
) -> Result<Vec<ZoneBlocks>, JobError> {
    let mut blocks = Vec::with_capacity(zones.len());
    let (mut until_percent, mut sizes) = (0u64, 0u64);
    let edge = |sizes: u64| match unit_bytes {
        Some(unit) => sizes / unit,
        None => (sizes as u128 * n as u128 / 100) as u64,
    };
    for (i, zone) in zones.iter().enumerate() {
        let start = edge(sizes);
        sizes = sizes.saturating_add(zone.size);
        let end = edge(sizes);
        until_percent += u64::from(zone.access_percent);
        if end > n {
            return Err(JobError::Zone {
                number: i + 1,
                fault: "ends past the size",
            });
        }
        if zone.access_percent > 0 && end == start {
            return Err(JobError::Zone {
                number: i + 1,
                fault: "holds no block",
            });
        }
        blocks.push(ZoneBlocks {
            until_percent,
            start,
            n: end - start,
        });
    }
    Ok(blocks)
}

impl Placement {
    /// The position of random request number `count`; `key` is the job's stream of positions.
    #[inline]
    pub(super) fn draw(&mut self, key: Stream, count: u64) -> u64 {
        match self {
            Placement::Map { order, next, pass } => {
                if *next == order.len() {
                    *next = 0;
                    *pass += 1;
                    *order = Permutation::new(order.len(), key.named("pass").at(*pass));
                }
                *next += 1;
                order.at(*next - 1)
            }
            Placement::Uniform { n } => key.at(count).below(*n),
            Placement::Zipf { ranks, scatter } => scatter.at(ranks.draw(key.at(count))),
            Placement::Pareto { ranks, scatter } => scatter.at(ranks.draw(key.at(count))),
            Placement::Normal { ranks, scatter } => scatter.at(ranks.draw(key.at(count))),
            Placement::Zoned { zones } => {
                let key = key.at(count);
                let percent = key.below(100);
                let zone = zones.partition_point(|z| z.until_percent <= percent);
                match zones.get(zone) {
                    Some(zone) => zone.start + key.at(1).below(zone.n),
                    None => 0,
                }
            }
        }
    }
}
