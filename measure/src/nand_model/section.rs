//! What a section of the document is written with: anchors as a table, other tables, pictures. The list of
//! sections and each of them import it.

use std::fmt::Write;

/// Errors are texts: they end a command or fail a test.
pub type Result<T> = std::result::Result<T, String>;

/// How much is sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// What the document shows.
    Full,
    /// A tenth of it, for tests and `--quick`.
    Quick,
}

impl Effort {
    /// `full` or a tenth of it.
    pub const fn of(self, full: u32) -> u32 {
        match self {
            Effort::Full => full,
            Effort::Quick => full / 10,
        }
    }
}

/// How a value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// A share, in percent.
    Percent,
    /// With so many decimals, and a unit.
    Fixed(usize, &'static str),
    /// With three digits and an exponent.
    Scientific,
}

impl Format {
    /// `value` as text.
    pub fn text(self, value: f64) -> String {
        let unit = |u: &str| {
            if u.is_empty() {
                String::new()
            } else {
                format!(" {u}")
            }
        };
        match self {
            _ if value.is_infinite() && value > 0.0 => "∞".into(),
            Format::Percent if value != 0.0 && value.abs() < 1e-3 => {
                format!("{:.3} %", value * 100.0)
            }
            Format::Percent => format!("{:.1} %", value * 100.0),
            Format::Fixed(decimals, u) => format!("{value:.decimals$}{}", unit(u)),
            Format::Scientific if value == 0.0 => "0".into(),
            Format::Scientific => format!("{value:.2e}"),
        }
    }
}

/// What is published of the medium, the statistic and sample by which the model is asked the same, a band, and
/// the model's answer.
#[derive(Clone, Debug)]
pub struct Anchor {
    /// What is compared.
    pub what: &'static str,
    /// What is published of it, and by whom.
    pub published: &'static str,
    /// The statistic and the sample that the model is asked for.
    pub statistic: String,
    /// Lowest and highest value that agree.
    pub band: (f64, f64),
    /// The model's value.
    pub value: f64,
    /// How numbers are written.
    pub format: Format,
    /// Why the value lies outside its band; empty where it must not.
    pub why: &'static str,
}

impl Anchor {
    /// Whether the value is in its band.
    pub fn holds(&self) -> bool {
        self.value >= self.band.0 && self.value <= self.band.1
    }

    /// What is wrong with the anchor itself: a miss without a reason, or a reason without a miss.
    pub fn fault(&self) -> Option<String> {
        match (self.holds(), self.why.is_empty()) {
            (false, true) => Some(format!(
                "{}: {} is outside {} and nothing says why",
                self.what,
                self.format.text(self.value),
                self.band_text()
            )),
            (true, false) => Some(format!(
                "{}: {} is in its band {}, so its explanation is out of date",
                self.what,
                self.format.text(self.value),
                self.band_text()
            )),
            _ => None,
        }
    }

    /// The band as text.
    pub fn band_text(&self) -> String {
        match self.band {
            (low, high) if high == f64::INFINITY => format!("≥ {}", self.format.text(low)),
            (low, high) if low == f64::NEG_INFINITY => format!("≤ {}", self.format.text(high)),
            (low, high) => format!("{} … {}", self.format.text(low), self.format.text(high)),
        }
    }
}

/// Anchors as a table, and the reasons of those that miss below it.
pub fn table(anchors: &[Anchor]) -> String {
    let mut out = String::from(
        "| anchor | published | statistic and sample | band | model | verdict |\n|---|---|---|---|---|---|\n",
    );
    let mut reasons = String::new();
    let mut missed = 0;
    for r in anchors {
        let verdict = if r.holds() {
            "in band".to_string()
        } else {
            missed += 1;
            let _ = writeln!(reasons, "- **miss {missed}, {}.** {}", r.what, r.why);
            format!("miss {missed}")
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {verdict} |",
            r.what,
            r.published,
            r.statistic,
            r.band_text(),
            r.format.text(r.value)
        );
    }
    if !reasons.is_empty() {
        let _ = write!(out, "\n{reasons}");
    }
    out
}

/// A group of anchors: its name in the document, and its measurement.
pub type Group = (&'static str, fn(Effort) -> Result<Vec<Anchor>>);

/// A table that is no comparison: its name in the document, and what writes it.
pub type Listing = (&'static str, fn(Effort) -> Result<String>);

/// A picture: its file name and what draws it.
pub type Figure = (&'static str, fn(Effort) -> Result<String>);
