//! Lists: the nodes and points that act on one group of points, in blocks of 16, and their potential at one
//! point.
//!
//! All positions are relative to the middle of the group, so that single precision is enough for far sources.
//! Offsets to near sources are computed in double precision first. Every sum has 16 lanes on any processor,
//! and lanes are joined in one order. So the bits are the same everywhere.

use super::octree::Moments;
use super::softening::inverse_distance_single;

/// Sources per block.
const LANES: usize = 16;

/// The position of unused lanes: far away and without mass.
const FAR: f32 = 1e6;

/// Nodes, as monopoles and quadrupoles.
#[derive(Debug, Clone, Copy)]
struct NodeBlock {
    x: [[f32; LANES]; 3],
    mass: [f32; LANES],
    /// Half of 3 S - trace(S), where S are the second moments, in the order xx, yy, zz, xy, xz, yz.
    quadrupole: [[f32; LANES]; 6],
}

/// Points outside the reach of softening.
#[derive(Debug, Clone, Copy)]
struct PointBlock {
    x: [[f32; LANES]; 3],
    mass: [f32; LANES],
}

/// Points that may be softened, with a reach so large that single precision is enough.
#[derive(Debug, Clone, Copy)]
struct SoftBlock {
    x: [[f32; LANES]; 3],
    mass: [f32; LANES],
    inverse_reach: [f32; LANES],
    place: [u32; LANES],
}

/// Points that may be softened and may be very near.
#[derive(Debug, Clone, Copy)]
struct NearBlock {
    x: [[f64; LANES]; 3],
    mass: [f32; LANES],
    inverse_reach: [f32; LANES],
    /// Number of the point in the group; [`Lists::OTHER`] for other points.
    place: [u32; LANES],
}

/// A source near a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct NearSource {
    /// Position relative to the middle of the group.
    pub x: [f64; 3],
    /// Mass.
    pub mass: f32,
    /// Inverse reach of its softening.
    pub inverse_reach: f32,
    /// Number of the point in the group, or [`Lists::OTHER`].
    pub place: u32,
}

/// The sources that act on a group.
#[derive(Debug, Clone, Default)]
pub(super) struct Lists {
    nodes: Vec<NodeBlock>,
    n_nodes: usize,
    points: Vec<PointBlock>,
    n_points: usize,
    soft: Vec<SoftBlock>,
    n_soft: usize,
    near: Vec<NearBlock>,
    n_near: usize,
}

impl Lists {
    /// The place of a source outside the group.
    pub const OTHER: u32 = u32::MAX;

    /// A source without effect.
    pub const NO_SOURCE: NearSource =
        NearSource { x: [FAR as f64; 3], mass: 0.0, inverse_reach: 1.0, place: Self::OTHER };

    /// Empties the lists.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.points.clear();
        self.soft.clear();
        self.near.clear();
        (self.n_nodes, self.n_points, self.n_soft, self.n_near) = (0, 0, 0, 0);
    }

    #[inline(always)]
    pub fn push_node(&mut self, moments: &Moments, middle: [f64; 3]) {
        const EMPTY: NodeBlock =
            NodeBlock { x: [[FAR; LANES]; 3], mass: [0.0; LANES], quadrupole: [[0.0; LANES]; 6] };
        let (block, lane) = slot(&mut self.nodes, &mut self.n_nodes, EMPTY);
        let s = &moments.second;
        let third = s[0] + s[1] + s[2];
        (0..3).for_each(|a| block.x[a][lane] = (moments.centre[a] - middle[a]) as f32);
        block.mass[lane] = moments.mass as f32;
        (0..3).for_each(|i| block.quadrupole[i][lane] = (0.5 * (3.0 * s[i] - third)) as f32);
        (3..6).for_each(|i| block.quadrupole[i][lane] = (3.0 * s[i]) as f32);
    }

    #[inline(always)]
    pub fn push_point(&mut self, x: [f64; 3], mass: f32) {
        const EMPTY: PointBlock = PointBlock { x: [[FAR; LANES]; 3], mass: [0.0; LANES] };
        let (block, lane) = slot(&mut self.points, &mut self.n_points, EMPTY);
        (0..3).for_each(|a| block.x[a][lane] = x[a] as f32);
        block.mass[lane] = mass;
    }

    /// A point within reach, if no reach in the group is much smaller than the group.
    #[inline(always)]
    pub fn push_soft(&mut self, source: &NearSource) {
        const EMPTY: SoftBlock = SoftBlock {
            x: [[FAR; LANES]; 3],
            mass: [0.0; LANES],
            inverse_reach: [1.0; LANES],
            place: [Lists::OTHER; LANES],
        };
        let (block, lane) = slot(&mut self.soft, &mut self.n_soft, EMPTY);
        (0..3).for_each(|a| block.x[a][lane] = source.x[a] as f32);
        block.mass[lane] = source.mass;
        block.inverse_reach[lane] = source.inverse_reach;
        block.place[lane] = source.place;
    }

    /// A point within reach.
    #[inline(always)]
    pub fn push_near(&mut self, source: &NearSource) {
        const EMPTY: NearBlock = NearBlock {
            x: [[FAR as f64; LANES]; 3],
            mass: [0.0; LANES],
            inverse_reach: [1.0; LANES],
            place: [Lists::OTHER; LANES],
        };
        let (block, lane) = slot(&mut self.near, &mut self.n_near, EMPTY);
        (0..3).for_each(|a| block.x[a][lane] = source.x[a]);
        block.mass[lane] = source.mass;
        block.inverse_reach[lane] = source.inverse_reach;
        block.place[lane] = source.place;
    }

    /// The sum of mass over softened distance at each of some points of the group. Blocks are loaded once for
    /// all of them.
    #[inline(always)]
    pub fn sums_at<const N: usize>(&self, targets: &[NearSource; N]) -> [f64; N] {
        let mut sums = [[0.0f32; LANES]; N];
        for block in &self.nodes {
            for (sums, target) in sums.iter_mut().zip(targets) {
                add_nodes(sums, block, single(target));
            }
        }
        for block in &self.points {
            for (sums, target) in sums.iter_mut().zip(targets) {
                add_points(sums, block, single(target));
            }
        }
        for block in &self.soft {
            for (sums, target) in sums.iter_mut().zip(targets) {
                add_soft(sums, block, single(target), target);
            }
        }
        for block in &self.near {
            for (sums, target) in sums.iter_mut().zip(targets) {
                add_near(sums, block, target);
            }
        }
        let mut joint = [0.0; N];
        for (joint, sums) in joint.iter_mut().zip(sums) {
            *joint = joined(sums);
        }
        joint
    }
}

/// A position in single precision.
#[inline(always)]
fn single(target: &NearSource) -> [f32; 3] {
    [target.x[0] as f32, target.x[1] as f32, target.x[2] as f32]
}

/// The place of the next entry of a list of blocks.
#[inline(always)]
fn slot<'a, B: Copy>(blocks: &'a mut Vec<B>, n: &mut usize, empty: B) -> (&'a mut B, usize) {
    let lane = *n % LANES;
    if lane == 0 {
        blocks.push(empty);
    }
    *n += 1;
    let last = blocks.len() - 1;
    (&mut blocks[last], lane)
}

/// With d the offset and r its length: m/r + d Q d / r^5.
#[inline(always)]
fn add_nodes(sums: &mut [f32; LANES], block: &NodeBlock, at: [f32; 3]) {
    let [xx, yy, zz, xy, xz, yz] = &block.quadrupole;
    (0..LANES).for_each(
        #[inline(always)]
        |i| {
            let (x, y, z) = (block.x[0][i] - at[0], block.x[1][i] - at[1], block.x[2][i] - at[2]);
            let inverse = 1.0 / (x * x + y * y + z * z).sqrt();
            let inverse2 = inverse * inverse;
            let along_x = xx[i] * x + xy[i] * y + xz[i] * z;
            let form = along_x * x + (yy[i] * y + yz[i] * z) * y + zz[i] * z * z;
            sums[i] += (block.mass[i] + form * inverse2 * inverse2) * inverse;
        },
    );
}

#[inline(always)]
fn add_points(sums: &mut [f32; LANES], block: &PointBlock, at: [f32; 3]) {
    (0..LANES).for_each(
        #[inline(always)]
        |i| {
            let (x, y, z) = (block.x[0][i] - at[0], block.x[1][i] - at[1], block.x[2][i] - at[2]);
            sums[i] += block.mass[i] / (x * x + y * y + z * z).sqrt();
        },
    );
}

#[inline(always)]
fn add_soft(sums: &mut [f32; LANES], block: &SoftBlock, at: [f32; 3], target: &NearSource) {
    (0..LANES).for_each(
        #[inline(always)]
        |i| {
            let (x, y, z) = (block.x[0][i] - at[0], block.x[1][i] - at[1], block.x[2][i] - at[2]);
            let own = target.inverse_reach;
            let inverse_reach = if block.inverse_reach[i] < own { block.inverse_reach[i] } else { own };
            let inverse = inverse_distance_single(x * x + y * y + z * z, inverse_reach);
            sums[i] += if block.place[i] == target.place { 0.0 } else { block.mass[i] * inverse };
        },
    );
}

#[inline(always)]
fn add_near(sums: &mut [f32; LANES], block: &NearBlock, target: &NearSource) {
    (0..LANES).for_each(
        #[inline(always)]
        |i| {
            let x = (block.x[0][i] - target.x[0]) as f32;
            let y = (block.x[1][i] - target.x[1]) as f32;
            let z = (block.x[2][i] - target.x[2]) as f32;
            let own = target.inverse_reach;
            let inverse_reach = if block.inverse_reach[i] < own { block.inverse_reach[i] } else { own };
            let inverse = inverse_distance_single(x * x + y * y + z * z, inverse_reach);
            sums[i] += if block.place[i] == target.place { 0.0 } else { block.mass[i] * inverse };
        },
    );
}

/// Joins lanes i and i + 8, then i and i + 4, and so on.
#[inline(always)]
fn joined(sums: [f32; LANES]) -> f64 {
    let mut sums = sums.map(f64::from);
    let mut half = LANES / 2;
    while half > 0 {
        (0..half).for_each(|i| sums[i] += sums[i + half]);
        half /= 2;
    }
    sums[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::wide;
    use proptest::prelude::*;

    fn moments() -> impl Strategy<Value = Moments> {
        (prop::array::uniform3(1.0..3.0f64), 0.0..1.0f64, prop::array::uniform6(0.0..0.1f64))
            .prop_map(|(centre, mass, second)| Moments { centre, mass, second })
    }

    fn source() -> impl Strategy<Value = NearSource> {
        let place = prop_oneof![Just(3), Just(Lists::OTHER)];
        let reach = prop_oneof![Just(1e30f32), 0.5..5.0f32];
        (prop::array::uniform3(-1.0..1.0f64), 0.0..1.0f32, reach, place)
            .prop_map(|(x, mass, inverse_reach, place)| NearSource { x, mass, inverse_reach, place })
    }

    /// Reference: one source after the other in double precision.
    fn plain(nodes: &[Moments], points: &[NearSource], near: &[NearSource], target: &NearSource) -> f64 {
        use super::super::softening::inverse_distance;
        let offset = |x: [f64; 3]| -> [f64; 3] { std::array::from_fn(|a| x[a] - target.x[a]) };
        let square = |d: [f64; 3]| d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        let node = |node: &Moments| {
            let d = offset(node.centre);
            let (r, s) = (square(d).sqrt(), node.second);
            let along = s[0] * d[0] * d[0]
                + s[1] * d[1] * d[1]
                + s[2] * d[2] * d[2]
                + 2.0 * (s[3] * d[0] * d[1] + s[4] * d[0] * d[2] + s[5] * d[1] * d[2]);
            node.mass / r + (3.0 * along - (s[0] + s[1] + s[2]) * r * r) / (2.0 * r.powi(5))
        };
        let point = |point: &NearSource| f64::from(point.mass) / square(offset(point.x)).sqrt();
        let softened = |point: &NearSource| match point.place == target.place {
            true => 0.0,
            false => {
                let reach = point.inverse_reach.min(target.inverse_reach);
                f64::from(point.mass) * inverse_distance(square(offset(point.x)), f64::from(reach))
            }
        };
        nodes.iter().map(node).sum::<f64>()
            + points.iter().map(point).sum::<f64>()
            + near.iter().map(softened).sum::<f64>()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

        #[test]
        fn sums_are_plain_ones_and_have_the_same_bits_with_any_vectors(
            nodes in prop::collection::vec(moments(), 0..40),
            mut points in prop::collection::vec(source(), 0..40),
            mut near in prop::collection::vec(source(), 0..40),
            n_soft in 0usize..40,
            mut target in source(),
        ) {
            target.place = 3;
            let n_soft = n_soft.min(near.len());
            near[..n_soft].iter_mut().for_each(|source| source.inverse_reach = source.inverse_reach.min(5.0));
            points.iter_mut().for_each(|point| point.x[2] += 3.0);
            let mut lists = Lists::default();
            nodes.iter().for_each(|node| lists.push_node(node, [0.0; 3]));
            points.iter().for_each(|point| lists.push_point(point.x, point.mass));
            near[..n_soft].iter().for_each(|source| lists.push_soft(source));
            near[n_soft..].iter().for_each(|source| lists.push_near(source));
            let other = NearSource { x: target.x.map(|x| 0.5 * x), place: 4, ..target };
            let [found, of_other] = wide(
                #[inline(always)]
                || lists.sums_at(&[target, other]),
            );
            // Outside of `wide` the compiler takes the vectors that every processor has.
            prop_assert_eq!(found.to_bits(), lists.sums_at(&[target])[0].to_bits());
            prop_assert_eq!(of_other.to_bits(), lists.sums_at(&[other])[0].to_bits());
            let exact = plain(&nodes, &points, &near, &target);
            prop_assert!((found - exact).abs() <= 1e-5 * exact.abs() + 1e-6, "{} {}", found, exact);
        }
    }
}
