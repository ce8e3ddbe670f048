//! Reads of cells: the errors come from the medium, the verdicts from the code.

use firstread_core::flash::codewords;
use firstread_core::{
    BlockId, FlashKind, FlashOp, IdealScope, Levels, Ns, PageAddr, SenseMode, SenseTiming,
    SpareErrors, SuperblockId, ValleySearch,
};
use firstread_ecc::{Code, SoftWeights, Verdict};
use firstread_nand::{BlockState, CachedCondition, Condition, ReadLevels, SoftLevels, SoftWeight};

use super::group_oracle::Members;
use super::sensed::Sensed;
use super::verdicts::{COUNT, Verdicts};
use super::{Cells, Errors, Joined};

/// Where the cells of a page are.
#[derive(Clone, Copy)]
struct CellsAt {
    /// The superblock that the page is of.
    of: SuperblockId,
    /// The page, with the number of the die's block in place of the superblock's: the medium names blocks so.
    page: PageAddr,
}

impl CellsAt {
    /// Whether the block is a spare in the superblock.
    #[inline]
    fn is_spare(&self) -> bool {
        self.of != self.page.block
    }

    /// Where what is known of the spare is kept.
    fn key(&self) -> (u32, u16) {
        (self.page.block.0, self.page.die.0)
    }
}

impl Cells {
    /// Senses and decodes a read that was requested at `now`.
    #[inline(never)]
    pub(crate) fn sense(&mut self, now: Ns, op: &FlashOp) -> Sensed {
        let FlashKind::Read {
            block,
            on,
            wordline,
            page,
            wanted,
            levels,
            timing,
            mode,
            ..
        } = op.kind
        else {
            unreachable!("only reads are sensed")
        };
        let at = CellsAt {
            of: block,
            page: PageAddr {
                die: op.die,
                block: SuperblockId(on.0),
                wordline,
                page,
            },
        };
        let real = now + self.unpowered;
        self.senses += 1;
        let (sensed, planes) = match mode {
            SenseMode::OnesCount { valley } => self.count_ones(real, at, wanted, valley, &levels),
            SenseMode::Soft3 => self.soft(now, at, wanted, &levels, timing, SoftLevels::Three),
            SenseMode::Soft5 => self.soft(now, at, wanted, &levels, timing, SoftLevels::Five),
            SenseMode::Hard => self.hard(now, at, wanted, &levels, timing),
        };
        self.count(block, planes);
        self.blocks[block.0 as usize].last_read = real;
        sensed
    }

    /// Decodes more codewords, named by `op`, of planes that a hard read senses already.
    pub(crate) fn sense_more(&mut self, now: Ns, op: &FlashOp) -> Sensed {
        let FlashKind::Read {
            block,
            on,
            wordline,
            page,
            wanted,
            levels,
            timing,
            ..
        } = op.kind
        else {
            unreachable!("only reads are sensed")
        };
        let at = CellsAt {
            of: block,
            page: PageAddr {
                die: op.die,
                block: SuperblockId(on.0),
                wordline,
                page,
            },
        };
        self.senses += 1;
        self.hard(now, at, wanted, &levels, timing).0
    }

    /// The state of the block at `at`.
    fn state_at(&self, at: CellsAt) -> BlockState {
        match at.is_spare() {
            true => self.state_of(at.of, at.page.die, BlockId(at.page.block.0)),
            false => self.blocks[at.of.0 as usize],
        }
    }

    /// The first plane with codewords in `wanted`, its first codeword, and which of its codewords are wanted.
    #[inline]
    pub(super) fn first_plane(&self, wanted: u64) -> (u8, u32, u64) {
        let plane = self.plane_of[wanted.trailing_zeros() as usize % 64];
        let start = plane as u32 * self.per_page;
        (plane, start, wanted >> start & self.page_mask)
    }

    #[cold]
    fn look_at(&mut self, block: usize, real: Ns) {
        self.cached_condition[block] =
            Some(self.medium.cached_condition(&self.blocks[block], real));
        self.looks[block] = self.looks[block].wrapping_add(1);
    }

    /// Caches the condition of the spare at `at`, unless it is still that of the last look at its superblock, which is current.
    #[cold]
    fn look_at_spare(&mut self, at: CellsAt, real: Ns) {
        let look = self.looks[at.of.0 as usize];
        let state = self.state_at(at);
        let joined = self.joined.entry(at.key()).or_insert(Joined {
            superblock: at.of,
            less: 0,
            cached_condition: None,
        });
        if joined.cached_condition.is_none_or(|(of, _)| of != look) {
            let condition = self.medium.cached_condition(&state, real);
            joined.cached_condition = Some((look, condition));
        }
    }

    #[inline]
    fn hard(
        &mut self,
        now: Ns,
        at: CellsAt,
        wanted: u64,
        levels: &Levels,
        timing: SenseTiming,
    ) -> (Sensed, u64) {
        if let Errors::ByRetries(_) = self.errors {
            return self.by_retries((at.of, at.page), wanted, levels);
        }
        if let Levels::OnDie(search) = levels {
            return self.searched(now, at, wanted, search, None);
        }
        let real = now + self.unpowered;
        let timing = match *levels {
            Levels::Ideal(IdealScope::PageAtAnyTime) => SenseTiming::DEFAULT,
            _ => timing,
        };
        let levels = self.resolve(now, at.of, levels);
        let block = at.of.0 as usize;
        let is_current = |k: &CachedCondition| self.medium.is_current(k, &self.blocks[block], real);
        if !self.cached_condition[block]
            .as_ref()
            .is_some_and(is_current)
        {
            self.look_at(block, real);
        }
        if at.is_spare() {
            self.look_at_spare(at, real);
        }
        let of_spare = || self.joined.get(&at.key())?.cached_condition.as_ref();
        let known = match at.is_spare() {
            false => self.cached_condition[block].as_ref(),
            true => of_spare().map(|(_, known)| known),
        };
        let condition = &known.expect("looked at just now").condition;
        let mut verdicts = Verdicts::default();
        let (mut left, mut planes) = (wanted, 0);
        while left != 0 {
            let (plane, start, mut page_left) = self.first_plane(left);
            left ^= page_left << start;
            planes += 1;
            let page = self
                .medium
                .sense_under(at.page, plane, condition, &levels, timing, self.senses)
                .expect("the firmware reads pages that the drive has");
            while page_left != 0 {
                let codeword = page_left.trailing_zeros() & !3;
                let four = page_left >> codeword & 0xf;
                page_left ^= four << codeword;
                verdicts.codewords += COUNT[four as usize];
                let weights = page.four_weights(codeword);
                // Codes whose verdict is certain at every weight are judged without draws.
                let draws = match self.code {
                    Code::Threshold(_) => [0; 4],
                    Code::Ldpc(_) => page.four_draws(codeword),
                };
                for k in 0..4 {
                    if four >> k & 1 == 0 {
                        continue;
                    }
                    let (weight, draw) = (weights[k as usize], draws[k as usize]);
                    let persistent_draw = || page.persistent_draw(codeword + k);
                    let verdict = self.code.judge(weight, draw, persistent_draw);
                    verdicts.add(start + codeword + k, weight, verdict);
                }
            }
        }
        let mut sensed = verdicts.sensed(self.decode, &self.code, &mut self.checks);
        let cells = self.spare_cells[self.blocks[block].mode.bits() as usize - 1];
        if cells != 0 && sensed.failed != 0 {
            sensed.spare = self.spare(at.page, sensed.failed, condition, &levels, timing, cells);
        }
        (sensed, planes)
    }

    /// A sense in which the chip finds the levels of each plane itself; `soft` ones around them, if there are. A plane is
    /// disturbed for as long as its senses take.
    #[cold]
    fn searched(
        &mut self,
        now: Ns,
        at: CellsAt,
        wanted: u64,
        search: &ValleySearch,
        soft: Option<SoftLevels>,
    ) -> (Sensed, u64) {
        let (real, state) = (now + self.unpowered, self.state_at(at));
        let (mut sum, mut senses) = (Sensed::default(), 0);
        let mut left = wanted;
        while left != 0 {
            let (plane, start, page) = self.first_plane(left);
            left ^= page << start;
            let found = self
                .medium
                .searched(at.page, plane, &state, real, search, self.senses)
                .expect("the firmware reads pages that the drive has");
            let (levels, timing) = (Levels::Offsets(found), SenseTiming::DEFAULT);
            let (sensed, planes) = match soft {
                None => self.hard(now, at, page << start, &levels, timing),
                Some(soft) => self.soft(now, at, page << start, &levels, timing, soft),
            };
            sum.add(&sensed);
            senses += planes * u64::from(search.sense_percent).div_ceil(100);
        }
        (sum, senses)
    }

    /// A soft sense and its decoding. Each of its senses disturbs the block like any sense.
    #[cold]
    fn soft(
        &mut self,
        now: Ns,
        at: CellsAt,
        wanted: u64,
        levels: &Levels,
        timing: SenseTiming,
        soft: SoftLevels,
    ) -> (Sensed, u64) {
        if let Levels::OnDie(search) = levels {
            return self.searched(now, at, wanted, search, Some(soft));
        }
        let real = now + self.unpowered;
        let levels = self.resolve(now, at.of, levels);
        let state = self.state_at(at);
        let mut verdicts = Verdicts::default();
        let (mut left, mut planes) = (wanted, 0);
        while left != 0 {
            let (plane, start, mut page_left) = self.first_plane(left);
            left ^= page_left << start;
            planes += 1;
            let page = self
                .medium
                .sense_soft(
                    at.page,
                    plane,
                    &state,
                    real,
                    &levels,
                    soft,
                    timing,
                    self.senses,
                )
                .expect("the firmware reads pages that the drive has");
            while page_left != 0 {
                let codeword = page_left.trailing_zeros();
                page_left &= page_left - 1;
                let SoftWeight {
                    classes,
                    errors,
                    bits,
                } = page.codeword(codeword);
                let weights = SoftWeights {
                    classes,
                    errors,
                    bits,
                };
                let verdict = self
                    .code
                    .judge_soft(&weights, page.persistent_draw(codeword));
                verdicts.codewords += 1;
                verdicts.add(start + codeword, weights.hard_errors(), verdict);
            }
        }
        let senses = soft.senses() as u64;
        let sensed = verdicts.sensed(self.decode, &self.code, &mut self.checks);
        (sensed, planes * senses)
    }

    /// Errors of the spare cells on planes with codewords in `failed`.
    #[cold]
    fn spare(
        &self,
        at: PageAddr,
        failed: u64,
        condition: &Condition,
        levels: &ReadLevels,
        timing: SenseTiming,
        cells: u16,
    ) -> SpareErrors {
        let mut sum = SpareErrors::default();
        // An oracle does not use spare cells.
        let ReadLevels::Offsets(offsets) = levels else {
            return sum;
        };
        let mut left = failed;
        while left != 0 {
            let (plane, start, page) = self.first_plane(left);
            left ^= page << start;
            let one = self
                .medium
                .spare_errors(at, plane, condition, offsets, timing, self.senses, cells)
                .expect("the firmware reads pages that the drive has");
            sum.above += one.above;
            sum.below += one.below;
            sum.cells += one.cells;
        }
        sum
    }

    /// Outcome of a read of codewords `wanted` if cells never err.
    #[inline]
    pub(crate) fn without_errors(&self, wanted: u64) -> Sensed {
        let verdict = Verdict {
            ok: true,
            corrected: 0,
            iterations: 0,
        };
        let Ns(one) = self.decode.latency(verdict);
        Sensed {
            decode_sum_ns: one * u64::from(codewords(wanted)),
            decode_last_ns: one,
            ..Sensed::default()
        }
    }

    fn count_ones(
        &mut self,
        real: Ns,
        at: CellsAt,
        wanted: u64,
        valley: u8,
        levels: &Levels,
    ) -> (Sensed, u64) {
        let Levels::Offsets(offsets) = *levels else {
            unreachable!("a ones-count is asked for at a level of its own")
        };
        let mut out = Sensed::default();
        let (mut left, mut planes) = (wanted, 0);
        while left != 0 {
            let (plane, start, page) = self.first_plane(left);
            left ^= page << start;
            planes += 1;
            let state = &self.state_at(at);
            let (ones, cells) = self
                .medium
                .ones_count(
                    at.page,
                    plane,
                    state,
                    real,
                    valley,
                    offsets[valley as usize - 1],
                    self.senses,
                )
                .expect("the firmware counts at valleys that the mode has");
            out.ones += ones;
            out.cells += cells;
        }
        (out, planes)
    }

    /// The levels of a sense of `block`.
    fn resolve(&mut self, now: Ns, block: SuperblockId, levels: &Levels) -> ReadLevels {
        let scope = match *levels {
            Levels::Offsets(offsets) => return ReadLevels::Offsets(offsets),
            Levels::Ideal(scope) => scope,
            Levels::OnDie(_) => unreachable!("what the chip finds is of a plane"),
        };
        let real = now + self.unpowered;
        let members = Members {
            medium: &self.medium,
            blocks: &self.blocks,
            programmed_at: &self.programmed_at,
        };
        let oracle = &mut self.oracle;
        ReadLevels::Offsets(match scope {
            IdealScope::Page | IdealScope::PageAtAnyTime => return ReadLevels::Ideal,
            IdealScope::Group(group) => {
                let mode = members.blocks[block.0 as usize].mode;
                oracle.levels((mode, group), now, real, &members)
            }
        })
    }
}
