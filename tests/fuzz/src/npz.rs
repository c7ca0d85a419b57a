//! Arrays by name: an error, or as many rows as the header says.

use crate::changes::{Script, change_bytes};
use inselberg_io::particles::{Columns, Positions, open_particles};
use std::fs;

#[path = "../../common/npy.rs"]
mod npy_file;
#[path = "../../common/zip.rs"]
mod zip;

use npy_file::npy_file;
use zip::{Member, zip_file};

pub fn target(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let [kind] = script.bytes();
    let path = crate::folder().join("a.npz");
    fs::write(&path, change_bytes(&base(kind), &mut script)).expect("writing");
    let Ok(input) = open_particles(&[path]) else { return };
    let species = &input.about().species[0];
    let position = Positions::with_capacity(species.is_double, 0);
    let (mass, id, velocity) = (Some(Vec::new()), Some(Vec::new()), Some(Vec::new()));
    let mut columns = Columns { position, mass, id, kind: None, velocity, density: None };
    let n = species.n;
    if input.read(0, 0..n, &mut columns).is_err() {
        return;
    }
    crate::compared();
    let lengths = [
        columns.position.len(),
        columns.mass.map_or(0, |list| list.len()),
        columns.id.map_or(0, |list| list.len()),
        columns.velocity.map_or(0, |list| list.len()),
    ];
    assert_eq!(lengths, [n as usize; 4]);
}

/// A sound file of six particles.
fn base(kind: u8) -> Vec<u8> {
    let (is_deflated, fortran) = (kind & 1 == 1, kind & 2 == 2);
    let member = |name, bytes| Member { name, bytes, is_deflated };
    zip_file(&[
        member("pos.npy", npy_file(&[6, 3], fortran, "<f8", |at| at[0] as f64 + at[1] as f64 / 4.0)),
        member("ids.npy", npy_file(&[6], false, ">i4", |at| at[0] as f64 - 2.0)),
        member("mass.npy", npy_file(if kind & 4 == 0 { &[6] } else { &[] }, false, "<f4", |_| 1.5)),
    ])
}
