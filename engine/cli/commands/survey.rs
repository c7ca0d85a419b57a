//! The places of all ranks: an exchange of hosts and processors before the work.

use super::default_threads::DefaultThreads;
use super::fault::CommandError;
use super::ranks::RankHandles;
use crate::config::Common;
use crate::report::RankPlaces;
use crate::topology::{
    Asked, Complaint, Hardware, HostId, Pin, Placement, PuSet, RankSite, complaints, place,
};
use serde::{Deserialize, Serialize};

/// The message of a rank about its host.
#[derive(Clone, Serialize, Deserialize)]
struct SiteMessage {
    host: HostId,
    allowed: PuSet,
    n_workers: Option<usize>,
    /// The most workers that it has, unless a number is requested.
    most: Option<usize>,
}

/// The places of all ranks.
pub struct PlacementSurvey {
    /// Every rank.
    pub ranks: Vec<RankPlaces>,
    /// Problems of the placement on all hosts.
    pub complaints: Vec<Complaint>,
}

impl PlacementSurvey {
    /// Collective over processes, before ranks work. `common` has the number of workers per process.
    pub fn new(
        ranks: &RankHandles,
        hardware: &Hardware,
        pin: Pin,
        common: Common,
    ) -> Result<Self, CommandError> {
        let n_here = ranks.n_here();
        let default = DefaultThreads::here();
        let n_threads = common.threads.map(usize::from).or((pin == Pin::None).then(|| default.n()));
        // Ranks in one process share its threads.
        let of_rank = |n: usize| (n / n_here).max(1);
        let message = SiteMessage {
            host: HostId::here(),
            allowed: hardware.allowed().clone(),
            n_workers: n_threads.map(of_rank),
            most: default.of_slurm().map(of_rank),
        };
        let all = ranks.share(vec![message; n_here])?;
        let sites = sites_of_host(hardware, pin, &all);
        let first = ranks.first_here();
        let own = |site: &&RankSite| (first.0..).take(n_here).any(|rank| rank == site.rank);
        let speaks = sites.first().is_some_and(|site| site.rank == first.0);
        let found = if speaks { complaints(hardware.machine(), pin, &sites) } else { Vec::new() };
        Ok(Self {
            ranks: ranks.share(sites.iter().filter(own).map(|site| placement_of(site, &all)).collect())?,
            complaints: ranks.share(found)?,
        })
    }

    /// The place of a rank.
    pub fn placement(&self, rank: u32) -> &Placement {
        &self.ranks[rank as usize].placement
    }
}

/// The ranks of this host and their placement.
fn sites_of_host(hardware: &Hardware, pin: Pin, all: &[SiteMessage]) -> Vec<RankSite> {
    let here = HostId::here();
    let local: Vec<(u32, &SiteMessage)> =
        (0..).zip(all).filter(|(_, message)| message.host == here).collect();
    let allowed: Vec<PuSet> = local.iter().map(|(_, message)| message.allowed.clone()).collect();
    let site = |(local_rank, (rank, message)): (usize, &(u32, &SiteMessage))| {
        let asked = Asked { pin, n_workers: message.n_workers, allowed: &allowed, local_rank };
        let placement = place(hardware.machine(), asked);
        // One worker per core may be more than Slurm allows.
        let placement = match message
            .most
            .filter(|most| message.n_workers.is_none() && *most < placement.workers.len())
        {
            Some(most) => place(hardware.machine(), Asked { n_workers: Some(most), ..asked }),
            None => placement,
        };
        RankSite { rank: *rank, allowed: message.allowed.clone(), placement }
    };
    local.iter().enumerate().map(site).collect()
}

fn placement_of(site: &RankSite, all: &[SiteMessage]) -> RankPlaces {
    let host = all[site.rank as usize].host.name.clone();
    RankPlaces { host, allowed: site.allowed.clone(), placement: site.placement.clone() }
}
