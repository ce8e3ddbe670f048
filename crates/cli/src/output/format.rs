//! Numbers and tables as people read them.

use firstread_core::Ns;

/// A span of time in the unit that leaves one to three digits before the point: `312 µs`.
pub fn time(ns: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let (unit, size) = UNITS
        .iter()
        .rev()
        .find(|(_, size)| ns >= *size)
        .unwrap_or(&UNITS[0]);
    match *unit {
        "ns" => format!("{ns:.0} ns"),
        unit => format!("{} {unit}", digits(ns / size, 3)),
    }
}

/// A span of time that may be hours: `312 µs`, `24.5 min`, `28 h`.
pub fn long_time(ns: f64) -> String {
    const LONG: [(&str, f64); 2] = [("h", 3.6e12), ("min", 6e10)];
    match LONG.iter().find(|(_, size)| ns >= *size) {
        Some((unit, size)) => {
            let number = format!("{:.3}", ns / size);
            let number = number.trim_end_matches('0').trim_end_matches('.');
            format!("{number} {unit}")
        }
        None => time(ns),
    }
}

/// A long span of time: `28 h`, `30 d`.
pub fn age(span: Ns) -> String {
    const UNITS: [(&str, u64); 5] = [
        ("d", 86_400),
        ("h", 3_600),
        ("min", 60),
        ("s", 1),
        ("ns", 0),
    ];
    let ns = |seconds: u64| (seconds * 1_000_000_000).max(1);
    let fits = |seconds: u64| span.0 >= ns(seconds) && span.0.is_multiple_of(ns(seconds));
    // Days from the third on: `28 h` says more than `1.17 d`.
    let unit = UNITS
        .iter()
        .find(|(name, s)| fits(*s) && (*name != "d" || span.0 > 2 * ns(*s)));
    match unit {
        Some((name, seconds)) => format!("{} {name}", span.0 / ns(*seconds)),
        None => "0".into(),
    }
}

/// A rate with a decimal prefix: `97.9 k`.
pub fn si(value: f64) -> String {
    match scaled(value, 3) {
        (number, "") => number,
        (number, prefix) => format!("{number} {prefix}"),
    }
}

/// Bytes: `1.31 GB`.
pub fn bytes(value: f64) -> String {
    let (number, prefix) = scaled(value, 3);
    format!("{number} {prefix}B")
}

/// The capacity of a drive, which its makers state with four digits: `15.36 TB`.
pub fn capacity(bytes: u64) -> String {
    let (number, prefix) = scaled(bytes as f64, 4);
    format!("{number} {prefix}B")
}

/// A number and the prefix that leaves one to three digits before its point.
fn scaled(value: f64, significant: usize) -> (String, &'static str) {
    const PREFIXES: [(&str, f64); 5] =
        [("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)];
    match PREFIXES.iter().find(|(_, size)| value >= *size) {
        Some((prefix, size)) => (digits(value / size, significant), *prefix),
        None if value.fract() == 0.0 => (format!("{value}"), ""),
        None => (digits(value, significant), ""),
    }
}

/// So many significant digits of a number below a thousand.
fn digits(value: f64, significant: usize) -> String {
    let before = if value >= 99.95 {
        3
    } else if value >= 9.995 {
        2
    } else {
        1
    };
    format!("{value:.*}", significant.saturating_sub(before))
}

/// A count with its thousands apart: `1,000,000`.
pub fn count(n: u64) -> String {
    let plain = n.to_string();
    let mut text = String::new();
    for (i, digit) in plain.chars().enumerate() {
        if i > 0 && (plain.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share that is near to one: more digits the nearer it comes, so that 99.9993 % is not 100 %.
pub fn share(value: f64) -> String {
    if value >= 1.0 || value <= 0.0 {
        return format!("{} %", value * 100.0);
    }
    let mut decimals = 2;
    let mut step = 1e-4;
    while 1.0 - value < 0.999 * step && decimals < 9 {
        decimals += 1;
        step /= 10.0;
    }
    format!("{:.decimals$} %", value * 100.0)
}

/// A rate of something rare: `2.9e-2`.
pub fn rare(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else {
        format!("{value:.1e}")
    }
}

/// A number that may be common or rare: `2.03`, `3.5e-4`.
pub fn ratio(value: f64) -> String {
    if value >= 0.01 {
        format!("{value:.2}")
    } else {
        rare(value)
    }
}

/// How much more or less than `base`: `-73.9 %`.
pub fn change(value: f64, base: f64) -> String {
    if base == 0.0 {
        return String::new();
    }
    let percent = (value / base - 1.0) * 100.0;
    // A change that rounds to nothing has no sign.
    let percent = if percent.abs() < 0.05 { 0.0 } else { percent };
    let sign = if percent > 0.0 { "+" } else { "" };
    format!("{sign}{percent:.1} %")
}

/// From `low` to `high`, with their unit once where it is the same: `312 … 340 µs`.
pub fn range(low: &str, high: &str) -> String {
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((n, unit)), Some((_, other))) if unit == other => format!("{n} … {high}"),
        _ => format!("{low} … {high}"),
    }
}

/// Half an interval, of the value: `± 0.4 %`.
pub fn plus_minus(half: f64) -> String {
    format!("± {} %", ratio(half * 100.0))
}

/// A bar of `value` out of one, `width` cells long.
pub fn bar(value: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (value.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// On which side of its column a cell stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Left,
    Right,
}

/// Rows in columns as wide as their widest cell, two spaces apart, after `indent`.
pub fn table(indent: &str, sides: &[Side], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..sides.len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row
            .iter()
            .zip(sides)
            .zip(&widths)
            .map(|((cell, side), &width)| match side {
                Side::Left => format!("{cell:<width$}"),
                Side::Right => format!("{cell:>width$}"),
            });
        let line = format!("{indent}{}", cells.collect::<Vec<_>>().join("  "));
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// `text` in lines that fit the width of a page where it has spaces to break at: the first after
/// `first`, the others after `indent`. Ends with a newline.
pub fn wrap(text: &str, first: &str, indent: &str) -> String {
    const WIDTH: usize = 100;
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &line;
            lines.push('\n');
            line = indent.to_owned();
        } else if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_numbers() {
        let times = [0.0, 999.0, 1_000.0, 99_960.0, 312_345.0, 1.5e6, 2e9].map(time);
        assert_eq!(
            times,
            [
                "0 ns", "999 ns", "1.00 µs", "100 µs", "312 µs", "1.50 ms", "2.00 s"
            ]
        );
        let ages = [0, 28, 48, 720].map(|h| age(Ns::from_h(h)));
        assert_eq!(ages, ["0", "28 h", "48 h", "30 d"]);
        assert_eq!(age(Ns::from_s(90)), "90 s");
        assert_eq!(bytes(15.36e12), "15.4 TB");
        assert_eq!(capacity(15_360_000_000_000), "15.36 TB");
        assert_eq!([97_900.0, 12.0, 0.054].map(si), ["97.9 k", "12", "0.05"]);
        assert_eq!([2.03, 0.00035, 0.0].map(ratio), ["2.03", "3.5e-4", "0"]);
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(count),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [0.0, 0.5, 0.99, 0.99993, 0.9999999, 1.0].map(share),
            [
                "0 %",
                "50.00 %",
                "99.00 %",
                "99.993 %",
                "99.99999 %",
                "100 %"
            ]
        );
        assert_eq!(change(26.0, 100.0), "-74.0 %");
        assert_eq!(change(100.01, 100.0), "0.0 %");
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(1.0 / 32.0, 4), "▏");
    }

    /// Both sides of every bound at which a number is written otherwise.
    #[test]
    fn formula_numbers_around_a_change_of_digits_or_units() {
        assert_eq!(
            [9.994e3, 9.996e3, 99.94e3, 99.96e3, 999.4e3].map(time),
            ["9.99 µs", "10.0 µs", "99.9 µs", "100 µs", "999 µs"]
        );
        assert_eq!(
            [59.9e9, 6e10, 1.47e12, 3.6e12, 1.008e14].map(long_time),
            ["59.9 s", "1 min", "24.5 min", "1 h", "28 h"]
        );
        let ages = [1, 999_999_999, 1_000_000_000, 1_500_000_000].map(|ns| age(Ns(ns)));
        assert_eq!(ages, ["1 ns", "999999999 ns", "1 s", "1500000000 ns"]);
        let ages =
            [60, 61, 5_400, 3_600, 86_400, 172_800, 172_860, 259_200].map(|s| age(Ns::from_s(s)));
        assert_eq!(
            ages,
            [
                "1 min", "61 s", "90 min", "1 h", "24 h", "48 h", "2881 min", "3 d"
            ]
        );
        assert_eq!(
            [1e15, 2.5e12, 1e9, 1e6, 1e3, 999.0, 999.5].map(si),
            [
                "1.00 P", "2.50 T", "1.00 G", "1.00 M", "1.00 k", "999", "1000"
            ]
        );
        assert_eq!([0.0, 1.5, 1e3].map(bytes), ["0 B", "1.50 B", "1.00 kB"]);
        assert_eq!(
            [960_000_000_000, 7_680_000_000_000].map(capacity),
            ["960.0 GB", "7.680 TB"]
        );
        assert_eq!(
            [0.9998, 0.9999, 0.999_91, 0.999_99, 0.999_991].map(share),
            ["99.98 %", "99.99 %", "99.991 %", "99.999 %", "99.9991 %"]
        );
        // Nine decimals are the most.
        assert_eq!(share(1.0 - 1e-13), "100.000000000 %");
        assert_eq!([0.01, 0.0099, 1.0].map(ratio), ["0.01", "9.9e-3", "1.00"]);
        assert_eq!(rare(0.029), "2.9e-2");
        assert_eq!(change(200.0, 100.0), "+100.0 %");
        assert_eq!(change(5.0, 0.0), "");
        let changes = [100.04, 100.06, 99.96, 99.94].map(|value| change(value, 100.0));
        assert_eq!(changes, ["0.0 %", "+0.1 %", "0.0 %", "-0.1 %"]);
        assert_eq!(plus_minus(0.004), "± 0.40 %");
        assert_eq!(range("312 µs", "340 µs"), "312 … 340 µs");
        assert_eq!(range("312 µs", "1.20 ms"), "312 µs … 1.20 ms");
        assert_eq!(range("3", "4"), "3 … 4");
        assert_eq!(
            [-1.0, 0.0, 7.0 / 16.0, 1.0, 2.0].map(|v| bar(v, 2)),
            ["", "", "▉", "██", "██"]
        );
    }

    #[test]
    fn golden_table() {
        let rows = [["a", "1"], ["bcd", "22"]].map(|row| row.map(String::from).to_vec());
        assert_eq!(
            table(" ", &[Side::Left, Side::Right], &rows),
            " a     1\n bcd  22\n"
        );
        // A row may be short, and a column is as wide as what it shows, in characters.
        let rows = [vec!["µµµ".to_owned()], vec!["a".into(), "b".into()]];
        assert_eq!(
            table("", &[Side::Right, Side::Left], &rows),
            "µµµ\n  a  b\n"
        );
        // A line of 100 characters fits; one of 101 does not.
        let two = |n: usize| wrap(&format!("{} {}", "a".repeat(n), "b".repeat(49)), "- ", "  ");
        assert_eq!(two(48).lines().map(str::len).collect::<Vec<_>>(), [100]);
        assert_eq!(two(49).lines().map(str::len).collect::<Vec<_>>(), [51, 51]);
        let long = "word ".repeat(30);
        let wrapped = wrap(&long, "- ", "  ");
        assert_eq!(
            wrapped.lines().map(|l| l.len()).collect::<Vec<_>>(),
            [96, 56]
        );
        assert!(
            wrapped.starts_with("- word") && wrapped.ends_with("\n"),
            "{wrapped}"
        );
    }
}
