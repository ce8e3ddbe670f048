//! Errors are types: in a library no error is a text.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::source::{File, is_test};

/// The library crates. Crates that only run or test them may use text as errors.
const LIBRARIES: &[&str] = &[
    "crates/core",
    "crates/drive",
    "crates/ecc",
    "crates/firmware",
    "crates/nand",
    "crates/session",
    "crates/workload",
];

/// A line for each error of `files` that is a text, where crate `name` is a library.
pub(super) fn tell(name: &str, files: &[File]) -> Vec<String> {
    if !LIBRARIES.contains(&name) {
        return Vec::new();
    }
    let of_file = |file: &File| {
        let mut reader = Reader { found: Vec::new() };
        reader.visit_file(&file.syntax);
        let path = file.path.clone();
        let line = move |(what, line)| format!("{path}:{line}: {what}: an error is a type");
        reader.found.into_iter().map(line).collect::<Vec<_>>()
    };
    files.iter().flat_map(of_file).collect()
}

/// Finds errors that are texts, outside tests.
struct Reader {
    found: Vec<(&'static str, usize)>,
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        if segment.ident == "Result"
            && let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments
            && let Some(syn::GenericArgument::Type(error)) = arguments.args.iter().nth(1)
            && is_text(error)
        {
            let line = segment.span().start().line;
            self.found.push(("a `Result` whose error is text", line));
        }
        visit::visit_path_segment(self, segment);
    }

    fn visit_impl_item_type(&mut self, item: &'ast syn::ImplItemType) {
        if (item.ident == "Err" || item.ident == "Error") && is_text(&item.ty) {
            let line = item.span().start().line;
            self.found.push(("the error of a trait is text", line));
        }
        visit::visit_impl_item_type(self, item);
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        let whole = variant.attrs.iter().any(|a| {
            a.path().is_ident("error")
                && a.parse_args::<syn::LitStr>()
                    .is_ok_and(|text| text.value() == "{0}")
        });
        let owned = |field: &syn::Field| is_text(&field.ty) && !is_reference(&field.ty);
        if whole && variant.fields.iter().any(owned) {
            let line = variant.ident.span().start().line;
            self.found.push(("a variant that is all text", line));
        }
        visit::visit_variant(self, variant);
    }
}

/// Whether `ty` is `String` or a reference to text.
fn is_text(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Reference(to) => is_text(&to.elem),
        syn::Type::Paren(inner) => is_text(&inner.elem),
        syn::Type::Path(path) => {
            let last = path.path.segments.last();
            last.is_some_and(|s| s.ident == "String" || s.ident == "str")
        }
        _ => false,
    }
}

fn is_reference(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Reference(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let file = File::parse("a.rs", text).expect("the example is Rust");
        tell("crates/drive", &[file])
    }

    #[test]
    fn formula_a_result_whose_error_is_text_is_found() {
        for text in [
            "fn f() -> Result<u8, String> { Ok(1) }",
            "fn f() -> Result<u8, &'static str> { Ok(1) }",
            "fn f() -> core::result::Result<Vec<u8>, std::string::String> { Ok(1) }",
            "type Parsed<T> = Result<T, String>;",
            "struct Row { set: fn(u8) -> Result<(), String> }",
            "enum Row { Set(fn(u8) -> Result<(), String>) }",
            "trait Read { fn f(&self) -> Option<Result<u8, String>>; }",
            "fn f() { let g = |n: u8| -> Result<u8, String> { Ok(n) }; }",
            "impl core::str::FromStr for A { type Err = String; }",
            "enum E { #[error(\"{0}\")] Text(String) }",
        ] {
            let told = told(text);
            assert_eq!(told.len(), 1, "{text}: {told:?}");
            assert!(told[0].starts_with("a.rs:1: "), "{told:?}");
        }
        let second = told("struct A;\nfn f() -> Result<u8, String> { Ok(1) }");
        assert_eq!(
            second,
            ["a.rs:2: a `Result` whose error is text: an error is a type"]
        );
    }

    #[test]
    fn formula_other_results_tests_and_other_crates_are_let_pass() {
        let none: Vec<String> = Vec::new();
        for text in [
            "fn f() -> Result<String, Error> { Ok(1) }",
            "fn f() -> Result<Option<String>, Error<String>> { Ok(1) }",
            "fn f() -> io::Result<String> { Ok(1) }",
            "enum E { #[error(\"{0} is none\")] Text(String), #[error(\"{0}\")] Rule(&'static str) }",
            "#[cfg(test)] mod tests { fn f() -> Result<u8, String> { Ok(1) } }",
            "#[cfg(test)] fn f() -> Result<u8, String> { Ok(1) }",
        ] {
            assert_eq!(told(text), none, "{text}");
        }
        let text = "fn f() -> Result<u8, String> { Ok(1) }";
        let file = || File::parse("a.rs", text).expect("the example is Rust");
        assert_eq!(tell("crates/cli", &[file()]), none);
        assert_eq!(tell("xtask", &[file()]), none);
    }
}
