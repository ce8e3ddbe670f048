//! Rows of the page that describes the format.

/// A row of the page that describes the format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    pub(crate) record: &'static str,
    pub(crate) field: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) width: Width,
}

/// Width of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Width {
    Bytes(usize),
    /// A list has a number of values, four bytes, and the values.
    List,
    /// The dump does not keep the field.
    NotKept,
}
