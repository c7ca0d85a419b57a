//! Engines over ranks.

use super::compare::assert_same;
use inselberg::{Catalogue, Engine, RankBuilder};
use inselberg_comm::Comm;

/// The result of each rank. Ranks have one thread and two by turns.
pub fn over_ranks<T: Send>(
    ranks: Vec<impl Into<RankBuilder> + Send>,
    work: impl Fn(usize, Engine) -> T + Sync,
) -> Vec<T> {
    std::thread::scope(|scope| {
        let start = |(rank, builder): (usize, _)| {
            let work = &work;
            scope.spawn(move || {
                let engine =
                    Engine::builder().threads(1 + rank % 2).rank(builder).build().expect("an engine");
                work(rank, engine)
            })
        };
        let threads: Vec<_> = ranks.into_iter().enumerate().map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// Checks that rank 0 of several ranks finds these catalogues of outputs. `found` gets the rank and the number
/// of ranks.
pub fn assert_found_over_ranks(
    n_ranks: usize,
    expected: &[Catalogue],
    what: &str,
    found: impl Fn(&mut Engine, (usize, usize)) -> Vec<Catalogue> + Sync,
) {
    let of_ranks = over_ranks(Comm::threads(n_ranks), |rank, mut engine| found(&mut engine, (rank, n_ranks)));
    assert_eq!(of_ranks[0].len(), expected.len(), "{what}, {n_ranks} ranks");
    for (output, (found, expected)) in of_ranks[0].iter().zip(expected).enumerate() {
        assert_same(found, expected, &format!("{what}, output {output}, {n_ranks} ranks"));
    }
}
