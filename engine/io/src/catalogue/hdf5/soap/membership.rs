//! The file of memberships: the clump or group that binds each particle of a snapshot, in the order of the
//! snapshot.
//!
//! ```text
//!     snapshot   PartType1/ParticleIDs     7    3    9    4
//!     members    of 2: 9, 7                     of 5: 4
//!     this file  PartType1/GroupNr_bound   2   -1    2    5
//!                PartType1/Rank_bound      1   -1    0    0
//! ```

use super::columns::is_single;
use super::members::{ENERGY, GROUP_NUMBER, POTENTIAL, RANK, SoapMembers};
use crate::catalogue::hdf5::swift::{StoredForm, SwiftAttributes, SwiftUnits, group, put, put_text};
use crate::catalogue::hdf5::{make_file, reason};
use crate::catalogue::{Catalogue, Dimension, WriteError, WriteResult};
use crate::particles::{Columns, N_KINDS, ParticleHeader, ParticleInput, Species};
use crate::staging::{Staged, stage_path};
use ::hdf5::{Dataset, File, Group, H5Type, Result};
use ndarray::{ArrayView1, s};
use std::ops::Range;
use std::path::Path;

/// The number of `other` in the table of members of clumps: particles of any further kind.
const OTHER: u8 = 5;

/// Whether a snapshot stores particles by type and with identities, so that memberships have an order.
pub fn has_order(about: &ParticleHeader) -> bool {
    let mut species = about.species.iter().filter(|species| species.n > 0);
    about.species.iter().any(|species| species.n > 0)
        && species.all(|species| species.has_ids && species.name.starts_with("PartType"))
}

/// The memberships of a snapshot.
pub struct Membership<'a> {
    /// The catalogue.
    pub catalogue: &'a Catalogue,
    /// Its bound particles.
    pub members: &'a SoapMembers,
    /// Its units.
    pub units: &'a SwiftUnits,
    /// The snapshot.
    pub input: &'a dyn ParticleInput,
}

impl Membership<'_> {
    /// Stages the file. Reads the identities of all particles.
    ///
    /// # Errors
    /// When the snapshot cannot be read or has an identity of a bound particle twice or not at all, or the
    /// file cannot be written.
    pub fn stage(&self, path: &Path) -> WriteResult<Staged> {
        let members = BoundIds::new(self.members, self.catalogue.table("clumps").is_some());
        members.check(path)?;
        let mut found = vec![false; members.sorted.len()];
        let staged = stage_path(path, |hidden| {
            // A failure to read keeps its own message, without that of the library.
            let mut failure = None;
            let is_single = self.members.potential.iter().all(|phi| is_single(*phi));
            let made = make_file(path, hidden, "the layout of SOAP", |file| {
                self.header(file)?;
                let species =
                    self.input.about().species.iter().enumerate().filter(|(_, species)| species.n > 0);
                for (number, species) in species {
                    let group = group(file, &species.name)?;
                    let of_species = TypeDatasets::new(&group, species.n, is_single, self.units)?;
                    if let Err(error) = self.fill(number, species, &of_species, &members, &mut found, path) {
                        failure = Some(error);
                        return Ok(());
                    }
                }
                Ok(())
            });
            failure.map_or(made, Err)
        })?;
        match found.iter().position(|found| !found) {
            None => Ok(staged.into()),
            Some(missing) => Err(members.unfit(path, missing, "is not in the snapshot")),
        }
    }

    fn fill(
        &self,
        number: usize,
        species: &Species,
        to: &TypeDatasets,
        members: &BoundIds,
        found: &mut [bool],
        path: &Path,
    ) -> WriteResult<()> {
        let kind = species.kind.unwrap_or(OTHER);
        for rows in self.input.runs(number, 0..species.n) {
            let ids = Columns::ids_of(self.input, number, rows.clone())
                .map_err(|error| WriteError::Input(Box::new(error)))?;
            let mut block = MembershipBlock::unbound(ids.len());
            for (i, id) in ids.iter().enumerate() {
                let Some(place) = members.place(kind, *id) else { continue };
                if std::mem::replace(&mut found[place], true) {
                    return Err(members.unfit(path, place, "is in the snapshot twice"));
                }
                block.set(i, self.members, members.sorted[place]);
            }
            to.write(rows, &block).map_err(|error| WriteError::Library {
                path: path.into(),
                place: species.name.clone(),
                problem: reason(&error),
            })?;
        }
        Ok(())
    }

    fn header(&self, file: &File) -> Result<()> {
        let (about, values) = (self.input.about(), SwiftAttributes(&self.catalogue.attributes));
        let mut numbers = [0_u64; N_KINDS];
        for species in &about.species {
            numbers[usize::from(species.kind.unwrap_or(OTHER))] += species.n;
        }
        let header = group(file, "Header")?;
        put(&header, "BoxSize", &values.sides().unwrap_or([0.0; 3]))?;
        put(&header, "Dimension", &[3_i64])?;
        put(&header, "NumFilesPerSnapshot", &[1_i32])?;
        put(&header, "NumPartTypes", &[N_KINDS as i32])?;
        put(&header, "NumPart_ThisFile", &numbers.map(|n| n as i64))?;
        put(&header, "NumPart_Total", &numbers.map(|n| n as u32))?;
        put(&header, "NumPart_Total_HighWord", &numbers.map(|n| (n >> 32) as u32))?;
        put(&header, "Scale-factor", &[self.units.a])?;
        put(&header, "Redshift", &[1.0 / self.units.a - 1.0])?;
        put_text(&header, "OutputType", "Membership")?;
        put_text(&header, "Code", "Inselberg")
    }
}

/// The places of bound particles in the lists, by type and identity.
struct BoundIds<'a> {
    members: &'a SoapMembers,
    sorted: Vec<usize>,
    /// Whether all kinds but gas, dark matter and stars are one type.
    has_other: bool,
}

impl<'a> BoundIds<'a> {
    fn new(members: &'a SoapMembers, has_other: bool) -> Self {
        let mut sorted: Vec<usize> = (0..members.id.len()).collect();
        sorted.sort_unstable_by_key(|i| (members.particle_type[*i], members.id[*i], *i));
        Self { members, sorted, has_other }
    }

    fn name(&self, place: usize) -> (u8, u64) {
        let i = self.sorted[place];
        (self.members.particle_type[i], self.members.id[i])
    }

    /// Checks that no particle is bound twice, as SOAP does.
    fn check(&self, path: &Path) -> WriteResult<()> {
        let twice = (1..self.sorted.len()).find(|place| self.name(*place) == self.name(place - 1));
        twice.map_or(Ok(()), |place| Err(self.unfit(path, place, "is bound twice")))
    }

    /// The place of a particle in `sorted`; `None` if it is unbound.
    fn place(&self, kind: u8, id: u64) -> Option<usize> {
        let of_type = if self.has_other && ![0, 1, 4].contains(&kind) { OTHER } else { kind };
        let place = |i: &usize| (self.members.particle_type[*i], self.members.id[*i]);
        self.sorted.binary_search_by_key(&(of_type, id), place).ok()
    }

    fn unfit(&self, path: &Path, place: usize, problem: &str) -> WriteError {
        let (of_type, id) = self.name(place);
        let what = format!("the bound particle {id} of type {of_type} {problem}");
        WriteError::content(path, "memberships", &what, "identities that occur once")
    }
}

/// Values of some rows.
struct MembershipBlock {
    owner: Vec<i64>,
    rank: Vec<i32>,
    potential: Vec<f64>,
}

impl MembershipBlock {
    fn unbound(n: usize) -> Self {
        Self { owner: vec![-1; n], rank: vec![-1; n], potential: vec![0.0; n] }
    }

    fn set(&mut self, row: usize, members: &SoapMembers, i: usize) {
        self.owner[row] = members.owner[i];
        self.rank[row] = members.rank[i];
        self.potential[row] = members.potential[i];
    }
}

/// The datasets of a type.
struct TypeDatasets {
    owner: Dataset,
    rank: Dataset,
    potential: Dataset,
}

impl TypeDatasets {
    fn new(group: &Group, n: u64, is_single: bool, units: &SwiftUnits) -> Result<Self> {
        fn made<T: H5Type>(
            (group, n, units): (&Group, u64, &SwiftUnits),
            name: &str,
            dimension: Dimension,
            description: &str,
        ) -> Result<Dataset> {
            let dataset = group.new_dataset::<T>().obj_track_times(false).shape([n as usize]).create(name)?;
            let form = StoredForm { is_physical: true, can_be_comoving: dimension != Dimension::NONE };
            units.describe(&dataset, dimension, description, form)?;
            Ok(dataset)
        }
        let at = (group, n, units);
        Ok(Self {
            owner: made::<i64>(at, "GroupNr_bound", Dimension::NONE, GROUP_NUMBER)?,
            rank: made::<i32>(at, "Rank_bound", Dimension::NONE, RANK)?,
            potential: match is_single {
                true => made::<f32>(at, "SpecificPotentialEnergies", POTENTIAL, ENERGY)?,
                false => made::<f64>(at, "SpecificPotentialEnergies", POTENTIAL, ENERGY)?,
            },
        })
    }

    fn write(&self, rows: Range<u64>, block: &MembershipBlock) -> Result<()> {
        let rows = rows.start as usize..rows.end as usize;
        self.owner.write_slice(ArrayView1::from(&block.owner), s![rows.clone()])?;
        self.rank.write_slice(ArrayView1::from(&block.rank), s![rows.clone()])?;
        self.potential.write_slice(ArrayView1::from(&block.potential), s![rows])
    }
}
