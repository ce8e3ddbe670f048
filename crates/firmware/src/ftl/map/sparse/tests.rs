//! The table compared with a `BTreeMap`; ownership of blocks; memory use.

use super::super::tests::Memory;
use super::*;
use firstread_core::Stream;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

/// A table that treats its pages as part of a large drive.
fn table(pages: u64) -> SparseTable<Memory> {
    SparseTable {
        regions: vec![Region::EMPTY; pages.div_ceil(REGION_PAGES) as usize].into(),
        ..SparseTable::new(SMALL_PAGES + 1, Memory::default())
    }
}
/// Makes room for exactly one change. New memory has arbitrary contents.
fn make_room(table: &mut SparseTable<Memory>) {
    while !table.has_room(1) {
        table.grow(|m| m.bytes.resize(m.bytes.len() + 5_000, 0xa5));
    }
}

impl SparseTable<Memory> {
    /// Checks that every frame and block has one owner, which knows it, and that the counts add up.
    fn check(&self) {
        let mut frames = BTreeSet::new();
        let mut add = |f: u32| assert!(frames.insert(f), "frame {f} has two owners");
        let mut free = self.free;
        let mut unused = (self.memory_bytes() / FRAME) as u32 - self.used;
        while free != NONE {
            add(free);
            unused += 1;
            free = self.link(free);
        }
        assert_eq!(self.available, unused);
        let mut blocks = BTreeMap::new();
        for (r, region) in self.regions.iter().enumerate() {
            match region.class() {
                0 => assert_eq!(region.entries(), 0),
                FLAT => add((region.offset() / FRAME) as u32),
                class => {
                    assert!((1..=ROOM[class] as usize).contains(&region.entries()));
                    assert_eq!(blocks.insert(region.offset(), (class, r)), None);
                }
            }
        }
        for (class, Class { frame, blocks: n }) in self.classes.iter().enumerate().skip(1) {
            let (mut frame, mut n) = (*frame, *n);
            while frame != NONE {
                add(frame);
                assert!((1..=blocks_per_frame(class)).contains(&n));
                for at in (0..n).map(|b| block_at(class, frame, b)) {
                    let owner = load(self.memory.bytes(), at) as u32 as usize;
                    assert_eq!(blocks.remove(&at), Some((class, owner)));
                }
                (frame, n) = (self.link(frame), blocks_per_frame(class));
            }
        }
        assert_eq!(
            blocks,
            BTreeMap::new(),
            "blocks outside the frames of their size"
        );
        assert_eq!(frames.len() as u32, self.used, "frames without an owner");
    }
}

/// Pages up to the middle of the last region.
const PAGES: u64 = 29 * REGION_PAGES + 2_000;

#[derive(Clone, Debug)]
enum Step {
    /// First page, number of pages, distance between them.
    Stride(u64, u64, u64),
    /// First page, last page, number of pages drawn between them.
    Draw(u64, u64, u64),
    Clear(u64),
    Retain(u64),
    /// As `Retain`; then all dropped pages are set again in another order, with no more memory than one
    /// change needs.
    Recover(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let page = || 0..PAGES;
    prop_oneof![
        6 => (page(), 1u64..3_000, 1u64..100).prop_map(|(a, n, s)| Step::Stride(a, n, s)),
        6 => (page(), page(), 1u64..9_000).prop_map(|(a, b, n)| Step::Draw(a.min(b), a.max(b), n)),
        4 => page().prop_map(Step::Clear),
        1 => (2u64..1_000).prop_map(Step::Retain),
        1 => (2u64..1_000).prop_map(Step::Recover),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn model_a_sparse_table_is_a_map(steps in prop::collection::vec(step(), 1..40), seed: u64) {
        let stream = Stream::new(seed);
        let mut table = match seed % 3 {
            0 => SparseTable::new(PAGES, Memory::default()),
            _ => table(PAGES),
        };
        let mut model = BTreeMap::new();
        let mut marked = BTreeSet::new();
        for (i, step) in steps.into_iter().enumerate() {
            let draws = stream.at(i as u64);
            let pages: Vec<u64> = match step {
                Step::Stride(first, n, stride) => {
                    (0..n).map(|i| first + i * stride).take_while(|&p| p < PAGES).collect()
                }
                Step::Draw(from, to, n) => {
                    (0..n).map(|i| from + draws.at(i).below(to - from + 1)).collect()
                }
                Step::Clear(page) => {
                    table.clear_region(page);
                    model.retain(|p, _| p / REGION_PAGES != page / REGION_PAGES);
                    marked.insert(page / REGION_PAGES);
                    Vec::new()
                }
                Step::Retain(n) => {
                    table.retain(|value| value % n == 0);
                    model.retain(|_, value| *value % n == 0);
                    Vec::new()
                }
                Step::Recover(n) => {
                    make_room(&mut table);
                    let before = table.available;
                    let mut forgotten: Vec<(u64, u64)> = model
                        .iter()
                        .filter(|(_, value)| *value % n != 0)
                        .map(|(&page, &value)| (page, value))
                        .collect();
                    table.retain(|value| value % n == 0);
                    forgotten.sort_unstable_by_key(|&(page, _)| draws.at(page).below(u64::MAX));
                    for (page, value) in forgotten {
                        prop_assert_eq!(table.set(page, value), 0, "page {}", page);
                        prop_assert!(before <= table.available + table.frames_per_change);
                    }
                    Vec::new()
                }
            };
            for page in pages {
                make_room(&mut table);
                // The smallest and the largest value often occur.
                let value = match draws.at(page).below(4) {
                    0 => VALUE,
                    1 => 1,
                    _ => 1 + draws.at(page).at(1).below(VALUE),
                };
                let old = model.insert(page, value);
                prop_assert_eq!(table.set(page, value), old.unwrap_or(0), "page {}", page);
            }
            table.check();
        }
        for page in 0..PAGES {
            prop_assert_eq!(table.get(page), model.get(&page).copied().unwrap_or(0), "page {}", page);
            prop_assert_eq!(table.is_marked(page), marked.contains(&(page / REGION_PAGES)));
        }
    }
}

#[test]
fn formula_a_change_takes_no_more_than_its_room() {
    // A region grows through all sizes, while other regions use the sizes that it leaves, or do not.
    for others in [0, 2, 40] {
        let mut table = table((others + 1) * REGION_PAGES);
        for key in 0..REGION_PAGES {
            for other in 0..others {
                make_room(&mut table);
                table.set(other * REGION_PAGES + key, 7);
            }
            if key % 97 == 5 || key + 1 == REGION_PAGES {
                make_room(&mut table);
                let before = table.available;
                // A trim of pages of the region, as one change.
                (0..=key).for_each(|k| {
                    table.set(others * REGION_PAGES + k, 9);
                });
                assert!(before - table.available <= table.frames_per_change);
                table.check();
                table.clear_region(others * REGION_PAGES);
            }
        }
    }
}

#[test]
fn formula_random_overwrites_take_few_bytes_each() {
    // 1.7, 11, 109, 340 and 1,000 pages per region. On a drive of 15.36 TB these are 1.5, 10, 100, 311 and
    // 916 million pages.
    for (writes, per_region, most) in [
        (100_000u64, 1.7, 40.0),
        (156_250, 10.9, 11.5),
        (500_000, 109.0, 6.8),
        (1_500_000, 340.0, 6.7),
        (2_000_000, 1_000.0, 7.6),
    ] {
        let pages = (writes as f64 / per_region * REGION_PAGES as f64) as u64;
        let mut table = table(pages);
        let stream = Stream::new(5).named("overwrites");
        for i in 0..writes {
            while !table.has_room(1) {
                table.grow(|m| m.bytes.resize(m.bytes.len() + 100 * FRAME, 0));
            }
            table.set(stream.at(i).below(pages), 1 + i);
        }
        // Includes frames that are not full.
        let bytes = (table.used as usize * FRAME) as f64 / writes as f64;
        std::println!("{per_region} pages a region: {bytes:.2} bytes an overwrite");
        assert!(
            bytes <= most,
            "{per_region} a region: {bytes} bytes an overwrite"
        );
    }
}
