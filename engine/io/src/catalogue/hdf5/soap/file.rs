//! The file: groups, datasets and attributes.

use super::columns::{SoapDataset, SoapMask, SoapReals, SoapValues};
use super::datasets::{BOUND, CLUMPS, GROUPS, SPHERES};
use super::members::SoapMembers;
use super::rows::Subhaloes;
use crate::catalogue::hdf5::make_file;
use crate::catalogue::hdf5::swift::{StoredForm, SwiftAttributes, SwiftUnits, common_groups, group, put};
use crate::catalogue::{Dimension, WriteResult};
use ::hdf5::types::VarLenUnicode;
use ::hdf5::{Dataset, File, Group, H5Type, Result};
use ndarray::{ArrayView, ArrayView1, ArrayView2};
use std::path::Path;
use std::str::FromStr;

/// Energies, which have no comoving value.
const ENERGY: Dimension = Dimension::new(2, 1, -2);

/// The content of a file.
pub struct SoapFile<'a> {
    /// The attributes of the catalogue.
    pub values: &'a SwiftAttributes<'a>,
    /// Its units.
    pub units: &'a SwiftUnits,
    /// Its rows.
    pub subhaloes: &'a Subhaloes<'a>,
    /// Their bound particles, if these are listed.
    pub members: Option<&'a SoapMembers>,
}

/// Datasets of one group of the file.
type GroupDatasets = (&'static str, Vec<SoapDataset>);

impl SoapFile<'_> {
    /// Writes the file `hidden`, which becomes `path`.
    pub fn write(&self, path: &Path, hidden: &Path) -> WriteResult<()> {
        make_file(path, hidden, "the layout of SOAP", |file| self.fill(file))
    }

    fn fill(&self, file: &File) -> Result<()> {
        common_groups(file, self.values, "SOAP", self.units, &[])?;
        let groups = self.groups();
        let header = file.group("Header")?;
        let names = groups.iter().filter(|(_, datasets)| !datasets.is_empty()).map(|(name, _)| *name);
        put(&header, "SubhaloTypes", &names.map(text).collect::<Vec<_>>())?;
        let n = [self.subhaloes.id.len() as i64];
        put(&header, "NumSubhalos_ThisFile", &n)?;
        put(&header, "NumSubhalos_Total", &n)?;
        for (name, datasets) in groups.iter().filter(|(_, datasets)| !datasets.is_empty()) {
            let group = nested(file, name)?;
            datasets.iter().try_for_each(|dataset| self.put_dataset(&group, dataset))?;
        }
        // Readers of SOAP's files read the groups of `SubhaloTypes`, of which this is none: it has other
        // rows.
        if let Some(members) = self.members {
            let group = nested(file, "Members")?;
            members.datasets().iter().try_for_each(|dataset| self.put_dataset(&group, dataset))?;
        }
        self.cells(file)
    }

    fn groups(&self) -> Vec<GroupDatasets> {
        let (rows, a) = (self.subhaloes, self.units.a);
        let of_input = match rows.table.name.as_str() {
            "clumps" => ("InputHalos/PHEW", rows.of_table(CLUMPS, a)),
            _ => ("InputHalos/FOF", rows.of_table(GROUPS, a)),
        };
        let mut bound = rows.of_table(BOUND, a);
        // SOAP leaves out datasets that it does not compute.
        bound.retain(|dataset| dataset.column.name != "ThermalEnergyGas" || self.has_thermal_energy());
        let mut input = input_halos(rows);
        input.extend(self.members.map(members_offset));
        let mut groups = vec![("BoundSubhalo", bound), ("InputHalos", input), of_input, ("SOAP", soap(rows))];
        groups.extend(SPHERES.iter().map(|(name, columns)| (*name, rows.of_spheres(columns, a))));
        groups
    }

    fn has_thermal_energy(&self) -> bool {
        self.values.int("unbind_thermal_energy") == Some(1)
    }

    fn put_dataset(&self, group: &Group, dataset: &SoapDataset) -> Result<()> {
        let written = match &dataset.values {
            SoapValues::Real(SoapReals::Single(list)) => one(group, dataset.column.name, list.as_flattened()),
            SoapValues::Real(SoapReals::Double(list)) => one(group, dataset.column.name, list.as_flattened()),
            SoapValues::Three(list) => reals(group, dataset.column.name, list),
            SoapValues::Six(list) => reals(group, dataset.column.name, list),
            SoapValues::Count(list) => one(group, dataset.column.name, list),
            SoapValues::Short(list) => one(group, dataset.column.name, list),
            SoapValues::Integer(list) => one(group, dataset.column.name, list),
            SoapValues::Identity(list) => one(group, dataset.column.name, list),
            SoapValues::Double3(list) => several(group, dataset.column.name, list),
        }?;
        let dimension = dataset.dimension;
        let form = StoredForm {
            is_physical: !dataset.column.is_comoving,
            can_be_comoving: dimension != Dimension::NONE && dimension != ENERGY,
        };
        self.units.describe(&written, dimension, &dataset.description, form)?;
        put(&written, "Masked", &[u8::from(dataset.column.mask.is_some())])?;
        dataset.column.mask.map_or(Ok(()), |mask| put_mask(&written, mask))
    }

    fn cells(&self, file: &File) -> Result<()> {
        let cells = &self.subhaloes.cells;
        let group = group(file, "Cells")?;
        several(&group, "Centres", &cells.centres())?;
        one(&nested(file, "Cells/Counts")?, "Subhalos", &cells.counts)?;
        one(&nested(file, "Cells/OffsetsInFile")?, "Subhalos", &cells.offsets())?;
        one(&nested(file, "Cells/Files")?, "Subhalos", &vec![0_i32; cells.counts.len()])?;
        let about = nested(file, "Cells/Meta-data")?;
        put(&about, "dimension", &[cells.n as i32; 3])?;
        put(&about, "nr_cells", &[cells.counts.len() as i32])?;
        put(&about, "size", &cells.size)
    }
}

/// The mask of a dataset, as SOAP writes it.
fn put_mask(dataset: &Dataset, mask: SoapMask) -> Result<()> {
    put(dataset, "Mask Datasets", &[text(mask.number)])?;
    put(dataset, "Mask Threshold", &[mask.threshold])
}

fn text(name: &str) -> VarLenUnicode {
    VarLenUnicode::from_str(name).expect("a name without zero bytes")
}

fn members_offset(members: &SoapMembers) -> SoapDataset {
    SoapDataset::own(
        "MembersOffset",
        "row of its most bound particle in the group Members; the next NumberOfBoundParticles rows are its own",
        SoapValues::Integer(members.offset.clone()),
    )
}

fn input_halos(rows: &Subhaloes) -> Vec<SoapDataset> {
    let flags = rows.is_central.iter().map(|is| i64::from(*is)).collect();
    vec![
        SoapDataset::own(
            "HaloCentre",
            "centre: the most bound particle, or the centre of mass where nothing is unbound",
            SoapValues::Double3(rows.centre.clone()),
        ),
        SoapDataset::own(
            "HaloCatalogueIndex",
            "identifier of the clump or group",
            SoapValues::Integer(rows.id.clone()),
        ),
        SoapDataset::own(
            "IsCentral",
            "whether it is the central clump of its halo, or a group",
            SoapValues::Integer(flags),
        ),
        SoapDataset::own(
            "NumberOfBoundParticles",
            "number of bound particles, or of members where nothing is unbound",
            SoapValues::Integer(rows.n_bound.clone()),
        ),
    ]
}

fn soap(rows: &Subhaloes) -> Vec<SoapDataset> {
    vec![
        SoapDataset::own(
            "HostHaloIndex",
            "row of the central of its halo, which is its own for centrals and groups; -1 if the central is not listed",
            SoapValues::Integer(rows.host.clone()),
        ),
        SoapDataset::own(
            "SubhaloRankByBoundMass",
            "place in its halo by falling bound mass; 0 is the largest",
            SoapValues::Short(rows.rank.clone()),
        ),
    ]
}

/// The group of a path, made with those above it.
fn nested(file: &File, path: &str) -> Result<Group> {
    let mut made = file.group("/")?;
    let mut so_far = String::new();
    for part in path.split('/') {
        so_far = format!("{so_far}/{part}");
        made = if file.link_exists(&so_far) { file.group(&so_far)? } else { group(file, &so_far)? };
    }
    Ok(made)
}

fn one<T: H5Type>(group: &Group, name: &str, list: &[T]) -> Result<Dataset> {
    let dataset = group.new_dataset::<T>().obj_track_times(false).shape([list.len()]).create(name)?;
    write_unless_empty(dataset, ArrayView1::from(list))
}

fn several<T: H5Type, const N: usize>(group: &Group, name: &str, list: &[[T; N]]) -> Result<Dataset> {
    let dataset = group.new_dataset::<T>().obj_track_times(false).shape([list.len(), N]).create(name)?;
    write_unless_empty(dataset, ArrayView2::from(list))
}

fn reals<const N: usize>(group: &Group, name: &str, list: &SoapReals<N>) -> Result<Dataset> {
    match list {
        SoapReals::Single(list) => several(group, name, list),
        SoapReals::Double(list) => several(group, name, list),
    }
}

/// The library refuses to write nothing.
fn write_unless_empty<T: H5Type, D: ndarray::Dimension>(
    dataset: Dataset,
    values: ArrayView<T, D>,
) -> Result<Dataset> {
    if !values.is_empty() {
        dataset.write(values)?;
    }
    Ok(dataset)
}
