//! Systematic differences between layers: channel holes taper with depth, so cells differ in field and width.
//! A smooth profile over the stack, and factors for the edge wordlines. Null: zero spans and no edge layers.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::profile::array::{ArrayProfile, WordlineOrder};
use crate::profile::error::{ProfileError, Reason, bad};
use crate::profile::field::{Field, Kind, Numbers, Source, choose, path, unit};

/// Systematic differences between layers. `x` runs from -1 at the first layer to 1 at the last (`Linear`), or
/// is `x = 2 u^2 - 1` with `u` from -1 to 1 (`Bowed`: both ends are alike, and the middle is the other
/// extreme). Null: zero spans, `edge_layers = 0`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LayerProfile {
    /// Shape of the systematic profile.
    pub shape: LayerShape,
    /// Retention is multiplied by `1 + retention_span * x`.
    pub retention_span: f64,
    /// Where in the span the standard deviations of the profile lie.
    pub sigma_from: SigmaFrom,
    /// Standard deviations are multiplied by `1 + sigma_span * (x + 1) / 2` (`Narrowest`), or by
    /// `1 + sigma_span * x / 2` (`Middle`).
    pub sigma_span: f64,
    /// Programmed states are offset by `offset_span_mv * x` (mV).
    pub offset_span_mv: f64,
    /// Layers at each end of the stack that count as edge.
    pub edge_layers: u16,
    /// Retention of edge layers is multiplied by this.
    pub edge_retention_factor: f64,
    /// Standard deviations of edge layers are multiplied by this.
    pub edge_sigma_factor: f64,
}

/// Shape of the layer profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LayerShape {
    /// From one extreme at the first layer to the other at the last.
    Linear,
    /// Both ends at one extreme, the middle at the other.
    Bowed,
}

impl LayerShape {
    const NAMES: [(&str, LayerShape); 2] =
        [("linear", LayerShape::Linear), ("bowed", LayerShape::Bowed)];
}

/// Which layer the standard deviations of a profile are those of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SigmaFrom {
    /// The narrowest, at `x = -1`: every other layer is wider, and so is the nominal page.
    Narrowest,
    /// The one in the middle, at `x = 0`: layers are narrower and wider by the same, and the nominal page of a
    /// `Linear` stack has what the profile says.
    Middle,
}

impl SigmaFrom {
    const NAMES: [(&str, SigmaFrom); 2] = [
        ("narrowest", SigmaFrom::Narrowest),
        ("middle", SigmaFrom::Middle),
    ];

    /// What is added to `x` before it is multiplied by half the span.
    fn ahead(self) -> f64 {
        match self {
            SigmaFrom::Narrowest => 1.0,
            SigmaFrom::Middle => 0.0,
        }
    }
}

const RETENTION_SPAN: Field = Field::new("retention_span", unit::X, -0.9, 0.9);
const SIGMA_SPAN: Field = Field::new("sigma_span", unit::X, -0.9, 10.0);
/// Largest span about the middle layer: the narrowest then has a tenth of the middle's width.
const WIDEST_ABOUT_MIDDLE: f64 = 1.8;
const OFFSET_SPAN: Field = Field::new("offset_span", unit::MV, -500.0, 500.0);
const EDGE_LAYERS: Field = Field::new("edge_layers", unit::ONE, 0.0, 1_000.0).of_kind(Kind::Whole);
const EDGE_RETENTION: Field = Field::new("edge_retention_factor", unit::X, 0.0, 10.0);
const EDGE_SIGMA: Field = Field::new("edge_sigma_factor", unit::X, 0.1, 10.0);

impl Numbers for LayerProfile {
    fn read(from: &dyn Source) -> LayerProfile {
        LayerProfile {
            shape: choose(from, "shape", &LayerShape::NAMES),
            retention_span: from.number(&RETENTION_SPAN),
            sigma_from: choose(from, "sigma_from", &SigmaFrom::NAMES),
            sigma_span: from.number(&SIGMA_SPAN),
            offset_span_mv: from.number(&OFFSET_SPAN),
            edge_layers: from.number(&EDGE_LAYERS) as u16,
            edge_retention_factor: from.number(&EDGE_RETENTION),
            edge_sigma_factor: from.number(&EDGE_SIGMA),
        }
    }

    fn check(&self, table: &str) -> Result<(), ProfileError> {
        RETENTION_SPAN.check(table, self.retention_span)?;
        SIGMA_SPAN.check(table, self.sigma_span)?;
        if self.sigma_from == SigmaFrom::Middle && self.sigma_span > WIDEST_ABOUT_MIDDLE {
            return Err(bad(
                path(table, SIGMA_SPAN.key),
                Reason::Rule(
                    "more than 180 % about the middle layer leaves the first one no width",
                ),
            ));
        }
        OFFSET_SPAN.check(table, self.offset_span_mv)?;
        EDGE_LAYERS.check(table, self.edge_layers as f64)?;
        EDGE_RETENTION.check(table, self.edge_retention_factor)?;
        EDGE_SIGMA.check(table, self.edge_sigma_factor)
    }
}

impl LayerProfile {
    /// Whether the profile is valid for a stack of `layers` layers.
    pub(crate) fn suits(&self, table: &str, layers: u16) -> Result<(), ProfileError> {
        if self.edge_layers > layers / 2 {
            return Err(bad(
                path(table, EDGE_LAYERS.key),
                Reason::Rule("more than half of the stack"),
            ));
        }
        Ok(())
    }
}

/// Effect of its layer on a wordline.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LayerFactors {
    /// Factor on retention.
    pub retention: f32,
    /// Factor on standard deviations.
    pub sigma: f32,
    /// Offset of programmed states (mV).
    pub offset_mv: f32,
}

/// The layer of `wordline`.
pub fn layer_of(array: &ArrayProfile, wordline: u16) -> u16 {
    match array.order {
        WordlineOrder::LayerByLayer => wordline / array.strings_per_layer,
        WordlineOrder::StringByString => wordline % array.layers,
    }
}

/// The layer of each of `wordlines` wordlines, an even selection of those of a block.
pub fn of_wordlines(array: &ArrayProfile, wordlines: u16) -> Box<[u16]> {
    let (have, want) = (array.wordlines(), wordlines as u32);
    let of = |w| layer_of(array, (w * have / want) as u16);
    (0..want).map(of).collect()
}

/// The factors of `layer` of `n`.
pub fn of_layer(l: &LayerProfile, n: u16, layer: u16) -> LayerFactors {
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
    let factor = |f: f64| if edge { f } else { 1.0 };
    LayerFactors {
        retention: ((1.0 + l.retention_span * x) * factor(l.edge_retention_factor)) as f32,
        sigma: ((1.0 + l.sigma_span * 0.5 * (x + l.sigma_from.ahead()))
            * factor(l.edge_sigma_factor)) as f32,
        offset_mv: (l.offset_span_mv * x) as f32,
    }
}

/// The factors of each of `n` layers, and their mean, which is the layer of the nominal page.
pub fn table(profile: &LayerProfile, n: u16) -> (Vec<LayerFactors>, LayerFactors) {
    let table: Vec<LayerFactors> = (0..n).map(|l| of_layer(profile, n, l)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;

    #[test]
    fn formula_wordlines_lie_in_the_layers_of_their_order() {
        let mut array = ArrayProfile {
            layers: 6,
            strings_per_layer: 4,
            order: WordlineOrder::LayerByLayer,
        };
        assert_eq!([0, 3, 4, 23].map(|w| layer_of(&array, w)), [0, 0, 1, 5]);
        assert_eq!(
            *of_wordlines(&array, 24),
            [
                0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5
            ]
        );
        // An even selection: each third wordline.
        assert_eq!(*of_wordlines(&array, 8), [0, 0, 1, 2, 3, 3, 4, 5]);
        array.order = WordlineOrder::StringByString;
        assert_eq!([0, 5, 6, 23].map(|w| layer_of(&array, w)), [0, 5, 0, 5]);
        assert_eq!(*of_wordlines(&array, 8), [0, 3, 0, 3, 0, 3, 0, 3]);
    }

    /// Shares of the spans at the ends, in the middle and between, by hand.
    #[test]
    fn formula_factors_follow_the_shape_of_the_profile() {
        let mut profile = LayerProfile {
            retention_span: 0.2,
            sigma_span: 0.1,
            offset_span_mv: 8.0,
            ..reference::ct_a().layers
        };
        let near = |layer: u16, [retention, sigma, offset_mv]: [f32; 3], profile: &LayerProfile| {
            let is = of_layer(profile, 9, layer);
            let off = (is.retention - retention)
                .abs()
                .max((is.sigma - sigma).abs());
            assert!(
                off.max((is.offset_mv - offset_mv).abs()) < 1e-5,
                "layer {layer}: {is:?}"
            );
        };
        for (layer, factors) in [
            (0, [0.8, 1.0, -8.0]),
            (2, [0.9, 1.025, -4.0]),
            (4, [1.0, 1.05, 0.0]),
            (8, [1.2, 1.1, 8.0]),
        ] {
            near(layer, factors, &profile);
        }
        profile.shape = LayerShape::Bowed;
        profile.sigma_from = SigmaFrom::Middle;
        for (layer, factors) in [
            (0, [1.2, 1.05, 8.0]),
            (2, [0.9, 0.975, -4.0]),
            (4, [0.8, 0.95, -8.0]),
            (8, [1.2, 1.05, 8.0]),
        ] {
            near(layer, factors, &profile);
        }
        // Two layers at each end, and not the third.
        profile.shape = LayerShape::Linear;
        (
            profile.edge_layers,
            profile.edge_retention_factor,
            profile.edge_sigma_factor,
        ) = (2, 2.0, 3.0);
        for (layer, [retention, sigma]) in [
            (0, [1.6, 2.85]),
            (1, [1.7, 2.8875]),
            (2, [0.9, 0.975]),
            (6, [1.1, 1.025]),
            (7, [2.3, 3.1125]),
            (8, [2.4, 3.15]),
        ] {
            near(
                layer,
                [retention, sigma, 2.0 * f32::from(layer) - 8.0],
                &profile,
            );
        }
        profile.edge_layers = 0;
        near(0, [0.8, 0.95, -8.0], &profile);
        let one = of_layer(&profile, 1, 0);
        assert_eq!(
            (one.retention, one.offset_mv),
            (1.0, 0.0),
            "one layer is in the middle"
        );
    }

    #[test]
    fn formula_the_nominal_layer_is_the_mean_of_all() {
        let mut profile = reference::ct_a().layers;
        profile.offset_span_mv = 10.0;
        profile.shape = LayerShape::Bowed;
        // x is 1, -0.5 and 1 of the ends and the quarter points: -1 in the middle. The mean of five is 0.
        let (all, nominal) = table(&profile, 5);
        let x: Vec<f32> = all.iter().map(|l| l.offset_mv / 10.0).collect();
        assert_eq!(x, [1.0, -0.5, -1.0, -0.5, 1.0]);
        assert!(nominal.offset_mv.abs() < 1e-6 && (nominal.retention - 1.0).abs() < 1e-6);
        assert!((nominal.sigma - 1.035).abs() < 1e-6);
    }

    #[test]
    fn formula_edges_are_at_most_half_of_the_stack() {
        let mut profile = reference::ct_a().layers;
        for (edge_layers, fits) in [(0, true), (4, true), (5, false)] {
            profile.edge_layers = edge_layers;
            assert_eq!(
                profile.suits("layers", 9).is_ok(),
                fits,
                "{edge_layers} of 9"
            );
        }
        profile.sigma_from = SigmaFrom::Middle;
        for (span, fits) in [(1.8, true), (1.801, false)] {
            profile.sigma_span = span;
            assert_eq!(profile.check("layers").is_ok(), fits, "{span}");
        }
    }
}
