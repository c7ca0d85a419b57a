//! A C host with the particles and the domains of SWIFT: an array of structs, particles that drift out of the
//! box and to other ranks, and particles that exist no more.

use crate::build::{ENDINGS, Room, check_growth, manifest, run};
use crate::catalogue::assert_same_catalogue;
use inselberg::{Cosmology, Engine, FofParams, Geometry, Linking, ParticleColumns};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Steps that the host writes.
const STEPS: usize = 5;
const SIDE: f64 = 20.0;
const N_PARTICLES: usize = 12000;
/// Steps of the host whose memory is watched, and by how many kilobytes it may grow in one of four windows of
/// their second half. A step that kept one number per particle would keep 96 kB on one rank, 1 MB per window.
const LONG_RUN: usize = 100;
const MOST_GROWTH: i64 = 400;

/// A particle, and the group that the host got for it.
struct Particle {
    id: u64,
    position: [f64; 3],
    velocity: [f32; 3],
    mass: f32,
    attached: u8,
    group: u64,
}

/// The particles of all ranks at a step, by ID.
struct Written {
    particles: Vec<Particle>,
    scale_factor: f64,
    /// Particles that came from other ranks.
    n_came: usize,
    /// Particles that the host does not hand over.
    n_inhibited: usize,
}

impl Written {
    fn read(room: &Room, step: usize, n_ranks: usize) -> Self {
        let mut read = Self { particles: Vec::new(), scale_factor: 0.0, n_came: 0, n_inhibited: 0 };
        for rank in 0..n_ranks {
            let text = room.text(&format!("gparts.{step}.{rank}"));
            let mut lines = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
            let facts = lines.next().expect("a line");
            read.scale_factor = facts[0].parse().expect("a scale factor");
            read.n_came += facts[1].parse::<usize>().expect("a number");
            read.n_inhibited += facts[2].parse::<usize>().expect("a number");
            read.particles.extend(lines.map(|words| Particle::read(&words)));
        }
        read.particles.sort_unstable_by_key(|particle| particle.id);
        read
    }

    fn column<T>(&self, of: impl Fn(&Particle) -> T) -> Vec<T> {
        self.particles.iter().map(of).collect()
    }

    /// Labels and catalogue are those of the Rust library.
    fn check(&self, engine: &mut Engine, catalogue: &Path, expected: &Path) {
        let (ids, masses) = (self.column(|p| p.id), self.column(|p| p.mass));
        let (positions, velocities) = (self.column(|p| p.position), self.column(|p| p.velocity));
        let attached = self.column(|p| p.attached);
        let cosmology = Cosmology {
            aexp: self.scale_factor,
            h0: 70.0,
            omega_m: 0.3,
            omega_l: 0.7,
            ..Cosmology::default()
        };
        let columns = ParticleColumns::new(Geometry::cube(SIDE).cosmology(cosmology), &positions)
            .ids(&ids)
            .masses(&masses)
            .velocities(&velocities)
            .attached(&attached);
        let params = FofParams::default().linking(Linking::Length(0.12)).min_size(10);
        let found = engine.fof(&columns, &params).expect("groups");
        let groups: Vec<u64> = found.labels().iter().map(|id| id.map_or(0, |id| id.get())).collect();
        assert!(self.column(|p| p.group) == groups, "{}", catalogue.display());
        found.write(expected).expect("a catalogue");
        assert_same_catalogue(catalogue, expected);

        assert!(found.n_groups() > 5, "{} groups", found.n_groups());
        let is_joined = |p: &Particle| p.attached != 0 && p.group != 0;
        assert!(self.particles.iter().any(is_joined), "gas and stars join groups");
        assert!(groups.contains(&0), "some are in no group");
    }

    fn n_outside(&self) -> usize {
        let is_outside = |p: &&Particle| p.position.iter().any(|x| !(0.0..SIDE).contains(x));
        self.particles.iter().filter(is_outside).count()
    }
}

impl Particle {
    fn read(words: &[&str]) -> Self {
        let real = |i: usize| words[i].parse::<f64>().expect("a number");
        let single = |i: usize| words[i].parse::<f32>().expect("a number");
        let integer = |i: usize| words[i].parse::<u64>().expect("a number");
        Self {
            id: integer(0),
            position: [1, 2, 3].map(real),
            velocity: [4, 5, 6].map(single),
            mass: single(7),
            attached: integer(8) as u8,
            group: integer(9),
        }
    }
}

fn compile(room: &Room, compiler: &str, more: &[&str]) -> Option<PathBuf> {
    let options =
        [&["-std=c11", "-g", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L"], more].concat();
    room.compile(compiler, &options, &[manifest("tests/doors/mini_swift.c")])
}

fn check(room: &Room, command: &mut Command, ending: &str, n_ranks: usize) {
    // Many steps with one of the formats.
    let n_steps = if ending == ENDINGS[0] { LONG_RUN } else { STEPS };
    let said = run(command.arg(room.path()).arg(ending).arg(n_steps.to_string()));
    assert_eq!(said.matches("all good").count(), n_ranks, "{said}");
    if n_steps == LONG_RUN {
        check_growth(&said, n_ranks, MOST_GROWTH);
    }
    let mut engine = Engine::builder().threads(1).build().expect("an engine");
    let expected = room.path().join(format!("expected{ending}"));
    let mut n_came = 0;
    for step in 0..STEPS {
        let written = Written::read(room, step, n_ranks);
        written.check(&mut engine, &room.path().join(format!("groups.{step}{ending}")), &expected);
        assert!(written.n_inhibited > 0 && written.n_outside() > 0, "step {step}");
        assert_eq!(written.particles.len() + (step + 1) * written.n_inhibited, N_PARTICLES, "step {step}");
        n_came += written.n_came;
    }
    assert!(n_ranks == 1 || n_came > 100, "{n_came} particles change their rank");
}

#[test]
fn groups_of_each_step_are_those_of_the_library() {
    let room = Room::new();
    let Some(program) = compile(&room, "cc", &[]) else { return };
    for ending in ENDINGS {
        check(&room, &mut Command::new(&program), ending, 1);
    }
}

#[cfg(feature = "mpi")]
#[test]
fn groups_of_each_step_under_mpi_are_those_of_the_library() {
    let room = Room::new();
    let compiler = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    let Some(program) = compile(&room, &compiler, &["-DWITH_MPI"]) else { return };
    let _alone = crate::build::alone();
    for n_ranks in [1, 2, 4] {
        for ending in ENDINGS {
            let Some(mut command) = crate::build::mpirun(n_ranks, Path::new(&program)) else { return };
            check(&room, &mut command, ending, n_ranks);
        }
    }
}
