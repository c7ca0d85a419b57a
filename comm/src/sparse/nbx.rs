//! Synchronous sends and a barrier that does not wait (see the README of this crate).

use crate::Result;
use crate::backend::{Channel, Tag, Transport};
use crate::collective::tree::Barrier;
use crate::endpoint::{Endpoint, Op};
use crate::records::Messages;

/// Sends `parts`, none of them for this rank. Returns the received messages.
pub(crate) fn run(endpoint: &mut Endpoint, parts: Messages) -> Result<Messages> {
    let tag = Tag::new(Channel::Data, endpoint.round());
    for (to, bytes) in parts {
        endpoint.count_message(bytes.len());
        endpoint.transport().send_synchronous(to, tag, bytes)?;
    }
    let mut barrier = Barrier::new(endpoint, Op::Exchange);
    let mut all_received = false;
    let mut received = Messages::new();
    endpoint.wait(|transport| {
        take_all(transport, tag, &mut received)?;
        all_received = all_received || transport.pending()? == 0;
        Ok((all_received && barrier.poll(transport)?).then_some(()))
    })?;
    // The last messages may have arrived only in part.
    endpoint.wait(|transport| {
        take_all(transport, tag, &mut received)?;
        Ok((!transport.is_receiving(tag)).then_some(()))
    })?;
    Ok(received)
}

fn take_all(transport: &mut dyn Transport, tag: Tag, received: &mut Messages) -> Result<()> {
    while let Some(part) = transport.receive(tag)? {
        received.push(part);
    }
    Ok(())
}
