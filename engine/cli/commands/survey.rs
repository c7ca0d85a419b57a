//! Who runs where: what the ranks tell each other of their hosts before they work.

use super::fault::CommandError;
use super::ranks::RankHandles;
use crate::config::Common;
use crate::report::RankPlaces;
use crate::topology::{
    Asked, Complaint, Hardware, HostId, Pin, Placement, PuSet, RankSite, complaints, n_allowed, place,
};
use serde::{Deserialize, Serialize};

/// What a rank tells of itself.
#[derive(Clone, Serialize, Deserialize)]
struct SiteMessage {
    host: HostId,
    allowed: PuSet,
    n_workers: Option<usize>,
}

/// Where all ranks run.
pub struct PlacementSurvey {
    /// Every rank.
    pub ranks: Vec<RankPlaces>,
    /// What is wrong, of all hosts.
    pub complaints: Vec<Complaint>,
}

impl PlacementSurvey {
    /// Once in every process, before ranks work: with the workers that `common` has for each process.
    pub fn new(
        ranks: &RankHandles,
        hardware: &Hardware,
        pin: Pin,
        common: Common,
    ) -> Result<Self, CommandError> {
        let n_here = ranks.n_here();
        let n_threads = common.threads.map(usize::from).or((pin == Pin::None).then(n_allowed));
        let told = SiteMessage {
            host: HostId::here(),
            allowed: hardware.allowed().clone(),
            // Ranks that are threads of one process share its threads.
            n_workers: n_threads.map(|n| (n / n_here).max(1)),
        };
        let all = ranks.share(vec![told; n_here])?;
        let sites = sites_of_host(hardware, pin, &all);
        let first = ranks.first_here();
        let own = |site: &&RankSite| (first.0..).take(n_here).any(|rank| rank == site.rank);
        let speaks = sites.first().is_some_and(|site| site.rank == first.0);
        let found = if speaks { complaints(hardware.machine(), pin, &sites) } else { Vec::new() };
        Ok(Self {
            ranks: ranks.share(sites.iter().filter(own).map(|site| told_of(site, &all)).collect())?,
            complaints: ranks.share(found)?,
        })
    }

    /// Where a rank is.
    pub fn placement(&self, rank: u32) -> &Placement {
        &self.ranks[rank as usize].placement
    }
}

/// The ranks of this host, each as it places itself.
fn sites_of_host(hardware: &Hardware, pin: Pin, all: &[SiteMessage]) -> Vec<RankSite> {
    let here = HostId::here();
    let local: Vec<(u32, &SiteMessage)> = (0..).zip(all).filter(|(_, told)| told.host == here).collect();
    let allowed: Vec<PuSet> = local.iter().map(|(_, told)| told.allowed.clone()).collect();
    let site = |(local_rank, (rank, told)): (usize, &(u32, &SiteMessage))| {
        let asked = Asked { pin, n_workers: told.n_workers, allowed: &allowed, local_rank };
        let placement = place(hardware.machine(), asked);
        RankSite { rank: *rank, allowed: told.allowed.clone(), placement }
    };
    local.iter().enumerate().map(site).collect()
}

fn told_of(site: &RankSite, all: &[SiteMessage]) -> RankPlaces {
    let host = all[site.rank as usize].host.name.clone();
    RankPlaces { host, allowed: site.allowed.clone(), placement: site.placement.clone() }
}
