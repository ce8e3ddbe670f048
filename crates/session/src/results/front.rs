//! What read cache, read-ahead and map cache did, and the memory of heat, where they are on.

use firstread_core::params::Role;
use firstread_drive::profile::DriveProfile;
use firstread_firmware::observe::{Counters, FrontEndCounters};
use serde_json::{Map, Value, json};

fn part(n: u64, of: u64) -> f64 {
    n as f64 / of.max(1) as f64
}

/// Whether drives of `profile` have read-ahead.
pub fn reads_ahead(profile: &DriveProfile) -> bool {
    let choice = profile.scheme("read_ahead");
    choice.is_some_and(|c| c.scheme.role != Role::Baseline)
}

/// Hit rate of the read cache, over slots read that were no longer in the write buffer.
pub fn cache_hit_rate(f: &FrontEndCounters) -> f64 {
    part(f.cache_hits, f.cache_hits + f.cache_misses + f.ahead_joined)
}

/// Share of lookups that the map cache answered.
pub fn map_hit_rate(f: &FrontEndCounters) -> f64 {
    part(f.map_hits, f.map_hits + f.map_misses)
}

/// Map slots programmed per slot that the host wrote; none if it wrote none.
pub fn map_amplification(counters: &Counters) -> Option<f64> {
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
    if let Some(bytes) = profile.heat_bytes() {
        keys.insert("heat".into(), json!({ "bytes": bytes }));
    }
    keys
}
