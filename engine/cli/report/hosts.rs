//! The hosts of a run: their ranks and processors.

use crate::topology::{Allowed, HostId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A host of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHost {
    /// Its name; empty if the system does not report it.
    pub name: String,
    /// Ranks on it.
    pub ranks: usize,
    /// Processors that these may use.
    pub processors: usize,
}

/// The host of this rank, as text that ranks send.
pub(super) fn own_host() -> String {
    let here = (HostId::here(), Allowed::at_start());
    serde_json::to_string(&here).expect("names and numbers are JSON")
}

/// The hosts of all ranks, by name, from what they sent and how many of them sent it.
pub(super) fn hosts_of(rows: impl IntoIterator<Item = (String, usize)>) -> Vec<RunHost> {
    let mut hosts: BTreeMap<HostId, (usize, Vec<Allowed>)> = BTreeMap::new();
    for (text, ranks) in rows {
        let (id, allowed): (HostId, Allowed) =
            serde_json::from_str(&text).expect("all ranks run the same program");
        let host = hosts.entry(id).or_default();
        host.0 += ranks;
        host.1.push(allowed);
    }
    let host = |(id, (ranks, all)): (HostId, (usize, Vec<Allowed>))| RunHost {
        name: id.name,
        ranks,
        processors: Allowed::n_of_all(all.iter()),
    };
    hosts.into_iter().map(host).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::PuSet;

    #[test]
    fn processors_of_bound_ranks_add_up_and_shared_ones_do_not() {
        let row = |host: &str, list: &str, n: usize, ranks: usize| {
            let allowed = Allowed { pus: PuSet::from_list(list).expect("a list"), n };
            let text = serde_json::to_string(&(HostId::named(host), allowed)).expect("JSON");
            (text, ranks)
        };
        let rows = vec![row("b", "0-3", 4, 1), row("a", "0-7", 2, 5), row("b", "4-7,9", 5, 1)];
        let host = |name: &str, ranks, processors| RunHost { name: name.into(), ranks, processors };
        // On host a, a control group allows two of eight processors.
        assert_eq!(hosts_of(rows), [host("a", 5, 2), host("b", 2, 9)]);
    }
}
