//! Boxes that cut octs at any cell, in every format of leaf blocks: masses are sums over cells, the same on
//! any ranks.

#[cfg(feature = "hdf5")]
use crate::common::mesh_blocks::BlockMesh;
use crate::common::plotfile::Plotfile;
use crate::common::room::{Room, command};
use crate::cuts::random_cuts;
use crate::random::Random;
use inselberg_io::catalogue::{Catalogue, Table, Values, read};
use std::path::Path;

/// What `phew` finds in noise below 0, with every leaf.
fn found(room: &Room, input: &str, field: &str, ranks: usize) -> Catalogue {
    let to = room.path("found.hdf5.csv");
    let search = ["phew", input, "-o", &to, "--field", field, "--density-threshold", "-19.5", "--with-cells"];
    let more = ["--relevance-difference", "0.4", "--ranks", &ranks.to_string()];
    let out = command(&[&search[..], &more].concat()).output().expect("the program");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    read(Path::new(&to)).expect("a catalogue")
}

fn counts<'a>(table: &'a Table, name: &str) -> &'a [u64] {
    table.counts(name).expect("a column of counts")
}

/// Holds the mass of each clump against the cells of the table of cells.
fn check_masses(found: &Catalogue, side: f64) {
    let [clumps, cells] = ["clumps", "cells"].map(|name| found.table(name).expect("a table"));
    let Values::U8(levels) = &cells.column("level").expect("levels").values else { panic!("levels") };
    let owners = counts(cells, "clump");
    let densities = cells.reals("density").expect("densities");
    assert!(clumps.n_rows() > 2, "{} clumps", clumps.n_rows());
    for (id, mass) in counts(clumps, "id").iter().zip(clumps.reals("mass").expect("masses")) {
        let own = (0..owners.len()).filter(|i| owners[*i] == *id);
        let sum: f64 = own.map(|i| densities[i] * (side / f64::from(1 << levels[i])).powi(3)).sum();
        assert!((mass / sum - 1.0).abs() < 1e-11, "clump {id}: {mass}, cells {sum}");
    }
}

/// Checks masses on one rank, and everything over ranks.
fn check(room: &Room, input: &str, field: &str, side: f64) -> String {
    let alone = found(room, input, field, 1);
    check_masses(&alone, side);
    let first = format!("{:?}", alone.tables);
    for ranks in [2, 3] {
        assert!(format!("{:?}", found(room, input, field, ranks).tables) == first, "{input}: {ranks} ranks");
    }
    first
}

#[test]
fn plotfiles_cut_anywhere_have_the_masses_of_their_cells() {
    for seed in 0..3 {
        let (room, mut random) = (Room::new(), Random(seed));
        let whole = Plotfile {
            root: [10, 14, 12],
            ratios: vec![2],
            boxes: vec![vec![([0; 3], [10, 14, 12])], vec![([2, 6, 4], [8, 10, 6])]],
            ..Plotfile::sample()
        };
        let mut pieces = whole.clone();
        pieces.boxes[0].clear();
        random_cuts([0; 3], whole.root, 0.2, &mut random, &mut pieces.boxes[0]);
        random.shuffle(&mut pieces.boxes[0]);
        let [path, other] = ["plt00001", "plt00002"].map(|name| room.path(name));
        whole.write(Path::new(&other));
        pieces.write(Path::new(&path));
        let name = "odd name (x/y)";
        assert!(check(&room, &path, name, 1.0) == check(&room, &other, name, 1.0), "seed {seed}");
    }
}

/// Blocks of an odd number of cells along one axis or several, in any order.
#[cfg(feature = "hdf5")]
#[test]
fn blocks_of_odd_sizes_have_the_masses_of_their_cells() {
    for (seed, block) in [[3, 5, 4], [5, 2, 7], [3, 3, 3]].into_iter().enumerate() {
        let (room, n) = (Room::new(), [4, 3, 2]);
        let root = [0, 1, 2].map(|a| block[a] * n[a]);
        let mut leaves: Vec<_> = (0..24).map(|i| (0, [i % 4, i / 4 % 3, i / 12])).collect();
        Random(seed as u64).shuffle(&mut leaves);
        let mesh = BlockMesh { root, block, leaves };
        let [athena, parthenon] = ["a.athdf", "p.phdf"].map(|name| room.path(name));
        mesh.write_athdf(&athena, |x| x);
        mesh.write_phdf(&parthenon, 4, 1);
        let side = 0.5 * f64::from(1_u32 << root.map(usize::trailing_zeros).into_iter().min().expect("axes"));
        check(&room, &athena, "Bcc1", side);
        check(&room, &parthenon, "mom_2", side);
    }
}
