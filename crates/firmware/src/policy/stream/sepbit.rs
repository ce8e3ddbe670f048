//! `sepbit`: pages whose last version lived shortly are expected to live shortly.
//!
//! Wang et al., "Separating Data via Block Invalidation Time Inference for Write Amplification Reduction in Log-Structured
//! Storage", FAST 2022. A page that overwrites a version which lived for less than ℓ goes to class 1, any other page of the host to class
//! 2. What cleaning moves out of class 1 goes to class 3. Other moved pages go by their age, the slots that the host has written since it wrote
//! the page: below 4 ℓ to class 4, below 16 ℓ to class 5, the rest to class 6. ℓ is the mean life of the 16 superblocks of class 1 that were
//! cleaned last. A life is that from the first page of a superblock to its cleaning.
//!
//! The paper keeps the time of each write with the page on flash, and those of the last writes in a queue in memory. Here both are taken
//! from the superblock: pages of the host are dated between its first and its last one, and moved pages have the mean date of their
//! superblock. So no page needs memory, and what a superblock of moves holds has one age. What was filled before the power was last on counts as
//! long-lived.

use firstread_core::params::{Need, Role, Scheme, Values};

use super::rows::{host_rows, move_rows};
use super::{HostStreams, Lay, MovedPage, WrittenPage};
use crate::observe::{OpenedFor, StreamRow};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "sepbit",
    summary: "by the life of the version overwritten, and of moved pages by their age: two streams of the host, four of moves",
    source: "Wang et al., Separating Data via Block Invalidation Time Inference, FAST 2022",
    role: Role::Scheme,
    needs: &[
        Need::OwnStream,
        Need::OwnStream,
        Need::OwnStream,
        Need::OwnStream,
    ],
    ordered: &[],
    params: &[],
};

/// Superblocks of class 1 over whose life ℓ is the mean.
const CLEANED: u32 = 16;

/// Classes 1 and 2 are streams of the host, classes 3 to 6 streams of moves.
const SHORT: u8 = 0;
const LONG: u8 = 1;
const OUT_OF_SHORT: u8 = 0;

/// How long the superblocks of class 1 live.
#[derive(Clone, Debug)]
pub struct SepBit {
    /// ℓ, in slots that the host writes: everything is short-lived until it is known, as in the paper.
    short: u64,
    /// Lives of the superblocks that were cleaned since ℓ was last computed, and their number.
    lives: u64,
    cleaned: u32,
}

impl SepBit {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> SepBit {
        SepBit {
            short: u64::MAX,
            lives: 0,
            cleaned: 0,
        }
    }
}

impl HostStreams for SepBit {
    fn of_host(&self) -> &'static [StreamRow] {
        host_rows(2)
    }

    fn of_moves(&self) -> &'static [StreamRow] {
        move_rows(4)
    }

    #[inline]
    fn sees_overwritten(&self) -> bool {
        true
    }

    #[inline]
    fn sees_ages(&self) -> bool {
        true
    }

    fn of_write(&self, page: &WrittenPage) -> u8 {
        match &page.overwritten {
            Some(lay) if lay.age_slots.is_some_and(|age| age < self.short) => SHORT,
            _ => LONG,
        }
    }

    fn of_move(&self, page: &MovedPage) -> u8 {
        if page.lies.opened_for == Some(OpenedFor::Host(SHORT)) {
            return OUT_OF_SHORT;
        }
        let age = page.lies.age_slots.unwrap_or(u64::MAX);
        1 + u8::from(age / 4 >= self.short) + u8::from(age / 16 >= self.short)
    }

    fn cleans(&mut self, lay: &Lay) {
        let (Some(OpenedFor::Host(SHORT)), Some(age)) = (lay.opened_for, lay.age_slots) else {
            return;
        };
        self.lives = self.lives.saturating_add(age);
        self.cleaned += 1;
        if self.cleaned == CLEANED {
            self.short = self.lives / u64::from(CLEANED);
            (self.lives, self.cleaned) = (0, 0);
        }
    }
}
