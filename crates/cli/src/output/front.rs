//! What read cache, read-ahead and map cache did, where they are on.

use firstread_core::params::Role;
use firstread_drive::profile::DriveProfile;
use firstread_firmware::observe::{Counters, FrontCounters};
use serde_json::{Map, Value, json};

use super::format::{bytes, count, share};

fn part(n: u64, of: u64) -> f64 {
    n as f64 / of.max(1) as f64
}

fn reads_ahead(profile: &DriveProfile) -> bool {
    let choice = profile.scheme("read_ahead");
    choice.is_some_and(|c| c.scheme.role != Role::Null)
}

/// Share of slots that the host read from memory, of those that were written long ago.
fn cache_hit_rate(f: &FrontCounters) -> f64 {
    part(f.cache_hits, f.cache_hits + f.cache_misses + f.ahead_joined)
}

fn map_hit_rate(f: &FrontCounters) -> f64 {
    part(f.map_hits, f.map_hits + f.map_misses)
}

/// Slots of the map programmed for each that the host wrote.
fn map_amplification(counters: &Counters) -> Option<f64> {
    let written = counters.host_slots_written;
    (written > 0).then(|| counters.front.map_writes as f64 / written as f64)
}

/// Keys of a result.
pub fn json(profile: &DriveProfile, counters: &Counters) -> Map<String, Value> {
    let f = &counters.front;
    let mut keys = Map::new();
    if profile.dram.read_cache_bytes > 0 {
        keys.insert(
            "read_cache".into(),
            json!({
                "bytes": profile.dram.read_cache_bytes,
                "hits": f.cache_hits,
                "misses": f.cache_misses,
                "hit_rate": cache_hit_rate(f),
            }),
        );
    }
    if reads_ahead(profile) {
        keys.insert(
            "read_ahead".into(),
            json!({
                "slots": f.ahead_slots,
                "used": f.ahead_used,
                "joined": f.ahead_joined,
                "wasted": f.ahead_wasted,
                "page_reads": f.ahead_rows,
                "retries": f.ahead_retries,
            }),
        );
    }
    if profile.dram.map_cache_bytes > 0 {
        keys.insert(
            "map_cache".into(),
            json!({
                "bytes": profile.dram.map_cache_bytes,
                "hits": f.map_hits,
                "misses": f.map_misses,
                "hit_rate": map_hit_rate(f),
                "page_reads": f.map_reads,
                "retries": f.map_retries,
                "pages_written": f.map_writes,
                "pages_lost": f.map_lost,
                "write_amplification": map_amplification(counters),
            }),
        );
    }
    keys
}

/// Lines of a report.
pub fn lines(profile: &DriveProfile, counters: &Counters) -> String {
    let f = &counters.front;
    let mut text = String::new();
    if profile.dram.read_cache_bytes > 0 {
        text += &format!(
            "read cache of {}: {} of slots hit, {} of {}\n",
            bytes(profile.dram.read_cache_bytes as f64),
            share(cache_hit_rate(f)),
            count(f.cache_hits),
            count(f.cache_hits + f.cache_misses + f.ahead_joined),
        );
    }
    if reads_ahead(profile) {
        text += &format!(
            "read ahead {} slots in {} page reads: {} used ({} still on their way), {} wasted; {} retries\n",
            count(f.ahead_slots),
            count(f.ahead_rows),
            count(f.ahead_used),
            count(f.ahead_joined),
            count(f.ahead_wasted),
            count(f.ahead_retries),
        );
    }
    if profile.dram.map_cache_bytes > 0 {
        text += &format!(
            "map cache of {}: {} hit, {} page reads, {} retries, {} pages written",
            bytes(profile.dram.map_cache_bytes as f64),
            share(map_hit_rate(f)),
            count(f.map_reads),
            count(f.map_retries),
            count(f.map_writes),
        );
        if let Some(amplification) = map_amplification(counters) {
            text += &format!(", {amplification:.2} of the write amplification");
        }
        text += "\n";
        if f.map_lost > 0 {
            text += &format!(
                "pages of the map lost and made anew: {}\n",
                count(f.map_lost)
            );
        }
    }
    text
}
