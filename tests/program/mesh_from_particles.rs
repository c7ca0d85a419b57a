//! PHEW on a mesh made from particles, by the command line: snapshots of SWIFT and RAMSES, arrays, and what
//! is refused.

use crate::common::compare::{assert_same, assert_same_table, real};
use crate::common::room::{Room, done, done_json};
use inselberg_io::catalogue::{Attribute, Catalogue, Values, read};
use inselberg_io::particles::{Columns, ParticleInput, Positions, open_particles};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn swift() -> String {
    crate::common::swift_fixture().join("snap_0000.hdf5").to_string_lossy().into_owned()
}

const FLAG: &str = "--mesh-from-particles";

/// SWIFT's snapshot over a mesh by the command line, with what can be listed.
#[cfg(feature = "hdf5")]
fn of_swift(room: &Room, name: &str, more: &[&str]) -> Catalogue {
    let (input, to) = (swift(), room.path(name));
    let args = ["phew", &input, FLAG, "-o", &to, "--density-threshold", "40", "--saddle-threshold", "200"];
    done(&[&args[..], &["--with-particles", "--with-cells", "--m-refine", "4"], more].concat());
    read(Path::new(&to)).expect("a catalogue")
}

#[cfg(feature = "hdf5")]
/// The dark matter of SWIFT's snapshot.
#[cfg(feature = "hdf5")]
fn dark_matter(input: &dyn ParticleInput) -> Columns {
    let mut columns = Columns {
        position: Positions::with_capacity(true, 0),
        mass: Some(Vec::new()),
        id: Some(Vec::new()),
        kind: None,
        velocity: None,
        density: None,
    };
    let of_dark = input.about().species.iter().enumerate().find(|(_, s)| s.kind == Some(1));
    let (s, species) = of_dark.expect("dark");
    input.read(s, 0..species.n, &mut columns).expect("read");
    columns
}

/// Without a cosmology thresholds are in means of the dark matter on the mesh, everything else in the units
/// of the snapshot.
#[test]
#[cfg(feature = "hdf5")]
fn swift_s_snapshot_in_its_units() {
    let room = Room::new();
    let one = of_swift(&room, "one.hdf5", &[]);
    assert_same(&one, &of_swift(&room, "three.hdf5", &["--ranks", "3"]), "3 ranks");
    let input = open_particles(&[PathBuf::from(swift())]).expect("particles");
    let units = input.about().units.expect("units");
    let mass = dark_matter(input.as_ref()).mass.expect("masses");
    let real = |name: &str| real(&one, name);
    let mean = mass.iter().sum::<f64>() / real("boxlen").powi(3);
    assert!((real("mean_density") / mean - 1.0).abs() < 1e-12);
    let unit = Attribute::Text("mean density of the particles".into());
    assert_eq!(one.attribute("threshold_unit"), Some(&unit));
    assert_eq!(real("density_threshold"), 40.0 * real("mean_density"));
    assert_eq!(real("saddle_threshold"), 200.0 * real("mean_density"));
    assert_eq!((real("unit_length"), real("unit_density")), (units.length, units.density));
    let clumps = one.table("clumps").expect("clumps");
    let peak = clumps.reals("density_peak").expect("densities");
    assert!(peak.iter().all(|rho| *rho > 40.0 * mean), "{peak:?}");
    let heaviest = clumps.reals("mass").expect("masses").iter().copied().fold(0.0, f64::max);
    assert!(heaviest > 5.0 * mass[0] && heaviest < mass.iter().sum(), "{heaviest}");
}

#[test]
#[cfg(feature = "hdf5")]
fn swift_s_snapshot_cut_again() {
    let (room, input) = (Room::new(), swift());
    of_swift(&room, "three.hdf5", &["--ranks", "3"]);
    let [wide, to, fresh] = ["three.hdf5", "again.hdf5", "fresh.hdf5"].map(|name| room.path(name));
    done(&["recut", &wide, "-o", &to, "--saddle-threshold", "300", "--relevance-threshold", "2", "--quiet"]);
    let args = ["--density-threshold", "40", "--saddle-threshold", "300", "--relevance-threshold", "2"];
    done(&[&["phew", &input, FLAG, "-o", &fresh, "--m-refine", "4"], &args[..]].concat());
    let [again, fresh] = [&to, &fresh].map(|path| read(Path::new(path)).expect("a catalogue"));
    assert_same(&again, &fresh, "cut again");
    let low = ["recut", &wide, "-o", &to, "--saddle-threshold", "39"];
    let refused = crate::common::room::command(&low).output().expect("the program starts");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("saddle threshold 39"), "{refused:?}");
}

/// Every particle has the clump of the leaf that it lies in.
#[test]
#[cfg(feature = "hdf5")]
fn swift_s_particles_have_the_clumps_of_their_cells() {
    let one = of_swift(&Room::new(), "one.hdf5", &[]);
    let cells = one.table("cells").expect("cells");
    let (level, clump) = (cells.column("level"), cells.counts("clump").expect("clumps"));
    let (Some(Values::U8(level)), Some(Values::U32x3(ijk))) =
        (level.map(|c| &c.values), cells.column("ijk").map(|c| &c.values))
    else {
        panic!("cells")
    };
    let at: BTreeMap<(u8, [u32; 3]), u64> =
        level.iter().zip(ijk).zip(clump).map(|((level, ijk), clump)| ((*level, *ijk), *clump)).collect();
    let table = one.table("particles").expect("particles");
    let Some(Values::U64(id)) = table.column("id").map(|c| &c.values) else { panic!("IDs") };
    let of: BTreeMap<u64, u64> =
        id.iter().copied().zip(table.counts("clump").expect("clumps").to_vec()).collect();
    let dark = dark_matter(open_particles(&[PathBuf::from(swift())]).expect("particles").as_ref());
    let ids = dark.id.expect("IDs");
    assert_eq!(of.len(), ids.len());
    let mut n_in = 0;
    for (i, id) in ids.iter().enumerate() {
        let x = dark.position.get(i).map(|x| x / real(&one, "boxlen"));
        let cell = |l: u8| (l, x.map(|x| (x * f64::from(1u32 << l)) as u32));
        let expected = (0..=20).find_map(|l| at.get(&cell(l))).copied().unwrap_or(0);
        assert_eq!(of[id], expected, "particle {id}");
        n_in += usize::from(expected > 0);
    }
    assert!(n_in > 50 && n_in < ids.len(), "{n_in}");
}

#[test]
fn arrays_and_ramses_outputs_by_the_command_line() {
    let (room, ramses) = (Room::new(), crate::common::output("dm_1rank").to_string_lossy().into_owned());
    let npy = room.path("box.npy");
    done(&["synth", "particles", "-o", &npy, "--number", "20000"]);
    let side = (20_000f64).cbrt().next_up().to_string();
    let mut found = Vec::new();
    for ranks in ["1", "4"] {
        let to = room.path(&format!("{ranks}.csv"));
        let args =
            ["phew", &npy, FLAG, "--box", &side, "-o", &to, "--density-threshold", "80", "--ranks", ranks];
        let summary = done_json(&args);
        assert!(summary["peak_memory_bytes"] != 0, "{summary}");
        found.push(std::fs::read_to_string(&to).expect("clumps"));
    }
    let rows =
        |text: &str| text.lines().filter(|l| !l.starts_with('#')).map(str::to_string).collect::<Vec<_>>();
    assert!(rows(&found[0]).len() > 20 && rows(&found[0]) == rows(&found[1]));
    assert!(!found[0].contains("unit_length"), "an array says nothing of its units");
    let to = room.path("ramses.csv");
    done(&["phew", &ramses, FLAG, "-o", &to, "--density-threshold", "40", "--with-particles"]);
    assert!(std::fs::read_to_string(&to).expect("clumps").contains("mean_density"));
}

#[test]
fn what_does_not_suit_is_refused_in_one_line() {
    let room = Room::new();
    let npy = room.path("box.npy");
    done(&["synth", "particles", "-o", &npy, "--number", "5000"]);
    let to = room.path("c.csv");
    let base = ["phew", &npy, "-o", &to, "--density-threshold", "80"];
    let refuses = |more: &[&str], parts: &[&str]| room.refuses(&[&base[..], more].concat(), parts);
    refuses(&[FLAG], &["box.npy", "(--box)"]);
    refuses(&[FLAG, "--box", "0"], &["--box", "above 0"]);
    refuses(&[FLAG, "--box", "18", "--unbind"], &["box.npy", "no velocities", "expected"]);
    refuses(&[FLAG, "--box", "3"], &["box.npy", "row", "far outside the box"]);
    refuses(&[FLAG, "--box", "18", "--m-refine", "0"], &["--m-refine", "1 or more"]);
    refuses(&[FLAG, "--box", "18", "--level-min", "1"], &["--level-min", "2 to 12"]);
    refuses(&[FLAG, "--box", "18", "--level-max", "21"], &["--level-max", "2 to 20"]);
    refuses(&[FLAG, "--box", "18", "--level-min", "9", "--level-max", "8"], &["--level-min", "at most"]);
    refuses(&[FLAG, "--box", "18", "--field", "rho"], &["--field", "auto or cic"]);
    refuses(
        &[FLAG, "--box", "18", "--particle-types", "1,0,0,0,0,0,0"],
        &["5000 particles", "--particle-types"],
    );
    refuses(&[FLAG, "--box", "18", "--particle-types", "0,0,0,0,0,0,0"], &["at least one kind"]);
    refuses(&[], &["box.npy", "(--box)"]);
    refuses(&["--box", "18", "--field", "rho"], &["box.npy", "--field rho", "particles without cells"]);
    refuses(&["--box", "18", "--spacing", "2"], &["box.npy", "--spacing 2", "particles without cells"]);
    let cells = crate::common::output("dm_1rank").to_string_lossy().into_owned();
    let refine = ["phew", &cells, "-o", &to, "--m-refine", "4"];
    room.refuses(&refine, &["output_00002", "--m-refine 4 for cells", "--mesh-from-particles"]);
    #[cfg(feature = "hdf5")]
    {
        let junk = room.path("junk.hdf5");
        std::fs::write(&junk, "no such file").expect("written");
        room.refuses(
            &["phew", &junk, "-o", &to, "--density-threshold", "80"],
            &["junk.hdf5", "complete HDF5"],
        );
    }
    let torn = room.path("torn.npy");
    let bytes = std::fs::read(&npy).expect("an array");
    std::fs::write(&torn, &bytes[..bytes.len() - 7]).expect("written");
    room.refuses(
        &["phew", &torn, FLAG, "--box", "18", "-o", &to, "--density-threshold", "80"],
        &["torn.npy"],
    );
    let empty = room.path("empty.npy");
    let header = String::from_utf8_lossy(&bytes[..128]).replace("(5000, 3)", "(0, 3)   ");
    std::fs::write(&empty, [&bytes[..10], &header.as_bytes()[header.len() - 118..]].concat())
        .expect("written");
    room.refuses(
        &["phew", &empty, FLAG, "--box", "18", "-o", &to, "--density-threshold", "80"],
        &["empty.npy"],
    );
    let nothing = room.path("nothing.txt");
    std::fs::write(&nothing, "nothing").expect("written");
    room.refuses(
        &["phew", &nothing, FLAG, "-o", &to, "--density-threshold", "80"],
        &["nothing.txt", "expected"],
    );
}

/// A halo with fewer particles in its patches, by the table of particles, is not listed.
#[test]
#[cfg(feature = "hdf5")]
fn haloes_of_few_particles_are_left_out() {
    let room = Room::new();
    let all = of_swift(&room, "all.hdf5", &["--relevance-threshold", "1.5"]);
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    let of_particles = all.table("particles").expect("particles").counts("halo").expect("haloes");
    of_particles.iter().for_each(|halo| *sizes.entry(*halo).or_default() += 1);
    let listed = |of: &Catalogue, table: &str| -> Vec<u64> {
        of.table(table).expect(table).counts("halo").expect("haloes").to_vec()
    };
    let mut of_haloes: Vec<u64> = listed(&all, "haloes").iter().map(|halo| sizes[halo]).collect();
    of_haloes.sort_unstable();
    let least = of_haloes[of_haloes.len() / 2];
    assert!(of_haloes[0] < least && of_haloes.len() > 4, "{of_haloes:?}");
    let more =
        |ranks: &'static str| vec!["--relevance-threshold", "1.5", "--ranks", ranks, "--min-particles"];
    let number = least.to_string();
    let one = of_swift(&room, "one.hdf5", &[&more("1")[..], &[&number]].concat());
    for table in ["clumps", "haloes"] {
        let large = listed(&all, table).into_iter().filter(|halo| sizes[halo] >= least);
        assert_eq!(listed(&one, table), large.collect::<Vec<_>>(), "{table}");
    }
    assert_eq!(one.attribute("min_particles"), Some(&Attribute::Int(least.cast_signed())));
    for table in ["tree", "particles", "cells"] {
        assert_same_table(one.table(table).expect(table), all.table(table).expect(table), table);
    }
    assert_same(&one, &of_swift(&room, "five.hdf5", &[&more("5")[..], &[&number]].concat()), "5 ranks");
}
