//! `inselberg completions` and `inselberg man`: the command line, described for shells and for `man`.

use super::fault::CommandError;
use super::program::program;
use super::{interrupt, preflight};
use clap::Command as Clap;
use clap_complete::Shell;
use clap_mangen::Man;
use inselberg_io::staging::hidden;
use inselberg_io::staging::{Staged, stage_file};
use std::path::Path;

/// The completions for `shell`.
pub fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program(), "inselberg", &mut script);
    String::from_utf8(script).expect("the tables of commands and options are UTF-8")
}

/// Writes a manual page per command into `folder`, all of them or none.
pub fn write_pages(folder: &Path) -> Result<(), CommandError> {
    // Missing parents are made, as packages want it.
    if folder.exists() {
        preflight::folder(folder)?;
    }
    interrupt::guard()?;
    let place = hidden::place(folder).map_err(|error| {
        CommandError::about(folder, format!("cannot be made: {error}; expected a folder that can be written"))
    })?;
    let mut program = program();
    program.build();
    Ok(stage(folder, &program)?.in_place(place).commit()?)
}

/// The pages of `command` and of the commands in it.
fn stage(folder: &Path, command: &Clap) -> Result<Staged, CommandError> {
    let mut staged = Staged::default();
    let has_page = |inner: &&Clap| !inner.is_hide_set() && inner.get_name() != "help";
    for inner in command.get_subcommands().filter(has_page) {
        staged.extend(stage(folder, inner)?);
    }
    let page = Man::new(command.clone())
        .source(concat!("inselberg ", env!("CARGO_PKG_VERSION")))
        .manual("Inselberg");
    let path = folder.join(page.get_filename());
    staged.extend(stage_file(&path, |mut out| page.render(&mut out))?);
    Ok(staged)
}
