//! A C host: alone and under `mpirun`, its labels and catalogue are those of the Rust library.

use crate::build::{ENDINGS, Room, check_growth, manifest, run};
use crate::catalogue::assert_same_catalogue;
use crate::input::{Octs, particles, particles_text};
use inselberg::{Cells, Engine, FofParams, Geometry, Linking, ParticleColumns, Persistence, PhewParams};
use std::path::PathBuf;
use std::process::Command;

const STEPS: usize = 5;
/// Further steps whose memory is watched, and by how many kilobytes it may grow in one of four windows of
/// their second half. A step that kept the labels of its cells would keep 3 kB on one rank, 150 kB per
/// window.
const LONG_RUN: usize = 400;
const MOST_GROWTH: i64 = 50;

/// What the Rust library finds: clump and halo of each cell and step, group of each particle. The catalogue
/// of the first step is a file.
struct Expected {
    steps: Vec<Vec<[u64; 2]>>,
    groups: Vec<u64>,
}

impl Expected {
    fn new(octs: &mut Octs, room: &Room) -> Self {
        let mut engine = Engine::builder().threads(2).build().expect("an engine");
        let geometry = Geometry::cube(2.0).time(0.75);
        let cells = Cells::from_octs(geometry, &octs.level, &octs.position, &octs.split).expect("cells");
        let params = PhewParams::new(4.0).persistence(Persistence::Ratio(1.5)).saddle(6.0);
        let mut steps = Vec::new();
        for step in 0..STEPS {
            let found = engine.phew(&cells, &octs.rho, &params).expect("clumps");
            assert!(found.n_haloes() > 2 && found.n_clumps() > found.n_haloes(), "{found:?}");
            if step == 0 {
                for ending in ENDINGS {
                    found.write(room.path().join(format!("expected{ending}"))).expect("a catalogue");
                }
            }
            let labels = found.labels().iter().zip(found.halo_labels());
            steps.push(
                labels.map(|(clump, halo)| [clump, halo].map(|id| id.map_or(0, |id| id.get()))).collect(),
            );
            octs.advance();
        }
        let (ids, masses): (Vec<u64>, Vec<f32>) = (0..particles().len() as u64).map(|id| (id, 1.0)).unzip();
        let positions = particles();
        let velocities = vec![[0.0_f32; 3]; positions.len()];
        let given = ParticleColumns::new(Geometry::cube(2.0), &positions)
            .ids(&ids)
            .masses(&masses)
            .velocities(&velocities);
        let groups = engine
            .fof(&given, &FofParams::default().linking(Linking::Length(0.05)).min_size(5))
            .expect("groups");
        assert!(groups.n_groups() > 1);
        let groups = groups.labels().iter().map(|id| id.map_or(0, |id| id.get())).collect();
        Self { steps, groups }
    }
}

/// Numbers of the items of all ranks of a part of the host, each with its labels.
fn labels(room: &Room, name: &str, part: usize, n_ranks: usize) -> Vec<(usize, Vec<u64>)> {
    let of_rank = |rank| room.text(&format!("{name}.{part}.{rank}"));
    let text: String = (0..n_ranks).map(of_rank).collect();
    let line = |line: &str| {
        let mut numbers = line.split(' ').map(|number| number.parse::<u64>().expect("a number"));
        (numbers.next().expect("an item") as usize, numbers.collect())
    };
    let mut all: Vec<_> = text.lines().map(line).collect();
    all.sort_unstable();
    all
}

struct Host {
    room: Room,
    expected: Expected,
    octs: Octs,
}

impl Host {
    fn new() -> Self {
        let (room, mut octs) = (Room::new(), Octs::new());
        std::fs::write(room.path().join("octs"), octs.text()).expect("written");
        std::fs::write(room.path().join("particles"), particles_text(&particles())).expect("written");
        let expected = Expected::new(&mut octs, &room);
        Self { room, expected, octs }
    }

    fn compile(&self, compiler: &str, more: &[&str]) -> Option<PathBuf> {
        let hdf5: &[&str] = if ENDINGS.contains(&".hdf5") { &["-DWITH_HDF5"] } else { &[] };
        let options = ["-std=c11", "-g", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L"];
        let options = [&options, hdf5, more].concat();
        self.room.compile(compiler, &options, &[manifest("tests/doors/host.c")])
    }

    fn run(&self, command: &mut Command, n_ranks: usize, more_steps: usize) {
        let path = |name: &str| self.room.path().join(name);
        let command = command.arg(path("octs")).arg(path("particles")).arg(self.room.path());
        let said = run(command.arg(more_steps.to_string()));
        assert_eq!(said.matches("all good").count(), n_ranks, "{said}");
        if more_steps > 0 {
            check_growth(&said, n_ranks, MOST_GROWTH);
        }
        let (n_parts, n_ranks) = if n_ranks < 4 { (1, n_ranks) } else { (2, n_ranks / 2) };
        (0..n_parts).for_each(|part| self.check(part, n_ranks));
    }

    fn check(&self, part: usize, n_ranks: usize) {
        for (step, expected) in self.expected.steps.iter().enumerate() {
            let found = labels(&self.room, &format!("step{step}"), part, n_ranks);
            let expected: Vec<_> = expected.iter().map(|labels| labels.to_vec()).enumerate().collect();
            assert!(found == expected, "step {step} of {n_ranks} ranks");
        }
        let clumps = &self.expected.steps[2];
        let of_cells: Vec<_> = clumps.iter().map(|[clump, _]| vec![*clump]).enumerate().collect();
        assert!(labels(&self.room, "linked", part, n_ranks) == of_cells);
        let is_leaf = |cell: usize| self.octs.split[cell / 8] >> (cell % 8) & 1 == 0;
        let of_leaves: Vec<_> = of_cells.into_iter().filter(|(cell, _)| is_leaf(*cell)).collect();
        assert!(labels(&self.room, "leaves", part, n_ranks) == of_leaves);
        let groups: Vec<_> = self.expected.groups.iter().map(|group| vec![*group]).enumerate().collect();
        assert!(labels(&self.room, "groups", part, n_ranks) == groups);
        for ending in ENDINGS {
            let [found, expected] = [format!("clumps.{part}{ending}"), format!("expected{ending}")];
            assert_same_catalogue(&self.room.path().join(found), &self.room.path().join(expected));
        }
    }
}

#[test]
fn a_program_alone_finds_what_the_library_finds() {
    let host = Host::new();
    let Some(program) = host.compile("cc", &[]) else { return };
    host.run(&mut Command::new(program), 1, LONG_RUN);
}

/// Memory of the host and of the library under valgrind.
#[test]
#[ignore = "needs valgrind"]
fn a_program_alone_leaks_and_overruns_nothing() {
    let host = Host::new();
    let Some(program) = host.compile("cc", &["-DWITH_VALGRIND"]) else { return };
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite"]);
    host.run(command.arg(program), 1, 0);
}

#[cfg(feature = "mpi")]
#[test]
fn a_program_under_mpi_finds_what_the_library_finds() {
    let host = Host::new();
    let compiler = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    let Some(program) = host.compile(&compiler, &["-DWITH_MPI"]) else { return };
    let _alone = crate::build::alone();
    for n_ranks in [1, 2, 4] {
        let Some(mut command) = crate::build::mpirun(n_ranks, std::path::Path::new(&program)) else { return };
        host.run(&mut command, n_ranks, LONG_RUN);
    }
}
