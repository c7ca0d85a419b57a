//! The header of one file.

use crate::particles::N_KINDS;
use crate::{ReadError, ReadResult};
use std::path::Path;

/// Types of particles in this format.
pub const N_TYPES: usize = 6;

/// Bytes of the header block of Gadget-1, 2 and 3, and of Gadget-4 with GADGET2_HEADER.
pub const HEADER_BYTES: usize = 256;

/// Bytes of Gadget-4's own header.
pub const GADGET_4_HEADER_BYTES: usize = 192;

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
    /// The values that all files of the snapshot share.
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
    /// Whether the header has the density parameters and the Hubble constant: Gadget-4's own header does not.
    pub has_cosmology: bool,
}

/// The bytes of a header in an order.
struct HeaderBytes<'a>(&'a [u8], ByteOrder);

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

    fn long_counts(&self, offset: usize) -> [u64; N_TYPES] {
        std::array::from_fn(|kind| {
            let bytes = self.at(offset + 8 * kind);
            match self.1 {
                ByteOrder::Little => u64::from_le_bytes(bytes),
                ByteOrder::Big => u64::from_be_bytes(bytes),
            }
        })
    }

    fn reals(&self, offset: usize) -> [f64; N_TYPES] {
        std::array::from_fn(|kind| self.real(offset + 8 * kind))
    }

    /// The values of Gadget-2's header. The offsets are those of its user guide.
    fn gadget_2(&self) -> BinaryHeader {
        let (low, high) = (self.counts(96), self.counts(168));
        let whole = WholeBinaryHeader {
            total: std::array::from_fn(|kind| low[kind] | high[kind] << 32),
            n_files: u64::from(self.count(124)),
            mass_table: self.reals(24),
            side: self.real(128),
            time: self.real(72),
            redshift: self.real(80),
            omega_m: self.real(136),
            omega_l: self.real(144),
            h: self.real(152),
            has_cosmology: true,
        };
        BinaryHeader { here: self.counts(0), whole }
    }

    /// The values of Gadget-4's own header: counts of 8 bytes, and no cosmology.
    fn gadget_4(&self) -> BinaryHeader {
        let whole = WholeBinaryHeader {
            total: self.long_counts(48),
            n_files: u64::from(self.count(168)),
            mass_table: self.reals(96),
            side: self.real(160),
            time: self.real(144),
            redshift: self.real(152),
            omega_m: 0.0,
            omega_l: 0.0,
            h: 0.0,
            has_cosmology: false,
        };
        BinaryHeader { here: self.long_counts(0), whole }
    }
}

impl BinaryHeader {
    /// From the bytes of the block, whose number says which header it is.
    ///
    /// # Errors
    /// A value is out of range.
    pub fn from_bytes(path: &Path, bytes: &[u8], order: ByteOrder) -> ReadResult<Self> {
        let values = HeaderBytes(bytes, order);
        let mut header = match bytes.len() {
            GADGET_4_HEADER_BYTES => values.gadget_4(),
            _ => values.gadget_2(),
        };
        let bad = |what: &str, problem: String, expected: &str| {
            Err(ReadError::content(path, format!("header, {what}"), problem, expected))
        };
        // A single file of older programs may state no more than its own numbers.
        header.whole.n_files = header.whole.n_files.max(1);
        if header.whole.n_files == 1 && header.whole.total == [0; N_TYPES] {
            header.whole.total = header.here;
        }
        let whole = &header.whole;
        if whole.n_files > 1_000_000 {
            return bad("number of files", whole.n_files.to_string(), "at most 1000000");
        }
        const MOST: u64 = 1 << 48;
        if let Some(n) = header.here.iter().chain(&whole.total).find(|n| **n > MOST) {
            return bad("numbers of particles", n.to_string(), "at most 2^48 of a type");
        }
        if let Some(mass) = whole.mass_table.iter().find(|m| !(m.is_finite() && **m >= 0.0)) {
            return bad("table of masses", mass.to_string(), "masses, 0 or more");
        }
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
        Ok(header)
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
