//! The façade on outputs on disk: what it finds is what the command finds.

use crate::common::case::{Case, DARK, GAS, config};
use crate::common::compare::{assert_same, bits};
use crate::common::{open, output};
use crate::facade::{over_ranks, params_of};
use inselberg::executor::Executor;
use inselberg::fof::{FofRequest, run_fof};
use inselberg::particle_mesh::{ParticleMeshConfig, ParticleSnapshot};
use inselberg::phew::PhewRequest;
use inselberg::phew::defaults;
use inselberg::phew::params::Thresholds;
use inselberg::phew::run::{run, run_on_particles};
use inselberg::{
    Catalogue, Cells, Clumps, Column, DensityUnit, Engine, ErrorKind, FieldChoice, FofParams, Geometry,
    Linking, LinkingTypes, ParticleMeshParams, Persistence, PhewParams, Rules,
};
use inselberg_comm::Comm;
use inselberg_io::catalogue::CataloguePart;
use inselberg_io::particles::open_particles;

fn whole(part: CataloguePart) -> Catalogue {
    part.gather(&Comm::solo()).expect("alone").expect("rank 0")
}

/// Brings the catalogue of all ranks to rank 0 and compares it there. Only calls know which thresholds are
/// defaults.
fn check(found: &Clumps, expected: &Catalogue, what: &str) {
    if let Some(mut found) = found.gather(0).expect("gathered") {
        found.attributes.retain(|(name, _)| name != "threshold_unit" && !name.ends_with("_origin"));
        assert_same(&found, expected, what);
    }
}

#[test]
fn outputs_give_what_the_command_gives() {
    for (name, case) in [("dm_1rank", DARK), ("gas_2ranks", GAS)] {
        for rules in [Rules::Paper, Rules::Ramses] {
            let snapshot = open(&output(name));
            let config = config(&*snapshot, case, rules);
            let wanted = run(&*snapshot, &config, &Comm::solo(), &Executor::default());
            let wanted = whole(wanted.expect("a run").catalogue);
            for n_ranks in [1, 2, 4] {
                let what = format!("{name}, {rules:?}, {n_ranks} ranks");
                over_ranks(Comm::threads(n_ranks), |_, mut engine| {
                    let snapshot = engine.open(output(name)).expect("opened");
                    let params = params_of(case, rules).with_particles(true).bound(config.params.bound);
                    let field = FieldChoice::Named(case.field.into());
                    let found = engine.phew_snapshot(&snapshot, &field, &params).expect("clumps");
                    check(&found, &wanted, &what);
                    assert!(found.labels().is_empty(), "{what}");
                });
            }
        }
    }
}

/// The catalogue of a rank alone.
fn whole_of(found: &Clumps) -> Catalogue {
    found.gather(0).expect("gathered").expect("rank 0")
}

/// A new cut in memory has the lists of a run with its thresholds, also where thresholds have units of their
/// own.
#[test]
fn new_cuts_of_outputs_equal_runs() {
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let [density, relevance, saddle] = DARK.thresholds;
    let lax = PhewParams::new(density).persistence(Persistence::Ratio(relevance)).saddle(saddle);
    let strict = lax.clone().persistence(Persistence::Ratio(6.0)).saddle(2.0 * saddle).mass(300.0);
    for rules in [Rules::Paper, Rules::Ramses] {
        let (lax, strict) = (lax.clone().rules(rules), strict.clone().rules(rules));
        let snapshot = engine.open(output("dm_1rank")).expect("opened");
        let mut phew = |params| engine.phew_snapshot(&snapshot, &FieldChoice::Auto, params).expect("clumps");
        let (first, wanted) = (phew(&lax), phew(&strict));
        assert_ne!(first.n_haloes(), wanted.n_haloes(), "{rules:?}: thresholds that matter");
        let wanted = whole_of(&wanted);
        assert_same(&whole_of(&first.recut(&strict).expect("a cut")), &wanted, &format!("{rules:?}"));
    }
    let particles = engine.open_particles(&[output("dm_1rank")]).expect("opened");
    let mut phew = |params| engine.phew_particles(&particles, &mesh_params(), params).expect("clumps");
    let (first, wanted) = (phew(&lax), phew(&strict));
    let wanted = whole_of(&wanted);
    assert_same(&whole_of(&first.recut(&strict).expect("a cut")), &wanted, "a mesh from particles");
}

fn mesh_params() -> ParticleMeshParams {
    ParticleMeshParams::default().m_refine(4).level_min(3).level_max(12)
}

#[test]
fn particles_give_what_the_command_gives() {
    let mut kinds = [false; 7];
    kinds[1] = true;
    let mesh = ParticleMeshConfig {
        m_refine: 4,
        level_min: Some(3),
        level_max: 12,
        kinds,
        side: None,
        root_level: None,
    };
    let input = || open_particles(&[output("dm_1rank")]).expect("opened");
    let snapshot = ParticleSnapshot::new(input().into(), &mesh).expect("particles");
    let config = PhewRequest {
        field: FieldChoice::Auto,
        params: PhewParams::from(Thresholds {
            density: 40.0,
            // The default on a mesh of particles.
            persistence: Persistence::Ratio(1.5),
            significance: None,
            saddle: Some(200.0),
            halo_relevance: None,
            mass: 0.0,
            min_cells: 0,
        })
        .with_particles(true),
    };
    let alone = (Comm::solo(), Executor::default());
    let clumps = run_on_particles(&snapshot, &mesh, &config, &alone.0, &alone.1).expect("a run");
    let clumps = whole(clumps.catalogue);
    let params = FofParams::default().linking(Linking::Ratio(0.2)).min_size(10).numbering(0, 1);
    let search = FofRequest::of_dark_matter(params);
    let groups = whole(run_fof(&*input(), &search, &alone.0, &alone.1).expect("a search").catalogue);
    for n_ranks in [1, 3] {
        over_ranks(Comm::threads(n_ranks), |_, mut engine| {
            let particles = engine.open_particles(&[output("dm_1rank")]).expect("opened");
            let params = PhewParams::new(40.0).saddle(200.0).with_particles(true);
            let found = engine.phew_particles(&particles, &mesh_params(), &params).expect("clumps");
            check(&found, &clumps, "a mesh from particles");
            let params = FofParams::default().linking(Linking::Ratio(0.2)).min_size(10).numbering(0, 1);
            let found = engine
                .fof_particles(&particles, &LinkingTypes::default().attaching(Vec::new()), &params)
                .expect("groups");
            if let Some(found) = found.gather(0).expect("gathered") {
                assert_same(&found, &groups, "groups");
            }
        });
    }
}

/// The group of every particle goes to a file, in the order of the input; with the numbers that were asked
/// for.
#[test]
fn group_ids_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ids.csv");
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let particles = engine.open_particles(&[output("dm_1rank")]).expect("opened");
    let params = FofParams::default().min_size(10).numbering(7, 100);
    let without = engine.fof_particles(&particles, &LinkingTypes::default(), &params).expect("groups");
    assert_eq!(without.write_group_ids(&path).expect_err("none kept").kind(), ErrorKind::InvalidArgument);
    let found = engine
        .fof_particles(&particles, &LinkingTypes::default(), &params.with_group_ids(true))
        .expect("groups");
    found.write_group_ids(&path).expect("written");
    let written = inselberg_io::catalogue::read(&path).expect("read");
    let ids = bits(&written.tables[0].columns[0].values);
    assert_eq!(ids.len() as u64, particles.species().map(|(_, n)| n).sum::<u64>());
    let of_group = |size: u64, id: usize| (ids.iter().filter(|of| **of == id as u64).count() as u64, size);
    let sizes = &found.local_groups().size;
    assert!(sizes.len() > 1, "{sizes:?}");
    for (group, size) in sizes.iter().enumerate() {
        let (n, size) = of_group(*size, 100 + group);
        assert_eq!(n, size, "group {group}");
    }
    assert!(ids.contains(&7));
}

/// An unfit input gives the same error on all ranks, and the next call works.
#[test]
fn what_cannot_be_read_or_used_is_an_error_on_all_ranks() {
    let Case { thresholds: [density, ..], .. } = DARK;
    let errors = over_ranks(Comm::threads(3), |rank, mut engine| {
        let params = PhewParams::new(density);
        let absent = engine.open("no/such/output_00001").expect_err("absent");
        let snapshot = engine.open(output("dm_1rank")).expect("opened");
        let unknown = FieldChoice::Named("vorticity".into());
        let unknown = engine.phew_snapshot(&snapshot, &unknown, &params).expect_err("no such field");
        let of_rank = params.clone().saddle(200.0 + f64::from(u8::from(rank == 2)));
        let other = engine.phew_snapshot(&snapshot, &FieldChoice::Auto, &of_rank).expect_err("they differ");
        let particles = engine.open_particles(&[output("dm_1rank")]).expect("opened");
        let both = LinkingTypes::default().attaching(vec![1]);
        let both = engine.fof_particles(&particles, &both, &FofParams::default()).expect_err("both");
        let deep = ParticleMeshParams::default().level_max(40);
        let deep = engine.phew_particles(&particles, &deep, &params).expect_err("too deep");
        engine.phew_snapshot(&snapshot, &FieldChoice::Auto, &params).expect("clumps");
        [absent, unknown, other, both, deep]
    });
    let [absent, unknown, other, both, deep] = &errors[0];
    assert!(
        other.to_string().contains("saddle_threshold of rank 2 is 201, that of rank 0 is 200"),
        "{other}"
    );
    assert_eq!((absent.kind(), unknown.kind()), (ErrorKind::Read, ErrorKind::InvalidArgument));
    assert!(absent.to_string().contains("no/such/output_00001"), "{absent}");
    assert!(unknown.to_string().contains("`vorticity`; expected one of"), "{unknown}");
    assert!(
        both.to_string()
            .contains("attaching_types is 0,1,0,0,0,0,0; expected dark matter either linking or attaching"),
        "{both}"
    );
    assert!(deep.to_string().contains("level_max is 40; expected a level from 2 to 20"), "{deep}");
    assert!(errors.iter().all(|of_rank| of_rank == &errors[0]));
}

/// Without thresholds particles and the matter of cosmological outputs have the documented ones; others have
/// none.
#[test]
fn defaults_are_thresholds_of_matter() {
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let (none, auto) = (PhewParams::default(), FieldChoice::Auto);
    let [density, saddle] = [defaults::DENSITY.value, defaults::SADDLE.value];
    let snapshot = engine.open(output("gas_2ranks")).expect("opened");
    let found = engine.phew_snapshot(&snapshot, &auto, &none).expect("clumps");
    let given = PhewParams::new(density).saddle(saddle);
    let same = engine.phew_snapshot(&snapshot, &FieldChoice::Matter, &given).expect("clumps");
    assert!(found.n_haloes() > 10 && found.n_haloes() == same.n_haloes(), "{}", found.n_haloes());
    let (said, of_given) = (found.thresholds(), same.thresholds());
    assert_eq!((said.density.value, said.density.is_default), (density, true));
    assert_eq!((of_given.density.value, of_given.density.is_default), (density, false));
    assert_eq!((said.unit, said.saddle.map(|s| s.value)), (DensityUnit::MeanMatter, Some(saddle)));
    assert!(found.recut(&none).is_ok());
    for (field, rules, part) in [
        (FieldChoice::Named("density".into()), Rules::Paper, "not all matter"),
        (FieldChoice::Named("rho".into()), Rules::Paper, "not all matter"),
        (FieldChoice::Cic, Rules::Paper, "part of the matter"),
        (auto, Rules::Ramses, "by RAMSES's rules"),
    ] {
        let error = engine.phew_snapshot(&snapshot, &field, &none.clone().rules(rules)).expect_err(part);
        assert!(error.to_string().contains(part) && error.kind() == ErrorKind::InvalidArgument, "{error}");
    }
    let cells = Cells::from_leaves(Geometry::cube(1.0), &[1], &[[0, 0, 0]]).expect("a cell");
    let error = engine.phew(&cells, Column::from(&[3.0][..]), &none).expect_err("no unit").to_string();
    assert!(error.contains("no default is known for cells in memory"), "{error}");
}
