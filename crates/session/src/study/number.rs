//! A number that a point of a study has, and how it is found.

/// A number that a point has.
#[derive(Debug)]
pub struct Metric {
    /// Its name in a study: `p99.9_us`.
    pub name: &'static str,
    /// Label on an axis, with the unit.
    pub label: &'static str,
}

/// A metric, and how it is found.
#[derive(Debug)]
pub struct Measure<F: 'static> {
    pub metric: Metric,
    pub(super) of: F,
}

macro_rules! metrics {
    ($(#[$doc:meta])* $table:ident of $of_type:ty: $($name:literal, $label:literal, $of:expr;)*) => {
        $(#[$doc])*
        pub static $table: &[Measure<$of_type>] = &[
            $(Measure { metric: Metric { name: $name, label: $label }, of: $of }),*
        ];
    };
}

pub(super) use metrics;
