//! `inselberg info` for particles without cells.

use super::driver::{assumed_cosmology_line, assumed_units_line};
use super::grouped::grouped;
use super::memory;
use super::memory::Bytes;
use crate::report::four_digits;
use inselberg_io::Cosmology;
use inselberg_io::particles::{DARK_MATTER, KIND_NAMES, MassOf, ParticleHeader, Species};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

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

/// A snapshot of particles or an array of positions, one line per fact.
pub fn text(path: &Path, about: &ParticleHeader) -> String {
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
    notes(about).into_iter().for_each(|note| line("note", note));
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
    if let Some(separation) = mean_separation(about) {
        let value = four_digits(separation);
        line(
            "separation",
            format!(
                "{value} (code units), the mean of dark-matter particles: volume per particle, cubic root"
            ),
        );
    }
    if let Some(c) = &about.cosmology {
        let omegas = format!("omega_m {}, omega_l {}, omega_b {}", c.omega_m, c.omega_l, c.omega_b);
        line(
            "cosmology",
            format!("aexp {} (z = {:.4}), H0 {} km/s/Mpc, {omegas}", c.aexp, redshift(c.aexp), c.h0),
        );
        line("", expansion_text(c));
    }
    for species in &about.species {
        let precision = if species.is_double { "double" } else { "single" };
        let n = grouped(species.n);
        let (name, kind) = (&species.name, kind_name(species));
        if let Some(problem) = &species.problem {
            line(name, format!("{n:>18} {kind}; not readable: {problem}"));
            continue;
        }
        let has = [
            (true, mass_text(species.mass)),
            (species.has_ids, "identities".into()),
            (species.has_velocities, "velocities".into()),
            (species.has_densities, "densities".into()),
        ];
        let has: Vec<_> = has.into_iter().filter(|(has, _)| *has).map(|(_, what)| what).collect();
        let kind =
            if species.has_wind { format!("{kind}, with wind cells, which are gas") } else { kind.into() };
        line(name, format!("{n:>18} {kind}; positions in {precision} precision, {}", has.join(", ")));
    }
    let bytes = search_bytes(about);
    line("memory", format!("a fof run on all of them takes at least {}", Bytes(bytes)));
    text
}

/// Notes for users about the input.
fn notes(about: &ParticleHeader) -> Vec<String> {
    about.notes.iter().cloned().chain(about.boundary_note(false)).collect()
}

/// The redshift at this expansion factor.
fn redshift(aexp: f64) -> f64 {
    1.0 / aexp - 1.0
}

/// The cube root of the volume of the box per dark-matter particle (code units); `None` without a box or dark
/// matter.
fn mean_separation(about: &ParticleHeader) -> Option<f64> {
    let n: u64 = about.species.iter().filter(|s| s.kind == Some(DARK_MATTER)).map(|s| s.n).sum();
    let volume = about.sides?.iter().product::<f64>();
    (n > 0).then(|| (volume / n as f64).cbrt())
}

/// The least bytes of a search for groups among all particles.
fn search_bytes(about: &ParticleHeader) -> u64 {
    let of_species = |s: &Species| {
        let column_bytes = if s.is_double { 24 } else { 12 } + if s.has_ids { 8 } else { 0 };
        memory::search_bytes(s.n, column_bytes)
    };
    about.species.iter().map(of_species).sum()
}

/// The same as JSON.
pub fn json_of(path: &Path, about: &ParticleHeader) -> Value {
    let species: Vec<Value> = about
        .species
        .iter()
        .map(|s| {
            json!({
                "name": s.name, "kind": s.kind, "n": s.n, "double": s.is_double, "ids": s.has_ids,
                "velocities": s.has_velocities, "densities": s.has_densities,
                "masses": s.mass != MassOf::Unknown, "wind": s.has_wind, "problem": s.problem,
                "mass": match s.mass {
                    MassOf::Same(mass) => Some(mass),
                    MassOf::Each | MassOf::Unknown => None,
                },
            })
        })
        .collect();
    let cosmology = about.cosmology.as_ref().map(|c| {
        json!({
            "aexp": c.aexp, "redshift": redshift(c.aexp), "h0": c.h0, "omega_m": c.omega_m,
            "omega_l": c.omega_l, "omega_b": c.omega_b, "omega_r": c.omega_r, "omega_nu": c.omega_nu, "w0": c.w0, "wa": c.wa,
            "hubble_rate": c.hubble_rate(), "critical_density": c.critical_density(), "assumed": c.assumed,
        })
    });
    let units = about
        .units
        .as_ref()
        .map(|units| json!({"length": units.length, "density": units.density, "time": units.time}));
    json!({
        "cosmology": cosmology, "units": units, "mean_separation": mean_separation(about),
        "memory_bytes": {"least": search_bytes(about)},
        "path": path.display().to_string(), "format": about.format, "sides": about.sides,
        "periodic": about.periodic, "time": about.time, "assumed_units": about.assumed_units,
        "species": species, "notes": notes(about),
    })
}

/// The parameters of a cosmology beyond matter, curvature and a constant, and derived values.
pub fn expansion_text(c: &Cosmology) -> String {
    let rate = format!("H {:.6e} 1/s, critical density {:.6e} g/cm3", c.hubble_rate(), c.critical_density());
    let all = [("w0", c.w0), ("wa", c.wa), ("omega_r", c.omega_r), ("omega_nu", c.omega_nu)];
    let is_stated = |(name, _): &(&str, f64)| !c.assumed.iter().any(|assumed| assumed == name);
    let stated: String =
        all.into_iter().filter(is_stated).map(|(name, value)| format!(", {name} {value}")).collect();
    let assumed = assumed_cosmology_line(c).map_or(String::new(), |line| format!("; {line}"));
    format!("{rate}{stated}{assumed}")
}
