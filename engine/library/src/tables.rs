//! Parts that the tables of all catalogues share.

use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::catalogue::{Attribute, Dimension, PartTable, RowRun, Table, TableColumn, Values};
use inselberg_io::{Cosmology, Header, Snapshot, Units};

/// The attribute that lists units that the input does not state: those of its format are assumed.
pub const ASSUMED_UNITS: &str = "assumed_units";

/// The attribute with notes on the input that a user may not expect: assumptions, and parts that it omits.
pub const INPUT_NOTES: &str = "input_notes";

/// Notes on an input as the attribute of that name; `None` without any.
pub(crate) fn input_notes(notes: &[String]) -> Option<(String, Attribute)> {
    (!notes.is_empty()).then(|| (INPUT_NOTES.to_string(), Attribute::Text(notes.join("; "))))
}

/// The notes on the input among the attributes of a catalogue, in one line.
pub fn input_notes_of(attributes: &[(String, Attribute)]) -> Option<&str> {
    attributes.iter().find_map(|(name, value)| match value {
        Attribute::Text(text) if name == INPUT_NOTES => Some(text.as_str()),
        _ => None,
    })
}

/// The attribute that lists parameters of the cosmology that nobody states: the usual values are assumed.
pub const ASSUMED_COSMOLOGY: &str = "assumed_cosmology";

/// Attributes of a catalogue from a snapshot, in addition to its header, and the notes on it.
pub(crate) fn input_attributes(snapshot: &dyn Snapshot) -> Vec<(String, Attribute)> {
    snapshot.attributes().into_iter().chain(input_notes(&snapshot.notes())).collect()
}

/// A column, in one line.
pub(crate) fn column(name: &str, dimension: Dimension, description: &str, values: Values) -> TableColumn {
    TableColumn { name: name.into(), dimension, description: description.into(), values }
}

/// Collective: rows that stand in the order of the ranks.
///
/// # Errors
/// When another rank fails.
pub fn in_order(table: Table, comm: &Comm) -> Result<PartTable, CommError> {
    let n = table.n_rows();
    let run = RowRun { first: comm.sum_before(n as u64)?, n };
    let n_rows = comm.all_reduce_counts(&[n as u64], Reduce::Sum)?[0];
    Ok(PartTable { table, runs: vec![run], n_rows })
}

/// Collective: threads and ranks of a run, for the attributes. Ranks may have different numbers of threads;
/// the attributes are the same on all.
///
/// # Errors
/// When another rank fails.
pub(crate) fn run_attributes(comm: &Comm) -> Result<[(&'static str, u64); 2], CommError> {
    let n_threads = comm.all_reduce_counts(&[rayon::current_num_threads() as u64], Reduce::Max)?[0];
    Ok([("run_threads", n_threads), ("run_ranks", comm.n_ranks() as u64)])
}

/// Attributes of a catalogue, in the order in which they are added.
pub(crate) struct AttributeList(Vec<(String, Attribute)>);

impl AttributeList {
    pub fn new() -> Self {
        Self(Vec::new())
    }

    pub fn into_attributes(self) -> Vec<(String, Attribute)> {
        self.0
    }

    pub fn extend(&mut self, attributes: impl IntoIterator<Item = (String, Attribute)>) {
        self.0.extend(attributes);
    }

    pub fn text(&mut self, name: &str, value: &str) {
        self.0.push((name.into(), Attribute::Text(value.into())));
    }

    pub fn int(&mut self, name: &str, value: i64) {
        self.0.push((name.into(), Attribute::Int(value)));
    }

    pub fn reals(&mut self, name: &str, values: &[f64]) {
        self.0.push((name.into(), Attribute::Reals(values.to_vec())));
    }

    pub fn real(&mut self, name: &str, value: f64) {
        self.0.push((name.into(), Attribute::Real(value)));
    }

    pub fn input(&mut self, header: &Header, has_units: bool) {
        self.text("input_format", header.format);
        if let Some(number) = header.number {
            self.int("input_number", i64::from(number));
        }
        self.real("time", header.time);
        self.real("boxlen", header.boxlen);
        if header.origin != [0.0; 3] {
            self.reals("origin", &header.origin);
        }
        self.reals("coarse_cells", &header.coarse.map(f64::from));
        self.reals("periodic", &header.periodic.map(|p| f64::from(u8::from(p))));
        if has_units {
            self.units(&header.units);
        }
        if let Some(cosmology) = &header.cosmology {
            self.cosmology(cosmology);
        }
    }

    pub fn units(&mut self, units: &Units) {
        self.real("unit_length", units.length);
        self.real("unit_density", units.density);
        self.real("unit_time", units.time);
    }

    pub fn cosmology(&mut self, c: &Cosmology) {
        for (name, value) in [
            ("aexp", c.aexp),
            ("h0", c.h0),
            ("omega_m", c.omega_m),
            ("omega_l", c.omega_l),
            ("omega_k", c.omega_k),
            ("omega_b", c.omega_b),
            ("omega_r", c.omega_r),
            ("omega_nu", c.omega_nu),
            ("w0", c.w0),
            ("wa", c.wa),
            ("hubble_rate", c.hubble_rate()),
            ("critical_density", c.critical_density()),
        ] {
            self.real(name, value);
        }
        if !c.assumed.is_empty() {
            self.text(ASSUMED_COSMOLOGY, &c.assumed.join(", "));
        }
    }
}
