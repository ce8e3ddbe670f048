//! Text of a study as HTML: paragraphs, and names between backticks.

use minijinja::{HtmlEscape, Value};

/// `text` with `<code>` where it has backticks, for inside a paragraph. A blank line begins another one, and a backtick
/// without a partner stays what it is.
pub fn html(text: &str) -> Value {
    let paragraphs = text.split("\n\n").map(paragraph);
    Value::from_safe_string(paragraphs.collect::<Vec<_>>().join("</p>\n<p>"))
}

fn paragraph(text: &str) -> String {
    let mut parts: Vec<&str> = text.split('`').collect();
    let alone = match parts.len() % 2 {
        0 => parts.pop(),
        _ => None,
    };
    let part = |(i, part): (usize, &&str)| match i % 2 {
        1 => format!("<code>{}</code>", HtmlEscape(part)),
        _ => HtmlEscape(part).to_string(),
    };
    let mut html: String = parts.iter().enumerate().map(part).collect();
    if let Some(rest) = alone {
        html += &format!("`{}", HtmlEscape(rest));
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
        ] {
            assert_eq!(html(text).as_str(), Some(expected), "{text}");
        }
    }
}
