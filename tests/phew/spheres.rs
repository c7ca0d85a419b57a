//! Smooth spheres in equilibrium hold one object each: bumps of their shot noise are no subhaloes.

use crate::mock_haloes::{PARTICLE, SIDE, Search, search_particles, units};
use crate::verify::random::Random;
use crate::verify::spheres::{PROFILES, Profile, Sphere, n_bound};
use inselberg::phew::defaults::{DENSITY, RELEVANCE_ON_MESH, SADDLE};
use inselberg_io::NEWTON;
use inselberg_io::catalogue::Catalogue;

/// A sphere of particles in the middle of the box.
struct SphereMock {
    particles: Vec<([f64; 3], [f64; 3])>,
}

/// The constant of gravity in units of the mock.
fn newton() -> f64 {
    NEWTON * units().density * units().time.powi(2)
}

impl SphereMock {
    /// Its radius is a twentieth of the box: denser than 80 times the mean of the box nearly everywhere.
    fn new(profile: Profile, n: usize, seed: u64) -> Self {
        let sphere = Sphere::new(profile, n as f64 * PARTICLE, 0.05 * SIDE, newton());
        let mut particles = sphere.particles(n, &mut Random(seed));
        particles.iter_mut().for_each(|(x, _)| *x = x.map(|x| x + 0.5 * SIDE));
        Self { particles }
    }

    fn search(&self, search: &Search) -> Catalogue {
        let position = self.particles.iter().map(|(x, _)| *x).collect();
        let velocity = self.particles.iter().map(|(_, v)| v.map(|v| v as f32)).collect();
        search_particles(position, velocity, search)
    }

    /// How many of the particles in the patches of all clumps are bound to each other, by all pairs.
    fn n_bound_in(&self, catalogue: &Catalogue) -> usize {
        let particles = catalogue.table("particles").expect("particles");
        let clump = particles.counts("clump").expect("clumps of particles");
        let ids = particles.integers("id").expect("identities");
        let inside = clump.iter().zip(&ids).filter(|(clump, _)| **clump > 0);
        let inside: Vec<_> = inside.map(|(_, id)| self.particles[*id as usize]).collect();
        n_bound(&inside, PARTICLE, newton())
    }
}

/// The options that hold where none is given.
fn defaults() -> Search {
    Search {
        m_refine: 6,
        density: DENSITY.value,
        persistence: RELEVANCE_ON_MESH.value,
        significance: None,
        saddle: Some(SADDLE.value),
        unbind: true,
    }
}

/// The numbers of bound particles of the clumps that have any, and whether each is a central.
fn bound_clumps(catalogue: &Catalogue) -> Vec<(u64, bool)> {
    let clumps = catalogue.table("clumps").expect("clumps");
    let is_central = clumps.integers("is_central").expect("centrals").into_iter().map(|flag| flag == 1);
    let n_bound = clumps.counts("n_bound").expect("bound").iter().copied();
    n_bound.zip(is_central).filter(|(n, _)| *n > 0).collect()
}

/// More particles than these are not unbound by all pairs, which takes minutes. Of larger spheres nearly all
/// are bound, as of smaller ones.
const MOST_BY_PAIRS: usize = 10_000;

/// For a sphere with default options: the number of objects, and the share of the bound particles that the
/// central has.
fn objects(name: &str, mock: &SphereMock) -> (usize, f64) {
    let catalogue = mock.search(&defaults());
    let found = bound_clumps(&catalogue);
    let central = found.iter().find(|(_, is_central)| *is_central);
    let (n_bound, _) = central.unwrap_or_else(|| panic!("{name}: {found:?}"));
    let n = mock.particles.len();
    let expected = if n <= MOST_BY_PAIRS { mock.n_bound_in(&catalogue) } else { n };
    (found.len(), *n_bound as f64 / expected as f64)
}

fn check(name: &str, mock: &SphereMock) {
    let (n, part) = objects(name, mock);
    assert_eq!(n, 1, "{name}");
    assert!(part >= 0.95, "{name}: {part} of what is bound");
}

#[test]
fn a_smooth_sphere_is_one_object() {
    for (name, profile) in PROFILES {
        for seed in 1..=3 {
            check(&format!("{name}, seed {seed}"), &SphereMock::new(profile, 1000, seed));
        }
        check(&format!("{name} of 1e4"), &SphereMock::new(profile, 10_000, 1));
    }
}

/// In these spheres the densest peak is a bump, and the core dies into it with hundreds of particles above
/// the saddle.
#[test]
fn a_core_is_no_clump_beside_its_own_bump() {
    for ((name, profile), seed) in [(PROFILES[0], 9), (PROFILES[0], 65), (PROFILES[3], 44), (PROFILES[3], 47)]
    {
        check(&format!("{name}, seed {seed}"), &SphereMock::new(profile, 5_000, seed));
    }
}

/// The case that showed it: without significance most of the sphere belongs to bumps.
#[test]
fn the_core_of_a_plummer_sphere_is_no_set_of_clumps() {
    let mock = SphereMock::new(PROFILES[0].1, 20_000, 1);
    let clumps = |significance: Option<f64>| {
        let search = Search { significance, unbind: false, ..defaults() };
        mock.search(&search).table("clumps").expect("clumps").n_rows()
    };
    let (by_persistence, by_default) = (clumps(Some(0.0)), clumps(None));
    assert!(by_default < by_persistence, "{by_default} of {by_persistence}");
}

/// A host of 5000 particles with four subhaloes of a tenth of its mass each, which are denser than it in the
/// middle.
fn host_with_compact_subhaloes(seed: u64) -> SphereMock {
    let (n, radius, profile) = (5000, 0.05 * SIDE, PROFILES[1].1);
    let mut random = Random(seed);
    let host = Sphere::new(profile, n as f64 * PARTICLE, radius, newton());
    let mut particles = host.particles(n, &mut random);
    for i in 0..4 {
        let compact = Sphere::new(profile, n as f64 / 10.0 * PARTICLE, 0.12 * radius, newton());
        let mut centre = [0.0; 3];
        centre[i % 3] = radius * if i < 3 { random.real().mul_add(0.3, 0.3) } else { -0.5 };
        let speed = (newton() * n as f64 * PARTICLE / radius).sqrt();
        let velocity = [0.3 * speed, -0.2 * speed, 0.4 * speed];
        let moved = |(x, v): ([f64; 3], [f64; 3])| {
            (std::array::from_fn(|a| x[a] + centre[a]), std::array::from_fn(|a| v[a] + velocity[(a + i) % 3]))
        };
        particles.extend(compact.particles(n / 10, &mut random).into_iter().map(moved));
    }
    particles.iter_mut().for_each(|(x, _)| *x = x.map(|x| x + 0.5 * SIDE));
    SphereMock { particles }
}

/// The central of a halo is its heaviest clump, not the one with the densest peak, which here is a subhalo.
#[test]
fn a_host_is_the_central_of_its_compact_subhaloes() {
    for seed in 1..=4 {
        let mock = host_with_compact_subhaloes(seed);
        let catalogue = mock.search(&Search::default());
        let clumps = catalogue.table("clumps").expect("clumps");
        let (n_bound, central) =
            (clumps.counts("n_bound").expect("bound"), clumps.integers("is_central").expect("centrals"));
        let host = (0..n_bound.len()).max_by_key(|row| n_bound[*row]).expect("clumps");
        assert_eq!(central[host], 1, "seed {seed}: {n_bound:?}");
        assert!(central[0] == 0 && clumps.n_rows() > 4, "seed {seed}: the densest peak is a subhalo");
        assert!(n_bound[host] > 4000, "seed {seed}: {n_bound:?}");
        let at = clumps.vectors("most_bound_position").expect("centres")[host];
        assert!(at.iter().all(|x| (x - 0.5 * SIDE).abs() < 0.0025 * SIDE), "seed {seed}: {at:?}");
    }
}

/// Least and greatest of a list.
fn range(list: &[usize]) -> String {
    format!("{} to {}", list.iter().min().expect("seeds"), list.iter().max().expect("seeds"))
}

/// For docs/haloes.md: all profiles, numbers of particles and seeds; clumps without unbinding are counted,
/// too.
#[test]
#[ignore = "a campaign of many minutes"]
fn smooth_spheres_of_all_sizes_are_one_object() {
    println!(
        "| profile | particles | seeds | clumps by relevance alone | clumps | of one object | their least part bound |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, profile) in PROFILES {
        for (n, n_seeds) in [(1_000, 20), (10_000, 20), (100_000, 10), (1_000_000, 1)] {
            let (mut clumps, mut least, mut n_single) = ([Vec::new(), Vec::new()], f64::INFINITY, 0);
            for seed in 1..=n_seeds {
                let mock = SphereMock::new(profile, n, seed);
                for (list, significance) in clumps.iter_mut().zip([Some(0.0), None]) {
                    let search = Search { significance, unbind: false, ..defaults() };
                    list.push(mock.search(&search).table("clumps").expect("clumps").n_rows());
                }
                let (n_objects, part) = objects(&format!("{name} of {n}, seed {seed}"), &mock);
                if n_objects == 1 {
                    (n_single, least) = (n_single + 1, least.min(part));
                }
            }
            let [by_relevance, clumps] = clumps.each_ref().map(|list| range(list));
            println!("| {name} | {n} | {n_seeds} | {by_relevance} | {clumps} | {n_single} | {least:.3} |");
            // Among 1e5 particles a bump of some 1000 stands out by more than 6 deviations in one sphere of
            // twenty.
            let fewest = if n <= 10_000 { n_seeds } else { n_seeds * 9 / 10 };
            assert!(n_single >= fewest && least >= 0.95, "{name} of {n}: {n_single} of one object, {least}");
        }
    }
}
