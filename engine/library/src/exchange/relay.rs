//! Questions to many ranks, and their answers, over relays in between.
//!
//! A rank that has something for all other ranks would send P messages. Over relays it sends about 2 √P.
//! Groups of about √P consecutive ranks share the work: member m of each group passes on what its group has
//! for the m-th part of all ranks.
//!
//! ```text
//! nine ranks, groups of three       0 1 2 | 3 4 5 | 6 7 8
//! from rank 0 to rank 5             0 -> 1 (rank 5 is in the second third) -> 5
//! from rank 2 to rank 5             2 -> 1, and on in the same message
//! ```
//!
//! Answers take the same way back.

use crate::exchange::grouped;
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank};

/// Up to this number of ranks, all messages go straight to their destinations.
const FEW: usize = 256;

/// Collective: asks the rank `to(question)` each of the questions, and returns the answers in their order.
/// `to` must be the same function on all ranks. `answer` gets all questions for this rank, and returns an
/// answer to each in the same order; it may make collective calls. Two exchanges, on more than 256 ranks
/// four.
///
/// # Errors
/// When another rank fails.
pub fn ask<Q: Pod, A: Pod>(
    comm: &Comm,
    questions: &[Q],
    to: impl Fn(&Q) -> Rank,
    answer: impl FnOnce(Vec<Q>) -> Result<Vec<A>, CommError>,
) -> Result<Vec<A>, CommError> {
    ask_over(comm, questions, to, answer, FEW)
}

/// Collective: [`ask`], with relays on more than `few` ranks.
fn ask_over<Q: Pod, A: Pod>(
    comm: &Comm,
    questions: &[Q],
    to: impl Fn(&Q) -> Rank,
    answer: impl FnOnce(Vec<Q>) -> Result<Vec<A>, CommError>,
    few: usize,
) -> Result<Vec<A>, CommError> {
    if comm.n_ranks() <= few {
        return ask_straight(comm, questions, |i| to(&questions[i]), answer);
    }
    let relays = Relays::new(comm);
    let relay = |i: usize| relays.relay(to(&questions[i]));
    ask_straight(comm, questions, relay, |passed| ask_straight(comm, &passed, |i| to(&passed[i]), answer))
}

/// Collective: [`ask`] without relays. Question i goes to the rank `to(i)`. Two exchanges.
///
/// # Errors
/// When another rank fails.
pub fn ask_straight<Q: Pod, A: Pod>(
    comm: &Comm,
    questions: &[Q],
    to: impl Fn(usize) -> Rank,
    answer: impl FnOnce(Vec<Q>) -> Result<Vec<A>, CommError>,
) -> Result<Vec<A>, CommError> {
    let mut order: Vec<(Rank, u32)> = (0..questions.len()).map(to).zip(0..).collect();
    order.sort_unstable();
    let asked = comm.exchange(grouped(&order, |&(rank, i)| (rank, questions[i as usize])))?;
    let lengths: Vec<(Rank, usize)> = asked.iter().map(|(from, part)| (*from, part.len())).collect();
    let answers = answer(asked.into_iter().flat_map(|(_, part)| part).collect())?;
    let mut rest = answers.as_slice();
    let mut parts = Vec::with_capacity(lengths.len());
    for (from, n) in lengths {
        let (part, others) = rest.split_at(n);
        parts.push((from, part.to_vec()));
        rest = others;
    }
    let received: Vec<A> = comm.exchange(parts)?.into_iter().flat_map(|(_, part)| part).collect();
    if received.len() != questions.len() {
        return Err(comm.abort(format!("{} answers to {} questions", received.len(), questions.len())));
    }
    // Answers are by ascending rank, and within a rank in the order of the questions.
    let mut answers = vec![A::zeroed(); questions.len()];
    order.iter().zip(received).for_each(|((_, i), answer)| answers[*i as usize] = answer);
    Ok(answers)
}

/// The relays of the group of a rank.
struct Relays {
    n_ranks: usize,
    /// The first rank of the group.
    first: usize,
    /// Number of ranks in it.
    size: usize,
}

impl Relays {
    fn new(comm: &Comm) -> Self {
        let n_ranks = comm.n_ranks();
        let width = n_ranks.isqrt();
        let first = comm.rank().at() / width * width;
        Self { n_ranks, first, size: width.min(n_ranks - first) }
    }

    /// The member of the group that passes on what is for `to`.
    fn relay(&self, to: Rank) -> Rank {
        Rank((self.first + to.at() * self.size / self.n_ranks) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_comm::{CommBuilder, run_ranks};
    use proptest::prelude::*;

    /// Every rank asks the ranks `of(rank)`, under disorder of messages; each answers with its number.
    fn check(n_ranks: u32, few: usize, of: impl Fn(u32) -> Vec<u32> + Sync) -> u64 {
        let ranks = Comm::threads(n_ranks as usize).into_iter().zip(0..);
        let ranks: Vec<CommBuilder> = ranks.map(|(builder, rank)| builder.chaos(rank)).collect();
        let ran = run_ranks(ranks, |comm| {
            let own = comm.rank().0;
            let questions: Vec<[u32; 2]> = of(own).into_iter().map(|to| [to, own * 1000 + to]).collect();
            let answer = |asked: Vec<[u32; 2]>| {
                assert!(asked.iter().all(|[to, _]| *to == own), "questions reach their rank");
                Ok(asked.into_iter().map(|[_, question]| [own, question]).collect())
            };
            let answers =
                ask_over(comm, &questions, |[to, _]| Rank(*to), answer, few).expect("no rank fails");
            assert_eq!(answers, questions, "answers are in the order of the questions");
            comm.traffic().iter().map(|stage| stage.messages).sum()
        });
        ran.expect("no rank fails").into_iter().max().expect("a rank")
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn answers_are_in_the_order_of_the_questions(
            n_ranks in 1..30u32,
            few in 0..30usize,
            asked in prop::collection::vec((0..30u32, 0..30u32), 0..100),
        ) {
            let pairs: Vec<(u32, u32)> = asked.iter().map(|(from, to)| (from % n_ranks, to % n_ranks)).collect();
            check(n_ranks, few, |rank| pairs.iter().filter(|p| p.0 == rank).map(|p| p.1).collect());
        }
    }

    #[test]
    fn relays_save_messages() {
        let [over, straight] = [0, 400].map(|few| check(400, few, |_| (0..400).rev().collect()));
        assert!(straight >= 2 * 399 && over <= 4 * 20, "{over} and {straight} messages");
    }
}
