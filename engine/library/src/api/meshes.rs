//! The mesh of the cells of a program: built at the first call with them, and filled with new values at later
//! calls.

use crate::api::cell_fields::CellFields;
use crate::api::cells::Cells;
use crate::chunks::{carve, chunks};
use crate::column::{Column, VectorColumn};
use crate::error::Error;
use crate::executor::Executor;
use crate::partition::{CellRoutes, Division, GivenCells, LocalField, PlacedCells, place};
use crate::phew::peak_comm::PeakComm;
use crate::phew::peaks::Peaks;
use crate::phew::segment::Segmentation;
use crate::phew::tables::PatchIds;
use crate::phew::test_fields::TestFields;
use crate::stage::Stage;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::ids::{CellIdx, PeakSlot};
use inselberg_kernels::mesh::{Brick, Mesh, local};
use inselberg_kernels::phew::test_cells::TestCells;
use rayon::prelude::*;
use std::sync::{Arc, Weak};

/// The mesh of the last cells.
#[derive(Debug, Default)]
pub(crate) struct MeshCache(Option<KeptMesh>);

/// The mesh of some cells.
#[derive(Debug)]
pub(crate) struct KeptMesh {
    /// The cells in their box. [`Cells::at`] another time they are the same.
    of: (Domain, Weak<GivenCells>),
    /// Own cells and ghosts, with the last densities.
    pub part: LocalField,
    routes: Arc<CellRoutes>,
}

impl KeptMesh {
    fn is_of(&self, cells: &Cells) -> bool {
        let (domain, given) = &self.of;
        *domain == cells.geometry.domain() && std::ptr::eq(given.as_ptr(), Arc::as_ptr(&cells.given))
    }
}

impl MeshCache {
    /// Collective: the mesh of `cells` with these densities. Two exchanges if it is kept, and then it stays
    /// divided as it is.
    ///
    /// # Errors
    /// When cells overlap or are no octree, and when another rank fails.
    pub fn with_density(
        &mut self,
        cells: &Cells,
        division: Division,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<&mut KeptMesh, Error> {
        let is_kept = self.0.as_ref().is_some_and(|kept| kept.is_of(cells));
        // If the mesh is new on one rank, all ranks build it.
        let is_kept = comm.all_reduce_counts(&[is_kept.into()], Reduce::Min)?[0] == 1;
        if !is_kept {
            // The old mesh is freed first.
            self.0 = None;
            let domain = cells.geometry.domain();
            let placed = Stage::run("mesh", cells.len() as u64, comm, executor.observer(), || {
                place(domain, &cells.given, &division, comm, executor.observer())
            })?;
            let PlacedCells { part, routes } = placed;
            let of = (domain, Arc::downgrade(&cells.given));
            return Ok(self.0.insert(KeptMesh { of, part, routes: Arc::new(routes) }));
        }
        let kept = self.0.as_mut().expect("all ranks have kept the mesh");
        kept.put_density(&division.rho, division.threshold, comm)?;
        Ok(kept)
    }
}

impl KeptMesh {
    /// Collective: new densities for the same cells. Two exchanges.
    fn put_density(&mut self, density: &Column, threshold: f64, comm: &Comm) -> Result<(), CommError> {
        let field = &mut self.part.field;
        if field.mesh.leaves_above().is_some() {
            field.mesh.set_leaves_above(threshold);
        }
        self.routes.to_cells(density, &mut field.rho, comm)?;
        self.part.ghosts.push(comm, &mut field.rho)
    }

    /// Collective: the further fields of the test cells.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn test_fields(
        &self,
        fields: &CellFields,
        test_cells: &TestCells,
        comm: &Comm,
    ) -> Result<TestFields, CommError> {
        let column = |column: &Column| self.test_values(column, test_cells, comm);
        let velocity = match fields.velocity {
            Some(VectorColumn([x, y, z])) => Some([column(&x)?, column(&y)?, column(&z)?]),
            None => None,
        };
        let mass_density = fields.mass_density.as_ref().map(column).transpose()?;
        Ok(TestFields { mass_density, velocity, ..TestFields::default() })
    }

    /// Collective: a column for all test cells of this rank; 0 for ghosts.
    fn test_values(
        &self,
        column: &Column,
        test_cells: &TestCells,
        comm: &Comm,
    ) -> Result<Vec<f64>, CommError> {
        let mesh = &self.part.field.mesh;
        let mut of_cells = vec![0.0; mesh.n_cells()];
        self.routes.to_cells(column, &mut of_cells, comm)?;
        let of_brick = |(brick, mask): (&Brick, &u64)| {
            let (brick, mask) = (*brick, *mask);
            local::bits(mask).map(move |bit| brick.cell(bit).expect("a test cell exists").at())
        };
        let places = mesh.bricks().iter().zip(&test_cells.mask).flat_map(of_brick);
        Ok(places.map(|cell| of_cells[cell]).collect())
    }
}

/// The patch of each cell of this rank, by slot; `NONE` for cells in no patch.
fn patch_of_cell(mesh: &Mesh, test_cells: &TestCells, labels: &[PeakSlot]) -> Vec<PeakSlot> {
    let mut patches = vec![PeakSlot::NONE; mesh.n_cells()];
    let runs = chunks(mesh.supers().len(), 64);
    let places = carve(&mut patches, runs.iter().map(|supers| mesh.cells_of_supers(supers.clone()).len()));
    runs.into_par_iter().zip(places).for_each(|(supers, out)| {
        let first = mesh.cells_of_supers(supers.clone()).start;
        for b in mesh.supers()[supers].iter().flat_map(|s| mesh.bricks_of(s)) {
            let labels = &labels[test_cells.first[b] as usize..];
            for (bit, label) in local::bits(test_cells.mask[b]).zip(labels) {
                let cell = mesh.bricks()[b].cell(bit).expect("a test cell exists");
                out[cell.at() - first] = *label;
            }
        }
    });
    patches
}

/// The patches of the cells of this rank, and the way back to the ranks that gave the cells.
#[derive(Debug)]
pub(crate) struct CellPatches {
    routes: Arc<CellRoutes>,
    n_given: usize,
    of_cell: Vec<PeakSlot>,
    /// The cell of the mesh of each own peak.
    of_peak: Vec<CellIdx>,
    /// The peaks of these patches.
    pub known: PeakComm,
}

impl CellPatches {
    /// From the patches of the test cells of a mesh. Local.
    pub fn new(kept: &KeptMesh, n_given: usize, segmentation: Segmentation) -> (Self, Peaks) {
        let Segmentation { test_cells, labels, known, peaks, .. } = segmentation;
        let mesh = &kept.part.field.mesh;
        let of_cell = patch_of_cell(mesh, &test_cells, &labels);
        let cell = |(&level, &ijk): (&u8, &[u32; 3])| mesh.find(level, ijk).expect("a peak is an own cell");
        let of_peak = peaks.level.iter().zip(&peaks.ijk).map(cell).collect();
        (Self { routes: Arc::clone(&kept.routes), n_given, of_cell, of_peak, known }, peaks)
    }

    /// Whether all cells are of this rank, so that their labels can be looked up at any time.
    pub fn are_here(&self) -> bool {
        matches!(*self.routes, CellRoutes::Alone { .. })
    }

    /// On a rank alone: the identifier of each given cell, by the identifiers of the patches; 0 for none.
    pub fn labels_here(&self, ids: &[u64]) -> Vec<u64> {
        let of_cell = |cell: usize| match self.of_cell[cell] {
            PeakSlot::NONE => 0,
            slot => ids[slot.at()],
        };
        self.routes.to_giver_here(self.n_given, of_cell).expect("a rank alone")
    }

    /// Collective: a number of each own peak at the given cell that it is; 0 for other cells. One exchange.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn at_peaks(&self, of_peaks: &[u64], comm: &Comm) -> Result<Vec<u64>, CommError> {
        let mut of_cells = vec![0; self.of_cell.len()];
        self.of_peak.iter().zip(of_peaks).for_each(|(cell, number)| of_cells[cell.at()] = *number);
        self.routes.to_givers(self.n_given, |cell| of_cells[cell], comm)
    }

    /// Collective: clump and halo of each given cell; 0 for none. One exchange.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn labels(&self, ids: &PatchIds, comm: &Comm) -> Result<Vec<[u64; 2]>, CommError> {
        let of_cell = |cell: usize| match self.of_cell[cell] {
            PeakSlot::NONE => [0; 2],
            slot => [ids.clump[slot.at()], ids.halo[slot.at()]],
        };
        self.routes.to_givers(self.n_given, of_cell, comm)
    }
}
