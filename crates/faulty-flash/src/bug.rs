//! Deliberate bugs: what a test puts between the firmware and its flash, to see that the checkers notice.

use std::fmt::Debug;

use firstread_core::{FlashEvent, FlashOp, HostCommand, Spare, Status};

/// A deliberate bug. It sees everything that passes between the firmware, its flash and its host, and may change it.
/// Each method does by default what a drive without a bug does.
///
/// ```
/// use firstread_core::{FlashKind, FlashOp};
/// use firstread_faulty_flash::{Bug, Trial, TrialError, Violation};
///
/// /// The hundredth erase goes to the neighbour of the superblock that it is for.
/// #[derive(Debug, Default)]
/// struct WrongErase(u32);
///
/// impl Bug for WrongErase {
///     fn issue(&mut self, mut op: FlashOp) -> Option<FlashOp> {
///         if let FlashKind::Erase { block, .. } = &mut op.kind {
///             self.0 += 1;
///             block.0 ^= u32::from(self.0 == 100);
///         }
///         Some(op)
///     }
/// }
///
/// let found = Trial::of("gc_victim=greedy")?.run_with(WrongErase::default());
/// let Err(TrialError::Violated { violation, .. }) = found else {
///     panic!("the bug was not noticed: {found:?}")
/// };
/// assert!(matches!(violation, Violation::ErasedValidData { .. }), "{violation}");
/// # Ok::<(), firstread_faulty_flash::SchemeError>(())
/// ```
pub trait Bug: Debug {
    /// The firmware issues `op`: what reaches the flash. None drops the operation.
    fn issue(&mut self, op: FlashOp) -> Option<FlashOp> {
        Some(op)
    }
    /// The flash reports `event`: what reaches the firmware. None drops the event.
    fn event(&mut self, event: FlashEvent) -> Option<FlashEvent> {
        Some(event)
    }
    /// A die has programmed `op`, and reports success: whether the cells hold the data.
    fn stores(&mut self, op: &FlashOp) -> bool {
        let _ = op;
        true
    }
    /// The firmware sends `data` to the host (zeros where there are none): what the host gets.
    fn send(&mut self, data: Option<Spare>) -> Option<Spare> {
        data
    }
    /// Power is cut: what `buffers` hold in the emergency dump.
    fn power_cut(&mut self, buffers: &mut [Option<Spare>]) {
        let _ = buffers;
    }
    /// The firmware posts the completion of `command`: the status that reaches the host. None drops the completion.
    fn complete(&mut self, command: &HostCommand, status: Status) -> Option<Status> {
        let _ = command;
        Some(status)
    }
}

/// No bug.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoBug;

impl Bug for NoBug {}
