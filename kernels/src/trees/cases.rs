//! Scripted histories: every link is asserted.

use crate::trees::history::HistoryParams;
use crate::trees::history::NodeFate::{self, Disrupted, End, GoesOn, Lost, Merges};
use crate::trees::table::TreeNode;
use crate::trees::test_outputs::{TestOutput, linked, recorded};

const TRACERS: u32 = 10;

fn params(gap: usize, orphans: bool) -> HistoryParams {
    HistoryParams { gap, n_tracers: TRACERS, orphans }
}

/// Output and object of a node; orphans have object 0 and the birth of their track.
type Name = (u32, u64);

/// A node as it is written in a case: its name, its track by the node of birth, its fate and its descendant.
type Link = (Name, Name, NodeFate, Option<Name>);

fn name(node: &TreeNode) -> Name {
    (node.output, node.object)
}

fn birth(node: &TreeNode) -> Name {
    ((node.track >> 40) as u32, node.track & ((1 << 40) - 1))
}

fn links(nodes: &[TreeNode]) -> Vec<Link> {
    let link = |node: &TreeNode| {
        (
            name(node),
            birth(node),
            node.fate,
            node.descendant.map(|descendant| name(&nodes[descendant as usize])),
        )
    };
    nodes.iter().map(link).collect()
}

fn joined(parts: &[&[u64]]) -> Vec<u64> {
    parts.concat()
}

fn ids(range: std::ops::Range<u64>) -> Vec<u64> {
    range.collect()
}

/// A host of 100 members and a satellite of 30, which is only seen in the first and in the last of `n`
/// outputs. In between the host holds its members, after its own.
fn fly_through(n: usize) -> Vec<TestOutput> {
    let (host, satellite) = (ids(0..100), ids(200..230));
    let both = vec![(1, host.clone()), (2, satellite.clone())];
    let mut outputs = vec![vec![(1, joined(&[&host, &satellite]))]; n];
    (outputs[0], outputs[n - 1]) = (both.clone(), both);
    outputs
}

const HOST: Name = (0, 1);
const SATELLITE: Name = (0, 2);

#[test]
fn an_object_that_is_missing_in_three_outputs_goes_on() {
    let nodes = linked(&fly_through(5), params(4, true));
    let expected: [Link; 7] = [
        ((0, 1), HOST, GoesOn, Some((1, 1))),
        ((0, 2), SATELLITE, GoesOn, Some((4, 2))),
        ((1, 1), HOST, GoesOn, Some((2, 1))),
        ((2, 1), HOST, GoesOn, Some((3, 1))),
        ((3, 1), HOST, GoesOn, Some((4, 1))),
        ((4, 1), HOST, End, None),
        ((4, 2), SATELLITE, End, None),
    ];
    assert_eq!(links(&nodes), expected);
    assert_eq!(links(&linked(&fly_through(5), params(3, false))), expected);
    assert_eq!((nodes[6].main_progenitor, nodes[1].last_descendant), (Some(1), 6));
}

#[test]
fn an_orphan_is_born_again() {
    let expected: [Link; 10] = [
        ((0, 1), HOST, GoesOn, Some((1, 1))),
        ((0, 2), SATELLITE, GoesOn, Some((1, 0))),
        ((1, 1), HOST, GoesOn, Some((2, 1))),
        ((1, 0), SATELLITE, GoesOn, Some((2, 0))),
        ((2, 1), HOST, GoesOn, Some((3, 1))),
        ((2, 0), SATELLITE, GoesOn, Some((3, 0))),
        ((3, 1), HOST, GoesOn, Some((4, 1))),
        ((3, 0), SATELLITE, GoesOn, Some((4, 2))),
        ((4, 1), HOST, End, None),
        ((4, 2), SATELLITE, End, None),
    ];
    let nodes = linked(&fly_through(5), params(2, true));
    assert_eq!(links(&nodes), expected);
    assert_eq!(nodes[3].host, Some(2), "the host holds the tracer of the orphan");
}

#[test]
fn without_orphans_a_late_return_is_a_birth() {
    let expected: [Link; 7] = [
        ((0, 1), HOST, GoesOn, Some((1, 1))),
        ((0, 2), SATELLITE, Merges, Some((1, 1))),
        ((1, 1), HOST, GoesOn, Some((2, 1))),
        ((2, 1), HOST, GoesOn, Some((3, 1))),
        ((3, 1), HOST, GoesOn, Some((4, 1))),
        ((4, 1), HOST, End, None),
        ((4, 2), (4, 2), End, None),
    ];
    let nodes = linked(&fly_through(5), params(2, false));
    assert_eq!(links(&nodes), expected);
    // The host comes first among the progenitors, then what merges.
    assert_eq!(
        (nodes[2].main_progenitor, nodes[0].next_progenitor, nodes[1].next_progenitor),
        (Some(0), Some(1), None)
    );
}

/// Two objects of 50 members pass and exchange the outer 25, and the finder numbers them the other way round.
#[test]
fn equal_masses_that_exchange_members_keep_their_cores() {
    let (a, b) = (ids(0..50), ids(100..150));
    let outputs = [
        vec![(1, a.clone()), (2, b.clone())],
        vec![(1, joined(&[&b[..25], &a[25..]])), (2, joined(&[&a[..25], &b[25..]]))],
        vec![(1, a), (2, b)],
    ];
    let expected: [Link; 6] = [
        ((0, 1), (0, 1), GoesOn, Some((1, 2))),
        ((0, 2), (0, 2), GoesOn, Some((1, 1))),
        ((1, 1), (0, 2), GoesOn, Some((2, 2))),
        ((1, 2), (0, 1), GoesOn, Some((2, 1))),
        ((2, 1), (0, 1), End, None),
        ((2, 2), (0, 2), End, None),
    ];
    assert_eq!(links(&linked(&outputs, params(4, true))), expected);
}

/// Two candidates with exactly the same score: one has the most bound tracer in second place, the other the
/// second one in first place.
#[test]
fn of_equal_scores_the_lower_identity_decides() {
    let outputs = |x: u64, y: u64| [vec![(1, vec![x, y])], vec![(1, vec![99, x]), (2, vec![y])]];
    let link = |next: u64| {
        let other = (1, 3 - next);
        let mut links: Vec<Link> = vec![
            ((0, 1), (0, 1), GoesOn, Some((1, next))),
            ((1, next), (0, 1), End, None),
            (other, other, End, None),
        ];
        links.sort_by_key(|link| link.0);
        links
    };
    assert_eq!(links(&linked(&outputs(7, 3), params(4, true))), link(2));
    assert_eq!(links(&linked(&outputs(3, 7), params(4, true))), link(1));
    // Identities have 64 bits without a sign.
    let large = 1 << 53;
    assert_eq!(links(&linked(&outputs(large + 1, large), params(4, true))), link(2));
    assert_eq!(links(&linked(&outputs(large, large + 1), params(4, true))), link(1));
    assert_eq!(links(&linked(&outputs(u64::MAX, 2), params(4, true))), link(2));
}

/// The members of an object are scattered over two others and the field; its most bound member is in the
/// field.
#[test]
fn a_scattered_object_is_disrupted() {
    let (a, b, c) = (ids(0..50), ids(100..120), ids(300..340));
    let with_more = |own: &[u64], more: &[u64]| joined(&[own, more]);
    let later = vec![(1, with_more(&a, &[102, 105, 109])), (3, with_more(&c, &[101, 103]))];
    let outputs = [vec![(1, a), (2, b), (3, c)], later.clone(), later];
    for orphans in [false, true] {
        let expected: [Link; 7] = [
            ((0, 1), (0, 1), GoesOn, Some((1, 1))),
            // The weights of ranks 1 and 3 are more than those of 2, 5 and 9 if they are 0.5 + 0.37 and 0.41 + 0.31 + 0.25.
            ((0, 2), (0, 2), Disrupted, Some((1, 1))),
            ((0, 3), (0, 3), GoesOn, Some((1, 3))),
            ((1, 1), (0, 1), GoesOn, Some((2, 1))),
            ((1, 3), (0, 3), GoesOn, Some((2, 3))),
            ((2, 1), (0, 1), End, None),
            ((2, 3), (0, 3), End, None),
        ];
        assert_eq!(links(&linked(&outputs, params(1, orphans))), expected, "orphans {orphans}");
    }
}

/// The tracer of a satellite is bound loosely to the host in outputs 1 and 2, and one of its tracers in
/// output 3.
#[test]
fn an_orphan_merges_when_its_tracer_sinks() {
    let (host, satellite) = (ids(0..60), ids(100..130));
    let loose = vec![(1, joined(&[&host, &satellite]))];
    let sunk = vec![(1, joined(&[&host[..5], &satellite[..1], &host[5..]]))];
    let outputs = [vec![(1, host), (2, satellite)], loose.clone(), loose, sunk.clone(), sunk];
    let expected: [Link; 8] = [
        ((0, 1), HOST, GoesOn, Some((1, 1))),
        ((0, 2), SATELLITE, GoesOn, Some((1, 0))),
        ((1, 1), HOST, GoesOn, Some((2, 1))),
        ((1, 0), SATELLITE, GoesOn, Some((2, 0))),
        ((2, 1), HOST, GoesOn, Some((3, 1))),
        ((2, 0), SATELLITE, Merges, Some((3, 1))),
        ((3, 1), HOST, GoesOn, Some((4, 1))),
        ((4, 1), HOST, End, None),
    ];
    for gap in [0, 1, 2, 4] {
        assert_eq!(links(&linked(&outputs, params(gap, true))), expected, "gap {gap}");
    }
}

/// An orphan whose tracer leaves its host for good is lost where it was last seen.
#[test]
fn an_orphan_without_its_tracer_is_lost() {
    let (host, satellite) = (ids(0..60), ids(100..130));
    let bare = vec![(1, host.clone())];
    let outputs = [
        vec![(1, host.clone()), (2, satellite.clone())],
        vec![(1, joined(&[&host, &satellite]))],
        bare.clone(),
        bare.clone(),
        bare,
    ];
    let expected: [Link; 7] = [
        ((0, 1), HOST, GoesOn, Some((1, 1))),
        ((0, 2), SATELLITE, GoesOn, Some((1, 0))),
        ((1, 1), HOST, GoesOn, Some((2, 1))),
        ((1, 0), SATELLITE, Lost, None),
        ((2, 1), HOST, GoesOn, Some((3, 1))),
        ((3, 1), HOST, GoesOn, Some((4, 1))),
        ((4, 1), HOST, End, None),
    ];
    assert_eq!(links(&linked(&outputs, params(1, true))), expected);
}

/// Outer members of an object become an object: a fragment has a track of its own and no progenitor.
#[test]
fn a_fragment_is_a_birth() {
    let a = ids(0..80);
    let outputs = [vec![(5, a.clone())], vec![(2, a[50..].to_vec()), (7, a[..50].to_vec())]];
    let nodes = linked(&outputs, params(4, true));
    let expected: [Link; 3] =
        [((0, 5), (0, 5), GoesOn, Some((1, 7))), ((1, 2), (1, 2), End, None), ((1, 7), (0, 5), End, None)];
    assert_eq!(links(&nodes), expected);
    assert_eq!(nodes[1].main_progenitor, None);
}

/// The finder gives the outskirts of a host to its satellite, which is then the larger one: cores decide.
#[test]
fn a_swap_of_the_main_branch_follows_cores() {
    let (host, satellite) = (ids(0..100), ids(200..240));
    let outputs = [
        vec![(1, host.clone()), (2, satellite.clone())],
        vec![(1, joined(&[&satellite, &host[30..]])), (2, host[..30].to_vec())],
        vec![(1, host), (2, satellite)],
    ];
    let expected: [Link; 6] = [
        ((0, 1), HOST, GoesOn, Some((1, 2))),
        ((0, 2), SATELLITE, GoesOn, Some((1, 1))),
        ((1, 1), SATELLITE, GoesOn, Some((2, 2))),
        ((1, 2), HOST, GoesOn, Some((2, 1))),
        ((2, 1), HOST, End, None),
        ((2, 2), SATELLITE, End, None),
    ];
    assert_eq!(links(&linked(&outputs, params(4, true))), expected);
}

/// Without any tracer left, or without collisionless members at all, an object is lost.
#[test]
fn objects_without_tracers_are_lost() {
    let a = ids(0..30);
    let outputs =
        [vec![(1, a.clone()), (2, Vec::new()), (3, ids(40..60))], vec![(1, a.clone())], vec![(1, a)]];
    let expected: [Link; 5] = [
        ((0, 1), (0, 1), GoesOn, Some((1, 1))),
        ((0, 2), (0, 2), Lost, None),
        ((0, 3), (0, 3), Lost, None),
        ((1, 1), (0, 1), GoesOn, Some((2, 1))),
        ((2, 1), (0, 1), End, None),
    ];
    assert_eq!(links(&linked(&outputs, params(0, true))), expected);
}

/// A small object is swallowed by one that is new: it merges, because the new core is not its own.
#[test]
fn a_new_object_does_not_take_up_what_it_swallows() {
    let (small, new) = (ids(0..20), ids(100..200));
    let outputs =
        [vec![(1, small.clone())], vec![(1, joined(&[&new, &small]))], vec![(1, joined(&[&new, &small]))]];
    let expected: [Link; 3] = [
        ((0, 1), (0, 1), Merges, Some((1, 1))),
        ((1, 1), (1, 1), GoesOn, Some((2, 1))),
        ((2, 1), (1, 1), End, None),
    ];
    assert_eq!(links(&linked(&outputs, params(0, false))), expected);
}

/// Tracks that are known count more than scores; where both agree, the history is the same.
#[test]
fn known_tracks_are_recorded() {
    let (large, small) = (ids(0..100), ids(200..230));
    let outputs = vec![vec![(1, large.clone()), (2, small.clone())]; 3];
    let plain = linked(&outputs, params(2, true));
    let number = |object: u64| object;
    let agreeing = recorded(&outputs, params(2, true), &|_, object| number(object));
    assert_eq!(links(&agreeing), links(&plain));
    // A swap in the last output.
    let swapped = recorded(&outputs, params(2, true), &|output, object| {
        number(if output == 2 { 3 - object } else { object })
    });
    let last: Vec<_> = links(&swapped).into_iter().filter(|link| link.0.0 == 2).collect();
    assert_eq!(last, [((2, 1), (0, 2), End, None), ((2, 2), (0, 1), End, None)]);
    // Missing in between, as another object holds its members; a new track is matched with none.
    let missing = vec![outputs[0].clone(), vec![(1, joined(&[&large, &small]))], outputs[0].clone()];
    let gap = recorded(&missing, params(2, true), &|_, object| number(object));
    let small_link = links(&gap).into_iter().find(|link| link.0 == (0, 2)).expect("a node");
    assert_eq!(small_link, ((0, 2), (0, 2), GoesOn, Some((2, 2))));
    let new = recorded(&outputs[..2], params(0, false), &|output, object| match (output, object) {
        (1, 2) => 1 << 40 | 2,
        _ => number(object),
    });
    let born = links(&new).into_iter().find(|link| link.0 == (1, 2)).expect("a node");
    assert_eq!(born.1, (1, 2));
}
