//! Axis `retry`: how the steps of one read execute.
//!
//! Which levels a step uses is for axis `read_levels` to say; how long it senses, and whether it waits
//! for the outcome of the step before, is decided here. `looks_ahead` is asked when step `step` begins
//! to be sensed, and again when its output is asked for; a step that was sensed ahead costs its die
//! until it is output or cancelled. `keeps_die` is asked with it where reads of the host wait for that
//! die. `own_levels` come in place of those of `read_levels` from the first retry on. `haste` is asked for each step before it is issued; `on_read` is told how a read ended.

use firstread_core::params::{Axis, Values};
use firstread_core::sensing::SensingTable;
use firstread_core::{Levels, SenseTiming};

mod adaptive;
mod haste;
mod pipelined;
mod pipelined_adaptive;
mod sequential;
mod single_step;

pub use haste::Haste;

use crate::policy::read_levels::{Outcome, ReadCtx};

/// What a scheme is built from.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// How short a sense of the chip may be.
    pub sensing: SensingTable,
    /// What the drive's thermometer says (°C).
    pub temperature_c: i16,
}

impl Setup {
    /// For schemes that shorten nothing.
    pub const NOTHING: Setup = Setup {
        sensing: SensingTable::NOTHING,
        temperature_c: 25,
    };
}

/// Whether scheme `name` looks at the table of safe senses.
pub fn makes_haste(name: &str) -> bool {
    [&adaptive::SCHEME, &pipelined_adaptive::SCHEME]
        .iter()
        .any(|s| s.name == name)
}

/// Whether scheme `name` reads with what the planes of a die have in common, its cache register or its
/// sensing times: planes that read by themselves cannot.
pub fn needs_whole_die(name: &str) -> bool {
    makes_haste(name) || name == pipelined::SCHEME.name
}

/// The axis.
pub trait Retry {
    /// Whether the step after `step` is sensed while `step` is transferred and decoded.
    fn looks_ahead(&self, step: u8) -> bool {
        let _ = step;
        false
    }
    /// Whether a read of the host keeps its die after `step` though other reads of the host wait for it.
    fn keeps_die(&self, step: u8) -> bool {
        let _ = step;
        false
    }
    /// Whether any step is sensed ahead.
    fn pipelines(&self) -> bool {
        false
    }
    /// Steps of its own, which come in place of those of `read_levels` from the second on; zero for none.
    fn own_steps(&self) -> u8 {
        0
    }
    /// Levels of these.
    fn own_levels(&self) -> Levels {
        Levels::DEFAULT
    }
    /// How long the step with entry `entry` of the levels senses.
    fn haste(&self, ctx: &ReadCtx, entry: u8) -> Haste {
        let _ = (ctx, entry);
        Haste::NONE
    }
    /// A read ended with entry `entry` of the levels, sensed at `timing`.
    fn on_read(&mut self, ctx: &ReadCtx, entry: u8, timing: SenseTiming, outcome: &Outcome) {
        let _ = (ctx, entry, timing, outcome);
    }
}

macro_rules! schemes {
    ($($module:ident::$scheme:ident),+ $(,)?) => {
        /// How the steps of one read execute.
        pub const AXIS: Axis = Axis {
            name: "retry",
            summary: "how the steps of one read execute",
            schemes: &[$($module::SCHEME),+],
        };

        /// The scheme in use.
        #[allow(missing_docs)]
        #[derive(Debug)]
        pub enum AnyRetry {
            $($scheme($module::$scheme)),+
        }

        impl AnyRetry {
            /// Builds scheme `name` of the axis; `values` are its parameters in the order of its record.
            pub fn new(name: &str, setup: &Setup, values: &[i64]) -> Option<AnyRetry> {
                $(if name == $module::SCHEME.name {
                    let values = Values::new(&$module::SCHEME, values);
                    return Some(AnyRetry::$scheme($module::$scheme::new(setup, &values)));
                })+
                None
            }
        }

        impl Retry for AnyRetry {
            #[inline]
            fn looks_ahead(&self, step: u8) -> bool {
                match self { $(Self::$scheme(s) => s.looks_ahead(step)),+ }
            }
            fn keeps_die(&self, step: u8) -> bool {
                match self { $(Self::$scheme(s) => s.keeps_die(step)),+ }
            }
            fn pipelines(&self) -> bool {
                match self { $(Self::$scheme(s) => s.pipelines()),+ }
            }
            fn own_steps(&self) -> u8 {
                match self { $(Self::$scheme(s) => s.own_steps()),+ }
            }
            fn own_levels(&self) -> Levels {
                match self { $(Self::$scheme(s) => s.own_levels()),+ }
            }
            fn haste(&self, ctx: &ReadCtx, entry: u8) -> Haste {
                match self { $(Self::$scheme(s) => s.haste(ctx, entry)),+ }
            }
            #[inline]
            fn on_read(&mut self, ctx: &ReadCtx, entry: u8, timing: SenseTiming, outcome: &Outcome) {
                match self { $(Self::$scheme(s) => s.on_read(ctx, entry, timing, outcome)),+ }
            }
        }
    };
}

// One row a scheme, the null first.
schemes! {
    sequential::Sequential,
    pipelined::Pipelined,
    adaptive::Adaptive,
    pipelined_adaptive::PipelinedAdaptive,
    single_step::SingleStep,
}
