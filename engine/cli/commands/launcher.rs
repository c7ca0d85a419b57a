//! Processes that a launcher started together: what its variables claim, what MPI confirms, and one job for all.

use super::fault::{CommandError, hold_panics, warn};
use super::parse::Typed;
use super::ranks::agreed;
use crate::config::{CommandJob, Job};
use inselberg_comm::{Comm, Rank};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Where launchers tell a process how many they started, the innermost launcher first: Open MPI, MPICH and kin,
/// Slurm.
pub const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// The option that keeps MPI out, also where the rest of the command line is wrong.
const NO_MPI: &str = "--no-mpi";

/// The longest command line that is shown whole.
const SHOWN: usize = 200;

/// As how many processes a launcher claims to have started this program, where these are several.
fn claimed() -> Option<usize> {
    let size = |name: &&str| std::env::var(name).ok()?.parse::<usize>().ok();
    SIZES.iter().find_map(size).filter(|n| *n > 1)
}

/// The job, and the ranks that share it: those of MPI where it confirms several, else this process alone.
///
/// A launcher's variables are inherited by whatever its processes start, so they only say that MPI is to be asked.
///
/// # Errors
/// What was typed or configured is no job, or not the same one in all processes.
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

/// The ranks of this process's MPI job, where there are several.
#[cfg(feature = "mpi")]
fn confirmed() -> Result<Option<Comm>, CommandError> {
    let world = Comm::mpi().report_with(super::fault::report).build()?;
    Ok(Some(world).filter(|world| world.n_ranks() > 1))
}

#[cfg(not(feature = "mpi"))]
fn confirmed() -> Result<Option<Comm>, CommandError> {
    Ok(None)
}

/// A run of this process, which a launcher may claim to be one of several.
fn alone(typed: Typed, claimed: Option<usize>) -> Result<(Job, Comm), CommandError> {
    let job = typed.job(typed.config_text()?.as_deref())?;
    let is_shared = matches!(
        job.work,
        CommandJob::Phew(_) | CommandJob::Fof(_) | CommandJob::Topology(_) | CommandJob::SynthParticles(_)
    );
    if let Some(n) = claimed.filter(|_| is_shared && !job.common.no_mpi && !job.common.quiet) {
        let why = match cfg!(feature = "mpi") {
            true => "its MPI library knows of no other",
            false => "it was built without MPI (cargo feature `mpi`)",
        };
        warn(format!(
            "a launcher started this program as one of {n} processes, but {why}; each process is a run of its own, \
             and runs with the same output replace each other's; expected a launcher of the same MPI, or {NO_MPI}"
        ));
    }
    Ok((job, Comm::solo()))
}

/// What rank 0 tells the others.
#[derive(Serialize, Deserialize)]
struct LaunchMessage {
    start: ProcessStart,
    /// The text of the configuration file, which others may not see.
    config: Option<String>,
    /// Whether the file asks for a run per process.
    no_mpi: bool,
}

/// As rank 0: reads the options, and gives them to all.
fn lead(world: Comm, typed: Result<Typed, CommandError>) -> Result<(Job, Comm), CommandError> {
    let read = typed.and_then(|typed| {
        let config = typed.config_text()?;
        Ok((typed.job(config.as_deref())?, config))
    });
    let (job, config) = agreed(&world, read)?;
    let no_mpi = job.common.no_mpi;
    let told = serde_json::to_vec(&LaunchMessage { start: ProcessStart::here(), config, no_mpi })
        .map_err(CommandError::internal)?;
    world.broadcast(Rank(0), &told).map_err(CommandError::ranks)?;
    if no_mpi {
        return Ok((job, Comm::solo()));
    }
    agreed(&world, Ok(()))?;
    Ok((job, world))
}

/// As another rank: takes the options of rank 0, which must be those that were typed here.
fn follow(world: Comm, typed: Result<Typed, CommandError>) -> Result<(Job, Comm), CommandError> {
    agreed(&world, Ok(()))?;
    let told = world.broadcast::<u8>(Rank(0), &[]).map_err(CommandError::ranks)?;
    let told: LaunchMessage = serde_json::from_slice(&told).map_err(CommandError::internal)?;
    if told.no_mpi {
        drop(world);
        return alone(typed?, None);
    }
    let own = match ProcessStart::here().difference(&told.start) {
        Some(difference) => Err(CommandError::user(difference)),
        None => typed.and_then(|typed| typed.job(told.config.as_deref())),
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
        let features = [
            ("hdf5", cfg!(feature = "hdf5")),
            ("plot", cfg!(feature = "plot")),
            ("numa", cfg!(feature = "numa")),
            ("mpi", cfg!(feature = "mpi")),
        ];
        let features: Vec<&str> =
            features.iter().filter(|(_, is_in)| *is_in).map(|(name, _)| *name).collect();
        Self {
            build: format!("inselberg {} with {}", env!("CARGO_PKG_VERSION"), features.join(", ")),
            folder: folder(),
            words: std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
        }
    }

    /// What is not as on rank 0, as a message.
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

/// The working folder by the name that the shell has for it, which hosts share although links behind it may differ.
fn folder() -> PathBuf {
    let real = std::env::current_dir().unwrap_or_default();
    let shell = std::env::var_os("PWD").map(PathBuf::from).filter(|path| path.is_absolute());
    shell.filter(|path| std::fs::canonicalize(path).is_ok_and(|path| path == real)).unwrap_or(real)
}
