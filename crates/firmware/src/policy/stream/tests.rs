use alloc::vec::Vec;

use firstread_core::CellMode;
use firstread_core::params::Scheme;

use super::*;
use crate::ftl::tests::{geometry, setup};
use crate::observe::{
    MOST_HOST_STREAMS, MOST_MOVE_STREAMS, OpenedFor, Owner, PageFuture, StreamUse,
};

fn scheme(name: &str, values: &[i64]) -> AnyHostStreams {
    let setup = setup(CellMode::Slc, geometry(20), 64);
    AnyHostStreams::new(name, &setup, values).expect("a scheme of the axis")
}

fn lay(opened_for: Option<OpenedFor>, age_slots: u64) -> Lay {
    Lay {
        opened_for,
        age_slots: Some(age_slots),
    }
}

fn written(scheme: &AnyHostStreams, placement: u16, overwritten: Option<Lay>) -> u8 {
    scheme.of_write(&WrittenPage {
        placement,
        overwritten,
        future: PageFuture::default(),
    })
}

fn moved(scheme: &AnyHostStreams, lies: Lay) -> u8 {
    scheme.of_move(&MovedPage {
        owner: Owner::Gc,
        lies,
        future: PageFuture::default(),
    })
}

/// Every scheme names only streams that it has, whatever it is told of a page.
#[test]
fn model_no_page_goes_to_a_stream_that_the_scheme_lacks() {
    let most = |scheme: &Scheme| -> Vec<i64> {
        let range = |param: &firstread_core::params::Param| match param.kind {
            firstread_core::params::ParamKind::Number { max, .. } => max,
            _ => 1,
        };
        scheme.params.iter().map(range).collect()
    };
    for of in AXIS.schemes {
        for values in [of.params.iter().map(|p| p.default()).collect(), most(of)] {
            let mut scheme = scheme(of.name, &values);
            let (hosts, moves) = (scheme.of_host().len() + 1, scheme.of_moves().len() + 1);
            assert!(hosts <= MOST_HOST_STREAMS && moves <= MOST_MOVE_STREAMS);
            let lain = (0..hosts as u8).map(OpenedFor::Host);
            let lain = lain.chain((0..moves as u8).map(OpenedFor::Moves)).map(Some);
            for opened_for in lain.chain([None]) {
                for age in [0, 1, 100, u64::MAX] {
                    let lay = lay(opened_for, age);
                    for placement in [0, 1, 15, u16::MAX] {
                        let to = written(&scheme, placement, Some(lay));
                        assert!(usize::from(to) < hosts, "{} writes to {to}", of.name);
                    }
                    assert!(usize::from(moved(&scheme, lay)) < moves, "{}", of.name);
                    scheme.cleans(&lay);
                }
            }
            assert!(usize::from(written(&scheme, 0, None)) < hosts);
        }
    }
}

/// The rows are numbered from one on, under names of their own.
#[test]
fn formula_rows_have_their_number_in_their_name() {
    let all = scheme("fdp", &[16, 1]);
    for (i, row) in (1..).zip(all.of_host()) {
        assert_eq!(row.takes, StreamUse::HostStream(i));
        assert_eq!(row.name, alloc::format!("host-{i}"));
    }
    for (i, row) in (1..).zip(all.of_moves()) {
        assert_eq!(row.takes, StreamUse::MoveStream(i));
        assert_eq!(row.name, alloc::format!("moves-{i}"));
    }
    assert_eq!((all.of_host().len(), all.of_moves().len()), (15, 15));
}

/// One level up when the host overwrites, one down when cleaning moves. Streams of the host begin at level 1.
#[test]
fn formula_write_heat_climbs_by_overwrites_and_sinks_by_moves() {
    let heat = scheme("write-heat", &[4]);
    assert_eq!((heat.of_host().len(), heat.of_moves().len()), (2, 2));
    assert_eq!(written(&heat, 0, None), 0, "unknown: level 1");
    assert_eq!(written(&heat, 0, Some(lay(None, 0))), 1, "level 2");
    // From level 0 to 1, from 1 to 2, from 2 and 3 to 3.
    let of_moves = |number| written(&heat, 0, Some(lay(Some(OpenedFor::Moves(number)), 0)));
    assert_eq!([0, 1, 2].map(of_moves), [0, 1, 2]);
    let of_host = |number| written(&heat, 0, Some(lay(Some(OpenedFor::Host(number)), 0)));
    assert_eq!([0, 1, 2].map(of_host), [1, 2, 2]);
    let down = |opened_for| moved(&heat, lay(Some(opened_for), 0));
    assert_eq!([0, 1, 2].map(|n| down(OpenedFor::Host(n))), [0, 1, 2]);
    assert_eq!([0, 1, 2].map(|n| down(OpenedFor::Moves(n))), [0, 0, 1]);
    // Two levels are a stream of the host and one of moves.
    let two = scheme("write-heat", &[2]);
    assert_eq!((two.of_host().len(), two.of_moves().len()), (0, 0));
}

/// ℓ is the mean life of the sixteen superblocks of class 1 that were cleaned last, and classes of moved pages are bounded by 4 ℓ and 16 ℓ.
#[test]
fn formula_sepbit_goes_by_lives_of_short_lived_superblocks() {
    let mut sepbit = scheme("sepbit", &[]);
    let class_1 = Some(OpenedFor::Host(0));
    let class_2 = Some(OpenedFor::Host(1));
    let old = |age| Some(lay(class_2, age));
    assert_eq!(written(&sepbit, 0, None), 1, "a first write lives long");
    assert_eq!(
        written(&sepbit, 0, old(1 << 40)),
        0,
        "before anything is known"
    );
    for i in 0..16 {
        assert_eq!(written(&sepbit, 0, old(1 << 40)), 0);
        // Superblocks of other classes do not count.
        sepbit.cleans(&lay(class_2, 1 << 30));
        sepbit.cleans(&lay(Some(OpenedFor::Moves(0)), 1 << 30));
        sepbit.cleans(&lay(class_1, 93 + i));
    }
    // Their mean is 100.5.
    assert_eq!([99, 100].map(|age| written(&sepbit, 0, old(age))), [0, 1]);
    let unknown = Lay {
        opened_for: class_1,
        age_slots: None,
    };
    sepbit.cleans(&unknown);
    assert_eq!(
        written(&sepbit, 0, Some(unknown)),
        1,
        "before the power was on"
    );
    assert_eq!(moved(&sepbit, lay(class_1, 1 << 40)), 0, "class 3");
    let of_age = |age| moved(&sepbit, lay(class_2, age));
    assert_eq!([0, 399, 400, 1_599, 1_600].map(of_age), [1, 1, 2, 2, 3]);
    assert_eq!(moved(&sepbit, lay(Some(OpenedFor::Moves(0)), 400)), 2);
}

/// The handle picks the stream of the host. What moves stays with its handle only where isolation is persistent.
#[test]
fn formula_fdp_goes_by_handles() {
    let (initially, persistently) = (scheme("fdp", &[3, 0]), scheme("fdp", &[3, 1]));
    let host = |number| lay(Some(OpenedFor::Host(number)), 0);
    let moves = |number| lay(Some(OpenedFor::Moves(number)), 0);
    for fdp in [&initially, &persistently] {
        assert_eq!(
            [0, 1, 2].map(|handle| written(fdp, handle, None)),
            [0, 1, 2]
        );
        assert_eq!(written(fdp, 3, None), 0, "a handle that the drive lacks");
        assert!(!fdp.goes_to_neighbour() && !fdp.sees_overwritten());
        assert_eq!(moved(fdp, lay(None, 0)), 0);
    }
    assert_eq!(
        [host(2), moves(0)].map(|lies| moved(&initially, lies)),
        [0, 0]
    );
    assert_eq!(
        [host(0), host(2), moves(1)].map(|lies| moved(&persistently, lies)),
        [0, 2, 1]
    );
    assert_eq!(
        (initially.of_moves().len(), persistently.of_moves().len()),
        (0, 2)
    );
}

/// The first group dies while the host fills a superblock, and each further one lives for up to twice as long.
#[test]
fn formula_clairvoyant_goes_by_the_time_that_is_left() {
    let oracle = scheme("clairvoyant", &[4]);
    let superblock = crate::ftl::tests::SLOTS;
    let group = |overwritten_in| {
        let future = PageFuture {
            overwritten_in,
            ..PageFuture::default()
        };
        let page = MovedPage {
            owner: Owner::Gc,
            lies: lay(None, 0),
            future,
        };
        let of_write = oracle.of_write(&WrittenPage {
            placement: 0,
            overwritten: None,
            future,
        });
        assert_eq!(oracle.of_move(&page), of_write);
        of_write
    };
    let left = [
        0,
        superblock - 1,
        superblock,
        2 * superblock,
        4 * superblock - 1,
        4 * superblock,
    ];
    assert_eq!(left.map(group), [0, 0, 1, 2, 2, 3]);
    assert_eq!(group(u32::MAX), 3, "never");
}
