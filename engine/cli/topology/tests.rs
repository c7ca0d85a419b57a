//! Placement and problems on imaginary machines.

use super::*;

/// A machine of `n_nodes` nodes, with `n_cores` cores per node, `n_smt` hardware threads per core and one
/// L3 per node. If `interleaved`, the second hardware threads are numbered after all cores, as on most
/// systems; else next to the first ones.
fn machine(n_nodes: u32, n_cores: u32, n_smt: u32, interleaved: bool) -> Machine {
    let mut machine = Machine::default();
    for node in 0..n_nodes {
        machine.nodes.insert(node, 64 << 30);
        machine.caches.insert(node, Cache { level: 3, bytes: 32 << 20 });
        for core in node * n_cores..(node + 1) * n_cores {
            let index = |t| if interleaved { core + t * n_nodes * n_cores } else { core * n_smt + t };
            let pu = |t| Pu { index: index(t), core, cache: Some(node), node, speed: 0 };
            machine.pus.extend((0..n_smt).map(pu));
        }
    }
    machine
}

fn set(ranges: &[[u32; 2]]) -> PuSet {
    ranges.iter().flat_map(|[a, b]| *a..=*b).collect()
}

fn placed(machine: &Machine, pin: Pin, n_workers: Option<usize>, allowed: &[PuSet]) -> Vec<Placement> {
    let rank = |local_rank| place(machine, Asked { pin, n_workers, allowed, local_rank });
    (0..allowed.len()).map(rank).collect()
}

fn shown(placement: &Placement) -> String {
    placement.workers.iter().map(|place| place.pus.to_string()).collect::<Vec<_>>().join(" ")
}

/// `n` ranks that a launcher has not bound.
fn free(machine: &Machine, n: usize) -> Vec<PuSet> {
    vec![machine.all(); n]
}

#[test]
fn sets_are_written_as_launchers_do() {
    assert_eq!(set(&[[0, 3], [8, 8], [10, 11]]).to_string(), "0-3,8,10-11");
    assert_eq!(PuSet::default().to_string(), "");
}

#[test]
fn unpinned_workers_go_anywhere() {
    let two = machine(2, 8, 2, true);
    let placement = &placed(&two, Pin::None, Some(3), &free(&two, 1))[0];
    assert_eq!(shown(placement), "0-31 0-31 0-31");
    assert_eq!(placement.workers[0].node, None);
    assert_eq!(placed(&two, Pin::None, None, &free(&two, 1))[0].workers.len(), 32);
}

#[test]
fn cores_come_before_hardware_threads_however_these_are_numbered() {
    for (interleaved, eight, nine) in
        [(true, "0,4 1,5 2,6 3,7", "0 4 1 2 3"), (false, "0-1 2-3 4-5 6-7", "0 1 2 4 6")]
    {
        let one = machine(1, 4, 2, interleaved);
        let workers = |n| shown(&placed(&one, Pin::Cores, Some(n), &free(&one, 1))[0]);
        assert_eq!((workers(4), workers(5)), (eight.into(), nine.into()));
        assert_eq!(workers(9), ["0-7"; 9].join(" "));
    }
}

#[test]
fn fewer_workers_than_cores_are_spread() {
    let two = machine(2, 8, 2, true);
    for pin in [Pin::Cores, Pin::Numa] {
        let placement = &placed(&two, pin, Some(4), &free(&two, 1))[0];
        assert_eq!(shown(placement), "0,16 4,20 8,24 12,28");
        let nodes: Vec<_> = placement.seats().iter().map(|seat| (seat.node, seat.cache)).collect();
        assert_eq!(nodes, [(0, 0), (0, 0), (1, 1), (1, 1)]);
    }
}

#[test]
fn ranks_of_a_host_are_dealt_over_the_nodes() {
    let two = machine(2, 8, 2, true);
    let ranks = placed(&two, Pin::Numa, None, &free(&two, 2));
    assert_eq!(ranks[0].pus, set(&[[0, 7], [16, 23]]));
    assert_eq!(ranks[1].pus, set(&[[8, 15], [24, 31]]));
    assert!(ranks.iter().all(|rank| rank.workers.len() == 8));
    let four = placed(&two, Pin::Numa, Some(4), &free(&two, 4));
    assert_eq!(shown(&four[3]), "12,28 13,29 14,30 15,31");
    let three = placed(&two, Pin::Numa, None, &free(&two, 3));
    assert_eq!(three.iter().map(|r| r.workers.len()).collect::<Vec<_>>(), [4, 4, 8]);
}

#[test]
fn more_threads_than_cores_have_the_whole_node() {
    let two = machine(2, 8, 2, true);
    let rank = &placed(&two, Pin::Numa, Some(12), &free(&two, 2))[1];
    assert!(rank.workers.iter().all(|place| place.pus == set(&[[8, 15], [24, 31]]) && place.node == Some(1)));
    let alone = &placed(&two, Pin::Numa, Some(20), &free(&two, 1))[0];
    let on_first = alone.workers.iter().filter(|place| place.node == Some(0)).count();
    assert_eq!(on_first, 10);
}

#[test]
fn what_a_launcher_bound_stays_in_its_set() {
    let two = machine(2, 8, 2, true);
    let bound = [set(&[[8, 15]]), set(&[[0, 7]])];
    let ranks = placed(&two, Pin::Numa, Some(4), &bound);
    assert_eq!((shown(&ranks[0]), shown(&ranks[1])), ("8 10 12 14".into(), "0 2 4 6".into()));
    let tight = placed(&two, Pin::Numa, Some(2), &[set(&[[3, 3]])]);
    assert_eq!(shown(&tight[0]), "3 3");
}

#[test]
fn a_control_group_of_some_processors_is_all_there_is() {
    let two = machine(2, 8, 2, true);
    let group = set(&[[6, 9]]);
    let rank = &placed(&two, Pin::Numa, None, std::slice::from_ref(&group))[0];
    assert_eq!((shown(rank), &rank.pus), ("6 7 8 9".into(), &group));
    let ranks = placed(&two, Pin::Numa, None, &[group.clone(), group]);
    assert_eq!((shown(&ranks[0]), shown(&ranks[1])), ("6 7".into(), "8 9".into()));
}

#[test]
fn every_worker_has_processors_of_its_rank_and_no_core_is_shared_without_need() {
    for (n_nodes, n_cores, n_smt, interleaved) in [(2, 8, 2, true), (1, 4, 1, false), (4, 3, 2, false)] {
        let machine = machine(n_nodes, n_cores, n_smt, interleaved);
        let n_all = (n_nodes * n_cores) as usize;
        for pin in [Pin::Cores, Pin::Numa] {
            for n_ranks in 1..=2 * n_all {
                let ranks = placed(&machine, pin, None, &free(&machine, n_ranks));
                let workers: Vec<_> = ranks.iter().flat_map(|rank| &rank.workers).collect();
                assert!(workers.iter().all(|place| !place.pus.is_empty() && place.node.is_some()));
                if n_ranks <= n_nodes as usize || pin == Pin::Cores && n_ranks <= n_all {
                    let n_pus: usize = workers.iter().map(|place| place.pus.len()).sum();
                    let all = workers.iter().fold(PuSet::default(), |all, place| all.union(&place.pus));
                    assert_eq!((n_pus, all), (machine.pus.len(), machine.all()));
                }
            }
        }
    }
}

fn complaint_texts(machine: &Machine, pin: Pin, n_workers: Option<usize>, allowed: &[PuSet]) -> Vec<String> {
    let placements = placed(machine, pin, n_workers, allowed).into_iter().zip(allowed);
    let site = |(rank, (placement, allowed)): (u32, (Placement, &PuSet))| RankSite {
        process: rank,
        rank,
        allowed: allowed.clone(),
        placement,
    };
    let sites: Vec<_> = (0..).zip(placements).map(site).collect();
    complaints(machine, pin, &sites).iter().map(ToString::to_string).collect()
}

#[test]
fn a_good_launch_has_nothing_to_complain_of() {
    let (one, two) = (machine(1, 8, 1, true), machine(2, 8, 2, true));
    for (machine, pin, n_workers, n_ranks) in
        [(&one, Pin::None, Some(8), 1), (&one, Pin::Cores, None, 4), (&two, Pin::Numa, Some(8), 2)]
    {
        assert_eq!(complaint_texts(machine, pin, n_workers, &free(machine, n_ranks)), [""; 0]);
    }
}

#[test]
fn each_mistake_is_one_line_with_what_to_type() {
    let two = machine(2, 8, 2, true);
    let check = |pin, n_workers, allowed: &[PuSet], parts: &[&str]| {
        let lines = complaint_texts(&two, pin, n_workers, allowed);
        for part in parts {
            assert!(lines.iter().any(|line| line.contains(part)), "{part}: {lines:?}");
        }
        assert_eq!(lines.len(), parts.len(), "{lines:?}");
        assert!(lines.iter().all(|line| !line.contains('\n')));
    };
    check(Pin::None, Some(8), &free(&two, 1), &["rank 0 works across the NUMA nodes 0 and 1; start a rank"]);
    let anywhere =
        ["rank 0 works across", "rank 1 works across", "2 ranks run anywhere on a host of 2 NUMA nodes"];
    check(Pin::None, Some(8), &free(&two, 2), &anywhere);
    let core = set(&[[3, 3]]);
    let same =
        ["ranks 0 and 1 have 2 threads on 1 core (processors 3); start fewer ranks or type --threads 1"];
    check(Pin::None, Some(1), &[core.clone(), core.clone()], &same);
    let small = ["rank 0 has 16 threads on 1 processor (3); type --threads 1"];
    check(Pin::Numa, Some(16), std::slice::from_ref(&core), &small);
    let mates = [set(&[[3, 3]]), set(&[[19, 19]])];
    check(Pin::None, Some(1), &mates, &["ranks 0 and 1 have 2 threads on 1 core (processors 3,19)"]);
}

/// Ranks of a host: the process of each, its processors, and the threads that the user asks for.
fn launched(machine: &Machine, ranks: &[(u32, PuSet)], n_workers: Option<usize>) -> (Pin, Vec<String>) {
    let rank = |(process, allowed): &(u32, PuSet)| LaunchedRank {
        process: *process,
        allowed: allowed.clone(),
        n_workers,
        default: allowed.len(),
        most: None,
    };
    let (pin, placements) = place_all(machine, Pin::Auto, &ranks.iter().map(rank).collect::<Vec<_>>());
    (pin, placements.iter().map(shown).collect())
}

#[test]
fn a_process_that_has_the_machine_is_not_pinned() {
    let two = machine(2, 2, 1, false);
    let (pin, shown) = launched(&two, &[(0, two.all())], None);
    assert_eq!((pin, shown), (Pin::None, vec!["0-3 0-3 0-3 0-3".into()]));
    // Ranks that are threads of one process are one process.
    assert_eq!(launched(&two, &[(0, two.all()), (0, two.all())], Some(2)).0, Pin::None);
}

#[test]
fn a_part_of_the_machine_belongs_to_its_process() {
    let two = machine(2, 4, 1, false);
    assert_eq!(
        launched(&two, &[(0, set(&[[0, 3]])), (1, set(&[[4, 7]]))], Some(4)),
        (Pin::Cores, vec!["0 1 2 3".into(), "4 5 6 7".into()])
    );
    // A container with two processes.
    let part = set(&[[2, 5]]);
    let both = [(0, part.clone()), (1, part.clone())];
    assert_eq!(launched(&two, &both, None), (Pin::Cores, vec!["2 3".into(), "4 5".into()]));
    // More threads than processors, or parts that overlap, have no processors of their own.
    assert_eq!(launched(&two, &both, Some(3)).0, Pin::None);
    let (pin, shown) = launched(&two, &[(0, set(&[[0, 3]])), (1, set(&[[2, 5]]))], Some(4));
    assert_eq!((pin, shown[0].as_str()), (Pin::None, "0-3 0-3 0-3 0-3"));
    // One process has the rest of the machine too, so nothing belongs to anybody.
    assert_eq!(launched(&two, &[(0, part), (1, two.all())], Some(2)).0, Pin::None);
}

#[test]
fn ranks_that_fill_a_machine_own_it() {
    let two = machine(2, 4, 2, true);
    let free = [(0, two.all()), (1, two.all())];
    let cores = vec!["0,8 1,9 2,10 3,11".to_string(), "4,12 5,13 6,14 7,15".to_string()];
    assert_eq!(launched(&two, &free, None), (Pin::Numa, cores.clone()));
    assert_eq!(launched(&two, &free, Some(4)), (Pin::Numa, cores));
    let (pin, shown) = launched(&two, &free, Some(3));
    assert_eq!((pin, shown[1].as_str()), (Pin::None, "0-15 0-15 0-15"));
}

#[test]
fn the_fastest_cores_come_first() {
    let mut one = machine(1, 8, 1, false);
    // Cores 2 to 4 are fast.
    one.pus.iter_mut().for_each(|pu| pu.speed = if (2..5).contains(&pu.index) { 1024 } else { 480 });
    let workers = |n| shown(&placed(&one, Pin::Cores, Some(n), &free(&one, 1))[0]);
    assert_eq!((workers(2), workers(3), workers(5)), ("2 3".into(), "2 3 4".into(), "0 2 3 4 5".into()));
    let seats = placed(&one, Pin::Cores, Some(8), &free(&one, 1))[0].seats();
    assert_eq!(
        seats.iter().map(|seat| seat.speed).collect::<Vec<_>>(),
        [480, 480, 1024, 1024, 1024, 480, 480, 480]
    );
}
