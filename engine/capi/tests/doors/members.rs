//! Hosts that hand over particles: bound members of clumps and groups, voids and graphs are those of the
//! library.

use crate::build::{ENDINGS, Room, manifest, run};
use crate::catalogue::assert_same_catalogue;
use crate::input::{particles, particles_text};
use inselberg::{
    BoundRequest, CellFields, Cells, Cosmology, Engine, FofParams, Geometry, Linking, LinkingTypes,
    MergerTree, Params, ParticleColumns, ParticleGraphParams, Persistence, PhewParams, TrackParams,
    TreeParams, Units, VoidParams,
};
use std::path::PathBuf;
use std::process::Command;

/// Side of the grid of cells.
const SIDE: u32 = 32;

fn geometry(aexp: f64) -> Geometry {
    let cosmology = Cosmology { aexp, h0: 70.0, omega_m: 0.3, omega_l: 0.7, ..Cosmology::default() };
    let units = Units { length: 3e24 * aexp, density: 1e-26, time: 3e17 };
    Geometry::cube(2.0).time(1.0).units(units).cosmology(cosmology)
}

/// The cells of `members.c`.
fn cells() -> (Vec<[u32; 3]>, Vec<f64>) {
    let place = |i: u32| [i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE)];
    let rho = |i: u32| {
        let [x, y, z] = place(i);
        let noise = 1.0 + (u64::from(i) * 2_654_435_761 % 1_000_003) as f64 / 1_000_003.0;
        let is_blob = x < 3 && y.abs_diff(16) < 3 && z.abs_diff(16) < 3;
        if is_blob { noise + (50.0 - f64::from(x)) } else { noise }
    };
    ((0..SIDE.pow(3)).map(place).collect(), (0..SIDE.pow(3)).map(rho).collect())
}

/// Writes what the library finds.
fn write_expected(room: &Room) {
    let positions = particles();
    let n = positions.len() as i64;
    let velocity = |i: i64| [0, 1, 2].map(|a| ((i * 7 + a * 5) % 13 - 6) as f64 * 0.125);
    let velocities: Vec<[f64; 3]> = (0..n).map(velocity).collect();
    let (ids, masses): (Vec<i64>, Vec<f64>) = (0..n).map(|id| (id, 1.0)).unzip();
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let held = [1.0, 1.25].map(|aexp| {
        let given = ParticleColumns::new(geometry(aexp), &positions).velocities(&velocities).masses(&masses);
        engine.hold_particles(&given.ids(&ids)).expect("held")
    });
    let mut groups = FofParams::default().linking(Linking::Length(0.05)).min_size(5);
    groups.set("properties", "so,bound").expect("properties");
    groups.set("with_members", "true").expect("members");
    let params = groups;
    let [groups, later] = held
        .each_ref()
        .map(|held| engine.fof_particles(held, &LinkingTypes::default(), &params).expect("groups"));
    assert!(groups.n_groups() > 1);
    let with_tracks = params.clone().tracks(TrackParams::default().on(true));
    let mut tracked = || {
        engine.fof_particles(&held[0], &LinkingTypes::default(), &with_tracks).expect("groups with tracks")
    };
    let (first, second) = (tracked(), tracked());
    let n_tracks = second.table("tracks").map(|tracks| tracks.n_rows());
    assert!(n_tracks > Some(0), "{n_tracks:?}");
    let mut tree = engine.trees(&TreeParams::default()).expect("a tree");
    tree.add_groups(&groups, 3).expect("an output");
    tree.add_groups(&later, 4).expect("an output");
    let held = &held[1];
    let mut few = VoidParams::default();
    few.set("min_particles", "3").expect("a number");
    let graph = ParticleGraphParams::for_voids();
    let voids = engine.voids(held, &graph, &few).expect("voids");
    let bound = BoundRequest { unbind: true, with_members: true, ..BoundRequest::default() };
    let clumps = PhewParams::new(4.0).persistence(Persistence::Ratio(1.5)).bound(bound);
    let (graph, in_halves) = (ParticleGraphParams::default().neighbours(12), clumps.clone().subsamples(2));
    let on_graph = engine.phew_graph(held, &graph, &in_halves).expect("clumps");
    let frequencies =
        on_graph.table("clumps").is_some_and(|table| table.column("subsample_frequency").is_some());
    assert!(frequencies, "clumps without frequencies");
    let (at, rho) = cells();
    let cells = Cells::from_leaves(geometry(1.25), &vec![5_u8; at.len()], &at).expect("cells");
    let of_cells = engine.phew(&cells, CellFields::density(&rho).particles(held), &clumps).expect("clumps");
    let n_bound =
        of_cells.table("clumps").and_then(|table| table.column("n_bound").map(|c| c.values.clone()));
    assert!(format!("{n_bound:?}").contains("U64([1"), "a clump with a hundred members or more: {n_bound:?}");
    for ending in ENDINGS {
        let path = |name: &str| room.path().join(format!("expected.{name}{ending}"));
        groups.write(path("groups")).expect("written");
        first.write(path("first")).expect("written");
        ["kept", "read"].into_iter().for_each(|name| second.write(path(name)).expect("written"));
        tree.write(path("tree")).expect("written");
        voids.write(path("voids")).expect("written");
        on_graph.write(path("graph")).expect("written");
        of_cells.write(path("cells")).expect("written");
        if *ending == ".hdf5" {
            let mut restarted = engine.trees(&TreeParams::default()).expect("a tree");
            restarted.add_files(&[path("groups")]).expect("an output");
            restarted.add_groups(&later, 4).expect("an output");
            restarted.write(path("restarted")).expect("written");
            let nodes = |tree: &MergerTree| tree.catalogue().and_then(|all| all.table("nodes").cloned());
            assert_eq!(
                nodes(&restarted).expect("nodes").integers("descendant"),
                nodes(&tree).expect("nodes").integers("descendant")
            );
        }
    }
}

struct Host(Room);

impl Host {
    fn new() -> Self {
        let room = Room::new();
        std::fs::write(room.path().join("particles"), particles_text(&particles())).expect("written");
        write_expected(&room);
        Self(room)
    }

    fn c(&self, compiler: &str, more: &[&str]) -> Option<PathBuf> {
        let options = ["-std=c11", "-g", "-Wall", "-Wextra", "-Werror"];
        self.0.compile(compiler, &[&options, more].concat(), &[manifest("tests/doors/members.c")])
    }

    /// Runs a host, made anew by `command`, once per format, and compares its results.
    fn check(&self, command: impl Fn() -> Command, n_ranks: usize, names: &[&str]) {
        let path = |name: &str| self.0.path().join(name);
        for ending in ENDINGS {
            let said = run(command().arg(path("particles")).arg(self.0.path()).arg(ending));
            assert_eq!(said.matches("all good").count(), n_ranks, "{said}");
            // A tree takes catalogues in HDF5.
            for name in names.iter().filter(|name| **name != "restarted" || *ending == ".hdf5") {
                let found = path(&format!("{name}{ending}"));
                assert_same_catalogue(&found, &path(&format!("expected.{name}{ending}")));
                std::fs::remove_file(found).expect("a file");
            }
        }
    }
}

const ALL: [&str; 9] = ["groups", "first", "kept", "read", "tree", "restarted", "voids", "graph", "cells"];

#[test]
fn a_c_program_gets_members_groups_and_voids() {
    let host = Host::new();
    let Some(program) = host.c("cc", &[]) else { return };
    host.check(|| Command::new(&program), 1, &ALL);
}

#[test]
fn a_fortran_program_gets_bound_particles_of_groups() {
    let host = Host::new();
    let options = ["-std=f2018", "-g", "-Wall", "-Wextra", "-Werror", "-fcheck=all"];
    let sources = [manifest("fortran/inselberg.f90"), manifest("tests/doors/members.f90")];
    let Some(program) = host.0.compile("gfortran", &options, &sources) else { return };
    host.check(|| Command::new(&program), 1, &ALL[..4]);
}

#[cfg(feature = "mpi")]
#[test]
fn a_c_program_under_mpi_gets_members_groups_and_voids() {
    let host = Host::new();
    let compiler = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    let _alone = crate::build::alone();
    let Some(program) = host.c(&compiler, &["-DWITH_MPI"]) else { return };
    for n_ranks in [1, 2, 4] {
        if crate::build::mpirun(n_ranks, &program).is_some() {
            host.check(|| crate::build::mpirun(n_ranks, &program).expect("a launcher"), n_ranks, &ALL);
        }
    }
}
