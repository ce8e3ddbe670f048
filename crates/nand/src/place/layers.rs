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
    let factor = |f: f64| if edge && l.edge_layers > 0 { f } else { 1.0 };
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
