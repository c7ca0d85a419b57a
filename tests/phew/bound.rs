//! Bound particles of clumps: the catalogue against plain sums over all pairs, and what cannot be unbound.

use crate::common::case::{DARK, config};
use crate::common::{open, output, swift_fixture};
use inselberg::executor::Executor;
use inselberg::particle_mesh::{ParticleMeshConfig, ParticleSnapshot};
use inselberg::phew::params::{BoundRequest, PotentialChoice, PropertyChoice};
use inselberg::phew::run::{run, run_on_particles};
use inselberg::phew::{PhewRequest, Rules};
use inselberg_comm::Comm;
use inselberg_io::catalogue::{Catalogue, Table, Values};
use inselberg_io::particles::open_particles;
use inselberg_io::{ParticleBlock, Snapshot};
use std::collections::{BTreeMap, BTreeSet};

/// The constant of gravity in cgs.
const NEWTON: f64 = 6.674_30e-8;

pub fn bound_config(snapshot: &dyn Snapshot, unbind: PotentialChoice) -> PhewRequest {
    // Spheres need a cosmology.
    let has_cosmology = snapshot.header().cosmology.is_some();
    let bound = BoundRequest {
        unbind: true,
        potential: unbind,
        properties: if has_cosmology { PropertyChoice::All } else { PropertyChoice::Bound },
        with_members: true,
        ..BoundRequest::default()
    };
    config(snapshot, DARK, Rules::Paper).with(|params| params.bound(bound))
}

fn found(unbind: PotentialChoice) -> Catalogue {
    let snapshot = open(&output("dm_1rank"));
    let comm = Comm::solo();
    let outcome = run(&*snapshot, &bound_config(&*snapshot, unbind), &comm, &Executor::default());
    outcome.expect("clumps").catalogue.gather(&comm).expect("alone").expect("rank 0")
}

pub fn table<'a>(catalogue: &'a Catalogue, name: &str) -> &'a Table {
    catalogue.tables.iter().find(|table| table.name == name).expect(name)
}

fn values<'a>(table: &'a Table, name: &str) -> &'a Values {
    &table.columns.iter().find(|column| column.name == name).unwrap_or_else(|| panic!("{name}")).values
}

pub fn counts(table: &Table, name: &str) -> Vec<u64> {
    match values(table, name) {
        Values::U64(list) => list.clone(),
        Values::I64(list) => list.iter().map(|id| id.cast_unsigned()).collect(),
        other => panic!("{name}: {other:?}"),
    }
}

pub fn reals(table: &Table, name: &str) -> Vec<f64> {
    match values(table, name) {
        Values::F64(list) => list.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

pub fn vectors(table: &Table, name: &str) -> Vec<[f64; 3]> {
    match values(table, name) {
        Values::F64x3(list) => list.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

#[derive(Clone, Copy)]
pub struct Particle {
    pub position: [f64; 3],
    pub velocity: [f64; 3],
    pub mass: f64,
}

pub fn particles(snapshot: &dyn Snapshot) -> BTreeMap<u64, Particle> {
    let mut all = BTreeMap::new();
    let mut add = |block: &ParticleBlock| {
        all.extend((0..block.id.len()).map(|i| {
            let (position, velocity, mass) = (block.position[i], block.velocity[i], block.mass[i]);
            (block.id[i].cast_unsigned(), Particle { position, velocity, mass })
        }));
        Ok(())
    };
    (0..snapshot.header().n_pieces).for_each(|piece| snapshot.particles(piece, &mut add).expect("particles"));
    all
}

/// A vector of a periodic box of side 1 from one place to another.
pub fn step(from: [f64; 3], to: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|a| (to[a] - from[a]) - (to[a] - from[a]).round())
}

pub fn square(x: [f64; 3]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

#[test]
fn members_are_in_their_clump_or_come_from_clumps_within() {
    let catalogue = found(PotentialChoice::Tree);
    let (clumps, members) = (table(&catalogue, "clumps"), table(&catalogue, "members"));
    let ids = counts(clumps, "id");
    let parent_of = turned_parents(clumps);
    let patch_of: BTreeMap<u64, u64> = {
        let all = table(&catalogue, "particles");
        counts(all, "id").into_iter().zip(counts(all, "clump")).collect()
    };
    let (id, clump) = (counts(members, "id"), counts(members, "clump"));
    assert!(id.len() > 400, "{}", id.len());
    assert_eq!(id.iter().collect::<BTreeSet<_>>().len(), id.len(), "no particle is bound twice");
    let mut from_within = 0;
    for (id, clump) in id.iter().zip(&clump) {
        let mut at = patch_of[id];
        from_within += usize::from(at != *clump);
        while at != *clump {
            assert_ne!(parent_of[&at], at, "particle {id} of clump {} is bound to {clump}", patch_of[id]);
            at = parent_of[&at];
        }
    }
    assert!(from_within > 0, "losers of clumps are bound to their parents");

    let (n_bound, first) = (counts(clumps, "n_bound"), counts(clumps, "members_offset"));
    let (mass, inclusive) = (reals(clumps, "bound_mass"), reals(clumps, "bound_mass_inclusive"));
    let (n_inclusive, most_bound) = (counts(clumps, "n_bound_inclusive"), counts(clumps, "most_bound_id"));
    let energy = reals(members, "energy");
    let of_mass = particles(&*open(&output("dm_1rank")));
    for i in 0..ids.len() {
        let rows = first[i] as usize..(first[i] + n_bound[i]) as usize;
        assert!(clump[rows.clone()].iter().all(|clump| *clump == ids[i]), "clump {}", ids[i]);
        assert_eq!(clump.iter().filter(|clump| **clump == ids[i]).count(), rows.len());
        assert!(n_bound[i] == 0 || n_bound[i] >= 20);
        assert!(energy[rows.clone()].is_sorted() && energy[rows.clone()].iter().all(|energy| *energy < 0.0));
        assert_eq!(most_bound[i], deepest(members, rows.clone()).unwrap_or(0));
        let sum: f64 = id[rows].iter().map(|id| of_mass[id].mass).sum();
        assert!((mass[i] - sum).abs() <= 1e-12 * sum, "{} {sum}", mass[i]);
        let within = |j: &usize| {
            let mut at = ids[*j];
            while at != ids[i] && parent_of[&at] != at {
                at = parent_of[&at];
            }
            at == ids[i]
        };
        let all: Vec<usize> = (0..ids.len()).filter(within).collect();
        assert_eq!(n_inclusive[i], all.iter().map(|j| n_bound[*j]).sum::<u64>());
        let sum: f64 = all.iter().map(|j| mass[*j]).sum();
        assert!((inclusive[i] - sum).abs() <= 1e-12 * sum, "{} {sum}", inclusive[i]);
    }
    let haloes = table(&catalogue, "haloes");
    for (central, n) in counts(haloes, "central").iter().zip(counts(haloes, "n_bound")) {
        // A particle that is bound to no clump may be bound to the halo.
        assert!(n >= n_inclusive[ids.binary_search(central).expect("its central clump")]);
    }
}

/// The parent of each clump in the tree whose root is the central clump of its halo; that of the central is
/// itself.
fn turned_parents(clumps: &Table) -> BTreeMap<u64, u64> {
    let ids = counts(clumps, "id");
    let by_density: BTreeMap<u64, u64> = ids.iter().copied().zip(counts(clumps, "parent")).collect();
    let mut turned = by_density.clone();
    let is_central = clumps.integers("is_central").expect("centrals");
    for central in (0..ids.len()).filter(|row| is_central[*row] == 1) {
        let (mut below, mut at) = (ids[central], ids[central]);
        loop {
            turned.insert(at, below);
            below = at;
            at = by_density[&at];
            if at == below {
                break;
            }
        }
    }
    turned
}

/// The bound member of these rows with the lowest potential.
fn deepest(members: &Table, rows: std::ops::Range<usize>) -> Option<u64> {
    let (id, potential) = (counts(members, "id"), reals(members, "potential"));
    rows.min_by(|a, b| potential[*a].total_cmp(&potential[*b]).then(id[*a].cmp(&id[*b]))).map(|row| id[row])
}

/// Energies of the largest clump by all pairs, in physical units.
#[test]
fn energies_are_those_of_all_pairs() {
    let snapshot = open(&output("dm_1rank"));
    let of = particles(&*snapshot);
    let header = snapshot.header();
    let cosmology = header.cosmology.as_ref().expect("a cosmological run");
    let (a, h0) = (cosmology.aexp, cosmology.h0 / 3.085_677_581e19);
    let expansion = cosmology.omega_m / a.powi(3) + cosmology.omega_k / (a * a) + cosmology.omega_l;
    let hubble = h0 * expansion.sqrt() * header.units.time;
    let newton = NEWTON * header.units.density * header.units.time.powi(2);
    let leaf = 1.0 / f64::from(1 << header.levelmax);

    let catalogue = found(PotentialChoice::Tree);
    let members = table(&catalogue, "members");
    let n = counts(table(&catalogue, "clumps"), "n_bound")[0] as usize;
    let list: Vec<Particle> = counts(members, "id")[..n].iter().map(|id| of[id]).collect();
    let (energy, potential) = (reals(members, "energy"), reals(members, "potential"));
    for (i, particle) in list.iter().enumerate() {
        let pairs = list.iter().enumerate().filter(|(j, _)| *j != i);
        // Beyond the reach of the softening, three sides of the finest leaf or more, the potential is that of
        // points.
        let near = pairs
            .clone()
            .filter(|(_, other)| square(step(particle.position, other.position)).sqrt() < 24.0 * leaf);
        let bound_of_near: f64 = near.clone().map(|(_, other)| newton * other.mass / leaf).sum();
        let of_points = |(_, other): (usize, &Particle)| {
            -newton * other.mass / square(step(particle.position, other.position)).sqrt()
        };
        let far: f64 = pairs.filter(|(j, _)| !near.clone().any(|(k, _)| k == *j)).map(of_points).sum();
        let error = 5e-3 * far.abs();
        assert!(
            potential[i] <= far + error && potential[i] >= far - bound_of_near - error,
            "{i}: {}",
            potential[i]
        );
    }
    // With the Hubble flow u = v + H x, the energy less the potential is 1/2 (u - f)^2 for one frame f of all
    // particles.
    let centre = list[0].position;
    let flow = |p: &Particle| -> [f64; 3] {
        let x = step(centre, p.position);
        std::array::from_fn(|a| p.velocity[a] + hubble * x[a])
    };
    let flows: Vec<[f64; 3]> = list.iter().map(flow).collect();
    let frame = frame_of(&flows, |i| energy[i] - potential[i]);
    let mean: [f64; 3] = std::array::from_fn(|a| list.iter().map(|p| flow(p)[a]).sum::<f64>() / n as f64);
    let spread = list.iter().map(|p| square(difference(flow(p), mean))).sum::<f64>() / n as f64;
    assert!(square(difference(frame, mean)) < 0.1 * spread, "the core moves as the clump does");
    for (i, particle) in list.iter().enumerate() {
        let kinetic = 0.5 * square(difference(flow(particle), frame));
        let found = energy[i] - potential[i];
        assert!((found - kinetic).abs() < 1e-9 * spread, "{i}: {found} {kinetic}");
    }
}

pub fn difference(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

/// The frame f in which the kinetic energies of four members are 1/2 (u - f)^2: their differences are linear
/// in f. `flows` has the u.
pub fn frame_of(flows: &[[f64; 3]], kinetic: impl Fn(usize) -> f64) -> [f64; 3] {
    let rows: [([f64; 3], f64); 3] = std::array::from_fn(|k| {
        let i = (k + 1) * (flows.len() - 1) / 3;
        let right = 0.5 * (square(flows[i]) - square(flows[0])) - (kinetic(i) - kinetic(0));
        (difference(flows[i], flows[0]), right)
    });
    let cross = |a: [f64; 3], b: [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
    };
    let [a, b, c] = rows.map(|row| row.0);
    let volume: f64 = (0..3).map(|i| a[i] * cross(b, c)[i]).sum();
    std::array::from_fn(|i| {
        (rows[0].1 * cross(b, c)[i] + rows[1].1 * cross(c, a)[i] + rows[2].1 * cross(a, b)[i]) / volume
    })
}

/// The properties of the largest clumps from their particles alone.
#[test]
fn properties_are_those_of_the_bound_particles() {
    let of = particles(&*open(&output("dm_1rank")));
    let catalogue = found(PotentialChoice::Tree);
    let (clumps, members) = (table(&catalogue, "clumps"), table(&catalogue, "members"));
    let (n_bound, first) = (counts(clumps, "n_bound"), counts(clumps, "members_offset"));
    let id = counts(members, "id");
    let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * a.abs().max(b.abs()), "{a} {b}");
    for row in (0..n_bound.len()).filter(|row| n_bound[*row] > 0) {
        let rows = first[row] as usize..(first[row] + n_bound[row]) as usize;
        let list: Vec<Particle> = id[rows.clone()].iter().map(|id| of[id]).collect();
        let (n, centre) = (list.len() as f64, of[&deepest(members, rows).expect("members")].position);
        assert_eq!(vectors(clumps, "most_bound_position")[row], centre);
        let mean: [f64; 3] = std::array::from_fn(|a| list.iter().map(|p| p.velocity[a]).sum::<f64>() / n);
        let velocity = vectors(clumps, "bound_velocity")[row];
        (0..3).for_each(|a| assert!((velocity[a] - mean[a]).abs() < 1e-9, "{velocity:?} {mean:?}"));
        let mut radii: Vec<f64> = list.iter().map(|p| square(step(centre, p.position)).sqrt()).collect();
        radii.sort_by(f64::total_cmp);
        close(reals(clumps, "enclose_radius")[row], radii[list.len() - 1]);
        let half = reals(clumps, "half_mass_radius")[row];
        let n_within = radii.iter().filter(|r| **r <= half).count() as f64;
        assert!((n_within - 0.5 * n).abs() <= 1.0, "{n_within} of {n}");
        let spread = |a: usize| list.iter().map(|p| (p.velocity[a] - mean[a]).powi(2)).sum::<f64>() / n;
        let dispersion = vectors(clumps, "velocity_dispersion_diagonal")[row];
        (0..3).for_each(|a| close(dispersion[a], spread(a)));
        close(reals(clumps, "bound_dark_matter_mass")[row], reals(clumps, "bound_mass")[row]);
        assert_eq!(counts(clumps, "n_bound_dark_matter")[row], n_bound[row]);
        assert_eq!(reals(clumps, "bound_stellar_mass")[row], 0.0);
        let fastest = reals(clumps, "maximum_circular_velocity")[row];
        assert!(fastest > 0.0 && fastest <= reals(clumps, "maximum_circular_velocity_unsoftened")[row]);
        let (kinetic, potential) =
            (reals(clumps, "bound_kinetic_energy")[row], reals(clumps, "bound_potential_energy")[row]);
        assert!(kinetic > 0.0 && potential < -0.5 * kinetic, "{kinetic} {potential}");
    }
}

/// Spheres of given mean density about the centres of haloes, from all particles of the box.
#[test]
fn spheres_have_their_mean_density() {
    let snapshot = open(&output("dm_1rank"));
    let of = particles(&*snapshot);
    let cosmology = snapshot.header().cosmology.clone().expect("a cosmological run");
    // In code units of RAMSES the mean density of matter is 1.
    let matter = cosmology.omega_m / cosmology.aexp.powi(3);
    let all = matter + cosmology.omega_k / cosmology.aexp.powi(2) + cosmology.omega_l;
    let x = matter / all - 1.0;
    let virial = 18.0 * std::f64::consts::PI.powi(2) + 82.0 * x - 39.0 * x * x;
    let critical = all / matter;
    let spheres = [
        ("200_crit", 200.0 * critical),
        ("200_mean", 200.0),
        ("500_crit", 500.0 * critical),
        ("bn98", virial * critical),
    ];

    let catalogue = found(PotentialChoice::Tree);
    let haloes = table(&catalogue, "haloes");
    let n_bound = counts(haloes, "n_bound");
    let centres = vectors(haloes, "most_bound_position");
    let mut n_found = 0;
    for (row, id) in counts(haloes, "id").iter().enumerate() {
        let mut near: Vec<(f64, f64)> =
            of.values().map(|p| (square(step(centres[row], p.position)).sqrt(), p.mass)).collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (name, density) in spheres {
            let mass = reals(haloes, &format!("mass_{name}"))[row];
            let radius = reals(haloes, &format!("radius_{name}"))[row];
            if n_bound[row] == 0 {
                assert_eq!((mass, radius), (0.0, 0.0));
                continue;
            }
            n_found += 1;
            let volume = |r: f64| 4.0 / 3.0 * std::f64::consts::PI * r.powi(3);
            assert!((mass / (density * volume(radius)) - 1.0).abs() < 2e-3, "{name}: {mass} {radius}");
            // Up to the sphere the mean density is above the given one; its mass is between the sums on both
            // sides.
            let mut within = 0.0;
            let last = near.iter().position(|(r, _)| *r >= radius).expect("particles beyond");
            for (i, (r, m)) in near[..last].iter().enumerate() {
                within += m;
                assert!(
                    i == 0 || *r == 0.0 || within > 0.998 * density * volume(*r),
                    "{name} of {id}: {i} of {last}"
                );
            }
            let next = within + near[last].1;
            assert!(
                mass >= 0.998 * within && mass <= 1.002 * next,
                "{name} of {id}: {mass}, {within} to {next}"
            );
        }
        let concentration = reals(haloes, "concentration_200_crit")[row];
        assert!(concentration == 0.0 || (1.0..=1000.0).contains(&concentration), "{concentration}");
    }
    assert!(n_found > 12, "{n_found}");
}

#[test]
fn shells_and_trees_nearly_agree_on_what_is_bound() {
    let [tree, shells] = [PotentialChoice::Tree, PotentialChoice::Spherical].map(|method| {
        let catalogue = found(method);
        counts(table(&catalogue, "members"), "id").into_iter().collect::<BTreeSet<_>>()
    });
    let both = tree.intersection(&shells).count() as f64;
    assert!(both > 0.8 * tree.len() as f64 && both > 0.8 * shells.len() as f64, "{both} of {}", tree.len());
}

#[cfg(feature = "hdf5")]
#[test]
fn particles_of_any_snapshot_are_unbound_on_their_mesh() {
    let path = swift_fixture().join("snap_0000.hdf5");
    let mesh = ParticleMeshConfig {
        m_refine: 8,
        level_min: None,
        level_max: 10,
        kinds: std::array::from_fn(|kind| kind == 1),
        side: None,
        root_level: None,
    };
    let catalogues = [1, 3].map(|n_ranks| {
        let parts = inselberg_comm::run_threads(n_ranks, |comm| {
            let input = open_particles(std::slice::from_ref(&path)).expect("a snapshot");
            let snapshot = ParticleSnapshot::new(input.into(), &mesh).expect("particles");
            let config = bound_config(&snapshot, PotentialChoice::Tree);
            let outcome = run_on_particles(&snapshot, &mesh, &config, comm, &Executor::default());
            outcome.expect("clumps").catalogue.gather(comm).expect("gathered")
        });
        parts.expect("no panic").swap_remove(0).expect("rank 0")
    });
    crate::common::compare::assert_same(&catalogues[0], &catalogues[1], "3 ranks");
    let n_bound = counts(table(&catalogues[0], "haloes"), "n_bound");
    assert!(n_bound[0] > 50, "{n_bound:?}");
    let place = vectors(table(&catalogues[0], "clumps"), "most_bound_position")[0];
    let peak = vectors(table(&catalogues[0], "clumps"), "peak_position")[0];
    let side = snapshot_side(&path);
    assert!((0..3).all(|a| (place[a] - peak[a]).abs() < 0.1 * side), "{place:?} {peak:?}");
}

#[cfg(feature = "hdf5")]
fn snapshot_side(path: &std::path::Path) -> f64 {
    open_particles(&[path.to_path_buf()]).expect("a snapshot").about().sides.expect("a box")[0]
}
