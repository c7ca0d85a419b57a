//! `inselberg view`: its options and their checks.

use super::Command::View;
use super::ConfigError;
use super::Heading::Input;
use super::opt::{CATALOGUE, Opt, OptionKind, ROW};
use super::report_options::{MapChoices, map_choices, map_option};
use super::values::CheckedValues;
use inselberg_io::catalogue::merger_tree::TrackName;
use std::path::PathBuf;

/// The options of `view`.
pub(super) const VIEW: &[Opt] = &[
    Opt {
        example: "clumps.hdf5",
        commands: &[View],
        help: "A catalogue from `inselberg phew`, `recut`, `fof`, `voids` or `tree`, or a dendrogram",
        ..CATALOGUE
    },
    Opt {
        name: "clump",
        key: "clump",
        heading: Input,
        kind: OptionKind::Count,
        example: "17",
        commands: &[View],
        help: "The clump with this identifier, and the clumps in it",
        ..ROW
    },
    Opt {
        name: "halo",
        key: "halo",
        heading: Input,
        kind: OptionKind::Count,
        example: "3",
        commands: &[View],
        help: "The halo with this identifier, and the clumps in it",
        ..ROW
    },
    Opt {
        name: "track",
        key: "track",
        heading: Input,
        kind: OptionKind::Text("OUTPUT:OBJECT"),
        example: "1:509",
        commands: &[View],
        help: "The track of a merger tree with this birth: its history and its mergers",
        doc: "The whole number of the column `track` is taken as well. `view` and `info` on a merger tree list \
              the heaviest tracks.",
        ..ROW
    },
    Opt {
        name: "group",
        key: "group",
        heading: Input,
        kind: OptionKind::Count,
        example: "1",
        commands: &[View],
        help: "The group with this identifier",
        ..ROW
    },
    Opt {
        name: "void",
        key: "void",
        heading: Input,
        kind: OptionKind::Count,
        example: "1",
        commands: &[View],
        help: "The void with this identifier, and its zones",
        ..ROW
    },
    Opt {
        name: "structure",
        key: "structure",
        heading: Input,
        kind: OptionKind::Count,
        example: "0",
        commands: &[View],
        help: "The structure of a dendrogram with this number, from 0",
        doc: "Of a file from `convert --to dendrogram` or `phew --dendrogram`.",
        ..ROW
    },
];

/// A kind of object with its own table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewedKind {
    /// A clump.
    Clump,
    /// A halo.
    Halo,
    /// A friends-of-friends group.
    Group,
    /// A void.
    Void,
    /// A structure of a dendrogram.
    Structure,
    /// A track of a merger tree.
    Track,
    /// All tracks of a merger tree, where no object is chosen.
    Tracks,
}

/// `inselberg view`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewJob {
    /// The catalogue.
    pub input: PathBuf,
    /// The kind of the object.
    pub kind: ViewedKind,
    /// Its identifier.
    pub id: u64,
    /// The picture.
    pub plot: Option<PathBuf>,
    /// Its maps.
    pub maps: MapChoices,
}

/// The error of a command without an object.
pub fn no_object() -> ConfigError {
    let how = "--clump, --halo, --group, --void, --structure or --track with an identifier".to_string();
    ConfigError::Missing { command: "view".into(), what: "an object".into(), how }
}

pub(super) fn view(raw: &CheckedValues<'_>) -> Result<ViewJob, ConfigError> {
    const KINDS: [(&str, ViewedKind); 5] = [
        ("clump", ViewedKind::Clump),
        ("halo", ViewedKind::Halo),
        ("group", ViewedKind::Group),
        ("void", ViewedKind::Void),
        ("structure", ViewedKind::Structure),
    ];
    let input = raw.needed_path("catalogue")?;
    let mut chosen = Vec::new();
    for (name, kind) in KINDS {
        if let Some(id) = raw.count(name, |_| true, "an identifier")? {
            chosen.push((name, kind, id));
        }
    }
    if let Some(text) = raw.text("track") {
        let name: Result<TrackName, _> = text.parse();
        let expected = "a track such as 1:509, as `view` lists them, or its whole number";
        let TrackName(id) = name.map_err(|_| raw.unfit("track", &text, expected))?;
        chosen.push(("track", ViewedKind::Track, id));
    }
    let (kind, id) = match chosen[..] {
        [(_, kind, id)] => (kind, id),
        [] if raw.is_flag("plot") => return Err(no_object()),
        [] => (ViewedKind::Tracks, 0),
        [(other, ..), (name, ..), ..] => return Err(raw.conflict(name, other)),
    };
    let plot = raw.plot()?;
    match map_option(raw) {
        Some(name) if [ViewedKind::Track, ViewedKind::Tracks].contains(&kind) => {
            Err(raw.unfit(name, &raw.shown(name), "it without --track"))
        }
        Some(_) | None if plot.is_some() && kind == ViewedKind::Structure => {
            Err(raw.unfit("plot", &raw.shown("plot"), "it without --structure"))
        }
        Some(name) if plot.is_none() => Err(raw.unfit(name, &raw.shown(name), "--plot as well")),
        _ => Ok(ViewJob { input, kind, id, plot, maps: map_choices(raw)? }),
    }
}
