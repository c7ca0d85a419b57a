//! A merger tree by hand, with a case of each kind.

use inselberg_io::catalogue::{Attribute, Catalogue, Dimension, Table, TableColumn, Values};

/// A node, as its snapshot, track, descendant, kind, fate, mass and host.
pub type HandNode = (u64, u64, i64, u8, u8, f64, i64);

/// Of the progenitors of node 7 the main one is lighter. Node 2 is not seen in the
/// next output. Nodes 10 and 12 are orphans. Node 6 is lost and node 9 disrupted.
pub const NODES: [HandNode; 13] = [
    (0, 1, 3, 0, 0, 10.0, -1),
    (0, 2, 4, 0, 0, 5.0, -1),
    (0, 3, 8, 0, 0, 3.0, -1),
    (1, 1, 7, 0, 0, 12.0, -1),
    (1, 2, 7, 0, 1, 14.0, -1),
    (1, 4, 10, 0, 0, 2.0, 3),
    (1, 5, -1, 0, 4, 1.0, -1),
    (2, 1, 11, 0, 0, 9.0, -1),
    (2, 3, 12, 0, 0, 3.5, 7),
    (2, 6, 11, 0, 2, 2.0, 7),
    (2, 4, 11, 1, 1, 0.25, 7),
    (3, 1, -1, 0, 3, 30.0, -1),
    (3, 3, -1, 1, 3, 0.25, 11),
];
/// Main and next progenitors.
const MAIN: [i64; 13] = [-1, -1, -1, 0, 1, -1, -1, 3, 2, -1, 5, 7, 8];
const NEXT: [i64; 13] = [-1, -1, -1, 4, -1, -1, -1, 9, -1, 10, -1, -1, -1];
const LAST: [i64; 13] = [11, 11, 12, 11, 11, 11, 6, 11, 12, 11, 11, 11, 12];
/// Numbers and expansion factors of the outputs.
pub const OUTPUTS: [(i64, f64); 4] = [(1, 0.25), (2, 0.5), (4, 0.8), (7, 1.0)];
/// A megaparsec, 1e10 solar masses and a second: a comoving box of 2 Mpc.
const UNITS: [f64; 3] = [3.085_677_581e24, 1.988_41e43, 1e17];

pub fn by_hand() -> Catalogue {
    let none = Dimension::NONE;
    let column = |name: &str, dimension, values| TableColumn {
        name: name.into(),
        dimension,
        description: name.into(),
        values,
    };
    let outputs = |of: fn(f64) -> f64| Values::F64(OUTPUTS.iter().map(|(_, a)| of(*a)).collect());
    let first = |i: u64| NODES.iter().position(|node| node.0 == i).expect("nodes") as u64;
    let firsts: Vec<u64> = (0..4).map(first).collect();
    let objects =
        (0..4).map(|i| NODES.iter().filter(|node| node.0 == i && node.3 == 0).count() as u64).collect();
    let snapshots = vec![
        column("number", none, Values::I64(OUTPUTS.iter().map(|(number, _)| *number).collect())),
        column("time", Dimension::new(0, 0, 1), outputs(|a| a)),
        column("aexp", none, outputs(|a| a)),
        column("redshift", none, outputs(|a| 1.0 / a - 1.0)),
        column("n_objects", none, Values::U64(objects)),
        column("first_node", none, Values::U64(firsts.clone())),
        column("unit_length", none, outputs(|a| a * UNITS[0])),
        column("unit_mass", none, outputs(|_| UNITS[1])),
        column("unit_time", none, outputs(|a| a * a * UNITS[2])),
    ];
    let n = NODES.len();
    let object = |(row, node): (usize, &HandNode)| {
        if node.3 == 1 { 0 } else { row as u64 - firsts[node.0 as usize] + 1 }
    };
    let masses = || NODES.iter().map(|node| node.5);
    let nodes = vec![
        column("node", none, Values::I64((0..n as i64).collect())),
        column("snapshot", none, Values::U64(NODES.iter().map(|node| node.0).collect())),
        column("object", none, Values::U64(NODES.iter().enumerate().map(object).collect())),
        column("descendant", none, Values::I64(NODES.iter().map(|node| node.2).collect())),
        column("main_progenitor", none, Values::I64(MAIN.to_vec())),
        column("next_progenitor", none, Values::I64(NEXT.to_vec())),
        column("last_descendant", none, Values::I64(LAST.to_vec())),
        column("track", none, Values::U64(NODES.iter().map(|node| node.1).collect())),
        column("kind", none, Values::U8(NODES.iter().map(|node| node.3).collect())),
        column("fate", none, Values::U8(NODES.iter().map(|node| node.4).collect())),
        column("host", none, Values::I64(NODES.iter().map(|node| node.6).collect())),
        column("n_members", none, Values::U64(masses().map(|mass| (mass * 100.0) as u64).collect())),
        column("mass", Dimension::MASS, Values::F64(masses().collect())),
        column(
            "position",
            Dimension::LENGTH,
            Values::F64x3((0..n).map(|i| [0.1 * i as f64, 0.5, 1.0]).collect()),
        ),
        column(
            "velocity",
            Dimension::VELOCITY,
            Values::F64x3((0..n).map(|i| [i as f64, 0.0, -1.0]).collect()),
        ),
        column("max_circular_velocity", Dimension::VELOCITY, Values::F64(masses().map(f64::cbrt).collect())),
        column("max_circular_radius", Dimension::LENGTH, Values::F64(vec![0.01; n])),
        column("radius", Dimension::LENGTH, Values::F64(vec![0.02; n])),
        // Above 2^53, where doubles leave numbers out.
        column("tracer", none, Values::U64((0..n as u64).map(|i| (1 << 60) + i).collect())),
    ];
    let reals = [
        ("time", 1.0),
        ("boxlen", 2.0),
        ("unit_length", UNITS[0]),
        ("unit_density", UNITS[1] / UNITS[0].powi(3)),
        ("unit_time", UNITS[2]),
        ("aexp", 1.0),
        ("h0", 70.0),
        ("omega_m", 0.3),
        ("omega_l", 0.7),
        ("omega_k", 0.0),
    ];
    let mut attributes: Vec<_> =
        reals.into_iter().map(|(name, value)| (name.to_string(), Attribute::Real(value))).collect();
    attributes.push(("coarse_cells".into(), Attribute::Reals(vec![1.0; 3])));
    attributes.push(("periodic".into(), Attribute::Reals(vec![1.0; 3])));
    attributes.push(("kind".into(), Attribute::Text("tree".into())));
    let table = |name: &str, columns| Table { name: name.into(), columns };
    Catalogue { attributes, tables: vec![table("snapshots", snapshots), table("nodes", nodes)] }
}
