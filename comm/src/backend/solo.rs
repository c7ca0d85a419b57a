//! One rank without others.

use super::{Finding, RankState, Tag, Transport};
use crate::{CommError, Pulse, Rank, Result};
use std::time::Duration;

/// The world of one rank.
#[derive(Debug, Default)]
pub(crate) struct Solo {
    place: RankState,
    failed: Option<CommError>,
}

impl Solo {
    fn nobody(&self, rank: Rank) -> Result<()> {
        Err(self.failed.clone().unwrap_or(CommError::NoSuchRank { rank, n_ranks: 1 }))
    }
}

impl Transport for Solo {
    fn rank(&self) -> Rank {
        Rank(0)
    }

    fn n_ranks(&self) -> usize {
        1
    }

    fn send(&mut self, to: Rank, _: Tag, _: Vec<u8>) -> Result<()> {
        self.nobody(to)
    }

    fn send_synchronous(&mut self, to: Rank, _: Tag, _: Vec<u8>) -> Result<()> {
        self.nobody(to)
    }

    fn pending(&mut self) -> Result<usize> {
        self.failed.clone().map_or(Ok(0), Err)
    }

    fn receive(&mut self, _: Tag) -> Result<Option<(Rank, Vec<u8>)>> {
        self.failed.clone().map_or(Ok(None), Err)
    }

    fn park(&mut self, at_most: Duration) -> Result<()> {
        std::thread::sleep(at_most);
        Ok(())
    }

    fn progress_signs(&mut self) -> u64 {
        0
    }

    fn set_location(&mut self, place: RankState) {
        self.place = place;
    }

    fn probe_stall(&mut self, patience: Duration, idle: Duration) -> Finding {
        Finding::new(patience, idle, false, format!("rank 0: {}", self.place))
    }

    fn pulse(&self) -> Pulse {
        Pulse::default()
    }

    fn abort(&mut self, error: CommError) -> CommError {
        self.failed.get_or_insert(error).clone()
    }

    fn recover(&mut self, _: Duration) -> Result<()> {
        self.failed = None;
        Ok(())
    }
}
