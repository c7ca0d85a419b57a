//! One message to and from each neighbour.

use crate::backend::{Channel, Tag};
use crate::endpoint::Endpoint;
use crate::records::Messages;
use crate::{CommError, Rank, Result};

/// Sends `parts`, ascending and without one for this rank. Returns the received messages, including empty
/// ones.
///
/// Distant ranks may be several calls ahead. So each message ends with the number of its call, and early
/// messages are kept.
pub(crate) fn run(endpoint: &mut Endpoint, neighbours: &[Rank], parts: Messages) -> Result<Messages> {
    let own = endpoint.rank();
    let mut wanted: Vec<Rank> = neighbours.iter().copied().filter(|n| *n != own).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let number = endpoint.number();
    send(endpoint, &wanted, parts)?;
    let mut received = Messages::new();
    let mut early = std::mem::take(&mut endpoint.early);
    received.extend(early.extract_if(.., |m| m.0 == number).map(|m| m.1));
    let tag = Tag::new(Channel::Neighbour, 0);
    let n_wanted = wanted.len();
    endpoint.wait(|transport| {
        while received.len() < n_wanted {
            let Some((from, bytes)) = transport.receive(tag)? else { return Ok(None) };
            let (of, part) = numbered(from, bytes)?;
            if of == number { received.push(part) } else { early.push((of, part)) }
        }
        Ok(Some(()))
    })?;
    endpoint.early = early;
    match received.iter().find(|part| !wanted.contains(&part.0)) {
        Some((from, _)) => Err(mismatch(format!("{from} takes {own} for a neighbour, not so the other way"))),
        None => Ok(received),
    }
}

fn send(endpoint: &mut Endpoint, wanted: &[Rank], parts: Messages) -> Result<()> {
    let (number, tag) = (endpoint.number(), Tag::new(Channel::Neighbour, 0));
    let mut parts = parts.into_iter().peekable();
    for &to in wanted {
        let mut bytes = parts.next_if(|part| part.0 == to).map_or_else(Vec::new, |part| part.1);
        endpoint.count_message(bytes.len());
        bytes.extend(number.to_ne_bytes());
        endpoint.transport().send(to, tag, bytes)?;
    }
    match parts.next() {
        Some((to, _)) => Err(mismatch(format!("records for {to}, which is no neighbour"))),
        None => Ok(()),
    }
}

/// The number of the call of a message, and the message without it.
fn numbered(from: Rank, mut bytes: Vec<u8>) -> Result<(u64, (Rank, Vec<u8>))> {
    let Some((_, number)) = bytes.split_last_chunk::<8>() else {
        return Err(mismatch(format!("{from} sent a message without a number")));
    };
    let number = u64::from_ne_bytes(*number);
    bytes.truncate(bytes.len() - 8);
    Ok((number, (from, bytes)))
}

fn mismatch(what: String) -> CommError {
    CommError::Mismatch { what }
}
