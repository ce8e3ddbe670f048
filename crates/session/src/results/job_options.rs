//! The options of a job file as fio repeats them in its JSON, where its tools look them up.

use serde_json::{Map, Value};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    pub global: Map<String, Value>,
    /// One for each section but `[global]`, in order.
    pub jobs: Vec<Map<String, Value>>,
}

/// Reads the options of `text`, a job file that parses.
pub fn read(text: &str) -> Options {
    let mut options = Options::default();
    let mut in_global = false;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let line = line.split(['#', ';']).next().unwrap_or("").trim();
        if line.starts_with('[') {
            in_global = line == "[global]";
            if !in_global {
                options.jobs.push(Map::new());
            }
        } else if !line.is_empty() {
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            let section = if in_global {
                Some(&mut options.global)
            } else {
                options.jobs.last_mut()
            };
            if let Some(section) = section {
                section.insert(key.trim().into(), value.trim().into());
            }
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_sections_keep_their_options() {
        let options =
            read("# c\n[global]\nbs=4k ; small\n[a]\nrw = read\nrandrepeat\n[b]\nbs=8k\n");
        assert_eq!(
            Value::from(options.global),
            serde_json::json!({ "bs": "4k" })
        );
        assert_eq!(
            Value::from(options.jobs[0].clone()),
            serde_json::json!({ "rw": "read", "randrepeat": "" })
        );
        assert_eq!(
            Value::from(options.jobs[1].clone()),
            serde_json::json!({ "bs": "8k" })
        );
    }
}
