//! Snapshots of Gadget in HDF5: an error, or the values that the HDF5 library gives for the datasets.

use crate::changes::{Script, change_bytes};
use hdf5::{File, Location};
use inselberg_io::particles::{Columns, Positions, open_particles};
use ndarray::{ArrayView1, ArrayView2};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

pub fn target(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let path = crate::folder().join("snap_007.hdf5");
    fs::write(&path, change_bytes(base(), &mut script)).expect("writing");
    let Ok(input) = open_particles(std::slice::from_ref(&path)) else { return };
    for (i, species) in input.about().species.iter().enumerate() {
        let position = Positions::with_capacity(true, 0);
        let (id, mass) = (Some(Vec::new()), Some(Vec::new()));
        let mut columns = Columns { position, mass, id, kind: None, velocity: None, density: None };
        if input.read(i, 0..species.n, &mut columns).is_err() {
            return;
        }
        crate::compared();
        let plain = plain(&path, &species.name).expect("the plain reader reads what the library reads");
        let read: Vec<_> =
            (0..columns.position.len()).flat_map(|i| columns.position.get(i)).map(f64::to_bits).collect();
        assert_eq!(read, plain, "{}", species.name);
    }
}

fn plain(path: &Path, species: &str) -> hdf5::Result<Vec<u64>> {
    let values = File::open(path)?.dataset(&format!("{species}/Coordinates"))?.read_raw::<f64>()?;
    Ok(values.into_iter().map(f64::to_bits).collect())
}

/// A sound snapshot of eight particles of two kinds.
fn base() -> &'static [u8] {
    static BASE: OnceLock<Vec<u8>> = OnceLock::new();
    BASE.get_or_init(|| {
        let path = crate::folder().join("base.hdf5");
        make(&path).unwrap_or_else(|e| panic!("{e}"));
        fs::read(&path).expect("the base")
    })
}

fn make(path: &Path) -> hdf5::Result<()> {
    let file = File::create(path)?;
    let header = file.create_group("Header")?;
    let counts = [4_u32, 4, 0, 0, 0, 0];
    list(&header, "NumPart_ThisFile", &counts)?;
    list(&header, "NumPart_Total", &counts)?;
    list(&header, "NumPart_Total_HighWord", &[0_u32; 6])?;
    list(&header, "MassTable", &[0.0; 6])?;
    header.new_attr::<i32>().create("NumFilesPerSnapshot")?.write_scalar(&1)?;
    for (name, value) in [
        ("BoxSize", 10.0),
        ("Time", 0.5),
        ("Redshift", 1.0),
        ("Omega0", 0.3),
        ("OmegaLambda", 0.7),
        ("HubbleParam", 0.7),
    ] {
        header.new_attr::<f64>().create(name)?.write_scalar(&value)?;
    }
    for kind in 0..2 {
        let group = file.create_group(&format!("PartType{kind}"))?;
        let position: Vec<[f64; 3]> = (0..4).map(|i| [f64::from(i), 0.5 + f64::from(kind), 3.0]).collect();
        group
            .new_dataset::<f64>()
            .shape([4, 3])
            .create("Coordinates")?
            .write(ArrayView2::from(&position[..]))?;
        let velocity = [[1.0_f32, 2.0, 3.0]; 4];
        group.new_dataset::<f32>().shape([4, 3]).create("Velocities")?.write(ArrayView2::from(&velocity))?;
        let id = [1_u64, 2, 3, 4];
        group.new_dataset::<u64>().shape([4]).create("ParticleIDs")?.write(ArrayView1::from(&id))?;
        let mass = [0.5_f32; 4];
        group.new_dataset::<f32>().shape([4]).create("Masses")?.write(ArrayView1::from(&mass))?;
    }
    file.close()
}

fn list<T: hdf5::H5Type>(at: &Location, name: &str, values: &[T]) -> hdf5::Result<()> {
    at.new_attr::<T>().shape([values.len()]).create(name)?.write(ArrayView1::from(values))
}
