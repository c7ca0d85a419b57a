//! The description of an option.

use super::{Command, Heading};

/// The kind of value that an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// None: a switch.
    Flag,
    /// A real number.
    Real,
    /// A real number that may have a unit.
    Quantity,
    /// A count, also written as 2e7.
    Count,
    /// The name of a file or folder.
    Path,
    /// The names of one or several files or folders.
    Paths,
    /// A set of particle types: seven digits, 0 or 1.
    Kinds,
    /// One word of a list.
    Choice(&'static [&'static str]),
    /// A text, shown as this in the help.
    Text(&'static str),
}

/// Options that the short help has without the rest of their headings.
const MAIN: [&str; 2] = ["unbind", "properties"];

/// One option: a row of [`OPTIONS`](super::OPTIONS).
#[derive(Debug, Clone, Copy)]
pub struct Opt {
    /// Its long name in kebab-case; for a positional, its name in lower case.
    pub name: &'static str,
    /// Its key in a configuration file; empty if it has none.
    pub key: &'static str,
    /// Its key in configuration files of SWIFT; may be empty.
    pub alias: &'static str,
    /// The alternative to this option. On the command line, this option overrides the alternative in a file.
    /// May be empty.
    pub instead_of: &'static str,
    /// Its one-letter name.
    pub short: Option<char>,
    /// Whether it is positional.
    pub positional: bool,
    /// Its group in the help.
    pub heading: Heading,
    /// The kind of its value.
    pub kind: OptionKind,
    /// Its default as typed; empty for none.
    pub default: &'static str,
    /// An example for the reference file if there is no default.
    pub example: &'static str,
    /// Its commands. Empty: all of [`COMMANDS`](super::COMMANDS), and its key is at the top of the file.
    pub commands: &'static [Command],
    /// Exceptions to an empty `commands`.
    pub but: &'static [Command],
    /// One line.
    pub help: &'static str,
    /// Details; may be empty.
    pub doc: &'static str,
}

impl Opt {
    /// Whether `command` takes it.
    pub fn belongs_to(&self, command: Command) -> bool {
        let is_shared = self.commands.is_empty() && !self.but.contains(&command);
        is_shared || self.commands.contains(&command)
    }

    /// Whether `key` is its key in a configuration file.
    pub fn has_key(&self, key: &str) -> bool {
        !key.is_empty() && (self.key == key || self.alias == key)
    }

    /// Whether the short help, `-h`, has it too.
    pub fn is_brief(&self) -> bool {
        self.heading.is_brief() || MAIN.contains(&self.name)
    }

    /// The placeholder of its value in the help.
    pub fn value_name(&self) -> String {
        match self.kind {
            OptionKind::Flag => String::new(),
            OptionKind::Real => "NUMBER".into(),
            OptionKind::Quantity => "VALUE".into(),
            OptionKind::Count => "N".into(),
            OptionKind::Path | OptionKind::Paths if self.positional => self.name.to_uppercase(),
            OptionKind::Path | OptionKind::Paths => "PATH".into(),
            OptionKind::Kinds => "0|1,...".into(),
            OptionKind::Choice(words) => words.join("|"),
            OptionKind::Text(shown) => shown.into(),
        }
    }

    /// Its name in messages: `--name` or `NAME`.
    pub fn label(&self) -> String {
        if self.positional { self.name.to_uppercase() } else { format!("--{}", self.name) }
    }
}

/// The row of what a command writes.
pub(super) const OUTPUT: Opt = Opt {
    name: "output",
    key: "output",
    short: Some('o'),
    heading: Heading::Results,
    kind: OptionKind::Path,
    ..ROW
};

/// The row of the catalogue that a command reads.
pub(super) const CATALOGUE: Opt = Opt {
    name: "catalogue",
    key: "input",
    positional: true,
    heading: Heading::Input,
    kind: OptionKind::Path,
    ..ROW
};

/// An empty row.
pub(super) const ROW: Opt = Opt {
    name: "",
    key: "",
    alias: "",
    instead_of: "",
    short: None,
    positional: false,
    heading: Heading::Search,
    kind: OptionKind::Flag,
    default: "",
    example: "",
    commands: &[],
    but: &[],
    help: "",
    doc: "",
};
