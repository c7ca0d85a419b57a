//! Spheres of given mean density: the definition, point by point, and the same bits from points in slices.

use super::thread_slices::on_slices;
use inselberg_kernels::bound::mass_profile::{MassProfile, ProfilePoint};
use inselberg_kernels::bound::properties::concentration::InsideSums;
use inselberg_kernels::bound::properties::spherical_overdensity::SphereSearch;
use inselberg_kernels::bound::slices::{Slices, Whole};
use proptest::prelude::*;
use std::f64::consts::PI;

const DENSITIES: [f64; 4] = [0.02, 0.5, 3.0, 40.0];

/// What is found, with every number as its bits.
type Found = [Option<[u64; 7]>; 4];

fn bits(found: [SphereSearch; 4]) -> Found {
    found.map(|search| match search {
        SphereSearch::Found(sphere) => {
            let InsideSums { number, mass, moment, of_type } = sphere.inside;
            let reals = [sphere.radius, mass, moment, of_type[0], of_type[1]].map(f64::to_bits);
            Some([number, reals[0], reals[1], reals[2], reals[3], reals[4], of_type[2].to_bits()])
        }
        SphereSearch::BeyondPoints => None,
        SphereSearch::Empty => Some([0; 7]),
    })
}

fn whole(points: &[ProfilePoint], block: u64, core: f64) -> Found {
    let Ok(profile) = MassProfile::new(points.to_vec(), block, &Whole);
    let Ok(found) = profile.spheres(DENSITIES, core);
    bits(found)
}

/// The place in the sorted points at which each sphere ends, by the definition.
fn ends(points: &[ProfilePoint], core: f64) -> [Option<usize>; 4] {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.radius.total_cmp(&b.radius).then(a.mass.total_cmp(&b.mass)));
    let enclosed: Vec<f64> = sorted
        .iter()
        .scan(0.0, |sum, point| {
            *sum += point.mass;
            Some(*sum)
        })
        .collect();
    let n_central = sorted.iter().filter(|point| point.radius == 0.0).count().max(1);
    DENSITIES.map(|density| {
        let is_dense = |at: &usize| enclosed[*at] > 4.0 / 3.0 * PI * density * sorted[*at].radius.powi(3);
        let in_core = (n_central..sorted.len()).filter(|at| enclosed[at - 1] < core);
        let start = in_core.filter(is_dense).max();
        (start.unwrap_or(n_central)..sorted.len()).find(|at| !is_dense(at))
    })
}

fn points() -> impl Strategy<Value = Vec<ProfilePoint>> {
    // Multiples of 1/64, so that radii coincide and sums of masses are exact.
    let point = (0_u32..200, 1_u32..64, prop::sample::select(vec![0_u64, 1, 4, 5]));
    prop::collection::vec(point, 0..400).prop_map(|points| {
        let point = |(radius, mass, particle_type): (u32, u32, u64)| ProfilePoint {
            radius: f64::from(radius * radius) / 4096.0,
            mass: f64::from(mass) / 64.0,
            particle_type,
        };
        points.into_iter().map(point).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn points_in_slices_have_the_spheres_of_all(
        points in points(),
        block in 1_u64..40,
        core in 0.0..60.0_f64,
        // Most points in one slice, or in all.
        spread in 1_usize..9,
    ) {
        let expected = whole(&points, block, core);
        // Exact sums do not depend on blocks.
        prop_assert_eq!(expected, whole(&points, 4096, core));
        for n_slices in [2, 3, 5, 8] {
            let found = on_slices(n_slices, |slices| {
                let is_here = |i: &usize| i % spread.min(n_slices) == slices.here();
                let own = (0..points.len()).filter(is_here).map(|i| points[i]).collect();
                let Ok(profile) = MassProfile::new(own, block, slices);
                let Ok(found) = profile.spheres(DENSITIES, core);
                bits(found)
            });
            prop_assert!(found.iter().all(|found| *found == expected), "{} slices: {:?}, {:?}", n_slices, found, expected);
        }
    }

    #[test]
    fn spheres_end_where_the_definition_says(points in points(), core in prop::sample::select(vec![0.0, 3.0, 30.0])) {
        prop_assume!(points.iter().filter(|point| point.radius > 0.0).count() > 1 && points.len() > 2);
        let mut sorted: Vec<f64> = points.iter().map(|point| point.radius).collect();
        sorted.sort_by(f64::total_cmp);
        prop_assume!(sorted[1] > 0.0);
        let Ok(profile) = MassProfile::new(points.clone(), 16, &Whole);
        let Ok(found) = profile.spheres(DENSITIES, core);
        for (end, found) in ends(&points, core).into_iter().zip(found) {
            match (end, found) {
                (None, SphereSearch::BeyondPoints) => {}
                (Some(end), SphereSearch::Found(sphere)) => {
                    prop_assert!(sphere.radius <= sorted[end], "{} beyond {}", sphere.radius, sorted[end]);
                    prop_assert!(end <= 1 || sphere.radius >= sorted[end - 1]);
                    let inside = points.iter().filter(|point| point.radius <= sphere.radius);
                    let (n, mass) = inside.fold((0, 0.0), |(n, mass), point| (n + 1, mass + point.mass));
                    prop_assert_eq!((sphere.inside.number, sphere.inside.mass), (n, mass));
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
