//! Reads and writes files. No other module of the project does.
#![allow(clippy::disallowed_methods, reason = "a session is what opens files")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use firstread_workload::Checksum;
use thiserror::Error;

/// Name of the standard input where a path is expected.
pub const STDIN: &str = "-";

/// Size limit of a text file that is read as a whole: profiles, job files, studies and their results
/// (MiB).
pub const MOST_TEXT_MIB: u64 = 64;
/// Size limit of the standard input, which is kept in memory because it cannot be read twice (MiB).
pub const MOST_STDIN_MIB: u64 = 256;

/// Why a file cannot be read or written.
#[derive(Debug, Error)]
pub enum FileError {
    /// What the system says.
    #[error("{name}: {error}")]
    System {
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// A text file is not valid UTF-8.
    #[error("{name}: {error}")]
    NoText { name: String, error: FromUtf8Error },
    /// A text file exceeds the size limit.
    #[error("{0}: more than {MOST_TEXT_MIB} MiB, which no file of this kind takes")]
    TooLarge(String),
    /// More came on the standard input than is kept.
    #[error(
        "standard input: more than {MOST_STDIN_MIB} MiB, which is kept in memory to be run more \
         than once; write it to a file and name that, of any size"
    )]
    LongInput,
}

impl FileError {
    /// What the system says of `path`.
    fn of(path: &Path) -> impl FnOnce(io::Error) -> FileError {
        FileError::named(path.display().to_string())
    }

    /// What the system says of what is called `name`.
    pub(crate) fn named(name: impl Into<String>) -> impl FnOnce(io::Error) -> FileError {
        let name = name.into();
        |error| FileError::System { name, error }
    }
}

/// What is on the standard input.
///
/// # Errors
/// [`FileError`] where it cannot be read, or holds more than [`MOST_STDIN_MIB`].
pub fn read_stdin() -> Result<Vec<u8>, FileError> {
    let bytes = read_at_most(io::stdin(), MOST_STDIN_MIB);
    let bytes = bytes.map_err(FileError::named("standard input"))?;
    bytes.ok_or(FileError::LongInput)
}

/// The text at `path`.
///
/// # Errors
/// [`FileError`] where it cannot be read, is no UTF-8 or larger than [`MOST_TEXT_MIB`].
pub fn read_text(path: &Path) -> Result<String, FileError> {
    let name = || path.display().to_string();
    let bytes = read_at_most(open(path)?, MOST_TEXT_MIB).map_err(FileError::of(path))?;
    let bytes = bytes.ok_or_else(|| FileError::TooLarge(name()))?;
    String::from_utf8(bytes).map_err(|error| FileError::NoText {
        name: name(),
        error,
    })
}

/// All of `input`; none where that is more than `most_mib`.
pub(crate) fn read_at_most(input: impl Read, most_mib: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let most = most_mib << 20;
    input.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// The file at `path`.
pub(crate) fn open(path: &Path) -> Result<File, FileError> {
    File::open(path).map_err(FileError::of(path))
}

/// Whether there is a file at `path`; a folder is none.
pub fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// Whether there is a folder at `path`.
pub(crate) fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// Names of what is in the folder at `path`, in their order; none where there is no folder.
///
/// # Errors
/// [`FileError`] where it cannot be read.
pub(crate) fn names(path: &Path) -> Result<Vec<String>, FileError> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(FileError::of(path))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(FileError::of(path))?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}

/// Whether anything is at `path`.
pub(crate) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The bytes of the file at `path`, at most `most_bytes`.
///
/// # Errors
/// [`FileError`] where it cannot be read, and none where it is larger.
pub(crate) fn read_up_to(path: &Path, most_bytes: u64) -> Result<Option<Vec<u8>>, FileError> {
    let file = open(path)?;
    let len = file.metadata().map_err(FileError::of(path))?.len();
    if len > most_bytes {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let read = file.take(most_bytes + 1).read_to_end(&mut bytes);
    read.map_err(FileError::of(path))?;
    Ok((bytes.len() as u64 <= most_bytes).then_some(bytes))
}

/// Removes the file at `path`, if there is one.
pub(crate) fn remove(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FileError::of(path)(error)),
        _ => Ok(()),
    }
}

/// That the folder at `path` is one, if anything is there.
///
/// # Errors
/// [`FileError`] where it is a file.
pub(crate) fn check_folder(path: &Path) -> Result<(), FileError> {
    match is_there(path) && !path.is_dir() {
        true => Err(FileError::of(path)(io::ErrorKind::NotADirectory.into())),
        false => Ok(()),
    }
}

/// A checksum of `bytes`, 16 bytes.
pub(crate) fn checksum_bytes(bytes: &[u8]) -> [u8; 16] {
    firstread_workload::checksum(bytes).to_be_bytes()
}

/// A checksum of `bytes`, 32 hexadecimal digits. It tells contents apart that differ by chance or by an edit; it is no
/// protection from someone who forges them.
pub(crate) fn checksum(bytes: &[u8]) -> String {
    format!("{:032x}", firstread_workload::checksum(bytes))
}

/// The same of all of `input`, which is read in pieces.
fn checksum_of(mut input: impl Read) -> io::Result<String> {
    let mut checksum = Checksum::default();
    let mut piece = vec![0; 1 << 20];
    loop {
        match input.read(&mut piece) {
            Ok(0) => return Ok(format!("{:032x}", checksum.bits())),
            Ok(n) => checksum.add(&piece[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The same of the file at `path`; none where it cannot be read.
pub(crate) fn checksum_of_file(path: &Path) -> Option<String> {
    checksum_of(File::open(path).ok()?).ok()
}

/// The same of the program that runs. On Linux that is the program which was started, even where its file has been
/// replaced since.
pub(crate) fn checksum_of_program() -> io::Result<String> {
    let running = File::open("/proc/self/exe");
    checksum_of(running.or_else(|_| File::open(std::env::current_exe()?))?)
}

/// A machine among those that share a folder.
#[derive(Debug)]
pub(crate) struct Host {
    /// Its name, for messages.
    pub name: String,
    /// What tells it from others: processes with the same number are the same process only where this is the same.
    pub tag: String,
}

/// This machine.
pub(crate) fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| {
        #[cfg(unix)]
        let name = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned();
        #[cfg(not(unix))]
        let name = std::env::var_os("COMPUTERNAME")
            .map_or(String::new(), |name| name.to_string_lossy().into_owned());
        // Containers of one machine may have one name, and count their processes by themselves.
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let processes = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let tag = checksum(format!("{name} {boot} {}", processes.display()).as_bytes());
        Host {
            name,
            tag: tag[..12].to_owned(),
        }
    })
}

/// What stands in the name of a file that is being written between the name that it is for and its process: the machine, and
/// the number of the process there.
const PARTIAL: &str = ".partial-";
/// Age from which a file that is being written is taken as left behind, whichever process has its number by now.
const LEFT_BEHIND: Duration = Duration::from_secs(24 * 3600);

/// Removes what ended processes have left in `folder`: files that they were writing ([`write`]) under the names for which
/// `is_own`. Such a file is left behind where no process has the number in its name, or where it is older than a day. Of
/// processes of other machines the age alone is known. Without a machine it is of this one. What cannot be removed stays.
pub(crate) fn sweep(folder: &Path, is_own: impl Fn(&str) -> bool) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let parts = name.rsplit_once(PARTIAL);
        let parts = parts.and_then(|(whole, id)| {
            let (machine, process) = id.split_once('-').unwrap_or((&host().tag, id));
            Some((whole, machine, process.parse().ok()?))
        });
        let Some((_, machine, process)) = parts.filter(|(whole, ..)| is_own(whole)) else {
            continue;
        };
        let is_living = machine != host().tag || lives(process);
        let written = fs::symlink_metadata(&path).and_then(|file| file.modified());
        let age = written.map(|written| written.elapsed().unwrap_or_default());
        if !is_living || age.is_ok_and(|age| age > LEFT_BEHIND) {
            // Another process may have removed it.
            let _ = fs::remove_file(&path);
        }
    }
}

/// Whether a process with this number lives on this machine; true where the system does not tell.
pub(crate) fn lives(process: u32) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        use rustix::process::{Pid, test_kill_process};
        let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
        // A process of another user is there and may not be asked. One that has ended may be listed until its parent asks for
        // its end, which a parent that was killed itself never does.
        pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH)) && !has_ended(process)
    }
    #[cfg(not(unix))]
    {
        let _ = process;
        true
    }
}

/// Whether a process that is listed has ended; false where the system does not tell.
#[cfg(unix)]
fn has_ended(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Its name stands in brackets, and its state behind that.
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
    state.is_some_and(|state| state.starts_with(['Z', 'X']))
}

/// A file to be written: path below the output folder, and content.
pub type Page = (PathBuf, Vec<u8>);

/// Writes `pages` below `folder`. Each file appears complete or not at all, even if the power fails.
/// Every file is first written and synced under a temporary name. The files are renamed in their order after
/// all of them are on disk, so the last one says that the others are there. Temporary files are removed where that fails,
/// and by the next process that writes to their folder where this one is killed.
///
/// # Errors
/// [`FileError`] of the first that cannot be written.
pub fn write(folder: &Path, pages: &[Page]) -> Result<(), FileError> {
    sweep_before(folder, pages);
    let mut written = Vec::new();
    let result = write_partial(folder, pages, &mut written);
    let result = result.and_then(|()| {
        written
            .iter()
            .try_for_each(|(partial, path)| fs::rename(partial, path).map_err(FileError::of(path)))
    });
    if result.is_err() {
        for (partial, _) in &written {
            // What was renamed is no longer there. Of the rest, the first error is what is reported.
            let _ = fs::remove_file(partial);
        }
        return result;
    }
    let folders = written.iter().filter_map(|(_, path)| path.parent());
    let folders: BTreeSet<&Path> = folders.collect();
    folders.into_iter().for_each(sync_folder);
    Ok(())
}

/// Writes `pages` under temporary names, which are added to `written` with the names that they are for.
fn write_partial(
    folder: &Path,
    pages: &[Page],
    written: &mut Vec<(PathBuf, PathBuf)>,
) -> Result<(), FileError> {
    pages.iter().try_for_each(|(name, content)| {
        let path = folder.join(name);
        if path.is_dir() {
            let error = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(FileError::of(&path)(error));
        }
        let mut partial = path.clone().into_os_string();
        partial.push(format!("{PARTIAL}{}-{}", host().tag, std::process::id()));
        let partial = PathBuf::from(partial);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(FileError::of(parent))?;
        written.push((partial.clone(), path));
        write_through(&partial, content).map_err(FileError::of(&partial))
    })
}

/// Sweeps the folders of `pages` below `folder`, under the names of the pages, where this process has not yet done so.
fn sweep_before(folder: &Path, pages: &[Page]) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut new = BTreeSet::new();
    if let Ok(mut swept) = SWEPT.lock() {
        let parents = pages.iter().map(|(name, _)| folder.join(name));
        let parents = parents.filter_map(|path| path.parent().map(Path::to_owned));
        new.extend(parents.filter(|parent| swept.insert(parent.clone())));
    }
    for parent in new {
        let is_page = |whole: &str| {
            let path = parent.join(whole);
            pages.iter().any(|(name, _)| folder.join(name) == path)
        };
        sweep(&parent, is_page);
    }
}

/// A new file at `path`, in place of one that is there.
///
/// # Errors
/// [`FileError`] where it cannot be made.
#[cfg(feature = "parquet")]
pub(crate) fn create(path: &Path) -> Result<File, FileError> {
    File::create(path).map_err(FileError::of(path))
}

/// A file of rows, each of which ends with a newline, that is written while they come. It holds whole rows only, also where the
/// disk is full.
pub(crate) struct RowFile {
    file: File,
    name: String,
    /// Bytes written.
    len: u64,
}

impl RowFile {
    /// A new file at `path`, in place of one that is there.
    ///
    /// # Errors
    /// [`FileError`] where it cannot be made.
    pub(crate) fn create(path: &Path) -> Result<RowFile, FileError> {
        Ok(RowFile {
            file: File::create(path).map_err(FileError::of(path))?,
            name: path.display().to_string(),
            len: 0,
        })
    }

    /// Writes `rows`, which are whole. Of rows that do not fit on the disk, those stay that do.
    ///
    /// # Errors
    /// [`FileError`] where they cannot be written.
    pub(crate) fn write_rows(&mut self, rows: &[u8]) -> Result<(), FileError> {
        let mut done = 0;
        while done < rows.len() {
            let error = match self.file.write(&rows[done..]) {
                Ok(0) => io::ErrorKind::WriteZero.into(),
                Ok(n) => {
                    done += n;
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            let whole = rows[..done].iter().rposition(|&b| b == b'\n');
            // What is no file has no length.
            let _ = self
                .file
                .set_len(self.len + whole.map_or(0, |at| at as u64 + 1));
            return Err(FileError::named(self.name.as_str())(error));
        }
        self.len += rows.len() as u64;
        Ok(())
    }

    /// All rows are written.
    ///
    /// # Errors
    /// [`FileError`] where the disk has not taken them.
    pub(crate) fn finish(self) -> Result<(), FileError> {
        match self.file.sync_all() {
            // A pipe or a device has nothing to be synced.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            synced => synced.map_err(FileError::named(self.name)),
        }
    }
}

/// A file that is made at the start of a run and written at its end. It appears as a whole, or not at all: what is there
/// before stays until then.
pub(crate) struct WholeFile {
    /// None once it is written.
    file: Option<File>,
    path: PathBuf,
    /// Its name until it is written; none of what is no file, such as a pipe, which is written as it is.
    partial: Option<PathBuf>,
}

impl WholeFile {
    /// The file at `path`.
    ///
    /// # Errors
    /// [`FileError`] where it cannot be made.
    pub(crate) fn create(path: &Path) -> Result<WholeFile, FileError> {
        let of_path = |error| FileError::of(path)(error);
        if path.is_dir() {
            return Err(of_path(io::ErrorKind::IsADirectory.into()));
        }
        let is_other = path.exists() && !path.is_file();
        let partial = (!is_other).then(|| {
            let mut partial = path.as_os_str().to_owned();
            partial.push(format!("{PARTIAL}{}-{}", host().tag, std::process::id()));
            PathBuf::from(partial)
        });
        if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
            let folder = match folder.as_os_str().is_empty() {
                true => Path::new("."),
                false => folder,
            };
            sweep(folder, |whole| name == whole);
        }
        let file = match &partial {
            Some(partial) => File::create(partial),
            None => File::options().write(true).open(path),
        };
        Ok(WholeFile {
            file: Some(file.map_err(of_path)?),
            path: path.to_owned(),
            partial,
        })
    }

    /// Writes all of it by `content`.
    ///
    /// # Errors
    /// [`FileError`] where that fails; then the file is as it was before.
    pub(crate) fn write(
        mut self,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), FileError> {
        let written = self.file.take().map_or(Ok(()), |file| {
            let mut out = io::BufWriter::with_capacity(1 << 16, file);
            content(&mut out)?;
            let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            match file.sync_all() {
                // A pipe or a device has nothing to be synced.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
                synced => synced,
            }
        });
        let written = written.and_then(|()| match &self.partial {
            Some(partial) => fs::rename(partial, &self.path),
            None => Ok(()),
        });
        written.map_err(FileError::of(&self.path))?;
        self.partial = None;
        self.path.parent().into_iter().for_each(sync_folder);
        Ok(())
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // It was not written, and the reason is told where it is known.
            let _ = fs::remove_file(partial);
        }
    }
}

/// Writes `content` to a new file at `path`, in a folder that is made where it is not there, in one that is. False where there
/// is a file already.
///
/// # Errors
/// [`FileError`] where it cannot be written; it is not there then.
pub(crate) fn create_new(path: &Path, content: &[u8]) -> Result<bool, FileError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    // Others may remove the folder while it is empty.
    let mut tries = 0;
    let mut file = loop {
        match File::create_new(path) {
            Ok(file) => break file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound && tries < 100 => {
                tries += 1;
                match fs::create_dir(folder) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(FileError::of(folder)(error));
                    }
                    _ => {}
                }
            }
            Err(error) => return Err(FileError::of(path)(error)),
        }
    };
    let written = file.write_all(content).map_err(FileError::of(path));
    if written.is_err() {
        // The first error is what is reported.
        let _ = fs::remove_file(path);
    }
    written.map(|()| true)
}

/// Writes `content` over the same content of the file at `path`, which gives it the time of now. False where it has another
/// content, or cannot be written.
pub(crate) fn rewrite(path: &Path, content: &[u8]) -> bool {
    let write = || {
        let mut file = File::options().read(true).write(true).open(path)?;
        let mut there = Vec::new();
        file.read_to_end(&mut there)?;
        if there != content {
            return Ok(false);
        }
        file.rewind()?;
        file.write_all(content)?;
        Ok::<bool, io::Error>(true)
    };
    write().unwrap_or(false)
}

/// The content of the file at `path`, and when it was changed; none where there is no file.
///
/// # Errors
/// [`FileError`] where it cannot be read.
pub(crate) fn content_and_time(path: &Path) -> Result<Option<(Vec<u8>, SystemTime)>, FileError> {
    let read = || {
        let mut file = File::open(path)?;
        let mut content = Vec::new();
        file.read_to_end(&mut content)?;
        Ok::<_, io::Error>((content, file.metadata()?.modified()?))
    };
    match read() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(FileError::of(path)),
    }
}

/// The time of now by the clock that gives files in `folder` theirs.
///
/// # Errors
/// [`FileError`] where a file cannot be written there.
pub(crate) fn time_at(folder: &Path) -> Result<SystemTime, FileError> {
    let path = unique(&folder.join("now"));
    create_new(&path, b"now")?;
    let time = fs::metadata(&path).and_then(|file| file.modified());
    remove(&path)?;
    time.map_err(FileError::of(&path))
}

/// Removes the file at `path` where it has this `content`. Of several processes that do so, none removes another file that
/// takes its place.
///
/// # Errors
/// [`FileError`] where it cannot be moved.
pub(crate) fn take_away(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let away = unique(path);
    match fs::rename(path, &away) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        moved => moved.map_err(FileError::of(path))?,
    }
    let there = content_and_time(&away)?;
    if there.is_some_and(|(there, _)| there != content) {
        // It is another one: back, where nothing has taken its place meanwhile.
        let _ = fs::hard_link(&away, path);
    }
    remove(&away)
}

/// A name beside `path` that no other process and no other call has.
fn unique(path: &Path) -> PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut name = path.to_owned().into_os_string();
    let (tag, process) = (&host().tag, std::process::id());
    name.push(format!(".{number}{PARTIAL}{tag}-{process}"));
    name.into()
}

/// Removes `folder` where it is empty.
pub(crate) fn remove_empty(folder: &Path) {
    // One that is not empty is not removed, which is no error.
    let _ = fs::remove_dir(folder);
}

/// Writes `content` to `path`, in a folder that is made where it is not there. Nothing is waited for: of thousands of files
/// that can be made anew.
///
/// # Errors
/// [`FileError`] where it cannot be written.
pub(crate) fn write_unsynced(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let write = || match fs::write(path, content) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
            fs::write(path, content)
        }
        written => written,
    };
    write().map_err(FileError::of(path))
}

/// Writes `content` to `path`, and waits until it is on the disk.
fn write_through(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Waits until the names in `folder` are on the disk, on systems that can be told to.
fn sync_folder(folder: &Path) {
    // Where a folder cannot be opened as a file, the names follow when the system sees fit.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// Whether this process was started with the signal of a closed terminal ignored, as `nohup` does; false where the system
/// does not tell. Linux does, by a file; elsewhere only calls tell that no safe library has.
pub fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The lowest bit is that of signal 1, SIGHUP.
    mask.is_some_and(|mask| mask & 1 != 0)
}

/// Peak memory of this process (bytes); none if the system does not report it.
pub fn peak_rss_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()
        .map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of a test, gone with it.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let name = format!("firstread-files-{name}-{}", std::process::id());
            let folder = Folder(std::env::temp_dir().join(name));
            let _ = fs::remove_dir_all(&folder.0);
            fs::create_dir_all(&folder.0).unwrap();
            folder
        }

        fn names(&self) -> Vec<String> {
            let all = fs::read_dir(&self.0).unwrap();
            let mut names: Vec<String> = all
                .map(|f| f.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn page(name: &str, text: &str) -> Page {
        (name.into(), text.as_bytes().to_vec())
    }

    /// Where a file cannot be written, none is, and nothing is left of the attempt.
    #[test]
    fn sequence_a_folder_in_the_place_of_a_file_leaves_nothing_behind() {
        let folder = Folder::new("taken");
        fs::create_dir(folder.0.join("b")).unwrap();
        let error = write(&folder.0, &[page("a", "1"), page("b", "2")]).unwrap_err();
        assert!(error.to_string().contains("/b: "), "{error}");
        assert_eq!(folder.names(), ["b"]);
    }

    /// A file is replaced by a rename: who has it open reads the earlier file to its end.
    #[test]
    #[cfg(unix)]
    fn sequence_a_file_is_replaced_as_a_whole() {
        use std::os::unix::fs::MetadataExt;
        let folder = Folder::new("replaced");
        write(&folder.0, &[page("a", "earlier")]).unwrap();
        let path = folder.0.join("a");
        let mut open_before = File::open(&path).unwrap();
        let file_number = || fs::metadata(&path).unwrap().ino();
        let number_before = file_number();
        write(&folder.0, &[page("a", "later")]).unwrap();
        let mut text = String::new();
        open_before.read_to_string(&mut text).unwrap();
        assert_eq!(text, "earlier");
        assert_ne!(file_number(), number_before);
        assert_eq!(fs::read_to_string(&path).unwrap(), "later");
        assert_eq!(folder.names(), ["a"]);
    }

    /// Of files that were being written those are removed whose process is gone, or that are old; and nothing else.
    #[test]
    #[cfg(unix)]
    fn sequence_what_ended_processes_left_is_removed() {
        let folder = Folder::new("left");
        // It must not hold the test's output open where the test fails.
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let living = format!("a{PARTIAL}{}", child.id());
        let own = format!("a{PARTIAL}{}-{}", host().tag, std::process::id());
        // Process 1 lives, and belongs to another user as a rule.
        let (of_first, old) = (format!("a{PARTIAL}1"), format!("b{PARTIAL}1"));
        let gone = format!("a{PARTIAL}{}-{}", host().tag, i32::MAX);
        let never = [format!("a{PARTIAL}0"), format!("a{PARTIAL}{}", u32::MAX)];
        let others = [
            "a",
            "a.partial-",
            "a.partial-1x",
            "a.partial-9999999999",
            // Of a process that another machine may have.
            "a.partial-0123456789ab-2147483647",
        ]
        .map(String::from);
        let all = [&living, &own, &of_first, &old, &gone, &never[0], &never[1]];
        for name in all.iter().copied().chain(&others) {
            fs::write(folder.0.join(name), "x").unwrap();
        }
        let file = File::options()
            .write(true)
            .open(folder.0.join(&old))
            .unwrap();
        let two_days_ago = std::time::SystemTime::now() - 2 * LEFT_BEHIND;
        file.set_modified(two_days_ago).unwrap();
        // Not old yet.
        let file = File::options().write(true).open(folder.0.join(&of_first));
        let hours_ago = std::time::SystemTime::now() - Duration::from_secs(20 * 3600);
        file.unwrap().set_modified(hours_ago).unwrap();
        let stay = |kept: &[&String]| {
            let mut names: Vec<String> = kept.iter().map(ToString::to_string).collect();
            names.extend(others.clone());
            names.sort();
            names
        };
        sweep(&folder.0, |whole| whole == "c");
        assert_eq!(
            folder.names().len(),
            all.len() + others.len(),
            "names of others"
        );
        sweep(&folder.0, |whole| ["a", "b"].contains(&whole));
        assert_eq!(folder.names(), stay(&[&living, &own, &of_first]));
        child.kill().unwrap();
        child.wait().unwrap();
        sweep(&folder.0, |_| true);
        assert_eq!(folder.names(), stay(&[&own, &of_first]));
        // A page that is written takes what is left of it along, and nothing of others.
        for name in [&gone, &format!("d{PARTIAL}{}", i32::MAX)] {
            fs::write(folder.0.join(name), "x").unwrap();
        }
        write(&folder.0, &[page("a", "x")]).unwrap();
        fs::remove_file(folder.0.join(format!("d{PARTIAL}{}", i32::MAX))).unwrap();
        assert_eq!(folder.names(), stay(&[&of_first]));
    }

    /// In pieces or as a whole, the checksum is the same; one bit changes it.
    /// A claim that another process has taken meanwhile stays.
    #[test]
    fn sequence_a_file_with_other_content_is_not_taken_away() {
        let folder = Folder::new("away");
        fs::create_dir_all(&folder.0).unwrap();
        let path = folder.0.join("claim");
        fs::write(&path, "theirs").unwrap();
        take_away(&path, b"mine").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
        take_away(&path, b"theirs").unwrap();
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
    }

    #[test]
    fn model_a_checksum_in_pieces_is_that_of_the_whole() {
        let mut bytes: Vec<u8> = (0..3_000_000u32).map(|i| (i * 7 % 251) as u8).collect();
        let whole = checksum(&bytes);
        assert_eq!(checksum_of(&bytes[..]).unwrap(), whole);
        *bytes.last_mut().unwrap() ^= 1;
        assert_ne!(checksum_of(&bytes[..]).unwrap(), whole);
    }
}
