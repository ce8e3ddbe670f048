//! Ctrl-C, and the signals that ask a process to end. The first one ends a command with what it has, where it can; the
//! next one ends it at once.

use std::process::exit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use firstread_session::Interrupt;

use crate::streams::tell;

/// Exit status of a command that was interrupted: 128 and the number of the signal. That of Ctrl-C, SIGINT, is 130.
static STATUS: AtomicU8 = AtomicU8::new(130);

/// Exit status of a command that was interrupted: 130 by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
pub fn status() -> u8 {
    STATUS.load(Ordering::Relaxed)
}

/// From now on, what a first signal asks to end.
pub fn handled() -> Interrupt {
    static INTERRUPT: OnceLock<Interrupt> = OnceLock::new();
    let interrupt = INTERRUPT.get_or_init(|| {
        let interrupt = Interrupt::default();
        listen(interrupt.clone());
        interrupt
    });
    interrupt.clone()
}

/// A signal with the exit status `status` came; `forces` where a second one ends the command at once.
fn came(interrupt: &Interrupt, status: u8, forces: bool) {
    match interrupt.is_asked() {
        true if forces => exit(status.into()),
        true => {}
        false => {
            STATUS.store(status, Ordering::Relaxed);
            interrupt.ask();
            tell("\nending with what there is; Ctrl-C again ends at once");
        }
    }
}

/// Where the system takes no handler, a signal ends the command as it would without one.
#[cfg(unix)]
fn listen(interrupt: Interrupt) {
    use firstread_session::files::ignores_hangup;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let mut asking = vec![SIGINT, SIGTERM];
    // A command under nohup goes on when its terminal is closed.
    asking.extend((!ignores_hangup()).then_some(SIGHUP));
    let Ok(mut signals) = Signals::new(asking) else {
        return;
    };
    let heard = move || {
        for signal in signals.forever() {
            let status = u8::try_from(128 + signal).unwrap_or(130);
            // Of a terminal that is closed, the system tells and so may the shell.
            came(&interrupt, status, signal != SIGHUP);
        }
    };
    let _ = std::thread::Builder::new().spawn(heard);
}

#[cfg(not(unix))]
fn listen(interrupt: Interrupt) {
    let _ = ctrlc::set_handler(move || came(&interrupt, 130, true));
}
