//! AMReX plotfiles written by hand, after the description of the format.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// How a plotfile is written.
#[derive(Debug, Clone)]
pub struct Plotfile {
    /// Cells of the coarsest level.
    pub root: [i64; 3],
    /// The lowest cell of its domain.
    pub first: [i64; 3],
    /// The ratio of each finer level to the next coarser one.
    pub ratios: Vec<i64>,
    /// For each level, lowest cell (relative to that of the domain) and size of the boxes.
    pub boxes: Vec<Vec<([i64; 3], [i64; 3])>>,
    pub single: bool,
    pub big_endian: bool,
    /// Version of `Cell_H`, 1 to 4.
    pub version: u32,
    pub ghosts: i64,
    pub files: usize,
}

/// A cell by level of the plotfile and position from the lowest cell of the domain.
pub type Cells = BTreeMap<(usize, [i64; 3]), f64>;

impl Plotfile {
    /// Three levels: a box at odd cells, and one that is refined by 4.
    pub fn sample() -> Self {
        Self {
            root: [6, 10, 4],
            first: [-3, 5, 100],
            ratios: vec![2, 4],
            boxes: vec![
                vec![([0, 0, 0], [6, 5, 4]), ([0, 5, 0], [6, 5, 4])],
                vec![([2, 2, 2], [6, 4, 2]), ([4, 12, 0], [4, 4, 4])],
                vec![([12, 12, 8], [8, 4, 8])],
            ],
            single: false,
            big_endian: false,
            version: 1,
            ghosts: 0,
            files: 2,
        }
    }

    /// A value that differs from cell to cell, exact in single precision.
    pub fn value(level: usize, [x, y, z]: [i64; 3]) -> f64 {
        let wave = (x * 7 + y * 5 + z * 3) % 11 + 2 * ((x / 2 + y / 2 + z / 2) % 5);
        wave as f64 + level as f64 / 16.0 + 0.25
    }

    /// The leaves.
    pub fn leaves(&self) -> Cells {
        let is_covered = |level: usize, cell: [i64; 3]| {
            let finer = self.boxes.get(level + 1).into_iter().flatten();
            finer.clone().any(|(low, size)| {
                let ratio = self.ratios[level];
                (0..3).all(|a| (low[a] / ratio..(low[a] + size[a]) / ratio).contains(&cell[a]))
            })
        };
        let mut leaves = Cells::new();
        for (level, boxes) in self.boxes.iter().enumerate() {
            for (low, size) in boxes {
                for cell in cells(*low, *size).filter(|cell| !is_covered(level, *cell)) {
                    leaves.insert((level, cell), Self::value(level, cell));
                }
            }
        }
        leaves
    }

    pub fn write(&self, folder: &Path) {
        let factor = |level: usize| self.ratios[..level].iter().product::<i64>();
        let mut header =
            format!("HyperCLaw-V1.1\n2\ndensity\nodd name (x/y)\n3\n0.5\n{}\n", self.ratios.len());
        let high: Vec<String> = self.root.iter().map(|n| format!("{}", -1.0 + 0.5 * *n as f64)).collect();
        header += &format!("-1 -1 -1 \n{} \n", high.join(" "));
        header += &format!("{} \n", self.ratios.iter().map(i64::to_string).collect::<Vec<_>>().join(" "));
        let first = |level: usize| self.first.map(|x| x * factor(level));
        let domains: Vec<String> =
            (0..self.boxes.len()).map(|l| text(first(l), self.root.map(|n| n * factor(l)))).collect();
        header += &format!("{} \n", domains.join(" "));
        header += &format!("{}\n", vec!["9"; self.boxes.len()].join(" "));
        for level in 0..self.boxes.len() {
            let side = 0.5 / factor(level) as f64;
            header += &format!("{side} {side} {side} \n");
        }
        header += "0\n0\n";
        for (level, boxes) in self.boxes.iter().enumerate() {
            header += &format!("{level} {} 0.5\n9\n", boxes.len());
            for (low, size) in boxes {
                let at = |x: i64| -1.0 + 0.5 * x as f64 / factor(level) as f64;
                (0..3).for_each(|a| header += &format!("{} {}\n", at(low[a]), at(low[a] + size[a])));
            }
            header += &format!("Level_{level}/Cell\n");
            self.write_level(&folder.join(format!("Level_{level}")), level, first(level));
        }
        fs::write(folder.join("Header"), header).expect("writing");
    }

    fn write_level(&self, folder: &Path, level: usize, first: [i64; 3]) {
        fs::create_dir_all(folder).expect("a folder");
        let boxes = &self.boxes[level];
        let shifted = |low: &[i64; 3]| -> [i64; 3] { std::array::from_fn(|a| low[a] + first[a]) };
        let mut files = vec![Vec::new(); self.files];
        let mut places = String::new();
        for (i, (low, size)) in boxes.iter().enumerate() {
            let file = &mut files[i % self.files];
            places += &format!("FabOnDisk: Cell_D_{:05} {}\n", i % self.files, file.len());
            let (low, size) = (low.map(|x| x - self.ghosts), size.map(|n| n + 2 * self.ghosts));
            if self.version == 1 {
                file.extend(format!("FAB {}{} 2\n", self.described(), text(shifted(&low), size)).bytes());
            }
            for factor in [1.0, -3.0] {
                for cell in cells(low, size) {
                    self.number(factor * Self::value(level, cell), file);
                }
            }
        }
        let n = boxes.len();
        let mut list = format!("{}\n1\n2\n{}\n({n} 0\n", self.version, self.ghosts);
        boxes.iter().for_each(|(low, size)| list += &format!("{}\n", text(shifted(low), *size)));
        list += &format!(")\n{n}\n{places}\n");
        match self.version {
            1 | 3 => list += &format!("{n},2\n{}\n", "0.5,0.5,\n".repeat(n)).repeat(2),
            4 => list += "0.5,0.5,\n1.5,1.5,\n",
            _ => {}
        }
        if self.version > 1 {
            list += &format!("{}\n", self.described());
        }
        fs::write(folder.join("Cell_H"), list).expect("writing");
        for (i, bytes) in files.iter().enumerate() {
            fs::write(folder.join(format!("Cell_D_{i:05}")), bytes).expect("writing");
        }
    }

    fn described(&self) -> &'static str {
        match (self.single, self.big_endian) {
            (false, false) => "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))",
            (false, true) => "((8, (64 11 52 0 1 12 0 1023)),(8, (1 2 3 4 5 6 7 8)))",
            (true, false) => "((8, (32 8 23 0 1 9 0 127)),(4, (4 3 2 1)))",
            (true, true) => "((8, (32 8 23 0 1 9 0 127)),(4, (1 2 3 4)))",
        }
    }

    fn number(&self, value: f64, to: &mut Vec<u8>) {
        let mut bytes = match self.single {
            true => (value as f32).to_le_bytes().to_vec(),
            false => value.to_le_bytes().to_vec(),
        };
        if self.big_endian {
            bytes.reverse();
        }
        to.extend(bytes);
    }
}

/// The cells of a box, x fastest.
fn cells(low: [i64; 3], size: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    let [x, y, z] = size;
    (0..x * y * z).map(move |i| [low[0] + i % x, low[1] + i / x % y, low[2] + i / (x * y)])
}

fn text(low: [i64; 3], size: [i64; 3]) -> String {
    let [x, y, z] = low;
    let [a, b, c]: [i64; 3] = std::array::from_fn(|a| low[a] + size[a] - 1);
    format!("(({x},{y},{z}) ({a},{b},{c}) (0,0,0))")
}
