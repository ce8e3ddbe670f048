//! Properties that every law in the table must have.

use std::cell::Cell;
use std::string::String;
use std::vec;
use std::vec::Vec;

use firstread_core::Stream;

use super::*;
use crate::profile::field::{Field, Kind};
use crate::reference;

/// A source that draws each number of a profile within its range, and each choice.
struct Drawn {
    stream: Stream,
    next: Cell<u64>,
}

impl Drawn {
    fn new(seed: u64) -> Drawn {
        let stream = Stream::new(seed).named("laws");
        let next = Cell::new(0);
        Drawn { stream, next }
    }

    /// A random number from zero to one.
    fn draw(&self) -> f64 {
        let i = self.next.replace(self.next.get() + 1);
        (self.stream.draw(i) >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl Source for Drawn {
    fn number(&self, field: &Field) -> f64 {
        let u = self.draw();
        if field.kind == Kind::RealOrNone && u < 0.3 {
            return f64::INFINITY;
        }
        // A wide range is cut to the part where the inputs below lie, so that differences are visible.
        let number = if field.min > 0.0 && field.max > 1e3 * field.min {
            let (min, max) = (field.min.max(1e-2), field.max.min(1e4));
            min * libm::pow(max / min, u)
        } else {
            field.min + (field.max - field.min) * u
        };
        number / field.unit.per
    }
    fn numbers(&self, field: &Field) -> Vec<f64> {
        vec![self.number(field)]
    }
    fn lists(&self, _: &str) -> Vec<Vec<u8>> {
        Vec::new()
    }
    fn choice(&self, _: &str, names: &[&str]) -> usize {
        (self.draw() * names.len() as f64) as usize
    }
    fn has(&self, _: &str) -> bool {
        true
    }
    fn note(&self, key: &str, message: String) {
        panic!("{key}: {message}");
    }
    fn table(&self, _: &str, read: &mut dyn FnMut(&dyn Source)) {
        read(self);
    }
    fn optional_table(&self, _: &str, read: &mut dyn FnMut(&dyn Source)) {
        read(self);
    }
}

/// A mode with the maximum number of retention components.
fn mode() -> ModeProfile {
    let mut mode = reference::ct_a().modes.remove(0);
    mode.retention_mv_per_decade = vec![28.0, 9.0, 4.0];
    mode
}

/// Exposures of a block, with every input at several values.
fn lives() -> impl Iterator<Item = Exposure> {
    let at = [0.3, 40.0, 3_000.0];
    let index = move |i: usize, n: u32| at[i / 3usize.pow(n) % 3];
    (0..3usize.pow(6)).map(move |i| Exposure {
        stress_h: [index(i, 0), index(i, 1), index(i, 2)],
        reads: 10.0 * index(i, 3),
        idle_s: index(i, 4),
        dwell_h: 0.1 * index(i, 5),
        pe_cycles: index(i, (i % 6) as u32).floor(),
        delta_c: [-60.0, 0.0, 35.0][i % 3],
    })
}

/// A quantity that changes while a block holds data, how to change it, and the slope in it.
type Input = (
    &'static str,
    fn(&mut Exposure) -> &mut f64,
    fn(&Slopes) -> &Effect,
);
const INPUTS: [Input; 5] = [
    (
        "hours of component 0",
        |l| &mut l.stress_h[0],
        |s| &s.per_h[0],
    ),
    (
        "hours of component 1",
        |l| &mut l.stress_h[1],
        |s| &s.per_h[1],
    ),
    (
        "hours of component 2",
        |l| &mut l.stress_h[2],
        |s| &s.per_h[2],
    ),
    ("reads", |l| &mut l.reads, |s| &s.per_read),
    ("idle time", |l| &mut l.idle_s, |s| &s.per_idle_s),
];

/// Effect on the states of `mode`: their shifts (mV), the widening and the variance.
fn felt(mode: &ModeProfile, shares: &Shares, effect: &Effect) -> Vec<f64> {
    let states = 0..mode.mode.states();
    let mut felt: Vec<f64> = states.map(|s| shares.shift_mv(effect, s)).collect();
    felt.extend([effect.widening, effect.variance]);
    felt
}

fn shift(law: &dyn Law, exposure: &Exposure) -> Effect {
    let mut effect = Effect::default();
    law.shift(exposure, &mut effect);
    effect
}

#[test]
fn formula_the_slope_of_each_law_is_the_derivative_of_its_shift() {
    let mode = mode();
    for seed in 0..40 {
        let laws = Laws::read(&Drawn::new(seed));
        for (key, law) in laws.each() {
            let mut shares = Shares::default();
            law.shares(&mode, &mut shares);
            for exposure in lives() {
                let mut slopes = Slopes::default();
                law.slope(&exposure, &mut slopes);
                for (input, at, slope) in INPUTS {
                    let (mut less, mut more) = (exposure, exposure);
                    let step = *at(&mut more) * 1e-4;
                    *at(&mut less) -= step;
                    *at(&mut more) += step;
                    let [a, b] = [less, more].map(|l| felt(&mode, &shares, &shift(law, &l)));
                    let stated = felt(&mode, &shares, slope(&slopes));
                    for ((a, b), stated) in a.iter().zip(&b).zip(stated) {
                        let found = (b - a) / (2.0 * step);
                        let rounding = 1e-14 * (a.abs() + 100.0) / step;
                        let off = (found - stated).abs();
                        assert!(
                            off <= 1e-5 * (found.abs() + stated.abs()) + rounding,
                            "law `{key}`, along {input}: its slope is {stated:e}, its shift grows by \
                             {found:e} (seed {seed}, {exposure:?})"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn formula_the_null_of_each_law_does_nothing() {
    let mode = mode();
    for (key, law) in Laws::null().each() {
        let mut shares = Shares::default();
        law.shares(&mode, &mut shares);
        for exposure in lives() {
            let mut slopes = Slopes::default();
            law.slope(&exposure, &mut slopes);
            let mut effects = vec![shift(law, &exposure), slopes.per_read, slopes.per_idle_s];
            effects.extend(slopes.per_h);
            for effect in effects {
                let felt = felt(&mode, &shares, &effect);
                assert!(
                    felt.iter().all(|x| *x == 0.0),
                    "law `{key}` at its null: {felt:?} of {exposure:?}"
                );
            }
        }
    }
}

#[test]
fn formula_every_law_does_something_and_has_its_null_in_range() {
    let mode = mode();
    for (key, law) in Laws::null().each() {
        law.check(key)
            .unwrap_or_else(|e| panic!("the null of `{key}`: {e}"));
    }
    let laws = Laws::read(&Drawn::new(1));
    for (key, law) in laws.each() {
        let mut shares = Shares::default();
        law.shares(&mode, &mut shares);
        let does = |exposure: Exposure| {
            let felt = felt(&mode, &shares, &shift(law, &exposure));
            felt.iter().any(|x| *x != 0.0)
        };
        assert!(lives().any(does), "law `{key}` moves nothing");
    }
}
