//! Particles per second and core of potentials, unbinding and properties, as a table for
//! benches/results/README.md.
//!
//!     cargo bench -p inselberg-kernels --bench unbind -- [particles, 1e6] [repeats, 5]
//!     cargo bench -p inselberg-kernels --bench unbind -- write PATH [particles, 1e5]
//!     cargo bench -p inselberg-kernels --bench unbind -- errors
//!
//! The particles are those of haloes from 100 to 300 000 members: Hernquist spheres in equilibrium with three
//! Plummer spheres of 5 % each and a fast background of 5 %. The second form writes the positions of one halo
//! as little-endian doubles, for comparison with other codes, and prints time and error of the tree on them.
//! The third form prints errors of the tree on spheres of 10 000 particles. Times are processor seconds of
//! the one thread.

#[path = "../kernels/tests/bound/samples.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod samples;

use inselberg_kernels::bound::potential::direct::direct;
use inselberg_kernels::bound::potential::octree::Octree;
use inselberg_kernels::bound::potential::points::Points;
use inselberg_kernels::bound::potential::spherical::spherical;
use inselberg_kernels::bound::potential::tree::{Rooted, TreeScratch, tree};
use inselberg_kernels::bound::properties::bound_properties;
use inselberg_kernels::bound::slices::Whole;
use inselberg_kernels::bound::unbind::hierarchy::{
    BoundHierarchy, ClumpTree, PeaklessClumps, unbind_hierarchy,
};
use inselberg_kernels::bound::unbind::{UnbindCall, UnbindRules, UnbindScratch};
use inselberg_kernels::bound::{Gravity, HaloMembers, MemberColumns, SourceTypes};
use samples::{Random, hernquist, plummer};

const GRAVITY: Gravity = Gravity { g: 1.0, hubble_flow: 0.0 };

/// Members and numbers of the haloes of 1e6 particles.
const HALOES: [(usize, usize); 8] =
    [(300_000, 1), (100_000, 2), (30_000, 5), (10_000, 10), (3000, 30), (1000, 60), (300, 200), (100, 400)];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let number = |i: usize, default: f64| args.get(i).map_or(default, |arg| arg.parse().expect("a number"));
    match args.first().map(String::as_str) {
        Some("write") => write(args.get(1).expect("a path"), number(2, 1e5) as usize),
        Some("errors") => print_errors(),
        _ => table(number(0, 1e6), number(1, 5.0) as usize),
    }
}

/// A halo as given, and the clump of each particle: 0 for the host, 1 to 3 for the spheres in it.
struct SampleHalo {
    columns: MemberColumns,
    clump: Vec<u32>,
    centre: Vec<[f64; 3]>,
}

fn table(n: f64, repeats: usize) {
    let part = n / 1e6;
    let mut random = Random::new(1);
    let mut haloes = Vec::new();
    for (size, number) in HALOES.into_iter().filter(|(size, _)| *size as f64 <= n) {
        let number = (number as f64 * part).ceil() as usize;
        (0..number).for_each(|_| haloes.push(sample(size, &mut random)));
    }
    let n: usize = haloes.iter().map(|halo| halo.columns.id.len()).sum();
    println!("{n} particles in {} haloes, {repeats} repeats, one core", haloes.len());
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); STEPS.len()];
    let mut passes = 0.0;
    for _ in 0..repeats {
        let (seconds, mean_passes) = measure(&haloes);
        passes = mean_passes;
        times.iter_mut().zip(seconds).for_each(|(times, seconds)| times.push(seconds));
    }
    println!(
        "| step | median s | least | most | ns per particle | M particles per CPU second |\n|---|---|---|---|---|---|"
    );
    for (name, times) in STEPS.into_iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let (least, middle, most) = (times[0], times[times.len() / 2], times[times.len() - 1]);
        let each = middle / n as f64;
        println!(
            "| {name} | {middle:.3} | {least:.3} | {most:.3} | {:.0} | {:.2} |",
            each * 1e9,
            1e-6 / each
        );
    }
    println!("mean passes of main clumps, weighted by members: {passes:.1}");
}

const STEPS: [&str; 6] = [
    "members in order",
    "potential, tree",
    "potential, spherical",
    "unbinding",
    "properties",
    "order + unbinding + properties",
];

fn measure(haloes: &[SampleHalo]) -> ([f64; 6], f64) {
    let mut seconds = [0.0; 6];
    let (mut passes, mut weight) = (0.0, 0.0);
    let (mut unbinding, mut walking) = (UnbindScratch::default(), TreeScratch::default());
    let (mut points, mut octree, mut potential) = (Points::default(), Octree::default(), Vec::new());
    for halo in haloes {
        let columns = halo.columns.clone();
        let members = timed(&mut seconds[0], || HaloMembers::new(columns).expect("members"));
        let all = members.all();
        timed(&mut seconds[1], || {
            points.gather(&members, &all, SourceTypes::ALL);
            octree.build(&points, &Whole);
            tree(Rooted { points: &points, tree: &octree }, &GRAVITY, &Whole, &mut walking, &mut potential);
        });
        timed(&mut seconds[2], || {
            spherical(&members, &all, [0.0; 3], SourceTypes::ALL, &GRAVITY, &mut potential);
        });
        let bound = timed(&mut seconds[3], || unbound(&members, halo, &mut unbinding));
        timed(&mut seconds[4], || {
            for clump in &bound.clumps {
                std::hint::black_box(bound_properties(&members, &clump.bound, &GRAVITY));
            }
        });
        passes += f64::from(bound.clumps[0].report.passes) * all.len() as f64;
        weight += all.len() as f64;
    }
    seconds[5] = seconds[0] + seconds[3] + seconds[4];
    (seconds, passes / weight)
}

fn unbound(members: &HaloMembers, halo: &SampleHalo, scratch: &mut UnbindScratch) -> BoundHierarchy {
    let clump_of: Vec<u32> = members.entries().iter().map(|entry| halo.clump[*entry as usize]).collect();
    let parent = [None, Some(0), Some(0), Some(0)];
    let tree = ClumpTree {
        clump_of: &clump_of,
        parent: &parent[..halo.centre.len()],
        centre: &halo.centre,
        whole: None,
        peakless: PeaklessClumps::default(),
    };
    let call = UnbindCall { gravity: &GRAVITY, rules: &UnbindRules::default(), slices: &Whole };
    unbind_hierarchy(members, &tree, &call, scratch).expect("a tree")
}

fn sample(n: usize, random: &mut Random) -> SampleHalo {
    let small = n / 20;
    let mut columns = hernquist(n - 4 * small, 30.0, random);
    let mut clump = vec![0; n - 4 * small];
    let mut centre = vec![[0.0; 3]];
    for i in 1..=3 {
        let (at, moving) = (random.direction(2.0 * f64::from(i)), random.direction(0.5));
        let sphere = plummer(small, 5.0, random);
        for (x, v) in sphere.position.iter().zip(&sphere.velocity) {
            // Mass 0.05 and scale length 0.2: speeds are half those of mass and length 1.
            columns.position.push(std::array::from_fn(|a| at[a] + 0.2 * x[a]));
            columns.velocity.push(std::array::from_fn(|a| moving[a] + 0.5 * v[a]));
        }
        clump.resize(clump.len() + small, i);
        centre.push(at);
    }
    for _ in 0..small {
        let r = 30.0 * random.unit().cbrt();
        columns.position.push(random.direction(r));
        columns.velocity.push(random.normal(3.0));
        clump.push(0);
    }
    columns.mass = vec![1.0 / n as f64; n];
    // A fortieth of the mean distance of particles in the universe, if R200 is ten scale lengths.
    columns.softening = vec![(2.35 / (n as f64).cbrt()) as f32; n];
    columns.particle_type = (0..n).map(|i| [1, 1, 1, 0, 4][i % 5]).collect();
    columns.id = (0..n as u64).collect();
    SampleHalo { columns, clump, centre }
}

fn write(path: &str, n: usize) {
    let mut halo = sample(n, &mut Random::new(2)).columns;
    halo.softening.fill(0.0);
    let bytes: Vec<u8> = halo.position.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(path, bytes).expect("a file");
    let members = HaloMembers::new(halo).expect("members");
    let (mut scratch, mut points) = (TreeScratch::default(), Points::default());
    let (mut octree, mut potential) = (Octree::default(), Vec::new());
    for _ in 0..5 {
        let mut seconds = 0.0;
        timed(&mut seconds, || {
            points.gather(&members, &members.all(), SourceTypes::ALL);
            octree.build(&points, &Whole);
            tree(Rooted { points: &points, tree: &octree }, &GRAVITY, &Whole, &mut scratch, &mut potential);
        });
        println!("{n} particles: {seconds:.3} s, {:.3} M particles per CPU second", n as f64 / seconds / 1e6);
    }
    let position = &members.columns().position;
    let exact = |i: usize| -> f64 {
        let others = position.iter().enumerate().filter(|(j, _)| *j != i);
        let distance = |x: &[f64; 3]| (0..3).map(|a| (x[a] - position[i][a]).powi(2)).sum::<f64>().sqrt();
        -others.map(|(_, x)| 1.0 / distance(x)).sum::<f64>() / n as f64
    };
    let error: Vec<f64> = (0..n).step_by(n.div_ceil(2000)).map(|i| potential[i] / exact(i) - 1.0).collect();
    let rms = (error.iter().map(|e| e * e).sum::<f64>() / error.len() as f64).sqrt();
    println!(
        "error of {} particles: rms {rms:.2e}, largest {:.2e}",
        error.len(),
        error.iter().fold(0.0, |m: f64, e| m.max(e.abs()))
    );
}

/// Errors against all pairs: the root mean square and the largest one of any of 8 spheres, with their goals.
fn print_errors() {
    println!("| sphere | softening | rms error, below 5e-4 | largest error, below 5e-3 |\n|---|---|---|---|");
    for (name, has_cusp) in [("Plummer", false), ("Hernquist", true)] {
        for (softening, most) in [(0.0, 1e9), (0.02, 1e9), (0.5, 20.0)] {
            let errors = (1..=8).map(|seed| {
                let random = &mut Random::new(seed);
                let mut columns =
                    if has_cusp { hernquist(10_000, most, random) } else { plummer(10_000, most, random) };
                columns.softening.fill(softening);
                errors_of(columns)
            });
            let worst = errors.fold([0.0f64; 2], |most, of| [most[0].max(of[0]), most[1].max(of[1])]);
            println!("| {name} | {softening} | {:.2e} | {:.2e} |", worst[0], worst[1]);
        }
    }
}

/// The root mean square and the largest error of the tree, relative to all pairs.
fn errors_of(columns: MemberColumns) -> [f64; 2] {
    let members = HaloMembers::new(columns).expect("members");
    let (mut points, mut octree) = (Points::default(), Octree::default());
    points.gather(&members, &members.all(), SourceTypes::ALL);
    octree.build(&points, &Whole);
    let (mut found, mut exact) = (Vec::new(), Vec::new());
    tree(
        Rooted { points: &points, tree: &octree },
        &GRAVITY,
        &Whole,
        &mut TreeScratch::default(),
        &mut found,
    );
    direct(&points, &GRAVITY, &mut exact);
    let error = || found.iter().zip(&exact).map(|(found, exact)| (found / exact - 1.0).abs());
    let square: f64 = error().map(|error| error * error).sum();
    [(square / found.len() as f64).sqrt(), error().fold(0.0, f64::max)]
}

/// Adds the processor time of some work.
fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let before = cpu_seconds();
    let result = work();
    *seconds += cpu_seconds() - before;
    result
}

/// Processor seconds of this thread so far.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds: f64 = text.split(' ').next().expect("a field").parse().expect("a number");
    nanoseconds * 1e-9
}
