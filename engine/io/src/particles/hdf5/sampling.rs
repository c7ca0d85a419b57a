//! Does a snapshot have all particles of its run, and are they unchanged?
//!
//! SWIFT marks subsamples (`OutputType`, `SubSampleFractions`) and columns with lossy compression. Cut-outs
//! from the database of IllustrisTNG have attributes of their request.

use super::names::ColumnName;
use crate::ReadResult;
use crate::hdf5_file::Hdf5File;
use crate::particles::N_KINDS;

/// The attribute of a dataset that names SWIFT's filter.
const LOSSY: &str = "Lossy compression filter";

/// The attributes of a cut-out.
const CUTOUTS: [&str; 2] = ["CutoutType", "CutoutRequest"];

/// The stated part of the particles of each kind in the file; 1 without a statement.
///
/// # Errors
/// It states something else than fractions.
pub fn fractions(source: &Hdf5File) -> ReadResult<[f64; N_KINDS]> {
    let stated = source.numbers("Header", "SubSampleFractions")?.unwrap_or_default();
    let of = |kind: usize| stated.get(kind).copied().filter(|part| *part > 0.0 && *part < 1.0);
    // SWIFT has 0 or 1 for kinds that it writes as they are.
    Ok(std::array::from_fn(|kind| of(kind).unwrap_or(1.0)))
}

/// Whether a file is marked as a cut-out of a run, so that it is complete by itself.
pub fn is_cutout(source: &Hdf5File) -> bool {
    CUTOUTS.iter().any(|name| source.has_attribute("Header", name))
}

fn is_subsample(source: &Hdf5File) -> bool {
    source.text("Header", "OutputType").is_some_and(|kind| kind == "SubSampled")
}

/// The stated omissions and changes of the file, for the kinds that it `has`.
pub fn notes(source: &Hdf5File, fractions: &[f64; N_KINDS], has: impl Fn(u8) -> bool) -> Vec<String> {
    let mut notes = Vec::new();
    let kinds = || (0..N_KINDS).filter(|kind| has(*kind as u8));
    if is_subsample(source) || kinds().any(|kind| fractions[kind] < 1.0) {
        let parts: Vec<String> = kinds()
            .filter(|kind| fractions[*kind] < 1.0)
            .map(|kind| format!("{} of PartType{kind}", fractions[kind]))
            .collect();
        let parts = if parts.is_empty() { "parts that it does not state".into() } else { parts.join(", ") };
        notes.push(format!(
            "the input is a subsample of its run: {parts}; masses are those of the particles that it holds"
        ));
    }
    if let Some(name) = CUTOUTS.iter().find(|name| source.has_attribute("Header", name)) {
        let what = source.text("Header", name).map_or(String::new(), |text| format!(" ({text})"));
        notes.push(format!(
            "the input is a cut-out of its run{what}: it does not hold all particles of its box"
        ));
    }
    let lossy: Vec<String> = kinds().flat_map(|kind| lossy_columns(source, kind)).collect();
    if !lossy.is_empty() {
        notes.push(format!("the input has columns with lossy compression: {}", lossy.join(", ")));
    }
    notes
}

/// The columns of a kind that SWIFT stored with less precision, with the filter.
fn lossy_columns(source: &Hdf5File, kind: usize) -> Vec<String> {
    let columns = [ColumnName::Positions, ColumnName::Velocities, ColumnName::Masses, ColumnName::Densities];
    let lossy = |column: ColumnName| {
        let dataset = column.find(source, kind).ok()??;
        let filter = source.text_of(&dataset, LOSSY).filter(|filter| filter != "None")?;
        Some(format!("{} ({filter})", dataset.place))
    };
    columns.into_iter().filter_map(lossy).collect()
}
