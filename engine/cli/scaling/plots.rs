//! The plots of a study, as SVG.

use super::Plot;
use super::chart::{Bar, Curve, LinePlot, N_COLOURS, bars, plot};
use super::measured::{Configuration, in_headline};
use super::model::Modelled;
use super::rate::Rate;
use super::sample::{ratio, step_of};
use super::study::Study;
use super::tables::stage_names;

/// Every plot for which the study has numbers.
///
/// # Errors
/// Those of the drawing library.
pub fn plots(study: &Study) -> Result<Vec<Plot>, String> {
    let mut all = Vec::new();
    if !study.configurations.is_empty() {
        let of: Vec<Configuration> = in_headline(&study.configurations).into_iter().cloned().collect();
        let of = of.as_slice();
        match study.weak.is_empty() {
            true => all.push(plot("speed_up", &speed_up(of))?),
            false => all.push(plot("seconds", &weak_seconds(of))?),
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
    if !study.weak.is_empty() {
        all.push(per_item(study)?);
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

/// One line per number of threads and size of inputs, over the number of ranks times threads.
fn by_threads(all: &[Configuration], of: impl Fn(&Configuration) -> f64) -> Vec<Curve> {
    let mut kinds: Vec<(usize, Option<u64>)> = all.iter().map(|c| (c.threads, c.size)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let has_sizes = kinds.iter().any(|kind| kind.1 != kinds[0].1);
    let line = |(threads, size): (usize, Option<u64>)| Curve {
        name: match size.filter(|_| has_sizes) {
            Some(size) => format!("{threads} thr., size {size}"),
            None => format!("{threads} thread{} per rank", if threads == 1 { "" } else { "s" }),
        },
        points: all
            .iter()
            .filter(|c| (c.threads, c.size) == (threads, size))
            .map(|c| (c.cores() as f64, of(c)))
            .collect(),
    };
    kinds.into_iter().map(line).collect()
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

/// One line per balance, number of threads and size of inputs, over the number of ranks.
fn by_kind(all: &[Modelled], name: &str, of: impl Fn(&Modelled) -> f64) -> Vec<Curve> {
    let mut kinds: Vec<&Modelled> = Vec::new();
    for m in all {
        if !kinds.iter().any(|kind| kind.is_like(m)) {
            kinds.push(m);
        }
    }
    let has_threads = kinds.iter().any(|kind| kind.threads > 1);
    let has_sizes = kinds.iter().any(|kind| kind.size != kinds[0].size);
    let line = |kind: &Modelled| {
        let balance = (!kind.balance.is_empty()).then(|| kind.balance.clone());
        let threads = has_threads.then(|| format!("{} thr.", kind.threads));
        let size = kind.size.filter(|_| has_sizes).map(|size| format!("size {size}"));
        let parts = [Some(name.to_string()), balance, threads, size];
        Curve {
            name: parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
            points: all.iter().filter(|m| m.is_like(kind)).map(|m| (m.ranks as f64, of(m))).collect(),
        }
    };
    kinds.into_iter().map(line).collect()
}

fn seconds(all: &[Modelled]) -> LinePlot {
    let of_first: Vec<Modelled> = first_kind(all).into_iter().cloned().collect();
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
    names.truncate(N_COLOURS);
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

/// The runs of the first kind.
fn first_kind(all: &[Modelled]) -> Vec<&Modelled> {
    all.iter().filter(|m| m.is_like(&all[0])).collect()
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

/// The stacked stages of each configuration.
fn stages(all: &[Configuration]) -> Result<Plot, String> {
    let bar = |c| measured_bar(c, format!("{}x{}", c.ranks, c.threads), 1.0);
    let all: Vec<Bar<'_>> = all.iter().map(bar).collect();
    bars("stages", "Seconds of the stages of measured runs, one upon the other", "seconds", &all)
}

/// The stacked times of all threads per item, so that ideal runs have equal bars (paper, figure 7): of
/// modelled runs, or else of measured ones.
fn per_item(study: &Study) -> Result<Plot, String> {
    const MICRO: f64 = 1e6;
    let name = |ranks: usize, threads: usize, size: Option<u64>| match size {
        Some(size) if study.weak.len() > 1 => format!("{ranks}x{threads}, {size}"),
        _ => format!("{ranks}x{threads}"),
    };
    let share = |rate: Rate| MICRO * rate.cores as f64 / rate.items.max(1) as f64;
    let of_measured = |c| measured_bar(c, name(c.ranks, c.threads, c.size), share(c.rate()));
    let of_modelled = |m| modelled_bar(m, name(m.ranks, m.threads, m.size), share(m.rate()));
    let (all, what): (Vec<Bar<'_>>, _) = match study.modelled.first() {
        None => (in_headline(&study.configurations).into_iter().map(of_measured).collect(), "measured"),
        Some(first) => {
            let alike = |m: &&Modelled| (&m.balance, m.threads) == (&first.balance, first.threads);
            (study.modelled.iter().filter(alike).map(of_modelled).collect(), "modelled")
        }
    };
    let title = format!("Microseconds of a thread per item in the stages of {what} runs");
    bars("per_item", &title, "us per item", &all)
}

/// The stages of a configuration in seconds, times `share`.
fn measured_bar(of: &Configuration, name: String, share: f64) -> Bar<'_> {
    Bar { name, parts: of.stages.iter().map(|s| (s.stage.as_str(), s.seconds.median * share)).collect() }
}

/// The same of a modelled run, steps together.
fn modelled_bar(of: &Modelled, name: String, share: f64) -> Bar<'_> {
    let mut parts: Vec<(&str, f64)> = Vec::new();
    for stage in &of.stages {
        let (stage, seconds) = (step_of(&stage.stage), stage.seconds * share);
        match parts.iter_mut().find(|part| part.0 == stage) {
            Some(part) => part.1 += seconds,
            None => parts.push((stage, seconds)),
        }
    }
    Bar { name, parts }
}
