//! What a picture says of its catalogue, from the attributes: file, redshift, thresholds and region.

use crate::report::{DisplayUnit, DisplayUnits, short_number};
use inselberg_io::catalogue::units::MEGAPARSEC;
use inselberg_io::catalogue::{Attribute, Catalogue, Dimension, RUN_ATTRIBUTES};
use inselberg_io::input_paths;
use std::path::{Path, PathBuf};

/// The unit of thresholds that are in code units.
const CODE_UNIT: &str = "code unit";

/// The title: the file, its format, and the side and the redshift of its box.
pub fn title(catalogue: &Catalogue, input: &Path) -> String {
    let about = About(catalogue);
    let name =
        input.file_name().map_or_else(|| input.display().to_string(), |name| name.to_string_lossy().into());
    let format = about.text("input_format").map(|format| match about.int("input_number") {
        Some(number) => format!("{format} output {number}"),
        None => format.to_string(),
    });
    let aexp = about.real("aexp");
    let redshift = aexp.map(|aexp| match aexp {
        a if a > 1.0 => format!("a = {a:.3}"),
        a => format!("z = {:.2}", 1.0 / a - 1.0),
    });
    let parts = [Some(name), format, about.comoving_side(), redshift];
    parts.into_iter().flatten().collect::<Vec<_>>().join(",  ")
}

/// The thresholds with their units, and the selected part.
pub fn conditions(catalogue: &Catalogue, units: &DisplayUnits) -> String {
    let about = About(catalogue);
    let mut parts = Vec::new();
    if about.real("wall_threshold").is_some() {
        parts.extend(about.of_voids());
    } else if let Some(length) = about.real("linking_length") {
        parts.push(about.linking(length, &units.unit(Dimension::LENGTH)));
    } else {
        parts.extend(about.of_clumps(&units.unit(Dimension::DENSITY), units.are_of_image()));
    }
    parts.extend(
        about.text("field").filter(|field| *field != "specific_volume").map(|field| format!("field {field}")),
    );
    parts.extend(about.text("region").map(|region| format!("region {region}")));
    if let Some(Attribute::Reals(levels)) = catalogue.attribute("levels") {
        parts.push(format!("levels {}", levels.iter().map(f64::to_string).collect::<Vec<_>>().join(" to ")));
    }
    parts.extend(about.text("sky").map(|sky| format!("sky: {sky}")));
    parts.join(",  ")
}

/// The input from which a catalogue was made, as it states it; `path` if it does not.
pub fn origin(catalogue: &Catalogue, path: &Path) -> PathBuf {
    let about = About(catalogue);
    let line = about.text(RUN_ATTRIBUTES[0]);
    line.and_then(|line| input_paths(line).into_iter().next()).unwrap_or_else(|| path.into())
}

struct About<'a>(&'a Catalogue);

impl About<'_> {
    fn real(&self, name: &str) -> Option<f64> {
        match self.0.attribute(name)? {
            Attribute::Real(x) => Some(*x),
            _ => None,
        }
    }

    fn int(&self, name: &str) -> Option<i64> {
        match self.0.attribute(name)? {
            Attribute::Int(n) => Some(*n),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.0.attribute(name)? {
            Attribute::Text(text) => Some(text),
            _ => None,
        }
    }

    fn first(&self, name: &str) -> Option<f64> {
        match self.0.attribute(name)? {
            Attribute::Reals(all) => all.first().copied(),
            _ => None,
        }
    }

    /// `50 cMpc/h`.
    fn comoving_side(&self) -> Option<String> {
        let side = match (self.first("sides"), self.real("boxlen"), self.first("coarse_cells")) {
            (Some(side), ..) => side,
            (None, Some(boxlen), Some(coarse)) => boxlen * coarse,
            _ => return None,
        };
        let (length, aexp, h0) = (self.real("unit_length")?, self.real("aexp")?, self.real("h0")?);
        let side = side * length / MEGAPARSEC / aexp * h0 / 100.0;
        (aexp > 0.0 && h0 > 0.0).then(|| format!("{} cMpc/h", short_number(side)))
    }

    fn of_clumps(&self, unit: &DisplayUnit, of_image: bool) -> Vec<String> {
        let mut parts = Vec::new();
        let density = self.real("density_threshold").filter(|x| *x != 0.0);
        let value = if of_image { "value" } else { "density" };
        parts.extend(density.map(|x| format!("{value} > {}", self.density(x, unit))));
        if let Some(relevance) = self.real("relevance_threshold").filter(|x| *x > 0.0) {
            parts.push(match self.0.attribute("persistence") {
                None => format!("relevance > {}", short_number(relevance)),
                Some(_) => format!("relevance: difference > {}", self.density(relevance, unit)),
            });
        }
        let saddle = self.real("saddle_threshold").filter(|x| *x > 0.0);
        parts.extend(saddle.map(|x| format!("haloes joined at > {}", self.density(x, unit))));
        parts.extend(self.real("halo_relevance").map(|least| match self.0.attribute("persistence") {
            None => format!("haloes joined at relevance < {}", short_number(least)),
            Some(_) => format!("haloes joined at difference < {}", self.density(least, unit)),
        }));
        parts
    }

    /// A density in the unit of thresholds, or as pictures show densities.
    fn density(&self, threshold: f64, unit: &DisplayUnit) -> String {
        match (self.text("threshold_unit"), self.real("mean_density")) {
            (Some(name), mean) if name != CODE_UNIT => {
                format!("{} × {name}", short_number(threshold / mean.unwrap_or(1.0)))
            }
            _ => format!("{} {}", short_number(threshold * unit.factor), unit.shown()).trim_end().into(),
        }
    }

    fn of_voids(&self) -> Vec<String> {
        let mut parts = Vec::new();
        parts.extend(self.int("graph_neighbours").map(|n| format!("{n} neighbours")));
        parts.extend(self.real("relevance_threshold").map(|x| format!("relevance > {}", short_number(x))));
        let walls = self.real("wall_threshold").filter(|x| *x > 0.0);
        parts.extend(walls.map(|x| format!("walls > {} × mean", short_number(x))));
        let radius = self.real("min_radius").filter(|x| *x > 0.0);
        parts.extend(radius.map(|x| format!("radius > {} code lengths", short_number(x))));
        parts
    }

    fn linking(&self, length: f64, unit: &DisplayUnit) -> String {
        let ratio = self.real("linking_length_ratio").filter(|ratio| *ratio > 0.0);
        let ratio = ratio.map_or(String::new(), |x| format!(" ({} × mean separation)", short_number(x)));
        format!("linking length {} {}{ratio}", short_number(length * unit.factor), unit.shown())
    }
}
