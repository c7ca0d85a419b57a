//! Haloes of Rockstar in text: `halos_0.0.ascii`, and `out_N.list` with or without parents.
//!
//! The first line names the columns, the next ones state cosmology and units. Both kinds of files have
//! positions in comoving Mpc/h, masses in Msun/h, velocities in km/s and radii in comoving kpc/h.

use super::{FINDER, FinderCatalogue, column};
use crate::catalogue::{AttributeList, Catalogue, Dimension, Table, Values};
use crate::dimension::{KILOMETRE, MEGAPARSEC, SOLAR_MASS};
use crate::{Cosmology, ReadError, ReadResult, Units, input_file};
use std::collections::HashMap;
use std::path::Path;

/// Radii are in kpc/h, positions in Mpc/h.
const PER_RADIUS: f64 = 1e-3;

/// Columns of reals: their names in both kinds of files in lower case, our name, the factor to code units,
/// dimension and description. Where a file has several names, the first one counts.
type ListColumn = (&'static [&'static str], &'static str, f64, Dimension, &'static str);

const REALS: [ListColumn; 11] = [
    (&["mbound_vir", "mvir"], "bound_mass", 1.0, Dimension::MASS, "bound mass within the virial radius"),
    (&["rvir"], "radius_virial", PER_RADIUS, Dimension::LENGTH, "virial radius"),
    (&["vmax"], "maximum_circular_velocity", 1.0, Dimension::VELOCITY, "greatest circular velocity"),
    (
        &["rvmax"],
        "maximum_circular_velocity_radius",
        PER_RADIUS,
        Dimension::LENGTH,
        "radius of the maximum circular velocity",
    ),
    (&["vrms"], "velocity_dispersion", 1.0, Dimension::VELOCITY, "velocity dispersion in three dimensions"),
    (&["rs"], "scale_radius", PER_RADIUS, Dimension::LENGTH, "scale radius of an NFW profile"),
    (&["m200b"], "mass_200_mean", 1.0, Dimension::MASS, "mass within 200 times the mean density"),
    (&["m200c"], "mass_200_crit", 1.0, Dimension::MASS, "mass within 200 times the critical density"),
    (&["m500c"], "mass_500_crit", 1.0, Dimension::MASS, "mass within 500 times the critical density"),
    (&["m2500c"], "mass_2500_crit", 1.0, Dimension::MASS, "mass within 2500 times the critical density"),
    (&["spin"], "spin_peebles", 1.0, Dimension::NONE, "spin (Peebles 1969)"),
];

/// Opens a list.
pub fn open(path: &Path) -> ReadResult<FinderCatalogue> {
    let bytes = input_file::read(path).map_err(|error| ReadError::io(path, "reading", error))?;
    let text = String::from_utf8_lossy(&bytes);
    let list = HaloList::parse(path, &text)?;
    let objects = Catalogue { attributes: list.attributes(), tables: vec![list.table()?] };
    Ok(FinderCatalogue { path: path.into(), objects, members: None })
}

/// A list: its head, and its values by column.
struct HaloList<'a> {
    path: &'a Path,
    head: Head,
    places: HashMap<String, usize>,
    columns: Vec<Vec<f64>>,
    ids: Vec<u64>,
}

/// What the lines before the haloes state.
#[derive(Debug, Default)]
struct Head {
    aexp: Option<f64>,
    omega_m: Option<f64>,
    omega_l: Option<f64>,
    h: Option<f64>,
    side: Option<f64>,
}

impl Head {
    fn read(&mut self, line: &str) {
        for statement in line.trim_start_matches('#').split(';') {
            let parts = statement.split_once('=').or_else(|| statement.split_once(':'));
            let Some((name, value)) = parts else { continue };
            let value = value.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
            let value = value.filter(|value| value.is_finite());
            match name.trim() {
                "a" => self.aexp = value,
                "Om" => self.omega_m = value,
                "Ol" => self.omega_l = value,
                "h" => self.h = value,
                "Box size" => self.side = value,
                _ => {}
            }
        }
    }
}

impl<'a> HaloList<'a> {
    fn parse(path: &'a Path, text: &str) -> ReadResult<Self> {
        let mut lines = text.lines().enumerate();
        let names = lines.next().map_or("", |(_, line)| line);
        let places: HashMap<String, usize> = names
            .trim_start_matches('#')
            .split_whitespace()
            .enumerate()
            .map(|(place, name)| (name.to_lowercase(), place))
            .collect();
        let n_columns = places.len();
        let mut list = Self {
            path,
            head: Head::default(),
            places,
            columns: vec![Vec::new(); n_columns],
            ids: Vec::new(),
        };
        let id_at = list.place(&["id"])?;
        for (number, line) in lines {
            if line.starts_with('#') {
                list.head.read(line);
                continue;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            let place = || format!("line {}", number + 1);
            if words.len() != n_columns {
                let problem = format!("{} values", words.len());
                return Err(list.bad(place(), problem, format!("{n_columns}, as the first line names")));
            }
            let id = words[id_at].parse().map_err(|_| list.bad(place(), words[id_at], "an identifier"))?;
            list.ids.push(id);
            for (at, word) in words.iter().enumerate() {
                let value = word.parse().map_err(|_| list.bad(place(), *word, "a number"))?;
                list.columns[at].push(value);
            }
        }
        Ok(list)
    }

    fn bad(&self, place: String, problem: impl Into<String>, expected: impl Into<String>) -> ReadError {
        ReadError::content(self.path, place, problem, expected)
    }

    /// The place of the first of these columns that exists.
    fn find(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.places.get(*name).copied())
    }

    fn place(&self, names: &[&str]) -> ReadResult<usize> {
        let absent = || self.bad("line 1".into(), format!("no column {}", names[0]), "a list of Rockstar");
        self.find(names).ok_or_else(absent)
    }

    fn vectors(&self, names: [&str; 3]) -> ReadResult<Vec<[f64; 3]>> {
        let [x, y, z] = names.map(|name| self.place(&[name]));
        let [x, y, z] = [x?, y?, z?].map(|at| &self.columns[at]);
        Ok((0..self.ids.len()).map(|row| [x[row], y[row], z[row]]).collect())
    }

    fn table(&self) -> ReadResult<Table> {
        let n_particles = &self.columns[self.place(&["num_p", "np"])?];
        let mut columns = vec![
            column("id", Dimension::NONE, "identifier of Rockstar", Values::U64(self.ids.clone())),
            column(
                "n_bound",
                Dimension::NONE,
                "number of its particles",
                Values::U64(n_particles.iter().map(|n| *n as u64).collect()),
            ),
        ];
        if let Some(at) = self.find(&["pid"]) {
            columns.extend(self.hosts(at));
        }
        let position = self.vectors(["x", "y", "z"])?;
        let velocity = self.vectors(["vx", "vy", "vz"])?;
        columns.push(column("most_bound_position", Dimension::LENGTH, "centre", Values::F64x3(position)));
        columns.push(column("bound_velocity", Dimension::VELOCITY, "velocity", Values::F64x3(velocity)));
        for (names, name, factor, dimension, about) in REALS {
            if let Some(at) = self.find(names) {
                let values = self.columns[at].iter().map(|value| value * factor).collect();
                columns.push(column(name, dimension, about, Values::F64(values)));
            }
        }
        Ok(Table { name: "clumps".into(), columns })
    }

    /// The halo in which each one lies, from the column of `find_parents`; -1 for none.
    fn hosts(&self, at: usize) -> [crate::catalogue::TableColumn; 2] {
        let hosts = &self.columns[at];
        let parent = |row: usize| if hosts[row] < 0.0 { self.ids[row] } else { hosts[row] as u64 };
        let parents = (0..self.ids.len()).map(parent).collect();
        let is_central = hosts.iter().map(|host| u8::from(*host < 0.0)).collect();
        [
            column(
                "parent",
                Dimension::NONE,
                "the halo that contains it; itself if none",
                Values::U64(parents),
            ),
            column("is_central", Dimension::NONE, "1 for a halo in no other one", Values::U8(is_central)),
        ]
    }

    /// What our catalogues of the same snapshot state.
    fn attributes(&self) -> Vec<(String, crate::catalogue::Attribute)> {
        let mut list = AttributeList::new();
        list.text(FINDER, "Rockstar");
        list.text("input_format", "Rockstar");
        let (a, h) = (self.head.aexp.unwrap_or(1.0), self.head.h.unwrap_or(1.0));
        list.real("time", a);
        if let Some(side) = self.head.side {
            list.real("boxlen", side);
            list.reals("coarse_cells", &[1.0; 3]);
        }
        let length = MEGAPARSEC / h * a;
        let density = SOLAR_MASS / h / length.powi(3);
        list.units(&Units { length, density, time: length / KILOMETRE });
        if let (Some(omega_m), Some(omega_l)) = (self.head.omega_m, self.head.omega_l) {
            let omega_k = 1.0 - omega_m - omega_l;
            let cosmology =
                Cosmology { aexp: a, h0: 100.0 * h, omega_m, omega_l, omega_k, ..Cosmology::default() };
            list.cosmology(&cosmology);
        }
        list.into_attributes()
    }
}
