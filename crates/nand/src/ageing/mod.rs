//! The laws of ageing: the table, and a file for each. A law's file has its numbers with their keys, units and
//! ranges, its shift, its slope and its null.

pub mod history;
pub mod law;

use law::{Effect, Law, Lived, Shares, Slopes};

use crate::profile::field::{ProfileError, Source, table};
use crate::profile::mode::ModeProfile;

macro_rules! laws {
    ($($key:ident: $numbers:ident, $doc:literal;)*) => {
        $(pub mod $key;)*

        $(use $key::$numbers;)*

        /// The laws of a chip, each with its numbers. A field's name is the law's key in a profile.
        #[derive(Clone, PartialEq, Debug)]
        pub struct Laws {
            $(#[doc = $doc] pub $key: $numbers,)*
        }

        impl Laws {
            /// Laws that do nothing.
            pub fn null() -> Laws {
                Laws { $($key: $numbers::null(),)* }
            }

            /// Reads the table of each law.
            pub fn read(from: &dyn Source) -> Laws {
                Laws { $($key: table(from, stringify!($key), <$numbers as crate::profile::field::Numbers>::read),)* }
            }

            /// Each law with its key.
            pub fn each(&self) -> impl Iterator<Item = (&'static str, &dyn Law)> {
                [$((stringify!($key), &self.$key as &dyn Law),)*].into_iter()
            }

            /// What the laws have done to a block that has `lived`.
            #[inline]
            pub fn shift(&self, lived: &Lived) -> Effect {
                let mut effect = Effect::default();
                $(self.$key.shift(lived, &mut effect);)*
                effect
            }

            /// How fast that grows.
            pub fn slope(&self, lived: &Lived) -> Slopes {
                let mut slopes = Slopes::default();
                $(self.$key.slope(lived, &mut slopes);)*
                slopes
            }

            /// How each state of `mode` takes it.
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
