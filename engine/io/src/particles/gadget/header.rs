//! The header of one file.

use crate::particles::N_KINDS;
use crate::{ReadError, ReadResult};
use std::path::Path;

/// Types of particles in this format.
pub const N_TYPES: usize = 6;

/// Bytes of the header block.
pub const HEADER_BYTES: usize = 256;

/// The order of bytes in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// The least significant first.
    Little,
    /// The most significant first.
    Big,
}

/// Counts and constants of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct BinaryHeader {
    /// Particles in this file, by type.
    pub here: [u64; N_TYPES],
    /// What all files of the snapshot share.
    pub whole: WholeBinaryHeader,
}

/// Values that must be equal in all files of a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeBinaryHeader {
    /// Particles in all files, by type.
    pub total: [u64; N_TYPES],
    /// Files of the snapshot.
    pub n_files: u64,
    /// The common mass of all particles of a type; 0 for none.
    pub mass_table: [f64; N_TYPES],
    /// Side of the box; 0 for no box.
    pub side: f64,
    /// Time, or the expansion factor.
    pub time: f64,
    /// Redshift.
    pub redshift: f64,
    /// Density of matter.
    pub omega_m: f64,
    /// Density of the cosmological constant.
    pub omega_l: f64,
    /// The Hubble constant over 100 km/s/Mpc.
    pub h: f64,
}

/// The bytes of a header in an order.
struct HeaderBytes<'a>(&'a [u8; HEADER_BYTES], ByteOrder);

impl HeaderBytes<'_> {
    fn at<const N: usize>(&self, offset: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.0[offset..offset + N]);
        bytes
    }

    fn count(&self, offset: usize) -> u32 {
        match self.1 {
            ByteOrder::Little => u32::from_le_bytes(self.at(offset)),
            ByteOrder::Big => u32::from_be_bytes(self.at(offset)),
        }
    }

    fn real(&self, offset: usize) -> f64 {
        match self.1 {
            ByteOrder::Little => f64::from_le_bytes(self.at(offset)),
            ByteOrder::Big => f64::from_be_bytes(self.at(offset)),
        }
    }

    fn counts(&self, offset: usize) -> [u64; N_TYPES] {
        std::array::from_fn(|kind| u64::from(self.count(offset + 4 * kind)))
    }
}

impl BinaryHeader {
    /// From the bytes of the block. The offsets are those of the user guide.
    ///
    /// # Errors
    /// A value is out of range.
    pub fn from_bytes(path: &Path, bytes: &[u8; HEADER_BYTES], order: ByteOrder) -> ReadResult<Self> {
        let bytes = HeaderBytes(bytes, order);
        let bad = |what: &str, problem: String, expected: &str| {
            Err(ReadError::content(path, format!("header, {what}"), problem, expected))
        };
        let (low, high) = (bytes.counts(96), bytes.counts(168));
        let mut total: [u64; N_TYPES] = std::array::from_fn(|kind| low[kind] | high[kind] << 32);
        let here = bytes.counts(0);
        // A single file of older programs may state no more than its own numbers.
        let n_files = u64::from(bytes.count(124)).max(1);
        if n_files == 1 && total == [0; N_TYPES] {
            total = here;
        }
        if n_files > 1_000_000 {
            return bad("number of files", n_files.to_string(), "at most 1000000");
        }
        let mass_table: [f64; N_TYPES] = std::array::from_fn(|kind| bytes.real(24 + 8 * kind));
        if let Some(mass) = mass_table.iter().find(|m| !(m.is_finite() && **m >= 0.0)) {
            return bad("table of masses", mass.to_string(), "masses, 0 or more");
        }
        let whole = WholeBinaryHeader {
            total,
            n_files,
            mass_table,
            side: bytes.real(128),
            time: bytes.real(72),
            redshift: bytes.real(80),
            omega_m: bytes.real(136),
            omega_l: bytes.real(144),
            h: bytes.real(152),
        };
        if !(whole.side.is_finite() && whole.side >= 0.0) {
            return bad("side of the box", whole.side.to_string(), "a side above 0, or 0 for no box");
        }
        let others = [
            ("time", whole.time),
            ("redshift", whole.redshift),
            ("Omega0", whole.omega_m),
            ("OmegaLambda", whole.omega_l),
            ("HubbleParam", whole.h),
        ];
        if let Some((name, value)) = others.into_iter().find(|(_, value)| !value.is_finite()) {
            return bad(name, value.to_string(), "a finite number");
        }
        Ok(Self { here, whole })
    }

    /// Particles in this file.
    pub fn n(&self) -> u64 {
        self.here.iter().sum()
    }

    /// The types whose particles have masses of their own here.
    pub fn has_own_masses(&self, kind: usize) -> bool {
        self.here[kind] > 0 && self.whole.mass_table[kind] == 0.0
    }

    /// Particles with masses of their own here.
    pub fn n_own_masses(&self) -> u64 {
        (0..N_TYPES).filter(|kind| self.has_own_masses(*kind)).map(|kind| self.here[kind]).sum()
    }
}

impl WholeBinaryHeader {
    /// The first difference from another file, as name and values.
    pub fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let pairs = [
            ("numbers of all files", format!("{:?}", self.total), format!("{:?}", other.total)),
            ("number of files", self.n_files.to_string(), other.n_files.to_string()),
            ("table of masses", format!("{:?}", self.mass_table), format!("{:?}", other.mass_table)),
            ("side of the box", self.side.to_string(), other.side.to_string()),
            ("time", self.time.to_string(), other.time.to_string()),
        ];
        pairs.into_iter().find(|(_, a, b)| a != b)
    }
}

const _: () = assert!(N_TYPES <= N_KINDS);
