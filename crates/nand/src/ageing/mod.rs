//! The ageing laws: their table, and a file for each law with its numbers (key, unit, range), shift, slope
//! and null.

pub mod history;
pub mod law;

use law::{Effect, Exposure, Law, Shares, Slopes};

use crate::profile::error::ProfileError;
use crate::profile::field::{Source, table};
use crate::profile::mode::ModeProfile;

macro_rules! laws {
    ($($key:ident: $numbers:ident, $doc:literal;)*) => {
        $(pub mod $key;)*

        $(use $key::$numbers;)*

        /// The ageing laws of a chip, each with its numbers. The name of a field is the law's key in a
        /// profile.
        #[derive(Clone, PartialEq, Debug)]
        pub struct Laws {
            $(#[doc = $doc] pub $key: $numbers,)*
        }

        impl Laws {
            /// Every law with the numbers at which it does nothing.
            pub fn null() -> Laws {
                Laws { $($key: $numbers::null(),)* }
            }

            /// Reads the table of each law.
            pub fn read(from: &dyn Source) -> Laws {
                Laws { $($key: table(from, stringify!($key), <$numbers as crate::profile::field::Numbers>::read),)* }
            }

            /// All laws with their keys.
            pub fn each(&self) -> impl Iterator<Item = (&'static str, &dyn Law)> {
                [$((stringify!($key), &self.$key as &dyn Law),)*].into_iter()
            }

            /// The effect of the laws on a block after `exposure`.
            #[inline]
            pub fn shift(&self, exposure: &Exposure) -> Effect {
                let mut effect = Effect::default();
                $(self.$key.shift(exposure, &mut effect);)*
                effect
            }

            /// The growth rate of that effect.
            pub fn slope(&self, exposure: &Exposure) -> Slopes {
                let mut slopes = Slopes::default();
                $(self.$key.slope(exposure, &mut slopes);)*
                slopes
            }

            /// How each state of `mode` responds to the effect.
            pub fn shares(&self, mode: &ModeProfile) -> Shares {
                let mut shares = Shares::default();
                $(self.$key.shares(mode, &mut shares);)*
                shares
            }
        }
    };
}

laws! {
    retention: RetentionProfile, "Loss of charge over time.";
    wear: WearProfile, "What program/erase cycles do.";
    disturb: DisturbProfile, "What reads of a block do to its other wordlines.";
    cross_temperature: CrossTemperatureProfile, "Reading at another temperature than that of programming.";
    transient: TransientProfile, "The first read after a block has idled.";
}

impl Laws {
    /// Checks every number of every law, and whether the laws suit `modes`.
    pub fn check(&self, modes: &[ModeProfile]) -> Result<(), ProfileError> {
        self.each().try_for_each(|(key, law)| {
            law.check(key)?;
            law.suits(key, modes)
        })
    }
}

#[cfg(test)]
mod tests;
