//! Do all ranks make the same call, with the same parameters?
//!
//! ```text
//!   rank 0   call 7, phew, digest 3f.. ──┐                       ┌── work
//!   rank 1   call 7, phew, digest 3f.. ──┴── least and greatest ─┴── work             one reduction of 32 bytes
//!
//!   rank 0   call 7, phew, digest 3f.. ──┐                                  ┌── the texts of all calls ──┐
//!   rank 1   call 8, phew, digest 3f.. ──┴── least and greatest, not alike ─┴── the texts of all calls ──┴── one error
//! ```
//!
//! Each rank numbers its calls, also those that it refuses alone. So a rank that lags behind is noticed, and
//! not paired with a later step. After such an error all ranks go on from the greatest number.

use crate::api::cells::Geometry;
use crate::api::params::Params;
use crate::error::{Error, ErrorKind};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Longer values are not shown.
const MOST_SHOWN: usize = 60;
/// The call that ends the use of an engine.
const FREE: &str = "free";
/// Between the texts of a description. It is in none of them, because `Debug` shows it as an escape.
const SEPARATOR: char = '\0';

/// A collective call: its name, and what must be the same on all ranks, as texts by name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    name: &'static str,
    same: Vec<(&'static str, String)>,
}

/// What the ranks found when they compared their calls.
pub(crate) enum Comparison {
    /// All make the same call.
    Same,
    /// They do not.
    Different {
        /// The greatest number of the calls.
        number: u64,
        /// Whether some rank ends its use of the engine.
        is_end: bool,
        /// What differs.
        error: Error,
    },
}

impl Call {
    pub fn new(name: &'static str) -> Self {
        Self { name, same: Vec::new() }
    }

    /// The call that ends the use of an engine.
    pub fn free() -> Self {
        Self::new(FREE)
    }

    /// Something that must be the same on all ranks.
    pub fn same(mut self, what: &'static str, value: &impl Debug) -> Self {
        self.same.push((what, format!("{value:?}")));
        self
    }

    /// The box, which must be the same on all ranks.
    pub fn geometry(self, of: &Geometry) -> Self {
        let Geometry { side, coarse, periodic, time, units, cosmology } = of;
        let boxed = self.same("side", side).same("number of coarse cells", coarse).same("periodic", periodic);
        boxed.same("time", time).same("set of units", units).same("cosmology", cosmology)
    }

    /// Parameters that must be the same on all ranks.
    pub fn params<P: Params + Debug>(mut self, params: &P) -> Self {
        let texts = params.parameters().into_iter().map(|about| (about.key, params.get(about.key)));
        let shown = texts.map(|(key, text)| (key, text.unwrap_or_else(|| "none".into())));
        self.same.extend(shown.map(|(key, text)| (key, text.replace(SEPARATOR, ""))));
        // Also what has no key.
        self.same("set of parameters", params)
    }

    /// Collective: compares call `number` of this rank with those of the others.
    ///
    /// # Errors
    /// When a rank fails.
    pub fn compare(&self, number: u64, comm: &Comm) -> Result<Comparison, CommError> {
        let mut hasher = DefaultHasher::new();
        (self.name, &self.same).hash(&mut hasher);
        let digest = hasher.finish();
        // The greatest of a number is the complement of the least of its complements.
        let least = comm.all_reduce_counts(&[number, !number, digest, !digest], Reduce::Min)?;
        if least[0] == !least[1] && least[2] == !least[3] {
            return Ok(Comparison::Same);
        }
        let own = (number, self.name.to_string(), self.texts());
        let all = comm.all_gather_lists(to_bytes(&own).as_slice())?;
        let all: Vec<Described> = all.iter().map(|bytes| from_bytes(bytes)).collect();
        let is_end = all.iter().any(|(_, name, _)| name == FREE);
        Ok(Comparison::Different { number: !least[1], is_end, error: difference(&all) })
    }

    fn texts(&self) -> Vec<(String, String)> {
        self.same.iter().map(|(what, text)| ((*what).to_string(), text.clone())).collect()
    }
}

/// The number and name of a call, and what must be the same.
type Described = (u64, String, Vec<(String, String)>);

fn to_bytes((number, name, same): &Described) -> Vec<u8> {
    let mut parts = vec![number.to_string(), name.clone()];
    parts.extend(same.iter().flat_map(|(what, text)| [what.clone(), text.clone()]));
    parts.join(&SEPARATOR.to_string()).into_bytes()
}

/// What a rank sent. A rank of another version may send something else.
fn from_bytes(bytes: &[u8]) -> Described {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.split(SEPARATOR).map(str::to_string);
    let number = parts.next().and_then(|number| number.parse().ok()).unwrap_or(0);
    let name = parts.next().unwrap_or_default();
    let mut same = Vec::new();
    while let (Some(what), Some(text)) = (parts.next(), parts.next()) {
        same.push((what, text));
    }
    (number, name, same)
}

/// The error of all ranks: how the first rank that differs from rank 0 does.
fn difference(all: &[Described]) -> Error {
    let first = &all[0];
    let differs = |other: &&Described| (other.0, &other.1) != (first.0, &first.1);
    let rank_of =
        |other: &Described| Rank(all.iter().position(|call| call == other).expect("one of them") as u32);
    if let Some(other) = all.iter().find(differs) {
        let message = format!(
            "{} makes its call {} ({}), rank 0 its call {} ({}); expected the same calls in the same order on all ranks",
            rank_of(other),
            other.0,
            other.1,
            first.0,
            first.1
        );
        return Error::new(ErrorKind::Communication, message);
    }
    let other = all.iter().find(|other| other.2 != first.2).expect("digests differ");
    let (rank, expected) = (rank_of(other), "expected the same on all ranks");
    let pair = first.2.iter().zip(&other.2).find(|(a, b)| a != b);
    let message = match pair {
        Some(((what, a), (_, b))) if a.len().max(b.len()) <= MOST_SHOWN => {
            format!("{what} of {rank} is {b}, that of rank 0 is {a}; {expected}")
        }
        Some(((what, _), _)) => format!("the {what} of {rank} is not that of rank 0; {expected}"),
        None => format!("{} of {rank} is not that of rank 0; {expected}", first.1),
    };
    Error::new(ErrorKind::InvalidArgument, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::params::PhewParams;

    /// What ranks find that make these calls.
    fn compared(calls: &[(u64, Call)]) -> Vec<Option<String>> {
        let found = inselberg_comm::run_threads(calls.len(), |comm| {
            let (number, call) = &calls[comm.rank().0 as usize];
            match call.compare(*number, comm).expect("compared") {
                Comparison::Same => None,
                Comparison::Different { number, is_end, error } => Some(format!("{number} {is_end} {error}")),
            }
        });
        found.expect("no panic")
    }

    #[test]
    fn differences_are_named_on_all_ranks() {
        let phew = |saddle: f64| Call::new("phew").params(&PhewParams::new(80.0).saddle(saddle));
        assert_eq!(compared(&[(7, phew(200.0)), (7, phew(200.0)), (7, phew(200.0))]), [None, None, None]);
        for (others, expected) in [
            ((8, phew(200.0)), "8 false rank 1 makes its call 8 (phew), rank 0 its call 7 (phew)"),
            ((7, Call::new("fof")), "7 false rank 1 makes its call 7 (fof), rank 0 its call 7 (phew)"),
            ((7, Call::free()), "7 true rank 1 makes its call 7 (free), rank 0 its call 7 (phew)"),
            ((7, phew(300.0)), "7 false saddle_threshold of rank 1 is 300, that of rank 0 is 200"),
        ] {
            let found = compared(&[(7, phew(200.0)), others]);
            assert!(found[0].as_ref().is_some_and(|text| text.starts_with(expected)), "{found:?}");
            assert_eq!(found[0], found[1]);
        }
    }

    #[test]
    fn what_has_no_key_and_what_is_long_is_compared() {
        let hidden =
            |is_on_mesh| Call::new("phew").params(&PhewParams { is_on_mesh, ..PhewParams::new(80.0) });
        let found = compared(&[(1, hidden(true)), (1, hidden(false))]);
        assert!(
            found[0].as_ref().is_some_and(|text| text.contains("the set of parameters of rank 1 is not"))
        );
    }
}
