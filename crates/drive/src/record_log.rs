//! The last records of background work, in bounded memory however long a drive runs.

use firstread_firmware::log::Record;

/// Maximum number of records. When it is reached, the older half is dropped.
const MOST: usize = 1 << 16;

#[derive(Clone, Debug, Default)]
pub(crate) struct RecordLog {
    records: Vec<Record>,
    dropped: u64,
}

impl RecordLog {
    pub(crate) fn push(&mut self, record: Record) {
        if self.records.len() == MOST {
            self.records.drain(..MOST / 2);
            self.dropped += MOST as u64 / 2;
        }
        self.records.push(record);
    }

    /// The last records, oldest first.
    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Number of earlier records that were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Ns;
    use firstread_firmware::log::What;

    #[test]
    fn formula_the_last_records_are_kept_in_bounded_memory() {
        let mut log = RecordLog::default();
        for i in 0..1_000_000u64 {
            let (group, from) = (1, 2);
            log.push(Record {
                at: Ns(i),
                what: What::Inherited { group, from },
            });
            assert!(log.records.capacity() <= MOST);
            assert_eq!(log.dropped() + log.records().len() as u64, i + 1);
        }
        let first = log.dropped();
        assert!(log.records().len() >= MOST / 2);
        let times = log.records().iter().map(|r| r.at.0);
        assert!(times.eq(first..1_000_000), "the last ones, in order");
    }
}
