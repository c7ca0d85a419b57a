//! Smooth spheres in equilibrium hold one object each: bumps of their shot noise are no subhaloes.

use crate::mock_haloes::{PARTICLE, SIDE, Search, search_particles, units};
use crate::verify::random::Random;
use crate::verify::spheres::{PROFILES, Profile, Sphere, n_bound};
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

/// The numbers of bound particles of the clumps that have any.
fn bound_clumps(catalogue: &Catalogue) -> Vec<u64> {
    let clumps = catalogue.table("clumps").expect("clumps");
    clumps.counts("n_bound").expect("bound").iter().copied().filter(|n| *n > 0).collect()
}

/// One object with at least 0.95 of what is bound, by the defaults.
fn check(name: &str, mock: &SphereMock, expected: Option<usize>) {
    let catalogue = mock.search(&Search::default());
    let found = bound_clumps(&catalogue);
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    let expected = expected.unwrap_or_else(|| mock.n_bound_in(&catalogue));
    assert!(found[0] as f64 >= 0.95 * expected as f64, "{name}: {} of {expected}", found[0]);
}

#[test]
fn a_smooth_sphere_is_one_object() {
    for (name, profile) in PROFILES {
        for seed in 1..=3 {
            check(&format!("{name}, seed {seed}"), &SphereMock::new(profile, 1000, seed), None);
        }
        check(&format!("{name} of 1e4"), &SphereMock::new(profile, 10_000, 1), None);
    }
}

/// The case that showed it: without significance most of the sphere belongs to bumps.
#[test]
fn the_core_of_a_plummer_sphere_is_no_set_of_clumps() {
    let mock = SphereMock::new(PROFILES[0].1, 20_000, 1);
    let clumps = |significance: Option<f64>| {
        let search = Search { significance, unbind: false, ..Search::default() };
        mock.search(&search).table("clumps").expect("clumps").n_rows()
    };
    let (by_persistence, by_default) = (clumps(Some(0.0)), clumps(None));
    assert!(by_default < by_persistence, "{by_default} of {by_persistence}");
}

/// A host of 5000 particles with four subhaloes of a tenth of its mass each, which are denser than it in the middle.
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

/// For docs/haloes.md: all profiles, numbers of particles and seeds; clumps without unbinding are counted, too.
#[test]
#[ignore = "a campaign of many minutes"]
fn smooth_spheres_of_all_sizes_are_one_object() {
    println!(
        "| profile | particles | clumps by persistence | clumps | objects | least part of central | of halo |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, profile) in PROFILES {
        // Among 1e5 particles some bumps are significant, so the sphere may be several objects. Its halo still holds it.
        for (n, n_seeds) in [(1_000, 20), (10_000, 20), (100_000, 4)] {
            let mut row = [Vec::new(), Vec::new(), Vec::new()];
            let (mut least, mut least_of_halo) = (f64::INFINITY, f64::INFINITY);
            for seed in 1..=n_seeds {
                let mock = SphereMock::new(profile, n, seed);
                for (list, significance) in row.iter_mut().zip([Some(0.0), None]) {
                    let search = Search { significance, unbind: false, ..Search::default() };
                    list.push(mock.search(&search).table("clumps").expect("clumps").n_rows());
                }
                let catalogue = mock.search(&Search::default());
                let found = bound_clumps(&catalogue);
                // By all pairs 1e5 particles take minutes. Of the larger spheres nearly all are bound, as of the smaller ones.
                let expected = if n <= 10_000 { mock.n_bound_in(&catalogue) } else { n };
                row[2].push(found.len());
                let in_haloes = catalogue.table("haloes").and_then(|haloes| haloes.integers("n_bound"));
                let in_halo = in_haloes.expect("numbers").into_iter().max().expect("a halo");
                least_of_halo = least_of_halo.min(in_halo as f64 / expected as f64);
                least = least.min(found.iter().copied().max().unwrap_or(0) as f64 / expected as f64);
            }
            let range = |list: &Vec<usize>| {
                let bounds = (list.iter().min(), list.iter().max());
                format!("{} to {}", bounds.0.expect("seeds"), bounds.1.expect("seeds"))
            };
            let [by_persistence, clumps, objects] = row.each_ref().map(range);
            println!(
                "| {name} | {n} | {by_persistence} | {clumps} | {objects} | {least:.3} | {least_of_halo:.3} |"
            );
            assert!(least_of_halo >= 0.95, "{name} of {n}: {least_of_halo} of the halo");
            if n <= 10_000 {
                assert!(row[2].iter().all(|n| *n == 1), "{name} of {n}: {objects} objects");
                assert!(least >= 0.95, "{name} of {n}: {least}");
            }
        }
    }
}
