//! `cargo xtask characterize`: the voltage tables of the shipped chips, from their profiles.

use firstread_core::CellMode;
use firstread_drive::profile::{Library, load_chip};
use firstread_drive::tables;
use firstread_nand::characterize::FactoryRule;

/// Chips with tables of their own; the others are characterized when a drive is made.
const CHIPS: &[(&str, CellMode)] = &[("ct-qlc-176l", CellMode::Qlc)];

/// Writes `profiles/tables/CHIP.toml`.
pub fn run() -> Result<(), String> {
    for (chip, mode) in CHIPS {
        let profile = load_chip(&Library::new(), chip, &[])
            .map_err(|e| e.to_string())?
            .chip;
        let rule = FactoryRule::DEFAULT;
        let made = tables::characterize(&profile, *mode, &rule).map_err(|e| e.to_string())?;
        let path = format!(
            "{}/../profiles/tables/{chip}.toml",
            env!("CARGO_MANIFEST_DIR")
        );
        std::fs::write(&path, tables::render(chip, &rule, &made))
            .map_err(|e| format!("{path}: {e}"))?;
        println!(
            "wrote profiles/tables/{chip}.toml: {} factory entries",
            made.factory_len
        );
    }
    Ok(())
}
