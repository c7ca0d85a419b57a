//! Objects that a program has found itself, with their bound members: one by one, or in columns.

use crate::api::cells::Geometry;
use crate::column::{Column, VectorColumn};
use crate::error::{Error, ErrorKind};
use crate::tables::{AttributeList, column, in_order};
use inselberg_comm::{Comm, CommError};
use inselberg_io::catalogue::{Attribute, CataloguePart, Dimension, Table, Values};
use inselberg_io::particles::DARK_MATTER;
use std::ops::Range;

/// An object that a program has found itself, with its bound members.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TreeObject<'a> {
    /// Its identifier, below 2^40.
    pub id: u64,
    /// The object that contains it; its own identifier if there is none.
    pub parent: u64,
    /// Its mass, in the caller's units.
    pub mass: f64,
    /// Its position.
    pub position: [f64; 3],
    /// Its velocity.
    pub velocity: [f64; 3],
    /// Identities of its members, the most bound first.
    pub members: &'a [u64],
    /// Their types: 0 gas, 1 dark matter, 4 stars, 5 other. `None`: all are dark matter.
    pub types: Option<&'a [u8]>,
}

impl<'a> TreeObject<'a> {
    /// An object with these dark matter members, the most bound first. It is in no other object, with mass,
    /// position and velocity 0.
    pub fn new(id: u64, members: &'a [u64]) -> Self {
        Self { id, parent: id, mass: 0.0, position: [0.0; 3], velocity: [0.0; 3], members, types: None }
    }

    /// Sets the object that contains it, by its identifier.
    #[must_use]
    pub fn parent(self, parent: u64) -> Self {
        Self { parent, ..self }
    }

    /// Sets the mass.
    #[must_use]
    pub fn mass(self, mass: f64) -> Self {
        Self { mass, ..self }
    }

    /// Sets the position and the velocity.
    #[must_use]
    pub fn place(self, position: [f64; 3], velocity: [f64; 3]) -> Self {
        Self { position, velocity, ..self }
    }

    /// Sets the types of the members.
    #[must_use]
    pub fn types(self, types: &'a [u8]) -> Self {
        Self { types: Some(types), ..self }
    }
}

/// Objects that a program has found itself, in columns with one entry per object, and their members in
/// columns of their own.
///
/// ```
/// use inselberg::{Engine, Geometry, TreeColumns, TreeParams};
///
/// let mut engine = Engine::builder().threads(1).build()?;
/// let mut tree = engine.trees(&TreeParams::default())?;
/// // Object 1 has the first four members, object 2 the other three.
/// let (ids, n_members, members) = ([1_i32, 2], [4_i32, 3], [1_i64, 2, 3, 4, 11, 12, 13]);
/// let objects = TreeColumns::new(&ids, &n_members, &members).masses(&[4.0, 3.0]);
/// tree.add_columns(1, &Geometry::cube(1.0), &objects)?;
/// assert_eq!(tree.n_outputs(), 1);
/// # Ok::<(), inselberg::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TreeColumns<'a> {
    id: Column<'a>,
    n_members: Column<'a>,
    member: Column<'a>,
    first_member: Option<Column<'a>>,
    member_type: Option<Column<'a>>,
    parent: Option<Column<'a>>,
    mass: Option<Column<'a>>,
    position: Option<VectorColumn<'a>>,
    velocity: Option<VectorColumn<'a>>,
}

impl<'a> TreeColumns<'a> {
    /// The identifier of each object, below 2^40, and its number of members. `members` are the identities of
    /// all members, object by object, the most bound first.
    pub fn new(
        ids: impl Into<Column<'a>>,
        n_members: impl Into<Column<'a>>,
        members: impl Into<Column<'a>>,
    ) -> Self {
        Self {
            id: ids.into(),
            n_members: n_members.into(),
            member: members.into(),
            first_member: None,
            member_type: None,
            parent: None,
            mass: None,
            position: None,
            velocity: None,
        }
    }

    /// Sets the place of the first member of each object among all members, from 0. There may be members of
    /// no object in between.
    #[must_use]
    pub fn offsets(self, first_members: impl Into<Column<'a>>) -> Self {
        Self { first_member: Some(first_members.into()), ..self }
    }

    /// Sets the types of all members: 0 gas, 1 dark matter, 4 stars, 5 other. By default all are dark matter.
    #[must_use]
    pub fn types(self, types: impl Into<Column<'a>>) -> Self {
        Self { member_type: Some(types.into()), ..self }
    }

    /// Sets the object that contains each object; an object in no other one has its own identifier. By
    /// default no object is in another one.
    #[must_use]
    pub fn parents(self, parents: impl Into<Column<'a>>) -> Self {
        Self { parent: Some(parents.into()), ..self }
    }

    /// Sets masses, in the caller's units. By default all are 0.
    #[must_use]
    pub fn masses(self, masses: impl Into<Column<'a>>) -> Self {
        Self { mass: Some(masses.into()), ..self }
    }

    /// Sets positions. By default all are 0.
    #[must_use]
    pub fn positions(self, positions: impl Into<VectorColumn<'a>>) -> Self {
        Self { position: Some(positions.into()), ..self }
    }

    /// Sets velocities. By default all are 0.
    #[must_use]
    pub fn velocities(self, velocities: impl Into<VectorColumn<'a>>) -> Self {
        Self { velocity: Some(velocities.into()), ..self }
    }
}

/// Copies of the objects of this rank, whose members follow one another.
#[derive(Debug, Default)]
pub(crate) struct FlatObjects {
    id: Vec<u64>,
    parent: Vec<u64>,
    mass: Vec<f64>,
    position: Vec<[f64; 3]>,
    velocity: Vec<[f64; 3]>,
    n_members: Vec<u64>,
    member: Vec<u64>,
    member_type: Vec<u8>,
}

fn refused(message: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

impl FlatObjects {
    /// # Errors
    /// An object has not as many types as members.
    pub fn of_objects(objects: &[TreeObject<'_>]) -> Result<Self, Error> {
        let mut flat = Self::default();
        for object in objects {
            let n = object.members.len();
            flat.id.push(object.id);
            flat.parent.push(object.parent);
            flat.mass.push(object.mass);
            flat.position.push(object.position);
            flat.velocity.push(object.velocity);
            flat.n_members.push(n as u64);
            flat.member.extend(object.members);
            match object.types {
                None => flat.member_type.extend(std::iter::repeat_n(DARK_MATTER, n)),
                Some(types) if types.len() == n => flat.member_type.extend(types),
                Some(types) => {
                    let problem = format!("object {} has {n} members and {} types", object.id, types.len());
                    return Err(refused(format!("{problem}; expected as many types")));
                }
            }
        }
        Ok(flat)
    }

    /// # Errors
    /// Columns differ in length, or have invalid identifiers, numbers of members or types.
    pub fn of_columns(columns: &TreeColumns<'_>) -> Result<Self, Error> {
        let id: Vec<u64> = columns.id.to_integers("object identifier")?;
        let n = id.len();
        let n_members: Vec<u64> = columns.n_members.to_integers("number of members")?;
        check_length("numbers of members", n_members.len(), n, "object")?;
        let per_object =
            |what: &str, len: Option<usize>| len.map_or(Ok(()), |len| check_length(what, len, n, "object"));
        per_object("parents", columns.parent.map(|parents| parents.len()))?;
        per_object("masses", columns.mass.map(|masses| masses.len()))?;
        per_object("positions", columns.position.map(|p| p.len("positions")).transpose()?)?;
        per_object("velocities", columns.velocity.map(|v| v.len("velocities")).transpose()?)?;
        per_object("first members", columns.first_member.map(|first| first.len()))?;
        let parent = columns.parent.map(|parents| parents.to_integers("parent")).transpose()?;
        let member = columns.member.to_identities("identity of a member")?;
        let member_type = match columns.member_type {
            Some(types) => types.to_integers("type of a member")?,
            None => vec![DARK_MATTER; member.len()],
        };
        check_length("types of members", member_type.len(), member.len(), "member")?;
        let vectors =
            |given: Option<VectorColumn<'_>>| given.map_or_else(|| vec![[0.0; 3]; n], VectorColumn::to_reals);
        let flat = Self {
            parent: parent.unwrap_or_else(|| id.clone()),
            id,
            mass: columns.mass.map_or_else(|| vec![0.0; n], Column::to_reals),
            position: vectors(columns.position),
            velocity: vectors(columns.velocity),
            n_members,
            member,
            member_type,
        };
        let first: Option<Vec<u64>> =
            columns.first_member.map(|first| first.to_integers("first member")).transpose()?;
        flat.packed(first.as_deref())
    }

    /// With the members of objects one after another. `first` are the places of the first ones, if they do
    /// not follow already.
    ///
    /// # Errors
    /// Objects have more or other members than there are.
    fn packed(mut self, first: Option<&[u64]>) -> Result<Self, Error> {
        let n_given = self.member.len() as u64;
        let Some(first) = first else {
            let sum = self.n_members.iter().try_fold(0_u64, |sum, n| sum.checked_add(*n));
            if sum == Some(n_given) {
                return Ok(self);
            }
            let sum = sum.map_or_else(|| "more than 2^64".into(), |sum| sum.to_string());
            return Err(refused(format!("{n_given} members; expected {sum}, the sum over all objects")));
        };
        let range = |(object, (first, n)): (&u64, (&u64, &u64))| -> Result<Range<usize>, Error> {
            let end = first.checked_add(*n).filter(|end| *end <= n_given);
            let place = || format!("object {object} has {n} members from {first} on");
            let end = end.ok_or_else(|| refused(format!("{}; expected some of {n_given}", place())))?;
            Ok(*first as usize..end as usize)
        };
        let objects = self.id.iter().zip(first.iter().zip(&self.n_members));
        let ranges = objects.map(range).collect::<Result<Vec<_>, _>>()?;
        self.member = ranges.iter().flat_map(|range| &self.member[range.clone()]).copied().collect();
        self.member_type =
            ranges.iter().flat_map(|range| &self.member_type[range.clone()]).copied().collect();
        Ok(self)
    }

    /// Collective: as the catalogue of a search in this box.
    ///
    /// # Errors
    /// When a rank fails.
    pub fn part(self, space: &Geometry, comm: &Comm) -> Result<CataloguePart, CommError> {
        let none = Dimension::NONE;
        let mut next = comm.sum_before(self.member.len() as u64)?;
        let offset = |n: &u64| {
            let first = next;
            next += n;
            first
        };
        let offsets = self.n_members.iter().map(offset).collect();
        let columns = vec![
            column("id", none, "", Values::U64(self.id)),
            column("parent", none, "", Values::U64(self.parent)),
            column("n_bound", none, "", Values::U64(self.n_members)),
            column("members_offset", none, "", Values::U64(offsets)),
            column("bound_mass", Dimension::MASS, "", Values::F64(self.mass)),
            column("most_bound_position", Dimension::LENGTH, "", Values::F64x3(self.position)),
            column("bound_velocity", Dimension::VELOCITY, "", Values::F64x3(self.velocity)),
        ];
        let members = vec![
            column("id", none, "", Values::U64(self.member)),
            column("type", none, "", Values::U8(self.member_type)),
        ];
        let tables = vec![
            in_order(Table { name: "clumps".into(), columns }, comm)?,
            in_order(Table { name: "members".into(), columns: members }, comm)?,
        ];
        Ok(CataloguePart { attributes: attributes(space), tables })
    }
}

/// # Errors
/// There are more or fewer of them.
fn check_length(what: &str, n: usize, expected: usize, of: &str) -> Result<(), Error> {
    if n == expected {
        return Ok(());
    }
    Err(refused(format!("{n} {what} for {expected} {of}s; expected one per {of}")))
}

/// What a catalogue says of the box.
fn attributes(space: &Geometry) -> Vec<(String, Attribute)> {
    let mut list = AttributeList::new();
    list.text("input_format", "objects of a program");
    list.real("time", space.time);
    list.real("boxlen", space.side);
    list.reals("coarse_cells", &space.coarse.map(f64::from));
    if let Some(units) = &space.units {
        list.units(units);
    }
    if let Some(cosmology) = &space.cosmology {
        list.cosmology(cosmology);
    }
    list.into_attributes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_objects_are_the_same() {
        let (ids, n_members, first) = ([5_u32, 3], [2_u8, 3], [4_i64, 0]);
        let members = [7_i32, 8, 9, -1, 10, 11];
        let types = [1_i32, 4, 0, 5, 1, 1];
        let position = [[1.0_f32; 3], [2.0; 3]];
        let columns = TreeColumns::new(&ids, &n_members, &members).offsets(&first).types(&types);
        let columns = columns.positions(&position).masses(&[0.5, 1.5]).parents(&[3_i64, 3]);
        let found = FlatObjects::of_columns(&columns).expect("objects");
        let objects = [
            TreeObject::new(5, &[10, 11]).parent(3).mass(0.5).place([1.0; 3], [0.0; 3]),
            TreeObject::new(3, &[7, 8, 9]).types(&[1, 4, 0]).mass(1.5).place([2.0; 3], [0.0; 3]),
        ];
        let expected = FlatObjects::of_objects(&objects).expect("objects");
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }

    #[test]
    fn wrong_columns_are_named() {
        let (ids, members) = ([1_i32, 2], [1_u64, 2, 3]);
        let columns = TreeColumns::new(&ids, &[2_i32, 1], &members);
        assert!(FlatObjects::of_columns(&columns).is_ok());
        let message = |columns: &TreeColumns<'_>| {
            FlatObjects::of_columns(columns).expect_err("it is refused").to_string()
        };
        for (columns, expected) in [
            (
                TreeColumns::new(&ids, &[2_i32, 2], &members),
                "3 members; expected 4, the sum over all objects",
            ),
            (
                TreeColumns::new(&ids, &[2_i32], &members),
                "1 numbers of members for 2 objects; expected one per object",
            ),
            (columns.types(&[1_u8]), "1 types of members for 3 members; expected one per member"),
            (columns.masses(&[1.0]), "1 masses for 2 objects; expected one per object"),
            (columns.offsets(&[0_u64, 3]), "object 2 has 1 members from 3 on; expected some of 3"),
            (columns.offsets(&[u64::MAX, 0]), "object 1 has 2 members from"),
        ] {
            assert!(message(&columns).contains(expected), "{}", message(&columns));
        }
        let negative = TreeColumns::new(&[-1_i32], &[0_i32], &members[..0]);
        assert!(message(&negative).contains("object identifier"), "{}", message(&negative));
        let uneven = FlatObjects::of_objects(&[TreeObject::new(1, &members).types(&[1])]);
        assert!(uneven.expect_err("it is refused").to_string().contains("3 members and 1 types"));
    }
}
