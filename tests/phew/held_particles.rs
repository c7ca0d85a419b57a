//! Particles in the memory of a program give what the same particles on disk give, on any ranks.

use crate::common::compare::{assert_same_table, bits};
use crate::common::{every_column, output};
use crate::facade::over_ranks;
use inselberg::{
    BoundRequest, Catalogue, CellFields, Cells, Engine, Error, ErrorKind, FieldChoice, FofParams, Geometry,
    Linking, LinkingTypes, OpenParticles, ParticleColumns, ParticleGraphParams, ParticleMeshParams,
    PhewParams, PotentialChoice, PropertyChoice, Rules, Values, VoidParams,
};
use inselberg_comm::Comm;
use inselberg_io::particles::{Columns, Positions, open_particles};
use std::ops::Range;

/// All particles of an output, as a program may have them.
struct Program {
    geometry: Geometry,
    columns: Columns,
}

impl Program {
    fn of_output(name: &str) -> Self {
        let mut engine = Engine::builder().build().expect("an engine");
        let geometry = engine.open(output(name)).expect("opened").geometry();
        let input = open_particles(&[output(name)]).expect("opened");
        let mut columns = Columns { density: None, ..every_column(true) };
        input.read(0, 0..input.about().species[0].n, &mut columns).expect("read");
        Self { geometry, columns }
    }

    /// The particles of a rank of `n_ranks`: more on later ones, none on the second of several.
    fn rows(&self, rank: usize, n_ranks: usize) -> Range<usize> {
        let weight = |rank: usize| if rank == 1 && n_ranks > 2 { 0 } else { rank + 1 };
        let before = |rank: usize| (0..rank).map(weight).sum::<usize>();
        let at = |rank: usize| self.columns.position.len() * before(rank) / before(n_ranks);
        at(rank)..at(rank + 1)
    }

    fn held(&self, engine: &mut Engine, rows: Range<usize>) -> Result<OpenParticles, Error> {
        let Columns { position: Positions::Double(position), mass, id, kind, velocity, .. } = &self.columns
        else {
            unreachable!("double precision was asked for")
        };
        fn of<T: Clone>(column: &Option<Vec<T>>, rows: &Range<usize>) -> Vec<T> {
            column.as_ref().expect("asked for")[rows.clone()].to_vec()
        }
        let (mass, id, kind, velocity) =
            (of(mass, &rows), of(id, &rows), of(kind, &rows), of(velocity, &rows));
        let particles = ParticleColumns::new(self.geometry.clone(), &position[rows]);
        let particles = particles.masses(&mass).ids(&id).types(&kind).velocities(&velocity);
        engine.hold_particles(&particles)
    }
}

/// The tables of both, without those that name the place of a row in the input.
fn assert_same_tables(found: Option<Catalogue>, expected: &Catalogue, what: &str) {
    let Some(found) = found else { return };
    assert_eq!(found.tables.len(), expected.tables.len(), "{what}");
    for (a, b) in found.tables.iter().zip(&expected.tables) {
        assert_same_table(a, b, &format!("{what}: {}", a.name));
    }
}

/// Every call that takes particles.
fn all_calls(engine: &mut Engine, particles: &OpenParticles) -> Vec<(&'static str, Option<Catalogue>)> {
    let bound = BoundRequest {
        unbind: true,
        with_members: true,
        properties: PropertyChoice::All,
        ..BoundRequest::default()
    };
    let clumps = PhewParams::new(40.0).saddle(200.0).with_particles(true).bound(bound);
    let mesh = ParticleMeshParams::default().m_refine(4).level_min(3).level_max(12);
    let graph = ParticleGraphParams::default();
    let on_mesh = engine.phew_particles(particles, &mesh, &clumps).expect("clumps on a mesh");
    let on_graph = engine.phew_graph(particles, &graph, &clumps).expect("clumps on a graph");
    let voids = engine.voids(particles, &graph.neighbours(32), &VoidParams::default()).expect("voids");
    let groups = FofParams::default().linking(Linking::Ratio(0.2)).min_size(10).bound(bound);
    let groups = engine.fof_particles(particles, &LinkingTypes::default(), &groups).expect("groups");
    assert!(on_mesh.n_haloes() > 3 && groups.n_groups() > 3);
    vec![
        ("a mesh", on_mesh.gather(0).expect("gathered")),
        ("a graph", on_graph.gather(0).expect("gathered")),
        ("voids", voids.gather(0).expect("gathered")),
        ("groups", groups.gather(0).expect("gathered")),
    ]
}

#[test]
fn held_particles_give_what_particles_on_disk_give() {
    let program = Program::of_output("dm_1rank");
    let mut alone = Engine::builder().build().expect("an engine");
    let on_disk = alone.open_particles(&[output("dm_1rank")]).expect("opened");
    let expected = all_calls(&mut alone, &on_disk);
    for n_ranks in [1, 2, 4] {
        over_ranks(Comm::threads(n_ranks), |rank, mut engine| {
            let held = program.held(&mut engine, program.rows(rank, n_ranks)).expect("held");
            for ((what, found), (_, expected)) in all_calls(&mut engine, &held).into_iter().zip(&expected) {
                assert_same_tables(
                    found,
                    expected.as_ref().expect("rank 0"),
                    &format!("{what}, {n_ranks} ranks"),
                );
            }
        });
    }
}

#[test]
fn labels_of_held_particles_are_in_their_order() {
    let program = Program::of_output("dm_1rank");
    let params = FofParams::default().linking(Linking::Ratio(0.2)).min_size(10);
    let labels = |n_ranks: usize| {
        let of_ranks = over_ranks(Comm::threads(n_ranks), |rank, mut engine| {
            let held = program.held(&mut engine, program.rows(rank, n_ranks)).expect("held");
            engine.fof_particles(&held, &LinkingTypes::default(), &params).expect("groups").labels().to_vec()
        });
        of_ranks.concat()
    };
    let alone = labels(1);
    assert!(alone.len() == program.columns.position.len() && alone.iter().any(Option::is_some));
    assert_eq!(labels(3), alone);
}

/// Panics where whole numbers differ, or real ones by more than velocities in single precision make them.
fn assert_near(found: Option<Catalogue>, expected: &Catalogue, what: &str) {
    let Some(found) = found else { return };
    assert_eq!(found.tables.len(), expected.tables.len(), "{what}");
    let columns = |of: &Catalogue| -> Vec<_> { of.tables.iter().flat_map(|t| t.columns.clone()).collect() };
    for (a, b) in columns(&found).into_iter().zip(columns(expected)) {
        assert_eq!((&a.name, a.values.len()), (&b.name, b.values.len()), "{what}");
        // An output has densities of split cells too, which refine the places of peaks beside them.
        if a.name.contains("refined") {
            continue;
        }
        let reals = |values: &Values| match values {
            Values::F64(list) => list.clone(),
            Values::F64x3(list) => list.concat(),
            Values::F32(list) => list.iter().map(|x| f64::from(*x)).collect(),
            other => bits(other).into_iter().map(|bits| bits as f64).collect(),
        };
        let (x, y) = (reals(&a.values), reals(&b.values));
        let is_real = matches!(a.values, Values::F64(_) | Values::F64x3(_) | Values::F32(_));
        let scale = y.iter().map(|y| y.abs()).fold(0.0, f64::max);
        let most = if is_real { 1e-5 * scale } else { 0.0 };
        let is_far = |(x, y): (&f64, &f64)| (x - y).abs() > most || x.is_nan() != y.is_nan();
        let far = x.iter().zip(&y).find(|pair| is_far(*pair));
        assert_eq!(far, None, "{what}: {}", a.name);
    }
}

/// The cells and particles of an output, handed over, have the clumps and members of the output. RAMSES's
/// velocities are in double precision, those of held particles in single precision.
#[test]
fn cells_with_particles_have_members() {
    let program = Program::of_output("dm_1rank");
    let bound = BoundRequest { unbind: true, with_members: true, ..BoundRequest::default() };
    let params = PhewParams::new(40.0).saddle(200.0).with_cells(true).with_particles(true).min_particles(20);
    for (rules, potential) in [
        (Rules::Paper, PotentialChoice::Tree),
        (Rules::Ramses, PotentialChoice::Tree),
        (Rules::Ramses, PotentialChoice::Ramses),
    ] {
        let params = params.clone().rules(rules).bound(BoundRequest { potential, ..bound });
        let mut alone = Engine::builder().build().expect("an engine");
        let snapshot = alone.open(output("dm_1rank")).expect("opened");
        let expected = alone.phew_snapshot(&snapshot, &FieldChoice::Auto, &params).expect("clumps");
        let expected = expected.gather(0).expect("gathered").expect("rank 0");
        let cells = expected.table("cells").expect("cells");
        let column = |name: &str| cells.column(name).expect("a column").values.clone();
        let (Values::U8(level), Values::U32x3(ijk), Values::F64(rho)) =
            (column("level"), column("ijk"), column("density"))
        else {
            unreachable!("types of the columns")
        };
        for n_ranks in [1, 3] {
            over_ranks(Comm::threads(n_ranks), |rank, mut engine| {
                let n = level.len();
                let own = n * rank / n_ranks..n * (rank + 1) / n_ranks;
                let held = program.held(&mut engine, program.rows(rank, n_ranks)).expect("held");
                let geometry = program.geometry.clone();
                let cells =
                    Cells::from_leaves(geometry, &level[own.clone()], &ijk[own.clone()]).expect("cells");
                let fields = CellFields::density(&rho[own]).particles(&held);
                let found = engine.phew(&cells, fields, &params).expect("clumps");
                assert_near(
                    found.gather(0).expect("gathered"),
                    &expected,
                    &format!("{rules:?}, {n_ranks} ranks"),
                );
            });
        }
    }
}

#[test]
fn what_does_not_suit_is_one_line_on_all_ranks() {
    let cube = || Geometry::cube(1.0);
    let positions = vec![[0.5, 0.5, 0.5]; 3];
    let errors = over_ranks(Comm::threads(2), |rank, mut engine| {
        let mut refused =
            |particles: ParticleColumns| engine.hold_particles(&particles).map(|_| ()).expect_err("refused");
        let types = [1, 4, if rank == 1 { 9 } else { 1 }];
        let short = vec![1.0; 2];
        let flags = [0_u8; 3];
        [
            refused(ParticleColumns::new(cube(), &positions).types(&types)),
            refused(ParticleColumns::new(cube(), &positions).masses(&short)),
            refused(ParticleColumns::new(cube(), &positions).attached(&flags)),
        ]
    });
    let expected = [
        (ErrorKind::InvalidValue, "the type of particle 2 is 9; expected 0 to 6"),
        (ErrorKind::InvalidArgument, "2 masses for 3 particles; expected one per particle"),
        (ErrorKind::InvalidArgument, "expected types, some of which attach"),
    ];
    for of_rank in &errors {
        for (error, (kind, part)) in of_rank.iter().zip(expected) {
            assert!(error.kind() == kind && error.to_string().contains(part), "{error}");
        }
    }
    let mut engine = Engine::builder().build().expect("an engine");
    // Another engine holds them.
    let alone = engine.hold_particles(&ParticleColumns::new(cube(), &positions)).expect("held");
    let errors = over_ranks(Comm::threads(2), |_, mut engine| {
        let groups = engine.fof_particles(&alone, &LinkingTypes::default(), &FofParams::default());
        let voids = engine.voids(&alone, &ParticleGraphParams::for_voids(), &VoidParams::default());
        [groups.map(|_| ()).expect_err("refused"), voids.map(|_| ()).expect_err("refused")]
    });
    for error in errors.iter().flatten() {
        let expected =
            "the particles are held by another engine (its ranks: 1, here: 2); expected that engine";
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::InvalidArgument, expected));
    }
    // Values are checked by the call that reads them.
    let outside = [[0.5, 7.0, 0.5]];
    let held = engine.hold_particles(&ParticleColumns::new(cube(), &outside)).expect("held");
    let error =
        engine.fof_particles(&held, &LinkingTypes::default(), &FofParams::default()).expect_err("outside");
    assert!(error.to_string().contains("particles in memory: particle 0"), "{error}");
    let held = engine.hold_particles(&ParticleColumns::new(Geometry::cube(2.0), &positions)).expect("held");
    let (level, at, rho) = (vec![0_u8], vec![[0_u32; 3]], vec![1.0]);
    let cells = Cells::from_leaves(cube(), &level, &at).expect("cells");
    let bound = BoundRequest { unbind: true, ..BoundRequest::default() };
    let unbind = PhewParams::new(0.5).bound(bound);
    let fields = CellFields::density(&rho).particles(&held);
    let error = engine.phew(&cells, fields, &unbind).expect_err("another box");
    assert!(error.to_string().contains("beside cells in a periodic box of [1.0, 1.0, 1.0]"), "{error}");
    let error = engine.phew(&cells, CellFields::density(&rho), &unbind).expect_err("no particles");
    assert!(error.to_string().contains("cells in memory without particles"), "{error}");
}
