//! Any answers, any history, any parameters.

use firstread_core::params::ParamKind;
use firstread_core::{CellMode, LevelOffsets, Levels, Ns, PageAddr, SuperblockId};
use firstread_firmware::observe::{Outcome, ProbeResult, ReadCtx, SuperblockTable, SuperblockUse};
use firstread_firmware::policy::read_levels::{AXIS, AnyReadLevels, ReadLevels};
use proptest::prelude::*;

use crate::chip;

#[derive(Clone, Debug)]
enum Action {
    /// So many probes, answered by so many failed codewords or conducting cells.
    Probes(u8, u64, u32, bool),
    Wait(u64),
    Open(u8),
    Fill(u8),
    Erase(u8),
    Start,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => (any::<u8>(), any::<u64>(), any::<u32>(), prop::bool::weighted(0.05))
            .prop_map(|(n, f, c, odd)| Action::Probes(n, f, c, odd)),
        3 => (0u64..40_000).prop_map(|s| Action::Wait(s * 1_000_000_000)),
        2 => (0u8..40).prop_map(Action::Open),
        2 => (0u8..40).prop_map(Action::Fill),
        1 => (0u8..40).prop_map(Action::Erase),
        1 => Just(Action::Start),
    ]
}

/// A value within the range of each parameter, the default as often as not.
fn parameters(name: &'static str) -> impl Strategy<Value = Vec<i64>> {
    let scheme = AXIS.schemes.iter().find(|s| s.name == name).unwrap();
    let each = scheme.params.iter().map(|p| {
        let any = match p.kind {
            // Few pages, so that a history reaches every phase.
            ParamKind::Number { min, .. } if p.key == "pages_per_block" => {
                return (min..=16).boxed();
            }
            ParamKind::Number { min, max, .. } => (min..=max).boxed(),
            ParamKind::Choice(words) => (0..words.len() as i64).boxed(),
            ParamKind::Flag(_) => (0i64..=1).boxed(),
        };
        prop_oneof![2 => Just(p.default()), 1 => any].boxed()
    });
    each.collect::<Vec<_>>()
}

/// Whatever a read meets: what the scheme keeps or infers, and then every factory entry once.
fn check_attempts(scheme: &mut AnyReadLevels, ctx: &ReadCtx) -> Result<(), TestCaseError> {
    let tables = chip::tables();
    let len = tables.factory_len as usize;
    let mut tried: Vec<LevelOffsets> = Vec::new();
    let mut note = 0;
    for step in 0..=u8::MAX {
        match scheme.attempt(ctx, step, None, &mut note) {
            Some(Levels::Offsets(levels)) => tried.push(levels),
            Some(ideal) => prop_assert!(false, "{ideal:?} is no level of a drive"),
            None => break,
        }
    }
    prop_assert!((len..=len + 9).contains(&tried.len()), "{}", tried.len());
    let mut walked = tried[tried.len() - len..].to_vec();
    let mut factory = tables.factory[..len].to_vec();
    walked.sort_unstable();
    factory.sort_unstable();
    prop_assert_eq!(walked, factory);
    for step in tried.len()..=u8::MAX as usize {
        prop_assert_eq!(scheme.attempt(ctx, step as u8, None, &mut note), None);
    }
    Ok(())
}

fn drive(name: &str, values: &[i64], actions: &[Action]) -> Result<(), TestCaseError> {
    let mut scheme = AnyReadLevels::new(name, &chip::setup(), values).unwrap();
    let mut blocks = SuperblockTable::new(chip::geometry().blocks_per_plane, CellMode::Qlc);
    let mut now = chip::h(30.0);
    for block in 0..12 {
        chip::fill(&mut blocks, block, block * 400, chip::h(block as f64 * 2.5));
    }
    scheme.start(now, &blocks);
    let mut noise = firstread_core::Stream::new(5);
    for action in actions {
        match *action {
            Action::Start => scheme.start(now, &blocks),
            Action::Wait(ns) => now += Ns(ns),
            Action::Open(b) => {
                let info = blocks.info_mut(SuperblockId(b as u32));
                if info.usage == SuperblockUse::Free {
                    info.usage = SuperblockUse::Open;
                    info.pe_cycles += 700;
                    info.programmed_at = now;
                    info.mode = if b % 10 == 9 {
                        CellMode::Slc
                    } else {
                        CellMode::Qlc
                    };
                    scheme.on_block(now, SuperblockId(b as u32), &blocks);
                }
            }
            Action::Fill(b) => {
                let info = blocks.info_mut(SuperblockId(b as u32));
                if info.usage == SuperblockUse::Open {
                    info.usage = SuperblockUse::Full;
                }
            }
            Action::Erase(b) => {
                blocks.info_mut(SuperblockId(b as u32)).usage = SuperblockUse::Free;
                scheme.on_block(now, SuperblockId(b as u32), &blocks);
            }
            Action::Probes(n, failed, count, odd) => {
                for _ in 0..=(n as u32 * 8) {
                    if scheme.due() > now {
                        break;
                    }
                    let Some(probe) = scheme.probe(now, &blocks, &|_| true, &mut |_| {}) else {
                        prop_assert!(scheme.due() > now, "nothing to do, and yet due");
                        break;
                    };
                    let info = blocks.info(probe.at.block);
                    prop_assert!(info.usage == SuperblockUse::Full && info.mode == CellMode::Qlc);
                    prop_assert!(probe.at.wordline < 1408 && probe.at.page.0 < 4);
                    noise = noise.at(1);
                    let ones = matches!(probe.mode, firstread_core::SenseMode::OnesCount { .. });
                    let result = match ones ^ odd {
                        true => ProbeResult::Ones {
                            count: count ^ (noise.bits() as u32 >> 12),
                            cells: 147_456,
                        },
                        false => ProbeResult::Decoded(Outcome {
                            wanted: 0xf,
                            failed: failed & noise.bits() & 0xf,
                            max_errors: u16::MAX,
                            sum_errors: u32::MAX,
                            unsatisfied: 0,
                            spare: Default::default(),
                        }),
                    };
                    now += Ns::from_us(200);
                    scheme.on_probe(now, &probe, &result, &blocks, &mut |_| {});
                }
            }
        }
        for (block, info) in blocks.iter().step_by(7) {
            let ctx = ReadCtx {
                now,
                at: PageAddr {
                    block,
                    ..Default::default()
                },
                mode: info.mode,
                pe_cycles: info.pe_cycles,
                age: now.since(info.programmed_at),
            };
            check_attempts(&mut scheme, &ctx)?;
        }
    }
    // Left alone, the work ends: passes of an hour or more apart, at most all groups each.
    for _ in 0..2_000_000 {
        if scheme.due() > now {
            return Ok(());
        }
        if let Some(probe) = scheme.probe(now, &blocks, &|_| true, &mut |_| {}) {
            let result = match probe.mode {
                firstread_core::SenseMode::OnesCount { .. } => {
                    ProbeResult::Ones { count: 0, cells: 0 }
                }
                _ => ProbeResult::Decoded(Outcome {
                    wanted: 0xf,
                    failed: 0xf,
                    max_errors: 0,
                    sum_errors: 0,
                    unsatisfied: 0,
                    spare: Default::default(),
                }),
            };
            scheme.on_probe(now, &probe, &result, &blocks, &mut |_| {});
        }
    }
    prop_assert!(false, "background work does not end");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn ct_qlc_holds_up(
        values in parameters("ct-qlc"),
        actions in prop::collection::vec(action(), 1..60),
    ) {
        drive("ct-qlc", &values, &actions)?;
    }

    #[test]
    fn frozen_holds_up(
        values in parameters("frozen"),
        actions in prop::collection::vec(action(), 1..60),
    ) {
        drive("frozen", &values, &actions)?;
    }

    #[test]
    fn similar_page_holds_up(
        values in parameters("similar-page"),
        actions in prop::collection::vec(action(), 1..60),
    ) {
        drive("similar-page", &values, &actions)?;
    }

    #[test]
    fn block_calibration_holds_up(
        values in parameters("block-calibration"),
        actions in prop::collection::vec(action(), 1..60),
    ) {
        drive("block-calibration", &values, &actions)?;
    }

    #[test]
    fn retention_model_holds_up(
        values in parameters("retention-model"),
        actions in prop::collection::vec(action(), 1..60),
    ) {
        drive("retention-model", &values, &actions)?;
    }

    #[test]
    fn sentinel_cells_holds_up(
        values in parameters("sentinel-cells"),
        actions in prop::collection::vec(action(), 1..60),
    ) {
        drive("sentinel-cells", &values, &actions)?;
    }
}
