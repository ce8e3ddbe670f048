//! Cells that are known by the retries of their pages alone: a formula says how many wrong bits each entry of the
//! factory's retry table leaves.

use firstread_core::voltage::VoltageTables;
use firstread_core::{CellMode, LevelOffsets, Levels, PageAddr, SuperblockId};
use firstread_nand::BlockState;
use firstread_nand::formula::{RetryFormula, Worn};
use thiserror::Error;

use super::sensed::Sensed;
use super::{Cells, Errors};
use crate::tables::DriveTables;

/// The factory's table is too short for pages that are known by their retries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(
    "pages in {} mode are read by up to {} entries of the factory's retry table, and only the first {distinct} of this mode \
     differ from those before them: change `chip.factory_table`",
    .mode.name(),
    .retries + 1
)]
pub struct ShortTable {
    /// Cell mode of the table.
    pub mode: CellMode,
    /// Retries that its pages may need.
    pub retries: u8,
    /// Entries from the first on that all differ.
    pub distinct: u8,
}

/// The formula of a drive, with what it is looked up by.
#[derive(Clone)]
pub(crate) struct ByRetries {
    formula: RetryFormula,
    /// Entries of the factory's table, by mode.
    entries: [Box<[LevelOffsets]>; CellMode::ALL.len()],
    /// Wear of each superblock's pages, with the mode and the P/E cycles that it was computed for.
    worn: Vec<Option<(CellMode, u32, Worn)>>,
}

impl ByRetries {
    /// Of a drive with `superblocks` whose firmware walks `tables`.
    pub(crate) fn new(
        formula: RetryFormula,
        tables: &DriveTables,
        superblocks: u32,
    ) -> Result<ByRetries, ShortTable> {
        let mut entries: [Box<[LevelOffsets]>; CellMode::ALL.len()] = Default::default();
        for table in [&tables.own].into_iter().chain(&tables.others) {
            let (mode, retries) = (table.mode, formula.most_retries(table.mode));
            let all = entries_of(table);
            let is_new = |&k: &usize| !all[..k].contains(&all[k]);
            let distinct = (0..all.len()).take_while(is_new).count() as u8;
            if distinct <= retries {
                return Err(ShortTable {
                    mode,
                    retries,
                    distinct,
                });
            }
            entries[mode as usize] = all;
        }
        Ok(ByRetries {
            formula,
            entries,
            worn: vec![None; superblocks as usize],
        })
    }

    /// The entry whose levels are `offsets`, and how the pages of `block` are worn.
    #[inline]
    fn look_up(
        &mut self,
        at: SuperblockId,
        block: &BlockState,
        offsets: &LevelOffsets,
    ) -> (u8, Worn) {
        let BlockState {
            mode, pe_cycles, ..
        } = *block;
        let mut entries = self.entries[mode as usize].iter();
        let entry = entries.position(|entry| entry == offsets);
        let entry = entry.expect("a drive without voltages is read by the factory's table") as u8;
        let worn = match self.worn[at.0 as usize] {
            Some((of, at, worn)) if (of, at) == (mode, pe_cycles) => worn,
            _ => {
                let worn = self.formula.worn(mode, pe_cycles);
                self.worn[at.0 as usize] = Some((mode, pe_cycles, worn));
                worn
            }
        };
        (entry, worn)
    }
}

/// The entries of `table` as reads have them.
fn entries_of(table: &VoltageTables) -> Box<[LevelOffsets]> {
    table.factory[..table.factory_len as usize].into()
}

impl Cells {
    /// A read of codewords `wanted` by an entry of the factory's table. All codewords of a page have the same share of
    /// wrong bits. The formula says nothing of how long the decoder works: each decode takes the fixed part of its time.
    #[inline(never)]
    pub(super) fn by_retries(
        &mut self,
        (superblock, at): (SuperblockId, PageAddr),
        wanted: u64,
        levels: &Levels,
    ) -> (Sensed, u64) {
        let (Errors::ByRetries(by), Levels::Offsets(offsets)) = (&mut self.errors, levels) else {
            unreachable!("a drive without voltages has no levels but the factory's")
        };
        let block = &self.blocks[superblock.0 as usize];
        let version = block.version;
        let (entry, worn) = by.look_up(superblock, block, offsets);
        let Errors::ByRetries(by) = &self.errors else {
            unreachable!("it was there above")
        };
        let kib = self.code.data_bytes().div_ceil(1024);
        let mut sensed = self.without_errors(wanted);
        let (mut left, mut planes) = (wanted, 0);
        while left != 0 {
            let (plane, start, page) = self.first_plane(left);
            left ^= page << start;
            planes += 1;
            let draw = self.medium.page_draw(at, plane, version);
            let bits = by.formula.wrong_bits(&worn, draw, entry);
            if RetryFormula::is_corrected(bits) {
                let corrected = bits as u32 * kib;
                sensed.max_errors = sensed.max_errors.max(corrected as u16);
                sensed.sum_errors += corrected * page.count_ones();
            } else {
                sensed.failed |= page << start;
            }
        }
        (sensed, planes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Library, load_drive};
    use crate::tables::for_drive;
    use firstread_core::{DieId, Ns, PageType};
    use firstread_firmware::policy::AXES;
    use firstread_nand::Medium;
    use firstread_nand::formula::TLC_SHARE_MILLIONTHS;

    /// What is kept of a superblock's wear is of its mode and its P/E cycles.
    #[test]
    fn formula_wear_is_looked_up_by_mode_and_cycles() {
        let profile = load_drive(&Library::new(), "raro-femu", &[], AXES).unwrap();
        let medium = Medium::new(profile.chip.clone(), profile.geometry, 1).unwrap();
        let (formula, tables) = (
            RetryFormula::raro(TLC_SHARE_MILLIONTHS),
            for_drive(&profile).unwrap(),
        );
        let mut by = ByRetries::new(formula.clone(), &tables, 2).unwrap();
        let mut look_up = |pe_cycles, table: &VoltageTables| {
            let block = medium.programmed(table.mode, pe_cycles, 0, Ns::ZERO);
            let expected = formula.worn(table.mode, pe_cycles);
            for _ in 0..2 {
                let found = by.look_up(SuperblockId(1), &block, &table.factory[1]);
                assert_eq!(found, (1, expected), "{:?}, {pe_cycles} P/E", table.mode);
            }
        };
        for pe_cycles in [333, 334, 1000] {
            look_up(pe_cycles, &tables.own);
        }
        tables.others.iter().for_each(|table| look_up(1000, table));
    }

    /// Every page has a draw of its own, and another one each time that it is programmed.
    #[test]
    fn formula_draws_of_pages_all_differ() {
        let profile = load_drive(&Library::new(), "raro-femu", &[], AXES).unwrap();
        let medium = |seed| Medium::new(profile.chip.clone(), profile.geometry, seed).unwrap();
        let at = PageAddr {
            die: DieId(1),
            block: SuperblockId(7),
            wordline: 9,
            page: PageType(2),
        };
        let one = medium(1).page_draw(at, 0, 3);
        assert_eq!(one, medium(1).page_draw(at, 0, 3));
        let (die, block) = (DieId(2), SuperblockId(8));
        for other in [
            PageAddr { die, ..at },
            PageAddr { block, ..at },
            PageAddr { wordline: 8, ..at },
            PageAddr {
                page: PageType(3),
                ..at
            },
        ] {
            assert_ne!(one, medium(1).page_draw(other, 0, 3), "{other:?}");
        }
        assert_ne!(one, medium(1).page_draw(at, 1, 3), "plane");
        assert_ne!(one, medium(1).page_draw(at, 0, 4), "version");
        assert_ne!(one, medium(2).page_draw(at, 0, 3), "seed");
    }
}
