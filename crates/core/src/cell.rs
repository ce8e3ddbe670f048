//! Cell modes and page types.

/// Bits per cell. The mode belongs to a block and is chosen when the block is erased.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum CellMode {
    /// One bit, two states.
    Slc,
    /// Two bits, four states.
    Mlc,
    /// Three bits, eight states.
    Tlc,
    /// Four bits, sixteen states.
    Qlc,
}

impl CellMode {
    /// Every mode, fewest bits first.
    pub const ALL: [CellMode; 4] = [CellMode::Slc, CellMode::Mlc, CellMode::Tlc, CellMode::Qlc];

    /// Place of the mode in [`CellMode::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
    /// Bits per cell, which is also the number of pages per wordline.
    pub const fn bits(self) -> u8 {
        match self {
            CellMode::Slc => 1,
            CellMode::Mlc => 2,
            CellMode::Tlc => 3,
            CellMode::Qlc => 4,
        }
    }
    /// Threshold-voltage states.
    pub const fn states(self) -> usize {
        1 << self.bits()
    }
    /// Valleys between neighbouring states, one read level each.
    pub const fn valleys(self) -> usize {
        self.states() - 1
    }
    /// The name used in profiles and options.
    pub const fn name(self) -> &'static str {
        match self {
            CellMode::Slc => "slc",
            CellMode::Mlc => "mlc",
            CellMode::Tlc => "tlc",
            CellMode::Qlc => "qlc",
        }
    }
}

/// Page type: which page of its wordline. 0 is the LSB page, then CSB, MSB and TSB (for MLC: LSB, MSB).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Default)]
pub struct PageType(pub u8);

impl PageType {
    /// The usual name of this page in a block of `mode`.
    pub const fn name(self, mode: CellMode) -> &'static str {
        match (mode, self.0) {
            (CellMode::Slc, _) => "SLC",
            (_, 0) => "LSB",
            (CellMode::Mlc, _) => "MSB",
            (_, 1) => "CSB",
            (_, 2) => "MSB",
            _ => "TSB",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits, states and valleys of a cell as the field defines them.
    #[test]
    fn formula_a_cell_of_n_bits_has_two_to_the_n_states() {
        let table = [
            (CellMode::Slc, "slc", 1, 2, 1),
            (CellMode::Mlc, "mlc", 2, 4, 3),
            (CellMode::Tlc, "tlc", 3, 8, 7),
            (CellMode::Qlc, "qlc", 4, 16, 15),
        ];
        for (place, (mode, name, bits, states, valleys)) in table.into_iter().enumerate() {
            assert_eq!(CellMode::ALL[place], mode);
            assert_eq!((mode.index(), mode.name()), (place, name));
            let counts = (mode.bits(), mode.states(), mode.valleys());
            assert_eq!(counts, (bits, states, valleys), "{mode:?}");
        }
    }

    #[test]
    fn formula_pages_have_the_names_of_data_sheets() {
        let table: [(CellMode, &[&str]); 4] = [
            (CellMode::Slc, &["SLC"]),
            (CellMode::Mlc, &["LSB", "MSB"]),
            (CellMode::Tlc, &["LSB", "CSB", "MSB"]),
            (CellMode::Qlc, &["LSB", "CSB", "MSB", "TSB"]),
        ];
        for (mode, names) in table {
            assert_eq!(names.len(), usize::from(mode.bits()));
            for (page, name) in names.iter().enumerate() {
                assert_eq!(PageType(page as u8).name(mode), *name, "{mode:?} {page}");
            }
        }
    }
}
