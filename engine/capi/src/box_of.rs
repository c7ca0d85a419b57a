//! What box are cells or particles in?

use crate::message::refused;
use inselberg::{Cosmology, Error, Geometry, Units};

/// The box that cells or particles are in. Fields that are not set must be 0.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct BoxOf {
    /// sizeof(inselberg_box).
    pub size: usize,
    /// Length of a cell of level 0, in the caller's unit of length. A cell of level l is 2^l times smaller.
    pub side: f64,
    /// Cells of level 0 along each axis: 1, 1, 1 for a cube.
    pub coarse: [i32; 3],
    /// Whether an axis wraps around: 0 or 1. For particles, all axes do or none.
    pub periodic: [i32; 3],
    /// Time, in the caller's unit, for catalogues.
    pub time: f64,
    /// Centimetres per unit of length. 0 in all three units: unknown.
    pub unit_length: f64,
    /// Grams per cubic centimetre per unit of density.
    pub unit_density: f64,
    /// Seconds per unit of time.
    pub unit_time: f64,
    /// Scale factor, 1 today. 0: no cosmology.
    pub aexp: f64,
    /// Hubble constant in km/s/Mpc.
    pub h0: f64,
    /// Matter density parameter.
    pub omega_m: f64,
    /// Dark-energy density parameter.
    pub omega_l: f64,
    /// Curvature density parameter.
    pub omega_k: f64,
    /// Baryon density parameter.
    pub omega_b: f64,
    /// Radiation density parameter.
    pub omega_r: f64,
    /// Density parameter of massive neutrinos, which matter does not include.
    pub omega_nu: f64,
    /// Pressure over density of dark energy today: w(a) = w0 + wa (1 - a). 0: -1, a cosmological constant.
    pub w0: f64,
    /// wa of the pressure over density of dark energy.
    pub wa: f64,
}

impl BoxOf {
    /// # Errors
    /// When there are less than 0 cells along an axis.
    pub(crate) fn geometry(&self) -> Result<Geometry, Error> {
        let mut coarse = [0; 3];
        for (axis, n) in coarse.iter_mut().zip(self.coarse) {
            *axis =
                u32::try_from(n).map_err(|_| refused(format!("{n} cells of level 0; expected 1 or more")))?;
        }
        let periodic = self.periodic.map(|flag| flag != 0);
        let mut geometry = Geometry::cube(self.side).coarse(coarse).periodic(periodic).time(self.time);
        let units = [self.unit_length, self.unit_density, self.unit_time];
        if units != [0.0; 3] {
            let [length, density, time] = units;
            geometry = geometry.units(Units { length, density, time });
        }
        if self.aexp != 0.0 {
            let Self { aexp, h0, omega_m, omega_l, omega_k, omega_b, omega_r, omega_nu, wa, .. } = *self;
            let w0 = if self.w0 == 0.0 { -1.0 } else { self.w0 };
            geometry = geometry.cosmology(Cosmology {
                aexp,
                h0,
                omega_m,
                omega_l,
                omega_k,
                omega_b,
                omega_r,
                omega_nu,
                w0,
                wa,
                ..Cosmology::default()
            });
        }
        Ok(geometry)
    }
}
