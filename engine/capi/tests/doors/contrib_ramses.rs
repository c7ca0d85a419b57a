//! The patch for RAMSES, with stand-ins for what it uses of RAMSES. RAMSES itself is compared by hand
//! (`contrib/ramses/README.md`).

use crate::build::{Room, manifest, run};
use std::process::Command;

#[test]
fn the_patch_fills_the_arrays_of_ramses() {
    let room = Room::new();
    let options = ["-cpp", "-DNDIM=3", "-DWITHOUTMPI", "-ffree-line-length-none", "-g", "-fcheck=all"];
    let sources = ["fortran/inselberg.f90", "tests/doors/ramses_stubs.f90"].map(manifest);
    let patch = manifest("../../contrib/ramses/inselberg_clumps.f90");
    let [module, stubs] = sources;
    // Modules come first, and the program after the patch that it calls.
    let Some(program) = room.compile("gfortran", &options, &[module, stubs, patch]) else { return };
    if cfg!(feature = "hdf5") {
        let said = run(Command::new(&program).arg(room.path()));
        assert!(said.contains("all good"), "{said}");
        assert!(said.contains(" Inselberg: 2 clumps and 2 haloes in "), "{said}");
    }
    let out = Command::new(&program).arg(room.path()).arg("wrong").output().expect("it starts");
    let said = String::from_utf8_lossy(&out.stdout);
    assert_eq!(out.status.code(), Some(3), "{said}");
    for reason in ["ivar_clump is not", "needs hydro=.true.", "relevance_threshold"] {
        assert!(said.contains(reason), "{said}");
    }
}
