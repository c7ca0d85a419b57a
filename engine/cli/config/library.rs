//! Options for the parameters of the library: their rows, and the parameters from given values.

use super::Command::{Atlas, Compare, Fof, Info, Phew, Recut, Tree, Voids};
use super::opt::{Opt, OptionKind, ROW};
use super::raw::NONE;
use super::values::CheckedValues;
use super::{Command, ConfigError, Heading, RawValue};
use inselberg::{
    AtlasParams, CompareParams, FieldDefaults, FofParams, InputDefaults, LinkingTypes, NewThresholds,
    NewVoidThresholds, ParamError, ParamKind, Parameter, Params, ParticleGraphParams, ParticleMeshParams,
    PhewParams, TimeLimits, Topic, TreeParams, VoidParams,
};

/// The sets of parameters: a name, the commands that take them, and their defaults.
fn sets() -> Vec<(&'static str, &'static [Command], Box<dyn Params>)> {
    vec![
        ("fof", &[Fof], Box::<FofParams>::default()),
        ("fof.types", &[Fof], Box::<LinkingTypes>::default()),
        ("phew", &[Phew], Box::<PhewParams>::default()),
        ("mesh", &[Phew], Box::<ParticleMeshParams>::default()),
        ("graph", &[Phew], Box::<ParticleGraphParams>::default()),
        ("recut", &[Recut], Box::<NewThresholds>::default()),
        ("recut.voids", &[Recut], Box::<NewVoidThresholds>::default()),
        ("voids", &[Voids], Box::<VoidParams>::default()),
        ("voids.graph", &[Voids], Box::new(ParticleGraphParams::for_voids())),
        ("tree", &[Tree], Box::<TreeParams>::default()),
        ("compare", &[Compare], Box::<CompareParams>::default()),
        ("atlas", &[Atlas], Box::<AtlasParams>::default()),
        ("engine", &[Phew, Fof, Tree, Voids, Compare, Atlas], Box::<TimeLimits>::default()),
        ("cells", &[Phew], Box::<FieldDefaults>::default()),
        ("particles", &[Fof, Phew, Voids], Box::<InputDefaults>::default()),
    ]
}

/// The sets in the order of the documentation, each with its title.
pub(super) const SUBJECTS: [(&str, &str); 15] = [
    ("phew", "Clumps and haloes: phew"),
    ("mesh", "The mesh that particles make"),
    ("graph", "The graph of particles"),
    ("recut", "New thresholds of clumps: recut"),
    ("atlas", "What thresholds do: atlas"),
    ("fof", "Groups of particles: fof"),
    ("fof.types", "Particle types of fof"),
    ("voids", "Voids: voids"),
    ("voids.graph", "The graph of particles of voids"),
    ("recut.voids", "New thresholds of voids: recut"),
    ("tree", "Merger trees: tree"),
    ("compare", "Two catalogues beside each other: compare"),
    ("engine", "How long ranks wait for each other"),
    ("cells", "What an input of cells leaves open"),
    ("particles", "What an input of particles leaves open"),
];

/// The parameters of a set. Their defaults are those that hold there.
pub(super) fn parameters_of(subject: &str) -> Vec<Parameter> {
    let set = sets().into_iter().find(|(name, ..)| *name == subject).expect("a set with this name").2;
    let with_default = |about: Parameter| match set.get(about.key) {
        Some(default) => Parameter { default: default.leak(), ..about },
        None => about,
    };
    set.parameters().into_iter().map(with_default).collect()
}

/// Parameters that `info` takes as well: without them it cannot describe an input.
const OF_INFO: [&str; 3] = ["hydro_names", "stokes", "image"];

/// The options of these sets. A parameter of several sets of a command is one option.
pub(super) fn library_options() -> Vec<Opt> {
    let sets = sets();
    let known: Vec<Parameter> = sets.iter().flat_map(|(.., set)| set.parameters()).collect();
    let mut all: Vec<Opt> = Vec::new();
    for (_, commands, set) in &sets {
        for about in set.parameters() {
            let is_known = |command: &&Command| {
                all.iter().any(|opt| opt.name == name_of(&about) && opt.commands.contains(*command))
            };
            let of_info = [Info].into_iter().filter(|_| OF_INFO.contains(&about.key));
            let commands: Vec<Command> =
                commands.iter().filter(|command| !is_known(command)).copied().chain(of_info).collect();
            if !commands.is_empty() {
                all.push(option_of(&about, set.get(about.key), commands, &known));
            }
        }
    }
    all
}

/// Whether a parameter is on by default, so that its option switches it off.
fn is_switched_off(about: &Parameter) -> bool {
    about.kind == ParamKind::Flag && about.default == "true"
}

/// The name of the option of a parameter.
fn name_of(about: &Parameter) -> &'static str {
    let off = if is_switched_off(about) { "no-" } else { "" };
    format!("{off}{}", about.key.replace('_', "-")).leak()
}

/// Whether -1 means that it is not set, as in SWIFT's files.
fn is_swift_alternative(about: &Parameter) -> bool {
    !about.alias.is_empty() && !about.instead_of.is_empty() && about.default.is_empty()
}

fn option_of(about: &Parameter, default: Option<String>, commands: Vec<Command>, known: &[Parameter]) -> Opt {
    let name = name_of(about);
    let default = match about.kind {
        ParamKind::Flag => "",
        _ => default.map_or(about.default, |default| default.leak()),
    };
    Opt {
        name,
        key: name.replace('-', "_").leak(),
        alias: about.alias,
        instead_of: about.instead_of.replace('_', "-").leak(),
        heading: heading_of(about.topic),
        kind: match about.kind {
            ParamKind::Flag => OptionKind::Flag,
            ParamKind::Real if about.measure.is_some() => OptionKind::Quantity,
            ParamKind::Real => OptionKind::Real,
            ParamKind::Count => OptionKind::Count,
            ParamKind::Types => OptionKind::Kinds,
            ParamKind::Choice(words) => OptionKind::Choice(words),
            ParamKind::Text(shown) => OptionKind::Text(shown),
            ParamKind::Path => OptionKind::Path,
        },
        default,
        example: about.example,
        commands: commands.leak(),
        help: help_of(about, known).leak(),
        doc: with_names(&about.details(), known).leak(),
        ..ROW
    }
}

/// Its help; an option that switches it off says "Do not" in front.
fn help_of(about: &Parameter, known: &[Parameter]) -> String {
    let help = with_names(&about.help(), known);
    match help.split_at_checked(1) {
        Some((first, rest)) if is_switched_off(about) => format!("Do not {}{rest}", first.to_lowercase()),
        _ => help,
    }
}

fn heading_of(topic: Topic) -> Heading {
    match topic {
        Topic::Input => Heading::Input,
        Topic::Search => Heading::Search,
        Topic::Properties => Heading::Properties,
        Topic::Particles => Heading::Particles,
        Topic::Cells => Heading::Cells,
        Topic::Results => Heading::Results,
        Topic::Launch => Heading::Launch,
    }
}

/// A text with `--name` for each key of a parameter in backticks.
fn with_names(text: &str, known: &[Parameter]) -> String {
    let mut parts = Vec::new();
    for (i, part) in text.split('`').enumerate() {
        match known.iter().find(|about| about.key == part) {
            Some(about) if i % 2 == 1 => parts.push(format!("--{}", name_of(about))),
            _ if i % 2 == 1 => parts.push(format!("`{part}`")),
            _ => parts.push(part.into()),
        }
    }
    parts.concat()
}

/// The names of the options of a set of parameters that another set does not have.
pub(super) fn only_in(of: &dyn Params, other: &dyn Params) -> Vec<&'static str> {
    let others = other.parameters();
    let own = of.parameters().into_iter().filter(|about| others.iter().all(|other| other.key != about.key));
    own.map(|about| name_of(&about)).collect()
}

impl CheckedValues<'_> {
    /// Parameters with their given values.
    pub(super) fn params<P: Params + Default>(&self) -> Result<P, ConfigError> {
        self.filled(P::default())
    }

    /// Sets the given values of these parameters.
    pub(super) fn filled<P: Params>(&self, mut params: P) -> Result<P, ConfigError> {
        for about in params.parameters() {
            let name = name_of(&about);
            if !self.raw.has_option(name) || !self.is_written(name) {
                continue;
            }
            let value = match self.raw.get(name) {
                Some((RawValue::Real(NONE), _)) if is_swift_alternative(&about) => continue,
                Some((RawValue::Flag(is_on), _)) => (is_on != is_switched_off(&about)).to_string(),
                _ => self.shown(name),
            };
            let other = about.instead_of.replace('_', "-");
            if !other.is_empty() && about.default.is_empty() && self.is_written(&other) {
                return Err(self.conflict(name, &other));
            }
            params.set(about.key, &value).map_err(|error| self.refused(&error))?;
        }
        Ok(params)
    }

    /// An error of parameters as one of options.
    pub(super) fn refused(&self, error: &ParamError) -> ConfigError {
        let ParamError::Value { key, value, expected } = error else {
            unreachable!("every parameter of a command is known")
        };
        let known: Vec<Parameter> = sets().iter().flat_map(|(.., set)| set.parameters()).collect();
        let about = known.iter().find(|about| about.key == *key).expect("errors name keys");
        self.unfit(name_of(about), value, &with_names(expected, &known))
    }
}
