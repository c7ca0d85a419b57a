//! The input of consistent-trees: a list of objects per output, `out_N.list`, and `scales.list` with the
//! expansion factors. consistent-trees links only neighbouring outputs, and makes nodes for missing objects
//! itself. So orphans are left out, and a descendant counts only if it is an object of the next output.
//!
//! | column | value |
//! |---|---|
//! | ID, DescID | node; -1 for no object in the next output |
//! | Mass | in Msun/h |
//! | Vmax | in km/s |
//! | Radius | in comoving kpc/h: of a sphere of the mass with 200 times the critical density |
//! | Rs | in comoving kpc/h: the radius of the maximum circular velocity over 2.163, else a tenth of Radius |
//! | X to Z, VX to VZ | in comoving Mpc/h and km/s |
//! | Np | number of members |
//! | Vrms, JX to JZ, Spin | 0: a tree does not have them |

use super::merger_tree::{MergerSnapshot, MergerTreeTables};
use super::units::{KILOMETRE, MEGAPARSEC, SOLAR_MASS};
use super::{Attribute, Catalogue, WriteError, WriteResult, check_shape};
use crate::Cosmology;
use crate::staging::mark::{MARK, TAB};
use crate::staging::{Staged, hidden, stage_file};
use std::f64::consts::PI;
use std::io::Write;
use std::path::Path;

const HEADER: &str = "#ID DescID Mass Vmax Vrms Radius Rs Np X Y Z VX VY VZ JX JY JZ Spin";

/// The radius of the maximum circular velocity of an NFW profile, in scale radii.
const MAXIMUM_OF_NFW: f64 = 2.163;

/// Stages the lists of a merger tree in `folder`, which is created if absent.
///
/// # Errors
/// The catalogue has no merger tree, no units or no cosmology, the numbers of its outputs do not rise, or the
/// folder cannot be written.
pub fn stage_consistent_trees(folder: &Path, catalogue: &Catalogue) -> WriteResult<Staged> {
    check_shape(folder, catalogue)?;
    let lists = HaloLists::new(folder, catalogue)?;
    let place = hidden::place(folder).map_err(WriteError::io(folder, "creating the folder"))?;
    let mut staged = Staged::default();
    let mut first = 0;
    for (i, snapshot) in lists.tree.snapshots.iter().enumerate() {
        let n = lists.tree.nodes.snapshot[first..].partition_point(|of| *of == i as u64);
        let path = folder.join(format!("out_{}.list", snapshot.number));
        staged.extend(stage_file(&path, |out| lists.write(out, snapshot, first..first + n))?);
        first += n;
    }
    let scales = &lists.tree.snapshots;
    staged.extend(stage_file(&folder.join("scales.list"), |out| {
        scales.iter().enumerate().try_for_each(|(i, snapshot)| {
            let end = if i == 0 { TAB } else { "" };
            writeln!(out, "{} {:?}{end}", snapshot.number, snapshot.aexp)
        })
    })?);
    Ok(staged.in_place(place))
}

struct HaloLists<'a> {
    tree: MergerTreeTables<'a>,
    cosmology: Cosmology,
    h: f64,
}

impl<'a> HaloLists<'a> {
    fn new(folder: &Path, catalogue: &'a Catalogue) -> WriteResult<Self> {
        let wrong = |problem: &str, expected: &str| {
            WriteError::content(folder, "consistent-trees", problem, expected)
        };
        let library = |problem| {
            let place = "consistent-trees".to_string();
            WriteError::Library { path: folder.into(), place, problem }
        };
        let tree = MergerTreeTables::new(catalogue).map_err(library)?;
        if tree.snapshots.iter().any(|snapshot| snapshot.units.is_none()) {
            return Err(wrong("the tree has no units", "catalogues with units of length, mass and time"));
        }
        let real = |name: &str| match catalogue.attribute(name) {
            Some(Attribute::Real(value)) => Some(*value),
            _ => None,
        };
        let needed = ["aexp", "h0", "omega_m", "omega_l", "omega_k"];
        if let Some(name) = needed.into_iter().find(|name| real(name).is_none()) {
            return Err(wrong(&format!("the tree has no {name}"), "catalogues of a cosmological run"));
        }
        let cosmology = Cosmology::from_attributes(real).expect("the tree has what is needed");
        if !tree.snapshots.is_sorted_by(|a, b| a.number < b.number && a.aexp < b.aexp) {
            return Err(wrong(
                "numbers of outputs do not rise",
                "outputs with rising numbers and expansion factors",
            ));
        }
        if !tree.nodes.snapshot.is_sorted() {
            return Err(wrong("nodes are not in the order of outputs", "a catalogue of `inselberg tree`"));
        }
        Ok(Self { tree, h: cosmology.h0 / 100.0, cosmology })
    }

    fn write(
        &self,
        out: &mut dyn Write,
        snapshot: &MergerSnapshot,
        nodes: std::ops::Range<usize>,
    ) -> std::io::Result<()> {
        writeln!(out, "{HEADER}\n#a = {:?}\n#{MARK}", snapshot.aexp)?;
        nodes.filter(|node| !self.tree.is_orphan(*node)).try_for_each(|node| {
            let line = self.line(node, snapshot);
            writeln!(out, "{line}")
        })
    }

    fn line(&self, node: usize, snapshot: &MergerSnapshot) -> String {
        let nodes = &self.tree.nodes;
        let units = snapshot.units.expect("units were checked");
        let mass = nodes.mass[node] * units[1] / SOLAR_MASS * self.h;
        let comoving = self.h / snapshot.aexp;
        let in_mpc = units[0] / MEGAPARSEC * comoving;
        let in_km_s = units[0] / units[2] / KILOMETRE;
        let radius = self.radius(nodes.mass[node] * units[1], snapshot.aexp) / MEGAPARSEC * comoving * 1e3;
        let scale = match nodes.max_circular_radius[node] * in_mpc * 1e3 / MAXIMUM_OF_NFW {
            scale if scale > 0.0 => scale,
            _ => 0.1 * radius,
        };
        let [x, y, z] = nodes.position[node].map(|x| x * in_mpc);
        let [vx, vy, vz] = nodes.velocity[node].map(|v| v * in_km_s);
        let vmax = nodes.max_circular_velocity[node] * in_km_s;
        format!(
            "{node} {} {mass:.8e} {vmax:.6e} 0 {radius:.6e} {scale:.6e} {} {x:.9e} {y:.9e} {z:.9e} {vx:.6e} {vy:.6e} {vz:.6e} 0 0 0 0",
            self.next(node),
            nodes.n_members[node],
        )
    }

    /// The object of the next output that a node becomes or goes to; else -1.
    fn next(&self, node: usize) -> i64 {
        let is_next = |to: &usize| {
            self.tree.nodes.snapshot[*to] == self.tree.nodes.snapshot[node] + 1 && !self.tree.is_orphan(*to)
        };
        self.tree.descendant(node).filter(is_next).map_or(-1, |to| to as i64)
    }

    /// The proper radius of a sphere of this mass with 200 times the critical density, in cgs.
    fn radius(&self, mass: f64, aexp: f64) -> f64 {
        let cosmology = Cosmology { aexp, hubble: None, critical: None, ..self.cosmology.clone() };
        let critical = cosmology.critical_density();
        (3.0 * mass / (800.0 * PI * critical)).cbrt()
    }
}
