//! The frame of a clump: mean position and velocity of its core.

use super::super::members::HaloMembers;
use super::super::slices::{BlockSums, Slices, smallest, total};

/// Fewest members of a core.
const FEWEST: u64 = 20;

/// Part of the members in a core: one in so many.
const PART: u64 = 10;

/// A frame of rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CoreFrame {
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

impl CoreFrame {
    /// The frame of the tenth of the listed members with the least `depth`, but of 20 at least. Members at the limit count
    /// all. A member with more than half of all mass is the frame alone: it feels little of the potential that it makes.
    /// `values` is working memory.
    pub fn new<S: Slices>(
        of: &ListedMembers<S>,
        depth: &[f64],
        values: &mut Vec<f64>,
    ) -> Result<Self, S::Error> {
        if let Some(heaviest) = of.dominant()? {
            return Ok(heaviest);
        }
        let number = total(of.slices, of.list.len())?;
        let n_core = (number / PART).max(FEWEST).min(number);
        values.clear();
        values.extend_from_slice(depth);
        let limit = smallest(of.slices, values, n_core - 1)?;
        Self::mean(of, |place| depth[place] <= limit)
    }

    /// The mean over the listed members of which a closure chooses places, weighted by mass; if all masses are 0, every member
    /// counts the same.
    pub fn mean<S: Slices>(
        of: &ListedMembers<S>,
        is_chosen: impl Fn(usize) -> bool,
    ) -> Result<Self, S::Error> {
        let mass = &of.members.columns().mass;
        let sums = of.weighted(of.members.bounds().mass, |member| mass[member], &is_chosen)?;
        let [total, sums @ ..] = match sums[0] > 0.0 {
            true => sums,
            false => of.weighted(1.0, |_| 1.0, &is_chosen)?,
        };
        let mean = sums.map(|sum| sum / total);
        Ok(Self { position: [mean[0], mean[1], mean[2]], velocity: [mean[3], mean[4], mean[5]] })
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
    /// The sum of weights, and the weighted sums of positions and velocities.
    fn weighted(
        &self,
        most: f64,
        weight: impl Fn(usize) -> f64,
        is_chosen: impl Fn(usize) -> bool,
    ) -> Result<[f64; 7], S::Error> {
        let (columns, bounds) = (self.members.columns(), self.members.bounds());
        let (x, v) = (most * bounds.reach, most * bounds.speed);
        let mut sums = BlockSums::new(bounds, [most, x, x, x, v, v, v]);
        for run in self.members.runs(self.list) {
            let mut block = [0.0; 7];
            for place in run.filter(|place| is_chosen(*place)) {
                let member = self.list[place] as usize;
                let (w, x, v) = (weight(member), columns.position[member], columns.velocity[member]);
                block[0] += w;
                (0..3).for_each(|a| block[1 + a] += w * x[a]);
                (0..3).for_each(|a| block[4 + a] += w * v[a]);
            }
            sums.add(block);
        }
        sums.over(self.slices)
    }

    /// The frame of the member with more than half of the mass of the list.
    fn dominant(&self) -> Result<Option<CoreFrame>, S::Error> {
        let (columns, bounds) = (self.members.columns(), self.members.bounds());
        let mut sums = BlockSums::new(bounds, [bounds.mass]);
        for run in self.members.runs(self.list) {
            sums.add([self.list[run].iter().map(|member| columns.mass[*member as usize]).sum()]);
        }
        let half = 0.5 * sums.over(self.slices)?[0];
        if bounds.mass <= half {
            return Ok(None);
        }
        let heavy =
            self.list.iter().map(|member| *member as usize).find(|member| columns.mass[*member] > half);
        let own: Vec<[[f64; 3]; 2]> =
            heavy.map(|member| [columns.position[member], columns.velocity[member]]).into_iter().collect();
        let all = self.slices.gather(&own)?;
        let first = all.into_iter().flatten().next();
        Ok(first.map(|[position, velocity]| CoreFrame { position, velocity }))
    }
}
