//! The faults, and how they are caused.

use crate::random::Random;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// One fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// A signal at a moment.
    Signal(Signal),
    /// Stopped for a while, then continued.
    Stop,
    /// Stopped, and ended while stopped.
    StopAndEnd,
    /// The disk has room for this number of KiB.
    Disk(usize),
    /// No file may be longer than this number of KiB.
    FileSize(usize),
    /// At most this number of open files.
    OpenFiles(usize),
    /// At most this number of MiB of address space.
    Memory(usize),
    /// A file of the input is cut at a moment.
    Shrink,
    /// A file of the input is removed at a moment.
    Remove,
}

impl Fault {
    pub fn new(random: &mut Random) -> Self {
        let signals = [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP];
        match random.below(14) {
            0..=4 => Self::Signal(random.pick(&signals)),
            5 => Self::Stop,
            6 => Self::StopAndEnd,
            7 | 8 => Self::Disk(random.pick(&[16, 64, 256, 1024, 4096])),
            9 => Self::FileSize(random.pick(&[1, 4, 16, 64, 500, 2000])),
            10 => Self::OpenFiles(random.pick(&[4, 5, 6, 8, 12, 16, 24, 40])),
            11 => Self::Memory(20 + random.below(600)),
            12 => Self::Shrink,
            _ => Self::Remove,
        }
    }

    /// Whether it changes the input, which then has to be a copy.
    pub fn spoils_input(self) -> bool {
        matches!(self, Self::Shrink | Self::Remove)
    }

    /// `program` with `args`, under the limits of this fault.
    pub fn command(self, program: &str, args: &[String]) -> Command {
        let limit = match self {
            // In blocks of 512 bytes. The messages of the program go into a file as well.
            Self::FileSize(kib) => format!("ulimit -f {}", 2 * kib),
            Self::OpenFiles(n) => format!("ulimit -n {n}"),
            Self::Memory(mib) => format!("ulimit -v {}", 1024 * mib),
            _ => ":".into(),
        };
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{limit}; exec \"$0\" \"$@\""), program]).args(args);
        command
    }

    /// Causes it: one of the processes `ids` is hit, or the input.
    pub fn strike(self, ids: &[u32], input: &Path, random: &mut Random) {
        let hit = if ids.is_empty() { None } else { Pid::from_raw(random.pick(ids).cast_signed()) };
        let send = |signal| hit.is_some_and(|id| kill_process(id, signal).is_ok());
        match self {
            Self::Signal(signal) => drop(send(signal)),
            Self::Stop => {
                send(Signal::STOP);
                std::thread::sleep(Duration::from_millis(random.below(300) as u64));
                send(Signal::CONT);
            }
            Self::StopAndEnd => {
                send(Signal::STOP);
                send(Signal::TERM);
                std::thread::sleep(Duration::from_millis(random.below(100) as u64));
                send(Signal::CONT);
            }
            Self::Shrink | Self::Remove => spoil(self, input, random),
            Self::Disk(_) | Self::FileSize(_) | Self::OpenFiles(_) | Self::Memory(_) => {}
        }
    }
}

fn spoil(fault: Fault, input: &Path, random: &mut Random) {
    let mut files = Vec::new();
    if input.is_dir() {
        files.extend(fs::read_dir(input).expect("a folder").flatten().map(|e| e.path()));
        files.sort();
    } else if input.is_file() {
        files.push(input.into());
    }
    if files.is_empty() {
        return;
    }
    let file = &files[random.below(files.len())];
    if fault == Fault::Remove {
        fs::remove_file(file).expect("removed");
        return;
    }
    let size = fs::metadata(file).expect("a size").len();
    let file = fs::File::options().write(true).open(file).expect("opened");
    file.set_len((size as f64 * random.real()) as u64).expect("cut");
}

/// A small disk on a folder, where this user may make one.
pub struct Disk<'a>(&'a Path);

impl<'a> Disk<'a> {
    pub fn mount(folder: &'a Path, kib: usize) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={kib}k"), "tmpfs"]).arg(folder);
        mount.output().is_ok_and(|out| out.status.success()).then_some(Self(folder))
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}
