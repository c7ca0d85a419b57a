//! The given values, by option; only their types are checked.

use super::{COMMANDS, Command, CommandInfo, ConfigError, OPTIONS, Opt, OptionKind, Origin, options_of};
use inselberg_io::input_file;
use inselberg_io::nearest;
use inselberg_io::params::{ParamValue, Quantity, parse_count};
use inselberg_io::particles::N_KINDS;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value of the kind of its option.
#[derive(Debug, Clone, PartialEq)]
pub enum RawValue {
    /// A switch.
    Flag(bool),
    /// Any real, also NaN or infinite.
    Real(f64),
    /// A count.
    Count(u64),
    /// A word or text.
    Text(String),
    /// A path.
    Path(PathBuf),
    /// Paths.
    Paths(Vec<PathBuf>),
    /// By kind of particles.
    Kinds([bool; N_KINDS]),
}

impl RawValue {
    /// Its words on a command line after the name of its option.
    pub(super) fn typed(&self) -> Vec<String> {
        match self {
            Self::Flag(_) => Vec::new(),
            Self::Real(x) => vec![x.to_string()],
            Self::Count(n) => vec![n.to_string()],
            Self::Text(text) => vec![text.clone()],
            Self::Path(path) => vec![path.to_string_lossy().into_owned()],
            Self::Paths(paths) => paths.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
            Self::Kinds(kinds) => vec![kinds.map(|k| u8::from(k).to_string()).join(",")],
        }
    }
}

/// The number that means "not set" in SWIFT's files.
pub(super) const NONE: f64 = -1.0;

/// The most bytes of a configuration.
const MOST_BYTES: u64 = 4 << 20;

/// The text of the configuration file at `path`.
///
/// # Errors
/// It cannot be read, is a folder, a device or a pipe, or is too long.
pub fn config_text(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: path.into(), source };
    let unfit = |problem| ConfigError::Unfit { path: path.into(), problem };
    let folder = path.is_dir().then_some("a folder");
    if let Some(kind) = folder.or_else(|| input_file::other_kind(path)) {
        return Err(unfit(format!("it is {kind}")));
    }
    let mut text = String::new();
    let file = input_file::open(path).map_err(unreadable)?;
    let n_bytes = file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
    if n_bytes as u64 > MOST_BYTES { Err(unfit("it is too long".into())) } else { Ok(text) }
}

/// The values for one command: those of the file, overridden by the command line.
#[derive(Debug, Clone)]
pub struct RawConfig {
    command: Command,
    values: BTreeMap<&'static str, (RawValue, Origin)>,
    /// For the command that it runs.
    runs: Option<Box<RawConfig>>,
}

impl RawConfig {
    /// No values.
    pub fn new(command: Command) -> Self {
        let runs = CommandInfo::of(command).runs.map(|runs| Box::new(Self::new(runs.command)));
        Self { command, values: BTreeMap::new(), runs }
    }

    /// The values for the command that this command runs.
    pub fn runs(&self) -> Option<&Self> {
        self.runs.as_deref()
    }

    /// The given values of `opts` as words of a command line, in order.
    pub fn typed<'a>(
        &'a self,
        opts: impl Iterator<Item = &'static Opt> + 'a,
    ) -> impl Iterator<Item = (&'static Opt, Vec<String>)> + 'a {
        opts.filter_map(|opt| Some((opt, self.values.get(opt.name)?.0.typed())))
    }

    /// Its command.
    pub fn command(&self) -> Command {
        self.command
    }

    /// Takes `--opt` as typed; `text` is `"true"` for a flag.
    ///
    /// # Errors
    /// `text` is not a value of the option's kind.
    pub fn set_flag(&mut self, opt: &'static Opt, text: &str) -> Result<(), ConfigError> {
        self.set(opt, &[text.into()], Origin::Flag(opt.label()))
    }

    /// Takes an option of one or several paths as typed; these need not be UTF-8.
    ///
    /// # Errors
    /// A path is empty.
    pub fn set_paths(&mut self, opt: &'static Opt, paths: Vec<PathBuf>) -> Result<(), ConfigError> {
        let origin = Origin::Flag(opt.label());
        let value = path_value(opt.kind, paths).ok_or_else(|| no_value(opt, "", &origin))?;
        self.insert(opt, value, origin);
        Ok(())
    }

    /// Takes all values for this command from the TOML file at `path`. Keys for other commands must be known;
    /// their values are ignored.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, or has an unknown key or a value of the wrong type.
    pub fn read_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        self.read_text(path, &config_text(path)?)
    }

    /// As [`RawConfig::read_file`] for a text that came from `path`.
    ///
    /// # Errors
    /// As there.
    pub fn read_text(&mut self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let file = TomlFile { path, text };
        if let Some(runs) = &mut self.runs {
            runs.read_text(path, text)?;
        }
        let top = DeTable::parse(text).map_err(|e| ConfigError::Syntax {
            path: path.into(),
            line: file.line(e.span().map_or(0, |s| s.start)),
            problem: e.message().lines().collect::<Vec<_>>().join(" "),
        })?;
        self.read_table(&file, "", top.get_ref())
    }

    /// The value of the option `name`: as given, else its default, else `None`.
    ///
    /// # Panics
    /// If the command has no such option.
    pub fn get(&self, name: &str) -> Option<(RawValue, Origin)> {
        let opt = self.option(name);
        self.values.get(opt.name).cloned().or_else(|| default_of(opt))
    }

    /// Whether this command has an option called `name`.
    pub fn has_option(&self, name: &str) -> bool {
        options_of(self.command).any(|o| o.name == name)
    }

    /// The row of this command's option called `name`.
    ///
    /// # Panics
    /// If there is none.
    pub fn option(&self, name: &str) -> &'static Opt {
        options_of(self.command)
            .find(|o| o.name == name)
            .unwrap_or_else(|| panic!("no option {name} of {:?}", self.command))
    }

    fn read_table(
        &mut self,
        file: &TomlFile<'_>,
        table: &str,
        content: &DeTable<'_>,
    ) -> Result<(), ConfigError> {
        let is_other = COMMANDS.iter().any(|c| c.table == table && c.command != self.command);
        for (key, value) in content {
            let name: &str = key.get_ref();
            let inner = if table.is_empty() { name.to_string() } else { format!("{table}.{name}") };
            if let (true, DeValue::Table(content)) = (is_table(&inner), value.get_ref()) {
                self.read_table(file, &inner, content)?;
                continue;
            }
            let Some(opt) = keys_in(table).find(|o| o.has_key(name)) else {
                return Err(file.unknown_key(table, key));
            };
            let origin = Origin::File(file.path.into(), file.line(value.span().start));
            let texts = texts_of(opt, value.get_ref(), &origin)?;
            let both = [opt.key, opt.alias].iter().all(|key| content.contains_key(*key));
            if both && !opt.alias.is_empty() {
                let expected = format!("one of `{}` and `{}`, which are the same", opt.key, opt.alias);
                return Err(refused(opt, texts.join(", "), origin, expected));
            }
            if is_other || !opt.belongs_to(self.command) {
                parse(opt, &texts, &origin)?;
            } else {
                self.set(opt, &texts, origin)?;
            }
        }
        Ok(())
    }

    fn set(&mut self, opt: &'static Opt, texts: &[String], origin: Origin) -> Result<(), ConfigError> {
        let value = parse(opt, texts, &origin)?;
        self.insert(opt, value, origin);
        Ok(())
    }

    fn insert(&mut self, opt: &'static Opt, value: RawValue, origin: Origin) {
        if let Some(runs) = self.runs.as_mut().filter(|_| !opt.belongs_to(self.command)) {
            return runs.insert(opt, value, origin);
        }
        let is_said = value != RawValue::Real(NONE);
        if is_said && matches!(origin, Origin::Flag(_)) {
            self.values.retain(|name, (_, by)| *name != opt.instead_of || matches!(by, Origin::Flag(_)));
        }
        self.values.insert(opt.name, (value, origin));
    }
}

struct TomlFile<'a> {
    path: &'a Path,
    text: &'a str,
}

impl TomlFile<'_> {
    fn line(&self, offset: usize) -> usize {
        let upto = &self.text.as_bytes()[..offset.min(self.text.len())];
        1 + upto.iter().filter(|&&b| b == b'\n').count()
    }

    fn unknown_key(&self, table: &str, key: &Spanned<std::borrow::Cow<'_, str>>) -> ConfigError {
        let name: &str = key.get_ref();
        let near = nearest(name, keys_in(table).map(|o| o.key).chain(tables_in(table)));
        let mut places = std::iter::once("").chain(COMMANDS.iter().map(|c| c.table));
        let elsewhere = places.find(|t| keys_in(t).any(|o| o.has_key(name)));
        let hint = match (elsewhere, near) {
            (Some(""), _) => "; it belongs at the top of the file, before any [table]".into(),
            (Some(place), _) => format!("; it belongs in [{place}]"),
            (None, Some(near)) => format!("; did you mean `{near}`?"),
            (None, None) => "; configs/reference.toml lists every key".into(),
        };
        let place = if table.is_empty() { String::new() } else { format!(" in [{table}]") };
        let line = self.line(key.span().start);
        ConfigError::UnknownKey { path: self.path.into(), line, key: name.into(), place, hint }
    }
}

/// The options whose keys stand in `table`; the shared ones for the top, named by "".
fn keys_in(table: &str) -> impl Iterator<Item = &'static Opt> {
    let command = COMMANDS.iter().find(|c| c.table == table).map(|c| c.command);
    let top = table.is_empty();
    OPTIONS.iter().filter(move |o| match command {
        Some(command) => o.commands.contains(&command),
        None => top && o.commands.is_empty() && !o.key.is_empty(),
    })
}

fn tables_in(table: &str) -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().filter_map(move |c| match c.table.split_once('.') {
        Some((group, inner)) if group == table => Some(inner),
        Some((group, _)) if table.is_empty() => Some(group),
        None if table.is_empty() => Some(c.table),
        _ => None,
    })
}

fn is_table(name: &str) -> bool {
    COMMANDS.iter().any(|c| c.table == name || c.table.split_once('.').is_some_and(|(g, _)| g == name))
}

fn default_of(opt: &'static Opt) -> Option<(RawValue, Origin)> {
    let origin = Origin::Default(opt.name);
    let text = if opt.kind == OptionKind::Flag { "false" } else { opt.default };
    if text.is_empty() {
        return None;
    }
    let value = parse(opt, &[text.into()], &origin).expect("the default of an option is a value of it");
    Some((value, origin))
}

/// A TOML value as words of a command line, if its type suits the option.
fn texts_of(opt: &'static Opt, value: &DeValue<'_>, origin: &Origin) -> Result<Vec<String>, ConfigError> {
    match (value, opt.kind) {
        (DeValue::Array(values), OptionKind::Paths) => {
            values.iter().map(|v| scalar_text(opt, v.get_ref(), origin)).collect()
        }
        (DeValue::Array(values), OptionKind::Kinds) => {
            let words = values.iter().map(|v| scalar_text(opt, v.get_ref(), origin));
            Ok(vec![words.collect::<Result<Vec<_>, _>>()?.join(",")])
        }
        _ => Ok(vec![scalar_text(opt, value, origin)?]),
    }
}

fn scalar_text(opt: &'static Opt, value: &DeValue<'_>, origin: &Origin) -> Result<String, ConfigError> {
    let text = match (value, opt.kind) {
        (
            DeValue::String(s),
            OptionKind::Path
            | OptionKind::Paths
            | OptionKind::Kinds
            | OptionKind::Choice(_)
            | OptionKind::Quantity
            | OptionKind::Text(_),
        ) => {
            return Ok(s.to_string());
        }
        (DeValue::Boolean(b), OptionKind::Flag) => return Ok(b.to_string()),
        (
            DeValue::Integer(i),
            OptionKind::Real
            | OptionKind::Quantity
            | OptionKind::Count
            | OptionKind::Kinds
            | OptionKind::Text(_),
        ) if i.radix() == 10 => {
            return Ok(i.as_str().into());
        }
        (DeValue::Float(x), OptionKind::Real | OptionKind::Quantity | OptionKind::Count) => {
            return Ok(x.as_str().into());
        }
        (DeValue::String(s), _) => format!("\"{s}\""),
        (DeValue::Integer(i), _) => i.as_str().to_string(),
        (DeValue::Float(x), _) => x.as_str().to_string(),
        (DeValue::Boolean(b), _) => b.to_string(),
        (DeValue::Datetime(d), _) => d.to_string(),
        (DeValue::Array(_), _) => "[...]".into(),
        (DeValue::Table(_), _) => "a table".into(),
    };
    Err(no_value(opt, &text, origin))
}

fn parse(opt: &'static Opt, texts: &[String], origin: &Origin) -> Result<RawValue, ConfigError> {
    let value = match (opt.kind, texts) {
        (OptionKind::Path | OptionKind::Paths, texts) => {
            path_value(opt.kind, texts.iter().map(PathBuf::from).collect())
        }
        (_, [text]) => parse_one(opt.kind, text),
        _ => None,
    };
    value.ok_or_else(|| no_value(opt, &texts.join(" "), origin))
}

/// Paths as an option of this kind takes them.
fn path_value(kind: OptionKind, mut paths: Vec<PathBuf>) -> Option<RawValue> {
    if paths.iter().any(|path| path.as_os_str().is_empty()) {
        return None;
    }
    match (kind, paths.len()) {
        (OptionKind::Paths, 1..) => Some(RawValue::Paths(paths)),
        (OptionKind::Path, 1) => paths.pop().map(RawValue::Path),
        _ => None,
    }
}

fn parse_one(kind: OptionKind, text: &str) -> Option<RawValue> {
    match kind {
        OptionKind::Flag => text.parse().ok().map(RawValue::Flag),
        OptionKind::Real => text.parse().ok().map(RawValue::Real),
        OptionKind::Quantity => match text.parse() {
            Ok(number) => Some(RawValue::Real(number)),
            Err(_) => text.parse::<Quantity>().is_ok().then(|| RawValue::Text(text.into())),
        },
        OptionKind::Count => parse_count(text).map(RawValue::Count),
        OptionKind::Kinds => parse_kinds(text).map(RawValue::Kinds),
        OptionKind::Choice(words) => words.contains(&text).then(|| RawValue::Text(text.into())),
        OptionKind::Text(_) => (!text.is_empty()).then(|| RawValue::Text(text.into())),
        OptionKind::Path | OptionKind::Paths => path_value(kind, vec![text.into()]),
    }
}

fn parse_kinds(text: &str) -> Option<[bool; N_KINDS]> {
    let types = Vec::<u8>::from_text(text)?;
    Some(std::array::from_fn(|kind| types.contains(&(kind as u8))))
}

fn no_value(opt: &'static Opt, text: &str, origin: &Origin) -> ConfigError {
    let expected = match opt.kind {
        OptionKind::Flag => "true or false".into(),
        OptionKind::Real => "a number".into(),
        OptionKind::Quantity => "a number, or one with a unit as in 200crit, 1e-25g/cm3 or 30kpc".into(),
        OptionKind::Count => "a whole number, 0 or more".into(),
        OptionKind::Path => "a path".into(),
        OptionKind::Paths => "one or several paths".into(),
        OptionKind::Kinds => format!("{N_KINDS} times 0 or 1, as in 0,1,0,0,0,0,0"),
        OptionKind::Choice(words) => words.join(" or "),
        OptionKind::Text(shown) => shown.into(),
    };
    refused(opt, text.into(), origin.clone(), expected)
}

fn refused(opt: &'static Opt, value: String, origin: Origin, expected: String) -> ConfigError {
    ConfigError::Value { origin, option: opt.name, value, expected }
}
