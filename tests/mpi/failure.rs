//! A failure in one process ends all of them: soon, with one message, and without half a catalogue.

use super::job::{Ended, Job, Launcher, alone, names, reads, signal};
use super::{Case, catalogue_in, dark, field};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a job may live on when one of its ranks is dead.
const SOON: Duration = Duration::from_secs(10);
/// A run that takes seconds.
pub const LONG: &str = "4e5";

/// A job of `case` over `n_ranks` into an empty folder, disturbed by `harm`. If it is done before `harm`
/// strikes, it is tried again.
pub fn harmed(
    launcher: &Launcher,
    (case, n_ranks): (&Case, usize),
    more: &[&str],
    (harm, within): (impl Fn(&mut Job, &Path) -> bool, Duration),
) -> Ended {
    for _ in 0..20 {
        let folder = tempfile::tempdir().expect("a folder");
        let to = catalogue_in(folder.path());
        let args = case.args(&to, &[&["--threads", "1"], more].concat());
        let mut job = Job::start(launcher.inselberg(n_ranks, &args), &to);
        harm(&mut job, folder.path());
        let start = Instant::now();
        let ended = job.end(within);
        if ended.is_good() {
            continue;
        }
        println!("ended {:?} after that", start.elapsed());
        assert!(!ended.is_good(), "{ended:?}");
        // If the launcher kills the first rank as well, no process is left that removes its hidden file.
        let seen = names(folder.path()).into_iter().filter(|name| !name.ends_with(".part"));
        assert_eq!(seen.collect::<Vec<_>>(), [""; 0], "{ended:?}");
        return ended;
    }
    panic!("it is always done before harm comes to it");
}

/// Nothing is done: the fault is in the input.
fn nothing(_: &mut Job, _: &Path) -> bool {
    true
}

/// The output over three files, the last one `damage`d.
fn damaged(folder: &Path, damage: impl Fn(&Path)) -> Case {
    let input = crate::common::resplit(&crate::common::output("dm_3ranks"), folder, 3);
    damage(&input.join("grav_00002.out00003"));
    Case { input: super::text(&input), ..dark("dm_3ranks") }
}

#[test]
fn a_damaged_file_is_told_by_the_rank_that_reads_it() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let case = damaged(folder.path(), |path| {
        let bytes = fs::read(path).expect("a file");
        fs::write(path, &bytes[..bytes.len() * 2 / 3]).expect("written");
    });
    let ended = harmed(&launcher, (&case, 3), &[], (nothing, SOON));
    let told = ended.lines_with("grav_00002.out00003");
    assert!(told.len() == 1 && told[0].starts_with("inselberg: error: rank 2 in reading: "), "{ended:?}");
    assert!(told[0].contains("torn") && told[0].contains("expected"), "{ended:?}");
}

#[test]
fn what_all_ranks_see_alike_is_told_once() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let case = damaged(folder.path(), |path| fs::remove_file(path).expect("gone"));
    let ended = harmed(&launcher, (&case, 3), &[], (nothing, SOON));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let told = ended.lines_with("grav_00002.out00003");
    assert!(told.len() == 1 && told[0].starts_with("inselberg: error: "), "{ended:?}");
}

#[test]
fn what_only_the_first_rank_sees_is_told_once() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let (folder, case) = (tempfile::tempdir().expect("a folder"), dark("dm_3ranks"));
    let to = catalogue_in(&folder.path().join("none"));
    let ended = Job::start(launcher.inselberg(3, &case.args(&to, &[])), &to).end(SOON);
    assert_eq!((ended.code, ended.lines_with("there is no folder").len()), (Some(2), 1), "{ended:?}");
}

#[test]
fn ranks_of_the_launcher_and_ranks_of_our_own_do_not_mix() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let ended = harmed(&launcher, (&dark("dm_3ranks"), 2), &["--ranks", "2"], (nothing, SOON));
    assert_eq!((ended.code, ended.lines_with("--ranks: `2`").len()), (Some(2), 1), "{ended:?}");
}

#[test]
fn a_killed_rank_ends_the_job_and_another_run_is_as_ever() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let case = field(folder.path(), LONG);
    let while_reading = |job: &mut Job, _: &Path| {
        job.process(1, |id| reads(id, "amr_00001")).is_some_and(|id| signal(id, "KILL"))
    };
    let while_writing = |job: &mut Job, room: &Path| {
        let is_writing = |_| names(room).iter().any(|n| n.ends_with(".part"));
        job.process(2, is_writing).is_some_and(|id| signal(id, "KILL"))
    };
    harmed(&launcher, (&case, 3), &[], (while_reading, SOON));
    harmed(&launcher, (&case, 3), &[], (while_writing, SOON));
    case.check(&case.catalogue(), &launcher, 3, &[]);
}

/// A stopped process cannot answer, so it may be computing: it has ten times the timeout.
#[test]
fn a_rank_that_hangs_is_found() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let case = field(folder.path(), LONG);
    let stop = |job: &mut Job, _: &Path| {
        job.process(1, |id| reads(id, "amr_00001")).is_some_and(|id| signal(id, "STOP"))
    };
    let patience = Duration::from_secs(30);
    let ended = harmed(&launcher, (&case, 3), &["--stall-timeout", "1"], (stop, patience));
    let told = ended.lines_with("nothing moved for 10 s");
    assert!(told.len() == 1 && told[0].contains("rank 1: no answer"), "{ended:?}");
    assert!(told[0].starts_with("inselberg: error: "), "{ended:?}");
    assert!(told[0].contains("ranks 0, 2: ") && told[0].contains("(call "), "{ended:?}");
}

#[test]
fn a_job_that_ends_early_leaves_what_another_run_made() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let case = field(folder.path(), LONG);
    for _ in 0..20 {
        let room = tempfile::tempdir().expect("a folder");
        let to = catalogue_in(room.path());
        let others = [".c.old.hdf5.other1.part", ".c.hdf5.other2.part", ".c.csv.other3.part"];
        let mut job = Job::start(launcher.inselberg(3, &case.args(&to, &["--threads", "1"])), &to);
        let is_writing = |_| names(room.path()).iter().any(|name| name.ends_with(".part"));
        let rank = job.process(1, is_writing);
        others.iter().for_each(|name| fs::write(room.path().join(name), "another run's").expect("written"));
        // The launcher ends the others. The first of them removes its files.
        let is_hurt = rank.is_some_and(|id| signal(id, "KILL"));
        let ended = job.end(SOON);
        let is_theirs =
            |name: &str| fs::read_to_string(room.path().join(name)).is_ok_and(|t| t == "another run's");
        assert!(others.iter().all(|name| is_theirs(name)), "{ended:?}, {:?}", names(room.path()));
        if is_hurt && !ended.is_good() {
            return;
        }
    }
    panic!("it is always done before harm comes to it");
}
