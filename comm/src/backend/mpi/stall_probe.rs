//! Questions about the state of ranks: a rank asks only its parent in the tree, and rank 0 asks all ranks,
//! down the tree.

use crate::Rank;
use crate::backend::rank_states::RankStates;
use crate::tree_shape::{children, parent};
use std::time::{Duration, Instant};

/// A question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// Are you in a call, and for how long have you been idle?
    You,
    /// The same question for the receiver and all ranks below it, as part of this probe.
    AllBelow(u32),
}

impl Ask {
    pub fn to_bytes(self) -> Vec<u8> {
        match self {
            Self::You => Vec::new(),
            Self::AllBelow(number) => number.to_ne_bytes().to_vec(),
        }
    }

    /// The question in a message; `None` for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        match *bytes {
            [] => Some(Self::You),
            [a, b, c, d] => Some(Self::AllBelow(u32::from_ne_bytes([a, b, c, d]))),
            _ => None,
        }
    }
}

/// The known state of some ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    /// The probe that it belongs to; 0 for a rank alone.
    pub probe: u32,
    /// For how many milliseconds the most recently active rank has been idle.
    pub idle: u64,
    /// Whether any rank did not answer.
    pub silent: bool,
    pub places: RankStates,
}

impl Answer {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.probe.to_ne_bytes().to_vec();
        bytes.extend(self.idle.to_ne_bytes());
        bytes.push(self.silent.into());
        bytes.extend(self.places.to_bytes());
        bytes
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (probe, rest) = bytes.split_first_chunk()?;
        let (idle, rest) = rest.split_first_chunk()?;
        let (silent, places) = rest.split_first()?;
        Some(Self {
            probe: u32::from_ne_bytes(*probe),
            idle: u64::from_ne_bytes(*idle),
            silent: *silent != 0,
            places: RankStates::from_bytes(places)?,
        })
    }
}

/// A probe of a rank and those below it.
#[derive(Debug)]
pub(super) struct StallProbe {
    rank: Rank,
    n_ranks: usize,
    number: u32,
    own: (u64, String),
    /// The answer of each child.
    below: Vec<(Rank, Option<Answer>)>,
    until: Instant,
}

impl StallProbe {
    /// Probe `number` of `rank`. `own` has its idle time in milliseconds and its location. Ranks below it get
    /// a `grace` for each level of the tree.
    pub fn new((rank, n_ranks): (Rank, usize), number: u32, own: (u64, String), grace: Duration) -> Self {
        let below: Vec<_> = children(rank, n_ranks).into_iter().map(|child| (child, None)).collect();
        let until = Instant::now() + grace * below.len() as u32;
        Self { rank, n_ranks, number, own, below, until }
    }

    /// The ranks to ask.
    pub fn children(&self) -> impl Iterator<Item = Rank> + '_ {
        self.below.iter().map(|(child, _)| *child)
    }

    /// Adds an answer, if it belongs to this probe.
    pub fn receive(&mut self, from: Rank, answer: Answer) {
        let is_ours = answer.probe == self.number;
        if let Some((_, received)) = self.below.iter_mut().find(|(child, _)| is_ours && *child == from) {
            *received = Some(answer);
        }
    }

    /// Whether all answers have arrived, or none is expected any more.
    pub fn is_done(&self) -> bool {
        self.below.iter().all(|(_, received)| received.is_some()) || Instant::now() >= self.until
    }

    /// The state that is known now.
    pub fn answer(self) -> Answer {
        let (idle, place) = self.own;
        let mut all = Answer { probe: self.number, idle, silent: false, places: RankStates::default() };
        all.places.add([self.rank, self.rank], place);
        let ends: Vec<u32> = self.below.iter().skip(1).map(|(child, _)| child.0 - 1).collect();
        let last = last_below(self.rank, self.n_ranks);
        for (i, (child, received)) in self.below.into_iter().enumerate() {
            match received {
                Some(answer) => {
                    all.idle = all.idle.min(answer.idle);
                    all.silent |= answer.silent;
                    all.places.merge(answer.places);
                }
                None => {
                    all.silent = true;
                    all.places.add([child, child], NO_ANSWER);
                    let end = ends.get(i).copied().unwrap_or(last);
                    if end > child.0 {
                        all.places.add([Rank(child.0 + 1), Rank(end)], format!("below {child}"));
                    }
                }
            }
        }
        all
    }
}

/// The place that is reported for a rank that does not answer.
pub(super) const NO_ANSWER: &str = "no answer, so it computes or hangs";

/// The last of the ranks below `rank`, or itself.
fn last_below(rank: Rank, n_ranks: usize) -> u32 {
    let size = if rank.0 == 0 { n_ranks as u32 } else { rank.0 & rank.0.wrapping_neg() };
    (rank.0 + size).min(n_ranks as u32) - 1
}

/// The rank to ask when a rank other than 0 has waited for long: first its parent, then rank 0 if the parent
/// does not answer.
pub(super) fn to_ask(rank: Rank) -> impl Iterator<Item = Rank> {
    let parent = parent(rank).into_iter();
    parent.chain((parent_is_other(rank)).then_some(Rank(0)))
}

fn parent_is_other(rank: Rank) -> bool {
    parent(rank).is_some_and(|parent| parent != Rank(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probe of `n_ranks` ranks, of which the `silent` ones do not answer, and the number of questions.
    fn probed(rank: Rank, n_ranks: usize, silent: &[u32]) -> (Answer, usize) {
        let own = (u64::from(100 + rank.0), "labels".to_string());
        let mut probe = StallProbe::new((rank, n_ranks), 7, own, Duration::from_secs(60));
        let mut n_asked = 0;
        for child in probe.children().collect::<Vec<_>>() {
            n_asked += 1;
            if !silent.contains(&child.0) {
                let (answer, n) = probed(child, n_ranks, silent);
                n_asked += n;
                probe.receive(child, Answer::from_bytes(&answer.to_bytes()).expect("an answer"));
            }
        }
        assert_eq!(probe.is_done(), probe.below.iter().all(|(child, _)| !silent.contains(&child.0)));
        (probe.answer(), n_asked)
    }

    #[test]
    fn one_question_per_rank_reaches_all() {
        for n_ranks in [1, 2, 3, 8, 13, 1000] {
            let (answer, n_asked) = probed(Rank(0), n_ranks, &[]);
            assert_eq!((answer.idle, answer.silent, n_asked), (100, false, n_ranks - 1));
            let ranks = if n_ranks == 1 { "rank 0".into() } else { format!("ranks 0-{}", n_ranks - 1) };
            assert_eq!(answer.places.to_string(), format!("{ranks}: labels"));
        }
    }

    #[test]
    fn who_is_silent_and_who_is_below_is_named() {
        let (answer, _) = probed(Rank(0), 11, &[4, 9]);
        assert!(answer.silent);
        let expected = "ranks 0-3, 8, 10: labels; ranks 4, 9: no answer, so it computes or hangs; ranks 5-7: below rank 4";
        assert_eq!(answer.places.to_string(), expected);
        assert_eq!(
            probed(Rank(0), 11, &[8]).0.places.to_string().matches("ranks 9-10: below rank 8").count(),
            1
        );
    }

    #[test]
    fn a_rank_asks_two_at_most_and_asks_are_told_apart() {
        assert_eq!(to_ask(Rank(7)).collect::<Vec<_>>(), [Rank(6), Rank(0)]);
        assert_eq!(to_ask(Rank(8)).collect::<Vec<_>>(), [Rank(0)]);
        for ask in [Ask::You, Ask::AllBelow(0), Ask::AllBelow(77)] {
            assert_eq!(Ask::from_bytes(&ask.to_bytes()), Some(ask));
        }
        assert_eq!(Ask::from_bytes(&[1]), None);
    }
}
