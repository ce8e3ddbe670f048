//! Text of a study as HTML: paragraphs, tables, names between backticks, and what is bold.

use minijinja::{HtmlEscape, Value};

/// `text` as HTML for inside a paragraph. A blank line begins another one, and lines that begin with `|` are a table where the
/// second of them is a rule. A backtick, or two asterisks, without a partner stay what they are.
pub fn html(text: &str) -> Value {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    let mut last = "";
    for line in text.trim().lines() {
        // What a line begins: a paragraph after a blank line, a table after text, text after a table.
        let is_row = line.starts_with('|');
        if line.trim().is_empty() || blocks.is_empty() || is_row != last.starts_with('|') {
            blocks.push(Vec::new());
        }
        if let (Some(block), false) = (blocks.last_mut(), line.trim().is_empty()) {
            block.push(line);
        }
        last = line;
    }
    let block = |lines: Vec<&str>| match table(&lines) {
        Some(table) => table,
        None => spans(&lines.join("\n")),
    };
    let blocks = blocks.into_iter().filter(|lines| !lines.is_empty());
    let blocks: Vec<String> = blocks.map(block).collect();
    Value::from_safe_string(blocks.join("</p>\n<p>"))
}

/// `lines` as a table, if they are one: it ends the paragraph before it, and begins another one after it.
fn table(lines: &[&str]) -> Option<String> {
    let [head, rule, rows @ ..] = lines else {
        return None;
    };
    let is_rule = rule.len() > 2 && rule.chars().all(|c| "|-: ".contains(c));
    if !head.starts_with('|') || !is_rule {
        return None;
    }
    let row = |line: &str, cell: &str| {
        let line = line.trim().trim_start_matches('|').trim_end_matches('|');
        let cells = line.split('|');
        let cells = cells.map(|text| format!("<{cell}>{}</{cell}>", spans(text.trim())));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let rows: String = rows.iter().map(|line| row(line, "td")).collect();
    Some(format!(
        "</p>\n<div class=\"scroll\"><table>\n{}{rows}</table></div>\n<p>",
        row(head, "th")
    ))
}

/// `text` with its marks.
fn spans(text: &str) -> String {
    between(text, "`", "code", |text| {
        between(text, "**", "b", |text| HtmlEscape(text).to_string())
    })
}

/// `text` with what stands between two of `mark` as the element `name`, and all else by `plain`.
fn between(text: &str, mark: &str, name: &str, plain: impl Fn(&str) -> String) -> String {
    let mut parts: Vec<&str> = text.split(mark).collect();
    let alone = match parts.len() % 2 {
        0 => parts.pop(),
        _ => None,
    };
    let part = |(i, part): (usize, &&str)| match i % 2 {
        1 => format!("<{name}>{}</{name}>", HtmlEscape(part)),
        _ => plain(part),
    };
    let mut html: String = parts.iter().enumerate().map(part).collect();
    if let Some(rest) = alone {
        html += mark;
        html += &plain(rest);
    }
    html
}

#[cfg(test)]
mod tests {
    use super::html;

    #[test]
    fn formula_text_becomes_paragraphs_and_names() {
        for (text, expected) in [
            ("a < b", "a &lt; b"),
            ("one\nline\n\nanother", "one\nline</p>\n<p>another"),
            ("key `a<b` is", "key <code>a&lt;b</code> is"),
            ("`a` and `b`", "<code>a</code> and <code>b</code>"),
            ("a ` alone <", "a ` alone &lt;"),
            ("**1 < 2** and ** alone", "<b>1 &lt; 2</b> and ** alone"),
            ("`a**b` **c**", "<code>a**b</code> <b>c</b>"),
        ] {
            assert_eq!(html(text).as_str(), Some(expected), "{text}");
        }
    }

    #[test]
    fn formula_a_table_in_text_is_a_table() {
        let table = "</p>\n<div class=\"scroll\"><table>\n<tr><th>load</th><th>a &lt; b</th></tr>\n\
                     <tr><td></td><td><b>62.5</b></td></tr>\n</table></div>\n<p>";
        let text = "| load | a < b |\n|---|---:|\n|  | **62.5** |";
        assert_eq!(html(text).as_str(), Some(table));
        let around = format!("before\n\n{text}\nafter");
        let expected = format!("before</p>\n<p>{table}</p>\n<p>after");
        assert_eq!(html(&around).as_str(), Some(expected.as_str()));
        // Without a rule it is text.
        assert_eq!(html("| a |\n| b |").as_str(), Some("| a |\n| b |"));
    }
}
