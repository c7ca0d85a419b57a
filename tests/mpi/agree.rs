//! The same catalogue for any number of processes and threads, however messages travel.

use super::job::{Job, Launcher, alone};
use super::{Case, catalogue_in, dark, field, gas, text};
use crate::common::compare::assert_same;
use inselberg::executor::Executor;
use inselberg::phew::params::{FieldChoice, Persistence, Thresholds};
use inselberg::phew::run::run;
use inselberg::phew::{PhewParams, PhewRequest};
use inselberg_comm::Comm;
use inselberg_io::catalogue::{read, write_part};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const THREADS: [[&str; 2]; 2] = [["--threads", "1"], ["--threads", "2"]];

#[test]
fn two_processes_agree_with_one() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let case = dark("dm_3ranks");
    case.check(&case.catalogue(), &launcher, 2, &THREADS[1]);
}

/// A case with further options.
fn with(case: Case, more: &[&'static str]) -> Case {
    Case { options: [&case.options, more].concat(), ..case }
}

/// With bound members, properties and spheres.
#[test]
fn dark_matter_on_any_number_of_processes_and_threads() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let case = with(dark("dm_3ranks"), &["--unbind", "--with-members", "--properties", "all"]);
    let one = case.catalogue();
    for n_ranks in [1, 2, 3, 4, 5, 8] {
        THREADS.iter().for_each(|threads| case.check(&one, &launcher, n_ranks, threads));
    }
}

#[test]
fn gas_and_particles() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    for case in [with(gas(), &["--compat", "ramses"]), with(dark("dm_1rank"), &["--with-particles"])] {
        let one = case.catalogue();
        case.check(&one, &launcher, 3, &THREADS[1]);
        case.check(&one, &launcher, 4, &THREADS[0]);
    }
    let case = with(dark("dm_3ranks"), &["--field", "cic", "--with-particles"]);
    case.check(&case.catalogue(), &launcher, 5, &THREADS[0]);
}

#[test]
fn a_synthetic_field_on_any_number_of_processes() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let case = field(folder.path(), "3e4");
    let one = case.catalogue();
    for (i, n_ranks) in [1, 2, 3, 4, 5, 8].into_iter().enumerate() {
        case.check(&one, &launcher, n_ranks, &THREADS[i % 2]);
    }
}

const BOX_ARGS: [&str; 6] = ["synth", "particles", "--number", "20011", "--threads", "1"];

#[test]
fn synthetic_particles_from_any_number_of_processes() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let made = |n_ranks: usize| {
        let folder = tempfile::tempdir().expect("a folder");
        let to = text(&folder.path().join("box.npy"));
        let job = launcher.inselberg(n_ranks, &[&BOX_ARGS[..], &["-o", &to]].concat());
        let ended = Job::start(job, &to).end(Duration::from_secs(60));
        assert!(ended.is_good(), "{n_ranks}: {ended:?}");
        ["box.npy", "box.json"].map(|name| std::fs::read(folder.path().join(name)).expect("a file"))
    };
    let one = made(1);
    assert!([2, 3, 5].into_iter().all(|n_ranks| made(n_ranks) == one));
}

#[test]
fn synthetic_particles_that_one_process_cannot_write() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let to = text(&folder.path().join("box.npy"));
    let small =
        "case ${OMPI_COMM_WORLD_RANK-$PMI_RANK} in 1) trap '' XFSZ; ulimit -f 16;; esac; exec \"$0\" \"$@\"";
    let shell = ["-c", small, env!("CARGO_BIN_EXE_inselberg")];
    let job = launcher.job(3, "sh", &[&shell[..], &BOX_ARGS, &["-o", &to]].concat());
    let ended = Job::start(job, &to).end(Duration::from_secs(60));
    assert!(!ended.is_good(), "{ended:?}");
    let told = ended.lines_with("box.npy: writing: ");
    assert!(told.len() == 1 && told[0].contains("rank 1"), "{ended:?}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

/// Where [`a_rank_with_late_messages`] is to write.
const TO: &str = "INSELBERG_TEST_CATALOGUE";

fn chaos_config() -> PhewRequest {
    PhewRequest {
        field: FieldChoice::Named("rho".into()),
        params: PhewParams::from(Thresholds {
            density: 40.0,
            persistence: Persistence::Ratio(3.0),
            significance: None,
            saddle: Some(200.0),
            halo_relevance: None,
            mass: 0.0,
            min_cells: 0,
        })
        .with_cells(true)
        .with_particles(true),
    }
}

/// One process of the job that the test after it starts.
#[test]
#[ignore = "a part of another test"]
fn a_rank_with_late_messages() {
    let Ok(to) = std::env::var(TO) else { return };
    let comm = Comm::mpi().chaos(7).build().expect("a rank");
    let input = std::env::var("INSELBERG_TEST_INPUT").expect("a path");
    let snapshot = crate::common::open(Path::new(&input));
    let outcome = run(&*snapshot, &chaos_config(), &comm, &Executor::default()).expect("a run");
    write_part(Path::new(&to), &outcome.catalogue, &comm).expect("written");
}

#[test]
fn late_messages_in_any_order_change_nothing() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let to = catalogue_in(folder.path());
    let input = crate::common::output("dm_3ranks");
    let program = text(&std::env::current_exe().expect("a path"));
    let rank = ["agree::a_rank_with_late_messages", "--exact", "--ignored", "--test-threads", "1"];
    let mut command = launcher.job(4, &program, &rank);
    command.env(TO, &to).env("INSELBERG_TEST_INPUT", &input);
    let ended = Job::start(command, &program).end(Duration::from_secs(120));
    assert!(ended.is_good(), "{ended:?}");
    let comm = Comm::solo();
    let snapshot = crate::common::open(&input);
    let one =
        run(&*snapshot, &chaos_config(), &comm, &Executor::default()).expect("a run").catalogue.gather(&comm);
    let many = read(Path::new(&to)).expect("a catalogue");
    assert_same(&one.expect("alone").expect("rank 0"), &many, "late messages");
}

/// Also that a program alone does not start MPI: see [`Case::catalogue`].
#[test]
fn without_a_launcher_ranks_are_threads() {
    let case = dark("dm_3ranks");
    let folder = tempfile::tempdir().expect("a folder");
    let to = catalogue_in(folder.path());
    let mut command = Command::new(env!("CARGO_BIN_EXE_inselberg"));
    command.args(case.args(&to, &["--ranks", "3", "--threads", "1"])).env("OMPI_MCA_pml", "none-such");
    let out = command.output().expect("it starts");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert_same(&case.catalogue(), &read(Path::new(&to)).expect("a catalogue"), "ranks as threads");
}
