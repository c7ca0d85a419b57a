//! Friends-of-friends: against its definition, over ranks and threads, and against SWIFT.

#[path = "../common/mod.rs"]
mod common;
#[path = "../fof_oracle/mod.rs"]
mod fof_oracle;

mod bound;
mod brute_force;
mod facade;
mod input;
mod ranks;
#[cfg(feature = "hdf5")]
mod soap;
#[cfg(feature = "hdf5")]
mod swift;
mod tracks;
