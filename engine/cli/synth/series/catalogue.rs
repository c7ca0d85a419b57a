//! The catalogue of an output, with the columns that `inselberg phew --unbind --with-members` writes for it.

use super::SeriesParams;
use super::rules::Haloes;
use super::sight::SeenHalo;
use crate::synth::stream::{Permutation, Purpose, mix};
use inselberg_io::NEWTON;
use inselberg_io::catalogue::units::{KILOMETRE, MEGAPARSEC};
use inselberg_io::catalogue::{Attribute, Catalogue, Dimension, Table, TableColumn, Values};

/// Expansion factor of the first output; the last one is at 1.
const FIRST_A: f64 = 0.2;
/// Side of the box at a = 1, in centimetres: 100 Mpc.
const SIDE: f64 = 100.0 * MEGAPARSEC;
/// Hubble constant in km/s/Mpc and density parameters.
const H0: f64 = 67.74;
const OMEGAS: [f64; 4] = [0.3089, 0.6911, 0.0, 0.0486];
/// The part of all particles that is in haloes.
const IN_HALOES: f64 = 0.25;

/// An output of a series.
pub(super) struct SeriesOutput {
    pub params: SeriesParams,
    /// Its place in the series, from 0.
    pub index: u32,
}

/// A halo as a catalogue lists it.
pub(super) struct ListedHalo {
    /// The halo.
    pub halo: usize,
    /// Its identifier in this catalogue.
    pub id: u64,
    /// Identifiers of the halo around it, and of the outermost one; its own in the field.
    pub parent: u64,
    pub outermost: u64,
    pub position: [f64; 3],
    pub velocity: [f64; 3],
    /// Counters of its members, the most bound first.
    pub members: Vec<u64>,
}

/// Units in cgs and the time of an output, in code units as RAMSES has them.
pub(super) struct Scales {
    pub a: f64,
    pub length: f64,
    pub density: f64,
    pub time: f64,
}

impl SeriesOutput {
    /// Its number.
    pub fn number(&self) -> i64 {
        i64::from(self.index) + 1
    }

    /// Mass of a particle: the mean density of the box is 1.
    pub fn particle_mass(&self) -> f64 {
        IN_HALOES / self.params.members as f64
    }

    pub fn scales(&self) -> Scales {
        let n_steps = f64::from(self.params.outputs.max(2) - 1);
        let a = FIRST_A.powf(1.0 - f64::from(self.index) / n_steps);
        let hubble = H0 * KILOMETRE / MEGAPARSEC;
        let critical = 3.0 * hubble * hubble / (8.0 * std::f64::consts::PI * NEWTON);
        Scales { a, length: SIDE * a, density: OMEGAS[0] * critical / a.powi(3), time: a * a / hubble }
    }

    /// The circular velocity at the radius of a halo of `n` particles and that radius, with 200 times the
    /// mean density, in code units.
    pub fn size(&self, n: usize) -> [f64; 2] {
        let mass = n as f64 * self.particle_mass();
        let radius = (3.0 * mass / (800.0 * std::f64::consts::PI)).cbrt();
        let scales = self.scales();
        let newton = NEWTON * scales.density * scales.time * scales.time;
        [(newton * mass / radius).sqrt(), radius]
    }

    /// The rows of its catalogue, by identifier. Identifiers say nothing about other outputs.
    pub fn rows(&self, haloes: &Haloes, seen: &[SeenHalo]) -> Vec<ListedHalo> {
        let seed = mix(self.params.seed ^ u64::from(self.index));
        let order = Permutation::new(seen.len().max(1) as u64, seed, Purpose::Order);
        let mut id_of = vec![0; haloes.all.len()];
        let mut host_of = vec![None; haloes.all.len()];
        for (place, halo) in seen.iter().enumerate() {
            id_of[halo.halo] = order.image(place as u64) + 1;
            host_of[halo.halo] = halo.host;
        }
        let outermost = |halo: usize| {
            let mut at = halo;
            while let Some(host) = host_of[at] {
                at = host;
            }
            id_of[at]
        };
        let row = |seen: &SeenHalo| {
            let halo = &haloes.all[seen.halo];
            ListedHalo {
                halo: seen.halo,
                id: id_of[seen.halo],
                parent: id_of[seen.host.unwrap_or(seen.halo)],
                outermost: outermost(seen.halo),
                position: halo.position,
                velocity: halo.velocity.map(|v| v * f64::from(self.params.outputs)),
                members: seen.members.clone(),
            }
        };
        let mut rows: Vec<ListedHalo> = seen.iter().map(row).collect();
        rows.sort_unstable_by_key(|row| row.id);
        rows
    }

    /// The catalogue; `identity` makes identities of counters.
    pub fn catalogue(&self, rows: &[ListedHalo], identity: impl Fn(u64) -> u64) -> Catalogue {
        let tables = vec![self.clumps(rows, &identity), members(rows, &identity)];
        Catalogue { attributes: self.attributes(), tables }
    }

    /// Attributes that catalogues and trees share.
    pub fn attributes(&self) -> Vec<(String, Attribute)> {
        let scales = self.scales();
        let reals = [
            ("time", -1.0 / scales.a),
            ("boxlen", 1.0),
            ("unit_length", scales.length),
            ("unit_density", scales.density),
            ("unit_time", scales.time),
            ("aexp", scales.a),
            ("h0", H0),
            ("omega_m", OMEGAS[0]),
            ("omega_l", OMEGAS[1]),
            ("omega_k", OMEGAS[2]),
            ("omega_b", OMEGAS[3]),
        ];
        let text = |name: &str, value: &str| (name.to_string(), Attribute::Text(value.into()));
        let mut attributes = vec![
            text("version", env!("CARGO_PKG_VERSION")),
            text("input", &format!("synthetic series, seed {}", self.params.seed)),
            text("input_format", "RAMSES units"),
            ("input_number".to_string(), Attribute::Int(self.number())),
        ];
        attributes.extend(reals.map(|(name, value)| (name.to_string(), Attribute::Real(value))));
        for (name, value) in [("coarse_cells", 1.0), ("periodic", 1.0)] {
            attributes.push((name.into(), Attribute::Reals(vec![value; 3])));
        }
        attributes
    }

    fn clumps(&self, rows: &[ListedHalo], identity: &impl Fn(u64) -> u64) -> Table {
        let none = Dimension::NONE;
        let counts = |of: &dyn Fn(&ListedHalo) -> u64| Values::U64(rows.iter().map(of).collect());
        let reals = |of: &dyn Fn(&ListedHalo) -> f64| Values::F64(rows.iter().map(of).collect());
        let vectors = |of: fn(&ListedHalo) -> [f64; 3]| Values::F64x3(rows.iter().map(of).collect());
        let size = |row: &ListedHalo| self.size(row.members.len());
        let mut first = 0;
        let offsets = rows.iter().map(|row| (first, first += row.members.len() as u64).0).collect();
        let most_bound = |row: &ListedHalo| identity(row.members[0]);
        let mass = |row: &ListedHalo| row.members.len() as f64 * self.particle_mass();
        let columns = vec![
            column("id", none, "identifier of the clump", counts(&|row| row.id)),
            column("halo", none, "identifier of the halo it is in", counts(&|row| row.outermost)),
            column(
                "parent",
                none,
                "identifier of the clump it is in; its own in the field",
                counts(&|row| row.parent),
            ),
            column("mass", Dimension::MASS, "mass of its members", reals(&mass)),
            column(
                "volume",
                Dimension::VOLUME,
                "volume of its sphere",
                reals(&|row| 4.0 / 3.0 * std::f64::consts::PI * size(row)[1].powi(3)),
            ),
            column("peak_position", Dimension::LENGTH, "centre", vectors(|row| row.position)),
            column("peak_position_refined", Dimension::LENGTH, "centre", vectors(|row| row.position)),
            column("n_bound", none, "number of members", counts(&|row| row.members.len() as u64)),
            column("most_bound_id", none, "identity of the most bound particle", counts(&most_bound)),
            column(
                "most_bound_type",
                none,
                "type of the most bound particle",
                counts(&|row| u64::from(kind(row.members[0]))),
            ),
            column("bound_mass", Dimension::MASS, "mass of the bound particles", reals(&mass)),
            column(
                "most_bound_position",
                Dimension::LENGTH,
                "position of the most bound particle",
                vectors(|row| row.position),
            ),
            column(
                "bound_velocity",
                Dimension::VELOCITY,
                "velocity of the bound particles",
                vectors(|row| row.velocity),
            ),
            column(
                "maximum_circular_velocity",
                Dimension::VELOCITY,
                "1.2 times the circular velocity at its radius",
                reals(&|row| 1.2 * size(row)[0]),
            ),
            column(
                "maximum_circular_velocity_radius",
                Dimension::LENGTH,
                "a fifth of its radius",
                reals(&|row| 0.2 * size(row)[1]),
            ),
            column(
                "half_mass_radius",
                Dimension::LENGTH,
                "0.4 of its radius",
                reals(&|row| 0.4 * size(row)[1]),
            ),
            column("members_offset", none, "row of its most bound particle in members", Values::U64(offsets)),
        ];
        Table { name: "clumps".into(), columns }
    }
}

fn members(rows: &[ListedHalo], identity: &impl Fn(u64) -> u64) -> Table {
    let n = rows.iter().map(|row| row.members.len()).sum();
    let (mut ids, mut kinds, mut owners) =
        (Vec::with_capacity(n), Vec::with_capacity(n), Vec::with_capacity(n));
    let (mut energies, mut potentials) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for row in rows {
        for (rank, counter) in row.members.iter().enumerate() {
            let depth = -1.0 / (1.0 + rank as f64 / row.members.len() as f64);
            ids.push(identity(*counter));
            kinds.push(kind(*counter));
            owners.push(row.id);
            energies.push(depth);
            potentials.push(1.5 * depth);
        }
    }
    let energy = Dimension::new(2, 0, -2);
    let columns = vec![
        column("id", Dimension::NONE, "identity of the particle", Values::U64(ids)),
        column("type", Dimension::NONE, "1 dark matter, 4 stars", Values::U8(kinds)),
        column("clump", Dimension::NONE, "identifier of the clump that it is bound to", Values::U64(owners)),
        column("energy", energy, "a number that rises with the rank", Values::F64(energies)),
        column("potential", energy, "1.5 times the energy", Values::F64(potentials)),
    ];
    Table { name: "members".into(), columns }
}

/// Every tenth particle is a star.
fn kind(counter: u64) -> u8 {
    if counter % 10 == 7 { 4 } else { 1 }
}

pub(super) fn column(name: &str, dimension: Dimension, description: &str, values: Values) -> TableColumn {
    TableColumn { name: name.into(), dimension, description: description.into(), values }
}
