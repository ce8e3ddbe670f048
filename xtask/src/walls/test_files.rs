//! Where the tests of a crate are one program, each file of tests is a module of it. Cargo and the compiler do not
//! look for a file that no `mod` names, so its tests would never run.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A line for each file in `folder` that `main.rs` there does not name. None where the folder has no `main.rs`: then
/// cargo makes a program of each file.
pub(super) fn tell(folder: &Path) -> Result<Vec<String>, String> {
    let main = folder.join("main.rs");
    if !main.is_file() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&main).map_err(|e| format!("{}: {e}", main.display()))?;
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut stems = BTreeSet::new();
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        let is_module =
            path.extension().is_some_and(|e| e == "rs") || path.join("mod.rs").is_file();
        if let Some(stem) = path.file_stem().filter(|stem| is_module && *stem != "main") {
            stems.insert(stem.to_string_lossy().into_owned());
        }
    }
    left_out(&text, &stems)
}

/// A line for each of `stems` that is no module of `main`.
fn left_out(main: &str, stems: &BTreeSet<String>) -> Result<Vec<String>, String> {
    let main = syn::parse_file(main).map_err(|e| format!("main.rs: {e}"))?;
    let named = |stem: &&String| {
        main.items
            .iter()
            .any(|item| matches!(item, syn::Item::Mod(m) if m.ident == stem.as_str()))
    };
    let unnamed = stems.iter().filter(|stem| !named(stem));
    Ok(unnamed
        .map(|stem| format!("{stem} is never run: main.rs has no `mod {stem};`"))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_a_file_of_tests_that_main_does_not_name_is_found() {
        let stems = ["ageing", "die"].map(str::to_owned).into();
        let told = left_out("//! Tests.\nmod ageing;", &stems).unwrap();
        assert_eq!(told, ["die is never run: main.rs has no `mod die;`"]);
        let both = left_out("mod ageing; mod die;", &stems);
        assert_eq!(both, Ok(Vec::new()));
    }
}
