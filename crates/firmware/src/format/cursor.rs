//! A place in a dump that moves on with each field.

/// What a cursor does with a field.
#[derive(Debug)]
enum Bytes<'a> {
    /// Counts its bytes, and those that a list could have.
    Count {
        most: bool,
    },
    Save(&'a mut [u8]),
    Load(&'a [u8]),
}

/// A place in a section that is being counted, saved or loaded. After a fault nothing is loaded any more, and
/// [`Cursor::end`] says that there was one.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    bytes: Bytes<'a>,
    at: usize,
    has_fault: bool,
    /// Rows of the page that describes the format.
    #[cfg(test)]
    pub(super) rows: std::vec::Vec<super::rows::Row>,
    #[cfg(test)]
    lists: usize,
}

impl<'a> Cursor<'a> {
    fn new(bytes: Bytes<'a>) -> Cursor<'a> {
        Cursor {
            bytes,
            at: 0,
            has_fault: false,
            #[cfg(test)]
            rows: std::vec::Vec::new(),
            #[cfg(test)]
            lists: 0,
        }
    }

    /// Counts bytes. With `most`, lists count as if they were full.
    pub(crate) fn counting(most: bool) -> Cursor<'a> {
        Cursor::new(Bytes::Count { most })
    }

    /// Saves into `bytes`.
    pub(crate) fn saving(bytes: &'a mut [u8]) -> Cursor<'a> {
        Cursor::new(Bytes::Save(bytes))
    }

    /// Loads from `bytes`.
    pub(crate) fn loading(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor::new(Bytes::Load(bytes))
    }

    /// Whether fields are loaded.
    pub(crate) fn is_loading(&self) -> bool {
        matches!(self.bytes, Bytes::Load(_))
    }

    /// Whether lists count as if they were full.
    pub(crate) fn counts_most(&self) -> bool {
        matches!(self.bytes, Bytes::Count { most: true })
    }

    /// The next field.
    #[inline(never)] // One copy serves all fields.
    pub(crate) fn field(&mut self, field: &mut [u8]) {
        let end = self.at + field.len();
        let place = self.at..end;
        self.at = end;
        match &mut self.bytes {
            Bytes::Count { .. } => {}
            Bytes::Save(bytes) => match bytes.get_mut(place) {
                Some(to) => to.copy_from_slice(field),
                None => self.has_fault = true,
            },
            Bytes::Load(bytes) => match bytes.get(place) {
                Some(from) if !self.has_fault => field.copy_from_slice(from),
                _ => self.has_fault = true,
            },
        }
    }

    /// The value that was loaded is none that the field can have.
    pub(crate) fn fault(&mut self) {
        self.has_fault = true;
    }

    /// The rest of the section is of a scheme that the drive no longer has.
    pub(crate) fn skip(&mut self) {
        if let Bytes::Load(bytes) = &self.bytes {
            self.at = bytes.len();
        }
    }

    /// Whether there was a fault.
    pub(crate) fn has_fault(&self) -> bool {
        self.has_fault
    }

    /// Number of bytes so far; none if there was a fault.
    pub(crate) fn end(&self) -> Option<usize> {
        (!self.has_fault).then_some(self.at)
    }

    /// Where the cursor is, and how many lists it has passed.
    #[cfg(test)]
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.at, self.lists)
    }

    /// What follows has another length on other drives or at other times.
    pub(crate) fn list(&mut self) {
        #[cfg(test)]
        {
            self.lists += 1;
        }
    }

    /// Notes a field for the page that describes the format. It `begun` there; none if it is not kept.
    #[cfg(test)]
    pub(crate) fn describe(
        &mut self,
        begun: Option<(usize, usize)>,
        [record, field, unit, meaning]: [&'static str; 4],
    ) {
        use super::rows::{Row, Width};
        let width = match begun {
            None => Width::NotKept,
            Some((_, lists)) if lists < self.lists => Width::List,
            Some((at, _)) => Width::Bytes(self.at - at),
        };
        self.rows.push(Row {
            record,
            field,
            unit,
            meaning,
            width,
        });
    }

    /// Whether all that there is was loaded, without a fault.
    pub(crate) fn is_whole(&self) -> bool {
        match &self.bytes {
            Bytes::Load(bytes) => !self.has_fault && self.at == bytes.len(),
            _ => !self.has_fault,
        }
    }
}
