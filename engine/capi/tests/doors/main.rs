//! The doors to C and Fortran: hosts are compiled against the library, run alone and under `mpirun`, and
//! compared with the Rust library.

mod build;
mod callbacks;
mod catalogue;
mod contrib_ramses;
mod documentation;
mod header;
mod host;
mod input;
mod members;
mod mini_ramses;
mod mini_swift;
mod misuse;
#[cfg(feature = "mpi")]
mod numa_leaders;
mod temporaries;
mod trees;
