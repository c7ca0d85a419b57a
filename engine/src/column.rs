//! Numbers in the caller's memory: of which type, and where?
//!
//! Nothing is copied before it is used. Values are read wherever they lie, aligned or not.

use crate::error::{Error, ErrorKind};
use bytemuck::Pod;
use rayon::prelude::*;

/// The type of the numbers of a [`Column`].
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

/// One number per cell or particle, borrowed from the caller.
///
/// From a slice of any of the [`NumberType`]s; with a stride ([`Self::strided`]); through an index list ([`Self::gathered`]).
///
/// ```
/// use inselberg::{Column, NumberType};
///
/// // The second of three single-precision numbers per record, last record first.
/// let records: [f32; 6] = [0.0, 10.0, 0.5, 0.0, 20.0, 0.5];
/// let forward = Column::strided(bytemuck::cast_slice(&records), NumberType::F32, 2, 4, 12)?;
/// let order = [1_u32, 0];
/// let column = forward.gathered((&order).into())?;
/// assert_eq!((column.len(), column.real(0), column.real(1)), (2, 20.0, 10.0));
/// # Ok::<(), inselberg::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    values: Strided<'a>,
    order: Option<Strided<'a>>,
}

/// Numbers at equal distances. Every one of them lies within `bytes`.
#[derive(Debug, Clone, Copy)]
struct Strided<'a> {
    bytes: &'a [u8],
    kind: NumberType,
    len: usize,
    offset: usize,
    stride: isize,
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

            impl<'a> From<&'a [$type]> for Column<'a> {
                fn from(values: &'a [$type]) -> Self {
                    Self::of_slice(bytemuck::cast_slice(values), NumberType::$kind, values.len())
                }
            }

            impl<'a> From<&'a Vec<$type>> for Column<'a> {
                fn from(values: &'a Vec<$type>) -> Self {
                    values.as_slice().into()
                }
            }

            impl<'a, const N: usize> From<&'a [$type; N]> for Column<'a> {
                fn from(values: &'a [$type; N]) -> Self {
                    values.as_slice().into()
                }
            }

            impl<'a> From<&'a [[$type; 3]]> for VectorColumn<'a> {
                fn from(vectors: &'a [[$type; 3]]) -> Self {
                    let bytes = bytemuck::cast_slice(vectors);
                    let size = size_of::<$type>();
                    Self(std::array::from_fn(|axis| Column {
                        values: Strided {
                            bytes,
                            kind: NumberType::$kind,
                            len: vectors.len(),
                            offset: axis * size,
                            stride: 3 * size as isize,
                        },
                        order: None,
                    }))
                }
            }

            impl<'a> From<&'a Vec<[$type; 3]>> for VectorColumn<'a> {
                fn from(vectors: &'a Vec<[$type; 3]>) -> Self {
                    vectors.as_slice().into()
                }
            }

            impl<'a, const N: usize> From<&'a [[$type; 3]; N]> for VectorColumn<'a> {
                fn from(vectors: &'a [[$type; 3]; N]) -> Self {
                    vectors.as_slice().into()
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
            /// Number `i` as a real.
            #[inline]
            fn real(&self, i: usize) -> f64 {
                match self.kind {
                    $(NumberType::$kind => self.at::<$type>(i).real(),)*
                }
            }

            /// Number `i`; `None` for reals.
            #[inline]
            fn integer(&self, i: usize) -> Option<i128> {
                match self.kind {
                    $(NumberType::$kind => self.at::<$type>(i).integer(),)*
                }
            }

            /// Writes number `index(i)` to `out[i]`, in parallel.
            fn copy(&self, index: impl Fn(usize) -> usize + Sync, out: &mut [f64]) {
                match self.kind {
                    $(NumberType::$kind => self.copy_as::<$type>(index, out),)*
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

impl Strided<'_> {
    #[inline(always)]
    fn at<T: Number>(&self, i: usize) -> T {
        debug_assert!(i < self.len, "number {i} of {}", self.len);
        let place = self.offset.wrapping_add_signed(self.stride.wrapping_mul(i as isize));
        bytemuck::pod_read_unaligned(&self.bytes[place..place + size_of::<T>()])
    }

    fn copy_as<T: Number>(&self, index: impl Fn(usize) -> usize + Sync, out: &mut [f64]) {
        out.par_iter_mut().with_min_len(1 << 12).enumerate().for_each(|(i, out)| {
            *out = self.at::<T>(index(i)).real();
        });
    }
}

impl<'a> Column<'a> {
    fn of_slice(bytes: &'a [u8], kind: NumberType, len: usize) -> Self {
        let stride = kind.size() as isize;
        Self { values: Strided { bytes, kind, len, offset: 0, stride }, order: None }
    }

    /// `len` numbers in `bytes`: the first at byte `offset`, each `stride` bytes after the one before it. A stride may be
    /// negative or zero.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if a number lies outside `bytes`.
    pub fn strided(
        bytes: &'a [u8],
        kind: NumberType,
        len: usize,
        offset: usize,
        stride: isize,
    ) -> Result<Self, Error> {
        let is_inside = |i: usize| {
            let start = (offset as i128) + (stride as i128) * (i as i128);
            start >= 0 && start + kind.size() as i128 <= bytes.len() as i128
        };
        if len > 0 && !(is_inside(0) && is_inside(len - 1)) {
            let message = format!(
                "a column of {len} numbers from byte {offset} on, {stride} bytes apart, does not fit into {} bytes",
                bytes.len()
            );
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        Ok(Self { values: Strided { bytes, kind, len, offset, stride }, order: None })
    }

    /// The numbers of this column at the indices `order`, in that order. Indices count from 0. Reads every index once.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if an index is not an integer or not below [`Self::len`], or if either column is
    /// gathered already.
    pub fn gathered(self, order: Column<'a>) -> Result<Self, Error> {
        let refused = |message: String| Err(Error::new(ErrorKind::InvalidArgument, message));
        if self.order.is_some() || order.order.is_some() {
            return refused("a gathered column; expected one that is not gathered yet".into());
        }
        let n = self.values.len as i128;
        let is_index = |i: &usize| order.values.integer(*i).is_some_and(|index| (0..n).contains(&index));
        if let Some(i) = (0..order.len()).into_par_iter().find_first(|i| !is_index(i)) {
            return refused(format!(
                "index {i} of the list is {}; expected an integer from 0 to below {n}",
                order.values.real(i)
            ));
        }
        Ok(Self { order: Some(order.values), ..self })
    }

    /// Number of numbers.
    pub fn len(&self) -> usize {
        self.order.map_or(self.values.len, |order| order.len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the numbers.
    pub fn number_type(&self) -> NumberType {
        self.values.kind
    }

    /// Number `i` as a real.
    ///
    /// # Panics
    /// When `i` is not below [`Self::len`].
    #[inline]
    pub fn real(&self, i: usize) -> f64 {
        assert!(i < self.len(), "number {i} of a column of {}", self.len());
        self.values.real(self.index(i))
    }

    /// Number `i`; `None` for a column of reals.
    ///
    /// # Panics
    /// When `i` is not below [`Self::len`].
    #[inline]
    pub fn integer(&self, i: usize) -> Option<i128> {
        assert!(i < self.len(), "number {i} of a column of {}", self.len());
        self.values.integer(self.index(i))
    }

    #[inline]
    fn index(&self, i: usize) -> usize {
        // A gathered column was checked: indices are integers below the length.
        self.order.map_or(i, |order| order.integer(i).map_or(i, |index| index as usize))
    }

    /// Writes number `index(i)` to `out[i]`, in parallel.
    pub(crate) fn copy(&self, index: impl Fn(usize) -> usize + Sync, out: &mut [f64]) {
        match self.order {
            None => self.values.copy(index, out),
            Some(_) => self.values.copy(|i| self.index(index(i)), out),
        }
    }

    /// All numbers as reals.
    pub(crate) fn to_reals(self) -> Vec<f64> {
        let mut reals = crate::chunks::zeros(self.len());
        self.copy(|i| i, &mut reals);
        reals
    }

    /// All numbers, which must be integers from `least` to `most`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidCells`] with the first other number; `what` names the column.
    pub(crate) fn to_integers<T: TryFrom<i128> + Send>(self, what: &str) -> Result<Vec<T>, Error> {
        let value = |i: usize| self.integer(i).and_then(|value| T::try_from(value).ok());
        let all: Option<Vec<T>> = (0..self.len()).into_par_iter().map(value).collect();
        all.ok_or_else(|| {
            let first = (0..self.len()).find(|i| value(*i).is_none()).expect("one of them was refused");
            let message = format!("{what} {first} is {}; expected an integer in range", self.real(first));
            Error::new(ErrorKind::InvalidArgument, message)
        })
    }
}

/// One vector per cell or particle: a [`Column`] per axis. From a slice of arrays, or from three columns.
#[derive(Debug, Clone, Copy)]
pub struct VectorColumn<'a>(pub [Column<'a>; 3]);

impl<'a> From<[Column<'a>; 3]> for VectorColumn<'a> {
    fn from(axes: [Column<'a>; 3]) -> Self {
        Self(axes)
    }
}

impl VectorColumn<'_> {
    /// Number of vectors.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if the axes differ in length; `what` names the vectors.
    pub(crate) fn len(&self, what: &str) -> Result<usize, Error> {
        let [x, y, z] = self.0.map(|axis| axis.len());
        if x == y && y == z {
            return Ok(x);
        }
        let message = format!("{what}: {x}, {y} and {z} numbers along the axes; expected equal numbers");
        Err(Error::new(ErrorKind::InvalidArgument, message))
    }

    /// All vectors as reals.
    pub(crate) fn to_reals(self) -> Vec<[f64; 3]> {
        let n = self.0[0].len();
        (0..n).into_par_iter().map(|i| self.0.map(|axis| axis.real(i))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_type_is_read_as_it_is() {
        let reals = [-1.5, 0.1];
        assert_eq!(Column::from(&reals).to_reals(), reals);
        assert_eq!(Column::from(&[0.1_f32]).real(0), f64::from(0.1_f32));
        let large = [u64::MAX];
        assert_eq!(Column::from(&large).integer(0), Some(i128::from(u64::MAX)));
        let negative = [i64::MIN, -1];
        assert_eq!(Column::from(&negative).integer(0), Some(i128::from(i64::MIN)));
        assert_eq!(Column::from(&reals).integer(0), None);
        assert!(Column::from(&[3_i32, 300]).to_integers::<u8>("level").is_err());
        assert_eq!(Column::from(&[3_i32, 30]).to_integers::<u8>("level").expect("levels"), [3, 30]);
    }

    #[test]
    fn vectors_are_three_columns() {
        let vectors = [[1_u32, 2, 3], [4, 5, 6]];
        let column = VectorColumn::from(&vectors);
        assert_eq!(column.to_reals(), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        let (x, y) = ([1.0, 2.0], [1.0]);
        let uneven = VectorColumn::from([Column::from(&x), Column::from(&y), Column::from(&x)]);
        assert_eq!(uneven.len("positions").expect_err("uneven").kind(), ErrorKind::InvalidArgument);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        /// Reference: the bytes of each number, taken one by one.
        #[test]
        fn strides_and_orders_reach_the_right_bytes(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            len in 0_usize..20, offset in 0_usize..220, stride in -30_isize..30,
            order in prop::collection::vec(-2_i32..25, 0..10),
        ) {
            let size = 4;
            let start = |i: usize| offset as isize + stride * i as isize;
            let fits = (0..len).all(|i| start(i) >= 0 && start(i) + size <= bytes.len() as isize);
            let column = Column::strided(&bytes, NumberType::I32, len, offset, stride);
            prop_assert_eq!(column.is_ok(), fits);
            let Ok(column) = column else { return Ok(()) };
            let number = |i: usize| {
                let start = start(i) as usize;
                i32::from_ne_bytes(bytes[start..start + 4].try_into().expect("four bytes"))
            };
            for i in 0..len {
                prop_assert_eq!(column.integer(i), Some(number(i).into()));
            }
            let is_order = order.iter().all(|i| (0..len as i32).contains(i));
            let gathered = column.gathered((&order).into());
            prop_assert_eq!(gathered.is_ok(), is_order);
            if let Ok(gathered) = gathered {
                let expected: Vec<f64> = order.iter().map(|i| number(*i as usize).into()).collect();
                prop_assert_eq!(gathered.to_reals(), expected);
            }
        }
    }
}
