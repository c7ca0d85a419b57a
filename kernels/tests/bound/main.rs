//! Bound haloes against what is known of ideal ones.

mod potential;
mod samples;
mod unbinding;
