//! The catalogue that a call found: what clumps, groups and voids have in common.

use crate::api::opened::OpenParticles;
use crate::api::session::Shared;
use crate::error::{Error, ErrorKind};
use crate::phew::image::LabelsOf;
use crate::projection::{DensityMap, KeptForMaps, MapBox, Projection, View};
use inselberg_io::catalogue::{Attribute, Catalogue, CataloguePart, PartTable, Table, TableColumn};
use inselberg_io::staging::Staged;
use std::path::Path;
use std::sync::Arc;

/// The catalogue that a call found. [`Clumps`](crate::Clumps), [`FofGroups`](crate::FofGroups) and
/// [`Voids`](crate::Voids) are such catalogues, and have all its methods.
///
/// Owns itself: it stays when the engine goes on to other data. Over several ranks each rank has a range of
/// the rows of each table.
pub struct FoundCatalogue {
    shared: Arc<Shared>,
    part: CataloguePart,
    /// On rank 0, where it is wanted.
    projection: Option<Projection>,
    maps: KeptMatter,
}

/// What maps are made of, or why there is nothing.
pub(crate) type KeptMatter = Result<Arc<dyn KeptForMaps>, &'static str>;

impl std::fmt::Debug for FoundCatalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows = self.tables().map(|(table, n_rows)| (&table.name, n_rows));
        f.debug_map().entries(rows).finish()
    }
}

impl FoundCatalogue {
    /// Without a projection.
    pub(crate) fn new(shared: &Arc<Shared>, part: CataloguePart, maps: KeptMatter) -> Self {
        Self { shared: Arc::clone(shared), part, projection: None, maps }
    }

    /// With a projection, where there is one.
    pub(crate) fn with_projection(self, projection: Option<Projection>) -> Self {
        Self { projection, ..self }
    }

    /// The catalogue of a new cut, of the same matter.
    pub(crate) fn cut(&self, part: CataloguePart) -> Self {
        Self::new(&self.shared, part, self.maps.clone())
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn part(&self) -> &CataloguePart {
        &self.part
    }

    /// The number of rows on all ranks of a table that every such catalogue has.
    pub(crate) fn n_rows(&self, table: &str) -> u64 {
        self.part.table(table).expect("every such catalogue has the table").n_rows
    }

    /// The rows of a table that this rank has. Its columns have types, dimensions and descriptions. On a rank
    /// alone the whole table.
    ///
    /// Clumps have `clumps`, `haloes` and `tree` (one row per peak), groups have `Groups`, voids have
    /// `voids`, `zones` and `tree`; `cells`, `particles` and `members` are there if asked for.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.part.table(name).map(|part| &part.table)
    }

    /// The tables of the catalogue, each with the rows of this rank and the number of rows on all ranks.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = (&Table, u64)> {
        self.part.tables.iter().map(|part| (&part.table, part.n_rows))
    }

    /// What the catalogue says of its input, its parameters and its totals.
    pub fn attributes(&self) -> &[(String, Attribute)] {
        &self.part.attributes
    }

    /// Adds texts to the attributes, the same on all ranks: which command made the catalogue. For the command
    /// line.
    #[doc(hidden)]
    pub fn add_attributes(&mut self, texts: impl IntoIterator<Item = (&'static str, String)>) {
        self.part.add_texts(texts);
    }

    /// Collective: the whole catalogue on `rank`, `None` on the others.
    ///
    /// # Errors
    /// When there is no such rank, or a rank fails.
    pub fn gather(&self, rank: u32) -> Result<Option<Catalogue>, Error> {
        self.shared.gather(&self.part, rank)
    }

    /// Collective: the rows with these identifiers of a table, on the rank that asks for them, in this order.
    /// Each rank asks for other rows, or for none; an identifier that the table does not list is left out.
    ///
    /// # Errors
    /// When there is no such table, it has no identifiers, ranks name other tables, or a rank fails.
    pub fn rows(&self, table: &str, ids: &[u64]) -> Result<Table, Error> {
        self.shared.rows(&self.part, table, ids)
    }

    /// Local, on all ranks: adds a column of this rank to a table, such as one of sums
    /// ([`Clumps::sums`](crate::Clumps::sums)). Files that are written later have it. All ranks add the same
    /// columns.
    ///
    /// # Errors
    /// When there is no such table, it has such a column or another number of rows.
    pub fn add_column(&mut self, table: &str, column: TableColumn) -> Result<(), Error> {
        let refused = |problem: String| Err(Error::new(ErrorKind::InvalidArgument, problem));
        let Some(part) = self.part.tables.iter_mut().find(|part| part.table.name == table) else {
            return refused(format!("a table {table:?}; expected one of the catalogue"));
        };
        let TableColumn { name, values, .. } = &column;
        if name.is_empty() || part.table.column(name).is_some() {
            return refused(format!("another column {name:?} in {table}; expected a new name"));
        }
        let n_rows = part.table.n_rows();
        if values.len() != n_rows {
            return refused(format!(
                "column {name}: {} values; expected {n_rows}, as {table} has",
                values.len()
            ));
        }
        part.table.columns.push(column);
        Ok(())
    }

    /// Collective: attributes and those tables of these names that there are, on rank 0.
    #[doc(hidden)]
    pub fn gather_tables(&self, names: &[&str]) -> Result<Option<Catalogue>, Error> {
        let CataloguePart { attributes, tables } = &self.part;
        let is_wanted = |part: &&PartTable| names.contains(&part.table.name.as_str());
        let tables = tables.iter().filter(is_wanted).cloned().collect();
        self.shared.gather(&CataloguePart { attributes: attributes.clone(), tables }, 0)
    }

    /// Collective: writes the catalogue to a file, whole or not at all. Its ending chooses the format:
    /// `.csv`, or `.hdf5` where the library is built with HDF5. All ranks name the same file; rank 0 writes
    /// it.
    ///
    /// # Errors
    /// When the file cannot be written, or a rank fails.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.shared.write(&self.part, path.as_ref())
    }

    /// Collective: stages the catalogue; rank 0 gets the file. For the command line, whose files get their
    /// names together.
    #[doc(hidden)]
    pub fn stage(&self, path: &Path) -> Result<Staged, Error> {
        self.shared.stage(&self.part, path)
    }

    /// Collective: writes the labels of clumps or haloes, whole or not at all. The ending chooses the format:
    ///
    /// - `.fits`: the label of each cell as an image of 32-bit integers, 0 for none. It has the axes and
    ///   coordinates of a FITS input; else those of the box. Needs cells of one size in the table of cells
    ///   ([`PhewParams::with_cells`](crate::PhewParams::with_cells)).
    /// - `.reg` for DS9 and CARTA, `.crtf` for CASA and CARTA: an ellipse at half maximum with each label, of
    ///   FITS images.
    ///
    /// # Errors
    /// When the name has another ending, the catalogue lacks what the format needs, the file cannot be
    /// written, or a rank fails.
    pub fn write_labels(&self, path: impl AsRef<Path>, of: LabelsOf) -> Result<(), Error> {
        self.shared.write_labels(&self.part, path.as_ref(), of)
    }

    /// Collective: stages the labels, as [`Self::stage`].
    #[doc(hidden)]
    pub fn stage_labels(&self, path: &Path, of: LabelsOf) -> Result<Staged, Error> {
        self.shared.stage_labels(&self.part, path, of)
    }

    /// Collective: writes the properties in the layout of SOAP, which swiftsimio reads: to one file `.hdf5`,
    /// or to a folder if the name has no ending. `particles` are those that the call ran on. If the catalogue
    /// lists members, the folder also gets their memberships in the order of `particles`, where these are a
    /// snapshot by types and with identities. All ranks name the same place; rank 0 holds the tables and
    /// writes.
    ///
    /// # Errors
    /// When the catalogue has no properties of bound particles and no spheres, the library has no HDF5, a
    /// member is bound twice or not among the particles, the place cannot be written, or a rank fails.
    pub fn write_soap(
        &self,
        place: impl AsRef<Path>,
        particles: Option<&OpenParticles>,
    ) -> Result<(), Error> {
        self.shared.write_soap(&self.part, place.as_ref(), particles.map(OpenParticles::reader))
    }

    /// The density of clumps or the mass of groups projected along z, on rank 0, where the parameters asked
    /// for it.
    pub fn projection(&self) -> Option<&Projection> {
        self.projection.as_ref()
    }

    /// Collective: the mean density along the line of sight, of any region and along any axis: one map for
    /// each view on rank 0, `None` on the others. The density of a mesh from particles is that of all its
    /// leaves. Of groups, a particle is a cube with a side of half a linking length.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] unless the parameters kept what maps are made of, and for views that
    /// cannot be made. When a rank fails.
    pub fn maps(&self, views: &[View]) -> Result<Option<Vec<DensityMap>>, Error> {
        let kept = self.kept()?;
        self.shared.maps(kept, views)
    }

    /// The box of [`Self::maps`], and the side of the smallest leaf, or of the cube of a particle. The open
    /// box of groups is the cube around all particles.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] unless the parameters kept what maps are made of.
    pub fn map_box(&self) -> Result<(MapBox, f64), Error> {
        self.kept().map(|kept| (*kept.space(), kept.finest()))
    }

    fn kept(&self) -> Result<&dyn KeptForMaps, Error> {
        let missing = |problem: &&'static str| Error::new(ErrorKind::InvalidArgument, *problem);
        self.maps.as_deref().map_err(missing)
    }

    /// Frees what maps are made of.
    #[doc(hidden)]
    pub fn forget_density(&mut self) {
        self.maps = Err("maps of what was freed; expected maps before that");
    }
}
