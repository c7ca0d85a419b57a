//! Are the values of each particle that was read valid?

use super::rows::RowRange;
use inselberg_io::particles::{Columns, EXPECTED_MASS, ParticleInput, Positions, SINK};
use inselberg_io::{ReadError, ReadResult};
use inselberg_kernels::simd::are_within;
use rayon::prelude::*;
use std::ops::Range;

/// Checks that all values are finite, all masses in a range, and every particle is in the box or at most one
/// side outside.
///
/// # Errors
/// The first particle with a problem.
pub fn check(
    input: &dyn ParticleInput,
    columns: &Columns,
    ranges: &[RowRange],
    masses: &Range<f64>,
    sides: Option<[f64; 3]>,
) -> ReadResult<()> {
    if are_valid(columns, masses, sides) {
        return Ok(());
    }
    check_each(input, ranges, |i| problem(columns, i, masses, sides))
}

/// Checks that every particle of a kind that counts has a mass above 0, where masses were read and are valid.
/// Clouds of sinks may have none: rows of an input whose rows have kinds of their own.
///
/// # Errors
/// The first particle without a mass.
pub fn check_have_mass(
    input: &dyn ParticleInput,
    columns: &Columns,
    ranges: &[RowRange],
    counts: impl Fn(u8) -> bool + Sync,
) -> ReadResult<()> {
    let Some(masses) = &columns.mass else { return Ok(()) };
    if masses.par_iter().all(|mass| *mass > 0.0) {
        return Ok(());
    }
    let is_needed = |i: usize| columns.kind.as_ref().is_none_or(|kinds| kinds[i] != SINK && counts(kinds[i]));
    check_each(input, ranges, |i| {
        let is_missing = masses[i] == 0.0 && is_needed(i);
        is_missing.then(|| (format!("mass {}", masses[i]), EXPECTED_MASS.into()))
    })
}

/// Finite numbers. Weighted masses may be any.
pub const FINITE: Range<f64> = f64::MIN..f64::INFINITY;

/// Masses that a particle may have.
pub const MASSES: Range<f64> = 0.0..f64::INFINITY;

/// Where a particle may be along an axis: in the box or at most one side outside.
fn around_box(side: f64) -> Range<f64> {
    -side..2.0 * side
}

/// Whether a place is in the box or at most one side outside.
pub fn is_around_box(at: [f64; 3], sides: [f64; 3]) -> bool {
    (0..3).all(|axis| around_box(sides[axis]).contains(&at[axis]))
}

/// Whether no particle has a [`problem`].
fn are_valid(columns: &Columns, in_range: &Range<f64>, sides: Option<[f64; 3]>) -> bool {
    let masses = columns.mass.as_deref().map_or(&[][..], |mass| mass.as_chunks().0);
    let velocities = columns.velocity.as_deref().unwrap_or(&[]);
    are_at(&columns.position, &sides.map_or([FINITE; 3], |sides| sides.map(around_box)))
        && all_within(masses, std::array::from_ref(in_range))
        && all_within(velocities, &[FINITE; 3])
}

/// Whether the coordinates of all positions are in the ranges of their axes.
pub fn are_at(positions: &Positions, ranges: &[Range<f64>; 3]) -> bool {
    match positions {
        Positions::Single(list) => all_within(list, ranges),
        Positions::Double(list) => all_within(list, ranges),
    }
}

/// Rows of one task.
const RUN: usize = 1 << 16;

fn all_within<T: Copy + Into<f64> + Sync, const D: usize>(rows: &[[T; D]], ranges: &[Range<f64>; D]) -> bool {
    rows.par_chunks(RUN).all(|run| are_within(run, ranges))
}

/// Checks each particle of consecutive ranges. `problem(i)` returns what is wrong with particle i, and what
/// was expected.
///
/// # Errors
/// The first particle with a problem, with its place in the input.
pub fn check_each(
    input: &dyn ParticleInput,
    ranges: &[RowRange],
    problem: impl Fn(usize) -> Option<(String, String)> + Sync,
) -> ReadResult<()> {
    let mut first = 0;
    for range in ranges {
        let n = range.n() as usize;
        let bad = (first..first + n).into_par_iter().find_first(|i| problem(*i).is_some());
        if let Some(i) = bad {
            let (path, place) = input.place_of(range.species, range.rows.start + (i - first) as u64);
            let (problem, expected) = problem(i).expect("it was found a moment ago");
            return Err(ReadError::content(&path, place, problem, expected));
        }
        first += n;
    }
    Ok(())
}

/// What is wrong with a particle, and what was expected.
fn problem(
    columns: &Columns,
    i: usize,
    masses: &Range<f64>,
    sides: Option<[f64; 3]>,
) -> Option<(String, String)> {
    let at = columns.position.get(i);
    if !at.iter().all(|x| x.is_finite()) {
        return Some((format!("position {at:?}"), "finite numbers".into()));
    }
    if let Some(sides) = sides.filter(|sides| !is_around_box(at, *sides)) {
        return Some((format!("position {at:?} is far outside the box"), format!("a box of {sides:?}")));
    }
    if let Some(mass) = columns.mass.as_ref().map(|mass| mass[i])
        && !masses.contains(&mass)
    {
        return Some((format!("mass {mass}"), "a finite mass, 0 or more".into()));
    }
    let velocity = columns.velocity.as_ref().map(|v| v[i]);
    velocity
        .filter(|v| !v.iter().all(|v| v.is_finite()))
        .map(|v| (format!("velocity {v:?}"), "finite numbers".into()))
}

/// Brings particles that are outside a periodic box into it. Coordinates equal to a side stay: both ends are
/// allowed here, unlike in `kernels::geom::fold`.
pub fn wrap(position: &mut Positions, sides: [f64; 3]) {
    let wrapped = |x: f64, side: f64| match x {
        x if x < 0.0 => x + side,
        x if x > side => x - side,
        x => x,
    };
    match position {
        Positions::Double(v) => v.par_iter_mut().for_each(|x| {
            *x = std::array::from_fn(|a| wrapped(x[a], sides[a]));
        }),
        Positions::Single(v) => v.par_iter_mut().for_each(|x| {
            *x = std::array::from_fn(|a| {
                let wrapped = wrapped(f64::from(x[a]), sides[a]) as f32;
                // Rounding may exceed the side, which is the same place as 0.
                if f64::from(wrapped) > sides[a] { 0.0 } else { wrapped }
            });
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is not valid has a problem, and the other way round.
    #[test]
    fn rows_are_valid_if_none_has_a_problem() {
        let special =
            [0.0, -0.0, 1.0, 9.9, 10.0, 20.0, -10.0, -10.1, f64::NAN, f64::INFINITY, -f64::INFINITY];
        for (x, sides) in special.into_iter().flat_map(|x| [None, Some([10.0; 3])].map(|sides| (x, sides))) {
            for column in 0..4 {
                let mut columns = Columns {
                    position: Positions::Double(vec![[5.0; 3]; 100]),
                    mass: Some(vec![1.0; 100]),
                    id: None,
                    kind: None,
                    velocity: Some(vec![[-1.0; 3]; 100]),
                    density: None,
                };
                match column {
                    0 => columns.position = Positions::Double(vec![[5.0, x, 5.0]; 100]),
                    1 => columns.position = Positions::Single(vec![[5.0, 5.0, x as f32]; 100]),
                    2 => columns.mass = Some(vec![x; 100]),
                    _ => columns.velocity = Some(vec![[x as f32, 0.0, 0.0]; 100]),
                }
                let has_none = (0..100).all(|i| problem(&columns, i, &MASSES, sides).is_none());
                assert_eq!(
                    are_valid(&columns, &MASSES, sides),
                    has_none,
                    "{x} in column {column}, {sides:?}"
                );
            }
        }
    }
}
