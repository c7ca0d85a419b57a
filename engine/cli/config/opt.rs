//! What there is to say of an option.

use super::Command;

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// Nothing: there or not.
    Flag,
    /// A real number.
    Real,
    /// A count, also written as 2e7.
    Count,
    /// The name of a file or folder.
    Path,
    /// The names of one or several files or folders.
    Paths,
    /// Which of the kinds of particles: seven times 0 or 1.
    Kinds,
    /// One word of a list.
    Choice(&'static [&'static str]),
    /// A text, shown as this in the help.
    Text(&'static str),
}

/// One option: a row of [`OPTIONS`](super::OPTIONS).
#[derive(Debug, Clone, Copy)]
pub struct Opt {
    /// Its long name in kebab-case; for a positional, its name in lower case.
    pub name: &'static str,
    /// Its key in a configuration file; empty if it cannot be there.
    pub key: &'static str,
    /// What another program calls it: also a key; may be empty.
    pub alias: &'static str,
    /// The option that says the same in another way; as a flag, this one replaces what a file says there. May be empty.
    pub instead_of: &'static str,
    /// Its one-letter name.
    pub short: Option<char>,
    /// Whether it is given by place rather than by name.
    pub positional: bool,
    /// What it takes.
    pub kind: OptionKind,
    /// Its value if it is not given, as it would be typed; empty for none.
    pub default: &'static str,
    /// A value for the reference file where there is no default.
    pub example: &'static str,
    /// Where it belongs; all of [`COMMANDS`](super::COMMANDS) if empty, and then its key is at the top of the file.
    pub commands: &'static [Command],
    /// Commands that do not take it although all others do.
    pub but: &'static [Command],
    /// One line.
    pub help: &'static str,
    /// The rest of what there is to say; may be empty.
    pub doc: &'static str,
}

impl Opt {
    /// Whether `command` takes it.
    pub fn belongs_to(&self, command: Command) -> bool {
        let is_shared = self.commands.is_empty() && !self.but.contains(&command);
        is_shared || self.commands.contains(&command)
    }

    /// Whether a configuration file calls it so.
    pub fn has_key(&self, key: &str) -> bool {
        !key.is_empty() && (self.key == key || self.alias == key)
    }

    /// What stands for its value in the help.
    pub fn value_name(&self) -> String {
        match self.kind {
            OptionKind::Flag => String::new(),
            OptionKind::Real => "NUMBER".into(),
            OptionKind::Count => "N".into(),
            OptionKind::Path | OptionKind::Paths if self.positional => self.name.to_uppercase(),
            OptionKind::Path | OptionKind::Paths => "PATH".into(),
            OptionKind::Kinds => "0|1,...".into(),
            OptionKind::Choice(words) => words.join("|"),
            OptionKind::Text(shown) => shown.into(),
        }
    }

    /// How a person refers to it: `--name` or `NAME`.
    pub fn label(&self) -> String {
        if self.positional { self.name.to_uppercase() } else { format!("--{}", self.name) }
    }
}

/// A row in which nothing is said yet.
pub(super) const ROW: Opt = Opt {
    name: "",
    key: "",
    alias: "",
    instead_of: "",
    short: None,
    positional: false,
    kind: OptionKind::Flag,
    default: "",
    example: "",
    commands: &[],
    but: &[],
    help: "",
    doc: "",
};
