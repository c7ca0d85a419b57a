//! Why a search is refused.

use inselberg_comm::CommError;

/// Why no groups were found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FofError {
    /// No length.
    #[error("the linking length is {0}; expected a positive number")]
    LinkingLength(f64),
    /// Longer than half a side, where a particle could link to another on two ways.
    #[error("the linking length is {length}; expected at most half the shortest side of the box, {most}")]
    TooLong {
        /// The linking length.
        length: f64,
        /// The longest allowed.
        most: f64,
    },
    /// So short that doubles cannot resolve it at the far end of the box.
    #[error(
        "the linking length is {length:?}; expected at least {least:?} where particles spread over {spread:?}"
    )]
    TooShort {
        /// The linking length.
        length: f64,
        /// The shortest allowed.
        least: f64,
        /// The extent of the box.
        spread: f64,
    },
    /// No box.
    #[error("the sides of the box are {0:?}; expected positive numbers")]
    Sides([f64; 3]),
    /// Groups of none.
    #[error("the least size of a group is 0; expected at least 1")]
    MinSize,
    /// A column with another number of entries.
    #[error("{column} has {found} entries; expected one for each of {expected} particles")]
    Column {
        /// Its name.
        column: &'static str,
        /// Its length.
        found: usize,
        /// The number of particles.
        expected: usize,
    },
    /// A position that is no number, or too large a one.
    #[error("the position of particle {id} is {position:?}; expected finite numbers")]
    NotFinite {
        /// The particle.
        id: u64,
        /// Where it is.
        position: [f64; 3],
    },
    /// A position out of the box.
    #[error("particle {id} is at {position:?}; expected a place in the periodic box of sides {sides:?}")]
    Outside {
        /// The particle.
        id: u64,
        /// Where it is.
        position: [f64; 3],
        /// The sides.
        sides: [f64; 3],
    },
    /// A mass or velocity that is no number.
    #[error("the {column} of particle {id} is {value}; expected a finite number")]
    Value {
        /// What is wrong.
        column: &'static str,
        /// The particle.
        id: u64,
        /// What it is.
        value: f64,
    },
    /// Two particles with one ID.
    #[error("two particles have the ID {0}; expected every ID once, or that IDs may repeat")]
    SameId(u64),
    /// More than indices can name.
    #[error("{0} particles on one rank; expected less than 2^32, spread them over more ranks")]
    TooMany(usize),
    /// Another rank failed, or could not be reached.
    #[error(transparent)]
    Comm(#[from] CommError),
}
