//! What every snapshot offers: its header, and its octs and particles as streams.

use crate::attribute::Attribute;
use crate::cosmology::Cosmology;
use crate::dimension::Dimension;
use crate::{FieldDefaults, ReadResult, StaticName, facts};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Physical scales and cosmology of a snapshot. A code length, density and time unit times these
/// factors is cgs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Units {
    /// Centimetres in one code length.
    pub length: f64,
    /// g/cm³ in one code density.
    pub density: f64,
    /// Seconds in one code time.
    pub time: f64,
}

impl Units {
    /// The cgs value of one code unit of `dimension`.
    pub fn cgs(&self, dimension: Dimension) -> f64 {
        let Dimension { length, mass, time } = dimension;
        self.density.powi(mass.into())
            * self.length.powi(i32::from(length) + 3 * i32::from(mass))
            * self.time.powi(time.into())
    }
}

/// The ratio of specific heats of a monatomic gas.
pub const MONATOMIC: f64 = 5.0 / 3.0;
/// The header of a snapshot; cheap to read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The format's name, as `inselberg info` prints it.
    #[serde(deserialize_with = "facts::name")]
    pub format: StaticName,
    /// Output number, if the format has one.
    pub number: Option<u32>,
    /// Time in code units.
    pub time: f64,
    /// Side of a coarse cell in code length units; the side of the box if it has only one.
    pub boxlen: f64,
    /// The lower corner of the box in the coordinates of the code: a level-l cell `ijk` begins at
    /// `origin + ijk * boxlen / 2^l`.
    pub origin: [f64; 3],
    /// Coarse cells along each axis: a level-l cell has side `boxlen / 2^l` and the box holds
    /// `coarse[a] << l` of them along axis `a`.
    pub coarse: [u32; 3],
    /// Which axes wrap around.
    pub periodic: [bool; 3],
    /// The coarsest level that may have leaves (RAMSES's levelmin).
    pub levelmin: u8,
    /// Deepest level the output may hold.
    pub levelmax: u8,
    /// Physical scales.
    pub units: Units,
    /// Cosmological parameters, if the output has them.
    pub cosmology: Option<Cosmology>,
    /// Number of independent pieces that [`Snapshot::octs`] and [`Snapshot::particles`] take.
    pub n_pieces: usize,
}

impl Header {
    /// Side of a coarse cell in comoving Mpc/h; `None` without a cosmology.
    pub fn comoving_side(&self) -> Option<f64> {
        const MPC: f64 = 3.085_677_581e24;
        let c = self.cosmology.as_ref().filter(|c| c.aexp > 0.0 && c.h0 > 0.0)?;
        Some(self.boxlen * self.units.length / MPC / c.aexp * c.h0 / 100.0)
    }

    /// Whether the unit of density is the mean matter density of the universe, as in RAMSES's cosmological
    /// runs. Within one per cent, since codes differ in their constants.
    pub fn is_in_mean_densities(&self) -> bool {
        self.cosmology.as_ref().is_some_and(|c| {
            let mean = c.omega_m * c.critical_density_today() / c.aexp.powi(3);
            (self.units.density / mean - 1.0).abs() < 0.01
        })
    }
}

/// A cell quantity of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldInfo {
    /// Its family of files: `hydro`, `grav`, ...
    #[serde(deserialize_with = "facts::name")]
    pub family: StaticName,
    /// Its name, `density`, `velocity_x`, `rho`, ... unique within the snapshot.
    pub name: String,
}

/// A batch of octs of one level with all eight cells, leaf or split, each oct exactly once over
/// all pieces. Cell `i` of an oct has offset `(i & 1, i >> 1 & 1, i >> 2 & 1)` along x, y, z.
#[derive(Debug, Default, Clone)]
pub struct OctBlock {
    /// Level of the cells (the oct itself is a cell of level `level - 1`).
    pub level: u8,
    /// Integer position of each oct on the grid of level `level - 1`; its cells are at
    /// `2 * position + offset` on the grid of `level`.
    pub position: Vec<[u32; 3]>,
    /// One bit per cell, set if the cell is split (has an oct of the next level inside). In a snapshot of
    /// leaves alone: set if the cell is absent.
    pub split: Vec<u8>,
    /// One vector per requested field, in the order of the request: eight values per oct.
    pub values: Vec<Vec<[f64; 8]>>,
}

/// The kind of a particle. Outputs from before families have only masses and birth times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// Gas of a particle code. RAMSES has gas in cells instead.
    Gas,
    /// Dark matter.
    DarkMatter,
    /// Stars.
    Star,
    /// Sink-particle clouds.
    Cloud,
    /// Stellar debris.
    Debris,
    /// Any other particles with a mass.
    Other,
    /// Massless gas, star or other tracers.
    Tracer,
}

/// A batch of particles, columns of equal length. Positions are in code length units, within
/// `[0, boxlen)` on periodic axes.
#[derive(Debug, Default, Clone)]
pub struct ParticleBlock {
    /// Index of the first particle of the block in its piece, in file order.
    pub first: u64,
    /// Positions.
    pub position: Vec<[f64; 3]>,
    /// Velocities in code units.
    pub velocity: Vec<[f64; 3]>,
    /// Masses in code units.
    pub mass: Vec<f64>,
    /// Identities: unsigned numbers of 64 bits; those from 2^63 on are negative here.
    pub id: Vec<i64>,
    /// Families.
    pub family: Vec<Family>,
}

/// The blocks of a piece that one of several readers reads: every `step`-th, starting with `first`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Every {
    /// The first.
    pub first: usize,
    /// The distance between two of them; at least 1.
    pub step: usize,
}

/// A counter of the blocks of a piece.
#[derive(Debug)]
pub struct Counted {
    blocks: Every,
    n: usize,
}

impl Every {
    /// All blocks.
    pub const ALL: Self = Self { first: 0, step: 1 };

    /// These blocks dealt out to `n` readers.
    pub fn dealt(self, n: usize) -> impl Iterator<Item = Self> {
        (0..n).map(move |i| Self { first: self.first + i * self.step, step: n * self.step })
    }

    /// A counter that is called once per block.
    pub fn counted(self) -> Counted {
        Counted { blocks: self, n: 0 }
    }
}

impl Counted {
    /// Whether the next block is selected.
    pub fn next_is_taken(&mut self) -> bool {
        self.n += 1;
        (self.n - 1) % self.blocks.step == self.blocks.first
    }
}

/// An open output of a simulation code, with checked headers.
///
/// Every method is local (no communication) and may be called from several threads at once.
pub trait Snapshot: Send + Sync {
    /// Its header.
    fn header(&self) -> &Header;

    /// Its cell quantities.
    fn fields(&self) -> &[FieldInfo];

    /// Whether it has particles.
    fn has_particles(&self) -> bool;

    /// Whether its octs form a whole octree, with split cells. Block-structured codes have only leaves: their
    /// octs are the leaves of [`LeafBlock`](crate::LeafBlock)s, from level 0 on, and an oct may come in
    /// several parts.
    fn is_octree(&self) -> bool {
        true
    }

    /// Whether the units of its header are known.
    fn has_units(&self) -> bool {
        true
    }

    /// Attributes for catalogues in addition to [`Snapshot::header`]: coordinates, unit and beam of a FITS
    /// image. An attribute `dimensions` of 2 says that its cells are the pixels of one plane.
    fn attributes(&self) -> Vec<(String, Attribute)> {
        Vec::new()
    }

    /// The ratio of specific heats of its gas, if it states one above 1.
    fn adiabatic_index(&self) -> Option<f64> {
        None
    }

    /// Notes for users about it: assumptions without a statement, and omissions. A sentence each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The reason why the pressure and the magnetic field of its gas are not known among its fields; `None`
    /// if they are known, or without gas.
    fn unclear_gas(&self) -> Option<String> {
        None
    }

    /// The gravitational softening of the particles of a family in code lengths, as in a Plummer sphere, if
    /// it states one.
    fn softening(&self, _family: Family) -> Option<f64> {
        None
    }

    /// For a snapshot without cells: the dark matter that its particles leave out, which are types of heavy
    /// particles around a zoom. `None` if there is none.
    fn left_out_dark_matter(&self) -> Option<Box<dyn Snapshot>> {
        None
    }

    /// The place of the values of `field` in `piece` for messages, or of the particles for `None`: the file,
    /// if there is one.
    fn place_of(&self, piece: usize, field: Option<&str>) -> PathBuf {
        let what = field.unwrap_or("particles");
        format!("{what} of piece {} of {}", piece + 1, self.header().n_pieces).into()
    }

    /// Number of octs in `piece`, by level of their cells. In a snapshot with only leaves: an eighth of
    /// [`Snapshot::count_leaves`].
    ///
    /// # Errors
    /// The headers of the piece cannot be read or contradict the size of the file.
    fn count_octs(&self, piece: usize) -> ReadResult<Vec<u64>>;

    /// Number of leaves in `piece`, by level, in a snapshot with only leaves; masked cells may count. Empty
    /// for an octree,
    /// where finer octs may be in other pieces.
    ///
    /// # Errors
    /// As for [`Snapshot::count_octs`].
    fn count_leaves(&self, _piece: usize) -> ReadResult<Vec<u64>> {
        Ok(Vec::new())
    }

    /// Number of particles in `piece`, by its header.
    ///
    /// # Errors
    /// The headers of the piece cannot be read or contradict the size of the file.
    fn count_particles(&self, piece: usize) -> ReadResult<u64>;

    /// Streams the octs that `piece` owns, with the values of `fields` (names from
    /// [`Snapshot::fields`]; empty for the bare mesh). Blocks hold at most some thousand octs.
    ///
    /// # Errors
    /// A missing, torn, contradictory file or an unknown field. `sink`'s own error ends the stream.
    fn octs(
        &self,
        piece: usize,
        fields: &[&str],
        sink: &mut dyn FnMut(&OctBlock) -> ReadResult<()>,
    ) -> ReadResult<()>;

    /// Streams a selection of the blocks of [`Snapshot::octs`], for several readers of one piece. Formats
    /// that can skip a block without reading it do so; the others read all.
    ///
    /// # Errors
    /// As for [`Snapshot::octs`].
    fn octs_of(
        &self,
        piece: usize,
        blocks: Every,
        fields: &[&str],
        sink: &mut dyn FnMut(&OctBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        let mut blocks = blocks.counted();
        self.octs(piece, fields, &mut |block| if blocks.next_is_taken() { sink(block) } else { Ok(()) })
    }

    /// Streams the values of `field` in the leaves that `piece` owns, in no stated order. Formats that have them
    /// without octs do no more work than that.
    ///
    /// # Errors
    /// As for [`Snapshot::octs`].
    fn leaf_values(
        &self,
        piece: usize,
        field: &str,
        sink: &mut dyn FnMut(&[f64]) -> ReadResult<()>,
    ) -> ReadResult<()> {
        let mut leaves = Vec::new();
        self.octs(piece, &[field], &mut |block| {
            leaves.clear();
            for (split, values) in block.split.iter().zip(&block.values[0]) {
                leaves.extend((0..8).filter(|cell| split >> cell & 1 == 0).map(|cell| values[cell]));
            }
            sink(&leaves)
        })
    }

    /// Passes the value of `field` in each leaf of `piece` beyond the walls of the box to `sink`, with the
    /// side of the box along each axis: -1, 0 or 1. Most formats have none.
    ///
    /// # Errors
    /// As for [`Snapshot::octs`].
    fn beyond_walls(
        &self,
        _piece: usize,
        _field: &str,
        _sink: &mut dyn FnMut([i8; 3], f64),
    ) -> ReadResult<()> {
        Ok(())
    }

    /// Streams the particles of `piece` in file order.
    ///
    /// # Errors
    /// As for [`Snapshot::octs`].
    fn particles(
        &self,
        piece: usize,
        sink: &mut dyn FnMut(&ParticleBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        self.particles_of(piece, Every::ALL, sink)
    }

    /// Streams a selection of the particles of `piece`, for several readers: each block that a format reads at
    /// once goes to one of them. Other blocks are not decoded.
    ///
    /// # Errors
    /// As for [`Snapshot::octs`].
    fn particles_of(
        &self,
        piece: usize,
        blocks: Every,
        sink: &mut dyn FnMut(&ParticleBlock) -> ReadResult<()>,
    ) -> ReadResult<()>;
}

/// A format: how to recognise and open it.
pub struct Reader {
    /// Name for messages.
    pub name: &'static str,
    /// A description of its paths for messages.
    pub looks: &'static str,
    /// Whether `path` looks like this format, with these values for facts that it does not state; must be
    /// cheap and must not fail.
    pub recognises: fn(&Path, &FieldDefaults) -> bool,
    /// Reads and checks the headers that opening needs.
    pub read_headers: fn(&Path, &FieldDefaults) -> ReadResult<Vec<u8>>,
    /// Opens the output from these headers. Reads nothing.
    pub open: fn(&[u8]) -> Box<dyn Snapshot>,
}
