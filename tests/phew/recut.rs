//! A stored tree cut again is the catalogue of a run with those thresholds; a broken one is an error.

use crate::common::compare::{assert_same, assert_same_table};
use crate::common::room::{Room, done};
use inselberg::executor::Executor;
use inselberg::particle_mesh::{ParticleMeshConfig, ParticleSnapshot};
use inselberg::phew::params::{FieldChoice, Persistence, Thresholds};
use inselberg::phew::recut::{NewThresholds, recut};
use inselberg::phew::run::{run, run_on_particles};
use inselberg::phew::tables::RecutError;
use inselberg::phew::{PhewParams, PhewRequest, Rules};
use inselberg_cli::synth::{FieldParams, SynthField};
use inselberg_comm::{Comm, run_ranks};
use inselberg_io::Snapshot;
use inselberg_io::catalogue::{Attribute, Catalogue, Dimension, FORMATS, Table, TableColumn, Values, read};
use inselberg_io::particles::{N_KINDS, open_particles};
use proptest::prelude::*;
use std::path::Path;
use std::sync::OnceLock;

const BOTH: [Rules; 2] = [Rules::Paper, Rules::Ramses];

/// The field that is segmented, and its input.
struct Input {
    name: &'static str,
    source: Source,
    field: FieldChoice,
    density: f64,
    /// Code mass for each unit of `--mass-threshold`, under the rules of the paper and of RAMSES.
    mass_unit: [f64; 2],
}

enum Source {
    Cells(Box<dyn Snapshot>),
    Particles(Box<ParticleSnapshot>, ParticleMeshConfig),
}

/// Thresholds as the options of a run give them.
#[derive(Debug, Clone, Copy)]
struct Options {
    persistence: Persistence,
    saddle: Option<f64>,
    halo_relevance: Option<f64>,
    mass: f64,
    min_cells: u64,
}

const FIRST: Options = Options {
    persistence: Persistence::Ratio(3.0),
    saddle: None,
    halo_relevance: None,
    mass: 0.0,
    min_cells: 0,
};

fn inputs() -> &'static [Input] {
    static INPUTS: OnceLock<Vec<Input>> = OnceLock::new();
    INPUTS.get_or_init(|| {
        let open = |run| crate::common::open(&crate::common::output(run));
        let least = |snapshot: &dyn Snapshot| {
            crate::common::particles(snapshot).values().map(|p| p.mass).fold(f64::INFINITY, f64::min)
        };
        let of = ["dm_1rank", "gas_2ranks"].map(|run| [1.0, least(&*open(run))]);
        let cells = |name, run, field, density, mass_unit| Input {
            name,
            source: Source::Cells(open(run)),
            field,
            density,
            mass_unit,
        };
        let params = FieldParams { test_cells: 10_000, ..FieldParams::default() };
        let synth = SynthField::new(&params).expect("a field");
        let rho = FieldChoice::Named("rho".into());
        vec![
            cells("dark matter", "dm_1rank", FieldChoice::Auto, 40.0, of[0]),
            cells("gas", "gas_2ranks", FieldChoice::Auto, 2.0, of[1]),
            Input {
                name: "synthetic",
                source: Source::Cells(Box::new(synth)),
                field: FieldChoice::Auto,
                density: 80.0,
                mass_unit: [1.0; 2],
            },
            cells("particles", "dm_3ranks", FieldChoice::CicRamses, 40.0, of[0]),
            cells("all matter", "gas_2ranks", rho, quantile("gas_2ranks", "rho", 0.8), of[1]),
            Input {
                name: "a mesh from particles",
                source: from_particles("dm_1rank"),
                field: FieldChoice::Auto,
                density: 40.0,
                mass_unit: of[0],
            },
        ]
    })
}

/// The value of a field that the share `part` of all leaves is below.
fn quantile(run: &str, field: &str, part: f64) -> f64 {
    let octs = crate::common::octs(&*crate::common::open(&crate::common::output(run)), &[field]);
    let mut values: Vec<f64> = crate::common::leaves(&octs).into_values().collect();
    values.sort_by(f64::total_cmp);
    values[(values.len() as f64 * part) as usize]
}

fn from_particles(run: &str) -> Source {
    let mut kinds = [false; N_KINDS];
    kinds[1] = true;
    let mesh = ParticleMeshConfig {
        m_refine: 8,
        level_min: None,
        level_max: 10,
        kinds,
        side: None,
        root_level: None,
    };
    let particles = open_particles(&[crate::common::output(run)]).expect("particles");
    Source::Particles(Box::new(ParticleSnapshot::new(particles.into(), &mesh).expect("sound")), mesh)
}

impl Input {
    fn run(&self, rules: Rules, options: Options) -> Catalogue {
        self.run_over(1, rules, options)
    }

    fn run_over(&self, n_ranks: usize, rules: Rules, options: Options) -> Catalogue {
        let Options { persistence, saddle, halo_relevance, mass, min_cells } = options;
        let config = PhewRequest {
            field: self.field.clone(),
            params: PhewParams::from(Thresholds {
                density: self.density,
                persistence,
                significance: None,
                saddle,
                halo_relevance,
                mass,
                min_cells,
            })
            .rules(rules),
        };
        let work = |comm: &Comm| {
            let executor = Executor::default();
            let ran = match &self.source {
                Source::Cells(snapshot) => run(&**snapshot, &config, comm, &executor),
                Source::Particles(snapshot, mesh) => {
                    run_on_particles(snapshot, mesh, &config, comm, &executor)
                }
            };
            ran.map_err(|error| comm.abort(error.to_string()))?.catalogue.gather(comm)
        };
        let all = run_ranks(Comm::threads(n_ranks), work).expect("no panic");
        all.into_iter().next().expect("rank 0").expect("a run").expect("rank 0 has it")
    }

    /// Checks that a catalogue of `stored` options, cut again, is that of a run.
    fn check(&self, rules: Rules, stored: (&Catalogue, Options), new: NewThresholds, n_ranks: usize) {
        let again = recut(stored.0, &new).expect("a sound catalogue");
        let options = Options {
            persistence: new.persistence.unwrap_or(stored.1.persistence),
            saddle: new.saddle.or(stored.1.saddle.filter(|_| new.halo_relevance.is_none())),
            halo_relevance: new.halo_relevance.or(stored.1.halo_relevance.filter(|_| new.saddle.is_none())),
            mass: new.mass.unwrap_or(stored.1.mass),
            min_cells: new.min_cells.unwrap_or(stored.1.min_cells),
        };
        let direct = self.run_over(n_ranks, rules, options);
        assert_same(&again, &direct, &format!("{}, {rules:?}, {:?} to {options:?}", self.name, stored.1));
    }

    /// A mass that some haloes have and others do not, as an option gives it: at `part` of all.
    fn mass(&self, rules: Rules, stored: &Catalogue, part: f64) -> f64 {
        let Values::F64(mass) = &column(stored, "haloes", "mass").values else { panic!("reals") };
        let mut mass = mass.clone();
        mass.sort_by(f64::total_cmp);
        let unit = self.mass_unit[usize::from(rules == Rules::Ramses)];
        mass.get((mass.len() as f64 * part) as usize).map_or(1.0, |mass| mass / unit)
    }
}

fn column<'a>(c: &'a Catalogue, table: &str, name: &str) -> &'a inselberg_io::catalogue::TableColumn {
    c.table(table).and_then(|t| t.column(name)).expect(name)
}

/// As read back from every format.
fn round_trips(catalogue: &Catalogue) -> Vec<Catalogue> {
    let folder = tempfile::tempdir().expect("a folder");
    let through = |w: &inselberg_io::catalogue::Format| {
        let path = folder.path().join(format!("c.{}", w.extensions[0]));
        w.write(&path, catalogue).expect("written");
        (w.read)(&path).expect("read")
    };
    FORMATS.iter().map(through).collect()
}

#[test]
fn new_thresholds_give_what_a_run_with_them_gives() {
    for input in inputs() {
        for rules in BOTH {
            let first = input.run(rules, FIRST);
            let mass = input.mass(rules, &first, 0.5);
            for stored in round_trips(&first) {
                assert_same(&stored, &first, "round trip");
                assert_same(&recut(&stored, &NewThresholds::default()).expect("sound"), &first, "its own");
                let check = |relevance, saddle, mass| {
                    let persistence = Some(Persistence::Ratio(relevance));
                    let new = NewThresholds {
                        persistence,
                        significance: None,
                        saddle: Some(saddle),
                        mass: Some(mass),
                        min_cells: None,
                        ..NewThresholds::default()
                    };
                    input.check(rules, (&stored, FIRST), new, 1);
                };
                for relevance in [0.0, 1.2, 1e300] {
                    for saddle in [input.density, 3.0 * input.density, 1e300] {
                        check(relevance, saddle, 0.0);
                    }
                }
                check(1.5, 5.0 * input.density, mass);
            }
        }
    }
}

#[test]
fn a_second_relevance_makes_haloes_as_a_run_with_it_does() {
    let n = |of: &Catalogue, table: &str| of.table(table).expect("a table").n_rows();
    let mut merged = 0;
    for input in inputs() {
        let first = input.run(Rules::Paper, Options { saddle: Some(3.0 * input.density), ..FIRST });
        let at = Options { saddle: Some(3.0 * input.density), ..FIRST };
        for (relevance, least) in [(1.1, 1.5), (1.3, 4.0), (3.0, 3.0), (1.0, 1e300)] {
            let new = NewThresholds {
                persistence: Some(Persistence::Ratio(relevance)),
                halo_relevance: Some(least),
                ..NewThresholds::default()
            };
            input.check(Rules::Paper, (&first, at), new.clone(), 3);
            let second = recut(&first, &new).expect("sound");
            merged += n(&second, "clumps") - n(&second, "haloes");
            assert!(least > relevance || n(&second, "clumps") == n(&second, "haloes"));
            let back = NewThresholds {
                persistence: Some(FIRST.persistence),
                saddle: at.saddle,
                ..NewThresholds::default()
            };
            assert_same(&recut(&second, &back).expect("sound"), &first, "there and back");
        }
    }
    assert!(merged > 100, "{merged}");
    let low = NewThresholds { halo_relevance: Some(2.0), ..NewThresholds::default() };
    refused(dark(Rules::Paper), low.clone(), "at least 3");
    refused(dark(Rules::Ramses), low.clone(), "ramses");
    refused(dark(Rules::Paper), NewThresholds { saddle: Some(200.0), ..low }, "not both");
}

#[test]
fn a_mass_threshold_counts_what_the_option_of_a_run_counts() {
    let input = &inputs()[0];
    let first = input.run(Rules::Ramses, FIRST);
    let new = NewThresholds { mass: Some(60.0), ..NewThresholds::default() };
    let n_haloes = |c: &Catalogue| c.table("haloes").expect("haloes").n_rows();
    let fewer = n_haloes(&recut(&first, &new).expect("sound"));
    assert!(0 < fewer && fewer < n_haloes(&first), "{fewer} of {}", n_haloes(&first));
    input.check(Rules::Ramses, (&first, FIRST), new, 1);
}

#[test]
fn haloes_with_too_few_cells_are_not_listed() {
    let input = &inputs()[0];
    for rules in BOTH {
        let first = input.run(rules, Options { saddle: Some(200.0), ..FIRST });
        let cells = |c: &Catalogue| match &column(c, "haloes", "n_cells").values {
            Values::U64(n) => n.clone(),
            _ => panic!("counts"),
        };
        let mut sorted = cells(&first);
        sorted.sort_unstable();
        let least = sorted[sorted.len() / 2];
        assert!(sorted[0] < least, "some halo is smaller");
        let new = NewThresholds { min_cells: Some(least), ..NewThresholds::default() };
        let fewer = recut(&first, &new).expect("sound");
        assert_eq!(cells(&fewer), cells(&first).into_iter().filter(|n| *n >= least).collect::<Vec<_>>());
        let listed = fewer.table("haloes").and_then(|haloes| haloes.counts("id")).expect("identifiers");
        let clumps = fewer.table("clumps").expect("clumps");
        let (ids, parents) = (clumps.counts("id").expect("ids"), clumps.counts("parent").expect("parents"));
        assert!(clumps.counts("halo").expect("haloes").iter().all(|halo| listed.contains(halo)));
        if rules == Rules::Paper {
            assert!(parents.iter().all(|parent| ids.contains(parent)), "every parent is listed");
        }
    }
}

#[test]
fn an_older_catalogue_takes_a_least_number_of_cells() {
    let mut older = dark(Rules::Paper).clone();
    older.attributes.retain(|(name, _)| name != "min_cells");
    let new = NewThresholds { min_cells: Some(20), ..NewThresholds::default() };
    let (of_older, expected) =
        (recut(&older, &new).expect("sound"), recut(dark(Rules::Paper), &new).expect("sound"));
    // NaN is not equal to itself.
    assert_eq!(format!("{:?}", of_older.tables), format!("{:?}", expected.tables));
    assert_eq!(of_older.attribute("min_cells"), expected.attribute("min_cells"));
    refused(
        &Catalogue {
            attributes: vec![("min_cells".into(), Attribute::Int(-1))]
                .into_iter()
                .chain(dark(Rules::Paper).attributes.iter().filter(|a| a.0 != "min_cells").cloned())
                .collect(),
            ..dark(Rules::Paper).clone()
        },
        new,
        "min_cells",
    );
}

#[test]
fn an_older_catalogue_that_cannot_tell_the_lightest_particle_takes_no_new_mass() {
    let older = |rules| {
        let mut older = dark(rules).clone();
        older.attributes.retain(|(name, _)| name != "mass_threshold_unit");
        older
    };
    let with =
        |mass| NewThresholds { mass, persistence: Some(Persistence::Ratio(2.0)), ..NewThresholds::default() };
    let ramses = older(Rules::Ramses);
    assert_ne!(ramses.attributes, dark(Rules::Ramses).attributes);
    refused(&ramses, with(Some(30.0)), "lightest particle");
    for mass in [None, Some(0.0)] {
        let mut whole = recut(dark(Rules::Ramses), &with(mass)).expect("sound");
        whole.attributes.retain(|(name, _)| name != "mass_threshold_unit");
        assert_same(&recut(&ramses, &with(mass)).expect("sound"), &whole, "an older one");
    }
    assert!(recut(&older(Rules::Paper), &with(Some(0.01))).is_ok());
}

#[test]
fn cutting_twice_is_cutting_once() {
    let input = &inputs()[0];
    for rules in BOTH {
        let first = input.run(rules, Options { saddle: Some(200.0), ..FIRST });
        let other = NewThresholds {
            persistence: Some(Persistence::Ratio(1.1)),
            significance: None,
            saddle: Some(77.0),
            mass: Some(0.01),
            min_cells: None,
            ..NewThresholds::default()
        };
        let there = recut(&first, &other).expect("sound");
        let back = NewThresholds {
            persistence: Some(Persistence::Ratio(3.0)),
            significance: None,
            saddle: Some(200.0),
            mass: Some(0.0),
            min_cells: None,
            ..NewThresholds::default()
        };
        assert_same(&recut(&there, &back).expect("sound"), &first, "there and back");
    }
}

/// Thresholds in units of the density threshold, and a mass as a share of all haloes.
fn any_thresholds() -> impl Strategy<Value = (f64, Option<f64>, Option<f64>)> {
    let relevance = prop_oneof![Just(0.0), Just(1.0), 1.0..8.0f64, Just(1e300)];
    let saddle = prop_oneof![Just(1.0), (0.0..3.0f64).prop_map(|x| 10f64.powf(x))];
    (relevance, prop::option::of(saddle), prop::option::of(0.0..1.0f64))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_thresholds_give_what_a_run_with_them_gives(
        which in 0..6usize,
        ramses: bool,
        n_ranks in 1..4usize,
        (relevance, saddle, mass) in any_thresholds(),
        (new_relevance, new_saddle, new_mass) in any_thresholds(),
        min_cells in prop_oneof![Just(0u64), 1..60u64],
        new_min_cells in prop::option::of(0..60u64),
        keeps_relevance: bool,
        by_difference: bool,
    ) {
        let (input, rules) = (&inputs()[which], BOTH[usize::from(ramses)]);
        let of_all = input.run(rules, FIRST);
        let mass_at = |part: Option<f64>| part.map(|part| input.mass(rules, &of_all, part));
        let saddle_at = |saddle: Option<f64>| saddle.map(|saddle| saddle * input.density);
        let persistence = |relevance: f64| match rules {
            Rules::Paper if by_difference => Persistence::Difference(relevance * input.density),
            _ => Persistence::Ratio(relevance),
        };
        let options = Options { persistence: persistence(relevance), saddle: saddle_at(saddle), halo_relevance: None, mass: mass_at(mass).unwrap_or(0.0), min_cells };
        let new = NewThresholds {
            persistence: (!keeps_relevance).then_some(persistence(new_relevance)),
            significance: None, saddle: saddle_at(new_saddle),
            mass: mass_at(new_mass), min_cells: new_min_cells, ..NewThresholds::default() };
        for stored in round_trips(&input.run_over(n_ranks, rules, options)) {
            input.check(rules, (&stored, options), new.clone(), 4 - n_ranks);
        }
    }
}

#[test]
fn the_kind_of_persistence_stays() {
    let difference = Options { persistence: Persistence::Difference(100.0), ..FIRST };
    let by_difference = inputs()[0].run(Rules::Paper, difference);
    let kind = Attribute::Text("difference".into());
    assert_eq!(by_difference.attribute("persistence"), Some(&kind));
    assert_eq!(by_difference.attribute("relevance_threshold"), Some(&Attribute::Real(100.0)));
    assert_eq!(dark(Rules::Paper).attribute("persistence"), None);
    let relevance = |c: &Catalogue| column(c, "clumps", "relevance").clone();
    assert_eq!(relevance(&by_difference).dimension, Dimension::DENSITY);
    assert!(relevance(&by_difference).description.contains("minus"));
    assert_eq!(relevance(dark(Rules::Paper)).dimension, Dimension::NONE);
    let with = |persistence| NewThresholds { persistence: Some(persistence), ..NewThresholds::default() };
    refused(&by_difference, with(Persistence::Ratio(2.0)), "a difference of peak and saddle");
    refused(dark(Rules::Ramses), with(Persistence::Difference(2.0)), "a ratio of peak and saddle");
    let mut other = by_difference.clone();
    other.attributes.iter_mut().find(|a| a.0 == "persistence").expect("it").1 = Attribute::Text("sum".into());
    refused(&other, NewThresholds::default(), "`persistence`");
    other.attributes.iter_mut().find(|a| a.0 == "persistence").expect("it").1 = kind;
    other.attributes.iter_mut().find(|a| a.0 == "compat").expect("it").1 = Attribute::Text("ramses".into());
    refused(&other, NewThresholds::default(), "`persistence`");
}

/// By the program: a catalogue of a run, and one that was cut again at the same thresholds.
#[test]
fn the_program_cuts_again_as_it_runs() {
    let room = Room::new();
    let input = crate::common::output("dm_3ranks").to_string_lossy().into_owned();
    let threshold = ["--density-threshold", "40", "--relevance-threshold"];
    let kinds: [&[&str]; 4] = [
        &["--compat", "ramses"],
        &["--compat", "ramses", "--mesh-from-particles", "--level-max", "9"],
        &["--mesh-from-particles", "--ranks", "3"],
        &["--compat", "ramses", "--field", "cic-ramses", "--ranks", "2"],
    ];
    for (writer, kind) in FORMATS.iter().flat_map(|writer| kinds.map(|kind| (writer, kind))) {
        let [stored, again, direct] =
            ["a", "b", "c"].map(|name| room.path(&format!("{name}.{}", writer.extensions[0])));
        // Masses of particles, or a share of the box.
        let mass = if kind.contains(&"ramses") { "60" } else { "0.02" };
        let new = ["--saddle-threshold", "90", "--mass-threshold", mass];
        done(&[&["phew", &input, "-o", &stored], &threshold[..], &["3"], kind].concat());
        done(&[&["recut", &stored, "-o", &again, "--relevance-threshold", "1.5"], &new[..]].concat());
        done(&[&["phew", &input, "-o", &direct], &threshold[..], &["1.5"], kind, &new].concat());
        let [stored, again, direct] =
            [stored, again, direct].map(|path| read(Path::new(&path)).expect("one"));
        assert_same(&again, &direct, &format!("{kind:?}"));
        let n = [&stored, &again].map(|c| c.table("haloes").expect("haloes").n_rows());
        assert!(0 < n[1] && n[1] < n[0], "{kind:?}: {n:?} haloes");
    }
}

fn dark(rules: Rules) -> &'static Catalogue {
    static STORED: OnceLock<[Catalogue; 2]> = OnceLock::new();
    let stored = STORED
        .get_or_init(|| BOTH.map(|rules| inputs()[0].run(rules, Options { saddle: Some(200.0), ..FIRST })));
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
    refused(&no_tree, own.clone(), "no table `tree`");
    let unused = ["peak_rank", "position"];
    for i in 0..dark(Rules::Paper).table("tree").expect("a tree").columns.len() {
        let mut less = dark(Rules::Paper).clone();
        let name = less.tables[2].columns.remove(i).name;
        if !unused.contains(&name.as_str()) {
            refused(&less, own.clone(), &format!("`{name}`"));
        }
    }
    for name in ["compat", "boxlen", "coarse_cells", "periodic", "density_threshold", "mass_threshold"] {
        let mut less = dark(Rules::Paper).clone();
        less.attributes.retain(|(n, _)| n != name);
        refused(&less, own.clone(), &format!("`{name}`"));
        less.attributes.push((name.into(), Attribute::Real(f64::NAN)));
        refused(&less, own.clone(), &format!("`{name}`"));
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
    refused(&with("endpoint", row, n + 1), own.clone(), "names row");
    refused(&with("death_near", row, u64::MAX), own.clone(), "names row");
    refused(&with("endpoint", row, 0), own.clone(), "death");
    refused(&with("death_near", row, 0), own.clone(), "death");
    refused(&with("endpoint", row, row as u64 + 1), own.clone(), "death");
    refused(&with("death_near", row, into), own.clone(), "death");
    refused(&with("n_cells", row, 0), own.clone(), "number of cells");
    refused(&with("n_cells", row, u64::MAX), own.clone(), "number of cells");
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
            refused(&broken, own.clone(), "broken");
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
        let _ = recut(&broken, &NewThresholds { persistence: Some(Persistence::Ratio(2.0)), ..NewThresholds::default() });
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

/// The table without what a run on cells alone does not find.
fn without_velocities(table: &Table) -> Table {
    let is_kept = |column: &&TableColumn| !["bulk_velocity", "momentum"].contains(&column.name.as_str());
    Table { name: table.name.clone(), columns: table.columns.iter().filter(is_kept).cloned().collect() }
}

/// A higher density threshold equals a run with it in every table.
#[test]
fn a_new_density_threshold_is_that_of_a_run_where_cells_are_stored() {
    let room = Room::new();
    let gas = crate::common::output("gas_2ranks").to_string_lossy().into_owned();
    let [stored, again, direct] = ["a", "b", "c"].map(|name| room.path(&format!("{name}.csv")));
    for rules in ["paper", "ramses"] {
        let common = ["--field", "density", "--with-cells", "--compat", rules, "--saddle-threshold", "200"];
        let run = |density: &str, to: &str| {
            let more = ["--density-threshold", density, "-o", to, "--relevance-threshold", "2"];
            done(&[&["phew", &gas][..], &common, &more].concat());
        };
        run("2", &stored);
        for density in ["5.5", "37.25", "2"] {
            run(density, &direct);
            done(&["recut", &stored, "-o", &again, "--density-threshold", density, "--force", "--quiet"]);
            let [expected, found] = [&direct, &again].map(|path| read(Path::new(path)).expect("it"));
            let names = |of: &Catalogue| of.tables.iter().map(|table| table.name.clone()).collect::<Vec<_>>();
            assert_eq!(names(&found), names(&expected), "{rules} {density}");
            for (table, of_run) in found.tables.iter().zip(&expected.tables) {
                assert_same_table(&without_velocities(table), &without_velocities(of_run), &table.name);
            }
            for name in ["density_threshold", "n_test_cells", "n_peaks", "n_clumps", "n_haloes", "n_levels"] {
                assert_eq!(found.attribute(name), expected.attribute(name), "{rules} {density} {name}");
            }
        }
    }
    let dark = crate::common::output("dm_3ranks").to_string_lossy().into_owned();
    let lower = ["recut", &stored, "-o", &room.path("d.csv"), "--density-threshold", "0.8"];
    room.refuses(&lower, &["density threshold 0.8 is below 2, that of the catalogue"]);
    let plain = ["--density-threshold", "40", "-o", &again];
    let refuses = |stored: &str, part: &str| {
        room.refuses(&["recut", stored, "-o", &room.path("d.csv"), "--density-threshold", "50"], &[part]);
    };
    done(&[&["phew", &dark, "--force"][..], &plain].concat());
    refuses(&again, "no table `cells` with densities");
    done(&[&["phew", &dark, "--force", "--with-cells", "--field", "cic"][..], &plain].concat());
    refuses(&again, "its density is made of particles");
    done(&[&["phew", &gas, "--force", "--with-cells", "--region", "box:0,0,0,0.5,1,1"][..], &plain].concat());
    refuses(&again, "only a part of its cells was searched");
}
