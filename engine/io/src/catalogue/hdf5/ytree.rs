//! A merger tree in ytree's own layout: `tree.h5` with the roots, and `tree_0000.h5`, ... with whole trees.
//!
//! A tree has its nodes depth first, each after its descendant; the first progenitor is the main one. Values
//! are proper, in Mpc, Msun and km/s. ytree follows the progenitor with the largest value of a field.
//! `main_line` is 1 for main progenitors and else 0.

use super::make_file;
use super::swift::{SwiftAttributes, group};
use super::write::scalar;
use super::yt::{field, text};
use crate::catalogue::merger_tree::MergerTreeTables;
use crate::catalogue::units::{KILOMETRE, MEGAPARSEC, SOLAR_MASS};
use crate::catalogue::{Catalogue, Values, WriteError, WriteResult, check_shape};
use crate::staging::{Staged, hidden, stage_path};
use ::hdf5::{File, Group, Result};
use serde_json::json;
use std::ops::Range;
use std::path::Path;

/// The name of the files, without numbers and ending.
const BASE: &str = "tree";
/// Most nodes of a file, as ytree writes it; one tree alone may have more.
const MOST_NODES: usize = 524_288;

/// Stages the files of a merger tree in `folder`, which is created if absent. Memory: 16 bytes per node, and
/// a column of a file.
///
/// # Errors
/// The catalogue has no merger tree, no nodes or no units, or the folder cannot be written.
pub fn stage_ytree(folder: &Path, catalogue: &Catalogue) -> WriteResult<Staged> {
    stage_in_files(folder, catalogue, MOST_NODES)
}

fn stage_in_files(folder: &Path, catalogue: &Catalogue, most_nodes: usize) -> WriteResult<Staged> {
    check_shape(folder, catalogue)?;
    let (tree, forest) = check(folder, catalogue, most_nodes)?;
    let place = hidden::place(folder).map_err(WriteError::io(folder, "creating the folder"))?;
    let mut staged = Staged::default();
    for (i, trees) in forest.files.iter().enumerate() {
        let path = folder.join(format!("{BASE}_{i:04}.h5"));
        let fill = |file: &File| forest.fill_part(file, &tree, trees.clone());
        staged.extend(stage_path(&path, |hidden| make_file(&path, hidden, "trees for ytree", fill))?.into());
    }
    let path = folder.join(format!("{BASE}.h5"));
    let fill = |file: &File| forest.fill_roots(file, &tree, &SwiftAttributes(&catalogue.attributes));
    staged.extend(stage_path(&path, |hidden| make_file(&path, hidden, "roots for ytree", fill))?.into());
    Ok(staged.in_place(place))
}

fn check<'a>(
    folder: &Path,
    catalogue: &'a Catalogue,
    most_nodes: usize,
) -> WriteResult<(MergerTreeTables<'a>, Forest)> {
    let wrong = |problem: &str, expected: &str| Err(WriteError::content(folder, "ytree", problem, expected));
    let tree = match MergerTreeTables::new(catalogue) {
        Ok(tree) => tree,
        Err(problem) => {
            return Err(WriteError::Library { path: folder.into(), place: "ytree".into(), problem });
        }
    };
    if tree.n_nodes() == 0 {
        return wrong("the tree has no nodes", "a node, without which ytree opens nothing");
    }
    if tree.snapshots.iter().any(|snapshot| snapshot.units.is_none()) {
        return wrong(
            "the tree has no units",
            "catalogues with units of length, mass and time, which ytree needs",
        );
    }
    let forest = Forest::new(&tree, most_nodes);
    Ok((tree, forest))
}

/// The nodes in the order of the files.
struct Forest {
    /// Roots.
    roots: Vec<usize>,
    /// All nodes, tree by tree.
    nodes: Vec<usize>,
    /// The first node of each tree, and the number of nodes.
    starts: Vec<usize>,
    /// The trees of each file.
    files: Vec<Range<usize>>,
}

impl Forest {
    fn new(tree: &MergerTreeTables, most_nodes: usize) -> Self {
        let roots = tree.roots();
        let (mut nodes, mut starts) = (Vec::with_capacity(tree.n_nodes()), vec![0]);
        for root in &roots {
            nodes.extend(tree.depth_first(*root));
            starts.push(nodes.len());
        }
        let mut files = Vec::new();
        let mut first = 0;
        for last in 1..=roots.len() {
            if last == roots.len() || starts[last + 1] - starts[first] > most_nodes {
                files.push(first..last);
                first = last;
            }
        }
        Self { roots, nodes, starts, files }
    }

    /// The file with some trees.
    fn fill_part(&self, file: &File, tree: &MergerTreeTables, trees: Range<usize>) -> Result<()> {
        let nodes = self.starts[trees.start]..self.starts[trees.end];
        text(file, "arbor_type", "YTreeArbor")?;
        text(file, "data_type", "yt_array_data")?;
        let bounds = trees.map(|i| self.starts[i] - nodes.start..self.starts[i + 1] - nodes.start);
        put_index(file, &bounds.collect::<Vec<_>>())?;
        put_data(file, tree, &self.nodes[nodes])
    }

    /// The file with the roots.
    fn fill_roots(&self, file: &File, tree: &MergerTreeTables, values: &SwiftAttributes) -> Result<()> {
        text(file, "arbor_type", "YTreeArbor")?;
        text(file, "data_type", "yt_array_data")?;
        let about = |each: &YtreeField| json!({ "units": each.unit, "description": each.description });
        let info: serde_json::Map<_, _> =
            FIELDS.iter().map(|each| (each.name.to_string(), about(each))).collect();
        text(file, "field_info", &serde_json::Value::from(info).to_string())?;
        scalar(file, "total_files", &(self.files.len() as i64))?;
        scalar(file, "total_trees", &(self.roots.len() as i64))?;
        scalar(file, "total_nodes", &(self.nodes.len() as i64))?;
        if let Some(h0) = values.real("h0") {
            scalar(file, "hubble_constant", &(h0 / 100.0))?;
            scalar(file, "omega_matter", &values.real("omega_m").unwrap_or(0.0))?;
            scalar(file, "omega_lambda", &values.real("omega_l").unwrap_or(0.0))?;
        }
        let last = tree.snapshots.last().expect("a tree with nodes has outputs");
        if let (Some([side, ..]), Some([length, ..])) = (values.sides(), last.units) {
            scalar(file, "box_size", &(side * length / last.aexp / MEGAPARSEC))?;
            text(file, "box_size_units", "Mpc")?;
        }
        put_index(file, &self.files)?;
        put_data(file, tree, &self.roots)
    }
}

/// Where trees begin and end.
fn put_index(file: &File, ranges: &[Range<usize>]) -> Result<()> {
    let index = group(file, "index")?;
    let put = |name: &str, of: fn(&Range<usize>) -> usize| {
        field(&index, name, &Values::I64(ranges.iter().map(|range| of(range) as i64).collect()), "")
    };
    put("tree_start_index", |range| range.start)?;
    put("tree_end_index", |range| range.end)?;
    put("tree_size", |range| range.len())
}

fn put_data(file: &File, tree: &MergerTreeTables, nodes: &[usize]) -> Result<()> {
    let data: Group = group(file, "data")?;
    scalar(&data, "num_elements", &(nodes.len() as i64))?;
    FIELDS.iter().try_for_each(|each| field(&data, each.name, &each.values(tree, nodes), each.unit))
}

/// A field of ytree.
struct YtreeField {
    name: &'static str,
    unit: &'static str,
    description: &'static str,
    value: NodeValue,
}

/// The value of a node.
enum NodeValue {
    Integer(fn(&MergerTreeTables, usize) -> i64),
    Identity(fn(&MergerTreeTables, usize) -> u64),
    Number(fn(&MergerTreeTables, usize) -> f64),
    /// In code units, with its powers of length, mass and time, and the unit in cgs that ytree gets.
    Scaled(fn(&MergerTreeTables, usize) -> f64, [i32; 3], f64),
}

impl YtreeField {
    fn values(&self, tree: &MergerTreeTables, nodes: &[usize]) -> Values {
        let reals = |of: &dyn Fn(usize) -> f64| Values::F64(nodes.iter().map(|node| of(*node)).collect());
        match self.value {
            NodeValue::Integer(of) => Values::I64(nodes.iter().map(|node| of(tree, *node)).collect()),
            NodeValue::Identity(of) => Values::U64(nodes.iter().map(|node| of(tree, *node)).collect()),
            NodeValue::Number(of) => reals(&|node| of(tree, node)),
            NodeValue::Scaled(of, powers, unit) => {
                reals(&|node| of(tree, node) * tree.in_cgs(node, powers).expect("units were checked") / unit)
            }
        }
    }
}

const fn integer(
    name: &'static str,
    description: &'static str,
    of: fn(&MergerTreeTables, usize) -> i64,
) -> YtreeField {
    YtreeField { name, unit: "", description, value: NodeValue::Integer(of) }
}

const fn length(
    name: &'static str,
    description: &'static str,
    of: fn(&MergerTreeTables, usize) -> f64,
) -> YtreeField {
    let value = NodeValue::Scaled(of, [1, 0, 0], MEGAPARSEC);
    YtreeField { name, unit: "Mpc", description, value }
}

const fn velocity(
    name: &'static str,
    description: &'static str,
    of: fn(&MergerTreeTables, usize) -> f64,
) -> YtreeField {
    let value = NodeValue::Scaled(of, [1, 0, -1], KILOMETRE);
    YtreeField { name, unit: "km/s", description, value }
}

const FIELDS: &[YtreeField] = &[
    integer("uid", "node: its row in the catalogue", |_, node| node as i64),
    integer("desc_uid", "node that it becomes or goes to; -1 for none", |t, node| t.nodes.descendant[node]),
    YtreeField {
        name: "redshift",
        unit: "",
        description: "redshift",
        value: NodeValue::Number(|t, node| t.output(node).redshift),
    },
    integer("snapshot", "number of the output", |t, node| t.output(node).number),
    integer("object", "identifier in the catalogue of that output; 0 for orphans", |t, node| {
        t.nodes.object[node].cast_signed()
    }),
    integer("main_line", "1 for the main progenitor of its descendant and for roots, else 0", |t, node| {
        i64::from(t.descendant(node).is_none_or(|to| t.nodes.main_progenitor[to] == node as i64))
    }),
    integer("track", "the object for life", |t, node| t.nodes.track[node].cast_signed()),
    integer("kind", "0 object, 1 orphan", |t, node| t.nodes.kind[node].into()),
    integer("fate", "0 goes on, 1 merges, 2 disrupted, 3 end of the series, 4 lost", |t, node| {
        t.nodes.fate[node].into()
    }),
    integer("host_uid", "node that it is in; -1 for none", |t, node| t.nodes.host[node]),
    integer("n_members", "number of members", |t, node| t.nodes.n_members[node].cast_signed()),
    YtreeField {
        name: "tracer",
        unit: "",
        description: "identity of the most bound particle",
        value: NodeValue::Identity(|t, node| t.nodes.tracer[node]),
    },
    YtreeField {
        name: "mass",
        unit: "Msun",
        description: "mass; 0 for orphans",
        value: NodeValue::Scaled(|t, node| t.nodes.mass[node], [0, 1, 0], SOLAR_MASS),
    },
    velocity("vmax", "maximum circular velocity", |t, node| t.nodes.max_circular_velocity[node]),
    length("rmax", "radius of the maximum circular velocity", |t, node| t.nodes.max_circular_radius[node]),
    length("radius", "radius, as in the catalogue", |t, node| t.nodes.radius[node]),
    length("position_x", "position, proper", |t, node| t.nodes.position[node][0]),
    length("position_y", "position, proper", |t, node| t.nodes.position[node][1]),
    length("position_z", "position, proper", |t, node| t.nodes.position[node][2]),
    velocity("velocity_x", "velocity", |t, node| t.nodes.velocity[node][0]),
    velocity("velocity_y", "velocity", |t, node| t.nodes.velocity[node][1]),
    velocity("velocity_z", "velocity", |t, node| t.nodes.velocity[node][2]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Dimension, Table, TableColumn};

    /// Tracks of two nodes each.
    fn pairs(n_tracks: i64) -> Catalogue {
        let column = |name: &str, values| TableColumn {
            name: name.into(),
            dimension: Dimension::NONE,
            description: String::new(),
            values,
        };
        let n = n_tracks as usize;
        let (none, later): (Vec<i64>, Vec<i64>) = (vec![-1; n], (n_tracks..2 * n_tracks).collect());
        let both = |a: &[i64], b: &[i64]| Values::I64([a, b].concat());
        let reals = || Values::F64(vec![1.0; 2 * n]);
        let snapshots = ["time", "aexp", "redshift", "unit_length", "unit_mass", "unit_time"];
        let mut of_snapshots = vec![column("number", Values::I64(vec![1, 2]))];
        of_snapshots.extend(snapshots.map(|name| column(name, Values::F64(vec![2.0; 2]))));
        let mut nodes = vec![
            column("snapshot", Values::U64((0..2 * n as u64).map(|node| node / n as u64).collect())),
            column("descendant", both(&later, &none)),
            column("main_progenitor", both(&none, &(0..n_tracks).collect::<Vec<_>>())),
            column("next_progenitor", both(&none, &none)),
            column("host", both(&none, &none)),
            column("tracer", both(&none, &none)),
            column("kind", Values::U8(vec![0; 2 * n])),
            column("fate", Values::U8(vec![3; 2 * n])),
        ];
        nodes.extend(["object", "track", "n_members"].map(|name| column(name, Values::U64(vec![1; 2 * n]))));
        let names = ["mass", "max_circular_velocity", "max_circular_radius", "radius"];
        nodes.extend(names.map(|name| column(name, reals())));
        nodes.extend(["position", "velocity"].map(|name| column(name, Values::F64x3(vec![[0.5; 3]; 2 * n]))));
        let table = |name: &str, columns| Table { name: name.into(), columns };
        Catalogue {
            attributes: vec![],
            tables: vec![table("snapshots", of_snapshots), table("nodes", nodes)],
        }
    }

    #[test]
    fn a_file_has_whole_trees_up_to_its_most_nodes() {
        let catalogue = pairs(5);
        let tree = MergerTreeTables::new(&catalogue).expect("a tree");
        let ends_of = [(10, vec![5]), (5, vec![2, 4, 5]), (1, vec![1, 2, 3, 4, 5])];
        for (most, ends) in ends_of {
            let files = Forest::new(&tree, most).files;
            assert_eq!(files.iter().map(|file| file.end).collect::<Vec<_>>(), ends, "{most}");
            assert!(files.windows(2).all(|pair| pair[0].end == pair[1].start) && files[0].start == 0);
        }
        let folder = tempfile::tempdir().expect("a folder");
        stage_in_files(folder.path(), &catalogue, 5).expect("files").commit().expect("names");
        let read = |name: &str, dataset: &str| -> Vec<i64> {
            let file = File::open(folder.path().join(name)).expect("a file");
            file.dataset(dataset).and_then(|dataset| dataset.read_raw()).expect("integers")
        };
        assert_eq!(read("tree.h5", "index/tree_start_index"), [0, 2, 4]);
        assert_eq!(read("tree.h5", "index/tree_end_index"), [2, 4, 5]);
        assert_eq!(read("tree_0001.h5", "data/uid"), [7, 2, 8, 3]);
        assert_eq!(read("tree_0002.h5", "index/tree_size"), [2]);
    }
}
