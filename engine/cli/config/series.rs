//! Many snapshots in one command: the results of each, and the options that decide them.

use super::values::CheckedValues;
use super::{Command, ConfigError, Opt, OptionKind, RawValue, options_of};
use inselberg_io::base_of;
use inselberg_io::particles::file_of;
use std::path::{Path, PathBuf};

/// In the name of a result: the number of the snapshot.
const NUMBER: &str = "{number}";

/// Options that never change a catalogue. All others are part of [`Series::options`].
const OF_THE_RUN: [&str; 23] = [
    "dry-run",
    "log",
    "verbose",
    "tracks-from",
    "output",
    "basename",
    "group-ids",
    "ramses-text",
    "soap",
    "yt",
    "vtk",
    "plot",
    "report",
    "ranks",
    "pin",
    "stall-timeout",
    "recover-timeout",
    "balance",
    "diagnostics",
    "count-work",
    "trace",
    "task-graph",
    "force",
];

/// The snapshots of a command, each with its own results.
#[derive(Debug, Clone, PartialEq)]
pub struct Series<J> {
    /// One job per snapshot, in the order of the inputs.
    pub jobs: Vec<J>,
    /// Whether complete results are kept and failures are listed at the end: with several snapshots, or with
    /// `{number}`.
    pub is_resumable: bool,
    /// Whether nothing is computed, and the command only prints what would be.
    pub dry_run: bool,
    /// The file of the log.
    pub log: Option<PathBuf>,
    /// The options that decide a catalogue, with defaults, as one line.
    pub options: String,
}

/// A job of one snapshot, whose inputs and results can be set.
pub(super) trait SnapshotPaths: Clone {
    /// Sets the files of the snapshot.
    fn set_inputs(&mut self, inputs: Vec<PathBuf>);

    /// The results, each with the name of its option.
    fn results(&mut self) -> Vec<(&'static str, &mut PathBuf)>;
}

/// The series of `inputs`, each the files of one snapshot, from the job of any one of them.
pub(super) fn series<J: SnapshotPaths>(
    raw: &CheckedValues<'_>,
    mut job: J,
    inputs: Vec<Vec<PathBuf>>,
) -> Result<Series<J>, ConfigError> {
    let is_numbered = job.results().iter().any(|(_, path)| has_number(path));
    let is_resumable = is_numbered || inputs.len() > 1;
    if inputs.len() > 1 {
        let plain = job.results().into_iter().find(|(_, path)| !has_number(path));
        if let Some((option, path)) = plain {
            let is_base = option == "output" && raw.path(option).is_none();
            let option = if is_base { "basename" } else { option };
            let expected =
                format!("a name with {NUMBER}, so that each of the {} snapshots has its own", inputs.len());
            return Err(raw.unfit(option, &path.display().to_string(), &expected));
        }
    }
    let numbers = match is_numbered {
        true => inputs.iter().map(|files| number(raw, files)).collect::<Result<Vec<_>, _>>()?,
        false => vec![String::new(); inputs.len()],
    };
    if is_numbered {
        check_distinct(raw, &inputs, &numbers)?;
    }
    let of_snapshot = |(files, number): (Vec<PathBuf>, String)| {
        let mut own = job.clone();
        own.set_inputs(files);
        for (_, path) in own.results() {
            *path = filled(path, &number);
        }
        own
    };
    let jobs = inputs.into_iter().zip(numbers).map(of_snapshot).collect();
    let (dry_run, log) = (raw.switch("dry-run"), raw.path("log"));
    Ok(Series { jobs, is_resumable, dry_run, log, options: options(raw) })
}

/// The files of each snapshot: files whose names differ only in the number of the part belong together.
pub(super) fn grouped(inputs: Vec<PathBuf>) -> Vec<Vec<PathBuf>> {
    let key = |path: &Path| {
        let file = file_of(path);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let (base, ending) = base_of(&name);
        (file.parent().map(Path::to_path_buf), base.to_string(), ending.to_string())
    };
    let mut groups: Vec<Vec<PathBuf>> = Vec::new();
    for path in inputs {
        match groups.iter_mut().find(|group| key(&group[0]) == key(&path)) {
            Some(group) => group.push(path),
            None => groups.push(vec![path]),
        }
    }
    // A shell sorts snap.10.hdf5 before snap.2.hdf5.
    groups.iter_mut().for_each(|group| group.sort_by_key(|path| (path.as_os_str().len(), path.clone())));
    groups
}

/// Whether a name of a result has the place of a number.
pub(super) fn has_number(path: &Path) -> bool {
    path.to_string_lossy().contains(NUMBER)
}

fn filled(path: &Path, number: &str) -> PathBuf {
    match has_number(path) {
        true => path.to_string_lossy().replace(NUMBER, number).into(),
        false => path.to_path_buf(),
    }
}

/// The number of a snapshot, as written in its name: 00080 of `output_00080`, 080 of `snap_080.0.hdf5`.
fn number(raw: &CheckedValues<'_>, files: &[PathBuf]) -> Result<String, ConfigError> {
    let file = file_of(&files[0]);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_digit = |c: char| c.is_ascii_digit();
    let last = |text: &str| {
        let end = text.rfind(is_digit)? + 1;
        let begin = text[..end].rfind(|c| !is_digit(c)).map_or(0, |at| at + 1);
        Some(text[begin..end].to_string())
    };
    // The five of .hdf5 is no number.
    let stem = name.rfind('.').map_or(&*name, |at| &name[..at]);
    last(base_of(&name).0).or_else(|| last(stem)).ok_or_else(|| {
        let expected = format!("a name with a number, such as output_00080, for {NUMBER}");
        raw.unfit("input", &files[0].display().to_string(), &expected)
    })
}

fn check_distinct(
    raw: &CheckedValues<'_>,
    inputs: &[Vec<PathBuf>],
    numbers: &[String],
) -> Result<(), ConfigError> {
    for (i, number) in numbers.iter().enumerate() {
        if let Some(other) = numbers[..i].iter().position(|other| other == number) {
            let first = inputs[other][0].display();
            let expected =
                format!("snapshots with different numbers; {first} would have the same results ({number})");
            return Err(raw.unfit("input", &inputs[i][0].display().to_string(), &expected));
        }
    }
    Ok(())
}

/// Whether a default does not hold: that of the saddle threshold together with a given density threshold, or
/// with a relevance of haloes.
fn is_moot(raw: &CheckedValues<'_>, opt: &Opt) -> bool {
    opt.name == "saddle-threshold"
        && ["density-threshold", "halo-relevance"].iter().any(|name| raw.is_written(name))
        && !raw.is_written("saddle-threshold")
}

/// See [`Series::options`].
fn options(raw: &CheckedValues<'_>) -> String {
    let command = raw.raw.command();
    let word = match command {
        Command::Fof => "fof",
        Command::Voids => "voids",
        _ => "phew",
    };
    let mut line = format!("inselberg {} {word}", env!("CARGO_PKG_VERSION"));
    // Options of every command are no options of the search.
    let decide = |o: &&'static Opt| !o.positional && !o.commands.is_empty() && !OF_THE_RUN.contains(&o.name);
    for opt in options_of(command).filter(decide) {
        let Some((value, _)) = raw.raw.get(opt.name) else { continue };
        if value == RawValue::Flag(false) || is_moot(raw, opt) {
            continue;
        }
        line = format!("{line} --{}", opt.name);
        for text in value.typed() {
            let is_free = matches!(opt.kind, OptionKind::Text(_) | OptionKind::Path | OptionKind::Paths);
            let is_plain =
                !is_free || !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"');
            line = if is_plain { format!("{line} {text}") } else { format!("{line} {text:?}") };
        }
    }
    line
}
