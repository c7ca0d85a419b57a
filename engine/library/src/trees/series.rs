//! Whether catalogues are outputs of one run, and in which order.

use crate::trees::error::TreeError;
use crate::trees::facts::{EXTRA_COSMOLOGY, NOT_STATED, OutputFacts};
use std::cmp::Ordering;

/// The relative difference up to which sides of boxes are the same: units are rounded in files.
const SAME_SIDE: f64 = 1e-4;

/// The order of a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesOrder {
    /// Places of the catalogues, the earliest first.
    pub places: Vec<usize>,
    /// What they were sorted by, if they were in another order.
    pub sorted_by: Option<&'static str>,
}

/// Sorts catalogues by time.
///
/// # Errors
/// Two are of one output, they are of different runs or kinds, or times contradict
/// each other.
pub fn ordered(facts: &[OutputFacts]) -> Result<SeriesOrder, TreeError> {
    facts.iter().skip(1).try_for_each(|other| check_fits(&facts[0], other))?;
    let clock = clock(facts);
    let mut places: Vec<usize> = (0..facts.len()).collect();
    if let Some((_, key)) = clock {
        places.sort_by(|a, b| key(&facts[*a]).total_cmp(&key(&facts[*b])));
    }
    for pair in places.windows(2) {
        check_follows(&facts[pair[0]], &facts[pair[1]], clock.is_some())?;
    }
    let is_sorted = places.windows(2).all(|pair| pair[0] < pair[1]);
    let sorted_by = clock.filter(|_| !is_sorted).map(|(name, _)| name);
    Ok(SeriesOrder { places, sorted_by })
}

type Clock = (&'static str, fn(&OutputFacts) -> f64);

/// A number that all catalogues state and that differs, so that it gives their order.
fn clock(facts: &[OutputFacts]) -> Option<Clock> {
    let clocks: [Clock; 3] = [
        ("expansion factor", |facts| facts.aexp.unwrap_or(f64::NAN)),
        ("time", |facts| facts.time.unwrap_or(f64::NAN)),
        ("number", |facts| facts.number.map_or(f64::NAN, |number| number as f64)),
    ];
    clocks.into_iter().find(|(_, key)| {
        let first = key(&facts[0]);
        facts.iter().all(|facts| key(facts).is_finite()) && facts.iter().any(|facts| key(facts) != first)
    })
}

/// Whether `next` may be a later output of the run of `first`.
///
/// # Errors
/// It is of another kind, or of another run.
pub fn check_fits(first: &OutputFacts, next: &OutputFacts) -> Result<(), TreeError> {
    if first.kind != next.kind {
        let problem = format!("{}, but {} has {}", next.kind.word(), first.name, first.kind.word());
        return Err(TreeError::of(&next.name, problem, "catalogues of one kind"));
    }
    let value = |facts: &OutputFacts, name: &str| {
        let found = facts.run.iter().find(|(n, _)| *n == name);
        found.map_or(NOT_STATED.into(), |(_, value)| value.clone())
    };
    for (name, _) in first.run.iter().chain(&next.run) {
        let [a, b] = [first, next].map(|facts| value(facts, name));
        // Catalogues of older versions state less of their cosmology.
        let is_older = EXTRA_COSMOLOGY.contains(name) && [&a, &b].iter().any(|value| *value == NOT_STATED);
        if a != b && !is_older {
            let problem = format!("{name} is {b}, but {a} in {}", first.name);
            return Err(TreeError::of(&next.name, problem, "outputs of one run"));
        }
    }
    if let (Some(a), Some(b)) = (first.side, next.side)
        && (a - b).abs() > SAME_SIDE * a
    {
        let problem = format!("the side of the box is {b:e}, but {a:e} in {}", first.name);
        return Err(TreeError::of(&next.name, problem, "outputs of one run"));
    }
    Ok(())
}

/// Whether `next` is a later output than `last`. Without a time, only equal outputs are recognised.
///
/// # Errors
/// It is the same one, an earlier one, or its times contradict each other.
pub fn check_follows(last: &OutputFacts, next: &OutputFacts, has_clock: bool) -> Result<(), TreeError> {
    fn compare<T: PartialOrd>(last: Option<T>, next: Option<T>) -> Option<Ordering> {
        last.zip(next).and_then(|(last, next)| last.partial_cmp(&next))
    }
    let orders = [
        ("expansion factor", compare(last.aexp, next.aexp)),
        ("time", compare(last.time, next.time)),
        ("number", compare(last.number, next.number)),
    ];
    let known: Vec<_> = orders.iter().filter_map(|(name, order)| Some((*name, (*order)?))).collect();
    let is_equal = |order: &Ordering| *order == Ordering::Equal;
    // Copies of one output agree in everything; outputs without a time may all state 0.
    if !known.is_empty()
        && known.iter().all(|(_, order)| is_equal(order))
        && (has_clock || last.number.is_some())
    {
        let problem = format!("the same output as {}", last.name);
        return Err(TreeError::of(&next.name, problem, "each output once"));
    }
    // Times of static boxes and numbers of copies may be equal, but none may decrease.
    let back = known.iter().find(|(_, order)| *order == Ordering::Greater);
    if let Some((name, _)) = back {
        let forth = known.iter().find(|(_, order)| *order == Ordering::Less);
        let problem = match forth {
            Some((other, _)) => {
                format!("its {other} is above that of {}, but its {name} is below", last.name)
            }
            None => format!("its {name} is below that of {}", last.name),
        };
        return Err(TreeError::of(&next.name, problem, "outputs of one run in order of time"));
    }
    Ok(())
}
