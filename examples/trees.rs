//! A merger tree that grows step by step: two groups fall into each other.

mod common;

use common::Particles;
use inselberg::{BoundRequest, Engine, Error, FofParams, Linking, LinkingTypes, TreeParams};

fn main() -> Result<(), Error> {
    let mut engine = Engine::builder().build()?;
    let mut tree = engine.trees(&TreeParams::default())?;
    let bound = BoundRequest::default().unbind(true).with_members(true);
    let params = FofParams::default().linking(Linking::Ratio(0.2)).min_size(50).bound(bound);
    for step in 0..6_u8 {
        let particles = Particles::at(0.12 * f64::from(step));
        let held = engine.hold_particles(&particles.columns())?;
        let groups = engine.fof_particles(&held, &LinkingTypes::default(), &params)?;
        println!("step {step}: {} groups", groups.n_groups());
        tree.add_groups(&groups, u64::from(step))?;
    }

    let catalogue = tree.catalogue().expect("rank 0 has the tree");
    let nodes = catalogue.table("nodes").expect("a tree has nodes");
    let (step, track) = (nodes.counts("snapshot"), nodes.counts("track"));
    for (step, track) in step.into_iter().flatten().zip(track.into_iter().flatten()) {
        println!("step {step}: object {} of step {}", track & ((1 << 40) - 1), track >> 40);
    }
    Ok(())
}
