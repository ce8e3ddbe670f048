//! Reasons to refuse a sense.

use core::fmt;

use firstread_core::{CellMode, DieId, PageType};

/// What a sense asked for that the medium does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SenseError {
    /// The chip has no such cell mode.
    Mode(CellMode),
    /// The mode has no such page type.
    Page(CellMode, PageType),
    /// The drive has no such die.
    Die(DieId),
    /// The block has no such wordline.
    Wordline(u16),
    /// The chip's stack has no such layer.
    Layer(u16),
    /// The mode has no such valley.
    Valley(CellMode, u8),
}

impl fmt::Display for SenseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SenseError::Mode(m) => write!(f, "the chip has no {} mode", m.name()),
            SenseError::Page(m, p) => write!(f, "{} mode has no page type {}", m.name(), p.0),
            SenseError::Die(d) => write!(f, "the drive has no die {}", d.0),
            SenseError::Wordline(w) => write!(f, "the block has no wordline {w}"),
            SenseError::Layer(l) => write!(f, "the stack has no layer {l}"),
            SenseError::Valley(m, v) => write!(f, "{} mode has no valley {v}", m.name()),
        }
    }
}

impl core::error::Error for SenseError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn golden_a_refused_sense_names_what_is_missing() {
        let mode = CellMode::Tlc;
        for (error, text) in [
            (SenseError::Mode(mode), "the chip has no tlc mode"),
            (
                SenseError::Page(mode, PageType(3)),
                "tlc mode has no page type 3",
            ),
            (SenseError::Die(DieId(9)), "the drive has no die 9"),
            (SenseError::Wordline(1408), "the block has no wordline 1408"),
            (SenseError::Layer(176), "the stack has no layer 176"),
            (SenseError::Valley(mode, 8), "tlc mode has no valley 8"),
        ] {
            assert_eq!(error.to_string(), text);
        }
    }
}
