//! Numbers at equal distances in memory: of which type, and how are they read?

use crate::chunks::{all_runs, all_runs_of};
use bytemuck::Pod;

/// The type of the numbers of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NumberType {
    /// 32-bit real.
    F32,
    /// 64-bit real.
    F64,
    /// 8-bit signed integer.
    I8,
    /// 16-bit signed integer.
    I16,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer.
    I64,
    /// 8-bit unsigned integer.
    U8,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit unsigned integer.
    U64,
}

/// Numbers at equal distances. Every one of them lies within `bytes`.
#[derive(Debug, Clone, Copy)]
pub struct Strided<'a> {
    pub bytes: &'a [u8],
    pub kind: NumberType,
    pub len: usize,
    pub offset: usize,
    pub stride: isize,
}

/// A number as it is stored.
trait Number: Pod + Send + Sync {
    fn real(self) -> f64;
    /// `None` for reals.
    fn integer(self) -> Option<i128>;
}

macro_rules! numbers {
    ($($type:ident $kind:ident $integer:expr;)*) => {
        $(
            impl Number for $type {
                #[inline(always)]
                #[allow(clippy::cast_lossless, reason = "the same code for every type")]
                fn real(self) -> f64 {
                    self as f64
                }

                #[inline(always)]
                fn integer(self) -> Option<i128> {
                    let integer: fn($type) -> Option<i128> = $integer;
                    integer(self)
                }
            }
        )*

        impl NumberType {
            /// Bytes per number.
            pub fn size(self) -> usize {
                match self {
                    $(Self::$kind => size_of::<$type>(),)*
                }
            }
        }

        impl Strided<'_> {
            /// The number at byte `start`, as a real.
            #[inline]
            pub fn real(&self, start: usize) -> f64 {
                match self.kind {
                    $(NumberType::$kind => self.read::<$type>(start).real(),)*
                }
            }

            /// The number at byte `start`; `None` for reals.
            #[inline]
            pub fn integer(&self, start: usize) -> Option<i128> {
                match self.kind {
                    $(NumberType::$kind => self.read::<$type>(start).integer(),)*
                }
            }

            /// The integer at byte `start`, modulo 2^64.
            #[inline]
            pub fn index(&self, start: usize) -> i64 {
                match self.kind {
                    $(NumberType::$kind => self.read::<$type>(start) as i64,)*
                }
            }

            /// Writes the number at byte `start(i)` to `out[i]`, in parallel.
            pub fn copy(&self, start: impl Fn(usize) -> usize + Sync, out: &mut [f64]) {
                match self.kind {
                    $(NumberType::$kind => self.copy_as::<$type>(start, out),)*
                }
            }

            /// Writes the number at byte `start(i)` to a part of `out[i]`, in parallel, where it is an
            /// integer of that type. Returns whether all numbers are.
            pub fn fill<T: TryFrom<i128>, U: Send>(
                &self,
                start: impl Fn(usize) -> usize + Sync,
                out: &mut [U],
                part: impl Fn(&mut U) -> &mut T + Sync,
            ) -> bool {
                match self.kind {
                    $(NumberType::$kind => self.fill_as::<$type, T, U>(start, out, part),)*
                }
            }

            /// Whether all of the numbers at byte `start(i)`, `i` below `n`, are good, in parallel.
            pub fn all(&self, n: usize, start: impl Fn(usize) -> usize + Sync, is_good: impl Fn(f64) -> bool + Sync) -> bool {
                match self.kind {
                    $(NumberType::$kind => self.all_as::<$type>(n, start, is_good),)*
                }
            }
        }
    };
}

numbers! {
    f32 F32 |_| None;
    f64 F64 |_| None;
    i8 I8 |i| Some(i.into());
    i16 I16 |i| Some(i.into());
    i32 I32 |i| Some(i.into());
    i64 I64 |i| Some(i.into());
    u8 U8 |i| Some(i.into());
    u16 U16 |i| Some(i.into());
    u32 U32 |i| Some(i.into());
    u64 U64 |i| Some(i.into());
}

/// Numbers that a thread takes at once.
const RUN: usize = 1 << 13;

impl Strided<'_> {
    /// The first byte of number `i`.
    #[inline(always)]
    pub fn start(&self, i: usize) -> usize {
        debug_assert!(i < self.len, "number {i} of {}", self.len);
        self.offset.wrapping_add_signed(self.stride.wrapping_mul(i as isize))
    }

    #[inline(always)]
    fn read<T: Number>(&self, start: usize) -> T {
        bytemuck::pod_read_unaligned(&self.bytes[start..start + size_of::<T>()])
    }

    fn copy_as<T: Number>(&self, start: impl Fn(usize) -> usize + Sync, out: &mut [f64]) {
        all_runs_of(out, RUN, &|first, out| {
            out.iter_mut().zip(first..).for_each(|(out, i)| *out = self.read::<T>(start(i)).real());
            true
        });
    }

    fn fill_as<N: Number, T: TryFrom<i128>, U: Send>(
        &self,
        start: impl Fn(usize) -> usize + Sync,
        out: &mut [U],
        part: impl Fn(&mut U) -> &mut T + Sync,
    ) -> bool {
        let put = |(out, i): (&mut U, usize)| {
            let integer = self.read::<N>(start(i)).integer().and_then(|value| T::try_from(value).ok());
            integer.map(|value| *part(out) = value).is_some()
        };
        // No early exit: numbers that are not integers are rare.
        all_runs_of(out, RUN, &|first, out| out.iter_mut().zip(first..).map(put).fold(true, |a, b| a & b))
    }

    fn all_as<T: Number>(
        &self,
        n: usize,
        start: impl Fn(usize) -> usize + Sync,
        is_good: impl Fn(f64) -> bool + Sync,
    ) -> bool {
        // No early exit within a run: bad numbers are rare.
        all_runs(n, RUN, &|run| run.fold(true, |all, i| all & is_good(self.read::<T>(start(i)).real())))
    }

    /// Whether all numbers lie within the bytes, also when they are `shift` bytes further on.
    pub fn fits(&self, shift: i128) -> bool {
        let is_inside = |i: usize| {
            let start = self.offset as i128 + self.stride as i128 * i as i128 + shift;
            start >= 0 && start + self.kind.size() as i128 <= self.bytes.len() as i128
        };
        self.len == 0 || (is_inside(0) && is_inside(self.len - 1))
    }
}
