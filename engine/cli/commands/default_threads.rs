//! The default and the greatest number of threads of a process.

use crate::topology::n_allowed;

/// The variable with Slurm's number of processors per task.
const VARIABLE: &str = "SLURM_CPUS_PER_TASK";

/// More threads than this per processor only search for work, at a cost that grows with their square.
const PER_PROCESSOR: usize = 4;
/// This number of threads may start on any machine.
const ALWAYS: usize = 16;

/// The number of threads of a process without `--threads`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefaultThreads {
    /// The processors that the process may use.
    allowed: usize,
    /// The processors of the task, by Slurm.
    slurm: Option<usize>,
}

impl DefaultThreads {
    /// The limits of this process. A variable that is not a number of processors counts as absent.
    pub fn here() -> Self {
        let slurm = std::env::var(VARIABLE).ok().and_then(|text| text.trim().parse().ok());
        Self { allowed: n_allowed(), slurm: slurm.filter(|n| *n > 0) }
    }

    /// The number: that of Slurm, but not more than the processors.
    pub fn n(self) -> usize {
        self.slurm.map_or(self.allowed, |n| n.min(self.allowed))
    }

    /// The number of Slurm, if there is one.
    pub fn of_slurm(self) -> Option<usize> {
        self.slurm.map(|_| self.n())
    }

    /// The number and its origin.
    pub fn text(self) -> String {
        let reason = match self.slurm {
            None => "the processors that it may use".to_string(),
            Some(n) if n > self.allowed => {
                format!("{VARIABLE}={n}, but it may use only {} processors", self.allowed)
            }
            Some(n) => format!("{VARIABLE}={n}"),
        };
        format!("default --threads of this process: {} ({reason})", self.n())
    }
}

/// The greatest useful number of threads on `n` processors.
pub fn most_useful(n: usize) -> usize {
    (PER_PROCESSOR * n).max(ALWAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slurm_lowers_the_number_and_never_raises_it() {
        for (allowed, slurm, n, part) in [
            (8, None, 8, "may use"),
            (8, Some(2), 2, "SLURM_CPUS_PER_TASK=2)"),
            (2, Some(8), 2, "only 2 processors"),
        ] {
            let threads = DefaultThreads { allowed, slurm };
            assert_eq!(threads.n(), n);
            assert_eq!(threads.of_slurm(), slurm.map(|_| n));
            assert!(threads.text().contains(part), "{}", threads.text());
        }
    }
}
