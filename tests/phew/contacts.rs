//! Contacts of patches by themselves: the result does not depend on how far apart the indices of peaks are.

use crate::verify::meshes::{Field, place};
use crate::verify::random::Random;
use inselberg::field::AmrField;
use inselberg::field::test_cells;
use inselberg_kernels::geom::Domain;
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::contact_dedup::ContactDedup;
use inselberg_kernels::phew::forest::{ContactEdge, ForestScratch, reduce};
use inselberg_kernels::phew::saddle::contacts;

/// The forest of the contacts of cells with these labels.
fn forest(field: &AmrField, labels: &[PeakIdx]) -> Vec<ContactEdge> {
    let found = test_cells::find(field, 0.5);
    let mut pairs = ContactDedup::default();
    contacts(&field.mesh, &found, labels, 0..field.mesh.supers().len(), &mut pairs, |_, _| ());
    reduce(pairs.edges(), &mut ForestScratch::default())
}

/// A box of levels 3 and 4 with random densities, all of them of test cells.
fn two_levels(random: &mut Random) -> AmrField {
    let mut field = Field::uniform_at(Domain::CUBE, 3);
    for leaf in field.leaves.clone() {
        if random.chance(0.3) {
            field.split(place(&leaf), true);
        }
    }
    field.fill(0, random);
    field.leaves.iter_mut().for_each(|leaf| leaf.rho += 1.0);
    field.leaves_as_amr()
}

#[test]
fn peaks_far_apart_are_told_apart() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let field = two_levels(&mut random);
        let n_labels = 2 + random.below(40);
        let near: Vec<PeakIdx> = field.rho.iter().map(|_| PeakIdx::new(random.below(n_labels))).collect();
        let expected = forest(&field, &near);
        assert!(!expected.is_empty());
        for stride in [3, 40_000, 1 << 16, 1 << 20] {
            let far = |peak: PeakIdx| PeakIdx::new(peak.at() * stride);
            let labels: Vec<PeakIdx> = near.iter().copied().map(far).collect();
            let renamed = expected.iter().map(|edge| ContactEdge { peaks: edge.peaks.map(far), ..*edge });
            assert_eq!(forest(&field, &labels), renamed.collect::<Vec<_>>(), "seed {seed}, stride {stride}");
        }
    }
}
