//! Processes of a launcher: the claim of its variables, the confirmation by MPI, and one job for all.

use super::fault::{CommandError, hold_panics, warn};
use super::parse::Typed;
use super::ranks::agreed;
use super::version::features;
use crate::config::Job;
use inselberg_comm::{Comm, Rank};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The variables with the number of processes, the innermost launcher first: Open MPI, MPICH and relatives,
/// Slurm.
pub const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// The option that avoids MPI, even if the rest of the command line is wrong.
const NO_MPI: &str = "--no-mpi";

/// The longest command line that messages show whole.
const SHOWN: usize = 200;

/// The number of processes that a launcher claims, if more than one.
fn claimed() -> Option<usize> {
    let size = |name: &&str| std::env::var(name).ok()?.parse::<usize>().ok();
    SIZES.iter().find_map(size).filter(|n| *n > 1)
}

/// The job and its ranks: those of MPI if it confirms several, else only this process.
///
/// All descendants inherit the variables of a launcher, so these only decide whether MPI is asked.
///
/// # Errors
/// The options are invalid, or differ between processes.
pub fn start(typed: Result<Typed, CommandError>) -> Result<(Job, Comm), CommandError> {
    let claimed = claimed().filter(|_| !std::env::args_os().any(|word| word == NO_MPI));
    let world = match claimed {
        Some(_) => confirmed()?,
        None => None,
    };
    let (job, world) = match world {
        Some(world) if world.rank() == Rank(0) => lead(world, typed)?,
        Some(world) => follow(world, typed)?,
        None => alone(typed?, claimed)?,
    };
    if world.n_ranks() > 1 {
        hold_panics();
    }
    Ok((job, world))
}

/// The ranks of the MPI job of this process, if there are several.
#[cfg(feature = "mpi")]
fn confirmed() -> Result<Option<Comm>, CommandError> {
    let world = Comm::mpi().report_with(super::fault::report).build()?;
    Ok(Some(world).filter(|world| world.n_ranks() > 1))
}

#[cfg(not(feature = "mpi"))]
fn confirmed() -> Result<Option<Comm>, CommandError> {
    Ok(None)
}

/// A run of only this process, with a warning if a launcher claims several.
fn alone(typed: Typed, claimed: Option<usize>) -> Result<(Job, Comm), CommandError> {
    let (job, is_shared) = (typed.job(typed.config_text()?.as_deref())?, typed.runs_on_ranks());
    if let Some(n) = claimed.filter(|_| is_shared && !job.common.no_mpi && !job.common.quiet) {
        let why = match cfg!(feature = "mpi") {
            true => "its MPI library reports no other",
            false => "it was built without MPI (cargo feature `mpi`)",
        };
        warn(format!(
            "a launcher started this program as one of {n} processes, but {why}; each process is a run of its own, \
             and runs with the same output replace each other's; expected a launcher of the same MPI, or {NO_MPI}"
        ));
    }
    Ok((job, Comm::solo()))
}

/// The message of rank 0 to the others.
#[derive(Serialize, Deserialize)]
struct LaunchMessage {
    start: ProcessStart,
    /// The text of the configuration file, which other hosts may lack.
    config: Option<String>,
    /// Whether the file requests one run per process.
    no_mpi: bool,
}

/// On rank 0: reads the options and sends them to all.
fn lead(world: Comm, typed: Result<Typed, CommandError>) -> Result<(Job, Comm), CommandError> {
    let read = typed.and_then(|typed| {
        let config = typed.config_text()?;
        Ok((typed.job(config.as_deref())?, config))
    });
    let (job, config) = agreed(&world, read)?;
    let no_mpi = job.common.no_mpi;
    let message = serde_json::to_vec(&LaunchMessage { start: ProcessStart::here(), config, no_mpi })
        .map_err(CommandError::internal)?;
    world.broadcast(Rank(0), &message).map_err(CommandError::ranks)?;
    if no_mpi {
        return Ok((job, Comm::solo()));
    }
    agreed(&world, Ok(()))?;
    Ok((job, world))
}

/// On other ranks: receives the options of rank 0, which must equal those of this process.
fn follow(world: Comm, typed: Result<Typed, CommandError>) -> Result<(Job, Comm), CommandError> {
    agreed(&world, Ok(()))?;
    let message = world.broadcast::<u8>(Rank(0), &[]).map_err(CommandError::ranks)?;
    let message: LaunchMessage = serde_json::from_slice(&message).map_err(CommandError::internal)?;
    if message.no_mpi {
        drop(world);
        return alone(typed?, None);
    }
    let own = match ProcessStart::here().difference(&message.start) {
        Some(difference) => Err(CommandError::user(difference)),
        None => typed.and_then(|typed| typed.job(message.config.as_deref())),
    };
    let job = agreed(&world, own)?;
    Ok((job, world))
}

/// How a process was started.
#[derive(PartialEq, Serialize, Deserialize)]
struct ProcessStart {
    build: String,
    folder: PathBuf,
    words: Vec<String>,
}

impl ProcessStart {
    fn here() -> Self {
        Self {
            build: format!("inselberg {} with {}", env!("CARGO_PKG_VERSION"), features().join(", ")),
            folder: folder(),
            words: std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
        }
    }

    /// The message about a difference from rank 0.
    fn difference(&self, first: &Self) -> Option<String> {
        let expected =
            format!("expected the same for all ranks of one run, or {NO_MPI} for a run per process");
        let differ = |what: &str, own: &str, firsts: &str| {
            Some(format!("{what} `{own}`, but that of rank 0 is `{firsts}`; {expected}"))
        };
        if self.build != first.build {
            return differ("this program is", &self.build, &first.build);
        }
        if self.words != first.words {
            return differ("the command line is", &self.line(), &first.line());
        }
        let [own, firsts] = [self, first].map(|start| start.folder.to_string_lossy());
        if own == firsts { None } else { differ("the working folder is", &own, &firsts) }
    }

    fn line(&self) -> String {
        let line = self.words.join(" ");
        match line.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}...", &line[..end]),
            None => line,
        }
    }
}

/// The working folder by its name in the shell. Hosts share this name even if symbolic links behind it
/// differ.
fn folder() -> PathBuf {
    let real = std::env::current_dir().unwrap_or_default();
    let shell = std::env::var_os("PWD").map(PathBuf::from).filter(|path| path.is_absolute());
    shell.filter(|path| std::fs::canonicalize(path).is_ok_and(|path| path == real)).unwrap_or(real)
}
