//! A host program with its own MPI, and an engine that is a guest in it: `mpirun -n 4 guest`.
//!
//! The host initialises and finalises MPI. The engine works on a duplicate of the host's communicator.
#![allow(unsafe_code)]

use inselberg::{Cells, Engine, Error, Geometry, HostComm, PhewParams};
use mpi::topology::Communicator;
use mpi::traits::AsRaw;

fn main() {
    let (_universe, _) =
        mpi::initialize_with_threading(mpi::Threading::Funneled).expect("the host starts MPI");
    let world = mpi::topology::SimpleCommunicator::world();
    let rank = world.rank();
    // An error of the engine ends no process: the host goes on, and ends MPI itself.
    if let Err(error) = clumps(&world) {
        println!("rank {rank}: {:?}: {error}", error.kind());
    }
}

/// Collective over `world`.
fn clumps(world: &mpi::topology::SimpleCommunicator) -> Result<(), Error> {
    let (rank, n_ranks) = (world.rank() as u32, world.size() as u32);
    let raw = world.as_raw();
    // SAFETY: the pointer is to a communicator that is valid while this function runs, and `build` duplicates
    // it.
    let host = unsafe { HostComm::from_c((&raw const raw).cast()) };
    let mut engine = Engine::builder().threads(1).guest_of(host).build()?;

    // Slabs along z, as the host divides its cells.
    let own = (0..16_u32).filter(|z| z * n_ranks / 16 == rank);
    let positions: Vec<[u32; 3]> = own.flat_map(|z| (0..256).map(move |i| [i % 16, i / 16, z])).collect();
    let wave = |x: u32| 1.0 + (std::f64::consts::TAU * f64::from(x) / 8.0).sin();
    let density: Vec<f64> = positions.iter().map(|[x, y, z]| wave(*x) * wave(*y) * wave(*z)).collect();
    let cells = Cells::from_leaves(Geometry::cube(1.0), &vec![4_u8; positions.len()], &positions)?;
    let found = engine.phew(&cells, &density, &PhewParams::new(2.0))?;
    let labelled = found.labels().iter().flatten().count();
    println!("rank {rank}: {labelled} of {} cells in {} clumps of all ranks", cells.len(), found.n_clumps());

    // A bad value on one rank is the same error on all ranks; the next call works.
    let bad: Vec<f64> = density.iter().map(|rho| if rank == n_ranks - 1 { f64::NAN } else { *rho }).collect();
    let error = engine.phew(&cells, &bad, &PhewParams::new(2.0)).expect_err("a density that is not a number");
    println!("rank {rank}: {error}");
    let again = engine.phew(&cells, &density, &PhewParams::new(2.0))?;
    assert_eq!(again.labels(), found.labels());
    engine.close()
}
