//! Catalogues: an error, or what was written.

use crate::changes::{Script, change_bytes, change_text};
use inselberg_io::catalogue::{Attribute, Catalogue, Dimension, Table, TableColumn, Values, read, write};
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A catalogue with a column of each type.
fn sound() -> Catalogue {
    let column = |name: &str, dimension, values| TableColumn {
        name: name.into(),
        dimension,
        description: format!("what {name} is"),
        values,
    };
    let clumps = vec![
        column("id", Dimension::NONE, Values::U64(vec![1, 2, u64::MAX])),
        column("level", Dimension::NONE, Values::U8(vec![0, 1, 255])),
        column("mass", Dimension::MASS, Values::F64(vec![0.1, f64::INFINITY, -0.0])),
        column("position", Dimension::LENGTH, Values::F64x3(vec![[0.5, 1e-300, 1.0 / 3.0]; 3])),
    ];
    let haloes = vec![
        column("id", Dimension::NONE, Values::I64(vec![-1, 2])),
        column("density", Dimension::DENSITY, Values::F32(vec![0.1, 3.0])),
        column("place", Dimension::NONE, Values::U32x3(vec![[1, 2, 3]; 2])),
    ];
    Catalogue {
        attributes: vec![
            ("n_clumps".into(), Attribute::Int(3)),
            ("time".into(), Attribute::Real(0.1)),
            ("sides".into(), Attribute::Reals(vec![1.0, 2.0, 0.3])),
            ("field".into(), Attribute::Text("density, \"of\" gas\n".into())),
        ],
        tables: vec![
            Table { name: "clumps".into(), columns: clumps },
            Table { name: "haloes".into(), columns: haloes },
        ],
    }
}

/// The files that `sound` becomes under a name, with what they hold.
fn files(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = crate::folder().join(name.replace('.', "_"));
    fs::create_dir_all(&folder).expect("a folder");
    write(&folder.join(name), &sound()).unwrap_or_else(|e| panic!("{e}"));
    let entries = fs::read_dir(&folder).expect("a folder").map(|e| e.expect("an entry").path());
    let mut files: Vec<_> = entries.map(|path| (path.clone(), fs::read(&path).expect("a file"))).collect();
    files.sort();
    files
}

/// The HDF5 format has a checksum: whatever changes is found, before the HDF5 library sees it.
pub fn hdf5(bytes: &[u8]) {
    static FILES: OnceLock<Vec<(PathBuf, Vec<u8>)>> = OnceLock::new();
    let (path, file) = &FILES.get_or_init(|| files("c.hdf5"))[0];
    let body = file.len() - 24;
    // The checksum is sixteen bytes of a name and eight of a sum; a file without the name is not checked.
    let mut changed = change_bytes(&file[..body], &mut Script::new(bytes));
    if changed == file[..body] {
        return;
    }
    changed.extend(&file[body..]);
    fs::write(path, changed).expect("writing");
    crate::compared();
    assert!(read(path).is_err(), "a damaged catalogue was read");
}

/// The CSV format: what is read are the words of the file.
pub fn csv(bytes: &[u8]) {
    static FILES: OnceLock<Vec<(PathBuf, Vec<u8>)>> = OnceLock::new();
    let files = FILES.get_or_init(|| files("c.csv"));
    let mut script = Script::new(bytes);
    let which = script.below(files.len());
    let (path, sound) = &files[which];
    let changed = change_text(sound, &mut script);
    fs::write(path, &changed).expect("writing");
    let main = files.iter().position(|(path, _)| path.ends_with("c.csv")).expect("the main file");
    let catalogue = read(&files[main].0);
    fs::write(path, sound).expect("writing");
    let Ok(catalogue) = catalogue else { return };
    crate::compared();
    // The tables as the sound files and the changed one have them, in any order.
    for table in &catalogue.tables {
        let texts = files.iter().enumerate().map(|(i, file)| if i == which { &changed } else { &file.1 });
        let texts: Vec<_> = texts.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
        let has_table = |text: &&String| {
            text.lines()
                .any(|line| line.strip_prefix("# table:").is_some_and(|name| name.trim() == table.name))
        };
        let found = texts.iter().filter(has_table).any(|text| rows_of(text) == shown(table));
        assert!(found, "table {} is not what any file has: {:?}", table.name, shown(table));
    }
}

/// The numbers of a file, row by row, each as the bits of a real and as a whole number where it is one.
fn rows_of(text: &str) -> Vec<Vec<(u64, Option<i128>)>> {
    let lines = text.lines().filter(|line| !line.starts_with("# ")).skip(1);
    let number = |word: &str| {
        let real = word.parse::<f64>().unwrap_or(f64::NAN);
        // Reals may be written as 1e0.
        let whole = (real.fract() == 0.0 && real.abs() < 1e15).then_some(real as i128);
        (if real.is_nan() { 0 } else { real.to_bits() }, word.parse().ok().or(whole))
    };
    lines.map(|line| line.split(',').map(number).collect()).collect()
}

/// A table in the same form.
fn shown(table: &Table) -> Vec<Vec<(u64, Option<i128>)>> {
    let texts = |values: &Values, i: usize| match values {
        Values::U8(v) => vec![v[i].to_string()],
        Values::U64(v) => vec![v[i].to_string()],
        Values::I64(v) => vec![v[i].to_string()],
        Values::F64(v) => vec![v[i].to_string()],
        Values::F32(v) => vec![v[i].to_string()],
        Values::F64x3(v) => v[i].map(|x| x.to_string()).to_vec(),
        Values::U32x3(v) => v[i].map(|x| x.to_string()).to_vec(),
    };
    let row = |i: usize| table.columns.iter().flat_map(|c| texts(&c.values, i)).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = (0..table.n_rows()).map(row).collect();
    rows_of(&std::iter::once("names".to_string()).chain(rows).collect::<Vec<_>>().join("\n"))
}
