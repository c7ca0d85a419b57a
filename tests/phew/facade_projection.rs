//! Projections through the façade: sums of leaves along z, with the same bits on any number of ranks.

use crate::common::case::GAS;
use crate::common::output;
use crate::facade::{over_ranks, params_of};
use inselberg::{
    Cells, Engine, FieldChoice, FofParams, Geometry, LinkingTypes, PhewParams, RankBuilder, Rules,
};

/// Level-1 cells of a box, of which one is split: pixels are means along z.
#[test]
fn pixels_are_means_along_z() {
    // The cell at the origin is split; its children have the densities 1 to 8.
    let mut levels = vec![2_u8; 8];
    let mut positions: Vec<[u32; 3]> = (0..8_u32).map(|i| [i & 1, (i >> 1) & 1, i >> 2]).collect();
    let mut density: Vec<f64> = (1..=8).map(f64::from).collect();
    for i in 1..8_u32 {
        levels.push(1);
        positions.push([i & 1, (i >> 1) & 1, i >> 2]);
        density.push(10.0 * f64::from(i));
    }
    let cells = Cells::from_leaves(Geometry::cube(4.0), &levels, &positions).expect("cells");
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let params = PhewParams::new(0.5);
    assert!(engine.phew(&cells, &density, &params).expect("clumps").projection().is_none());
    let found = engine.phew(&cells, &density, &params.projection_level(2)).expect("clumps");
    let projection = found.projection().expect("asked for");
    assert_eq!((projection.n, projection.side), (4, 1.0));
    // Above each child lies another child, then the level-1 cell above, which has the density 40.
    let child = |low: f32, high: f32| 0.25 * low + 0.25 * high + 0.5 * 40.0;
    assert_eq!(projection.values[0], child(1.0, 5.0));
    assert_eq!(projection.values[1], child(2.0, 6.0));
    assert_eq!(projection.values[4], child(3.0, 7.0));
    let coarse = |low: f32, high: f32| 0.5 * (low + high);
    assert_eq!(projection.values[2..4], [coarse(10.0, 50.0); 2]);
    assert_eq!(projection.values[15], coarse(30.0, 70.0));
}

#[test]
fn ranks_and_threads_do_not_change_a_pixel() {
    let found = |n_ranks: usize| {
        let mut all = over_ranks(RankBuilder::threads(n_ranks), |_, mut engine| {
            let snapshot = engine.open(output("gas_2ranks")).expect("opened");
            let params = params_of(GAS, Rules::Paper).projection_level(5);
            let clumps = engine
                .phew_snapshot(&snapshot, &FieldChoice::Named("density".into()), &params)
                .expect("clumps");
            let particles = engine.open_particles(&[output("dm_1rank")]).expect("opened");
            let params = FofParams::default().with_projection(true);
            let groups = engine.fof_particles(&particles, &LinkingTypes::default(), &params).expect("groups");
            let of_clumps = clumps.projection().map(|projection| projection.values.clone());
            (of_clumps, groups.projection().map(|projection| projection.values.clone()))
        });
        assert!(all[1..].iter().all(|(clumps, groups)| clumps.is_none() && groups.is_none()));
        all.swap_remove(0)
    };
    let one = found(1);
    assert!(one.0.as_ref().is_some_and(|pixels| pixels.iter().any(|pixel| *pixel > 0.0)));
    assert!(one.1.as_ref().is_some_and(|pixels| pixels.iter().any(|pixel| *pixel > 0.0)));
    assert_eq!(found(3), one);
}
