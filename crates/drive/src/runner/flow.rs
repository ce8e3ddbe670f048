//! Jobs that share a flow (fio's `flow`): each issues requests in proportion to its weight.

use firstread_core::Ns;
use firstread_workload::job::Flow;

/// The flows of a run. None where no job takes part in one.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    /// By client.
    parts: Vec<Option<Part>>,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    flow: Flow,
    issued: u64,
    /// It has started and not ended.
    takes_part: bool,
    /// It waits for the others.
    waits: bool,
}

/// Whether a client may issue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Share {
    Open,
    /// Not before this time, because it is ahead of its share.
    At(Ns),
    /// Not until another job of its flow has issued a request or ended, because it is ahead of its share.
    Wait,
}

impl Flows {
    pub(crate) fn new(flows: impl Iterator<Item = Option<Flow>>) -> Option<Flows> {
        let parts: Vec<Option<Part>> = flows
            .map(|flow| {
                flow.map(|flow| Part {
                    flow,
                    issued: 0,
                    takes_part: false,
                    waits: false,
                })
            })
            .collect();
        parts.iter().any(Option::is_some).then_some(Flows { parts })
    }

    /// Client `i` starts or ends. What it had issued no longer counts once it has ended.
    pub(crate) fn set_part(&mut self, i: u32, takes_part: bool, ready: &mut Vec<u32>) {
        if let Some(part) = &mut self.parts[i as usize] {
            (part.takes_part, part.issued) = (takes_part, 0);
            let id = part.flow.id;
            self.wake(id, ready);
        }
    }

    /// Whether client `i` may issue now.
    pub(crate) fn share(&mut self, i: u32, now: Ns) -> Share {
        let Some(own) = self.parts[i as usize] else {
            return Share::Open;
        };
        let others = self.parts.iter().flatten();
        let (issued, weight) = others
            .filter(|p| p.takes_part && p.flow.id == own.flow.id)
            .fold((0, 0), |(issued, weight), p| {
                (issued + p.issued, weight + u64::from(p.flow.weight))
            });
        // It has issued more than its weight allows.
        let ahead =
            own.issued as u128 * weight as u128 > issued as u128 * u128::from(own.flow.weight);
        match (ahead, own.flow.sleep_ns) {
            (false, _) => Share::Open,
            (true, 0) => {
                self.parts[i as usize] = Some(Part { waits: true, ..own });
                Share::Wait
            }
            (true, sleep_ns) => Share::At(now + Ns(sleep_ns)),
        }
    }

    /// Client `i` issued a request.
    pub(crate) fn issued(&mut self, i: u32, ready: &mut Vec<u32>) {
        if let Some(part) = &mut self.parts[i as usize] {
            part.issued += 1;
            let id = part.flow.id;
            self.wake(id, ready);
        }
    }

    fn wake(&mut self, id: u64, ready: &mut Vec<u32>) {
        for (i, part) in (0..).zip(&mut self.parts) {
            if let Some(part) = part
                && part.flow.id == id
                && part.waits
            {
                part.waits = false;
                ready.push(i);
            }
        }
    }
}
