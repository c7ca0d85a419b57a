//! A C host with one rank per core that gathers its leaves to one rank per NUMA domain.

use crate::build::{Room, alone, manifest, mpirun, run};

#[test]
fn leaders_of_domains_find_what_all_ranks_find() {
    let room = Room::new();
    let compiler = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    let options = ["-std=c11", "-g", "-Wall", "-Wextra", "-Werror"];
    let Some(program) = room.compile(&compiler, &options, &[manifest("tests/doors/numa_leaders.c")]) else {
        return;
    };
    let _alone = alone();
    for n_ranks in [1, 3, 4] {
        let Some(mut command) = mpirun(n_ranks, &program) else { return };
        let said = run(&mut command);
        assert_eq!(said.matches("all good").count(), n_ranks, "{said}");
    }
}
