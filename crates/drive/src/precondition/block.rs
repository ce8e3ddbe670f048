//! Superblocks of the mean-field model of `zipf`.

/// Classes computed in parallel; their number is padded to a multiple of this with empty classes.
pub(super) const LANES: usize = 4;

/// A superblock that holds data.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) valid: Vec<f64>,
    pub(super) sum: f64,
    pub(super) opened: u64,
    pub(super) opened_at: f64,
    /// Whether relocation has filled it.
    pub(super) has_moved: bool,
}

/// A superblock being filled.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) block: Block,
    pub(super) filled: f64,
}

impl Open {
    pub(super) fn empty(classes: usize) -> Open {
        Open {
            block: Block::empty(classes),
            filled: 0.0,
        }
    }

    /// `n` slots of `from` are written to it. Returns the superblock if it is full then, of `slots` slots. `opened` is the
    /// number of superblocks opened so far, and `now` that of host writes.
    pub(super) fn take(
        &mut self,
        (n, slots): (f64, f64),
        from: &mut Block,
        opened: &mut u64,
        now: f64,
    ) -> Option<Block> {
        if self.filled == 0.0 {
            *opened += 1;
            self.block.opened = *opened;
            self.block.opened_at = now;
            self.block.has_moved = true;
        }
        let share = n / from.sum;
        let open = &mut self.block;
        for (to, from) in open.valid.iter_mut().zip(&mut from.valid) {
            *to += *from * share;
            *from -= *from * share;
        }
        open.sum += n;
        from.sum -= n;
        self.filled += n;
        let is_full = self.filled >= slots * (1.0 - 1e-12);
        is_full.then(|| {
            self.filled = 0.0;
            let empty = Block::empty(open.valid.len());
            core::mem::replace(open, empty)
        })
    }
}

impl Block {
    pub(super) fn empty(classes: usize) -> Block {
        Block {
            valid: vec![0.0; classes],
            sum: 0.0,
            opened: 0,
            opened_at: 0.0,
            has_moved: false,
        }
    }

    /// Slots become stale: `decay` is the share of each class that remains valid.
    pub(super) fn decay(&mut self, decay: &[f64]) {
        let mut sums = [0.0; LANES];
        let pairs = self
            .valid
            .chunks_exact_mut(LANES)
            .zip(decay.chunks_exact(LANES));
        for (valid, decay) in pairs {
            for i in 0..LANES {
                valid[i] *= decay[i];
                sums[i] += valid[i];
            }
        }
        self.sum = sums.iter().sum();
    }
}
