//! Retries computed from a model of ageing, as RARO's equations 1 to 3 have it.
//!
//! Equation 2: a page is readable after n retries if `load * 0.8^n` is at most 72 wrong bits of 8,192, where
//! `load` stands for α·RBER·n_SENSE. The paper states neither coefficients nor units. The load used here is fitted
//! to its figure 6 at fixed wear, the mean page of it: `.00896 + .088 (c/1000)^5.16 + .0946 (c/1000)^1.19` for c P/E
//! cycles. Retention and read disturb do not enter it.

/// The logarithm of equation 3 for the mean QLC page, in tenths, every 100 P/E cycles from 0 on.
const QLC_TENTHS: [u16; 11] = [1, 24, 43, 57, 70, 80, 91, 102, 113, 125, 138];

/// P/E cycles between two entries of the table.
const STEP: u32 = 100;

/// Retries of a QLC page that has had `pe_cycles`: the logarithm rounded up. Beyond the table its last entry counts.
pub(super) fn qlc_retries(pe_cycles: u32) -> u8 {
    let (at, rest) = (pe_cycles / STEP, pe_cycles % STEP);
    let last = QLC_TENTHS.len() - 1;
    let entry = |i: u32| u32::from(QLC_TENTHS[(i as usize).min(last)]);
    let tenths = (entry(at) * (STEP - rest) + entry(at + 1) * rest) / STEP;
    tenths.div_ceil(10) as u8
}
