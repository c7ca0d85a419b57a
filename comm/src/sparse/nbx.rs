//! Synchronous sends and a barrier that does not wait (see the README of this crate).

use super::Parts;
use crate::Result;
use crate::backend::{Kind, Tag, Transport};
use crate::collective::tree::Barrier;
use crate::endpoint::{Endpoint, Op};

/// Sends `parts`, none of them for this rank; gives what came.
pub(crate) fn run(endpoint: &mut Endpoint, parts: Parts) -> Result<Parts> {
    let tag = Tag::new(Kind::Data, endpoint.round());
    for (to, bytes) in parts {
        endpoint.count_message(bytes.len());
        endpoint.transport().send_synchronous(to, tag, bytes)?;
    }
    let mut barrier = Barrier::new(endpoint, Op::Exchange);
    let mut all_received = false;
    let mut came = Parts::new();
    endpoint.wait(|transport| {
        take_all(transport, tag, &mut came)?;
        all_received = all_received || transport.pending()? == 0;
        Ok((all_received && barrier.poll(transport)?).then_some(()))
    })?;
    Ok(came)
}

fn take_all(transport: &mut dyn Transport, tag: Tag, came: &mut Parts) -> Result<()> {
    while let Some(part) = transport.receive(tag)? {
        came.push(part);
    }
    Ok(())
}
