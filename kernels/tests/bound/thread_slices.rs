//! Threads in place of ranks.

use bytemuck::Pod;
use inselberg_kernels::bound::slices::{SlicePart, Slices};
use inselberg_kernels::loops::Loops;
use std::convert::Infallible;
use std::sync::{Barrier, Mutex};

/// Slices as threads, which meet in each call.
struct Table {
    n: usize,
    barrier: Barrier,
    slots: Vec<Mutex<Vec<Vec<u8>>>>,
}

pub struct ThreadSlice<'a> {
    here: usize,
    table: &'a Table,
}

impl ThreadSlice<'_> {
    /// Lays down one list per slice, and gives those of all slices for this one.
    fn meet(&self, own: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        *self.table.slots[self.here].lock().expect("a slot") = own;
        self.table.barrier.wait();
        let all =
            self.table.slots.iter().map(|slot| slot.lock().expect("a slot")[self.here].clone()).collect();
        self.table.barrier.wait();
        all
    }
}

fn records<T: Pod>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

impl Loops for ThreadSlice<'_> {
    /// The last one first.
    fn each<T: Send>(&self, n: usize, each: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let mut all: Vec<T> = (0..n).rev().map(each).collect();
        all.reverse();
        all
    }
}

impl Slices for ThreadSlice<'_> {
    type Error = Infallible;

    fn number(&self) -> usize {
        self.table.n
    }

    fn here(&self) -> usize {
        self.here
    }

    fn add(&self, counts: &[u64]) -> Result<Vec<u64>, Infallible> {
        let all = self.gather(counts)?;
        Ok((0..counts.len()).map(|i| all.iter().map(|of| of[i]).sum()).collect())
    }

    fn gather<T: Pod>(&self, own: &[T]) -> Result<Vec<Vec<T>>, Infallible> {
        let all = self.meet(vec![bytemuck::cast_slice(own).to_vec(); self.table.n]);
        Ok(all.iter().map(|bytes| records(bytes)).collect())
    }

    fn exchange<T: Pod>(&self, parts: Vec<SlicePart<T>>) -> Result<Vec<SlicePart<T>>, Infallible> {
        let mut lists = vec![Vec::new(); self.table.n];
        parts.iter().for_each(|(to, part)| lists[*to].extend_from_slice(bytemuck::cast_slice(part)));
        let received = self.meet(lists).into_iter().enumerate().filter(|(_, bytes)| !bytes.is_empty());
        Ok(received.map(|(from, bytes)| (from, records(&bytes))).collect())
    }
}

/// Runs `work` on each of `n` slices.
pub fn on_slices<R: Send>(n: usize, work: impl Fn(&ThreadSlice) -> R + Sync) -> Vec<R> {
    let slots = (0..n).map(|_| Mutex::new(Vec::new())).collect();
    let table = Table { n, barrier: Barrier::new(n), slots };
    std::thread::scope(|scope| {
        let (table, work) = (&table, &work);
        let start = |here| scope.spawn(move || work(&ThreadSlice { here, table }));
        let running: Vec<_> = (0..n).map(start).collect();
        running.into_iter().map(|slice| slice.join().expect("a slice")).collect()
    })
}
