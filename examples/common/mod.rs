//! Particles that the examples share: two spheres in a thin background.

use inselberg::{Geometry, ParticleColumns, Units};

/// Gravitational constant in cgs.
const G: f64 = 6.6743e-8;

/// Particles of a program, in a box with side 1 and units in which the gravitational constant is 1.
pub struct Particles {
    pub geometry: Geometry,
    pub position: Vec<[f64; 3]>,
    velocity: Vec<[f64; 3]>,
    mass: Vec<f64>,
    id: Vec<u64>,
}

impl Particles {
    /// Spheres of 1000 and 300 particles that fall towards each other for a time, and 1000 particles around.
    pub fn at(time: f64) -> Self {
        let lattice =
            (0..1000_u32).map(|i| [i % 10, i / 10 % 10, i / 100].map(|x| (f64::from(x) + 0.5) / 10.0));
        let mut all = Self {
            geometry: Geometry::cube(1.0).time(time).units(Units {
                length: 1.0,
                density: 1.0,
                time: G.powf(-0.5),
            }),
            position: lattice.collect(),
            velocity: vec![[0.0; 3]; 1000],
            mass: vec![1e-4; 1000],
            id: Vec::new(),
        };
        all.add_sphere(1000, [0.35 + 0.2 * time, 0.5, 0.5], 0.2);
        all.add_sphere(300, [0.75 - 0.4 * time, 0.55, 0.5], -0.4);
        all.id = (1..=all.position.len() as u64).collect();
        all
    }

    /// Shells of the profile of Plummer with a scale of 0.02, which all move along x.
    fn add_sphere(&mut self, n: u32, centre: [f64; 3], along_x: f64) {
        for i in 0..n {
            let (part, angle) = ((f64::from(i) + 0.5) / f64::from(n), 2.4 * f64::from(i));
            let radius = 0.02 / (part.powf(-2.0 / 3.0) - 1.0).sqrt();
            let z = 1.0 - 2.0 * (f64::from(i) * 0.618).fract();
            let across = (1.0 - z * z).sqrt();
            let direction = [across * angle.cos(), across * angle.sin(), z];
            self.position
                .push(std::array::from_fn(|a| (centre[a] + radius.min(0.15) * direction[a]).rem_euclid(1.0)));
            self.velocity.push([along_x, 0.0, 0.0]);
            self.mass.push(1e-4);
        }
    }

    /// The columns as the library takes them.
    pub fn columns(&self) -> ParticleColumns<'_> {
        ParticleColumns::new(self.geometry.clone(), &self.position)
            .velocities(&self.velocity)
            .masses(&self.mass)
            .ids(&self.id)
    }
}
