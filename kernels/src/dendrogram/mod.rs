//! Dendrogram: which structures does a field have at every level of density, and which cells belong to only
//! one of them?
//!
//! Cells are taken from the densest down. A cell without a taken neighbour begins a leaf. A cell that touches
//! one structure joins it. A cell that touches several merges them into a branch: leaves that are too low or
//! too small become part of what they merge into. Source: Rosolowsky et al. 2008, ApJ 679, 1338, with the
//! pruning of the program astrodendro.
//!
//! Parts of a field may be on different ranks. Most cells only join the one structure that they touch. The
//! others decide ([`DecidingCells`]): one rank grows structures from these alone ([`GrownStructures`]), and
//! then each rank finds the structure of its other cells.
//!
//! Clumps of PHEW differ: their cells ascend to a peak, and a saddle is the mean density of two touching
//! cells. Here a cell below a saddle belongs to the branch, and a saddle is the density of a cell.

mod nesting;
mod sums;

pub use nesting::Nesting;
pub use sums::{StructureCell, StructureSums, quantum_of_values};

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

/// The dendrogram of cells with these densities. `neighbours` appends the neighbours of a cell. Cells with
/// NaN are in no structure. Between equal densities, the cell with the smaller index counts as denser. Costs
/// a sort of the cells.
pub fn dendrogram(
    values: &[f64],
    limits: &DendrogramLimits,
    neighbours: impl FnMut(usize, &mut Vec<usize>),
) -> Dendrogram {
    let grown = grow(values, limits, neighbours);
    let totals: Vec<StructureTotals> = grown.structures.iter().map(GrownStructure::totals).collect();
    let (number, nodes) = grown.finished(limits, &totals);
    let of_cell = grown.of_cell.iter().map(|of| number.get(*of as usize).copied().unwrap_or(NO_STRUCTURE));
    Dendrogram { of_cell: of_cell.collect(), nodes }
}

/// The indices of the cells above the limit, the densest first.
fn falling(values: &[f64], limits: &DendrogramLimits) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).filter(|i| values[*i] > limits.value).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]).then(a.cmp(b)));
    order
}

/// Grows the structures of cells with these densities, as [`dendrogram`] does.
pub fn grow(
    values: &[f64],
    limits: &DendrogramLimits,
    mut neighbours: impl FnMut(usize, &mut Vec<usize>),
) -> GrownStructures {
    let order = falling(values, limits);
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
    growth.grown()
}

/// Structures that have grown. Leaves that never merged and are too small are still among them.
#[derive(Debug, Clone, Default)]
pub struct GrownStructures {
    /// The structure whose own cell each cell is; [`NO_STRUCTURE`] for none.
    pub of_cell: Vec<u32>,
    structures: Vec<GrownStructure>,
}

/// A structure as it grows, and when it has grown.
#[derive(Debug, Clone)]
pub struct GrownStructure {
    node: DendrogramNode,
    /// The first of its own cells.
    first: usize,
    /// The cell that began it.
    begun_by: usize,
    /// Whether it has become a part of another one.
    is_absorbed: bool,
}

impl GrownStructure {
    /// The branch that contains it.
    pub fn parent(&self) -> Option<u32> {
        self.node.parent
    }

    /// The cell that began it.
    pub fn begun_by(&self) -> usize {
        self.begun_by
    }

    fn totals(&self) -> StructureTotals {
        StructureTotals { least: self.node.least, n_cells: self.node.n_cells, first: self.first as u64 }
    }
}

/// What its own cells are together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StructureTotals {
    /// Their least density.
    pub least: f64,
    /// Their number.
    pub n_cells: u64,
    /// The first of them.
    pub first: u64,
}

impl GrownStructures {
    /// All structures that began.
    pub fn structures(&self) -> &[GrownStructure] {
        &self.structures
    }

    /// Leaves out leaves that never merged and are too small, and numbers the others by the first of their
    /// own cells. Returns the number of each structure, and the nodes.
    pub fn finished(
        &self,
        limits: &DendrogramLimits,
        totals: &[StructureTotals],
    ) -> (Vec<u32>, Vec<DendrogramNode>) {
        let is_kept = |of: &u32| {
            let (GrownStructure { node, is_absorbed, .. }, own) =
                (&self.structures[*of as usize], &totals[*of as usize]);
            let is_alone = node.parent.is_none() && node.children.is_empty();
            let is_small = node.most - own.least < limits.delta || own.n_cells < limits.cells;
            let is_left_out = *is_absorbed || is_alone && is_small;
            !is_left_out
        };
        let mut kept: Vec<u32> = (0..self.structures.len() as u32).filter(is_kept).collect();
        kept.sort_by_key(|of| totals[*of as usize].first);
        let mut number = vec![NO_STRUCTURE; self.structures.len()];
        kept.iter().enumerate().for_each(|(new, old)| number[*old as usize] = new as u32);
        let renamed = |old: &u32| {
            let (node, own) = (self.structures[*old as usize].node.clone(), &totals[*old as usize]);
            let mut children: Vec<u32> = node.children.iter().map(|c| number[*c as usize]).collect();
            children.sort_unstable();
            let parent = node.parent.map(|p| number[p as usize]);
            DendrogramNode { parent, children, least: own.least, n_cells: own.n_cells, ..node }
        };
        let nodes = kept.iter().map(renamed).collect();
        (number, nodes)
    }
}

/// The cells of a part of a field that decide which structures there are: those that begin one, join several,
/// are beside another part, or belong to few cells yet. Every other cell joins what one of them is in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DecidingCells {
    /// For each cell above the limit a cell that decides, and whose structure it joins: itself, if it
    /// decides. [`NO_CELL`] for others.
    pub joins: Vec<u32>,
    /// For each cell that decides, cells of the components that it touches.
    pub links: Vec<(u32, Vec<u32>)>,
}

/// Marks cells that are not above the limit.
pub const NO_CELL: u32 = u32::MAX;

/// The cells that decide. `is_border`: whether a cell touches one above the limit in another part. Between
/// equal densities the smaller index counts as denser.
pub fn deciding_cells(
    values: &[f64],
    limits: &DendrogramLimits,
    is_border: impl Fn(usize) -> bool,
    mut neighbours: impl FnMut(usize, &mut Vec<usize>),
) -> DecidingCells {
    let mut found = DecidingCells { joins: vec![NO_CELL; values.len()], links: Vec::new() };
    // Components of the cells so far, by their latest deciding cell, which is the root of each.
    let mut root: Vec<u32> = (0..values.len() as u32).collect();
    let mut n_cells = vec![0_u64; values.len()];
    let (mut touched, mut adjacent) = (Vec::new(), Vec::new());
    for cell in falling(values, limits) {
        touched.clear();
        neighbours(cell, &mut touched);
        adjacent.clear();
        for other in touched.iter().filter(|other| found.joins[**other] != NO_CELL) {
            adjacent.push(find(root.as_mut_slice(), found.joins[*other]));
        }
        adjacent.sort_unstable();
        adjacent.dedup();
        let n: u64 = adjacent.iter().map(|of| n_cells[*of as usize]).sum();
        match adjacent[..] {
            [only] if n >= limits.cells && !is_border(cell) => {
                found.joins[cell] = only;
                n_cells[only as usize] += 1;
            }
            _ => {
                let here = cell as u32;
                found.joins[cell] = here;
                n_cells[cell] = n + 1;
                adjacent.iter().for_each(|of| root[*of as usize] = here);
                found.links.push((here, adjacent.clone()));
            }
        }
    }
    found
}

#[derive(Default)]
struct Growth {
    /// The structure that got each cell.
    of_cell: Vec<u32>,
    structures: Vec<GrownStructure>,
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
        self.structures.push(GrownStructure { node, first: cell, begun_by: cell, is_absorbed: false });
        new
    }

    /// Cells come by falling density.
    fn join(&mut self, of: u32, cell: usize, value: f64) -> u32 {
        let GrownStructure { node, first, .. } = &mut self.structures[of as usize];
        node.least = value;
        node.n_cells += 1;
        *first = cell.min(*first);
        of
    }

    /// Gives the cells of a small leaf to another structure.
    fn absorb(&mut self, small: u32, owner: u32) {
        self.outermost[small as usize] = owner;
        self.absorbed[small as usize] = owner;
        let GrownStructure { node, first, is_absorbed, .. } = &mut self.structures[small as usize];
        *is_absorbed = true;
        let (most, least, n, first_of_small) = (node.most, node.least, node.n_cells, *first);
        let GrownStructure { node, first, .. } = &mut self.structures[owner as usize];
        node.most = node.most.max(most);
        node.least = node.least.min(least);
        node.n_cells += n;
        *first = first_of_small.min(*first);
    }

    fn grown(mut self) -> GrownStructures {
        let absorbed = self.absorbed.as_mut_slice();
        let of_cell = self.of_cell.iter().map(|of| match *of {
            NO_STRUCTURE => NO_STRUCTURE,
            of => find(absorbed, of),
        });
        GrownStructures { of_cell: of_cell.collect(), structures: self.structures }
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

    /// Parts of an array, as ranks have them: what decides in each is enough for the structures of all cells.
    #[test]
    fn deciding_cells_of_parts_give_the_structures_of_the_whole() {
        let shape = [12, 9, 7];
        let n = shape.iter().product::<usize>();
        let noise = |i: usize| (i as u64 + 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let around = |i: usize| {
            let mut to = vec![i];
            face_neighbours(&shape, i, &mut to);
            (to.iter().map(|i| noise(*i)).sum::<u64>() / to.len() as u64 / 300_000) as f64
        };
        let values: Vec<f64> = (0..n).map(around).collect();
        for (value, delta, cells) in [(20.0, 0.0, 0), (25.0, 3.0, 0), (22.0, 1.0, 6), (0.0, 2.0, 4)] {
            let limits = DendrogramLimits { value, delta, cells };
            let whole = dendrogram(&values, &limits, |i, to| face_neighbours(&shape, i, to));
            for cuts in [vec![0, n], vec![0, 63 * 5, n], vec![0, 63, 63 * 2, 63 * 9, n]] {
                assert_eq!(of_parts(&values, &shape, &limits, &cuts), whole, "{limits:?} {cuts:?}");
            }
        }
    }

    fn of_parts(values: &[f64], shape: &[usize], limits: &DendrogramLimits, cuts: &[usize]) -> Dendrogram {
        let mut links = std::collections::BTreeMap::new();
        let mut joins = vec![usize::MAX; values.len()];
        for part in cuts.windows(2) {
            let (first, end) = (part[0], part[1]);
            let around = |i: usize| {
                let mut to = Vec::new();
                face_neighbours(shape, i + first, &mut to);
                to
            };
            let is_outside = |i: &usize| !(first..end).contains(i) && values[*i] > limits.value;
            let found = deciding_cells(
                &values[first..end],
                limits,
                |i| around(i).iter().any(is_outside),
                |i, to| to.extend(around(i).iter().filter(|i| (first..end).contains(i)).map(|i| i - first)),
            );
            for (i, join) in found.joins.iter().enumerate().filter(|(_, join)| **join != NO_CELL) {
                joins[first + i] = first + *join as usize;
            }
            for (cell, local) in found.links {
                let outside = around(cell as usize).into_iter().filter(is_outside);
                let all: Vec<usize> = local.iter().map(|i| first + *i as usize).chain(outside).collect();
                links.insert(first + cell as usize, all);
            }
        }
        let cells: Vec<usize> = links.keys().copied().collect();
        let place = |cell: usize| cells.binary_search(&cell).expect("it decides");
        let of_cells: Vec<f64> = cells.iter().map(|cell| values[*cell]).collect();
        let grown =
            grow(&of_cells, limits, |i, to| to.extend(links[&cells[i]].iter().map(|cell| place(*cell))));
        let before = |a: usize, b: usize| (-values[a], a) < (-values[b], b);
        let structure = |cell: usize| {
            let mut of = grown.of_cell[place(joins[cell])];
            while let Some(parent) = grown.structures()[of as usize].parent()
                && before(cells[grown.structures()[parent as usize].begun_by()], cell)
            {
                of = parent;
            }
            of
        };
        let none = StructureTotals { least: f64::INFINITY, n_cells: 0, first: u64::MAX };
        let mut totals = vec![none; grown.structures().len()];
        let of_cell: Vec<Option<u32>> =
            (0..values.len()).map(|i| (joins[i] != usize::MAX).then(|| structure(i))).collect();
        for (cell, of) in of_cell.iter().enumerate().filter_map(|(cell, of)| Some((cell, (*of)?))) {
            let StructureTotals { least, n_cells, first } = totals[of as usize];
            totals[of as usize] = StructureTotals {
                least: least.min(values[cell]),
                n_cells: n_cells + 1,
                first: first.min(cell as u64),
            };
        }
        let (number, nodes) = grown.finished(limits, &totals);
        let of_cell = of_cell.iter().map(|of| of.map_or(NO_STRUCTURE, |of| number[of as usize])).collect();
        Dendrogram { of_cell, nodes }
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
