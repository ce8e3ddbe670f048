//! Pages of results: one self-contained HTML file each, without scripts and without anything from elsewhere. The verdict or the
//! headline comes first, then what the page has, then tables and figures, which fit a telephone.
//!
//! - `base.html`: what all pages share. `run.html`: runs and lives; the page of a study is beside the study.
//! - [`prose`]: text of a study as HTML.

mod prose;

use anyhow::Result;
use firstread_session::results;
use minijinja::{AutoEscape, Environment, Value, context};
use serde::Serialize;

use crate::figure::Figure;

/// A part of a page, with an entry in its contents.
#[derive(Serialize, Clone, Default, Debug)]
pub struct Section {
    pub title: String,
    /// Paragraphs below the title.
    pub text: String,
    /// A figure as HTML; empty for none.
    pub figure: String,
    /// Head and rows of a table.
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// A text of fixed width.
    pub fixed: String,
}

impl Section {
    /// A figure below a title.
    pub fn figure(title: &str, figure: &Figure) -> Section {
        Section {
            title: title.to_owned(),
            figure: figure.html(),
            ..Section::default()
        }
    }

    /// A table below a title. The first of `rows` is its head.
    pub fn table(title: &str, mut rows: Vec<Vec<String>>) -> Section {
        let head = match rows.is_empty() {
            true => Vec::new(),
            false => rows.remove(0),
        };
        Section {
            title: title.to_owned(),
            head,
            rows,
            ..Section::default()
        }
    }

    /// A text as it is printed.
    pub fn fixed(title: &str, text: &str) -> Section {
        Section {
            title: title.to_owned(),
            fixed: text.to_owned(),
            ..Section::default()
        }
    }
}

/// What templates of pages share, with the templates of `others`.
pub fn environment(others: &[(&'static str, &'static str)]) -> Result<Environment<'static>> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|name| match name.ends_with(".html") {
        true => AutoEscape::Html,
        false => AutoEscape::None,
    });
    environment.add_filter("prose", |text: &str| prose::html(text));
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.add_template("base.html", include_str!("base.html"))?;
    environment.add_template("run.html", include_str!("run.html"))?;
    for (name, text) in others {
        environment.add_template(name, text)?;
    }
    environment.add_global("version", results::VERSION);
    environment.add_global("commit", results::COMMIT);
    Ok(environment)
}

/// The page called `title`, with a verdict or headline, a line each, before `sections`.
pub fn page(title: &str, headline: &[String], sections: &[Section]) -> Vec<u8> {
    let context = context! { title, headline, sections => Value::from_serialize(sections) };
    let rendered =
        environment(&[]).and_then(|all| Ok(all.get_template("run.html")?.render(context)?));
    rendered
        .expect("the template of a page is well formed")
        .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page is one file: it loads nothing, runs nothing, and what is in names stays text.
    #[test]
    fn model_a_page_is_one_file() {
        let sections = [
            Section::fixed("The report", "a <b>\n  c"),
            Section::table("Table", vec![vec!["x<".into()], vec!["1 & 2".into()]]),
        ];
        let page = page("A <load>", &["P99 is 3 µs".into()], &sections);
        let page = String::from_utf8(page).unwrap();
        for part in [
            "<title>A &lt;load&gt;</title>",
            "a &lt;b&gt;\n  c",
            "<th>x&lt;</th>",
            "<td>1 &amp; 2</td>",
            "prefers-color-scheme: dark",
            "<a href=\"#s2\">Table</a>",
            "<h2 id=\"s2\">Table</h2>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let headline = page.find("P99 is 3 µs").unwrap();
        assert!(headline < page.find("href=\"#s1\"").unwrap(), "{page}");
        for foreign in ["<script", "src=", "http:", "https:", "@import", "url("] {
            assert!(!page.contains(foreign), "{foreign}: {page}");
        }
    }
}
