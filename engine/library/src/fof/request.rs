//! What a search is asked for.

use super::params::FofParams;
use inselberg_io::particles::{DARK_MATTER, N_KINDS};

/// The parameters of a search, and what it does with each kind of particles. The names in brackets are those
/// of SWIFT.
#[derive(Debug, Clone, PartialEq)]
pub struct FofRequest {
    /// The parameters.
    pub params: FofParams,
    /// Kinds of particles that link (`linking_types`).
    pub linking: [bool; N_KINDS],
    /// Kinds that are attached (`attaching_types`).
    pub attaching: [bool; N_KINDS],
    /// The side of the box, for inputs that do not give it.
    pub side: Option<f64>,
    /// Whether boundaries are open, even if the input is periodic.
    pub open: bool,
}

impl FofRequest {
    /// Dark matter alone links, and nothing is attached.
    pub fn of_dark_matter(params: FofParams) -> Self {
        let mut linking = [false; N_KINDS];
        linking[usize::from(DARK_MATTER)] = true;
        Self { params, linking, attaching: [false; N_KINDS], side: None, open: false }
    }
}
