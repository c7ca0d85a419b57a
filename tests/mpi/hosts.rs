//! Ranks on three hosts with messages over TCP. The hosts are namespaces of this machine, see
//! `scripts/hosts.sh`.

use super::failure::{LONG, harmed};
use super::job::{Job, Launcher, alone, parent, reads, signal};
use super::{dark, field};
use std::path::Path;
use std::time::Duration;

#[test]
fn ranks_on_several_hosts_agree_with_one() {
    let Some(launcher) = Launcher::over_hosts() else { return };
    let _alone = alone();
    let case = dark("dm_3ranks");
    case.check(&case.catalogue(), &launcher, 6, &["--threads", "1"]);
}

#[test]
fn a_killed_rank_or_a_lost_host_ends_the_job_on_all() {
    let Some(launcher) = Launcher::over_hosts() else { return };
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let case = field(folder.path(), LONG);
    let soon = Duration::from_secs(10);
    let kill_rank = |job: &mut Job, _: &Path| {
        job.process(4, |id| reads(id, "amr_00001")).is_some_and(|id| signal(id, "KILL"))
    };
    // When the daemon of the launcher ends, everything on the host ends.
    let kill_host = |job: &mut Job, _: &Path| {
        let rank = job.process(4, |id| reads(id, "amr_00001"));
        let daemon = rank.and_then(parent);
        rank.is_some_and(|id| signal(id, "KILL")) && daemon.is_some_and(|id| signal(id, "KILL"))
    };
    harmed(&launcher, (&case, 6), &[], (kill_rank, soon));
    harmed(&launcher, (&case, 6), &[], (kill_host, soon));
    case.check(&case.catalogue(), &launcher, 6, &["--threads", "1"]);
}
