//! The frame of a clump: mean position and velocity of its core.
//!
//! Before anything is known of what is bound, the core is found by trial. The patch of a small clump in a large host holds more
//! of the host than of the clump. A tenth of all candidates then outnumbers the clump, and its mean is the motion of the host:
//!
//! ```text
//!     candidates by potential    c c c c c h c h h c h h h h h h h h ...      c: of the clump, h: of the host
//!     a tenth                    [                       ]                   mean: about h; binds few
//!     half of it                 [         ]                                 mean: about c; binds most of c
//! ```

use super::super::members::HaloMembers;
use super::super::slices::{BlockSums, Slices, smallest_of, total};

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

/// Sums over chosen members: weights, weighted positions and velocities; and the mass of all that are listed.
type CoreSums = BlockSums<8>;

impl CoreFrame {
    /// The frame of the first pass over members of this `number` in all slices. Tried are the tenth of them with the least
    /// potential, half of that, and so on down to 20 members. The frame counts that binds most members; of equals that of the
    /// larger core. If the tenth binds half of all members, no other is tried. `is_bound` tells which places a frame binds.
    pub fn by_trial<S: Slices>(
        of: &ListedMembers<S>,
        potential: &[f64],
        number: u64,
        is_bound: impl Fn(&Self, usize) -> bool,
    ) -> Result<Self, S::Error> {
        let count = |frame: &Self| (0..of.list.len()).filter(|place| is_bound(frame, *place)).count();
        let n_core = core_of(number).min(number);
        let tenth = Self::new(of, potential, n_core)?;
        if n_core <= FEWEST || 2 * total(of.slices, count(&tenth))? >= number {
            return Ok(tenth);
        }
        let halves = std::iter::successors(Some(n_core), |n| (*n > FEWEST).then(|| (n / 2).max(FEWEST)));
        let places: Vec<u64> = halves.map(|n| n - 1).collect();
        let limits = smallest_of(of.slices, &mut potential.to_vec(), &places)?;
        let frames = Self::of_cores(of, &limits, |place, limit| potential[place] <= limit)?;
        let own: Vec<u64> = frames.iter().map(|frame| count(frame) as u64).collect();
        let counts = of.slices.add(&own)?;
        let better = |best: usize, i: usize| if counts[i] > counts[best] { i } else { best };
        Ok(frames[(1..frames.len()).fold(0, better)])
    }

    /// The frame of a later pass: that of the tenth of the `n_bound` bound members with the least energy, but of 20 at least.
    pub fn of_most_bound<S: Slices>(
        of: &ListedMembers<S>,
        energy: &[f64],
        n_bound: u64,
        number: u64,
    ) -> Result<Self, S::Error> {
        Self::new(of, energy, core_of(n_bound).min(number))
    }

    /// The frame of so many of the listed members with the least `depth`. Members at the limit count all. A member with more than
    /// half of all mass is the frame alone: it feels little of the potential that it makes.
    fn new<S: Slices>(of: &ListedMembers<S>, depth: &[f64], n_core: u64) -> Result<Self, S::Error> {
        let limits = smallest_of(of.slices, &mut depth.to_vec(), &[n_core - 1])?;
        let frames = Self::of_cores(of, &limits, |place, limit| depth[place] <= limit)?;
        Ok(frames[0])
    }

    /// The mean over the listed members of which a closure chooses places, weighted by mass; if all masses are 0, every member
    /// counts the same.
    pub fn mean<S: Slices>(
        of: &ListedMembers<S>,
        is_chosen: impl Fn(usize) -> bool,
    ) -> Result<Self, S::Error> {
        let sums = CoreSums::over_all(&[of.by_mass(&is_chosen)], of.slices)?;
        match sums[0][0] > 0.0 {
            true => Ok(Self::of_sums(&sums[0])),
            false => Self::of_equals(of, is_chosen),
        }
    }

    /// The frames of cores: one per limit, of the members that a closure chooses by place and limit. One gathering.
    fn of_cores<S: Slices>(
        of: &ListedMembers<S>,
        limits: &[f64],
        is_chosen: impl Fn(usize, f64) -> bool,
    ) -> Result<Vec<Self>, S::Error> {
        let own: Vec<CoreSums> =
            limits.iter().map(|limit| of.by_mass(|place| is_chosen(place, *limit))).collect();
        let sums = CoreSums::over_all(&own, of.slices)?;
        if let Some(heaviest) = of.dominant(sums[0][7])? {
            return Ok(vec![heaviest; limits.len()]);
        }
        let frame = |(sums, limit): (&[f64; 8], &f64)| match sums[0] > 0.0 {
            true => Ok(Self::of_sums(sums)),
            false => Self::of_equals(of, |place| is_chosen(place, *limit)),
        };
        sums.iter().zip(limits).map(frame).collect()
    }

    /// The mean where every member counts the same.
    fn of_equals<S: Slices>(
        of: &ListedMembers<S>,
        is_chosen: impl Fn(usize) -> bool,
    ) -> Result<Self, S::Error> {
        let sums = CoreSums::over_all(&[of.weighted(1.0, |_| 1.0, is_chosen)], of.slices)?;
        Ok(Self::of_sums(&sums[0]))
    }

    fn of_sums([total, x, y, z, u, v, w, _]: &[f64; 8]) -> Self {
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

/// Members of the core of so many.
fn core_of(number: u64) -> u64 {
    (number / PART).max(FEWEST)
}

impl<S: Slices> ListedMembers<'_, S> {
    /// The sums of this slice with masses as weights.
    fn by_mass(&self, is_chosen: impl Fn(usize) -> bool) -> CoreSums {
        let mass = &self.members.columns().mass;
        self.weighted(self.members.bounds().mass, |member| mass[member], is_chosen)
    }

    /// The sums of this slice with weights of `most` at most.
    fn weighted(
        &self,
        most: f64,
        weight: impl Fn(usize) -> f64,
        is_chosen: impl Fn(usize) -> bool,
    ) -> CoreSums {
        let (columns, bounds) = (self.members.columns(), self.members.bounds());
        let (x, v) = (most * bounds.reach, most * bounds.speed);
        let mut sums = BlockSums::new(bounds, [most, x, x, x, v, v, v, bounds.mass]);
        for run in self.members.runs(self.list) {
            let mut block = [0.0; 8];
            for place in run {
                let member = self.list[place] as usize;
                block[7] += columns.mass[member];
                if !is_chosen(place) {
                    continue;
                }
                let (w, x, v) = (weight(member), columns.position[member], columns.velocity[member]);
                block[0] += w;
                (0..3).for_each(|a| block[1 + a] += w * x[a]);
                (0..3).for_each(|a| block[4 + a] += w * v[a]);
            }
            sums.add(block);
        }
        sums
    }

    /// The frame of the member with more than half of the mass of the list. A gathering, if any mass is that large.
    fn dominant(&self, mass: f64) -> Result<Option<CoreFrame>, S::Error> {
        let (columns, half) = (self.members.columns(), 0.5 * mass);
        if self.members.bounds().mass <= half {
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
