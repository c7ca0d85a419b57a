//! How many threads does a process have when no option says it?

use crate::topology::n_allowed;

/// The variable in which Slurm says how many processors each of its tasks has.
const VARIABLE: &str = "SLURM_CPUS_PER_TASK";

/// The number of threads of a process without `--threads`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefaultThreads {
    /// The processors that the process may use.
    allowed: usize,
    /// The processors that Slurm says it has.
    slurm: Option<usize>,
}

impl DefaultThreads {
    /// Of this process. A variable that is no number of processors counts as absent.
    pub fn here() -> Self {
        let slurm = std::env::var(VARIABLE).ok().and_then(|text| text.trim().parse().ok());
        Self { allowed: n_allowed(), slurm: slurm.filter(|n| *n > 0) }
    }

    /// The number: that of Slurm, but not more than the processors.
    pub fn n(self) -> usize {
        self.slurm.map_or(self.allowed, |n| n.min(self.allowed))
    }

    /// The number where Slurm says it.
    pub fn of_slurm(self) -> Option<usize> {
        self.slurm.map(|_| self.n())
    }

    /// The number and where it is from.
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
