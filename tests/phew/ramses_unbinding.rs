//! `--potential ramses` against the unbinding of RAMSES itself, particle by particle.

use crate::common::case::{DARK, config};
use crate::common::compare::assert_same;
use crate::common::ramses_catalogue::rows;
use inselberg::executor::Executor;
use inselberg::phew::params::{
    BoundRequest, FieldChoice, Persistence, PotentialChoice, PropertyChoice, Thresholds,
};
use inselberg::phew::run::run;
use inselberg::phew::{PhewRequest, Rules};
use inselberg::{Engine, ErrorKind, ParticleMeshParams, PhewParams};
use inselberg_comm::{Comm, run_threads};
use inselberg_io::ParticleBlock;
use inselberg_io::catalogue::{Catalogue, Values};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// RAMSES's rules, with the particles bound to each clump.
pub fn ramses_config([density, relevance, saddle]: [f64; 3]) -> PhewRequest {
    let bound = BoundRequest {
        unbind: true,
        potential: PotentialChoice::Ramses,
        properties: PropertyChoice::Basic,
        with_members: true,
        ..BoundRequest::default()
    };
    let persistence = Persistence::Ratio(relevance);
    PhewRequest {
        field: FieldChoice::Named("rho".into()),
        params: PhewParams::from(Thresholds {
            density,
            persistence,
            significance: None,
            saddle: Some(saddle),
            halo_relevance: None,
            mass: 0.0,
            min_cells: 0,
        })
        .rules(Rules::Ramses)
        .with_particles(true)
        .bound(bound),
    }
}

/// The catalogue of an output.
fn unbound(output: &Path, thresholds: [f64; 3], comm: &Comm) -> Option<Catalogue> {
    let snapshot = crate::common::open(output);
    let outcome = run(&*snapshot, &ramses_config(thresholds), comm, &Executor::default()).expect("clumps");
    outcome.catalogue.gather(comm).expect("ranks")
}

fn counts(catalogue: &Catalogue, table: &str, name: &str) -> Vec<u64> {
    match &catalogue.table(table).expect(table).column(name).expect(name).values {
        Values::U64(list) => list.clone(),
        Values::I64(list) => list.iter().map(|id| id.cast_unsigned()).collect(),
        other => panic!("{name}: {other:?}"),
    }
}

/// RAMSES's index of each of our clumps: clumps with the same peak, up to the rounding of the fixture.
fn names(catalogue: &Catalogue, answers: &Path) -> BTreeMap<u64, u64> {
    let clumps = catalogue.table("clumps").expect("clumps");
    let Values::F64x3(peaks) = &clumps.column("peak_position_refined").expect("peaks").values else {
        panic!("positions")
    };
    let theirs = rows(answers, "clump");
    let ids = counts(catalogue, "clumps", "id");
    assert_eq!(ids.len(), theirs.len(), "number of clumps");
    let name = |peak: &[f64; 3]| {
        let is_same = |row: &&Vec<f64>| peak.iter().zip(&row[5..8]).all(|(a, b)| (a - b).abs() < 1e-6);
        theirs.iter().find(is_same).unwrap_or_else(|| panic!("no clump at {peak:?}"))[0] as u64
    };
    ids.iter().zip(peaks).map(|(id, peak)| (*id, name(peak))).collect()
}

/// RAMSES's clump of each particle, in the order of its file; 0 for none.
fn answers_of(folder: &Path) -> Vec<u64> {
    let mut entries =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let file = entries
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("unbinding_")));
    let bytes = std::fs::read(file.expect("an answer")).expect("a file");
    let words: Vec<u64> =
        bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word).into()).collect();
    words[1..words.len() - 1].to_vec()
}

/// Where RAMSES and Inselberg put the particles of an output.
struct Comparison {
    /// Number of particles that RAMSES binds to clumps below others.
    n_below: usize,
    /// Particles in different clumps: identity, RAMSES's clump, RAMSES's name of ours; 0 for none.
    different: Vec<(u64, u64, u64)>,
}

fn compare(output: &Path, folder: &Path, thresholds: [f64; 3]) -> Comparison {
    let catalogue = unbound(output, thresholds, &Comm::solo()).expect("rank 0");
    let names = names(&catalogue, folder);
    let bound = counts(&catalogue, "members", "clump").into_iter().map(|clump| names[&clump]);
    let here: BTreeMap<u64, u64> = counts(&catalogue, "members", "id").into_iter().zip(bound).collect();
    let (ids, theirs) = (identities(output), answers_of(folder));
    assert_eq!(ids.len(), theirs.len(), "number of particles");
    let main: BTreeSet<u64> =
        rows(folder, "clump").iter().filter(|row| row[0] == row[3]).map(|row| row[0] as u64).collect();
    let n_below = theirs.iter().filter(|clump| **clump > 0 && !main.contains(clump)).count();
    let all = ids.into_iter().zip(theirs).map(|(id, there)| (id, there, here.get(&id).copied().unwrap_or(0)));
    Comparison { n_below, different: all.filter(|(_, there, here)| there != here).collect() }
}

/// The particles in the order of their file.
fn identities(output: &Path) -> Vec<u64> {
    let (snapshot, mut ids) = (crate::common::open(output), Vec::new());
    let mut add = |block: &ParticleBlock| {
        ids.extend(block.id.iter().map(|id| id.cast_unsigned()));
        Ok(())
    };
    (0..snapshot.header().n_pieces).for_each(|piece| snapshot.particles(piece, &mut add).expect("particles"));
    ids
}

/// Thresholds, and the number of particles that RAMSES binds to clumps below others.
pub const RUNS: [(&str, [f64; 3], usize); 3] = [
    ("ub2_80.0_3.0_200.0", [80.0, 3.0, 200.0], 626),
    // Up to 4 and up to 7 levels of clumps in clumps.
    ("ub2_0.3_4_0.9", [0.3, 4.0, 0.9], 4734),
    ("ub2_1_1.2_5", [1.0, 1.2, 5.0], 3863),
];

/// Every particle is in the clump in which RAMSES has it: of 32 768, none differs.
fn check_members(output: &Path, answers: &Path) {
    for (name, thresholds, n_below) in RUNS {
        let found = compare(output, &answers.join(name), thresholds);
        assert_eq!(found.n_below, n_below, "{name}");
        assert_eq!(found.different, [], "{name}: identity, clump in RAMSES, clump here");
    }
}

#[test]
fn members_are_those_of_ramses() {
    let folder = crate::common::ramses_32();
    check_members(&folder.join("output_00002"), &folder);
}

/// The output of which the fixture holds a part, if the environment names its folder as INSELBERG_RAMSES_32.
#[test]
fn members_of_outputs_named_by_the_environment() {
    let Some(folder) = std::env::var_os("INSELBERG_RAMSES_32") else { return };
    let folder = Path::new(&folder);
    check_members(&folder.join("r1_output_00002"), &folder.join("unbinding_fixed"));
}

#[test]
fn ranks_do_not_matter() {
    let output = crate::common::ramses_32().join("output_00002");
    let (_, thresholds, _) = RUNS[2];
    let one = unbound(&output, thresholds, &Comm::solo()).expect("rank 0");
    for n in [2, 5] {
        let all = run_threads(n, |comm| unbound(&output, thresholds, comm)).expect("no panic");
        assert_same(&one, all[0].as_ref().expect("rank 0"), &format!("{n} ranks"));
    }
}

/// What RAMSES's rules do with the columns of clumps: main clumps keep all, and a bound particle of another
/// clump has less energy than one at rest at its border.
#[test]
fn columns_tell_what_is_bound() {
    let output = crate::common::ramses_32().join("output_00002");
    let catalogue = unbound(&output, RUNS[2].1, &Comm::solo()).expect("rank 0");
    let of_clumps = |name: &str| counts(&catalogue, "clumps", name);
    let (id, parent, n_bound) = (of_clumps("id"), of_clumps("parent"), of_clumps("n_bound"));
    let parent_of: BTreeMap<u64, u64> = id.iter().copied().zip(parent).collect();
    let energy = &catalogue.table("members").expect("members").column("energy").expect("energies").values;
    let Values::F64(energy) = energy else { panic!("energies") };
    let clump = counts(&catalogue, "members", "clump");
    let is_main = |clump: &u64| parent_of[clump] == *clump;
    assert!(clump.iter().zip(energy).all(|(clump, energy)| is_main(clump) || *energy < 0.0));
    assert!(clump.iter().zip(energy).any(|(clump, energy)| is_main(clump) && *energy > 0.0));
    assert_eq!(n_bound.iter().sum::<u64>(), clump.len() as u64);
    assert!(n_bound.iter().any(|n| (1..20).contains(n)), "small clumps do not dissolve");
    // Particles in listed clumps stay in their halo.
    let in_patches = counts(&catalogue, "particles", "clump");
    assert_eq!(in_patches.iter().filter(|clump| parent_of.contains_key(clump)).count(), clump.len());
}

#[test]
fn wrong_rules_are_refused() {
    let snapshot = crate::common::open(&crate::common::output("dm_1rank"));
    let config = config(&*snapshot, DARK, Rules::Paper).with(|params| {
        params.bound(BoundRequest {
            unbind: true,
            potential: PotentialChoice::Ramses,
            ..BoundRequest::default()
        })
    });
    let error =
        run(&*snapshot, &config, &Comm::solo(), &Executor::default()).expect_err("refused").to_string();
    assert!(error.contains("potential is ramses; expected"), "{error}");

    let mut engine = Engine::builder().build().expect("an engine");
    let params = PhewParams::new(40.0).bound(config.params.bound);
    let refused = |error: inselberg::Error| {
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        error.to_string()
    };
    let opened = engine.open(crate::common::output("dm_1rank")).expect("opened");
    let error = engine.phew_snapshot(&opened, &FieldChoice::Auto, &params).expect_err("refused");
    assert!(refused(error).contains("potential is ramses; expected"));
    let particles = engine.open_particles(&[crate::common::output("dm_1rank")]).expect("opened");
    let params = params.rules(Rules::Ramses);
    let error =
        engine.phew_particles(&particles, &ParticleMeshParams::default(), &params).expect_err("refused");
    assert!(refused(error).contains("on a mesh that particles make"));
}
