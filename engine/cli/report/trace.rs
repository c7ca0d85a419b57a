//! A trace for Perfetto and chrome://tracing. Each rank is a process with one track for its stages, calls and
//! messages, and one per worker.

use super::recorder::Recorder;
use inselberg_comm::{Comm, CommError, MessageTrace, Rank};
use inselberg_io::staging::mark::MARK;
use inselberg_tasks::{Distance, Span};
use serde_json::{Value, json};
use std::time::{Duration, Instant, SystemTime};

/// The origin of a rank's times.
struct TraceClock {
    zero: Instant,
    /// Microseconds from the first rank's zero to this one's.
    ahead: f64,
}

impl TraceClock {
    fn at(&self, time: Instant) -> f64 {
        let since = time.checked_duration_since(self.zero).map_or(0.0, micros);
        let until = self.zero.checked_duration_since(time).map_or(0.0, micros);
        self.ahead + since - until
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Collective: the trace of all ranks as JSON on rank 0, nothing on the others. It has the tasks of traced
/// thread pools, and the calls and messages of traced ranks.
///
/// # Errors
/// When another rank fails.
pub fn trace(recorder: &Recorder, comm: &Comm) -> Result<Option<String>, CommError> {
    let (zero, wall) = recorder.began();
    let wall = wall.duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, micros);
    let earliest = -comm.all_max(&[-wall])?[0];
    let events = events(recorder, comm, &TraceClock { zero, ahead: wall - earliest });
    let text: Vec<String> = events.iter().map(Value::to_string).collect();
    let parts = comm.exchange(vec![(Rank(0), text.join(",\n").into_bytes())])?;
    if comm.rank() != Rank(0) {
        return Ok(None);
    }
    let parts: Vec<String> =
        parts.into_iter().map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned()).collect();
    let events = parts.join(",\n");
    let about = format!("\"displayTimeUnit\": \"ms\", \"otherData\": {{\"creator\": \"{MARK}\"}}");
    Ok(Some(format!("{{{about}, \"traceEvents\": [\n{events}\n]}}\n")))
}

fn events(recorder: &Recorder, comm: &Comm, clock: &TraceClock) -> Vec<Value> {
    let rank = comm.rank().0;
    let mut events = vec![name(rank, None, "process_name", &format!("rank {rank}"))];
    events.push(name(rank, Some(0), "thread_name", "stages and messages"));
    for (stage, begin, took) in recorder.spans() {
        events.push(span(rank, 0, (clock.at(begin), micros(took)), ("stage", stage), Value::Null));
    }
    events.extend(comm.notes().iter().map(|note| of_note(rank, clock, note)));
    let graphs = recorder.graphs();
    let n_workers = graphs.iter().map(|graph| graph.tally.workers.len()).max().unwrap_or(0);
    for worker in 0..n_workers {
        events.push(name(rank, Some(worker + 1), "thread_name", &format!("worker {worker}")));
    }
    for graph in &graphs {
        let tally = &graph.tally;
        let workers = tally.workers.iter().enumerate().map(|(w, tally)| (w + 1, tally));
        let tracks = workers.chain(tally.caller.iter().map(|tally| (0, tally)));
        for (track, worker) in tracks {
            events.extend(worker.spans.iter().map(|task| of_task(rank, track, clock, graph.name, task)));
        }
    }
    events
}

fn name(rank: u32, track: Option<usize>, what: &str, name: &str) -> Value {
    json!({"ph": "M", "pid": rank, "tid": track.unwrap_or(0), "name": what, "args": {"name": name}})
}

fn span(rank: u32, track: usize, (at, took): (f64, f64), (kind, name): (&str, &str), args: Value) -> Value {
    json!({"ph": "X", "pid": rank, "tid": track, "cat": kind, "name": name, "ts": at, "dur": took, "args": args})
}

fn of_task(rank: u32, track: usize, clock: &TraceClock, graph: &str, task: &Span) -> Value {
    let stolen = match task.stolen {
        None => "no",
        Some(Distance::Cache) => "from the same cache",
        Some(Distance::Node) => "from the same node",
        Some(Distance::Far) => "from another node",
    };
    let args = json!({"item": task.item, "graph": graph, "stolen": stolen});
    span(rank, track, (clock.at(task.begin), micros(task.took)), ("task", task.stage), args)
}

fn of_note(rank: u32, clock: &TraceClock, note: &MessageTrace) -> Value {
    let message = |at, what: String, bytes| {
        let args = json!({"bytes": bytes});
        json!({"ph": "i", "s": "t", "pid": rank, "tid": 0, "cat": "message", "name": what, "ts": clock.at(at), "args": args})
    };
    match *note {
        MessageTrace::Call { stage, call, begin, took } => {
            let args = json!({"stage": stage});
            span(rank, 0, (clock.at(begin), micros(took)), ("call", call), args)
        }
        MessageTrace::Sent { at, to, bytes } => message(at, format!("send to {to}"), bytes),
        MessageTrace::Received { at, from, bytes } => message(at, format!("receive from {from}"), bytes),
    }
}
