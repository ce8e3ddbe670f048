//! Ctrl-C. The first one ends a command with what it has, where it can; the next one ends it at once.

use std::process::exit;
use std::sync::OnceLock;

use firstread_session::Interrupt;

/// Exit status of a command that was interrupted.
pub const STATUS: u8 = 130;

/// From now on, what a first Ctrl-C asks to end.
pub fn handled() -> Interrupt {
    static INTERRUPT: OnceLock<Interrupt> = OnceLock::new();
    let interrupt = INTERRUPT.get_or_init(|| {
        let interrupt = Interrupt::default();
        let asked = interrupt.clone();
        let first = move || {
            if asked.is_asked() {
                exit(STATUS.into());
            }
            asked.ask();
            eprintln!("\nending with what there is; Ctrl-C again ends at once");
        };
        // Where the system takes no handler, Ctrl-C ends the command as it would without one.
        let _ = ctrlc::set_handler(first);
        interrupt
    });
    interrupt.clone()
}
