//! The mass history of a track with its mergers, and its merger tree, as a picture.
//!
//! A branch has the same colour in both panels. In the tree time runs upwards, and the width of a branch is
//! the cube root of its mass. Branches that merge early stand next to their stem, so no two cross.

use super::axis::PlotAxis;
use super::canvas::{Anchor, Canvas, Drawn, Frame};
use super::frames::{draw_axes, draw_grid, draw_names};
use crate::report::history::{Branch, TrackHistory};
use crate::report::units::DisplayUnit;
use inselberg_io::catalogue::merger_tree::TrackName;
use inselberg_io::staging::{Staged, WriteResult};
use plotters::prelude::{BLACK, DrawingBackend, RGBColor};
use std::path::Path;

const SIZE: (u32, u32) = (1600, 800);
const MASSES: Frame = Frame { left: 120.0, top: 120.0, right: 780.0, bottom: 690.0 };
const TREE: Frame = Frame { left: 900.0, top: 120.0, right: 1560.0, bottom: 690.0 };
const KEYS: f64 = 90.0;
const TITLE: f64 = 24.0;
const LABEL: f64 = 18.0;
const SMALL: f64 = 16.0;

/// Most branches, with the track itself.
const MOST: usize = 24;
/// Okabe and Ito's colours, which differ in every kind of colour vision: of the track, and of its heaviest
/// branches.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];
const OTHERS: RGBColor = RGBColor(175, 175, 175);
const GRID: RGBColor = RGBColor(225, 225, 225);
/// Widths of branches in pixels: the least, and that of the largest mass.
const WIDTHS: (f64, f64) = (2.0, 14.0);
/// Width of a digit of a name in pixels.
const DIGIT: f64 = 8.8;
/// Redshifts with a mark, and the least distance of marks in pixels.
const REDSHIFTS: [f64; 14] = [0.0, 0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 15.0, 20.0];
const APART: f64 = 34.0;
/// Mass ratios from which mergers are called major and minor.
const MAJOR: f64 = 1.0 / 3.0;
const MINOR: f64 = 0.1;

/// Stages the picture of a track.
///
/// # Errors
/// The name is not that of a picture, or the place cannot be written.
pub fn stage_history(
    path: &Path,
    title: &str,
    subtitle: &str,
    history: &TrackHistory,
) -> WriteResult<Staged> {
    super::stage_drawing(path, &HistoryPlot::new(title, subtitle, history))
}

/// The picture of a track as SVG, for a page.
///
/// # Errors
/// When it cannot be drawn.
pub fn history_svg(title: &str, subtitle: &str, history: &TrackHistory) -> Result<String, String> {
    super::draw_svg(&HistoryPlot::new(title, subtitle, history))
}

struct HistoryPlot<'a> {
    title: &'a str,
    subtitle: &'a str,
    history: &'a TrackHistory<'a>,
    branches: Vec<Branch>,
    /// The column of each branch in the tree; that of the track is 0.
    columns: Vec<i32>,
    /// The range of times.
    times: (f64, f64),
    masses: PlotAxis,
    /// Pixels in the tree below the first time, for the names of tracks.
    room: f64,
}

impl<'a> HistoryPlot<'a> {
    fn new(title: &'a str, subtitle: &'a str, history: &'a TrackHistory<'a>) -> Self {
        let branches = history.branches(MOST);
        let columns = columns(&branches, history);
        let nodes = || branches.iter().flat_map(|branch| branch.nodes.iter().copied());
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
        };
        let times = ends(&mut nodes().map(|node| history.when(node)));
        let names = branches.iter().take(COLOURS.len()).map(|branch| name(history, branch).len());
        let longest = names.max().unwrap_or(0);
        let room = 0.03 * (times.1 - times.0).max(1e-6 * times.1.abs().max(1.0));
        let masses = ends(&mut nodes().map(|node| history.mass(node)).filter(|mass| *mass > 0.0));
        Self {
            title,
            subtitle,
            history,
            branches,
            columns,
            times: (times.0 - room, times.1 + room),
            masses: PlotAxis::log(masses.0 / 1.5, masses.1 * 1.8),
            room: 20.0 + DIGIT * longest as f64,
        }
    }

    fn colour(&self, branch: usize) -> RGBColor {
        COLOURS.get(branch).copied().unwrap_or(OTHERS)
    }

    /// The part of the range of times that has passed.
    fn passed(&self, when: f64) -> f64 {
        (when - self.times.0) / (self.times.1 - self.times.0)
    }

    /// Across, in the history.
    fn across(&self, when: f64) -> f64 {
        MASSES.left + self.passed(when) * (MASSES.right - MASSES.left)
    }

    /// The place of a node in the history; `None` without a mass.
    fn in_history(&self, node: usize) -> Option<(f64, f64)> {
        let up = self.masses.place(self.history.mass(node));
        let y = MASSES.bottom - up * (MASSES.bottom - MASSES.top);
        up.is_finite().then(|| (self.across(self.history.when(node)), y))
    }

    fn height(&self, when: f64) -> f64 {
        TREE.bottom - self.room - self.passed(when) * (TREE.bottom - self.room - TREE.top)
    }

    /// The place of a node of a branch in the tree.
    fn in_tree(&self, branch: usize, node: usize) -> (f64, f64) {
        let (low, high) = self.columns.iter().fold((0, 0), |(low, high), c| (low.min(*c), high.max(*c)));
        let step = ((TREE.right - TREE.left) / f64::from(high - low + 1)).min(90.0);
        let middle = (TREE.left + TREE.right) / 2.0;
        let x = middle + (f64::from(self.columns[branch]) - f64::from(low + high) / 2.0) * step;
        (x, self.height(self.history.when(node)))
    }

    /// Whether something between two nodes of a track was not seen: a gap, or an orphan.
    fn is_unseen(&self, from: usize, to: usize) -> bool {
        let tree = self.history.tree;
        tree.nodes.snapshot[to] > tree.nodes.snapshot[from] + 1 || tree.is_orphan(from) || tree.is_orphan(to)
    }

    fn width(&self, mass: f64) -> f64 {
        let largest = self.branches.iter().map(|branch| branch.mass).fold(f64::MIN_POSITIVE, f64::max);
        (WIDTHS.1 * (mass / largest).cbrt()).max(WIDTHS.0)
    }

    fn draw_history<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        draw_grid(canvas, MASSES, PlotAxis::NONE, self.masses)?;
        self.marks(|when| self.across(when)).into_iter().try_for_each(|(x, label)| {
            canvas.line(&[(x, MASSES.top), (x, MASSES.bottom + 5.0)], GRID, 1)?;
            canvas.text(&label, (x, MASSES.bottom + 12.0), LABEL, Anchor::Top)
        })?;
        for (i, branch) in self.branches.iter().enumerate().rev() {
            // Branches of branches are in the tree alone.
            if branch.into.is_some_and(|(stem, _)| stem != 0) {
                continue;
            }
            // Orphans have no mass.
            let nodes = branch.nodes.iter().copied();
            let nodes: Vec<usize> = nodes.filter(|node| self.history.mass(*node) > 0.0).collect();
            for pair in nodes.windows(2) {
                let (Some(from), Some(to)) = (self.in_history(pair[0]), self.in_history(pair[1])) else {
                    continue;
                };
                let wide = if i == 0 { 4 } else { 2 };
                let width = if self.is_unseen(pair[0], pair[1]) { 1 } else { wide };
                canvas.line(&[from, to], self.colour(i), width)?;
            }
            // Where it merges, a branch ends with its own last mass.
            let last = nodes.last().and_then(|node| self.in_history(*node));
            if let (Some((_, into)), Some((x, y))) = (branch.into, last) {
                let merger = (self.across(self.history.when(into)), y);
                canvas.line(&[(x, y), merger], self.colour(i), 1)?;
            }
        }
        for merger in &self.history.mergers {
            if let Some(at) = self.in_history(merger.into) {
                marker(canvas, at, merger.ratio)?;
            }
        }
        draw_axes(canvas, MASSES, PlotAxis::NONE, self.masses)?;
        let name = DisplayUnit::named(self.history.unit_names()[0]).label("mass");
        draw_names(canvas, MASSES, self.history.when_name(), &name, 84.0)?;
        let mut x = MASSES.left;
        for (ratio, name) in [(MAJOR, "merger 1:3 or more"), (MINOR, "1:10 to 1:3"), (0.0, "less than 1:10")]
        {
            marker(canvas, (x + 6.0, KEYS), ratio)?;
            canvas.text(name, (x + 22.0, KEYS), LABEL, Anchor::Left)?;
            x += 48.0 + 9.2 * name.len() as f64;
        }
        Ok(())
    }

    fn draw_tree<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        self.marks(|when| self.height(when)).into_iter().try_for_each(|(y, label)| {
            canvas.line(&[(TREE.left - 5.0, y), (TREE.right, y)], GRID, 1)?;
            canvas.text(&label, (TREE.left - 10.0, y), LABEL, Anchor::Right)
        })?;
        for (i, branch) in self.branches.iter().enumerate().rev() {
            let colour = self.colour(i);
            if let (Some((stem, node)), Some(last)) = (branch.into, branch.nodes.last()) {
                canvas.line(&[self.in_tree(i, *last), self.in_tree(stem, node)], colour, 2)?;
            }
            for pair in branch.nodes.windows(2) {
                let mass = self.history.mass(pair[0]);
                let width = if self.is_unseen(pair[0], pair[1]) { 1.0 } else { self.width(mass) };
                canvas.line(
                    &[self.in_tree(i, pair[0]), self.in_tree(i, pair[1])],
                    colour,
                    width.round() as u32,
                )?;
            }
            // A branch of one node is a dot.
            let (x, y) = self.in_tree(i, branch.nodes[0]);
            let half = 0.5 * self.width(self.history.mass(branch.nodes[0])).max(5.0);
            canvas
                .fill(Frame { left: x - half, top: y - half, right: x + half, bottom: y + half }, colour)?;
            if i < COLOURS.len() {
                let name = name(self.history, branch);
                let at = (x, y + half + 6.0 + 0.5 * DIGIT * name.len() as f64);
                canvas.coloured_text(&name, at, SMALL, Anchor::Upward, BLACK)?;
            }
        }
        canvas.frame(TREE, BLACK)?;
        let middle = ((TREE.left + TREE.right) / 2.0, TREE.bottom + 44.0);
        let n = self.branches.len() - 1;
        let shown = match n + 1 == MOST {
            true => format!("the {n} heaviest branches"),
            false => format!("all {n} branches"),
        };
        canvas.text(&format!("merger tree: {shown}"), middle, TITLE, Anchor::Top)?;
        let key = "width: cube root of mass; thin: not seen, or an orphan; numbers: tracks";
        canvas.text(key, (TREE.left, KEYS), LABEL, Anchor::Left)?;
        let at = (TREE.left - 84.0, (TREE.top + TREE.bottom) / 2.0);
        canvas.text(self.history.when_name(), at, TITLE, Anchor::Upward)
    }

    /// Marks of times, in pixels, with their labels: round redshifts, or round times.
    fn marks(&self, place: impl Fn(f64) -> f64) -> Vec<(f64, String)> {
        if !self.history.has_redshifts() {
            let axis = PlotAxis::linear(self.times.0, self.times.1);
            let when = |part: f64| self.times.0 + part * (self.times.1 - self.times.0);
            let marks =
                axis.ticks().into_iter().filter_map(|tick| Some((place(when(tick.place)), tick.label?)));
            return marks.collect();
        }
        let mut marks: Vec<(f64, String)> = Vec::new();
        for redshift in REDSHIFTS {
            let when = 1.0 / (1.0 + redshift);
            let at = place(when);
            let is_free = marks.last().is_none_or(|(last, _)| (at - last).abs() >= APART);
            if (self.times.0..=self.times.1).contains(&when) && is_free {
                marks.push((at, redshift.to_string()));
            }
        }
        marks
    }
}

impl super::Drawing for HistoryPlot<'_> {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        canvas.text(self.title, (20.0, 26.0), TITLE, Anchor::Left)?;
        canvas.text(self.subtitle, (20.0, 54.0), SMALL, Anchor::Left)?;
        self.draw_history(canvas)?;
        self.draw_tree(canvas)
    }
}

/// The name of the track of a branch.
fn name(history: &TrackHistory, branch: &Branch) -> String {
    TrackName(history.tree.nodes.track[branch.nodes[0]]).to_string()
}

/// A square, a circle or a dot, by the mass ratio.
fn marker<B: DrawingBackend>(canvas: &Canvas<'_, B>, at: (f64, f64), ratio: f64) -> Drawn {
    let square =
        |half: f64| Frame { left: at.0 - half, top: at.1 - half, right: at.0 + half, bottom: at.1 + half };
    let everywhere = Frame { left: 0.0, top: 0.0, right: SIZE.0.into(), bottom: SIZE.1.into() };
    match ratio {
        major if major >= MAJOR => canvas.fill(square(6.0), BLACK),
        minor if minor >= MINOR => canvas.circle(at, 6.0, (BLACK, 2), everywhere),
        _ => canvas.fill(square(2.0), BLACK),
    }
}

/// A column for each branch: early ones next to their stem. Branches of the track stand on both sides, others
/// on the side of their stem.
fn columns(branches: &[Branch], history: &TrackHistory) -> Vec<i32> {
    let mut branches_of: Vec<Vec<usize>> = vec![Vec::new(); branches.len()];
    for (i, branch) in branches.iter().enumerate() {
        if let Some((stem, _)) = branch.into {
            branches_of[stem].push(i);
        }
    }
    let end = |branch: usize| branches[branch].into.map(|(_, node)| history.tree.nodes.snapshot[node]);
    for list in &mut branches_of {
        list.sort_by_key(|branch| (end(*branch), *branch));
    }
    // A branch stands after its stem in the list, so widths come from the end.
    let mut widths = vec![1; branches.len()];
    for branch in (0..branches.len()).rev() {
        widths[branch] += branches_of[branch].iter().map(|other| widths[*other]).sum::<i32>();
    }
    let mut columns = vec![0; branches.len()];
    let mut sides = vec![1; branches.len()];
    let mut used = [1, 1];
    for stem in 0..branches.len() {
        let mut next = 1;
        for branch in &branches_of[stem] {
            let (side, away) = match stem {
                0 if used[1] < used[0] => (-1, &mut used[1]),
                0 => (1, &mut used[0]),
                _ => (sides[stem], &mut next),
            };
            sides[*branch] = side;
            columns[*branch] = columns[stem] + side * *away;
            *away += widths[*branch];
        }
    }
    columns
}
