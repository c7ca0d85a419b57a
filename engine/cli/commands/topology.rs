//! `inselberg topology`.

use super::default_threads::DefaultThreads;
use super::fault::CommandError;
use super::out;
use super::ranks::{RankHandles, RankRequest};
use super::seating::unpinnable;
use super::survey::PlacementSurvey;
use crate::config::{Common, TopologyJob};
use crate::report::{machine_json, machine_text, places_json, places_text};
use crate::topology::{Hardware, Pin, TopologyError, n_allowed};
use inselberg_comm::Comm;
use std::time::Duration;

/// How long ranks wait for each other; they have no other work.
const PATIENCE: Duration = Duration::from_secs(60);

/// Shows the machine, the placement of the ranks and problems of the launch.
pub fn topology(job: TopologyJob, common: Common, world: Comm) -> Result<(), CommandError> {
    let ranks = RankRequest { patience: Some(PATIENCE), ..RankRequest::plain(job.ranks) }.start(world)?;
    let read = ranks.prepare(|_| match Hardware::read() {
        Err(error) if matches!(job.pin, Pin::Cores | Pin::Numa) => Err(unpinnable(job.pin, &error)),
        Err(TopologyError::NotBuilt) => Ok(None),
        Err(error) => Err(error.into()),
        Ok(hardware) => Ok(Some(hardware)),
    })?;
    match read {
        Some(hardware) => show(&hardware, &ranks, job.pin, common),
        None if ranks.is_first() => out::report(common, unknown_text, unknown_json),
        None => Ok(()),
    }
}

fn show(hardware: &Hardware, ranks: &RankHandles, pin: Pin, common: Common) -> Result<(), CommandError> {
    let survey = PlacementSurvey::new(ranks, hardware, pin, common)?;
    if !ranks.is_first() {
        return Ok(());
    }
    let (machine, allowed) = (hardware.machine(), hardware.allowed());
    let warnings: Vec<String> = survey.complaints.iter().map(ToString::to_string).collect();
    out::report(
        common,
        || {
            let lines: String = warnings.iter().map(|warning| format!("warning: {warning}\n")).collect();
            let lines = if lines.is_empty() { "warnings: none\n".into() } else { lines };
            let threads = DefaultThreads::here().text();
            format!("{}{threads}\n\n{}\n{lines}", machine_text(machine, allowed), places_text(&survey.ranks))
        },
        || {
            let mut json = machine_json(machine, allowed);
            json["default_threads"] = serde_json::json!(DefaultThreads::here().n());
            json["pin"] = serde_json::json!(pin);
            json["ranks"] = places_json(&survey.ranks);
            json["warnings"] = serde_json::json!(warnings);
            json
        },
    )
}

/// The facts that are known without hwloc.
fn unknown_text() -> String {
    let n = n_allowed();
    let processors = if n == 1 { "processor" } else { "processors" };
    format!(
        "this process may run on {n} {processors}\n{}\n\nbuilt without the feature `numa`: nodes, caches and where threads \
         go are not known\n",
        DefaultThreads::here().text()
    )
}

fn unknown_json() -> serde_json::Value {
    serde_json::json!({ "feature_numa": false, "n_allowed": n_allowed(), "default_threads": DefaultThreads::here().n() })
}
