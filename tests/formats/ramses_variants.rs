//! Outputs of other builds of RAMSES, over other numbers of files: the content that is read never changes.

use crate::common::room::{Room, done, done_json};
use crate::common::{Whole, leaves, octs, open, output, particles, resplit, volume};
use inselberg_io::ramses::write::{Descriptors, Dialect, Ordering, Output, Split, write};
use inselberg_io::{Family, FieldInfo};
use std::path::Path;

fn names(whole: &Whole) -> Vec<&str> {
    whole.fields.iter().map(|f| f.name.as_str()).collect()
}

/// Writes `whole` in a dialect over one and over three files and compares what comes back.
fn check(whole: &Whole, dialect: &Dialect, what: &str) {
    for (n_cpus, ghosts) in [(1, false), (3, false), (3, true)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = whole.write(folder.path(), n_cpus, ghosts, dialect);
        check_read(whole, &path, n_cpus, what);
    }
}

fn check_read(whole: &Whole, path: &Path, n_cpus: usize, what: &str) {
    let snapshot = open(path);
    let mut expected = whole.header.clone();
    expected.n_pieces = n_cpus;
    // RAMSES states neither dark energy nor radiation and neutrinos.
    let assumed = ["w0", "wa", "omega_r", "omega_nu"].map(String::from).to_vec();
    if let Some(cosmology) = &mut expected.cosmology {
        cosmology.assumed = assumed;
    }
    assert_eq!(*snapshot.header(), expected, "{what}");
    assert_eq!(snapshot.fields(), whole.fields, "{what}");
    let found = octs(&*snapshot, &names(whole));
    let mut n = 0;
    for block in &whole.octs {
        for (i, position) in block.position.iter().enumerate() {
            let values = block.values.iter().map(|column| column[i]).collect();
            assert_eq!(found[&(block.level, *position)], (block.split[i], values), "{what}");
            n += 1;
        }
    }
    assert_eq!(found.len(), n, "{what}");
    check_particles(whole, &particles(&*snapshot), what);
}

fn check_particles(
    whole: &Whole,
    found: &std::collections::BTreeMap<i64, crate::common::Particle>,
    what: &str,
) {
    let Some(all) = &whole.particles else { return assert!(found.is_empty(), "{what}") };
    assert_eq!(found.len(), all.id.len(), "{what}");
    for (i, id) in all.id.iter().enumerate() {
        let particle = &found[id];
        assert_eq!((particle.position, particle.velocity), (all.position[i], all.velocity[i]), "{what}");
        assert_eq!((particle.mass, particle.family), (all.mass[i], all.family[i]), "{what}");
    }
}

#[test]
fn dialects_read_the_same() {
    let current = Dialect::default;
    let table = [
        ("current", current()),
        ("single precision", Dialect { single_precision: true, ..current() }),
        ("wide identities", Dialect { wide_ids: true, ..current() }),
        ("64-bit counts", Dialect { wide_counts: true, ..current() }),
        ("wide keys", Dialect { wide_keys: true, ..current() }),
        ("planar", Dialect { ordering: Ordering::Planar, ..current() }),
        ("angular", Dialect { ordering: Ordering::Angular, ..current() }),
        ("bisection", Dialect { ordering: Ordering::Bisection, ..current() }),
        ("I/O groups of two", Dialect { group_size: Some(2), ..current() }),
        ("records in parts", Dialect { longest_part: 7, ..current() }),
    ];
    for (what, dialect) in table {
        check(&Whole::tiny([1; 3]), &dialect, what);
        check(&Whole::tiny([3, 1, 2]), &dialect, what);
    }
}

#[test]
fn an_info_file_in_an_io_group_stands_for_its_output() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let whole = Whole::tiny([1; 3]);
    let path = whole.write(folder.path(), 4, true, &Dialect { group_size: Some(2), ..Dialect::default() });
    assert!(path.join("group_00002/amr_00007.out00004").exists());
    check_read(&whole, &path.join("group_00001/info_00007.txt"), 4, "by its info file");
}

#[test]
fn boundary_regions_are_passed_over() {
    let sides = [[true, true], [true, false], [false, true]];
    for boundary_sides in sides {
        for (coarse, periodic) in [([1; 3], [false, true, true]), ([2, 1, 1], [false; 3])] {
            let mut whole = Whole::tiny(coarse);
            whole.header.periodic = periodic;
            let dialect = Dialect { boundary_sides, ..Dialect::default() };
            check(&whole, &dialect, &format!("{boundary_sides:?} {coarse:?}"));
        }
    }
}

#[test]
fn particles_wrap_on_periodic_axes_only() {
    let mut whole = Whole::tiny([1; 3]);
    whole.header.periodic = [false, true, true];
    let outside = whole.particles.as_mut().expect("particles");
    outside.position[0] = [-0.5, -0.5, 2.0];
    outside.position[1] = [2.5, 2.5, -1e-300];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let all = particles(&*open(&whole.write(folder.path(), 2, true, &Dialect::default())));
    assert_eq!((all[&1].position, all[&2].position), ([-0.5, 1.5, 0.0], [2.5, 0.5, 0.0]));
}

/// Families as far as they can be found in an output without them.
fn told_without_families(family: Family) -> Family {
    match family {
        Family::Debris | Family::Other => Family::DarkMatter,
        told => told,
    }
}

#[test]
fn identities_that_need_eight_bytes_get_them() {
    let mut whole = Whole::tiny([1; 3]);
    whole.particles.as_mut().expect("particles").id[0] = 1 << 40;
    check(&whole, &Dialect::default(), "wide identity");
}

#[test]
fn particles_from_before_families() {
    let mut whole = Whole::tiny([1; 3]);
    let families = &mut whole.particles.as_mut().expect("particles").family;
    families.iter_mut().for_each(|f| *f = told_without_families(*f));
    let dialects = [
        Dialect { families: false, ..Dialect::default() },
        Dialect { descriptors: Descriptors::Old, ..Dialect::default() },
        Dialect { descriptors: Descriptors::Old, wide_ids: true, ..Dialect::default() },
        Dialect { descriptors: Descriptors::Missing, single_precision: true, ..Dialect::default() },
    ];
    for dialect in dialects {
        check(&whole, &dialect, &format!("{dialect:?}"));
    }
}

#[test]
fn a_missing_descriptor_means_standard_names() {
    let mut whole = Whole::tiny([1; 3]);
    whole.fields.truncate(7);
    whole.fields.iter_mut().for_each(|f| f.family = "hydro");
    whole.octs.iter_mut().for_each(|block| block.values.truncate(7));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dialect = Dialect { descriptors: Descriptors::Missing, ..Dialect::default() };
    let snapshot = open(&whole.write(folder.path(), 1, false, &dialect));
    let found: Vec<_> = snapshot.fields().iter().map(|f| f.name.as_str()).collect();
    let standard =
        ["density", "velocity_x", "velocity_y", "velocity_z", "pressure", "scalar_00", "scalar_01"];
    assert_eq!(found, standard);
}

/// Without a descriptor, the number of variables of gas with a magnetic field leaves their names open.
#[test]
fn variables_without_names_are_no_pressure() {
    let mut whole = Whole::tiny([1; 3]);
    let names = "density velocity_x velocity_y velocity_z B_x_left B_y_left B_z_left B_x_right B_y_right B_z_right pressure";
    whole.fields = names.split(' ').map(|name| FieldInfo { family: "hydro", name: name.into() }).collect();
    whole.octs.iter_mut().for_each(|block| {
        let values = block.values[0].clone();
        block.values = (0..11)
            .map(|i| values.iter().map(|of_oct| of_oct.map(|x| x.abs() + i as f64)).collect())
            .collect();
    });
    let room = Room::new();
    let dialect = Dialect { descriptors: Descriptors::Missing, ..Dialect::default() };
    let path = whole.write(Path::new(&room.path("")), 2, true, &dialect).to_string_lossy().into_owned();
    let found: Vec<_> = open(Path::new(&path)).fields().iter().map(|f| f.name.clone()).collect();
    assert_eq!(
        (found[3].as_str(), found[4].as_str(), found[10].as_str()),
        ("velocity_z", "variable_05", "variable_11")
    );
    assert!(done(&["info", &path]).contains("hydro_file_descriptor.txt"));
    let search =
        ["phew", &path, "-o", &room.path("c.csv"), "--density-threshold", "0.5", "--field", "density"];
    room.refuses(
        &[&search[..], &["--unbind"]].concat(),
        &["11 variables", "hydro_file_descriptor.txt", "--hydro-names"],
    );
    room.refuses(&[&search[..], &["--properties", "gas"]].concat(), &["magnetic", "--hydro-names"]);
    room.refuses(&[&search[..], &["--hydro-names", "a,b"]].concat(), &["11 variables", "2 variables"]);
    room.refuses(&[&search[..], &["--hydro-names", "a,a"]].concat(), &["--hydro-names", "different"]);
    let summary = done_json(&[&search[..], &[]].concat());
    assert!(summary["notes"][0].as_str().is_some_and(|text| text.contains("variables 5 to 11")));
    done(&[&search[..], &["--properties", "gas", "--hydro-names", &names.replace(' ', ",")]].concat());
    let given = inselberg_io::catalogue::read(Path::new(&room.path("c.csv"))).expect("a catalogue");
    let described = Room::new();
    let other = whole.write(Path::new(&described.path("")), 2, true, &Dialect::default());
    done(
        &[
            &["phew", &other.to_string_lossy(), "-o", &room.path("d.csv")],
            &search[4..],
            &["--properties", "gas"],
        ]
        .concat(),
    );
    let stated = inselberg_io::catalogue::read(Path::new(&room.path("d.csv"))).expect("a catalogue");
    assert_eq!(format!("{:?}", given.tables), format!("{:?}", stated.tables));
    let both = ["info", &other.to_string_lossy(), "--hydro-names", "a"];
    room.refuses(&both, &["hydro_file_descriptor.txt", "states it"]);
}

/// Puts a column of reals into particle files of particles without names, before the last one.
fn add_column(folder: &Path, value: f64) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        if !entry.file_name().to_string_lossy().starts_with("part_") {
            continue;
        }
        let bytes = std::fs::read(entry.path()).expect("a file");
        let length = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        let last = bytes.len() - 8 - length(bytes.len() - 4) as usize;
        let n = length(last) / 8;
        let column = (0..n).flat_map(|_| value.to_le_bytes());
        let mark = (8 * n).to_le_bytes();
        let column = mark.into_iter().chain(column).chain(mark);
        let all: Vec<u8> =
            bytes[..last].iter().copied().chain(column).chain(bytes[last..].to_vec()).collect();
        std::fs::write(entry.path(), all).expect("writing");
    }
}

/// Without a descriptor, the number of stars that the header states finds the birth times.
#[test]
fn stars_are_those_that_the_header_counts() {
    let mut whole = Whole::tiny([1; 3]);
    let families = &mut whole.particles.as_mut().expect("particles").family;
    families.iter_mut().for_each(|f| *f = told_without_families(*f));
    let dialect = Dialect { descriptors: Descriptors::Missing, ..Dialect::default() };
    for n_cpus in [1, 3] {
        let room = Room::new();
        let path = whole.write(Path::new(&room.path("")), n_cpus, true, &dialect);
        add_column(&path, -0.9);
        check_particles(&whole, &particles(&*open(&path)), "a column of potentials");
        let text = done(&["info", &path.to_string_lossy()]);
        assert!(text.contains("column 11 of particles is taken for the birth time"), "{text}");
    }
    let n_stars =
        whole.particles.as_ref().expect("particles").family.iter().filter(|f| **f == Family::Star).count();
    let room = Room::new();
    let path = whole.write(Path::new(&room.path("")), 1, true, &dialect);
    let file = path.join("part_00007.out00001");
    let mut bytes = std::fs::read(&file).expect("a file");
    // ncpu, ndim, npart and localseed come before the number of stars.
    bytes[3 * 12 + 24 + 4] += 1;
    std::fs::write(&file, &bytes).expect("writing");
    let stated = format!("{} stars", n_stars + 1);
    room.refuses(&["info", &path.to_string_lossy()], &["part_00007.out00001", &stated, "nstar_tot"]);
    let search = ["phew", &path.to_string_lossy(), "-o", &room.path("c.csv"), "--density-threshold", "0.5"];
    done(&[&search[..], &["--field", "density"]].concat());
    room.refuses(&[&search[..], &["--field", "cic", "--force"]].concat(), &[&stated]);
}

#[test]
fn gravity_files_with_and_without_rho_and_potential() {
    for n in 3..=5 {
        let mut whole = Whole::tiny([1; 3]);
        whole.fields.drain(..10 - n);
        whole.octs.iter_mut().for_each(|block| drop(block.values.drain(..10 - n)));
        check(&whole, &Dialect::default(), &format!("{n} values"));
    }
}

#[test]
fn no_particles_no_fields_no_cosmology() {
    let mut whole = Whole::tiny([1; 3]);
    (whole.particles, whole.header.cosmology) = (None, None);
    whole.fields.clear();
    whole.octs.iter_mut().for_each(|block| block.values.clear());
    check(&whole, &Dialect::default(), "bare mesh");
}

#[test]
fn a_real_output_split_again_reads_the_same() {
    for run in ["dm_3ranks", "gas_2ranks"] {
        let original = open(&output(run));
        let fields = ["rho", "force_z"];
        let (cells, parts) = (octs(&*original, &fields), particles(&*original));
        for n_cpus in [1, 2, 5] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let again = open(&resplit(&output(run), folder.path(), n_cpus));
            assert_eq!(again.header().n_pieces, n_cpus);
            assert_eq!(again.header().units, original.header().units);
            assert_eq!(again.fields(), original.fields());
            let found = octs(&*again, &fields);
            assert_eq!(volume(&leaves(&found)), 1.0);
            assert!(found == cells && particles(&*again) == parts, "{run} over {n_cpus} files");
        }
    }
}

#[test]
fn the_writer_refuses_what_is_no_tree_and_leaves_nothing() {
    type Spoil = fn(&mut Whole);
    let spoil: [(&str, Spoil); 7] = [
        ("are not those of", |w| drop(w.octs[1].values.pop())),
        ("are not those of", |w| w.octs[1].values[0].truncate(7)),
        ("particle columns", |w| w.particles.as_mut().expect("particles").mass.clear()),
        ("expected one in each", |w| w.octs.truncate(2)),
        ("is not in a split cell", |w| w.octs[1].split.fill(0)),
        ("twice", |w| w.octs.push(w.octs[0].clone())),
        ("is outside", |w| w.octs[0].position[0] = [1, 0, 0]),
    ];
    for (reason, spoil) in spoil {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut whole = Whole::tiny([1; 3]);
        spoil(&mut whole);
        let particles = whole.particles.as_ref();
        let Whole { header, fields, octs, adiabatic_index, .. } = &whole;
        let output = Output { header, fields, octs, particles, adiabatic_index: *adiabatic_index };
        let split = Split { n_cpus: 1, oct_owner: &|_, _| 0, particle_owner: &|_| 0, ghosts: true };
        let error = write(folder.path(), output, split, &Dialect::default()).expect_err(reason);
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
    }
}

#[test]
fn an_existing_output_is_not_replaced() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let whole = Whole::tiny([1; 3]);
    whole.write(folder.path(), 1, false, &Dialect::default());
    let Whole { header, fields, octs, adiabatic_index, .. } = &whole;
    let output = Output { header, fields, octs, particles: None, adiabatic_index: *adiabatic_index };
    let split = Split { n_cpus: 1, oct_owner: &|_, _| 0, particle_owner: &|_| 0, ghosts: false };
    assert!(write(folder.path(), output, split, &Dialect::default()).is_err());
}
