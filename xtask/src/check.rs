//! `cargo xtask test`: everything that must hold before a change lands. `cargo xtask long`: what takes
//! too long for that.

use std::path::Path;
use std::process::Command;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::commands::{command, measure, output, run, target, works};
use crate::skips::{self, skip};
use crate::{book, fio_tools, many_machines, trace_events, walls};

type Step = (&'static str, fn() -> Result<(), String>);

/// In order of cost, so that the cheap ones fail first.
const STEPS: &[Step] = &[
    ("fmt", || cargo(&["fmt", "--all", "--check"])),
    ("dependencies", dependencies),
    ("walls", walls::run),
    ("links", book::links),
    ("deny", deny),
    ("clippy", || {
        cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ])
    }),
    ("no_std", no_std),
    ("doc", || {
        let mut doc = command("cargo", &["doc", "--workspace", "--no-deps", "--quiet"]);
        run(doc.env("RUSTDOCFLAGS", "-D warnings"))
    }),
    ("wasm", wasm),
    ("tests", tests),
];

/// In order of cost.
const LONG: &[Step] = &[
    ("deny", deny_installed),
    ("ecc-tables", || measure("ecc-tables", &["--check"])),
    ("fio-examples", fio_jobs),
    ("fio-tools", fio_tools::run),
    ("trace-events", trace_events::run),
    ("many-machines", many_machines::run),
    ("package", package),
    ("miri", miri),
    ("ignored tests", || with_new_seeds(&["--include-ignored"])),
];

/// How to install what [`deny`] runs.
const CARGO_DENY: &str = "install cargo-deny --locked";

/// Where the Debian package `fio-examples` puts fio's own job files.
const FIO_EXAMPLES: &str = "/usr/share/doc/fio/examples";

/// Crates that run on a controller: no `std`.
const NO_STD: [&str; 4] = [
    "firstread-core",
    "firstread-nand",
    "firstread-ecc",
    "firstread-firmware",
];
/// Crates of a simulated drive.
const WHOLE_DRIVE: [&str; 7] = [
    "firstread-core",
    "firstread-nand",
    "firstread-ecc",
    "firstread-firmware",
    "firstread-workload",
    "firstread-drive",
    "firstread-testkit",
];
const MICROCONTROLLER: &str = "thumbv7em-none-eabihf";
const WASM: &str = "wasm32-unknown-unknown";

/// Which of the project's crates each may use; its tests may use more, but see [`ABOVE`].
const ALLOWED: &[(&str, &[&str])] = &[
    ("firstread-core", &[]),
    ("firstread-nand", &["firstread-core"]),
    ("firstread-ecc", &["firstread-core"]),
    ("firstread-firmware", &["firstread-core"]),
    ("firstread-workload", &["firstread-core"]),
    (
        "firstread-faulty-flash",
        &["firstread-core", "firstread-firmware", "firstread-workload"],
    ),
    (
        "firstread-drive",
        &[
            "firstread-core",
            "firstread-nand",
            "firstread-ecc",
            "firstread-firmware",
            "firstread-workload",
        ],
    ),
    (
        "firstread-session",
        &[
            "firstread-core",
            "firstread-nand",
            "firstread-ecc",
            "firstread-firmware",
            "firstread-workload",
            "firstread-drive",
        ],
    ),
];

/// What no test of a crate below the drive may use: such tests are compiled without the simulator.
const ABOVE: &[&str] = &["firstread-drive", "firstread-session", "firstread-testkit"];

/// Runs the steps of `cargo xtask test`, or those whose name contains `only`.
pub fn run_all(only: Option<&str>) -> Result<(), String> {
    run_steps("test", STEPS, only)
}

/// Runs the steps of `cargo xtask long`, or those whose name contains `only`.
pub fn run_long(only: Option<&str>) -> Result<(), String> {
    run_steps("long", LONG, only)
}

fn run_steps(task: &str, steps: &[Step], only: Option<&str>) -> Result<(), String> {
    let chosen = |(name, _): &&Step| only.is_none_or(|o| name.contains(o));
    if !steps.iter().any(|step| chosen(&step)) {
        let names: Vec<&str> = steps.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "no step of `{task}` is called `{}`; there are: {}",
            only.unwrap_or_default(),
            names.join(", ")
        ));
    }
    let each = |(name, step): &Step| {
        println!("== {name}");
        let start = Instant::now();
        step().map_err(|e| {
            format!("step `{name}` failed: {e}\nrepeat it with: cargo xtask {task} --only '{name}'")
        })?;
        println!("== {name}: ok in {:.1} s", start.elapsed().as_secs_f64());
        Ok(())
    };
    let result = steps.iter().filter(chosen).try_for_each(each);
    skips::tell();
    result
}

/// Examples are not built here: clippy has read them.
fn tests() -> Result<(), String> {
    cargo(&["test", "--workspace", "--quiet", "--tests"])?;
    cargo(&["test", "--workspace", "--quiet", "--doc"])
}

fn no_std() -> Result<(), String> {
    add_target(MICROCONTROLLER)?;
    let mut build = built_fast(MICROCONTROLLER, &NO_STD);
    NO_STD.iter().for_each(|name| {
        build.args(["-p", name]);
    });
    run(&mut build)
}

/// `cargo build` for `target`, with `crates` not optimised: little or nothing of them is run there.
fn built_fast(target: &str, crates: &[&str]) -> Command {
    let mut build = command("cargo", &["build", "--quiet", "--target", target]);
    for name in crates {
        let level = format!("profile.dev.package.{name}.opt-level=0");
        build.args(["--config", &level]);
    }
    build
}

/// The same run on a 32-bit host gives the same counts and latencies.
fn wasm() -> Result<(), String> {
    add_target(WASM)?;
    // The whole workspace, so that its crates have the features with which the tests were compiled, and are there.
    let example = ["build", "--quiet", "--workspace", "--example", "digest"];
    cargo(&example)?;
    run(built_fast(WASM, &WHOLE_DRIVE).args(["-p", "firstread-testkit"]))?;
    let here = output(&mut Command::new(target("debug/examples/digest")))?;
    let script = "const { instance } = await WebAssembly.instantiate(require('fs').readFileSync(process.argv[1]), {}); \
                  console.log(BigInt.asUintN(64, instance.exports.firstread_digest()).toString());";
    let script = format!("(async () => {{ {script} }})()");
    let module = target(&format!("{WASM}/debug/firstread_testkit.wasm"));
    if !works(Command::new("node").arg("--version")) {
        skip("the drive as wasm was built but not run, as node is missing".into());
        return Ok(());
    }
    let there = output(Command::new("node").args(["-e", &script]).arg(&module))?;
    if there == here {
        println!("wasm under node: digest {there}, the same as here");
        return Ok(());
    }
    Err(format!(
        "the run differs: digest {here} here, {there} as wasm"
    ))
}

/// Licences, sources, versions and advisories of dependencies, where cargo-deny is installed.
fn deny() -> Result<(), String> {
    if !works(Command::new("cargo").args(["deny", "--version"])) {
        skip(format!(
            "licences and advisories, as cargo-deny is missing: cargo {CARGO_DENY}"
        ));
        return Ok(());
    }
    let checks = [
        "deny",
        "--all-features",
        "check",
        "bans",
        "licenses",
        "sources",
    ];
    cargo(&checks)?;
    if !works(&mut command("cargo", &["deny", "fetch", "db"])) {
        skip("advisories, as their database cannot be fetched: cargo deny fetch db".into());
        return Ok(());
    }
    cargo(&["deny", "--all-features", "check", "advisories"])
}

/// [`deny`], which is installed where it is missing.
fn deny_installed() -> Result<(), String> {
    if !works(Command::new("cargo").args(["deny", "--version"])) {
        println!("cargo {CARGO_DENY}");
        let install: Vec<&str> = CARGO_DENY.split(' ').collect();
        cargo(&install)?;
    }
    deny()
}

/// `firstread-core` under Miri, where a nightly toolchain has it.
fn miri() -> Result<(), String> {
    if !works(Command::new("cargo").args(["+nightly", "miri", "--version"])) {
        skip("Miri is missing: rustup toolchain install nightly --component miri,rust-src".into());
        return Ok(());
    }
    cargo(&[
        "+nightly",
        "miri",
        "test",
        "--quiet",
        "-p",
        "firstread-core",
    ])
}

/// That each crate that can be published is whole: it is packed, and compiled from what was packed. None is published
/// (`publish = false`), so a registry has none of them, and each is named by its path here.
fn package() -> Result<(), String> {
    const NAMES: [&str; 8] = [
        "core", "nand", "ecc", "firmware", "workload", "drive", "session", "cli",
    ];
    let mut cargo = command("cargo", &["package", "--quiet", "--allow-dirty"]);
    for name in NAMES {
        let patch = format!("patch.crates-io.firstread-{name}.path='crates/{name}'");
        cargo.args(["-p", &format!("firstread-{name}"), "--config", &patch]);
    }
    run(&mut cargo)
}

/// fio's own job files, where they are installed.
fn fio_jobs() -> Result<(), String> {
    if Path::new(FIO_EXAMPLES).is_dir() {
        return measure("fio-examples", &[FIO_EXAMPLES, "--check"]);
    }
    skip(format!(
        "fio's job files are not in {FIO_EXAMPLES}: apt install fio-examples"
    ));
    Ok(())
}

/// Installs a target where it is missing: rustup may be told not to do so by itself.
fn add_target(target: &str) -> Result<(), String> {
    match Command::new("rustup")
        .args(["target", "add", target])
        .output()
    {
        Ok(out) if out.status.success() => Ok(()),
        Ok(out) => Err(format!(
            "rustup target add {target}: {}",
            String::from_utf8_lossy(&out.stderr)
        )),
        // Without rustup the toolchain either has the target or the build says so.
        Err(_) => Ok(()),
    }
}

/// Dependencies run one way.
fn dependencies() -> Result<(), String> {
    let out = command("cargo", &["metadata", "--format-version", "1", "--no-deps"])
        .output()
        .map_err(|e| e.to_string())?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&out.stdout).map_err(|e| e.to_string())?;
    let text = |v: &serde_json::Value| v.as_str().unwrap_or_default().to_owned();
    let list = |v: &serde_json::Value| v.as_array().cloned().unwrap_or_default();
    for package in list(&metadata["packages"]) {
        let name = text(&package["name"]);
        let Some((_, allowed)) = ALLOWED.iter().find(|(n, _)| *n == name) else {
            continue;
        };
        for dependency in list(&package["dependencies"]) {
            let used = text(&dependency["name"]);
            if dependency["kind"] == "dev" {
                if ABOVE.contains(&used.as_str()) && !ABOVE.contains(&name.as_str()) {
                    return Err(format!(
                        "tests of {name} must not depend on {used}: they are compiled without the simulator"
                    ));
                }
            } else if used.starts_with("firstread-") && !allowed.contains(&used.as_str()) {
                return Err(format!(
                    "{name} must not depend on {used}; allowed: {allowed:?}"
                ));
            }
        }
    }
    Ok(())
}

/// All tests, with every assertion, on seeds that were never drawn before. The variables that repeat them are printed.
fn with_new_seeds(args: &[&str]) -> Result<(), String> {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    let seed = since_1970.map_err(|e| e.to_string())?.as_secs().to_string();
    println!("seeds: PROPTEST_RNG_SEED={seed} FIRSTREAD_SEED_BASE={seed}");
    let test = ["test", "--workspace", "--quiet", "--"];
    let mut tests = command("cargo", &test);
    tests
        .arg("--show-output")
        .args(args)
        .env("PROPTEST_RNG_SEED", &seed)
        .env("FIRSTREAD_SEED_BASE", &seed);
    skips::watch(&mut tests)
}

/// Runs cargo. What tests skip is remembered.
fn cargo(args: &[&str]) -> Result<(), String> {
    let mut cargo = command("cargo", args);
    if args.first() != Some(&"test") {
        return run(&mut cargo);
    }
    if !args.contains(&"--") {
        cargo.arg("--");
    }
    skips::watch(cargo.arg("--show-output"))
}
