//! Where do numbers lie in the caller's memory?
//!
//! ```text
//!   data ─► part 0 of item 0, part 1, ...       parts are part_stride bytes apart
//!           part 0 of item 1, part 1, ...       items are item_stride bytes apart
//! ```
//!
//! A vector has three parts, the cells of an oct are eight.
#![allow(unsafe_code)]

use crate::message::refused;
use inselberg::{Column, Error, NumberType, VectorColumn};
use std::ffi::{CStr, c_char, c_void};

/// 32-bit real.
pub const INSELBERG_F32: i32 = 1;
/// 64-bit real.
pub const INSELBERG_F64: i32 = 2;
/// 8-bit signed integer.
pub const INSELBERG_I8: i32 = 3;
/// 16-bit signed integer.
pub const INSELBERG_I16: i32 = 4;
/// 32-bit signed integer.
pub const INSELBERG_I32: i32 = 5;
/// 64-bit signed integer.
pub const INSELBERG_I64: i32 = 6;
/// 8-bit unsigned integer.
pub const INSELBERG_U8: i32 = 7;
/// 16-bit unsigned integer.
pub const INSELBERG_U16: i32 = 8;
/// 32-bit unsigned integer.
pub const INSELBERG_U32: i32 = 9;
/// 64-bit unsigned integer.
pub const INSELBERG_U64: i32 = 10;

const TYPES: [(i32, NumberType); 10] = [
    (INSELBERG_F32, NumberType::F32),
    (INSELBERG_F64, NumberType::F64),
    (INSELBERG_I8, NumberType::I8),
    (INSELBERG_I16, NumberType::I16),
    (INSELBERG_I32, NumberType::I32),
    (INSELBERG_I64, NumberType::I64),
    (INSELBERG_U8, NumberType::U8),
    (INSELBERG_U16, NumberType::U16),
    (INSELBERG_U32, NumberType::U32),
    (INSELBERG_U64, NumberType::U64),
];

/// Numbers in the caller's memory, aligned or not, which the library reads. Fields that are not set must be
/// 0.
///
/// Several columns of one name are read one after the other, as if they were one. There may be one per level
/// of the mesh, for example.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct GivenColumn {
    /// What the numbers are: "density", "position", ... Each function lists its names.
    pub name: *const c_char,
    /// Part 0 of item 0. May be NULL if there are no items.
    pub data: *const c_void,
    /// Number of items in memory.
    pub items: i64,
    /// Bytes from an item to the next one. 0: parts and items are packed.
    pub item_stride: i64,
    /// Bytes from a part of an item to the next one. 0: parts are packed.
    pub part_stride: i64,
    /// A list of items to be read, in this order, packed. NULL: all items are read in order.
    pub index: *const c_void,
    /// Length of this list.
    pub index_count: i64,
    /// The index of the first item, in the list and in messages: 0 in C, 1 in Fortran.
    pub index_base: i64,
    /// Type of the numbers: INSELBERG_F64, ...
    pub number_type: i32,
    /// Type of the list: INSELBERG_I32, INSELBERG_I64, INSELBERG_U32 or INSELBERG_U64. Not used without a
    /// list.
    pub index_type: i32,
    /// Parts of each item, to be checked: 1, 3 or 8. 0: those that the call expects. Vectors may be three
    /// columns of 1 part: x, y and z.
    pub parts: i32,
}

/// Integers in the caller's memory, aligned or not, which the library writes. Fields that are not set must be
/// 0.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct OutputColumn {
    /// Part 0 of item 0. May be NULL if there are no items.
    pub data: *mut c_void,
    /// Number of items in memory.
    pub items: i64,
    /// As in inselberg_column.
    pub item_stride: i64,
    /// As in inselberg_column.
    pub part_stride: i64,
    /// A list of the items to be written, in this order. NULL: all.
    pub index: *const c_void,
    /// Length of this list.
    pub index_count: i64,
    /// The index of the first item.
    pub index_base: i64,
    /// Type of the numbers: INSELBERG_I32, INSELBERG_I64, INSELBERG_U32 or INSELBERG_U64.
    pub number_type: i32,
    /// Type of the list.
    pub index_type: i32,
    /// Parts of each item, to be checked: 1, 3 or 8. 0: those that the call expects.
    pub parts: i32,
}

/// The bytes from the lowest to the highest number of a column.
struct ByteExtent {
    /// The first of them, relative to `data`; 0 or less.
    low: isize,
    n_bytes: usize,
    items: usize,
    item_stride: isize,
    part_stride: isize,
}

/// The extent of `items` items of `n_parts` numbers of `size` bytes.
fn extent(items: i64, strides: [i64; 2], n_parts: usize, size: usize) -> Option<ByteExtent> {
    let packed = |stride: i64, packed: usize| if stride == 0 { packed as i64 } else { stride };
    let [item_stride, part_stride] = strides;
    let part_stride = packed(part_stride, size);
    let item_stride = packed(item_stride, n_parts * size);
    let last = [(item_stride, items - 1), (part_stride, n_parts as i64 - 1)]
        .map(|(stride, n)| i128::from(stride) * i128::from(n.max(0)));
    let low: i128 = last.iter().map(|end| (*end).min(0)).sum();
    let high = last.iter().map(|end| (*end).max(0)).sum::<i128>() + size as i128;
    Some(ByteExtent {
        low: isize::try_from(low).ok()?,
        n_bytes: isize::try_from(high - low).ok()? as usize,
        items: usize::try_from(items).ok()?,
        item_stride: isize::try_from(item_stride).ok()?,
        part_stride: isize::try_from(part_stride).ok()?,
    })
}

fn check_parts(stated: i32, expected: usize) -> Result<(), Error> {
    if stated == 0 || stated as usize == expected {
        return Ok(());
    }
    Err(refused(format!("{stated} parts per item; expected {expected}")))
}

fn number_type(number: i32) -> Result<NumberType, Error> {
    let found = TYPES.iter().find(|(known, _)| *known == number);
    found
        .map(|(_, kind)| *kind)
        .ok_or_else(|| refused(format!("number type {number}; expected INSELBERG_F64, ...")))
}

/// The column of an index list; `None` where there is none.
///
/// # Safety
/// The list is in memory that nobody writes while `'a` lasts.
unsafe fn index_list<'a>(index: *const c_void, count: i64, kind: i32) -> Result<Option<Column<'a>>, Error> {
    if index.is_null() && count == 0 {
        return Ok(None);
    }
    let kind = number_type(kind)?;
    let count = usize::try_from(count).map_err(|_| refused(format!("an index list of {count} entries")))?;
    // SAFETY: as the caller says.
    unsafe { packed(index, kind, count) }.map(Some)
}

/// A column of packed numbers.
///
/// # Safety
/// The numbers are in memory that nobody writes while `'a` lasts.
unsafe fn packed<'a>(data: *const c_void, kind: NumberType, len: usize) -> Result<Column<'a>, Error> {
    let n_bytes = len.checked_mul(kind.size()).filter(|n| *n <= isize::MAX as usize);
    let bytes = match n_bytes {
        Some(0) => &[],
        Some(n) if !data.is_null() => {
            // SAFETY: the caller says that the numbers are there, and this is their size.
            unsafe { std::slice::from_raw_parts(data.cast::<u8>(), n) }
        }
        _ => return Err(refused(format!("{len} numbers at NULL; expected an address"))),
    };
    Column::strided(bytes, kind, len, 0, kind.size() as isize)
}

/// Adds the index list of a column, if it has one.
///
/// # Safety
/// As [`index_list`].
unsafe fn gathered<'a>(
    column: Column<'a>,
    index: *const c_void,
    count: i64,
    kind: i32,
    base: i64,
) -> Result<Column<'a>, Error> {
    // SAFETY: as the caller says.
    match unsafe { index_list(index, count, kind) }? {
        Some(order) => column.gathered_from(base, order),
        None => Ok(column),
    }
}

impl GivenColumn {
    /// The name of the column.
    ///
    /// # Safety
    /// The name is NULL or ends with a zero byte, and nobody writes it while `'a` lasts.
    pub(crate) unsafe fn name<'a>(&self) -> Result<&'a str, Error> {
        // SAFETY: as the caller says.
        unsafe { text(self.name) }.map_err(|_| refused("a column without a name; expected plain text"))
    }

    /// The numbers of items of `n_parts` parts.
    ///
    /// # Safety
    /// All numbers, and the index list, are in memory that nobody writes while `'a` lasts.
    pub(crate) unsafe fn numbers<'a>(&self, n_parts: usize) -> Result<Column<'a>, Error> {
        let (extent, kind) = (self.extent(n_parts)?, number_type(self.number_type)?);
        let packed_strides = [n_parts * kind.size(), kind.size()].map(|stride| stride as isize);
        let is_packed = [extent.item_stride, extent.part_stride] == packed_strides;
        if is_packed && self.index.is_null() && self.index_count == 0 {
            // One row without gaps, which is read faster than parts of items.
            // SAFETY: as the caller says.
            let row = unsafe { packed(self.data, kind, extent.items * n_parts) }?;
            return Ok(row.counted_from(self.index_base));
        }
        // SAFETY: as the caller says; the first part is one of the numbers.
        let [column] = unsafe { self.strided([0], n_parts) }?;
        let column = match n_parts {
            1 => column,
            _ => column.with_parts(n_parts, self.part_stride(n_parts)?)?,
        };
        // SAFETY: as the caller says.
        unsafe { gathered(column, self.index, self.index_count, self.index_type, self.index_base) }
    }

    /// The vectors of three parts.
    ///
    /// # Safety
    /// As [`Self::numbers`].
    pub(crate) unsafe fn vectors<'a>(&self) -> Result<VectorColumn<'a>, Error> {
        // SAFETY: as the caller says.
        let [x, y, z] = unsafe { self.strided([0, 1, 2], 3) }?;
        // SAFETY: as the caller says.
        let axis =
            |axis| unsafe { gathered(axis, self.index, self.index_count, self.index_type, self.index_base) };
        Ok(VectorColumn([axis(x)?, axis(y)?, axis(z)?]))
    }

    /// Whether nothing says how many parts an item has.
    fn is_silent(&self) -> bool {
        self.parts == 0 && self.item_stride == 0 && self.part_stride == 0
    }

    fn extent(&self, n_parts: usize) -> Result<ByteExtent, Error> {
        check_parts(self.parts, n_parts)?;
        let size = number_type(self.number_type)?.size();
        let extent = extent(self.items, [self.item_stride, self.part_stride], n_parts, size);
        let extent = extent.filter(|extent| extent.items == 0 || !self.data.is_null());
        extent.ok_or_else(|| {
            refused(format!("a column of {} items at {:?}; expected memory", self.items, self.data))
        })
    }

    fn part_stride(&self, n_parts: usize) -> Result<isize, Error> {
        Ok(self.extent(n_parts)?.part_stride)
    }

    /// Some of the parts of all items.
    ///
    /// # Safety
    /// As [`Self::numbers`].
    unsafe fn strided<'a, const N: usize>(
        &self,
        parts: [usize; N],
        n_parts: usize,
    ) -> Result<[Column<'a>; N], Error> {
        let kind = number_type(self.number_type)?;
        let extent = self.extent(n_parts)?;
        let bytes = match extent.items {
            0 => &[],
            // SAFETY: from the lowest to the highest number, which the caller says are there.
            _ => unsafe {
                let low = self.data.cast::<u8>().offset(extent.low);
                std::slice::from_raw_parts(low, extent.n_bytes)
            },
        };
        let column = |part: usize| {
            let offset = extent.part_stride * part as isize - extent.low;
            Column::strided(bytes, kind, extent.items, offset as usize, extent.item_stride)
        };
        let mut columns = [const { None }; N];
        for (place, part) in columns.iter_mut().zip(parts) {
            *place = Some(column(part)?.counted_from(self.index_base));
        }
        Ok(columns.map(|column| column.expect("all parts are there")))
    }
}

impl OutputColumn {
    /// Number of items to be written.
    pub(crate) fn n_items(&self) -> Result<usize, Error> {
        let n = if self.index.is_null() { self.items } else { self.index_count };
        usize::try_from(n).map_err(|_| refused(format!("an output of {n} items; expected 0 or more")))
    }

    /// Writes `n_parts` numbers per item, in order.
    ///
    /// # Safety
    /// All items are in memory that nobody else uses during the call. The index list is as in
    /// [`GivenColumn::numbers`].
    pub(crate) unsafe fn write(
        &self,
        n_parts: usize,
        numbers: impl ExactSizeIterator<Item = u64>,
    ) -> Result<(), Error> {
        check_parts(self.parts, n_parts)?;
        let kind = number_type(self.number_type)?;
        let most = match kind {
            NumberType::I32 => i32::MAX as u64,
            NumberType::U32 => u32::MAX.into(),
            NumberType::I64 => i64::MAX as u64,
            NumberType::U64 => u64::MAX,
            _ => return Err(refused("labels of another type; expected INSELBERG_I32, _I64, _U32 or _U64")),
        };
        let extent = extent(self.items, [self.item_stride, self.part_stride], n_parts, kind.size());
        let extent = extent.filter(|extent| extent.items == 0 || !self.data.is_null());
        let extent =
            extent.ok_or_else(|| refused(format!("an output of {} items; expected memory", self.items)))?;
        // SAFETY: as the caller says.
        let order = unsafe { index_list(self.index, self.index_count, self.index_type) }?;
        if let Some(order) = order {
            check_order(order, self.index_base, extent.items)?;
        }
        for (i, number) in numbers.enumerate() {
            if number > most {
                return Err(refused(format!("label {number} does not fit into the type of the output")));
            }
            let item = match order {
                None => i / n_parts,
                Some(order) => {
                    (order.integer(i / n_parts).expect("checked") - i128::from(self.index_base)) as usize
                }
            };
            let shift = extent.item_stride * item as isize + extent.part_stride * (i % n_parts) as isize;
            // SAFETY: the item is one of those in memory, as was checked, and the type has this size.
            unsafe {
                let place = self.data.cast::<u8>().offset(shift);
                match kind.size() {
                    4 => place.cast::<u32>().write_unaligned(number as u32),
                    _ => place.cast::<u64>().write_unaligned(number),
                }
            }
        }
        Ok(())
    }
}

/// Checks that an order has items below `items` only.
fn check_order(order: Column, base: i64, items: usize) -> Result<(), Error> {
    let (least, end) = (i128::from(base), i128::from(base) + items as i128);
    let is_item = |i: &usize| order.integer(*i).is_some_and(|index| (least..end).contains(&index));
    match (0..order.len()).find(|i| !is_item(i)) {
        None => Ok(()),
        Some(i) => {
            let index = order.real(i);
            let i = i as i128 + least;
            Err(refused(format!(
                "index {i} of the list is {index}; expected an integer from {least} to below {end}"
            )))
        }
    }
}

/// How many numbers an item of a column has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ItemShape {
    /// A number of values: eight per oct.
    Values(usize),
    /// A vector along three axes.
    Vector,
}

/// The columns of a call: the name of each, and a column per axis.
pub(crate) type NamedColumns<'a> = Vec<(&'a str, Vec<Column<'a>>)>;

/// The columns that a call gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GivenColumns {
    columns: *const GivenColumn,
    n: i64,
}

// SAFETY: they are only read, and `new` says that nobody writes them.
unsafe impl Send for GivenColumns {}

impl GivenColumns {
    /// # Safety
    /// There are `n` columns at `columns`, with names that end with a zero byte and numbers and lists in
    /// memory. Nobody writes any of this until the call that gets them returns.
    pub(crate) unsafe fn new(columns: *const GivenColumn, n: i64) -> Self {
        Self { columns, n }
    }

    /// The columns and their names. They are used until the call returns.
    fn named<'a>(self) -> Result<Vec<(&'a str, GivenColumn)>, Error> {
        let Self { columns, n } = self;
        let n = usize::try_from(n).map_err(|_| refused(format!("{n} columns; expected 0 or more")))?;
        if columns.is_null() && n > 0 {
            return Err(refused(format!("{n} columns at NULL; expected an address")));
        }
        let mut given = Vec::new();
        for i in 0..n {
            // SAFETY: the caller of `new` says that there are `n` columns.
            let column = unsafe { columns.add(i).read_unaligned() };
            // SAFETY: as `new` says.
            given.push((unsafe { column.name() }?, column));
        }
        Ok(given)
    }

    /// Columns of any name, with `n_parts` values per item.
    pub(crate) fn read_values<'a>(self, n_parts: usize) -> Result<NamedColumns<'a>, Error> {
        let values = |(name, column): (&'a str, GivenColumn)| {
            // SAFETY: as `new` says.
            let values = unsafe { column.numbers(n_parts) };
            Ok((name, vec![values.map_err(|error| of_column(name, &error))?]))
        };
        self.named()?.into_iter().map(values).collect()
    }

    /// The columns, whose names and shapes must be among `known`.
    pub(crate) fn read<'a>(self, known: &[(&'static str, ItemShape)]) -> Result<NamedColumns<'a>, Error> {
        let given = self.named()?;
        let mut named = NamedColumns::new();
        for (name, column) in &given {
            let Some((name, shape)) = known.iter().find(|(known, _)| known == name) else {
                let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
                return Err(refused(format!("a column {name:?}; expected {}", names.join(", "))));
            };
            let is_repeated = given.iter().filter(|(other, _)| other == name).count() > 1;
            if matches!(shape, ItemShape::Vector) && is_repeated && column.is_silent() {
                return Err(refused(format!(
                    "several columns {name} without parts and strides; expected parts = 3 in each, or x, y and z with parts = 1"
                )));
            }
            // SAFETY: as `new` says.
            let axes = unsafe {
                match shape {
                    ItemShape::Values(n_parts) => column.numbers(*n_parts).map(|column| vec![column]),
                    ItemShape::Vector if column.parts == 1 => column.numbers(1).map(|axis| vec![axis]),
                    ItemShape::Vector => column.vectors().map(|VectorColumn(axes)| axes.to_vec()),
                }
            };
            named.push((name, axes.map_err(|error| of_column(name, &error))?));
        }
        joined_axes(named, known)
    }
}

/// An error about a column.
pub(crate) fn of_column(name: &str, error: &Error) -> Error {
    Error::new(error.kind(), format!("column {name}: {error}"))
}

/// Three columns of one part are the axes of one column of vectors.
fn joined_axes<'a>(
    named: NamedColumns<'a>,
    known: &[(&'static str, ItemShape)],
) -> Result<NamedColumns<'a>, Error> {
    let is_axis = |name: &str, axes: &[Column]| {
        axes.len() == 1
            && known.iter().any(|(known, shape)| *known == name && matches!(shape, ItemShape::Vector))
    };
    let (axes, mut joined): (NamedColumns, NamedColumns) =
        named.into_iter().partition(|(name, axes)| is_axis(name, axes));
    for (name, _) in known {
        let of_name: Vec<Column> =
            axes.iter().filter(|(other, _)| other == name).flat_map(|(_, axes)| axes.clone()).collect();
        let has_vectors = joined.iter().any(|(other, _)| other == name);
        match of_name.len() {
            0 => {}
            3 if !has_vectors => joined.push((name, of_name)),
            n => {
                return Err(refused(format!(
                    "column {name}: {n} columns with parts = 1; expected three, for x, y and z, and no others"
                )));
            }
        }
    }
    Ok(joined)
}

/// A text of the caller.
///
/// # Safety
/// It is NULL or ends with a zero byte, and nobody writes it while `'a` lasts.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, Error> {
    if text.is_null() {
        return Err(refused("a text at NULL; expected an address"));
    }
    // SAFETY: as the caller says.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| refused("a text that is no UTF-8"))
}
