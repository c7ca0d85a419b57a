//! Noise around 0: thresholds below 0 against brute force, over ranks and threads, new cuts, and refusals.

use crate::common::npy::npy_file;
use crate::common::room::{Room, done};
use crate::facade::{check_tables, over_ranks};
use crate::verify::brute::{Brute, Leaf};
use crate::verify::expect::graph_of;
use crate::verify::paper::{Outcome, Thresholds, run};
use crate::verify::random::Random;
use inselberg::phew::params::Persistence;
use inselberg::{Cells, Geometry, PhewParams, RankBuilder};
use inselberg_io::catalogue::{Attribute, Catalogue, Values, read};
use inselberg_kernels::geom::Domain;
use std::fs;
use std::path::Path;

/// A cube of few different values around 0, so that many neighbours are equal.
struct Noise {
    size: [usize; 3],
    periodic: [bool; 3],
    /// By x, then y, then z the fastest.
    values: Vec<f64>,
}

impl Noise {
    /// Values from -2.25 - `low` on, in steps.
    fn new(size: [usize; 3], periodic: [bool; 3], low: f64, random: &mut Random) -> Self {
        let value = |n: usize| n as f64 * 0.375 - 2.25 - low;
        let values = (0..size.iter().product()).map(|_| value(random.below(13))).collect();
        Self { size, periodic, values }
    }

    fn value(&self, at: [usize; 3]) -> f64 {
        self.values[(at[0] * self.size[1] + at[1]) * self.size[2] + at[2]]
    }

    fn write(&self, path: &str) {
        let value = |at: &[usize]| self.value([at[0], at[1], at[2]]);
        fs::write(path, npy_file(&self.size, false, "<f4", value)).expect("writing");
    }

    fn level(&self) -> u8 {
        self.size.iter().map(|n| n.trailing_zeros()).min().expect("three axes") as u8
    }

    fn brute(&self, threshold: f64) -> Brute {
        let (level, [nx, ny, nz]) = (self.level(), self.size);
        let domain = Domain { coarse: self.size.map(|n| (n >> level) as u32), periodic: self.periodic };
        let all = (0..nx * ny * nz).map(|i| [i / (ny * nz), i / nz % ny, i % nz]);
        let leaves: Vec<Leaf> =
            all.map(|at| Leaf { level, ijk: at.map(|x| x as u32), rho: self.value(at) }).collect();
        Brute::new(&domain, &leaves, threshold)
    }

    fn axes(&self) -> String {
        let axes: String = (0..3).filter(|a| self.periodic[*a]).map(|a| ['x', 'y', 'z'][a]).collect();
        if axes.is_empty() { "none".into() } else { axes }
    }
}

/// Two reals that are equal but for rounding, or both NaN.
fn is_near(a: f64, b: f64) -> bool {
    a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1.0)
}

/// Compares the clumps and cells of a catalogue with brute force.
fn check(found: &Catalogue, noise: &Noise, (brute, threshold): (&Brute, f64), expected: &Outcome) {
    let cells = found.table("cells").expect("cells");
    let Values::U32x3(ijk) = &cells.column("ijk").expect("places").values else { panic!("integers") };
    let (labels, densities) = (cells.counts("clump").expect("clumps"), cells.reals("density").expect("some"));
    let clumps = found.table("clumps").expect("clumps");
    let ids = clumps.counts("id").expect("identifiers");
    let heads: Vec<usize> = (0..brute.peaks.len()).filter(|&p| expected.clump[p] == Some(p)).collect();
    assert_eq!(ids.len(), heads.len(), "clumps");
    let label_of = |i: usize| {
        let row = ijk.iter().position(|at| *at == brute.cells[i].ijk).expect("every test cell is listed");
        assert_eq!(densities[row], brute.cells[i].rho);
        labels[row]
    };
    let of_head = |p: usize| label_of(brute.peaks[p]);
    for i in 0..brute.cells.len() {
        let expected = expected.clump[brute.patch[i]].map_or(0, of_head);
        assert_eq!(label_of(i), expected, "cell {:?}", brute.cells[i].ijk);
    }
    let real = |name: &str, row: usize| clumps.reals(name).expect("a column")[row];
    for &p in &heads {
        let row = ids.iter().position(|id| *id == of_head(p)).expect("the clump is listed");
        let own: Vec<usize> =
            (0..brute.cells.len()).filter(|i| expected.clump[brute.patch[*i]] == Some(p)).collect();
        let least = own.iter().map(|i| brute.cells[*i].rho).fold(f64::INFINITY, f64::min);
        assert_eq!(real("density_peak", row), brute.cells[brute.peaks[p]].rho);
        assert_eq!(real("density_min", row), least);
        assert!(is_near(real("relevance", row), expected.relevance[p]));
        let none = if threshold < 0.0 { f64::NAN } else { 0.0 };
        let saddle = expected.key[p].map_or(none, |key| key.0);
        assert!(is_near(real("saddle_density", row), saddle));
        let mass: f64 = own.iter().map(|i| brute.cells[*i].rho).sum();
        assert!(is_near(real("mass", row), mass) && real("volume", row) == own.len() as f64);
        let centre = clumps.vectors("centre_of_mass").expect("centres")[row];
        if noise.periodic == [false; 3] {
            check_centre(centre, noise, brute, &own, mass);
        }
    }
}

/// The mean place weighted by values; none where they sum up to nothing, or it is out of the box.
fn check_centre(found: [f64; 3], noise: &Noise, brute: &Brute, own: &[usize], mass: f64) {
    let at = |i: usize, a: usize| f64::from(brute.cells[i].ijk[a]) + 0.5;
    let mean = |a: usize| own.iter().map(|i| brute.cells[*i].rho * at(*i, a)).sum::<f64>() / mass;
    let mean = [0, 1, 2].map(mean);
    let is_inside = (0..3).all(|a| (0.0..=noise.size[a] as f64).contains(&mean[a]));
    match mass > 0.0 && is_inside {
        true => assert!((0..3).all(|a| (found[a] - mean[a]).abs() < 1e-9), "{found:?} {mean:?}"),
        false => assert!(found.iter().all(|x| x.is_nan()), "{found:?} {mean:?} {mass}"),
    }
}

#[test]
fn thresholds_below_zero_are_those_of_brute_force() {
    let (room, mut random) = (Room::new(), Random(7));
    let [path, to, cut, again] = ["noise.npy", "c.csv", "cut.csv", "again.csv"].map(|name| room.path(name));
    let mut n_without_mass = 0;
    for (size, periodic) in [
        ([5, 7, 6], [false; 3]),
        ([8, 8, 8], [true; 3]),
        ([9, 4, 11], [false; 3]),
        ([8, 12, 4], [true, false, true]),
        ([16, 16, 2], [false; 3]),
    ] {
        let low = if size[0] % 2 == 1 { 1.5 } else { 0.0 };
        let noise = Noise::new(size, periodic, low, &mut random);
        noise.write(&path);
        for (threshold, difference) in [
            (-0.5, 0.0),
            (-0.5, 0.75),
            (-2.0, 1.5),
            (-1.125, 2.0),
            (-3.25, 0.75),
            (-3.3, 2.0),
            (0.0, 0.75),
            (0.4, 0.5),
        ] {
            let (given, least) = (threshold.to_string(), difference.to_string());
            let search = |to: &str, least: &str, more: &[&str]| {
                let axes = noise.axes();
                let threshold = format!("--density-threshold={given}");
                let args = ["phew", &path, "-o", to, &threshold, "--relevance-difference", least];
                let out = crate::common::program()
                    .args(args)
                    .args(["--periodic", &axes, "--with-cells"])
                    .args(more)
                    .output()
                    .expect("the program");
                assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
                read(Path::new(to)).expect("a catalogue")
            };
            let found = search(&to, &least, &["--threads", "1"]);
            assert_eq!(found.attribute("density_threshold"), Some(&Attribute::Real(threshold)));
            let brute = noise.brute(threshold);
            let persistence = Persistence::Difference(difference);
            let outcome = run(
                &graph_of(&brute),
                &Thresholds { density: threshold, persistence, saddle: None, halo_relevance: None },
            );
            check(&found, &noise, (&brute, threshold), &outcome);
            let masses = found.table("clumps").expect("clumps").reals("mass").expect("masses");
            n_without_mass += masses.iter().filter(|mass| **mass <= 0.0).count();
            for more in [["--ranks", "1", "--threads", "2"], ["--ranks", "3", "--threads", "1"]] {
                let other = search(&to, &least, &more);
                assert_eq!(format!("{:?}", other.tables), format!("{:?}", found.tables), "{more:?}");
            }
            // A new cut equals the catalogue of a run.
            done(&["recut", &to, "-o", &cut, "--relevance-difference", "1", "--quiet"]);
            let (cut, again) = (read(Path::new(&cut)).expect("a catalogue"), search(&again, "1", &[]));
            for name in ["clumps", "haloes", "tree"] {
                assert_eq!(format!("{:?}", cut.table(name)), format!("{:?}", again.table(name)), "{name}");
            }
        }
    }
    assert!(n_without_mass > 10, "{n_without_mass}");
}

/// Every mean along z is in a picture.
fn check_picture(pixels: &[f32], noise: &Noise) {
    let [nx, ny, nz] = noise.size;
    for (x, y) in (0..nx).flat_map(|x| (0..ny).map(move |y| (x, y))) {
        let mean = (0..nz).map(|z| noise.value([x, y, z])).sum::<f64>() / nz as f64;
        assert!(pixels.iter().any(|pixel| (f64::from(*pixel) - mean).abs() < 1e-6), "{mean}");
    }
}

/// Cells of a program in memory: tables, new cuts and the picture are those of the command.
#[test]
fn cells_in_memory_give_what_an_array_gives_below_zero() {
    let (room, mut random) = (Room::new(), Random(11));
    let [path, to, cut] = ["noise.npy", "c.hdf5", "cut.hdf5"].map(|name| room.path(name));
    let noise = Noise::new([8, 12, 4], [true, false, true], 0.0, &mut random);
    noise.write(&path);
    let search = ["phew", &path, "-o", &to, "--with-cells", "--periodic", "xz", "--quiet"];
    let thresholds = ["--density-threshold=-1.125", "--relevance-difference", "0.75"];
    done(&[&search[..], &thresholds].concat());
    done(&[
        "recut",
        &to,
        "-o",
        &cut,
        "--relevance-difference",
        "1.5",
        "--saddle-threshold",
        "0.5",
        "--quiet",
    ]);
    let [expected, of_cut] = [&to, &cut].map(|name| read(Path::new(name)).expect("a catalogue"));
    let params = PhewParams::new(-1.125).persistence(Persistence::Difference(0.75)).with_cells(true);
    let other = params.clone().persistence(Persistence::Difference(1.5)).saddle(0.5);
    let [nx, ny, nz] = noise.size;
    let all: Vec<[usize; 3]> = (0..nx * ny * nz).map(|i| [i / (ny * nz), i / nz % ny, i % nz]).collect();
    for n_ranks in [1, 2, 3] {
        over_ranks(RankBuilder::threads(n_ranks), |rank, mut engine| {
            let own: Vec<[usize; 3]> = all.iter().skip(rank).step_by(n_ranks).copied().collect();
            let position: Vec<[u32; 3]> = own.iter().map(|at| at.map(|x| x as u32)).collect();
            let values: Vec<f64> = own.iter().map(|at| noise.value(*at)).collect();
            let level = vec![noise.level(); own.len()];
            let side = f64::from(1_u32 << noise.level());
            let coarse = noise.size.map(|n| (n >> noise.level()) as u32);
            let geometry = Geometry::cube(side).coarse(coarse).periodic(noise.periodic);
            let cells = Cells::from_leaves(geometry, &level, &position).expect("cells");
            // The second call has the mesh of the first one.
            for _ in 0..2 {
                let params = params.clone().projection_level(noise.level());
                let found = engine.phew(&cells, &values, &params).expect("clumps");
                if let Some(all) = found.gather(0).expect("all ranks") {
                    check_tables(&all, &expected, &format!("{n_ranks} ranks"));
                    assert_eq!(all.attribute("density_threshold"), Some(&Attribute::Real(-1.125)));
                }
                let greatest = noise.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                assert_eq!(found.densest(), greatest);
                if let Some(picture) = found.projection() {
                    check_picture(&picture.values, &noise);
                }
                let again = found.recut(&other).expect("a new cut");
                if let Some(all) = again.gather(0).expect("all ranks") {
                    check_tables(&all, &of_cut, &format!("a cut on {n_ranks} ranks"));
                    assert_eq!(all.attribute("density_threshold"), Some(&Attribute::Real(-1.125)));
                }
            }
            let ratio = params.clone().persistence(Persistence::Ratio(2.0));
            let refused = engine.phew(&cells, &values, &ratio).expect_err("a ratio").to_string();
            assert!(
                refused.contains("density_threshold is -1.125; expected a finite number, 0 or more"),
                "{refused}"
            );
        });
    }
}

#[test]
fn what_needs_positive_values_is_refused_below_zero() {
    let (room, mut random) = (Room::new(), Random(9));
    let path = room.path("noise.npy");
    Noise::new([6, 5, 4], [false; 3], 0.0, &mut random).write(&path);
    let refused = |more: &[&str], parts: &[&str]| {
        let search = ["phew", &path, "-o", &room.path("c.csv")];
        room.refuses(&[&search[..], more].concat(), parts);
    };
    let ratio = ["--relevance-threshold", "2"];
    refused(
        &[&["--density-threshold=-0.5"], &ratio[..]].concat(),
        &["--density-threshold", "-0.5", "0 or more"],
    );
    refused(
        &[&["--density-threshold=0.5"], &ratio[..]].concat(),
        &["density of the cell", "0 or more in a leaf"],
    );
    let difference = ["--density-threshold=-0.5", "--relevance-difference", "1"];
    refused(&[&difference[..], &["--saddle-threshold=-0.2"]].concat(), &["--saddle-threshold", "above 0"]);
    refused(&[&difference[..], &["--mesh-from-particles"]].concat(), &["--density-threshold", "0 or more"]);
    refused(
        &["--density-threshold=-1e301", "--relevance-difference", "1"],
        &["density threshold -1", "expected 0 or more"],
    );
}
