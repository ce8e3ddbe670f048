//! The strict reader.
//!
//! A leaf is `key = { value = "28 mV", source = "who measured it, or why it is assumed" }`. A number
//! needs its source, unless an override set it; a name or a switch may be bare.
//!
//! [`Keys`](super::keys::Keys) consumes a table key by key. It never stops at the first problem: a reading method that
//! fails notes why and returns a neutral value, and [`Reader::finish`] reports all that was noted.
//! When a table has been read, whatever is left in it is unknown.

use std::cell::RefCell;

use crate::profile::document::{Document, Location};
use crate::profile::listing::ResolvedEntry;
use crate::profile::{Problem, ProfileError};

/// Reads a document and keeps what was read and what was wrong.
pub struct Reader<'d> {
    pub(super) document: &'d Document,
    /// With the place, to report in order.
    problems: RefCell<Vec<(Location, Problem)>>,
    pub(super) listing: RefCell<Vec<ResolvedEntry>>,
    /// Where each entry of the listing was written.
    pub(super) places: RefCell<Vec<Location>>,
    /// What holds for keys that were left out, in the order in which they were asked for.
    pub(super) defaults: RefCell<Vec<ResolvedEntry>>,
}

impl<'d> Reader<'d> {
    /// A reader of `document`.
    pub fn new(document: &'d Document) -> Reader<'d> {
        Reader {
            document,
            problems: RefCell::default(),
            listing: RefCell::default(),
            places: RefCell::default(),
            defaults: RefCell::default(),
        }
    }

    pub(super) fn note(&self, place: Location, key: String, message: String) {
        let problem = Problem {
            place: self.document.label(place),
            key,
            message,
        };
        self.problems.borrow_mut().push((place, problem));
    }

    /// Notes a problem of the key at `path`, wherever that was written.
    pub fn note_at(&self, path: &str, message: String) {
        let at = self.listing.borrow().iter().position(|e| e.path == path);
        let place = at.map_or(Location { origin: 0, line: 1 }, |i| self.places.borrow()[i]);
        self.note(place, path.to_string(), message);
    }

    /// Whether a key at `path` was read.
    pub fn was_read(&self, path: &str) -> bool {
        self.listing.borrow().iter().any(|e| e.path == path)
    }

    /// Whether anything was wrong so far.
    pub fn failed(&self) -> bool {
        !self.problems.borrow().is_empty()
    }

    /// The listing of all that was read, or all that was wrong.
    pub fn finish(self) -> Result<Vec<ResolvedEntry>, ProfileError> {
        let mut problems = self.problems.into_inner();
        if problems.is_empty() {
            return Ok(self.listing.into_inner());
        }
        problems.sort_by_key(|(place, _)| (place.origin, place.line));
        Err(ProfileError {
            problems: problems.into_iter().map(|(_, p)| p).collect(),
        })
    }
}
