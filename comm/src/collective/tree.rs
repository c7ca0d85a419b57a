//! One collective call on the tree of ranks: up to rank 0, then down again.

use crate::backend::{Channel, Tag, Transport};
use crate::endpoint::{Endpoint, Op};
use crate::tree_shape::{children, parent};
use crate::{CommError, Rank, Result};

/// One call on the tree, on one rank.
#[derive(Debug)]
pub(crate) struct TreeCall {
    op: Op,
    up: Tag,
    down: Tag,
    parent: Option<Rank>,
    children: Vec<Rank>,
    /// The message of each child.
    from_below: Vec<Option<Vec<u8>>>,
}

impl TreeCall {
    /// The tree of the call that `endpoint` is in.
    pub fn new(endpoint: &Endpoint, op: Op) -> Self {
        let (rank, round) = (endpoint.rank(), endpoint.round());
        let children = children(rank, endpoint.n_ranks());
        Self {
            op,
            up: Tag::new(Channel::Up, round),
            down: Tag::new(Channel::Down, round),
            parent: parent(rank),
            from_below: vec![None; children.len()],
            children,
        }
    }

    /// The messages of all children, in their order, once all have arrived.
    pub fn poll_below(&mut self, transport: &mut dyn Transport) -> Result<Option<Vec<Vec<u8>>>> {
        while self.from_below.iter().any(Option::is_none) {
            let Some((from, bytes)) = transport.receive(self.up)? else { return Ok(None) };
            let bytes = self.signed(from, bytes)?;
            match self.children.iter().position(|&c| c == from) {
                Some(child) if self.from_below[child].is_none() => self.from_below[child] = Some(bytes),
                Some(_) => return Err(mismatch(format!("two messages from {from} in one call"))),
                None => return Err(mismatch(format!("a message from {from}, which is not a child"))),
            }
        }
        let all = std::mem::take(&mut self.from_below).into_iter();
        Ok(Some(all.map(|bytes| bytes.expect("all children have sent theirs")).collect()))
    }

    /// Sends `bytes` to the parent; without a parent, returns them.
    pub fn send_up(&self, transport: &mut dyn Transport, mut bytes: Vec<u8>) -> Result<Option<Vec<u8>>> {
        let Some(parent) = self.parent else { return Ok(Some(bytes)) };
        bytes.push(self.op as u8);
        transport.send(parent, self.up, bytes)?;
        Ok(None)
    }

    /// The message of the parent, once it has arrived.
    pub fn poll_above(&self, transport: &mut dyn Transport) -> Result<Option<Vec<u8>>> {
        match transport.receive(self.down)? {
            Some((from, _)) if Some(from) != self.parent => {
                Err(mismatch(format!("a message from {from}, which is not the parent")))
            }
            message => Ok(message.map(|(_, bytes)| bytes)),
        }
    }

    /// Sends each child its part.
    pub fn send_down(
        &self,
        transport: &mut dyn Transport,
        mut part: impl FnMut(usize) -> Vec<u8>,
    ) -> Result<()> {
        let mut send = |(i, &child)| transport.send(child, self.down, part(i));
        self.children.iter().enumerate().try_for_each(&mut send)
    }

    /// Removes the kind of the call from the message of a child, and checks it.
    fn signed(&self, from: Rank, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
        match bytes.pop() {
            Some(op) if op == self.op as u8 => Ok(bytes),
            _ => Err(mismatch(format!("{from} makes another call than {}", self.op.name()))),
        }
    }
}

fn mismatch(what: String) -> CommError {
    CommError::Mismatch { what }
}

/// A barrier that is polled.
#[derive(Debug)]
pub(crate) struct Barrier {
    tree: TreeCall,
    is_up: bool,
}

impl Barrier {
    /// The barrier of the call that `endpoint` is in. This rank arrives at the first poll.
    pub fn new(endpoint: &Endpoint, op: Op) -> Self {
        Self { tree: TreeCall::new(endpoint, op), is_up: false }
    }

    /// Whether every rank has arrived. Must not be polled again after `true`.
    pub fn poll(&mut self, transport: &mut dyn Transport) -> Result<bool> {
        if !self.is_up {
            if self.tree.poll_below(transport)?.is_none() {
                return Ok(false);
            }
            self.is_up = true;
            if self.tree.send_up(transport, Vec::new())?.is_some() {
                return self.release(transport);
            }
        }
        if self.tree.poll_above(transport)?.is_none() { Ok(false) } else { self.release(transport) }
    }

    fn release(&self, transport: &mut dyn Transport) -> Result<bool> {
        self.tree.send_down(transport, |_| Vec::new()).map(|()| true)
    }
}
