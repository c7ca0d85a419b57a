//! Writes hydro and grav files.

use super::amr::list;
use super::layout::Domains;
use super::record::RecordWriter;
use super::{OutputWriter, RamsesWriteResult};

const GRAV: [&str; 5] = ["rho", "potential", "force_x", "force_y", "force_z"];

/// Writes the hydro and the grav file of `cpu`, as far as there are such fields.
pub(super) fn write(job: &OutputWriter, cpu: usize, domains: &Domains) -> RamsesWriteResult<()> {
    let hydro: Vec<_> = places(job, "hydro").map(Some).collect();
    if !hydro.is_empty() {
        let mut out = RecordWriter::create(&job.file("hydro", cpu), job.dialect)?;
        header(job, &mut out, &[hydro.len(), 3], true)?;
        blocks(job, out, domains, &hydro)?;
    }
    let grav = grav_columns(job);
    if !grav.is_empty() {
        let mut out = RecordWriter::create(&job.file("grav", cpu), job.dialect)?;
        header(job, &mut out, &[grav.len()], false)?;
        blocks(job, out, domains, &grav)?;
    }
    Ok(())
}

/// Columns of the fields of a family.
fn places<'a>(job: &'a OutputWriter, family: &'a str) -> impl Iterator<Item = usize> + 'a {
    let fields = job.output.fields.iter().enumerate();
    fields.filter(move |(_, field)| field.family == family).map(|(i, _)| i)
}

/// Columns of the values of a grav file, from the first that is given; `None` is written as 0.
fn grav_columns(job: &OutputWriter) -> Vec<Option<usize>> {
    let named = |name: &str| places(job, "grav").find(|&i| job.output.fields[i].name == name);
    let columns: Vec<_> = GRAV.iter().map(|name| named(name)).collect();
    match columns.iter().position(Option::is_some) {
        // At least the forces are always there.
        Some(first) => columns[first.min(2)..].to_vec(),
        None => Vec::new(),
    }
}

fn header(
    job: &OutputWriter,
    out: &mut RecordWriter,
    n_vars: &[usize],
    gamma: bool,
) -> RamsesWriteResult<()> {
    out.ints([job.split.n_cpus as i32])?;
    n_vars.iter().try_for_each(|&n| out.ints([n as i32]))?;
    out.ints([job.n_levels() as i32])?;
    out.ints([job.layout.boundaries.len() as i32])?;
    if gamma { out.reals([job.output.adiabatic_index]) } else { Ok(()) }
}

fn blocks(
    job: &OutputWriter,
    mut out: RecordWriter,
    domains: &Domains,
    columns: &[Option<usize>],
) -> RamsesWriteResult<()> {
    for level in 0..job.n_levels() {
        for cpu in 0..job.split.n_cpus {
            let octs = list(domains, level, cpu);
            open_block(&mut out, level, octs.len())?;
            for (cell, column) in (0..8).flat_map(|cell| columns.iter().map(move |c| (cell, c))) {
                let value = |&i: &u32| {
                    let (block, place) = job.layout.octs[i as usize].source;
                    column.map_or(0.0, |c| job.output.octs[block].values[c][place][cell])
                };
                if !octs.is_empty() {
                    out.reals(octs.iter().map(value))?;
                }
            }
        }
        for region in &job.layout.boundaries {
            let n = if level == 0 { region.len() } else { 0 };
            open_block(&mut out, level, n)?;
            for _ in 0..if n > 0 { 8 * columns.len() } else { 0 } {
                out.reals(vec![f64::NAN; n])?;
            }
        }
    }
    out.finish()
}

fn open_block(out: &mut RecordWriter, level: usize, n: usize) -> RamsesWriteResult<()> {
    out.ints([level as i32 + 1])?;
    out.ints([n as i32])
}
