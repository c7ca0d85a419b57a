//! Whether particles are what they can be, one by one.

use crate::fof::load::RowRange;
use inselberg_io::particles::{Columns, ParticleInput, Positions};
use inselberg_io::{ReadError, ReadResult};
use rayon::prelude::*;

/// That every number is one, and every particle in or about the box.
pub fn check(
    input: &dyn ParticleInput,
    columns: &Columns,
    stretches: &[RowRange],
    sides: Option<[f64; 3]>,
) -> ReadResult<()> {
    check_each(input, stretches, |i| problem(columns, i, sides))
}

/// That there is no problem with any particle of some stretches, which follow each other. A problem comes with what was
/// expected instead; the first is told with its place in the input.
pub fn check_each(
    input: &dyn ParticleInput,
    stretches: &[RowRange],
    problem: impl Fn(usize) -> Option<(String, String)> + Sync,
) -> ReadResult<()> {
    let mut first = 0;
    for stretch in stretches {
        let n = (stretch.rows.end - stretch.rows.start) as usize;
        let bad = (first..first + n).into_par_iter().find_first(|i| problem(*i).is_some());
        if let Some(i) = bad {
            let (path, place) = input.place_of(stretch.species, stretch.rows.start + (i - first) as u64);
            let (problem, expected) = problem(i).unwrap_or_default();
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

/// Brings what is outside a periodic box into it, and leaves all else as it is.
pub fn wrap(position: &mut Positions, sides: [f64; 3]) {
    let within = |x: f64, side: f64| match x {
        x if x < 0.0 => x + side,
        x if x > side => x - side,
        x => x,
    };
    match position {
        Positions::Double(v) => v.par_iter_mut().for_each(|x| {
            *x = std::array::from_fn(|a| within(x[a], sides[a]));
        }),
        Positions::Single(v) => v.par_iter_mut().for_each(|x| {
            *x = std::array::from_fn(|a| {
                let wrapped = within(f64::from(x[a]), sides[a]) as f32;
                // Rounded out of the box: its other end is the same place.
                if f64::from(wrapped) > sides[a] { 0.0 } else { wrapped }
            });
        }),
    }
}
