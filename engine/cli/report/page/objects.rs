//! The largest objects: as a table, and each with a zoomed map and its substructure.

use super::kinds::{PageKind, numbers};
use super::tree::{ListedClumps, tree};
use super::{ReportData, Zoom};
use crate::report::html::{HtmlCell, escaped, figure, table};
use crate::report::plot::colour::colour_axis;
use crate::report::plot::objects::{Objects, radii};
use crate::report::plot::{MapCircle, MapStyle, map_svg};
use crate::report::summary::grouped;
use crate::report::units::four_digits;
use inselberg_io::catalogue::{Dimension, Table};
use std::fmt::Write;

/// Rows of the table.
pub const N_ROWS: usize = 100;
/// Clumps with a circle on a zoomed map, and those with their identifiers.
const CIRCLES: (usize, usize) = (60, 8);

/// The section of the largest objects.
pub fn section(data: &ReportData<'_>, style: MapStyle<'_>) -> Result<String, String> {
    let kind = PageKind::of(data.catalogue);
    let objects = Objects::new(data.catalogue, kind.table, kind.position, kind.mass);
    let mut text = format!("<h2 id=\"objects\">The largest {}</h2>\n", kind.many);
    let Some(rows) = data.catalogue.table(kind.table).filter(|_| !objects.rows.is_empty()) else {
        return Ok(text + &format!("<p>No {} was found.</p>\n", kind.one));
    };
    let listed = &objects.rows[..objects.rows.len().min(N_ROWS)];
    let all = grouped(objects.n_rows as i64);
    let _ = match listed.len() == objects.n_rows {
        true => writeln!(text, "<p>All {all} {}. Click on a heading to sort.</p>", kind.many),
        false => writeln!(
            text,
            "<p>The {} most massive of {all} {}; the catalogue has all. Click on a heading to sort.</p>",
            listed.len(),
            kind.many
        ),
    };
    let clumps = ListedClumps::new(data.catalogue);
    text += &listing(data, kind, rows, listed, clumps.as_ref());
    for Zoom { row, map } in &data.zooms {
        let id = numbers(rows, kind.id).expect("every list has identifiers")[*row];
        let circles = circles(kind, rows, *row, clumps.as_ref(), data.least.cells);
        let caption =
            format!("{} {id} and its surroundings, along {}", kind.one, ["x", "y", "z"][map.view.along]);
        let map_id = format!("zoom-{id}");
        let _ = writeln!(
            text,
            "<section class=\"object\" id=\"object-{id}\">\n<h3>{} {id}</h3>",
            escaped(kind.one)
        );
        text += "<div class=\"beside\">\n";
        let style = MapStyle { colours: colour_axis(std::iter::once(map)), ..style };
        text += &figure(&map_id, "map", &map_svg(map, style, &circles)?, &caption);
        if let Some(clumps) = &clumps {
            text += &tree(clumps, id as u64, &data.units);
        }
        text += "</div>\n</section>\n";
    }
    Ok(text)
}

/// The table of the listed rows.
fn listing(
    data: &ReportData<'_>,
    kind: PageKind,
    rows: &Table,
    listed: &[usize],
    clumps: Option<&ListedClumps>,
) -> String {
    let has_zoom = |row: usize| data.zooms.iter().any(|zoom| zoom.row == row);
    let ids = numbers(rows, kind.id).expect("every list has identifiers");
    let positions = rows.vectors(kind.position).expect("objects have positions");
    let with_unit = |name: &str, dimension: Dimension| data.units.unit(dimension).label(name);
    let mut header = vec![kind.id.to_string()];
    let mut columns: Vec<(Vec<f64>, f64, bool)> = Vec::new();
    for name in [&[kind.mass], kind.further].concat() {
        let (Some(column), Some(values)) = (rows.column(name), numbers(rows, name)) else { continue };
        header.push(with_unit(name, column.dimension));
        let is_count = column.dimension == Dimension::NONE && values.iter().all(|value| value.fract() == 0.0);
        columns.push((values, data.units.unit(column.dimension).factor, is_count));
    }
    header.extend(["x", "y", "z"].map(|axis| with_unit(axis, Dimension::LENGTH)));
    if clumps.is_some() {
        header.push("clumps".into());
    }
    let length = data.units.unit(Dimension::LENGTH).factor;
    let cells = |row: &usize| {
        let id = ids[*row];
        let mut cells = vec![HtmlCell {
            link: has_zoom(*row).then(|| format!("#object-{id}")),
            ..HtmlCell::number(id, id.to_string())
        }];
        cells.extend(columns.iter().map(|(values, factor, is_count)| {
            let value = values[*row] * factor;
            let shown = if *is_count { grouped(value as i64) } else { four_digits(value) };
            HtmlCell::number(value, shown)
        }));
        cells.extend(positions[*row].map(|x| HtmlCell::number(x * length, four_digits(x * length))));
        if let Some(clumps) = clumps {
            let n = clumps.n_of(id as u64);
            cells.push(HtmlCell::number(n as f64, grouped(n as i64)));
        }
        cells
    };
    let body: Vec<_> = listed.iter().map(cells).collect();
    table("largest", &format!("The most massive {}", kind.many), &header, &body, true)
}

/// The object and the clumps in it.
fn circles(
    kind: PageKind,
    rows: &Table,
    row: usize,
    clumps: Option<&ListedClumps>,
    least_cells: u64,
) -> Vec<MapCircle> {
    let position = rows.vectors(kind.position).expect("objects have positions")[row];
    let radius = radii(rows).map_or(f64::NAN, |radii| radii[row]);
    let mut circles = vec![MapCircle { position, radius, is_inner: false, label: String::new() }];
    let id = numbers(rows, kind.id).expect("every list has identifiers")[row] as u64;
    let large = clumps.into_iter().flat_map(|clumps| clumps.largest_of(id));
    let large = large.filter(|clump| clump.n_cells >= least_cells);
    for (i, clump) in large.take(CIRCLES.0).enumerate() {
        let label = if i < CIRCLES.1 { clump.id.to_string() } else { String::new() };
        let (position, radius) = (clump.position, clump.radius);
        circles.push(MapCircle { position, radius, is_inner: true, label });
    }
    circles
}
