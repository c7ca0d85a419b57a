//! Allocation of arrays whose size depends on an input. A refusal of the system is an error and does not end
//! the process.

use bytemuck::Zeroable;
use std::cell::Cell;

thread_local! {
    static IS_OPTIONAL: Cell<bool> = const { Cell::new(false) };
}

/// The system refuses the memory of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "out of memory: {n} values of {each} bytes do not fit; expected more memory, more ranks or a smaller input"
)]
pub struct OutOfMemory {
    /// Number of values.
    pub n: usize,
    /// Bytes per value.
    pub each: usize,
}

/// An empty list with room for `n` values.
///
/// # Errors
/// The system refuses the memory.
pub fn list<T>(n: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut list = Vec::new();
    reserve(&mut list, n)?;
    Ok(list)
}

/// A list of `n` zeros.
///
/// # Errors
/// The system refuses the memory.
pub fn zeros<T: Zeroable>(n: usize) -> Result<Vec<T>, OutOfMemory> {
    let zeros = optional(|| bytemuck::try_zeroed_vec(n));
    zeros.map_err(|()| OutOfMemory { n, each: size_of::<T>() })
}

/// Reserves room for `n` more values.
///
/// # Errors
/// The system refuses the memory; the list is unchanged.
pub fn reserve<T>(list: &mut Vec<T>, n: usize) -> Result<(), OutOfMemory> {
    let reserved = optional(|| list.try_reserve_exact(n));
    reserved.map_err(|_| OutOfMemory { n, each: size_of::<T>() })
}

fn optional<T>(work: impl FnOnce() -> T) -> T {
    let before = IS_OPTIONAL.replace(true);
    let done = work();
    IS_OPTIONAL.set(before);
    done
}

/// Whether this thread handles a refusal of the memory that it allocates now. An allocator that ends a
/// program when memory runs out must check this first.
pub fn is_optional() -> bool {
    IS_OPTIONAL.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_an_error_and_the_list_stays() {
        let mut list = vec![1u64, 2];
        let refused = reserve(&mut list, usize::MAX / 16);
        assert_eq!(refused, Err(OutOfMemory { n: usize::MAX / 16, each: 8 }));
        assert_eq!((list.as_slice(), is_optional()), (&[1, 2][..], false));
        assert!(zeros::<u64>(usize::MAX / 16).is_err() && self::list::<u64>(usize::MAX / 16).is_err());
        reserve(&mut list, 100).expect("room");
        assert!(list.capacity() >= 102);
    }
}
