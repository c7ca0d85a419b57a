//! How many threads does an engine use by default?
//!
//! The processors that this process may use, shared evenly with the other ranks of its host that may use them
//! too:
//!
//! ```text
//!   host A   rank 0 bound to 0-7, rank 1 bound to 8-15     8 threads each
//!   host B   ranks 2 to 5, each on any of 16 processors    4 threads each
//! ```

use inselberg_comm::{Comm, CommError};
use std::fs::read_to_string;

/// Collective: the number of threads of this rank, 1 or more.
///
/// # Errors
/// When another rank fails.
pub fn default_threads(comm: &Comm) -> Result<usize, CommError> {
    let own = Allowed::here();
    let n_sharing = match comm.n_ranks() {
        1 => 1,
        _ => {
            let all = comm.all_gather_lists(own.to_text().as_bytes())?;
            all.iter().filter(|text| own.meets(&Allowed::from_text(text))).count()
        }
    };
    // If the system does not report processors, only one is certain.
    let n = std::thread::available_parallelism().map_or(1, usize::from);
    Ok((n / n_sharing.max(1)).max(1))
}

/// The processors that a process may use, as Linux reports them. Both are empty if the system does not report
/// them: all such processes count as one host without binding.
#[derive(Debug, Default, PartialEq, Eq)]
struct Allowed {
    /// The boot time of the host, which identifies it.
    host: String,
    /// Ranges of processors, such as 0 to 3 and 8 to 8.
    processors: Vec<[u32; 2]>,
}

impl Allowed {
    fn here() -> Self {
        let host = read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let status = read_to_string("/proc/thread-self/status").unwrap_or_default();
        let listed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        Self::from_text(format!("{} {}", host.trim(), listed.unwrap_or_default().trim()).as_bytes())
    }

    /// A word for the host, then ranges: `1c9f 0-3,8`.
    fn to_text(&self) -> String {
        let ranges: Vec<String> = self.processors.iter().map(|[a, b]| format!("{a}-{b}")).collect();
        format!("{} {}", self.host, ranges.join(","))
    }

    fn from_text(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let (host, list) = text.split_once(' ').unwrap_or((&text, ""));
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some([first.parse().ok()?, last.parse().ok()?])
        };
        Self { host: host.into(), processors: list.split(',').filter_map(range).collect() }
    }

    /// Whether both are on one host and share a processor.
    fn meets(&self, other: &Self) -> bool {
        let overlap = |[a, b]: &[u32; 2]| other.processors.iter().any(|[c, d]| a <= d && c <= b);
        let is_unbound = self.processors.is_empty() || other.processors.is_empty();
        self.host == other.host && (is_unbound || self.processors.iter().any(overlap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(text: &str) -> Allowed {
        Allowed::from_text(text.as_bytes())
    }

    #[test]
    fn ranks_share_processors_of_one_host() {
        let own = allowed("a 0-3,8");
        for (other, meets) in [
            ("a 0-3,8", true),
            ("a 2", true),
            ("a 4-7", false),
            ("a 4-7,8-15", true),
            ("b 0-3,8", false),
            ("a ", true),
            (" 0-3", false),
        ] {
            assert_eq!(own.meets(&allowed(other)), meets, "{other}");
            assert_eq!(allowed(other).meets(&own), meets, "{other}");
        }
    }

    #[test]
    fn what_a_process_tells_is_read_again() {
        let here = Allowed::here();
        assert_eq!(Allowed::from_text(here.to_text().as_bytes()), here);
        assert!(here.meets(&here));
    }

    #[test]
    fn ranks_of_one_process_share_its_processors() {
        let n = std::thread::available_parallelism().expect("Linux").get();
        let of_each = |n_ranks: usize| {
            inselberg_comm::run_threads(n_ranks, |comm| default_threads(comm).expect("no rank fails"))
                .expect("they start")
        };
        assert_eq!(of_each(1), [n]);
        assert_eq!(of_each(2), [(n / 2).max(1); 2]);
        assert_eq!(of_each(3), [(n / 3).max(1); 3]);
    }
}
