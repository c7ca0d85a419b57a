//! Sums of pixels over all ranks. Rank 0 never holds more than its own picture and one other.

use inselberg_comm::{Comm, CommError, Pod, Rank};
use std::ops::Range;

/// Collective: the sum of the pictures of all ranks, on rank 0; `None` elsewhere. All pictures have the same
/// number of pixels. About √P ranks each add up a part of the picture, from the non-zero pixels that all
/// ranks send them, and send it to rank 0. Pixels are added in the order of the ranks. Three exchanges.
///
/// # Errors
/// When a rank fails.
pub fn add_up<T: Pod + PartialEq>(
    own: Vec<T>,
    add: impl Fn(&mut T, T),
    comm: &Comm,
) -> Result<Option<Vec<T>>, CommError> {
    if comm.n_ranks() == 1 {
        return Ok(Some(own));
    }
    let adders = Adders::new(own.len(), comm.n_ranks());
    let mut sent = (Vec::new(), Vec::new());
    for (rank, range) in adders.all() {
        let lit = || own[range.clone()].iter().enumerate().filter(|(_, pixel)| **pixel != T::zeroed());
        sent.0.push((rank, lit().map(|(at, _)| at as u32).collect::<Vec<_>>()));
        sent.1.push((rank, lit().map(|(_, pixel)| *pixel).collect::<Vec<_>>()));
    }
    drop(own);
    let (places, pixels) = (comm.exchange(sent.0)?, comm.exchange(sent.1)?);
    // Most ranks add up nothing.
    let range = adders.all().find(|(rank, _)| *rank == comm.rank()).map_or(0..0, |(_, range)| range);
    let mut sums = vec![T::zeroed(); range.len()];
    for ((_, places), (_, pixels)) in places.into_iter().zip(pixels) {
        places.into_iter().zip(pixels).for_each(|(at, pixel)| add(&mut sums[at as usize], pixel));
    }
    let parts = comm.exchange(vec![(Rank(0), sums)])?;
    Ok((comm.rank() == Rank(0)).then(|| parts.into_iter().flat_map(|(_, part)| part).collect()))
}

/// Which rank adds up which pixels.
struct Adders {
    n: usize,
    n_pixels: usize,
    n_ranks: usize,
}

impl Adders {
    fn new(n_pixels: usize, n_ranks: usize) -> Self {
        let n = (1..=n_ranks).find(|n| n * n >= n_ranks).expect("a number is less than its square");
        Self { n, n_pixels, n_ranks }
    }

    /// The ranks that add up pixels and the ranges of these, both ascending.
    fn all(&self) -> impl Iterator<Item = (Rank, Range<usize>)> + '_ {
        let cut = |k: usize| self.n_pixels * k / self.n;
        (0..self.n).map(move |k| (Rank((k * self.n_ranks / self.n) as u32), cut(k)..cut(k + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_comm::run_threads;

    #[test]
    fn pixels_of_all_ranks_add_up_and_little_reaches_rank_0() {
        for n_ranks in [1, 2, 3, 16, 50] {
            let n_pixels = 10_000;
            // Each rank has a tenth of the pixels.
            let pixel = |rank: usize, at: usize| {
                let begin = rank * 7919 % (n_pixels - 1000);
                if (begin..begin + 1000).contains(&at) { (rank + at) as f64 } else { 0.0 }
            };
            let ran = run_threads(n_ranks, |comm| {
                let own = (0..n_pixels).map(|at| pixel(comm.rank().at(), at)).collect();
                let all = add_up(own, |a, b| *a += b, comm).expect("added");
                (all, comm.traffic().iter().map(|stage| stage.received_bytes).sum::<u64>())
            });
            let mut ran = ran.expect("no panic").into_iter();
            let (all, bytes) = ran.next().expect("rank 0");
            let expected: Vec<f64> =
                (0..n_pixels).map(|at| (0..n_ranks).map(|rank| pixel(rank, at)).sum()).collect();
            assert_eq!(all, Some(expected));
            // The picture, and twice an even share of all pixels with their places.
            let n_adders = (1..).find(|n| n * n >= n_ranks).expect("a root");
            let most = 8 * n_pixels + 2 * 12 * 1000 * n_ranks / n_adders;
            assert!(bytes <= most as u64, "{bytes} bytes over {n_ranks} ranks");
            assert!(ran.all(|(other, _)| other.is_none()));
        }
    }
}
