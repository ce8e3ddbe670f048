//! The axis of what the host has written.

use crate::figure::Axis;

/// Units of bytes, and how many bytes one has.
const UNITS: [(&str, f64); 5] = [
    ("PB", 1e15),
    ("TB", 1e12),
    ("GB", 1e9),
    ("MB", 1e6),
    ("kB", 1e3),
];

/// The unit of an axis of bytes that the host has written: the largest of which there is one at least.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Written {
    name: &'static str,
    unit_bytes: f64,
}

impl Written {
    /// The unit for up to `most` bytes.
    pub fn up_to(most: f64) -> Written {
        let unit = UNITS.iter().find(|(_, bytes)| most >= *bytes);
        let (name, unit_bytes) = *unit.unwrap_or(&UNITS[4]);
        Written { name, unit_bytes }
    }

    /// `bytes` in the unit.
    pub fn of(self, bytes: f64) -> f64 {
        bytes / self.unit_bytes
    }

    pub fn axis(self) -> Axis {
        Axis::linear(&format!("Written by the host ({})", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_an_axis_has_the_unit_of_its_largest_value() {
        for (most, name, value) in [
            (2.5e15, "PB", 2.5),
            (999e12, "TB", 999.0),
            (1e12, "TB", 1.0),
            (250e6, "MB", 250.0),
            (10.0, "kB", 0.01),
        ] {
            let written = Written::up_to(most);
            assert_eq!(written.name, name, "{most}");
            assert!((written.of(most) - value).abs() < 1e-9, "{most}");
        }
    }
}
