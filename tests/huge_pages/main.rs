//! Large arrays whose pages are kept: they hold what was written to them, are zero where zeros were
//! requested, and need no new pages if others of their size were freed.

use inselberg_cli::huge_pages::{HugePages, LARGE};
use proptest::prelude::*;
use std::sync::Mutex;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// One test at a time has large arrays, so that it sees its own pages.
static ALONE: Mutex<()> = Mutex::new(());

/// Words of the smallest large array.
const WORDS: usize = LARGE / 8;

/// A different value at every place of every array.
fn mark(array: usize, place: usize) -> u64 {
    ((array as u64) << 40 | place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn fill(list: &mut Vec<u64>, array: usize, words: usize) {
    list.extend((list.len()..words).map(|place| mark(array, place)));
    list.truncate(words);
}

fn holds(list: &[u64], array: usize) -> bool {
    list.iter().enumerate().all(|(place, word)| *word == mark(array, place))
}

/// An operation on one of four arrays.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// It gets this number of words, and no more memory than they need.
    Resize(usize),
    Drop,
    /// It is made anew, with zeros.
    Zero(usize),
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let words = || 0..6 * WORDS;
    let step = prop_oneof![
        3 => words().prop_map(Step::Resize),
        1 => Just(Step::Drop),
        1 => words().prop_map(Step::Zero),
    ];
    prop::collection::vec((0..4usize, step), 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn arrays_hold_what_was_written(steps in steps()) {
        let _alone = ALONE.lock().unwrap_or_else(|held| held.into_inner());
        let mut arrays: [Vec<u64>; 4] = Default::default();
        for (array, step) in steps {
            match step {
                Step::Resize(words) => {
                    fill(&mut arrays[array], array, words);
                    arrays[array].shrink_to_fit();
                }
                Step::Drop => arrays[array] = Vec::new(),
                Step::Zero(words) => {
                    arrays[array] = Vec::new();
                    let mut zeros = vec![0; words];
                    prop_assert!(zeros.iter().all(|word| *word == 0));
                    zeros.clear();
                    fill(&mut zeros, array, words);
                    arrays[array] = zeros;
                }
            }
            for (array, list) in arrays.iter().enumerate() {
                prop_assert!(holds(list, array), "array {} of {} words", array, list.len());
            }
        }
    }
}

#[test]
fn threads_have_arrays_of_their_own() {
    let _alone = ALONE.lock().unwrap_or_else(|held| held.into_inner());
    let work = |thread: usize| {
        for round in 0..20 {
            let mut list = vec![0; WORDS + (thread + round) % 3 * WORDS / 2];
            assert!(list.iter().all(|word| *word == 0));
            let words = list.len() + WORDS;
            list.clear();
            fill(&mut list, thread, words);
            assert!(holds(&list, thread));
        }
    };
    std::thread::scope(|scope| {
        (0..4).for_each(|thread| {
            scope.spawn(move || work(thread));
        });
    });
}

/// Page faults of the process so far.
#[cfg(target_os = "linux")]
fn faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("the process");
    let after_name = stat.rsplit(')').next().expect("fields");
    after_name.split_whitespace().nth(7).expect("minor faults").parse().expect("a number")
}

#[cfg(target_os = "linux")]
#[test]
fn pages_that_were_given_back_are_not_new() {
    let _alone = ALONE.lock().unwrap_or_else(|held| held.into_inner());
    // Arrays of other sizes and numbers out of the same pages.
    let round = |sizes: &[usize]| {
        let before = faults();
        let arrays: Vec<_> = sizes.iter().map(|n| vec![1u8; n * LARGE]).collect();
        assert!(arrays.iter().all(|a| a.iter().all(|byte| *byte == 1)));
        faults() - before
    };
    round(&[5, 3, 1, 1]);
    for sizes in [&[10][..], &[1; 10], &[4, 6], &[2, 3, 5]] {
        // 80 MiB are 20480 small pages, or 40 huge ones.
        let new = round(sizes);
        assert!(new < 20, "{new} faults for {sizes:?}");
    }
}

/// Mappings of the process.
#[cfg(target_os = "linux")]
fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps").expect("the process").lines().count()
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "counts the mappings of its process"]
fn counting_mappings() {
    let (before, mut arrays) = (mappings(), Vec::<Vec<u8>>::new());
    let (mut alive, mut most) = (0, 0);
    for step in 0..1000_u64 {
        let random = (step.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) as usize;
        let mut array = Vec::with_capacity(LARGE + random % (4 * LARGE));
        // A used page differs from one that was never written to, and is not joined with it.
        array.resize(array.capacity(), 1);
        alive += array.capacity();
        arrays.push(array);
        while alive > 512 << 20 {
            let gone = arrays.swap_remove((random >> 26) % arrays.len());
            alive -= gone.capacity();
        }
        most = most.max(mappings() - before);
    }
    println!("{most} mappings at most for {} arrays", arrays.len());
    // They have 256 huge pages.
    assert!(most < 128, "{most} mappings");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "fills the table of mappings of its process"]
fn filling_the_table_of_mappings() {
    use memmap2::MmapMut;
    let mark = |place: usize| mark(7, place);
    let fill = |list: &mut Vec<u64>, words| list.extend((list.len()..words).map(mark));
    let (mut list, mut other) = (Vec::new(), vec![1u64; 3 * WORDS]);
    fill(&mut list, 2 * WORDS);
    // Neighbours that differ are separate mappings.
    let page = |i: usize| {
        let page = MmapMut::map_anon(1)?;
        if i.is_multiple_of(2) {
            page.make_read_only().map(|p| (Some(p), None))
        } else {
            Ok((None, Some(page)))
        }
    };
    let limit = std::fs::read_to_string("/proc/sys/vm/max_map_count").expect("the system has a limit");
    let limit: usize = limit.trim().parse().expect("a number");
    if limit > 1 << 21 {
        println!("skipped: {limit} mappings would take too much memory");
        return;
    }
    let mut all: Vec<_> = Vec::with_capacity(limit + 1);
    all.extend((0..=limit).map_while(|i| page(i).ok()));
    assert!(all.len() < limit, "the table is full");
    // The system moves nothing when fewer than some five are left; growing needs one for a new array.
    for spare in [4, 3, 2, 8, 1, 4, 2] {
        all.truncate(all.len() - spare);
        let words = list.len() + WORDS;
        if list.try_reserve_exact(words - list.len()).is_ok() {
            fill(&mut list, words);
        }
        assert!(list.iter().enumerate().all(|(place, word)| *word == mark(place)));
        other.truncate(other.len() - WORDS / 8);
        other.shrink_to_fit();
        assert!(other.iter().all(|word| *word == 1));
    }
    assert!(list.len() > 4 * WORDS, "{}", list.len());
}

/// Runs an ignored test in a process of its own.
#[cfg(target_os = "linux")]
fn passes_alone(name: &str) {
    let itself = std::env::current_exe().expect("this program");
    let args = ["--ignored", "--exact", name, "--test-threads", "1"];
    let out = std::process::Command::new(itself).args(args).output().expect("it starts");
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(
        out.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&out.stderr)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn mappings_do_not_pile_up() {
    passes_alone("counting_mappings");
}

#[cfg(target_os = "linux")]
#[test]
fn arrays_hold_what_was_written_where_the_system_moves_no_pages() {
    passes_alone("filling_the_table_of_mappings");
}
