//! What does the handle of a merger tree keep, and which columns does it take?

use crate::fields::{Fields, required};
use crate::given::{GivenColumns, ItemShape};
use crate::message::refused;
use crate::turns::MakesCalls;
use crate::views::Found;
use inselberg::{Error, Geometry, MergerTree, TreeColumns};

/// What the handle of a tree keeps.
pub struct TreeState(pub MergerTree);

/// Objects, and members.
const OBJECTS: &[(&str, ItemShape)] = &[
    ("id", ItemShape::Values(1)),
    ("n_members", ItemShape::Values(1)),
    ("first_member", ItemShape::Values(1)),
    ("parent", ItemShape::Values(1)),
    ("mass", ItemShape::Values(1)),
    ("position", ItemShape::Vector),
    ("velocity", ItemShape::Vector),
    ("member", ItemShape::Values(1)),
    ("member_type", ItemShape::Values(1)),
];

impl MakesCalls for TreeState {
    fn missed(&mut self, n_calls: u64) {
        self.0.missed(n_calls);
    }
}

impl TreeState {
    /// Collective: adds the objects of an output.
    ///
    /// # Errors
    /// When a rank cannot hand them over; those of [`MergerTree::add_columns`].
    pub fn add(
        &mut self,
        number: Result<u64, Error>,
        space: Result<Geometry, Error>,
        given: GivenColumns,
    ) -> Result<(), Error> {
        let (number, space, fields) = self.0.agree_beside("tree_add", move || {
            let fields = Fields::new(&given.read(OBJECTS)?)?;
            objects(&fields)?;
            Ok((number?, space?, fields))
        })?;
        self.0.add_columns(number, &space, &objects(&fields)?)
    }

    /// Collective: adds the clumps or groups of a result, by their table of members.
    ///
    /// # Errors
    /// When there is no such result, or it lists no members; those of [`MergerTree::add_clumps`].
    pub fn add_found(
        &mut self,
        number: Result<u64, Error>,
        found: Result<&Found, Error>,
    ) -> Result<(), Error> {
        match self.0.agree_beside("tree_add_found", move || Ok((number?, found?)))? {
            (number, Found::Clumps(clumps)) => self.0.add_clumps(clumps, number),
            (number, Found::Groups(groups)) => self.0.add_groups(groups, number),
            (_, Found::Voids(_)) => Err(refused("voids in a merger tree; expected clumps or groups")),
        }
    }

    /// Collective: adds the catalogue in a file.
    ///
    /// # Errors
    /// Those of [`MergerTree::add_files`].
    pub fn add_file(&mut self, path: Result<&str, Error>) -> Result<(), Error> {
        let path = self.0.agree_beside("tree_add_file", move || path)?;
        self.0.add_files(&[path]).map(drop)
    }

    /// Collective: writes the tree so far.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, path: Result<&str, Error>) -> Result<(), Error> {
        let path = self.0.agree_beside("tree_write", move || path)?;
        self.0.write(path)
    }
}

fn objects<'a>(fields: &'a Fields<'a>) -> Result<TreeColumns<'a>, Error> {
    let column = |name| required(name, fields.values(name));
    let mut objects = TreeColumns::new(column("id")?, column("n_members")?, column("member")?);
    if let Some(first) = fields.values("first_member") {
        objects = objects.offsets(first);
    }
    if let Some(types) = fields.values("member_type") {
        objects = objects.types(types);
    }
    if let Some(parents) = fields.values("parent") {
        objects = objects.parents(parents);
    }
    if let Some(masses) = fields.values("mass") {
        objects = objects.masses(masses);
    }
    if let Some(positions) = fields.vectors("position") {
        objects = objects.positions(positions);
    }
    if let Some(velocities) = fields.vectors("velocity") {
        objects = objects.velocities(velocities);
    }
    Ok(objects)
}
