//! Runs this program as a child process, which ends when this process does.

use super::fault::CommandError;
use super::host_clock::HostClock;
use crate::scaling::HostUse;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The running child, if any. Locked while a child starts; [`end`] keeps the lock, so no child starts after
/// it.
static RUNNING: Mutex<Option<u32>> = Mutex::new(None);

/// The output of a child.
pub struct ChildOutput {
    /// Standard output.
    pub stdout: String,
    /// Seconds from start to end.
    pub seconds: f64,
    /// What it took of this host meanwhile, and what other programs took.
    pub host: Option<HostUse>,
}

/// Runs `words` and waits.
///
/// # Errors
/// It cannot be started, or fails; the message has its complaint in one line.
pub fn run(words: &[String]) -> Result<ChildOutput, CommandError> {
    let (begin, clock) = (std::time::Instant::now(), HostClock::now());
    let child = start(words)?;
    let out = child.wait_with_output().map_err(|error| CommandError::user(format!("{}: {error}", words[0])));
    *running() = None;
    let out = out?;
    let stdout = String::from_utf8_lossy(&out.stdout).into_owned();
    match out.status.success() {
        true => Ok(ChildOutput {
            stdout,
            seconds: begin.elapsed().as_secs_f64(),
            host: clock.and_then(|clock| clock.since()),
        }),
        false => {
            let complaint = complaint(&String::from_utf8_lossy(&out.stderr));
            Err(CommandError::user(format!("`{}` failed ({}): {complaint}", words.join(" "), out.status)))
        }
    }
}

fn start(words: &[String]) -> Result<Child, CommandError> {
    let mut running = running();
    let mut command = Command::new(&words[0]);
    // The variables of the launcher describe this process, not the child.
    for name in super::launcher::SIZES {
        command.env_remove(name);
    }
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| CommandError::user(format!("{}: {error}", words[0])))?;
    *running = Some(child.id());
    Ok(child)
}

/// The complaint of a failed child: our own line if there is one, else all text without rules and empty
/// lines.
fn complaint(stderr: &str) -> String {
    const MOST: usize = 400;
    let own = stderr.lines().find(|line| line.starts_with("inselberg: ") && line.contains("error: "));
    let plain = stderr.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric));
    let text = own.map_or_else(|| plain.collect::<Vec<_>>().join(" "), String::from);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None if text.is_empty() => "without a message".into(),
        None => text,
    }
}

fn running() -> MutexGuard<'static, Option<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks a running child to end. No child starts afterwards.
pub fn end() {
    let running = running();
    #[cfg(unix)]
    if let Some(pid) = running.and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())) {
        // The child may have ended just now.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    std::mem::forget(running);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_child_complains_of_is_one_line() {
        assert_eq!(complaint("-----\nno slots\n  left \n-----\n"), "no slots left");
        assert_eq!(
            complaint("noise\ninselberg: error: no such file\nmore"),
            "inselberg: error: no such file"
        );
        assert_eq!(complaint(""), "without a message");
        assert!(complaint(&"x".repeat(1000)).len() < 410);
    }
}
