//! What reports say of the machine and the time.

/// Processors and memory, as far as the system reports them.
pub fn machine() -> String {
    let line = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_once(':').map(|(_, value)| value.trim().to_string())
    };
    let n = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = line("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.into());
    let memory =
        line("/proc/meminfo", "MemTotal").and_then(|kib| kib.trim_end_matches(" kB").parse::<u64>().ok());
    let memory = memory.map_or(String::new(), |kib| format!(", {} GiB of memory", kib >> 20));
    format!("{n} processor{} of {processor}{memory}, {}", if n == 1 { "" } else { "s" }, std::env::consts::OS)
}

/// Date and time in UTC.
pub fn utc(time: std::time::SystemTime) -> String {
    let seconds = time.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (mut days, of_day) = (seconds / 86_400, seconds % 86_400);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute) = (of_day / 3600, of_day / 60 % 60);
    format!("{year}-{month:02}-{:02} {hour:02}:{minute:02} UTC", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_709_251_140, "2024-02-29 23:59 UTC"),
            (4_102_444_799, "2099-12-31 23:59 UTC"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
