//! Clumps that claim former members, with and without a peak of their own.

use crate::samples::{Random, clump_in_host, members};
use crate::unbinding::GRAVITY;
use inselberg_kernels::bound::members::NO_RANK;
use inselberg_kernels::bound::slices::Whole;
use inselberg_kernels::bound::unbind::clump_members::ClumpMember;
use inselberg_kernels::bound::unbind::hierarchy::{
    BoundHierarchy, ClumpTree, NO_CLUMP, PeaklessClumps, Waves, unbind_hierarchy,
};
use inselberg_kernels::bound::unbind::{UnbindCall, UnbindRules, UnbindScratch};
use inselberg_kernels::bound::{HaloMembers, MemberColumns};

const N: usize = 300;
const N_HOST: usize = 6000;

/// A clump at the centre of a host whose patch covers all. The first entries are those of the clump.
fn sunken_clump() -> MemberColumns {
    let mut columns = clump_in_host(N, N_HOST, &mut Random::new(77));
    // A bound host: slow and heavy enough.
    for entry in N..N + N_HOST {
        columns.velocity[entry] = columns.velocity[entry].map(|v| 0.1 * v);
    }
    columns
}

/// The halo of clump 0, the patch of all members, and clump 1, which claims those of these former ranks.
fn unbound(columns: &MemberColumns, rank: &[u32], is_peakless: bool) -> (HaloMembers, BoundHierarchy) {
    let members = members(MemberColumns { former_rank: rank.to_vec(), ..columns.clone() });
    let claims = |member: u32| members.columns().former_rank[member as usize] != NO_RANK;
    let all = members.all();
    let clump_of: Vec<u32> = all.iter().map(|member| u32::from(claims(*member))).collect();
    let patch_of = vec![0; members.len()];
    let tree = ClumpTree {
        clump_of: &clump_of,
        parent: &[None, Some(0)],
        centre: &[[0.0; 3], [3.0, 0.0, 0.0]],
        whole: None,
        peakless: PeaklessClumps { is_peakless: &[false, is_peakless], patch_of: &patch_of },
    };
    let call = UnbindCall { gravity: &GRAVITY, rules: &UnbindRules::default(), slices: &Whole };
    let found = unbind_hierarchy(&members, &tree, &call, &mut UnbindScratch::default()).expect("a tree");
    (members, found)
}

/// The entries that are bound to a clump, ascending.
fn entries(members: &HaloMembers, found: &BoundHierarchy, clump: usize) -> Vec<u32> {
    let bound = found.clumps[clump].bound.member.iter();
    let mut entries: Vec<u32> = bound.map(|member| members.entries()[*member as usize]).collect();
    entries.sort_unstable();
    entries
}

/// Ranks of the clump by radius, the innermost first, and of further members of the host as losers.
fn ranks(columns: &MemberColumns, n_losers: usize) -> Vec<u32> {
    let radius = |entry: &usize| columns.position[*entry].iter().map(|x| x * x).sum::<f64>();
    let mut own: Vec<usize> = (0..N).collect();
    own.sort_by(|a, b| radius(a).total_cmp(&radius(b)));
    let mut ranks = vec![NO_RANK; N + N_HOST];
    (0..).zip(own.into_iter().chain(N..N + n_losers)).for_each(|(rank, entry)| ranks[entry] = rank);
    ranks
}

/// With or without a peak, among twice as many losers as members, and far from the place of the peak.
#[test]
fn a_clump_at_the_centre_of_its_host_is_found_by_its_former_members() {
    let columns = sunken_clump();
    for is_peakless in [true, false] {
        let (members, found) = unbound(&columns, &ranks(&columns, 2 * N), is_peakless);
        let bound = entries(&members, &found, 1);
        let own = bound.iter().filter(|entry| **entry < N as u32).count();
        assert!(own > N * 9 / 10, "{own} of {N}");
        assert!(bound.len() < N * 13 / 10, "{} with those of the host", bound.len());
    }
}

/// Members that do not belong together leave the host as it is without the clump.
#[test]
fn a_clump_without_a_peak_that_dissolves_changes_nothing() {
    let mut columns = sunken_clump();
    columns.velocity[..N].iter_mut().enumerate().for_each(|(i, v)| v[i % 3] += 40.0 * (i as f64 - 150.0));
    let mut ranks = vec![NO_RANK; N + N_HOST];
    (0..N).for_each(|entry| ranks[entry] = entry as u32);
    let (members, with) = unbound(&columns, &ranks, true);
    let (plain, without) = unbound(&columns, &vec![NO_RANK; N + N_HOST], false);
    assert!(with.clumps[1].bound.is_empty());
    assert_eq!(with.clumps[0].bound, without.clumps[0].bound);
    assert_eq!(entries(&members, &with, 0), entries(&plain, &without, 0));
    assert!(entries(&plain, &without, 0).len() > N_HOST / 2, "the host is bound");
}

#[test]
fn clumps_without_peaks_come_first_and_their_losers_return_to_patches() {
    // With peaks: 1 in 0, and 4 in 1. Without: 2 in 0, and 3 in 2.
    let parent = [None, Some(0), Some(0), Some(2), Some(1)];
    let waves = Waves::new(&parent, &[false, false, true, true, false]).expect("a tree");
    assert_eq!(waves.clumps(), [vec![3], vec![2], vec![4], vec![1], vec![0]]);
    let next =
        |clump, listed, patch| waves.next(clump, listed, patch).map(|(to, listed)| (to, listed.member));
    let claimed = ClumpMember::claimed(7);
    assert_eq!(next(3, claimed, 4), Some((4, 7)), "to its patch");
    assert_eq!(next(3, claimed, NO_CLUMP), Some((2, 7)), "it has no patch");
    assert_eq!(next(1, claimed, 4), Some((0, 7)), "its patch is done");
    assert_eq!(next(4, ClumpMember::candidate(7), 0), Some((1, 7)), "not claimed");
    assert_eq!(next(0, claimed, 0), None, "unbound");
    // Where all have peaks, the waves are those of the hierarchy.
    let plain = Waves::new(&parent, &[]).expect("a tree");
    assert_eq!(plain.clumps(), [vec![3, 4], vec![1, 2], vec![0]]);
    assert!(Waves::new(&[Some(1), Some(0)], &[true, false]).is_err(), "a circle");
}
