//! What a result is found by: each input, changed alone, is another result.
#![allow(
    clippy::disallowed_methods,
    reason = "traces are files, which are edited here"
)]

use std::fs;
use std::sync::Arc;

use firstread_core::Ns;
use firstread_drive::{EarlierFill, LastSuperblocks, Precondition, WornBlocks};

use super::*;
use crate::drive_profile::Profile;
use crate::input::TraceArgs;
use crate::life::{ProbeJob, Until};
use crate::setup::Simulation;
use firstread_drive::profile::Override;

/// A folder of a test, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("firstread-store-{name}-{}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        let _ = fs::remove_dir_all(&folder.0);
        fs::create_dir_all(&folder.0).unwrap();
        folder
    }

    /// The path of a file with this text.
    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const JOB: &str = "[a]\nrw=randread\nbs=4k\nnumber_ios=50\n";
const TRACE: &str = "10,R,8192,4096,3\n20,W,4096,8192,3\n";
const COLUMNS: &str = "time:us,op,offset:B,size:B,device";

fn of(input: Input) -> Setup {
    let simulation = Simulation {
        drive: "bench-4g".into(),
        limit: Some(40),
        ..Simulation::of(input)
    };
    simulation.setup().unwrap()
}

fn job(text: &str) -> Input {
    Input::job_file("a", text.into()).unwrap()
}

/// Names of the `changes` for which `is`.
fn names<T>(
    changes: &[(&'static str, T)],
    is: impl Fn(&&(&'static str, T)) -> bool,
) -> Vec<&'static str> {
    changes.iter().filter(is).map(|(name, _)| *name).collect()
}

/// The inputs of `setup` as text, by a program.
fn key(program: &str, setup: &Setup) -> String {
    inputs_by(program, setup).unwrap().to_string()
}

#[test]
fn formula_each_input_of_a_run_makes_another_result() {
    let base = of(job(JOB));
    assert_eq!(
        key("p", &base),
        key("p", &of(job(JOB))),
        "nothing else is in it"
    );
    assert_ne!(key("p", &base), key("q", &base), "the program");

    type Change = (&'static str, fn(&mut Setup));
    let changes: &[Change] = &[
        ("job text", |s| {
            s.input = job(&format!("{JOB}# a word\n")).into()
        }),
        ("name", |s| {
            s.input = Input::job_file("b", JOB.into()).unwrap().into()
        }),
        ("jobs of the same text", |s| {
            let mut input = job(JOB);
            if let Input::Jobs { workload, .. } = &mut input {
                workload.jobs[0].number_ios = None;
            }
            s.input = input.into();
        }),
        ("seed", |s| s.seed += 1),
        ("limit", |s| s.limit = Some(41)),
        ("no limit", |s| s.limit = None),
        ("workload seed", |s| s.state.workload_seed += 1),
        ("age by 1 ns", |s| s.state.age.0 = Ns(s.state.age.0.0 + 1)),
        ("oldest age", |s| s.state.age.1 = Ns(s.state.age.1.0 + 1)),
        ("P/E cycles", |s| s.state.pe_cycles.0 -= 1),
        ("most P/E cycles", |s| s.state.pe_cycles.1 += 1),
        ("last superblocks", |s| {
            let (permille, pe_cycles) = (100, 7);
            s.state.last = Some(LastSuperblocks {
                permille,
                pe_cycles,
            });
        }),
        ("temperature", |s| s.state.temperature_c += 0.001),
        ("step", |s| s.state.temperature_step = Some((Ns(1), 30.0))),
        ("hottest", |s| s.state.hottest_in_run_c = Some(70.0)),
        ("unpowered", |s| s.state.unpowered = Ns(1)),
        ("earlier fill", |s| {
            s.state.earlier_fill = EarlierFill::Lived(Ns(1))
        }),
        ("fill", |s| s.state.fill = 0.99),
        ("precondition", |s| {
            s.state.precondition = Precondition::Zipf(1.1)
        }),
        ("a number of the drive", |s| {
            let set = Override::parse("link.max_outstanding=9").unwrap();
            s.profile = Profile::read("bench-4g", &[set]).unwrap();
        }),
        ("a number of the chip", |s| {
            let set = Override::parse("chip.timing.resume=21us").unwrap();
            s.profile = Profile::read("bench-4g", &[set]).unwrap();
        }),
        ("a scheme", |s| {
            let set = Override::parse("schemes.gc_victim=random").unwrap();
            s.profile = Profile::read("bench-4g", &[set]).unwrap();
        }),
        ("wear rate", |s| s.profile.make_mut().wear_rate = 2),
        ("worn blocks", |s| {
            let superblocks = s.profile.geometry.blocks_per_plane as usize;
            let (mut pe_cycles, retired) = (vec![300; superblocks], vec![false; superblocks]);
            pe_cycles[0] = 299;
            s.profile.make_mut().worn = Some(Arc::new(WornBlocks {
                pe_cycles,
                retired,
                ..WornBlocks::default()
            }));
        }),
        ("burn-in", |s| s.burn_in = Some(BurnInSetup::BY_ITSELF)),
    ];
    let of_change = |(_, change): &&Change| {
        let mut changed = base.clone();
        change(&mut changed);
        key("p", &base) == key("p", &changed)
    };
    assert_eq!(names(changes, of_change), [""; 0], "the same result");
}

/// A trace is told by its content and by how that is read; so is one that burns a drive in.
#[test]
fn formula_each_input_of_a_trace_makes_another_result() {
    let folder = Folder::new("traces");
    let args = || TraceArgs {
        columns: Some(COLUMNS.into()),
        ..TraceArgs::default()
    };
    let path = folder.file("t.csv", TRACE);
    let open = |path: &str, args: &TraceArgs| Input::open_as(path, args).unwrap();
    let base = of(open(&path, &args()));
    assert_eq!(key("p", &base), key("p", &of(open(&path, &args()))));

    type Change = (&'static str, fn(&mut TraceArgs));
    let changes: &[Change] = &[
        ("columns", |a| {
            a.columns = Some(COLUMNS.replace("offset:B", "offset:sector"));
        }),
        ("wrap", |a| a.wrap = true),
        ("clamp", |a| a.clamp = true),
        ("device", |a| a.device = Some(3)),
        ("speed", |a| a.speed = Some(2.0)),
    ];
    let of_change = |(_, change): &&Change| {
        let mut changed = args();
        change(&mut changed);
        key("p", &base) == key("p", &of(open(&path, &changed)))
    };
    assert_eq!(names(changes, of_change), [""; 0], "the same result");
    let other_path = folder.file("u.csv", TRACE);
    assert_ne!(key("p", &base), key("p", &of(open(&other_path, &args()))));

    let burnt_in = |input: Input| Setup {
        burn_in: Some(BurnInSetup::by(input)),
        ..of(job(JOB))
    };
    let by = burnt_in(open(&path, &args()));
    let longer = Setup {
        burn_in: Some(BurnInSetup {
            most_drive_writes: 3.0,
            ..by.burn_in.clone().unwrap()
        }),
        ..by.clone()
    };
    assert_ne!(key("p", &by), key("p", &longer));
    let drive = |setup: &Setup| super::burnt_in(setup).unwrap().unwrap().to_string();
    let measured = Setup {
        limit: None,
        input: Arc::new(job(&JOB.replace("4k", "8k"))),
        ..by.clone()
    };
    assert_eq!(drive(&by), drive(&measured), "what is measured comes later");
    assert_ne!(drive(&by), drive(&longer));

    // Edited in place: every read is a write of the same length.
    folder.file("t.csv", &TRACE.replace('R', "W"));
    assert_ne!(key("p", &base), key("p", &of(open(&path, &args()))));
    let after = burnt_in(open(&path, &args()));
    assert_ne!(key("p", &by), key("p", &after));
    assert_ne!(drive(&by), drive(&after));

    let msr = folder.file("m.csv", "128166372003061629,hm,1,Read,2088960,4096,24931\n");
    let named = TraceArgs {
        format: Some("msr".into()),
        ..TraceArgs::default()
    };
    let told = of(open(&msr, &TraceArgs::default()));
    assert_ne!(key("p", &told), key("p", &of(open(&msr, &named))), "format");

    let stand_in = |speed| {
        let args = TraceArgs {
            speed,
            ..TraceArgs::default()
        };
        key("p", &of(open("synthetic-msr-prxy_0", &args)))
    };
    assert_ne!(stand_in(None), stand_in(Some(2.0)));
}

fn by_job(requests: u64, text: &str) -> ProbeJob {
    ProbeJob {
        input: job(text).into(),
        requests,
        precondition: Precondition::None,
    }
}

#[test]
fn formula_each_term_of_a_life_makes_another_result() {
    let setup = of(job(JOB));
    let terms = Terms::default();
    let key = |terms: &Terms| inputs_of_life("p", &setup, terms).unwrap().to_string();
    assert_eq!(key(&terms), key(&Terms::default()));
    assert_ne!(
        key(&terms),
        super::inputs_by("p", &setup).unwrap().to_string(),
        "a run"
    );
    type Change = (&'static str, fn(&mut Terms));
    let changes: &[Change] = &[
        ("until", |t| t.until = Until::Bytes(1e12)),
        ("wear rate", |t| t.wear_rate = 2),
        ("warranty", |t| t.warranty_years = 3.0),
        ("drive writes a day", |t| t.drive_writes_a_day = 0.5),
        ("probe", |t| t.probe_requests += 1),
        ("probe by a job", |t| t.probe_job = Some(by_job(1, JOB))),
    ];
    let of_change = |(_, change): &&Change| {
        let mut changed = terms.clone();
        change(&mut changed);
        key(&terms) == key(&changed)
    };
    assert_eq!(names(changes, of_change), [""; 0], "the same result");
    let probed = |job: ProbeJob| {
        key(&Terms {
            probe_job: Some(job),
            ..terms.clone()
        })
    };
    let other = JOB.replace("4k", "8k");
    assert_ne!(other, JOB);
    assert_ne!(probed(by_job(1, JOB)), probed(by_job(2, JOB)));
    assert_ne!(probed(by_job(1, JOB)), probed(by_job(1, &other)));
    let overwritten = ProbeJob {
        precondition: Precondition::Random,
        ..by_job(1, JOB)
    };
    assert_ne!(probed(by_job(1, JOB)), probed(overwritten));
    let [a, b] = [1e12, 1e12 + 1.0].map(|bytes| Terms {
        until: Until::Bytes(bytes),
        ..terms.clone()
    });
    assert_ne!(key(&a), key(&b), "a byte more");
}

/// A result that is kept and searched for.
struct Case {
    folder: Folder,
    store: Store,
    setup: Setup,
    inputs: Value,
}

impl Case {
    fn new(name: &str) -> Case {
        let folder = Folder::new(name);
        let store = Store::open(&folder.0, "test", name).unwrap().with_results();
        let setup = of(job(JOB));
        let inputs = inputs_by("p", &setup).unwrap();
        let case = Case {
            folder,
            store,
            setup,
            inputs,
        };
        case.keep().unwrap();
        case
    }

    fn keep(&self) -> Result<Kept, StoreError> {
        let finished = Finished::Run(Box::new(self.setup.simulate().unwrap()));
        let made = Made {
            setup: &self.setup,
            finished: &finished,
            values: json!({ "a": 1.5 }).as_object().cloned().unwrap(),
            pages: vec![("below/page.txt".into(), b"a page".to_vec())],
        };
        self.store.keep("x", &self.inputs, made, How::Run)
    }

    /// Why the result is not found; none where it is.
    fn why_not(&self, inputs: &Value) -> Option<String> {
        match self.store.search("x", inputs).unwrap() {
            Search::Found(kept) => {
                assert_eq!((kept.how, &kept.values["a"]), (How::Found, &json!(1.5)));
                None
            }
            Search::Nothing => Some("nothing".into()),
            Search::Not(why) => Some(why),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.0.join("points/x.json")
    }
}

/// What differs of the inputs is told: the first of it, with what it was and is.
#[test]
fn sequence_a_result_of_other_inputs_is_not_found() {
    let case = Case::new("inputs");
    assert_eq!(case.why_not(&case.inputs), None);
    let by_other = inputs_by("q", &case.setup).unwrap();
    let why = case.why_not(&by_other).unwrap();
    assert!(
        why.ends_with("x.json: `program` was \"p\" and is \"q\""),
        "{why}"
    );
    let mut hotter = case.setup.clone();
    hotter.state.temperature_c = 60.0;
    let why = case.why_not(&inputs_by("p", &hotter).unwrap()).unwrap();
    assert!(
        why.contains("`config.temperature_c` was 55.0 and is 60.0"),
        "{why}"
    );
    let shorter = {
        let mut inputs = case.inputs.clone();
        inputs.as_object_mut().unwrap().shift_remove("limit");
        inputs
    };
    let why = case.why_not(&shorter).unwrap();
    assert!(why.contains("`limit` was 40 and is null"), "{why}");
}

/// Any byte of a result that changes is noticed, and so is a page of it.
#[test]
fn fuzz_a_result_that_was_changed_is_not_found() {
    let case = Case::new("bytes");
    let whole = fs::read(case.path()).unwrap();
    let text = String::from_utf8(whole.clone()).unwrap();
    let digits = |c: u8| c.is_ascii_digit();
    let mut places: Vec<usize> = (0..whole.len()).filter(|&i| digits(whole[i])).collect();
    // One in a few, those of the checksum and the last one among them.
    let last = places.split_off(places.len() - 40);
    let chosen = places.into_iter().step_by(97).chain(last);
    for place in chosen {
        let mut bytes = whole.clone();
        bytes[place] = if bytes[place] == b'9' {
            b'8'
        } else {
            bytes[place] + 1
        };
        fs::write(case.path(), &bytes).unwrap();
        let why = case.why_not(&case.inputs).unwrap_or_default();
        assert!(why.contains("is damaged"), "byte {place}: {why}");
    }
    for bytes in [&whole[..whole.len() / 2], b"{", b"", b"\xff\xfe"] {
        fs::write(case.path(), bytes).unwrap();
        let why = case.why_not(&case.inputs).unwrap_or_default();
        assert!(why.contains("is damaged"), "{why}");
    }
    fs::write(case.path(), &whole).unwrap();
    assert_eq!(case.why_not(&case.inputs), None);
    let page = case.folder.0.join("below/page.txt");
    fs::write(&page, "a pale").unwrap();
    let why = case.why_not(&case.inputs).unwrap();
    assert!(why.ends_with("page.txt is not as it was written"), "{why}");
    fs::remove_file(&page).unwrap();
    assert!(case.why_not(&case.inputs).is_some());
    // The same inputs give the same bytes.
    case.keep().unwrap();
    assert_eq!(fs::read_to_string(case.path()).unwrap(), text);
    assert_eq!(case.why_not(&case.inputs), None);
}

/// What is too large to be read is not written, and what was written is read.
#[test]
fn sequence_what_is_kept_can_be_read() {
    let mut case = Case::new("large");
    let len = fs::metadata(case.path()).unwrap().len();
    case.store.most_bytes = len;
    case.keep().unwrap();
    assert_eq!(case.why_not(&case.inputs), None);
    case.store.most_bytes = len - 1;
    let error = case.keep().unwrap_err().to_string();
    let says = format!(
        "x.json: a result of {len} bytes is too large to be kept, which {} bytes at most are",
        len - 1
    );
    assert!(error.contains(&says), "{error}");
    let why = case.why_not(&case.inputs).unwrap();
    assert!(
        why.ends_with("x.json is damaged: it is larger than any result"),
        "{why}"
    );
    // More than text files of other kinds may have.
    const { assert!(MOST_RESULT_MIB > files::MOST_TEXT_MIB) };
}

/// What stands in the way of a result is an error before anything is run.
#[test]
fn sequence_what_is_in_the_way_of_a_result_is_an_error() {
    let case = Case::new("in-the-way");
    fs::remove_file(case.path()).unwrap();
    fs::create_dir(case.path()).unwrap();
    let error = case
        .store
        .search("x", &case.inputs)
        .map(|_| ())
        .unwrap_err();
    assert!(error.to_string().contains("x.json: is a folder"), "{error}");
    for below in ["points", "wall"] {
        fs::remove_dir_all(case.folder.0.join(below)).unwrap();
        case.folder.file(below, "");
        let error = Store::open(&case.folder.0, "test", "in-the-way").unwrap_err();
        assert!(
            error.to_string().contains(&format!("/{below}: ")),
            "{error}"
        );
        fs::remove_file(case.folder.0.join(below)).unwrap();
    }
}

/// What the front end decides is a part of what a result is found by.
#[test]
fn formula_a_front_end_of_other_files_makes_another_result() {
    let inputs = || inputs_by("p", &of(job(JOB))).unwrap();
    let of = |decides: Value| {
        Store::in_memory("test", "")
            .by_front_end(decides)
            .found_by(inputs())
    };
    assert_eq!(of(json!(["figures"])), of(json!(["figures"])));
    assert!(of(json!(["figures"])) != of(json!([])));
}

/// A folder that is deleted in a run is not filled again with the rest.
#[test]
fn sequence_a_deleted_folder_is_an_error() {
    let case = Case::new("deleted");
    case.store.write(&[]).unwrap();
    fs::remove_file(case.path()).unwrap();
    let error = case.store.write(&[]).unwrap_err();
    assert!(error.to_string().contains("x.json: was deleted"), "{error}");
    case.keep().unwrap();
    fs::remove_dir_all(&case.folder.0).unwrap();
    let error = case.keep().unwrap_err();
    assert!(matches!(error, StoreError::Gone { .. }), "{error}");
    assert!(!case.folder.0.exists());
    assert!(case.store.write(&[]).is_err());
}

/// A store of an earlier form is refused, and one of a later.
#[test]
fn sequence_a_store_in_another_form_is_refused() {
    let folder = Folder::new("form");
    let open = || Store::open(&folder.0, "test", "form");
    fs::create_dir_all(folder.0.join("points")).unwrap();
    for mark in [
        None,
        Some("{\"form\": 1}"),
        Some("{\"form\": 2, \"kind\": \"test\"}"),
        Some("{\"form\": 4, \"kind\": \"test\"}"),
        Some("{"),
    ] {
        if let Some(mark) = mark {
            folder.file(MARK, mark);
        }
        let error = open().unwrap_err();
        assert!(matches!(error, StoreError::OtherForm { .. }), "{error}");
        assert!(error.to_string().contains("delete the folder"), "{error}");
    }
    fs::remove_dir_all(&folder.0).unwrap();
    open().unwrap();
    open().unwrap();
    let taken = Store::open(&folder.0, "test", "other")
        .unwrap_err()
        .to_string();
    assert!(taken.contains("holds results of test form"), "{taken}");
    assert!(Store::open(&folder.0, "tests", "form").is_err());
}
