use super::*;
use firstread_core::InitialContents;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

/// Memory of a drive whose initial contents a table gives.
#[derive(Default)]
pub(super) struct Memory {
    pub bytes: Vec<u8>,
    places: Vec<Ppa>,
    page_at: BTreeMap<Ppa, u64>,
    /// Superblocks of the initial contents that were not erased.
    blocks: BTreeSet<SuperblockId>,
}

impl Memory {
    fn filled(places: impl Iterator<Item = Ppa>) -> Memory {
        let places: Vec<Ppa> = places.collect();
        Memory {
            bytes: Vec::new(),
            page_at: places.iter().copied().zip(0..).collect(),
            blocks: places.iter().map(|ppa| ppa.block()).collect(),
            places,
        }
    }
}

impl Arena for Memory {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl InitialContents for Memory {
    fn run(&self, lpn: Lpn, max: u64) -> (Option<Ppa>, u64) {
        let lpn = lpn.0 as usize;
        let Some(ppa) = self.places.get(lpn) else {
            return (None, max);
        };
        let follow = |&(i, next): &(u64, &Ppa)| next.block() == ppa.block() && next.0 == ppa.0 + i;
        let behind = (0..max).zip(&self.places[lpn..]);
        (Some(*ppa), behind.take_while(follow).count() as u64)
    }
    fn holds(&self, block: SuperblockId) -> bool {
        self.blocks.contains(&block)
    }
    fn page_at(&self, ppa: Ppa) -> Option<Lpn> {
        self.page_at.get(&ppa).copied().map(Lpn)
    }
    fn erase(&mut self, block: SuperblockId) {
        self.blocks.remove(&block);
    }
}

/// A drive of ten regions and a few pages, filled up to a page within the eighth region.
fn map() -> Map<Memory> {
    let memory = Memory::filled((0..41_000).map_while(filled));
    Map::new(41_000, 1 << 20, 10_000, memory)
}
fn filled(lpn: u64) -> Option<Ppa> {
    let block = SuperblockId([7, 3, 5, 9, 0][(lpn / 10_000) as usize]);
    (lpn < 31_234).then(|| Ppa::new(block, (lpn % 10_000) as u32))
}

#[derive(Clone, Debug)]
enum Step {
    Write { first: u64, pages: u64, stride: u64 },
    Trim { first: u64, pages: u64 },
    Lose(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let first = 0u64..41_000;
    prop_oneof![
        4 => (first.clone(), 1u64..3_000, 1u64..40)
            .prop_map(|(first, pages, stride)| Step::Write { first, pages, stride }),
        1 => (first.clone(), 1u64..10_000).prop_map(|(first, pages)| Step::Trim { first, pages }),
        1 => first.prop_map(Step::Lose),
    ]
}

fn at(block: u32, slot: u32) -> Mapping {
    Mapping::At(Ppa::new(SuperblockId(block), slot))
}

/// After a power cut, data on flash of a page whose region was trimmed as a whole count only if they were
/// written after the trim.
#[test]
fn powerloss_a_trimmed_region_keeps_older_data_out() {
    let mut map = map();
    map.grow_overlay(|m| m.bytes.resize(1_000_000, 0));
    let region = |r: u64| r * REGION_PAGES;
    map.set(Lpn(region(1)), at(1, 0));
    for (r, sequence) in [(1, 100), (3, 300)] {
        let trimmed = map.trim(region(r), region(r + 1), sequence, |_, _| ());
        assert_eq!(u64::from(trimmed), REGION_PAGES);
    }
    // Pages that are written again, trimmed singly, and lost; and pages of regions that were never trimmed as
    // a whole.
    map.set(Lpn(region(1) + 1), at(1, 1));
    map.set(Lpn(region(1) + 2), Mapping::Trimmed);
    map.set(Lpn(region(1) + 3), Mapping::Lost);
    map.set(Lpn(region(2)), at(1, 2));
    map.set(Lpn(region(2) + 1), Mapping::Trimmed);
    map.forget_places();
    let recovers = |page: u64| {
        [0, 99, 100, 101, 299, 300, 301].map(|sequence| map.recovers(Lpn(page), sequence))
    };
    let (after_100, after_300) = ([3, 4, 5, 6], [6]);
    let from = |later: &[usize]| core::array::from_fn(|i| later.contains(&i));
    assert_eq!(
        recovers(region(1)),
        from(&after_100),
        "trimmed with its region"
    );
    assert_eq!(
        recovers(region(2) - 1),
        from(&after_100),
        "the region's last page"
    );
    assert_eq!(recovers(region(1) + 1), from(&after_100), "written since");
    assert_eq!(recovers(region(1) + 2), [false; 7], "trimmed alone since");
    assert_eq!(recovers(region(1) + 3), [false; 7], "lost since");
    assert_eq!(
        recovers(region(3)),
        from(&after_300),
        "each region has its own trim"
    );
    assert_eq!(
        recovers(region(2)),
        [true; 7],
        "written, its region not trimmed"
    );
    assert_eq!(recovers(region(2) + 1), [false; 7], "trimmed alone");
    assert_eq!(recovers(0), [true; 7], "neither written nor trimmed");
}

/// A slot is valid exactly if its page is found there, whatever was written, trimmed or lost since the drive
/// was filled.
#[test]
fn model_a_computed_slot_is_valid_where_its_page_is_found() {
    let (slots, blocks) = (1_000u32, 13u32);
    // Nine of ten slots hold a page, in a random order.
    let key = firstread_core::Stream::new(1);
    let pages = u64::from(slots * blocks) * 9 / 10;
    let order = firstread_core::Permutation::new(u64::from(slots * blocks), key);
    let place = |lpn: u64| {
        let slot = order.at(lpn) as u32;
        Ppa::new(SuperblockId(slot / slots), slot % slots)
    };
    let memory = Memory::filled((0..pages).map(place));
    let mut map = Map::new(pages, 20, slots, memory);
    map.grow_overlay(|m| m.bytes.resize(1_000_000, 0));
    // Regions: one unchanged, one trimmed as a whole, one trimmed and partly written, and the last one, which
    // changes in part.
    assert!(pages > 2 * REGION_PAGES && pages < 3 * REGION_PAGES);
    let check = |map: &Map<Memory>| {
        let mut held = 0;
        for block in (0..blocks).map(SuperblockId) {
            assert!(map.is_computed(block));
            for ppa in (0..slots).map(|slot| Ppa::new(block, slot)) {
                let page = map.initial_contents().page_at(ppa);
                let found = page.is_some_and(|lpn| map.at(lpn) == Some(ppa));
                assert_eq!(map.holds(ppa), found, "{ppa:?}");
                held += u64::from(found);
            }
        }
        held
    };
    assert_eq!(check(&map), pages);
    let last = 2 * REGION_PAGES;
    map.set(Lpn(last), at(15, 0));
    map.set(Lpn(last + 1), Mapping::Trimmed);
    map.set(Lpn(last + 2), Mapping::Lost);
    assert_eq!(check(&map), pages - 3);
    map.trim(REGION_PAGES, last, 1, |_, _| ());
    assert_eq!(check(&map), pages - 3 - REGION_PAGES);
    map.set(Lpn(REGION_PAGES), at(15, 1));
    assert_eq!(check(&map), pages - 3 - REGION_PAGES);
}

/// The initial contents of a superblock are there after a power cut, unless the superblock was erased.
#[test]
fn powerloss_what_was_there_before_is_there_until_an_erase() {
    let mut map = map();
    map.grow_overlay(|m| m.bytes.resize(1_000_000, 0));
    // Superblock 3 is emptied and erased; superblock 5 is being emptied.
    for lpn in 10_000..20_000 {
        map.set(Lpn(lpn), at(20, lpn as u32 - 10_000));
    }
    map.set(Lpn(20_000), at(21, 0));
    map.erase(SuperblockId(3));
    map.forget_places();
    assert_eq!(map.at(Lpn(10_000)), None, "its copy is yet to be found");
    assert_eq!(map.at(Lpn(20_000)), filled(20_000));
    assert_eq!(map.at(Lpn(9_999)), filled(9_999));
    assert!(!map.is_computed(SuperblockId(3)) && map.is_computed(SuperblockId(5)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn model_map_is_a_map(steps in prop::collection::vec(step(), 1..40)) {
        let mut map = map();
        let mut model: BTreeMap<u64, Mapping> = BTreeMap::new();
        let mut next = 0u64;
        let at = |model: &BTreeMap<u64, Mapping>, lpn| match model.get(&lpn) {
            None => filled(lpn),
            Some(Mapping::At(ppa)) => Some(*ppa),
            Some(_) => None,
        };
        for step in steps {
            match step {
                Step::Write { first, pages, stride } => {
                    for lpn in (0..pages).map(|i| first + i * stride).take_while(|&l| l < 41_000) {
                        if !map.has_room(1) {
                            map.grow_overlay(|m| m.bytes.resize(m.bytes.len() + 1_000_000, 0));
                        }
                        next += 1;
                        let place = Mapping::At(Ppa::new(SuperblockId((next / 10_000) as u32), (next % 10_000) as u32));
                        prop_assert_eq!(map.set(Lpn(lpn), place), at(&model, lpn));
                        model.insert(lpn, place);
                    }
                }
                Step::Trim { first, pages } => {
                    let end = (first + pages).min(41_000);
                    let (mut lpn, mut told) = (first, 0u64);
                    while lpn < end {
                        if !map.has_room(1) {
                            map.grow_overlay(|m| m.bytes.resize(m.bytes.len() + 1_000_000, 0));
                        }
                        lpn += map.trim(lpn, end, 0, |_, n| told += n as u64) as u64;
                    }
                    prop_assert_eq!(lpn, end);
                    let held = (first..end).filter(|&l| at(&model, l).is_some()).count();
                    prop_assert_eq!(told, held as u64);
                    (first..end).for_each(|l| { model.insert(l, Mapping::Trimmed); });
                }
                Step::Lose(lpn) => {
                    if !map.has_room(1) {
                        map.grow_overlay(|m| m.bytes.resize(m.bytes.len() + 1_000_000, 0));
                    }
                    map.set(Lpn(lpn), Mapping::Lost);
                    model.insert(lpn, Mapping::Lost);
                    prop_assert!(map.lookup(Lpn(lpn), 9).lost);
                }
            }
        }
        let mut lpn = 0;
        while lpn < 41_000 {
            let run = map.lookup(Lpn(lpn), u32::MAX);
            for i in 0..run.pages as u64 {
                prop_assert_eq!(run.ppa.map(|p| Ppa(p.0 + i)), at(&model, lpn + i), "page {}", lpn + i);
            }
            lpn += run.pages as u64;
        }
    }
}

/// A map that was put into memory with old contents takes every page again, in any order.
#[test]
fn model_a_map_in_used_memory_is_a_map() {
    let stream = firstread_core::Stream::new(3).named("used");
    let pages = 1_000u64;
    let mut map = Map::new(pages, 20, 96, Filled::new(1 << 20, 0xab));
    for round in 0..3 {
        let mut fresh = Map::new(pages, 20, 96, Filled::new(0, 0));
        fresh.put_into(map.into_memory());
        map = fresh;
        let mut model = std::collections::BTreeMap::new();
        for i in 0..3_000 {
            let s = stream.at(round).at(i);
            let (lpn, ppa) = (
                Lpn(s.at(0).below(pages)),
                Ppa::new(
                    SuperblockId(s.at(1).below(20) as u32),
                    s.at(2).below(96) as u32,
                ),
            );
            map.set(lpn, Mapping::At(ppa));
            model.insert(lpn.0, ppa);
            if i % 100 == 0 {
                for (lpn, ppa) in &model {
                    assert_eq!(map.at(Lpn(*lpn)), Some(*ppa), "{round} {i}");
                }
            }
        }
    }
}

/// The journal counts each page that is trimmed alone or lost once, as long as it is, and of a region that is trimmed as a
/// whole none.
#[test]
fn model_the_journal_counts_pages_trimmed_alone() {
    let pages = 3 * REGION_PAGES + 100;
    for seed in 0..20 {
        let s = firstread_core::Stream::new(seed).named("journal");
        let mut map = Map::new(pages, 40, 96, Filled::new(1 << 20, 0));
        let mut alone = std::collections::BTreeSet::new();
        for i in 0..400 {
            let draw = s.at(i);
            let lpn = draw.at(0).below(pages);
            match draw.at(1).below(8) {
                0 => {
                    let region = lpn / REGION_PAGES * REGION_PAGES;
                    let end = (region + REGION_PAGES).min(pages);
                    assert_eq!(map.journal_pages_of_trim(region, end), 0);
                    map.trim(region, end, i, |_, _| {});
                    alone.retain(|page| !(region..end).contains(page));
                }
                1 => {
                    map.set(Lpn(lpn), Mapping::Lost);
                    alone.insert(lpn);
                }
                2..5 => {
                    let end = lpn + 1 + draw.at(2).below(200);
                    let most = map.journal_pages_of_trim(lpn, end);
                    let trimmed = u64::from(map.trim(lpn, end, i, |_, _| {}));
                    let is_whole = lpn.is_multiple_of(REGION_PAGES) && most == 0;
                    assert!(is_whole || trimmed == most, "seed {seed}, step {i}");
                    match is_whole {
                        true => alone.retain(|page| !(lpn..lpn + trimmed).contains(page)),
                        false => alone.extend(lpn..lpn + trimmed),
                    }
                }
                _ => {
                    map.set(Lpn(lpn), Mapping::At(Ppa::new(SuperblockId(3), 5)));
                    alone.remove(&lpn);
                }
            }
            let counted = map.journal_pages();
            assert_eq!(counted, alone.len() as u64, "seed {seed}, step {i}");
        }
    }
}

/// Where the journal is nearly full, pages that it has already cost nothing, a region whose last data are trimmed is trimmed
/// whole, and what is lost is not forgotten by that.
#[test]
fn formula_a_trim_finds_room_in_a_full_journal() {
    let mut map = Map::new(2 * REGION_PAGES, 40, 300, Filled::new(1 << 20, 0));
    for lpn in 0..8 {
        map.set(Lpn(lpn), Mapping::At(Ppa::new(SuperblockId(1), lpn as u32)));
    }
    let asked = |map: &Map<Filled>, most| map.scope_of_trim(0, 4, most);
    assert_eq!(asked(&map, 3), TrimScope::Nothing(4));
    assert_eq!(asked(&map, 4), TrimScope::Asked);
    map.trim(2, 4, 1, |_, _| {});
    assert_eq!(asked(&map, 3), TrimScope::Nothing(4));
    assert_eq!(asked(&map, 4), TrimScope::Asked, "two of four are new");
    map.trim(4, 8, 1, |_, _| {});
    assert_eq!(
        asked(&map, 0),
        TrimScope::Region(0),
        "the rest holds nothing"
    );
    map.set(Lpn(9), Mapping::Lost);
    assert_eq!(asked(&map, 0), TrimScope::Nothing(4));
}

#[derive(Debug)]
struct Filled(std::vec::Vec<u8>);

impl Filled {
    fn new(bytes: usize, byte: u8) -> Filled {
        Filled(std::vec![byte; bytes])
    }
}

impl firstread_core::InitialContents for Filled {}

impl firstread_core::Arena for Filled {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}
