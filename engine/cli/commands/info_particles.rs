//! `inselberg info` on particles alone.

use super::driver::assumed_units_line;
use super::fault::CommandError;
use super::out;
use super::out::grouped;
use crate::config::Common;
use inselberg_io::particles::{KIND_NAMES, MassOf, ParticleHeader, ParticleInput, Species};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Describes a snapshot of particles or an array of positions.
pub fn describe(path: &Path, input: &dyn ParticleInput, common: Common) -> Result<(), CommandError> {
    let about = input.about();
    out::report(common, || text(path, about), || json_of(path, about))
}

fn kind_name(species: &Species) -> &'static str {
    species.kind.and_then(|kind| KIND_NAMES.get(usize::from(kind)).copied()).unwrap_or("several kinds")
}

fn mass_text(mass: MassOf) -> String {
    match mass {
        MassOf::Same(mass) => format!("mass {mass}"),
        MassOf::Each => "masses".into(),
        MassOf::Unknown => "no masses".into(),
    }
}

fn text(path: &Path, about: &ParticleHeader) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12}{value}");
    };
    line("particles", format!("{} ({})", path.display(), about.format));
    let around = if about.periodic { "periodic" } else { "open" };
    line(
        "box",
        about
            .sides
            .map_or("not stated".into(), |[x, y, z]| format!("{x} x {y} x {z} (code units), {around}")),
    );
    if let Some(units) = &about.units {
        let mass = units.density * units.length.powi(3);
        line(
            "units",
            format!("length {:.6e} cm, mass {mass:.6e} g, time {:.6e} s", units.length, units.time),
        );
    }
    if let Some(assumption) = assumed_units_line(about) {
        line("", assumption);
    }
    if let Some(c) = &about.cosmology {
        let omegas = format!("omega_m {}, omega_l {}, omega_b {}", c.omega_m, c.omega_l, c.omega_b);
        line("cosmology", format!("aexp {}, H0 {} km/s/Mpc, {omegas}", c.aexp, c.h0));
    }
    for species in &about.species {
        let precision = if species.is_double { "double" } else { "single" };
        let has = [
            (true, mass_text(species.mass)),
            (species.has_ids, "identities".into()),
            (species.has_velocities, "velocities".into()),
            (species.has_densities, "densities".into()),
        ];
        let has: Vec<_> = has.into_iter().filter(|(has, _)| *has).map(|(_, what)| what).collect();
        let n = grouped(species.n);
        let (name, kind) = (&species.name, kind_name(species));
        line(name, format!("{n:>18} {kind}; positions in {precision} precision, {}", has.join(", ")));
    }
    text
}

fn json_of(path: &Path, about: &ParticleHeader) -> Value {
    let species: Vec<Value> = about
        .species
        .iter()
        .map(|s| {
            json!({
                "name": s.name, "kind": s.kind, "n": s.n, "double": s.is_double, "ids": s.has_ids,
                "velocities": s.has_velocities, "densities": s.has_densities, "masses": mass_text(s.mass),
            })
        })
        .collect();
    json!({
        "path": path.display().to_string(), "format": about.format, "sides": about.sides,
        "periodic": about.periodic, "time": about.time, "assumed_units": about.assumed_units,
        "species": species,
    })
}
