//! The text files of an output: info, header and descriptors.

use super::part;
use super::{Descriptors, Ordering, OutputWriter, RamsesWriteResult, failed};
use crate::Family;
use crate::staging::hidden;
use std::fmt::Write as _;
use std::fs;

/// Writes all of them; in an output with I/O groups they are in the first group.
pub(super) fn write(job: &OutputWriter) -> RamsesWriteResult<()> {
    put(job, &format!("info_{:05}.txt", job.number), &info(job))?;
    if job.output.particles.is_some() {
        put(job, &format!("header_{:05}.txt", job.number), &header(job))?;
    }
    let hydro = job.output.fields.iter().filter(|field| field.family == "hydro");
    let hydro: Vec<_> = hydro.map(|field| field.name.as_str()).collect();
    match job.dialect.descriptors {
        Descriptors::Current => {
            let real = if job.dialect.single_precision { 'f' } else { 'd' };
            if !hydro.is_empty() {
                let columns = hydro.into_iter().map(|name| (name, real));
                put(job, "hydro_file_descriptor.txt", &current(columns))?;
            }
            if job.output.particles.is_some() {
                put(job, "part_file_descriptor.txt", &current(part::columns(job)))?;
            }
            Ok(())
        }
        Descriptors::Old if !hydro.is_empty() => put(job, "hydro_file_descriptor.txt", &old(&hydro)),
        Descriptors::Old | Descriptors::Missing => Ok(()),
    }
}

fn put(job: &OutputWriter, name: &str, text: &str) -> RamsesWriteResult<()> {
    let path = job.folder(0).join(name);
    hidden::making(|| fs::write(&path, text)).map_err(failed(&path))
}

fn info(job: &OutputWriter) -> String {
    let header = job.output.header;
    let mut text = String::new();
    let counts = [
        ("ncpu", job.split.n_cpus),
        ("ndim", 3),
        ("levelmin", usize::from(header.levelmin)),
        ("levelmax", job.n_levels()),
        ("ngridmax", job.layout.octs.len() + 1),
        ("nstep_coarse", 0),
    ];
    for (name, n) in counts {
        let _ = writeln!(text, "{name:<12}={n:11}");
    }
    let c = header.cosmology.as_ref();
    let reals = [
        ("boxlen", header.boxlen),
        ("time", header.time),
        ("aexp", c.map_or(1.0, |c| c.aexp)),
        ("H0", c.map_or(1.0, |c| c.h0)),
        ("omega_m", c.map_or(1.0, |c| c.omega_m)),
        ("omega_l", c.map_or(0.0, |c| c.omega_l)),
        ("omega_k", c.map_or(0.0, |c| c.omega_k)),
        ("omega_b", c.map_or(0.0, |c| c.omega_b)),
        ("unit_l", header.units.length),
        ("unit_d", header.units.density),
        ("unit_t", header.units.time),
    ];
    text.push('\n');
    for (name, x) in reals {
        let _ = writeln!(text, "{name:<12}={x:25.16E}");
    }
    let _ = writeln!(text, "\nordering type={:<80}", ordering_name(job.dialect.ordering));
    domains(job, &mut text);
    text
}

fn domains(job: &OutputWriter, text: &mut String) {
    if job.dialect.ordering == Ordering::Bisection {
        return;
    }
    let _ = writeln!(text, "   DOMAIN   ind_min                 ind_max");
    for (i, pair) in bounds(job).windows(2).enumerate() {
        let _ = writeln!(text, "{:8} {:23.15E} {:23.15E}", i + 1, pair[0], pair[1]);
    }
}

/// Bounds of the domains along the curve. They select every file for every region, since owners need not
/// follow a curve.
pub(super) fn bounds(job: &OutputWriter) -> Vec<f64> {
    let end = 8_f64.powi(job.n_levels() as i32);
    let n = job.split.n_cpus;
    (0..=n).map(|i| end * i as f64 / n as f64).collect()
}

pub(super) fn ordering_name(ordering: Ordering) -> &'static str {
    match ordering {
        Ordering::Hilbert => "hilbert",
        Ordering::Planar => "planar",
        Ordering::Angular => "angular",
        Ordering::Bisection => "bisection",
    }
}

fn header(job: &OutputWriter) -> String {
    let Some(all) = job.output.particles else { return String::new() };
    let families = [
        ("gas_tracer", Family::Tracer),
        ("DM", Family::DarkMatter),
        ("star", Family::Star),
        ("cloud", Family::Cloud),
        ("debris", Family::Debris),
        ("other", Family::Other),
    ];
    let mut text = "#      Family     Count\n".to_string();
    for (name, family) in families {
        let _ = writeln!(text, "{name:>13}{:10}", part::n_of(all, family));
    }
    text
}

fn current<'a>(columns: impl IntoIterator<Item = (&'a str, char)>) -> String {
    let mut text = "# version:  1\n# ivar, variable_name, variable_type\n".to_string();
    for (i, (name, letter)) in columns.into_iter().enumerate() {
        let _ = writeln!(text, "{:2}, {name}, {letter}", i + 1);
    }
    text
}

fn old(names: &[&str]) -> String {
    let mut text = format!("nvar        ={:11}\n", names.len());
    for (i, name) in names.iter().enumerate() {
        let _ = writeln!(text, "variable #{:3}: {name}", i + 1);
    }
    text
}
