//! Slices: a halo may be cut into runs of its members. How are they joined, and which sums and orders do not
//! depend on the cuts?
//!
//! ```text
//!     members     in the order of keys          0 1 2 3 4 5 6 7 8 9 ...
//!     blocks      about `block` members each    [0 1 2 3][4 5 6 7][8 9 ...     equal keys are never apart
//!     slices      whole blocks                  [  slice 0       ][ slice 1
//! ```
//!
//! A sum over members has plain sums within blocks, and [order-free sums](crate::sum) over blocks. So its
//! bits do not depend on where slices begin, at the speed of plain sums. Sums along a radius have blocks of
//! the radial order.
//!
//! This file does not depend on the place of slices. A caller with several slices implements [`Slices`];
//! [`Whole`] is a halo in one slice.

use crate::loops::Loops;
use crate::sum::{FixedSum, Quantum};
use bytemuck::Pod;
use std::cmp::Ordering;
use std::convert::Infallible;
use std::ops::Range;

/// Members per block.
pub const BLOCK: u64 = 4096;

/// The number of samples per slice from which a sort finds its cuts.
const SAMPLES: usize = 64;

/// Bits of a key per round of a selection.
const DIGIT: u32 = 11;

/// The most keys that a selection sends to all slices.
const GATHERED: u64 = 4096;

/// Blocks per task of a sum.
const BLOCKS_AT_ONCE: usize = 4;

/// Records for one slice, or from one slice.
pub type SlicePart<T> = (usize, Vec<T>);

/// The connection of the slices of a halo. All slices make the same calls in the same order.
pub trait Slices: Loops {
    /// Why a call fails.
    type Error;

    /// Number of slices.
    fn number(&self) -> usize;

    /// The number of this slice, from 0.
    fn here(&self) -> usize;

    /// The sums over all slices of counts, place by place.
    fn add(&self, counts: &[u64]) -> Result<Vec<u64>, Self::Error>;

    /// The records of each slice.
    fn gather<T: Pod>(&self, own: &[T]) -> Result<Vec<Vec<T>>, Self::Error>;

    /// Sends each list to its slice. Returns the lists that were sent here, by rising slice. Empty lists do
    /// not arrive.
    fn exchange<T: Pod>(&self, parts: Vec<SlicePart<T>>) -> Result<Vec<SlicePart<T>>, Self::Error>;
}

/// A halo in one slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Whole;

impl Loops for Whole {}

impl Slices for Whole {
    type Error = Infallible;

    fn number(&self) -> usize {
        1
    }

    fn here(&self) -> usize {
        0
    }

    fn add(&self, counts: &[u64]) -> Result<Vec<u64>, Infallible> {
        Ok(counts.to_vec())
    }

    fn gather<T: Pod>(&self, own: &[T]) -> Result<Vec<Vec<T>>, Infallible> {
        Ok(vec![own.to_vec()])
    }

    fn exchange<T: Pod>(&self, parts: Vec<SlicePart<T>>) -> Result<Vec<SlicePart<T>>, Infallible> {
        let own: Vec<T> = parts.into_iter().flat_map(|(_, part)| part).collect();
        Ok(if own.is_empty() { Vec::new() } else { vec![(0, own)] })
    }
}

/// The sum of a count over all slices.
pub fn total<S: Slices>(slices: &S, count: usize) -> Result<u64, S::Error> {
    match slices.number() {
        1 => Ok(count as u64),
        _ => Ok(slices.add(&[count as u64])?[0]),
    }
}

/// The greatest of each value over all slices. No value is NaN.
pub fn greatest<S: Slices, const N: usize>(slices: &S, values: [f64; N]) -> Result<[f64; N], S::Error> {
    if slices.number() == 1 {
        return Ok(values);
    }
    let all = slices.gather(&values)?;
    Ok(std::array::from_fn(|i| all.iter().fold(values[i], |most, of| most.max(of[i]))))
}

/// The bounds of the whole halo that sums over some members need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HaloBounds {
    /// Number of all members.
    pub number: u64,
    /// The greatest mass.
    pub mass: f64,
    /// The greatest magnitude of a coordinate.
    pub reach: f64,
    /// The greatest magnitude of a component of a velocity.
    pub speed: f64,
    /// Members per block of sums.
    pub block: u64,
}

impl HaloBounds {
    /// The bounds of a halo from those of its slices.
    ///
    /// # Errors
    /// Those of the slices.
    pub fn over<S: Slices>(&self, slices: &S) -> Result<Self, S::Error> {
        let number = slices.add(&[self.number])?[0];
        let [mass, reach, speed] = greatest(slices, [self.mass, self.reach, self.speed])?;
        Ok(Self { number, mass, reach, speed, block: self.block })
    }
}

/// Sums whose bits depend only on blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockSums<const N: usize> {
    quantum: [Quantum; N],
    sum: [FixedSum; N],
}

impl<const N: usize> BlockSums<N> {
    /// For members whose terms are at most `most`.
    pub fn new(bounds: &HaloBounds, most: [f64; N]) -> Self {
        // Twice the sum of all terms, so that rounding within a block cannot overflow.
        let quantum = most.map(|most| Quantum::for_terms(most * bounds.number as f64, 2));
        Self { quantum, sum: [FixedSum::default(); N] }
    }

    /// Adds the sums of a block.
    pub fn add(&mut self, block: [f64; N]) {
        (0..N).for_each(|i| self.sum[i] += self.quantum[i].quantize(block[i]));
    }

    /// Adds the sums of blocks, each by its run of places.
    pub fn add_blocks<S: Slices>(
        &mut self,
        slices: &S,
        runs: impl Iterator<Item = Range<usize>>,
        of_block: impl Fn(Range<usize>) -> [f64; N] + Sync,
    ) {
        let runs: Vec<Range<usize>> = runs.collect();
        if runs.len() <= BLOCKS_AT_ONCE {
            return runs.into_iter().for_each(|run| self.add(of_block(run)));
        }
        let tasks: Vec<&[Range<usize>]> = runs.chunks(BLOCKS_AT_ONCE).collect();
        let none = Self { quantum: self.quantum, sum: [FixedSum::default(); N] };
        let parts = slices.each(tasks.len(), |task| {
            let mut part = none;
            tasks[task].iter().for_each(|run| part.add(of_block(run.clone())));
            part.sum
        });
        for part in parts {
            (0..N).for_each(|i| self.sum[i] += part[i]);
        }
    }

    /// The sums so far.
    pub fn values(&self) -> [f64; N] {
        std::array::from_fn(|i| self.quantum[i].value(self.sum[i]))
    }

    /// These sums minus those of `other`.
    pub fn without(&self, other: &Self) -> Self {
        let sum = std::array::from_fn(|i| FixedSum(self.sum[i].0 - other.sum[i].0));
        Self { quantum: self.quantum, sum }
    }

    /// The sums over all slices.
    pub fn over<S: Slices>(&self, slices: &S) -> Result<[f64; N], S::Error> {
        Ok(self.before_and_all(slices)?.1.values())
    }

    /// The sums over all slices of several sums. One gathering.
    pub fn over_all<S: Slices>(own: &[Self], slices: &S) -> Result<Vec<[f64; N]>, S::Error> {
        if slices.number() == 1 {
            return Ok(own.iter().map(Self::values).collect());
        }
        let sums: Vec<FixedSum> = own.iter().flat_map(|own| own.sum).collect();
        let all = slices.gather(&sums)?;
        let over = |(i, own): (usize, &Self)| {
            let mut joined = Self { quantum: own.quantum, sum: [FixedSum::default(); N] };
            all.iter().for_each(|of| (0..N).for_each(|j| joined.sum[j] += of[i * N + j]));
            joined.values()
        };
        Ok(own.iter().enumerate().map(over).collect())
    }

    /// The sums over the slices before this one, and over all.
    pub fn before_and_all<S: Slices>(&self, slices: &S) -> Result<(Self, Self), S::Error> {
        let mut before = Self { quantum: self.quantum, sum: [FixedSum::default(); N] };
        if slices.number() == 1 {
            return Ok((before, *self));
        }
        let mut all = before;
        for (slice, sums) in slices.gather(&self.sum)?.iter().enumerate() {
            if slice == slices.here() {
                before = all;
            }
            (0..N).for_each(|i| all.sum[i] += sums[i]);
        }
        Ok((before, all))
    }
}

/// The first places of blocks: a block ends at the first change of the key of an ascending list after `block`
/// places. The list begins at place `first` of that of the whole halo, and its first key is not that of the
/// place before.
pub fn block_starts<K: PartialEq>(
    n: usize,
    primary: impl Fn(usize) -> K,
    first: u64,
    block: u64,
) -> Vec<u32> {
    let mut starts = Vec::new();
    let mut last = None;
    let mut at = 0;
    while at < n {
        let number = (first + at as u64) / block;
        if last != Some(number) {
            starts.push(at as u32);
            last = Some(number);
        }
        // Only the first change of key after the end of the block matters.
        let next = ((number + 1) * block - first).min(n as u64) as usize;
        at = (next.max(at + 1)..n).find(|i| primary(*i) != primary(*i - 1)).unwrap_or(n);
    }
    starts
}

/// The runs of a list of members, which ascends, in each block.
pub fn runs_in_blocks<'a>(
    starts: &'a [u32],
    list: &'a [u32],
) -> impl Iterator<Item = Range<usize>> + Clone + 'a {
    let mut at = 0;
    std::iter::from_fn(move || {
        let member = list.get(at)?;
        let block = starts.partition_point(|start| start <= member);
        let end = starts.get(block).map_or(list.len(), |next| at + list[at..].partition_point(|i| i < next));
        let run = at..end;
        at = end;
        Some(run)
    })
}

/// A key with the order of numbers.
pub fn ordered_bits(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The number of a key.
fn number_of(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

/// The numbers at some places, from 0, of the sorted numbers of all slices. Reorders `values`.
pub fn smallest_of<S: Slices>(slices: &S, values: &mut [f64], places: &[u64]) -> Result<Vec<f64>, S::Error> {
    if slices.number() == 1 {
        let at = |place: &u64| *values.select_nth_unstable_by(*place as usize, f64::total_cmp).1;
        return Ok(places.iter().map(at).collect());
    }
    let found = smallest_keys(slices, || values.iter().map(|value| ordered_bits(*value)), places)?;
    Ok(found.into_iter().map(number_of).collect())
}

/// The key at a place of the keys of all slices in their order, from 0.
pub fn smallest_key<S: Slices, I: Iterator<Item = u64>>(
    slices: &S,
    keys: impl Fn() -> I,
    place: u64,
) -> Result<u64, S::Error> {
    Ok(smallest_keys(slices, keys, &[place])?[0])
}

/// A key of which the first bits are known.
#[derive(Debug, Clone, Copy)]
struct KeySearch {
    /// These bits.
    found: u64,
    /// Its place among the keys that begin with them.
    place: u64,
    /// Number of these keys in all slices.
    number: u64,
}

/// The keys at some places, found at the same time. One reduction per digit narrows them, until few keys are
/// left; these are sent to all slices.
fn smallest_keys<S: Slices, I: Iterator<Item = u64>>(
    slices: &S,
    keys: impl Fn() -> I,
    places: &[u64],
) -> Result<Vec<u64>, S::Error> {
    let search = |place: &u64| KeySearch { found: 0, place: *place, number: u64::MAX };
    let mut searches: Vec<KeySearch> = places.iter().map(search).collect();
    let mut known = 0;
    while known < u64::BITS {
        if searches.iter().all(|search| search.number <= GATHERED / places.len() as u64) {
            return gathered_keys(slices, &keys, known, &searches);
        }
        let bits = DIGIT.min(u64::BITS - known);
        let (shift, size) = (u64::BITS - known - bits, 1 << bits);
        let mut counts = vec![0u64; size * searches.len()];
        for key in keys() {
            let first = if known == 0 { 0 } else { key >> (u64::BITS - known) };
            let digit = (key >> shift) as usize & (size - 1);
            for (search, counts) in searches.iter().zip(counts.chunks_exact_mut(size)) {
                counts[digit] += u64::from(search.found == first);
            }
        }
        let counts = slices.add(&counts)?;
        for (search, counts) in searches.iter_mut().zip(counts.chunks_exact(size)) {
            let mut digit = 0;
            while digit + 1 < size && counts[digit] <= search.place {
                search.place -= counts[digit];
                digit += 1;
            }
            (search.found, search.number) = (search.found << bits | digit as u64, counts[digit]);
        }
        known += bits;
    }
    Ok(searches.iter().map(|search| search.found).collect())
}

/// The keys of searches of which `known` bits are known, from all keys that begin with these. One gathering.
fn gathered_keys<S: Slices, I: Iterator<Item = u64>>(
    slices: &S,
    keys: &impl Fn() -> I,
    known: u32,
    searches: &[KeySearch],
) -> Result<Vec<u64>, S::Error> {
    let first = |key: &u64| key >> (u64::BITS - known);
    let is_left = |key: &u64| searches.iter().any(|search| search.found == first(key));
    let own: Vec<u64> = keys().filter(is_left).collect();
    let mut all: Vec<u64> = slices.gather(&own)?.into_iter().flatten().collect();
    all.sort_unstable();
    let at = |search: &KeySearch| {
        let before = all.partition_point(|key| first(key) < search.found);
        all[before + search.place as usize]
    };
    Ok(searches.iter().map(at).collect())
}

/// Sorted records of this slice.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SortedRecords<T> {
    /// The records.
    pub records: Vec<T>,
    /// The number of the first one over all slices.
    pub first: u64,
    /// Number of records of all slices.
    pub total: u64,
}

/// How records are sorted.
pub struct SortOrder<'a, T> {
    /// The first key. Records that share it stay together.
    pub primary: &'a (dyn Fn(&T) -> [u64; 2] + Sync),
    /// The order, which begins with the first key.
    pub order: &'a (dyn Fn(&T, &T) -> Ordering + Sync),
    /// Slices are cut between blocks of this number of records.
    pub block: u64,
}

impl<T: Pod + Send> SortOrder<'_, T> {
    /// Sorts the records of all slices. Each slice gets blocks, about equally many. Two exchanges.
    pub fn sort<S: Slices>(&self, slices: &S, mut records: Vec<T>) -> Result<SortedRecords<T>, S::Error> {
        slices.sort(&mut records, self.order);
        if slices.number() == 1 {
            let total = records.len() as u64;
            return Ok(SortedRecords { records, first: 0, total });
        }
        let cuts = self.cuts(slices, &records)?;
        let end = |cut: &[u64; 2], all: &[T]| all.partition_point(|record| (self.primary)(record) < *cut);
        let mut parts = Vec::new();
        for (to, cut) in cuts.iter().enumerate().rev() {
            parts.push((to + 1, records.split_off(end(cut, &records))));
        }
        parts.push((0, records));
        let mut records = received(slices.exchange(parts)?);
        slices.sort(&mut records, self.order);
        self.even(slices, records)
    }

    /// The first keys that begin the slices after the first, from samples.
    fn cuts<S: Slices>(&self, slices: &S, records: &[T]) -> Result<Vec<[u64; 2]>, S::Error> {
        let n = records.len();
        let n_samples = SAMPLES.min(n);
        // Each sample represents the records of its slice divided by its samples.
        let sample = |i: usize| {
            let [a, b] = (self.primary)(&records[(2 * i + 1) * n / (2 * n_samples)]);
            [a, b, (n / n_samples) as u64]
        };
        let own: Vec<[u64; 3]> = (0..n_samples).map(sample).collect();
        let mut all: Vec<[u64; 3]> = slices.gather(&own)?.into_iter().flatten().collect();
        all.sort_unstable();
        let weight: u64 = all.iter().map(|sample| sample[2]).sum();
        let (mut cuts, mut passed) = (Vec::new(), 0);
        for [a, b, n] in all {
            passed += n;
            let due = u128::from(passed) * slices.number() as u128 / u128::from(weight.max(1));
            while cuts.len() + 1 < slices.number() && cuts.len() < due as usize {
                cuts.push([a, b]);
            }
        }
        cuts.resize(slices.number() - 1, [u64::MAX; 2]);
        Ok(cuts)
    }

    /// Moves the cuts of sorted records to the borders of blocks.
    fn even<S: Slices>(&self, slices: &S, records: Vec<T>) -> Result<SortedRecords<T>, S::Error> {
        let counts = slices.gather(&[records.len() as u64])?;
        let count = |part: &[Vec<u64>]| part.iter().map(|count| count[0]).sum::<u64>();
        let (first, total) = (count(&counts[..slices.here()]), count(&counts));
        let n_blocks = total.div_ceil(self.block).max(1);
        let starts = block_starts(records.len(), |i| (self.primary)(&records[i]), first, self.block);
        let mut parts: Vec<SlicePart<T>> = Vec::new();
        for (i, start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).map_or(records.len(), |next| *next as usize);
            let block = (first + u64::from(*start)) / self.block;
            let to = (u128::from(block) * slices.number() as u128 / u128::from(n_blocks)) as usize;
            let run = &records[*start as usize..end];
            match parts.last_mut() {
                Some((last, part)) if *last == to => part.extend_from_slice(run),
                _ => parts.push((to, run.to_vec())),
            }
        }
        drop(records);
        let records = received(slices.exchange(parts)?);
        let counts = slices.gather(&[records.len() as u64])?;
        Ok(SortedRecords { records, first: count(&counts[..slices.here()]), total })
    }
}

fn received<T>(parts: Vec<SlicePart<T>>) -> Vec<T> {
    let mut parts = parts.into_iter();
    let mut all = parts.next().map_or_else(Vec::new, |(_, part)| part);
    parts.for_each(|(_, mut part)| all.append(&mut part));
    all
}
