//! `inselberg info`: describes a snapshot, particles or a catalogue.

use super::attribute_json::attribute_json;
use super::fault::CommandError;
use super::grouped::grouped;
use super::info_image;
use super::info_particles;
use super::info_thresholds::ThresholdAdvice;
#[cfg(feature = "plot")]
use super::interrupt;
use super::level_counts::LevelCounts;
use super::memory::Bytes;
use super::out;
use super::preflight;
use crate::config::{Common, InfoJob};
use crate::report::{DisplayUnits, UnitChoice};
use inselberg::Rules;
use inselberg::phew::image::ImageNoise;
use inselberg_io::catalogue::finders::finder_of;
use inselberg_io::catalogue::info::{describe, describe_in};
use inselberg_io::catalogue::{Catalogue, is_marked};
use inselberg_io::particles::{file_of, open_particles, recognises_particles};
use inselberg_io::staging::Staged;
use inselberg_io::{Family, Header, ReadResult, Snapshot, foreign, open_from, read_headers_with, recognises};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Describes a file without changing anything.
pub fn info(job: &InfoJob, common: Common) -> Result<(), CommandError> {
    let is_snapshot = recognises(&job.input, &job.grid);
    let is_read = is_marked(&job.input) || finder_of(&job.input).is_some();
    if let Some(format) = foreign::of_path(&job.input).filter(|_| !is_snapshot && !is_read) {
        return foreign_format(job, common, format.name);
    }
    if !is_snapshot && job.input.is_file() {
        let catalogue = match inselberg_io::catalogue::read(&job.input) {
            Ok(catalogue) => catalogue,
            Err(error) if job.units.is_some() || is_read => return Err(error.into()),
            Err(_) => return particles(job, common),
        };
        without_thresholds(job, "a catalogue")?;
        return out::report(common, || catalogue_text(&catalogue, job.units), || describe_json(&catalogue));
    }
    if job.units.is_some() {
        let problem = "not a catalogue; expected one for --units";
        return Err(CommandError::about(&job.input, problem));
    }
    let is_in_file = !job.input.exists() && file_of(&job.input).is_file();
    if !is_snapshot && (is_in_file || job.input.is_dir() && recognises_particles(&job.input)) {
        return particles(job, common);
    }
    snapshot(job, common)
}

fn catalogue_text(catalogue: &Catalogue, choice: Option<UnitChoice>) -> String {
    let units = DisplayUnits::new(choice.unwrap_or(UnitChoice::Code), &catalogue.attributes);
    let shown = |dimension| {
        let unit = units.unit(dimension);
        (unit.name, unit.factor)
    };
    match (choice, units.are_physical()) {
        (_, true) => describe_in(catalogue, &shown),
        (Some(UnitChoice::Physical), false) => {
            describe(catalogue) + "\n" + &units.sentence(&catalogue.attributes) + "\n"
        }
        _ => describe(catalogue),
    }
}

/// Describes particles of a file that is not a catalogue. A file without particles is refused as by other
/// commands.
fn particles(job: &InfoJob, common: Common) -> Result<(), CommandError> {
    let path = &job.input;
    if !recognises_particles(path) {
        return Err(read_headers_with(path, &job.grid).map_or_else(CommandError::from, |_| {
            CommandError::about(path, "neither cells nor particles; expected a snapshot or a catalogue")
        }));
    }
    let input = open_particles(std::slice::from_ref(path))?;
    check_plot(job, common)?;
    let thresholds = job.thresholds.then(|| ThresholdAdvice::of_particles(path)).transpose()?;
    let about = input.about();
    let staged = staged_plot(job, about.format, thresholds.as_ref())?;
    out::finish(
        common,
        staged,
        || info_particles::text(path, about) + &advice_text(thresholds.as_ref()),
        || {
            let mut json = info_particles::json_of(path, about);
            json["thresholds"] = thresholds.as_ref().map_or(Value::Null, ThresholdAdvice::json);
            json
        },
    )
}

/// Checks the place of the picture.
fn check_plot(job: &InfoJob, common: Common) -> Result<(), CommandError> {
    let Some(plot) = &job.plot else { return Ok(()) };
    preflight::distinct(&[("input", &job.input), ("plot", plot)])?;
    preflight::picture(plot, common.force)
}

/// The suggested thresholds, or how to get them.
fn advice_text(thresholds: Option<&ThresholdAdvice>) -> String {
    match thresholds {
        Some(thresholds) => thresholds.text(),
        None => "thresholds  `inselberg info --thresholds` reads the density and suggests some\n".into(),
    }
}

/// Describes a format that no command reads.
fn foreign_format(job: &InfoJob, common: Common, name: &str) -> Result<(), CommandError> {
    without_thresholds(job, name)?;
    let shown = job.input.display();
    let text = || format!("{:<12}{shown}: {name}, which no command reads\n", "file");
    out::report(common, text, || json!({"path": shown.to_string(), "format": name}))
}

/// Refuses thresholds of an input that has neither cells nor particles.
fn without_thresholds(job: &InfoJob, what: &str) -> Result<(), CommandError> {
    match job.thresholds {
        false => Ok(()),
        true => {
            let expected = "a snapshot for --thresholds and --plot";
            Err(CommandError::about(&job.input, format!("{what}; expected {expected}")))
        }
    }
}

/// Describes a snapshot with cells.
fn snapshot(job: &InfoJob, common: Common) -> Result<(), CommandError> {
    check_plot(job, common)?;
    let snapshot = open_from(&read_headers_with(&job.input, &job.grid)?);
    let content = SnapshotCounts::from_snapshot(snapshot.as_ref())?;
    let noise = ImageNoise::of_image(snapshot.as_ref());
    let noise = noise.map_err(|error| CommandError::of_input(&job.input, &error))?;
    let (octs, field) = (content.levels.octs(), (&job.field, Rules::Paper));
    let thresholds = job
        .thresholds
        .then(|| ThresholdAdvice::read(&job.input, field, snapshot.as_ref(), octs, common.quiet))
        .transpose()?;
    let (header, path) = (snapshot.header(), job.input.display().to_string());
    let number = header.number.map_or(String::new(), |n| format!(" output {n}"));
    let staged = staged_plot(job, &format!("{}{number}", header.format), thresholds.as_ref())?;
    out::finish(
        common,
        staged,
        || {
            let text = text(&path, header, snapshot.as_ref(), &content);
            let of_noise = info_image::noise_lines(noise.as_ref()).into_iter();
            let text =
                text + &of_noise.map(|(name, value)| format!("{name:<12}{value}\n")).collect::<String>();
            // An image is cut by its noise.
            match noise.is_some() && thresholds.is_none() {
                true => text,
                false => text + &advice_text(thresholds.as_ref()),
            }
        },
        || {
            let mut json = json_of(&path, header, snapshot.as_ref(), (&content, noise.as_ref()));
            json["thresholds"] = thresholds.as_ref().map_or(Value::Null, ThresholdAdvice::json);
            json
        },
    )
}

/// The picture of the density, if requested.
#[cfg(feature = "plot")]
fn staged_plot(
    job: &InfoJob,
    of: &str,
    thresholds: Option<&ThresholdAdvice>,
) -> Result<Staged, CommandError> {
    let (Some(path), Some(thresholds)) = (&job.plot, thresholds) else { return Ok(Staged::default()) };
    interrupt::guard()?;
    let title = format!("{of}: volume and mass above a density, {}", thresholds.field.field.name);
    Ok(crate::report::plot::stage_distribution(path, &title, &thresholds.distribution.above())?)
}

/// This build draws no pictures, which is checked before.
#[cfg(not(feature = "plot"))]
fn staged_plot(_: &InfoJob, _: &str, _: Option<&ThresholdAdvice>) -> Result<Staged, CommandError> {
    Ok(Staged::default())
}

/// Totals over all pieces.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct SnapshotCounts {
    /// Octs by level.
    levels: LevelCounts,
    /// Particles by family.
    particles: BTreeMap<Family, u64>,
}

impl SnapshotCounts {
    fn from_snapshot(snapshot: &dyn Snapshot) -> ReadResult<Self> {
        let one = |piece| {
            let mut content =
                Self { levels: LevelCounts::of_piece(snapshot, piece)?, particles: BTreeMap::new() };
            if snapshot.has_particles() {
                snapshot.particles(piece, &mut |block| {
                    block.family.iter().for_each(|f| *content.particles.entry(*f).or_default() += 1);
                    Ok(())
                })?;
            }
            Ok(content)
        };
        (0..snapshot.header().n_pieces)
            .into_par_iter()
            .map(one)
            .try_reduce(Self::default, |a, b| Ok(a.joined(b)))
    }

    /// The cells along each axis and their number, if all have one size and fill the box.
    fn grid(&self, header: &Header) -> Option<String> {
        let [(level, n, leaves)] = self.levels.levels()[..] else { return None };
        let sides = header.coarse.map(|coarse| u64::from(coarse) << level);
        let is_full = n == leaves && sides.iter().product::<u64>() == n;
        let [x, y, z] = sides;
        is_full.then(|| format!("{x} x {y} x {z} of one size, {} in all", grouped(n)))
    }

    fn joined(mut self, other: Self) -> Self {
        self.levels = self.levels.joined(&other.levels);
        other.particles.into_iter().for_each(|(f, n)| *self.particles.entry(f).or_default() += n);
        self
    }
}

fn family_name(family: Family) -> &'static str {
    match family {
        Family::Gas => "gas",
        Family::DarkMatter => "dark matter",
        Family::Star => "stars",
        Family::Cloud => "sink clouds",
        Family::Debris => "debris",
        Family::Other => "other",
        Family::Tracer => "tracers",
    }
}

/// The header and the counts of a snapshot, one line per fact.
fn text(path: &str, header: &Header, snapshot: &dyn Snapshot, content: &SnapshotCounts) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12}{value}");
    };
    let number = header.number.map_or(String::new(), |n| format!(", output {n}"));
    line("snapshot", format!("{path} ({}{number}; pieces: {})", header.format, header.n_pieces));
    line("time", format!("{} (code units)", header.time));
    line("box", box_text(header, content.grid(header).is_some()));
    info_image::lines(snapshot).into_iter().for_each(|(name, value)| line(name, value));
    let units = &header.units;
    let units = match snapshot.has_units() {
        false => "none in the input".into(),
        true => format!(
            "length {:.6e} cm, density {:.6e} g/cm3{}, time {:.6e} s",
            units.length,
            units.density,
            if header.is_in_mean_densities() { " (the mean matter density)" } else { "" },
            units.time
        ),
    };
    line("units", units);
    if let Some(c) = &header.cosmology {
        line(
            "cosmology",
            format!(
                "aexp {} (z = {:.4}), H0 {} km/s/Mpc, omega_m {}, omega_l {}, omega_k {}, omega_b {}",
                c.aexp,
                1.0 / c.aexp - 1.0,
                c.h0,
                c.omega_m,
                c.omega_l,
                c.omega_k,
                c.omega_b
            ),
        );
        line("", info_particles::expansion_text(c));
    }
    let fields: Vec<_> = snapshot.fields().iter().map(|f| format!("{} ({})", f.name, f.family)).collect();
    line("fields", if fields.is_empty() { "none".into() } else { fields.join(", ") });
    snapshot.notes().into_iter().for_each(|note| line("note", note));
    if let Some(grid) = content.grid(header) {
        line("cells", grid);
    } else {
        line("levels", format!("{} to {}", header.levelmin, header.levelmax));
        line("", format!("{:>5} {:>18} {:>18}", "level", "cells", "leaf cells"));
        for (level, cells, leaves) in content.levels.levels() {
            line("", format!("{level:>5} {:>18} {:>18}", grouped(cells), grouped(leaves)));
        }
        line("", format!("{:>5} {:>18} {:>18}", "all", "", grouped(content.levels.leaves())));
    }
    if content.particles.is_empty() {
        line("particles", "none".into());
    }
    for (i, (family, n)) in content.particles.iter().enumerate() {
        line(if i == 0 { "particles" } else { "" }, format!("{:>18} {}", grouped(*n), family_name(*family)));
    }
    let (least, most) = content.levels.memory();
    line(
        "memory",
        format!(
            "a phew run takes {} to {} in addition to the input, more with more cells above the threshold",
            Bytes(least),
            Bytes(most)
        ),
    );
    text
}

fn box_text(header: &Header, is_uniform: bool) -> String {
    let wraps = |a: usize| if header.periodic[a] { "periodic" } else { "open" };
    let [x, y, z] = header.coarse;
    let same = header.periodic[1..].iter().all(|p| *p == header.periodic[0]);
    let around = if same { wraps(0).to_string() } else { [0, 1, 2].map(wraps).join(" ") };
    let has_coarse = header.coarse != [1; 3] && !is_uniform;
    let coarse = if has_coarse { format!(", {x} x {y} x {z} coarse cells") } else { String::new() };
    let comoving = header
        .comoving_side()
        .map_or(String::new(), |side| format!(" = {} Mpc/h comoving", (side * 1e3).round() / 1e3));
    let from = if header.origin == [0.0; 3] { String::new() } else { format!(", from {:?}", header.origin) };
    let side = match header.coarse {
        [1, 1, 1] => header.boxlen.to_string(),
        _ if !is_uniform => header.boxlen.to_string(),
        coarse => coarse.map(|n| (f64::from(n) * header.boxlen).to_string()).join(" x "),
    };
    format!("side {side} (code units){comoving}{from}, {around}{coarse}")
}

fn json_of(
    path: &str,
    header: &Header,
    snapshot: &dyn Snapshot,
    (content, noise): (&SnapshotCounts, Option<&ImageNoise>),
) -> Value {
    let levels: Vec<_> = content
        .levels
        .levels()
        .iter()
        .map(|(level, cells, leaves)| json!({"level": level, "cells": cells, "leaf_cells": leaves}))
        .collect();
    let fields: Vec<_> =
        snapshot.fields().iter().map(|f| json!({"name": f.name, "family": f.family})).collect();
    let particles: BTreeMap<_, _> =
        content.particles.iter().map(|(f, n)| (family_name(*f).replace(' ', "_"), n)).collect();
    let cosmology = header.cosmology.as_ref().map(|c| {
        json!({
            "aexp": c.aexp, "redshift": 1.0 / c.aexp - 1.0, "h0": c.h0, "omega_m": c.omega_m, "omega_l": c.omega_l,
            "omega_k": c.omega_k, "omega_b": c.omega_b, "omega_r": c.omega_r, "omega_nu": c.omega_nu, "w0": c.w0, "wa": c.wa,
            "hubble_rate": c.hubble_rate(), "critical_density": c.critical_density(), "assumed": c.assumed,
        })
    });
    let (least, most) = content.levels.memory();
    json!({
        "path": path, "format": header.format, "number": header.number, "pieces": header.n_pieces,
        "time": header.time, "boxlen": header.boxlen, "origin": header.origin, "coarse": header.coarse,
        "periodic": header.periodic, "levelmin": header.levelmin, "levelmax": header.levelmax,
        "units": snapshot.has_units().then(|| json!({
            "length": header.units.length, "density": header.units.density, "time": header.units.time,
        })),
        "image": info_image::json(snapshot, noise), "cosmology": cosmology, "fields": fields, "notes": snapshot.notes(), "levels": levels, "leaf_cells": content.levels.leaves(),
        "particles": particles, "memory_bytes": {"least": least, "most": most},
    })
}

/// The content of a catalogue as JSON.
pub fn describe_json(catalogue: &Catalogue) -> Value {
    let rows = catalogue.tables.iter().map(|t| (t.name.clone(), t.n_rows().into()));
    let attributes = catalogue.attributes.iter().map(|(name, value)| (name.clone(), attribute_json(value)));
    json!({
        "tables": rows.collect::<serde_json::Map<_, _>>(),
        "attributes": attributes.collect::<serde_json::Map<_, _>>(),
    })
}
