//! Properties of groups: the catalogue against plain sums over all pairs of members, and groups that have
//! none.

use crate::common::compare::assert_same;
use crate::fof_oracle::distance2;
use crate::fof_oracle::random::Random;
use inselberg::bound::SpanRules;
use inselberg::executor::Executor;
use inselberg::fof::{FofRequest, FofRunError, run_fof};
use inselberg::{BoundRequest, Cosmology, FofParams, Linking, PotentialChoice, PropertyChoice, Units};
use inselberg_comm::{Comm, CommBuilder, run_ranks};
use inselberg_io::ReadResult;
use inselberg_io::catalogue::{Attribute, Catalogue, Table, Values};
use inselberg_io::particles::{
    Columns, DARK_MATTER, GAS, MassOf, N_KINDS, ParticleHeader, ParticleInput, STAR, Species,
};
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::ops::Range;
use std::path::PathBuf;

/// The constant of gravity in cgs.
const NEWTON: f64 = 6.674_30e-8;
const MEGAPARSEC: f64 = 3.085_677_581e24;
const NEUTRINO: u8 = 6;
const SOFTENING: f64 = 0.005;

#[derive(Debug, Clone, Copy)]
struct Particle {
    position: [f64; 3],
    velocity: [f32; 3],
    mass: f64,
    id: u64,
    /// The heap in which it was placed, unless it is too fast for it.
    heap: Option<usize>,
}

/// Particles in memory, one list per species.
struct PlantedBox {
    header: ParticleHeader,
    particles: Vec<Vec<Particle>>,
}

impl PlantedBox {
    /// Heaps in a box of side 10, each with its own velocity, with fast particles among the others, and all
    /// species.
    fn new(sides: Option<[f64; 3]>, has_ids: bool) -> Self {
        let mut random = Random(11);
        let kinds = [GAS, DARK_MATTER, STAR, NEUTRINO];
        let mut particles = vec![Vec::new(); kinds.len()];
        let mut id = 1000;
        let mut add = |species: usize, at: [f64; 3], velocity: [f64; 3], mass: f64, heap| {
            let at = std::array::from_fn(|a| sides.map_or(at[a], |sides| at[a].rem_euclid(sides[a])));
            let position = at.map(|x: f64| f64::from(x as f32));
            let velocity = velocity.map(|v| v as f32);
            id += 7;
            particles[species].push(Particle { position, velocity, mass, id, heap });
        };
        // One heap crosses the borders of the box.
        let heaps = [([0.02, 9.98, 5.0], 400), ([5.0, 5.0, 5.0], 250), ([8.0, 2.0, 7.5], 60)];
        for (heap, (centre, n)) in heaps.into_iter().enumerate() {
            let bulk: [f64; 3] = std::array::from_fn(|_| 20.0 * random.real() - 10.0);
            for i in 0..n {
                let is_fast = i % 20 == 7;
                let offset = sphere(&mut random, 0.25);
                let own = sphere(&mut random, 0.3);
                let speed = if is_fast { 80.0 / length(own) } else { 1.0 };
                let species = [1, 1, 1, 0, 2][i % 5];
                add(
                    species,
                    std::array::from_fn(|a| centre[a] + offset[a]),
                    std::array::from_fn(|a| bulk[a] + speed * own[a]),
                    if species == 1 { 0.01 } else { 0.005 },
                    (!is_fast).then_some(heap),
                );
            }
        }
        for i in 0..600 {
            let at = std::array::from_fn(|_| 10.0 * random.real());
            // Dark matter near a heap might be bound to it.
            let is_near = heaps.iter().any(|(centre, _)| length(step(*centre, at, 10.0)) < 1.0);
            add(if is_near { 3 } else { [1, 3][i % 2] }, at, [0.0; 3], 1e-4, None);
        }
        let species = |(kind, list): (&u8, &Vec<Particle>)| Species {
            name: format!("PartType{kind}"),
            kind: Some(*kind),
            n: list.len() as u64,
            mass: MassOf::Each,
            is_double: *kind == GAS,
            has_ids,
            has_velocities: *kind != NEUTRINO,
            has_densities: false,
            has_weights: false,
            has_wind: false,
            problem: None,
        };
        let header = ParticleHeader {
            format: "planted",
            sides,
            periodic: sides.is_some(),
            time: 0.5,
            units: Some(units()),
            assumed_units: Vec::new(),
            boundary_is_assumed: false,
            notes: Vec::new(),
            sampled: [1.0; N_KINDS],
            cosmology: Some(cosmology()),
            matter: None,
            softening: [None; N_KINDS],
            species: kinds.iter().zip(&particles).map(species).collect(),
        };
        Self { header, particles }
    }

    fn cube() -> Self {
        Self::new(Some([10.0; 3]), true)
    }

    fn all(&self) -> impl Iterator<Item = &Particle> {
        self.particles.iter().flatten()
    }

    fn by_id(&self) -> BTreeMap<u64, Particle> {
        self.all().map(|particle| (particle.id, *particle)).collect()
    }
}

/// A place in a sphere, dense in the middle.
fn sphere(random: &mut Random, radius: f64) -> [f64; 3] {
    loop {
        let x: [f64; 3] = std::array::from_fn(|_| 2.0 * random.real() - 1.0);
        let r = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        if r < 1.0 {
            return x.map(|x| x * r * radius);
        }
    }
}

/// The constant of gravity is 43 in these units.
fn units() -> Units {
    let density = 2e43 / MEGAPARSEC.powi(3) * 1e3;
    Units { length: MEGAPARSEC, density, time: (43.0 / (NEWTON * density)).sqrt() }
}

fn gravity() -> f64 {
    let Units { density, time, .. } = units();
    NEWTON * density * time * time
}

fn cosmology() -> Cosmology {
    Cosmology { aexp: 0.5, h0: 70.0, omega_m: 0.3, omega_l: 0.7, omega_b: 0.05, ..Cosmology::default() }
}

/// The expansion rate in code units.
fn hubble() -> f64 {
    let Cosmology { aexp, h0, omega_m, omega_l, .. } = cosmology();
    h0 * 1e5 / MEGAPARSEC * (omega_m / aexp.powi(3) + omega_l).sqrt() * units().time
}

impl ParticleInput for PlantedBox {
    fn about(&self) -> &ParticleHeader {
        &self.header
    }

    fn rows_at_a_time(&self) -> u64 {
        100
    }

    fn read(&self, species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()> {
        for row in rows {
            let particle = self.particles[species][row as usize];
            into.position.extend_from_doubles(&[particle.position]);
            let id = if self.header.species[species].has_ids { particle.id } else { row };
            into.mass.iter_mut().for_each(|list| list.push(particle.mass));
            into.id.iter_mut().for_each(|list| list.push(id));
            into.kind
                .iter_mut()
                .for_each(|list| list.push(self.header.species[species].kind.expect("one kind")));
            into.velocity.iter_mut().for_each(|list| list.push(particle.velocity));
        }
        Ok(())
    }

    fn place_of(&self, species: usize, row: u64) -> (PathBuf, String) {
        (species.to_string().into(), row.to_string())
    }
}

fn config(request: BoundRequest) -> FofRequest {
    let params = FofParams::default().linking(Linking::Length(0.2)).bound(request).softening(SOFTENING);
    FofRequest {
        attaching: [true, false, false, false, true, false, false],
        ..FofRequest::of_dark_matter(params.numbering(0, 101))
    }
}

fn request(method: PotentialChoice) -> BoundRequest {
    BoundRequest {
        unbind: true,
        potential: method,
        properties: PropertyChoice::All,
        with_members: true,
        ..BoundRequest::default()
    }
}

fn search(input: &dyn ParticleInput, config: &FofRequest, ranks: Vec<CommBuilder>) -> Catalogue {
    let parts = run_ranks(ranks, |comm| {
        let outcome = run_fof(input, config, comm, &Executor::default()).expect("groups");
        outcome.catalogue.gather(comm).expect("gathered")
    });
    parts.expect("no panic").swap_remove(0).expect("rank 0")
}

fn alone(input: &dyn ParticleInput, config: &FofRequest) -> Catalogue {
    search(input, config, Comm::threads(1))
}

fn groups(catalogue: &Catalogue) -> &Table {
    catalogue.table("Groups").expect("groups")
}

fn counts<'a>(table: &'a Table, name: &str) -> &'a [u64] {
    table.counts(name).unwrap_or_else(|| panic!("{name}"))
}

fn reals<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    table.reals(name).unwrap_or_else(|| panic!("{name}"))
}

fn vectors<'a>(table: &'a Table, name: &str) -> &'a [[f64; 3]] {
    table.vectors(name).unwrap_or_else(|| panic!("{name}"))
}

fn integers<'a>(table: &'a Table, name: &str) -> &'a [i64] {
    match &table.column(name).unwrap_or_else(|| panic!("{name}")).values {
        Values::I64(list) => list,
        other => panic!("{name}: {other:?}"),
    }
}

/// The shortest vector over the periodic images.
fn step(from: [f64; 3], to: [f64; 3], side: f64) -> [f64; 3] {
    std::array::from_fn(|a| {
        let d = to[a] - from[a];
        d - side * (d / side).round()
    })
}

fn length(x: [f64; 3]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn close(a: f64, b: f64, part: f64, what: &str) {
    assert!((a - b).abs() <= part * a.abs().max(b.abs()), "{what}: {a} {b}");
}

/// The particles that each group lists, in their order.
fn members(catalogue: &Catalogue, of: &BTreeMap<u64, Particle>) -> Vec<Vec<Particle>> {
    let (groups, members) = (groups(catalogue), catalogue.table("members").expect("members"));
    let (ids, owners) = (counts(members, "id"), counts(members, "group"));
    let (first, n) = (counts(groups, "members_offset"), counts(groups, "n_bound"));
    let numbers = integers(groups, "GroupIDs");
    let list = |row: usize| {
        let rows = first[row] as usize..(first[row] + n[row]) as usize;
        assert!(owners[rows.clone()].iter().all(|owner| *owner == numbers[row].cast_unsigned()));
        ids[rows].iter().map(|id| of[id]).collect()
    };
    let lists: Vec<Vec<Particle>> = (0..n.len()).map(list).collect();
    assert_eq!(lists.iter().map(Vec::len).sum::<usize>(), ids.len());
    lists
}

#[test]
fn gravity_holds_all_but_the_fast_ones() {
    let input = PlantedBox::cube();
    for method in [PotentialChoice::Tree, PotentialChoice::Spherical] {
        let catalogue = alone(&input, &config(request(method)));
        let lists = members(&catalogue, &input.by_id());
        let sizes = integers(groups(&catalogue), "Sizes");
        assert!(lists.len() >= 3 && sizes[0] > 300, "{sizes:?}");
        for (heap, list) in lists[..3].iter().enumerate() {
            assert!(list.iter().all(|particle| particle.heap == Some(heap)), "{method:?}, heap {heap}");
            let slow = input.all().filter(|particle| particle.heap == Some(heap)).count();
            assert!(
                list.len() as f64 > 0.97 * slow as f64,
                "{method:?}, heap {heap}: {} of {slow}",
                list.len()
            );
            assert!(list.len() < sizes[heap] as usize, "fast ones are in the group");
        }
    }
}

/// The potential of a particle at distance r, softened: minus 1 over it is the softening at 0, and r beyond
/// three of it.
fn softened(r: f64) -> f64 {
    let u = r / (3.0 * SOFTENING);
    if u >= 1.0 {
        return 1.0 / r;
    }
    let powers = [3.0, 0.0, -7.0, 0.0, 21.0, -28.0, 15.0, -3.0];
    powers.iter().rev().fold(0.0, |sum, c| sum * u + c) / (3.0 * SOFTENING)
}

#[test]
fn energies_are_those_of_all_pairs() {
    let input = PlantedBox::cube();
    let catalogue = alone(&input, &config(request(PotentialChoice::Tree)));
    let table = catalogue.table("members").expect("members");
    let (energy, potential) = (reals(table, "energy"), reals(table, "potential"));
    let mut at = 0;
    for (row, list) in members(&catalogue, &input.by_id()).iter().enumerate() {
        let mut sum = 0.0;
        for (i, particle) in list.iter().enumerate() {
            let pair = |other: &Particle| {
                other.mass * softened(length(step(particle.position, other.position, 10.0)))
            };
            let others = list.iter().enumerate().filter(|(j, _)| *j != i);
            let expected = -gravity() * others.map(|(_, other)| pair(other)).sum::<f64>();
            close(potential[at + i], expected, 5e-3, "potential");
            sum += 0.5 * particle.mass * potential[at + i];
        }
        let mine = at..at + list.len();
        assert!(energy[mine.clone()].is_sorted() && energy[mine].iter().all(|energy| *energy < 0.0));
        at += list.len();
        close(reals(groups(&catalogue), "bound_potential_energy")[row], sum, 1e-9, "potential energy");
    }
}

#[test]
fn properties_are_those_of_the_members() {
    let input = PlantedBox::cube();
    let catalogue = alone(&input, &config(request(PotentialChoice::Tree)));
    let groups = groups(&catalogue);
    let kind_of: BTreeMap<u64, u8> = input
        .header
        .species
        .iter()
        .zip(&input.particles)
        .flat_map(|(species, list)| list.iter().map(|p| (p.id, species.kind.expect("one kind"))))
        .collect();
    for (row, list) in members(&catalogue, &input.by_id()).iter().enumerate() {
        if list.is_empty() {
            assert_eq!((reals(groups, "bound_mass")[row], counts(groups, "most_bound_id")[row]), (0.0, 0));
            continue;
        }
        let real = |name: &str| reals(groups, name)[row];
        let mass: f64 = list.iter().map(|p| p.mass).sum();
        close(real("bound_mass"), mass, 1e-12, "mass");
        assert!(real("bound_mass") < reals(groups, "Masses")[row]);
        let kinds = &kind_of;
        let of_kind = |kind: u8| list.iter().filter(move |p| kinds[&p.id] == kind);
        close(real("bound_dark_matter_mass"), of_kind(1).map(|p| p.mass).sum(), 1e-12, "dark matter");
        close(real("bound_stellar_mass"), of_kind(4).map(|p| p.mass).sum(), 1e-12, "stars");
        assert_eq!(counts(groups, "n_bound_dark_matter")[row] as usize, of_kind(1).count());
        assert_eq!(counts(groups, "n_bound_stars")[row] as usize, of_kind(4).count());
        assert!(of_kind(0).count() > 0, "gas is bound");
        assert_eq!(counts(groups, "most_bound_id")[row], list[0].id);
        let centre = vectors(groups, "most_bound_position")[row];
        assert!(length(step(list[0].position, centre, 10.0)) < 1e-12, "{centre:?}");
        let mean = |of: &dyn Fn(&Particle) -> [f64; 3]| -> [f64; 3] {
            std::array::from_fn(|a| list.iter().map(|p| p.mass * of(p)[a]).sum::<f64>() / mass)
        };
        let velocity = mean(&|p| p.velocity.map(f64::from));
        let found = vectors(groups, "bound_velocity")[row];
        (0..3).for_each(|a| assert!((found[a] - velocity[a]).abs() < 1e-9, "{found:?} {velocity:?}"));
        let offset = mean(&|p| step(centre, p.position, 10.0));
        let found = step(centre, vectors(groups, "bound_centre_of_mass")[row], 10.0);
        (0..3).for_each(|a| assert!((found[a] - offset[a]).abs() < 1e-9, "{found:?} {offset:?}"));
        let kinetic = |p: &Particle| {
            let x = step(centre, p.position, 10.0);
            let u: [f64; 3] =
                std::array::from_fn(|a| f64::from(p.velocity[a]) - velocity[a] + hubble() * x[a]);
            0.5 * p.mass * u.iter().map(|u| u * u).sum::<f64>()
        };
        close(real("bound_kinetic_energy"), list.iter().map(kinetic).sum(), 1e-6, "kinetic energy");
        check_gas(groups, row, &of_kind(0).copied().collect::<Vec<_>>(), centre);
        let mut radii: Vec<(f64, f64)> =
            list.iter().map(|p| (length(step(centre, p.position, 10.0)), p.mass)).collect();
        radii.sort_by(|a, b| a.0.total_cmp(&b.0));
        close(real("enclose_radius"), radii[list.len() - 1].0, 1e-9, "extent");
        let (mut within, mut fastest) = (0.0, 0.0f64);
        for (r, m) in &radii {
            within += m;
            fastest = fastest.max((gravity() * within / r.max(SOFTENING)).sqrt());
        }
        close(real("maximum_circular_velocity"), fastest, 1e-6, "circular velocity");
        let half = real("half_mass_radius");
        let inner: f64 = radii.iter().filter(|(r, _)| *r <= half).map(|(_, m)| m).sum();
        assert!((inner - 0.5 * mass).abs() <= 0.0101, "{inner} of {mass}");
    }
}

/// The bound gas of a group: mean motion, dispersion and energy in its own frame.
fn check_gas(groups: &Table, row: usize, list: &[Particle], centre: [f64; 3]) {
    let mass: f64 = list.iter().map(|p| p.mass).sum();
    close(reals(groups, "bound_gas_mass")[row], mass, 1e-12, "gas");
    let mean = |of: &dyn Fn(&Particle) -> [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|a| list.iter().map(|p| p.mass * of(p)[a]).sum::<f64>() / mass)
    };
    let velocity = mean(&|p| p.velocity.map(f64::from));
    let found = vectors(groups, "bound_gas_velocity")[row];
    (0..3).for_each(|a| assert!((found[a] - velocity[a]).abs() < 1e-9, "{found:?} {velocity:?}"));
    let offset = mean(&|p| step(centre, p.position, 10.0));
    let found = step(centre, vectors(groups, "bound_gas_centre_of_mass")[row], 10.0);
    (0..3).for_each(|a| assert!((found[a] - offset[a]).abs() < 1e-9, "{found:?} {offset:?}"));
    let squares = mean(&|p| std::array::from_fn(|a| (f64::from(p.velocity[a]) - velocity[a]).powi(2)));
    let found = vectors(groups, "velocity_dispersion_gas_diagonal")[row];
    (0..3).for_each(|a| close(found[a], squares[a], 1e-6, "dispersion of the gas"));
    let kinetic = |p: &Particle| {
        let x = step(centre, p.position, 10.0);
        let u = |a: usize| f64::from(p.velocity[a]) - velocity[a] + hubble() * x[a];
        0.5 * p.mass * (0..3).map(|a| u(a).powi(2)).sum::<f64>()
    };
    let found = reals(groups, "bound_gas_kinetic_energy")[row];
    close(found, list.iter().map(kinetic).sum(), 1e-6, "kinetic energy of the gas");
    // Particles have no thermal energy.
    assert_eq!(reals(groups, "bound_gas_thermal_energy")[row], 0.0);
    let has_shape = vectors(groups, "inertia_tensor_gas_diagonal")[row].iter().all(|x| *x > 0.0);
    assert_eq!(has_shape, list.len() >= 20, "{} gas particles", list.len());
}

/// Enclosed masses of all particles of all species, also those that took no part in the search.
fn check_spheres(
    input: &PlantedBox,
    groups: &Table,
    centres: &[[f64; 3]],
    is_wanted: impl Fn(usize) -> bool,
) {
    let Cosmology { aexp, omega_m, omega_l, .. } = cosmology();
    let matter = omega_m / aexp.powi(3) / (omega_m / aexp.powi(3) + omega_l);
    let critical = 3.0 * hubble().powi(2) / (8.0 * PI * gravity());
    let x = matter - 1.0;
    let virial = 18.0 * PI * PI + 82.0 * x - 39.0 * x * x;
    let spheres = [("200_crit", 200.0), ("200_mean", 200.0 * matter), ("500_crit", 500.0), ("bn98", virial)];
    for (row, centre) in centres.iter().enumerate() {
        let mut near: Vec<(f64, f64)> = input
            .all()
            .map(|p| (distance2(*centre, p.position, input.header.sides).sqrt(), p.mass))
            .collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        let of_kind = |kind: u8, radius: f64| {
            let lists = input.header.species.iter().zip(&input.particles);
            let of_kind = lists.filter(|(species, _)| species.kind == Some(kind)).flat_map(|(_, list)| list);
            let is_near = |p: &&Particle| distance2(*centre, p.position, input.header.sides).sqrt() <= radius;
            of_kind.filter(is_near).map(|p| p.mass).sum::<f64>()
        };
        for (name, times) in spheres {
            let mass = reals(groups, &format!("mass_{name}"))[row];
            let radius = reals(groups, &format!("radius_{name}"))[row];
            if !is_wanted(row) {
                assert_eq!((mass, radius), (0.0, 0.0), "{name} of {row}");
                continue;
            }
            let volume = 4.0 / 3.0 * PI * radius.powi(3);
            close(mass, times * critical * volume, 1e-4, &format!("{name} of {row}"));
            for (kind, of_type) in [(0, "gas"), (1, "dark_matter"), (4, "stellar")] {
                let found = reals(groups, &format!("{of_type}_mass_{name}"))[row];
                let (less, more) =
                    (of_kind(kind, radius * (1.0 - 1e-9)), of_kind(kind, radius * (1.0 + 1e-9)));
                assert!(
                    found >= less * (1.0 - 1e-9) && found <= more * (1.0 + 1e-9),
                    "{of_type} in {name}: {found}"
                );
            }
            let inside: f64 = near.iter().filter(|(r, _)| *r < radius * (1.0 - 1e-9)).map(|(_, m)| m).sum();
            let next = near.iter().find(|(r, _)| *r >= radius * (1.0 - 1e-9)).expect("particles beyond").1;
            assert!(
                mass >= inside * 0.9999 && mass <= (inside + next) * 1.0001,
                "{name} of {row}: {mass}, {inside} and {next}"
            );
        }
    }
}

#[test]
fn spheres_are_about_the_most_bound_particle() {
    let input = PlantedBox::cube();
    let catalogue = alone(&input, &config(request(PotentialChoice::Tree)));
    let groups = groups(&catalogue);
    let n_bound = counts(groups, "n_bound");
    assert!(n_bound[2] > 20, "{n_bound:?}");
    check_spheres(&input, groups, vectors(groups, "most_bound_position"), |row| n_bound[row] > 0);
}

#[test]
fn spheres_alone_are_about_the_centre_of_mass() {
    let of_spheres = BoundRequest { properties: PropertyChoice::Spheres, ..BoundRequest::default() };
    for sides in [Some([10.0; 3]), Some([20.0, 10.0, 10.0]), None] {
        let input = PlantedBox::new(sides, true);
        let catalogue = alone(&input, &config(of_spheres));
        let groups = groups(&catalogue);
        assert!(groups.n_rows() >= 3 && groups.column("n_bound").is_none());
        assert!(catalogue.attribute("softening").is_none() && catalogue.table("members").is_none());
        check_spheres(&input, groups, vectors(groups, "Centres"), |_| true);
    }
}

#[test]
fn properties_are_chosen_by_family() {
    let input = PlantedBox::cube();
    let has = |unbind, properties| {
        let request = BoundRequest { unbind, properties, with_members: false, ..BoundRequest::default() };
        let catalogue = alone(&input, &config(request));
        ["bound_mass", "spin_parameter", "mass_200_crit", "n_bound_inclusive", "members_offset"]
            .map(|name| groups(&catalogue).column(name).is_some())
    };
    assert_eq!(has(false, PropertyChoice::Basic), [false; 5]);
    assert_eq!(has(true, PropertyChoice::Basic), [true, false, false, false, false]);
    assert_eq!(has(true, PropertyChoice::Bound), [true, true, false, false, false]);
    assert_eq!(has(true, PropertyChoice::Spheres), [true, false, true, false, false]);
    assert_eq!(has(false, PropertyChoice::Spheres), [false, false, true, false, false]);
}

#[test]
fn ranks_and_the_order_of_messages_change_no_bit() {
    for has_ids in [true, false] {
        let input = PlantedBox::new(Some([10.0; 3]), has_ids);
        for method in [PotentialChoice::Tree, PotentialChoice::Spherical] {
            let config = config(request(method));
            let one = alone(&input, &config);
            for n in [2, 3, 8] {
                let many = search(&input, &config, Comm::threads(n));
                assert_same(&one, &many, &format!("{method:?} on {n} ranks"));
            }
            for seed in 0..4 {
                let ranks = Comm::threads(3).into_iter().zip(0..);
                let ranks = ranks.map(|(rank, i)| rank.chaos(seed << 8 | i)).collect();
                assert_same(&one, &search(&input, &config, ranks), &format!("{method:?}, chaos {seed}"));
            }
        }
    }
}

/// Every dataset of groups that span ranks has the same bits as with whole groups, also for spheres alone.
#[test]
fn groups_that_span_ranks_have_the_bits_of_whole_ones() {
    let input = PlantedBox::cube();
    let of_spheres = BoundRequest { properties: PropertyChoice::Spheres, ..BoundRequest::default() };
    let found = |request, fewest: u64, ranks| {
        let spanning = SpanRules { fewest: Some(fewest), block: 16 };
        search(&input, &config(BoundRequest { spanning, ..request }), ranks)
    };
    for request in [request(PotentialChoice::Tree), request(PotentialChoice::Spherical), of_spheres] {
        let whole = found(request, u64::MAX, Comm::threads(1));
        let radii = groups(&whole).reals("radius_200_crit").expect("spheres");
        assert!(radii.iter().any(|radius| *radius > 0.0));
        let method = request.unbinding();
        for (n, n_threads) in [(1, 1), (2, 2), (3, 1), (5, 2), (8, 1), (8, 2)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a pool");
            for fewest in [0, 200] {
                let spanning = pool.install(|| found(request, fewest, Comm::threads(n)));
                let what = format!("{method:?}, from {fewest} members, {n} ranks, {n_threads} threads");
                assert_same(&whole, &spanning, &what);
            }
        }
        for seed in 0..2 {
            let ranks = Comm::threads(3).into_iter().zip(0..);
            let ranks = ranks.map(|(rank, i)| rank.chaos(seed << 8 | i)).collect();
            assert_same(&whole, &found(request, 0, ranks), &format!("{method:?}, chaos {seed}"));
        }
    }
}

#[test]
fn the_softening_stands_in_the_catalogue() {
    let mut input = PlantedBox::cube();
    input.header.softening[usize::from(STAR)] = Some(0.0625);
    let said = |softening| {
        let mut config = config(request(PotentialChoice::Spherical));
        config.params.softening = softening;
        let catalogue = alone(&input, &config);
        assert_eq!(catalogue.attribute("potential"), Some(&Attribute::Text("spherical".into())));
        match catalogue.attribute("softening") {
            Some(Attribute::Text(lengths)) => lengths.clone(),
            other => panic!("{other:?}"),
        }
    };
    let all_given = said(Some(0.25));
    assert!(all_given.contains("dark matter=0.25 (given)") && all_given.contains("stars=0.25 (given)"));
    let by_default = said(None);
    assert!(by_default.contains("dark matter=0.04 (linking length / 5)"), "{by_default}");
    assert!(by_default.contains("stars=0.0625 (input)"), "{by_default}");
}

#[test]
fn what_an_input_lacks_is_said_before_it_is_read() {
    let refusal = |change: &dyn Fn(&mut ParticleHeader), unbind| {
        let mut input = PlantedBox::cube();
        change(&mut input.header);
        let request = BoundRequest {
            unbind,
            properties: PropertyChoice::Spheres,
            with_members: false,
            ..BoundRequest::default()
        };
        let config = config(request);
        let early = inselberg::fof::run::check(&input.header, &config).expect_err("refused").to_string();
        let error: FofRunError =
            run_fof(&input, &config, &Comm::solo(), &Executor::default()).expect_err("refused");
        assert_eq!(error.to_string(), early);
        early
    };
    assert!(refusal(&|header| header.units = None, true).contains("does not state its units"));
    let without = refusal(&|header| header.species[0].has_velocities = false, true);
    assert!(without.contains("PartType0 has no velocities"), "{without}");
    for unbind in [true, false] {
        let without = refusal(&|header| header.cosmology = None, unbind);
        assert!(without.contains("no expanding cosmology"), "{without}");
        let without = refusal(&|header| header.species[3].mass = MassOf::Unknown, unbind);
        assert!(without.contains("PartType6 has neither masses"), "{without}");
        let oblong = refusal(&|header| header.sides = Some([15.0, 10.0, 10.0]), unbind);
        assert!(oblong.contains("[15.0, 10.0, 10.0]") && oblong.contains("multiples"), "{oblong}");
    }
}
