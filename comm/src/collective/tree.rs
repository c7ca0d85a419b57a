//! The tree all collective calls run on: up to rank 0, then down again.
//!
//! Rank r's parent is r without its lowest set bit. The ranks below a child are consecutive, and those
//! of its children ascend, so what is joined on the way up is in the order of the ranks.

use crate::backend::{Channel, Tag, Transport};
use crate::endpoint::{Endpoint, Op};
use crate::{CommError, Rank, Result};

/// One call's way through the tree, seen from one rank.
#[derive(Debug)]
pub(crate) struct TreeCall {
    op: Op,
    up: Tag,
    down: Tag,
    parent: Option<Rank>,
    children: Vec<Rank>,
    /// What each child sent up.
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

    /// What the children sent, in their order, once it is all here.
    pub fn poll_below(&mut self, transport: &mut dyn Transport) -> Result<Option<Vec<Vec<u8>>>> {
        while self.from_below.iter().any(Option::is_none) {
            let Some((from, bytes)) = transport.receive(self.up)? else { return Ok(None) };
            let bytes = self.signed(from, bytes)?;
            match self.children.iter().position(|&c| c == from) {
                Some(child) => self.from_below[child] = Some(bytes),
                None => return Err(mismatch(format!("{from} is not below this one"))),
            }
        }
        Ok(Some(std::mem::take(&mut self.from_below).into_iter().flatten().collect()))
    }

    /// Sends `bytes` to the parent; without a parent, hands them back.
    pub fn send_up(&self, transport: &mut dyn Transport, mut bytes: Vec<u8>) -> Result<Option<Vec<u8>>> {
        let Some(parent) = self.parent else { return Ok(Some(bytes)) };
        bytes.push(self.op as u8);
        transport.send(parent, self.up, bytes)?;
        Ok(None)
    }

    /// What the parent sent, once it is here.
    pub fn poll_above(&self, transport: &mut dyn Transport) -> Result<Option<Vec<u8>>> {
        Ok(transport.receive(self.down)?.map(|(_, bytes)| bytes))
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

    /// Takes off the mark of the call that a child was in.
    fn signed(&self, from: Rank, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
        match bytes.pop() {
            Some(op) if op == self.op as u8 => Ok(bytes),
            _ => Err(mismatch(format!("{from} is in another call than {}", self.op.name()))),
        }
    }
}

fn mismatch(what: String) -> CommError {
    CommError::Mismatch { what }
}

/// The rank above `rank`; none above rank 0.
pub(crate) fn parent(rank: Rank) -> Option<Rank> {
    (rank.0 > 0).then(|| Rank(rank.0 & (rank.0 - 1)))
}

pub(crate) fn children(rank: Rank, n_ranks: usize) -> Vec<Rank> {
    let steps = (0..u32::BITS - 1).map(|k| 1u32 << k);
    let below = steps.take_while(|step| rank.0 == 0 || *step < rank.0 & rank.0.wrapping_neg());
    below.map(|step| Rank(rank.0 + step)).take_while(|child| child.at() < n_ranks).collect()
}

/// A barrier that can be asked whether it is done.
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

    /// Whether every rank has arrived. Not to be asked again after a yes.
    pub fn poll(&mut self, transport: &mut dyn Transport) -> Result<bool> {
        if !self.is_up {
            if self.tree.poll_below(transport)?.is_none() {
                return Ok(false);
            }
            self.is_up = true;
            if self.tree.send_up(transport, Vec::new())?.is_some() {
                return self.spread(transport);
            }
        }
        if self.tree.poll_above(transport)?.is_none() { Ok(false) } else { self.spread(transport) }
    }

    fn spread(&self, transport: &mut dyn Transport) -> Result<bool> {
        self.tree.send_down(transport, |_| Vec::new()).map(|()| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_but_the_first_is_the_child_of_one_lower_rank() {
        for n_ranks in [1, 2, 3, 8, 13, 64, 1000] {
            let mut seen = vec![0; n_ranks];
            for rank in 0..n_ranks as u32 {
                for child in children(Rank(rank), n_ranks) {
                    assert_eq!(child.0 & (child.0 - 1), rank);
                    seen[child.at()] += 1;
                }
            }
            assert_eq!(seen[0], 0);
            assert!(seen[1..].iter().all(|&n| n == 1), "{n_ranks} ranks");
        }
    }
}
