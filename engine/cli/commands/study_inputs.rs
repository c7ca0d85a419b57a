//! The inputs of a study: the given files, or synthetic ones that grow with the threads.

use super::child;
use super::fault::CommandError;
use super::preflight;
use crate::config::{CommandInfo, MadeInput, StudyInput, StudyJob};
use inselberg_io::staging::hidden::{self, HiddenFolder};
use std::collections::BTreeMap;

/// The words of a run for its input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputWords {
    /// The input itself.
    pub read: Vec<String>,
    /// Options that it needs; those of the user come later and win.
    pub options: Vec<String>,
}

/// The inputs of a study.
pub struct StudyInputs<'a> {
    job: &'a StudyJob,
    program: String,
    how: &'static MadeInput,
    /// Where they are made, and those that are, by their sizes.
    folder: Option<HiddenFolder>,
    made: BTreeMap<u64, InputWords>,
}

impl<'a> StudyInputs<'a> {
    /// Nothing is made yet.
    pub fn new(job: &'a StudyJob, program: String, how: &'static MadeInput) -> Self {
        Self { job, program, how, folder: None, made: BTreeMap::new() }
    }

    /// How a reader of the study knows them.
    pub fn about(&self) -> String {
        match &self.job.input {
            StudyInput::Files(files) => {
                files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
            }
            StudyInput::Made(sizes) => {
                let words = CommandInfo::of(self.how.command).words.join(" ");
                let sizes = sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
                format!("inselberg {words} with a size of {sizes} per thread")
            }
        }
    }

    /// The sizes per thread of inputs that are made; `None` for the given one.
    pub fn sizes(&self) -> Vec<Option<u64>> {
        match &self.job.input {
            StudyInput::Files(_) => vec![None],
            StudyInput::Made(sizes) => sizes.iter().copied().map(Some).collect(),
        }
    }

    /// The input of a run with so many threads in all and this size per thread; it may be made now.
    pub fn of(&mut self, cores: usize, size: Option<u64>) -> Result<InputWords, CommandError> {
        let size = match (&self.job.input, size) {
            (StudyInput::Made(_), Some(size)) => size.saturating_mul(cores as u64),
            (StudyInput::Files(files), _) => {
                let read = files.iter().map(|path| path.to_string_lossy().into_owned()).collect();
                return Ok(InputWords { read, options: Vec::new() });
            }
            (StudyInput::Made(_), None) => unreachable!("each run has a size"),
        };
        if let Some(known) = self.made.get(&size) {
            return Ok(known.clone());
        }
        let words = self.make(size)?;
        self.made.insert(size, words.clone());
        Ok(words)
    }

    /// Makes an input in a folder of its own, which disappears with the study.
    fn make(&mut self, size: u64) -> Result<InputWords, CommandError> {
        let place = preflight::parent(&self.job.output);
        if self.folder.is_none() {
            let made = hidden::folder(".study", place).map_err(|error| CommandError::about(place, error))?;
            self.folder = Some(made);
        }
        let folder = self.folder.as_ref().expect("made above").path().join(size.to_string());
        std::fs::create_dir(&folder).map_err(|error| CommandError::about(&folder, error))?;
        let (how, file) = (self.how, |name: &str| folder.join(name).to_string_lossy().into_owned());
        let command = CommandInfo::of(how.command).words.iter().map(|word| (*word).to_string());
        let size = format!("--{}={}", how.size, size / how.parts);
        let rest = [size, format!("--output={}", file(how.name)), "--json".into()];
        let options = how.options.iter().map(|option| (*option).to_string());
        let words = [self.program.clone()].into_iter().chain(command).chain(options).chain(rest);
        let output = child::run(&words.collect::<Vec<_>>())?;
        let printed: serde_json::Value =
            serde_json::from_str(&output.stdout).map_err(CommandError::internal)?;
        let given = how.given.map(|(option, key)| format!("--{option}={}", printed[key]));
        let is_users =
            |word: &String| self.job.options.iter().any(|(name, _)| word.starts_with(&format!("{name}=")));
        let options = given.into_iter().filter(|word| !is_users(word)).collect();
        Ok(InputWords { read: vec![file(how.read)], options })
    }
}
