//! RAMSES's potential: a mass profile in 50 logarithmic bins about the density peak, integrated from outside.
//!
//! ```text
//!     r_0 = 0    r_i = least (most / least)^(i / 50)    r_50 = most, the distance of the farthest member
//!     phi_i = phi_(i+1) - (r_(i+1) - r_i) / 2 [G M_(i+1) / r_(i+1)² + G M_i / r_i²]    phi_50 = -G M_50 / r_50
//! ```
//!
//! At r_0 the second term in brackets is 0. Between bins phi is linear. A member on the border of two bins
//! belongs to the inner one. RAMSES's default parameters; the constant G is the caller's.

use super::super::Gravity;
use super::super::elementary::power;
use super::super::members::HaloMembers;
use super::super::slices::{BlockSums, Slices, greatest};

/// Number of bins.
const N_BINS: usize = 50;

/// The potential about a centre at the borders of bins.
#[derive(Debug, Clone, PartialEq)]
pub struct BinnedPotential {
    radius: [f64; N_BINS + 1],
    value: [f64; N_BINS + 1],
}

impl BinnedPotential {
    /// Of the listed members of all slices, with their distances. `least` is the side of a cell of the finest
    /// level. `None` if all members are at the centre. Two gatherings.
    ///
    /// # Errors
    /// Those of the slices.
    pub fn new<S: Slices>(
        members: &HaloMembers,
        list: &[u32],
        distance: &[f64],
        least: f64,
        gravity: &Gravity,
        slices: &S,
    ) -> Result<Option<Self>, S::Error> {
        let [most] = greatest(slices, [distance.iter().copied().fold(0.0, f64::max)])?;
        if most == 0.0 {
            return Ok(None);
        }
        let radius = borders(least, most);
        let bounds = members.bounds();
        let mut sums = BlockSums::new(bounds, [bounds.mass; N_BINS]);
        for run in members.runs(list) {
            let mut block = [0.0; N_BINS];
            for place in run {
                block[bin_of(&radius, distance[place]) - 1] += members.columns().mass[list[place] as usize];
            }
            sums.add(block);
        }
        let mut mass = [0.0; N_BINS + 1];
        for (bin, of_bin) in (1..).zip(sums.over(slices)?) {
            mass[bin] = mass[bin - 1] + of_bin;
        }
        Ok(Some(Self { radius, value: integral(&radius, &mass, gravity) }))
    }

    /// The potential at a distance from the centre; beyond the farthest member the last bin goes on.
    pub fn at(&self, distance: f64) -> f64 {
        let bin = bin_of(&self.radius, distance);
        let (inner, outer) = (self.radius[bin - 1], self.radius[bin]);
        let slope = (self.value[bin] - self.value[bin - 1]) / (outer - inner);
        slope * distance + (self.value[bin - 1] - slope * inner)
    }

    /// The potential at the distance of a clump's nearest border; 0 beyond the farthest member or without a
    /// border.
    pub fn at_border(&self, border: Option<f64>) -> f64 {
        border.filter(|border| *border <= self.radius[N_BINS]).map_or(0.0, |border| self.at(border))
    }
}

fn borders(least: f64, most: f64) -> [f64; N_BINS + 1] {
    std::array::from_fn(|i| match i {
        0 => 0.0,
        N_BINS => most,
        _ => least * power(most / least, i as f64 / N_BINS as f64),
    })
}

/// The first bin, from 1, whose outer border is not below a distance.
fn bin_of(radius: &[f64; N_BINS + 1], distance: f64) -> usize {
    (1..N_BINS).find(|bin| distance <= radius[*bin]).unwrap_or(N_BINS)
}

fn integral(radius: &[f64; N_BINS + 1], mass: &[f64; N_BINS + 1], gravity: &Gravity) -> [f64; N_BINS + 1] {
    let pull = |i: usize| if i > 0 { mass[i] / (radius[i] * radius[i]) } else { 0.0 };
    let mut value = [0.0; N_BINS + 1];
    value[N_BINS] = -gravity.g * mass[N_BINS] / radius[N_BINS];
    for i in (0..N_BINS).rev() {
        value[i] = value[i + 1] - 0.5 * gravity.g * (pull(i + 1) + pull(i)) * (radius[i + 1] - radius[i]);
    }
    value
}
