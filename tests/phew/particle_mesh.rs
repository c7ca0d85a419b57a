//! PHEW on a mesh that is made from particles: the definition of the mesh, the densities of the whole mesh
//! bit for bit, ranks and threads, and damage.

use crate::common::compare::{assert_same, bits};
use crate::verify::random::Random;
use inselberg::density::{PointMasses, Scheme, deposit};
use inselberg::executor::Executor;
use inselberg::field::AmrField;
use inselberg::field::test_cells;
use inselberg::particle_mesh::{MeshUse, ParticleMesh, ParticleMeshConfig, ParticleSnapshot, grow};
use inselberg::phew::hierarchy::structures;
use inselberg::phew::params::{FieldChoice, Persistence, Thresholds};
use inselberg::phew::run::run_on_particles;
use inselberg::phew::segment::{Task, segment};
use inselberg::phew::tables::{clumps_table, known_properties};
use inselberg::phew::test_fields::TestFields;
use inselberg::phew::test_links::ALONE;
use inselberg::phew::{PhewParams, PhewRequest, Rules};
use inselberg::progress::Silent;
use inselberg_comm::{Comm, run_threads};
use inselberg_io::ReadResult;
use inselberg_io::catalogue::Catalogue;
use inselberg_io::particles::{Columns, MassOf, N_KINDS, ParticleHeader, ParticleInput, Species};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::phew::hierarchy::Cut;
use inselberg_tasks::ThreadPool;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;

pub const SIDE: f64 = 10.0;

/// Particles in memory.
#[derive(Debug, Clone)]
pub struct Given {
    about: ParticleHeader,
    pub position: Vec<[f64; 3]>,
    pub mass: Vec<f64>,
    /// Densities that the input has.
    pub density: Option<Vec<f32>>,
}

impl Given {
    pub fn new(position: Vec<[f64; 3]>, mass: Vec<f64>, periodic: bool) -> Self {
        let species = Species {
            name: "PartType1".into(),
            kind: Some(1),
            n: position.len() as u64,
            mass: MassOf::Each,
            is_double: true,
            has_ids: true,
            has_velocities: false,
            has_densities: false,
            has_weights: false,
            has_wind: false,
            problem: None,
        };
        let about = ParticleHeader {
            format: "memory",
            sides: Some([SIDE; 3]),
            periodic,
            time: 0.0,
            units: None,
            assumed_units: Vec::new(),
            boundary_is_assumed: false,
            notes: Vec::new(),
            sampled: [1.0; N_KINDS],
            cosmology: None,
            matter: None,
            softening: [None; N_KINDS],
            species: vec![species],
        };
        Self { about, position, mass, density: None }
    }

    /// The same particles with densities.
    pub fn densities(mut self, density: Vec<f32>) -> Self {
        self.about.species[0].has_densities = true;
        Self { density: Some(density), ..self }
    }

    pub fn is_periodic(&self) -> bool {
        self.about.periodic
    }

    pub fn mean(&self) -> f64 {
        self.mass.iter().sum::<f64>() / SIDE.powi(3)
    }
}

impl ParticleInput for Given {
    fn about(&self) -> &ParticleHeader {
        &self.about
    }

    fn read(&self, _species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()> {
        let rows = rows.start as usize..rows.end as usize;
        into.position.extend_from_doubles(&self.position[rows.clone()]);
        if let Some(mass) = &mut into.mass {
            mass.extend_from_slice(&self.mass[rows.clone()]);
        }
        if let (Some(to), Some(given)) = (&mut into.density, &self.density) {
            to.extend_from_slice(&given[rows.clone()]);
        }
        if let Some(id) = &mut into.id {
            id.extend(rows.map(|row| 1000 + row as u64));
        }
        Ok(())
    }

    fn rows_at_a_time(&self) -> u64 {
        100
    }

    fn place_of(&self, _species: usize, row: u64) -> (PathBuf, String) {
        ("memory".into(), format!("row {row}"))
    }
}

pub fn config(m_refine: u64, levels: Range<u8>) -> ParticleMeshConfig {
    ParticleMeshConfig {
        m_refine,
        level_min: Some(levels.start),
        level_max: levels.end,
        kinds: [false, true, false, false, false, false, false],
        side: None,
        root_level: None,
    }
}

/// Clumps, some of them at the sides of the box and of cells, points given many times, and particles
/// anywhere.
pub fn clumped(n: usize, salt: u64) -> Vec<[f64; 3]> {
    let mut random = Random(salt);
    let centres: Vec<[f64; 3]> = (0..4)
        .map(|_| {
            std::array::from_fn(|_| match random.chance(0.4) {
                true => random.below(9) as f64 / 8.0,
                false => random.real(),
            })
        })
        .collect();
    let mut positions: Vec<[f64; 3]> = Vec::new();
    for i in 0..n {
        let centre = centres[random.below(centres.len())];
        let width = 0.3 * random.real().powi(6);
        let near = |c: f64, random: &mut Random| (c + width * (random.real() - 0.5)).rem_euclid(1.0);
        let place = match random.below(8) {
            0 => std::array::from_fn(|_| random.real()),
            1 => std::array::from_fn(|_| random.below(64) as f64 / 64.0),
            2 if i > 0 => positions[random.below(i)].map(|x| x / SIDE),
            _ => centre.map(|c| near(c, &mut random)),
        };
        positions.push(place.map(|x| if x * SIDE < SIDE { x * SIDE } else { 0.0 }));
    }
    positions
}

/// Which cells are split below `level_min`, by the definition.
fn split_cells(given: &Given, config: &ParticleMeshConfig) -> Vec<HashSet<[u32; 3]>> {
    let mut split = vec![HashSet::<[u32; 3]>::new(); usize::from(config.level_max) + 1];
    let (least, periodic) = (config.level_min.expect("a level"), given.about.periodic);
    for level in (least..config.level_max).rev() {
        let n = i64::from(1u32 << level);
        let mut counts = BTreeMap::<[u32; 3], u64>::new();
        for x in &given.position {
            *counts.entry(x.map(|x| (x / SIDE * n as f64) as u32)).or_default() += 1;
        }
        let crowded = counts.into_iter().filter(|(_, count)| *count > config.m_refine).map(|(cell, _)| cell);
        let mut here: HashSet<[u32; 3]> = crowded.collect();
        for cell in &split[usize::from(level) + 1] {
            for step in 0..27_i64 {
                let step = [step % 3 - 1, step / 3 % 3 - 1, step / 9 - 1];
                let at: [i64; 3] = std::array::from_fn(|a| i64::from(cell[a]) + step[a]);
                if periodic || at.iter().all(|x| (0..2 * n).contains(x)) {
                    here.insert(at.map(|x| (x.rem_euclid(2 * n) / 2) as u32));
                }
            }
        }
        split[usize::from(level)] = here;
    }
    split
}

fn leaves(given: &Given, config: &ParticleMeshConfig) -> Vec<(u8, [u32; 3])> {
    let split = split_cells(given, config);
    let mut leaves = Vec::new();
    let mut open = vec![(0u8, [0u32; 3])];
    while let Some((level, at)) = open.pop() {
        if Some(level) < config.level_min || split[usize::from(level)].contains(&at) {
            let child = |i: u32| std::array::from_fn(|a| 2 * at[a] + (i >> a & 1));
            open.extend((0..8).map(|i| (level + 1, child(i))));
        } else {
            leaves.push((level, at));
        }
    }
    leaves
}

/// The whole mesh with the densities of all its leaves.
fn whole(given: &Given, config: &ParticleMeshConfig) -> AmrField {
    let (level, ijk): (Vec<u8>, Vec<[u32; 3]>) = leaves(given, config).into_iter().unzip();
    let domain = Domain { coarse: [1; 3], periodic: [given.about.periodic; 3] };
    let field = AmrField::from_leaves(domain, &level, &ijk, &vec![0.0; level.len()]).expect("leaves");
    let position = given.position.iter().map(|x| x.map(|x| x / SIDE)).collect();
    let particles = PointMasses { position, mass: given.mass.clone() };
    deposit(field.mesh, &particles, Scheme::Conserving, SIDE, &Executor::default())
}

fn cells(field: &AmrField) -> BTreeMap<(u8, [u32; 3]), u64> {
    let mut cells = BTreeMap::new();
    field.mesh.for_each_cell(0..field.mesh.supers().len(), |level, at, cell, is_leaf| {
        assert!(is_leaf);
        cells.insert((level, at), field.rho[cell.at()].to_bits());
    });
    cells
}

fn grown(given: &Given, config: &ParticleMeshConfig, threshold: f64) -> ParticleMesh {
    let purpose = MeshUse { threshold, ..MeshUse::default() };
    grow(given, config, purpose, &Comm::solo(), &Executor::default()).expect("a mesh")
}

/// Leaves, test cells and densities are those of the whole mesh, whatever the roots.
fn check(given: &Given, config: &ParticleMeshConfig, threshold: f64) {
    let all = cells(&whole(given, config));
    let densest = all.values().map(|rho| f64::from_bits(*rho)).fold(0.0, f64::max);
    for root_level in 0..=config.level_min.expect("a level") - 2 {
        let found = grown(given, &ParticleMeshConfig { root_level: Some(root_level), ..*config }, threshold);
        assert!((found.mean_density / given.mean() - 1.0).abs() < 1e-12);
        let least = threshold * found.mean_density;
        let expected: BTreeMap<_, _> = all
            .iter()
            .filter(|(_, rho)| f64::from_bits(**rho) > least)
            .map(|(at, rho)| (*at, *rho))
            .collect();
        assert_eq!(found.n_leaves, all.len() as u64);
        assert_eq!(found.densest.to_bits(), densest.to_bits());
        let got = cells(&found.part.field);
        assert_eq!(got.len(), expected.len());
        let differs = got.iter().zip(&expected).find(|(a, b)| a != b);
        assert_eq!(differs, None, "roots of level {root_level}");
    }
}

fn masses(n: usize, salt: u64) -> Vec<f64> {
    let mut random = Random(salt);
    (0..n).map(|_| if random.chance(0.1) { 1e-6 } else { 0.1 + random.real() }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_mesh_is_what_its_definition_says_and_has_the_densities_of_the_whole(
        (n, salt) in (1usize..1200, any::<u64>()),
        (m_refine, level_min, depth) in (1u64..10, 2u8..5, 0u8..7),
        (periodic, same, threshold) in (any::<bool>(), any::<bool>(), prop_oneof![Just(1e-9), 0.5f64..30.0]),
    ) {
        let position = clumped(n, salt);
        let mass = if same { vec![0.75; n] } else { masses(n, salt ^ 7) };
        check(&Given::new(position, mass, periodic), &config(m_refine, level_min..level_min + depth), threshold);
    }
}

#[test]
fn many_particles_in_one_point_are_one_column_of_cells() {
    for place in [[0.0; 3], [5.0, 5.0, 5.0], [9.999_999_999, 0.0, 3.3]] {
        let mut position = vec![place; 3000];
        position.extend(clumped(200, 3));
        for (periodic, levels) in [(true, 2..20), (false, 4..12), (true, 3..3)] {
            let given = Given::new(position.clone(), masses(3200, 5), periodic);
            check(&given, &config(8, levels), 2.0);
        }
    }
}

#[test]
fn a_spike_splits_cells_that_are_far_from_it() {
    // All in the corner of a cell of level 2: every coarser ring about it reaches other roots.
    let spike = |x: f64| vec![[x; 3]; 20];
    for x in [2.5, 2.5 - 1e-6, 0.0, 10.0 - 1e-6] {
        let given = Given::new(spike(x), vec![1.0; 20], true);
        check(&given, &config(4, 2..20), 1e-9);
        let split = split_cells(&given, &config(4, 2..20));
        assert!(split[2].len() > 7, "{split:?}");
    }
}

#[test]
fn the_default_coarse_level_has_about_as_many_cells_as_particles() {
    let given = Given::new(clumped(600, 9), vec![1.0; 600], true);
    let found = grown(&given, &ParticleMeshConfig { level_min: None, ..config(8, 0..20) }, 10.0);
    assert_eq!((found.shape.level_min, found.shape.level_max), (3, 20));
}

fn catalogue(given: &Given, mesh: &ParticleMeshConfig, n_ranks: usize, n_threads: usize) -> Catalogue {
    let phew = PhewRequest {
        field: FieldChoice::Auto,
        params: PhewParams::from(Thresholds {
            density: 3.0,
            persistence: Persistence::Ratio(1.5),
            significance: Some(0.0),
            saddle: Some(20.0),
            halo_relevance: None,
            mass: 0.0,
            min_cells: 0,
        })
        .with_cells(true)
        .with_particles(true),
    };
    let snapshot = ParticleSnapshot::new(std::sync::Arc::new(given.clone()), mesh).expect("particles");
    let work = |comm: &Comm| {
        let executor = Executor::new(ThreadPool::with_threads(n_threads), &Silent);
        let outcome = run_on_particles(&snapshot, mesh, &phew, comm, &executor).expect("an outcome");
        outcome.catalogue.gather(comm).expect("gathered")
    };
    let ran = match n_ranks {
        1 => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
            pool.install(|| work(&Comm::solo()))
        }
        _ => run_threads(n_ranks, work).expect("ranks").swap_remove(0),
    };
    ran.expect("a catalogue")
}

#[test]
fn catalogues_do_not_depend_on_ranks_threads_and_roots() {
    for (periodic, m_refine, level_min) in [(true, 2, 5), (false, 5, 3), (true, 1, 2)] {
        let given = Given::new(clumped(4000, 11), masses(4000, 12), periodic);
        let mesh = config(m_refine, level_min..12);
        let one = catalogue(&given, &mesh, 1, 1);
        let n_rows = |name: &str| one.table(name).map_or(0, |t| t.n_rows());
        assert!(n_rows("clumps") > 3 && n_rows("cells") > 500, "{} {}", n_rows("clumps"), n_rows("cells"));
        assert_eq!(n_rows("particles"), 4000);
        for (n_ranks, n_threads, root_level) in [(1, 4, Some(0)), (2, 1, None), (3, 2, Some(1)), (9, 1, None)]
        {
            let other = catalogue(&given, &ParticleMeshConfig { root_level, ..mesh }, n_ranks, n_threads);
            assert_same(&one, &other, &format!("{n_ranks} ranks, {n_threads} threads"));
        }
    }
}

#[test]
fn ranks_may_be_without_particles_and_without_test_cells() {
    let given = Given::new(vec![[1.0; 3], [1.1; 3], [9.0; 3]], vec![1.0; 3], true);
    let mesh = config(8, 4..8);
    let one = catalogue(&given, &mesh, 1, 1);
    assert_same(&one, &catalogue(&given, &mesh, 6, 1), "6 ranks");
    let spread: Vec<[f64; 3]> = (0..4096)
        .map(|i| [i % 16, i / 16 % 16, i / 256].map(|x| (f64::from(x) + 0.5) * SIDE / 16.0))
        .collect();
    let even = Given::new(spread, vec![1.0; 4096], true);
    let none = catalogue(&even, &mesh, 1, 2);
    assert_eq!(none.table("cells").map(|t| t.n_rows()), Some(0));
    assert_same(&none, &catalogue(&even, &mesh, 4, 1), "4 ranks");
}

/// Clumps are those of the whole mesh, to the last bit, except for positions that are refined with missing
/// cells.
#[test]
fn clumps_are_those_of_the_whole_mesh() {
    let given = Given::new(clumped(4000, 21), masses(4000, 22), true);
    let mesh = config(3, 4..12);
    let found = catalogue(&given, &mesh, 1, 2);
    let mean = grown(&given, &mesh, 3.0).mean_density;
    let cut = Cut {
        density: 3.0 * mean,
        persistence: Persistence::Ratio(1.5),
        saddle: Some(20.0 * mean),
        halo_relevance: None,
    };
    let (field, extra) = (whole(&given, &mesh), TestFields::default());
    let task = Task {
        field: &field,
        links: &ALONE,
        extra: &extra,
        density_threshold: cut.density,
        side: SIDE,
        origin: [0.0; 3],
        rules: Rules::Paper,
    };
    let (comm, test_cells) = (Comm::solo(), test_cells::find(&field, cut.density));
    let patches = segment(&task, test_cells, &comm, &Executor::default()).expect("patches");
    let expected =
        structures(&patches.peaks, &cut.into(), Rules::Paper, inselberg::CentralChoice::Heaviest, &comm)
            .expect("clumps");
    let clumps = found.table("clumps").expect("clumps");
    assert!(clumps.n_rows() > 3 && clumps.n_rows() == expected.clumps.len());
    let expected = clumps_table(&expected.clumps, known_properties(&patches.peaks, cut.persistence));
    for (a, b) in clumps.columns.iter().zip(&expected.columns).filter(|(a, _)| a.name != REFINED) {
        assert_eq!(bits(&a.values), bits(&b.values), "{}", a.name);
    }
    assert!(clumps.columns.iter().any(|c| c.name == REFINED));
}

const REFINED: &str = "peak_position_refined";

#[test]
fn particles_that_are_none_are_refused() {
    let mesh = config(8, 3..8);
    let said = |given: Given| {
        let purpose = MeshUse { threshold: 10.0, ..MeshUse::default() };
        let found = grow(&given, &mesh, purpose, &Comm::solo(), &Executor::default());
        found.map(|_| ()).expect_err("refused").to_string()
    };
    let with = |x: f64, periodic| Given::new(vec![[1.0; 3], [x, 1.0, 1.0]], vec![1.0; 2], periodic);
    for (given, part) in [
        (with(f64::NAN, true), "row 1"),
        (with(25.0, true), "far outside the box"),
        (with(10.0, false), "outside the box"),
        (with(-0.1, false), "outside the box"),
        (Given::new(vec![[1.0; 3]], vec![-1.0], true), "mass -1"),
        (Given::new(vec![[1.0; 3]; 2], vec![0.0; 2], true), "mass 0; expected a finite mass above 0"),
        (Given::new(Vec::new(), Vec::new(), true), "no particle"),
    ] {
        let text = said(given);
        assert!(text.contains(part) && text.contains("expected"), "{text}");
    }
    for (least, most) in [(1, 8), (13, 20), (9, 8), (2, 21)] {
        let given = Given::new(vec![[1.0; 3]], vec![1.0], true);
        let purpose = MeshUse { threshold: 10.0, ..MeshUse::default() };
        let levels = config(8, least..most);
        let found = grow(&given, &levels, purpose, &Comm::solo(), &Executor::default());
        let text = found.map(|_| ()).expect_err("no such levels").to_string();
        assert!(text.contains(&format!("coarse level {least}, deepest level {most}: expected")), "{text}");
    }
    let mut long = Given::new(vec![[1.0; 3]], vec![1.0], true);
    long.about.sides = Some([10.0, 10.0, 20.0]);
    assert!(said(long).contains("three equal sides"));
    // A little outside a periodic box is inside it.
    let outside = Given::new(vec![[-0.5, 10.0, 10.5]; 9], vec![1.0; 9], true);
    let inside = Given::new(vec![[9.5, 0.0, 0.5]; 9], vec![1.0; 9], true);
    let cells_of = |given: &Given| cells(&grown(given, &mesh, 1.0).part.field);
    assert_eq!(cells_of(&outside), cells_of(&inside));
}
