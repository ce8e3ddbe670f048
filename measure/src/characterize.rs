//! `cargo xtask characterize`: the voltage tables of the shipped chips and how short they may sense,
//! from their profiles.

use firstread_core::CellMode;
use firstread_drive::profile::{Library, load_chip};
use firstread_drive::tables;
use firstread_ecc::Code;

/// Chips with tables of their own; the others are characterized when a drive is made.
const CHIPS: &[(&str, CellMode)] = &[("ct-qlc-176l", CellMode::Qlc)];

/// Chips with tables of safe senses, with the mode and the code of the drives that carry them.
const SENSING: &[(&str, CellMode, &str)] = &[
    ("ct-tlc-48l", CellMode::Tlc, "threshold"),
    ("ct-qlc-176l", CellMode::Qlc, "ldpc-1k"),
];

/// Writes `profiles/tables/CHIP.toml`.
pub fn run() -> Result<(), String> {
    for (chip, mode) in CHIPS {
        let profile = load_chip(&Library::new(), chip, &[])
            .map_err(|e| e.to_string())?
            .chip;
        let made = tables::characterize(&profile, *mode).map_err(|e| e.to_string())?;
        let path = format!(
            "{}/../profiles/tables/{chip}.toml",
            env!("CARGO_MANIFEST_DIR")
        );
        std::fs::write(&path, tables::render(chip, &profile.factory_table, &made))
            .map_err(|e| format!("{path}: {e}"))?;
        println!(
            "wrote profiles/tables/{chip}.toml: {} factory entries",
            made.factory_len
        );
    }
    for (chip, mode, code) in SENSING {
        let profile = load_chip(&Library::new(), chip, &[])
            .map_err(|e| e.to_string())?
            .chip;
        let code = Code::named(code).map_err(|e| e.to_string())?;
        let made =
            tables::characterize_sensing(&profile, *mode, &code).map_err(|e| e.to_string())?;
        let path = format!(
            "{}/../profiles/tables/{chip}-sensing.toml",
            env!("CARGO_MANIFEST_DIR")
        );
        std::fs::write(&path, tables::render_sensing(chip, *mode, &made))
            .map_err(|e| format!("{path}: {e}"))?;
        println!("wrote profiles/tables/{chip}-sensing.toml");
    }
    Ok(())
}
