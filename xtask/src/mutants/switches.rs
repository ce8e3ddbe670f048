//! Many faults in one source text, of which a variable switches on one.
//!
//! An expression with a fault becomes `if fault(7) { with the fault } else { as it is }`. A body that a value
//! replaces becomes `if fault(7) { return value; } as it is`. Lines stay where they are, so the place of a
//! compiler's error says which fault does not compile beside the others.

use std::ops::Range;

use proc_macro2::TokenStream;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// Name of the variable, its value if no fault is switched on but tests are to tell which they come by, and the
/// variable that says into which file.
pub(super) const VARIABLE: &str = "FIRSTREAD_FAULT";
pub(super) const REACH: &str = "reach";
pub(super) const REACH_FILE: &str = "FIRSTREAD_FAULTS_REACHED";
/// The crate that everything mutated depends on.
pub(super) const HOLDER: &str = "crates/core/src/lib.rs";
/// Appended to `HOLDER`. Some tests count what their thread allocates: from the first fault on, nothing is.
pub(super) const SWITCH: &str = r#"
extern crate std;

struct Faults {
    on: u32,
    reached: Option<std::fs::File>,
}

/// Whether the deliberate fault `number` is switched on.
#[doc(hidden)]
#[inline]
pub fn fault(number: u32) -> bool {
    static FAULTS: std::sync::OnceLock<Faults> = std::sync::OnceLock::new();
    let faults = FAULTS.get_or_init(|| {
        let on = std::env::var("FIRSTREAD_FAULT").unwrap_or_default();
        let open = || {
            let path = std::env::var("FIRSTREAD_FAULTS_REACHED").ok()?;
            std::fs::OpenOptions::new().append(true).open(path).ok()
        };
        Faults {
            on: on.parse().unwrap_or(0),
            reached: if on == "reach" { open() } else { None },
        }
    });
    if let Some(file) = &faults.reached {
        reached(number, file);
    }
    faults.on == number
}

/// Writes that this thread has come by `number`, once.
#[cold]
fn reached(number: u32, mut file: &std::fs::File) {
    use std::io::Write as _;
    std::thread_local! {
        static SEEN: [core::cell::Cell<u64>; 256] = const { [const { core::cell::Cell::new(0) }; 256] };
    }
    let is_new = SEEN.try_with(|seen| {
        let (word, bit) = (&seen[number as usize / 64], 1 << (number % 64));
        let old = word.replace(word.get() | bit);
        old & bit == 0
    });
    if is_new.unwrap_or(false) {
        let thread = std::thread::current();
        let mut line = [0; 512];
        let mut rest = &mut line[..];
        let _ = std::writeln!(rest, "{number}\t{}", thread.name().unwrap_or_default());
        let left = rest.len();
        let _ = file.write_all(&line[..512 - left]);
    }
}
"#;

/// What a fault changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// The statements of a function's body.
    Body,
    /// An arm of a match.
    Arm,
    /// An operator, a guard or a field.
    Expression,
}

/// A fault in a file: `range` is replaced by `by`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Edit {
    pub(super) change: Change,
    /// First line and column, and those of the end, from 1 up.
    pub(super) from: (usize, usize),
    pub(super) to: (usize, usize),
    pub(super) by: String,
}

impl Edit {
    /// Its bytes in `source`. None if it has no such place.
    fn range(&self, source: &str) -> Option<Range<usize>> {
        Some(byte(source, self.from)?..byte(source, self.to)?)
    }

    /// `source` with this fault alone.
    pub(super) fn applied(&self, source: &str) -> Option<String> {
        let range = self.range(source)?;
        Some([&source[..range.start], &self.by, &source[range.end..]].concat())
    }
}

/// The byte of a line and a column.
fn byte(source: &str, (line, column): (usize, usize)) -> Option<usize> {
    let start: usize = source
        .split_inclusive('\n')
        .take(line.checked_sub(1)?)
        .map(str::len)
        .sum();
    let mut columns = source[start..].char_indices().map(|(at, _)| at);
    Some(start + columns.nth(column.checked_sub(1)?)?)
}

/// A fault that can be switched on: its number, and its lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Switched {
    pub(super) number: u32,
    pub(super) lines: Range<usize>,
}

/// `source` with all of `edits` that can be switched. The others are left out.
pub(super) fn switched(source: &str, edits: &[(u32, &Edit)]) -> (String, Vec<Switched>) {
    let Ok(file) = syn::parse_file(source) else {
        return (source.into(), Vec::new());
    };
    // (byte, order at this byte, text): what opens goes from the outermost to the innermost, what closes the
    // other way round and before anything opens.
    let mut inserted: Vec<(usize, (bool, i64, i64), String)> = Vec::new();
    let mut found = Vec::new();
    for (i, &(number, edit)) in edits.iter().enumerate() {
        let Some(range) = edit.range(source) else {
            continue;
        };
        let i = i as i64;
        let fault = format!("::firstread_core::fault({number})");
        let whole = match edit.change {
            Change::Body => {
                let text = format!("if {fault} {{ return {}; }} ", edit.by);
                let order = (true, -(range.len() as i64) - 1, i);
                inserted.push((range.start, order, text));
                range.start..range.start + 1
            }
            Change::Arm | Change::Expression => {
                let mut around = Around {
                    range: range.clone(),
                    found: None,
                };
                around.visit_file(&file);
                let Some(whole) = around.found else {
                    continue;
                };
                let faulty = [
                    &source[whole.start..range.start],
                    &edit.by,
                    &source[range.end..whole.end],
                ]
                .concat();
                // Without comments, on one line.
                let Ok(faulty) = faulty.parse::<TokenStream>() else {
                    continue;
                };
                let faulty = faulty.to_string().replace('\n', " ");
                // A match may be a statement.
                let (open, close) = match edit.change {
                    Change::Arm => ("{", "}"),
                    _ => ("(", ")"),
                };
                let (length, text) = (
                    whole.len() as i64,
                    format!("{open}if {fault} {{ {faulty} }} else {{ "),
                );
                inserted.push((whole.start, (true, -length, i), text));
                inserted.push((whole.end, (false, length, -i), format!(" }}{close}")));
                whole
            }
        };
        let line = |byte: usize| source[..byte].matches('\n').count() + 1;
        found.push(Switched {
            number,
            lines: line(whole.start)..line(whole.end) + 1,
        });
    }
    inserted.sort_by_key(|insert| (insert.0, insert.1));
    let (mut text, mut at) = (String::new(), 0);
    for (byte, _, more) in inserted {
        text += &source[at..byte];
        text += &more;
        at = byte;
    }
    (text + &source[at..], found)
}

/// The smallest expression around a range.
struct Around {
    range: Range<usize>,
    found: Option<Range<usize>>,
}

impl<'ast> Visit<'ast> for Around {
    fn visit_expr(&mut self, expr: &'ast syn::Expr) {
        let own = expr.span().byte_range();
        if own.start <= self.range.start && self.range.end <= own.end {
            self.found = Some(own);
            visit::visit_expr(self, expr);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "fn f(a: u32) -> u32 {\n    if a > 1 + 2 && !g(a) {\n        return 3; // so\n    }\n    \
                          match a {\n        0 => 1,\n        _ if a < 9 => 2,\n        _ => 0,\n    }\n}\n";

    /// Replaces `what`, as it stands first at or after `after`.
    fn edit(change: Change, after: &str, what: &str, by: &str) -> Edit {
        let start = SOURCE.find(after).unwrap_or(0);
        let start = start + SOURCE[start..].find(what).unwrap_or(0);
        let place = |byte: usize| {
            let before = &SOURCE[..byte];
            let line = before.matches('\n').count() + 1;
            (line, byte - before.rfind('\n').map_or(0, |at| at + 1) + 1)
        };
        Edit {
            change,
            from: place(start),
            to: place(start + what.len()),
            by: by.into(),
        }
    }

    #[test]
    fn sequence_every_fault_has_a_switch_around_its_expression() {
        let body = SOURCE.find("if a >").unwrap_or(0)..SOURCE.len() - 3;
        let edits = [
            edit(Change::Expression, "if a >", ">", ">="),
            edit(Change::Expression, "if a >", ">", "=="),
            edit(Change::Expression, "if a >", "+", "-"),
            edit(Change::Expression, "if a >", "&&", "||"),
            edit(Change::Expression, "if a >", "!", ""),
            edit(Change::Arm, "match", "0 => 1,", ""),
            edit(Change::Expression, "match", "a < 9", "true"),
            edit(Change::Body, "if a >", &SOURCE[body], "1"),
        ];
        let numbered: Vec<(u32, &Edit)> = (1..).zip(&edits).collect();
        let (text, found) = switched(SOURCE, &numbered);
        assert!(syn::parse_file(&text).is_ok(), "{text}");
        assert_eq!(found.len(), edits.len());
        assert_eq!(text.matches('\n').count(), SOURCE.matches('\n').count());
        let on = |n: u32| format!("if ::firstread_core::fault({n})");
        for with in [
            format!(
                "({} {{ a >= 1 + 2 }} else {{ ({} {{ a == 1 + 2 }} else {{ a > ",
                on(1),
                on(2)
            ),
            format!("({} {{ 1 - 2 }} else {{ 1 + 2 }})", on(3)),
            format!("({} {{ g (a) }} else {{ !g(a) }})", on(5)),
            format!(
                "{{{} {{ match a {{ _ if a < 9 => 2 , _ => 0 , }} }} else {{ match a",
                on(6)
            ),
            format!("_ if ({} {{ true }} else {{ a < 9 }}) =>", on(7)),
            format!("\n    {} {{ return 1; }} if ({}", on(8), on(4)),
        ] {
            assert!(text.contains(&with), "{with}\n{text}");
        }
        assert_eq!(found[2].lines, 2..3);
        assert_eq!(found[5].lines, 5..10);
        assert!(
            edits[0]
                .applied(SOURCE)
                .is_some_and(|t| t.contains("a >= 1"))
        );
    }

    #[test]
    fn sequence_what_is_no_expression_has_no_switch() {
        let lost = Edit {
            change: Change::Expression,
            from: (99, 1),
            to: (99, 2),
            by: String::new(),
        };
        assert_eq!(switched(SOURCE, &[(1, &lost)]), (SOURCE.into(), Vec::new()));
    }
}
