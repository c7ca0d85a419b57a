//! The whole command line for clap, from the tables of commands and options.

use crate::config::{COMMANDS, CommandInfo, Heading, Opt, OptionKind, options_of, passed_on};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgGroup, Command as Clap, ValueHint, value_parser};
use clap_complete::Shell;
use std::ffi::{OsStr, OsString};

/// The program. Help, completions and manual pages all come from it.
pub fn program() -> Clap {
    let mut synth = Clap::new("synth").about("Make synthetic inputs of any size");
    let mut scaling = Clap::new("scaling").about("Measure how a command scales, and model more ranks");
    let mut program = Clap::new("inselberg")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Clumps, haloes and their hierarchy in AMR density fields (PHEW) and particles; friends-of-friends groups; voids")
        .after_help("`inselberg COMMAND -h` lists the main options of a command, `--help` all of them with details.");
    for info in COMMANDS {
        match info.words {
            ["synth", word] => synth = synth.subcommand(command(word, info)),
            ["scaling", word] => scaling = scaling.subcommand(command(word, info)),
            words => program = program.subcommand(command(words[0], info)),
        }
    }
    let [scaling, synth] = [scaling, synth].map(|group| group.disable_help_subcommand(true));
    program.subcommand(scaling).subcommand(synth).subcommands(about_itself())
}

/// Commands that describe this program to others; they take no option of the tables.
fn about_itself() -> [Clap; 3] {
    let completions = Clap::new("completions")
        .about("Print completions of the command line for a shell")
        .after_help(
            "bash: mkdir -p ~/.local/share/bash-completion/completions && \
             inselberg completions bash > ~/.local/share/bash-completion/completions/inselberg",
        )
        .arg(
            Arg::new("shell")
                .value_name("SHELL")
                .required(true)
                .value_parser(value_parser!(Shell))
                .help("The shell"),
        );
    let man = Clap::new("man").about("Write manual pages, one per command").arg(
        Arg::new("folder")
            .value_name("DIR")
            .required(true)
            .value_parser(value_parser!(OsString))
            .value_hint(ValueHint::DirPath)
            .help("The folder for the pages, made if it is not there, such as share/man/man1"),
    );
    let printed = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    let options = Clap::new("options")
        .hide(true)
        .args(["reference", "markdown", "python"].map(printed))
        .group(ArgGroup::new("printed").args(["reference", "markdown", "python"]).required(true));
    [completions, man, options]
}

fn command(word: &'static str, info: &'static CommandInfo) -> Clap {
    let options = || options_of(info.command).chain(passed_on(info.command));
    let mut grouped: Vec<_> = options().collect();
    grouped.sort_by_key(|opt| opt.heading);
    let clap =
        grouped.into_iter().fold(Clap::new(word).about(info.help), |clap, opt| clap.arg(argument(opt)));
    let clap = clap.disable_help_flag(true).arg(help()).after_long_help(EXIT_CODES);
    match options().any(|opt| !opt.positional && !opt.is_brief()) {
        true => {
            clap.after_help(format!("More options and details: `inselberg {} --help`", info.words.join(" ")))
        }
        false => clap,
    }
}

const EXIT_CODES: &str = "Exit codes: 0, success; 2, a mistake that you can correct, with one line on standard error; 1, a fault of \
                          the program or of the machine.";

fn help() -> Arg {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help);
    help.help("Print help: -h the main options, --help all of them with details")
        .help_heading(Heading::General.title())
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
    let arg = match opt.positional {
        true => arg,
        false => arg.long(opt.name).help_heading(opt.heading.title()).hide_short_help(!opt.is_brief()),
    };
    match opt.kind {
        OptionKind::Flag => arg.action(ArgAction::SetTrue),
        // A negative number must reach the check, whose message names the valid range.
        OptionKind::Real | OptionKind::Quantity | OptionKind::Count | OptionKind::Text(_) => {
            arg.value_name(opt.value_name()).allow_hyphen_values(true)
        }
        OptionKind::Path => arg
            .value_name(opt.value_name())
            .value_parser(value_parser!(OsString))
            .value_hint(ValueHint::AnyPath),
        OptionKind::Paths => arg
            .value_name(opt.value_name())
            .value_parser(value_parser!(OsString))
            .value_hint(ValueHint::AnyPath)
            .num_args(1..),
        OptionKind::Choice(words) => {
            arg.value_name(opt.value_name()).value_parser(AnyText(words)).hide_possible_values(true)
        }
        _ => arg.value_name(opt.value_name()),
    }
}

/// Takes any text, and offers these words for completion. The check of options refuses other words, because
/// its message can also name the file.
#[derive(Clone)]
struct AnyText(&'static [&'static str]);

impl TypedValueParser for AnyText {
    type Value = String;

    fn parse_ref(&self, command: &Clap, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(PossibleValue::new)))
    }
}

/// The message of clap in one line, without its usage.
pub fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let message = text.lines().take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more"));
    let parts: Vec<_> = message.map(str::trim).filter(|l| !l.is_empty()).collect();
    parts.join(" ").trim_start_matches("error: ").replace(" tip: ", "; ")
}

/// Whether clap prints a text instead of running a command.
pub fn is_text(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_makes_a_sound_command_line() {
        program().debug_assert();
    }
}
