//! PHEW on an output on disk, and another cut of the same tree:
//! `cargo run --example outputs -- target/example/ramses_32/output_00002` (`make run` unpacks it).

use inselberg::{Engine, Error, ErrorKind, FieldChoice, Persistence, PhewParams};

fn main() -> Result<(), Error> {
    let path = std::env::args().nth(1).ok_or_else(|| {
        Error::new(ErrorKind::InvalidArgument, "no output is given; expected its path, as output_00002")
    })?;
    let mut engine = Engine::builder().build()?;
    let output = engine.open(path)?;
    let params = PhewParams::new(80.0).persistence(Persistence::Ratio(3.0)).saddle(200.0);
    let found = engine.phew_snapshot(&output, &FieldChoice::Auto, &params)?;
    println!("{} clumps in {} haloes", found.n_clumps(), found.n_haloes());

    let strict = found.recut(&params.persistence(Persistence::Ratio(5.0)))?;
    println!("{} clumps with a relevance of 5, without reading again", strict.n_clumps());
    Ok(())
}
