//! Turns the command line into a checked job, by the table of options.

use super::fault::CommandError;
use crate::config::{
    COMMANDS, CommandInfo, Job, Opt, OptionKind, RawConfig, check, config_text, options_of, passed_on,
    reference_toml,
};
use clap::{Arg, ArgAction, ArgMatches, Command as Clap, error::ErrorKind, value_parser};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The request of a command line.
pub enum Parsed {
    /// A command with its options.
    Typed(Box<Typed>),
    /// A text to print: help, version, the reference file.
    Text(String),
}

/// A command line as clap understands it.
pub struct Typed {
    info: &'static CommandInfo,
    matches: ArgMatches,
}

impl Typed {
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
    let matches = match program().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(e) if matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            return Ok(Parsed::Text(e.render().to_string()));
        }
        Err(e) => return Err(CommandError::user(one_line(&e))),
    };
    let Some((info, matches)) = chosen(&matches) else {
        if let Some(("options", _)) = matches.subcommand() {
            return Ok(Parsed::Text(reference_toml()));
        }
        let words: Vec<_> = COMMANDS.iter().map(|c| c.words.join(" ")).collect();
        return Err(CommandError::user(format!(
            "no command; expected {} (see `inselberg --help`)",
            words.join(", ")
        )));
    };
    Ok(Parsed::Typed(Box::new(Typed { info, matches: matches.clone() })))
}

/// The command that was called, with its own matches.
fn chosen(matches: &ArgMatches) -> Option<(&'static CommandInfo, &ArgMatches)> {
    COMMANDS.iter().find_map(|info| {
        let inner = info.words.iter().try_fold(matches, |m, word| m.subcommand_matches(word))?;
        Some((info, inner))
    })
}

/// The whole program as clap knows it.
fn program() -> Clap {
    let mut synth = Clap::new("synth").about("Make synthetic inputs of any size");
    let mut scaling = Clap::new("scaling").about("Measure how a command scales, and model more ranks");
    let mut program = Clap::new("inselberg")
        .version(env!("CARGO_PKG_VERSION"))
        .about(env!("CARGO_PKG_DESCRIPTION"))
        .after_help("`inselberg COMMAND --help` lists the options of a command.")
        .disable_help_subcommand(true);
    for info in COMMANDS {
        match info.words {
            ["synth", word] => synth = synth.subcommand(command(word, info)),
            ["scaling", word] => scaling = scaling.subcommand(command(word, info)),
            words => program = program.subcommand(command(words[0], info)),
        }
    }
    let options = Clap::new("options")
        .hide(true)
        .arg(Arg::new("reference").long("reference").required(true).action(ArgAction::SetTrue));
    let [scaling, synth] = [scaling, synth].map(|group| group.disable_help_subcommand(true));
    program.subcommand(scaling).subcommand(synth).subcommand(options)
}

fn command(word: &'static str, info: &'static CommandInfo) -> Clap {
    let own = options_of(info.command).chain(passed_on(info.command));
    own.fold(Clap::new(word).about(info.help), |clap, opt| clap.arg(argument(opt)))
}

fn argument(opt: &'static Opt) -> Arg {
    let default = if opt.default.is_empty() { String::new() } else { format!(" [default: {}]", opt.default) };
    let short = format!("{}{default}", opt.help);
    let long = if opt.doc.is_empty() { short.clone() } else { format!("{short}\n\n{}", opt.doc) };
    let arg = Arg::new(opt.name).help(short).long_help(long);
    let arg = match opt.short {
        Some(short) => arg.short(short),
        None => arg,
    };
    let arg = if opt.positional { arg } else { arg.long(opt.name) };
    match opt.kind {
        OptionKind::Flag => arg.action(ArgAction::SetTrue),
        // A negative number must reach the check, whose message names the valid range.
        OptionKind::Real | OptionKind::Count => arg.value_name(opt.value_name()).allow_hyphen_values(true),
        OptionKind::Path => arg.value_name(opt.value_name()).value_parser(value_parser!(OsString)),
        OptionKind::Paths => {
            arg.value_name(opt.value_name()).value_parser(value_parser!(OsString)).num_args(1..)
        }
        _ => arg.value_name(opt.value_name()),
    }
}

/// The message of clap in one line, without its usage.
fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let message = text.lines().take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more"));
    let parts: Vec<_> = message.map(str::trim).filter(|l| !l.is_empty()).collect();
    parts.join(" ").trim_start_matches("error: ").replace(" tip: ", "; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_makes_a_sound_command_line() {
        program().debug_assert();
    }
}
