//! Gadget's binary snapshots without labels: an error, or as many particles as the header says.

use crate::changes::{Script, change_bytes};
use inselberg_io::particles::{Columns, Positions, open_particles};
use std::fs;

/// Particles of dark matter in a sound file.
const N: usize = 5;

pub fn target(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let path = crate::folder().join("snapshot_003");
    let is_gadget_4 = bytes.first().is_some_and(|byte| byte % 2 == 1);
    fs::write(&path, change_bytes(&base(is_gadget_4), &mut script)).expect("writing");
    let Ok(input) = open_particles(std::slice::from_ref(&path)) else { return };
    for (i, species) in input.about().species.iter().enumerate() {
        let position = Positions::with_capacity(true, 0);
        let (id, mass) = (Some(Vec::new()), Some(Vec::new()));
        let mut columns = Columns { position, mass, id, kind: None, velocity: None, density: None };
        input.read(i, 0..species.n, &mut columns).expect("blocks that were found can be read");
        crate::compared();
        assert_eq!(columns.position.len() as u64, species.n);
    }
}

/// A sound file: GIZMO's blocks behind a header of Gadget-2, or those of Gadget-4 behind its own.
fn base(is_gadget_4: bool) -> Vec<u8> {
    let mut file = Vec::new();
    let mut put = |block: &[u8]| {
        let marker = (block.len() as u32).to_le_bytes();
        [&marker[..], block, &marker[..]].into_iter().for_each(|part| file.extend(part));
    };
    put(&if is_gadget_4 { gadget_4_header() } else { gadget_2_header() });
    let triples = |x: f32| (0..3 * N).flat_map(move |i| (x + i as f32).to_le_bytes()).collect::<Vec<u8>>();
    put(&triples(0.5));
    put(&triples(-3.0));
    put(&(1..=N as u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
    if !is_gadget_4 {
        put(&[0; 4 * N]);
        put(&[0; 4 * N]);
    }
    put(&[0.25f32; N].iter().flat_map(|mass| mass.to_le_bytes()).collect::<Vec<u8>>());
    file
}

fn reals(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn gadget_2_header() -> Vec<u8> {
    let counts = [0, N as u32, 0, 0, 0, 0].map(u32::to_le_bytes).concat();
    let flags = [0u8; 8];
    let after = [0u32, 1].map(u32::to_le_bytes).concat();
    let masses = reals(&[0.0; 6]);
    let mut header =
        [&counts[..], &masses, &reals(&[0.5, 1.0]), &flags, &counts, &after, &reals(&[20.0, 0.3, 0.7, 0.7])]
            .concat();
    header.resize(256, 0);
    header
}

fn gadget_4_header() -> Vec<u8> {
    let counts = [0, N as u64, 0, 0, 0, 0].map(u64::to_le_bytes).concat();
    let numbers = reals(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 1.0, 20.0]);
    let mut header = [&counts[..], &counts, &numbers, &1u32.to_le_bytes()].concat();
    header.resize(192, 0);
    header
}
