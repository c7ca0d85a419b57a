//! Items to the ranks that own the leaves around them.

use super::deliver;
use super::local_field::LocalField;
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError};

/// Collective: sends every item to the rank that owns the leaf around its position, which is in units of the
/// level-0 cell. Items outside the box stay.
///
/// # Errors
/// When another rank fails.
pub fn to_leaf_owners<T: Pod + Send + Sync>(
    items: Vec<T>,
    position: impl Fn(&T) -> [f64; 3] + Sync,
    part: &LocalField,
    comm: &Comm,
) -> Result<Vec<T>, CommError> {
    if comm.n_ranks() == 1 {
        return Ok(items);
    }
    let here = comm.rank();
    let owner = |item: &T| part.owner_of(position(item)).unwrap_or(here);
    deliver(items, |item| (owner(item), *item), comm)
}
