//! A stored tree cut again is the catalogue of a run with those thresholds; a broken one is an error.

mod common;

use common::compare::assert_same;
use inselberg::catalogue::{Attribute, Catalogue, Values, WRITERS};
use inselberg::crew::Crew;
use inselberg::io::Snapshot;
use inselberg::phew::{FieldChoice, PhewConfig, Rules, Thresholds};
use inselberg::recut::{NewThresholds, RecutError, recut};
use inselberg::synth::{FieldParams, SynthField};
use inselberg_comm::Comm;
use proptest::prelude::*;
use std::sync::OnceLock;

const BOTH: [Rules; 2] = [Rules::Paper, Rules::Ramses];

/// A snapshot with a density threshold and the mass that one unit of `--mass-threshold` stands for.
struct Input {
    snapshot: Box<dyn Snapshot>,
    density: f64,
    /// Under the rules of the paper, and of RAMSES.
    mass_unit: [f64; 2],
}

fn inputs() -> &'static [Input] {
    static INPUTS: OnceLock<Vec<Input>> = OnceLock::new();
    INPUTS.get_or_init(|| {
        let [dark, gas] = ["dm_1rank", "gas_2ranks"].map(|run| common::open(&common::output(run)));
        let least = |snapshot: &dyn Snapshot| {
            common::particles(snapshot).values().map(|p| p.mass).fold(f64::INFINITY, f64::min)
        };
        let (of_dark, of_gas) = ([1.0, least(&*dark)], [1.0, least(&*gas)]);
        let params = FieldParams { test_cells: 10_000, ..FieldParams::default() };
        let synth = SynthField::new(&params).expect("a field");
        vec![
            Input { snapshot: dark, density: 40.0, mass_unit: of_dark },
            Input { snapshot: gas, density: 2.0, mass_unit: of_gas },
            Input { snapshot: Box::new(synth), density: 80.0, mass_unit: [1.0; 2] },
        ]
    })
}

impl Input {
    fn run(&self, rules: Rules, relevance: f64, saddle: Option<f64>, mass: f64) -> Catalogue {
        let config = PhewConfig {
            field: FieldChoice::Auto,
            thresholds: Thresholds { density: self.density, relevance, saddle, mass },
            rules,
            with_cells: false,
            with_particles: false,
        };
        let outcome =
            inselberg::run::run(&*self.snapshot, &config, &Comm::solo(), &Crew::default()).expect("a run");
        outcome.catalogue.gather(&Comm::solo()).expect("alone").expect("rank 0")
    }

    /// `mass` is in the units of a run's option.
    fn check(&self, rules: Rules, stored: &Catalogue, relevance: f64, saddle: f64, mass: f64) {
        let unit = self.mass_unit[usize::from(rules == Rules::Ramses)];
        let new = NewThresholds { relevance: Some(relevance), saddle: Some(saddle), mass: Some(mass * unit) };
        let again = recut(stored, &new).expect("a sound catalogue");
        let direct = self.run(rules, relevance, Some(saddle), mass);
        assert_same(&again, &direct, &format!("{rules:?} {relevance} {saddle} {mass}"));
    }

    /// A mass that some haloes have and others do not, in the units of a run's option.
    fn middle_mass(&self, rules: Rules, stored: &Catalogue) -> f64 {
        let Values::F64(mass) = &column(stored, "haloes", "mass").values else { panic!("reals") };
        mass[mass.len() / 2] / self.mass_unit[usize::from(rules == Rules::Ramses)]
    }
}

fn column<'a>(c: &'a Catalogue, table: &str, name: &str) -> &'a inselberg::catalogue::Column {
    c.table(table).and_then(|t| t.column(name)).expect(name)
}

/// As it comes back from every format.
fn round_trips(catalogue: &Catalogue) -> Vec<Catalogue> {
    let folder = tempfile::tempdir().expect("a folder");
    let through = |w: &inselberg::catalogue::Writer| {
        let path = folder.path().join(format!("c.{}", w.extensions[0]));
        (w.write)(&path, catalogue).expect("written");
        (w.read)(&path).expect("read")
    };
    WRITERS.iter().map(through).collect()
}

#[test]
fn new_thresholds_give_what_a_run_with_them_gives() {
    for input in inputs() {
        for rules in BOTH {
            let first = input.run(rules, 3.0, None, 0.0);
            let mass = input.middle_mass(rules, &first);
            for stored in round_trips(&first) {
                assert_same(&stored, &first, "round trip");
                assert_same(&recut(&stored, &NewThresholds::default()).expect("sound"), &first, "its own");
                for relevance in [0.0, 1.0, 1.2, 3.0, 1e300] {
                    for saddle in [input.density, 3.0 * input.density, 1e300] {
                        input.check(rules, &stored, relevance, saddle, 0.0);
                    }
                }
                input.check(rules, &stored, 1.5, 200.0, mass);
            }
        }
    }
}

#[test]
fn cutting_twice_is_cutting_once() {
    let input = &inputs()[0];
    let first = input.run(Rules::Paper, 3.0, Some(200.0), 0.0);
    let other = NewThresholds { relevance: Some(1.1), saddle: Some(77.0), mass: Some(0.01) };
    let there = recut(&first, &other).expect("sound");
    let back = NewThresholds { relevance: Some(3.0), saddle: Some(200.0), mass: Some(0.0) };
    assert_same(&recut(&there, &back).expect("sound"), &first, "there and back");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_thresholds_give_what_a_run_with_them_gives(
        which in 0..3usize, ramses: bool, relevance in 1.0..8.0f64, saddle in 0.0..3.0f64, heavy: bool,
    ) {
        let (input, rules) = (&inputs()[which], BOTH[usize::from(ramses)]);
        let stored = input.run(rules, 2.0, Some(4.0 * input.density), 0.0);
        let mass = if heavy { input.middle_mass(rules, &stored) } else { 0.0 };
        input.check(rules, &stored, relevance, input.density * 10f64.powf(saddle), mass);
    }
}

fn dark(rules: Rules) -> &'static Catalogue {
    static STORED: OnceLock<[Catalogue; 2]> = OnceLock::new();
    let stored = STORED.get_or_init(|| BOTH.map(|rules| inputs()[0].run(rules, 3.0, Some(200.0), 0.0)));
    &stored[usize::from(rules == Rules::Ramses)]
}

fn values_of<'a>(c: &'a mut Catalogue, name: &str) -> &'a mut Values {
    let tree = c.tables.iter_mut().find(|t| t.name == "tree").expect("a tree");
    &mut tree.columns.iter_mut().find(|c| c.name == name).expect(name).values
}

/// One line, and no panic.
fn refused(c: &Catalogue, thresholds: NewThresholds, part: &str) {
    let error = recut(c, &thresholds).expect_err(part).to_string();
    assert!(error.contains(part) && error.contains("expected") && !error.contains('\n'), "{part}: {error}");
}

#[test]
fn a_catalogue_without_its_tree_or_attributes_is_refused() {
    let own = NewThresholds::default();
    let mut no_tree = dark(Rules::Paper).clone();
    no_tree.tables.retain(|t| t.name != "tree");
    refused(&no_tree, own, "no table `tree`");
    let unused = ["peak_rank", "position"];
    for i in 0..dark(Rules::Paper).table("tree").expect("a tree").columns.len() {
        let mut less = dark(Rules::Paper).clone();
        let name = less.tables[2].columns.remove(i).name;
        if !unused.contains(&name.as_str()) {
            refused(&less, own, &format!("`{name}`"));
        }
    }
    for name in ["compat", "boxlen", "coarse_cells", "periodic", "density_threshold", "mass_threshold"] {
        let mut less = dark(Rules::Paper).clone();
        less.attributes.retain(|(n, _)| n != name);
        refused(&less, own, &format!("`{name}`"));
        less.attributes.push((name.into(), Attribute::Real(f64::NAN)));
        refused(&less, own, &format!("`{name}`"));
    }
    let low = NewThresholds { saddle: Some(39.0), ..own };
    refused(dark(Rules::Paper), low, "below the catalogue's density threshold 40");
}

/// The first row whose peak dies, and the row that it dies into.
fn a_death(c: &Catalogue) -> (usize, u64) {
    let Values::U64(endpoint) = &column(c, "tree", "endpoint").values else { panic!("rows") };
    let row = endpoint.iter().position(|e| *e != 0).expect("some peak dies");
    (row, endpoint[row])
}

#[test]
fn a_broken_tree_is_refused() {
    let stored = dark(Rules::Paper);
    let n = column(stored, "tree", "endpoint").values.len() as u64;
    let (row, into) = a_death(stored);
    let with = |name: &str, row: usize, value: u64| {
        let mut broken = stored.clone();
        let Values::U64(rows) = values_of(&mut broken, name) else { panic!("rows") };
        rows[row] = value;
        broken
    };
    let own = NewThresholds::default();
    refused(&with("endpoint", row, n + 1), own, "names row");
    refused(&with("death_near", row, u64::MAX), own, "names row");
    refused(&with("endpoint", row, 0), own, "death");
    refused(&with("death_near", row, 0), own, "death");
    refused(&with("endpoint", row, row as u64 + 1), own, "death");
    refused(&with("death_near", row, into), own, "death");
    refused(&with("n_cells", row, 0), own, "number of cells");
    refused(&with("n_cells", row, u64::MAX), own, "number of cells");
    assert!(matches!(recut(&with("n_cells", 0, 0), &own), Err(RecutError::Unsound { row: 1, .. })));
}

#[test]
fn deaths_in_a_circle_are_refused() {
    for rules in BOTH {
        let mut broken = dark(rules).clone();
        let n = column(&broken, "tree", "endpoint").values.len() as u64;
        let next: Vec<u64> = (0..n).map(|i| (i + 1) % n + 1).collect();
        *values_of(&mut broken, "death_near") = Values::U64((1..=n).collect());
        *values_of(&mut broken, "endpoint") = Values::U64(next);
        *values_of(&mut broken, "death_saddle") = Values::F64(vec![50.0; n as usize]);
        refused(&broken, NewThresholds::default(), "death");
    }
}

#[test]
fn values_that_are_no_numbers_are_refused() {
    let own = NewThresholds::default();
    for name in ["density", "mass", "volume", "density_min", "death_saddle"] {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut broken = dark(Rules::Paper).clone();
            let (row, _) = a_death(&broken);
            let Values::F64(values) = values_of(&mut broken, name) else { panic!("reals") };
            values[row] = bad;
            refused(&broken, own, "broken");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Any value anywhere: an error or a catalogue, in either case soon.
    #[test]
    fn a_damaged_tree_is_an_error_or_a_catalogue(
        ramses: bool,
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u64>(), 0..3u8), 1..6),
    ) {
        let mut broken = dark(BOTH[usize::from(ramses)]).clone();
        for (which, row, word, how) in hits {
            let columns = &mut broken.tables[2].columns;
            let column = which.index(columns.len());
            damage(&mut columns[column].values, row, word, how);
        }
        let _ = recut(&broken, &NewThresholds { relevance: Some(2.0), ..NewThresholds::default() });
    }
}

/// Another row's value, a small one, or any bits.
fn damage(values: &mut Values, row: prop::sample::Index, word: u64, how: u8) {
    let (row, other) = (row.index(values.len()), word as usize % values.len());
    let small = word % 64;
    match (values, how) {
        (Values::U8(v), 0) => v[row] = v[other],
        (Values::U8(v), _) => v[row] = word as u8,
        (Values::U64(v), 0) => v[row] = v[other],
        (Values::U64(v), 1) => v[row] = small,
        (Values::U64(v), _) => v[row] = word,
        (Values::F32(v), _) => v[row] = v[other],
        (Values::F64(v), 0) => v[row] = v[other],
        (Values::F64(v), 1) => v[row] = small as f64 - 8.0,
        (Values::F64(v), _) => v[row] = f64::from_bits(word),
        (Values::F64x3(v), 0) => v[row] = v[other],
        (Values::F64x3(v), _) => v[row][other % 3] = f64::from_bits(word),
        (Values::U32x3(v), 0) => v[row] = v[other],
        (Values::U32x3(v), _) => v[row][other % 3] = word as u32,
        (Values::I64(v), _) => v[row] = word as i64,
    }
}
