//! The ports: what the firmware does is checked and kept.

use firstread_core::flash::ALL_PLANES;
use firstread_core::{
    Account, BlockId, Buf, CommandId, DieId, FlashKind, FlashOp, HostCommand, Lpn, Ports, Ppa,
    Spare, Status, Tag,
};
use firstread_firmware::log::Record;

use super::{Last, World, spare};

impl Account for World {
    fn trimmed(&mut self, first: Lpn, pages: u32) {
        self.counter += 1;
        let last = Last {
            version: 0,
            since: self.counter,
            trimmed: true,
        };
        for lpn in first.0..first.0 + pages as u64 {
            self.last.insert(lpn, last);
        }
    }
}

impl Ports for World {
    type Record = Record;

    fn issue(&mut self, op: FlashOp) {
        let die = op.die.0 as usize;
        match op.kind {
            FlashKind::Suspend { victim } => {
                assert_eq!(op.tag, victim, "a suspend goes under its victim's tag");
                assert!(self.suspended[die].is_none(), "one suspended at a time");
                let runs = |(p, in_array): &(FlashOp, bool)| p.tag == victim && *in_array;
                assert!(self.pending.iter().any(runs), "{victim:?} does not run");
                return self.told.push(victim);
            }
            FlashKind::Resume { victim } => {
                assert_eq!(self.busy[die], 0, "resumed on a busy die");
                let (op, times) = self.suspended[die].take().expect("something is suspended");
                assert_eq!(op.tag, victim);
                assert!(times <= self.most_suspends, "suspended too often");
                self.times.push((victim, times));
                self.busy[die] = ALL_PLANES;
                return self.pending.push((op, true));
            }
            _ => {}
        }
        if self.suspended[die].is_some() {
            let reads = matches!(op.kind, FlashKind::Read { .. });
            assert!(reads, "{op:?} while another is suspended");
        }
        if let FlashKind::Read { .. } = op.kind {
            self.reads.insert(op.tag.0, op);
        }
        let planes = self.planes_of(&op);
        let busy = &mut self.busy[op.die.0 as usize];
        assert_eq!(*busy & planes, 0, "issued to busy planes: {op:?}");
        *busy |= planes;
        self.pending.push((op, true));
    }
    fn data_in(&mut self, id: CommandId, first: u32, slots: u32, buf: Buf) {
        for i in 0..slots {
            let lpn = self.lpn(id, first + i);
            self.counter += 1;
            let (version, since) = (self.counter, self.counter);
            let trimmed = false;
            let last = Last {
                version,
                since,
                trimmed,
            };
            self.last.insert(lpn, last);
            self.buffers[(buf.0 + i) as usize] = Some((lpn, version));
        }
    }
    fn data_out(&mut self, id: CommandId, first: u32, slots: u32, buf: Buf, _bytes: u32) {
        for i in 0..slots {
            let got = self.buffers[(buf.0 + i) as usize];
            self.expect(id, self.lpn(id, first + i), got);
        }
    }
    fn zeros_out(&mut self, id: CommandId, first: u32, slots: u32, _bytes: u32) {
        (first..first + slots).for_each(|i| self.expect(id, self.lpn(id, i), None));
    }
    fn copy(&mut self, from: Buf, to: Buf) {
        self.buffers[to.0 as usize] = self.buffers[from.0 as usize];
    }
    fn pad(&mut self, buf: Buf) {
        self.buffers[buf.0 as usize] = None;
    }
    fn buffered(&self, buf: Buf) -> Option<Spare> {
        self.buffers[buf.0 as usize].map(spare)
    }
    fn stored(&self, ppa: Ppa) -> Option<Spare> {
        let slots = &self.blocks[ppa.block().0 as usize].slots;
        let data = slots.get(&ppa.slot()).copied().flatten();
        data.map(spare)
    }
    fn sequence(&self) -> u64 {
        self.counter
    }
    fn replace(&mut self, die: DieId, block: BlockId) {
        self.replaced.push((die, block));
    }
    /// Half of the reads whose data have not left their die take more codewords.
    fn widen(&mut self, tag: Tag, more: u64) -> bool {
        if self.draw(2) == 0 {
            return false;
        }
        let on_array = |(op, in_array): &&mut (FlashOp, bool)| op.tag == tag && *in_array;
        let pending = self.pending.iter_mut().find(on_array).map(|(op, _)| op);
        let noted = self.reads.get_mut(&tag.0);
        let (Some(pending), Some(noted)) = (pending, noted) else {
            return false;
        };
        for op in [pending, noted] {
            let FlashKind::Read { wanted, .. } = &mut op.kind else {
                panic!("{op:?} is no read")
            };
            *wanted |= more;
        }
        true
    }
    fn rebuilt(&mut self, tag: Tag, made: u64) {
        let read = self.reads.get(&tag.0).copied();
        let Some(FlashKind::Read {
            block,
            wordline,
            page,
            buf,
            ..
        }) = read.map(|op| op.kind)
        else {
            panic!("{tag:?} has read nothing that could be rebuilt")
        };
        let die = read.unwrap().die;
        let b = &self.blocks[block.0 as usize];
        for other in 0..self.geometry.dies() {
            assert!(b.written[other as usize] > wordline, "a stripe in part");
            let torn = b.torn.contains(&(DieId(other), wordline));
            assert!(!torn, "the stripe of {die:?} {wordline} lacks a part");
        }
        self.rebuilt += (made != 0) as u64;
        self.deliver(tag, die, block, wordline, page.0, made, buf);
    }
    fn map_in(&mut self, page: Lpn, buf: Buf) {
        self.counter += 1;
        let last = Last {
            version: self.counter,
            since: self.counter,
            trimmed: false,
        };
        assert!(page.0 >= self.capacity, "a page of the map");
        self.last.insert(page.0, last);
        self.buffers[buf.0 as usize] = Some((page.0, last.version));
    }
    fn map_out(&mut self, page: Lpn, buf: Buf) {
        let version = self.last.get(&page.0).map_or(0, |last| last.version);
        let got = self.buffers[buf.0 as usize];
        assert_eq!(got, Some((page.0, version)), "the map's last version");
    }
    fn complete(&mut self, command: HostCommand, status: Status, _last: Option<Tag>) {
        self.commands.remove(&command.id.0);
        self.completed.push((command, status));
    }
    fn log(&mut self, _record: Record) {}
}
