//! Catalogues of other finders and outputs of other codes are named, as their writers make them.

use crate::common::room::{Room, done};
use std::fs;

/// Those that are inputs of some commands, though not of searches.
const READ: [&str; 1] = ["a halo catalogue of Rockstar"];

/// What a file is, its name, and its first bytes.
fn plain_files() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let rockstar = [&0xfade_dace_c0c0_d0d0_u64.to_le_bytes()[..], &[0; 248]].concat();
    let ascii = "#id num_p mvir mbound_vir rvir vmax rvmax vrms x y z vx vy vz\n#a = 1.000000\n0 100 1e12 1e12 200 150 40 90 1 2 3 4 5 6\n";
    let list = "#ID DescID Mvir Vmax Vrms Rvir Rs Np X Y Z VX VY VZ\n#a = 1.000000\n0 -1 1e12 150 90 200 20 100 1 2 3 4 5 6\n";
    let trees = "#scale(0) id(1) desc_scale(2) desc_id(3) num_prog(4)\n#Omega_M = 0.3\n";
    let ahf = "#ID(1)\thostHalo(2)\tnumSubStruct(3)\tMhalo(4)\tnpart(5)\n1\t0\t0\t1e12\t100\n";
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        ("a binary halo catalogue of Rockstar", "halos_0.0.bin", rockstar),
        ("a halo catalogue of Rockstar", "halos_0.0.ascii", text(ascii)),
        ("a halo catalogue of Rockstar", "out_0.list", text(list)),
        ("merger trees of consistent-trees", "tree_0_0_0.dat", text(trees)),
        ("a halo catalogue of AHF", "snap.z0.000.AHF_halos", text(ahf)),
        ("the parameters of an output of Enzo", "DD0001", text("InitialCycleNumber  = 12\n")),
        ("a binary output of AthenaK", "cloud.00000.bin", text("Athena binary output version=1.1\n")),
        ("a file of HACC's GenericIO", "m000.full", [&b"HACC01L\0"[..], &[0; 64]].concat()),
        ("a legacy file of VTK", "a.vtk", text("# vtk DataFile Version 2.0\n")),
        ("a file of VTK", "a.vtu", text("<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\">\n")),
    ]
}

/// `info` says what the file is, and the commands refuse it with that.
fn is_named(room: &Room, path: &str, name: &str, instead: &str) {
    let it = format!("it is {name}; expected {instead}");
    if READ.contains(&name) {
        assert!(done(&["info", path]).contains("\nclumps: "), "{path}");
    } else {
        assert_eq!(done(&["info", path]), format!("file        {path}: {name}, which no command reads\n"));
    }
    room.refuses(&["fof", path, "-o", &room.path("f.csv"), "--linking-length", "1"], &[&it]);
    room.refuses(&["phew", path, "-o", &room.path("p.csv"), "--density-threshold", "1"], &[&it]);
}

#[test]
fn plain_files_of_other_codes_are_named() {
    for (name, file, bytes) in plain_files() {
        let room = Room::new();
        fs::write(room.path(file), bytes).expect("written");
        is_named(&room, &room.path(file), name, "");
    }
}

#[test]
fn what_can_be_given_in_place_of_an_output_is_said() {
    let room = Room::new();
    let (athenak, enzo) = (room.path("cloud.00000.bin"), room.path("DD0001"));
    fs::write(&athenak, "Athena binary output version=1.1\n").expect("written");
    fs::write(&enzo, "InitialCycleNumber  = 12\n").expect("written");
    let casa = room.path("cube.image");
    fs::create_dir(&casa).expect("a folder");
    fs::write(format!("{casa}/table.dat"), "x").expect("written");
    fs::write(format!("{casa}/table.info"), "Type = Image\nSubType = \n").expect("written");
    is_named(&room, &athenak, "a binary output of AthenaK", "an .athdf file");
    is_named(&room, &enzo, "the parameters of an output of Enzo", "cells on one grid");
    is_named(&room, &casa, "an image of CASA", "a FITS file");
}

#[cfg(feature = "hdf5")]
#[test]
fn a_file_that_ends_early_is_said_to() {
    let room = Room::new();
    let path = room.path("diag.h5");
    hdf5::File::create(&path).expect("a file").close().expect("closed");
    let bytes = fs::read(&path).expect("a file");
    fs::write(&path, &bytes[..bytes.len() - 9]).expect("written");
    room.refuses(&["info", &path], &["truncated file"]);
}

#[cfg(feature = "hdf5")]
#[test]
fn hdf5_files_of_other_codes_are_named() {
    use crate::common::gadget::put;
    use hdf5::File;
    use hdf5::types::VarLenAscii;
    type Write = fn(&File) -> hdf5::Result<()>;
    fn output_type(file: &File, text: &str) -> hdf5::Result<()> {
        let text = VarLenAscii::from_ascii(text).map_err(|error| hdf5::Error::Internal(error.to_string()))?;
        let header = file.create_group("Header")?;
        put(&header, "NumPart_ThisFile", &[0u32; 7])?;
        header.new_attr::<VarLenAscii>().create("OutputType")?.write_scalar(&text)
    }
    let files: [(&str, &str, Write); 11] = [
        ("a group catalogue of SWIFT", "fof_output_0000.hdf5", |file| output_type(file, "FOF")),
        ("a halo catalogue of SOAP", "halo_properties_0077.hdf5", |file| output_type(file, "SOAP")),
        ("a catalogue of groups and subhaloes of Gadget-4 or AREPO", "fof_subhalo_tab_099.0.hdf5", |file| {
            put(&*file.create_group("Header")?, "Ngroups_Total", &[3u64])?;
            file.create_group("Group").and(file.create_group("Subhalo")).map(drop)
        }),
        (
            "a catalogue of groups and subhaloes of Gadget-3 or EAGLE",
            "eagle_subfind_tab_028.0.hdf5",
            |file| put(&*file.create_group("Header")?, "TotNgroups", &[3i32]),
        ),
        ("a catalogue of VELOCIraptor", "stf.properties.0", |file| {
            let names = ["File_id", "Num_of_files", "Num_of_groups", "Total_num_of_groups"];
            names.iter().try_for_each(|name| file.new_dataset::<u64>().shape([1]).create(*name).map(drop))
        }),
        ("a subhalo catalogue of HBT+", "SubSnap_099.0.hdf5", |file| {
            let names = ["SnapshotId", "NumberOfFiles", "NumberOfSubhalosInAllFiles", "Subhalos"];
            names.iter().try_for_each(|name| file.new_dataset::<i32>().shape([1]).create(*name).map(drop))
        }),
        ("an output of FLASH", "sedov_hdf5_plt_cnt_0000", |file| {
            let names = ["refine level", "unknown names", "coordinates", "node type"];
            names.iter().try_for_each(|name| file.new_dataset::<i32>().shape([1]).create(*name).map(drop))
        }),
        ("an output of Enzo", "DD0001.cpu0000", |file| file.create_group("Grid00000001").map(drop)),
        ("an output of Chombo", "plt.0010.hdf5", |file| {
            file.create_group("Chombo_global").and(file.create_group("level_0")).map(drop)
        }),
        ("an output of GAMER", "Data_000010", |file| {
            file.create_group("Info")?.new_dataset::<i64>().shape([1]).create("KeyInfo")?;
            file.create_group("Tree")?.new_dataset::<i64>().shape([1]).create("LBIdx").map(drop)
        }),
        ("a file of openPMD", "diag.h5", |file| put(file, "openPMD", &[1u32])),
    ];
    for (name, file, write) in files {
        let room = Room::new();
        let made = File::create(room.path(file)).expect("a file");
        write(&made).expect("written");
        made.close().expect("closed");
        is_named(&room, &room.path(file), name, "");
    }
}
