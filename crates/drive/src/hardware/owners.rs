//! Ownership of time: the latency breakdown of an operation, and the commands that share a read.

use firstread_core::{DieId, Ns, OpClass};

use super::charge::{Account, AccountId, Accounts, Cause, DieLog};
use super::in_flight::InFlight;
use super::state::Hardware;

impl Hardware {
    /// The log of `die`, and all breakdowns.
    pub(crate) fn log_and_accounts(&mut self, die: DieId) -> (&DieLog, &mut Accounts) {
        (&self.dies[die.0 as usize].log, &mut self.accounts)
    }

    /// Charges the time of `tag` from its last mark to `until`: to `cause` on a first attempt, otherwise to
    /// the retry.
    #[inline]
    pub(super) fn charge(&mut self, until: Ns, tag: u32, cause: Cause) {
        let cause = cause.in_step(self.ops[tag as usize].op.class);
        self.account_of(tag).charge(until, cause);
    }

    /// The breakdown of the operation under `tag`, which has been issued; if it is a further step, that of
    /// its read.
    #[inline]
    pub(crate) fn account_of(&mut self, tag: u32) -> &mut Account {
        let first = tag.checked_sub(self.jobs).unwrap_or(tag);
        let account = self.ops[first as usize].account;
        &mut self.accounts[account.expect("a read that was issued has an account")]
    }

    /// From now on a host command waits for the read under `tag`, and is charged with its time.
    pub(crate) fn join(&mut self, now: Ns, tag: u32) {
        // A further step of the read may be in flight.
        if let Some(step) = self.ops.get_mut((tag + self.jobs) as usize)
            && step.op.class == OpClass::ReadAhead
        {
            step.op.class = OpClass::HostRetry;
        }
        let state = &mut self.ops[tag as usize];
        if state.op.class == OpClass::ReadAhead {
            state.op.class = OpClass::HostRead;
        }
        state.open(&mut self.accounts, now);
    }

    /// A command waits under `waiter` for the read under `read`, as other commands do, from now on or from
    /// the `start` of the read. `queued` is the time since which the read waits for its die; none if it has
    /// been issued. Until [`Hardware::shared`], the breakdown of `waiter` holds the part of the read's time
    /// that does not belong to the command.
    pub(crate) fn share(
        &mut self,
        now: Ns,
        waiter: u32,
        read: u32,
        queued: Option<Ns>,
        start: bool,
    ) {
        let mut before = match queued {
            Some(queued) => Account::from(queued),
            None => *self.account_of(read),
        };
        if start {
            before = Account::from(before.first_queued);
        } else {
            before.first_queued = now;
        }
        let account = self.ops[waiter as usize].open(&mut self.accounts, now);
        self.accounts[account] = before;
    }

    /// The codewords for which `waiter` waits have arrived with the read under `read`: the read's time since
    /// the wait began is charged to `waiter`.
    pub(crate) fn shared(&mut self, waiter: u32, read: u32) {
        let read = *self.account_of(read);
        self.account_of(waiter).became(&read);
    }

    /// A command has last waited for the read under `tag`: the breakdown of the read becomes the command's.
    /// If several commands have waited for it, each has a breakdown of its own.
    pub(crate) fn hand_over(&mut self, tag: u32) -> AccountId {
        let state = &mut self.ops[tag as usize];
        let account = state
            .account
            .expect("a read that was issued has an account");
        if std::mem::replace(&mut state.handed_over, true) {
            let same = self.accounts[account];
            let copy = self.accounts.open(same.mark);
            self.accounts[copy] = same;
            return copy;
        }
        account
    }
}

impl InFlight {
    /// Opens a breakdown for it that starts at `from`.
    #[inline]
    pub(super) fn open(&mut self, accounts: &mut Accounts, from: Ns) -> AccountId {
        match self.account {
            Some(id) if !self.handed_over => {
                accounts[id].restart(from);
                id
            }
            _ => {
                self.handed_over = false;
                *self.account.insert(accounts.open(from))
            }
        }
    }
}
