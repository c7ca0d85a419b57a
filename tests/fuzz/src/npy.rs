//! NumPy arrays: an error, or the numbers that stand behind the header.

use crate::changes::{Script, change_bytes};
use inselberg_io::particles::{Columns, Positions, open_particles};
use std::fs;

pub fn target(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let [kind] = script.bytes();
    let file = change_bytes(&base(kind), &mut script);
    let path = crate::folder().join("a.npy");
    fs::write(&path, &file).expect("writing");
    let Ok(input) = open_particles(&[path]) else { return };
    let species = &input.about().species[0];
    let position = Positions::with_capacity(species.is_double, 0);
    let mut columns = Columns { position, mass: None, id: None, kind: None, velocity: None, density: None };
    let n = species.n;
    if input.read(0, 0..n, &mut columns).is_err() {
        return;
    }
    crate::compared();
    let plain = plain(&file).expect("the plain reader reads what the library reads");
    assert_eq!(columns.position.len() as u64, n);
    let read: Vec<_> =
        (0..columns.position.len()).map(|i| columns.position.get(i).map(f64::to_bits)).collect();
    assert_eq!(read, plain);
}

/// A sound array of five positions.
fn base(kind: u8) -> Vec<u8> {
    let (descr, is_double) =
        [("<f8", true), ("<f4", false), (">f8", true), (">f4", false)][usize::from(kind % 4)];
    let order = if kind & 4 == 0 { "False" } else { "True" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': (5, 3), }}");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16 + 1).to_le_bytes());
    file.extend(header.bytes().chain([b'\n']));
    for i in 0..15 {
        let x = f64::from(i) / 4.0;
        let mut number = if is_double { x.to_le_bytes().to_vec() } else { (x as f32).to_le_bytes().to_vec() };
        if descr.starts_with('>') {
            number.reverse();
        }
        file.extend(number);
    }
    file
}

/// The bits of the positions, by the words of the header that matter.
fn plain(file: &[u8]) -> Option<Vec<[u64; 3]>> {
    let start = if file[6] == 1 { 10 } else { 12 };
    let length = match start {
        10 => usize::from(u16::from_le_bytes(file[8..10].try_into().ok()?)),
        _ => u32::from_le_bytes(file[8..12].try_into().ok()?) as usize,
    };
    let header = String::from_utf8_lossy(file.get(start..start + length)?).into_owned();
    let header: String = header.split_whitespace().collect();
    let after = |key: &str| header.split_once(key).map(|(_, rest)| rest.trim_start_matches(['\'', '"', ':']));
    let n: usize = after("shape")?.trim_start_matches('(').split(',').next()?.trim().parse().ok()?;
    let descr = after("descr")?.get(..3)?.to_string();
    let order = after("fortran_order")?;
    let by_columns = order.starts_with("True");
    (by_columns || order.starts_with("False")).then_some(())?;
    let size = if descr.ends_with('8') { 8 } else { 4 };
    let data = &file[start + length..];
    let number = |i: usize| {
        let mut bytes = data[i * size..(i + 1) * size].to_vec();
        if descr.starts_with('>') {
            bytes.reverse();
        }
        match size {
            8 => f64::from_le_bytes(bytes.try_into().expect("eight bytes")),
            _ => f64::from(f32::from_le_bytes(bytes.try_into().expect("four bytes"))),
        }
    };
    (data.len() == 3 * n * size).then(|| {
        (0..n)
            .map(|i| [0, 1, 2].map(|a| number(if by_columns { a * n + i } else { 3 * i + a }).to_bits()))
            .collect()
    })
}
