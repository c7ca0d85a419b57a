//! Engines over ranks.

use inselberg::{Engine, RankBuilder};

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
