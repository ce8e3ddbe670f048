//! The parts of a run that was split, put together: what one run of their length would have come to.

use firstread_core::Ns;
use firstread_firmware::observe::PhysicalCapacity;

use super::outcome::{Ended, FdpEvents, RunStats};
use super::phases::Phase;
use crate::stats::{Amplification, Modes, Report, WriteBuffers};

impl RunStats {
    /// Those of all `parts` together, one part after another; none of no parts. Counts add up, intervals are over the parts,
    /// and what a drive is like at the end is that of the last part.
    ///
    /// Parts are runs of the same jobs, all at once, on equal drives: without a log of the host and without a power cut.
    pub fn of_parts(parts: &[&RunStats]) -> Option<RunStats> {
        let (first, last) = (parts.first()?, parts.last()?);
        // A field that is added has to be decided on here.
        let RunStats {
            reports,
            phases: _,
            all: _,
            groups: _,
            unmeasured: _,
            requests: _,
            counters,
            measured,
            modes,
            host_log: _,
            fdp_events: _,
            regions: _,
            amplification: _,
            buffered_bytes: _,
            write_buffers: _,
            events: _,
            simulated: _,
            power_cut: _,
            ended: _,
        } = first;
        let (mut counters, mut measured) = (counters.clone(), measured.clone());
        for part in &parts[1..] {
            counters.add(&part.counters);
            measured.add(&part.measured);
        }
        let report = |i: usize| {
            let each = parts.iter().filter_map(|part| part.reports.get(i));
            Report::of_parts(&each.collect::<Vec<_>>())
        };
        let amplification: Vec<Amplification> = parts.iter().map(|p| p.amplification).collect();
        let worst = parts.iter().map(|part| part.modes.worst);
        Some(RunStats {
            reports: (0..reports.len()).map(report).collect(),
            phases: phases(parts),
            all: Report::of_parts(&parts.iter().map(|part| &part.all).collect::<Vec<_>>()),
            groups: Vec::new(),
            unmeasured: unmeasured(parts),
            requests: parts.iter().map(|part| part.requests).sum(),
            counters,
            measured,
            modes: Modes {
                start: modes.start,
                end: last.modes.end,
                worst: worst.fold(modes.worst, |worst, of| PhysicalCapacity {
                    slots: worst.slots.min(of.slots),
                    lost_slots: worst.lost_slots.max(of.lost_slots),
                }),
            },
            host_log: None,
            fdp_events: fdp_events(parts),
            regions: last.regions.clone(),
            amplification: Amplification::of_parts(&amplification),
            buffered_bytes: parts.iter().map(|part| part.buffered_bytes).sum(),
            write_buffers: WriteBuffers::clone(&first.write_buffers),
            events: parts.iter().map(|part| part.events).sum(),
            simulated: Ns(parts.iter().map(|part| part.simulated.0).sum()),
            power_cut: None,
            ended: parts
                .iter()
                .map(|part| part.ended)
                .fold(Ended::Completed, worse),
        })
    }
}

/// How two parts ended together: a drive that takes no more writes says most.
fn worse(one: Ended, other: Ended) -> Ended {
    match (one, other) {
        (Ended::EndOfLife(_), _) | (Ended::Interrupted, Ended::Completed) => one,
        _ => other,
    }
}

/// The only phase.
fn phases(parts: &[&RunStats]) -> Vec<Phase> {
    let each = || parts.iter().filter_map(|part| part.phases.first());
    let ended: Option<Vec<Ns>> = each().map(|phase| phase.ended).collect();
    let of_first = each().next().map(|first| Phase {
        ended: ended.map(|each| Ns(each.iter().map(|ended| ended.0).sum())),
        requests: each().map(|phase| phase.requests).sum(),
        reached_limit: each().all(|phase| phase.reached_limit),
        ..first.clone()
    });
    of_first.into_iter().collect()
}

/// Jobs of which no part has measured a request.
fn unmeasured(parts: &[&RunStats]) -> Vec<String> {
    let Some((first, others)) = parts.split_first() else {
        return Vec::new();
    };
    let in_none = |job: &&String| others.iter().all(|part| part.unmeasured.contains(job));
    first.unmeasured.iter().filter(in_none).cloned().collect()
}

/// Events of all parts, of which the last ones are those of the last part.
fn fdp_events(parts: &[&RunStats]) -> Option<FdpEvents> {
    let mut all = parts.last()?.fdp_events.clone()?;
    for part in &parts[..parts.len() - 1] {
        let counts = part
            .fdp_events
            .as_ref()
            .map_or(&[][..], |events| &events.counts);
        all.counts.iter_mut().zip(counts).for_each(|(a, b)| *a += b);
    }
    Some(all)
}
