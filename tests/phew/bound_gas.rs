//! Gas in bound haloes: gas cells and gas particles as members, against plain sums over leaves and particles.

use crate::bound::{counts, difference, frame_of, particles, reals, square, step, table, vectors};
use crate::common::case::{GAS, config};
use crate::common::compare::assert_same;
use crate::common::{Whole, octs, open, output};
use inselberg::MemberType;
use inselberg::executor::Executor;
use inselberg::phew::Rules;
use inselberg::phew::params::{BoundRequest, PotentialChoice, PropertyChoice, SofteningLengths, SourceTypes};
use inselberg::phew::run::run;
use inselberg_comm::{Comm, run_threads};
use inselberg_io::catalogue::{Attribute, Catalogue, Values};
use inselberg_io::ramses::write::Dialect;
use inselberg_io::{Family, NEWTON, Snapshot};
use std::collections::BTreeMap;

const FEWEST: usize = 20;
const HYDRO: [&str; 5] = ["density", "velocity_x", "velocity_y", "velocity_z", "pressure"];

/// Type and identity.
type Name = (u8, u64);

fn request() -> BoundRequest {
    BoundRequest {
        unbind: true,
        properties: PropertyChoice::All,
        with_members: true,
        ..BoundRequest::default()
    }
}

/// Without spheres, for outputs without a cosmology.
fn without_spheres() -> BoundRequest {
    BoundRequest { properties: PropertyChoice::Bound, ..request() }
}

fn on_ranks(snapshot: &dyn Snapshot, bound: BoundRequest, n_ranks: usize) -> Catalogue {
    let config = config(snapshot, GAS, Rules::Paper).with(|params| params.bound(bound));
    let parts = run_threads(n_ranks, |comm| {
        let outcome = run(snapshot, &config, comm, &Executor::default());
        outcome.expect("clumps").catalogue.gather(comm).expect("gathered")
    });
    parts.expect("no panic").swap_remove(0).expect("rank 0")
}

fn refusal(snapshot: &dyn Snapshot, bound: BoundRequest) -> String {
    let config = config(snapshot, GAS, Rules::Paper).with(|params| params.bound(bound));
    run(snapshot, &config, &Comm::solo(), &Executor::default()).expect_err("an error").to_string()
}

fn rewritten(change: impl FnOnce(&mut Whole)) -> (tempfile::TempDir, Box<dyn Snapshot>) {
    let mut whole = Whole::read(&*open(&output("gas_2ranks")));
    change(&mut whole);
    let folder = tempfile::tempdir().expect("a folder");
    let snapshot = open(&whole.write(folder.path(), 3, true, &Dialect::default()));
    (folder, snapshot)
}

/// Sets a field of the cells to 0.
fn clear(whole: &mut Whole, name: &str) {
    let column = whole.fields.iter().position(|field| field.name == name).expect("a field");
    whole.octs.iter_mut().for_each(|block| block.values[column].fill([0.0; 8]));
}

fn types(catalogue: &Catalogue) -> Vec<u8> {
    let members = table(catalogue, "members");
    match &members.columns.iter().find(|column| column.name == "type").expect("types").values {
        Values::U8(types) => types.clone(),
        other => panic!("{other:?}"),
    }
}

/// The members in the order of the table.
fn names(catalogue: &Catalogue) -> Vec<Name> {
    types(catalogue).into_iter().zip(counts(table(catalogue, "members"), "id")).collect()
}

fn text<'a>(catalogue: &'a Catalogue, name: &str) -> &'a str {
    match catalogue.attribute(name) {
        Some(Attribute::Text(text)) => text,
        other => panic!("{name}: {other:?}"),
    }
}

/// The clump of each member if all are bound: its own, or the nearest one above with enough members.
fn clumps_at_rest(catalogue: &Catalogue) -> BTreeMap<Name, u64> {
    let clumps = table(catalogue, "clumps");
    let parent: BTreeMap<u64, u64> = counts(clumps, "id").into_iter().zip(counts(clumps, "parent")).collect();
    let mut of_clump: BTreeMap<u64, Vec<Name>> = parent.keys().map(|id| (*id, Vec::new())).collect();
    let cells = counts(table(catalogue, "cells"), "clump").into_iter().zip(0..).map(|(c, row)| (c, (0, row)));
    let listed = table(catalogue, "particles");
    let of_particles = counts(listed, "clump").into_iter().zip(counts(listed, "id"));
    for (clump, name) in cells.chain(of_particles.map(|(clump, id)| (clump, (1, id)))) {
        if clump > 0 {
            of_clump.get_mut(&clump).expect("a listed clump").push(name);
        }
    }
    let depth =
        |clump: u64| std::iter::successors(Some(clump), |at| Some(parent[at]).filter(|up| up != at)).count();
    let mut deepest_first: Vec<u64> = parent.keys().copied().collect();
    deepest_first.sort_by_key(|clump| std::cmp::Reverse(depth(*clump)));
    for clump in deepest_first.into_iter().filter(|clump| of_clump[clump].len() < FEWEST).collect::<Vec<_>>()
    {
        let lost = of_clump.get_mut(&clump).map(std::mem::take).expect("a listed clump");
        match parent[&clump] {
            up if up == clump => {}
            up => of_clump.get_mut(&up).expect("its parent").extend(lost),
        }
    }
    of_clump.into_iter().flat_map(|(clump, list)| list.into_iter().map(move |name| (name, clump))).collect()
}

/// Without motion and expansion every leaf and particle of every patch is bound.
#[test]
fn leaves_and_particles_at_rest_are_all_members() {
    let (_folder, snapshot) = rewritten(|whole| {
        HYDRO[1..].iter().for_each(|name| clear(whole, name));
        whole.particles.as_mut().expect("particles").velocity.fill([0.0; 3]);
        whole.header.cosmology = None;
    });
    let catalogue = on_ranks(&*snapshot, without_spheres(), 1);
    let found: BTreeMap<Name, u64> =
        names(&catalogue).into_iter().zip(counts(table(&catalogue, "members"), "clump")).collect();
    assert_eq!(found.len(), names(&catalogue).len(), "no member is bound twice");
    let expected = clumps_at_rest(&catalogue);
    let n_gas = expected.keys().filter(|name| name.0 == 0).count();
    assert!(n_gas > 200 && expected.len() > n_gas + 200, "{n_gas} of {}", expected.len());
    assert_eq!(found, expected);
    for n_ranks in [2, 3] {
        assert_same(
            &catalogue,
            &on_ranks(&*snapshot, without_spheres(), n_ranks),
            &format!("{n_ranks} ranks"),
        );
    }
}

/// Properties of a member from the output alone.
#[derive(Clone, Copy)]
struct Known {
    position: [f64; 3],
    velocity: [f64; 3],
    mass: f64,
    softening: f64,
    thermal: f64,
}

/// Particles by identity, and leaves by their row in the table of cells.
fn known(snapshot: &dyn Snapshot, catalogue: &Catalogue, softening: f64) -> BTreeMap<Name, Known> {
    let mut all: BTreeMap<Name, Known> = particles(snapshot)
        .into_iter()
        .map(|(id, p)| {
            let (position, velocity, mass) = (p.position, p.velocity, p.mass);
            ((1, id), Known { position, velocity, mass, softening, thermal: 0.0 })
        })
        .collect();
    let octs = octs(snapshot, &HYDRO);
    let cells = table(catalogue, "cells");
    let Values::U8(levels) = &cells.columns[0].values else { panic!("levels") };
    let Values::U32x3(places) = &cells.columns[1].values else { panic!("places") };
    for (row, (level, ijk)) in (0..).zip(levels.iter().zip(places)) {
        let (split, values) = &octs[&(*level, ijk.map(|x| x / 2))];
        let cell = (0..3).map(|a| (ijk[a] as usize & 1) << a).sum::<usize>();
        assert_eq!(split >> cell & 1, 0, "a leaf");
        let [density, x, y, z, pressure] = std::array::from_fn(|field| values[field][cell]);
        let side = 0.5f64.powi((*level).into());
        let gas = Known {
            position: ijk.map(|i| (f64::from(i) + 0.5) * side),
            velocity: [x, y, z],
            mass: density * side.powi(3),
            softening: side,
            // The file states a ratio of specific heats of 1.6666667.
            thermal: pressure / density / 0.666_666_7,
        };
        all.insert((0, row), gas);
    }
    all
}

/// The potential by all pairs, softened by the Wendland kernel of the larger length of two members.
fn potential(at: usize, list: &[Known], is_source: &[bool], newton: f64) -> f64 {
    let of_pair = |other: &Known| {
        let r = square(step(list[at].position, other.position)).sqrt();
        let reach = 3.0 * list[at].softening.max(other.softening);
        let u = r / reach;
        let within = 3.0 + u * u * (-7.0 + u * u * (21.0 + u * (-28.0 + u * (15.0 - 3.0 * u))));
        -newton * other.mass * if u < 1.0 { within / reach } else { 1.0 / r }
    };
    let others = (0..list.len()).filter(|i| *i != at && is_source[*i]);
    others.map(|i| of_pair(&list[i])).sum()
}

/// The softening of particles in tests of energies.
const SOFTENING: f64 = 0.003;

/// The clump with most members, from the most bound one on.
struct LargestClump {
    row: usize,
    names: Vec<Name>,
    members: Vec<Known>,
    energy: Vec<f64>,
    potential: Vec<f64>,
}

impl LargestClump {
    fn new(snapshot: &dyn Snapshot, catalogue: &Catalogue) -> Self {
        let of = known(snapshot, catalogue, SOFTENING);
        let (clumps, members) = (table(catalogue, "clumps"), table(catalogue, "members"));
        let (n_bound, first) = (counts(clumps, "n_bound"), counts(clumps, "members_offset"));
        let row = (0..n_bound.len()).max_by_key(|row| n_bound[*row]).expect("a clump");
        let rows = first[row] as usize..(first[row] + n_bound[row]) as usize;
        let names = names(catalogue)[rows.clone()].to_vec();
        Self {
            row,
            members: names.iter().map(|name| of[name]).collect(),
            names,
            energy: reals(members, "energy")[rows.clone()].to_vec(),
            potential: reals(members, "potential")[rows].to_vec(),
        }
    }

    /// The mass of the members of a type.
    fn mass(&self, wanted: u8) -> f64 {
        let each = self.names.iter().zip(&self.members);
        each.filter(|(name, _)| name.0 == wanted).map(|(_, member)| member.mass).sum()
    }

    /// The potential is that of all pairs with a source.
    fn check_potential(&self, sources: SourceTypes, newton: f64) {
        let is_source: Vec<bool> = self.names.iter().map(|name| sources.holds(name.0)).collect();
        for (i, found) in self.potential.iter().enumerate() {
            let expected = potential(i, &self.members, &is_source, newton);
            assert!((found / expected - 1.0).abs() < 5e-3, "{i}: {found} {expected}");
        }
    }

    /// Energy less potential and thermal energy is kinetic energy in one frame, with the Hubble flow.
    fn check_kinetic(&self, with_thermal: bool, hubble: f64) {
        let thermal = |i: usize| if with_thermal { self.members[i].thermal } else { 0.0 };
        let flow = |member: &Known| -> [f64; 3] {
            let x = step(self.members[0].position, member.position);
            std::array::from_fn(|a| member.velocity[a] + hubble * x[a])
        };
        let flows: Vec<[f64; 3]> = self.members.iter().map(flow).collect();
        let kinetic = |i: usize| self.energy[i] - self.potential[i] - thermal(i);
        let frame = frame_of(&flows, kinetic);
        let scale = flows.iter().map(|flow| square(difference(*flow, frame))).fold(0.0, f64::max);
        for (i, flow) in flows.iter().enumerate() {
            let expected = 0.5 * square(difference(*flow, frame));
            assert!((kinetic(i) - expected).abs() < 1e-6 * scale, "{i}: {} {expected}", kinetic(i));
        }
    }

    /// Its columns are the sums over its members.
    fn check_columns(&self, catalogue: &Catalogue) {
        let clumps = table(catalogue, "clumps");
        for (column, number) in [("bound_gas_mass", 0), ("bound_dark_matter_mass", 1)] {
            let (found, sum) = (reals(clumps, column)[self.row], self.mass(number));
            assert!((found - sum).abs() < 1e-9 * sum, "{column}: {found} {sum}");
        }
        let n_gas = self.names.iter().filter(|name| name.0 == 0).count();
        assert!(n_gas > 0 && n_gas < self.names.len());
        assert_eq!(counts(clumps, "n_bound_gas")[self.row], n_gas as u64);
        assert!(reals(clumps, "half_mass_radius_gas")[self.row] > 0.0);
        check_angular_momentum(catalogue, self.row, &self.names, &self.members);
    }
}

/// Energies of the largest clump: thermal energy, and the potential of the types that make it.
#[test]
fn energies_are_those_of_gas_and_particles() {
    let snapshot = open(&output("gas_2ranks"));
    let header = snapshot.header();
    let time = header.units.time;
    let newton = NEWTON * header.units.density * time * time;
    let hubble = header.cosmology.as_ref().expect("a cosmological run").hubble_rate() * time;
    let base = BoundRequest { softening: SofteningLengths::same(SOFTENING), ..request() };
    let dark = SourceTypes::only(&[MemberType::DarkMatter as u8]);
    let requests =
        [base, BoundRequest { potential_from: dark, ..base }, BoundRequest { thermal_energy: false, ..base }];
    let [all, of_dark_matter, cold] = requests.map(|request| {
        let catalogue = on_ranks(&*snapshot, request, 1);
        let clump = LargestClump::new(&*snapshot, &catalogue);
        clump.check_potential(request.potential_from, newton);
        clump.check_kinetic(request.thermal_energy, hubble);
        clump.check_columns(&catalogue);
        clump.mass(0)
    });
    assert!(of_dark_matter < all, "gas helps to hold gas: {of_dark_matter} {all}");
    assert!(cold > all, "pressure drives gas out: {cold} {all}");
}

/// Angular momentum of the baryons about the most bound member: here these are gas alone.
fn check_angular_momentum(catalogue: &Catalogue, row: usize, names: &[Name], list: &[Known]) {
    let gas: Vec<&Known> = names.iter().zip(list).filter(|(name, _)| name.0 == 0).map(|(_, m)| m).collect();
    let total: f64 = gas.iter().map(|m| m.mass).sum();
    let mean: [f64; 3] =
        std::array::from_fn(|a| gas.iter().map(|m| m.mass * m.velocity[a]).sum::<f64>() / total);
    let (mut expected, mut scale) = ([0.0; 3], 0.0);
    for member in gas {
        let (x, v) = (step(list[0].position, member.position), difference(member.velocity, mean));
        scale += member.mass * (square(x) * square(v)).sqrt();
        (0..3).for_each(|a| {
            let (b, c) = ((a + 1) % 3, (a + 2) % 3);
            expected[a] += member.mass * (x[b] * v[c] - x[c] * v[b]);
        });
    }
    for column in ["angular_momentum_gas", "angular_momentum_baryons"] {
        let found = vectors(table(catalogue, "clumps"), column)[row];
        assert!(
            square(difference(found, expected)).sqrt() < 1e-9 * scale,
            "{column}: {found:?} {expected:?}"
        );
    }
}

#[test]
fn every_request_gives_one_catalogue_on_any_ranks_and_threads() {
    let snapshot = open(&output("gas_2ranks"));
    let request = BoundRequest {
        potential_from: SourceTypes::only(&[MemberType::DarkMatter as u8]),
        thermal_energy: false,
        softening: SofteningLengths::default().with(MemberType::DarkMatter, 0.002),
        ..request()
    };
    let one = on_ranks(&*snapshot, request, 1);
    assert_eq!(text(&one, "unbind_potential_from"), "dark-matter");
    let softening =
        "gas=side of the cell, dark-matter=0.002 (given), stars=side of the leaf, other=side of the leaf";
    assert_eq!(text(&one, "unbind_softening"), softening);
    assert_eq!(one.attribute("unbind_thermal_energy"), Some(&Attribute::Int(0)));
    for (n_ranks, n_threads) in [(1, 3), (2, 1), (3, 2)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a pool");
        let other = pool.install(|| on_ranks(&*snapshot, request, n_ranks));
        assert_same(&one, &other, &format!("{n_ranks} ranks, {n_threads} threads"));
    }
}

#[test]
fn the_catalogue_states_the_ratio_of_specific_heats() {
    let snapshot = open(&output("gas_2ranks"));
    let catalogue = on_ranks(&*snapshot, request(), 1);
    assert_eq!(catalogue.attribute("unbind_adiabatic_index"), Some(&Attribute::Real(1.666_666_7)));
    assert_eq!(text(&catalogue, "unbind_adiabatic_index_source"), "input");
    assert_eq!(text(&catalogue, "unbind_potential_from"), "all");
    let recut = inselberg::phew::recut::recut(&catalogue, &Default::default()).expect("a cut");
    assert!(recut.attributes.iter().all(|(name, _)| !name.starts_with("unbind_")));
}

/// Spheres hold particles and gas: leaves are cut into small cubes here.
#[test]
fn spheres_hold_gas() {
    [true, false].into_iter().for_each(check_spheres);
}

fn check_spheres(thermal_energy: bool) {
    const PARTS: usize = 8;
    let snapshot = open(&output("gas_2ranks"));
    let cosmology = snapshot.header().cosmology.clone().expect("a cosmological run");
    // Without thermal energy a gas cell is most bound: the centre has gas alone.
    let request = BoundRequest { thermal_energy, ..request() };
    let catalogue = on_ranks(&*snapshot, request, 1);
    let members: Vec<(Name, Known)> = known(&*snapshot, &catalogue, 0.0).into_iter().collect();
    let heaviest = members.iter().filter(|m| m.0.0 == 1).map(|m| m.1.mass).fold(0.0, f64::max);
    let cut = (0..PARTS.pow(3)).map(|i| [i % PARTS, i / PARTS % PARTS, i / PARTS / PARTS]);
    let cubes: Vec<[f64; 3]> = cut.map(|i| i.map(|i| (i as f64 + 0.5) / PARTS as f64 - 0.5)).collect();
    let (clumps, haloes) = (table(&catalogue, "clumps"), table(&catalogue, "haloes"));
    let (ids, centres) = (counts(clumps, "id"), vectors(clumps, "most_bound_position"));
    let mut n_found = 0;
    for (row, id) in counts(haloes, "id").iter().enumerate() {
        let centre = centres[ids.binary_search(id).expect("its main clump")];
        let radius = reals(haloes, "radius_200_mean")[row];
        let mass = reals(haloes, "mass_200_mean")[row];
        if mass == 0.0 {
            continue;
        }
        n_found += 1;
        if reals(haloes, "bound_mass")[row] > 50.0 * heaviest {
            assert!(mass > heaviest, "halo {id} ends in the gas between its inner particles: {mass}");
        }
        // In code units of RAMSES the mean density of matter is 1.
        let volume = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
        assert!((mass / (200.0 * volume) - 1.0).abs() < 2e-3, "{mass} {radius}");
        let within = |r: f64| -> f64 {
            let part_within = |(name, m): &(Name, Known)| {
                let x = step(centre, m.position);
                let reach = if name.0 == 0 { 0.87 * m.softening } else { 0.0 };
                if square(x).sqrt() >= r + reach {
                    return 0.0;
                }
                let is_inside =
                    |cube: &&[f64; 3]| square(std::array::from_fn(|a| x[a] + m.softening * cube[a])) < r * r;
                match name.0 {
                    0 => m.mass * cubes.iter().filter(is_inside).count() as f64 / cubes.len() as f64,
                    _ => m.mass,
                }
            };
            members.iter().map(part_within).sum()
        };
        let (low, high) = (0.99 * within(0.98 * radius) - heaviest, 1.01 * within(1.02 * radius) + heaviest);
        assert!(mass > low && mass < high, "halo {id}: {mass}, {low} to {high}");
        if mass > 100.0 * heaviest {
            let gas: f64 = within(radius)
                - members
                    .iter()
                    .filter(|(name, m)| name.0 == 1 && square(step(centre, m.position)) < radius * radius)
                    .map(|(_, m)| m.mass)
                    .sum::<f64>();
            assert!(gas > 0.3 * cosmology.omega_b / cosmology.omega_m * mass, "halo {id}: {gas} of {mass}");
        }
    }
    assert!(n_found > 2, "{n_found}");
}

#[test]
fn gas_alone_is_unbound() {
    // At rest, because the mass of the gas alone does not make it move.
    let (_folder, snapshot) = rewritten(|whole| {
        HYDRO[1..].iter().for_each(|name| clear(whole, name));
        whole.header.cosmology = None;
        whole.particles = None;
    });
    let catalogue = on_ranks(&*snapshot, without_spheres(), 1);
    let types = types(&catalogue);
    assert!(types.len() > 100 && types.iter().all(|found| *found == 0), "{}", types.len());
    assert_same(&catalogue, &on_ranks(&*snapshot, without_spheres(), 3), "3 ranks");
    let (_folder, snapshot) = rewritten(|whole| {
        let column = whole.fields.iter().position(|field| field.name == "velocity_z").expect("a field");
        whole.fields.remove(column);
        whole.octs.iter_mut().for_each(|block| drop(block.values.remove(column)));
    });
    let message = refusal(&*snapshot, without_spheres());
    assert!(message.contains("no field velocity_z") && message.contains("expected"), "{message}");
}

#[test]
fn spheres_need_a_cosmology() {
    let (_folder, snapshot) = rewritten(|whole| whole.header.cosmology = None);
    for properties in [PropertyChoice::Spheres, PropertyChoice::All] {
        let message = refusal(&*snapshot, BoundRequest { properties, ..request() });
        assert!(message.contains("no cosmology") && message.contains("expected"), "{message}");
    }
}

/// A type without a given softening has that of the snapshot, or the side of its leaf.
#[test]
fn a_type_without_a_softening_has_the_side_of_its_leaf() {
    let softening = SofteningLengths::default().with(MemberType::Stars, 0.25);
    let request = BoundRequest { softening, ..request() };
    let catalogue = on_ranks(&*open(&output("gas_2ranks")), request, 1);
    let said = text(&catalogue, "unbind_softening");
    for expected in ["gas=side of the cell", "dark-matter=side of the leaf", "stars=0.25 (given)"] {
        assert!(said.contains(expected), "{said}");
    }
    // There are no stars: a softening for stars changes no potential.
    let by_leaf = on_ranks(&*open(&output("gas_2ranks")), without_spheres(), 1);
    let potentials = |catalogue: &Catalogue| reals(table(catalogue, "members"), "potential");
    assert_eq!(potentials(&catalogue), potentials(&by_leaf));
}

/// Two dark-matter particles of the largest halo, by their places in the output.
fn two_of_a_halo(whole: &Whole) -> [usize; 2] {
    let catalogue = on_ranks(&*open(&output("gas_2ranks")), request(), 1);
    let listed = table(&catalogue, "particles");
    let (halo, id) = (counts(listed, "halo"), counts(listed, "id"));
    let largest = *halo.iter().filter(|halo| **halo > 0).min().expect("a halo");
    let mut of_halo = (0..id.len()).filter(|row| halo[*row] == largest).map(|row| id[row].cast_signed());
    let all = &whole.particles.as_ref().expect("particles").id;
    [(); 2].map(|()| {
        let wanted = of_halo.next().expect("two particles");
        all.iter().position(|id| *id == wanted).expect("the particle")
    })
}

#[test]
fn shared_identities_are_refused_unless_allowed() {
    let mut shared = 0;
    let (_folder, snapshot) = rewritten(|whole| {
        let [first, second] = two_of_a_halo(whole);
        let ids = &mut whole.particles.as_mut().expect("particles").id;
        ids[second] = ids[first];
        shared = ids[first];
    });
    let message = refusal(&*snapshot, request());
    assert!(message.contains(&format!("have the ID {shared}")) && message.contains("expected"), "{message}");
    let allowed = BoundRequest { allow_duplicate_ids: true, ..request() };
    let one = on_ranks(&*snapshot, allowed, 1);
    for n_ranks in [2, 3] {
        assert_same(&one, &on_ranks(&*snapshot, allowed, n_ranks), &format!("{n_ranks} ranks"));
    }
    // Cloud particles of RAMSES share the identity of their sink.
    let (_folder, snapshot) = rewritten(|whole| {
        let places = two_of_a_halo(whole);
        let all = whole.particles.as_mut().expect("particles");
        for place in places {
            (all.id[place], all.family[place]) = (-3, Family::Cloud);
        }
    });
    assert!(names(&on_ranks(&*snapshot, request(), 1)).contains(&(5, (-3i64).cast_unsigned())));
}

#[test]
fn masses_and_velocities_must_be_sound() {
    type Change = fn(&mut inselberg_io::ParticleBlock);
    let changes: [(Change, &str); 4] = [
        (|p| p.mass[7] = 0.0, "mass 0; expected a finite mass above 0"),
        (|p| p.mass[7] = -1.5, "mass -1.5"),
        (|p| p.mass[7] = f64::NAN, "mass NaN"),
        (|p| p.velocity[7][1] = f64::INFINITY, "velocity"),
    ];
    for (change, problem) in changes {
        let mut id = 0;
        let (_folder, snapshot) = rewritten(|whole| {
            let particles = whole.particles.as_mut().expect("particles");
            change(particles);
            id = particles.id[7];
        });
        let message = refusal(&*snapshot, request());
        assert!(message.contains(&format!("particle {id}")) && message.contains(problem), "{message}");
        assert!(message.contains("part_") && message.contains("expected"), "{message}");
    }
}

#[cfg(feature = "hdf5")]
mod gas_particles {
    use super::*;
    use crate::bound::bound_config;
    use crate::common::gadget::{Kind, Style, clumps, edit, write};
    use inselberg::particle_mesh::{ParticleMeshConfig, ParticleSnapshot};
    use inselberg::phew::run::run_on_particles;
    use inselberg_io::particles::open_particles;
    use std::path::PathBuf;

    fn mesh() -> ParticleMeshConfig {
        ParticleMeshConfig {
            m_refine: 8,
            level_min: None,
            level_max: 10,
            kinds: std::array::from_fn(|kind| kind < 2),
            side: None,
            root_level: None,
        }
    }

    fn found(paths: &[PathBuf], n_ranks: usize) -> Catalogue {
        let parts = run_threads(n_ranks, |comm| {
            let input = open_particles(paths).expect("a snapshot");
            let snapshot = ParticleSnapshot::new(input.into(), &mesh()).expect("particles");
            let config = bound_config(&snapshot, PotentialChoice::Tree);
            let outcome = run_on_particles(&snapshot, &mesh(), &config, comm, &Executor::default());
            outcome.expect("clumps").catalogue.gather(comm).expect("gathered")
        });
        parts.expect("no panic").swap_remove(0).expect("rank 0")
    }

    fn at_rest(n: usize, salt: u64, first_id: u64) -> Kind {
        let mut kind = clumps(n, salt);
        kind.velocity.fill([0.0; 3]);
        kind.id = (first_id..first_id + n as u64).collect();
        kind
    }

    #[test]
    fn they_are_members_of_type_gas() {
        let folder = tempfile::tempdir().expect("a folder");
        let (gas, dark) = (at_rest(3000, 5, 1), at_rest(6000, 5, 1_000_000));
        let paths = write(folder.path(), &[(0, &gas), (1, &dark)], &Style::default());
        edit(&paths[0], |file| {
            let parameters = file.create_group("Parameters")?;
            let lengths = [
                ("SofteningClassOfPartType0", 2.0),
                ("SofteningComovingClass2", 0.05),
                ("SofteningTypeOfPartType1", 0.0),
                ("SofteningComovingType0", 0.025),
                ("SofteningMaxPhysType0", 0.001),
            ];
            lengths
                .iter()
                .try_for_each(|(name, value)| parameters.new_attr::<f64>().create(*name)?.write_scalar(value))
        });
        let catalogue = found(&paths, 1);
        let softening = text(&catalogue, "unbind_softening");
        assert!(
            softening.starts_with("gas=0.05 (input), dark-matter=0.025 (input), stars=side"),
            "{softening}"
        );
        let listed = table(&catalogue, "particles");
        let in_haloes = counts(listed, "halo").into_iter().zip(counts(listed, "id"));
        let expected = in_haloes.filter(|(halo, _)| *halo > 0);
        let mut expected: Vec<Name> = expected.map(|(_, id)| (u8::from(id >= 1_000_000), id)).collect();
        let mut members = names(&catalogue);
        members.sort_unstable();
        expected.sort_unstable();
        assert!(members.iter().filter(|name| name.0 == 0).count() > 1000, "{}", members.len());
        assert_eq!(members, expected);
        assert_same(&catalogue, &found(&paths, 3), "3 ranks");
    }

    #[test]
    fn the_softening_of_swift_is_used() {
        let path = crate::common::swift_fixture().join("snap_0000.hdf5");
        let catalogue = found(&[path], 1);
        let softening = text(&catalogue, "unbind_softening");
        assert!(softening.contains("dark-matter=0.04 (input)"), "{softening}");
    }
}
