//! Two catalogues beside each other: ours, Gadget-4's SUBFIND and Rockstar's, on bundled outputs of Gadget-4.
//!
//! Expected numbers are those of a program of its own in NumPy, which reads the same files: it matches groups
//! by their first particle, subhaloes by n² / (n_A n_B) of common members, and Rockstar's haloes by distance.

use crate::common::room::{Room, command, done, done_json};
use crate::common::{gadget4, rockstar};
use hdf5::types::VarLenUnicode;
use inselberg_io::catalogue::{self, Catalogue, Values};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn peer() -> String {
    gadget4().join("fof_subhalo_tab_004.hdf5").to_string_lossy().into_owned()
}

fn snapshot() -> String {
    gadget4().join("snapshot_004.hdf5").to_string_lossy().into_owned()
}

/// A row of a list that has these values.
fn row<'a>(list: &'a Value, key: &str, name: &str, from: u64) -> &'a Value {
    let rows = list.as_array().expect("a list");
    rows.iter().find(|row| row[key] == name && row["from"] == from).expect("a row")
}

fn shown(row: &Value, keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| format!("{:.3}", row[key].as_f64().expect("a number"))).collect()
}

fn count(list: &Value, key: &str, from: u64) -> u64 {
    let rows = list.as_array().expect("a list").iter();
    rows.filter(|row| row["from"].as_u64() >= Some(from)).map(|row| row[key].as_u64().expect("a count")).sum()
}

#[test]
fn groups_beside_subfind_are_as_far_apart_as_another_program_says() {
    let room = Room::new();
    let ours = room.path("f.hdf5");
    let options =
        ["--linking-length", "0.04375", "--min-size", "32", "--properties", "so,bound", "--with-members"];
    done(&[&["fof", &snapshot(), "-o", &ours][..], &options].concat());
    let found = done_json(&["compare", &ours, &peer()]);
    let groups = &found["levels"][0];
    assert_eq!((&groups["first"], &groups["second"]), (&"groups".into(), &"groups".into()));
    let members = row(&groups["ratios"], "quantity", "members", 300);
    assert_eq!(members["n"], 40);
    assert_eq!(shown(members, &["p5", "p50", "p95", "min"]), ["1.000", "1.000", "1.071", "1.000"]);
    let masses = row(&groups["ratios"], "quantity", "mass 200 crit", 300);
    assert_eq!(shown(masses, &["p5", "p50", "p95", "min"]), ["1.000", "1.001", "1.012", "0.944"]);
    assert_eq!(masses["off_by_10_percent"], 0.0);
    let centres = row(&groups["offsets"], "radius", "radius 200 crit", 300);
    assert_eq!(shown(centres, &["beyond_0.05"]), ["0.075"]);
    assert_eq!(found["difference"], Value::Null);
}

#[test]
fn clumps_beside_subfind_are_as_far_apart_as_another_program_says() {
    let room = Room::new();
    let (ours, folder) = (room.path("p.hdf5"), room.path("cmp"));
    let options = ["--mesh-from-particles", "--unbind", "--properties", "all", "--with-members"];
    done(&[&["phew", &snapshot(), "-o", &ours][..], &options].concat());
    let found = done_json(&["compare", &ours, &peer(), "-o", &folder]);
    let (clumps, hosts) = (&found["levels"][0], &found["levels"][1]);
    let members = row(&hosts["ratios"], "quantity", "members", 1000);
    assert_eq!(members["n"], 14);
    assert_eq!(shown(members, &["p5", "p50", "p95", "min"]), ["0.967", "1.054", "1.111", "0.951"]);
    let masses = row(&hosts["ratios"], "quantity", "mass 200 crit", 1000);
    assert_eq!(shown(masses, &["p5", "p50", "p95", "min"]), ["1.000", "1.000", "1.008", "0.999"]);
    let of_subfind = &clumps["completeness"];
    assert_eq!((&of_subfind[0]["satellites_found"], &of_subfind[0]["satellites"]), (&28.into(), &33.into()));
    assert_eq!((count(of_subfind, "satellites_found", 100), count(of_subfind, "satellites", 100)), (15, 18));
    // SUBFIND's radii are proper lengths; those of clumps that are the same are equal.
    let radii = row(&clumps["ratios"], "quantity", "half-mass radius", 20);
    assert!((radii["p50"].as_f64().expect("a ratio") - 1.0).abs() < 0.05, "{radii}");
    let centrals = &found["centrals"];
    let [n, differ] = ["compared", "differ"].map(|key| centrals[key].as_u64().expect("a count"));
    assert!(n > 300 && differ * 50 < n, "{centrals}");
    check_files(&folder, clumps["mutual"].as_u64().expect("a count"));

    // Neither ranks nor threads change anything.
    let without_costs = |mut summary: Value| {
        let all = summary.as_object_mut().expect("a summary");
        all.retain(|key, _| {
            ["levels", "centrals", "first", "second", "notes", "difference"].contains(&key.as_str())
        });
        summary
    };
    let on_ranks = done_json(&["compare", &ours, &peer(), "--ranks", "3"]);
    assert_eq!(without_costs(on_ranks), without_costs(found));

    // The same objects are equal, and the first value that is not is named.
    let again = room.path("again.hdf5");
    fs::copy(&ours, &again).expect("a copy");
    assert_eq!(done_json(&["compare", &ours, &again])["difference"]["equal"], true);
    let mut changed = catalogue::read(Path::new(&ours)).expect("a catalogue");
    let column = changed.tables[0].columns.iter_mut().find(|column| column.name == "bound_mass");
    let Some(Values::F64(masses)) = column.map(|column| &mut column.values) else { panic!("no masses") };
    masses[17] = f64::from_bits(masses[17].to_bits() + 1);
    catalogue::write(Path::new(&again), &changed).expect("written");
    let difference = &done_json(&["compare", &ours, &again])["difference"];
    assert_eq!(difference["equal"], false);
    assert_eq!(
        (&difference["table"], &difference["column"], &difference["row"]),
        (&"clumps".into(), &"bound_mass".into(), &17.into())
    );
    let text = done(&["compare", &ours, &again]);
    assert!(text.contains("first difference: clumps, row 17, column bound_mass: "), "{text}");
}

/// The table has each pair, and the page is whole.
fn check_files(folder: &str, n_pairs: u64) {
    let table = catalogue::read(&Path::new(folder).join("matches.csv")).expect("a table");
    let clumps = table.table("clumps").expect("pairs of clumps");
    let shared = clumps.counts("n_shared").expect("counts");
    assert!(shared.iter().filter(|n| **n > 0).count() as u64 >= n_pairs);
    #[cfg(feature = "plot")]
    {
        let page = fs::read_to_string(Path::new(folder).join("index.html")).expect("a page");
        for id in ["completeness-0", "ratios-0", "sizes-1", "disagreements-1", "centrals"] {
            assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
        }
        assert!(!page.contains("http"), "the page needs nothing else");
    }
}

#[test]
fn rockstar_beside_subfind_is_matched_by_place() {
    let of = |name: &str| rockstar().join(name).to_string_lossy().into_owned();
    let (subfind, list) = (of("fof_subhalo_tab_003.hdf5"), of("rockstar_003.ascii"));
    let found = done_json(&["compare", &subfind, &list, "--shift=-1", "--match-distance", "0.02"]);
    let clumps = &found["levels"][0];
    assert_eq!(clumps["by_members"], false);
    let numbers = |list: &Value| -> Vec<[u64; 2]> {
        let rows = list.as_array().expect("a list").iter();
        rows.map(|row| [&row["found"], &row["n"]].map(|n| n.as_u64().expect("a count"))).collect()
    };
    assert_eq!(numbers(&clumps["purity"]), [[148, 154], [125, 127], [92, 92], [24, 24], [18, 18]]);
    assert_eq!(numbers(&clumps["completeness"]), [[68, 387], [163, 189], [122, 126], [35, 35], [27, 27]]);
    let notes = found["notes"].to_string();
    assert!(notes.contains("304 objects of the second catalogue lie outside of the box"), "{notes}");
}

#[test]
fn other_finders_are_read_by_view_info_and_convert() {
    let room = Room::new();
    let list = rockstar().join("rockstar_003.ascii").to_string_lossy().into_owned();
    let halo = done_json(&["view", &list, "--clump", "3", "--units", "code"]);
    assert_eq!(halo["columns"]["n_bound"]["value"], 1454);
    assert_eq!(
        halo["columns"]["most_bound_position"]["value"],
        serde_json::json!([1.643982, 1.127584, 1.590249])
    );
    let main = done_json(&["view", &peer(), "--clump", "0", "--units", "code"]);
    assert_eq!(main["columns"]["is_central"]["value"], 1);
    assert_eq!(main["clumps"][0], 0);
    assert!(done(&["info", &list]).contains("Rockstar"));
    let fits = room.path("r.fits");
    done(&["convert", &list, "--to", "fits", "-o", &fits]);
    assert!(fs::metadata(&fits).expect("a file").len() > 100_000);
    let yt = room.path("yt");
    done(&["convert", &peer(), "--to", "yt", "-o", &yt]);
    assert!(fs::read_dir(&yt).expect("a folder").count() > 0);
}

/// An object: identities of dark matter, the most bound first, and of gas.
type TypedIds = (Vec<u64>, Vec<u64>);

/// A catalogue and a snapshot of Gadget-4 in the folders of several files, with two types of particles, object
/// after object. The path of the catalogue.
fn gadget4_output(room: &Room, number: u32, objects: &[TypedIds]) -> String {
    let [groups, snapshots] = ["groups", "snapdir"].map(|name| room.path(&format!("{name}_{number:03}")));
    [&groups, &snapshots].into_iter().for_each(|folder| fs::create_dir(folder).expect("a folder"));
    let a = 0.1 * f64::from(number);
    let (mut dark, mut gas): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    // By object, of gas and dark matter.
    let (mut offsets, mut lengths) = (Vec::new(), Vec::new());
    for (of_dark, of_gas) in objects {
        offsets.push([gas.len() as i64, dark.len() as i64]);
        lengths.push([of_gas.len() as i64, of_dark.len() as i64]);
        // A particle of no object stands behind each one.
        dark.extend(of_dark.iter().chain(&[9000 + dark.len() as u64]));
        gas.extend(of_gas);
    }
    gadget4_snapshot(&format!("{snapshots}/snapshot_{number:03}"), a, [&gas, &dark]);
    let path = format!("{groups}/fof_subhalo_tab_{number:03}.0.hdf5");
    let most_bound: Vec<i64> = objects.iter().map(|(dark, _)| dark[0] as i64).collect();
    gadget4_groups(&path, a, &most_bound, [offsets, lengths]);
    path
}

/// Two files of a snapshot with these identities of gas and dark matter.
fn gadget4_snapshot(beginning: &str, a: f64, [gas, dark]: [&[u64]; 2]) {
    let cut = dark.len() / 2;
    for (file, of_gas, of_dark) in [(0, gas, &dark[..cut]), (1, &[][..], &dark[cut..])] {
        let to = hdf5::File::create(format!("{beginning}.{file}.hdf5")).expect("a file");
        let header = to.create_group("Header").expect("a group");
        times(&header, a);
        real(&header, "NumFilesPerSnapshot", &[2.0]);
        real(&header, "MassTable", &[1.0, 1.0]);
        real(&header, "NumPart_ThisFile", &[of_gas.len() as f64, of_dark.len() as f64]);
        real(&header, "NumPart_Total", &[gas.len() as f64, dark.len() as f64]);
        parameters(&to);
        for (kind, ids) in [(0, of_gas), (1, of_dark)].into_iter().filter(|(_, ids)| !ids.is_empty()) {
            let group = to.create_group(&format!("PartType{kind}")).expect("a group");
            let places = ndarray::Array2::<f32>::from_elem((ids.len(), 3), 0.5);
            group.new_dataset_builder().with_data(&places).create("Coordinates").expect("written");
            group.new_dataset_builder().with_data(ids).create("ParticleIDs").expect("written");
        }
    }
}

/// A catalogue of groups of one subhalo each, with the first rows and the numbers of both types of particles.
fn gadget4_groups(path: &str, a: f64, most_bound: &[i64], [offsets, lengths]: [Vec<[i64; 2]>; 2]) {
    let n = most_bound.len();
    let to = hdf5::File::create(path).expect("a file");
    let header = to.create_group("Header").expect("a group");
    times(&header, a);
    real(&header, "NumFiles", &[1.0]);
    for name in ["Ngroups_ThisFile", "Ngroups_Total", "Nsubhalos_ThisFile", "Nsubhalos_Total"] {
        real(&header, name, &[n as f64]);
    }
    parameters(&to);
    let rows: Vec<i64> = (0..n as i64).collect();
    let sizes: Vec<i32> = lengths.iter().map(|[gas, dark]| (gas + dark) as i32).collect();
    let masses: Vec<f32> = sizes.iter().map(|n| *n as f32).collect();
    let places = ndarray::Array2::<f32>::from_elem((n, 3), 0.5);
    let group = to.create_group("Group").expect("a group");
    let sub = to.create_group("Subhalo").expect("a group");
    let whole = |group: &hdf5::Group, name: &str, values: &[i64]| {
        group.new_dataset_builder().with_data(values).create(name).expect("written");
    };
    group.new_dataset_builder().with_data(&sizes).create("GroupLen").expect("written");
    whole(&group, "GroupFirstSub", &rows);
    whole(&sub, "SubhaloGroupNr", &rows);
    whole(&sub, "SubhaloRankInGr", &vec![0; n]);
    whole(&sub, "SubhaloParentRank", &vec![0; n]);
    whole(&sub, "SubhaloIDMostbound", most_bound);
    sub.new_dataset_builder().with_data(&sizes).create("SubhaloLen").expect("written");
    sub.new_dataset_builder().with_data(&masses).create("SubhaloMass").expect("written");
    sub.new_dataset_builder().with_data(&places).create("SubhaloPos").expect("written");
    for (name, values) in [("SubhaloOffsetType", offsets), ("SubhaloLenType", lengths)] {
        let values = ndarray::Array2::from(values);
        sub.new_dataset_builder().with_data(&values).create(name).expect("written");
    }
}

/// The attributes of a box at this expansion factor.
fn times(header: &hdf5::Group, a: f64) {
    for (name, value) in [("BoxSize", 1.0), ("Time", a), ("Redshift", 1.0 / a - 1.0)] {
        real(header, name, &[value]);
    }
}

fn real(group: &hdf5::Group, name: &str, values: &[f64]) {
    let attribute = group.new_attr::<f64>().shape(values.len()).create(name).expect("an attribute");
    attribute.write(values).expect("written");
}

fn parameters(file: &hdf5::File) {
    let group = file.create_group("Parameters").expect("a group");
    for (name, value) in [
        ("HubbleParam", 0.7),
        ("Omega0", 0.3),
        ("OmegaLambda", 0.7),
        ("UnitLength_in_cm", 3.085678e24),
        ("UnitMass_in_g", 1.989e43),
        ("UnitVelocity_in_cm_per_s", 1e5),
        ("ComovingIntegrationOn", 1.0),
    ] {
        real(&group, name, &[value]);
    }
    let base: VarLenUnicode = "snapshot".parse().expect("a text");
    let attribute = group.new_attr::<VarLenUnicode>().create("SnapshotFileBase").expect("an attribute");
    attribute.write_scalar(&base).expect("written");
}

#[test]
fn subfinds_objects_and_members_make_trees() {
    let room = Room::new();
    let ids = |first: u64, n: u64| (first..first + n).collect::<Vec<u64>>();
    let (host, other) = ((ids(1, 60), ids(500, 7)), (ids(100, 40), ids(600, 3)));
    let merged = ([ids(1, 60), ids(100, 40)].concat(), ids(500, 9));
    let first = gadget4_output(&room, 1, &[host.clone(), other.clone()]);
    let second = gadget4_output(&room, 2, &[other, host]);
    let third = gadget4_output(&room, 3, &[merged]);
    let tree = room.path("tree.hdf5");
    done(&["tree", &first, &second, &third, "-o", &tree, "--no-orphans"]);
    let tree = catalogue::read(Path::new(&tree)).expect("a tree");
    let nodes = tree.table("nodes").expect("nodes");
    let column = |name: &str| nodes.integers(name).expect("integers");
    assert_eq!(column("object"), [0, 1, 0, 1, 0]);
    // Both change places, and merge.
    assert_eq!(column("descendant"), [3, 2, 4, 4, -1]);
    assert_eq!(column("n_members"), [67, 43, 43, 67, 109]);

    let whole: Catalogue = catalogue::read(Path::new(&first)).expect("a catalogue");
    let members = whole.table("members").expect("members");
    let expected: Vec<u64> = [ids(1, 60), ids(500, 7), ids(100, 40), ids(600, 3)].concat();
    assert_eq!(members.identities("id"), Some(&expected[..]));
    let types = members.bytes("type").expect("types");
    assert_eq!((types[59], types[60], types[67]), (1, 0, 1));
}

#[test]
fn a_snapshot_in_another_order_is_refused() {
    let room = Room::new();
    let objects = [((1..40).collect::<Vec<u64>>(), vec![]), ((50..90).collect(), vec![])];
    let path = gadget4_output(&room, 1, &objects);
    reverse_identities(&room.path("snapdir_001/snapshot_001.1.hdf5"));
    room.refuses(&["compare", &path, &path], &["subhalo 1", "its first particle is not its most bound one"]);
}

fn reverse_identities(path: &str) {
    let file = hdf5::File::open_rw(path).expect("a file");
    let ids = file.dataset("PartType1/ParticleIDs").expect("identities");
    let mut values: Vec<u64> = ids.read_raw().expect("identities");
    values.reverse();
    ids.write_raw(&values).expect("written");
}

#[test]
fn mistakes_are_one_line() {
    let room = Room::new();
    let list = rockstar().join("rockstar_003.ascii").to_string_lossy().into_owned();
    room.refuses(&["compare", &list], &["CATALOGUES", "expected two"]);
    room.refuses(&["compare", &list, &room.path("absent.hdf5")], &["absent.hdf5"]);
    room.refuses(&["compare", &list, &list, "--least-score", "2"], &["--least-score", "expected 0 to 1"]);
    let broken = Room::new();
    let text = fs::read_to_string(&list).expect("a list");
    let cut = broken.path("halos_0.0.ascii");
    fs::write(&cut, &text[..text.len() - 40]).expect("written");
    room.refuses(&["compare", &cut, &list], &["halos_0.0.ascii: line 1087", "values; expected"]);
    let mut wrong = command(&["compare", &list, &list, "-o", &list]);
    let out = wrong.output().expect("the program starts");
    assert_eq!(out.status.code(), Some(2));
}
