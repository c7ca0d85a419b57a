//! A satellite that flies through the centre of its host, where it has no density peak.
//!
//! Host and satellite are Plummer spheres in equilibrium, and the satellite moves through the host as a whole.
//! So its members are known in every output. The particles are in the memory of a program.

use inselberg::{Catalogue, Engine, Geometry, OpenParticles, ParticleColumns, Units};
use inselberg_io::NEWTON;
use std::collections::{BTreeMap, BTreeSet};

/// Reals in [0, 1).
pub type Uniform<'a> = dyn FnMut() -> f64 + 'a;

/// Positions and velocities of the particles of an output.
pub type Output = (Vec<[f64; 3]>, Vec<[f32; 3]>);

pub const N_HOST: usize = 5000;
pub const N_SATELLITE: usize = 250;

/// Distance of the satellite from the centre of the host in each output.
pub const PATH: [f64; 5] = [0.3, 0.12, 0.0, -0.07, -0.3];

/// The output in which the satellite is at the centre.
pub const CENTRE: usize = 2;

/// Offsets and velocities of a Plummer sphere of this mass and scale length, with G = 1 (Aarseth et al. 1974).
/// It ends at four scale lengths.
pub fn plummer(n: usize, mass: f64, scale: f64, real: &mut Uniform) -> Vec<([f64; 3], [f64; 3])> {
    let direction = |real: &mut Uniform| {
        let (z, angle) = (2.0 * real() - 1.0, std::f64::consts::TAU * real());
        let across = (1.0 - z * z).sqrt();
        [across * angle.cos(), across * angle.sin(), z]
    };
    let member = |_| {
        let r = loop {
            let r = ((1.0 - real()).powf(-2.0 / 3.0) - 1.0).powf(-0.5);
            if r < 4.0 {
                break r;
            }
        };
        let escape = (2.0 / (1.0 + r * r).sqrt()).sqrt();
        let q = loop {
            let (q, height) = (real(), 0.1 * real());
            if height < q * q * (1.0 - q * q).powf(3.5) {
                break q;
            }
        };
        let (x, v) = (direction(real), direction(real));
        (x.map(|x| x * r * scale), v.map(|v| v * q * escape * (mass / scale).sqrt()))
    };
    (0..n).map(member).collect()
}

/// Positions and velocities of all particles in each output of a path. Those of the satellite come first.
pub fn series(path: &[f64], has_sunk: bool, real: &mut Uniform) -> Vec<Output> {
    let mass = N_SATELLITE as f64 / N_HOST as f64;
    let satellite = plummer(N_SATELLITE, mass, 0.012, real);
    let host = plummer(N_HOST, 1.0, 0.03, real);
    let output = |x: &f64| {
        let of = |members: &[([f64; 3], [f64; 3])], at: f64, speed: f64| -> Vec<([f64; 3], [f32; 3])> {
            let moved = |(d, v): &([f64; 3], [f64; 3])| {
                ([0.5 + at + d[0], 0.5 + d[1], 0.5 + d[2]], [v[0] + speed, v[1], v[2]].map(|v| v as f32))
            };
            members.iter().map(moved).collect()
        };
        // It falls freely, or has come to rest at the centre.
        let is_at_rest = has_sunk && *x == 0.0;
        let speed = if is_at_rest { 0.0 } else { -(2.0 / (x * x + 0.03 * 0.03).sqrt()).sqrt() };
        of(&satellite, *x, speed).into_iter().chain(of(&host, 0.0, 0.0)).unzip()
    };
    path.iter().map(output).collect()
}

/// The particles of output `number` that this rank holds: every third one or so, not in the order of identities.
pub fn hold(
    engine: &mut Engine,
    number: usize,
    (position, velocity): &Output,
    (rank, n_ranks): (usize, usize),
) -> OpenParticles {
    let units = Units { length: 1.0, density: 1.0, time: NEWTON.powf(-0.5) };
    let rows: Vec<usize> = (0..position.len()).filter(|row| (row / 7) % n_ranks == rank).collect();
    let position: Vec<[f64; 3]> = rows.iter().map(|row| position[*row]).collect();
    let velocity: Vec<[f32; 3]> = rows.iter().map(|row| velocity[*row]).collect();
    let id: Vec<u64> = rows.iter().map(|row| id_of(*row)).collect();
    let mass = vec![1.0 / N_HOST as f64; rows.len()];
    let geometry = Geometry::cube(1.0).units(units).time(number as f64);
    let columns = ParticleColumns::new(geometry, &position).masses(&mass).ids(&id).velocities(&velocity);
    engine.hold_particles(&columns).expect("held")
}

/// The identity of a row.
pub fn id_of(row: usize) -> u64 {
    (row as u64 * 7919) % (N_HOST + N_SATELLITE) as u64 + 1
}

/// The row of the clump with most members of the satellite and few others.
pub fn satellite(catalogue: &Catalogue) -> Option<usize> {
    let (clumps, members) = (catalogue.table("clumps").expect("clumps"), catalogue.table("members"));
    let of_clump = members.expect("members").counts("clump").expect("clumps").iter();
    let ids = members.expect("members").identities("id").expect("identities");
    let own: BTreeSet<u64> = (0..N_SATELLITE).map(id_of).collect();
    let mut counts = BTreeMap::<u64, [usize; 2]>::new();
    of_clump
        .zip(ids)
        .for_each(|(clump, id)| counts.entry(*clump).or_default()[usize::from(own.contains(id))] += 1);
    let is_satellite = |n: &[usize; 2]| n[1] > N_SATELLITE * 8 / 10 && n[0] < N_SATELLITE / 5;
    let clump = counts.iter().find(|(_, n)| is_satellite(n)).map(|(clump, _)| *clump)?;
    clumps.counts("id").expect("identifiers").iter().position(|id| *id == clump)
}
