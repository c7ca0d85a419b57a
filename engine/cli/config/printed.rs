//! Printed forms of the library's parameters: the table of the documentation, and the types of Python.

use super::library::{SUBJECTS, parameters_of};
use inselberg::{ParamKind, Parameter};
use std::fmt::Write;

/// The text of `docs/parameters.md`.
pub fn parameters_markdown() -> String {
    let mut text = String::from(
        "# Parameters\n\n\
         Each parameter has one name, one default and one range behind every door. The library declares it once, and this page is\n\
         printed from there: `inselberg options --markdown > docs/parameters.md`.\n\n\
         | door | `min_size` of friends-of-friends |\n|---|---|\n\
         | command line | `inselberg fof --min-size 32` |\n\
         | configuration file | `min_size = 32` in the table `[fof]` |\n\
         | Python | `inselberg.fof(particles, min_size=32)` |\n\
         | C | `inselberg_set(engine, \"min_size\", \"32\")` |\n\
         | Fortran | `call inselberg_set(engine, \"min_size\", 32, code)` |\n\
         | Rust | `FofParams::default().min_size(32)` |\n\n\
         A switch that is on by default is `--no-NAME` on the command line. `inselberg COMMAND --help` and\n\
         [configs/reference.toml](../configs/reference.toml) have the options of the program as well, such as files to write.\n\n\
         \"Units\" beside a value: it may have one, as in `200crit` ([values with units](using.md#values-with-units)).\n",
    );
    for (subject, title) in SUBJECTS {
        let _ = write!(text, "\n## {title}\n\n| key | value | default | meaning |\n|---|---|---|---|\n");
        for about in parameters_of(subject) {
            let default = if about.default.is_empty() { "" } else { &format!("`{}`", about.default) };
            let (kind, help) = (kind_of(&about), about.help().replace('|', "\\|"));
            let _ = writeln!(text, "| `{}` | {kind} | {default} | {help} |", about.key);
        }
    }
    text
}

fn kind_of(about: &Parameter) -> String {
    match about.kind {
        ParamKind::Flag => "true or false".into(),
        ParamKind::Types => "seven times 0 or 1".into(),
        ParamKind::Choice(words) => words.join(", "),
        ParamKind::Real | ParamKind::Count | ParamKind::Text(_) | ParamKind::Path => {
            let unit = if about.measure.is_some() { ". Units" } else { "" };
            format!("{}{unit}", about.expected.replace('|', "\\|"))
        }
    }
}

/// The text of `python/inselberg/_parameters.py`.
pub fn parameters_python() -> String {
    let mut text = String::from(
        "\"\"\"Keywords of the functions, as the library declares them.\n\n\
         Printed by ``inselberg options --python``: do not edit.\n\"\"\"\n\n\
         from __future__ import annotations\n\n\
         import os\n\
         from typing import Literal, Mapping, Optional, Sequence, TypedDict, Union\n",
    );
    for (subject, title) in SUBJECTS {
        let name: String = subject.split('.').map(capitalised).collect();
        let _ = write!(text, "\n\nclass {name}Options(TypedDict, total=False):\n    \"\"\"{title}.\"\"\"\n");
        for about in parameters_of(subject) {
            let _ = write!(text, "\n    #: {}.\n    {}: {}\n", about.help(), about.key, type_of(&about));
        }
    }
    text
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn type_of(about: &Parameter) -> String {
    match about.kind {
        ParamKind::Flag => "bool".into(),
        ParamKind::Real if about.measure.is_some() => "Union[None, float, str]".into(),
        ParamKind::Real => "Optional[float]".into(),
        ParamKind::Count => "Optional[int]".into(),
        ParamKind::Types => "Sequence[int]".into(),
        ParamKind::Choice(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("Literal[{}]", words.join(", "))
        }
        ParamKind::Text(_) if about.key == "softening" => {
            "Union[None, float, str, Mapping[str, float]]".into()
        }
        ParamKind::Text(_) => "Union[None, str, Sequence[str], Sequence[float]]".into(),
        ParamKind::Path => "Union[None, str, os.PathLike[str]]".into(),
    }
}
