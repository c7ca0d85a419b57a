//! A merger tree in ytree's own layout: `tree.h5` with the roots, and `tree_0000.h5`, ... with whole trees.
//!
//! A tree has its nodes depth first, each after its descendant; the first progenitor is the main one. Values are proper, in Mpc, Msun
//! and km/s. ytree follows the progenitor with the largest value of a field. `main_line` is 1 for main progenitors and else 0.

use super::make_file;
use super::swift::{SwiftAttributes, group};
use super::write::scalar;
use super::yt::{field, text};
use crate::catalogue::merger_tree::MergerTree;
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

/// Stages the files of a merger tree in `folder`, which is created if absent. Memory: 16 bytes per node, and a column of a file.
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
) -> WriteResult<(MergerTree<'a>, Forest)> {
    let wrong = |problem: &str, expected: &str| Err(WriteError::content(folder, "ytree", problem, expected));
    let tree = match MergerTree::new(catalogue) {
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

/// A field: its name, unit, description, and values of some nodes.
type Field<'a> = (&'static str, &'static str, &'static str, Box<dyn Fn(&[usize]) -> Values + 'a>);

impl Forest {
    fn new(tree: &MergerTree, most_nodes: usize) -> Self {
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
    fn fill_part(&self, file: &File, tree: &MergerTree, trees: Range<usize>) -> Result<()> {
        let nodes = self.starts[trees.start]..self.starts[trees.end];
        text(file, "arbor_type", "YTreeArbor")?;
        text(file, "data_type", "yt_array_data")?;
        let bounds = trees.map(|i| self.starts[i] - nodes.start..self.starts[i + 1] - nodes.start);
        put_index(file, &bounds.collect::<Vec<_>>())?;
        put_data(file, tree, &self.nodes[nodes])
    }

    /// The file with the roots.
    fn fill_roots(&self, file: &File, tree: &MergerTree, values: &SwiftAttributes) -> Result<()> {
        text(file, "arbor_type", "YTreeArbor")?;
        text(file, "data_type", "yt_array_data")?;
        let info: serde_json::Map<_, _> = fields(tree)
            .iter()
            .map(|(name, unit, description, _)| {
                (name.to_string(), json!({ "units": unit, "description": description }))
            })
            .collect();
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

fn put_data(file: &File, tree: &MergerTree, nodes: &[usize]) -> Result<()> {
    let data: Group = group(file, "data")?;
    scalar(&data, "num_elements", &(nodes.len() as i64))?;
    fields(tree).iter().try_for_each(|(name, unit, _, values)| field(&data, name, &values(nodes), unit))
}

fn fields<'a>(tree: &'a MergerTree) -> Vec<Field<'a>> {
    let n = &tree.nodes;
    let integers = |of: Box<dyn Fn(usize) -> i64 + 'a>| -> Box<dyn Fn(&[usize]) -> Values + 'a> {
        Box::new(move |nodes| Values::I64(nodes.iter().map(|node| of(*node)).collect()))
    };
    let reals = |of: Box<dyn Fn(usize) -> f64 + 'a>| -> Box<dyn Fn(&[usize]) -> Values + 'a> {
        Box::new(move |nodes| Values::F64(nodes.iter().map(|node| of(*node)).collect()))
    };
    // The units were checked.
    let scaled = |powers: [i32; 3], unit: f64, of: Box<dyn Fn(usize) -> f64 + 'a>| {
        reals(Box::new(move |node| of(node) * tree.in_cgs(node, powers).unwrap_or(f64::NAN) / unit))
    };
    const LENGTH: [i32; 3] = [1, 0, 0];
    const VELOCITY: [i32; 3] = [1, 0, -1];
    let length = |of| scaled(LENGTH, MEGAPARSEC, of);
    let velocity = |of| scaled(VELOCITY, KILOMETRE, of);
    let is_main = move |node: usize| {
        i64::from(tree.descendant(node).is_none_or(|to| n.main_progenitor[to] == node as i64))
    };
    let mut fields: Vec<Field> = vec![
        ("uid", "", "node: its row in the catalogue", integers(Box::new(|node| node as i64))),
        (
            "desc_uid",
            "",
            "node that it becomes or merges into; -1 for none",
            integers(Box::new(|node| n.descendant[node])),
        ),
        ("redshift", "", "redshift", reals(Box::new(|node| tree.output(node).redshift))),
        ("snapshot", "", "number of the output", integers(Box::new(|node| tree.output(node).number))),
        (
            "object",
            "",
            "identifier in the catalogue of that output; 0 for orphans",
            integers(Box::new(|node| n.object[node].cast_signed())),
        ),
        (
            "main_line",
            "",
            "1 for the main progenitor of its descendant and for roots, else 0",
            integers(Box::new(is_main)),
        ),
        ("track", "", "the object for life", integers(Box::new(|node| n.track[node].cast_signed()))),
        ("kind", "", "0 object, 1 orphan", integers(Box::new(|node| n.kind[node].into()))),
        (
            "fate",
            "",
            "0 goes on, 1 merges, 2 disrupted, 3 end of the series, 4 lost",
            integers(Box::new(|node| n.fate[node].into())),
        ),
        ("host_uid", "", "node that it is in; -1 for none", integers(Box::new(|node| n.host[node]))),
        ("n_members", "", "number of members", integers(Box::new(|node| n.n_members[node].cast_signed()))),
        ("tracer", "", "identity of the most bound particle", integers(Box::new(|node| n.tracer[node]))),
        ("mass", "Msun", "mass", scaled([0, 1, 0], SOLAR_MASS, Box::new(|node| n.mass[node]))),
        (
            "vmax",
            "km/s",
            "maximum circular velocity",
            velocity(Box::new(|node| n.max_circular_velocity[node])),
        ),
        (
            "rmax",
            "Mpc",
            "radius of the maximum circular velocity",
            length(Box::new(|node| n.max_circular_radius[node])),
        ),
        ("radius", "Mpc", "radius, as in the catalogue", length(Box::new(|node| n.radius[node]))),
    ];
    const POSITIONS: [&str; 3] = ["position_x", "position_y", "position_z"];
    const VELOCITIES: [&str; 3] = ["velocity_x", "velocity_y", "velocity_z"];
    for axis in 0..3 {
        let values = length(Box::new(move |node| n.position[node][axis]));
        fields.push((POSITIONS[axis], "Mpc", "position, proper", values));
        let values = velocity(Box::new(move |node| n.velocity[node][axis]));
        fields.push((VELOCITIES[axis], "km/s", "velocity", values));
    }
    fields
}
