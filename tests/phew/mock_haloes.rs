//! A mock of nested haloes, as in the comparison of halo finders of Knebe et al. (2011): from particles to
//! bound haloes.
//!
//! A host of 1e14, a subhalo of 1e12 and one of 1e10 in that, in Msun/h, of particles of 1e8. Lengths are in
//! kpc/h, masses in 1e10 Msun/h, velocities in km/s. The box has the mean density of matter, without
//! particles outside the haloes and without expansion.

use crate::verify::nfw::{NfwHalo, direction};
use crate::verify::random::Random;
use inselberg::executor::Executor;
use inselberg::particle_mesh::{ParticleMeshConfig, ParticleSnapshot};
use inselberg::phew::params::{BoundRequest, FieldChoice, Persistence, PropertyChoice, Thresholds};
use inselberg::phew::run::run_on_particles;
use inselberg::phew::{PhewParams, PhewRequest};
use inselberg_comm::Comm;
use inselberg_io::catalogue::{Catalogue, Values};
use inselberg_io::particles::{Columns, MassOf, N_KINDS, ParticleHeader, ParticleInput, Species};
use inselberg_io::{NEWTON, ReadResult, Units};
use std::ops::Range;
use std::path::PathBuf;

/// Side of the box, and mass of a particle.
pub const SIDE: f64 = 10_700.0;
pub const PARTICLE: f64 = 0.01;

/// kpc, 1e10 Msun and km/s.
pub fn units() -> Units {
    let (length, mass, velocity) = (3.085_677_581e21, 1.988_41e43, 1e5);
    Units { length, density: mass / f64::powi(length, 3), time: length / velocity }
}

/// A halo of the mock and its particles.
struct Placed {
    halo: NfwHalo,
    centre: [f64; 3],
    rows: Range<usize>,
}

/// Particles in memory. Their identities are the rows.
#[derive(Clone)]
struct MockParticles {
    about: ParticleHeader,
    position: Vec<[f64; 3]>,
    velocity: Vec<[f32; 3]>,
}

impl MockParticles {
    fn new(position: Vec<[f64; 3]>, velocity: Vec<[f32; 3]>) -> Self {
        let species = Species {
            name: "PartType1".into(),
            kind: Some(1),
            n: position.len() as u64,
            mass: MassOf::Same(PARTICLE),
            is_double: true,
            has_ids: true,
            has_velocities: true,
            has_densities: false,
            has_weights: false,
            has_wind: false,
            problem: None,
        };
        let about = ParticleHeader {
            format: "memory",
            sides: Some([SIDE; 3]),
            periodic: true,
            time: 0.0,
            units: Some(units()),
            assumed_units: Vec::new(),
            boundary_is_assumed: false,
            notes: Vec::new(),
            sampled: [1.0; N_KINDS],
            cosmology: None,
            matter: None,
            softening: [None; N_KINDS],
            species: vec![species],
        };
        Self { about, position, velocity }
    }
}

impl ParticleInput for MockParticles {
    fn about(&self) -> &ParticleHeader {
        &self.about
    }

    fn read(&self, _species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()> {
        let rows = rows.start as usize..rows.end as usize;
        into.position.extend_from_doubles(&self.position[rows.clone()]);
        if let Some(mass) = &mut into.mass {
            mass.extend(rows.clone().map(|_| PARTICLE));
        }
        if let Some(id) = &mut into.id {
            id.extend(rows.clone().map(|row| row as u64));
        }
        if let Some(velocity) = &mut into.velocity {
            velocity.extend_from_slice(&self.velocity[rows]);
        }
        Ok(())
    }

    fn place_of(&self, _species: usize, row: u64) -> (PathBuf, String) {
        ("memory".into(), format!("row {row}"))
    }
}

/// A mock under construction.
struct Mock {
    random: Random,
    position: Vec<[f64; 3]>,
    velocity: Vec<[f32; 3]>,
    haloes: Vec<Placed>,
    motion: Vec<[f64; 3]>,
}

impl Mock {
    /// A host of 1e14 Msun/h at rest in the middle of the box.
    fn new(seed: u64) -> Self {
        Self::with_host(seed, HOST)
    }

    /// Another host there.
    fn with_host(seed: u64, host: [f64; 3]) -> Self {
        let (random, position, velocity) = (Random(seed), Vec::new(), Vec::new());
        let mut mock = Self { random, position, velocity, haloes: Vec::new(), motion: Vec::new() };
        mock.put(host, [0.5 * SIDE; 3], [0.0; 3]);
        mock
    }

    fn put(&mut self, [mass, radius, scale]: [f64; 3], centre: [f64; 3], motion: [f64; 3]) {
        let Units { density, time, .. } = units();
        let halo = NfwHalo { mass, radius, scale, newton: NEWTON * density * time * time };
        let first = self.position.len();
        for (x, v) in halo.particles((mass / PARTICLE).round() as usize, &mut self.random) {
            self.position.push(std::array::from_fn(|a| centre[a] + x[a]));
            self.velocity.push(std::array::from_fn(|a| (motion[a] + v[a]) as f32));
        }
        self.haloes.push(Placed { halo, centre, rows: first..self.position.len() });
        self.motion.push(motion);
    }

    /// Adds a halo at `distance` radii from the centre of another one, at right angles to a direction with
    /// the speed of a circle.
    fn put_in(&mut self, host: usize, of: [f64; 3], distance: f64) {
        let Placed { halo, centre, .. } = &self.haloes[host];
        let (r, along) = (distance * halo.radius, direction(&mut self.random));
        let other = direction(&mut self.random);
        let across = cross(along, other);
        let length = across.iter().map(|x| x * x).sum::<f64>().sqrt();
        let speed = (halo.newton * halo.enclosed(r) / r).sqrt() / length;
        let place = std::array::from_fn(|a| centre[a] + r * along[a]);
        let motion = std::array::from_fn(|a| self.motion[host][a] + speed * across[a]);
        self.put(of, place, motion);
    }

    /// The bound haloes that the whole pipeline finds.
    fn find(&self) -> Vec<Recovered> {
        let catalogue = self.search(&Search::default());
        self.haloes.iter().map(|placed| Recovered::new(placed, &catalogue)).collect()
    }

    /// The catalogue of the whole pipeline.
    fn search(&self, search: &Search) -> Catalogue {
        search_particles(self.position.clone(), self.velocity.clone(), search)
    }
}

/// The catalogue of the whole pipeline, of particles at these positions with these velocities. Their
/// identities are the rows.
pub fn search_particles(position: Vec<[f64; 3]>, velocity: Vec<[f32; 3]>, search: &Search) -> Catalogue {
    let mesh = ParticleMeshConfig {
        m_refine: search.m_refine,
        level_min: None,
        level_max: 20,
        kinds: std::array::from_fn(|kind| kind == 1),
        side: None,
        root_level: None,
    };
    let input = MockParticles::new(position, velocity);
    let snapshot = ParticleSnapshot::new(std::sync::Arc::new(input), &mesh).expect("particles");
    let config = PhewRequest {
        field: FieldChoice::Auto,
        params: PhewParams::from(Thresholds {
            density: search.density,
            persistence: Persistence::Ratio(search.persistence),
            significance: search.significance,
            saddle: search.saddle,
            halo_relevance: None,
            mass: 0.0,
            min_cells: 0,
        })
        .with_particles(true)
        .bound(BoundRequest {
            unbind: search.unbind,
            properties: PropertyChoice::Basic,
            with_members: search.unbind,
            ..BoundRequest::default()
        }),
    };
    let comm = Comm::solo();
    let found = run_on_particles(&snapshot, &mesh, &config, &comm, &Executor::default()).expect("clumps");
    found.catalogue.gather(&comm).expect("alone").expect("rank 0")
}

/// Settings in which searches differ.
pub struct Search {
    pub m_refine: u64,
    pub density: f64,
    pub persistence: f64,
    pub significance: Option<f64>,
    pub saddle: Option<f64>,
    pub unbind: bool,
}

impl Default for Search {
    fn default() -> Self {
        let density = 80.0;
        Self { m_refine: 8, density, persistence: 3.0, significance: None, saddle: Some(200.0), unbind: true }
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
}

/// Mass, radius and scale radius.
const HOST: [f64; 3] = [1e4, 947.0, 189.5];
const SUBHALO: [f64; 3] = [1e2, 204.0, 17.0];
const SUB_SUBHALO: [f64; 3] = [1.0, 44.0, 2.6];

/// A subhalo of `n` particles, shaped as [`SUB_SUBHALO`].
fn subhalo_of(n: usize) -> [f64; 3] {
    let [mass, radius, scale] = SUB_SUBHALO;
    let larger = (n as f64 * PARTICLE / mass).cbrt();
    [n as f64 * PARTICLE, radius * larger, scale * larger]
}

/// What is found of a halo: the clump whose most bound particle belongs to the halo. If there are several,
/// the largest.
#[derive(Debug, Clone, Copy, Default)]
struct Recovered {
    /// Number of bound particles, 0 if there is no such clump.
    n_bound: u64,
    /// How many of these belong to the halo.
    n_own: u64,
    /// Bound mass over true mass: of its clump alone, and with the clumps in it.
    mass: f64,
    inclusive: f64,
    /// Distance of the most bound particle from the true centre, as a part of the radius.
    offset: f64,
    /// Maximum circular velocity over the true one.
    velocity: f64,
    /// Number of clumps whose most bound particle belongs to the halo.
    n_clumps: usize,
    /// Whether the peak of a listed clump lies within a quarter of its radius.
    has_peak: bool,
}

impl Recovered {
    fn new(placed: &Placed, catalogue: &Catalogue) -> Self {
        let clumps = catalogue.table("clumps").expect("clumps");
        let values = |name: &str| &clumps.column(name).expect(name).values;
        let counts = |name: &str| match values(name) {
            Values::U64(list) => list.clone(),
            other => panic!("{name}: {other:?}"),
        };
        let reals = |name: &str| match values(name) {
            Values::F64(list) => list.clone(),
            other => panic!("{name}: {other:?}"),
        };
        let vectors = |name: &str| match values(name) {
            Values::F64x3(list) => list.clone(),
            other => panic!("{name}: {other:?}"),
        };
        let offset = |x: [f64; 3]| {
            let d2: f64 = (0..3).map(|a| (x[a] - placed.centre[a]).powi(2)).sum();
            d2.sqrt() / placed.halo.radius
        };
        let has_peak = vectors("peak_position").into_iter().any(|x| offset(x) < 0.25);
        let (n_bound, most_bound) = (counts("n_bound"), counts("most_bound_id"));
        let own: Vec<usize> = (0..n_bound.len())
            .filter(|i| n_bound[*i] > 0 && placed.rows.contains(&(most_bound[*i] as usize)))
            .collect();
        let Some(best) = own.iter().copied().max_by_key(|i| n_bound[*i]) else {
            return Self { has_peak, ..Self::default() };
        };
        let members =
            catalogue.table("members").and_then(|members| members.counts("id")).expect("identities");
        let first = counts("members_offset")[best] as usize;
        let members = &members[first..first + n_bound[best] as usize];
        Self {
            n_bound: n_bound[best],
            n_own: members.iter().filter(|id| placed.rows.contains(&(**id as usize))).count() as u64,
            mass: reals("bound_mass")[best] / placed.halo.mass,
            inclusive: reals("bound_mass_inclusive")[best] / placed.halo.mass,
            offset: offset(vectors("most_bound_position")[best]),
            velocity: reals("maximum_circular_velocity")[best] / placed.halo.maximum_circular_velocity(),
            n_clumps: own.len(),
            has_peak,
        }
    }

    fn row(&self) -> String {
        format!(
            "{} | {} | {} | {:.3} | {:.3} | {:.4} | {:.3}",
            self.n_clumps, self.n_bound, self.n_own, self.mass, self.inclusive, self.offset, self.velocity
        )
    }
}

/// Host and subhalo: centre within 1 % of the radius, maximum circular velocity within 5 %, bound mass within
/// 20 %. The sub-subhalo of 100 particles, whose patch has thousands of others in it: bound mass within 20 %,
/// and the rest as its numbers allow.
#[test]
fn host_subhalo_and_sub_subhalo_are_found_and_measured() {
    for seed in 1..=3 {
        let mut mock = Mock::new(seed);
        mock.put_in(0, SUBHALO, 0.5);
        mock.put_in(1, SUB_SUBHALO, 0.5);
        let found = mock.find();
        for found in &found {
            assert_eq!(found.n_clumps, 1, "seed {seed}: {found:?}");
            assert!((found.mass - 1.0).abs() < 0.2, "seed {seed}: {found:?}");
        }
        for found in &found[..2] {
            assert!(found.n_own as f64 > 0.96 * found.n_bound as f64, "seed {seed}: {found:?}");
            assert!(found.offset < 0.01, "seed {seed}: {found:?}");
            assert!((found.velocity - 1.0).abs() < 0.05, "seed {seed}: {found:?}");
        }
        assert!(found[2].n_own as f64 > 0.9 * found[2].n_bound as f64, "seed {seed}: {found:?}");
        assert!(found[2].offset < 0.1, "seed {seed}: {found:?}");
        assert!((found[2].velocity - 1.0).abs() < 0.1, "seed {seed}: {found:?}");
    }
}

/// For benches/results/README.md: what is found of subhaloes by number of particles and by distance from the
/// centre of the host.
#[test]
#[ignore = "prints tables"]
fn recovery_of_subhaloes() {
    println!(
        "| halo | clumps | bound | own | mass | inclusive | centre | V_max |\n|---|---|---|---|---|---|---|---|"
    );
    for seed in 1..=3 {
        let mut mock = Mock::new(seed);
        mock.put_in(0, SUBHALO, 0.5);
        mock.put_in(1, SUB_SUBHALO, 0.5);
        for (name, found) in ["host", "sub", "sub-sub"].iter().zip(mock.find()) {
            println!("| {name}, seed {seed} | {} |", found.row());
        }
    }
    for distance in [1.0, 0.5, 0.3, 0.2, 0.1, 0.05] {
        let mut mock = Mock::new(1);
        mock.put_in(0, SUBHALO, distance);
        println!("| sub at {distance} R | {} |", mock.find()[1].row());
    }
    println!(
        "\n| particles | peak of 40 | bound | median bound part | median offset |\n|---|---|---|---|---|"
    );
    for n in [20, 30, 50, 100, 200, 500] {
        let mut found = Vec::new();
        for seed in 1..=2 {
            let mut mock = Mock::new(seed);
            (0..20).for_each(|_| mock.put_in(0, subhalo_of(n), 0.5));
            found.extend(mock.find().into_iter().skip(1));
        }
        let seen: Vec<Recovered> = found.iter().copied().filter(|one| one.n_bound > 0).collect();
        let median = |of: fn(&Recovered) -> f64| {
            let mut list: Vec<f64> = seen.iter().map(of).collect();
            list.sort_by(f64::total_cmp);
            list.get(list.len() / 2).copied().unwrap_or(f64::NAN)
        };
        let n_peaks = found.iter().filter(|one| one.has_peak).count();
        let (mass, offset) = (median(|one| one.mass), median(|one| one.offset));
        println!("| {n} | {n_peaks} | {} | {mass:.2} | {offset:.3} |", seen.len());
    }
}

/// The clump with most of the particles of a halo in its patches, and how many of these it binds.
#[derive(Debug, Clone, Copy, Default)]
struct PatchOfHalo {
    /// Peak density over saddle density.
    persistence: f64,
    /// Particles in the patches of the clump, and how many of these belong to the halo.
    n_patch: usize,
    n_own: usize,
    /// Bound ones of the clump, where particles are unbound.
    n_bound: Option<u64>,
}

impl PatchOfHalo {
    /// The densest clump with its peak within a quarter of the radius; `None` if there is none.
    fn new(placed: &Placed, catalogue: &Catalogue) -> Option<Self> {
        let clumps = catalogue.table("clumps").expect("clumps");
        let offset = |x: &[f64; 3]| {
            (0..3).map(|a| (x[a] - placed.centre[a]).powi(2)).sum::<f64>().sqrt() / placed.halo.radius
        };
        let peaks = clumps.vectors("peak_position").expect("peaks");
        let row = (0..peaks.len()).find(|row| offset(&peaks[*row]) < 0.25)?;
        let id = clumps.counts("id").expect("identifiers")[row];
        let particles = catalogue.table("particles").expect("particles");
        let owner = particles.counts("clump").expect("clumps of particles");
        let ids = particles.integers("id").expect("identities");
        let inside: Vec<usize> = (0..ids.len()).filter(|i| owner[*i] == id).collect();
        let real = |name: &str| clumps.reals(name).expect(name)[row];
        Some(Self {
            persistence: real("density_peak") / real("saddle_density"),
            n_patch: inside.len(),
            n_own: inside.iter().filter(|i| placed.rows.contains(&(ids[**i] as usize))).count(),
            n_bound: clumps.counts("n_bound").map(|n_bound| n_bound[row]),
        })
    }
}

/// For benches/results/README.md: what limits the recovery. Patches need no unbinding, which takes most of
/// the time with the host.
#[test]
#[ignore = "prints tables"]
fn limits_of_recovery() {
    println!("| halo | m_refine | persistence | saddle | peak / saddle | in patch | own | bound |");
    println!("|---|---|---|---|---|---|---|---|");
    let settings = [(8, 3.0), (8, 1.5), (4, 3.0), (4, 1.5), (2, 3.0), (16, 3.0)];
    for seed in 1..=3 {
        let mut mock = Mock::new(seed);
        mock.put_in(0, SUBHALO, 0.5);
        mock.put_in(1, SUB_SUBHALO, 0.5);
        let mut alone = Mock::with_host(seed, SUBHALO);
        alone.put_in(0, SUB_SUBHALO, 0.5);
        for (m_refine, persistence) in settings {
            let search = Search { m_refine, persistence, unbind: false, ..Search::default() };
            let catalogue = mock.search(&search);
            print_patch(&format!("sub-sub, seed {seed}"), &mock.haloes[2], &search, &catalogue);
            let search = Search { unbind: true, ..search };
            let name = format!("sub-sub in the sub alone, seed {seed}");
            print_patch(&name, &alone.haloes[1], &search, &alone.search(&search));
        }
    }
    for distance in [1.0, 0.5, 0.3, 0.2, 0.1, 0.05] {
        let mut mock = Mock::new(1);
        mock.put_in(0, SUBHALO, distance);
        let [host, sub] = [0, 1].map(|i| &mock.haloes[i]);
        for (m_refine, persistence) in [(8, 3.0), (4, 3.0), (16, 3.0), (8, 1.5)] {
            let search = Search { m_refine, persistence, unbind: false, ..Search::default() };
            print_patch(&format!("sub at {distance} R"), sub, &search, &mock.search(&search));
        }
        let search = Search { saddle: None, unbind: false, ..Search::default() };
        print_patch(&format!("sub at {distance} R"), sub, &search, &mock.search(&search));
        println!("equal densities at {distance} R: {:.3} of its mass", sub_within(host, sub, distance));
    }
}

fn print_patch(name: &str, placed: &Placed, search: &Search, catalogue: &Catalogue) {
    let Search { m_refine, persistence, saddle, .. } = search;
    let saddle = saddle.map_or("none".into(), |saddle| saddle.to_string());
    let head = format!("| {name} | {m_refine} | {persistence} | {saddle} |");
    match PatchOfHalo::new(placed, catalogue) {
        None => println!("{head} no peak | | | |"),
        Some(PatchOfHalo { persistence, n_patch, n_own, n_bound }) => {
            let n_bound = n_bound.map_or("-".into(), |n| n.to_string());
            println!("{head} {persistence:.2} | {n_patch} | {n_own} | {n_bound} |");
        }
    }
}

/// The part of the mass of a subhalo within the radius where its density falls to that of its host at its
/// place.
fn sub_within(host: &Placed, sub: &Placed, distance: f64) -> f64 {
    let of_host = host.halo.density(distance * host.halo.radius);
    let (mut low, mut high) = (0.0, sub.halo.radius);
    for _ in 0..60 {
        let r = 0.5 * (low + high);
        if sub.halo.density(r) > of_host { low = r } else { high = r }
    }
    sub.halo.enclosed(low) / sub.halo.mass
}
