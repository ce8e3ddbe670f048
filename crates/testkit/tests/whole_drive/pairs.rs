//! Schemes of two axes that move data, together on one drive: each holds free superblocks of its own, and no write waits long
//! for cleaning all the same.

use firstread_drive::{DriveState, Precondition};
use firstread_firmware::observe::Owner;
use firstread_testkit::profile;

use crate::model::seeds_named;
use crate::paced::{Load, worst_write};
use crate::partial_writes::{SKEWED, SMALL, UNIFORM};

/// Schemes that move data, by axis. Each axis begins with its baseline.
const SCHEMES: &[&[&[&str]]] = &[
    &[
        &["schemes.wear=none"],
        &[
            "schemes.wear=static",
            "wear.spread=2 P/E",
            "wear.every=4 erases",
        ],
        &["schemes.wear=progressive", "wear.start=2 permille"],
        &["schemes.wear=progressive-hot", "wear.start=2 permille"],
    ],
    &[
        &["schemes.area=one"],
        &["schemes.area=differential"],
        &["schemes.area=differential", "area.trigger=any"],
        &["schemes.area=differential-fixed", "area.trigger=slow"],
    ],
    &[
        &["schemes.cell_mode=fixed"],
        &["schemes.cell_mode=hotness"],
        &["schemes.cell_mode=raro", "cell_mode.trigger=slow"],
        &[
            "schemes.cell_mode=hybrid-pools",
            "cell_mode.wear_weight=0 permille",
        ],
        &["schemes.cell_mode=slc-cache", "cell_mode.idle=20 ms"],
    ],
    &[
        &["schemes.refresh=none"],
        &["schemes.refresh=read-count", "refresh.reads_qlc=300 reads"],
        &[
            "schemes.refresh=hot",
            "refresh.trigger=slow",
            "refresh.age=300 ms",
        ],
        &[
            "schemes.refresh=lightweight",
            "refresh.retries=0 retries",
            "refresh.age=300 ms",
        ],
    ],
    &[
        &["schemes.stream=one"],
        &["schemes.stream=write-heat", "stream.levels=3"],
        &["schemes.stream=sepbit"],
        &[
            "schemes.stream=fdp",
            "stream.handles=3",
            "stream.persistent=true",
        ],
    ],
    &[
        &["schemes.gc_victim=cost-benefit"],
        &["schemes.gc_victim=greedy"],
        &["schemes.gc_victim=fifo-guarded"],
        &["schemes.gc_victim=d-choices"],
        &["schemes.gc_victim=random-guarded"],
    ],
];

/// Every pair of schemes of two axes, none of them the baseline of its axis.
fn pairs() -> Vec<Vec<&'static str>> {
    let mut pairs = Vec::new();
    for (first, of_first) in SCHEMES.iter().enumerate() {
        for of_second in &SCHEMES[first + 1..] {
            for one in &of_first[1..] {
                pairs.extend(of_second[1..].iter().map(|other| [*one, *other].concat()));
            }
        }
    }
    pairs
}

/// Writes of a small drive with the schemes `pair`, beside reads that the schemes go by, and the factor on the queue. Every
/// drive reads and writes what is drawn from `seed`.
fn load(pair: &[&str], precondition: Precondition, seed: u64, slots: u64) -> (Load, f64) {
    let (law, factor) = match precondition {
        Precondition::Random => ("random", UNIFORM),
        _ => ("zipf:1.1", SKEWED),
    };
    let (drive, set) = SMALL[1];
    // Shortly after the fill there is nothing to clean.
    let slots = if precondition == Precondition::None {
        2 * slots
    } else {
        slots
    };
    // Several streams of the host and of moves leave room for less, and so do pools that the host writes to, and both streams of wear leveling with the superblocks of cell
    // modes.
    let has = |word: &str| pair.iter().any(|w| w.contains(word));
    let capacity = match (
        has("schemes.stream") || has("cell_mode=hybrid-pools") || has("cell_mode=slc-cache"),
        has("progressive-hot") && has("schemes.cell_mode"),
    ) {
        (true, _) => "capacity=400 MiB",
        (false, true) => "capacity=432 MiB",
        (false, false) => "capacity=440 MiB",
    };
    let handles = if has("stream=fdp") {
        "fdp=1\nplid_select=random\n"
    } else {
        ""
    };
    let set = set.iter().chain([&capacity]).chain(pair);
    let reads = "[r]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\nrandom_distribution=zipf:1.2\nthinktime=1ms\n";
    let load = Load {
        drive,
        set: set.map(|word| word.to_string()).collect(),
        precondition,
        depth: 16,
        job: format!(
            "bs=4k\nrandom_distribution={law}\n{handles}number_ios={slots}\n{reads}number_ios={}\n",
            slots / 2
        ),
        seed,
    };
    (load, factor)
}

/// Each of `pairs` with its seed, filled and preconditioned.
fn are_paced<'a>(pairs: impl IntoIterator<Item = (u64, &'a Vec<&'static str>)>, slots: u64) {
    let mut beyond = Vec::new();
    for (seed, pair) in pairs {
        for precondition in [
            Precondition::None,
            Precondition::Random,
            Precondition::Zipf(1.1),
        ] {
            let (load, factor) = load(pair, precondition, seed, slots);
            let (needed, message) = worst_write(&load, factor);
            if needed > factor {
                beyond.push(message);
            }
        }
    }
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

/// The pair that has all of `words`.
fn pair_of(words: &[&str]) -> Vec<&'static str> {
    let has = |pair: &Vec<&str>| {
        words
            .iter()
            .all(|word| pair.iter().any(|w| w.contains(word)))
    };
    pairs().into_iter().find(has).expect("a pair of these")
}

/// Pairs in which a write waited for up to seven seconds, each with the seed with which it did.
#[test]
fn formula_no_write_waits_long_where_two_schemes_move_data() {
    let some: [(u64, &[&str]); 16] = [
        (1, &["schemes.wear", "schemes.area"]),
        (1, &["schemes.area", "refresh=read-count"]),
        (1, &["area=differential-fixed", "refresh=hot"]),
        (1, &["cell_mode=hotness", "gc_victim=fifo-guarded"]),
        // A stream of moves opened a superblock that cleaning had counted on.
        (1, &["wear=progressive-hot", "gc_victim=fifo-guarded"]),
        // Victims were planned anew within a superblock of the host, and held more.
        (3, &["area.trigger=any", "gc_victim=fifo-guarded"]),
        // The host waited for a refresh that did not count as the moves that it waited for.
        (3, &["refresh=read-count", "gc_victim=d-choices"]),
        // A refresh began while the host waited for a superblock.
        (3, &["area=differential", "refresh=read-count"]),
        // Wear leveling began where cleaning had ended, in the last eighth of the host's superblock.
        (1, &["schemes.wear=progressive", "gc_victim=d-choices"]),
        (3, &["schemes.wear=static", "area=differential"]),
        (1, &["stream=write-heat", "area=differential"]),
        (2, &["stream=sepbit", "refresh=hot"]),
        (3, &["stream=fdp", "cell_mode=raro"]),
        // A stream of moves opened the superblock that a stream of the host opened next.
        (2, &["wear=static", "stream=fdp"]),
        // Victims that were planned for a stream of the host were planned anew when another one opened a superblock, and held more.
        (3, &["stream=fdp", "gc_victim=fifo-guarded"]),
        // Writes waited for the superblock of one stream, though another one had room.
        (2, &["stream=sepbit", "gc_victim=fifo-guarded"]),
    ];
    let some = some.map(|(seed, words)| (seed, pair_of(words)));
    are_paced(some.iter().map(|(seed, pair)| (*seed, pair)), 60_000);
}

/// One pair in seven.
#[test]
#[ignore = "a minute: cargo test -p firstread-testkit --test whole_drive -- --ignored one_pair_in_seven"]
fn formula_no_write_waits_long_with_one_pair_in_seven() {
    let pairs = pairs();
    are_paced(pairs.iter().step_by(7).map(|pair| (1, pair)), 40_000);
}

/// All pairs in which axis `stream` chooses, with seeds 1, 2 and 3.
#[test]
#[ignore = "some minutes: cargo test -p firstread-testkit --test whole_drive -- --ignored several_streams"]
fn formula_no_write_waits_long_where_the_host_has_several_streams() {
    let of_streams = |pair: &&Vec<&str>| pair.iter().any(|word| word.contains("schemes.stream"));
    let pairs = pairs();
    let pairs: Vec<_> = pairs.iter().filter(of_streams).collect();
    are_paced(
        (1..=3).flat_map(|seed| pairs.iter().map(move |pair| (seed, *pair))),
        60_000,
    );
}

/// All pairs in which the host writes to a pool of another cell mode, with seeds 1, 2 and 3.
#[test]
#[ignore = "some minutes: cargo test -p firstread-testkit --test whole_drive -- --ignored writes_to_a_pool"]
fn formula_no_write_waits_long_where_the_host_writes_to_a_pool() {
    let has_pool = |pair: &&Vec<&str>| {
        let names = ["cell_mode=hybrid-pools", "cell_mode=slc-cache"];
        pair.iter()
            .any(|word| names.iter().any(|name| word.ends_with(name)))
    };
    let pairs = pairs();
    let pairs: Vec<_> = pairs.iter().filter(has_pool).collect();
    are_paced(
        (1..=3).flat_map(|seed| pairs.iter().map(move |pair| (seed, *pair))),
        80_000,
    );
}

/// All pairs, with other loads. Run `n` is the pair `n` modulo their number, with seed 1 in the first round of all pairs.
/// `FIRSTREAD_MODEL_SEEDS=A..B` runs these; there are three rounds.
#[test]
#[ignore = "many minutes: cargo test -p firstread-testkit --test whole_drive -- --ignored any_two_schemes"]
fn formula_no_write_waits_long_where_any_two_schemes_move_data() {
    let pairs = pairs();
    let all = pairs.len() as u64;
    let runs = seeds_named().unwrap_or(0..3 * all);
    let pair = |n: u64| (1 + n / all, &pairs[(n % all) as usize]);
    are_paced(runs.map(pair), 60_000);
}

/// P/E cycles between the least and the most worn superblock of a drive with scheme `wear` once its host has overwritten it by Zipf's law with the
/// streams of `stream`, and slots that wear leveling moved.
fn spread(wear: &[&str], stream: &[&str]) -> (u32, u64) {
    let (name, set) = SMALL[1];
    let set = [set, &["capacity=400 MiB"], wear, stream].concat();
    let mut drive = firstread_testkit::drive(profile(name, &set), &DriveState::default(), 1);
    let handles = match stream[0] {
        "schemes.stream=fdp" => "fdp=1\nplid_select=random\n",
        _ => "",
    };
    let job = format!(
        "[w]\nrw=randwrite\nbs=4k\niodepth=16\nnorandommap\nrandom_distribution=zipf:1.1\nio_size=1500m\n{handles}"
    );
    let stats = firstread_testkit::try_run(&mut drive, &job, 1, None).unwrap();
    let worn: Vec<u32> = drive
        .blocks()
        .iter()
        .map(|(_, info)| info.pe_cycles)
        .collect();
    let spread = worn.iter().max().unwrap() - worn.iter().min().unwrap();
    (spread, stats.counters.slots_moved_by[Owner::Wear as usize])
}

/// Several streams of the host do not keep wear leveling from its turn, though its moves wait while one of them is about to open a
/// superblock.
#[test]
fn formula_wear_is_leveled_where_the_host_has_several_streams() {
    for stream in [
        &["schemes.stream=write-heat", "stream.levels=3"][..],
        &[
            "schemes.stream=fdp",
            "stream.handles=3",
            "stream.persistent=true",
        ],
    ] {
        let (without, _) = spread(&["schemes.wear=none"], stream);
        let (with, moved) = spread(SCHEMES[0][1], stream);
        assert!(
            with <= 9 && without >= 12,
            "{stream:?}: {with} P/E cycles apart, {without} without wear leveling, which moved {moved} slots"
        );
    }
}
