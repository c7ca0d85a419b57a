//! Merger trees of C and Fortran hosts: alone and under `mpirun`, their files are those of the Rust library.

use crate::build::{ENDINGS, Room, manifest, run};
use crate::catalogue::assert_same_catalogue;
use inselberg::{Cosmology, Engine, Geometry, TreeObject, TreeParams, Units, Values};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

const OUTPUTS: u64 = 9;
const OBJECTS: u64 = 60;
/// The least identity: above 2^53, where reals are not exact.
const LEAST: u64 = (1 << 60) + 1;

/// An object with identities and types of its members.
struct Found {
    id: u64,
    parent: u64,
    mass: f64,
    position: [f64; 3],
    velocity: [f64; 3],
    members: Vec<u64>,
    types: Vec<u8>,
}

impl Found {
    fn given(&self) -> TreeObject<'_> {
        let object = TreeObject::new(self.id, &self.members).parent(self.parent).mass(self.mass);
        object.place(self.position, self.velocity).types(&self.types)
    }
}

/// A number from a seed: any is as good as another.
fn mixed(seed: u64) -> u64 {
    let x = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 5
}

/// The objects of an output: each fifth is not found at times, each third goes into the one before it, and
/// particles change places.
fn objects(output: u64) -> Vec<Found> {
    let mut found = Vec::new();
    for number in 0..OBJECTS {
        let is_merged = |number: u64| number % 3 == 2 && output > mixed(number) % OUTPUTS;
        let is_missing = number % 5 == 0 && mixed(number << 8 | output).is_multiple_of(3);
        if is_merged(number) || is_missing {
            continue;
        }
        let swallowed = (number + 1 < OBJECTS && is_merged(number + 1)).then_some(number + 1);
        let mut members: Vec<(u64, u64, u8)> = Vec::new();
        for of in [number].into_iter().chain(swallowed) {
            for i in 0..20 + mixed(of) % 80 {
                let id = LEAST + of * 1000 + i;
                let energy = i + 30 * u64::from(of != number) + mixed(id ^ output << 40) % 7;
                members.push((energy, id, [1, 1, 4, 0][(i % 4) as usize]));
            }
        }
        members.sort_unstable();
        let real = |salt: u64| mixed(number << 20 | output << 4 | salt) as f64 / 1e18;
        found.push(Found {
            id: number + 7,
            parent: if number % 3 == 2 { number + 6 } else { number + 7 },
            mass: 0.1 * members.len() as f64,
            position: [1, 2, 3].map(real),
            velocity: [4, 5, 6].map(real),
            members: members.iter().map(|(_, id, _)| *id).collect(),
            types: members.iter().map(|(.., kind)| *kind).collect(),
        });
    }
    found
}

fn aexp(output: u64) -> f64 {
    0.1 + output as f64 / 16.0
}

/// What hosts read: numbers of outputs, their objects, and their members.
fn text() -> String {
    let mut text = format!("{OUTPUTS}\n");
    for output in 0..OUTPUTS {
        let objects = objects(output);
        let n_members: usize = objects.iter().map(|object| object.members.len()).sum();
        let (n, aexp) = (objects.len(), aexp(output));
        writeln!(text, "{} {aexp} {n} {n_members}", 2 * output).expect("text");
        for object in &objects {
            let Found { id, parent, mass, position: [x, y, z], velocity: [u, v, w], members, .. } = object;
            writeln!(text, "{id} {parent} {mass} {x} {y} {z} {u} {v} {w} {}", members.len()).expect("text");
        }
        for (id, kind) in objects.iter().flat_map(|object| object.members.iter().zip(&object.types)) {
            writeln!(text, "{id} {kind}").expect("text");
        }
    }
    text
}

/// What the Rust library writes: the tree of five outputs, of all, and of all with other parameters.
fn write_expected(room: &Room) {
    let mut engine = Engine::builder().threads(1).build().expect("an engine");
    let mut tree = engine.trees(&TreeParams::default().gap(2)).expect("a tree");
    let mut other = engine.trees(&TreeParams::default().gap(0).tracers(7).orphans(false)).expect("a tree");
    for output in 0..OUTPUTS {
        let objects = objects(output);
        let given: Vec<TreeObject<'_>> = objects.iter().map(Found::given).collect();
        let space =
            Geometry::cube(2.0).units(Units { length: 3e24 * aexp(output), density: 1e-28, time: 1e17 });
        let cosmology =
            Cosmology { aexp: aexp(output), h0: 70.0, omega_m: 0.3, omega_l: 0.7, ..Cosmology::default() };
        let space = space.cosmology(cosmology);
        tree.add_objects(2 * output, &space, &given).expect("an output");
        other.add_objects(2 * output, &space, &given).expect("an output");
        for ending in ENDINGS {
            let path = |name: &str| room.path().join(format!("{name}{ending}"));
            match output {
                4 => tree.write(path("expected.half")).expect("written"),
                _ if output + 1 == OUTPUTS => {
                    tree.write(path("expected.whole")).expect("written");
                    other.write(path("expected.other")).expect("written");
                }
                _ => {}
            }
        }
    }
    let catalogue = tree.catalogue().expect("the tree");
    let fates =
        catalogue.table("nodes").and_then(|nodes| nodes.column("fate")).map(|column| column.values.clone());
    let Some(Values::U8(fates)) = fates else { panic!("{fates:?}") };
    assert!([0, 1, 3].iter().all(|fate| fates.contains(fate)), "{fates:?}");
}

struct Host {
    room: Room,
}

impl Host {
    fn new() -> Self {
        let room = Room::new();
        std::fs::write(room.path().join("series"), text()).expect("written");
        write_expected(&room);
        Self { room }
    }

    fn c(&self, compiler: &str, more: &[&str]) -> Option<PathBuf> {
        let options = ["-std=c11", "-g", "-Wall", "-Wextra", "-Werror"];
        self.room.compile(compiler, &[&options, more].concat(), &[manifest("tests/doors/trees.c")])
    }

    fn fortran(&self, compiler: &str, more: &[&str]) -> Option<PathBuf> {
        let options = [&["-std=f2018", "-cpp", "-g", "-Wall", "-Wextra", "-fcheck=all"], more].concat();
        let sources = [manifest("fortran/inselberg.f90"), manifest("tests/doors/trees.f90")];
        self.room.compile(compiler, &options, &sources)
    }

    #[cfg(feature = "mpi")]
    fn check_under_mpi(&self, program: &std::path::Path, n_ranks: usize) {
        if crate::build::mpirun(n_ranks, program).is_some() {
            self.check(|| crate::build::mpirun(n_ranks, program).expect("a launcher"), n_ranks);
        }
    }

    /// Runs a host, made anew by `command`, once per format.
    fn check(&self, command: impl Fn() -> Command, n_ranks: usize) {
        let path = |name: &str| self.room.path().join(name);
        for ending in ENDINGS {
            let said = run(command().arg(path("series")).arg(self.room.path()).arg(ending));
            assert_eq!(said.matches("all good").count(), n_ranks, "{said}");
            for name in ["half", "whole", "other"] {
                let found = path(&format!("{name}{ending}"));
                assert_same_catalogue(&found, &path(&format!("expected.{name}{ending}")));
                std::fs::remove_file(found).expect("a file");
            }
        }
    }
}

#[test]
fn a_c_program_grows_the_tree_of_the_library() {
    let host = Host::new();
    let Some(program) = host.c("cc", &[]) else { return };
    host.check(|| Command::new(&program), 1);
}

/// Memory of the host and of the library under valgrind.
#[test]
#[ignore = "needs valgrind"]
fn a_c_program_with_a_tree_leaks_nothing() {
    let host = Host::new();
    let Some(program) = host.c("cc", &[]) else { return };
    let checked = || {
        let mut command = Command::new("valgrind");
        command.args([
            "--quiet",
            "--error-exitcode=99",
            "--leak-check=full",
            "--errors-for-leak-kinds=definite",
        ]);
        command.arg(&program);
        command
    };
    host.check(checked, 1);
}

#[test]
fn a_fortran_program_grows_the_tree_of_the_library() {
    let host = Host::new();
    let Some(program) = host.fortran("gfortran", &["-Werror"]) else { return };
    host.check(|| Command::new(&program), 1);
}

#[cfg(feature = "mpi")]
#[test]
fn programs_under_mpi_grow_the_tree_of_the_library() {
    let host = Host::new();
    let compiler = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.into());
    let _alone = crate::build::alone();
    let in_c = host.c(&compiler("MPICC", "mpicc"), &["-DWITH_MPI"]);
    if let Some(program) = in_c {
        [1, 2, 3].into_iter().for_each(|n_ranks| host.check_under_mpi(&program, n_ranks));
    }
    let in_fortran = host.fortran(&compiler("MPIF90", "mpif90"), &["-DWITH_MPI", "-std=gnu"]);
    if let Some(program) = in_fortran {
        [1, 3].into_iter().for_each(|n_ranks| host.check_under_mpi(&program, n_ranks));
    }
}
