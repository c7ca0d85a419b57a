//! The real program on real outputs: what it writes, and how it refuses.

use crate::common::compare::assert_same;
use crate::common::ramses_catalogue::rows;
use crate::common::room::{Room, command, done, done_json};
use inselberg_io::catalogue::{Attribute, FORMATS, read};
use inselberg_io::ramses::write::Dialect;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The ending of the preferred format of this build.
fn ending() -> &'static str {
    FORMATS[0].extensions[0]
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The whole command line for an output, into `to`.
fn phew_args<'a>(input: &'a str, to: &'a str, density: &'a str) -> Vec<&'a str> {
    let thresholds =
        ["--density-threshold", density, "--relevance-threshold", "3", "--saddle-threshold", "200"];
    [&["phew", input, "-o", to], &thresholds[..]].concat()
}

#[test]
fn from_an_output_to_new_thresholds() {
    let (room, input) = (Room::new(), text(&crate::common::output("dm_1rank")));
    let (first, second) = (room.path(&format!("a.{}", ending())), room.path(&format!("b.{}", ending())));
    let said = done(
        &[&phew_args(&input, &first, "40")[..], &["--with-cells", "--with-particles", "--unbind"]].concat(),
    );
    assert!(said.contains("test cells") && said.contains("haloes"), "{said}");
    let catalogue = read(Path::new(&first)).expect("a catalogue");
    let names: Vec<_> = catalogue.tables.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["clumps", "haloes", "tree", "cells", "particles"]);
    assert_eq!(catalogue.table("particles").expect("particles").n_rows(), 4096);
    let recut = ["recut", &first, "--relevance-threshold", "5", "--saddle-threshold", "150", "-o", &second];
    let out = command(&[&recut[..], &["--json"]].concat()).output().expect("starts");
    let warning = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(
        warning.contains("columns of clumps, from n_bound to") && warning.contains("table cells"),
        "{warning}"
    );
    assert_eq!(warning.lines().count(), 1, "{warning}");
    assert!(done(&[&recut[..], &["--quiet"]].concat()).is_empty());
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let again = read(Path::new(&second)).expect("a catalogue");
    assert_eq!(json["tables"]["clumps"], again.table("clumps").expect("clumps").n_rows());
    for path in [&first, &second, &input] {
        assert!(!done(&["info", path]).is_empty());
        assert!(done_json(&["info", path]).is_object());
    }
}

#[test]
fn a_difference_is_cut_again_as_it_runs() {
    let (room, input) = (Room::new(), text(&crate::common::output("dm_1rank")));
    let [first, again, direct] = ["a", "b", "c"].map(|name| room.path(&format!("{name}.csv")));
    let run = |to: &str, difference: &str| {
        let thresholds = ["--density-threshold", "40", "--relevance-difference", difference];
        done(&[&["phew", &input, "-o", to], &thresholds[..]].concat());
        read(Path::new(to)).expect("a catalogue")
    };
    let (stored, direct) = (run(&first, "10"), run(&direct, "100"));
    done(&["recut", &first, "-o", &again, "--relevance-difference", "100"]);
    let cut = read(Path::new(&again)).expect("a catalogue");
    assert_same(&cut, &direct, "a difference of 100");
    let n = [&stored, &cut].map(|c| c.table("clumps").expect("clumps").n_rows());
    assert!(0 < n[1] && n[1] < n[0], "{n:?} clumps");
    let other = ["recut", &first, "-o", &again, "--relevance-threshold", "3"];
    room.refuses(&other, &[&first, "a difference of peak and saddle density", "expected"]);
    let ramses = ["phew", &input, "-o", &again, "--density-threshold", "40", "--relevance-difference", "2"];
    let ramses = [&ramses[..], &["--compat", "ramses"]].concat();
    room.refuses(&ramses, &["--relevance-difference: `2`", "--compat ramses", "expected"]);
}

#[test]
fn the_json_summary_counts_what_is_in_the_catalogue() {
    let (room, input) = (Room::new(), text(&crate::common::output("gas_2ranks")));
    let to = room.path("c.csv");
    let json = done_json(&phew_args(&input, &to, "2"));
    let catalogue = read(Path::new(&to)).expect("a catalogue");
    let flat = json.to_string();
    let n = catalogue.table("clumps").expect("clumps").n_rows();
    assert!(n > 0 && flat.contains(&format!("\"clumps\":{n}")), "{flat}");
    assert!(done(&[&phew_args(&input, &to, "2")[..], &["--quiet"]].concat()).is_empty());
}

#[test]
fn the_segmented_field_and_its_choice_are_told() {
    let (room, input) = (Room::new(), text(&crate::common::output("gas_2ranks")));
    let (to, picture) = (room.path("c.csv"), room.path("p.svg"));
    let names = "velocity_x, velocity_y, velocity_z, pressure; rho, potential, force_x, force_y, force_z; cic, cic-ramses, matter";
    let said = format!("matter (particles), chosen by auto from density, {names}");
    let told = done(&phew_args(&input, &to, "2"));
    assert!(told.starts_with(&format!("field             {said}\n")), "{told}");
    if cfg!(feature = "plot") {
        let report = room.path("report");
        done(&[&phew_args(&input, &to, "2")[..], &["--plot", &picture, "--report", &report]].concat());
        assert!(fs::read_to_string(&picture).expect("a picture").contains("field matter"));
        assert!(fs::read_to_string(format!("{report}/index.html")).expect("a page").contains(&said));
    }
    let json = done_json(&[&phew_args(&input, &to, "2")[..], &["--field", "rho"]].concat());
    let field = &json["field"];
    assert_eq!((&field["name"], &field["family"]), (&"rho".into(), &"grav".into()));
    assert_eq!(
        (&field["chosen_by"], &field["chosen_from"][4]["name"]),
        (&"--field".into(), &"pressure".into())
    );
    let mesh = ["--mesh-from-particles", "--density-threshold", "80", "-o", &to];
    let told = done(&[&["phew", &text(&crate::common::output("dm_1rank"))], &mesh[..]].concat());
    assert!(told.starts_with("field             cic (particles), chosen by auto from cic\n"), "{told}");
}

/// A descriptor that was cut once made `phew` segment another field, with exit code 0.
#[test]
fn a_cut_descriptor_is_no_other_field() {
    let room = Room::new();
    let input = room.path("output_00002");
    fs::create_dir(&input).expect("a folder");
    for entry in fs::read_dir(crate::common::output("gas_2ranks")).expect("there").flatten() {
        fs::copy(entry.path(), Path::new(&input).join(entry.file_name())).expect("copied");
    }
    let descriptor = Path::new(&input).join("hydro_file_descriptor.txt");
    let whole = fs::read(&descriptor).expect("reading");
    for length in [0, 33, 120] {
        fs::write(&descriptor, &whole[..length]).expect("writing");
        let parts = ["hydro_file_descriptor.txt: line ", "expected 5 columns, the nvar of"];
        room.refuses(&phew_args(&input, &room.path("c.csv"), "2"), &parts);
    }
    fs::remove_file(&descriptor).expect("removed");
    done(&phew_args(&input, &room.path("c.csv"), "2"));
}

#[test]
fn ramses_text_says_what_ramses_said() {
    let (room, output) = (Room::new(), crate::common::output("dm_1rank"));
    let (folder, input) = (room.path("text"), text(&output));
    for field in ["rho", "cic-ramses"] {
        done(&[
            "phew",
            &input,
            "--ramses-text",
            &folder,
            "--compat",
            "ramses",
            "--field",
            field,
            "--density-threshold",
            "40",
            "--relevance-threshold",
            "3",
            "--saddle-threshold",
            "200",
        ]);
        let sorted = |folder: &Path, kind: &str| {
            let mut rows = rows(folder, kind);
            rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
            rows
        };
        for (kind, n_exact) in [("clump", vec![0, 1, 2, 3, 4]), ("halo", vec![0, 1])] {
            let (ours, theirs) = (sorted(Path::new(&folder), kind), sorted(&output, kind));
            assert_eq!(ours.len(), theirs.len(), "{kind}");
            for (a, b) in ours.iter().zip(&theirs) {
                assert_eq!(a.len(), b.len());
                for i in 0..a.len() {
                    let room = if n_exact.contains(&i) { 0.0 } else { 2e-9 * a[i].abs().max(b[i].abs()) };
                    assert!((a[i] - b[i]).abs() <= room, "{kind}, column {i}: RAMSES {b:?}, here {a:?}");
                }
            }
        }
    }
}

#[test]
fn a_configuration_file_is_as_good_as_flags() {
    let (room, input) = (Room::new(), text(&crate::common::output("dm_1rank")));
    let (by_flags, by_file, file) = (room.path("a.csv"), room.path("b.csv"), room.path("run.toml"));
    done(&phew_args(&input, &by_flags, "40"));
    let text = format!(
        "threads = 1\n[phew]\ninput = {input:?}\noutput = {by_file:?}\ndensity_threshold = 99\n\
         relevance_threshold = 3\nsaddle_threshold = 200\n"
    );
    fs::write(&file, text).expect("written");
    done(&["phew", "--config", &file, "--density-threshold", "40"]);
    let [a, b] = [by_flags, by_file].map(|p| read(Path::new(&p)).expect("a catalogue"));
    crate::common::compare::assert_same(&a, &b, "flags and file");
}

#[test]
fn a_synthetic_field_is_segmented() {
    let room = Room::new();
    let json = done_json(&["synth", "field", "-o", &room.path("s"), "--test-cells", "2e4"]);
    let output = room.path("s/output_00001");
    let run = done_json(&phew_args(&output, &room.path("s.csv"), "80"));
    assert!(run.to_string().contains(&format!(":{}", json["test_cells"])), "{run} {json}");
    room.refuses(&["synth", "field", "-o", &room.path("s"), "--test-cells", "2e4"], &["already exists"]);
}

/// The gas output in one file, with `value` written over one leaf's density.
fn with_density(folder: &Path, value: f64) -> PathBuf {
    let whole = crate::common::Whole::read(&*crate::common::open(&crate::common::output("gas_2ranks")));
    let output = crate::common::resplit(&crate::common::output("gas_2ranks"), folder, 1);
    let deepest = whole.octs.iter().max_by_key(|b| b.level).expect("octs");
    let field = whole.fields.iter().position(|f| f.name == "density").expect("density");
    let at = deepest.split.iter().position(|s| *s == 0).expect("an oct of leaves");
    put(&output.join("hydro_00002.out00001"), deepest.values[field][at][3], value);
    output
}

/// Replaces the first real of that value in a file.
fn put(path: &Path, old: f64, new: f64) {
    let mut bytes = fs::read(path).expect("a file");
    let at = bytes.windows(8).position(|w| w == old.to_le_bytes()).expect("the value");
    bytes[at..at + 8].copy_from_slice(&new.to_le_bytes());
    fs::write(path, bytes).expect("written");
}

#[test]
fn densities_that_are_none_are_refused() {
    for (value, said) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (-3.5, "-3.5")] {
        let (room, input) = (Room::new(), tempfile::tempdir().expect("a folder"));
        let output = text(&with_density(input.path(), value));
        let parts = ["hydro_00002.out00001", "density", &format!("is {said};"), "expected", "of level"];
        let to = room.path("c.csv");
        room.refuses(&[&phew_args(&output, &to, "2")[..], &["--field", "density"]].concat(), &parts);
    }
}

#[test]
fn particles_without_a_mass_are_refused() {
    let (room, input) = (Room::new(), tempfile::tempdir().expect("a folder"));
    let output = crate::common::resplit(&crate::common::output("dm_1rank"), input.path(), 2);
    let mass =
        crate::common::particles(&*crate::common::open(&output)).values().next().expect("a particle").mass;
    put(&output.join("part_00002.out00002"), mass, f64::NAN);
    let output = text(&output);
    let to = room.path("c.csv");
    let args = [&phew_args(&output, &to, "40")[..], &["--field", "cic"]].concat();
    room.refuses(&args, &["part_00002.out00002", "mass NaN", "expected"]);
}

/// A damaged copy of the output over two files.
fn damaged(folder: &Path, damage: impl Fn(&Path)) -> String {
    let output = crate::common::resplit(&crate::common::output("dm_1rank"), folder, 2);
    damage(&output);
    text(&output)
}

#[test]
fn damaged_outputs_are_refused() {
    type Damage = fn(&Path);
    let table: [(Damage, &[&str]); 4] = [
        (
            |o| fs::remove_file(o.join("amr_00002.out00002")).expect("gone"),
            &["amr_00002.out00002", "expected"],
        ),
        (
            |o| fs::remove_file(o.join("grav_00002.out00001")).expect("gone"),
            &["grav_00002.out00001", "expected"],
        ),
        (|o| cut(&o.join("grav_00002.out00002")), &["grav_00002.out00002", "expected"]),
        (|o| cut(&o.join("amr_00002.out00001")), &["amr_00002.out00001", "expected"]),
    ];
    for (damage, parts) in table {
        let (room, input) = (Room::new(), tempfile::tempdir().expect("a folder"));
        let output = damaged(input.path(), damage);
        room.refuses(&phew_args(&output, &room.path("c.csv"), "40"), parts);
    }
}

fn cut(path: &Path) {
    let bytes = fs::read(path).expect("a file");
    fs::write(path, &bytes[..bytes.len() * 2 / 3]).expect("written");
}

#[test]
fn what_the_output_lacks_is_refused() {
    let (room, others) = (Room::new(), tempfile::tempdir().expect("a folder"));
    let mut whole = crate::common::Whole::read(&*crate::common::open(&crate::common::output("gas_2ranks")));
    whole.particles = None;
    let gas = whole.write(others.path(), 2, true, &Dialect::default());
    let (dark, gas, to) = (text(&crate::common::output("dm_1rank")), text(&gas), room.path("c.csv"));
    let with = |input, density, more: &[&'static str]| -> Vec<String> {
        phew_args(input, &to, density).iter().chain(more).map(|s| s.to_string()).collect()
    };
    let refuses = |args: Vec<String>, parts: &[&str]| {
        room.refuses(&args.iter().map(String::as_str).collect::<Vec<_>>(), parts);
    };
    refuses(with(&dark, "40", &["--field", "pressure"]), &[&dark, "`pressure`", "expected one of rho"]);
    refuses(with(&gas, "2", &["--with-particles"]), &[&gas, "no particles", "expected"]);
    refuses(with(&gas, "2", &["--field", "cic"]), &[&gas, "no particles", "expected"]);
    refuses(with(&dark, "40", &["--with-members"]), &["--with-members", "expected --unbind"]);
    refuses(with(&dark, "40", &["--properties", "so"]), &["--properties", "`so`", "expected --unbind"]);
    refuses(with(&dark, "40", &["--properties", "gas"]), &[&dark, "no gas in cells", "(--properties)"]);
    let on_particles = ["--properties", "gas", "--mesh-from-particles"];
    refuses(with(&dark, "40", &on_particles), &["--properties", "`gas`", "expected the gas cells"]);
    refuses(with(&gas, "2", &["--gamma", "1.4"]), &["--gamma", "`1.4`", "--properties gas"]);
    refuses(with(&dark, "40", &["--unbind", "--potential", "ring"]), &["--potential", "`ring`", "tree"]);
    let by_ramses = ["--unbind", "--potential", "ramses"];
    refuses(with(&dark, "40", &by_ramses), &["--potential", "`ramses`", "expected --compat ramses"]);
    let on_particles = [&by_ramses[..], &["--compat", "ramses", "--mesh-from-particles"]].concat();
    refuses(with(&dark, "40", &on_particles), &["--potential", "`ramses`", "expected the cells"]);
    let softened = [&by_ramses[..], &["--compat", "ramses", "--softening", "0.1"]].concat();
    refuses(with(&dark, "40", &softened), &["--softening", "`0.1`", "--potential tree or spherical"]);
    refuses(with(&dark, "40", &["--softening", "0.1"]), &["--softening", "expected --unbind"]);
    let unbind = |more: [&'static str; 2]| with(&dark, "40", &["--unbind", more[0], more[1]]);
    refuses(unbind(["--softening", "moons=1"]), &["--softening", "`moons=1`", "TYPE=LENGTH"]);
    refuses(unbind(["--softening", "stars=-1"]), &["--softening", "`stars=-1`", "0 or more"]);
    refuses(unbind(["--potential-from", "dark"]), &["--potential-from", "`dark`", "gas, dark-matter"]);
    refuses(with(&dark, "-1", &[]), &["--density-threshold", "-1", "expected"]);
    refuses(with(&dark, "NaN", &[]), &["--density-threshold", "NaN", "expected"]);
    refuses(with(&dark, "300", &[]), &["--saddle-threshold", "200", "expected at least"]);
}

#[test]
fn places_that_take_no_results_are_refused() {
    let (room, input) = (Room::new(), text(&crate::common::output("dm_1rank")));
    fs::write(room.path("plain"), "").expect("written");
    let refuses = |to: &str, parts: &[&str]| room.refuses(&phew_args(&input, to, "40"), parts);
    refuses(&room.path("no/c.csv"), &["no/c.csv", "no folder", "expected"]);
    refuses(&room.path("plain/c.csv"), &["plain/c.csv", "expected"]);
    refuses(&room.path("c.doc"), &["c.doc", "expected"]);
    refuses("/dev/full.csv/c.csv", &["/dev/full.csv", "expected"]);
    refuses(&input, &[&input, "both the input", "expected"]);
    let to = room.path("c.csv");
    let table = [
        (room.path("plain"), "is not a folder"),
        (room.path("no/where"), "no folder"),
        (input.clone(), "both the input"),
    ];
    for (folder, said) in &table {
        let args = [&phew_args(&input, &to, "40")[..], &["--ramses-text", folder]].concat();
        room.refuses(&args, &[folder, said, "expected"]);
    }
}

#[test]
fn catalogues_that_cannot_be_cut_are_refused() {
    let (room, input) = (Room::new(), text(&crate::common::output("dm_1rank")));
    let (first, to) = (room.path("a.csv"), room.path("b.csv"));
    done(&phew_args(&input, &first, "40"));
    let refuses = |from: &str, more: &[&str], parts: &[&str]| {
        room.refuses(&[&["recut", from, "-o", &to], more].concat(), parts);
    };
    refuses(&first, &["--saddle-threshold", "30"], &[&first, "density threshold 40", "expected"]);
    refuses(&first, &["--relevance-threshold", "-1"], &["--relevance-threshold", "expected"]);
    room.refuses(&["recut", &first, "-o", &first], &[&first, "both the input", "expected"]);
    refuses(&input, &[], &[&input, "expected"]);
    let mut broken = read(Path::new(&first)).expect("a catalogue");
    broken.tables.retain(|t| t.name != "tree");
    let less = room.path("less.csv");
    inselberg_io::catalogue::write(Path::new(&less), &broken).expect("written");
    refuses(&less, &[], &[&less, "no table `tree`", "expected"]);
}

/// Files may have 16 blocks of 512 bytes only; the catalogue is larger.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing() {
    let (room, input) = (Room::new(), text(&crate::common::output("dm_1rank")));
    for writer in FORMATS {
        let to = room.path(&format!("c.{}", writer.extensions[0]));
        let args = [&phew_args(&input, &to, "40")[..], &["--with-cells"]].concat();
        room.refuses_command(on_full_disk(&args), &["c."]);
    }
    room.refuses_command(on_full_disk(&["synth", "field", "-o", &room.path("s")]), &["output_00001"]);
    for ranks in ["1", "3"] {
        let args = ["synth", "particles", "-o", &room.path("box.npy"), "--ranks", ranks];
        room.refuses_command(on_full_disk(&args), &["box.npy: writing: "]);
    }
}

fn on_full_disk(args: &[&str]) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_inselberg")]);
    shell.args(args).stdin(Stdio::null());
    shell
}

/// How a program ends that is interrupted once `when` holds. If it is done before the interrupt arrives,
/// `undo` removes its results, and it is tried again.
#[cfg(unix)]
fn interrupted(args: &[&str], when: impl Fn() -> bool, undo: impl Fn()) -> Output {
    for _ in 0..50 {
        let start = std::time::Instant::now();
        let mut child = command(args).spawn().expect("starts");
        while !when() && child.try_wait().expect("a state").is_none() {
            assert!(start.elapsed().as_secs() < 100, "waited in vain");
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let kill =
            Command::new("kill").args(["-INT", &child.id().to_string()]).stderr(Stdio::null()).status();
        let out = child.wait_with_output().expect("it ends");
        if kill.expect("kill").success() && !out.status.success() {
            return out;
        }
        assert!(out.status.success(), "{out:?}");
        undo();
    }
    panic!("it is always done before it can be interrupted");
}

#[cfg(unix)]
#[test]
fn an_interrupted_field_leaves_nothing() {
    let room = Room::new();
    for folder in ["new", "old"] {
        let place = room.path(folder);
        let begin = || {
            let _ = fs::remove_dir_all(&place);
            if folder == "old" {
                fs::create_dir(&place).expect("made");
            }
        };
        begin();
        let content = || fs::read_dir(&place).map_or(0, Iterator::count);
        interrupted(&["synth", "field", "-o", &place, "--test-cells", "1e6"], || content() > 0, begin);
        assert_eq!(content(), 0, "something is left in {folder}");
    }
    assert_eq!(room.names(), ["old"]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing() {
    let room = Room::new();
    done(&["synth", "field", "-o", &room.path("s"), "--test-cells", "3e5"]);
    let (input, to) = (room.path("s/output_00001"), room.path("c.csv"));
    let args = [&phew_args(&input, &to, "80")[..], &["--with-cells"]].concat();
    let undo = || {
        for name in room.names().iter().filter(|name| *name != "s") {
            fs::remove_file(room.path(name)).expect("removed");
        }
    };
    interrupted(&args, || room.names().iter().any(|n| n.starts_with(".c.")), undo);
    assert_eq!(room.names(), ["s"]);
}

/// The gas of clumps without unbinding. A new cut drops it, with a note.
#[test]
fn gas_is_measured_as_the_options_say() {
    let (room, input) = (Room::new(), text(&crate::common::output("gas_2ranks")));
    let (to, cut) = (room.path(&format!("a.{}", ending())), room.path(&format!("b.{}", ending())));
    let gas = ["--field", "density", "--properties", "gas", "--gamma", "1.4"];
    done(&[&phew_args(&input, &to, "2")[..], &gas].concat());
    let catalogue = read(Path::new(&to)).expect("a catalogue");
    assert_eq!(catalogue.attribute("gas_adiabatic_index"), Some(&Attribute::Real(1.4)));
    assert!(catalogue.attribute("unbind_potential").is_none());
    let clumps = catalogue.table("clumps").expect("clumps");
    let [mass, gas, virial] =
        ["mass", "gas_mass", "gas_virial_parameter"].map(|name| clumps.reals(name).expect("a column"));
    assert!(mass.iter().zip(gas).all(|(mass, gas)| (gas / mass - 1.0).abs() < 1e-9));
    assert!(!virial.is_empty() && virial.iter().all(|virial| *virial > 0.0));
    let output = command(&["recut", &to, "-o", &cut, "--relevance-threshold", "5"]).output().expect("starts");
    assert!(output.status.success());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        message.contains("columns of clumps, from gas_n_cells to gas_axis_ratio_c_a_inclusive"),
        "{message}"
    );
    let left = read(Path::new(&cut)).expect("a catalogue");
    assert!(left.attributes.iter().all(|(name, _)| !name.starts_with("gas_")));
}

#[test]
fn gas_is_unbound_as_the_options_say() {
    let (room, input) = (Room::new(), text(&crate::common::output("gas_2ranks")));
    let to = room.path(&format!("a.{}", ending()));
    let options =
        ["--unbind", "--with-members", "--potential-from", "gas,stars", "--softening", "stars=0.01"];
    let more = ["--no-thermal-energy", "--duplicate-ids", "allow"];
    done(&[&phew_args(&input, &to, "2")[..], &options, &more].concat());
    let catalogue = read(Path::new(&to)).expect("a catalogue");
    let is =
        |name: &str, expected: Attribute| assert_eq!(catalogue.attribute(name), Some(&expected), "{name}");
    is("unbind_potential_from", Attribute::Text("gas,stars".into()));
    is("unbind_thermal_energy", Attribute::Int(0));
    let softening =
        "gas=side of the cell, dark-matter=side of the leaf, stars=0.01 (given), other=side of the leaf";
    is("unbind_softening", Attribute::Text(softening.into()));
}
