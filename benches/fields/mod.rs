//! Fields that benches segment: synthetic ones, and ones like those of real runs.
//!
//! | name | field | cells |
//! |---|---|---|
//! | `synthetic` | seeded clumps with noise in every oct | octs, levels as needed |
//! | `ramses` | copies of the bundled RAMSES output side by side, each cell jittered by 1 % | octs with RAMSES's jumps of level |
//! | `particles` | the mesh of a clustered particle box; the size is a number of particles | leaves above the threshold |
//! | `cube` | lognormal turbulence on a uniform grid | octs of one depth |
//! | `turbulence` | the same, refined where cells have much mass | octs, graded |
//!
//! Two cells of a field have the same density only by chance.

mod particles;
mod ramses;
mod statistics;
mod turbulence;

use crate::common::{CUT, collect, synthetic};
use inselberg::density::domain;
use inselberg::field::{AmrField, LevelOcts};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::phew::hierarchy::Cut;
pub use statistics::FieldStatistics;

/// The names of the fields.
pub const NAMES: [&str; 5] = ["synthetic", "ramses", "particles", "cube", "turbulence"];

/// A field, and how it is cut.
pub struct BenchField {
    cells: BenchCells,
    /// The thresholds.
    pub cut: Cut,
}

/// The cells of a field.
#[derive(Clone)]
pub enum BenchCells {
    /// Octs in any order, which become a mesh within the time that is measured.
    Octs(Domain, Vec<LevelOcts>),
    /// A mesh that was made before.
    Mesh(Box<AmrField>),
}

impl BenchField {
    /// The field of this name with about `size` test cells; the field `particles` is made from `size`
    /// particles. `None` for other names.
    pub fn new(name: &str, size: f64) -> Option<Self> {
        Some(match name {
            "synthetic" => {
                let snapshot = synthetic(size);
                Self { cells: BenchCells::Octs(domain(&snapshot), collect(&snapshot)), cut: CUT }
            }
            "ramses" => ramses::copies(size),
            "particles" => particles::mesh(size),
            "cube" => turbulence::cube(size),
            "turbulence" => turbulence::refined(size),
            _ => return None,
        })
    }

    /// A copy of the cells.
    pub fn cells(&self) -> BenchCells {
        self.cells.clone()
    }
}

impl BenchCells {
    /// The mesh and the densities. Of octs this sorts them.
    pub fn into_field(self) -> AmrField {
        match self {
            Self::Octs(domain, levels) => AmrField::from_octs(domain, levels).expect("an octree"),
            Self::Mesh(field) => *field,
        }
    }
}
