//! What a dump keeps of each scheme: a scheme that was saved and loaded goes on as the scheme that was saved.

use std::format;
use std::vec::Vec;

use firstread_core::params::{Param, Scheme};
use firstread_core::sensing::{SensingTable, ShortSenses};
use firstread_core::{CellMode, Ns, PageAddr, PageType, Stream};

use super::*;
use crate::format::{Cursor, Record as _};
use crate::observe::StepTimes;
use crate::policy::{ReadTime, Setup};

fn setup() -> Setup {
    let geometry = crate::ftl::tests::geometry(8);
    let mut setup = crate::ftl::tests::setup(CellMode::Tlc, geometry, 100);
    let row = ShortSenses {
        default_tenths: 414,
        added_tenths: [1, 6, 24, 81, 187, 436, 1182, 3142],
    };
    setup.sensing = SensingTable {
        capability_bits: 72,
        codeword_bits: 9_216,
        margin_bits: 14,
        activation_mev: 1_100,
        ..SensingTable::NOTHING
    };
    let points = setup.sensing.points.as_flattened_mut();
    points.as_flattened_mut().fill(row);
    setup.read_time = ReadTime {
        sense_ns: [78_000, 117_000, 78_000, 0],
        precharge_ns: [48_000, 72_000, 48_000, 0],
        transfer_ns: 16_000,
        decode_ns: 20_000,
        set_feature_ns: 1_000,
    };
    setup
}

fn scheme(record: &Scheme, seed: u64) -> AnyRetry {
    let s = Stream::new(seed).named("values");
    let values = record.params.iter().zip(0..);
    let any = |s: Stream| s.below(3) as i64;
    let value = |(p, i): (&Param, u64)| match p.key {
        "rule" => any(s.at(i)),
        "from" => any(s.at(i)) % 2,
        _ => p.default(),
    };
    let values: Vec<i64> = values.map(value).collect();
    AnyRetry::new(record.name, &setup(), &values).expect("a scheme")
}

/// A read. Returns the sense times of its steps.
fn reads(scheme: &mut AnyRetry, s: Stream) -> Vec<ShortSense> {
    let ctx = ReadCtx {
        now: Ns::from_h(100),
        at: PageAddr {
            page: PageType(s.at(0).below(3) as u8),
            ..PageAddr::default()
        },
        mode: CellMode::Tlc,
        pe_cycles: 500 * s.at(1).below(3) as u32,
        age: Ns::from_h(1 << (3 * s.at(2).below(2))),
    };
    let last = s.at(3).below(9) as u8;
    let senses: Vec<ShortSense> = (0..=last).map(|e| scheme.short_sense(&ctx, e)).collect();
    let is_short = s.at(4).below(4) == 0;
    let outcome = Outcome {
        wanted: 1,
        failed: 0,
        max_errors: s.at(5).below(72) as u16,
        sum_errors: 0,
        unsatisfied: 0,
        spare: Default::default(),
    };
    let end = ReadEnd {
        entry: last,
        steps: last,
        used_short_sense: is_short,
    };
    scheme.on_read(&ctx, end, &outcome, &StepTimes::new(0));
    senses
}

fn length(scheme: &mut AnyRetry, most: bool) -> usize {
    let mut cursor = Cursor::counting(most);
    scheme.transfer(&mut cursor);
    cursor.end().expect("a length")
}

fn saved(scheme: &mut AnyRetry) -> Vec<u8> {
    let mut bytes = std::vec![0; length(scheme, false)];
    let mut cursor = Cursor::saving(&mut bytes);
    scheme.transfer(&mut cursor);
    assert_eq!(cursor.end(), Some(bytes.len()));
    bytes
}

fn loads(scheme: &mut AnyRetry, bytes: &[u8]) -> bool {
    let mut cursor = Cursor::loading(bytes);
    scheme.transfer(&mut cursor);
    cursor.is_whole()
}

#[test]
fn model_a_dump_keeps_all_that_a_scheme_of_retry_has_learned() {
    for record in AXIS.schemes {
        let mut lengths = Vec::new();
        for seed in 0..24 {
            let case = format!("{} with seed {seed}", record.name);
            let s = Stream::new(seed).named(record.name);
            let mut it = scheme(record, seed);
            for i in 0..s.at(0).below(2_000) {
                reads(&mut it, s.named("history").at(i));
            }
            let bytes = saved(&mut it);
            lengths.push(bytes.len());
            assert!(bytes.len() <= length(&mut it, true), "{case}");
            let mut loaded = scheme(record, seed);
            assert!(loads(&mut loaded, &bytes), "{case}");
            let same = format!("{it:?}") == format!("{loaded:?}");
            assert!(same, "{case}");
            assert_eq!(bytes, saved(&mut loaded), "{case}");
            for i in 0..400 {
                let read = s.named("after").at(i);
                let read = [&mut it, &mut loaded].map(|scheme| reads(scheme, read));
                assert_eq!(read[0], read[1], "{case}, read {i}");
            }
        }
        let learns = record.name.ends_with("adaptive");
        assert_eq!(
            lengths.iter().any(|len| *len > 2_000),
            learns,
            "{lengths:?}"
        );
    }
}

/// Bytes that were changed, or that are any. What is loaded is refused, or goes on without a panic.
#[test]
fn fuzz_a_dump_of_retry_may_hold_anything() {
    let (mut refused, mut taken) = (0, 0);
    for record in AXIS.schemes.iter().filter(|s| s.name.ends_with("adaptive")) {
        for seed in 0..60 {
            let s = Stream::new(seed).named(record.name);
            let mut it = scheme(record, seed);
            for i in 0..200 {
                reads(&mut it, s.named("history").at(i));
            }
            let bytes = saved(&mut it);
            for i in 0..8 {
                let s = s.named("anything").at(i);
                let mut bytes = bytes.clone();
                let len = bytes.len() as u64;
                let changes = if i == 0 { len } else { 1 + s.at(0).below(4) };
                for k in 0..changes {
                    let at = if i == 0 { k } else { s.at(1).at(k).below(len) };
                    let any = s.at(2).at(k).bits() as u8;
                    bytes[at as usize] = [any, 0xff, 0, any % 9][s.at(3).at(k).below(4) as usize];
                }
                let mut loaded = scheme(record, seed);
                if !loads(&mut loaded, &bytes) {
                    refused += 1;
                    continue;
                }
                taken += 1;
                for i in 0..100 {
                    reads(&mut loaded, s.named("after").at(i));
                }
            }
        }
    }
    std::println!("{refused} refused, {taken} taken");
    assert!(
        refused > 50 && taken > 50,
        "{refused} refused, {taken} taken"
    );
}
