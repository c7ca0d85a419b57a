//! A Fortran host with the data structure and the domains of RAMSES: octs in linked lists per level and rank,
//! boundary octs. The mesh and the domains change from step to step.

use crate::build::{ENDINGS, Room, manifest, run};
use crate::catalogue::assert_same_catalogue;
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
    /// Octs that each rank holds: its own, boundary octs and ancestors.
    held: Vec<usize>,
    /// Octs of each rank that another rank owned before.
    came: Vec<usize>,
}

impl Written {
    fn read(room: &Room, step: usize, n_ranks: usize) -> Self {
        let mut octs = Self::default();
        for rank in 0..n_ranks {
            let text = room.text(&format!("octs.{step}.{rank}"));
            let mut lines = text.lines();
            let counts = lines.next().expect("a line").split_whitespace();
            let counts: Vec<usize> = counts.map(|word| word.parse().expect("a number")).collect();
            octs.held.push(counts[0]);
            octs.came.push(counts[1]);
            for line in lines {
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

    /// The labels that the Rust library finds. It writes its catalogue.
    fn expected(&self, engine: &mut Engine, catalogue: &Path) -> Vec<u64> {
        let cells =
            Cells::from_octs(Geometry::cube(1.0), &self.level, &self.position, &self.split).expect("cells");
        let params = PhewParams::new(3.0).persistence(Persistence::Ratio(1.2)).saddle(5.0);
        let found = engine.phew(&cells, &self.rho, &params).expect("clumps");
        assert!(found.n_clumps() > 1);
        found.write(catalogue).expect("a catalogue");
        found.labels().iter().map(|id| id.map_or(0, |id| id.get())).collect()
    }

    /// With several ranks all hold boundary octs, and with four none holds the whole tree.
    fn check_domains(&self) {
        let (n_octs, n_ranks) = (self.level.len(), self.held.len());
        match n_ranks {
            1 => assert_eq!(self.held, [n_octs]),
            _ => assert!(self.held.iter().sum::<usize>() > n_octs, "{:?} of {n_octs} octs", self.held),
        }
        if n_ranks >= 4 {
            assert!(self.held.iter().all(|held| held * 4 < n_octs * 3), "{:?} of {n_octs} octs", self.held);
        }
    }
}

fn check(room: &Room, command: &mut Command, ending: &str, n_ranks: usize) {
    let said = run(command.arg(room.path()).arg(ending));
    assert_eq!(said.matches("all good").count(), n_ranks, "{said}");
    let mut engine = Engine::builder().threads(1).build().expect("an engine");
    let (mut n_octs, mut n_moves) = (Vec::new(), 0);
    for step in 0..STEPS {
        let octs = Written::read(room, step, n_ranks);
        let expected = room.path().join(format!("expected{ending}"));
        assert!(octs.labels == octs.expected(&mut engine, &expected), "step {step} on {n_ranks} ranks");
        assert_same_catalogue(&room.path().join(format!("clumps.{step}{ending}")), &expected);
        octs.check_domains();
        n_octs.push(octs.level.len());
        n_moves += usize::from(octs.came.iter().any(|came| *came > 0));
    }
    n_octs.dedup();
    assert!(n_octs.len() > 1, "the mesh changes: {n_octs:?}");
    assert!(n_ranks == 1 || n_moves > 1, "octs change their owner in {n_moves} steps");
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
    for ending in ENDINGS {
        check(&room, &mut Command::new(&program), ending, 1);
    }
}

#[cfg(feature = "mpi")]
#[test]
fn labels_of_each_step_under_mpi_are_those_of_the_library() {
    let room = Room::new();
    let compiler = std::env::var("MPIF90").unwrap_or_else(|_| "mpif90".into());
    let Some(program) = compile(&room, &compiler, &["-DWITH_MPI", "-std=gnu"]) else { return };
    let _alone = crate::build::alone();
    for n_ranks in [1, 2, 4] {
        for ending in ENDINGS {
            let Some(mut command) = crate::build::mpirun(n_ranks, Path::new(&program)) else { return };
            check(&room, &mut command, ending, n_ranks);
        }
    }
}
