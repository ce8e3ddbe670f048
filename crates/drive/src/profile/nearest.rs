//! The name that someone may have meant.

/// Characters of a name that are compared; no valid name is as long.
const LONGEST_NAME: usize = 100;

/// The candidate most like `name`: fewest edits, where a name cut short or run on counts as two.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let end = name.char_indices().nth(LONGEST_NAME);
    let name = &name[..end.map_or(name.len(), |(end, _)| end)];
    let mut best = None;
    for candidate in candidates {
        let edits = strsim::damerau_levenshtein(name, candidate);
        let begins = |a: &str, b: &str| b.len() > 2 && a.starts_with(b);
        let distance = match begins(name, candidate) || begins(candidate, name) {
            true => edits.min(2),
            false => edits,
        };
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}
