//! One program for all fuzz targets: `INSELBERG_FUZZ_TARGET` names the one that runs.
//!
//! What libFuzzer mutates is a list of changes to a sound file ([`changes`]) or, where a file is text, the
//! text itself. A target writes the changed file and reads it through the library. An error is right; so are
//! exactly the values that a plain reader finds in the same bytes ([`plain`]). Anything else, a panic among
//! it, ends the fuzzer and is kept.
#![allow(clippy::disallowed_methods)]
#![no_main]

mod bases;
mod catalogue;
mod changes;
mod config;
mod fields;
mod gadget_binary;
mod hdf5_particles;
mod npy;
mod npz;
mod plain;
mod ramses;
mod runs;

use std::env;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tempfile::TempDir;

/// What a target does with the bytes that libFuzzer makes.
type Target = fn(&[u8]);

/// Every target by name.
const TARGETS: &[(&str, Target)] = &[
    ("amr", |bytes| ramses::target("amr", bytes)),
    ("hydro", |bytes| ramses::target("hydro", bytes)),
    ("grav", |bytes| ramses::target("grav", bytes)),
    ("part", |bytes| ramses::target("part", bytes)),
    ("info", |bytes| ramses::target("info", bytes)),
    ("header", |bytes| ramses::target("header", bytes)),
    ("descriptor", |bytes| ramses::target("descriptor", bytes)),
    ("npy", npy::target),
    ("npz", npz::target),
    ("fits", fields::fits),
    ("amrex", fields::amrex),
    ("gadget", gadget_binary::target),
    ("hdf5", hdf5_particles::target),
    ("catalogue-hdf5", catalogue::hdf5),
    ("catalogue-csv", catalogue::csv),
    ("config", config::target),
    ("run", runs::target),
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chosen()(bytes));

fn chosen() -> Target {
    static CHOSEN: OnceLock<Target> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let name = env::var("INSELBERG_FUZZ_TARGET").unwrap_or_default();
        let names: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
        let found = TARGETS.iter().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("INSELBERG_FUZZ_TARGET is {name:?}; expected one of {names:?}")).1
    })
}

/// Counts inputs that were accepted, so that their values were compared; says so at powers of two.
fn compared() {
    static N: AtomicU64 = AtomicU64::new(0);
    let n = N.fetch_add(1, Relaxed) + 1;
    if n.is_power_of_two() {
        eprintln!("compared: {n}");
    }
}

/// A folder in memory, where there is one, for the files of this process.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let in_memory = || {
        let made = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        made.expect("a temporary folder")
    };
    FOLDER.get_or_init(in_memory).path()
}
