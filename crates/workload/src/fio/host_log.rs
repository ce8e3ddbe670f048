//! Options of a log of the host: `host_log` and what begins with it.

use super::error::ValueError;
use super::value::Value;
use crate::host_log::{HostLogSpec, LogCapacity, MOST_HEADS, MovesTo, Victim};
use crate::job::Extent;
use crate::stream::JobError;

/// What a job says of a log of the host.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    capacity: Option<LogCapacity>,
    zone_bytes: Option<u64>,
    heads: Option<u8>,
    moves: Option<MovesTo>,
    victim: Option<Victim>,
}

impl Options {
    pub(super) fn set_capacity(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        self.capacity = Some(match v.extent()? {
            Extent::Bytes(0) | Extent::Percent(0) => {
                return Err(ValueError::Rule("must not be 0"));
            }
            Extent::Bytes(_) => LogCapacity::Bytes(v.sectors()?),
            Extent::Percent(percent) => LogCapacity::Percent(percent),
        });
        Ok(())
    }

    pub(super) fn set_zone(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        self.zone_bytes = Some(v.sectors()?);
        Ok(())
    }

    pub(super) fn set_heads(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        self.heads = Some(v.count(1, u64::from(MOST_HEADS))? as u8);
        Ok(())
    }

    pub(super) fn set_moves(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        self.moves = Some(v.word(&[
            ("with-writes", MovesTo::WithWrites),
            ("apart", MovesTo::Apart),
            ("by-handle", MovesTo::ByHandle),
        ])?);
        Ok(())
    }

    pub(super) fn set_victim(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        self.victim = Some(v.word(&[
            ("greedy", Victim::Greedy),
            ("cost-benefit", Victim::CostBenefit),
            ("fifo", Victim::Fifo),
        ])?);
        Ok(())
    }

    /// The log, if there is one.
    pub(super) fn finish(&self) -> Result<Option<HostLogSpec>, JobError> {
        let Some(capacity) = self.capacity else {
            let others = self.zone_bytes.is_some()
                || self.heads.is_some()
                || self.moves.is_some()
                || self.victim.is_some();
            return match others {
                true => Err(JobError::Rule(
                    "host_log_zone, host_log_heads, host_log_moves and host_log_victim need host_log, how much of the drive the \
                     log offers",
                )),
                false => Ok(None),
            };
        };
        let plain = HostLogSpec::new(capacity);
        let spec = HostLogSpec {
            zone_bytes: self.zone_bytes,
            heads: self.heads.unwrap_or(plain.heads),
            moves: self.moves.unwrap_or(plain.moves),
            victim: self.victim.unwrap_or(plain.victim),
            ..plain
        };
        if spec.all_heads() > MOST_HEADS {
            return Err(JobError::Rule(
                "host_log_heads: with the heads of moves a log has 16 heads at most: 15 with host_log_moves=apart, 8 with by-handle",
            ));
        }
        Ok(Some(spec))
    }
}
