//! Can the results be written? Checked before the work, not after it.

use super::fault::CommandError;
use inselberg_io::catalogue::{self, Attribute, Catalogue, RUN_ATTRIBUTES, SoapPlace};
use inselberg_io::input_paths;
use inselberg_io::particles::file_of;
use std::fs;
use std::path::{Path, PathBuf};

/// Checks that `path` is a folder for results or can become one.
pub fn folder(path: &Path) -> Result<(), CommandError> {
    let target =
        inselberg_io::staging::hidden::target_of(path).map_err(|error| CommandError::about(path, error))?;
    let place = if target.exists() { &target } else { parent(&target) };
    if path.exists() && !path.is_dir() {
        return Err(unfit(path, "is not a folder", "a folder or a new name"));
    }
    takes_files(path, place)
}

/// Checks that files in the layout of SOAP can be written to `path`.
pub fn soap(path: &Path, force: bool) -> Result<(), CommandError> {
    let place = SoapPlace::new(path);
    place.folder().map_or(Ok(()), folder)?;
    catalogue::check_soap(&place)?;
    let files = [Some(place.properties()), place.membership()];
    files.iter().flatten().try_for_each(|file| replaceable(file, force))
}

/// Checks that a report can be written into the folder `path`.
pub fn report(path: &Path, force: bool) -> Result<(), CommandError> {
    draws_pictures(path)?;
    folder(path)?;
    replaceable(&path.join(REPORT_PAGE), force)
}

/// Checks that a picture can be drawn into `path`.
pub fn picture(path: &Path, force: bool) -> Result<(), CommandError> {
    draws_pictures(path)?;
    #[cfg(feature = "plot")]
    crate::report::plot::check_picture(path)?;
    replaceable(path, force)
}

/// The page of a report in its folder.
pub const REPORT_PAGE: &str = "index.html";

/// Whether this build draws pictures. `path` is for the message.
fn draws_pictures(path: &Path) -> Result<(), CommandError> {
    let problem = "this build draws no pictures; build with the feature `plot`";
    match cfg!(feature = "plot") {
        true => Ok(()),
        false => Err(CommandError::user(format!("{}: {problem}", path.display()))),
    }
}

/// Checks that no file of another program would be lost by writing to `path`, unless `force`.
pub fn replaceable(path: &Path, force: bool) -> Result<(), CommandError> {
    match force || !inselberg_io::written::is_foreign(path) {
        true => Ok(()),
        false => Err(unfit(path, "is a file that inselberg did not write", "a new name, or --force")),
    }
}

/// Checks that `path` is neither the catalogue at `input` nor a file from which it was made.
pub fn not_an_origin(
    input: &Path,
    catalogue: &Catalogue,
    (name, path): (&str, &Path),
) -> Result<(), CommandError> {
    distinct(&[("input", input), (name, path)])?;
    let line = match catalogue.attribute(RUN_ATTRIBUTES[0]) {
        Some(Attribute::Text(line)) => line,
        _ => return Ok(()),
    };
    let origins = input_paths(line);
    origins
        .iter()
        .try_for_each(|origin| distinct(&[("input of the catalogue", file_of(origin)), (name, path)]))
}

/// Checks that `paths` are all different places.
pub fn distinct(paths: &[(&str, &Path)]) -> Result<(), CommandError> {
    for (i, (name, path)) in paths.iter().enumerate() {
        if let Some((other, _)) = paths[..i].iter().find(|(_, p)| place_of(p) == place_of(path)) {
            let problem = format!("is both the {other} and the {name}");
            return Err(unfit(path, &problem, "two different names"));
        }
    }
    Ok(())
}

/// The folder that holds `path`.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn place_of(path: &Path) -> PathBuf {
    // The target of a link need not exist yet.
    let path = &inselberg_io::staging::hidden::target_of(path).unwrap_or_else(|_| path.into());
    let folder = fs::canonicalize(parent(path)).unwrap_or_else(|_| parent(path).into());
    fs::canonicalize(path).unwrap_or_else(|_| folder.join(path.file_name().unwrap_or_default()))
}

fn takes_files(path: &Path, folder: &Path) -> Result<(), CommandError> {
    if !folder.is_dir() {
        let problem = format!("there is no folder {}", folder.display());
        return Err(unfit(path, &problem, "a name in a folder that exists"));
    }
    inselberg_io::staging::hidden::trial(folder).map_err(|e| {
        // tempfile adds its own random name to the message; the system's reason is enough.
        let reason = e.get_ref().and_then(|e| e.source()).map_or(e.to_string(), ToString::to_string);
        unfit(path, &format!("cannot create files there: {reason}"), "a folder that can be written")
    })
}

fn unfit(path: &Path, problem: &str, expected: &str) -> CommandError {
    CommandError::user(format!("{}: {problem}; expected {expected}", path.display()))
}
