//! The tables of a catalogue of voids: `voids`, `zones`, `tree`, and the attributes.

use super::config::{VoidParams, radius_of};
use super::rows::{VoidCut, VoidRow};
use super::walls::{DensitiesByKind, WallDensities};
use crate::graph::ParticleGraphConfig;
use crate::particle_mesh::ParticleSnapshot;
use crate::phew::tables::{tree_part, tree_table};
use crate::tables::{AttributeList, column, in_order, input_attributes};
use inselberg_comm::{Comm, CommError};
use inselberg_io::Snapshot;
use inselberg_io::catalogue::{Attribute, Dimension, PartTable, Table, TableColumn, Values};

/// The attribute that names the field, and its value for voids.
pub(super) const FIELD: (&str, &str) = ("field", "specific_volume");
/// The attribute with the greatest density of a member, in mean densities; absent where all particles take
/// part.
pub(super) const DENSITY: &str = "density_threshold";
/// The attribute with the least ratio of wall to least density.
pub(super) const RELEVANCE: &str = "relevance_threshold";
/// The attribute with the density of a wall that zones of one void meet below, in mean densities; 0 where
/// each zone is a void.
pub(super) const WALL: &str = "wall_threshold";
/// The attribute with the greatest radius that is not listed.
pub(super) const RADIUS: &str = "min_radius";
/// The attribute with the least number of particles of a listed void.
pub(super) const MIN_PARTICLES: &str = "min_particles";

/// What the tables are made from.
pub struct VoidTables<'a> {
    /// Zones and voids.
    pub cut: &'a VoidCut<'a>,
    /// Densities of cores and walls; a new cut of a stored catalogue has none.
    pub walls: Option<&'a DensitiesByKind>,
    /// Mean density in code units.
    pub mean_density: f64,
}

impl VoidTables<'_> {
    /// Collective: voids, zones and the tree.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn parts(&self, comm: &Comm) -> Result<Vec<PartTable>, CommError> {
        Ok(vec![
            in_order(self.voids(), comm)?,
            in_order(self.zones(), comm)?,
            tree_part(self.tree(), &self.cut.peaks.name, self.cut.peaks.n_global),
        ])
    }

    /// The voids, one row each.
    pub fn voids(&self) -> Table {
        let rows = &self.cut.rows.voids;
        let mut columns = vec![
            counts("id", "identifier: that of the emptiest zone of the void", rows, |row| row.of.id),
            counts("n_zones", "number of zones of the void", rows, |row| row.n_zones),
        ];
        columns.extend(self.sums(rows));
        columns.extend(self.walls.iter().flat_map(|walls| wall_columns(&walls[1])));
        Table { name: "voids".into(), columns }
    }

    /// The zones, one row each.
    pub fn zones(&self) -> Table {
        let rows = &self.cut.rows.zones;
        let parent = "zone into which it merges at its level; itself for the emptiest zone of a void";
        let mut columns = vec![
            counts("id", "identifier: from 1 by rising least density", rows, |row| row.of.id),
            counts("void", "identifier of its void", rows, |row| row.of.halo),
            counts("parent", parent, rows, |row| row.of.parent),
            counts("level", "level of its wall, from 1; 0 for the emptiest zone of a void", rows, |row| {
                row.of.level
            }),
        ];
        columns.extend(self.sums(rows));
        columns.extend(self.walls.iter().flat_map(|walls| wall_columns(&walls[0])));
        Table { name: "zones".into(), columns }
    }

    /// Columns that zones and voids share.
    fn sums(&self, rows: &[VoidRow]) -> Vec<TableColumn> {
        let mean = self.mean_density;
        // A zone that never overflows has the value 0.
        let wall = move |row: &VoidRow| match row.overflow.value {
            0.0 => f64::NAN,
            value => mean / value,
        };
        let density = Dimension::DENSITY;
        vec![
            counts("n_particles", "number of particles", rows, |row| row.of.n_cells),
            reals("volume", Dimension::VOLUME, "sum of mass / density of the particles", rows, |row| {
                row.of.mass
            }),
            reals(
                "radius",
                Dimension::LENGTH,
                "effective radius: of the sphere with this volume",
                rows,
                |row| radius_of(row.of.mass),
            ),
            reals("mass", Dimension::MASS, "mass of the particles", rows, |row| row.of.volume),
            vectors("centre", "mean position of the particles, weighted by volume", rows, |row| {
                row.of.centre_of_mass
            }),
            vectors("min_position", "position of the emptiest particle", rows, |row| row.of.peak_refined),
            reals("density_min", density, "least density of a particle", rows, move |row| {
                mean / row.of.rho_peak
            }),
            reals("density_mean", density, "mass / volume", rows, |row| row.of.volume / row.of.mass),
            reals("density_max", density, "greatest density of a particle", rows, move |row| {
                mean / row.of.rho_min
            }),
            reals(
                "saddle_density",
                density,
                "density at the lowest point of the wall to an emptier zone; NaN for the emptiest zone of all",
                rows,
                wall,
            ),
            vectors("saddle_position", "that point; NaN if none", rows, |row| row.overflow.position),
            reals(
                "density_ratio",
                Dimension::NONE,
                "saddle_density / density_min; NaN if none",
                rows,
                move |row| wall(row) / (mean / row.of.rho_peak),
            ),
        ]
    }

    /// The tree under its own names.
    pub fn tree(&self) -> Table {
        let mut table = tree_table(self.cut.peaks, &self.cut.found.peak_rank);
        for named in TREE_NAMES {
            let column = table.columns.iter_mut().find(|column| column.name == named.of_peaks);
            let column = column.expect("every tree has the columns of peaks");
            column.name = named.name.into();
            column.dimension = named.dimension;
            column.description = named.description.into();
        }
        table
    }
}

/// A column of the tree whose name differs from that of a tree of clumps.
struct TreeName {
    of_peaks: &'static str,
    name: &'static str,
    dimension: Dimension,
    description: &'static str,
}

const fn tree_name(
    of_peaks: &'static str,
    name: &'static str,
    dimension: Dimension,
    description: &'static str,
) -> TreeName {
    TreeName { of_peaks, name, dimension, description }
}

const TREE_NAMES: [TreeName; 8] = [
    tree_name("peak_rank", "rank", Dimension::NONE, "place of the zone by rising least density, from 1"),
    tree_name("density", "specific_volume", Dimension::NONE, "mean density / least density of the zone"),
    tree_name(
        "death_saddle",
        "death_specific_volume",
        Dimension::NONE,
        "mean of mean density / density at the wall over which the zone overflows; 0 if never",
    ),
    tree_name("n_cells", "n_particles", Dimension::NONE, "particles of the zone"),
    tree_name(
        "density_min",
        "specific_volume_min",
        Dimension::NONE,
        "mean density / greatest density of the zone",
    ),
    tree_name("volume", "zone_mass", Dimension::MASS, "mass of the zone"),
    tree_name("mass", "zone_volume", Dimension::VOLUME, "volume of the zone"),
    tree_name(
        "mass_moment",
        "volume_moment",
        Dimension::new(4, 0, 0),
        "sum over its particles of volume times displacement from the emptiest one",
    ),
];

/// A stored tree under the names of peaks.
pub(super) fn as_tree_of_peaks(stored: &Table) -> Table {
    let mut table = stored.clone();
    for column in &mut table.columns {
        if let Some(named) = TREE_NAMES.iter().find(|named| named.name == column.name) {
            column.name = named.of_peaks.into();
        }
    }
    table
}

/// Names the labels of particles after zones and voids.
pub(super) fn name_labels(particles: &mut Table) {
    for (from, to) in [("clump", "zone"), ("halo", "void")] {
        let column = particles.columns.iter_mut().find(|column| column.name == from);
        let column = column.expect("every particle has labels");
        column.name = to.into();
        column.description = format!("identifier of its {to}; 0 for none");
    }
}

fn wall_columns(of_rows: &[WallDensities]) -> [TableColumn; 2] {
    let reals = |value: fn(&WallDensities) -> f64| Values::F64(of_rows.iter().map(value).collect());
    let core = "mass of the members within radius / 4 of the centre, per volume of that sphere";
    let wall = "mass / volume of the members that are linked to another one; NaN if none";
    [
        column("core_density", Dimension::DENSITY, core, reals(|of| of.core)),
        column("wall_density", Dimension::DENSITY, wall, reals(|of| of.wall)),
    ]
}

fn counts(name: &str, description: &str, rows: &[VoidRow], value: impl Fn(&VoidRow) -> u64) -> TableColumn {
    column(name, Dimension::NONE, description, Values::U64(rows.iter().map(value).collect()))
}

fn reals(
    name: &str,
    dimension: Dimension,
    description: &str,
    rows: &[VoidRow],
    value: impl Fn(&VoidRow) -> f64,
) -> TableColumn {
    column(name, dimension, description, Values::F64(rows.iter().map(value).collect()))
}

fn vectors(
    name: &str,
    description: &str,
    rows: &[VoidRow],
    value: impl Fn(&VoidRow) -> [f64; 3],
) -> TableColumn {
    column(name, Dimension::LENGTH, description, Values::F64x3(rows.iter().map(value).collect()))
}

/// The input and the parameters, as attributes of the catalogue.
pub(super) fn attributes(
    snapshot: &ParticleSnapshot,
    graph: &ParticleGraphConfig,
    params: &VoidParams,
    mean_density: f64,
) -> Vec<(String, Attribute)> {
    let mut list = AttributeList::new();
    list.text("program", "inselberg");
    list.text("version", env!("CARGO_PKG_VERSION"));
    list.int("layout", LAYOUT);
    list.input(snapshot.header(), snapshot.has_units());
    list.text(FIELD.0, FIELD.1);
    list.text("graph_kernel", graph.kernel());
    list.int("graph_neighbours", graph.neighbours as i64);
    list.real("mean_density", mean_density);
    if let Some(density) = params.density {
        list.real(DENSITY, density);
    }
    list.real(RELEVANCE, params.relevance);
    list.real(WALL, params.wall.unwrap_or(0.0));
    list.real(RADIUS, params.radius);
    list.int(MIN_PARTICLES, params.min_particles.cast_signed());
    let mut list = list.into_attributes();
    list.extend(snapshot.assumed_units().into_iter().map(|(name, value)| (name.to_string(), value)));
    list.extend(input_attributes(snapshot));
    list
}

/// Version of the layout of the tables.
const LAYOUT: i64 = 1;

/// Totals over all ranks: of `n` particles, how many take part, and the numbers of zones and voids.
pub(super) fn totals(
    n: u64,
    [n_tests, n_zones, n_voids]: [u64; 3],
    n_peaks: u64,
    n_levels: u64,
) -> Vec<(String, Attribute)> {
    let all = [
        ("n_particles", n),
        ("n_test_particles", n_tests),
        ("n_minima", n_peaks),
        ("n_zones", n_zones),
        ("n_voids", n_voids),
        ("n_levels", n_levels),
    ];
    integers(all).collect()
}

/// Whole numbers as attributes.
pub(super) fn integers<const N: usize>(
    of: [(&'static str, u64); N],
) -> impl Iterator<Item = (String, Attribute)> {
    of.into_iter().map(|(name, n)| (name.to_string(), Attribute::Int(n.cast_signed())))
}
