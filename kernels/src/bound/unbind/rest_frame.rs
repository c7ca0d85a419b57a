//! The frame of rest of a clump: mean position and velocity of some of its members.

use super::super::members::HaloMembers;
use super::super::slices::{BlockSums, Slices, smallest_of};
use std::ops::Range;

/// A frame of rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RestFrame {
    position: [f64; 3],
    velocity: [f64; 3],
}

/// Listed members and the slices that they are in.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListedMembers<'a, S> {
    /// All members of this slice.
    pub members: &'a HaloMembers,
    /// The listed ones, by rising number.
    pub list: &'a [u32],
    /// What joins the slices.
    pub slices: &'a S,
}

/// Sums over chosen members: weights, weighted positions and velocities.
type MeanSums = BlockSums<7>;

impl RestFrame {
    /// The frame of the core: the mean of the `number` listed members with the least `depth`. All members at
    /// the limit count.
    pub fn of_deepest<S: Slices>(
        of: &ListedMembers<S>,
        depth: &[f64],
        number: u64,
    ) -> Result<Self, S::Error> {
        let limits = smallest_of(of.slices, &mut depth.to_vec(), &[number - 1])?;
        Ok(Self::of_cores(of, depth, &limits)?[0])
    }

    /// The frames of cores: the mean of the listed members with no more than this `depth`, one per limit.
    pub fn of_cores<S: Slices>(
        of: &ListedMembers<S>,
        depth: &[f64],
        limits: &[f64],
    ) -> Result<Vec<Self>, S::Error> {
        let own: Vec<MeanSums> =
            limits.iter().map(|limit| of.by_mass(|place| depth[place] <= *limit)).collect();
        let sums = MeanSums::over_all(&own, of.slices)?;
        let frame = |(sums, limit): (&[f64; 7], &f64)| match sums[0] > 0.0 {
            true => Ok(Self::of_sums(sums)),
            false => Self::of_equals(of, |place| depth[place] <= *limit),
        };
        sums.iter().zip(limits).map(frame).collect()
    }

    /// The mean over the listed members whose places a closure accepts, weighted by mass. If all masses are
    /// 0, the weights are equal.
    pub fn mean<S: Slices>(
        of: &ListedMembers<S>,
        is_chosen: impl Fn(usize) -> bool + Sync,
    ) -> Result<Self, S::Error> {
        let sums = MeanSums::over_all(&[of.by_mass(&is_chosen)], of.slices)?;
        match sums[0][0] > 0.0 {
            true => Ok(Self::of_sums(&sums[0])),
            false => Self::of_equals(of, is_chosen),
        }
    }

    /// The mean with equal weights.
    fn of_equals<S: Slices>(
        of: &ListedMembers<S>,
        is_chosen: impl Fn(usize) -> bool + Sync,
    ) -> Result<Self, S::Error> {
        let sums = MeanSums::over_all(&[of.weighted(1.0, |_| 1.0, is_chosen)], of.slices)?;
        Ok(Self::of_sums(&sums[0]))
    }

    fn of_sums([total, x, y, z, u, v, w]: &[f64; 7]) -> Self {
        Self { position: [x / total, y / total, z / total], velocity: [u / total, v / total, w / total] }
    }

    /// The velocity of the frame.
    pub fn velocity(&self) -> [f64; 3] {
        self.velocity
    }

    /// The kinetic energy per mass of a member in this frame, with the Hubble flow.
    #[inline]
    pub fn kinetic(&self, members: &HaloMembers, member: u32, hubble_flow: f64) -> f64 {
        let (x, v) =
            (members.columns().position[member as usize], members.columns().velocity[member as usize]);
        let w: [f64; 3] =
            std::array::from_fn(|a| v[a] - self.velocity[a] + hubble_flow * (x[a] - self.position[a]));
        0.5 * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    }
}

impl<S: Slices> ListedMembers<'_, S> {
    /// The sums of this slice with masses as weights.
    fn by_mass(&self, is_chosen: impl Fn(usize) -> bool + Sync) -> MeanSums {
        let mass = &self.members.columns().mass;
        self.weighted(self.members.bounds().mass, |member| mass[member], is_chosen)
    }

    /// The sums of this slice with weights of `most` at most.
    fn weighted(
        &self,
        most: f64,
        weight: impl Fn(usize) -> f64 + Sync,
        is_chosen: impl Fn(usize) -> bool + Sync,
    ) -> MeanSums {
        let (columns, bounds) = (self.members.columns(), self.members.bounds());
        let (x, v) = (most * bounds.reach, most * bounds.speed);
        let mut sums = BlockSums::new(bounds, [most, x, x, x, v, v, v]);
        let of_block = |run: Range<usize>| {
            let mut block = [0.0; 7];
            for place in run {
                let member = self.list[place] as usize;
                if !is_chosen(place) {
                    continue;
                }
                let (w, x, v) = (weight(member), columns.position[member], columns.velocity[member]);
                block[0] += w;
                (0..3).for_each(|a| block[1 + a] += w * x[a]);
                (0..3).for_each(|a| block[4 + a] += w * v[a]);
            }
            block
        };
        sums.add_blocks(self.slices, self.members.runs(self.list), of_block);
        sums
    }
}
