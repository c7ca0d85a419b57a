//! The strength of gravity and the expansion in the code units of an input.

use inselberg_io::{Cosmology, NEWTON, Units};
use inselberg_kernels::bound::Gravity;

/// Gravity for positions, velocities and masses in code units. The code length is physical at the time of the
/// output, so there is no expansion factor in it. Without a cosmology there is no expansion.
pub fn gravity(units: &Units, cosmology: Option<&Cosmology>) -> Gravity {
    let hubble = cosmology.map_or(0.0, Cosmology::hubble_rate);
    Gravity { g: NEWTON * units.density * units.time * units.time, hubble_flow: hubble * units.time }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_io::HUBBLE_100;

    /// RAMSES's code units of a cosmological run: there, G is 3 Ω_m a / (8 π), and H is a² H(a) / H0.
    #[test]
    fn units_of_ramses_give_the_gravity_of_ramses() {
        let (a, omega_m, h0) = (0.25, 0.3, 70.0);
        let hubble_0 = h0 / 100.0 * HUBBLE_100;
        let density = 3.0 * omega_m * hubble_0 * hubble_0 / (8.0 * std::f64::consts::PI * NEWTON);
        let units = Units { length: a * 1e26, density: density / (a * a * a), time: a * a / hubble_0 };
        let cosmology = Cosmology { aexp: a, h0, omega_m, omega_l: 0.7, ..Cosmology::default() };
        let found = gravity(&units, Some(&cosmology));
        let g = 3.0 * omega_m * a / (8.0 * std::f64::consts::PI);
        assert!((found.g / g - 1.0).abs() < 1e-12, "{found:?}");
        let rate = a * a * (omega_m / a.powi(3) + 0.7).sqrt();
        assert!((found.hubble_flow / rate - 1.0).abs() < 1e-12, "{found:?}");
    }
}
