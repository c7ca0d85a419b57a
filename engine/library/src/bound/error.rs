//! What can go wrong.

use inselberg_comm::CommError;
use inselberg_kernels::bound::MemberError;

/// Why particles could not be unbound.
#[derive(Debug, thiserror::Error)]
pub enum BoundError {
    /// A particle has a value that is not allowed.
    #[error("particles of a clump: {0}")]
    Members(#[from] MemberError),
    /// Two particles of a halo share type and identity.
    #[error("two particles of halo {halo} have the ID {id}")]
    SharedId {
        /// The halo.
        halo: u64,
        /// Their identity.
        id: i64,
    },
    /// Another rank failed, or could not be reached.
    #[error(transparent)]
    Comm(#[from] CommError),
}
