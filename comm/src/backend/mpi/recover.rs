//! How do ranks make sure that no message is in flight?
//!
//! 1. The ranks sum how many pieces were sent to each of them.
//! 2. Each rank receives pieces until it has that many, and until its own are complete.
//! 3. A barrier: no rank sends anew before every rank has done so.
//!
//! Each step has a time limit.

use super::link::Link;
use super::{ControlTag, SPIN_TIME};
use crate::Result;
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// Collective: receives and discards all messages in flight. `false` if some rank did not take part within
/// that time or has given up; the link is then unusable.
pub(super) fn discard_all(link: &mut Link, within: Duration) -> Result<bool> {
    let start = Instant::now();
    let mut counts = link.start_count()?;
    let count = |link: &mut Link| {
        link.discard()?;
        counts.poll()
    };
    let Some([_, sum]) = wait(link, start, within, count)? else { return Ok(false) };
    let receive = |link: &mut Link| Ok((link.discard()? && link.n_received() == sum[0]).then_some(()));
    if wait(link, start, within, receive)?.is_none() {
        return Ok(false);
    }
    let mut barrier = link.start_barrier()?;
    Ok(wait(link, start, within, |_| barrier.poll())?.is_some())
}

/// Polls until there is a result. `None` if that takes too long or a rank has given up.
fn wait<T>(
    link: &mut Link,
    start: Instant,
    within: Duration,
    mut poll: impl FnMut(&mut Link) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let begin = Instant::now();
    loop {
        if let Some(result) = poll(link)? {
            return Ok(Some(result));
        }
        if start.elapsed() >= within || link.take(ControlTag::GaveUp as c_int)?.is_some() {
            return Ok(None);
        }
        match begin.elapsed() < SPIN_TIME {
            true => std::thread::yield_now(),
            false => std::thread::sleep(Duration::from_micros(50)),
        }
    }
}
