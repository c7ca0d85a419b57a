//! Outputs of codes that are not read are named, by `info` as by the commands.

use crate::common::room::{Room, command};
use std::fs;

/// The line with which a command refuses an input, without the name of the file.
fn refusal(room: &Room, args: &[&str]) -> String {
    let out = command(&[args, &["-o", &room.path("o.csv")]].concat()[..]).output().expect("the program");
    let line = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!((out.status.code(), line.lines().count()), (Some(2), 1), "{args:?}: {line}");
    line
}

/// `info`, `phew` and `fof` refuse an input in the same words, with these parts.
fn check(room: &Room, path: &str, parts: &[&str]) {
    let out = command(&["info", path]).output().expect("the program");
    let line = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(
        out.status.code() == Some(2) && parts.iter().all(|part| line.contains(part)),
        "{parts:?}: {line}"
    );
    assert_eq!(refusal(room, &["phew", path, "--density-threshold", "3"]), line);
    assert_eq!(refusal(room, &["fof", path]), line);
}

#[test]
fn files_of_other_codes_are_named() {
    let room = Room::new();
    let beginnings = [
        ("Athena binary output version=1.1\n  size of preheader=5\n", ["AthenaK", "bin_convert.py"]),
        ("# vtk DataFile Version 2.0\nAthena++ data\n", ["legacy VTK", ".npy"]),
        ("<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\">", ["a VTK file", ".npy"]),
        ("InitialCycleNumber  = 12\nInitialTime  = 3.0\n", ["Enzo", "one grid"]),
        ("HACC01L\0\0\0\0", ["GenericIO", "positions"]),
    ];
    for (i, (text, parts)) in beginnings.iter().enumerate() {
        let path = room.path(&format!("output.{i}.bin"));
        fs::write(&path, text).expect("writing");
        check(&room, &path, parts);
    }
    let casa = room.path("cube.image");
    fs::create_dir(&casa).expect("a folder");
    fs::write(format!("{casa}/table.dat"), "x").expect("writing");
    fs::write(format!("{casa}/table.info"), "Type = Image\nSubType = \n").expect("writing");
    check(&room, &casa, &["casacore", "exportfits"]);
}

#[cfg(feature = "hdf5")]
#[test]
fn hdf5_files_of_other_codes_are_named() {
    use crate::common::mesh_blocks::{numbers, patiently};
    let room = Room::new();
    let made: [(&str, &[&str]); 4] = [
        ("FLASH", &["bounding box", "node type", "refine level"]),
        ("Chombo", &["Chombo_global", "level_0"]),
        ("GAMER", &["Info/KeyInfo", "Tree/LBIdx"]),
        ("Enzo", &["Metadata.MetadataString", "Grid00000001"]),
    ];
    for (name, places) in made {
        let path = room.path(&format!("{name}.h5"));
        let file = patiently(|| hdf5::File::create(&path));
        for place in places {
            if let Some((group, _)) = place.split_once('/') {
                file.create_group(group).expect("a group");
            }
            file.new_dataset_builder().with_data(&[1.0]).create(*place).expect("done");
        }
        drop(file);
        check(&room, &path, &[name, "not read"]);
    }
    let path = room.path("open.h5");
    let file = patiently(|| hdf5::File::create(&path));
    numbers(&file, "openPMD", &[1]);
    drop(file);
    check(&room, &path, &["openPMD"]);
    // A file that ends early is said to.
    let bytes = fs::read(&path).expect("a file");
    fs::write(&path, &bytes[..bytes.len() - 9]).expect("writing");
    room.refuses(&["info", &path], &["truncated file"]);
}
