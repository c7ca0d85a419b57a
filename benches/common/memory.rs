//! What Linux counts for this process.

/// A line of /proc/self/status in bytes, such as `VmHWM:`, the peak of memory. `None` on other systems.
pub fn memory(line: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let found = status.lines().find_map(|found| found.strip_prefix(line))?;
    let kb: u64 = found.split_whitespace().next()?.parse().ok()?;
    Some(1024 * kb)
}
