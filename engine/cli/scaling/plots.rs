//! The plots of a study, as SVG.

use super::Plot;
use super::measured::{Configuration, in_headline};
use super::model::Modelled;
use super::sample::{ratio, step_of};
use super::study::Study;
use super::tables::stage_names;
use crate::report::plot::axis::PlotAxis;
use crate::report::plot::canvas::{Anchor, Canvas, Drawn, Frame, SCALE};
use crate::report::plot::{draw_axes, draw_grid, draw_names};
use plotters::prelude::{BLACK, DrawingBackend, IntoDrawingArea, RGBColor, SVGBackend};

const SIZE: (u32, u32) = (1000, 560);
const FRAME: Frame = Frame { left: 100.0, top: 60.0, right: 700.0, bottom: 470.0 };
const KEYS: f64 = 730.0;
const LABEL: f64 = 18.0;

/// Colours that colour-blind people can distinguish (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];
const GRID: RGBColor = RGBColor(225, 225, 225);
const IDEAL: RGBColor = RGBColor(150, 150, 150);

/// Points joined by a line.
struct Curve {
    name: String,
    points: Vec<(f64, f64)>,
}

/// A plot of lines.
struct LinePlot {
    title: String,
    across: &'static str,
    up: &'static str,
    lines: Vec<Curve>,
    ideal: Option<Vec<(f64, f64)>>,
    is_log: bool,
}

/// Every plot for which the study has numbers.
///
/// # Errors
/// Those of the drawing library.
pub fn plots(study: &Study) -> Result<Vec<Plot>, String> {
    let mut all = Vec::new();
    if !study.configurations.is_empty() {
        let of: Vec<Configuration> = in_headline(&study.configurations).into_iter().cloned().collect();
        let of = of.as_slice();
        match study.weak {
            None => all.push(plot("speed_up", &speed_up(of))?),
            Some(_) => all.push(plot("seconds", &weak_seconds(of))?),
        }
        all.push(plot("efficiency", &efficiency(of))?);
        all.push(stages(of)?);
        all.push(plot("stage_seconds", &stage_seconds(of))?);
        all.push(plot("imbalance", &imbalance(of))?);
    }
    if !study.modelled.is_empty() {
        let of = &study.modelled;
        all.push(plot("modelled_seconds", &seconds(of))?);
        all.push(plot("modelled_efficiency", &modelled_efficiency(of))?);
        all.push(plot("modelled_stages", &modelled_stages(of))?);
        if of.iter().any(|m| !m.quantities.is_empty()) {
            all.push(plot("domains", &domains(of))?);
            all.push(plot("saddle_entries", &saddle_entries(of))?);
        }
    }
    Ok(all)
}

/// The time of real runs whose inputs grow, with the time of the same efficiency as the smallest one.
fn weak_seconds(all: &[Configuration]) -> LinePlot {
    let ideal = |c: &Configuration| (c.cores() as f64, c.rate().ideal(&all[0].rate()));
    LinePlot {
        title: "Seconds of measured runs whose inputs grow with the threads".into(),
        across: "ranks x threads",
        up: "seconds",
        lines: by_threads(all, |c| c.seconds.median),
        ideal: Some(all.iter().map(ideal).collect()),
        is_log: false,
    }
}

/// One line per number of threads, over the number of ranks times threads.
fn by_threads(all: &[Configuration], of: impl Fn(&Configuration) -> f64) -> Vec<Curve> {
    let mut threads: Vec<usize> = all.iter().map(|c| c.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    let line = |n: usize| Curve {
        name: format!("{n} thread{} per rank", if n == 1 { "" } else { "s" }),
        points: all.iter().filter(|c| c.threads == n).map(|c| (c.cores() as f64, of(c))).collect(),
    };
    threads.into_iter().map(line).collect()
}

fn speed_up(all: &[Configuration]) -> LinePlot {
    let cores = all.iter().map(|c| c.cores() as f64);
    let first = cores.clone().fold(f64::INFINITY, f64::min);
    let last = cores.fold(first, f64::max);
    LinePlot {
        title: "Speed-up of measured runs over the smallest one, against threads in all".into(),
        across: "ranks x threads",
        up: "speed-up",
        lines: by_threads(all, |c| c.speed.speed_up),
        ideal: Some(vec![(first, 1.0), (last, last / first)]),
        is_log: true,
    }
}

fn efficiency(all: &[Configuration]) -> LinePlot {
    LinePlot {
        title: "Efficiency of measured runs: speed-up over how many times more threads there are".into(),
        across: "ranks x threads",
        up: "efficiency",
        lines: by_threads(all, |c| c.speed.efficiency),
        ideal: None,
        is_log: false,
    }
}

fn imbalance(all: &[Configuration]) -> LinePlot {
    LinePlot {
        title: "Load imbalance of measured runs: the most work of a rank over the mean".into(),
        across: "ranks x threads",
        up: "most/mean",
        lines: by_threads(all, |c| c.imbalance),
        ideal: None,
        is_log: false,
    }
}

/// One line per balance and number of threads, over the number of ranks.
fn by_kind(all: &[Modelled], name: &str, of: impl Fn(&Modelled) -> f64) -> Vec<Curve> {
    let mut kinds: Vec<(&str, usize)> = all.iter().map(|m| (m.balance.as_str(), m.threads)).collect();
    let has_threads = kinds.iter().any(|kind| kind.1 > 1);
    let mut seen = Vec::new();
    kinds.retain(|kind| {
        !seen.contains(kind) && {
            seen.push(*kind);
            true
        }
    });
    let line = |(balance, threads): (&str, usize)| Curve {
        name: match (balance, has_threads) {
            ("", false) => name.into(),
            ("", true) => format!("{name}, {threads} thr."),
            (balance, false) => format!("{name}, {balance}"),
            (balance, true) => format!("{name}, {balance}, {threads} thr."),
        },
        points: all
            .iter()
            .filter(|m| (m.balance.as_str(), m.threads) == (balance, threads))
            .map(|m| (m.ranks as f64, of(m)))
            .collect(),
    };
    kinds.into_iter().map(line).collect()
}

fn seconds(all: &[Modelled]) -> LinePlot {
    let first = all.first().map(|m| (m.balance.clone(), m.threads));
    let of_first: Vec<Modelled> =
        all.iter().filter(|m| Some((m.balance.clone(), m.threads)) == first).cloned().collect();
    let work = by_kind(&of_first, "work", |m| m.work_seconds);
    let communication = by_kind(&of_first, "messages", |m| m.communication_seconds);
    let ideal = |m: &Modelled| (m.ranks as f64, m.rate().ideal(&of_first[0].rate()));
    LinePlot {
        title: "Modelled time of all stages, and the work and the communication in it".into(),
        across: "ranks",
        up: "seconds",
        lines: by_kind(all, "all", |m| m.seconds).into_iter().chain(work).chain(communication).collect(),
        ideal: Some(of_first.iter().map(ideal).collect()),
        is_log: true,
    }
}

fn modelled_efficiency(all: &[Modelled]) -> LinePlot {
    LinePlot {
        title: "Modelled efficiency over the fewest ranks".into(),
        across: "ranks",
        up: "efficiency",
        lines: by_kind(all, "efficiency", |m| m.speed.efficiency),
        ideal: None,
        is_log: false,
    }
}

fn domains(all: &[Modelled]) -> LinePlot {
    let of = |m: &Modelled, words: &str| {
        let figure = || m.quantities.iter().find(|(name, _)| name.contains(words));
        // Groups have no mesh, and so no figures of its balance.
        if m.quantities.is_empty() { 1.0 } else { *figure().expect("every balance has this figure").1 }
    };
    let peaks = by_kind(all, "peaks", |m| of(m, "max/mean of peaks and ghosts"));
    let tests = by_kind(all, "test cells", |m| of(m, "test cells, max/mean"));
    LinePlot {
        title: "Imbalance of peaks with their ghosts and of test cells: the most on a rank over the mean"
            .into(),
        across: "ranks",
        up: "most/mean",
        lines: peaks.into_iter().chain(tests).collect(),
        ideal: None,
        is_log: false,
    }
}

/// The points that a logarithmic axis can show.
fn above_zero(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    points.filter(|point| point.1 > 0.0).collect()
}

/// The stages that take longest on any number of ranks, as many as there are colours.
fn longest(seconds: impl Fn(&str) -> f64, mut names: Vec<&str>) -> Vec<&str> {
    names.sort_by(|a, b| seconds(b).total_cmp(&seconds(a)));
    names.truncate(COLOURS.len());
    names
}

/// Each stage on the fastest configuration of each number of threads (paper, figure 6).
fn stage_seconds(all: &[Configuration]) -> LinePlot {
    let mut fastest: Vec<&Configuration> = Vec::new();
    for c in all {
        match fastest.last_mut() {
            Some(last) if last.cores() == c.cores() => {
                if c.seconds.median < last.seconds.median {
                    *last = c;
                }
            }
            _ => fastest.push(c),
        }
    }
    let points = |name: &str| -> Vec<(f64, f64)> {
        let of = |c: &&Configuration| Some((c.cores() as f64, c.stage(name)?.seconds.median));
        above_zero(fastest.iter().filter_map(of))
    };
    let most = |name: &str| points(name).iter().map(|point| point.1).fold(0.0, f64::max);
    let line = |name: &str| Curve { name: name.into(), points: points(name) };
    LinePlot {
        title: "Seconds of the longest stages of measured runs, the fastest for each number of threads"
            .into(),
        across: "ranks x threads",
        up: "seconds",
        lines: longest(most, stage_names(all)).into_iter().map(line).collect(),
        ideal: None,
        is_log: true,
    }
}

/// The runs of the first balance and number of threads.
fn first_kind(all: &[Modelled]) -> Vec<&Modelled> {
    let alike = |m: &&Modelled| (&m.balance, m.threads) == (&all[0].balance, all[0].threads);
    all.iter().filter(alike).collect()
}

/// Seconds of a stage, all its steps together.
fn modelled_seconds_of(m: &Modelled, name: &str) -> f64 {
    m.stages.iter().filter(|stage| step_of(&stage.stage) == name).map(|stage| stage.seconds).sum()
}

/// Each modelled stage (paper, figure 6).
fn modelled_stages(all: &[Modelled]) -> LinePlot {
    let runs = first_kind(all);
    let mut names: Vec<&str> = Vec::new();
    for stage in runs.iter().flat_map(|m| &m.stages) {
        if !names.contains(&step_of(&stage.stage)) {
            names.push(step_of(&stage.stage));
        }
    }
    let most = |name: &str| runs.iter().map(|m| modelled_seconds_of(m, name)).fold(0.0, f64::max);
    let line = |name: &str| Curve {
        name: name.into(),
        points: above_zero(runs.iter().map(|m| (m.ranks as f64, modelled_seconds_of(m, name)))),
    };
    LinePlot {
        title: "Modelled time of the longest stages".into(),
        across: "ranks",
        up: "seconds",
        lines: longest(most, names).into_iter().map(line).collect(),
        ideal: None,
        is_log: true,
    }
}

/// The most saddle entries and peaks on a rank and the time of merging, times ranks and scaled to one (paper,
/// figure 6).
fn saddle_entries(all: &[Modelled]) -> LinePlot {
    let runs = first_kind(all);
    let entries = |m: &Modelled, words: &str| {
        m.quantities.iter().find(|(name, _)| name.contains(words)).map_or(0.0, |(_, value)| *value)
    };
    let merging = |m: &Modelled| modelled_seconds_of(m, "forest") + modelled_seconds_of(m, "hierarchy");
    let line = |name: &str, of: &dyn Fn(&Modelled) -> f64| {
        let share = |m: &&Modelled| of(m) * m.ranks as f64 / m.items.max(1) as f64;
        let first = runs.first().map_or(1.0, &share);
        let point = |m: &&Modelled| (m.ranks as f64, ratio(share(m), first));
        Curve { name: name.into(), points: above_zero(runs.iter().map(point)) }
    };
    LinePlot {
        title: "The most of a rank times ranks, over that on the fewest ranks".into(),
        across: "ranks",
        up: "relative",
        lines: vec![
            line("saddle entries", &|m| entries(m, "saddle entries, most")),
            line("peaks and ghosts", &|m| entries(m, "peaks and ghost peaks, most")),
            line("time of merging", &merging),
        ],
        ideal: None,
        is_log: true,
    }
}

fn plot(name: &'static str, lines: &LinePlot) -> Result<Plot, String> {
    let (x, y) = axes(lines);
    draw(name, &lines.title, |canvas| {
        draw_grid(canvas, FRAME, PlotAxis::NONE, y)?;
        marks(lines).into_iter().try_for_each(|at| mark(canvas, x, at))?;
        let place = |&(a, b): &(f64, f64)| {
            (
                FRAME.left + x.place(a) * (FRAME.right - FRAME.left),
                FRAME.bottom - y.place(b) * (FRAME.bottom - FRAME.top),
            )
        };
        if let Some(ideal) = &lines.ideal {
            canvas.line(&ideal.iter().map(place).collect::<Vec<_>>(), IDEAL, 2)?;
            key(canvas, lines.lines.len(), IDEAL, "ideal")?;
        }
        for (i, line) in lines.lines.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let points: Vec<_> = line.points.iter().map(place).collect();
            if points.len() > 1 {
                canvas.line(&points, colour, 2)?;
            }
            points.iter().try_for_each(|point| marker(canvas, *point, i, colour))?;
            key(canvas, i, colour, &line.name)?;
            marker(canvas, (KEYS + 14.0, key_line(i)), i, colour)?;
        }
        draw_axes(canvas, FRAME, PlotAxis::NONE, y)?;
        draw_names(canvas, FRAME, lines.across, lines.up, 74.0)
    })
}

/// Ticks at the points themselves: these are few and rarely round numbers.
fn marks(lines: &LinePlot) -> Vec<f64> {
    let mut all: Vec<f64> = lines.lines.iter().flat_map(|line| &line.points).map(|point| point.0).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

fn mark<B: DrawingBackend>(canvas: &Canvas<'_, B>, x: PlotAxis, at: f64) -> Drawn {
    let across = FRAME.left + x.place(at) * (FRAME.right - FRAME.left);
    canvas.line(&[(across, FRAME.top), (across, FRAME.bottom + 5.0)], GRID, 1)?;
    canvas.text(&at.to_string(), (across, FRAME.bottom + 12.0), LABEL, Anchor::Top)
}

fn axes(lines: &LinePlot) -> (PlotAxis, PlotAxis) {
    let points = || lines.lines.iter().flat_map(|line| &line.points).chain(lines.ideal.iter().flatten());
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let values = points().map(of).filter(|v| v.is_finite());
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(0.0, f64::max))
    };
    let (x, y) = (ends(|p| p.0), ends(|p| p.1));
    let up = match lines.is_log {
        true => PlotAxis::log(y.0 / 1.3, y.1 * 1.3),
        // A ratio without an ideal line has 1 in its range.
        false => PlotAxis::linear(0.0, if lines.ideal.is_some() { y.1 } else { y.1.max(1.0) } * 1.1),
    };
    (PlotAxis::log(x.0 / 1.2, x.1 * 1.2), up)
}

/// Markers differ like the colours.
fn marker<B: DrawingBackend>(canvas: &Canvas<'_, B>, at: (f64, f64), i: usize, colour: RGBColor) -> Drawn {
    let around = Frame { left: at.0 - 5.0, top: at.1 - 5.0, right: at.0 + 5.0, bottom: at.1 + 5.0 };
    let everywhere = Frame { left: 0.0, top: 0.0, right: f64::from(SIZE.0), bottom: f64::from(SIZE.1) };
    match i % 3 {
        0 => canvas.fill(around, colour),
        1 => canvas.circle(at, 6.0, (colour, 2), everywhere),
        _ => canvas.line(
            &[
                (at.0 - 6.0, at.1),
                (at.0, at.1 - 6.0),
                (at.0 + 6.0, at.1),
                (at.0, at.1 + 6.0),
                (at.0 - 6.0, at.1),
            ],
            colour,
            2,
        ),
    }
}

/// The stacked stages of each configuration.
fn stages(all: &[Configuration]) -> Result<Plot, String> {
    let title = "Seconds of the stages of measured runs, one upon the other";
    let names = stage_names(all);
    let sum = |c: &Configuration| c.stages.iter().map(|s| s.seconds.median).sum::<f64>();
    let y = PlotAxis::linear(0.0, all.iter().map(sum).fold(0.0, f64::max) * 1.05);
    let width = (FRAME.right - FRAME.left) / all.len() as f64;
    draw("stages", title, |canvas| {
        draw_grid(canvas, FRAME, PlotAxis::NONE, y)?;
        for (i, c) in all.iter().enumerate() {
            let (left, right) =
                (FRAME.left + width * (i as f64 + 0.15), FRAME.left + width * (i as f64 + 0.85));
            let mut below = 0.0;
            for stage in &c.stages {
                let above = below + stage.seconds.median;
                let at = |v: f64| FRAME.bottom - y.place(v) * (FRAME.bottom - FRAME.top);
                let colour = shade(names.iter().position(|name| *name == stage.stage).unwrap_or(0));
                canvas.fill(Frame { left, top: at(above), right, bottom: at(below) }, colour)?;
                below = above;
            }
            let name = format!("{}x{}", c.ranks, c.threads);
            canvas.text(&name, ((left + right) / 2.0, FRAME.bottom + 12.0), LABEL, Anchor::Top)?;
        }
        names.iter().enumerate().try_for_each(|(i, name)| key(canvas, i, shade(i), name))?;
        draw_axes(canvas, FRAME, PlotAxis::NONE, y)?;
        draw_names(canvas, FRAME, "ranks x threads", "seconds", 74.0)
    })
}

/// A colour for each stage: those of the lines, then lighter ones, then darker ones.
fn shade(i: usize) -> RGBColor {
    let RGBColor(r, g, b) = COLOURS[i % COLOURS.len()];
    match i / COLOURS.len() {
        0 => RGBColor(r, g, b),
        1 => RGBColor(128 + r / 2, 128 + g / 2, 128 + b / 2),
        _ => RGBColor(r / 2, g / 2, b / 2),
    }
}

fn key_line(i: usize) -> f64 {
    FRAME.top + 12.0 + 28.0 * i as f64
}

fn key<B: DrawingBackend>(canvas: &Canvas<'_, B>, i: usize, colour: RGBColor, name: &str) -> Drawn {
    let y = key_line(i);
    canvas.fill(Frame { left: KEYS, top: y - 2.0, right: KEYS + 28.0, bottom: y + 2.0 }, colour)?;
    canvas.text(name, (KEYS + 38.0, y), LABEL, Anchor::Left)
}

fn draw(
    name: &'static str,
    title: &str,
    paint: impl FnOnce(&Canvas<'_, SVGBackend<'_>>) -> Drawn,
) -> Result<Plot, String> {
    let fine = (SIZE.0 * SCALE, SIZE.1 * SCALE);
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, fine).into_drawing_area();
    {
        let canvas = Canvas::new(&area, 0.0)?;
        let paper = Frame { left: 0.0, top: 0.0, right: f64::from(SIZE.0), bottom: f64::from(SIZE.1) };
        canvas.fill(paper, RGBColor(255, 255, 255))?;
        canvas.text(title, (20.0, 26.0), LABEL, Anchor::Left)?;
        canvas.line(&[(FRAME.left, FRAME.bottom), (FRAME.right, FRAME.bottom)], BLACK, 1)?;
        paint(&canvas)?;
    }
    area.present().map_err(|e| e.to_string())?;
    drop(area);
    let size = |(w, h): (u32, u32)| format!("width=\"{w}\" height=\"{h}\"");
    Ok(Plot { name, title: title.into(), svg: svg.replacen(&size(fine), &size(SIZE), 1) })
}
