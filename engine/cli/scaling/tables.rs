//! The tables of a study.

use super::limits::limits;
use super::measured::{Configuration, StageTimes};
use super::model::Modelled;
use super::paper::{balance, merging};
use super::study::{Check, Study};
use super::table::{StudyTable, TableCell};
use std::fmt::Write;

/// A column: its name and its values.
type StudyColumn<'a, T> = (&'a str, Box<dyn Fn(&T) -> TableCell + 'a>);

/// Every table of a study that has rows; the first is the main one.
pub fn tables(study: &Study) -> Vec<StudyTable> {
    let all = [
        measured(study),
        ranks(study),
        stages(study),
        modelled(study),
        domains(study),
        modelled_stages(study),
        merging(study),
        balance(study),
        checks(study),
    ];
    all.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// All tables, the notes and the provenance, as Markdown.
pub fn markdown(study: &Study) -> String {
    let from = &study.provenance;
    let mut text = format!("# {}\n\n", study.title());
    for (name, value) in from.lines() {
        let _ = writeln!(text, "- {}: {value}", name.to_lowercase());
    }
    let command = from.command.replace('\n', "\n    ");
    let _ = writeln!(text, "\n    {command}\n");
    for line in limits(study).iter().chain(&study.notes) {
        let _ = writeln!(text, "{line}\n");
    }
    for table in tables(study) {
        text += &table.markdown();
        text += "\n";
    }
    if !from.runs.is_empty() {
        text += "## Runs\n\n";
        from.runs.iter().for_each(|run| text += &format!("    {run}\n"));
    }
    text
}

fn table<T>(
    name: &'static str,
    title: &str,
    about: String,
    columns: &[StudyColumn<'_, T>],
    of: &[T],
) -> StudyTable {
    StudyTable {
        name,
        title: title.into(),
        about,
        header: columns.iter().map(|(name, _)| (*name).to_string()).collect(),
        rows: of.iter().map(|row| columns.iter().map(|(_, cell)| cell(row)).collect()).collect(),
    }
}

macro_rules! columns {
    ($of:ty; $($name:expr => $value:expr),* $(,)?) => {{
        let columns: Vec<StudyColumn<'_, $of>> = vec![$(($name, Box::new($value))),*];
        columns
    }};
}

fn measured(study: &Study) -> StudyTable {
    let columns = columns![Configuration;
        "ranks" => |c: &Configuration| c.ranks.into(),
        "threads" => |c: &Configuration| c.threads.into(),
        "runs" => |c: &Configuration| c.runs.into(),
        "seconds" => |c: &Configuration| c.seconds.median.into(),
        "least" => |c: &Configuration| c.seconds.least.into(),
        "most" => |c: &Configuration| c.seconds.most.into(),
        "deviation" => |c: &Configuration| c.seconds.deviation.into(),
        "with start" => |c: &Configuration| c.wall_seconds.median.into(),
        "speed-up" => |c: &Configuration| c.speed.speed_up.into(),
        "efficiency" => |c: &Configuration| c.speed.efficiency.into(),
        "serial fraction" => |c: &Configuration| c.speed.serial_fraction.into(),
        "items" => |c: &Configuration| c.items.into(),
        "items per second" => |c: &Configuration| c.items_per_second.into(),
        "peak memory, bytes" => |c: &Configuration| c.peak_memory_bytes.into(),
        "processors" => |c: &Configuration| processors(c),
    ];
    let about = format!(
        "Threads are those of each rank; items are {}. Seconds are of all stages, the median over the runs with their \
         standard deviation. Speed-up is in items per second, over the first row with a processor for each thread; the \
         serial fraction follows from it (Karp and Flatt). Memory is that of the largest process. A row whose processors are shared had \
         more threads than processors, and is in no plot.",
        study.items()
    );
    table("measured", "Measured runs", about, &columns, &study.configurations)
}

/// The processors of all hosts, marked if they were fewer than threads.
fn processors(c: &Configuration) -> TableCell {
    let n: usize = c.hosts.iter().map(|host| host.processors).sum();
    let shown = if n == 0 { String::new() } else { n.to_string() };
    match c.shares_processors {
        true => TableCell::Text(format!("{shown} shared")),
        false => TableCell::Text(shown),
    }
}

fn ranks(study: &Study) -> StudyTable {
    let columns = columns![Configuration;
        "ranks" => |c: &Configuration| c.ranks.into(),
        "threads" => |c: &Configuration| c.threads.into(),
        "hosts" => |c: &Configuration| c.hosts.len().into(),
        "work" => |c: &Configuration| c.parts.work_seconds.into(),
        "wait" => |c: &Configuration| c.parts.wait_seconds.into(),
        "messages, s" => |c: &Configuration| c.parts.message_seconds.into(),
        "imbalance" => |c: &Configuration| c.imbalance.into(),
        "processor seconds" => |c: &Configuration| c.processor_seconds.into(),
        "other load" => |c: &Configuration| c.other_processors.into(),
        "exchanges" => |c: &Configuration| c.exchanges.into(),
        "messages" => |c: &Configuration| c.messages.into(),
        "bytes" => |c: &Configuration| c.bytes.into(),
        "other calls" => |c: &Configuration| c.other_calls.into(),
    ];
    let about = "Seconds of the mean rank: work is outside of calls of other ranks; messages are calls of the rank that \
                 waits least, stage by stage, and wait is the rest. Imbalance is the most work over the mean. Other load \
                 is the number of processors that other programs kept busy on the host of the study."
        .to_string();
    table("ranks", "What ranks did", about, &columns, &study.configurations)
}

fn stages(study: &Study) -> StudyTable {
    let header = [
        "stage",
        "ranks",
        "threads",
        "seconds",
        "least",
        "most",
        "deviation",
        "speed-up",
        "efficiency",
        "serial fraction",
        "work",
        "wait",
        "messages, s",
        "imbalance",
        "items per second",
    ];
    let row = |name: &str, of: &Configuration| -> Option<Vec<TableCell>> {
        let StageTimes { seconds, speed, parts, imbalance, items_per_second, .. } = of.stage(name)?;
        let times = [seconds.median, seconds.least, seconds.most].map(TableCell::from);
        let speeds = [Some(speed.speed_up), Some(speed.efficiency), speed.serial_fraction];
        let parts = [parts.work_seconds, parts.wait_seconds, parts.message_seconds, *imbalance];
        let head = vec![name.into(), of.ranks.into(), of.threads.into()];
        let rest = [seconds.deviation].into_iter().chain(speeds).chain(parts.map(Some));
        Some([head, times.to_vec(), rest.chain([*items_per_second]).map(TableCell::from).collect()].concat())
    };
    let names = stage_names(&study.configurations);
    let rows =
        names.iter().flat_map(|name| study.configurations.iter().filter_map(|c| row(name, c))).collect();
    StudyTable {
        name: "stages",
        title: "Measured stages".into(),
        about: "Seconds of the slowest rank, the median over the runs with their standard deviation; the rest as above."
            .into(),
        header: header.map(String::from).to_vec(),
        rows,
    }
}

/// The stages of all runs, in the order of their first appearance.
pub(super) fn stage_names(all: &[Configuration]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for stage in all.iter().flat_map(|c| &c.stages) {
        if !names.contains(&stage.stage.as_str()) {
            names.push(&stage.stage);
        }
    }
    names
}

fn modelled(study: &Study) -> StudyTable {
    let columns = columns![Modelled;
        "ranks" => |m: &Modelled| m.ranks.into(),
        "balance" => |m: &Modelled| m.balance.as_str().into(),
        "threads" => |m: &Modelled| m.threads.into(),
        "runs" => |m: &Modelled| m.runs.into(),
        "cells per rank" => |m: &Modelled| m.cells_per_rank.into(),
        "seconds" => |m: &Modelled| m.seconds.into(),
        "work" => |m: &Modelled| m.work_seconds.into(),
        "communication" => |m: &Modelled| m.communication_seconds.into(),
        "speed-up" => |m: &Modelled| m.speed.speed_up.into(),
        "efficiency" => |m: &Modelled| m.speed.efficiency.into(),
        "imbalance of work" => |m: &Modelled| m.imbalance.into(),
        "exchanges" => |m: &Modelled| m.exchanges.into(),
        "other calls" => |m: &Modelled| m.other_calls.into(),
        "messages per rank" => |m: &Modelled| m.messages_per_rank.into(),
        "bytes per rank" => |m: &Modelled| m.bytes_per_rank.into(),
        "bytes, most" => |m: &Modelled| m.most_bytes.into(),
    ];
    let of = &study.network;
    let about = format!(
        "The modelled time of every stage but reading and writing, on {}: latency {:.3} us, overhead {:.3} us per \
         message, {:.3} GB/s per rank with one thread. Work is the time of the rank with most of it, stage by stage. Speed-up and \
         efficiency are over the fewest ranks of the same balance and threads.",
        of.name,
        of.latency * 1e6,
        of.overhead * 1e6,
        of.bandwidth / 1e9
    );
    table("modelled", "Modelled runs", about, &columns, &study.modelled)
}

fn domains(study: &Study) -> StudyTable {
    let mut names: Vec<&str> = Vec::new();
    for name in study.modelled.iter().flat_map(|m| m.quantities.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let header = [&["ranks", "balance", "threads"][..], &names].concat();
    let row = |m: &Modelled| {
        let numbers = names.iter().map(|name| m.quantities.get(*name).copied().into());
        [m.ranks.into(), m.balance.as_str().into(), m.threads.into()].into_iter().chain(numbers).collect()
    };
    let rows = study.modelled.iter().filter(|_| !names.is_empty()).map(row).collect();
    StudyTable {
        name: "domains",
        title: "How test cells and peaks lie on ranks".into(),
        about: "The quantities of Table 2 of Bleuler et al. 2015, and the same of test cells.".into(),
        header: header.into_iter().map(String::from).collect(),
        rows,
    }
}

fn modelled_stages(study: &Study) -> StudyTable {
    let header = [
        "stage",
        "ranks",
        "balance",
        "threads",
        "seconds",
        "work",
        "mean work",
        "overhead",
        "transfer",
        "latency",
        "exchanges",
        "messages",
        "bytes",
        "other calls",
    ];
    let mut rows = Vec::new();
    for of in &study.modelled {
        for s in &of.stages {
            let head =
                vec![s.stage.as_str().into(), of.ranks.into(), of.balance.as_str().into(), of.threads.into()];
            let times =
                [s.seconds, s.work, s.mean_work, s.overhead, s.transfer, s.latency].map(TableCell::from);
            let counts = [s.exchanges, s.messages, s.bytes, s.other_calls].map(TableCell::from);
            rows.push([head, times.to_vec(), counts.to_vec()].concat());
        }
    }
    StudyTable {
        name: "modelled_stages",
        title: "Modelled stages".into(),
        about: "Seconds, and what they are made of.".into(),
        header: header.map(String::from).to_vec(),
        rows,
    }
}

fn checks(study: &Study) -> StudyTable {
    let columns = columns![Check;
        "ranks" => |c: &Check| c.ranks.into(),
        "threads" => |c: &Check| c.threads.into(),
        "hosts" => |c: &Check| c.hosts.into(),
        "network" => |c: &Check| c.network.into(),
        "modelled seconds" => |c: &Check| c.modelled_seconds.into(),
        "real seconds" => |c: &Check| c.real_seconds.median.into(),
        "least" => |c: &Check| c.real_seconds.least.into(),
        "most" => |c: &Check| c.real_seconds.most.into(),
        "error" => |c: &Check| c.error.into(),
        "modelled work" => |c: &Check| c.modelled_work.into(),
        "real work" => |c: &Check| c.real_work.into(),
        "modelled imbalance" => |c: &Check| c.modelled_imbalance.into(),
        "real imbalance" => |c: &Check| c.real_imbalance.into(),
    ];
    let about = "The network of the model is that between hosts, if there are several. The error is modelled over real \
                 seconds, less one, where each thread has a processor of its own; elsewhere only the processor time of all \
                 ranks and its imbalance can be compared."
        .to_string();
    table("checks", "The model against real runs", about, &columns, &study.checks)
}
