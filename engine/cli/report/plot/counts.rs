//! Cumulative numbers of objects by mass or radius, on dark ground, in the colours of their circles.

use super::axis::PlotAxis;
use super::canvas::{Anchor, Canvas, Drawn, Frame};
use super::colours::{WHITE, YELLOW};
use super::frames::{LABEL, draw_axes, draw_dark_grid, draw_names};
use super::kinds::Shown;
use crate::report::units::DisplayUnits;
use plotters::prelude::DrawingBackend;

/// Pixels of a line.
const LINE: u32 = 3;

/// Draws them with axes and names. A value of `marked`, in code units, gets a line across.
pub fn draw_counts<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    frame: Frame,
    lists: &[Shown],
    units: &DisplayUnits,
    marked: Option<f64>,
) -> Drawn {
    let Some(first) = lists.first() else { return Ok(()) };
    let counted = first.kind.counted;
    let unit = units.unit(counted.dimension);
    let (x, y) = axes(lists.iter().map(|list| list.objects.masses.as_slice()));
    let shown = x.scaled(unit.factor);
    draw_dark_grid(canvas, frame, shown, y)?;
    // Wider lines first, so that equal numbers of two kinds are both seen.
    for (i, list) in lists.iter().enumerate() {
        let steps = steps(&list.objects.masses, (x, y), frame);
        if steps.len() > 1 {
            let wider = (lists.len() - 1 - i) as u32;
            canvas.line(&steps, list.kind.mark.colour, LINE - 1 + wider.min(2))?;
        }
    }
    if let Some(value) = marked.map(|value| x.place(value)).filter(|at| (0.0..=1.0).contains(at)) {
        let across = frame.left + value * (frame.right - frame.left);
        canvas.line(&[(across, frame.top), (across, frame.bottom)], YELLOW, 2)?;
        let (away, anchor) = if value > 0.8 { (-6.0, Anchor::Right) } else { (6.0, Anchor::Left) };
        canvas.coloured_text("this one", (across + away, frame.top + 16.0), LABEL, anchor, WHITE)?;
    }
    draw_axes(canvas, frame, shown, y)?;
    draw_names(canvas, frame, &unit.label(counted.across), counted.up, 76.0)?;
    if lists.iter().all(|list| list.objects.masses.is_empty()) {
        let middle = ((frame.left + frame.right) / 2.0, (frame.top + frame.bottom) / 2.0);
        canvas.coloured_text("nothing found", middle, LABEL, Anchor::Top, WHITE)?;
    }
    Ok(())
}

/// Axes of masses, which fall, and numbers.
fn axes<'a>(lists: impl Iterator<Item = &'a [f64]> + Clone) -> (PlotAxis, PlotAxis) {
    let least = lists.clone().filter_map(|m| m.last()).copied().fold(f64::NAN, f64::min);
    let largest = lists.clone().filter_map(|m| m.first()).copied().fold(f64::MIN_POSITIVE, f64::max);
    let most = lists.map(<[f64]>::len).max().unwrap_or(0).max(1) as f64;
    (PlotAxis::log(least / 1.3, largest * 1.3), PlotAxis::log(0.8, most.max(2.0) * 1.4))
}

/// A cumulative number in pixels, as a staircase; steps too small to see are skipped. The masses fall.
fn steps(masses: &[f64], (x, y): (PlotAxis, PlotAxis), frame: Frame) -> Vec<(f64, f64)> {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for (i, mass) in masses.iter().enumerate() {
        let across = frame.left + x.place(*mass) * (frame.right - frame.left);
        let up = frame.bottom - y.place(i as f64 + 1.0) * (frame.bottom - frame.top);
        let before = steps.last().copied().unwrap_or((across, frame.bottom));
        let seen = (before.0 - across).abs() > 0.5 || (before.1 - up).abs() > 0.5;
        if steps.is_empty() || seen || i + 1 == masses.len() {
            steps.extend([(across, before.1), (across, up)]);
        }
    }
    steps
}
