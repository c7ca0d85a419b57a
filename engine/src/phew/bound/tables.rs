//! What is bound, as columns of clumps and haloes, and as the table of members.

use crate::error::RunError;
use crate::exchange::bundle::SendBuffers;
use crate::phew::bound::columns::BoundColumn;
use crate::phew::bound::rows::RowDirectory;
use crate::phew::bound::spheres::{N_DENSITIES, Sphere};
use crate::phew::bound::unbind::{BoundClump, BoundHaloes, BoundParticle};
use crate::phew::hierarchy::Structures;
use crate::tables::{column, in_order};
use inselberg_comm::{Comm, CommError};
use inselberg_io::catalogue::{Dimension, PartTable, Table, Values};
use inselberg_kernels::props::Structure;

/// To the ranks with rows: clumps, the values of their properties in the same order, and main clumps for the rows of haloes,
/// with their spheres.
const CLUMPS: usize = 0;
const VALUES: usize = 1;
const HALOES: usize = 2;
const SPHERES: usize = 3;

/// What tables get.
pub struct TableRequest<'a> {
    /// The properties.
    pub columns: &'a [&'a BoundColumn],
    /// The spheres of each halo, where they are found.
    pub spheres: Option<Vec<[Sphere; N_DENSITIES]>>,
    /// Whether bound particles are listed.
    pub with_members: bool,
}

impl TableRequest<'_> {
    /// Collective: adds columns to the tables `clumps` and `haloes`, and the table `members` if it is wanted. One exchange.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn add(
        &self,
        tables: &mut Vec<PartTable>,
        mut bound: BoundHaloes,
        structures: &Structures,
        comm: &Comm,
    ) -> Result<(), RunError> {
        let before = comm.sum_before(bound.particles.len() as u64)?;
        bound.clumps.iter_mut().for_each(|clump| clump.first_member += before);
        let found = FoundRows::new(&bound, self, structures, comm)?;
        for part in tables.iter_mut() {
            match part.table.name.as_str() {
                "clumps" => found.add_to_clumps(&mut part.table, &structures.clumps, self),
                "haloes" => found.add_to_haloes(&mut part.table, &structures.haloes, self.spheres.is_some()),
                _ => {}
            }
        }
        if self.with_members {
            tables.push(in_order(members_table(&bound.particles), comm)?);
        }
        Ok(())
    }
}

/// What is bound, for the rows of this rank: by identifier.
struct FoundRows {
    clumps: Vec<BoundClump>,
    /// The values of each clump.
    values: Vec<f64>,
    n_values: usize,
    haloes: Vec<BoundHalo>,
}

/// The main clump of a halo, and its spheres.
struct BoundHalo {
    main: BoundClump,
    spheres: [Sphere; N_DENSITIES],
}

impl FoundRows {
    /// Collective: sends what is bound to the ranks with rows.
    fn new(
        bound: &BoundHaloes,
        request: &TableRequest,
        structures: &Structures,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let n_values = request.columns.iter().map(|column| column.n_parts()).sum();
        let mut buffers = SendBuffers::<4>::default();
        let (clump_rows, halo_rows) =
            (RowDirectory::new(&structures.clumps, comm)?, RowDirectory::new(&structures.haloes, comm)?);
        for (clump, values) in bound.clumps.iter().zip(bound.values.chunks_exact(n_values)) {
            // A main clump may be listed as a halo only.
            if let Some(holder) = clump_rows.holder(clump.id) {
                buffers.put(holder, CLUMPS, &[*clump]);
                buffers.put(holder, VALUES, values);
            }
        }
        let mains = bound.clumps.iter().filter(|clump| clump.id == clump.halo);
        for (i, main) in mains.enumerate() {
            let holder = halo_rows.holder(main.id).expect("a halo that is worked on is listed");
            buffers.put(holder, HALOES, &[*main]);
            buffers.put(
                holder,
                SPHERES,
                &request.spheres.as_ref().map_or_else(Default::default, |all| all[i]),
            );
        }
        let received = buffers.exchange(comm)?;
        let clumps_of = |kind: usize| {
            received.iter().flat_map(|bundle| bundle.records::<BoundClump>(kind)).collect::<Vec<_>>()
        };
        let clumps = clumps_of(CLUMPS);
        let values: Vec<f64> = received.iter().flat_map(|bundle| bundle.records::<f64>(VALUES)).collect();
        let mut order: Vec<usize> = (0..clumps.len()).collect();
        order.sort_unstable_by_key(|i| clumps[*i].id);
        let spheres: Vec<Sphere> =
            received.iter().flat_map(|bundle| bundle.records::<Sphere>(SPHERES)).collect();
        let of_halo = spheres.as_chunks::<N_DENSITIES>().0;
        let mut haloes: Vec<BoundHalo> = clumps_of(HALOES)
            .into_iter()
            .zip(of_halo)
            .map(|(main, spheres)| BoundHalo { main, spheres: *spheres })
            .collect();
        haloes.sort_unstable_by_key(|halo| halo.main.id);
        Ok(Self {
            clumps: order.iter().map(|i| clumps[*i]).collect(),
            values: order.iter().flat_map(|i| &values[i * n_values..(i + 1) * n_values]).copied().collect(),
            n_values,
            haloes,
        })
    }

    fn add_to_clumps(&self, table: &mut Table, rows: &[Structure], request: &TableRequest) {
        let place = |row: &Structure| self.clumps.binary_search_by_key(&row.id, |clump| clump.id);
        let places: Vec<usize> =
            rows.iter().map(|row| place(row).expect("each listed clump was worked on")).collect();
        let counts =
            |of: fn(&BoundClump) -> u64| Values::U64(places.iter().map(|i| of(&self.clumps[*i])).collect());
        let masses = places.iter().map(|i| self.clumps[*i].mass_inclusive).collect();
        let none = Dimension::NONE;
        let ids = counts(|clump| clump.most_bound_id);
        table.columns.extend([
            column(
                "n_bound",
                none,
                "number of bound particles; 0 if fewer than 20 are bound",
                counts(|c| c.n_bound),
            ),
            column(
                "n_bound_inclusive",
                none,
                "number of bound particles, with those of all clumps in it",
                counts(|c| c.n_bound_inclusive),
            ),
            column(
                "bound_mass_inclusive",
                Dimension::new(0, 1, 0),
                "mass of the bound particles, with those of all clumps in it",
                Values::F64(masses),
            ),
            column("most_bound_id", none, "identity of the most bound particle; 0 if none is bound", ids),
        ]);
        let values: Vec<&[f64]> =
            places.iter().map(|i| &self.values[i * self.n_values..(i + 1) * self.n_values]).collect();
        let mut first = 0;
        for property in request.columns {
            table.columns.push(property.column(&values, first));
            first += property.n_parts();
        }
        table.columns.extend([
            column("unbinding_passes", none, "number of passes of unbinding", counts(|c| c.passes)),
            column(
                "unbinding_converged",
                none,
                "1 if a last full computation found all particles bound, else 0",
                counts(|c| c.is_converged),
            ),
        ]);
        if request.with_members {
            let text = "row of its most bound particle in the table members, from 0; the next n_bound rows are its own";
            table.columns.push(column("members_offset", none, text, counts(|c| c.first_member)));
        }
    }

    fn add_to_haloes(&self, table: &mut Table, rows: &[Structure], with_spheres: bool) {
        let place = |row: &Structure| self.haloes.binary_search_by_key(&row.id, |halo| halo.main.id);
        let haloes: Vec<&BoundHalo> = rows
            .iter()
            .map(|row| &self.haloes[place(row).expect("each listed halo was worked on")])
            .collect();
        let text = "number of particles bound to its main clump and to the clumps in it";
        let counts = Values::U64(haloes.iter().map(|halo| halo.main.n_bound_inclusive).collect());
        table.columns.push(column("n_bound", Dimension::NONE, text, counts));
        let mass = Dimension::new(0, 1, 0);
        let text = "mass of the particles bound to its main clump and to the clumps in it";
        let masses = Values::F64(haloes.iter().map(|halo| halo.main.mass_inclusive).collect());
        table.columns.push(column("bound_mass", mass, text, masses));
        if !with_spheres {
            return;
        }
        for (i, (name, what)) in SPHERES_BY_DENSITY.iter().enumerate() {
            let reals = |of: fn(&Sphere) -> f64| {
                Values::F64(haloes.iter().map(|halo| of(&halo.spheres[i])).collect())
            };
            let sphere = format!(
                "of the sphere about its most bound particle with {what}, of all particles; 0 if not found"
            );
            table.columns.extend([
                column(&format!("mass_{name}"), mass, &format!("mass {sphere}"), reals(|s| s.mass)),
                column(
                    &format!("radius_{name}"),
                    Dimension::new(1, 0, 0),
                    &format!("radius {sphere}"),
                    reals(|s| s.radius),
                ),
            ]);
            // SOAP has no concentration within 500 times the critical density.
            if *name != "500_crit" {
                let text = format!("concentration {sphere} or below 10 particles");
                let values = reals(|s| s.concentration);
                table.columns.push(column(&format!("concentration_{name}"), Dimension::NONE, &text, values));
            }
        }
    }
}

/// Names of spheres and their mean densities, in the order of `spheres::densities`.
const SPHERES_BY_DENSITY: [(&str, &str); N_DENSITIES] = [
    ("200_crit", "200 times the critical density"),
    ("200_mean", "200 times the mean density"),
    ("500_crit", "500 times the critical density"),
    ("bn98", "the virial density of Bryan & Norman 1998"),
];

fn members_table(particles: &[BoundParticle]) -> Table {
    let none = Dimension::NONE;
    let energy = Dimension::new(2, 0, -2);
    let counts = |of: fn(&BoundParticle) -> u64| Values::U64(particles.iter().map(of).collect());
    let reals = |of: fn(&BoundParticle) -> f64| Values::F64(particles.iter().map(of).collect());
    let columns = vec![
        column(
            "id",
            none,
            "identity of the particle",
            Values::I64(particles.iter().map(|p| p.id.cast_signed()).collect()),
        ),
        column("clump", none, "identifier of the clump that it is bound to", counts(|p| p.clump)),
        column(
            "energy",
            energy,
            "energy per mass in the frame of the core of the clump, below 0",
            reals(|p| p.energy),
        ),
        column("potential", energy, "potential by the bound particles of the clump", reals(|p| p.potential)),
    ];
    Table { name: "members".into(), columns }
}
