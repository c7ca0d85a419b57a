//! The checksum of all content of a catalogue.

use super::text::attribute_text;
use crate::catalogue::units::unit_name;
use crate::catalogue::{Catalogue, TableColumn, Values};

/// FNV-1a over words of names, types, units, descriptions and values. All NaN are equal, as they are in the
/// files.
pub fn checksum(catalogue: &Catalogue) -> u64 {
    let mut sum = CsvSum(0xcbf2_9ce4_8422_2325);
    for (name, value) in &catalogue.attributes {
        sum.add_text(name);
        sum.add_text(&attribute_text(value));
    }
    for table in &catalogue.tables {
        sum.add_text(&table.name);
        table.columns.iter().for_each(|column| sum.add_column(column));
    }
    sum.0
}

struct CsvSum(u64);

impl CsvSum {
    fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
    }

    fn add_text(&mut self, text: &str) {
        self.add(text.len() as u64);
        text.bytes().for_each(|b| self.add(b.into()));
    }

    fn add_real(&mut self, x: f64) {
        self.add(if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() });
    }

    fn add_column(&mut self, column: &TableColumn) {
        let values = &column.values;
        self.add_text(&column.name);
        self.add_text(values.type_name());
        self.add_text(&unit_name(column.dimension));
        self.add_text(&column.description);
        self.add(values.len() as u64);
        match values {
            Values::U8(v) => v.iter().for_each(|x| self.add((*x).into())),
            Values::U64(v) => v.iter().for_each(|x| self.add(*x)),
            Values::I64(v) => v.iter().for_each(|x| self.add(x.cast_unsigned())),
            Values::F64(v) => v.iter().for_each(|x| self.add_real(*x)),
            // Different values are different as doubles, except NaN.
            Values::F32(v) => v.iter().for_each(|x| self.add_real((*x).into())),
            Values::F64x3(v) => v.iter().flatten().for_each(|x| self.add_real(*x)),
            Values::U32x3(v) => v.iter().flatten().for_each(|x| self.add((*x).into())),
        }
    }
}
