//! What our readers read, in physical units, as arrays that Python opens.

use crate::common::every_column;
use crate::common::npy::npy_header;
use crate::fields::leaves;
use inselberg_io::particles::{Columns, ParticleHeader, ParticleInput, Species, open_particles};
use inselberg_io::{Cosmology, Units};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with an array for each quantity.
pub struct Arrays<'a>(pub &'a Path);

impl Arrays<'_> {
    fn put<const N: usize>(&self, name: &str, rows: &[[f64; N]]) {
        let shape = [rows.len(), N];
        let numbers = rows.iter().flatten().flat_map(|x| x.to_le_bytes());
        let file = npy_header(&shape, false, "<f8").into_iter().chain(numbers).collect::<Vec<u8>>();
        fs::write(self.0.join(format!("{name}.npy")), file).expect("written");
    }

    fn put_ids(&self, name: &str, ids: &[u64]) {
        let numbers = ids.iter().flat_map(|id| id.to_le_bytes());
        let file = npy_header(&[ids.len()], false, "<u8").into_iter().chain(numbers).collect::<Vec<u8>>();
        fs::write(self.0.join(format!("{name}.npy")), file).expect("written");
    }

    fn one(&self, name: &str, value: f64) {
        self.put(name, &[[value]]);
    }

    /// The expansion factor and the constants of the run, or its time in seconds.
    fn time_and_constants(&self, cosmology: Option<&Cosmology>, time: f64) {
        match cosmology {
            // A time of 0 is none.
            None if time == 0.0 => {}
            None => self.one("time", time),
            Some(c) => {
                self.one("scale", c.aexp);
                self.one("hubble", c.h0 / 100.0);
                self.one("matter", c.omega_m);
                self.one("lambda", c.omega_l);
            }
        }
    }

    /// The box, and positions, velocities, masses, identities and gas densities by number of the type.
    /// Whether units are assumed.
    pub fn particles(&self, path: &Path) -> bool {
        let input = open_particles(&[PathBuf::from(path)]).unwrap_or_else(|error| panic!("{error}"));
        let about = input.about();
        let scales = Scales::of(about.units.as_ref());
        if let Some(sides) = about.sides {
            self.put("box", &[sides.map(|side| side * scales.length)]);
        }
        self.time_and_constants(about.cosmology.as_ref(), about.time * scales.time);
        for (species, of) in about.species.iter().enumerate() {
            let columns = rows_of(input.as_ref(), species, about);
            let kinds = columns.kind.as_ref().expect("asked for");
            let mut present = kinds.clone();
            present.sort_unstable();
            present.dedup();
            for kind in present {
                let own: Vec<usize> = (0..kinds.len()).filter(|i| kinds[*i] == kind).collect();
                self.kind(kind, &own, &columns, of, &scales);
            }
        }
        !about.assumed_units.is_empty()
    }

    fn kind(&self, kind: u8, own: &[usize], columns: &Columns, of: &Species, scales: &Scales) {
        let name = |quantity: &str| format!("{quantity}{kind}");
        let of_own = |i: &usize| columns.position.get(*i).map(|x| x * scales.length);
        self.put(&name("position"), &own.iter().map(of_own).collect::<Vec<_>>());
        if of.mass != inselberg_io::particles::MassOf::Unknown {
            let mass = columns.mass.as_ref().expect("asked for");
            self.put(&name("mass"), &own.iter().map(|i| [mass[*i] * scales.mass]).collect::<Vec<_>>());
        }
        if of.has_velocities {
            let velocity = columns.velocity.as_ref().expect("asked for");
            let physical = |i: &usize| velocity[*i].map(|v| f64::from(v) * scales.length / scales.time);
            self.put(&name("velocity"), &own.iter().map(physical).collect::<Vec<_>>());
        }
        if of.has_ids {
            let ids = columns.id.as_ref().expect("asked for");
            self.put_ids(&name("id"), &own.iter().map(|i| ids[*i]).collect::<Vec<_>>());
        }
        if of.has_densities {
            let density = columns.density.as_ref().expect("asked for");
            let physical = |i: &usize| [f64::from(density[*i]) * scales.density];
            self.put(&name("density"), &own.iter().map(physical).collect::<Vec<_>>());
        }
    }

    /// The leaves by centre and side, and their values of a field.
    pub fn cells(&self, path: &Path, field: &str) {
        let snapshot = inselberg_io::open(path).unwrap_or_else(|error| panic!("{error}"));
        let header = snapshot.header();
        let scales = Scales::of(Some(&header.units));
        self.put("box", &[header.coarse.map(|n| f64::from(n) * header.boxlen * scales.length)]);
        self.time_and_constants(header.cosmology.as_ref(), header.time * scales.time);
        let found = leaves(snapshot.as_ref(), field).unwrap_or_else(|error| panic!("{error}"));
        let place = |(level, ijk): &(u8, [u32; 3])| {
            let side = header.boxlen / f64::from(1u32 << level);
            let [x, y, z]: [f64; 3] =
                std::array::from_fn(|a| header.origin[a] + (f64::from(ijk[a]) + 0.5) * side);
            [x, y, z, side].map(|x| x * scales.length)
        };
        let unit = if field == "density" { scales.density } else { 1.0 };
        self.put("cells", &found.keys().map(place).collect::<Vec<_>>());
        self.put("values", &found.values().map(|value| [value * unit]).collect::<Vec<_>>());
    }
}

/// Physical sizes of the units of a code, 1 where it states none.
struct Scales {
    length: f64,
    time: f64,
    density: f64,
    mass: f64,
}

impl Scales {
    fn of(units: Option<&Units>) -> Self {
        let (length, time, density) = units.map_or((1.0, 1.0, 1.0), |u| (u.length, u.time, u.density));
        Self { length, time, density, mass: density * length.powi(3) }
    }
}

fn rows_of(input: &dyn ParticleInput, species: usize, about: &ParticleHeader) -> Columns {
    let mut columns = every_column(true);
    input.read(species, 0..about.species[species].n, &mut columns).unwrap_or_else(|error| panic!("{error}"));
    columns
}
