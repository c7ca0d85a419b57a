//! The largest objects: as a table, and each with a zoomed map and its substructure.

use super::kinds::{PageKind, numbers};
use super::tree::{BoundPart, ListedClumps, tree};
use super::{ReportData, Zoom};
use crate::report::colour_choice::ColourChoice;
use crate::report::html::{HtmlCell, escaped, figure, table};
use crate::report::plot::kinds::{BOUND, CLUMPS, CircleMark, CircleRadius, MapCircle};
use crate::report::summary::grouped;
use crate::report::units::four_digits;
use inselberg_io::catalogue::{Dimension, Table};
use std::fmt::Write;

/// Rows of the table.
pub const N_ROWS: usize = 100;
/// Clumps with a circle on a zoomed map, and those with their identifiers.
const CIRCLES: (usize, usize) = (60, 8);

/// The section of the largest objects.
pub fn section(data: &ReportData<'_>) -> Result<String, String> {
    let kind = PageKind::of(data.catalogue);
    let (objects, many) = (kind.drawn.objects(data.catalogue), kind.drawn.name);
    let mut text = format!("<h2 id=\"objects\">The largest {many}</h2>\n");
    let Some(rows) = data.catalogue.table(kind.drawn.table).filter(|_| !objects.rows.is_empty()) else {
        return Ok(text + &format!("<p>No {} was found.</p>\n", kind.one));
    };
    let listed = &objects.rows[..objects.rows.len().min(N_ROWS)];
    let all = grouped(objects.n_rows as i64);
    let _ = match listed.len() == objects.n_rows {
        true => writeln!(text, "<p>All {all} {many}. Click on a heading to sort.</p>"),
        false => writeln!(
            text,
            "<p>The {} {} of {all} {many}; the catalogue has all. Click on a heading to sort.</p>",
            listed.len(),
            kind.drawn.counted.largest
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
        let own = ColourChoice { limits: None, ..data.colours };
        text += &figure(&map_id, "map", &data.drawn(map, own, &circles)?, &caption);
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
    let [position, mass] = kind.drawn.columns;
    let positions = rows.vectors(position).expect("objects have positions");
    let with_unit = |name: &str, dimension: Dimension| data.units.unit(dimension).label(name);
    let mut header = vec![kind.id.to_string()];
    let mut columns: Vec<(Vec<f64>, f64, bool)> = Vec::new();
    for name in [&[mass], kind.further[0], kind.further[1]].concat() {
        let (Some(column), Some(values)) = (rows.column(name), numbers(rows, name)) else { continue };
        header.push(with_unit(name, column.dimension));
        let is_count = column.dimension == Dimension::NONE && values.iter().all(|value| value.fract() == 0.0);
        columns.push((values, data.units.unit(column.dimension).factor, is_count));
    }
    for (name, label) in sky_columns(data) {
        if let Some(values) = numbers(rows, &name) {
            header.push(label);
            columns.push((values, 1.0, false));
        }
    }
    header.extend(["x", "y", "z"].map(|axis| with_unit(axis, Dimension::LENGTH)));
    if clumps.is_some() {
        header.push("clumps".into());
    }
    let has_satellites = clumps.is_some_and(ListedClumps::are_bound);
    if has_satellites {
        header.push("satellites".into());
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
            if has_satellites {
                let n = clumps.n_satellites(id as u64);
                cells.push(HtmlCell::number(n as f64, grouped(n as i64)));
            }
        }
        cells
    };
    let body: Vec<_> = listed.iter().map(cells).collect();
    let caption = format!("The {} {}", kind.drawn.counted.largest, kind.drawn.name);
    table("largest", &caption, &header, &body, true)
}

/// The columns of sky coordinates of an image, each with its name and unit.
fn sky_columns(data: &ReportData<'_>) -> Vec<(String, String)> {
    let axes = data.sky.iter().flat_map(|sky| sky.axes());
    let column = |axis: &inselberg_kernels::sky::WorldAxis| {
        let name = format!("peak_{}", axis.name);
        let label = if axis.unit.is_empty() { name.clone() } else { format!("{name} [{}]", axis.unit) };
        (name, label)
    };
    axes.map(column).collect()
}

/// The object and the clumps in it.
fn circles(
    kind: PageKind,
    rows: &Table,
    row: usize,
    clumps: Option<&ListedClumps>,
    least_cells: u64,
) -> Vec<MapCircle> {
    let position = rows.vectors(kind.drawn.columns[0]).expect("objects have positions")[row];
    let radius = kind.drawn.radii(rows).map(|radii| radii[row]).filter(|radius| radius.is_finite());
    let radius = radius.map_or(CircleRadius::Pixels(3.0), CircleRadius::Length);
    let own = MapCircle { position, radius, mark: kind.drawn.mark, label: String::new() };
    let inner = |position: [f64; 3], radius: f64, mark: CircleMark, label: String| MapCircle {
        position,
        radius: CircleRadius::Length(radius),
        mark,
        label,
    };
    let mut circles = vec![own];
    let id = numbers(rows, kind.id).expect("every list has identifiers")[row] as u64;
    let large = clumps.into_iter().flat_map(|clumps| clumps.largest_of(id));
    let large: Vec<_> = large.filter(|clump| clump.n_cells >= least_cells).take(CIRCLES.0).collect();
    for (i, clump) in large.iter().enumerate() {
        let label = if i < CIRCLES.1 { clump.id.to_string() } else { String::new() };
        circles.push(inner(clump.position, clump.radius, CLUMPS.mark, label));
    }
    let bound = large.iter().filter_map(|clump| clump.bound);
    let of_bound = |of: BoundPart| inner(of.position, of.half_mass_radius, BOUND.mark, String::new());
    circles.extend(bound.map(of_bound));
    circles
}
