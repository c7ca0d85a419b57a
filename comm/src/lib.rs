//! Ranks and bytes.
