//! Leaves whose peaks are known: the cells of a program, of an output, or of a mesh that particles make.

use crate::error::RunError;
use crate::executor::Executor;
use crate::field::test_cells;
use crate::partition::{LocalField, TakesPart};
use crate::phew::balance::Balance;
use crate::phew::from_peaks::Segmented;
use crate::phew::hierarchy::Structures;
use crate::phew::image;
use crate::phew::member_places::{LeafPlaces, MemberPlaces};
use crate::phew::peak_comm::PeakComm;
use crate::phew::peaks::Peaks;
use crate::phew::prominence::DepositedParticles;
use crate::phew::segment::{Segmentation, Task, segment};
use crate::phew::selection::Selected;
use crate::phew::tables::{PatchIds, cells_table};
use crate::phew::test_fields::TestFields;
use crate::phew::test_links::TestLinks;
use crate::stage::Stage;
use inselberg_comm::{Comm, CommError};
use inselberg_io::catalogue::{Attribute, PartTable};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::test_cells::TestCells;

/// Leaves, and by which rules they are segmented.
pub struct LeafField<'a> {
    /// The cells of this rank.
    pub part: &'a LocalField,
    /// Length of a level-0 cell in code units.
    pub side: f64,
    /// The lower corner of the box in code units.
    pub origin: [f64; 3],
    /// Denser leaves are test cells.
    pub threshold: f64,
    /// Paper or RAMSES.
    pub rules: Rules,
    /// The leaves that take part; `None`: all do.
    pub selected: Option<&'a Selected>,
    /// The particles of which the density is made, where shot noise makes peaks that are none.
    pub deposited: Option<&'a DepositedParticles<'a>>,
}

/// Leaves and their patches.
pub struct SegmentedLeaves<'a> {
    part: &'a LocalField,
    selected: Option<&'a Selected>,
    segmentation: Segmentation<'a>,
    links: TestLinks,
    n_tests: u64,
    /// Whether masses come from another field than the segmented one.
    has_mass_density: bool,
}

impl<'a> LeafField<'a> {
    /// Collective: every step of the paper from test cells to the forest. `fields` gives the further values
    /// of the test cells.
    ///
    /// # Errors
    /// When particles cannot be read, and when another rank fails.
    pub fn segment(
        &self,
        fields: impl FnOnce(&TestCells, &TestLinks) -> Result<TestFields, CommError>,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<SegmentedLeaves<'a>, RunError> {
        let (part, observer) = (self.part, executor.observer());
        let n_leaves = part.n_own_leaves() as u64;
        let test_cells = Stage::run("test cells", n_leaves, comm, observer, || {
            test_cells::find(&part.field, self.threshold)
        });
        let links = TestLinks::new(part, &test_cells);
        let extra = fields(&test_cells, &links)?;
        let n_tests = (test_cells.len() - links.shared.len()) as u64;
        let task = Task {
            field: &part.field,
            links: &links,
            extra: &extra,
            density_threshold: self.threshold,
            side: self.side,
            origin: self.origin,
            rules: self.rules,
        };
        let mut segmentation = segment(&task, test_cells, comm, executor)?;
        if let Some(deposited) = self.deposited {
            let found = Stage::run("sums", n_tests, comm, observer, || {
                deposited.prominences(part, &links.own, &segmentation, comm, executor)
            })?;
            segmentation.peaks.prominence = Some(found);
        }
        let has_mass_density = extra.mass_density.is_some();
        Ok(SegmentedLeaves { part, selected: self.selected, segmentation, links, n_tests, has_mass_density })
    }
}

impl<'a> SegmentedLeaves<'a> {
    /// The patch of every test cell, and the peaks.
    pub fn into_segmentation(self) -> Segmentation<'a> {
        self.segmentation
    }

    /// The peaks, and the distribution of the work over the ranks.
    pub fn into_peaks(self) -> (Peaks, Balance) {
        (self.segmentation.peaks, self.segmentation.balance)
    }
}

impl Segmented for SegmentedLeaves<'_> {
    fn peaks(&self) -> &Peaks {
        &self.segmentation.peaks
    }

    fn known(&self) -> &PeakComm {
        &self.segmentation.known
    }

    fn n_tests(&self) -> u64 {
        self.n_tests
    }

    fn sums_its_density(&self) -> bool {
        !self.has_mass_density
    }

    fn places(&self) -> MemberPlaces<'_> {
        MemberPlaces::Leaves(LeafPlaces { part: self.part, segmentation: &self.segmentation })
    }

    fn cells(&self, ids: &PatchIds, comm: &Comm) -> Result<Option<PartTable>, CommError> {
        let takes_part = |level, position| self.selected.is_none_or(|of| of.has_leaf(level, position));
        let takes_part = self.selected.is_some().then_some(&takes_part as TakesPart<'_>);
        cells_table((self.part, takes_part), &self.links.own, &self.segmentation, ids, comm).map(Some)
    }

    fn sky_pixels(
        &self,
        attributes: &[(String, Attribute)],
        ids: &PatchIds,
        structures: &Structures,
        comm: &Comm,
    ) -> Result<Option<[Vec<u64>; 2]>, CommError> {
        let Some(axes) = image::sky_axes(attributes) else { return Ok(None) };
        let places = LeafPlaces { part: self.part, segmentation: &self.segmentation };
        let pixels = image::places_of_patches(&places, &self.links.own, axes);
        image::sky_pixels(&pixels, [&ids.clump, &ids.halo], structures, comm).map(Some)
    }

    fn forget_places(&mut self) {
        self.segmentation.forget_cells();
    }
}
