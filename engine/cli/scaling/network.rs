//! The networks between ranks.

use serde::Serialize;

/// A network of the model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Network {
    /// Its name.
    pub name: &'static str,
    /// Latency of a message in seconds.
    pub latency: f64,
    /// Processor seconds for sending or receiving a message.
    pub overhead: f64,
    /// Bytes per second into a rank, and as many out of it.
    pub bandwidth: f64,
}

/// The names of [`NETWORKS`].
pub const NETWORK_NAMES: &[&str] =
    &["infiniband-hdr", "slingshot-11", "ethernet-100g", "ethernet-10g", "shared-memory"];

/// Networks by name. Figures between hosts are typical values, not measured; 16 ranks share the bandwidth of
/// a host. Those of `shared-memory` were measured with `comm/examples/mpi_ranks.rs` on two virtual cores.
/// `--latency`, `--bandwidth` and `--overhead` set other figures.
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
