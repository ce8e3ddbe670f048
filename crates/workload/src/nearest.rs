//! The nearest valid name to an unknown one. The same rule serves all names of the project.

/// Characters of a name that are compared; no valid name is as long.
const LONGEST_NAME: usize = 100;

/// The candidate most like `name`; none where there is no candidate.
///
/// The candidate with the fewest edits, ignoring case. If one of the names is a prefix of the
/// other, or `name` is a suffix of the candidate, the distance is at most two. Of several candidates at the same
/// distance, the first.
///
/// ```
/// let axes = ["read_levels", "retry"];
/// assert_eq!(firstread_workload::nearest("Read_level", axes.into_iter()), Some("read_levels"));
/// ```
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    closest(name, candidates).map(|(_, candidate)| candidate)
}

/// The same, if the candidate is similar enough: at most half of its letters differ.
pub fn likely<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, candidate) = closest(name, candidates)?;
    let longest = candidate.len().max(name.len().min(LONGEST_NAME));
    (distance <= longest.div_ceil(2)).then_some(candidate)
}

/// The candidate most like `name`, and how far it is from it.
fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<(usize, &'a str)> {
    let wanted: String = name.chars().take(LONGEST_NAME).collect();
    let wanted = wanted.to_ascii_lowercase();
    let mut best = None;
    for candidate in candidates {
        let there = candidate.to_ascii_lowercase();
        let edits = strsim::damerau_levenshtein(&wanted, &there);
        let begins = |a: &str, b: &str| b.len() > 2 && a.starts_with(b);
        let ends = wanted.len() > 2 && there.ends_with(&wanted);
        let distance = match begins(&wanted, &there) || begins(&there, &wanted) || ends {
            true => edits.min(2),
            false => edits,
        };
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_which_name_was_meant() {
        let of = |name, candidates: &[&'static str]| nearest(name, candidates.iter().copied());
        // Letters that changed places are one edit.
        assert_eq!(
            of("iodpeth", &["iodepth", "iodepth_batch"]),
            Some("iodepth")
        );
        // A name that was cut short counts as two edits, and `retries` is three away.
        assert_eq!(of("retent", &["retries", "retention"]), Some("retention"));
        // The same at the front: three more letters would have to go from `retry` to `recovery`.
        assert_eq!(
            of("recovery", &["retry", "read_recovery"]),
            Some("read_recovery")
        );
        // Capitals are no edits.
        assert_eq!(of("BLOCKSIZE", &["bs", "blocksize"]), Some("blocksize"));
        // Of several the first, and there is always one.
        assert_eq!(of("xyz", &["ab", "cd"]), Some("ab"));
        assert_eq!(of("xyz", &[]), None);
    }

    #[test]
    fn formula_what_is_too_far_was_not_meant() {
        let of = |name, candidates: &[&'static str]| likely(name, candidates.iter().copied());
        assert_eq!(of("blocksiz", &["blocksize"]), Some("blocksize"));
        assert_eq!(of("zzzzzzzz", &["blocksize"]), None);
        assert_eq!(of(&"z".repeat(1 << 20), &["blocksize"]), None);
    }

    #[test]
    fn formula_prefixes_and_ends_count_as_two_edits_at_most() {
        let of = |name, candidates: &[&'static str]| closest(name, candidates.iter().copied());
        assert_eq!(of("read", &["read_recovery"]), Some((2, "read_recovery")));
        assert_eq!(
            of("read_recovery", &["read"]),
            Some((2, "read")),
            "either is cut short"
        );
        assert_eq!(
            of("recovery", &["read_recovery"]),
            Some((2, "read_recovery"))
        );
        assert_eq!(of("retrie", &["retries"]), Some((1, "retries")));
        // Two letters begin too much, and a candidate is no end of a longer name.
        assert_eq!(of("re", &["read_recovery"]), Some((11, "read_recovery")));
        assert_eq!(of("read_recovery", &["re"]), Some((11, "re")));
        assert_eq!(of("ry", &["recovery"]), Some((6, "recovery")));
        assert_eq!(of("read_recovery", &["recovery"]), Some((5, "recovery")));
        // Half of the letters of the longer name may differ, rounded up.
        let likely = |name| likely(name, ["abcde"].into_iter());
        assert_eq!((likely("abxyz"), likely("axyzw")), (Some("abcde"), None));
    }
}
