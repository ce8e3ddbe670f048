//! What passed the firmware's ports, as a table to be read and compared.

use std::fmt::Write;

use firstread_core::flash::ALL_PLANES;
use firstread_core::{
    CellMode, FlashEvent, FlashKind, FlashOp, HostCommand, LevelOffsets, Levels, Ns, SenseMode,
};
use firstread_drive::port_log::{PortCall, PortCallKind};

/// Renders crossings one a line, with times from the first of them on (ns). Levels are named by
/// their place in `factory`; masks of codewords are hexadecimal, a group of digits a plane, the
/// lowest first.
pub fn render(
    port_calls: &[PortCall],
    factory: &[LevelOffsets],
    codewords_per_page: u32,
) -> String {
    let start = port_calls.first().map_or(Ns::ZERO, |c| c.at);
    let mut out = String::new();
    for crossing in port_calls {
        let what = match crossing.what {
            PortCallKind::Submitted(command) => format!("host      {}", name(&command)),
            PortCallKind::Completed(command, status) => {
                format!("complete  {} {status:?}", name(&command))
            }
            PortCallKind::Issued(op) => {
                let since = match op.after {
                    Some(tag) => format!("after {}", tag.0),
                    None => format!("waited {}", crossing.at.since(op.queued).0),
                };
                format!(
                    "issue     {:?} tag {} die {} {since} {}",
                    op.class,
                    op.tag.0,
                    op.die.0,
                    kind(&op, factory, codewords_per_page)
                )
            }
            PortCallKind::Rebuilt(tag, made) => format!(
                "rebuilt   tag {} cw {}",
                tag.0,
                mask(made, codewords_per_page)
            ),
            PortCallKind::Event(event) => {
                format!("event     {}", of_event(event, codewords_per_page))
            }
        };
        let at = crossing.at.since(start).0;
        writeln!(out, "{at:>9}  {what}").expect("writing to a string succeeds");
    }
    out
}

fn name(c: &HostCommand) -> String {
    format!(
        "#{} {:?} {}+{}",
        c.id.0,
        c.op,
        bytes(c.offset_bytes),
        bytes(c.len_bytes as u64)
    )
}

fn bytes(n: u64) -> String {
    match n {
        0 => "0".into(),
        n if n.is_multiple_of(1 << 20) => format!("{}M", n >> 20),
        n if n.is_multiple_of(1 << 10) => format!("{}K", n >> 10),
        n => n.to_string(),
    }
}

fn kind(op: &FlashOp, factory: &[LevelOffsets], codewords_per_page: u32) -> String {
    match op.kind {
        FlashKind::Read {
            block,
            wordline,
            page,
            wanted,
            levels,
            mode,
            ..
        } => {
            let levels = match (mode, levels) {
                (SenseMode::OnesCount { valley }, Levels::Offsets(o)) => {
                    format!("ones of valley {valley} at {}", o[valley as usize - 1])
                }
                (_, Levels::Ideal(scope)) => format!("levels of {scope:?}"),
                (_, Levels::OnDie(_)) => "levels that the chip finds".to_owned(),
                (_, Levels::Offsets(o)) => match factory.iter().position(|f| *f == o) {
                    Some(i) => format!("factory {i}"),
                    None => format!("levels {o:?}"),
                },
            };
            let soft = match mode {
                SenseMode::Soft3 => "three senses around ",
                SenseMode::Soft5 => "five senses around ",
                _ => "",
            };
            format!(
                "b{} w{wordline} {} cw {} {soft}{levels}",
                block.0,
                page.name(CellMode::Qlc),
                mask(wanted, codewords_per_page)
            )
        }
        FlashKind::Program {
            block, wordline, ..
        } => format!("program b{} w{wordline}", block.0),
        FlashKind::Erase { block, mode, .. } => format!("erase b{} into {}", block.0, mode.name()),
        FlashKind::Suspend {
            victim,
            progress: Ns::ZERO,
        } => format!("suspend {}", victim.0),
        FlashKind::Suspend { victim, progress } => {
            format!("suspend {} after {} us", victim.0, progress.0 / 1000)
        }
        FlashKind::Resume { victim } => format!("resume {}", victim.0),
        FlashKind::Output { read, wanted } => {
            format!("output {} cw {}", read.0, mask(wanted, codewords_per_page))
        }
        FlashKind::Abort { victim } => format!("abort {}", victim.0),
        FlashKind::Cancel { victim } => format!("cancel {}", victim.0),
    }
}

fn of_event(event: FlashEvent, codewords_per_page: u32) -> String {
    match event {
        FlashEvent::ArrayFree { tag, die, planes } => match planes {
            ALL_PLANES => format!("die {} free of tag {}", die.0, tag.0),
            _ => format!("die {} planes {planes:04b} free of tag {}", die.0, tag.0),
        },
        FlashEvent::Decoded { tag, failed: 0, .. } => format!("decoded tag {}", tag.0),
        FlashEvent::Decoded { tag, failed, .. } => {
            format!(
                "failed tag {}: cw {}",
                tag.0,
                mask(failed, codewords_per_page)
            )
        }
        FlashEvent::Ones { tag, .. } => format!("ones of tag {}", tag.0),
        FlashEvent::Programmed { tag, ok } => format!("programmed tag {} ok {ok}", tag.0),
        FlashEvent::Erased { tag, ok } => format!("erased tag {} ok {ok}", tag.0),
        FlashEvent::Aborted { tag } => format!("aborted tag {}", tag.0),
        FlashEvent::Suspended { tag, remaining } => {
            format!("suspended tag {}, {} left", tag.0, remaining.0)
        }
    }
}

/// Codewords by plane, the lowest plane first; trailing planes without any are left out.
fn mask(mut codewords: u64, per_page: u32) -> String {
    let digits = per_page.div_ceil(4) as usize;
    let mut planes = Vec::new();
    while codewords != 0 || planes.is_empty() {
        planes.push(format!(
            "{:0digits$x}",
            codewords & ((1u64 << per_page) - 1)
        ));
        codewords = codewords.checked_shr(per_page).unwrap_or(0);
    }
    planes.join(".")
}
