//! Where the command line meets the engine: one thin function a meeting.

use super::fault::Failure;
use inselberg::catalogue::{self, Catalogue};
use inselberg::io::{Header, Snapshot};
use inselberg::phew::{PhewConfig, RunError};
use inselberg::report::{Recorder, Stage, Totals, peak_memory, summary_json, summary_text};
use inselberg::run::{Outcome, run};
use inselberg_comm::Comm;
use std::path::Path;

/// Pixels along a coarse cell of the picture: 2 to this power.
#[cfg(feature = "plot")]
const PIXEL_LEVEL: u8 = 9;

/// Runs PHEW on the snapshot from `input`; a bar a stage on stderr if `progress`.
pub fn segment(
    input: &Path,
    snapshot: &dyn Snapshot,
    config: &PhewConfig,
    progress: bool,
) -> Result<(Outcome, Vec<Stage>), Failure> {
    let recorder = Recorder::new(progress);
    let outcome = run(snapshot, config, &Comm::solo(), &recorder).map_err(|error| match error {
        RunError::Read(error) => error.into(),
        error => Failure::about(input, error),
    })?;
    Ok((outcome, recorder.stages()))
}

/// Writes RAMSES's clump and halo files for the output that `snapshot` is.
pub fn write_ramses_text(
    folder: &Path,
    catalogue: &Catalogue,
    snapshot: &dyn Snapshot,
) -> Result<(), Failure> {
    let number = snapshot.header().number.unwrap_or(1);
    Ok(catalogue::ramses_text::write_ramses_text(folder, catalogue, number)?)
}

/// Draws the picture.
#[cfg(feature = "plot")]
pub fn draw(path: &Path, snapshot: &dyn Snapshot, outcome: &Outcome) -> Result<(), Failure> {
    use inselberg::report::plot::{PictureData, plot};
    let projection = inselberg::project::project(&outcome.field, PIXEL_LEVEL);
    let header = snapshot.header();
    let side = projection.side * header.boxlen;
    let depth = f64::from(header.coarse[2]);
    let data = PictureData {
        title: title(snapshot, outcome),
        projection: projection.values.into_iter().map(|column| column / depth as f32).collect(),
        n: projection.n,
        extent: [[0.0, side]; 2],
        axes: [0, 1],
        periodic: [header.periodic[0], header.periodic[1]],
        quantity: "mean density along z".into(),
        units: density_unit(header).into(),
        catalogue: &outcome.catalogue,
    };
    Ok(plot(path, &data)?)
}

/// What the picture is of: the output, its redshift, the thresholds.
#[cfg(feature = "plot")]
fn title(snapshot: &dyn Snapshot, outcome: &Outcome) -> String {
    let header = snapshot.header();
    let mut parts = vec![match header.number {
        Some(number) => format!("{} output {number}", header.format),
        None => header.format.to_string(),
    }];
    if let (Some(c), Some(side)) = (&header.cosmology, header.comoving_side()) {
        parts.push(format!("{} Mpc/h", (side * 1e3).round() / 1e3));
        parts.push(match c.aexp {
            a if a > 1.0 => format!("a = {a:.3}"),
            a => format!("z = {:.2}", 1.0 / a - 1.0),
        });
    }
    for (attribute, name) in [("density", "density > "), ("relevance", "relevance "), ("saddle", "saddle ")] {
        match outcome.catalogue.attribute(&format!("{attribute}_threshold")) {
            Some(catalogue::Attribute::Real(value)) if *value > 0.0 => parts.push(format!("{name}{value}")),
            _ => {}
        }
    }
    parts.join(",  ")
}

/// The unit of density as a person calls it.
pub fn density_unit(header: &Header) -> &'static str {
    if header.is_in_mean_densities() { "mean matter density" } else { "code_mass / code_length**3" }
}

/// Says how to get pictures.
#[cfg(not(feature = "plot"))]
pub fn draw(path: &Path, _: &dyn Snapshot, _: &Outcome) -> Result<(), Failure> {
    Err(no_pictures(path))
}

/// That the picture can be drawn into `path`.
pub fn check_picture(path: &Path) -> Result<(), Failure> {
    #[cfg(feature = "plot")]
    return Ok(inselberg::report::plot::check_picture(path)?);
    #[cfg(not(feature = "plot"))]
    return Err(no_pictures(path));
}

#[cfg(not(feature = "plot"))]
fn no_pictures(path: &Path) -> Failure {
    Failure::user(format!("{}: this build draws no pictures; build with the feature `plot`", path.display()))
}

/// The table at the end of a run.
pub fn text(outcome: &Outcome, stages: &[Stage]) -> String {
    let totals = Totals::of(&outcome.catalogue);
    let text = summary_text(&totals, stages, peak_memory());
    if totals.test_cells != Some(0) {
        return text;
    }
    let densest = outcome.field.rho.iter().copied().fold(0.0, f64::max);
    format!("no cell is above the density threshold; the densest has {densest}\n\n{text}")
}

/// The same for machines.
pub fn json(outcome: &Outcome, stages: &[Stage]) -> serde_json::Value {
    summary_json(&Totals::of(&outcome.catalogue), stages, peak_memory())
}

/// What is in a catalogue, for machines.
pub fn describe_json(catalogue: &Catalogue) -> serde_json::Value {
    let rows = catalogue.tables.iter().map(|t| (t.name.clone(), t.n_rows().into()));
    let attributes = catalogue
        .attributes
        .iter()
        .map(|(name, value)| (name.clone(), catalogue::info::attribute_text(value).into()));
    serde_json::json!({
        "tables": rows.collect::<serde_json::Map<_, _>>(),
        "attributes": attributes.collect::<serde_json::Map<_, _>>(),
    })
}

/// Writes `snapshot` as output `number` of RAMSES into `folder`.
pub fn write_ramses_output(folder: &Path, number: u32, snapshot: &dyn Snapshot) -> Result<(), Failure> {
    use inselberg::io::ramses::write::{Dialect, Output, Split, write};
    let names: Vec<&str> = snapshot.fields().iter().map(|f| f.name.as_str()).collect();
    let mut octs = Vec::new();
    for piece in 0..snapshot.header().n_pieces {
        snapshot.octs(piece, &names, &mut |block| {
            octs.push(block.clone());
            Ok(())
        })?;
    }
    let fields: Vec<_> = snapshot
        .fields()
        .iter()
        .map(|f| inselberg::io::FieldInfo { family: "hydro", name: f.name.clone() })
        .collect();
    let header = Header { number: Some(number), ..snapshot.header().clone() };
    let output = Output { header: &header, fields: &fields, octs: &octs, particles: None };
    let split = Split { n_cpus: 1, oct_owner: &|_, _| 0, particle_owner: &|_| 0, ghosts: false };
    let is_new = !folder.exists();
    std::fs::create_dir_all(folder).map_err(|error| Failure::about(folder, error))?;
    write(folder, output, split, &Dialect::default()).inspect_err(|_| {
        if is_new {
            // Only if it is empty, so nothing of anybody's is lost.
            let _ = std::fs::remove_dir(folder);
        }
    })?;
    Ok(())
}
