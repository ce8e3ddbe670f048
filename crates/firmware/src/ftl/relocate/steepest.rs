//! Of the superblocks that the host will open, the one that sets the pace of cleaning.

/// Moves that have to be made before the host opens a superblock, and the slots that it writes until then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Asked {
    pub(super) moves: i64,
    pub(super) until: u32,
}

/// Over how many slots of the host moves are spread: cleaning ends some slots before the host opens its superblock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub(super) ahead: u32,
}

impl Spread {
    /// Slots over which moves are spread that have to be made until the host has written `until` slots.
    pub(super) fn over(self, until: u32) -> u32 {
        until.saturating_sub(self.ahead).max(until / 4).max(1)
    }

    /// Whether `one` asks for more moves a slot than `other`.
    fn is_steeper(self, one: Asked, other: Asked) -> bool {
        let [one, other] = [(one, other), (other, one)]
            .map(|(of, against)| of.moves * i64::from(self.over(against.until)));
        one > other
    }
}

/// Where the pages of a stream without a superblock may go to another stream, an opening that is near asks for no more than so many times
/// the moves a slot that later openings ask for. With 4 the longest write of all pairs of schemes holds its bound.
const LATE: i64 = 4;

/// Of the openings of the host's streams, those that ask for the most moves a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steepest {
    spread: Spread,
    /// An opening is near until the host has written so many slots.
    near: u32,
    of_all: Option<Asked>,
    of_far: Option<Asked>,
}

impl Steepest {
    /// Openings are near within half a superblock of `superblock` slots.
    pub(super) fn new(spread: Spread, superblock: u32) -> Steepest {
        Steepest {
            spread,
            near: superblock.div_ceil(2),
            of_all: None,
            of_far: None,
        }
    }

    /// Whether an opening after `until` slots is near.
    pub(super) fn is_near(&self, until: u32) -> bool {
        until < self.near
    }

    /// An opening asks for `moves` moves until the host has written `until` slots.
    pub(super) fn add(&mut self, moves: i64, until: u32) {
        let asked = Asked { moves, until };
        let spread = self.spread;
        let steeper = |than: Option<Asked>| match than {
            Some(than) if !spread.is_steeper(asked, than) => Some(than),
            _ => Some(asked),
        };
        self.of_all = steeper(self.of_all);
        if !self.is_near(until) {
            self.of_far = steeper(self.of_far);
        }
    }

    /// The opening that sets the pace. `room`: slots left in all superblocks that the host fills, if pages of a stream without a superblock
    /// go to another stream. Then the host waits only once all are full, and one stream may go without for a while.
    pub(super) fn that_sets_pace(&self, room: Option<u32>) -> Option<Asked> {
        let (Some(all), Some(far), Some(room)) = (self.of_all, self.of_far, room) else {
            return self.of_all;
        };
        let of_far = Asked {
            moves: LATE * far.moves,
            ..far
        };
        let of_room = Asked { until: room, ..all };
        let most = match self.spread.is_steeper(of_room, of_far) {
            true => of_room,
            false => of_far,
        };
        match self.spread.is_steeper(all, most) {
            true => Some(most),
            false => Some(all),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use firstread_core::Stream;

    use super::*;

    const SUPERBLOCK: u32 = 1024;

    fn steepest(openings: &[(i64, u32)]) -> Steepest {
        let mut steepest = Steepest::new(Spread { ahead: 64 }, SUPERBLOCK);
        openings
            .iter()
            .for_each(|(moves, until)| steepest.add(*moves, *until));
        steepest
    }

    /// The opening sets the pace that asks for the most moves a slot; of equal ones the first.
    #[test]
    fn model_the_opening_that_asks_for_most_sets_the_pace() {
        for seed in 0..200 {
            let s = Stream::new(seed).named("openings");
            let openings: Vec<(i64, u32)> = (0..1 + s.at(0).below(8))
                .map(|i| {
                    let moves = s.at(1).at(i).below(5_000) as i64;
                    (moves, s.at(2).at(i).below(4_000) as u32)
                })
                .collect();
            let rate = |(moves, until): (i64, u32)| {
                moves as f64 / f64::from(Spread { ahead: 64 }.over(until))
            };
            let first =
                openings.iter().copied().reduce(
                    |best, next| {
                        if rate(next) > rate(best) { next } else { best }
                    },
                );
            let found = steepest(&openings).that_sets_pace(None);
            let found = found.map(|asked| (asked.moves, asked.until));
            assert_eq!(found, first, "seed {seed}");
        }
        assert_eq!(steepest(&[]).that_sets_pace(None), None);
    }

    /// An opening that is near sets a pace of four times that of later ones at most, if there is room elsewhere: as much room as the moves
    /// need at that pace.
    #[test]
    fn formula_an_opening_that_is_late_waits_where_there_is_room() {
        // One move a slot for the later opening.
        let far = (960, SUPERBLOCK);
        let rate = |near: (i64, u32), room: Option<u32>| {
            let asked = steepest(&[near, far]).that_sets_pace(room).unwrap();
            asked.moves * 100 / i64::from(Spread { ahead: 64 }.over(asked.until))
        };
        assert_eq!(rate((900, 0), None), 90_000);
        assert_eq!(rate((900, 0), Some(2_000)), 400);
        // Within four times the pace nothing changes.
        assert_eq!(rate((900, 364), Some(2_000)), 300);
        assert_eq!(
            rate((900, 264), Some(2_000)),
            400,
            "{:?}",
            rate((900, 264), None)
        );
        // All superblocks of the host will be full before the moves are made at that pace.
        assert_eq!(rate((900, 0), Some(164)), 900);
        assert_eq!(rate((900, 0), Some(0)), 90_000);
        // Nothing is known of later openings.
        let alone = steepest(&[(900, 0)]).that_sets_pace(Some(2_000));
        assert_eq!(
            alone,
            Some(Asked {
                moves: 900,
                until: 0
            })
        );
    }

    /// Cleaning ends some slots before the opening, and moves are spread over one slot at least.
    #[test]
    fn formula_moves_are_spread_over_less_than_the_slots_until_the_opening() {
        let spread = Spread { ahead: 64 };
        let over = [0, 1, 60, 84, 88, 100, 1_000].map(|until| spread.over(until));
        assert_eq!(over, [1, 1, 15, 21, 24, 36, 936]);
    }
}
