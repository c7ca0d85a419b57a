//! Flushes a file to the disk while more is written to it, so that little remains to flush at the end.

use std::fs::File;
use std::io::Result;
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// A thread that flushes a file when it is woken.
#[derive(Debug)]
pub(crate) struct BackgroundSync {
    wake: SyncSender<()>,
    thread: JoinHandle<Result<()>>,
}

impl BackgroundSync {
    /// For the file `path`, which exists.
    ///
    /// # Errors
    /// The file cannot be opened, or there is no further thread.
    pub fn new(path: &Path) -> Result<Self> {
        let file = File::options().write(true).open(path)?;
        let (wake, woken) = sync_channel(1);
        let flush = move || woken.iter().try_for_each(|()| file.sync_data());
        Ok(Self { wake, thread: Builder::new().name("flush".into()).spawn(flush)? })
    }

    /// Requests a flush of the data written so far. Does not wait.
    pub fn wake(&self) {
        // If the channel is full, the thread will begin a flush anyway. If it is closed, `finish` returns the
        // error.
        let _ = self.wake.try_send(());
    }

    /// Waits for the thread.
    ///
    /// # Errors
    /// The disk refused written data. The system may report this only once, so a later flush may succeed.
    pub fn finish(self) -> Result<()> {
        drop(self.wake);
        self.thread.join().expect("a flush does not panic")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn wakes_while_a_file_grows_and_ends() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let background = BackgroundSync::new(file.path()).expect("a thread");
        for i in 0..100u8 {
            file.write_all(&[i; 1000]).expect("written");
            background.wake();
        }
        assert!(background.finish().is_ok());
        assert_eq!(std::fs::read(file.path()).expect("read").len(), 100_000);
        assert!(BackgroundSync::new(Path::new("/no/such/file")).is_err());
    }
}
