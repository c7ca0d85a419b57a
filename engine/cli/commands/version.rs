//! `inselberg --version`: the build and the libraries that it uses.

use std::fmt::Write;

/// The features of the program, and whether this build has them.
pub const FEATURES: [(&str, bool); 4] = [
    ("hdf5", cfg!(feature = "hdf5")),
    ("plot", cfg!(feature = "plot")),
    ("numa", cfg!(feature = "numa")),
    ("mpi", cfg!(feature = "mpi")),
];

/// The features of this build.
pub fn features() -> Vec<&'static str> {
    FEATURES.iter().filter(|(_, is_in)| *is_in).map(|(name, _)| *name).collect()
}

/// The version, the features and the libraries, one per line.
pub fn long_version() -> String {
    let features = features();
    let features = if features.is_empty() { "none".to_string() } else { features.join(" ") };
    let mut text = concat!("inselberg ", env!("CARGO_PKG_VERSION"), "\n").to_string();
    for (name, value) in [("features", features), ("HDF5", hdf5()), ("MPI", mpi())] {
        let _ = writeln!(text, "{name:<10}{value}");
    }
    text
}

#[cfg(feature = "hdf5")]
fn hdf5() -> String {
    let (major, minor, release) = hdf5::library_version();
    format!("{major}.{minor}.{release}")
}

#[cfg(not(feature = "hdf5"))]
fn hdf5() -> String {
    "not in this build".into()
}

/// The library's name for itself is often several lines.
#[cfg(feature = "mpi")]
fn mpi() -> String {
    let name = mpi::environment::library_version();
    let line =
        name.ok().and_then(|name| Some(name.lines().next()?.trim_matches(['\0', ' ', '\t']).to_string()));
    line.unwrap_or("a library that does not state its name".into())
}

#[cfg(not(feature = "mpi"))]
fn mpi() -> String {
    "not in this build".into()
}
