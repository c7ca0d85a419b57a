//! Clumps, groups or voids as viewers see them: points with a mass and a radius, and their members.

use super::{Catalogue, Table, Values, WriteError, WriteResult};
use std::collections::HashMap;
use std::f64::consts::PI;
use std::path::Path;

/// The kinds: a table, the name of the kind, and its columns of identifiers, places, masses and velocities.
const KINDS: [(&str, [&str; 5]); 3] = [
    ("clumps", ["clumps", "id", "peak_position_refined", "mass", "bulk_velocity"]),
    ("Groups", ["groups", "GroupIDs", "Centres", "Masses", "Velocities"]),
    ("voids", ["voids", "id", "centre", "mass", "bulk_velocity"]),
];

/// The clumps, groups or voids of a catalogue, one row each, in code units.
#[derive(Debug)]
pub struct Objects<'a> {
    /// Their kind, as in names of files: `clumps`, `groups` or `voids`.
    pub name: &'static str,
    /// Their table.
    pub table: &'a Table,
    /// Identifiers.
    pub id: Vec<i64>,
    /// Peaks of clumps, centres of mass of groups, centres of volume of voids.
    pub position: &'a [[f64; 3]],
    /// Masses.
    pub mass: &'a [f64],
    /// Bulk velocities, if they are known.
    pub velocity: Option<&'a [[f64; 3]]>,
}

/// The members of objects, object by object.
#[derive(Debug, PartialEq, Eq)]
pub struct MemberLists {
    /// Identities.
    pub id: Vec<u64>,
    /// Their types, if the catalogue states them.
    pub kind: Option<Vec<u8>>,
    /// Number of members of each object.
    pub number: Vec<i64>,
    /// The place of its first one.
    pub first: Vec<i64>,
}

impl<'a> Objects<'a> {
    /// Of a catalogue; `path` is for the message.
    ///
    /// # Errors
    /// The catalogue has neither clumps nor groups nor voids, or lacks a column of theirs.
    pub fn new(path: &Path, catalogue: &'a Catalogue) -> WriteResult<Self> {
        let found = KINDS.iter().find_map(|(table, kind)| Some((catalogue.table(table)?, kind)));
        let (table, [name, id, position, mass, velocity]) = found.ok_or_else(|| {
            let expected = "a catalogue of `inselberg phew`, `fof` or `voids`";
            WriteError::content(path, "catalogue", "neither clumps nor groups nor voids", expected)
        })?;
        let absent = |column: &str| {
            let place = format!("{}/{column}", table.name);
            WriteError::content(path, place, "no such column of this type", "a catalogue of `inselberg`")
        };
        Ok(Self {
            name: *name,
            table,
            id: table.integers(id).ok_or_else(|| absent(id))?,
            // Catalogues of other finders have bound objects only.
            position: table
                .vectors(position)
                .or_else(|| table.vectors("most_bound_position"))
                .ok_or_else(|| absent(position))?,
            mass: table.reals(mass).or_else(|| table.reals("bound_mass")).ok_or_else(|| absent(mass))?,
            velocity: table.vectors(velocity).or_else(|| table.vectors("bound_velocity")),
        })
    }

    /// A radius for each, and its description. For a clump, it is that of the sphere with its volume. For a
    /// group, it is that with 200 times the critical density, or else the distance of the farthest member. A
    /// void states its own. 0 if it is not known.
    pub fn radius(&self) -> (Vec<f64>, &'static str) {
        if self.name == "voids" {
            return (self.or_zeros(self.table.reals("radius").unwrap_or(&[]).to_vec()), "radius");
        }
        if self.name == "clumps" {
            let of_volume = |volume: &f64| (0.75 * volume / PI).cbrt();
            let volumes = self.table.reals("volume").unwrap_or(&[]);
            return (self.or_zeros(volumes.iter().map(of_volume).collect()), "volume");
        }
        match (self.table.reals("radius_200_crit"), self.table.column("Radii").map(|c| &c.values)) {
            (Some(radii), _) => (radii.to_vec(), "radius_200_crit"),
            (None, Some(Values::F32(radii))) => (radii.iter().map(|r| f64::from(*r)).collect(), "Radii"),
            _ => (self.or_zeros(Vec::new()), "none"),
        }
    }

    fn or_zeros(&self, list: Vec<f64>) -> Vec<f64> {
        if list.len() == self.id.len() { list } else { vec![0.0; self.id.len()] }
    }

    /// The row of the object into which each one merges; `None` for main clumps, for groups, and if that
    /// object is not listed.
    pub fn parents(&self) -> Vec<Option<usize>> {
        let rows = self.rows();
        let parents = self.table.integers("parent").unwrap_or_else(|| self.id.clone());
        let row = |(id, parent): (&i64, &i64)| rows.get(parent).filter(|_| id != parent).copied();
        self.id.iter().zip(&parents).map(row).collect()
    }

    /// Their members, from the table of bound ones, or else from that of all particles; `None` if the
    /// catalogue has neither.
    pub fn members(&self, catalogue: &Catalogue) -> Option<MemberLists> {
        let table = catalogue.table("members").or_else(|| catalogue.table("particles"))?;
        let (ids, owners) =
            (table.identities("id")?, table.integers("clump").or_else(|| table.integers("group"))?);
        let rows = self.rows();
        let mut number = vec![0; self.id.len()];
        owners.iter().filter_map(|owner| rows.get(owner)).for_each(|row| number[*row] += 1);
        let mut n = 0;
        let first: Vec<i64> = number.iter().map(|here| (n, n += here).0).collect();
        let (mut next, mut order) = (first.clone(), vec![0; n as usize]);
        for (member, row) in owners.iter().enumerate().filter_map(|(m, owner)| Some((m, *rows.get(owner)?))) {
            order[next[row] as usize] = member;
            next[row] += 1;
        }
        let kinds = match table.column("type").map(|c| &c.values) {
            Some(Values::U8(kinds)) => Some(kinds),
            _ => None,
        };
        Some(MemberLists {
            id: order.iter().map(|m| ids[*m]).collect(),
            kind: kinds.map(|kinds| order.iter().map(|m| kinds[*m]).collect()),
            number,
            first,
        })
    }

    /// The row of each identifier.
    fn rows(&self) -> HashMap<i64, usize> {
        self.id.iter().copied().zip(0..).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Dimension, TableColumn};

    fn column(name: &str, values: Values) -> TableColumn {
        TableColumn { name: name.into(), dimension: Dimension::NONE, description: String::new(), values }
    }

    fn catalogue() -> Catalogue {
        let clumps = vec![
            column("id", Values::U64(vec![1, 2, 5])),
            column("parent", Values::U64(vec![1, 1, 4])),
            column("peak_position_refined", Values::F64x3(vec![[0.5; 3]; 3])),
            column("mass", Values::F64(vec![1.0; 3])),
            column("volume", Values::F64(vec![4.0 / 3.0 * PI; 3])),
        ];
        let particles = vec![
            column("id", Values::U64(vec![10, 11, 12, 13, u64::MAX])),
            column("clump", Values::U64(vec![5, 1, 0, 5, 1])),
        ];
        let tables = vec![
            Table { name: "clumps".into(), columns: clumps },
            Table { name: "particles".into(), columns: particles },
        ];
        Catalogue { attributes: vec![], tables }
    }

    #[test]
    fn particles_come_clump_by_clump() {
        let catalogue = catalogue();
        let clumps = Objects::new(Path::new("c"), &catalogue).expect("clumps");
        let expected = MemberLists {
            id: vec![11, u64::MAX, 10, 13],
            kind: None,
            number: vec![2, 0, 2],
            first: vec![0, 2, 2],
        };
        assert_eq!(clumps.members(&catalogue), Some(expected));
        assert_eq!(clumps.parents(), [None, Some(0), None]);
        assert_eq!(clumps.radius(), (vec![1.0; 3], "volume"));
    }

    #[test]
    fn a_catalogue_without_objects_is_refused() {
        let none = Catalogue::default();
        let error = Objects::new(Path::new("c.h5"), &none).expect_err("refused").to_string();
        assert!(error.contains("c.h5: catalogue: neither clumps nor groups nor voids; expected"), "{error}");
    }
}
