//! Dendrogram: which structures does a field have at every level of density, and which cells belong to only
//! one of them?
//!
//! Cells are taken from the densest down. A cell without a taken neighbour begins a leaf. A cell that touches
//! one structure joins it. A cell that touches several merges them into a branch: leaves that are too low or
//! too small become part of what they merge into. Source: Rosolowsky et al. 2008, ApJ 679, 1338, with the
//! pruning of the program astrodendro.
//!
//! Clumps of PHEW differ: their cells ascend to a peak, and a saddle is the mean density of two touching
//! cells. Here a cell below a saddle belongs to the branch, and a saddle is the density of a cell.

use crate::union_find::find;

/// The limits of structures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DendrogramLimits {
    /// Cells must be denser.
    pub value: f64,
    /// The peak of a leaf must exceed its merger by at least this density; that of a leaf that never merges,
    /// its least dense cell.
    pub delta: f64,
    /// Least number of cells of a leaf where it merges.
    pub cells: u64,
}

/// Marks cells without a structure.
pub const NO_STRUCTURE: u32 = u32::MAX;

/// A leaf or a branch.
#[derive(Debug, Clone, PartialEq)]
pub struct DendrogramNode {
    /// The branch that contains it.
    pub parent: Option<u32>,
    /// The structures that merge into it; none in a leaf.
    pub children: Vec<u32>,
    /// The greatest density of its own cells.
    pub most: f64,
    /// The least density of its own cells.
    pub least: f64,
    /// Number of its own cells.
    pub n_cells: u64,
}

/// All structures of a field, by the first of their own cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dendrogram {
    /// The structure whose own cell each cell is; [`NO_STRUCTURE`] for none.
    pub of_cell: Vec<u32>,
    /// The structures.
    pub nodes: Vec<DendrogramNode>,
}

/// A structure while the dendrogram grows.
struct Growing {
    node: DendrogramNode,
    /// The first of its own cells.
    first: usize,
}

/// The dendrogram of cells with these densities. `neighbours` appends the neighbours of a cell. Cells with
/// NaN are in no structure. Between equal densities, the cell with the smaller index counts as denser. Costs
/// a sort of the cells.
pub fn dendrogram(
    values: &[f64],
    limits: &DendrogramLimits,
    mut neighbours: impl FnMut(usize, &mut Vec<usize>),
) -> Dendrogram {
    let mut order: Vec<usize> = (0..values.len()).filter(|i| values[*i] > limits.value).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]).then(a.cmp(b)));
    let mut growth = Growth { of_cell: vec![NO_STRUCTURE; values.len()], ..Growth::default() };
    let (mut touched, mut adjacent) = (Vec::new(), Vec::new());
    for cell in order {
        touched.clear();
        neighbours(cell, &mut touched);
        adjacent.clear();
        for other in &touched {
            let of = growth.of_cell[*other];
            if of != NO_STRUCTURE {
                adjacent.push(find(growth.outermost.as_mut_slice(), of));
            }
        }
        adjacent.sort_unstable();
        adjacent.dedup();
        growth.add(cell, values[cell], &adjacent, limits);
    }
    growth.finished(limits)
}

#[derive(Default)]
struct Growth {
    /// The structure that got each cell.
    of_cell: Vec<u32>,
    structures: Vec<Growing>,
    /// From a structure to the one that holds it now, as a forest.
    outermost: Vec<u32>,
    /// From a structure that was too small to the one that got its cells; to itself otherwise.
    absorbed: Vec<u32>,
}

impl Growth {
    fn add(&mut self, cell: usize, value: f64, adjacent: &[u32], limits: &DendrogramLimits) {
        let owner = match adjacent {
            [] => self.begin(cell, value, Vec::new()),
            [only] => self.join(*only, cell, value),
            several => {
                let is_small = |of: &u32| self.is_small(*of, value, limits);
                let (small, large): (Vec<u32>, Vec<u32>) = several.iter().partition(|of| is_small(of));
                let owner = match (&large[..], &small[..]) {
                    ([], [.., last]) => self.join(*last, cell, value),
                    ([only], _) => self.join(*only, cell, value),
                    _ => self.begin(cell, value, large),
                };
                small.into_iter().filter(|of| *of != owner).for_each(|of| self.absorb(of, owner));
                owner
            }
        };
        self.of_cell[cell] = owner;
    }

    /// Whether a leaf that merges at `value` is too low or too small to be a structure.
    fn is_small(&self, of: u32, value: f64, limits: &DendrogramLimits) -> bool {
        let node = &self.structures[of as usize].node;
        let is_leaf = node.children.is_empty();
        is_leaf && (node.most == value || node.most - value < limits.delta || node.n_cells < limits.cells)
    }

    fn begin(&mut self, cell: usize, value: f64, children: Vec<u32>) -> u32 {
        let new = self.structures.len() as u32;
        self.outermost.push(new);
        self.absorbed.push(new);
        for child in &children {
            self.outermost[*child as usize] = new;
            self.structures[*child as usize].node.parent = Some(new);
        }
        let node = DendrogramNode { parent: None, children, most: value, least: value, n_cells: 1 };
        self.structures.push(Growing { node, first: cell });
        new
    }

    /// Cells come by falling density.
    fn join(&mut self, of: u32, cell: usize, value: f64) -> u32 {
        let Growing { node, first } = &mut self.structures[of as usize];
        node.least = value;
        node.n_cells += 1;
        *first = cell.min(*first);
        of
    }

    /// Gives the cells of a small leaf to another structure.
    fn absorb(&mut self, small: u32, owner: u32) {
        self.outermost[small as usize] = owner;
        self.absorbed[small as usize] = owner;
        let Growing { node, first } = &self.structures[small as usize];
        let (most, least, n, first_of_small) = (node.most, node.least, node.n_cells, *first);
        let Growing { node, first } = &mut self.structures[owner as usize];
        node.most = node.most.max(most);
        node.least = node.least.min(least);
        node.n_cells += n;
        *first = first_of_small.min(*first);
    }

    /// Leaves out leaves that never merged and are too small, and numbers the others.
    fn finished(mut self, limits: &DendrogramLimits) -> Dendrogram {
        let is_kept = |of: &u32| {
            let node = &self.structures[*of as usize].node;
            let is_alone = node.parent.is_none() && node.children.is_empty();
            let is_small = node.most - node.least < limits.delta || node.n_cells < limits.cells;
            self.absorbed[*of as usize] == *of && !(is_alone && is_small)
        };
        let mut kept: Vec<u32> = (0..self.structures.len() as u32).filter(is_kept).collect();
        kept.sort_by_key(|of| self.structures[*of as usize].first);
        let mut number = vec![NO_STRUCTURE; self.structures.len()];
        kept.iter().enumerate().for_each(|(new, old)| number[*old as usize] = new as u32);
        let absorbed = self.absorbed.as_mut_slice();
        let of_cell = self.of_cell.iter().map(|of| match *of {
            NO_STRUCTURE => NO_STRUCTURE,
            of => number[find(absorbed, of) as usize],
        });
        let of_cell: Vec<u32> = of_cell.collect();
        let renamed = |old: &u32| {
            let node = self.structures[*old as usize].node.clone();
            let mut children: Vec<u32> = node.children.iter().map(|c| number[*c as usize]).collect();
            children.sort_unstable();
            DendrogramNode { parent: node.parent.map(|p| number[p as usize]), children, ..node }
        };
        Dendrogram { of_cell, nodes: kept.iter().map(renamed).collect() }
    }
}

impl Dendrogram {
    /// The density up to which a structure reaches: the peak of a leaf, the least density of the children of
    /// a branch.
    pub fn height(&self, of: u32) -> f64 {
        let node = &self.nodes[of as usize];
        let children = node.children.iter().map(|child| self.nodes[*child as usize].least);
        if node.children.is_empty() { node.most } else { children.fold(f64::INFINITY, f64::min) }
    }

    /// The tree in Newick's format, each structure with its number and its height.
    pub fn newick(&self) -> String {
        let roots = (0..self.nodes.len() as u32).filter(|of| self.nodes[*of as usize].parent.is_none());
        // What is still to be written, the next thing last.
        let mut todo = vec![NewickPart::Text(");")];
        push_list(&mut todo, &roots.collect::<Vec<_>>());
        let mut text = "(".to_string();
        while let Some(part) = todo.pop() {
            match part {
                NewickPart::Text(part) => text += part,
                NewickPart::Name(of) => text += &format!("{of}:{:.3}", self.height(of)),
                NewickPart::Structure(of) => {
                    todo.push(NewickPart::Name(of));
                    let children = &self.nodes[of as usize].children;
                    if !children.is_empty() {
                        todo.push(NewickPart::Text(")"));
                        push_list(&mut todo, children);
                        todo.push(NewickPart::Text("("));
                    }
                }
            }
        }
        text
    }
}

/// A part of a text in Newick's format.
enum NewickPart {
    Text(&'static str),
    Name(u32),
    Structure(u32),
}

/// The structures with commas between them, the first one on top.
fn push_list(todo: &mut Vec<NewickPart>, list: &[u32]) {
    for (i, of) in list.iter().enumerate().rev() {
        todo.push(NewickPart::Structure(*of));
        if i > 0 {
            todo.push(NewickPart::Text(","));
        }
    }
}

/// Appends the neighbours of cell `i` of an array of this shape, whose last axis is the fastest: those that
/// share a face.
pub fn face_neighbours(shape: &[usize], i: usize, to: &mut Vec<usize>) {
    let mut stride = 1;
    for n in shape.iter().rev() {
        let place = i / stride % n;
        if place > 0 {
            to.push(i - stride);
        }
        if place + 1 < *n {
            to.push(i + stride);
        }
        stride *= n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a row of cells.
    fn of_row(values: &[f64], limits: DendrogramLimits) -> Dendrogram {
        dendrogram(values, &limits, |i, to| face_neighbours(&[values.len()], i, to))
    }

    const ALL: DendrogramLimits = DendrogramLimits { value: 0.0, delta: 0.0, cells: 0 };

    #[test]
    fn two_peaks_are_two_leaves_of_a_branch() {
        let found = of_row(&[0.0, 2.0, 5.0, 1.0, 4.0, 3.0, 0.5], ALL);
        let none = NO_STRUCTURE;
        assert_eq!(found.of_cell, [none, 0, 0, 1, 2, 2, 1]);
        assert_eq!(found.nodes[1].children, [0, 2]);
        assert_eq!(found.newick(), "((0:5.000,2:4.000)1:2.000);");
    }

    #[test]
    fn a_low_or_small_leaf_is_part_of_what_it_merges_into() {
        let values = [2.0, 5.0, 1.0, 1.5, 0.5];
        for limits in [DendrogramLimits { delta: 1.0, ..ALL }, DendrogramLimits { cells: 2, ..ALL }] {
            let found = of_row(&values, limits);
            assert_eq!((&found.of_cell[..], found.nodes.len()), (&[0; 5][..], 1), "{limits:?}");
        }
        // A leaf alone must be high and large enough too.
        assert_eq!(of_row(&values, DendrogramLimits { cells: 6, ..ALL }).nodes, []);
        assert_eq!(of_row(&[f64::NAN, 1.0, f64::NAN], ALL).of_cell, [NO_STRUCTURE, 0, NO_STRUCTURE]);
    }

    #[test]
    fn a_deep_tree_is_written_without_recursion() {
        let n = 40_001;
        let values: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1e6 } else { 1e5 - f64::from(i) }).collect();
        let found = of_row(&values, ALL);
        assert_eq!(found.newick().matches(':').count(), n as usize);
    }

    #[test]
    fn faces_of_an_array_touch() {
        let mut to = Vec::new();
        face_neighbours(&[2, 3, 4], 0, &mut to);
        assert_eq!(to, [1, 4, 12]);
        to.clear();
        face_neighbours(&[2, 3, 4], 17, &mut to);
        to.sort_unstable();
        assert_eq!(to, [5, 13, 16, 18, 21]);
    }
}
