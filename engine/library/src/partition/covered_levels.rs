//! Which of the coarsest levels does nobody need?
//!
//! A cell of level 0 has cells of all ranks in or around it, so its owner would send it to all of them, one
//! message each. Many octrees begin with levels that cover the box with split cells. Their cells hold no
//! leaf, touch none, and say nothing that the next level does not.

use super::migrate::OwnLevel;
use super::oct_record::OctRecord;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_kernels::geom::Domain;
use rayon::prelude::*;

/// Bits of a set of levels.
const N_LEVELS: usize = 32;

/// Counts of a level over all ranks.
const CELLS: usize = 0;
const LEAVES: usize = 1;
/// Octs that occur more than once.
const TWICE: usize = 2;

/// Collective: drops the coarsest levels from the own cells, as long as such a level and the next finer one
/// cover the whole box and it has no leaf. Bit l of `levels` is set if any rank has cells of level l. Returns
/// the levels that are left.
///
/// A level that covers the box has each cell once, so dropping it hides no fault of an octree: each of its
/// cells is split, has its children, and is inside its parent. One reduction.
///
/// # Errors
/// When another rank fails.
pub(super) fn drop_covered(
    domain: &Domain,
    own: &mut [OwnLevel],
    levels: u32,
    comm: &Comm,
) -> Result<u32, CommError> {
    let counts = comm.all_reduce_counts(own_counts(own).as_flattened(), Reduce::Sum)?;
    let covers = |level: u32| {
        let of_level = &counts[3 * level as usize..];
        let n_cells: u64 = domain.extent(level as u8).iter().map(|n| n.cast_unsigned()).product();
        of_level[CELLS] == n_cells && of_level[TWICE] == 0
    };
    let mut left = levels;
    while left.count_ones() > 1 {
        let level = left.trailing_zeros();
        if !covers(level) || counts[3 * level as usize + LEAVES] > 0 || !covers(level + 1) {
            break;
        }
        if let Some(own) = own.get_mut(level as usize) {
            *own = OwnLevel::default();
        }
        left &= left - 1;
    }
    Ok(left)
}

/// The counts of each level on this rank.
fn own_counts(own: &[OwnLevel]) -> [[u64; 3]; N_LEVELS] {
    let mut counts = [[0; 3]; N_LEVELS];
    for (of_level, OwnLevel { octs, .. }) in counts.iter_mut().zip(own) {
        of_level[CELLS] = octs.par_iter().map(|oct| oct.n_cells() as u64).sum();
        of_level[LEAVES] = octs.par_iter().map(|oct| u64::from(oct.leaf.count_ones())).sum();
        let is_twice = |pair: &&[OctRecord]| pair[0].position == pair[1].position;
        of_level[TWICE] = octs.par_windows(2).filter(is_twice).count() as u64;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_comm::run_threads;

    /// The levels that are left of a uniform grid of levels 0 to 3 after a change, on three ranks.
    fn left(change: impl Fn(&mut Vec<OctRecord>) + Sync) -> u32 {
        let domain = Domain::CUBE;
        let ran = run_threads(3, |comm| {
            let mut octs = Vec::new();
            for level in 0..4u8 {
                let side = 1u32 << level;
                let cells = (0..side.pow(3)).map(|i| [i % side, i / side % side, i / side / side]);
                octs.extend(cells.map(|at| OctRecord::of_cell(level, at, level == 3, 1.0)));
            }
            change(&mut octs);
            let levels = octs.iter().fold(0, |levels, oct| levels | 1 << oct.level);
            octs.retain(|oct| oct.position.iter().sum::<u32>() % 3 == comm.rank().0);
            octs.sort_by_key(|oct| (oct.level, oct.position));
            let of_level = |level| octs.iter().filter(move |oct| oct.level == level).copied();
            let mut own: Vec<OwnLevel> = (0..4).map(|level| joined(of_level(level))).collect();
            let left = drop_covered(&domain, &mut own, levels, comm).expect("no rank fails");
            assert!((0..4).all(|level| left >> level & 1 == 1 || own[level].octs.is_empty()));
            left
        });
        let ran = ran.expect("no rank fails");
        assert!(ran.iter().all(|left| *left == ran[0]), "all ranks agree");
        ran[0]
    }

    fn joined(octs: impl Iterator<Item = OctRecord>) -> OwnLevel {
        let mut own = OwnLevel::default();
        for oct in octs {
            if !own.octs.last_mut().is_some_and(|last| last.join(&oct)) {
                own.octs.push(oct);
            }
        }
        own
    }

    #[test]
    fn levels_that_say_nothing_are_dropped() {
        assert_eq!(left(|_| ()), 0b1000, "a uniform grid keeps its leaves");
        let with_leaf = |octs: &mut Vec<OctRecord>| {
            octs.retain(|oct| oct.level < 3 || oct.position != [0; 3]);
            octs.iter_mut().find(|oct| oct.level == 2).expect("a cell").leaf = 1;
        };
        assert_eq!(left(with_leaf), 0b1100, "a level with a leaf stays");
        assert_eq!(
            left(|octs| octs.retain(|oct| oct.level != 0)),
            0b1000,
            "an octree may begin at a finer level"
        );
    }

    #[test]
    fn faults_are_kept() {
        let missing = |level: u8| {
            left(move |octs| {
                let at = octs.iter().position(|oct| oct.level == level).expect("a cell of the level");
                octs.remove(at);
            })
        };
        assert_eq!([1, 2, 3].map(missing), [0b1111, 0b1110, 0b1100]);
        let twice = |octs: &mut Vec<OctRecord>| {
            let at = octs.iter().position(|oct| oct.level == 2).expect("a cell of level 2");
            octs.push(octs[at]);
            octs.remove(at + 9);
        };
        assert_eq!(left(twice), 0b1110, "a cell that is there twice does not stand for a missing one");
    }
}
