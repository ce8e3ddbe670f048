//! `hybrid-pools`: what the host overwrites soon goes to a pool in SLC mode, everything else straight to the drive's own mode, and the
//! pool is as large as the load is worth.
//!
//! R. Pletka et al., slide 8, and the public patents of the same controller, read as descriptions:
//!
//! ```text
//! place     a page goes to SLC mode if its last version lived no longer than a limit, and if a superblock there is open or free
//! resize    the pool is the smaller of what the writes are worth (`sizing`) and of what the data in use leave (US 12,366,984)
//! refill    when its ready queue falls below its range, the pool grows, or a superblock of it is emptied (US 11,182,089)
//! keep      what is still valid there leaves for the drive's own mode (US 12,093,171: cold regions), or stays in the pool where there is room for
//!           all that is let in, whichever costs less
//! shrink    a pool that is too large is what garbage collection cleans first, and what is emptied goes back to the drive's own mode
//! promote   pages that are read often are copied into the room that writes leave (hotness, or RARO's rule)
//! ```

use firstread_core::CellMode;
use firstread_core::params::{Need, Order, Param, Role, Scheme, Values};

use super::lifetimes::Lifetimes;
use super::params::{
    DEMAND, KEEP_OF_DATA, KEPT_BY_PROMOTION, KEPT_SLC, LEVEL, LEVEL_BY, RATE, READY_HIGH,
    READY_LOW, SLC_AND_TLC, WRITTEN_SLC, level_by, limits,
};
use super::sizing::{self, Bounds, Size, SlotCost};
use super::stay::{STAY_SLC, Stay};
use super::{CellModes, PoolSize, PoolState, PoolWrite, PromotionLimits, WritePool};
use crate::observe::{PageFuture, PageHeat, StreamRow};
use crate::policy::Setup;
use crate::policy::hot_pages::{PageRead, RaroRule, Temperature, Thresholds};

const SHARE: Param = Param::number(
    "share",
    "superblocks of the pool, as a share of all; 0: as many as the load is worth",
    "permille",
    (0, 0, 1000),
);
const SMALLEST: Param = Param::number(
    "smallest",
    "superblocks that the pool has at least",
    "superblocks",
    (0, 0, 1 << 16),
);
const WEAR_WEIGHT: Param = Param::number(
    "wear_weight",
    "what a page costs that is written: so much of it is its wear, and the rest the time of its program",
    "permille",
    (500, 0, 1000),
);
const PROMOTE: Param = Param::choice(
    "promote",
    "which pages are copied to the pool after a read: none, those that are read often, or those by RARO's rule",
    &["none", "hotness", "raro"],
);

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "hybrid-pools",
    summary: "writes that live shortly go to a pool in SLC mode that is as large as the load is worth, all others straight to the drive's own mode",
    source: "Achieving Latency and Reliability Targets with QLC in Enterprise Controllers (IBM), Flash Memory Summit: hybrid controller; \
             US 11,182,089, 12,366,984, 12,093,171",
    role: Role::Scheme,
    needs: &[Need::CellModes, Need::SlcAlone],
    ordered: &[
        Order::AtMost("ready_low", "ready_high"),
        Order::AtMost("warm", "hot"),
    ],
    params: &[
        SHARE,
        SMALLEST,
        KEEP_OF_DATA,
        READY_LOW,
        READY_HIGH,
        LEVEL,
        LEVEL_BY,
        WEAR_WEIGHT,
        PROMOTE,
        RaroRule::TRIGGER,
        RaroRule::r1("promote = raro: retries from which a hot page is promoted"),
        RaroRule::r2(
            "promote = raro: retries from which RARO promotes a warm page, which no pool takes here",
        ),
        RaroRule::SLOWER,
        Thresholds::WARM,
        Thresholds::HOT_ALONE,
        STAY_SLC,
        DEMAND,
        RATE,
    ],
};

/// Which pages are promoted.
#[derive(Clone, Debug)]
enum Promote {
    None,
    Hotness(Thresholds),
    Raro(RaroRule),
}

static WRITTEN_AND_KEPT: [StreamRow; 2] = [WRITTEN_SLC, KEPT_SLC];
static WRITTEN_AND_PROMOTED: [StreamRow; 2] = [WRITTEN_SLC, SLC_AND_TLC[0]];

/// The pool.
#[derive(Clone, Debug)]
pub struct HybridPools {
    rule: WritePool,
    smallest: u32,
    share_permille: u64,
    cost: SlotCost,
    promote: Promote,
    stay_slc: u8,
    limits: PromotionLimits,
    lives: Lifetimes,
    /// Classes of lives that are let in: those below this one.
    let_in: usize,
    /// The size that the load was worth last.
    size: Option<Size>,
}

impl HybridPools {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> HybridPools {
        let slots = setup.geometry.slots_per_superblock(CellMode::Slc);
        HybridPools {
            rule: WritePool {
                mode: CellMode::Slc,
                ready: (
                    values.get(READY_LOW.key) as u32,
                    values.get(READY_HIGH.key) as u32,
                ),
                keep_permille: values.get(KEEP_OF_DATA.key) as u32,
                level: values.get(LEVEL.key) as u32,
                level_by: level_by(values),
                idle: None,
            },
            smallest: values.get(SMALLEST.key) as u32,
            share_permille: values.get(SHARE.key) as u64,
            cost: slot_cost(setup, values.get(WEAR_WEIGHT.key) as u64),
            promote: match values.get(PROMOTE.key) {
                0 => Promote::None,
                1 => Promote::Hotness(Thresholds::new(values)),
                _ => Promote::Raro(RaroRule::new(setup, values)),
            },
            stay_slc: values.get(STAY_SLC.key) as u8,
            limits: limits(values),
            lives: Lifetimes::new(setup.capacity_slots, u64::from(slots) / 8, setup.seed),
            // Until it is known what the load is worth, pages of a known life are let in.
            let_in: super::lifetimes::CLASSES - 1,
            size: None,
        }
    }
}

impl HybridPools {
    /// Superblocks of a pool that leaves the drive's own mode what schemes of promotion leave it: the size of the writes weighs what
    /// cleaning costs, and promotions do not.
    fn most_with_promoted(&self, state: &PoolState) -> u32 {
        let keep = (KEPT_BY_PROMOTION as u64).max(self.rule.keep_permille.into());
        let kept = state.valid + state.valid * keep / 1000;
        let lent = state.own_slots.saturating_sub(state.slots).max(1);
        let most = state.all.saturating_sub(kept) / lent;
        (most as u32).min(state.most)
    }
}

/// What a slot in SLC mode costs, if `wear_permille` of the cost is wear and the rest is program time.
fn slot_cost(setup: &Setup, wear_permille: u64) -> SlotCost {
    let own = setup.tables.mode;
    let bits = u64::from(own.bits());
    let damage = &setup.cycle_damage;
    let wear =
        bits * u64::from(damage.milli(CellMode::Slc)) * 1000 / u64::from(damage.milli(own)).max(1);
    let program = |mode: CellMode| setup.program[mode.index()].0;
    let time = 1000 * bits * program(CellMode::Slc) / program(own).max(1);
    SlotCost((wear * wear_permille + time * (1000 - wear_permille)) / 1000)
}

impl CellModes for HybridPools {
    fn streams(&self) -> &'static [StreamRow] {
        match self.promote {
            Promote::None => &WRITTEN_AND_KEPT,
            _ => &WRITTEN_AND_PROMOTED,
        }
    }

    fn limits(&self) -> PromotionLimits {
        self.limits
    }

    fn write_pool(&self) -> Option<WritePool> {
        Some(self.rule)
    }

    #[inline]
    fn of_write(&self, page: &PoolWrite) -> bool {
        self.lives.class_of(page.life) < self.let_in
    }

    #[inline]
    fn has_written(&mut self, page: &PoolWrite) {
        self.lives.has_written(page.lpn, page.life, page.written);
    }

    fn resize(&mut self, state: &PoolState) -> PoolSize {
        let all = u64::from(state.superblocks);
        let (least, most) = match self.share_permille {
            0 => (self.smallest.min(state.most), state.most),
            share => {
                let superblocks = (all * share / 1000) as u32;
                (superblocks.min(state.most), superblocks.min(state.most))
            }
        };
        let bounds = Bounds {
            least,
            most,
            slots: state.slots,
            own_slots: state.own_slots,
            valid: state.valid,
            all: state.all,
            open: u64::from(state.open),
            may_keep: matches!(self.promote, Promote::None),
        };
        let best = sizing::best(&self.lives, &bounds, self.cost, self.size);
        let keeps = best.is_some_and(|size| size.keeps);
        let written = match best {
            // Nothing is known yet: the pool is as large as it may be, unless a page costs more there.
            None => match self.cost.0 < 1000 {
                true => most,
                false => least,
            },
            Some(size) => {
                self.let_in = size.class.map_or(0, |class| class + 1);
                self.size = Some(size);
                size.superblocks
            }
        };
        let promoted = match self.promote {
            Promote::None => 0,
            _ => self.most_with_promoted(state).saturating_sub(written),
        };
        PoolSize {
            written,
            promoted,
            keeps,
        }
    }

    fn after_read(&mut self, read: &PageRead) -> Option<CellMode> {
        if read.mode == CellMode::Slc {
            return None;
        }
        let to = match &mut self.promote {
            Promote::None => return None,
            Promote::Hotness(thresholds) => {
                (thresholds.of(read.heat) == Temperature::Hot).then_some(CellMode::Slc)
            }
            Promote::Raro(rule) => rule.target(read),
        };
        to.filter(|mode| *mode == CellMode::Slc)
    }

    fn stays(&self, _: CellMode, heat: PageHeat, _: PageFuture) -> bool {
        !matches!(self.promote, Promote::None) && heat.reads >= self.stay_slc
    }

    fn stays_refreshed(&self, _: CellMode, heat: PageHeat, _: PageFuture) -> bool {
        !matches!(self.promote, Promote::None) && Stay::has_refreshed(heat)
    }
}
