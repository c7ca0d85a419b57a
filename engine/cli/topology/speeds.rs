//! How fast processors are beside each other, where a machine has several kinds of cores.

use super::Machine;
use std::path::Path;

/// Speeds that differ by less than one part of this count as equal: cores of one kind differ by their clocks.
const TOLERANCE: u64 = 8;

impl Machine {
    /// Sets the speeds of all processors from what Linux says in `folder`, `/sys/devices/system/cpu`: the
    /// capacity of a processor, or else its highest clock. If one has neither, or if all are alike, all have
    /// speed 0.
    pub(super) fn set_speeds(&mut self, folder: &Path) {
        let speeds = |file: &str| -> Option<Vec<u32>> {
            let of = |index: u32| std::fs::read_to_string(folder.join(format!("cpu{index}/{file}"))).ok();
            self.pus.iter().map(|pu| of(pu.index)?.trim().parse().ok().filter(|speed| *speed > 0)).collect()
        };
        let found = speeds("cpu_capacity").filter(|speeds| !are_alike(speeds));
        let found = found.or_else(|| speeds("cpufreq/cpuinfo_max_freq")).filter(|speeds| !are_alike(speeds));
        let Some(found) = found else { return };
        for (pu, speed) in self.pus.iter_mut().zip(kinds(&found)) {
            pu.speed = speed;
        }
    }
}

fn are_alike(speeds: &[u32]) -> bool {
    let (least, most) = (speeds.iter().min(), speeds.iter().max());
    least.zip(most).is_none_or(|(least, most)| is_near(*least, *most))
}

fn is_near(slower: u32, faster: u32) -> bool {
    u64::from(faster - slower) * TOLERANCE < u64::from(faster)
}

/// The speed of each processor's kind, which is that of its fastest one. Kinds fall, so the first that is
/// near is not slower.
fn kinds(speeds: &[u32]) -> Vec<u32> {
    let mut sorted = speeds.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let mut kinds: Vec<u32> = Vec::new();
    for speed in sorted {
        if !kinds.last().is_some_and(|kind| is_near(speed, *kind)) {
            kinds.push(speed);
        }
    }
    let kind = |speed: &u32| kinds.iter().copied().find(|kind| is_near(*speed, *kind));
    speeds.iter().map(|speed| kind(speed).unwrap_or(*speed)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Pu;
    use super::*;

    fn speeds(files: &[(&str, &[u32])]) -> Vec<u32> {
        let folder = tempfile::tempdir().expect("a folder");
        let n = files.iter().map(|(_, values)| values.len()).max().expect("values");
        for (file, values) in files {
            for (cpu, value) in values.iter().enumerate() {
                let path = folder.path().join(format!("cpu{cpu}/{file}"));
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
                std::fs::write(path, format!("{value}\n")).expect("written");
            }
        }
        let pu = |index| Pu { index, core: index, cache: None, node: 0, speed: 0 };
        let mut machine = Machine { pus: (0..n as u32).map(pu).collect(), ..Machine::default() };
        machine.set_speeds(folder.path());
        machine.pus.iter().map(|pu| pu.speed).collect()
    }

    #[test]
    fn cores_of_a_kind_are_equally_fast() {
        assert_eq!(speeds(&[("cpu_capacity", &[1024, 1024, 480, 480])]), [1024, 1024, 480, 480]);
        // Capacities that say nothing leave the word to the clocks, of which two cores have a little more.
        let clocks = ("cpufreq/cpuinfo_max_freq", &[5_400_000, 5_700_000, 5_700_000, 4_200_000][..]);
        let expected = [5_700_000, 5_700_000, 5_700_000, 4_200_000];
        assert_eq!(speeds(&[("cpu_capacity", &[1024; 4]), clocks]), expected);
    }

    #[test]
    fn one_kind_has_no_speeds_and_what_is_unknown_neither() {
        assert_eq!(speeds(&[("cpu_capacity", &[1024, 1000])]), [0, 0]);
        assert_eq!(speeds(&[("cpu_capacity", &[1024]), ("other", &[1, 1])]), [0, 0]);
        assert_eq!(speeds(&[("cpu_capacity", &[1024, 0, 512])]), [0, 0, 0]);
    }
}
