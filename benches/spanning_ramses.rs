//! Memory and time of haloes that span ranks by RAMSES's rules of unbinding, on one rank and on several.
//!
//!     cargo bench -p inselberg --features mpi --bench spanning_ramses -- OUTPUT [copies, 64] [whole]
//!     mpirun --oversubscribe -n 8 target/release/deps/spanning_ramses-* OUTPUT [copies] [whole]
//!
//! OUTPUT is an output of RAMSES with `rho` in its files of gravity: `ramses_32/output_00002` of
//! tests/fixtures/ramses_32.tar.xz. Each of its particles is copied, with places and velocities around its
//! own. The bench prints the peak memory of each process, as Linux counts it, the particles of the largest
//! halo and of all, and the seconds. With `whole` every halo is on one rank.

#[path = "common/memory.rs"]
mod memory;
#[path = "common/random.rs"]
mod random;

use inselberg::executor::Executor;
use inselberg::phew::params::{FieldChoice, Persistence, Thresholds};
use inselberg::phew::run::run;
use inselberg::phew::{PhewParams, PhewRequest, Rules};
use inselberg::{BoundRequest, PotentialChoice, PropertyChoice, bound::SpanRules};
use inselberg_comm::{Comm, Reduce};
use inselberg_io::{Every, FieldInfo, Header, OctBlock, ParticleBlock, ReadResult, Snapshot};
use memory::memory;
use std::path::Path;

/// An output with several particles for each of its own.
struct ManyParticles {
    output: Box<dyn Snapshot>,
    copies: u64,
}

impl ManyParticles {
    fn copy(&self, block: &ParticleBlock, number: u64) -> ParticleBlock {
        let side = self.output.header().boxlen;
        let mut copy = block.clone();
        copy.first += number << 32;
        for i in 0..copy.id.len() {
            let mut bits = (copy.id[i].cast_unsigned() << 20) + number;
            let mut step = || random::unit(&mut bits) - 0.5;
            copy.position[i].iter_mut().for_each(|x| *x = (*x + 1e-3 * side * step()).rem_euclid(side));
            copy.velocity[i].iter_mut().for_each(|v| *v *= 1.0 + 0.2 * step());
            copy.mass[i] /= self.copies as f64;
            copy.id[i] = copy.id[i] * self.copies.cast_signed() + number.cast_signed();
        }
        copy
    }
}

impl Snapshot for ManyParticles {
    fn header(&self) -> &Header {
        self.output.header()
    }

    fn fields(&self) -> &[FieldInfo] {
        self.output.fields()
    }

    fn has_particles(&self) -> bool {
        true
    }

    fn count_octs(&self, piece: usize) -> ReadResult<Vec<u64>> {
        self.output.count_octs(piece)
    }

    fn count_particles(&self, piece: usize) -> ReadResult<u64> {
        Ok(self.copies * self.output.count_particles(piece)?)
    }

    fn octs(
        &self,
        piece: usize,
        fields: &[&str],
        sink: &mut dyn FnMut(&OctBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        self.output.octs(piece, fields, sink)
    }

    fn particles_of(
        &self,
        piece: usize,
        blocks: Every,
        sink: &mut dyn FnMut(&ParticleBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        let mut copies =
            |block: &ParticleBlock| (0..self.copies).try_for_each(|number| sink(&self.copy(block, number)));
        self.output.particles_of(piece, blocks, &mut copies)
    }
}

fn config(fewest: Option<u64>) -> PhewRequest {
    PhewRequest {
        field: FieldChoice::Named("rho".into()),
        params: PhewParams::from(Thresholds {
            density: 0.3,
            persistence: Persistence::Ratio(4.0),
            significance: None,
            saddle: Some(0.9),
            halo_relevance: None,
            mass: 0.0,
            min_cells: 0,
        })
        .rules(Rules::Ramses)
        .bound(BoundRequest {
            unbind: true,
            potential: PotentialChoice::Ramses,
            properties: PropertyChoice::Bound,
            with_members: true,
            spanning: SpanRules { fewest, ..SpanRules::default() },
            ..BoundRequest::default()
        }),
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let Some(output) = args.first() else {
        println!("no output was given");
        return;
    };
    let output = inselberg_io::open(Path::new(output)).expect("an output");
    let copies = args.get(1).map_or(64, |n| n.parse().expect("a number of copies"));
    let fewest = args.get(2).filter(|word| *word == "whole").map(|_| u64::MAX);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build_global();
    pool.expect("the first pool");
    let comm = Comm::mpi().build().expect("MPI");
    let start = std::time::Instant::now();
    let snapshot = ManyParticles { output, copies };
    let outcome = run(&snapshot, &config(fewest), &comm, &Executor::default()).expect("clumps");
    let seconds = start.elapsed().as_secs_f64();
    let of_rank = comm.all_gather(&[memory("VmHWM:").expect("Linux")]).expect("all ranks");
    let haloes = outcome.catalogue.tables.iter().find(|part| part.table.name == "haloes").expect("haloes");
    let bound = haloes.table.counts("n_bound").expect("bound particles");
    let own = [bound.iter().max().copied().unwrap_or(0), bound.iter().sum()];
    let most = comm.all_reduce_counts(&own[..1], Reduce::Max).expect("all ranks")[0];
    let all = comm.all_reduce_counts(&own[1..], Reduce::Sum).expect("all ranks")[0];
    if comm.rank().0 == 0 {
        let peaks: Vec<String> = of_rank.iter().map(|bytes| (bytes / 1_000_000).to_string()).collect();
        println!(
            "{} ranks, {all} particles in haloes, {most} in the largest, {seconds:.1} s, peaks in MB: {}",
            of_rank.len(),
            peaks.join(" ")
        );
    }
}
