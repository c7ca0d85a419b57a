//! RAMSES's own units of unbinding, of an output.

use crate::bound::RamsesUnits;
use crate::phew::bound::input::BoundInput;
use inselberg_comm::{Comm, CommError};
use inselberg_io::{Cosmology, Header};
use inselberg_kernels::bound::Gravity;
use inselberg_kernels::geom::cell_side;

/// Collective: the units of an output of RAMSES.
///
/// # Errors
/// When another rank fails.
pub fn ramses_units(input: &BoundInput, comm: &Comm) -> Result<RamsesUnits, CommError> {
    let (header, mesh) = (input.snapshot.header(), &input.places.leaves().part.field.mesh);
    let n_levels = comm.all_max(&[f64::from(mesh.n_levels())])?[0] as u8;
    let finest = n_levels.checked_sub(1).map_or(1.0, cell_side);
    let domain = mesh.domain();
    let length = |a: usize| f64::from(domain.coarse[a]) * header.boxlen;
    Ok(RamsesUnits {
        gravity: gravity_of_ramses(header),
        finest_cell: finest * header.boxlen,
        period: std::array::from_fn(|a| if domain.periodic[a] { length(a) } else { f64::INFINITY }),
    })
}

/// Gravity as RAMSES's unbinding takes it, in the code units of a header of RAMSES: with a cosmology 3 Ω_m a
/// / (8 π), else 1. Its π has the digits that RAMSES writes, in single precision. There is no Hubble flow.
fn gravity_of_ramses(header: &Header) -> Gravity {
    #[allow(clippy::approx_constant, reason = "RAMSES's own digits")]
    const PI: f32 = 3.141_592_6;
    let of = |cosmology: &Cosmology| 3.0 / 8.0 / f64::from(PI) * cosmology.omega_m * cosmology.aexp;
    Gravity { g: header.cosmology.as_ref().map_or(1.0, of), hubble_flow: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_io::Units;

    #[test]
    fn gravity_is_that_of_code_units() {
        let cosmology =
            Cosmology { aexp: 0.25, h0: 70.0, omega_m: 0.3, omega_l: 0.7, ..Cosmology::default() };
        let header = Header {
            format: "ramses",
            number: None,
            time: 0.0,
            boxlen: 1.0,
            origin: [0.0; 3],
            coarse: [1; 3],
            periodic: [true; 3],
            levelmin: 1,
            levelmax: 2,
            units: Units { length: 1.0, density: 1.0, time: 1.0 },
            cosmology: Some(cosmology),
            n_pieces: 1,
        };
        let g = 3.0 * 0.3 * 0.25 / (8.0 * std::f64::consts::PI);
        assert!((gravity_of_ramses(&header).g / g - 1.0).abs() < 1e-7);
        let plain = gravity_of_ramses(&Header { cosmology: None, ..header });
        assert_eq!(plain, Gravity { g: 1.0, hubble_flow: 0.0 });
    }
}
