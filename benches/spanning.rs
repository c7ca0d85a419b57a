//! Memory and time of one group that has half of all particles, on one rank and on several.
//!
//!     cargo bench -p inselberg --features mpi --bench spanning -- [particles, 2e6] [members | so | spheres] [whole]
//!     mpirun --oversubscribe -n 8 target/release/deps/spanning-* [particles] [members | so | spheres] [whole]
//!
//! The group is a Hernquist sphere; the other particles are spread over the box. Each rank reads its share.
//! The bench prints the peak memory of each process, as Linux counts it, the number of bound particles, and
//! the seconds of all. `members` (the default) finds all properties of bound particles and lists these; `so`
//! finds spheres of given mean density as well; `spheres` finds only these, and nothing is unbound. With
//! `whole` every group and its spheres are on one rank.

#[path = "common/memory.rs"]
mod memory;
#[path = "common/random.rs"]
mod random;

use inselberg::bound::SpanRules;
use inselberg::executor::Executor;
use inselberg::fof::{FofRequest, run_fof};
use inselberg::{BoundRequest, Cosmology, FofParams, Linking, PropertyChoice, Units};
use inselberg_comm::{Comm, Reduce};
use inselberg_io::ReadResult;
use inselberg_io::particles::{
    Columns, DARK_MATTER, MassOf, N_KINDS, ParticleHeader, ParticleInput, Species,
};
use memory::memory;
use std::ops::Range;
use std::path::PathBuf;

/// Side of the box, scale length and radius of the group.
const SIDE: f64 = 100.0;
const SCALE: f64 = 0.2;
const RADIUS: f64 = 2.0;

/// The constant of gravity in cgs.
const NEWTON: f64 = 6.674_30e-8;

/// Particles that are made when they are read.
struct HalfInOne {
    header: ParticleHeader,
    n: u64,
}

impl HalfInOne {
    fn new(n: u64) -> Self {
        let density = 1e-30;
        // The constant of gravity is 1, and so is the mass of the group.
        let units = Units { length: 3e24, density, time: (1.0 / (NEWTON * density)).sqrt() };
        let species = Species {
            name: "PartType1".into(),
            kind: Some(DARK_MATTER),
            n,
            mass: MassOf::Each,
            is_double: true,
            has_ids: true,
            has_velocities: true,
            has_densities: false,
            has_weights: false,
            has_wind: false,
            problem: None,
        };
        let header = ParticleHeader {
            format: "made",
            sides: Some([SIDE; 3]),
            periodic: true,
            time: 1.0,
            units: Some(units),
            assumed_units: Vec::new(),
            boundary_is_assumed: false,
            notes: Vec::new(),
            sampled: [1.0; N_KINDS],
            cosmology: Some(Cosmology {
                aexp: 1.0,
                h0: 1.0,
                omega_m: 0.3,
                omega_l: 0.7,
                omega_b: 0.05,
                ..Cosmology::default()
            }),
            matter: None,
            softening: [None; N_KINDS],
            species: vec![species],
        };
        Self { header, n }
    }

    /// Position and velocity of a particle. Those with even numbers are in the group.
    fn particle(&self, i: u64) -> ([f64; 3], [f32; 3]) {
        let mut bits = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut unit = || random::unit(&mut bits);
        if i % 2 == 1 {
            return (std::array::from_fn(|_| SIDE * unit()), [0.0; 3]);
        }
        let most = RADIUS / (RADIUS + SCALE);
        let part = most * unit().sqrt();
        let r = SCALE * part / (1.0 - part);
        let direction = |z: f64, turn: f64| {
            let flat = (1.0 - z * z).sqrt();
            let angle = turn * std::f64::consts::TAU;
            [flat * angle.cos(), flat * angle.sin(), z]
        };
        let (x, v) = (direction(2.0 * unit() - 1.0, unit()), direction(2.0 * unit() - 1.0, unit()));
        // One in twenty escapes.
        let escape = (2.0 / (r + SCALE)).sqrt();
        let speed = escape * if unit() < 0.05 { 1.5 } else { 0.8 * unit() };
        (std::array::from_fn(|a| 0.5 * SIDE + r * x[a]), v.map(|v| (speed * v) as f32))
    }
}

impl ParticleInput for HalfInOne {
    fn about(&self) -> &ParticleHeader {
        &self.header
    }

    fn rows_at_a_time(&self) -> u64 {
        1 << 16
    }

    fn read(&self, _species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()> {
        for row in rows {
            let (position, velocity) = self.particle(row);
            into.position.extend_from_doubles(&[position]);
            into.mass.iter_mut().for_each(|list| list.push(2.0 / self.n as f64));
            into.id.iter_mut().for_each(|list| list.push(row));
            into.velocity.iter_mut().for_each(|list| list.push(velocity));
        }
        Ok(())
    }

    fn place_of(&self, species: usize, row: u64) -> (PathBuf, String) {
        (species.to_string().into(), row.to_string())
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let n = args.first().map_or(2e6, |n| n.parse::<f64>().expect("a number of particles")) as u64;
    let (unbind, properties) = match args.get(1).map(String::as_str) {
        Some("so") => (true, PropertyChoice::All),
        Some("spheres") => (false, PropertyChoice::Spheres),
        _ => (true, PropertyChoice::Bound),
    };
    let fewest = args.get(2).filter(|word| *word == "whole").map(|_| u64::MAX);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build_global();
    pool.expect("the first pool");
    let comm = Comm::mpi().build().expect("MPI");
    let bound = BoundRequest {
        unbind,
        properties,
        with_members: unbind,
        spanning: SpanRules { fewest, ..SpanRules::default() },
        ..BoundRequest::default()
    };
    // Where the group is dilute, its particles are 0.1 apart or less.
    let linking = 0.15 * (2e6 / n as f64).cbrt();
    let params = FofParams::default().linking(Linking::Length(linking)).min_size(1000);
    let request = FofRequest::of_dark_matter(params.bound(bound).softening(0.001));
    let start = std::time::Instant::now();
    let outcome = run_fof(&HalfInOne::new(n), &request, &comm, &Executor::default()).expect("groups");
    let seconds = start.elapsed().as_secs_f64();
    let of_rank = comm.all_gather(&[memory("VmHWM:").expect("Linux")]).expect("all ranks");
    let groups = outcome.catalogue.tables.iter().find(|part| part.table.name == "Groups").expect("groups");
    let own: u64 = groups.table.counts("n_bound").map_or(0, |counts| counts.iter().sum());
    let n_bound = comm.all_reduce_counts(&[own], Reduce::Sum).expect("all ranks")[0];
    if comm.rank().0 == 0 {
        let mb = |bytes: &u64| (bytes / 1_000_000).to_string();
        let peaks: Vec<String> = of_rank.iter().map(mb).collect();
        println!(
            "{n} particles, {} ranks, {n_bound} bound, {seconds:.1} s, peaks in MB: {}",
            of_rank.len(),
            peaks.join(" ")
        );
    }
}
