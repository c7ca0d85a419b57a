//! The place of a structure in the hierarchy.

use super::{Property, Value, number};

pub(super) const PROPERTIES: &[Property] = &[
    number("id", "identifier, by falling peak density from 1", |s| Value::U64(s.id)),
    number("halo", "identifier of its halo: the clump of the halo's highest peak", |s| Value::U64(s.halo)),
    number("parent", "identifier of the clump that it merges into; its own for a halo's main clump", |s| {
        Value::U64(s.parent)
    }),
    number("level", "level of the saddle through which it merges; 0 for a halo's main clump", |s| {
        Value::U64(s.level)
    }),
    number("peak_rank", "place of its peak by falling density among all peaks of the run, from 1", |s| {
        Value::U64(s.peak_rank)
    }),
];
