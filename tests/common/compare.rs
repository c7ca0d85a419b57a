//! Catalogues as bits, so that equal means equal; and their numbers.

use inselberg_io::catalogue::{Attribute, Catalogue, Table, Values};

/// The real attribute of this name.
pub fn real(catalogue: &Catalogue, name: &str) -> f64 {
    match catalogue.attribute(name) {
        Some(Attribute::Real(value)) => *value,
        other => panic!("{name}: {other:?}"),
    }
}

/// The bits of a column, component by component.
pub fn bits(values: &Values) -> Vec<u64> {
    match values {
        Values::U8(v) => v.iter().map(|&x| u64::from(x)).collect(),
        Values::U64(v) => v.clone(),
        Values::I64(v) => v.iter().map(|&x| x as u64).collect(),
        Values::F64(v) => v.iter().map(|x| x.to_bits()).collect(),
        Values::F32(v) => v.iter().map(|x| x.to_bits().into()).collect(),
        Values::F64x3(v) => v.iter().flatten().map(|x| x.to_bits()).collect(),
        Values::U32x3(v) => v.iter().flatten().map(|&x| u64::from(x)).collect(),
    }
}

/// Panics where two catalogues differ by a bit of anything but the attributes `run_*`.
pub fn assert_same(a: &Catalogue, b: &Catalogue, what: &str) {
    let plain = |c: &Catalogue| -> Vec<String> {
        c.attributes.iter().filter(|(n, _)| !n.starts_with("run_")).map(|a| format!("{a:?}")).collect()
    };
    assert_eq!(plain(a), plain(b), "{what}: attributes");
    let names = |c: &Catalogue| c.tables.iter().map(|t| t.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(a), names(b), "{what}: tables");
    a.tables.iter().zip(&b.tables).for_each(|(a, b)| assert_same_table(a, b, what));
}

/// Panics where two tables differ by a bit.
pub fn assert_same_table(a: &Table, b: &Table, what: &str) {
    assert_eq!(a.columns.len(), b.columns.len(), "{what}: columns of {}", a.name);
    for (x, y) in a.columns.iter().zip(&b.columns) {
        let place = format!("{what}: {}/{}", a.name, x.name);
        assert_eq!((&x.name, x.dimension, &x.description), (&y.name, y.dimension, &y.description), "{place}");
        assert_eq!(x.values.len(), y.values.len(), "{place}: rows");
        let (x, y) = (bits(&x.values), bits(&y.values));
        let differs = x.iter().zip(&y).position(|(x, y)| x != y);
        assert_eq!(differs, None, "{place}: first component that differs");
    }
}
