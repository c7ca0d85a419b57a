//! The costs of a run: stages, the load of the ranks, and their messages.

use crate::report::StageTime;
use crate::report::html::{HtmlCell, table};
use crate::report::ranks::RankReport;
use crate::report::summary::grouped;
use std::fmt::Write;

/// The costs of a run.
pub struct ShownCosts<'a> {
    /// The stages.
    pub stages: &'a [StageTime],
    /// What the stages process.
    pub things: &'static str,
    /// Load and messages; `None` for one rank.
    pub ranks: Option<&'a RankReport>,
    /// Bytes; `None` if the system does not report it.
    pub peak_memory: Option<u64>,
}

/// The sections of the costs.
pub fn sections(costs: &ShownCosts<'_>) -> String {
    let mut text = "<h2 id=\"time\">Where time went</h2>\n".to_string();
    if let Some(bytes) = costs.peak_memory {
        let mebibytes = bytes as f64 / f64::from(1 << 20);
        let _ = writeln!(text, "<p>Peak memory of a process: {mebibytes:.1} MiB.</p>");
    }
    text += &stages(costs);
    text += "<h2 id=\"ranks\">Load and communication</h2>\n";
    match costs.ranks.filter(|ranks| ranks.n_ranks > 1) {
        None => text + "<p>One rank did all the work, so no messages were sent.</p>\n",
        Some(ranks) => text + &load(ranks) + &balance(ranks) + &traffic(ranks),
    }
}

fn seconds(value: f64) -> HtmlCell {
    HtmlCell::number(value, format!("{value:.4}"))
}

fn count(value: u64) -> HtmlCell {
    HtmlCell::number(value as f64, grouped(value.cast_signed()))
}

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(String::from).to_vec()
}

fn stages(costs: &ShownCosts<'_>) -> String {
    let header = names(["stage", "seconds", costs.things, &format!("{} per second", costs.things)]);
    let row = |stage: &StageTime| {
        let rate = stage.cells_per_second();
        vec![
            HtmlCell::text(stage.name),
            seconds(stage.seconds),
            if stage.cells > 0 { count(stage.cells) } else { HtmlCell::text("") },
            rate.map_or(HtmlCell::text(""), |rate| HtmlCell::number(rate, format!("{rate:.3e}"))),
        ]
    };
    let mut rows: Vec<_> = costs.stages.iter().map(row).collect();
    let all = costs.stages.iter().map(|stage| stage.seconds).sum();
    rows.push(vec![HtmlCell::text("all stages"), seconds(all), HtmlCell::text(""), HtmlCell::text("")]);
    table("stages", "Stages; over several ranks the time of the slowest", &header, &rows, false)
}

fn load(ranks: &RankReport) -> String {
    let header = names(["stage", "least s", "mean s", "most s", "most/mean", "most cells"]);
    let rows = ranks.load.iter().map(|load| {
        let ratio = load.most / load.mean;
        vec![
            HtmlCell::text(load.stage.clone()),
            seconds(load.least),
            seconds(load.mean),
            seconds(load.most),
            if load.mean > 0.0 { HtmlCell::number(ratio, format!("{ratio:.2}")) } else { HtmlCell::text("") },
            count(load.most_cells),
        ]
    });
    table("load", &format!("Load of {} ranks", ranks.n_ranks), &header, &rows.collect::<Vec<_>>(), false)
}

fn balance(ranks: &RankReport) -> String {
    let rows: Vec<_> = ranks
        .balance_rows()
        .into_iter()
        .map(|(name, value)| vec![HtmlCell::text(name), HtmlCell::number(value, format!("{value:.4}"))])
        .collect();
    match rows.is_empty() {
        true => String::new(),
        false => {
            table("balance", "Balance of peaks and test cells", &names(["quantity", "value"]), &rows, false)
        }
    }
}

fn traffic(ranks: &RankReport) -> String {
    let header = names(["stage", "exchanges", "messages", "bytes", "other calls"]);
    let rows = ranks.traffic.iter().map(|row| {
        let name = HtmlCell::text(row.stage.clone());
        vec![name, count(row.rounds), count(row.messages), count(row.bytes), count(row.collectives)]
    });
    table("traffic", "Messages of all ranks", &header, &rows.collect::<Vec<_>>(), false)
}
