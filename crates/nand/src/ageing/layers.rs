//! Systematic differences between layers: holes taper with depth, so cells differ in field and
//! width. A smooth profile over the stack and factors for the edge wordlines. Null: zero spans and
//! no edge layers.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::profile::{ChipProfile, LayerShape, WordlineOrder};

/// What a wordline takes from its layer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LayerFactors {
    /// On retention.
    pub retention: f32,
    /// On standard deviations.
    pub sigma: f32,
    /// Added to programmed states (mV).
    pub offset_mv: f32,
}

/// The layer of `wordline`.
pub fn layer_of(chip: &ChipProfile, wordline: u16) -> u16 {
    match chip.array.order {
        WordlineOrder::LayerByLayer => wordline / chip.array.strings_per_layer,
        WordlineOrder::StringByString => wordline % chip.array.layers,
    }
}

/// The layer of each of `wordlines` wordlines, an even choice among those of a block.
pub fn of_wordlines(chip: &ChipProfile, wordlines: u16) -> Box<[u16]> {
    let (have, want) = (chip.wordlines(), wordlines as u32);
    let of = |w| layer_of(chip, (w * have / want) as u16);
    (0..want).map(of).collect()
}

/// The factors of `layer`.
pub fn of_layer(chip: &ChipProfile, layer: u16) -> LayerFactors {
    let l = &chip.layers;
    let n = chip.array.layers;
    let u = if n > 1 {
        2.0 * layer as f64 / (n as f64 - 1.0) - 1.0
    } else {
        0.0
    };
    let x = match l.shape {
        LayerShape::Linear => u,
        LayerShape::Bowed => 2.0 * u * u - 1.0,
    };
    let edge = layer < l.edge_layers || layer + l.edge_layers >= n;
    let factor = |f: f64| if edge && l.edge_layers > 0 { f } else { 1.0 };
    LayerFactors {
        retention: ((1.0 + l.retention_span * x) * factor(l.edge_retention_factor)) as f32,
        sigma: ((1.0 + l.sigma_span * 0.5 * (x + 1.0)) * factor(l.edge_sigma_factor)) as f32,
        offset_mv: (l.offset_span_mv * x) as f32,
    }
}

/// The factors of every layer, and their mean: the layer of the nominal page.
pub fn table(chip: &ChipProfile) -> (Vec<LayerFactors>, LayerFactors) {
    let table: Vec<LayerFactors> = (0..chip.array.layers).map(|l| of_layer(chip, l)).collect();
    let n = table.len() as f64;
    let mean = |f: fn(&LayerFactors) -> f32| {
        let sum: f64 = table.iter().map(|l| f(l) as f64).sum();
        (sum / n) as f32
    };
    let nominal = LayerFactors {
        retention: mean(|l| l.retention),
        sigma: mean(|l| l.sigma),
        offset_mv: mean(|l| l.offset_mv),
    };
    (table, nominal)
}
