//! Layers and strings of a block.

use super::error::{ProfileError, Reason, bad};
use super::field::{Field, Kind, Numbers, Source, choose, unit};

/// Layers and strings of a block. A wordline index runs over `layers * strings_per_layer`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ArrayProfile {
    /// Word-line layers of the stack.
    pub layers: u16,
    /// Strings that share a layer, each a wordline of its own to the firmware.
    pub strings_per_layer: u16,
    /// Whether layers or strings vary faster in the wordline index.
    pub order: WordlineOrder,
}

/// How wordline indices map to layers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WordlineOrder {
    /// `layer = wordline / strings_per_layer`: all strings of a layer, then the next layer.
    LayerByLayer,
    /// `layer = wordline % layers`: all layers of a string, then the next string.
    StringByString,
}

impl WordlineOrder {
    const NAMES: [(&str, WordlineOrder); 2] = [
        ("layer-by-layer", WordlineOrder::LayerByLayer),
        ("string-by-string", WordlineOrder::StringByString),
    ];
}

const LAYERS: Field = Field::new("layers", unit::ONE, 1.0, 2_000.0).of_kind(Kind::Whole);
const STRINGS: Field =
    Field::new("strings_per_layer", unit::ONE, 1.0, 30_000.0).of_kind(Kind::Whole);

impl ArrayProfile {
    /// Wordlines of a block.
    pub const fn wordlines(&self) -> u32 {
        self.layers as u32 * self.strings_per_layer as u32
    }
}

impl Numbers for ArrayProfile {
    fn read(from: &dyn Source) -> ArrayProfile {
        ArrayProfile {
            layers: from.number(&LAYERS) as u16,
            strings_per_layer: from.number(&STRINGS) as u16,
            order: choose(from, "order", &WordlineOrder::NAMES),
        }
    }

    fn check(&self, table: &str) -> Result<(), ProfileError> {
        LAYERS.check(table, self.layers as f64)?;
        STRINGS.check(table, self.strings_per_layer as f64)?;
        if self.wordlines() > u16::MAX as u32 {
            return Err(bad(
                table,
                Reason::Rule("more than 65,535 wordlines in a block"),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_a_block_has_at_most_65535_wordlines() {
        let array = |layers, strings_per_layer| ArrayProfile {
            layers,
            strings_per_layer,
            order: WordlineOrder::LayerByLayer,
        };
        assert_eq!(array(176, 8).wordlines(), 1408);
        for (layers, strings, key) in [
            (176, 8, None),
            (257, 255, None),
            (256, 256, Some("array")),
            (0, 8, Some("array.layers")),
            (2001, 1, Some("array.layers")),
            (8, 0, Some("array.strings_per_layer")),
        ] {
            let error = array(layers, strings)
                .check("array")
                .map_err(|e| e.key)
                .err();
            assert_eq!(error.as_deref(), key, "{layers} x {strings}");
        }
    }
}
