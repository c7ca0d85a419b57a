//! Groups and subhaloes of Gadget-4: `fof_subhalo_tab_NNN.hdf5`, or its parts, and the snapshot beside it.
//!
//! Gadget-4 sorts the particles of each type in the snapshot by group and subhalo, the most bound of a
//! subhalo first. Positions and the radii of groups are comoving and over h, as in the snapshot. Half-mass
//! radii, radii of the maximum circular velocity and spins of subhaloes are proper: on a run of Gadget-4 at
//! a = 0.4955, those of its particles are 1 / a of them. Velocities of subhaloes are peculiar, and those of
//! groups are multiplied by the expansion factor.

use super::members::{N_TYPES, SnapshotMembers, TypeSpans};
use super::{FINDER, FinderCatalogue, FinderMemberRows, column};
use crate::catalogue::{AttributeList, Catalogue, Dimension, Table, TableColumn, Values};
use crate::hdf5_file::Hdf5File;
use crate::particles::{all_files, gadget_catalogue, open_particles};
use crate::{ReadError, ReadResult};
use std::path::{Path, PathBuf};

/// A dataset, and the name, dimension and description of its column.
type TabColumn = (&'static str, &'static str, Dimension, &'static str);

const TENSOR: Dimension = Dimension::new(2, 0, -1);

/// Reals of subhaloes.
const SUBHALO_REALS: [TabColumn; 5] = [
    ("SubhaloMass", "bound_mass", Dimension::MASS, "mass of its particles"),
    (
        "SubhaloVmax",
        "maximum_circular_velocity",
        Dimension::VELOCITY,
        "greatest circular velocity of its particles",
    ),
    (
        "SubhaloVmaxRad",
        "maximum_circular_velocity_radius",
        Dimension::LENGTH,
        "radius of the maximum circular velocity",
    ),
    ("SubhaloHalfmassRad", "half_mass_radius", Dimension::LENGTH, "radius with half of its mass"),
    ("SubhaloVelDisp", "velocity_dispersion", Dimension::VELOCITY, "velocity dispersion along one axis"),
];

/// Vectors of subhaloes.
const SUBHALO_VECTORS: [TabColumn; 4] = [
    (
        "SubhaloPos",
        "most_bound_position",
        Dimension::LENGTH,
        "particle with the lowest potential: the centre",
    ),
    ("SubhaloCM", "bound_centre_of_mass", Dimension::LENGTH, "centre of mass"),
    ("SubhaloVel", "bound_velocity", Dimension::VELOCITY, "mean velocity of its particles"),
    ("SubhaloSpin", "specific_angular_momentum", TENSOR, "angular momentum per mass"),
];

/// Reals of groups.
const GROUP_REALS: [TabColumn; 9] = [
    ("GroupMass", "Masses", Dimension::MASS, "mass of its particles"),
    ("Group_M_Crit200", "mass_200_crit", Dimension::MASS, "mass within 200 times the critical density"),
    ("Group_R_Crit200", "radius_200_crit", Dimension::LENGTH, "radius of 200 times the critical density"),
    ("Group_M_Crit500", "mass_500_crit", Dimension::MASS, "mass within 500 times the critical density"),
    ("Group_R_Crit500", "radius_500_crit", Dimension::LENGTH, "radius of 500 times the critical density"),
    ("Group_M_Mean200", "mass_200_mean", Dimension::MASS, "mass within 200 times the mean density"),
    ("Group_R_Mean200", "radius_200_mean", Dimension::LENGTH, "radius of 200 times the mean density"),
    ("Group_M_TopHat200", "mass_virial", Dimension::MASS, "mass within the density of spherical collapse"),
    ("Group_R_TopHat200", "radius_virial", Dimension::LENGTH, "radius of the density of spherical collapse"),
];

/// Datasets of subhaloes with proper lengths.
const PROPER: [&str; 3] = ["SubhaloVmaxRad", "SubhaloHalfmassRad", "SubhaloSpin"];

/// Subhaloes whose first member is compared with the catalogue, evenly over all.
const N_CHECKED: usize = 64;

/// Opens a catalogue: all its files, and the headers of the snapshot if it is there.
pub fn open(path: &Path) -> ReadResult<FinderCatalogue> {
    let first = Hdf5File::open(path)?;
    if !first.has_attribute("Header", "Nsubhalos_Total") {
        let expected = "a catalogue of Gadget-4, with subhaloes of SUBFIND";
        return Err(first.bad("Header/Nsubhalos_Total", "not there", expected));
    }
    let n_files = first.number("Header", "NumFiles")?.filter(|n| (1.0..=1e6).contains(n)).unwrap_or(1.0);
    let files = all_files(&[path.to_path_buf()], n_files as u64)?;
    let mut parts = Vec::new();
    for file in &files {
        parts.push(TabFile::open(file)?);
    }
    let [n_groups, n_subhaloes] = [|part: &TabFile| part.n_groups, |part: &TabFile| part.n_subhaloes]
        .map(|n: fn(&TabFile) -> u64| parts.iter().map(n).sum::<u64>());
    for (name, found) in [("Ngroups_Total", n_groups), ("Nsubhalos_Total", n_subhaloes)] {
        let stated = first.number("Header", name)?;
        if stated != Some(found as f64) {
            let problem = stated.map_or("not there".to_string(), |stated| stated.to_string());
            return Err(first.bad(&format!("Header/{name}"), problem, format!("{found}, as in all files")));
        }
    }
    let a = gadget_catalogue(&first)?.cosmology.map_or(1.0, |cosmology| cosmology.aexp);
    let (groups, subhaloes) = (TabGroups::read(&parts)?, TabSubhaloes::read(&parts, a)?);
    groups.check(&first, &subhaloes)?;
    let snapshot = snapshot_of(path, &first);
    let members = match snapshot {
        Some(snapshot) => Some(subhaloes.members(&snapshot, &first)?),
        None => None,
    };
    let clumps = subhaloes.table(&groups, members.as_ref());
    let objects = Catalogue {
        attributes: attributes(&first, path)?,
        tables: vec![clumps, groups.table(&subhaloes, a)],
    };
    let members = members.map(|members| Box::new(members) as Box<dyn FinderMemberRows>);
    Ok(FinderCatalogue { path: path.into(), objects, members })
}

/// One file of a catalogue.
struct TabFile {
    path: PathBuf,
    n_groups: u64,
    n_subhaloes: u64,
}

impl TabFile {
    fn open(path: &Path) -> ReadResult<Self> {
        let source = Hdf5File::open(path)?;
        let count = |name: &str| {
            let n = source.number("Header", name)?.filter(|n| *n >= 0.0 && n.fract() == 0.0 && *n < 9e15);
            n.map(|n| n as u64).ok_or_else(|| source.bad(&format!("Header/{name}"), "no number", "a count"))
        };
        let (n_groups, n_subhaloes) = (count("Ngroups_ThisFile")?, count("Nsubhalos_ThisFile")?);
        Ok(Self { path: path.into(), n_groups, n_subhaloes })
    }
}

/// A group of datasets in all files.
#[derive(Clone, Copy)]
struct Datasets<'a> {
    parts: &'a [TabFile],
    group: &'static str,
    n: fn(&TabFile) -> u64,
    /// From proper lengths to those of the snapshot.
    proper: f64,
}

impl Datasets<'_> {
    /// Calls `read` with each file that has rows, the path of the dataset and the number of rows.
    fn each(
        &self,
        name: &str,
        mut read: impl FnMut(&Hdf5File, &str, u64) -> ReadResult<()>,
    ) -> ReadResult<()> {
        for part in self.parts.iter().filter(|part| (self.n)(part) > 0) {
            read(&Hdf5File::open(&part.path)?, &format!("{}/{name}", self.group), (self.n)(part))?;
        }
        Ok(())
    }

    fn integers(&self, name: &str) -> ReadResult<Vec<i64>> {
        let mut all = Vec::new();
        self.each(name, |source, place, n| {
            let read = source.integers(&source.need(place, n, 1)?, 0..n)?;
            all.extend(read.into_iter().map(u64::cast_signed));
            Ok(())
        })?;
        Ok(all)
    }

    /// Reals, or `None` if a file lacks them.
    fn reals(&self, name: &str) -> ReadResult<Option<Vec<f64>>> {
        let mut all = Some(Vec::new());
        self.each(name, |source, place, n| {
            let Some(dataset) = source.find(place)? else {
                all = None;
                return Ok(());
            };
            let read: Vec<f64> = source.reals(&source.fits(dataset, n, 1)?, 0..n)?;
            all.iter_mut().for_each(|all| all.extend(&read));
            Ok(())
        })?;
        Ok(all)
    }

    /// Vectors, or `None` if a file lacks them.
    fn vectors(&self, name: &str) -> ReadResult<Option<Vec<[f64; 3]>>> {
        let mut all = Some(Vec::new());
        self.each(name, |source, place, n| {
            let Some(dataset) = source.find(place)? else {
                all = None;
                return Ok(());
            };
            let read: Vec<f64> = source.reals(&source.fits(dataset, n, 3)?, 0..n)?;
            let read = read.chunks_exact(3).map(|v| [v[0], v[1], v[2]]);
            all.iter_mut().for_each(|all| all.extend(read.clone()));
            Ok(())
        })?;
        Ok(all)
    }

    /// Integers by type of particle.
    fn by_type(&self, name: &str) -> ReadResult<Vec<[u64; N_TYPES]>> {
        let mut all = Vec::new();
        self.each(name, |source, place, n| {
            let dataset = source.find(place)?.ok_or_else(|| source.bad(place, "no such dataset", "one"))?;
            let width = dataset.shape.get(1).copied().unwrap_or(1);
            if width == 0 || width > N_TYPES {
                let expected = format!("1 to {N_TYPES}");
                return Err(source.bad(place, format!("{width} types of particles"), expected));
            }
            let read = source.integers(&source.fits(dataset, n, width)?, 0..n)?;
            all.extend(read.chunks_exact(width).map(|row| {
                let mut of = [0; N_TYPES];
                of[..width].copy_from_slice(row);
                of
            }));
            Ok(())
        })?;
        Ok(all)
    }

    /// The columns of these rows that exist.
    fn columns(&self, reals: &[TabColumn], vectors: &[TabColumn]) -> ReadResult<Vec<TableColumn>> {
        let factor_of = |dataset: &str| if PROPER.contains(&dataset) { self.proper } else { 1.0 };
        let mut columns = Vec::new();
        for (dataset, name, dimension, about) in reals {
            let factor = factor_of(dataset);
            let read = self.reals(dataset)?.map(|read| read.iter().map(|x| x * factor).collect());
            columns.extend(read.map(|values| column(name, *dimension, about, Values::F64(values))));
        }
        for (dataset, name, dimension, about) in vectors {
            let factor = factor_of(dataset);
            let read = self.vectors(dataset)?;
            let read = read.map(|read| read.iter().map(|v| v.map(|x| x * factor)).collect());
            columns.extend(read.map(|values| column(name, *dimension, about, Values::F64x3(values))));
        }
        Ok(columns)
    }
}

/// The subhaloes of a catalogue.
struct TabSubhaloes {
    group: Vec<i64>,
    rank: Vec<i64>,
    parent_rank: Vec<i64>,
    n: Vec<i64>,
    most_bound: Vec<i64>,
    spans: Vec<TypeSpans>,
    columns: Vec<TableColumn>,
}

impl TabSubhaloes {
    fn read(parts: &[TabFile], a: f64) -> ReadResult<Self> {
        let from = Datasets { parts, group: "Subhalo", n: |part| part.n_subhaloes, proper: 1.0 / a };
        let (first, n) = (from.by_type("SubhaloOffsetType")?, from.by_type("SubhaloLenType")?);
        Ok(Self {
            group: from.integers("SubhaloGroupNr")?,
            rank: from.integers("SubhaloRankInGr")?,
            parent_rank: from.integers("SubhaloParentRank")?,
            n: from.integers("SubhaloLen")?,
            most_bound: from.integers("SubhaloIDMostbound")?,
            spans: first.into_iter().zip(n).map(|(first, n)| TypeSpans { first, n }).collect(),
            columns: from.columns(&SUBHALO_REALS, &SUBHALO_VECTORS)?,
        })
    }

    /// Their members in the snapshot at `path`.
    ///
    /// # Errors
    /// It is another output, or not sorted as the catalogue says.
    fn members(&self, path: &Path, catalogue: &Hdf5File) -> ReadResult<SnapshotMembers> {
        let input = open_particles(&[path.to_path_buf()])?;
        let (time, own) = (input.about().time, catalogue.number("Header", "Time")?.unwrap_or(f64::NAN));
        if (time - own).abs() > 1e-9 * own.abs() {
            let problem = format!("time {time}");
            let expected = format!("{own}, that of the catalogue {}", catalogue.path().display());
            return Err(ReadError::content(path, "header", problem, expected));
        }
        let ids = (0..self.n.len() as u64).collect();
        let members = SnapshotMembers::new(path.into(), input, ids, self.spans.clone())?;
        self.check_order(&members, path)?;
        Ok(members)
    }

    /// Whether the first particle of some type in a subhalo is its most bound one.
    fn check_order(&self, members: &SnapshotMembers, path: &Path) -> ReadResult<()> {
        let step = self.n.len().div_ceil(N_CHECKED).max(1);
        for row in (0..self.n.len()).step_by(step) {
            let n: u64 = self.spans[row].n.iter().sum();
            if u64::try_from(self.n[row]) != Ok(n) {
                let (place, problem) = (format!("subhalo {row}"), format!("{n} particles of all types"));
                let expected = format!("{}, its SubhaloLen", self.n[row]);
                return Err(ReadError::content(path, place, problem, expected));
            }
            let start = members.offsets()[row];
            let own = members.read(start..start + n)?;
            let is_first = |at: usize| at == 0 || own.member_type[at] != own.member_type[at - 1];
            let most_bound = self.most_bound[row].cast_unsigned();
            if !(0..own.id.len()).any(|at| is_first(at) && own.id[at] == most_bound) {
                let place = format!("subhalo {row}");
                let problem = format!("its first particle is not its most bound one, {most_bound}");
                return Err(ReadError::content(
                    path,
                    place,
                    problem,
                    "particles in the order of the catalogue",
                ));
            }
        }
        Ok(())
    }

    fn table(&self, groups: &TabGroups, members: Option<&SnapshotMembers>) -> Table {
        let whole = |name: &str, about: &str, values: Vec<u64>| {
            column(name, Dimension::NONE, about, Values::U64(values))
        };
        let n = self.n.len();
        let main = |row: usize| groups.first_subhalo[self.group[row] as usize];
        let parent = |row: usize| match self.rank[row] {
            0 => row as u64,
            _ => (main(row) + self.parent_rank[row]).cast_unsigned(),
        };
        let main_of = (0..n).map(|row| main(row).cast_unsigned()).collect();
        let is_central = self.rank.iter().map(|rank| u8::from(*rank == 0)).collect();
        let n_bound = self.n.iter().map(|n| n.cast_unsigned()).collect();
        let mut columns = vec![
            whole("id", "number of the subhalo in the catalogue, from 0", (0..n as u64).collect()),
            whole("halo", "the main subhalo of its group", main_of),
            whole(
                "parent",
                "the subhalo that contains it; itself for the main one",
                (0..n).map(parent).collect(),
            ),
            whole("group", "its group", self.group.iter().map(|group| group.cast_unsigned()).collect()),
            column(
                "is_central",
                Dimension::NONE,
                "1 for the main subhalo of its group",
                Values::U8(is_central),
            ),
            whole("n_bound", "number of its particles", n_bound),
            whole(
                "most_bound_id",
                "identity of the particle with the lowest potential",
                self.most_bound.iter().map(|id| id.cast_unsigned()).collect(),
            ),
        ];
        columns.extend(self.columns.iter().cloned());
        if let Some(members) = members {
            let about = "row of its first particle in members; the next n_bound rows are its own";
            columns.push(whole("members_offset", about, members.offsets().to_vec()));
        }
        Table { name: "clumps".into(), columns }
    }
}

/// The groups of a catalogue.
struct TabGroups {
    n: Vec<i64>,
    first_subhalo: Vec<i64>,
    velocity: Option<Vec<[f64; 3]>>,
    columns: Vec<TableColumn>,
}

impl TabGroups {
    fn read(parts: &[TabFile]) -> ReadResult<Self> {
        let from = Datasets { parts, group: "Group", n: |part| part.n_groups, proper: 1.0 };
        let about = "particle with the lowest potential of its main subhalo";
        let position = ("GroupPos", "most_bound_position", Dimension::LENGTH, about);
        Ok(Self {
            n: from.integers("GroupLen")?,
            first_subhalo: from.integers("GroupFirstSub")?,
            velocity: from.vectors("GroupVel")?,
            columns: from.columns(&GROUP_REALS, &[position])?,
        })
    }

    /// Checks that each subhalo has a number of particles and is in a group, with its parent among the
    /// subhaloes of that group.
    fn check(&self, source: &Hdf5File, subhaloes: &TabSubhaloes) -> ReadResult<()> {
        let n = subhaloes.n.len() as i64;
        for (row, group) in subhaloes.group.iter().enumerate() {
            let first = usize::try_from(*group).ok().and_then(|group| self.first_subhalo.get(group));
            let is_own = |rank: i64| first.is_some_and(|first| *first >= 0 && rank >= 0 && rank < n - first);
            if !is_own(subhaloes.rank[row]) || !is_own(subhaloes.parent_rank[row]) {
                let problem = format!("group {group}, rank {}", subhaloes.rank[row]);
                let expected = format!("one of the {} groups, with this subhalo", self.n.len());
                return Err(source.bad(&format!("Subhalo, row {row}"), problem, expected));
            }
            if subhaloes.n[row] < 0 {
                let place = format!("Subhalo/SubhaloLen, row {row}");
                return Err(source.bad(&place, subhaloes.n[row].to_string(), "0 particles or more"));
            }
        }
        Ok(())
    }

    /// `a` is the expansion factor.
    fn table(&self, subhaloes: &TabSubhaloes, a: f64) -> Table {
        let n = self.n.len();
        let [mut n_bound, mut n_subhaloes] = [vec![0_u64; n], vec![0_u64; n]];
        let mut mass = vec![0.0; n];
        let masses = subhaloes.columns.iter().find(|column| column.name == "bound_mass");
        for (row, group) in subhaloes.group.iter().enumerate() {
            let n_bound = &mut n_bound[*group as usize];
            *n_bound = n_bound.saturating_add(subhaloes.n[row].cast_unsigned());
            n_subhaloes[*group as usize] += 1;
            if let Some(Values::F64(masses)) = masses.map(|column| &column.values) {
                mass[*group as usize] += masses[row];
            }
        }
        let none = Dimension::NONE;
        let mut columns = vec![
            column("GroupIDs", none, "number of the group, from 0", Values::I64((0..n as i64).collect())),
            column("Sizes", none, "number of particles", Values::I64(self.n.clone())),
            column("n_bound", none, "number of particles in its subhaloes", Values::U64(n_bound)),
            column("n_subhaloes", none, "number of its subhaloes", Values::U64(n_subhaloes)),
            column(
                "central",
                none,
                "its main subhalo; -1 without one",
                Values::I64(self.first_subhalo.clone()),
            ),
        ];
        if masses.is_some() {
            let about = "mass of the particles in its subhaloes";
            columns.push(column("bound_mass", Dimension::MASS, about, Values::F64(mass)));
        }
        if let Some(velocity) = &self.velocity {
            let peculiar = velocity.iter().map(|v| v.map(|v| v / a)).collect();
            columns.push(column("Velocities", Dimension::VELOCITY, "mean velocity", Values::F64x3(peculiar)));
        }
        columns.extend(self.columns.iter().cloned());
        Table { name: "Groups".into(), columns }
    }
}

/// What our catalogues of the same snapshot state.
fn attributes(source: &Hdf5File, path: &Path) -> ReadResult<Vec<(String, crate::catalogue::Attribute)>> {
    let scales = gadget_catalogue(source)?;
    let mut list = AttributeList::new();
    list.text(FINDER, "SUBFIND of Gadget-4");
    list.text("input_format", scales.format);
    if let Some(number) = number_of(path) {
        list.int("input_number", number as i64);
    }
    list.real("time", source.number("Header", "Time")?.unwrap_or(0.0));
    if let Some([x, y, z]) = scales.simulation_box.sides {
        list.real("boxlen", x);
        list.reals("coarse_cells", &[1.0, y / x, z / x]);
    }
    list.reals("periodic", &[f64::from(u8::from(scales.simulation_box.periodic)); 3]);
    if let Some(units) = &scales.units {
        list.units(units);
    }
    if let Some(cosmology) = &scales.cosmology {
        list.cosmology(cosmology);
    }
    Ok(list.into_attributes())
}

/// The number in the name of a catalogue: 80 of `fof_subhalo_tab_080.3.hdf5`.
fn number_of(path: &Path) -> Option<u64> {
    digits_of(path)?.parse().ok()
}

fn digits_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let after = name.rsplit_once('_')?.1;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}

/// The snapshot of a catalogue: beside it, or for `groups_080/` in `snapdir_080/`.
fn snapshot_of(path: &Path, source: &Hdf5File) -> Option<PathBuf> {
    let number = digits_of(path)?;
    let base = source.text("Parameters", "SnapshotFileBase").unwrap_or_else(|| "snapshot".into());
    let folder = path.parent()?;
    let beside = folder.join("..").join(format!("snapdir_{number}"));
    let names = [format!("{base}_{number}.hdf5"), format!("{base}_{number}.0.hdf5")];
    let candidates =
        [folder, &beside].into_iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
    candidates.into_iter().find(|candidate| candidate.is_file())
}
