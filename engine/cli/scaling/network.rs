//! What ranks are connected by.

use serde::Serialize;

/// A network as the model sees it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Network {
    /// Its name.
    pub name: &'static str,
    /// Seconds that a message is on its way.
    pub latency: f64,
    /// Seconds that sending or receiving a message keeps a rank busy.
    pub overhead: f64,
    /// Bytes a second that cross into a rank, and as many out of it.
    pub bandwidth: f64,
}

/// The names of [`NETWORKS`].
pub const NETWORK_NAMES: &[&str] =
    &["infiniband-hdr", "slingshot-11", "ethernet-100g", "ethernet-10g", "shared-memory"];

/// Networks by name. Those between hosts are of the typical size for their kind, not measured: bandwidths are shared by
/// as many ranks as use a host's link at a time (16). Those of `shared-memory` were measured with
/// `comm/examples/mpi_ranks.rs` on two virtual cores. Give your own figures with `--latency`, `--bandwidth` and
/// `--overhead`.
pub const NETWORKS: &[Network] = &[
    Network { name: NETWORK_NAMES[0], latency: 1.2e-6, overhead: 0.4e-6, bandwidth: 1.5e9 },
    Network { name: NETWORK_NAMES[1], latency: 1.8e-6, overhead: 0.4e-6, bandwidth: 1.5e9 },
    Network { name: NETWORK_NAMES[2], latency: 4.0e-6, overhead: 0.8e-6, bandwidth: 0.75e9 },
    Network { name: NETWORK_NAMES[3], latency: 20e-6, overhead: 2.0e-6, bandwidth: 0.075e9 },
    Network { name: NETWORK_NAMES[4], latency: 1.0e-6, overhead: 0.5e-6, bandwidth: 4e9 },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_sound_and_found_by_name() {
        assert!(NETWORKS.iter().map(|n| n.name).eq(NETWORK_NAMES.iter().copied()));
        assert!(NETWORKS.iter().all(|n| n.latency > 0.0 && n.overhead > 0.0 && n.bandwidth > 1e6));
    }
}
