#![allow(clippy::disallowed_methods, reason = "tests look into the folder")]

use std::fs;
use std::sync::atomic::AtomicUsize;

use super::*;

/// A folder of a test, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("firstread-claim-{name}-{}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        let _ = fs::remove_dir_all(&folder.0);
        fs::create_dir_all(&folder.0).unwrap();
        folder
    }

    /// The file of the only claim.
    fn file(&self) -> PathBuf {
        let mut all = fs::read_dir(self.0.join(FOLDER)).unwrap();
        let file = all.next().unwrap().unwrap().path();
        assert!(all.next().is_none());
        file
    }

    /// The claim becomes one of another machine, of a process that nobody here can ask.
    fn moves(&self, lease_s: f64) -> PathBuf {
        let file = self.file();
        let mut value: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        value["host"] = "other".into();
        value["machine"] = "elsewhere".into();
        value["process"] = 7.into();
        value["lease_s"] = lease_s.into();
        fs::write(&file, value.to_string()).unwrap();
        file
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn got(claiming: Claiming) -> Option<Claim> {
    match claiming {
        Claiming::Got(claim) => Some(claim),
        Claiming::Held(_) => None,
    }
}

/// A point has one owner at a time, and each point its own.
#[test]
fn sequence_a_point_is_claimed_once() {
    let folder = Folder::new("once");
    let claim = |name| claim(&folder.0, name).unwrap();
    let first = got(claim("a/b")).unwrap();
    let Claiming::Held(holder) = claim("a/b") else {
        panic!("it is held");
    };
    assert_eq!(holder.process, u64::from(std::process::id()));
    assert_eq!(holder.host, files::host().name);
    assert!(got(claim("a-b")).is_some());
    drop(first);
    assert!(!folder.0.join(FOLDER).exists(), "nothing is left of claims");
    assert!(got(claim("a/b")).is_some());
}

/// Of many threads that want a point again and again, never two have it.
#[test]
fn sequence_no_two_have_a_point() {
    let folder = Folder::new("race");
    let (inside, entries) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    if let Some(claim) = got(claim(&folder.0, "a").unwrap()) {
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        entries.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(claim);
                    }
                }
            });
        }
    });
    assert!(entries.into_inner() >= 8);
    assert!(!folder.0.join(FOLDER).exists());
}

/// The claim of a process that has ended here is taken at once; that of another machine once its lease has passed.
#[test]
#[cfg(unix)]
fn sequence_claims_of_dead_owners_expire() {
    let folder = Folder::new("dead");
    let own = got(claim(&folder.0, "a").unwrap()).unwrap();
    let file = folder.file();
    let text = fs::read_to_string(&file).unwrap();
    let here = format!("\"process\":{}", std::process::id());
    fs::write(
        &file,
        text.replace(&here, &format!("\"process\":{}", i32::MAX)),
    )
    .unwrap();
    let second = got(claim(&folder.0, "a").unwrap()).unwrap();
    // One that was killed and that nobody has asked about yet has ended too.
    if cfg!(target_os = "linux") {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let of_child = text.replace(&here, &format!("\"process\":{}", child.id()));
        fs::write(&file, &of_child).unwrap();
        assert!(got(claim(&folder.0, "a").unwrap()).is_none());
        child.kill().unwrap();
        thread::sleep(Duration::from_millis(200));
        drop(got(claim(&folder.0, "a").unwrap()).unwrap());
        fs::create_dir_all(folder.0.join(FOLDER)).unwrap();
        fs::write(&file, &of_child).unwrap();
        child.wait().unwrap();
    }
    fs::write(&file, &second.text).unwrap();
    drop(own);
    assert!(file.exists(), "it is another's by now");
    folder.moves(0.2);
    assert!(got(claim(&folder.0, "a").unwrap()).is_none());
    thread::sleep(Duration::from_millis(400));
    let third = got(claim(&folder.0, "a").unwrap()).unwrap();
    drop((second, third));
    // What cannot be read expires with the usual lease.
    fs::create_dir_all(folder.0.join(FOLDER)).unwrap();
    fs::write(&file, "").unwrap();
    assert!(got(claim(&folder.0, "a").unwrap()).is_none());
    let old = std::time::SystemTime::now() - 2 * LEASE;
    let opened = fs::File::options().write(true).open(&file).unwrap();
    opened.set_modified(old).unwrap();
    sweep(&folder.0);
    assert!(!folder.0.join(FOLDER).exists());
}

/// A claim stays young while its owner works, and not when another has it.
#[test]
fn sequence_a_claim_is_renewed() {
    let folder = Folder::new("renewed");
    let lease = Duration::from_millis(800);
    let own = got(claim_for(&folder.0, "a", lease).unwrap()).unwrap();
    for _ in 0..8 {
        thread::sleep(Duration::from_millis(200));
        sweep(&folder.0);
        assert!(got(claim(&folder.0, "a").unwrap()).is_none());
    }
    let others = folder.moves(0.1);
    thread::sleep(Duration::from_millis(400));
    let text = fs::read_to_string(&others).unwrap();
    assert!(text.contains("elsewhere"), "{text}");
    assert!(got(claim(&folder.0, "a").unwrap()).is_some());
    drop(own);
}
