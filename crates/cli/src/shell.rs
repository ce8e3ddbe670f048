//! `firstread completions` and `firstread man`: made from the definitions of the options themselves.

use std::path::PathBuf;

use anyhow::Result;
use clap::builder::Resettable;
use clap::{Args, Command};
use clap_complete::Shell;
use firstread_session::files::{self, Page};

use crate::streams::data;

/// How completions are installed.
const INSTALL: &str = "\
Install:
  bash  firstread completions bash > ~/.local/share/bash-completion/completions/firstread
  zsh   firstread completions zsh > ~/.zfunc/_firstread     (with ~/.zfunc in fpath)
  fish  firstread completions fish > ~/.config/fish/completions/firstread.fish";

/// How pages are installed.
const INSTALL_MAN: &str = "\
Install:
  firstread man ~/.local/share/man/man1 && man firstread-run";

/// Print the completions of a shell
#[derive(Args, Debug)]
#[command(after_help = INSTALL)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Write the manual pages, one a sub-command, into a folder
#[derive(Args, Debug)]
#[command(after_help = INSTALL_MAN)]
pub struct ManArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Prints the completions of `command`.
pub fn completions(args: &CompletionsArgs, mut command: Command) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "firstread", &mut text);
    data(&String::from_utf8_lossy(&text))
}

/// A section of a manual page whose lines are neither filled nor broken, so that commands can be copied from it.
fn as_it_is(title: &str, text: &str) -> String {
    let mut page = format!(".SH {title}\n.nf\n");
    for line in text.lines() {
        // What would be a request of roff, or a hyphen that is none.
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        page += &match line.starts_with(['.', '\'']) {
            true => format!("\\&{line}\n"),
            false => format!("{line}\n"),
        };
    }
    page + ".fi\n"
}

/// Writes the manual pages of `command`.
pub fn man(args: &ManArgs, mut command: Command) -> Result<()> {
    command.build();
    let mut pages: Vec<Page> = Vec::new();
    let of = |command: &Command| -> Result<Page> {
        let mut text = Vec::new();
        let without = command.clone().after_help(Resettable::Reset);
        clap_mangen::Man::new(without).render(&mut text)?;
        if let Some(examples) = command.get_after_help() {
            text.extend(as_it_is("EXAMPLES", &examples.to_string()).into_bytes());
        }
        let name = command.get_display_name().unwrap_or(command.get_name());
        Ok((format!("{name}.1").into(), text))
    };
    for sub in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
    {
        pages.push(of(sub)?);
    }
    pages.push(of(&command)?);
    Ok(files::write(&args.folder, &pages)?)
}
