//! Numbers in the caller's memory: of which type, and where?
//!
//! Nothing is copied before it is used. Values are read wherever they lie, aligned or not.

mod strided;

use crate::error::{Error, ErrorKind};
use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
pub use strided::NumberType;
use strided::Strided;

/// One number per cell or particle, borrowed from the caller.
///
/// From a slice of any of the [`NumberType`]s; with a stride ([`Self::strided`]); with several numbers per
/// item ([`Self::with_parts`]); through an index list ([`Self::gathered`]).
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
    /// The first number of each item.
    values: Strided<'a>,
    parts: Option<ColumnParts>,
    order: Option<Order<'a>>,
    /// The caller's index of the first item, for messages.
    first: i64,
}

/// Several numbers per item, at equal distances.
#[derive(Debug, Clone, Copy)]
struct ColumnParts {
    n: usize,
    stride: isize,
}

impl ColumnParts {
    /// The item and the part of number `i`.
    #[inline(always)]
    fn of(&self, i: usize) -> (usize, usize) {
        // Cells of octs are read too often for a division by a number that the compiler does not know.
        if self.n == 8 { (i / 8, i % 8) } else { (i / self.n, i % self.n) }
    }
}

/// An index list. All its entries were checked: they are items of the column.
#[derive(Debug, Clone, Copy)]
struct Order<'a> {
    items: Strided<'a>,
    /// The index of the first item.
    first: i64,
}

macro_rules! from_slices {
    ($($type:ident $kind:ident;)*) => {$(
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
                    parts: None,
                    order: None,
                    first: 0,
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
    )*};
}

from_slices! {
    f32 F32;
    f64 F64;
    i8 I8;
    i16 I16;
    i32 I32;
    i64 I64;
    u8 U8;
    u16 U16;
    u32 U32;
    u64 U64;
}

impl Order<'_> {
    /// The item of entry `i`.
    #[inline]
    fn item(&self, i: usize) -> usize {
        self.items.index(self.items.start(i)).wrapping_sub(self.first) as usize
    }
}

impl<'a> Column<'a> {
    fn of_slice(bytes: &'a [u8], kind: NumberType, len: usize) -> Self {
        let stride = kind.size() as isize;
        Self { values: Strided { bytes, kind, len, offset: 0, stride }, parts: None, order: None, first: 0 }
    }

    /// `len` numbers in `bytes`: the first at byte `offset`, each `stride` bytes after the one before it. A
    /// stride may be negative or zero.
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
        let values = Strided { bytes, kind, len, offset, stride };
        if !values.fits(0) {
            let message = format!(
                "a column of {len} numbers from byte {offset} on, {stride} bytes apart, does not fit into {} bytes",
                bytes.len()
            );
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        Ok(Self { values, parts: None, order: None, first: 0 })
    }

    /// Every number becomes the first of `n`, each `stride` bytes after the one before it: the axes of a
    /// vector, or the eight cells of an oct. Number `i` of the new column is part `i % n` of item `i / n`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if a number lies outside the bytes of the column, if `n` is 0, or if
    /// the column has parts or is gathered already.
    pub fn with_parts(self, n: usize, stride: isize) -> Result<Self, Error> {
        let is_plain = self.parts.is_none() && self.order.is_none();
        if n == 0 || !is_plain || !self.values.fits(stride as i128 * (n as i128 - 1)) {
            let message = format!(
                "{n} parts, {stride} bytes apart, of each item: expected parts within the column's bytes"
            );
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        Ok(Self { parts: (n > 1).then_some(ColumnParts { n, stride }), ..self })
    }

    /// The items of this column at the indices `order`, in that order. An item is one number, or all its
    /// parts. Indices count from 0. Reads every index once.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if an index is not an integer or not that of an item, or if either
    /// column is gathered already.
    pub fn gathered(self, order: Column<'a>) -> Result<Self, Error> {
        self.gathered_from(0, order)
    }

    /// As [`Self::gathered`], with indices that count from `first`: 1 in Fortran.
    ///
    /// # Errors
    /// As [`Self::gathered`].
    pub fn gathered_from(self, first: i64, order: Column<'a>) -> Result<Self, Error> {
        let refused = |message: String| Err(Error::new(ErrorKind::InvalidArgument, message));
        if self.order.is_some() || order.order.is_some() || order.parts.is_some() {
            return refused("a gathered column; expected one that is not gathered yet".into());
        }
        let (least, end) = (i128::from(first), i128::from(first) + self.values.len as i128);
        let is_index = |i: &usize| order.integer(*i).is_some_and(|index| (least..end).contains(&index));
        if let Some(i) = (0..order.len()).into_par_iter().find_first(|i| !is_index(i)) {
            return refused(format!(
                "index {} of the list is {}; expected an integer from {least} to below {end}",
                i as i64 + first,
                order.real(i)
            ));
        }
        Ok(Self { order: Some(Order { items: order.values, first }), ..self })
    }

    /// Messages count the items of this column from `first` on: 1 in Fortran. Of a gathered column they name
    /// the indices of its list.
    #[must_use]
    pub fn counted_from(self, first: i64) -> Self {
        Self { first, ..self }
    }

    /// From where messages count the items of this column.
    pub fn first_index(&self) -> i64 {
        self.first
    }

    /// The caller's index of number `i`, or of its item if there are several numbers per item.
    pub(crate) fn index_of(&self, i: usize) -> i128 {
        let item = self.parts.map_or(i, |parts| parts.of(i).0);
        match self.order {
            None => item as i128 + i128::from(self.first),
            Some(order) => order.items.index(order.items.start(item)).into(),
        }
    }

    /// The caller's indices of number `i` of items that have `n` numbers each: of its item, and within it.
    pub(crate) fn place_of(&self, i: usize, n: usize) -> (i128, i128) {
        let part = (i % n) as i128 + i128::from(self.first);
        match self.parts {
            Some(_) => (self.index_of(i), part),
            // The numbers of an item are one after the other.
            None => ((i / n) as i128 + i128::from(self.first), part),
        }
    }

    /// Number of numbers.
    pub fn len(&self) -> usize {
        let n_items = self.order.map_or(self.values.len, |order| order.items.len);
        n_items * self.parts.map_or(1, |parts| parts.n)
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
        self.values.real(self.start(i))
    }

    /// Number `i`; `None` for a column of reals.
    ///
    /// # Panics
    /// When `i` is not below [`Self::len`].
    #[inline]
    pub fn integer(&self, i: usize) -> Option<i128> {
        assert!(i < self.len(), "number {i} of a column of {}", self.len());
        self.values.integer(self.start(i))
    }

    /// The first byte of number `i`.
    #[inline]
    fn start(&self, i: usize) -> usize {
        let (item, shift) = match self.parts {
            None => (i, 0),
            Some(parts) => {
                let (item, part) = parts.of(i);
                (item, parts.stride * part as isize)
            }
        };
        let item = self.order.map_or(item, |order| order.item(item));
        self.values.start(item).wrapping_add_signed(shift)
    }

    /// Writes number `index(i)` to `out[i]`, in parallel.
    pub(crate) fn copy(&self, index: impl Fn(usize) -> usize + Sync, out: &mut [f64]) {
        match (self.parts, self.order) {
            (None, None) => self.values.copy(|i| self.values.start(index(i)), out),
            _ => self.values.copy(|i| self.start(index(i)), out),
        }
    }

    /// Whether all numbers are good, in parallel.
    pub(crate) fn all(&self, is_good: impl Fn(f64) -> bool + Sync) -> bool {
        match (self.parts, self.order) {
            (None, None) => self.values.all(self.len(), |i| self.values.start(i), is_good),
            _ => self.values.all(self.len(), |i| self.start(i), is_good),
        }
    }

    /// All numbers as reals.
    pub(crate) fn to_reals(self) -> Vec<f64> {
        let mut reals = crate::chunks::zeros(self.len());
        self.copy(|i| i, &mut reals);
        reals
    }

    /// Writes number `i` to a part of `out[i]`, in parallel, where it is an integer of that type. Returns
    /// whether all numbers are.
    fn fill<T: TryFrom<i128>, U: Send>(&self, out: &mut [U], part: impl Fn(&mut U) -> &mut T + Sync) -> bool {
        match (self.parts, self.order) {
            (None, None) => self.values.fill(|i| self.values.start(i), out, part),
            _ => self.values.fill(|i| self.start(i), out, part),
        }
    }

    /// All numbers, which must be integers of this type.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] with the first other number; `what` names the column.
    pub(crate) fn to_integers<T: TryFrom<i128> + Pod + Send>(self, what: &str) -> Result<Vec<T>, Error> {
        let mut integers = crate::chunks::zeros(self.len());
        if self.fill(&mut integers, |integer| integer) {
            return Ok(integers);
        }
        let first = self.first_other::<T>().expect("one of them is no integer of this type");
        let index = self.index_of(first);
        let message = format!("{what} {index} is {}; expected an integer in range", self.real(first));
        Err(Error::new(ErrorKind::InvalidArgument, message))
    }

    /// All numbers as identities of particles, which have 64 bits without a sign. A host with signed integers
    /// has the identities above 2^63 as negative numbers, with the same bits.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] with the first number that is no such integer; `what` names the column.
    pub(crate) fn to_identities(self, what: &str) -> Result<Vec<u64>, Error> {
        self.to_integers::<Identity>(what).map(bytemuck::cast_vec)
    }

    /// The first number that is not an integer of this type.
    fn first_other<T: TryFrom<i128>>(&self) -> Option<usize> {
        let is_one = |value| T::try_from(value).is_ok();
        (0..self.len()).find(|i| !self.integer(*i).is_some_and(is_one))
    }
}

/// An identity of a particle, from an integer with or without a sign.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
struct Identity(u64);

impl TryFrom<i128> for Identity {
    type Error = std::num::TryFromIntError;

    fn try_from(number: i128) -> Result<Self, Self::Error> {
        u64::try_from(number).or_else(|_| i64::try_from(number).map(i64::cast_unsigned)).map(Self)
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

    /// All vectors, which must be of integers of this type.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if the axes differ in length, or with the first other vector; `what`
    /// names the vectors.
    pub(crate) fn to_integers<T: TryFrom<i128> + Pod + Send>(self, what: &str) -> Result<Vec<[T; 3]>, Error> {
        let mut vectors: Vec<[T; 3]> = crate::chunks::zeros(self.len(what)?);
        let mut axes = (0..3).zip(self.0);
        if axes.all(|(a, axis)| axis.fill(&mut vectors, |vector| &mut vector[a])) {
            return Ok(vectors);
        }
        let first =
            self.0.iter().filter_map(Column::first_other::<T>).min().expect("one of them is no integer");
        let vector = self.0.map(|axis| axis.real(first));
        let index = self.0[0].index_of(first);
        let message = format!("{what} {index} is {vector:?}; expected integers in range");
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
        assert_eq!(Column::from(&large).to_identities("identity").expect("one"), large);
        assert_eq!(Column::from(&negative).to_identities("identity").expect("two"), [1 << 63, u64::MAX]);
        assert!(Column::from(&reals).to_identities("identity").is_err());
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

    #[test]
    fn messages_name_the_index_of_the_caller() {
        let (numbers, list) = ([3_i32, 300, 4], [3_i32, 2]);
        let from_one = Column::from(&numbers).counted_from(1);
        let error = from_one.to_integers::<u8>("level").expect_err("300 is too much");
        assert_eq!(error.to_string(), "level 2 is 300; expected an integer in range");
        let gathered = from_one.gathered_from(1, Column::from(&list)).expect("a list");
        assert_eq!([0, 1].map(|i| gathered.index_of(i)), [3, 2]);
        let values = [0.0; 24];
        let row = Column::from(&values).counted_from(1);
        assert_eq!(row.place_of(17, 8), (3, 2));
    }

    /// Four octs in an array of structs of 3 numbers per cell, as two lists of octs pick them. The lists
    /// count from 1.
    #[test]
    fn parts_and_lists_from_one_reach_the_right_numbers() {
        let numbers: Vec<i32> = (0..4 * 8 * 3).collect();
        let bytes = bytemuck::cast_slice(&numbers);
        let first = Column::strided(bytes, NumberType::I32, 4, 4, 8 * 12).expect("it fits");
        let column = first.with_parts(8, 12).expect("it fits");
        assert_eq!(column.len(), 32);
        let picked = column.gathered_from(1, (&[4_i64, 1]).into()).expect("octs 3 and 0");
        let expected: Vec<f64> =
            (3..4).chain(0..1).flat_map(|oct| (0..8).map(move |c| f64::from(oct * 24 + c * 3 + 1))).collect();
        assert_eq!(picked.to_reals(), expected);
        assert_eq!(picked.integer(9), Some(4));
        assert!(column.gathered_from(1, (&[0_i64, 1]).into()).is_err());
        assert!(column.gathered_from(1, (&[5_i64]).into()).is_err());
        assert!(
            column.with_parts(2, 4).is_err()
                && first.with_parts(9, 12).is_err()
                && first.with_parts(0, 1).is_err()
        );
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
