//! A halo in slices has the bits of the whole halo.

use super::samples::{Random, clump_in_host, hernquist};
use super::thread_slices::{ThreadSlice, on_slices};
use inselberg_kernels::bound::potential::FEWEST_OF_TREE;
use inselberg_kernels::bound::properties::{BoundProperties, bound_properties, bound_properties_of_slices};
use inselberg_kernels::bound::shrinking_sphere::{shrinking_sphere, shrinking_sphere_of_slices};
use inselberg_kernels::bound::slices::{Slices, SortOrder, Whole, block_starts, smallest_of};
use inselberg_kernels::bound::unbind::BoundMembers;
use inselberg_kernels::bound::unbind::clump_members::ClumpMember;
use inselberg_kernels::bound::unbind::hierarchy::UnboundClump;
use inselberg_kernels::bound::unbind::ramses::{RamsesPeak, RamsesUnbindRules, unbind_ramses_slices};
use inselberg_kernels::bound::unbind::{
    Candidates, PotentialMethod, UnbindCall, UnbindReport, UnbindRules, UnbindScratch, Unbinding,
    unbind_slices,
};
use inselberg_kernels::bound::{Gravity, HaloBounds, HaloMembers, MemberColumns, SourceTypes};

/// Members by slice, with the place of each in the columns.
fn sliced(columns: &MemberColumns, block: u64, slices: &ThreadSlice) -> HaloMembers {
    let bounds = HaloBounds::new(columns, block, &Whole);
    // Each slice begins with every nth member.
    let own: Vec<u64> =
        (0..columns.id.len() as u64).filter(|i| *i as usize % slices.number() == slices.here()).collect();
    let key = |place: &u64| bounds.key(columns.position[*place as usize]);
    let order = SortOrder {
        primary: &|place: &u64| [key(place), 0],
        order: &|a, b| (key(a), columns.id[*a as usize]).cmp(&(key(b), columns.id[*b as usize])),
        block,
    };
    let Ok(sorted) = order.sort(slices, own);
    let places = &sorted.records;
    fn at<T: Copy>(values: &[T], places: &[u64]) -> Vec<T> {
        places.iter().map(|place| values[*place as usize]).collect()
    }
    let own = MemberColumns {
        position: at(&columns.position, places),
        velocity: at(&columns.velocity, places),
        mass: at(&columns.mass, places),
        softening: at(&columns.softening, places),
        particle_type: at(&columns.particle_type, places),
        internal_energy: at(&columns.internal_energy, places),
        id: at(&columns.id, places),
        former_rank: match columns.former_rank.is_empty() {
            true => Vec::new(),
            false => at(&columns.former_rank, places),
        },
    };
    let blocks = block_starts(places.len(), |i| key(&places[i]), sorted.first, block);
    HaloMembers::of_slice(own, bounds, blocks)
}

/// Identifier, energy and potential of bound members.
type BoundBits = Vec<(u64, u64, u64)>;

fn bound_bits(members: &HaloMembers, bound: &BoundMembers) -> BoundBits {
    let of = |place: usize| {
        let (energy, potential) = (bound.energy[place].to_bits(), bound.potential[place].to_bits());
        (members.columns().id[bound.member[place] as usize], energy, potential)
    };
    (0..bound.len()).map(of).collect()
}

/// Every number of an unbinding.
type Found = (BoundBits, UnbindReport, Option<BoundProperties>, [f64; 3]);

/// Which members a clump has, by their positions, and how it begins.
struct Roles {
    is_within: bool,
    is_claimed: bool,
    begins_with_halo: bool,
    is_elsewhere: fn([f64; 3]) -> bool,
    is_handed: fn([f64; 3]) -> bool,
}

/// A clump that has all members and lies in no other one.
const ALONE: Roles = Roles {
    is_within: false,
    is_claimed: false,
    begins_with_halo: false,
    is_elsewhere: |_| false,
    is_handed: |_| false,
};

/// The unbinding of a clump among the members of a slice.
fn unbound<S: Slices>(members: &HaloMembers, roles: &Roles, call: &UnbindCall<S>) -> Unbinding {
    let (all, peak, mut scratch) = (members.all(), [0.1; 3], UnbindScratch::default());
    let of_halo =
        Candidates { list: &all, handed: &[], whole: None, peak, is_within: false, is_claimed: false };
    let mut found = |candidates: &Candidates| match unbind_slices(members, candidates, call, &mut scratch) {
        Ok(found) => found,
        Err(_) => panic!("the slices of tests do not fail"),
    };
    let halo = roles.begins_with_halo.then(|| found(&of_halo).bound);
    let at = |member: &u32| members.columns().position[*member as usize];
    let here: Vec<u32> = all.iter().copied().filter(|member| !(roles.is_elsewhere)(at(member))).collect();
    let (handed, list): (Vec<u32>, Vec<u32>) = here.iter().partition(|member| (roles.is_handed)(at(member)));
    let is_within = roles.is_within;
    let found = found(&Candidates {
        list: &list,
        handed: &handed,
        whole: halo.as_ref(),
        peak,
        is_within,
        is_claimed: roles.is_claimed,
    });
    assert_eq!(found.bound.len() + found.unbound.len(), here.len());
    found
}

fn check(columns: &MemberColumns, block: u64, rules: &UnbindRules, numbers: &[usize]) -> UnbindReport {
    check_as(&ALONE, columns, block, rules, numbers)
}

fn check_as(
    roles: &Roles,
    columns: &MemberColumns,
    block: u64,
    rules: &UnbindRules,
    numbers: &[usize],
) -> UnbindReport {
    let gravity = &Gravity { g: 43.0, hubble_flow: 0.1 };
    let members = HaloMembers::in_blocks(columns.clone(), block, &Whole).expect("members");
    let whole = unbound(&members, roles, &UnbindCall { gravity, rules, slices: &Whole });
    let expected: Found = (
        bound_bits(&members, &whole.bound),
        whole.report,
        bound_properties(&members, &whole.bound, gravity),
        shrinking_sphere(&members),
    );
    for n in numbers {
        let found: Vec<Found> = on_slices(*n, |slices| {
            let members = sliced(columns, block, slices);
            let found = unbound(&members, roles, &UnbindCall { gravity, rules, slices });
            let Ok(properties) = bound_properties_of_slices(&members, &found.bound, gravity, slices);
            let Ok(centre) = shrinking_sphere_of_slices(&members, slices);
            (bound_bits(&members, &found.bound), found.report, properties, centre)
        });
        let bound: Vec<_> = found.iter().flat_map(|of| of.0.clone()).collect();
        assert_eq!(bound.len(), expected.0.len(), "{n} slices");
        assert!(bound == expected.0, "{n} slices: energies or potentials differ");
        for (_, report, properties, centre) in &found {
            assert_eq!((report, properties, centre), (&expected.1, &expected.2, &expected.3), "{n} slices");
        }
    }
    expected.1
}

/// A sphere of two kinds of particles with fast ones.
fn halo(n: usize, seed: u64) -> MemberColumns {
    let mut random = Random::new(seed);
    let mut columns = hernquist(n, 30.0, &mut random);
    for i in 0..n {
        columns.particle_type[i] = [1, 1, 0, 4, 1][i % 5];
        columns.mass[i] = (1.0 + (i % 3) as f64) / (86.0 * n as f64);
        columns.softening[i] = [0.01, 0.02, 0.3][i % 3];
        if i % 9 == 0 {
            columns.velocity[i] = random.normal(2.0);
        }
    }
    columns.internal_energy = (0..n).map(|i| if i % 5 == 2 { 0.01 } else { 0.0 }).collect();
    columns
}

#[test]
fn slices_of_a_halo_have_its_bits() {
    let rules = UnbindRules { thermal: true, ..UnbindRules::default() };
    let report = check(&halo(6000, 3), 64, &rules, &[1, 2, 3, 5, 8]);
    assert!(report.passes > 3 && report.full > 1, "{report:?}");
    let only = UnbindRules { sources: SourceTypes::only(&[1, 4]), ..rules };
    check(&halo(3000, 4), 16, &only, &[2, 7]);
}

/// Members that were passed on are in some slices only, and bind members that were too fast for the clump
/// alone.
#[test]
fn slices_of_a_clump_that_gets_losers_have_the_bits_of_the_whole() {
    for seed in 1..=6 {
        let mut columns = hernquist(1200, 20.0, &mut Random::new(seed));
        let heavier = |x: &[f64; 3]| if x[0] > 0.0 { 4.0 } else { 1.0 };
        columns.mass = columns.position.iter().map(|x| heavier(x) / (43.0 * 3000.0)).collect();
        columns.internal_energy = vec![0.0; 1200];
        for (i, velocity) in columns.velocity.iter_mut().enumerate() {
            let slower = 0.2 + 0.15 * (i % 9) as f64;
            *velocity = velocity.map(|v| slower * v);
        }
        for is_within in [true, false] {
            let roles = Roles { is_within, is_handed: |x| x[0] > 0.0, ..ALONE };
            check_as(&roles, &columns, 16, &UnbindRules::default(), &[2, 5, 8]);
        }
    }
}

/// A clump at the centre of its host that claims former members, in any order, and more of the host.
#[test]
fn slices_of_a_clump_of_former_members_have_the_bits_of_the_whole() {
    let mut columns = clump_in_host(400, 3000, &mut Random::new(33));
    columns.internal_energy = vec![0.0; 3400];
    columns.former_rank = (0..3400).map(|i| if i < 400 { (i * 7) % 400 } else { i }).collect();
    let roles = Roles { is_within: true, is_claimed: true, is_elsewhere: |x| x[2] > 4.0, ..ALONE };
    let report = check_as(&roles, &columns, 64, &UnbindRules::default(), &[1, 2, 3, 5]);
    assert!(report.converged && report.passes > 3, "{report:?}");
}

/// Identifiers, energies and potentials of what is bound to a clump.
fn bound_as(roles: &Roles, columns: &MemberColumns, rules: &UnbindRules) -> BoundBits {
    let gravity = &Gravity { g: 43.0, hubble_flow: 0.1 };
    let members = HaloMembers::in_blocks(columns.clone(), 16, &Whole).expect("members");
    bound_bits(&members, &unbound(&members, roles, &UnbindCall { gravity, rules, slices: &Whole }).bound)
}

/// The root of a halo begins with the members that the halo binds, without those of other clumps.
#[test]
fn slices_of_a_root_that_begins_with_its_halo_have_the_bits_of_the_whole() {
    let mut columns = hernquist(1500, 3.0, &mut Random::new(9));
    columns.mass.fill(1.0 / (43.0 * 1500.0));
    columns.internal_energy = vec![0.0; 1500];
    // Some are next to escaping, where an error of the potential would show.
    columns.velocity.iter_mut().for_each(|velocity| *velocity = velocity.map(|v| 1.25 * v));
    for method in [PotentialMethod::Tree, PotentialMethod::Direct, PotentialMethod::Spherical] {
        let rules = UnbindRules { method, ..UnbindRules::default() };
        let of_halo = Roles { begins_with_halo: true, ..ALONE };
        let some_elsewhere = Roles { is_elsewhere: |x| x[0] > 0.7 && x[1] > 0.0, ..of_halo };
        for roles in [&of_halo, &some_elsewhere] {
            let report = check_as(roles, &columns, 16, &rules, &[2, 5]);
            assert!(report.converged, "{method:?}: {report:?}");
        }
        // Where nothing lies elsewhere, the root is the halo.
        let (root, halo) = (bound_as(&of_halo, &columns, &rules), bound_as(&ALONE, &columns, &rules));
        assert!(method == PotentialMethod::Tree || root == halo, "{method:?}");
        assert!(root.iter().map(|(id, ..)| id).eq(halo.iter().map(|(id, ..)| id)), "{method:?}");
    }
}

/// The first core is one of several that are tried.
#[test]
fn slices_of_a_clump_in_a_host_have_the_bits_of_the_whole() {
    let mut columns = clump_in_host(100, 3000, &mut Random::new(31));
    columns.internal_energy = vec![0.0; 3100];
    let report = check(&columns, 64, &UnbindRules::default(), &[1, 3, 8]);
    assert!(report.converged && report.passes > 3, "{report:?}");
}

/// More members at one place than the last shrinking sphere has.
#[test]
fn slices_with_members_at_one_place_have_the_centre_of_the_whole() {
    let mut columns = halo(600, 5);
    columns.position[..30].fill([0.0; 3]);
    check(&columns, 16, &UnbindRules::default(), &[1, 3]);
}

/// Few and many keys, spread and within one digit.
#[test]
fn selections_from_slices_are_those_of_a_sort() {
    for (n, range) in [(30, 1.0), (20_000, 1e9), (20_000, 1e-6), (20_000, 0.0)] {
        let mut random = Random::new(40);
        let values: Vec<f64> = (0..n).map(|_| range * (random.unit() - 0.5) - 3.0).collect();
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let places = [n as u64 - 1, n as u64 / 10, 19, 19, 0];
        let expected: Vec<f64> = places.iter().map(|place| sorted[*place as usize]).collect();
        for n_slices in [1, 2, 5] {
            let found = on_slices(n_slices, |slices| {
                let mut own: Vec<f64> =
                    values.iter().skip(slices.here()).step_by(n_slices).copied().collect();
                let Ok(found) = smallest_of(slices, &mut own, &places);
                found
            });
            assert!(found.iter().all(|found| *found == expected), "{n} values, {n_slices} slices");
        }
    }
}

#[test]
fn slices_of_shells_have_the_bits_of_the_whole() {
    let rules = UnbindRules { method: PotentialMethod::Spherical, ..UnbindRules::default() };
    check(&halo(3000, 5), 32, &rules, &[1, 2, 3, 8]);
}

#[test]
fn few_members_in_many_slices_have_the_bits_of_the_whole() {
    for n in [19, 20, FEWEST_OF_TREE - 1, FEWEST_OF_TREE, 130, 300] {
        check(&halo(n, n as u64), 4, &UnbindRules::default(), &[1, 3, 8]);
    }
}

/// Equal positions, a heavy member, members without mass.
#[test]
fn strange_haloes_in_slices_have_the_bits_of_the_whole() {
    let mut heap = halo(2000, 6);
    for i in 0..700 {
        heap.position[i] = heap.position[i % 3];
    }
    check(&heap, 32, &UnbindRules::default(), &[2, 5]);
    let mut heavy = halo(1000, 7);
    heavy.mass[500] = 1.0;
    check(&heavy, 32, &UnbindRules::default(), &[2, 5]);
    let mut light = halo(500, 8);
    light.mass.fill(0.0);
    check(&light, 32, &UnbindRules::default(), &[3]);
    let mut hot = halo(2000, 9);
    hot.velocity.iter_mut().flatten().for_each(|v| *v *= 3.0);
    check(&hot, 32, &UnbindRules::default(), &[3, 8]);
}

#[test]
#[ignore = "slow: 1e5 members"]
fn slices_of_a_large_halo_have_its_bits() {
    check(&halo(100_000, 10), 4096, &UnbindRules::default(), &[2, 8]);
}

/// What is bound to a clump by RAMSES's rules, how it went, and what is handed up, with roles.
type RamsesFound = (BoundBits, UnbindReport, Vec<(u64, ClumpMember)>);

/// A clump, the clump that it merges into, and a main clump, about different peaks; all members are in the
/// first.
fn ramses_levels<S: Slices>(members: &HaloMembers, slices: &S) -> Vec<RamsesFound>
where
    S::Error: std::fmt::Debug,
{
    let rules = &RamsesUnbindRules {
        finest_cell: 0.01,
        period: [40.0, f64::INFINITY, 40.0],
        speed_change: 0.01,
        max_passes: 100,
    };
    let call = UnbindCall { gravity: &Gravity { g: 43.0, hubble_flow: 0.0 }, rules, slices };
    let mut list: Vec<ClumpMember> = members.all().into_iter().map(ClumpMember::candidate).collect();
    let mut levels = Vec::new();
    for (level, border) in [Some(20.0), Some(0.0), None].into_iter().enumerate() {
        let peak = RamsesPeak { centre: [0.1 * level as f64, 0.0, 0.0], border, is_main: level == 2 };
        let UnboundClump { found, handed } =
            unbind_ramses_slices(members, &list, &peak, &call).expect("slices that do not fail");
        let by_id =
            |listed: &ClumpMember| (members.columns().id[listed.member as usize], listed.renumbered(0));
        let handed_by_id = handed.iter().map(by_id).collect();
        levels.push((bound_bits(members, &found.bound), found.report, handed_by_id));
        list = handed;
    }
    levels
}

fn check_ramses(columns: &MemberColumns, block: u64) -> Vec<RamsesFound> {
    let members = HaloMembers::in_blocks(columns.clone(), block, &Whole).expect("members");
    let whole = ramses_levels(&members, &Whole);
    for n in [1, 2, 3, 8] {
        let found = on_slices(n, |slices| ramses_levels(&sliced(columns, block, slices), slices));
        for (level, (bound, report, handed)) in whole.iter().enumerate() {
            let all: BoundBits = found.iter().flat_map(|of| of[level].0.clone()).collect();
            assert!(all == *bound, "{n} slices, level {level}: bound members differ");
            assert!(found.iter().all(|of| of[level].1 == *report), "{n} slices, level {level}: reports");
            let all: Vec<_> = found.iter().flat_map(|of| of[level].2.clone()).collect();
            assert!(all == *handed, "{n} slices, level {level}: what is handed up differs");
        }
    }
    whole
}

/// No member is bound to the second level, because its border is at its peak. The main clump keeps all of
/// them.
#[test]
fn slices_by_the_rules_of_ramses_have_the_bits_of_the_whole() {
    let mut columns = halo(3000, 11);
    let [first, second, main] = &check_ramses(&columns, 32)[..] else { panic!("three levels") };
    assert!(first.0.len() > 500 && first.1.passes > 2, "{:?}", first.1);
    assert_eq!((second.0.len(), first.0.len() + main.0.len()), (0, 3000));
    columns.mass.fill(0.0);
    check_ramses(&columns, 32);
    columns.mass.fill(1.0);
    columns.position.fill([0.1, 0.0, 0.0]);
    check_ramses(&columns, 32);
    check_ramses(&halo(5, 12), 4);
}
