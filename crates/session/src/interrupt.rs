//! A request to end early, made from another thread: by a signal handler, a deadline, a window that is closed.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to end early. Clones are the same request.
///
/// ```
/// use firstread_session::{Input, Interrupt, Simulation};
/// use firstread_drive::Ended;
///
/// let interrupt = Interrupt::default();
/// let mut setup = Simulation { drive: "bench-4g".into(), ..Simulation::of(Input::open("randread-4k-qd32")?) }.setup()?;
/// setup.interrupt = interrupt.clone();
/// interrupt.ask();
/// let outcome = setup.simulate()?;
/// assert_eq!(outcome.stats.ended, Ended::Interrupted);
/// # Ok::<(), firstread_session::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks what has it to end: a run issues nothing more and ends with what it has.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Interrupt({})", self.is_asked())
    }
}
