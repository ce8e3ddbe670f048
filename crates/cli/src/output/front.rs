//! What read cache, read-ahead and map cache did, where they are on, and the memory of the write buffers.

use firstread_drive::profile::DriveProfile;
use firstread_drive::stats::{Lines, WriteBuffers};
use firstread_firmware::observe::Counters;
use firstread_session::results::front::{
    cache_hit_rate, map_amplification, map_hit_rate, reads_ahead,
};

use super::format::{bytes, count, share};

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

/// A line of the write buffers of each stream, where schemes declare streams.
pub fn write_buffers(buffers: &WriteBuffers) -> String {
    if buffers.of_schemes_bytes == 0 {
        return String::new();
    }
    let of = |lines: &Lines| {
        let (name, bytes) = (lines.name.replace('_', " "), bytes(lines.bytes as f64));
        format!("{name} {bytes} in {}", lines.lines)
    };
    let all = buffers.streams.iter().chain([&buffers.shared]);
    let all: Vec<String> = all.map(of).collect();
    format!(
        "write buffers of {}, in lines of a wordline over all dies: {}\n",
        bytes(buffers.bytes as f64),
        all.join(", ")
    )
}
