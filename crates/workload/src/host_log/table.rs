//! Where each page of the log lies, and what each zone holds.
//!
//! The log begins as if its pages had been written once, in order, from the first zone on. Both tables hold differences
//! to that, so that memory of pages that nobody touches stays zero and is never committed.

use std::collections::VecDeque;

use super::plan::{LogPlan, MovesTo, Victim};

/// A zone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Zone {
    /// Pages that are the last version.
    pub(super) valid: u32,
    /// Commands and moves that need the zone to stay as it is.
    pub(super) pins: u32,
    /// Writes in flight to it.
    pub(super) writes: u32,
    /// Whether it is full.
    is_full: bool,
    /// The placement handle that its pages were written with; 0 where pages of all handles are mixed.
    pub(super) handle: u8,
    /// When it became full, counted in pages written.
    pub(super) full_at: u64,
}

/// A place at which zones are written in order.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    zone: Option<u32>,
    /// Pages of the zone that have been given away.
    used: u32,
}

/// The tables.
#[derive(Clone, Debug)]
pub(super) struct Table {
    plan: LogPlan,
    /// Address of each page, less its number.
    address: Vec<u32>,
    /// Page at each address, less the address. Whether it still lies there is said by `address`.
    page: Vec<u32>,
    pub(super) zones: Vec<Zone>,
    pub(super) free: VecDeque<u32>,
    heads: Vec<Head>,
    /// Pages given away: the clock of ages.
    written: u64,
}

impl Table {
    /// The tables of a new log, with the zones that hold nothing, which are not free yet.
    pub(super) fn new(plan: LogPlan) -> (Table, VecDeque<u32>) {
        let addresses = plan.zones as usize * plan.zone_pages as usize;
        let mut zones = vec![Zone::default(); plan.zones as usize];
        let full = plan.pages.div_ceil(plan.zone_pages);
        let mut left = plan.pages;
        for zone in &mut zones[..full as usize] {
            zone.valid = left.min(plan.zone_pages);
            zone.is_full = true;
            left -= zone.valid;
        }
        let mut empty = VecDeque::with_capacity(zones.len());
        empty.extend(full..plan.zones);
        let table = Table {
            plan,
            address: vec![0; plan.pages as usize],
            page: vec![0; addresses],
            free: VecDeque::with_capacity(zones.len()),
            zones,
            heads: vec![Head::default(); usize::from(plan.spec.all_heads())],
            written: 0,
        };
        (table, empty)
    }

    pub(super) fn address_of(&self, page: u32) -> u32 {
        self.address[page as usize].wrapping_add(page)
    }

    /// The page whose last version lies at `address`.
    pub(super) fn page_at(&self, address: u32) -> Option<u32> {
        let page = self.page[address as usize].wrapping_add(address);
        (page < self.plan.pages && self.address_of(page) == address).then_some(page)
    }

    pub(super) fn zone_of(&self, address: u32) -> u32 {
        address / self.plan.zone_pages
    }

    /// The head that an application writes to with `handle`.
    pub(super) fn head_of_writes(&self, handle: u16) -> u8 {
        (handle as u8).min(self.plan.spec.heads - 1)
    }

    /// The head that pages of `zone` move to.
    pub(super) fn head_of_moves(&self, zone: u32) -> u8 {
        let handle = self.zones[zone as usize].handle;
        match self.plan.spec.moves {
            MovesTo::WithWrites => handle,
            MovesTo::Apart => self.plan.spec.heads,
            MovesTo::ByHandle => self.plan.spec.heads + handle,
        }
    }

    /// Gives the next address at `head` to `page`, if the head has room. `moves`: for cleaning, for which a zone is kept.
    pub(super) fn append(&mut self, head: u8, page: u32, moves: bool) -> Option<u32> {
        let shares = self.plan.spec.moves == MovesTo::WithWrites;
        let at = usize::from(head);
        let zone = match self.heads[at].zone {
            // Cleaning has taken the zone that is kept for it, and may need all of it.
            Some(_) if !moves && shares && self.free.is_empty() => return None,
            Some(zone) => zone,
            None if self.free.len() < if moves { 1 } else { 2 } => return None,
            None => {
                let zone = self.free.pop_front()?;
                self.heads[at] = Head {
                    zone: Some(zone),
                    used: 0,
                };
                self.zones[zone as usize] = Zone {
                    handle: head % self.plan.spec.heads,
                    ..Zone::default()
                };
                zone
            }
        };
        let address = zone * self.plan.zone_pages + self.heads[at].used;
        let old = self.zone_of(self.address_of(page));
        self.zones[old as usize].valid -= 1;
        self.zones[zone as usize].valid += 1;
        self.address[page as usize] = address.wrapping_sub(page);
        self.page[address as usize] = page.wrapping_sub(address);
        self.written += 1;
        self.heads[at].used += 1;
        if self.heads[at].used == self.plan.zone_pages {
            self.heads[at].zone = None;
            let zone = &mut self.zones[zone as usize];
            (zone.is_full, zone.full_at) = (true, self.written);
        }
        Some(address)
    }

    /// Whether the zone that `address` ends in is continued by the next address of `head`.
    pub(super) fn continues(&self, head: u8, address: u32) -> bool {
        let head = self.heads[usize::from(head)];
        head.zone == Some(self.zone_of(address))
    }

    /// The zone to clean next. None where every full zone is all valid, or is still being written to.
    pub(super) fn victim(&self) -> Option<u32> {
        let pages = self.plan.zone_pages;
        let full = (0..).zip(&self.zones);
        let full = full.filter(|(_, z)| z.is_full && z.writes == 0 && z.valid < pages);
        let victim = match self.plan.spec.victim {
            Victim::Greedy => full.min_by_key(|(_, z)| z.valid),
            Victim::Fifo => full.min_by_key(|(_, z)| z.full_at),
            Victim::CostBenefit => {
                full.min_by(|(_, a), (_, b)| self.cost(a).total_cmp(&self.cost(b)))
            }
        };
        victim.map(|(zone, _)| zone)
    }

    /// What a page gained costs, less for an old zone.
    fn cost(&self, zone: &Zone) -> f64 {
        let garbage = self.plan.zone_pages - zone.valid;
        let age = self.written - zone.full_at + 1;
        2.0 * f64::from(zone.valid) / (f64::from(garbage) * age as f64)
    }

    /// `zone` is cleaned: it holds nothing that is valid, and is no victim any more.
    pub(super) fn empty(&mut self, zone: u32) {
        debug_assert_eq!(self.zones[zone as usize].valid, 0, "zone {zone} is cleaned");
        self.zones[zone as usize].is_full = false;
    }
}
