//! RAMSES's own answers: its label of every leaf and the rows of its clump and halo files.

use super::{Place, open};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Rows of numbers of one kind of text file, over all ranks.
pub fn rows(folder: &Path, kind: &str) -> Vec<Vec<f64>> {
    let mut rows = Vec::new();
    for path in files(folder, &format!("{kind}_"), ".txt0") {
        let text = std::fs::read_to_string(&path).expect("a text file");
        let numbers = |line: &str| line.split_whitespace().map(|w| w.parse().expect("a number")).collect();
        rows.extend(text.lines().skip(1).map(numbers));
    }
    rows
}

/// RAMSES's clump of every leaf of `output`, from the label fields in `folder`; 0 for none.
pub fn labels(output: &Path, folder: &Path) -> BTreeMap<Place, u64> {
    let snapshot = open(output);
    let fields = files(folder, "clump_field_", ".out");
    let mut labels = BTreeMap::new();
    for (piece, path) in fields.iter().enumerate() {
        let stored = own_octs(&std::fs::read(path).expect("a label field"), piece);
        let mut next = BTreeMap::new();
        snapshot
            .octs(piece, &[], &mut |block| {
                let at = next.entry(block.level).or_insert(0);
                for (i, position) in block.position.iter().enumerate() {
                    for cell in (0..8u32).filter(|c| block.split[i] >> c & 1 == 0) {
                        let place = std::array::from_fn(|a| 2 * position[a] + (cell >> a & 1));
                        labels.insert((block.level, place), stored[&block.level][*at][cell as usize]);
                    }
                    *at += 1;
                }
                Ok(())
            })
            .expect("octs");
    }
    labels
}

/// The labels of a file's own octs, by level in file order. Each level has a block for each CPU, then one for
/// each boundary region.
fn own_octs(bytes: &[u8], own: usize) -> BTreeMap<u8, Vec<[u64; 8]>> {
    let blocks = blocks(bytes);
    let n_domains = blocks.iter().take_while(|(level, _)| *level == blocks[0].0).count();
    blocks.into_iter().skip(own).step_by(n_domains).collect()
}

/// Level and labels of each block.
fn blocks(bytes: &[u8]) -> Vec<(u8, Vec<[u64; 8]>)> {
    let mut octs = Vec::new();
    let mut at = 0;
    let mut record = || {
        let word = |i: usize| u32::from_le_bytes(bytes[i..i + 4].try_into().expect("four bytes"));
        let n = word(at) as usize;
        let values: Vec<u32> = (at + 4..at + 4 + n).step_by(4).map(word).collect();
        at += n + 8;
        (values, at >= bytes.len())
    };
    loop {
        let level = record().0[0] as u8;
        let (count, mut last) = record();
        let mut block = vec![[0; 8]; count[0] as usize];
        for cell in 0..if count[0] > 0 { 8 } else { 0 } {
            let values;
            (values, last) = record();
            for (oct, value) in block.iter_mut().zip(values) {
                oct[cell] = u64::from(value);
            }
        }
        octs.push((level, block));
        if last {
            return octs;
        }
    }
}

fn files(folder: &Path, start: &str, middle: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            name.starts_with(start) && name.contains(middle)
        })
        .collect();
    found.sort();
    found
}
