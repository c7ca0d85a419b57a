//! This program, run again as a child that is ended when this one is.

use super::fault::CommandError;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The child that runs, if one does. Held while one is started, so that none is started once it is taken for good.
static RUNNING: Mutex<Option<u32>> = Mutex::new(None);

/// What a child said.
pub struct Said {
    /// On standard output.
    pub stdout: String,
    /// From its start to its end.
    pub seconds: f64,
}

/// Runs `words` and waits.
///
/// # Errors
/// It cannot be started, or fails; with what it said, in one line.
pub fn run(words: &[String]) -> Result<Said, CommandError> {
    let begin = std::time::Instant::now();
    let child = start(words)?;
    let out = child.wait_with_output().map_err(|error| CommandError::user(format!("{}: {error}", words[0])));
    *running() = None;
    let out = out?;
    let stdout = String::from_utf8_lossy(&out.stdout).into_owned();
    match out.status.success() {
        true => Ok(Said { stdout, seconds: begin.elapsed().as_secs_f64() }),
        false => {
            let said = complaint(&String::from_utf8_lossy(&out.stderr));
            Err(CommandError::user(format!("`{}` failed ({}): {said}", words.join(" "), out.status)))
        }
    }
}

fn start(words: &[String]) -> Result<Child, CommandError> {
    let mut running = running();
    let mut command = Command::new(&words[0]);
    // A launcher that started this process did not start that one.
    for name in super::launcher::SIZES {
        command.env_remove(name);
    }
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| CommandError::user(format!("{}: {error}", words[0])))?;
    *running = Some(child.id());
    Ok(child)
}

/// Of what a failed child said: our own line if there is one, else everything but rules and empty lines.
fn complaint(stderr: &str) -> String {
    const MOST: usize = 400;
    let own = stderr.lines().find(|line| line.starts_with("inselberg: ") && line.contains("error: "));
    let plain = stderr.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric));
    let said = own.map_or_else(|| plain.collect::<Vec<_>>().join(" "), String::from);
    match said.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &said[..end]),
        None if said.is_empty() => "it said nothing".into(),
        None => said,
    }
}

fn running() -> MutexGuard<'static, Option<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks the child that runs to end, if one does; none is started any more.
pub fn end() {
    let running = running();
    #[cfg(unix)]
    if let Some(pid) = running.and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())) {
        // It may have ended just now.
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
        assert_eq!(complaint(""), "it said nothing");
        assert!(complaint(&"x".repeat(1000)).len() < 410);
    }
}
