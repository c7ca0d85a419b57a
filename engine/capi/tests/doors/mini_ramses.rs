//! A Fortran host with the data structure of RAMSES: octs in linked lists per level and rank, which it refines and derefines.

use crate::build::{Room, manifest, run};
use inselberg::{Cells, Engine, Geometry, Persistence, PhewParams};
use std::path::{Path, PathBuf};
use std::process::Command;

const STEPS: usize = 5;

/// Octs of all ranks with their fields and labels, as the host writes them.
#[derive(Default)]
struct Written {
    level: Vec<u8>,
    position: Vec<[u32; 3]>,
    split: Vec<u8>,
    rho: Vec<f64>,
    labels: Vec<u64>,
}

impl Written {
    fn read(room: &Room, step: usize, n_ranks: usize) -> Self {
        let mut octs = Self::default();
        for rank in 0..n_ranks {
            for line in room.text(&format!("fortran.{step}.{rank}")).lines() {
                let words: Vec<&str> = line.split_whitespace().collect();
                let number = |i: usize| words[i].parse::<u32>().expect("a number");
                octs.level.push(number(0) as u8);
                octs.position.push([1, 2, 3].map(number));
                octs.split.push(number(4) as u8);
                octs.rho.extend(words[5..13].iter().map(|word| word.parse::<f64>().expect("a density")));
                octs.labels.extend((13..21).map(|i| u64::from(number(i))));
            }
        }
        octs
    }

    /// The labels that the Rust library finds.
    fn expected(&self, engine: &mut Engine) -> Vec<u64> {
        let cells =
            Cells::from_octs(Geometry::cube(1.0), &self.level, &self.position, &self.split).expect("cells");
        let params = PhewParams::new(3.0).persistence(Persistence::Ratio(1.2)).saddle(5.0);
        let found = engine.phew(&cells, &self.rho, &params).expect("clumps");
        assert!(found.n_clumps() > 1);
        found.labels().iter().map(|id| id.map_or(0, |id| id.get())).collect()
    }
}

fn check(room: &Room, command: &mut Command, n_ranks: usize) {
    let said = run(command.arg(room.path()));
    assert_eq!(said.matches("all good").count(), n_ranks, "{said}");
    let mut engine = Engine::builder().threads(1).build().expect("an engine");
    let mut n_octs = Vec::new();
    for step in 0..STEPS {
        let octs = Written::read(room, step, n_ranks);
        assert!(octs.labels == octs.expected(&mut engine), "step {step} on {n_ranks} ranks");
        n_octs.push(octs.level.len());
    }
    n_octs.dedup();
    assert!(n_octs.len() > 1, "the mesh changes: {n_octs:?}");
}

fn compile(room: &Room, compiler: &str, more: &[&str]) -> Option<PathBuf> {
    let options = [&["-std=f2018", "-cpp", "-g", "-Wall", "-Wextra", "-fcheck=all"], more].concat();
    room.compile(
        compiler,
        &options,
        &[manifest("fortran/inselberg.f90"), manifest("tests/doors/mini_ramses.f90")],
    )
}

#[test]
fn labels_of_each_step_are_those_of_the_library() {
    let room = Room::new();
    let Some(program) = compile(&room, "gfortran", &["-Werror"]) else { return };
    check(&room, &mut Command::new(program), 1);
}

#[cfg(feature = "mpi")]
#[test]
fn labels_of_each_step_under_mpi_are_those_of_the_library() {
    let room = Room::new();
    let compiler = std::env::var("MPIF90").unwrap_or_else(|_| "mpif90".into());
    let Some(program) = compile(&room, &compiler, &["-DWITH_MPI", "-std=gnu"]) else { return };
    let _alone = crate::build::alone();
    for n_ranks in [1, 2, 4] {
        let Some(mut command) = crate::build::mpirun(n_ranks, Path::new(&program)) else { return };
        check(&room, &mut command, n_ranks);
    }
}
