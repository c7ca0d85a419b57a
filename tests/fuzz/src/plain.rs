//! Readers of RAMSES's files as one writes them in an afternoon: record by record, with no care for speed.
//!
//! They share nothing with the library. `None` says that the bytes are not what they should be.

use std::collections::HashMap;

/// An oct: level, position, split cells, and the bits of the values of each column.
#[derive(Debug, PartialEq, Eq)]
pub struct Oct {
    pub level: u8,
    pub position: [u32; 3],
    pub split: u8,
    pub values: Vec<[u64; 8]>,
}

/// The records of a Fortran file up to the first that is broken; at least one.
pub fn records(file: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (mut all, mut record, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(lead) = int(file, at) {
        let n = lead.unsigned_abs() as usize;
        let Some(content) = file.get(at + 4..at + 4 + n) else { break };
        let Some(trail) = int(file, at + 4 + n) else { break };
        if trail.unsigned_abs() as usize != n {
            break;
        }
        record.extend_from_slice(content);
        if lead >= 0 {
            all.push(std::mem::take(&mut record));
        }
        at += n + 8;
    }
    (!all.is_empty()).then_some(all)
}

fn int(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// All integers of a record.
fn ints(record: &[u8]) -> Vec<i64> {
    record.chunks_exact(4).map(|b| i64::from(i32::from_le_bytes(b.try_into().expect("four bytes")))).collect()
}

/// `n` reals of a record, of either precision.
fn reals(record: &[u8], n: usize) -> Option<Vec<f64>> {
    if record.len() == 4 * n {
        return Some(
            record
                .chunks_exact(4)
                .map(|b| f64::from(f32::from_le_bytes(b.try_into().expect("four bytes"))))
                .collect(),
        );
    }
    (record.len() == 8 * n).then(|| {
        record.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes"))).collect()
    })
}

/// Level, domain and number of octs of a block, with its records.
type Block<'a> = (usize, usize, usize, &'a [Vec<u8>]);

/// One amr file.
pub struct Amr {
    n_cpus: usize,
    pub n_levels: usize,
    n_boundaries: usize,
    counts: Vec<i64>,
    boundary_counts: Vec<i64>,
    blocks: Vec<Vec<u8>>,
}

impl Amr {
    pub fn read(file: &[u8]) -> Option<Self> {
        let all = records(file)?;
        let number = |i: usize| all.get(i).and_then(|r| ints(r).first().copied());
        let (n_cpus, n_levels, n_boundaries) =
            (number(0)? as usize, number(3)? as usize, number(5)? as usize);
        let counts = ints(all.get(21)?);
        let mut at = 23;
        let mut boundary_counts = Vec::new();
        if n_boundaries > 0 {
            boundary_counts = ints(all.get(25)?);
            at += 3;
        }
        // Free memory, then the name of the ordering.
        let ordering = String::from_utf8_lossy(all.get(at + 1)?).into_owned();
        at += match ordering.trim_matches(|c: char| c.is_whitespace() || c == '\0') {
            "bisection" => 2 + 5,
            "ksection" => 2 + 10,
            _ => 2 + 1,
        };
        let blocks = all.get(at + 3..)?.to_vec();
        Some(Self { n_cpus, n_levels, n_boundaries, counts, boundary_counts, blocks })
    }

    fn count(&self, level: usize, domain: usize) -> usize {
        let n = match domain.checked_sub(self.n_cpus) {
            None => self.counts.get(level * self.n_cpus + domain),
            Some(region) => self.boundary_counts.get(level * self.n_boundaries + region),
        };
        *n.unwrap_or(&0) as usize
    }

    pub fn has_boundaries(&self) -> bool {
        self.n_boundaries > 0
    }

    fn n_domains(&self) -> usize {
        self.n_cpus + self.n_boundaries
    }

    /// The records of the block of each level and domain, and how many octs it has.
    fn walk(&self) -> Option<Vec<Block<'_>>> {
        let mut at = 0;
        let mut walk = Vec::new();
        for level in 0..self.n_levels {
            for domain in 0..self.n_domains() {
                let n = self.count(level, domain);
                if n > 0 {
                    walk.push((level, domain, n, self.blocks.get(at..at + 3 + 3 + 1 + 6 + 24)?));
                    at += 3 + 3 + 1 + 6 + 24;
                }
            }
        }
        Some(walk)
    }

    /// The coarse cells in which `cpu` has an oct.
    pub fn coarse_cells(&self, cpu: usize) -> Option<Vec<[i64; 3]>> {
        let walk = self.walk();
        // What is after the first level does not matter here.
        let first = match &walk {
            Some(walk) => walk.iter().find(|(level, domain, ..)| (*level, *domain) == (0, cpu)),
            None => return self.coarse_cells_of_torn(cpu),
        };
        let Some((_, _, n, block)) = first else { return Some(vec![]) };
        centres(block, *n).map(|all| all.into_iter().map(|c| c.map(|x| x.floor() as i64)).collect())
    }

    fn coarse_cells_of_torn(&self, cpu: usize) -> Option<Vec<[i64; 3]>> {
        let before = (0..cpu).filter(|domain| self.count(0, *domain) > 0).count();
        let block = self.blocks.get(before * 37..before * 37 + 37)?;
        let n = self.count(0, cpu);
        centres(block, n).map(|all| all.into_iter().map(|c| c.map(|x| x.floor() as i64)).collect())
    }
}

fn centres(block: &[Vec<u8>], n: usize) -> Option<Vec<[f64; 3]>> {
    let along = [reals(&block[3], n)?, reals(&block[4], n)?, reals(&block[5], n)?];
    Some((0..n).map(|i| [along[0][i], along[1][i], along[2][i]]).collect())
}

/// The octs of `cpu` in its amr file, with all values of its other files, in the order of the files.
pub fn octs(amr: &Amr, values: &[CellFile], cpu: usize, first: [i64; 3]) -> Option<Vec<Oct>> {
    let mut octs = Vec::new();
    let mut at = vec![0; values.len()];
    let walk = amr.walk()?;
    for level in 0..amr.n_levels {
        for domain in 0..amr.n_domains() {
            let block = walk.iter().find(|b| (b.0, b.1) == (level, domain));
            let n = block.map_or(0, |b| b.2);
            let mut columns = Vec::new();
            for (file, at) in values.iter().zip(&mut at) {
                // Level and number of octs, then a record for each cell and variable.
                let end = *at + 2 + if n > 0 { 8 * file.n_vars } else { 0 };
                let records = file.blocks.get(*at + 2..end)?;
                *at = end;
                if n > 0 && domain == cpu {
                    columns.extend((0..file.n_vars).map(|var| {
                        (0..8)
                            .map(|cell| reals(&records[cell * file.n_vars + var], n))
                            .collect::<Option<Vec<_>>>()
                    }));
                }
            }
            if let (Some((_, _, n, block)), true) = (block, domain == cpu) {
                let columns: Vec<_> = columns.into_iter().collect::<Option<_>>()?;
                octs.extend(octs_of_block(level, *n, block, &columns, first)?);
            }
        }
    }
    Some(octs)
}

fn octs_of_block(
    level: usize,
    n: usize,
    block: &[Vec<u8>],
    columns: &[Vec<Vec<f64>>],
    first: [i64; 3],
) -> Option<Vec<Oct>> {
    let sons: Vec<_> = (13..21).map(|i| ints(&block[i])).collect();
    let octs = centres(block, n)?.into_iter().enumerate().map(|(i, centre)| {
        let place = |a: usize| ((centre[a] - first[a] as f64) * 2.0_f64.powi(level as i32)).floor() as u32;
        let split = (0..8).filter(|c| sons[*c][i] != 0).map(|c| 1 << c).sum();
        let values = columns.iter().map(|cells| std::array::from_fn(|c| cells[c][i].to_bits())).collect();
        Oct { level: level as u8 + 1, position: [place(0), place(1), place(2)], split, values }
    });
    Some(octs.collect())
}

/// A hydro or grav file.
pub struct CellFile {
    pub n_vars: usize,
    blocks: Vec<Vec<u8>>,
}

impl CellFile {
    pub fn read(file: &[u8], n_header: usize) -> Option<Self> {
        let all = records(file)?;
        Some(Self { n_vars: *ints(all.get(1)?).first()? as usize, blocks: all.get(n_header..)?.to_vec() })
    }
}

/// `name = value` lines; of those with one name the last.
pub fn lines(file: &[u8]) -> HashMap<String, String> {
    let text = String::from_utf8_lossy(file).into_owned();
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.trim().into(), value.trim().replace(['D', 'd'], "E"))).collect()
}

/// Names and letters of the columns of a descriptor of either kind, in the order of its lines.
pub fn described(file: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(file).into_owned();
    let mut columns = Vec::new();
    for line in text.lines() {
        if let Some((_, name)) = line.split_once(':').filter(|_| line.trim_start().starts_with("variable")) {
            columns.push((name.trim().into(), String::new()));
        } else if !line.trim().is_empty() && !line.trim_start().starts_with(['#', 'n']) {
            let words: Vec<_> = line.split(',').map(str::trim).collect();
            columns.push((words.get(1).unwrap_or(&"").to_string(), words.get(2).unwrap_or(&"").to_string()));
        }
    }
    columns
}

/// A count of 4 or 8 bytes.
pub fn count(record: &[u8]) -> Option<i64> {
    match record.len() {
        4 => Some(ints(record)[0]),
        _ => Some(i64::from_le_bytes(record.try_into().ok()?)),
    }
}

/// A column of a part file, each number as a real and as an integer.
pub type Numbers = Vec<(f64, i64)>;

/// The columns of a part file by name.
pub fn particles(file: &[u8], columns: &[(String, String)]) -> Option<HashMap<String, Numbers>> {
    let all = records(file)?;
    let n = count(all.get(2)?)? as usize;
    let mut found = HashMap::new();
    for ((name, letter), record) in columns.iter().zip(all.get(8..)?) {
        if n > 0 {
            found.entry(name.clone()).or_insert(numbers(record, n, letter)?);
        } else {
            found.entry(name.clone()).or_default();
        }
    }
    Some(found)
}

fn numbers(record: &[u8], n: usize, letter: &str) -> Option<Numbers> {
    let is_real = letter.is_empty() || letter.starts_with(['d', 'f']);
    let number = |bytes: &[u8]| match (bytes.len(), is_real) {
        (8, true) => {
            let x = f64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            (x, x as i64)
        }
        (4, true) => {
            let x = f64::from(f32::from_le_bytes(bytes.try_into().expect("four bytes")));
            (x, x as i64)
        }
        _ => {
            // The sign of the last byte fills what is missing to eight.
            let fill = if bytes[bytes.len() - 1] >= 0x80 { 0xff } else { 0 };
            let whole = i64::from_le_bytes(std::array::from_fn(|i| *bytes.get(i).unwrap_or(&fill)));
            (whole as f64, whole)
        }
    };
    (record.len().is_multiple_of(n) && [1, 2, 4, 8].contains(&(record.len() / n)))
        .then(|| record.chunks_exact(record.len() / n).map(number).collect())
}
