//! The façade: groups of particles in memory equal those of the command, in any order and decomposition.

use crate::common::compare::assert_same_table;
use crate::fof_oracle::random::Random;
use inselberg::executor::Executor;
use inselberg::fof::{FofRequest, run_fof};
use inselberg::{
    Engine, ErrorKind, FofGroups, FofParams, Geometry, GroupId, Linking, ParticleColumns, RankBuilder, Table,
};
use inselberg_comm::Comm;
use inselberg_io::particles::open_particles;
use std::collections::BTreeMap;

const SIDE: f64 = 1.0;

/// Particles as a host has them.
#[derive(Clone, Default)]
struct HostParticles {
    position: Vec<[f32; 3]>,
    id: Vec<i64>,
    mass: Vec<f32>,
    velocity: Vec<[f32; 3]>,
}

impl HostParticles {
    /// Heaps and a background; some heaps cross the boundary.
    fn new(n: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        let heaps: Vec<[f64; 3]> = (0..n / 60 + 1).map(|_| std::array::from_fn(|_| random.real())).collect();
        let mut particles = Self::default();
        for i in 0..n {
            let heap = heaps[random.below(heaps.len())];
            let width = if random.chance(0.3) { 1.0 } else { 0.02 };
            let at = heap.map(|x| (x + width * (random.real() - 0.5)).rem_euclid(SIDE) as f32);
            particles.position.push(at.map(|x| if x >= SIDE as f32 { 0.0 } else { x }));
            particles.id.push(3 * i as i64 + 5);
            particles.mass.push(1.0 + random.below(3) as f32);
            particles.velocity.push(std::array::from_fn(|_| random.real() as f32));
        }
        particles
    }

    fn some(&self, order: &[usize]) -> Self {
        Self {
            position: order.iter().map(|i| self.position[*i]).collect(),
            id: order.iter().map(|i| self.id[*i]).collect(),
            mass: order.iter().map(|i| self.mass[*i]).collect(),
            velocity: order.iter().map(|i| self.velocity[*i]).collect(),
        }
    }

    fn columns(&self, is_periodic: bool) -> ParticleColumns<'_> {
        let geometry = Geometry::cube(SIDE).periodic([is_periodic; 3]);
        ParticleColumns::new(geometry, &self.position)
            .ids(&self.id)
            .masses(&self.mass)
            .velocities(&self.velocity)
    }
}

fn labels_by_id(particles: &HostParticles, groups: &FofGroups) -> Vec<(i64, Option<GroupId>)> {
    assert_eq!(groups.labels().len(), particles.id.len());
    particles.id.iter().copied().zip(groups.labels().iter().copied()).collect()
}

#[test]
fn any_decomposition_gives_the_same_groups() {
    let all = HostParticles::new(3000, 7);
    let params = FofParams::default().linking(Linking::Ratio(0.2)).min_size(10);
    for is_periodic in [true, false] {
        let params =
            if is_periodic { params.clone() } else { params.clone().linking(Linking::Length(0.013)) };
        let mut engine = Engine::builder().threads(2).build().expect("an engine");
        let one = engine.fof(&all.columns(is_periodic), &params).expect("groups");
        assert!(one.n_groups() > 20, "{}", one.n_groups());
        let expected: BTreeMap<_, _> = labels_by_id(&all, &one).into_iter().collect();
        for n_ranks in [2, 4] {
            let mut order: Vec<usize> = (0..all.id.len()).collect();
            Random(n_ranks as u64).shuffle(&mut order);
            let tables: Vec<Option<Table>> = std::thread::scope(|scope| {
                let work = |(rank, builder): (usize, RankBuilder)| {
                    // The last rank has no particles.
                    let own = order.iter().copied().filter(|i| i % (n_ranks - 1) == rank).collect::<Vec<_>>();
                    let own = all.some(&own);
                    let (params, expected) = (&params, &expected);
                    scope.spawn(move || {
                        let mut engine =
                            Engine::builder().threads(1).rank(builder).build().expect("an engine");
                        let groups = engine.fof(&own.columns(is_periodic), params).expect("groups");
                        for (id, label) in labels_by_id(&own, &groups) {
                            assert_eq!(label, expected[&id], "particle {id} on {n_ranks} ranks");
                        }
                        assert_eq!(groups.warnings(), [""; 0]);
                        let geometry = Geometry::cube(SIDE).periodic([is_periodic; 3]);
                        let without = ParticleColumns::new(geometry, &own.position);
                        let warned = engine.fof(&without, params).expect("groups").warnings();
                        assert!(warned[0].contains("no IDs"), "{warned:?}");
                        let whole = groups.gather(1).expect("gathered");
                        engine.close().expect("closed");
                        whole.map(|mut whole| whole.tables.remove(0))
                    })
                };
                let ranks: Vec<_> = RankBuilder::threads(n_ranks).into_iter().enumerate().map(work).collect();
                ranks.into_iter().map(|rank| rank.join().expect("no panic")).collect()
            });
            assert_eq!(tables.iter().filter(|table| table.is_some()).count(), 1);
            assert_same_table(
                tables[1].as_ref().expect("rank 1"),
                one.table("Groups").expect("groups"),
                "over ranks",
            );
        }
    }
}

/// The command on the same positions, read from a file.
#[test]
fn groups_equal_those_of_the_command() {
    let all = HostParticles::new(2000, 3);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("positions.npy");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, 3), }}", all.id.len());
    header.push_str(&" ".repeat(128 - 11 - header.len()));
    header.push('\n');
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(all.position.iter().flatten().flat_map(|x| x.to_le_bytes()));
    std::fs::write(&path, bytes).expect("written");
    let input = open_particles(&[path]).expect("an array");
    let params = FofParams::default().linking(Linking::Ratio(0.2)).min_size(10).numbering(0, 1);
    let request = FofRequest { side: Some(SIDE), ..FofRequest::of_dark_matter(params.with_group_ids(true)) };
    let comm = Comm::solo();
    let command = run_fof(&*input, &request, &comm, &Executor::default()).expect("groups");
    let catalogue = command.catalogue.gather(&comm).expect("alone").expect("rank 0");
    let particles = ParticleColumns::new(Geometry::cube(SIDE), &all.position);
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let params = FofParams::default().linking(Linking::Ratio(0.2)).min_size(10);
    let found = engine.fof(&particles, &params).expect("groups");
    assert_eq!(found.linking_length(), command.linking_length);
    assert_same_table(found.table("Groups").expect("groups"), &catalogue.tables[0], "the command");
    let ids = command.group_ids.expect("asked for").gather(&comm).expect("alone").expect("rank 0");
    let of_command = crate::common::compare::bits(&ids.tables[0].columns[0].values);
    let labels: Vec<u64> = found.labels().iter().map(|label| label.map_or(0, GroupId::get)).collect();
    assert_eq!(labels, of_command);
}

#[test]
fn particles_that_cannot_be_linked_are_refused() {
    let all = HostParticles::new(100, 1);
    let mut engine = Engine::builder().threads(1).build().expect("an engine");
    let params = FofParams::default();
    let mut refused = |particles: ParticleColumns, params: &FofParams| {
        engine.fof(&particles, params).expect_err("refused").kind()
    };
    let argument = ErrorKind::InvalidArgument;
    let mixed = Geometry::cube(SIDE).periodic([true, false, true]);
    assert_eq!(refused(ParticleColumns::new(mixed, &all.position), &params), argument);
    assert_eq!(refused(all.columns(false), &params), argument, "a ratio needs a periodic box");
    assert_eq!(refused(all.columns(true), &params.clone().linking(Linking::Ratio(f64::NAN))), argument);
    assert_eq!(refused(all.columns(true), &params.clone().linking(Linking::Length(0.9))), argument);
    assert_eq!(refused(all.columns(true), &params.clone().min_size(0)), argument);
    let twice = HostParticles { id: vec![4; 100], ..all.clone() };
    assert_eq!(refused(twice.columns(true), &params), argument);
    assert_eq!(refused(all.columns(true), &params.clone().with_group_ids(true)), argument, "for files only");
    assert_eq!(refused(all.columns(true), &params.clone().seed_mass(1e10)), argument, "for files only");
    let short = HostParticles { id: vec![1, 2], ..all.clone() };
    assert_eq!(refused(short.columns(true), &params), argument);
    let heavy = HostParticles { mass: vec![f32::NAN; 100], ..all.clone() };
    assert_eq!(refused(heavy.columns(true), &params), ErrorKind::InvalidValue);
    let mut lost = all.clone();
    lost.position[7][1] = f32::INFINITY;
    assert_eq!(refused(lost.columns(true), &params), ErrorKind::InvalidValue);
    let allowed = params.clone().allow_duplicate_ids(true);
    let twice = HostParticles { id: vec![4; 100], ..all.clone() };
    assert_eq!(engine.fof(&twice.columns(true), &allowed).expect("groups").labels().len(), 100);
    let found = engine.fof(&all.columns(true), &params.min_size(2)).expect("groups");
    assert_eq!(found.labels().len(), 100);
}
