//! Are the values of each particle that was read valid?

use crate::fof::types::RowRange;
use inselberg_io::particles::{Columns, ParticleInput, Positions};
use inselberg_io::{ReadError, ReadResult};
use rayon::prelude::*;

/// Checks that all values are finite, no mass is negative, and every particle is in the box or at most one side outside.
///
/// # Errors
/// The first particle with a problem.
pub fn check(
    input: &dyn ParticleInput,
    columns: &Columns,
    ranges: &[RowRange],
    sides: Option<[f64; 3]>,
) -> ReadResult<()> {
    check_each(input, ranges, |i| problem(columns, i, sides))
}

/// Checks each particle of consecutive ranges. `problem(i)` returns what is wrong with particle i, and what was expected.
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
        let n = (range.rows.end - range.rows.start) as usize;
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
fn problem(columns: &Columns, i: usize, sides: Option<[f64; 3]>) -> Option<(String, String)> {
    let at = columns.position.get(i);
    if !at.iter().all(|x| x.is_finite()) {
        return Some((format!("position {at:?}"), "finite numbers".into()));
    }
    if let Some(sides) = sides
        && (0..3).any(|a| at[a] < -sides[a] || at[a] >= 2.0 * sides[a])
    {
        return Some((format!("position {at:?} is far outside the box"), format!("a box of {sides:?}")));
    }
    if let Some(mass) = columns.mass.as_ref().map(|mass| mass[i])
        && !(mass.is_finite() && mass >= 0.0)
    {
        return Some((format!("mass {mass}"), "a finite mass, 0 or more".into()));
    }
    let velocity = columns.velocity.as_ref().map(|v| v[i]);
    velocity
        .filter(|v| !v.iter().all(|v| v.is_finite()))
        .map(|v| (format!("velocity {v:?}"), "finite numbers".into()))
}

/// Brings particles that are outside a periodic box into it. Coordinates equal to a side stay: both ends are allowed here,
/// unlike in `kernels::geom::fold`.
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
