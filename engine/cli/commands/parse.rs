//! Turns the command line into a checked job, by the table of options.

use super::fault::CommandError;
use super::program::{is_text, one_line, program};
use super::{manual, version};
use crate::config::{
    COMMANDS, CommandInfo, Job, OptionKind, RawConfig, check, config_text, options_of, parameters_markdown,
    parameters_python, passed_on, reference_toml,
};
use clap::ArgMatches;
use clap::error::ErrorKind;
use clap_complete::Shell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The request of a command line.
pub enum Parsed {
    /// A command with its options.
    Typed(Box<Typed>),
    /// A text to print: help, version, completions, the reference file.
    Text(String),
    /// Manual pages to write into this folder.
    Manual(PathBuf),
}

/// A command line as clap understands it.
pub struct Typed {
    info: &'static CommandInfo,
    matches: ArgMatches,
}

impl Typed {
    /// Whether several ranks share the work of the command.
    pub fn runs_on_ranks(&self) -> bool {
        options_of(self.info.command).any(|option| option.name == "ranks")
    }

    fn config(&self) -> Option<&Path> {
        self.matches.get_one::<OsString>("config").map(Path::new)
    }

    /// The text of the configuration file, if one is named.
    pub fn config_text(&self) -> Result<Option<String>, CommandError> {
        Ok(self.config().map(config_text).transpose()?)
    }

    /// The checked job, with this text of the configuration file.
    pub fn job(&self, config: Option<&str>) -> Result<Job, CommandError> {
        let mut raw = RawConfig::new(self.info.command);
        if let (Some(path), Some(text)) = (self.config(), config) {
            raw.read_text(path, text)?;
        }
        self.set_flags(&mut raw)?;
        Ok(check(&raw)?)
    }

    /// Sets the options of the command line, which override the file.
    fn set_flags(&self, raw: &mut RawConfig) -> Result<(), CommandError> {
        let (command, matches) = (self.info.command, &self.matches);
        for opt in options_of(command).chain(passed_on(command)).filter(|o| !o.key.is_empty()) {
            match opt.kind {
                OptionKind::Flag if matches.get_flag(opt.name) => raw.set_flag(opt, "true")?,
                OptionKind::Flag => {}
                OptionKind::Path | OptionKind::Paths => {
                    if let Some(paths) = matches.get_many::<OsString>(opt.name) {
                        raw.set_paths(opt, paths.map(PathBuf::from).collect())?;
                    }
                }
                _ => {
                    if let Some(text) = matches.get_one::<String>(opt.name) {
                        raw.set_flag(opt, text)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Parses a command line.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Parsed, CommandError> {
    let args: Vec<OsString> = args.into_iter().collect();
    let matches = match program().try_get_matches_from(&args) {
        Ok(matches) => matches,
        Err(e) if e.kind() == ErrorKind::DisplayVersion && args.iter().any(|word| word == "--version") => {
            return Ok(Parsed::Text(version::long_version()));
        }
        Err(e) if is_text(e.kind()) => return Ok(Parsed::Text(e.render().to_string())),
        Err(e) => return Err(CommandError::user(one_line(&e))),
    };
    match chosen(&matches) {
        Some((info, matches)) => Ok(Parsed::Typed(Box::new(Typed { info, matches: matches.clone() }))),
        None => about_itself(&matches),
    }
}

/// The request of a command that is not in the table.
fn about_itself(matches: &ArgMatches) -> Result<Parsed, CommandError> {
    match matches.subcommand() {
        Some(("options", inner)) if inner.get_flag("markdown") => Ok(Parsed::Text(parameters_markdown())),
        Some(("options", inner)) if inner.get_flag("python") => Ok(Parsed::Text(parameters_python())),
        Some(("options", _)) => Ok(Parsed::Text(reference_toml())),
        Some(("completions", inner)) => {
            let shell = *inner.get_one::<Shell>("shell").expect("clap requires it");
            Ok(Parsed::Text(manual::completions(shell)))
        }
        Some(("man", inner)) => {
            Ok(Parsed::Manual(inner.get_one::<OsString>("folder").expect("clap requires it").into()))
        }
        _ => {
            let words: Vec<_> = COMMANDS.iter().map(|c| c.words.join(" ")).collect();
            let words = words.join(", ");
            Err(CommandError::user(format!("no command; expected {words} (see `inselberg --help`)")))
        }
    }
}

/// The command that was called, with its own matches.
fn chosen(matches: &ArgMatches) -> Option<(&'static CommandInfo, &ArgMatches)> {
    COMMANDS.iter().find_map(|info| {
        let inner = info.words.iter().try_fold(matches, |m, word| m.subcommand_matches(word))?;
        Some((info, inner))
    })
}
