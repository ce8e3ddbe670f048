//! Tables of short senses that this process has characterized: that takes longer than many runs do, and most drives of a
//! process have the same few chips.

use std::sync::{Mutex, PoisonError};

use firstread_core::CellMode;
use firstread_core::sensing::SensingTable;
use firstread_nand::ChipProfile;
use firstread_nand::sensing::CodeStrength;

/// Tables that are kept at most, the latest ones.
const MOST: usize = 64;

/// All that a table depends on.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Of {
    pub chip: ChipProfile,
    pub mode: CellMode,
    pub strength: CodeStrength,
}

/// The tables that are known.
#[derive(Debug)]
pub(super) struct Known(Mutex<Vec<(Of, SensingTable)>>);

impl Known {
    pub(super) const fn new() -> Known {
        Known(Mutex::new(Vec::new()))
    }

    /// The table of `of`, which is made where it is not known. Threads that ask at once may both make it: it is the same.
    pub(super) fn get<E>(
        &self,
        of: Of,
        make: impl FnOnce(&Of) -> Result<SensingTable, E>,
    ) -> Result<SensingTable, E> {
        let all = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, table)) = all().iter().find(|(known, _)| *known == of) {
            return Ok(*table);
        }
        let table = make(&of)?;
        let mut all = all();
        if all.len() >= MOST {
            all.remove(0);
        }
        all.push((of, table));
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::profile::{Library, load_chip};

    /// A table is made once, and never taken for that of another chip, mode or code; of many the latest are kept.
    #[test]
    fn sequence_a_table_is_made_once() {
        let chip = load_chip(&Library::new(), "ct-tlc-48l", &[]).unwrap().chip;
        let other = ChipProfile {
            dac_step_mv: 2.0 * chip.dac_step_mv,
            ..chip.clone()
        };
        assert_ne!(chip, other);
        let of = |chip: &ChipProfile, mode, capability_bits| Of {
            chip: chip.clone(),
            mode,
            strength: CodeStrength {
                capability_bits,
                codeword_bits: 9_000,
            },
        };
        let (known, made) = (Known::new(), Cell::new(0));
        let get = |of: Of| {
            let make = |of: &Of| {
                made.set(made.get() + 1);
                Ok::<_, &str>(SensingTable {
                    capability_bits: of.strength.capability_bits,
                    activation_mev: made.get(),
                    ..SensingTable::NOTHING
                })
            };
            known.get(of, make).unwrap().activation_mev
        };
        let all = [
            of(&chip, CellMode::Tlc, 72),
            of(&chip, CellMode::Slc, 72),
            of(&chip, CellMode::Tlc, 71),
            of(&other, CellMode::Tlc, 72),
        ];
        for _ in 0..2 {
            assert_eq!(all.clone().map(get), [1, 2, 3, 4]);
        }
        // A failure is not kept.
        let fails = |_: &Of| Err("no such mode");
        assert!(known.get(of(&chip, CellMode::Tlc, 0), fails).is_err());
        let first = get(of(&chip, CellMode::Tlc, 0));
        for bits in 1..=MOST as u16 {
            assert_eq!(get(of(&chip, CellMode::Mlc, bits)), first + bits);
        }
        let last = of(&chip, CellMode::Mlc, MOST as u16);
        assert_eq!(get(last), first + MOST as u16);
        assert_eq!(get(of(&chip, CellMode::Tlc, 72)), first + MOST as u16 + 1);
    }
}
