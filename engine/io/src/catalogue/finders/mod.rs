//! Is this the catalogue of another finder, and what does it say in the words of ours?
//!
//! A finder's catalogue becomes a [`Catalogue`] with the tables `clumps`, for its haloes and subhaloes, and
//! `Groups`, where it has groups of its own. Members become rows of `members`, object by object; they stay in
//! the snapshot until they are asked for.
//!
//! | file | the catalogues of |
//! |---|---|
//! | `subfind` | Gadget-4: `fof_subhalo_tab`, with members by the order of the snapshot |
//! | `rockstar` | Rockstar: `halos_*.ascii` and `out_*.list`, without members |
//! | `members` | the members of objects in a snapshot that is sorted by object |
//!
//! Identifiers of objects are those of the finder. Nothing here writes.

#[cfg(feature = "hdf5")]
mod members;
mod rockstar;
#[cfg(feature = "hdf5")]
mod subfind;

use super::outline::{CatalogueOutline, TableOutline, select};
use super::{Catalogue, Dimension, Table, TableColumn, Values};
use crate::{ReadResult, foreign};
use std::fmt::Debug;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The attribute with the name of the finder.
pub const FINDER: &str = "finder";

/// The table of members and its columns.
const MEMBERS: &str = "members";
const MEMBER_COLUMNS: [&str; 3] = ["id", "type", "clump"];

/// Another finder whose catalogues are read.
#[derive(Debug, Clone, Copy)]
pub struct Finder {
    /// Its name.
    pub name: &'static str,
    /// Its formats, as the table of foreign formats names them.
    formats: &'static [&'static str],
    open: fn(&Path) -> ReadResult<FinderCatalogue>,
}

/// Every finder. To add one: a file in this folder and a row here.
pub const FINDERS: &[Finder] = &[
    #[cfg(feature = "hdf5")]
    Finder { name: "SUBFIND of Gadget-4", formats: &[foreign::GADGET4_GROUPS], open: subfind::open },
    Finder { name: "Rockstar", formats: &[foreign::ROCKSTAR], open: rockstar::open },
];

/// The catalogue of another finder. Its objects are in memory; its members are not.
#[derive(Debug)]
pub struct FinderCatalogue {
    path: PathBuf,
    /// Attributes and tables of objects.
    objects: Catalogue,
    /// Members, if they are known.
    members: Option<Box<dyn FinderMemberRows>>,
}

/// Rows of members, object by object.
pub trait FinderMemberRows: Debug + Send + Sync {
    /// How many there are.
    fn n_rows(&self) -> u64;

    /// Identities, types and the identifiers of the objects of these rows. The most bound of each type come
    /// first in an object.
    ///
    /// # Errors
    /// They cannot be read.
    fn read(&self, rows: Range<u64>) -> ReadResult<FinderMembers>;
}

/// Rows of members as columns.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FinderMembers {
    /// Identities.
    pub id: Vec<u64>,
    /// Types: 0 gas, 1 dark matter, 4 stars, 5 other.
    pub member_type: Vec<u8>,
    /// The identifiers of their objects.
    pub clump: Vec<u64>,
}

/// The finder whose catalogue is at `path`; `None` for other files. It never fails.
pub fn finder_of(path: &Path) -> Option<&'static Finder> {
    let format = foreign::of_path(path)?;
    FINDERS.iter().find(|finder| finder.formats.contains(&format.name))
}

impl Finder {
    /// Opens the catalogue at `path`: reads its objects, and the header of the snapshot with its members.
    ///
    /// # Errors
    /// It is damaged, or contradicts the snapshot beside it.
    pub fn open(&self, path: &Path) -> ReadResult<FinderCatalogue> {
        (self.open)(path)
    }
}

impl FinderCatalogue {
    /// Everything, with all members.
    ///
    /// # Errors
    /// Members cannot be read.
    pub fn whole(self) -> ReadResult<Catalogue> {
        let members = self.members.as_ref().map(|members| members.read(0..members.n_rows()).map(table_of));
        let mut catalogue = self.objects;
        catalogue.tables.extend(members.transpose()?);
        Ok(catalogue)
    }

    /// Attributes, and tables without their values.
    pub fn outline(&self) -> CatalogueOutline {
        let mut outline = CatalogueOutline::new(&self.objects);
        outline.tables.extend(self.members.as_ref().map(|members| TableOutline {
            name: MEMBERS.into(),
            columns: MEMBER_COLUMNS.map(String::from).to_vec(),
            n_rows: members.n_rows(),
        }));
        outline
    }

    /// Identities and types of these rows of members; none if members are not known.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn members(&self, rows: Range<u64>) -> ReadResult<(Vec<u64>, Vec<u8>)> {
        let Some(members) = &self.members else { return Ok(Default::default()) };
        let read = members.read(rows)?;
        Ok((read.id, read.member_type))
    }

    /// Some columns and rows of a table.
    ///
    /// # Errors
    /// There is no such table, column or row, or members cannot be read.
    pub fn rows(&self, table: &str, columns: &[&str], rows: Range<u64>) -> ReadResult<Table> {
        match &self.members {
            Some(members) if table == MEMBERS && rows.end <= members.n_rows() => {
                let n = rows.end - rows.start;
                let read = Catalogue { tables: vec![table_of(members.read(rows)?)], ..Catalogue::default() };
                select(&self.path, &read, table, columns, 0..n)
            }
            _ => select(&self.path, &self.objects, table, columns, rows),
        }
    }
}

/// Members as a table.
fn table_of(rows: FinderMembers) -> Table {
    let columns = vec![
        column("id", Dimension::NONE, "identity of the particle", Values::U64(rows.id)),
        column(
            "type",
            Dimension::NONE,
            "0 gas, 1 dark matter, 4 stars, 5 other",
            Values::U8(rows.member_type),
        ),
        column("clump", Dimension::NONE, "identifier of its object", Values::U64(rows.clump)),
    ];
    Table { name: MEMBERS.into(), columns }
}

/// A column, in one line.
fn column(name: &str, dimension: Dimension, description: &str, values: Values) -> TableColumn {
    TableColumn { name: name.into(), dimension, description: description.into(), values }
}
