//! Compares the least memory of a job with the available memory before anything is allocated.
//!
//! Only lower bounds refuse a job. Further needs (test cells, groups) are known only after reading; an
//! earlier warning would be wrong for most jobs. When memory runs out later, [`super::allocator`] ends the
//! program.

use super::fault::CommandError;
use memmap2::MmapMut;
use std::fmt::Display;
use std::sync::Mutex;

/// Bytes per leaf cell of a run, in addition to the input. A test cell takes [`TEST_BYTES`] more.
pub const LEAF_BYTES: u64 = 24;
/// See [`LEAF_BYTES`].
pub const TEST_BYTES: u64 = 80;
/// Bytes per cell that is read for its future owner.
const READ_BYTES: u64 = 10;
/// Bytes per particle of a search for groups, in addition to its columns.
const SEARCH_BYTES: u64 = 30;
/// Bytes per oct of a written output.
const WRITTEN_OCT_BYTES: u64 = 100;
/// Bytes per test cell of a written output whose octs are not counted yet.
const WRITTEN_TEST_BYTES: u64 = WRITTEN_OCT_BYTES / 8;
/// Bytes per halo of a particle box, which has one halo per [`PARTICLES_OF_HALO`] particles.
const HALO_BYTES: u64 = 120;
const PARTICLES_OF_HALO: u64 = 430;
/// Bytes per member of a series of catalogues: haloes, their listed parts, and a catalogue.
const SERIES_MEMBER_BYTES: u64 = 120;
/// Bytes per seeded clump of a field.
const CLUMP_BYTES: u64 = 40;
/// Bytes per rank that is a thread.
const RANK_BYTES: u64 = 128 << 10;

/// Available memory, and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Bytes.
    pub bytes: u64,
    /// The limit.
    pub limit: &'static str,
}

/// Checks that `bytes` of memory are available for `what`.
pub fn check(what: impl Display, bytes: u64, expected: &str) -> Result<(), CommandError> {
    match left() {
        Some(left) if left.bytes < bytes => Err(CommandError::user(format!(
            "{what}: takes at least {}, and {} are left ({}); expected {expected}",
            Bytes(bytes),
            Bytes(left.bytes),
            left.limit
        ))),
        _ => Ok(()),
    }
}

/// Checks the memory of ranks that are threads.
pub fn check_ranks(ranks: u64) -> Result<(), CommandError> {
    check(format!("--ranks: `{ranks}`"), ranks.saturating_mul(RANK_BYTES), "fewer ranks")
}

/// Checks the memory of the octs that this process reads, as one of several. Most of the eight cells of an
/// oct are leaves.
pub fn check_octs(path: impl Display, octs: u64, n_processes: usize) -> Result<(), CommandError> {
    let leaves = octs.saturating_mul(7);
    // A process keeps only the cells that it owns, perhaps fewer than it reads.
    let each = if n_processes == 1 { LEAF_BYTES } else { READ_BYTES };
    let what = format!("{path}: a run on {leaves} leaf cells");
    check(what, leaves.saturating_mul(each), "more memory, or ranks on more hosts")
}

/// Checks the memory of a mesh from particles, at least `bytes`.
pub fn check_mesh(path: impl Display, bytes: u64) -> Result<(), CommandError> {
    let what = format!("{path}: a mesh from its particles");
    check(what, bytes, "more memory, fewer --threads or a smaller --level-min")
}

/// The least bytes of a search for groups among `particles`, with `column_bytes` per particle read.
pub fn search_bytes(particles: u64, column_bytes: u64) -> u64 {
    particles.saturating_mul(column_bytes + SEARCH_BYTES)
}

/// Checks the memory of a search for groups among the particles of this process, with `column_bytes` per
/// particle read.
pub fn check_search(path: impl Display, particles: u64, column_bytes: u64) -> Result<(), CommandError> {
    let what = format!("{path}: a search among {particles} particles");
    check(what, search_bytes(particles, column_bytes), "more memory, or ranks on more hosts")
}

/// Checks the memory of a picture with `side` pixels per side, one on each rank of this process.
pub fn check_picture(side: u64, ranks: u64) -> Result<(), CommandError> {
    let pixels = side.saturating_mul(side);
    let bytes = pixels.saturating_mul(8 * (ranks + 1));
    check(format!("--plot: a picture of {side} x {side} pixels"), bytes, "no --plot, or fewer --ranks")
}

/// Checks the memory of a synthetic field.
pub fn check_field(test_cells: u64, clumps: u64) -> Result<(), CommandError> {
    let bytes =
        test_cells.saturating_mul(WRITTEN_TEST_BYTES).saturating_add(clumps.saturating_mul(CLUMP_BYTES));
    check(format!("--test-cells: `{test_cells}`, with {clumps} clumps"), bytes, "fewer")
}

/// Checks the memory for writing an output.
pub fn check_output(path: impl Display, octs: u64) -> Result<(), CommandError> {
    let what = format!("{path}: an output of {octs} octs");
    check(what, octs.saturating_mul(WRITTEN_OCT_BYTES), "fewer --test-cells or shallower --levels")
}

/// Checks the memory of the haloes of a particle box.
pub fn check_box(particles: u64) -> Result<(), CommandError> {
    let bytes = (particles / PARTICLES_OF_HALO).saturating_mul(HALO_BYTES);
    check(format!("--number: `{particles}`, with their haloes"), bytes, "fewer")
}

/// Checks the memory of a series of catalogues.
pub fn check_series(members: u64) -> Result<(), CommandError> {
    check(format!("--members: `{members}`"), members.saturating_mul(SERIES_MEMBER_BYTES), "fewer")
}

/// Bytes with a readable unit.
#[derive(Debug, Clone, Copy)]
pub struct Bytes(pub u64);

impl Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let power = self.0.max(1).ilog2() / 10;
        match power {
            0 => write!(f, "{} B", self.0),
            _ => write!(f, "{:.1} {}", self.0 as f64 / (1u64 << (10 * power)) as f64, units[power as usize]),
        }
    }
}

/// The memory that the narrowest limit leaves; `None` if the system does not report it.
#[cfg(target_os = "linux")]
pub fn left() -> Option<Left> {
    linux::all().into_iter().flatten().min_by_key(|left| left.bytes)
}

/// The narrowest limit. Needs some memory.
pub fn narrowest() -> Option<&'static str> {
    left().map(|left| left.limit)
}

/// A reserve for the work after memory has run out.
const RESERVE: usize = 4 << 20;

static KEPT: Mutex<Option<MmapMut>> = Mutex::new(None);

/// Reserves some addresses, which take no memory until they are used.
pub fn keep_reserve() {
    if let Ok(mut kept) = KEPT.try_lock() {
        *kept = MmapMut::map_anon(RESERVE).ok();
    }
}

/// Releases the reserve to the allocator.
pub fn give_up_reserve() {
    if let Ok(mut kept) = KEPT.try_lock() {
        kept.take();
    }
}

/// The system does not report it.
#[cfg(not(target_os = "linux"))]
pub fn left() -> Option<Left> {
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Left;
    use rustix::process::{Resource, getrlimit};
    use std::fs::read_to_string;
    use std::path::{Path, PathBuf};

    /// The memory that each limit leaves.
    pub fn all() -> [Option<Left>; 4] {
        let status = read_to_string("/proc/self/status").unwrap_or_default();
        let limited = |resource, used: &str, limit| {
            let used = kib(&status, used)?;
            Some(Left { bytes: getrlimit(resource).current?.saturating_sub(used), limit })
        };
        [
            limited(Resource::As, "VmSize:", "limit of the address space, ulimit -v"),
            limited(Resource::Data, "VmData:", "limit of the data segment, ulimit -d"),
            system(&read_to_string("/proc/meminfo").unwrap_or_default()),
            cgroups(&read_to_string("/proc/self/cgroup").unwrap_or_default(), Path::new("/sys/fs/cgroup")),
        ]
    }

    /// The memory that all processes together leave.
    fn system(meminfo: &str) -> Option<Left> {
        let bytes = kib(meminfo, "MemAvailable:")? + kib(meminfo, "SwapFree:").unwrap_or(0);
        Some(Left { bytes, limit: "available memory" })
    }

    /// A value in KiB.
    fn kib(text: &str, name: &str) -> Option<u64> {
        let value = text.lines().find_map(|line| line.strip_prefix(name))?;
        value.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    }

    /// The memory that the control groups of this process leave, in either version.
    pub fn cgroups(membership: &str, root: &Path) -> Option<Left> {
        let groups = membership.lines().filter_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            match controllers {
                "" => Some((root.to_path_buf(), path, ["memory.max", "anon "])),
                _ if controllers.split(',').any(|c| c == "memory") => {
                    Some((root.join("memory"), path, ["memory.limit_in_bytes", "total_rss "]))
                }
                _ => None,
            }
        });
        let bytes =
            groups.flat_map(|(root, path, names)| around(root, path).map(move |g| of_group(&g, names)));
        Some(Left { bytes: bytes.flatten().min()?, limit: "limit of the control group" })
    }

    /// A group and all groups around it. A container hides the outer ones; there the root stands for the own
    /// group.
    fn around(root: PathBuf, path: &str) -> impl Iterator<Item = PathBuf> {
        let own = root.join(path.trim_start_matches('/'));
        let n = own.components().count() - root.components().count() + 1;
        (0..n).scan(own, |group, _| {
            let this = group.clone();
            group.pop();
            Some(this)
        })
    }

    /// The memory that a group leaves. Memory that the system can reclaim, such as cached files, counts as
    /// available.
    fn of_group(group: &Path, [limit, used]: [&str; 2]) -> Option<u64> {
        let limit: u64 = read_to_string(group.join(limit)).ok()?.trim().parse().ok()?;
        let stat = read_to_string(group.join("memory.stat")).ok()?;
        let used: u64 = stat.lines().find_map(|line| line.strip_prefix(used))?.trim().parse().ok()?;
        Some(limit.saturating_sub(used))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_narrowest_control_group_counts() {
            let root = tempfile::tempdir().expect("a folder");
            let group = |path: &str, names: [&str; 2], values: [&str; 2]| {
                let folder = root.path().join(path);
                std::fs::create_dir_all(&folder).expect("a folder");
                names
                    .iter()
                    .zip(values)
                    .for_each(|(n, v)| std::fs::write(folder.join(n), v).expect("written"));
            };
            let left = |membership| cgroups(membership, root.path()).map(|left| left.bytes);
            let (two, one) = (["memory.max", "memory.stat"], ["memory.limit_in_bytes", "memory.stat"]);
            group("job", two, ["5000\n", "anon 1000\nfile 9\n"]);
            group("job/step", two, ["max\n", "anon 500\n"]);
            assert_eq!(left("0::/job/step\n"), Some(4000));
            group("job/step", two, ["600\n", "anon 500\n"]);
            assert_eq!(left("0::/job/step\n"), Some(100));
            assert_eq!(left("0::/elsewhere\n"), None);
            group("memory", one, ["9223372036854771712\n", "total_rss 4096\n"]);
            group("memory/job", one, ["8192\n", "rss 0\ntotal_rss 4096\n"]);
            assert_eq!(left("5:cpu:/job\n4:memory:/job\n0::/none\n"), Some(4096));
        }
    }
}
