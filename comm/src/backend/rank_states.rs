//! Stage and call of many ranks, as one line of bounded length.

use crate::Rank;
use std::fmt::{self, Display};

/// The greatest number of different states that are listed.
const MOST_PLACES: usize = 8;
/// The greatest number of ranges of ranks per state.
const MOST_RUNS: usize = 8;

/// Ranks by state. Ranks are added in ascending order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RankStates {
    groups: Vec<SameState>,
    /// Ranks at further places.
    elsewhere: u64,
}

/// Ranks at the same place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SameState {
    place: String,
    /// First and last ranks of stretches.
    runs: Vec<[u32; 2]>,
    /// Number of ranks there, including those that `stretches` does not list.
    n: u64,
}

impl RankStates {
    /// Adds the ranks from `first` to `last`, all of them at `place`.
    pub fn add(&mut self, [first, last]: [Rank; 2], place: impl Display) {
        let (place, run) = (place.to_string(), [first.0, last.0]);
        self.join(SameState { place, runs: vec![run], n: u64::from(last.0 - first.0) + 1 });
    }

    fn join(&mut self, group: SameState) {
        let n_groups = self.groups.len();
        match self.groups.iter_mut().find(|known| known.place == group.place) {
            Some(known) => {
                known.n += group.n;
                group.runs.into_iter().for_each(|run| known.extend(run));
            }
            None if n_groups < MOST_PLACES => self.groups.push(group),
            None => self.elsewhere += group.n,
        }
    }
}

/// Between processes.
#[cfg(any(feature = "mpi", test))]
impl RankStates {
    /// Adds the state of further ranks.
    pub fn merge(&mut self, other: Self) {
        other.groups.into_iter().for_each(|group| self.join(group));
        self.elsewhere += other.elsewhere;
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.elsewhere.to_ne_bytes().to_vec();
        for SameState { place, runs, n } in &self.groups {
            bytes.extend(n.to_ne_bytes());
            bytes.extend([runs.len() as u8]);
            runs.iter().flatten().for_each(|rank| bytes.extend(rank.to_ne_bytes()));
            bytes.extend((place.len() as u32).to_ne_bytes());
            bytes.extend(place.bytes());
        }
        bytes
    }

    /// The states that [`Self::to_bytes`] encoded; `None` for other bytes.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut states = Self { groups: Vec::new(), elsewhere: number(&mut bytes)? };
        while !bytes.is_empty() {
            states.groups.push(SameState::take(&mut bytes)?);
        }
        Some(states)
    }
}

#[cfg(any(feature = "mpi", test))]
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_ne_bytes(*number))
}

#[cfg(any(feature = "mpi", test))]
fn small_number(bytes: &mut &[u8]) -> Option<u32> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_ne_bytes(*number))
}

impl SameState {
    fn extend(&mut self, [first, last]: [u32; 2]) {
        let n_runs = self.runs.len();
        match self.runs.last_mut() {
            Some(run) if run[1] + 1 == first => run[1] = last,
            _ if n_runs < MOST_RUNS => self.runs.push([first, last]),
            _ => {}
        }
    }

    #[cfg(any(feature = "mpi", test))]
    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let n = number(bytes)?;
        let (n_runs, rest) = bytes.split_first()?;
        *bytes = rest;
        let mut run = || Some([small_number(bytes)?, small_number(bytes)?]);
        let runs = (0..*n_runs).map(|_| run()).collect::<Option<_>>()?;
        let length = small_number(bytes)?;
        let (place, rest) = bytes.split_at_checked(length as usize)?;
        *bytes = rest;
        Some(Self { place: String::from_utf8_lossy(place).into_owned(), runs, n })
    }

    /// "ranks 0-3, 7 and 12 more".
    fn ranks(&self) -> String {
        let run = |[first, last]: &[u32; 2]| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        let list = self.runs.iter().map(run).collect::<Vec<_>>().join(", ");
        let named: u64 = self.runs.iter().map(|[first, last]| u64::from(last - first) + 1).sum();
        let more = if named < self.n { format!(" and {} more", self.n - named) } else { String::new() };
        format!("rank{} {list}{more}", if self.n == 1 { "" } else { "s" })
    }
}

impl Display for RankStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |group: &SameState| format!("{}: {}", group.ranks(), group.place);
        let lines = self.groups.iter().map(line);
        let more = (self.elsewhere > 0).then(|| format!("{} more ranks at other places", self.elsewhere));
        f.write_str(&lines.chain(more).collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(of: impl IntoIterator<Item = String>) -> RankStates {
        let mut places = RankStates::default();
        (0..).map(Rank).zip(of).for_each(|(rank, place)| places.add([rank, rank], place));
        places
    }

    #[test]
    fn ranks_at_the_same_place_stand_together() {
        let states = places(["a", "a", "b", "a", "b"].map(String::from));
        assert_eq!(states.to_string(), "ranks 0-1, 3: a; ranks 2, 4: b");
        assert_eq!(RankStates::from_bytes(&states.to_bytes()).as_ref(), Some(&states));
        assert_eq!(RankStates::from_bytes(&states.to_bytes()[1..]), None);
    }

    #[test]
    fn the_line_is_bounded_and_every_rank_counts() {
        let states = places((0..5000).map(|rank| format!("place {}", rank % 100)));
        let text = states.to_string();
        assert!(text.len() < 1000, "{text}");
        assert!(
            text.starts_with("ranks 0, 100, 200, 300, 400, 500, 600, 700 and 42 more: place 0; "),
            "{text}"
        );
        assert!(text.ends_with("; 4600 more ranks at other places"), "{text}");
        assert!(states.to_bytes().len() < 2000);
        assert_eq!(RankStates::from_bytes(&states.to_bytes()).expect("states").to_string(), text);
    }

    #[test]
    fn parts_make_the_whole() {
        let all = places(["a", "b", "b", "a", "a"].map(String::from));
        let mut joined = places(["a", "b"].map(String::from));
        let mut rest = RankStates::default();
        rest.add([Rank(2), Rank(2)], "b");
        rest.add([Rank(3), Rank(4)], "a");
        joined.merge(rest);
        assert_eq!(joined, all);
    }
}
