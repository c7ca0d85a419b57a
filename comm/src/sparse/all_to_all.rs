//! The oracle: every rank sends to every rank.

use crate::backend::{Channel, Tag};
use crate::endpoint::Endpoint;
use crate::records::Messages;
use crate::{Rank, Result};

/// Sends `parts`, ascending and without one for this rank. Returns the received messages, including empty
/// ones.
pub(crate) fn run(endpoint: &mut Endpoint, parts: Messages) -> Result<Messages> {
    let tag = Tag::new(Channel::Data, endpoint.round());
    let (own, n_ranks) = (endpoint.rank(), endpoint.n_ranks());
    let mut parts = parts.into_iter().peekable();
    for to in (0..n_ranks as u32).map(Rank).filter(|to| *to != own) {
        let bytes = parts.next_if(|part| part.0 == to).map_or_else(Vec::new, |part| part.1);
        endpoint.count_message(bytes.len());
        endpoint.transport().send(to, tag, bytes)?;
    }
    let mut received = Messages::new();
    endpoint.wait(|transport| {
        while received.len() + 1 < n_ranks {
            let Some(part) = transport.receive(tag)? else { return Ok(None) };
            received.push(part);
        }
        Ok(Some(()))
    })?;
    Ok(received)
}
