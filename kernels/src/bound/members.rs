//! Members: the particles and gas cells of one halo, checked and in one order.
//!
//! Members are sorted by (Morton key, identifier), whatever the caller's order. So every sum over members has
//! one order of terms, and a tree can be built from an ascending list of members.

use super::slices::{BLOCK, HaloBounds, Slices, Whole, block_starts, runs_in_blocks};
use crate::loops::{most_of, values};
use crate::packed_key;
use crate::sfc::morton63;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

/// Number of particle types.
pub const N_TYPES: usize = 8;

/// Bits of a Morton key along each axis.
pub(super) const KEY_BITS: u32 = 21;

/// The input: one entry per member in each column. Units are the caller's.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MemberColumns {
    /// Position relative to a point that all candidates of the halo share. Periodic images are already
    /// resolved.
    pub position: Vec<[f64; 3]>,
    /// Peculiar velocity.
    pub velocity: Vec<[f64; 3]>,
    /// Mass; may be 0.
    pub mass: Vec<f64>,
    /// Softening length as in a Plummer sphere: the potential at distance 0 is -G m / softening. 0: none. For
    /// a gas cell, its side.
    pub softening: Vec<f32>,
    /// Particle type, below [`N_TYPES`]: 0 gas, 1 dark matter, 4 stars, 5 black holes.
    pub particle_type: Vec<u8>,
    /// Specific internal energy, 0 for members without one; empty if no member has one.
    pub internal_energy: Vec<f64>,
    /// Identifier within the halo. It decides between equal members, so no two members may share one. It need
    /// not be the identity of a particle, which another type may have as well.
    pub id: Vec<u64>,
    /// Place among the former members of the track that claims it, the most bound first; [`NO_RANK`] for
    /// members that no track claims. Empty if none is claimed.
    pub former_rank: Vec<u32>,
}

/// In [`MemberColumns::former_rank`]: a member that no track claims.
pub const NO_RANK: u32 = u32::MAX;

/// Why columns are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberError {
    /// A column has another length than the positions.
    Length {
        /// The column.
        column: &'static str,
        /// Its length.
        found: usize,
        /// The number of positions.
        expected: usize,
    },
    /// A value is not finite, negative although it may not be, or a type beyond the last one.
    Value {
        /// The column.
        column: &'static str,
        /// The entry.
        entry: usize,
        /// The values that the column accepts.
        expected: &'static str,
    },
    /// There are more members than 32-bit numbers.
    TooMany,
}

impl fmt::Display for MemberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { column, found, expected } => {
                write!(
                    f,
                    "members: column {column} has {found} entries; expected {expected}, one per position"
                )
            }
            Self::Value { column, entry, expected } => {
                write!(f, "members: entry {entry} of column {column} is invalid; expected {expected}")
            }
            Self::TooMany => write!(f, "members: more than 4294967294 in one halo; expected fewer"),
        }
    }
}

impl std::error::Error for MemberError {}

impl HaloBounds {
    /// Of a halo with these columns.
    pub fn new<S: Slices>(columns: &MemberColumns, block: u64, slices: &S) -> Self {
        let most = |vectors: &[[f64; 3]]| {
            let longest = |i: usize| vectors[i].iter().fold(0.0f64, |most, x| most.max(x.abs()));
            most_of(slices, vectors.len(), longest)
        };
        Self {
            number: columns.position.len() as u64,
            mass: most_of(slices, columns.mass.len(), |i| columns.mass[i]),
            reach: most(&columns.position),
            speed: most(&columns.velocity),
            block,
        }
    }

    /// The Morton key of a position.
    pub fn key(&self, position: [f64; 3]) -> u64 {
        key_of(position, power_of_two_above(self.reach))
    }
}

/// Checked members in the order of (Morton key, identifier). A member is named by its number in this order.
#[derive(Debug, Clone, PartialEq)]
pub struct HaloMembers {
    columns: MemberColumns,
    key: Vec<u64>,
    entry: Vec<u32>,
    scale: f64,
    bounds: HaloBounds,
    /// The first member of each block.
    blocks: Vec<u32>,
}

impl HaloMembers {
    /// Checks and sorts the columns. Costs one sort, and one column of working memory at a time.
    pub fn new(columns: MemberColumns) -> Result<Self, MemberError> {
        Self::in_blocks(columns, BLOCK, &Whole)
    }

    /// The same, with `block` members per block of sums, on the threads of `slices`.
    pub fn in_blocks<S: Slices>(columns: MemberColumns, block: u64, slices: &S) -> Result<Self, MemberError> {
        columns.check()?;
        let bounds = HaloBounds::new(&columns, block, slices);
        let scale = power_of_two_above(bounds.reach);
        let n = columns.position.len();
        let key = values(slices, n, |i| key_of(columns.position[i], scale));
        let entry = order(&columns, &key, slices);
        let columns = MemberColumns {
            position: permuted(&columns.position, &entry, slices),
            velocity: permuted(&columns.velocity, &entry, slices),
            mass: permuted(&columns.mass, &entry, slices),
            softening: permuted(&columns.softening, &entry, slices),
            particle_type: permuted(&columns.particle_type, &entry, slices),
            internal_energy: permuted(&columns.internal_energy, &entry, slices),
            id: permuted(&columns.id, &entry, slices),
            former_rank: permuted(&columns.former_rank, &entry, slices),
        };
        let key = permuted(&key, &entry, slices);
        let blocks = block_starts(key.len(), |i| key[i], 0, block);
        Ok(Self { key, columns, entry, scale, bounds, blocks })
    }

    /// Some members of a halo: checked columns in the order of (key, identifier), with the bounds of the
    /// whole halo. `blocks` has the first member of each block.
    pub fn of_slice(columns: MemberColumns, bounds: HaloBounds, blocks: Vec<u32>) -> Self {
        let scale = power_of_two_above(bounds.reach);
        let key: Vec<u64> = columns.position.iter().map(|x| key_of(*x, scale)).collect();
        debug_assert!(key.is_sorted());
        Self { entry: (0..key.len() as u32).collect(), key, columns, scale, bounds, blocks }
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.entry.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entry.is_empty()
    }

    /// All columns, in the order of members.
    pub fn columns(&self) -> &MemberColumns {
        &self.columns
    }

    /// The entry of each member in the caller's columns.
    pub fn entries(&self) -> &[u32] {
        &self.entry
    }

    /// The numbers of all members: the candidates of a halo without substructure.
    pub fn all(&self) -> Vec<u32> {
        (0..self.len() as u32).collect()
    }

    /// The Morton key of each member.
    pub(super) fn keys(&self) -> &[u64] {
        &self.key
    }

    /// The bounds of the whole halo that sums need.
    pub fn bounds(&self) -> &HaloBounds {
        &self.bounds
    }

    /// The places of a list of members, which ascends, block by block.
    pub(crate) fn runs<'a>(&'a self, list: &'a [u32]) -> impl Iterator<Item = Range<usize>> + Clone + 'a {
        runs_in_blocks(&self.blocks, list)
    }

    /// A power of two above all coordinates.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// The specific internal energy of a member.
    #[inline]
    pub(super) fn internal_energy(&self, member: u32) -> f64 {
        match self.columns.internal_energy.is_empty() {
            true => 0.0,
            false => self.columns.internal_energy[member as usize],
        }
    }

    /// The place of a member among the former members of the track that claims it, or [`NO_RANK`].
    #[inline]
    pub(super) fn former_rank(&self, member: u32) -> u32 {
        self.columns.former_rank.get(member as usize).copied().unwrap_or(NO_RANK)
    }
}

impl MemberColumns {
    /// Checks lengths and values.
    ///
    /// # Errors
    /// The first column that is not as expected.
    pub fn check(&self) -> Result<(), MemberError> {
        check(self)
    }
}

fn check(columns: &MemberColumns) -> Result<(), MemberError> {
    let expected = columns.position.len();
    let or_none = |n: usize| if n == 0 { expected } else { n };
    let lengths = [
        ("velocity", columns.velocity.len()),
        ("mass", columns.mass.len()),
        ("softening", columns.softening.len()),
        ("particle_type", columns.particle_type.len()),
        ("id", columns.id.len()),
        ("internal_energy", or_none(columns.internal_energy.len())),
        ("former_rank", or_none(columns.former_rank.len())),
    ];
    if let Some(&(column, found)) = lengths.iter().find(|(_, found)| *found != expected) {
        return Err(MemberError::Length { column, found, expected });
    }
    if u32::try_from(expected).is_err() || expected == u32::MAX as usize {
        return Err(MemberError::TooMany);
    }
    let vector = "three finite numbers";
    let amount = "a finite number, 0 or more";
    first_wrong("position", &columns.position, vector, |x| x.iter().all(|x| x.is_finite()))?;
    first_wrong("velocity", &columns.velocity, vector, |x| x.iter().all(|x| x.is_finite()))?;
    first_wrong("mass", &columns.mass, amount, |x| x.is_finite() && *x >= 0.0)?;
    first_wrong("softening", &columns.softening, amount, |x| x.is_finite() && *x >= 0.0)?;
    first_wrong("particle_type", &columns.particle_type, "a type from 0 to 7", |x| {
        usize::from(*x) < N_TYPES
    })?;
    first_wrong("internal_energy", &columns.internal_energy, amount, |x| x.is_finite() && *x >= 0.0)
}

fn first_wrong<T>(
    column: &'static str,
    values: &[T],
    expected: &'static str,
    is_right: impl Fn(&T) -> bool,
) -> Result<(), MemberError> {
    match values.iter().position(|value| !is_right(value)) {
        Some(entry) => Err(MemberError::Value { column, entry, expected }),
        None => Ok(()),
    }
}

/// The entries in the order of members. Members that share key and identifier are put in the order of
/// position and velocity.
fn order<S: Slices>(columns: &MemberColumns, key: &[u64], slices: &S) -> Vec<u32> {
    let compare = |a: usize, b: usize| {
        let vectors = |list: &[[f64; 3]]| compare_vectors(list[a], list[b]);
        (key[a], columns.id[a])
            .cmp(&(key[b], columns.id[b]))
            .then_with(|| vectors(&columns.position))
            .then_with(|| vectors(&columns.velocity))
    };
    let mut words: Vec<u64> =
        key.iter().zip(0..).map(|(key, i)| packed_key::word((key >> 31) as u32, i)).collect();
    slices.sort(&mut words, u64::cmp);
    packed_key::settle(&mut words, compare);
    words.iter().map(|word| packed_key::place_of(*word) as u32).collect()
}

fn compare_vectors(a: [f64; 3], b: [f64; 3]) -> Ordering {
    a.iter().zip(&b).fold(Ordering::Equal, |so_far, (a, b)| so_far.then_with(|| a.total_cmp(b)))
}

fn permuted<S: Slices, T: Copy + Send + Sync>(column: &[T], entry: &[u32], slices: &S) -> Vec<T> {
    match column.is_empty() {
        true => Vec::new(),
        false => values(slices, entry.len(), |i| column[entry[i] as usize]),
    }
}

/// The least power of two above a magnitude; 1 for 0.
pub(super) fn power_of_two_above(magnitude: f64) -> f64 {
    let exponent = magnitude.to_bits() >> 52;
    match exponent {
        0 => 1.0,
        _ => f64::from_bits((exponent + 1).min(2046) << 52),
    }
}

/// The key of a position in the cube from -`scale` to `scale` along each axis.
fn key_of(x: [f64; 3], scale: f64) -> u64 {
    let cells = f64::from(1u32 << (KEY_BITS - 1));
    morton63(x.map(|x| (((x / scale + 1.0) * cells) as u32).min((1 << KEY_BITS) - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> MemberColumns {
        MemberColumns {
            position: vec![[0.5; 3], [-0.5; 3]],
            velocity: vec![[0.0; 3]; 2],
            mass: vec![1.0, 2.0],
            softening: vec![0.0; 2],
            particle_type: vec![1; 2],
            internal_energy: vec![],
            id: vec![7, 9],
            former_rank: vec![],
        }
    }

    #[test]
    fn members_are_in_the_order_of_keys() {
        let members = HaloMembers::new(two()).expect("members");
        assert_eq!(members.entries(), [1, 0]);
        assert_eq!(members.columns().mass, [2.0, 1.0]);
        assert!(members.keys().is_sorted());
    }

    #[test]
    fn wrong_columns_are_named() {
        let wrong = |change: fn(&mut MemberColumns)| {
            let mut columns = two();
            change(&mut columns);
            HaloMembers::new(columns).expect_err("an error").to_string()
        };
        let found = wrong(|columns| columns.mass.truncate(1));
        assert_eq!(found, "members: column mass has 1 entries; expected 2, one per position");
        let found = wrong(|columns| columns.position[1][2] = f64::NAN);
        assert_eq!(found, "members: entry 1 of column position is invalid; expected three finite numbers");
        assert!(wrong(|columns| columns.mass[0] = -1.0).contains("0 or more"));
        assert!(wrong(|columns| columns.particle_type[0] = 8).contains("from 0 to 7"));
        assert!(wrong(|columns| columns.internal_energy = vec![1.0]).contains("1 entries"));
    }

    #[test]
    fn powers_of_two_are_above() {
        for (x, above) in [(0.0, 1.0), (1.0, 2.0), (0.75, 1.0), (3.9, 4.0), (1e-3, 1.0 / 512.0)] {
            assert_eq!(power_of_two_above(x), above);
        }
    }
}
