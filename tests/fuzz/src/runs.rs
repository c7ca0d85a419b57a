//! Whole runs of PHEW on an output with one changed file: an error, or the same catalogue twice.

use crate::changes::Script;
use crate::ramses::Swapped;
use inselberg::executor::Executor;
use inselberg::phew::params::{FieldChoice, Thresholds};
use inselberg::phew::run::run;
use inselberg::phew::{PhewParams, PhewRequest};
use inselberg::{Catalogue, Persistence, Rules};
use inselberg_comm::Comm;

const KINDS: [&str; 4] = ["amr", "hydro", "grav", "part"];

pub fn target(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let [how] = script.bytes();
    let kind = KINDS[usize::from(how % 4)];
    let Some((base, _, _, _swapped)) = Swapped::new(kind, &mut script) else { return };
    let Ok(snapshot) = inselberg_io::open(&base.root) else { return };
    let field = match kind {
        "grav" => FieldChoice::Named("rho".into()),
        "part" if how & 4 == 0 => FieldChoice::Cic,
        "part" => FieldChoice::CicRamses,
        _ => FieldChoice::Auto,
    };
    let config = PhewRequest {
        field,
        params: PhewParams::from(Thresholds {
            density: 2.0,
            persistence: Persistence::Ratio(1.1),
            significance: None,
            saddle: Some(8.0),
            halo_relevance: None,
            mass: 0.0,
            min_cells: 0,
        })
        .rules(if how & 8 == 0 { Rules::Paper } else { Rules::Ramses })
        .with_cells(true)
        .with_particles(how & 16 != 0),
    };
    let comm = Comm::solo();
    let done = || {
        run(&*snapshot, &config, &comm, &Executor::default()).map(|outcome| outcome.catalogue.gather(&comm))
    };
    let Ok(first) = done() else { return };
    crate::compared();
    let second = done().expect("the second run ends as the first");
    let (first, second) = (first.expect("gathered"), second.expect("gathered"));
    let tables = |found: Option<Catalogue>| format!("{:?}", found.expect("rank 0 has it").tables);
    assert_eq!(tables(first), tables(second));
}
