//! Bound members as columns of clumps, haloes and groups, and as the table of members.

use crate::bound::columns::BoundColumn;
use crate::bound::member_rows::MemberRows;
use crate::bound::rows::{HaloClump, HaloRows, RowDirectory};
use crate::bound::spheres::{N_DENSITIES, Sphere};
use crate::bound::unbind::{BoundClump, BoundHaloes, BoundParticle};
use crate::exchange::bundle::{SendBuffers, all_records};
use crate::tables::column;
use inselberg_comm::{Comm, CommError};
use inselberg_io::catalogue::{Dimension, PartTable, Table, TableColumn, Values};

/// To the ranks with rows: clumps and haloes, the values of their properties in the same order, and the
/// spheres of haloes.
const CLUMPS: usize = 0;
const VALUES: usize = 1;
const HALOES: usize = 2;
const HALO_VALUES: usize = 3;
const SPHERES: usize = 4;

/// The content of tables.
pub struct TableRequest<'a> {
    /// The properties.
    pub columns: &'a [&'a BoundColumn],
    /// The spheres of each halo, if they are computed.
    pub spheres: Option<Vec<[Sphere; N_DENSITIES]>>,
    /// Whether bound particles are listed.
    pub with_members: bool,
    /// Whether bound particles are kept with their ranks, for tracks.
    pub with_ranks: bool,
    /// Whether haloes are unbound as a whole, and have columns of their own.
    pub has_haloes: bool,
}

impl<'a> TableRequest<'a> {
    /// Collective: brings bound members to the rows. One exchange.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn tables(
        self,
        mut bound: BoundHaloes,
        rows: &HaloRows,
        comm: &Comm,
    ) -> Result<BoundTables<'a>, CommError> {
        let members = MemberRows::new(&mut bound, self.with_ranks, comm)?;
        let found = FoundRows::new(&bound, &self, rows, comm)?;
        Ok(BoundTables { request: self, found, members })
    }
}

/// Bound members, ready for tables.
pub struct BoundTables<'a> {
    request: TableRequest<'a>,
    found: FoundRows,
    members: MemberRows,
}

/// The names in a table of members.
pub struct MemberNames<'a> {
    /// The name of the object to which particles are bound: clump or group.
    pub owner: &'static str,
    /// The number of an identifier in files.
    pub number: &'a dyn Fn(u64) -> u64,
}

impl BoundTables<'_> {
    /// Adds columns to the table of these clumps.
    pub fn add_to_clumps(&self, table: &mut Table, rows: &[HaloClump]) {
        table.columns.extend(self.found.clumps.columns(rows, &self.request, RowKind::Clump));
        let is_central = table.columns.iter_mut().find(|column| column.name == IS_CENTRAL);
        let is_central = is_central.expect("a table of clumps names centrals");
        is_central.values = self.found.clumps.centrals(rows);
    }

    /// Adds columns to the table of these haloes.
    pub fn add_to_haloes(&self, table: &mut Table, rows: &[HaloClump]) {
        let columns = match self.request.has_haloes {
            true => self.found.haloes.columns(rows, &self.request, RowKind::Halo),
            false => self.found.haloes.sums_of_clumps(rows),
        };
        table.columns.extend(columns);
        table.columns.extend(self.sphere_columns(rows));
    }

    /// Adds columns to the table of these groups, each of which is a halo with one clump.
    pub fn add_to_groups(&self, table: &mut Table, rows: &[HaloClump]) {
        table.columns.extend(self.found.clumps.columns(rows, &self.request, RowKind::Group));
        table.columns.extend(self.sphere_columns(rows));
    }

    fn sphere_columns(&self, rows: &[HaloClump]) -> Vec<TableColumn> {
        if self.request.spheres.is_none() {
            return Vec::new();
        }
        let places = self.found.haloes.places(rows);
        let spheres: Vec<_> = places.iter().map(|i| self.found.spheres[*i]).collect();
        sphere_columns(&spheres, "its bound particle with the lowest potential")
    }

    /// The clumps of the rows on this rank, each with the mass of its bound particles.
    pub fn clumps(&self) -> impl Iterator<Item = (&BoundClump, f64)> {
        let BoundRows { rows, values, n_values } = &self.found.clumps;
        // The first of all properties is the bound mass.
        rows.iter().zip(values.iter().step_by(*n_values).copied())
    }

    /// The bound particles on this rank, each with its place among those of its clump, if ranks are kept.
    pub fn ranked(&self) -> impl Iterator<Item = (&BoundParticle, u32)> {
        self.members.particles.iter().zip(self.members.ranks.iter().copied())
    }

    /// The table of members, if it is requested.
    pub fn members(&self, names: &MemberNames) -> Option<PartTable> {
        let MemberRows { particles, runs, n_rows, .. } = &self.members;
        let part =
            || PartTable { table: members_table(particles, names), runs: runs.clone(), n_rows: *n_rows };
        self.request.with_members.then(part)
    }
}

/// Bound members, for the rows of this rank.
struct FoundRows {
    clumps: BoundRows,
    haloes: BoundRows,
    /// The spheres of each halo.
    spheres: Vec<[Sphere; N_DENSITIES]>,
}

/// The bound members of some rows, by identifier.
struct BoundRows {
    rows: Vec<BoundClump>,
    /// The values of each row.
    values: Vec<f64>,
    n_values: usize,
}

/// The kind of object of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowKind {
    /// A clump, which may have clumps in it.
    Clump,
    /// A halo, with all its bound members in any clump.
    Halo,
    /// A group, which is a halo with one clump.
    Group,
}

/// The column that distinguishes centrals from satellites.
pub const IS_CENTRAL: &str = "is_central";

impl FoundRows {
    /// Collective: sends bound members to the ranks with rows.
    fn new(
        bound: &BoundHaloes,
        request: &TableRequest,
        rows: &HaloRows,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let n_values = request.columns.iter().map(|column| column.n_parts()).sum();
        let mut buffers = SendBuffers::<5>::default();
        let (clump_rows, halo_rows) =
            (RowDirectory::new(&rows.clumps, comm)?, RowDirectory::new(&rows.haloes, comm)?);
        for (clump, values) in bound.clumps.iter().zip(bound.values.chunks_exact(n_values)) {
            // A main clump may be listed as a halo only.
            if let Some(holder) = clump_rows.holder(clump.id) {
                buffers.put(holder, CLUMPS, &[*clump]);
                buffers.put(holder, VALUES, values);
            }
        }
        let haloes = bound.haloes.iter().zip(bound.halo_values.chunks_exact(n_values));
        for (i, (halo, values)) in haloes.enumerate() {
            let holder = halo_rows.holder(halo.id).expect("a halo that is worked on is listed");
            buffers.put(holder, HALOES, &[*halo]);
            buffers.put(holder, HALO_VALUES, values);
            let spheres = request.spheres.as_ref().map_or_else(Default::default, |all| all[i]);
            buffers.put(holder, SPHERES, &spheres);
        }
        let received = buffers.exchange(comm)?;
        let of = |rows: usize, values: usize| {
            let rows: Vec<BoundClump> = all_records(&received, rows);
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_unstable_by_key(|i| rows[*i].id);
            let values: Vec<f64> = all_records(&received, values);
            let of_row = |i: &usize| &values[i * n_values..(i + 1) * n_values];
            let sorted = BoundRows {
                rows: order.iter().map(|i| rows[*i]).collect(),
                values: order.iter().flat_map(of_row).copied().collect(),
                n_values,
            };
            (sorted, order)
        };
        let ((clumps, _), (haloes, order)) = (of(CLUMPS, VALUES), of(HALOES, HALO_VALUES));
        let spheres: Vec<Sphere> = all_records(&received, SPHERES);
        let of_halo = spheres.as_chunks::<N_DENSITIES>().0;
        Ok(Self { clumps, haloes, spheres: order.iter().map(|i| of_halo[*i]).collect() })
    }
}

impl BoundRows {
    /// The place of each row of a table.
    fn places(&self, rows: &[HaloClump]) -> Vec<usize> {
        let place = |row: &HaloClump| self.rows.binary_search_by_key(&row.id, |found| found.id);
        rows.iter().map(|row| place(row).expect("each listed row was worked on")).collect()
    }

    fn counts(&self, places: &[usize], of: fn(&BoundClump) -> u64) -> Values {
        Values::U64(places.iter().map(|i| of(&self.rows[*i])).collect())
    }

    /// Whether each clump is the central of its halo.
    fn centrals(&self, rows: &[HaloClump]) -> Values {
        Values::U8(self.places(rows).iter().map(|i| self.rows[*i].is_central as u8).collect())
    }

    /// The columns of a table of these rows.
    fn columns(&self, rows: &[HaloClump], request: &TableRequest, kind: RowKind) -> Vec<TableColumn> {
        let (places, none) = (self.places(rows), Dimension::NONE);
        let counts = |of| self.counts(&places, of);
        let text = "number of bound particles and gas cells; 0 if too few are bound";
        let mut columns = vec![column("n_bound", none, text, counts(|c| c.n_bound))];
        if kind == RowKind::Clump {
            columns.extend(self.inclusive_columns(&places));
        }
        let text = "identity of the bound particle with the lowest potential; 0 if none is bound";
        columns.push(column("most_bound_id", none, text, counts(|c| c.most_bound_id)));
        let text = "type of that particle, as in members; 0 if none is bound";
        columns.push(column("most_bound_type", none, text, counts(|c| c.most_bound_type)));
        let values: Vec<&[f64]> =
            places.iter().map(|i| &self.values[i * self.n_values..(i + 1) * self.n_values]).collect();
        let mut first = 0;
        for property in request.columns {
            columns.push(property.column(&values, first));
            first += property.n_parts();
        }
        let text = "1 if unbinding converged: all are bound, and nobody plainly bound is left out; else 0";
        columns.extend([
            column("unbinding_passes", none, "number of passes of unbinding", counts(|c| c.passes)),
            column("unbinding_converged", none, text, counts(|c| c.is_converged)),
        ]);
        if request.with_members && kind != RowKind::Halo {
            let text =
                "row of its first particle in the table members, from 0; the next n_bound rows are its own";
            columns.push(column("members_offset", none, text, counts(|c| c.first_member)));
        }
        columns
    }

    /// Numbers and masses with those of all clumps in a clump.
    fn inclusive_columns(&self, places: &[usize]) -> [TableColumn; 2] {
        let masses = places.iter().map(|i| self.rows[*i].mass_inclusive).collect();
        let text = "number of bound particles and gas cells, with those of all clumps in it";
        let numbers = self.counts(places, |clump| clump.n_bound_inclusive);
        let number = column("n_bound_inclusive", Dimension::NONE, text, numbers);
        let text = "mass of the bound particles, with those of all clumps in it";
        [number, column("bound_mass_inclusive", Dimension::MASS, text, Values::F64(masses))]
    }

    /// The columns of haloes that are not unbound as a whole.
    fn sums_of_clumps(&self, rows: &[HaloClump]) -> Vec<TableColumn> {
        let places = self.places(rows);
        let text = "number of particles bound to its main clump and to the clumps in it";
        let numbers = self.counts(&places, |halo| halo.n_bound_inclusive);
        let number = column("n_bound", Dimension::NONE, text, numbers);
        let text = "mass of the particles bound to its main clump and to the clumps in it";
        let masses = Values::F64(places.iter().map(|i| self.rows[*i].mass_inclusive).collect());
        vec![number, column("bound_mass", Dimension::MASS, text, masses)]
    }
}

/// Masses, radii and concentrations of the spheres of each row. `centre` names their centre.
pub fn sphere_columns(rows: &[[Sphere; N_DENSITIES]], centre: &str) -> Vec<TableColumn> {
    let mut columns = Vec::new();
    for (i, (name, what)) in SPHERES_BY_DENSITY.iter().enumerate() {
        let reals =
            |of: fn(&Sphere) -> f64| Values::F64(rows.iter().map(|spheres| of(&spheres[i])).collect());
        let sphere = format!(
            "of the sphere about {centre} with {what}, of all particles and gas cells; 0 if not found"
        );
        let mut add = |quantity: &str, dimension, text: String, values| {
            columns.push(column(&format!("{quantity}_{name}"), dimension, &text, values));
        };
        add("mass", Dimension::MASS, format!("mass {sphere}"), reals(|s| s.mass));
        add("radius", Dimension::LENGTH, format!("radius {sphere}"), reals(|s| s.radius));
        // SOAP has no concentration within 500 times the critical density.
        if *name != "500_crit" {
            let text = format!("concentration {sphere} or below 10 particles");
            add("concentration", Dimension::NONE, text, reals(|s| s.concentration));
        }
        let of_types = [("gas_mass", "gas"), ("dark_matter_mass", "dark matter"), ("stellar_mass", "stars")];
        for (t, (quantity, of_type)) in of_types.into_iter().enumerate() {
            let text = format!("mass of the {of_type} within the radius, by particles and parts of cells");
            let masses = rows.iter().map(|spheres| spheres[i].mass_of_type[t]).collect();
            add(quantity, Dimension::MASS, text, Values::F64(masses));
        }
    }
    columns
}

/// Names of spheres and their mean densities, in the order of `spheres::densities`.
const SPHERES_BY_DENSITY: [(&str, &str); N_DENSITIES] = [
    ("200_crit", "200 times the critical density"),
    ("200_mean", "200 times the mean density"),
    ("500_crit", "500 times the critical density"),
    ("bn98", "the virial density of Bryan & Norman 1998"),
];

fn members_table(particles: &[BoundParticle], names: &MemberNames) -> Table {
    let none = Dimension::NONE;
    let energy = Dimension::new(2, 0, -2);
    let owner = names.owner;
    let owners = particles.iter().map(|p| (names.number)(p.clump)).collect();
    let reals = |of: fn(&BoundParticle) -> f64| Values::F64(particles.iter().map(of).collect());
    let columns = vec![
        column(
            "id",
            none,
            "identity of the particle, or row of the gas cell in the table cells",
            Values::U64(particles.iter().map(|p| p.id).collect()),
        ),
        column(
            "type",
            none,
            "0 gas, 1 dark matter, 4 stars, 5 other; identities are unique within a type",
            Values::U8(particles.iter().map(|p| p.particle_type).collect()),
        ),
        column(owner, none, &format!("identifier of the {owner} that it is bound to"), Values::U64(owners)),
        column(
            "energy",
            energy,
            &format!("energy per mass in the frame of the {owner}"),
            reals(|p| p.energy),
        ),
        column(
            "potential",
            energy,
            &format!("potential that binds it to the {owner}"),
            reals(|p| p.potential),
        ),
    ];
    Table { name: "members".into(), columns }
}
