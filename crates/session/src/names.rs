//! Unknown names.

use firstread_workload::nearest;
use thiserror::Error;

#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("there is no {what} `{name}`; the nearest is `{nearest}` of {}", all.join(", "))]
pub struct Unknown {
    /// Kind of thing that it should name: `drive`.
    pub what: &'static str,
    /// As written.
    pub name: String,
    /// The name most like it.
    pub nearest: String,
    /// All names there are.
    pub all: Vec<String>,
}

impl Unknown {
    /// There is no `what` called `name`; `names` are those that there are.
    pub fn new<'a>(
        what: &'static str,
        name: &str,
        names: impl Iterator<Item = &'a str> + Clone,
    ) -> Unknown {
        Unknown {
            what,
            name: name.to_owned(),
            nearest: nearest(name, names.clone()).unwrap_or_default().to_owned(),
            all: names.map(str::to_owned).collect(),
        }
    }
}
