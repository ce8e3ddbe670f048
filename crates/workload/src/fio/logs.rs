//! Options of fio's logs: `write_iops_log` and those like it.

use super::error::ValueError;
use super::value::Value;
use crate::job::{JobLogs, LogValue};

/// Longest window (ms): a year.
const MOST_MS: u64 = 366 * 24 * 3_600_000;

/// What a job says of its logs.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    iops: Option<String>,
    bw: Option<String>,
    lat: Option<String>,
    window_ms: Option<u64>,
    is_max: bool,
    is_shared: bool,
}

/// The prefix of the names of a log; empty for the name of the job.
fn prefix(v: &Value<'_>) -> Result<Option<String>, ValueError> {
    let text = v.text.unwrap_or("");
    // The folder is that of the results.
    let name = text.rsplit(['/', '\\']).next().unwrap_or("");
    match (name, text) {
        ("", "") => Ok(Some(String::new())),
        ("" | "." | "..", _) => Err(ValueError::Rule("must end with the name of a file")),
        _ => Ok(Some(name.to_owned())),
    }
}

impl Options {
    pub(super) fn set_iops(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        self.iops = prefix(v)?;
        Ok(())
    }

    pub(super) fn set_bw(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        self.bw = prefix(v)?;
        Ok(())
    }

    pub(super) fn set_lat(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        self.lat = prefix(v)?;
        Ok(())
    }

    pub(super) fn set_window(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        self.window_ms = Some(v.count(0, MOST_MS)?).filter(|&ms| ms > 0);
        Ok(())
    }

    /// `log_window_value`, which was called `log_max_value` and was a flag.
    pub(super) fn set_value(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        self.is_max = match v.text {
            None => true,
            Some(_) => v.word(&[("avg", false), ("max", true), ("0", false), ("1", true)])?,
        };
        Ok(())
    }

    pub(super) fn set_per_job(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        self.is_shared = !v.flag()?;
        Ok(())
    }

    /// The logs of a job called `job`, with notices for the user.
    pub(super) fn finish(&self, job: &str, notices: &mut Vec<String>) -> JobLogs {
        let of_job: String = job.replace(['/', '\\'], "_");
        let named = |prefix: &Option<String>| {
            let prefix = prefix.as_ref()?;
            Some(match prefix.as_str() {
                "" => of_job.clone(),
                _ => prefix.clone(),
            })
        };
        let logs = JobLogs {
            iops: named(&self.iops),
            bw: named(&self.bw),
            lat: named(&self.lat),
            window_ms: self.window_ms.unwrap_or(JobLogs::WINDOW_MS),
            value: match self.is_max {
                true => LogValue::Max,
                false => LogValue::Average,
            },
            per_job: !self.is_shared,
        };
        if logs.any() {
            let window = match self.window_ms {
                Some(_) => String::new(),
                None => format!(
                    ", with a line each {} ms where fio without `log_avg_msec` has a line a request (`firstread run \
                     --log`)",
                    logs.window_ms
                ),
            };
            notices.push(format!(
                "fio's logs of job `{job}` are kept by `firstread run --out DIR` in that folder{window}"
            ));
        }
        logs
    }
}
