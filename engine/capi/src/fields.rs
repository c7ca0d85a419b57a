//! Which columns did a call get, by name?
//!
//! A column that is given once is read where it lies. Several columns of one name are copied, one after the
//! other.

use crate::given::{NamedColumns, of_column};
use crate::message::refused;
use inselberg::{Column, Error, NumberType, VectorColumn};

/// The columns of a call.
pub struct Fields<'a>(Vec<(&'a str, Vec<Joined<'a>>)>);

/// One column, or the numbers of several. Messages count these from the base of the first column on.
struct Joined<'a> {
    numbers: Numbers<'a>,
    first: i64,
}

/// See [`Joined`].
enum Numbers<'a> {
    One(Column<'a>),
    Integers(Vec<u64>),
    Singles(Vec<f32>),
    Doubles(Vec<f64>),
}

impl<'a> Joined<'a> {
    fn new(parts: &[Column<'a>]) -> Result<Self, Error> {
        let first = parts.first().map_or(0, Column::first_index);
        Ok(Self { numbers: Numbers::new(parts)?, first })
    }

    fn column(&self) -> Column<'_> {
        match &self.numbers {
            Numbers::One(column) => *column,
            Numbers::Integers(numbers) => Column::from(numbers).counted_from(self.first),
            Numbers::Singles(numbers) => Column::from(numbers).counted_from(self.first),
            Numbers::Doubles(numbers) => Column::from(numbers).counted_from(self.first),
        }
    }
}

impl<'a> Numbers<'a> {
    fn new(parts: &[Column<'a>]) -> Result<Self, Error> {
        if let [one] = parts {
            return Ok(Self::One(*one));
        }
        let is_real = |part: &Column| matches!(part.number_type(), NumberType::F32 | NumberType::F64);
        let reals = || parts.iter().flat_map(|part| (0..part.len()).map(|i| part.real(i)));
        if parts.iter().all(|part| part.number_type() == NumberType::F32) {
            return Ok(Self::Singles(reals().map(|number| number as f32).collect()));
        }
        if parts.iter().any(is_real) {
            return Ok(Self::Doubles(reals().collect()));
        }
        let integers = parts.iter().flat_map(|part| (0..part.len()).filter_map(|i| part.integer(i)));
        let natural = integers.map(u64::try_from).collect::<Result<_, _>>();
        natural.map(Self::Integers).map_err(|_| refused("a negative number; expected 0 or more"))
    }
}

impl<'a> Fields<'a> {
    /// Joins columns of one name.
    ///
    /// # Errors
    /// When one of several integer columns has a negative number.
    pub fn new(given: &NamedColumns<'a>) -> Result<Self, Error> {
        let mut fields = Self(Vec::new());
        for (name, axes) in given {
            if fields.axes(name).is_some() {
                continue;
            }
            let all = || given.iter().filter(|(other, _)| other == name);
            let joined = |axis: usize| Joined::new(&all().map(|(_, axes)| axes[axis]).collect::<Vec<_>>());
            let joined = (0..axes.len()).map(joined).collect::<Result<_, _>>();
            fields.0.push((name, joined.map_err(|error| of_column(name, &error))?));
        }
        Ok(fields)
    }

    fn axes(&self, name: &str) -> Option<&[Joined<'a>]> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, axes)| axes.as_slice())
    }

    /// All columns of values, in the order in which they were given.
    pub fn all_values(&self) -> Vec<(&'a str, Column<'_>)> {
        self.0.iter().map(|(name, axes)| (*name, axes[0].column())).collect()
    }

    /// The values of this name.
    pub fn values(&self, name: &str) -> Option<Column<'_>> {
        self.axes(name).map(|axes| axes[0].column())
    }

    /// The vectors of this name.
    pub fn vectors(&self, name: &str) -> Option<VectorColumn<'_>> {
        match self.axes(name)? {
            [x, y, z] => Some(VectorColumn([x.column(), y.column(), z.column()])),
            _ => None,
        }
    }
}

/// A column that must be there.
///
/// # Errors
/// When it is not.
pub fn required<T>(name: &str, found: Option<T>) -> Result<T, Error> {
    found.ok_or_else(|| refused(format!("no column {name}; expected one")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_one_name_are_one() {
        let (a, b, c) = ([1_i32, 2], [3_u64], [0.5_f32]);
        let given = vec![
            ("level", vec![Column::from(&a)]),
            ("density", vec![Column::from(&c)]),
            ("level", vec![Column::from(&b)]),
            ("density", vec![Column::from(&c)]),
        ];
        let fields = Fields::new(&given).expect("fields");
        let level = fields.values("level").expect("levels");
        assert_eq!((0..3).map(|i| level.integer(i)).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
        let density = fields.values("density").expect("densities");
        assert_eq!((density.len(), density.number_type(), density.real(1)), (2, NumberType::F32, 0.5));
        assert!(required("mass", fields.values("mass")).is_err());
        let negative = [-1_i32];
        let given = vec![("level", vec![Column::from(&a)]), ("level", vec![Column::from(&negative)])];
        assert!(Fields::new(&given).is_err());
    }
}
