//! The memory of this process: its peak, the peak in each stage, and the NUMA nodes that it lies on.
//!
//! Linux keeps one peak per process, which can be set back. Ranks that are threads share it, and stages lie
//! in each other. So all open stages of the process are in one list. Before the peak is set back, each of
//! them gets it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is known of the memory of this process.
static WATCH: Mutex<MemoryWatch> =
    Mutex::new(MemoryWatch { open: Vec::new(), next: 0, whole: 0, most: 0, nodes: BTreeMap::new() });

#[derive(Debug)]
struct MemoryWatch {
    /// The open stages and their peaks up to now, in bytes.
    open: Vec<(u64, u64)>,
    next: u64,
    /// The peak before it was last set back.
    whole: u64,
    /// The memory when its nodes were last looked at.
    most: u64,
    /// Bytes by NUMA node at that time.
    nodes: BTreeMap<u32, u64>,
}

/// An open stage whose peak is measured.
#[derive(Debug)]
pub struct StageMemory(u64);

impl StageMemory {
    /// The stage begins.
    pub fn begin() -> Self {
        let mut watch = watch();
        watch.note();
        // Where it cannot be set back, the peak of a stage is that of all before it.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        watch.next += 1;
        let id = watch.next;
        watch.open.push((id, 0));
        Self(id)
    }

    /// The stage ends: its peak in bytes; `None` if the system does not report it.
    pub fn end(self) -> Option<u64> {
        let mut watch = watch();
        watch.note();
        watch.look_at_nodes();
        let place = watch.open.iter().position(|(id, _)| *id == self.0)?;
        Some(watch.open.remove(place).1).filter(|bytes| *bytes > 0)
    }
}

impl MemoryWatch {
    fn note(&mut self) {
        let peak = status("VmHWM:").unwrap_or(0);
        self.whole = self.whole.max(peak);
        self.open.iter_mut().for_each(|(_, bytes)| *bytes = peak.max(*bytes));
    }

    /// The nodes are those of the stage end with most memory. Reading them takes a look at every page, so
    /// only a tenth more memory is worth it.
    fn look_at_nodes(&mut self) {
        let now = status("VmRSS:").unwrap_or(0);
        if now <= self.most + self.most / 10 {
            return;
        }
        let online = std::fs::read_to_string("/sys/devices/system/node/online").unwrap_or_default();
        self.nodes = match online.trim().parse() {
            Ok(only) => BTreeMap::from([(only, now)]),
            Err(_) => nodes_of(&std::fs::read_to_string("/proc/self/numa_maps").unwrap_or_default()),
        };
        self.most = now;
    }
}

fn watch() -> MutexGuard<'static, MemoryWatch> {
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The peak memory of this process in bytes; `None` if the system does not report it.
pub fn peak_memory() -> Option<u64> {
    status("VmHWM:").map(|peak| peak.max(watch().whole))
}

/// Bytes of this process by NUMA node, at the stage end with most memory; empty if no stage was measured.
pub fn node_memory() -> BTreeMap<u32, u64> {
    watch().nodes.clone()
}

/// An entry of the status of this process, in bytes.
fn status(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Bytes by node, from the list of a process's memory: one line per mapping, with N0=12 for 12 pages on node
/// 0.
fn nodes_of(list: &str) -> BTreeMap<u32, u64> {
    let mut nodes = BTreeMap::new();
    for line in list.lines() {
        let value =
            |word: &str| word.split_once('=').map(|(key, value)| (key.to_string(), value.parse().ok()));
        let words: Vec<(String, Option<u64>)> = line.split_whitespace().filter_map(value).collect();
        let page = words.iter().find(|(key, _)| key == "kernelpagesize_kB").and_then(|(_, kib)| *kib);
        for (key, pages) in &words {
            let node = key.strip_prefix('N').and_then(|node| node.parse::<u32>().ok());
            if let (Some(node), Some(pages)) = (node, pages) {
                *nodes.entry(node).or_insert(0) += pages * page.unwrap_or(4) * 1024;
            }
        }
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_of_the_process_is_plausible() {
        assert!(peak_memory().is_none_or(|bytes| bytes > 100_000));
    }

    #[test]
    fn nodes_are_summed_over_mappings() {
        let list = "7f0 default anon=3 dirty=3 N0=2 N1=1 kernelpagesize_kB=4\n\
                    7f1 bind:1 huge anon=2 N1=2 kernelpagesize_kB=2048\n7f2 default\n";
        assert_eq!(nodes_of(list), BTreeMap::from([(0, 8192), (1, 4096 + (4 << 20))]));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_stage_has_its_own_peak_and_gives_it_to_the_stages_around_it() {
        let touched = |mib: usize| std::hint::black_box(vec![1_u8; mib << 20]).len() as u64;
        let outer = StageMemory::begin();
        let inner = StageMemory::begin();
        let bytes = touched(256);
        let of_inner = inner.end();
        let later = StageMemory::begin();
        let of_later = later.end();
        let (Some(of_inner), Some(of_later), Some(of_outer)) = (of_inner, of_later, outer.end()) else {
            return println!("skipped: this system does not report the peak");
        };
        assert!(of_inner >= bytes && of_outer >= of_inner && peak_memory() >= Some(of_outer));
        // Other tests of this process take memory as well, and some systems cannot set the peak back.
        println!("{of_later} bytes in a stage after one of {of_inner}");
        assert!(!node_memory().is_empty());
    }
}
