//! Files of Athena++ and Parthenon by the descriptions of their formats: leaf blocks of two levels.

use hdf5::types::{FixedAscii, VarLenUnicode};
use hdf5::{File, H5Type, Location};
use ndarray::{ArrayD, ArrayView1, IxDyn};
use std::collections::BTreeMap;

/// Leaf blocks of a grid.
#[derive(Debug, Clone)]
pub struct BlockMesh {
    /// Cells of the root grid.
    pub root: [usize; 3],
    /// Cells of a block.
    pub block: [usize; 3],
    /// Level and place of each block, in blocks of that level.
    pub leaves: Vec<(usize, [usize; 3])>,
}

/// The value of a cell.
pub fn value(level: usize, [x, y, z]: [usize; 3]) -> f64 {
    ((x * 37 + y * 11 + z * 5 + level * 3) % 29) as f64 / 4.0 + 0.25
}

impl BlockMesh {
    /// 8 blocks, one of which is refined.
    pub fn sample() -> Self {
        let all = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2]);
        let coarse = all.clone().filter(|place| *place != [1, 0, 1]).map(|place| (0, place));
        let fine = all.map(|[x, y, z]| (1, [2 + x, y, 2 + z]));
        Self { root: [8, 4, 12], block: [4, 2, 6], leaves: coarse.chain(fine).collect() }
    }

    /// The value of each leaf by level above the root grid and place.
    pub fn cells(&self) -> BTreeMap<(usize, [u32; 3]), f64> {
        let mut cells = BTreeMap::new();
        for (level, place) in &self.leaves {
            for i in 0..self.block.iter().product() {
                let at = self.cell(*place, i);
                cells.insert((*level, at.map(|x| x as u32)), value(*level, at));
            }
        }
        cells
    }

    fn cell(&self, place: [usize; 3], i: usize) -> [usize; 3] {
        let [nx, ny, _] = self.block;
        let own = [i % nx, i / nx % ny, i / (nx * ny)];
        std::array::from_fn(|a| place[a] * self.block[a] + own[a])
    }

    /// The faces of all blocks along an axis, and those of ghosts.
    fn faces(&self, axis: usize, ghosts: usize) -> Vec<f64> {
        let (n, low) = (self.block[axis], [-1.0, 0.0, 2.0][axis]);
        let of_block = |(level, place): &(usize, [usize; 3])| {
            let (first, side) = ((place[axis] * n) as f64, 0.5 / f64::from(1 << level));
            (0..=n + 2 * ghosts)
                .map(|face| low + side * (first + face as f64 - ghosts as f64))
                .collect::<Vec<_>>()
        };
        self.leaves.iter().flat_map(of_block).collect()
    }

    /// Values by block, z, y, x, times a factor; ghosts around them have other values.
    fn values(&self, factor: f64, ghosts: usize) -> Vec<f64> {
        let stored = self.block.map(|n| n + 2 * ghosts);
        let mut all = Vec::new();
        for (level, place) in &self.leaves {
            for i in 0..stored.iter().product() {
                let at = [i % stored[0], i / stored[0] % stored[1], i / (stored[0] * stored[1])];
                let is_own = (0..3).all(|a| (ghosts..ghosts + self.block[a]).contains(&at[a]));
                let cell = |a: usize| place[a] * self.block[a] + at[a] - ghosts;
                all.push(if is_own { factor * value(*level, [0, 1, 2].map(cell)) } else { -77.0 });
            }
        }
        all
    }

    /// Writes an `.athdf` file with cells of side 0.5 from the corner (-1, 0, 2) on.
    pub fn write_athdf<T: H5Type + Copy>(&self, path: &str, real: impl Fn(f64) -> T) {
        let file = patiently(|| File::create(path));
        for (axis, low) in [-1.0, 0.0, 2.0].into_iter().enumerate() {
            let ends = [low, low + 0.5 * self.root[axis] as f64, 1.0].map(&real);
            numbers(&file, &format!("RootGridX{}", axis + 1), &ends);
        }
        let texts = |name: &str, all: &[&str]| {
            let all: Vec<FixedAscii<21>> = all.iter().map(|text| ascii(text)).collect();
            numbers(&file, name, &all);
        };
        file.new_attr::<FixedAscii<21>>()
            .create("Coordinates")
            .and_then(|a| a.write_scalar(&ascii("cartesian")))
            .expect("done");
        scalar(&file, "Time", 2.5);
        scalar(&file, "NumMeshBlocks", self.leaves.len() as i32);
        scalar(&file, "MaxLevel", 1);
        numbers(&file, "RootGridSize", &self.root.map(|n| n as i32));
        numbers(&file, "MeshBlockSize", &self.block.map(|n| n as i32));
        numbers(&file, "NumVariables", &[2, 1]);
        texts("DatasetNames", &["prim", "B"]);
        texts("VariableNames", &["rho", "press", "Bcc1"]);
        self.write_places(&file);
        for axis in 0..3 {
            let faces: Vec<f32> = self.faces(axis, 0).iter().map(|x| *x as f32).collect();
            array(&file, &format!("x{}f", axis + 1), &[self.leaves.len(), self.block[axis] + 1], faces);
        }
        let [nx, ny, nz] = self.block;
        let data = |name: &str, factors: &[f64]| {
            let all: Vec<T> = factors.iter().flat_map(|f| self.values(*f, 0)).map(&real).collect();
            array(&file, name, &[factors.len(), self.leaves.len(), nz, ny, nx], all);
        };
        data("prim", &[1.0, 2.0]);
        data("B", &[-1.0]);
    }

    /// Writes a `.phdf` file with the same grid; z is periodic.
    pub fn write_phdf(&self, path: &str, version: i32, ghosts: usize) {
        let file = patiently(|| File::create(path));
        file.create_group("Params").expect("a group");
        let info = file.create_group("Info").expect("a group");
        scalar(&info, "OutputFormatVersion", version);
        scalar(&info, "Time", 0.25);
        scalar(&info, "NumDims", 3);
        scalar(&info, "NCycle", 8);
        scalar(&info, "MaxLevel", 1);
        scalar(&info, "NumMeshBlocks", self.leaves.len() as i32);
        scalar(&info, "IncludesGhost", i32::from(ghosts > 0));
        scalar(&info, "NGhost", if ghosts > 0 { ghosts } else { 2 } as i32);
        info.new_attr::<VarLenUnicode>()
            .create("Coordinates")
            .and_then(|a| a.write_scalar(&unicode("UniformCartesian")))
            .expect("done");
        let stored = self.block.map(|n| n + 2 * ghosts);
        numbers(&info, "MeshBlockSize", &stored.map(|n| n as i32));
        numbers(&info, "RootGridSize", &self.root.map(|n| n as i32));
        let ends = |(axis, low): (usize, f64)| [low, low + 0.5 * self.root[axis] as f64, 1.0];
        let all: Vec<f64> = [-1.0, 0.0, 2.0].into_iter().enumerate().flat_map(ends).collect();
        numbers(&info, "RootGridDomain", &all);
        numbers(&info, "NumComponents", &[1, 3]);
        let texts = |name: &str, all: &[&str]| {
            numbers(&info, name, &all.iter().map(|text| unicode(text)).collect::<Vec<_>>());
        };
        texts("BoundaryConditions", &["outflow", "outflow", "reflecting", "outflow", "periodic", "periodic"]);
        texts("OutputDatasetNames", &["density", "mom"]);
        texts("ComponentNames", &["density", "mom_0", "mom_1", "mom_2"]);
        self.write_places(&file);
        file.create_group("Locations").expect("a group");
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let shape = [self.leaves.len(), stored[axis] + 1];
            array(&file, &format!("Locations/{name}"), &shape, self.faces(axis, ghosts));
        }
        let [x, y, z] = stored;
        array(&file, "density", &[self.leaves.len(), z, y, x], self.values(1.0, ghosts));
        let parts = [1.0, 2.0, -1.0].map(|factor| self.values(factor, ghosts));
        let n = x * y * z;
        let of_block = |b: usize| parts.iter().flat_map(move |part| part[b * n..(b + 1) * n].to_vec());
        array(
            &file,
            "mom",
            &[self.leaves.len(), 3, z, y, x],
            (0..self.leaves.len()).flat_map(of_block).collect(),
        );
    }

    fn write_places(&self, file: &File) {
        let n = self.leaves.len();
        array(file, "Levels", &[n], self.leaves.iter().map(|(level, _)| *level as i32).collect());
        let places = self.leaves.iter().flat_map(|(_, place)| place.map(|x| x as i64)).collect();
        array(file, "LogicalLocations", &[n, 3], places);
    }
}

/// Opens a file. Programs that other tests start inherit files and locks until they run.
pub fn patiently(open: impl Fn() -> hdf5::Result<File>) -> File {
    for _ in 0..200 {
        if let Ok(file) = open() {
            return file;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    open().expect("a file")
}

fn ascii(text: &str) -> FixedAscii<21> {
    FixedAscii::from_ascii(text).expect("a short text")
}

fn unicode(text: &str) -> VarLenUnicode {
    text.parse().expect("a text without zeros")
}

/// Sets an attribute, also one that is there.
pub fn numbers<T: H5Type>(at: &Location, name: &str, values: &[T]) {
    drop(at.delete_attr(name));
    let made = at.new_attr::<T>().shape(values.len()).create(name).expect("an attribute");
    made.write(ArrayView1::from(values)).expect("written");
}

/// The same with a single number.
pub fn scalar<T: H5Type>(at: &Location, name: &str, value: T) {
    drop(at.delete_attr(name));
    at.new_attr::<T>().create(name).and_then(|made| made.write_scalar(&value)).expect("written");
}

fn array<T: H5Type>(file: &File, name: &str, shape: &[usize], values: Vec<T>) {
    let values = ArrayD::from_shape_vec(IxDyn(shape), values).expect("the shape");
    file.new_dataset_builder().with_data(&values).create(name).expect("a dataset");
}
