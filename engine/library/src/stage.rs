//! The stage of a rank, set in one place for the communicator and the observer.

use crate::progress::Observer;
use inselberg_comm::Comm;
use std::cell::Cell;

/// All stages, and what is done in each. A step has this name in every command: in progress, summaries,
/// traces, messages of the watchdog and scaling studies.
pub const STAGES: [(&str, &str); 42] = [
    ("headers", "the headers of several catalogues are read"),
    ("noise", "the noise of an image, by its values below 0"),
    ("reading", "cells or particles are read and checked"),
    ("particles", "particles are read once more, to count those of a region"),
    ("checks", "particles are checked over all ranks, such as for IDs that occur twice"),
    ("domains", "cells or particles move to the ranks that own their places"),
    ("ghosts", "ranks get copies of what is near their border"),
    ("mesh", "a mesh is made"),
    ("density", "particles are deposited"),
    ("field", "the leaves of a mesh from particles become the parts of the ranks"),
    ("neighbours", "the neighbours of particles, and densities from them"),
    ("links", "links between test particles"),
    ("test cells", "leaves above the density threshold"),
    ("ascent", "the densest neighbour of each test cell or particle"),
    ("labels", "the peak or group of each cell or particle"),
    ("saddles", "contacts of patches"),
    ("sums", "masses and moments of patches"),
    ("forest", "the merge tree; `forest 1`, `forest 2`, ... are steps of it over ranks"),
    ("positions", "positions of peaks"),
    ("hierarchy", "clumps, haloes and their levels, or voids and zones"),
    ("ranking", "peaks in the order of their densities"),
    ("walls", "walls between zones"),
    ("sorting", "particles into the order of the search for friends"),
    ("linking", "friends"),
    ("groups", "components over ranks, and their numbers"),
    ("properties", "properties of groups"),
    ("results", "groups of particles back to the ranks that read them"),
    ("members", "members of objects are read, and brought to where they are needed"),
    ("gas cells", "gas cells of haloes are read"),
    ("borders", "which clumps touch"),
    ("tracks", "objects of the last output are placed, and those of this one are remembered"),
    ("haloes to ranks", "haloes are divided among ranks"),
    ("unbinding", "which members gravity holds"),
    ("spheres", "spheres of given mean density"),
    ("gas clumps", "the gas of clumps"),
    ("matching", "objects of one output in the next one, or of one search in another"),
    ("tables", "tables of the catalogue"),
    ("lists", "tables on rank 0, for other formats"),
    ("write", "files are written"),
    ("viewers", "files for viewers"),
    ("picture", "pixels of pictures"),
    ("trace", "tasks and messages of all ranks, for the trace"),
];

/// Whether a name is one of [`STAGES`], or a numbered step of one.
fn is_listed(name: &str) -> bool {
    let step = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
    STAGES.iter().any(|(listed, _)| *listed == step)
}

/// A stage of a run, which ends when this guard is dropped.
///
/// The communicator names it in errors of the watchdog and counts traffic for it; the observer times it and
/// shows its progress. A stage within another hands back to the outer one at its end. After an outermost
/// stage its name stays with the communicator until the next one begins.
#[must_use]
pub struct Stage<'a> {
    comm: &'a Comm,
    observer: Option<&'a dyn Observer>,
    name: &'static str,
    outer: &'static str,
    n: Cell<u64>,
}

impl<'a> Stage<'a> {
    /// Begins a stage over `n` items: files, particles, cells.
    pub fn begin(name: &'static str, n: u64, comm: &'a Comm, observer: &'a dyn Observer) -> Self {
        observer.begin(name, n);
        let mut stage = Self::within(name, comm);
        stage.observer = Some(observer);
        stage
    }

    /// Names messages that are exchanged during an outer stage. The outer stage includes their time.
    pub fn within(name: &'static str, comm: &'a Comm) -> Self {
        debug_assert!(is_listed(name), "the stage `{name}` is not in STAGES");
        let outer = comm.stage();
        comm.at(name);
        Self { comm, observer: None, name, outer, n: Cell::new(0) }
    }

    /// Sets the number of items that the stage went through.
    pub fn count(&self, n: u64) {
        self.n.set(n);
    }

    /// Does `work` as a stage over `n` items.
    pub fn run<T>(
        name: &'static str,
        n: u64,
        comm: &'a Comm,
        observer: &'a dyn Observer,
        work: impl FnOnce() -> T,
    ) -> T {
        let stage = Self::begin(name, n, comm, observer);
        stage.count(n);
        work()
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        if let Some(observer) = self.observer {
            observer.end(self.name, self.n.get());
        }
        // A panic within a call of the communicator must not become a second one.
        if !self.outer.is_empty() && !std::thread::panicking() {
            self.comm.at(self.outer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Heard(Mutex<Vec<(&'static str, u64)>>);

    impl Observer for Heard {
        fn end(&self, stage: &'static str, cells: u64) {
            self.0.lock().expect("one thread").push((stage, cells));
        }
    }

    #[test]
    fn everyone_hears_of_the_same_stage() {
        let (comm, heard) = (Comm::solo(), Heard::default());
        let reading = Stage::begin("reading", 5, &comm, &heard);
        assert_eq!(Stage::run("ghosts", 2, &comm, &heard, || comm.stage()), "ghosts");
        assert_eq!(comm.stage(), "reading");
        {
            let _labels = Stage::within("labels", &comm);
            assert_eq!(comm.stage(), "labels");
        }
        reading.count(7);
        drop(reading);
        assert_eq!(comm.stage(), "reading");
        assert_eq!(*heard.0.lock().expect("one thread"), [("ghosts", 2), ("reading", 7)]);
    }
}
