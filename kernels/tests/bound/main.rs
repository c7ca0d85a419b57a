//! Bound haloes against what is known of ideal ones.

mod bound_set;
mod gas;
mod peakless;
mod potential;
mod properties;
mod ramses;
mod samples;
mod slices;
mod spheres;
mod thread_slices;
mod unbinding;
