//! Which cells of a level do the boxes of the next finer level replace?

/// Boxes of one level, found by place.
#[derive(Debug, Default)]
pub(super) struct BoxIndex {
    /// Lowest cell, and the first cell behind, of each box.
    boxes: Vec<CellSpan>,
    /// Inner nodes and leaves of a binary tree over them.
    nodes: Vec<SpanNode>,
}

/// A box by its lowest cell and the first cell behind it along each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellSpan {
    pub low: [u32; 3],
    pub end: [u32; 3],
}

/// A node over `boxes[first..end]`. An inner node has its first child behind it and names the second.
#[derive(Debug)]
struct SpanNode {
    all: CellSpan,
    first: usize,
    end: usize,
    second: Option<usize>,
}

/// Boxes of a leaf of the tree.
const FEW: usize = 8;

impl CellSpan {
    /// What two boxes share; `None` for nothing.
    pub fn shared(&self, other: &Self) -> Option<Self> {
        let low = std::array::from_fn(|a| self.low[a].max(other.low[a]));
        let end: [u32; 3] = std::array::from_fn(|a| self.end[a].min(other.end[a]));
        (0..3).all(|a| low[a] < end[a]).then_some(Self { low, end })
    }

    /// Number of cells.
    pub fn n_cells(&self) -> u64 {
        (0..3).map(|a| u64::from(self.end[a] - self.low[a])).fold(1, u64::saturating_mul)
    }
}

impl BoxIndex {
    /// An index of these boxes.
    pub fn new(mut boxes: Vec<CellSpan>) -> Self {
        let mut nodes = Vec::new();
        if !boxes.is_empty() {
            let n = boxes.len();
            add_node(&mut nodes, &mut boxes, 0, n);
        }
        Self { boxes, nodes }
    }

    /// What the boxes share with `span`, in any order.
    pub fn shared_with(&self, span: &CellSpan) -> Vec<CellSpan> {
        let mut found = Vec::new();
        let mut open: Vec<usize> = (0..self.nodes.len().min(1)).collect();
        while let Some(at) = open.pop() {
            let node = &self.nodes[at];
            if node.all.shared(span).is_none() {
                continue;
            }
            match node.second {
                Some(second) => open.extend([at + 1, second]),
                None => found.extend(self.boxes[node.first..node.end].iter().filter_map(|b| b.shared(span))),
            }
        }
        found
    }
}

fn add_node(nodes: &mut Vec<SpanNode>, boxes: &mut [CellSpan], first: usize, end: usize) {
    let own = &mut boxes[first..end];
    let all = own.iter().fold(own[0], |all, b| CellSpan {
        low: std::array::from_fn(|a| all.low[a].min(b.low[a])),
        end: std::array::from_fn(|a| all.end[a].max(b.end[a])),
    });
    let at = nodes.len();
    nodes.push(SpanNode { all, first, end, second: None });
    if own.len() <= FEW {
        return;
    }
    let axis = (0..3).max_by_key(|a| all.end[*a] - all.low[*a]).unwrap_or(0);
    let half = own.len() / 2;
    own.select_nth_unstable_by_key(half, |b| u64::from(b.low[axis]) + u64::from(b.end[axis]));
    add_node(nodes, boxes, first, first + half);
    nodes[at].second = Some(nodes.len());
    add_node(nodes, boxes, first + half, end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_parts_are_those_of_all_pairs() {
        let mut state = 7_u32;
        let mut random = |n: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % n
        };
        let mut span = || {
            let low = [0; 3].map(|_| random(60));
            CellSpan { low, end: low.map(|x| x + 1 + random(9)) }
        };
        for n in [0, 1, 7, 9, 300] {
            let boxes: Vec<CellSpan> = (0..n).map(|_| span()).collect();
            let index = BoxIndex::new(boxes.clone());
            for _ in 0..50 {
                let asked = span();
                let key = |span: &CellSpan| (span.low, span.end);
                let mut found = index.shared_with(&asked);
                let mut expected: Vec<CellSpan> = boxes.iter().filter_map(|b| b.shared(&asked)).collect();
                found.sort_by_key(key);
                expected.sort_by_key(key);
                assert_eq!(found, expected);
            }
        }
    }
}
