//! The places of all ranks: an exchange of hosts and processors before the work.

use super::default_threads::{DefaultThreads, most_useful};
use super::fault::CommandError;
use super::ranks::RankHandles;
use crate::config::Common;
use crate::report::RankPlaces;
use crate::topology::{
    Claims, Complaint, Hardware, HostId, LaunchedRank, Pin, Placement, PuSet, RankSite, complaints,
    place_all, place_unpinned,
};
use serde::{Deserialize, Serialize};

/// The message of a rank about its host.
#[derive(Clone, Serialize, Deserialize)]
struct SiteMessage {
    host: HostId,
    process: u32,
    allowed: PuSet,
    n_workers: Option<usize>,
    /// The number without pinning.
    default: usize,
    /// The most workers that it has, unless a number is requested.
    most: Option<usize>,
}

/// The places of all ranks.
pub struct PlacementSurvey {
    /// Every rank.
    pub ranks: Vec<RankPlaces>,
    /// Problems of the placement on all hosts.
    pub complaints: Vec<Complaint>,
    /// The cores that this process keeps for itself.
    _claims: Option<Claims>,
}

impl PlacementSurvey {
    /// Collective over processes, before ranks work. `common` has the number of workers per process.
    ///
    /// Under [`Pin::Auto`], the ranks of a host are pinned only if each process claims its cores: two
    /// launches that do not know each other never pin to the same ones. Other pinnings claim cores too, but
    /// go on without.
    pub fn new(
        ranks: &RankHandles,
        hardware: &Hardware,
        pin: Pin,
        common: Common,
    ) -> Result<Self, CommandError> {
        let (n_here, default) = (ranks.n_here(), DefaultThreads::here());
        // Ranks in one process share its threads.
        let of_rank = |n: usize| (n / n_here).max(1);
        let message = SiteMessage {
            host: HostId::here(),
            process: ranks.process().0.0,
            allowed: hardware.allowed().clone(),
            n_workers: common.threads.map(|n| of_rank(n.get().min(most_useful(hardware.allowed().len())))),
            default: of_rank(default.n()),
            most: default.of_slurm().map(of_rank),
        };
        let all = ranks.share(vec![message; n_here])?;
        let local: Vec<(u32, &SiteMessage)> =
            (0..).zip(&all).filter(|(_, message)| message.host == HostId::here()).collect();
        let launched: Vec<LaunchedRank> = local.iter().map(|(_, message)| message.launched()).collect();
        let machine = hardware.machine();
        let mut placed = place_all(machine, pin, &launched);

        let own = ranks.first_here().0..ranks.first_here().0 + n_here as u32;
        let own_places = local.iter().zip(&placed.1).filter(|((rank, _), _)| own.contains(rank));
        let own_pus = own_places.fold(PuSet::default(), |all, (_, placement)| all.union(&placement.used()));
        let claims = (placed.0 != Pin::None).then(|| Claims::of(machine, &own_pus)).flatten();
        let is_claimed = ranks.share(vec![placed.0 == Pin::None || claims.is_some(); n_here])?;
        if pin == Pin::Auto && local.iter().any(|(rank, _)| !is_claimed[*rank as usize]) {
            placed = place_unpinned(machine, &launched);
        }

        let site = |((rank, message), placement): (&(u32, &SiteMessage), Placement)| RankSite {
            rank: *rank,
            process: message.process,
            allowed: message.allowed.clone(),
            placement,
        };
        let sites: Vec<RankSite> = local.iter().zip(placed.1).map(site).collect();
        let speaks = sites.first().is_some_and(|site| site.rank == ranks.first_here().0);
        let found = if speaks { complaints(machine, placed.0, &sites) } else { Vec::new() };
        let places = |site: &RankSite| RankPlaces {
            host: all[site.rank as usize].host.name.clone(),
            allowed: site.allowed.clone(),
            pin: placed.0,
            placement: site.placement.clone(),
        };
        let own_sites = sites.iter().filter(|site| own.contains(&site.rank));
        Ok(Self {
            ranks: ranks.share(own_sites.map(places).collect())?,
            complaints: ranks.share(found)?,
            _claims: claims.filter(|_| placed.0 != Pin::None),
        })
    }

    /// The place of a rank.
    pub fn place(&self, rank: u32) -> &RankPlaces {
        &self.ranks[rank as usize]
    }
}

impl SiteMessage {
    fn launched(&self) -> LaunchedRank {
        let Self { process, allowed, n_workers, default, most, .. } = self.clone();
        LaunchedRank { process, allowed, n_workers, default, most }
    }
}
