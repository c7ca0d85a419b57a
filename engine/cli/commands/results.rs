//! The files that a job makes: stated once, with their options, and checked before the work.

use super::fault::CommandError;
use super::preflight;
use inselberg_io::{catalogue, staging};
use std::path::Path;

/// A file or folder that a job makes.
#[derive(Clone, Copy)]
pub struct ResultFile<'a> {
    /// The option that names it.
    pub option: &'static str,
    /// What messages call it.
    pub name: &'static str,
    /// Its place.
    pub path: &'a Path,
    /// What it is.
    pub kind: ResultKind,
}

/// What a result is, and so what its place must take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    /// The catalogue, which stands for all results.
    Catalogue,
    /// A file of tables beside it.
    Table,
    /// Files in the layout of SOAP.
    Soap,
    /// A folder of files.
    Folder,
    /// A folder for yt, with these objects.
    Yt(&'static str),
    /// A folder for VTK, with these objects.
    Vtk(&'static str),
    /// A file for viewers of dendrograms.
    Dendrogram,
    /// A picture.
    Picture,
    /// The folder of a report.
    Report,
    /// A text.
    Text,
}

impl<'a> ResultFile<'a> {
    /// Those that have a place.
    pub fn named<P: AsRef<Path>, const N: usize>(
        rows: [(&'static str, &'static str, ResultKind, Option<&'a P>); N],
    ) -> Vec<Self> {
        let file = |(option, name, kind, path): (_, _, _, Option<&'a P>)| {
            Some(Self { option, name, kind, path: path?.as_ref() })
        };
        rows.into_iter().filter_map(file).collect()
    }

    /// Whether it shares its folder with nothing but other viewers.
    fn is_for_viewers(&self) -> bool {
        matches!(self.kind, ResultKind::Yt(_) | ResultKind::Vtk(_))
    }

    /// Checks that it can be written, and replaces none of `others`.
    fn check(&self, others: &[&Path], force: bool) -> Result<(), CommandError> {
        let path = self.path;
        match self.kind {
            ResultKind::Catalogue | ResultKind::Table => catalogue::check_output(path)?,
            ResultKind::Soap => preflight::soap(path, force)?,
            ResultKind::Folder => preflight::folder(path)?,
            ResultKind::Yt(objects) => {
                preflight::folder(path)?;
                catalogue::check_viewer(path)?;
                catalogue::check_yt(path, objects, others)?;
                preflight::replaceable(&path.join(catalogue::yt_name(objects)), force)?;
            }
            ResultKind::Vtk(objects) => {
                preflight::folder(path)?;
                catalogue::check_viewer(path)?;
                let names = catalogue::vtk_names(objects);
                names.iter().try_for_each(|name| preflight::replaceable(&path.join(name), force))?;
            }
            ResultKind::Dendrogram => {
                catalogue::check_viewer(path)?;
                staging::check_writable(path)?;
            }
            ResultKind::Picture => preflight::picture(path, force)?,
            ResultKind::Report => preflight::report(path, force)?,
            ResultKind::Text => staging::check_writable(path)?,
        }
        preflight::replaceable(path, force)
    }
}

/// Checks that results can be written, all to places of their own and none over an input or, unless `force`,
/// over a file of another program.
pub fn check(results: &[ResultFile<'_>], inputs: &[&Path], force: bool) -> Result<(), CommandError> {
    let (viewers, files): (Vec<&ResultFile<'_>>, Vec<_>) = results.iter().partition(|r| r.is_for_viewers());
    let files: Vec<_> = files.iter().map(|file| (file.name, file.path)).collect();
    for input in inputs {
        let places = [&[("input", *input)], files.as_slice()].concat();
        preflight::distinct(&places)?;
        for viewer in &viewers {
            preflight::distinct(&[places.as_slice(), &[(viewer.name, viewer.path)]].concat())?;
        }
    }
    let others: Vec<&Path> = inputs.iter().copied().chain(files.iter().map(|(_, path)| *path)).collect();
    results.iter().try_for_each(|result| result.check(&others, force))
}
