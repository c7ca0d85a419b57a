//! What thresholds do: every number of an atlas is that of `recut`, and so is what the page shows in a real
//! browser.
//!
//! With `INSELBERG_BROWSER=1` there must be a browser (Debian's chromium); elsewhere that test says that it
//! is skipped.

use crate::common::room::{Room, command, done, done_json};
use crate::common::{gadget4, output};
use crate::random::Random;
#[cfg(feature = "plot")]
use crate::scaling::{between, browser, opened};
use inselberg::{
    AtlasLine, AtlasParams, AtlasPlane, Catalogue, Cells, CountedObjects, CutNumbers, Engine, Geometry,
    NewThresholds, Persistence, PhewParams, Rules, ThresholdAtlas, VariedThreshold, read_catalogue, recut,
};
use std::fs;
use std::path::Path;

/// Thresholds with another value of one.
fn with(new: NewThresholds, varied: VariedThreshold, value: f64, persistence: Persistence) -> NewThresholds {
    match varied {
        VariedThreshold::Relevance if persistence.is_difference() => {
            new.persistence(Persistence::Difference(value))
        }
        VariedThreshold::Relevance => new.persistence(Persistence::Ratio(value)),
        VariedThreshold::Significance => new.significance(value),
        VariedThreshold::Saddle => new.saddle(value),
        VariedThreshold::HaloRelevance => new.halo_relevance(value),
        VariedThreshold::Mass => new.mass(value),
        VariedThreshold::Density => new.density(value),
        _ => unreachable!("a threshold that this test does not know"),
    }
}

/// The numbers of a new cut, counted here.
fn expected(stored: &Catalogue, new: &NewThresholds, edges: &[f64]) -> CutNumbersHere {
    let cut = recut(stored, new).expect("a new cut");
    let masses = |name: &str| cut.table(name).and_then(|table| table.reals("mass")).expect("masses").to_vec();
    let binned = |masses: &[f64]| -> Vec<u64> {
        let within = |pair: &[f64]| masses.iter().filter(|m| pair[0] <= **m && **m < pair[1]).count() as u64;
        edges.windows(2).map(within).collect()
    };
    let n_levels = match cut.attribute("n_levels") {
        Some(inselberg::Attribute::Int(n)) => *n as u64,
        other => panic!("{other:?}"),
    };
    let (clumps, haloes) = (masses("clumps"), masses("haloes"));
    CutNumbersHere {
        counts: [clumps.len() as u64, haloes.len() as u64, n_levels],
        mass: haloes.iter().sum::<f64>().to_bits(),
        by_mass: [binned(&clumps), binned(&haloes)],
    }
}

/// What is compared.
#[derive(Debug, PartialEq)]
struct CutNumbersHere {
    counts: [u64; 3],
    mass: u64,
    by_mass: [Vec<u64>; 2],
}

impl From<&CutNumbers> for CutNumbersHere {
    fn from(of: &CutNumbers) -> Self {
        Self {
            counts: [of.n_clumps, of.n_haloes, of.n_levels],
            mass: of.mass.to_bits(),
            by_mass: [of.clumps_by_mass.clone(), of.haloes_by_mass.clone()],
        }
    }
}

/// Compares every cut of the atlas with `recut`; returns their number.
fn compare(stored: &Catalogue, atlas: &ThresholdAtlas) -> usize {
    let (edges, persistence) = (&atlas.bins.edges, atlas.persistence);
    let check = |new: NewThresholds, cut: &CutNumbers| {
        assert_eq!(CutNumbersHere::from(cut), expected(stored, &new, edges), "{new:?}");
    };
    check(NewThresholds::default(), &atlas.own);
    for AtlasLine { varied, values, cuts, .. } in &atlas.lines {
        assert_eq!(values.len(), cuts.len());
        for (value, cut) in values.iter().zip(cuts) {
            check(with(NewThresholds::default(), *varied, *value, persistence), cut);
        }
    }
    for AtlasPlane { varied, values, cuts, .. } in &atlas.planes {
        let pairs = values[0].iter().flat_map(|a| values[1].iter().map(move |b| (*a, *b)));
        for ((a, b), cut) in pairs.zip(cuts) {
            let first = with(NewThresholds::default(), varied[0], a, persistence);
            check(with(first, varied[1], b, persistence), cut);
        }
    }
    atlas.lines.iter().map(|of| of.cuts.len()).chain(atlas.planes.iter().map(|of| of.cuts.len())).sum()
}

fn atlas_of(path: &str, params: &AtlasParams) -> ThresholdAtlas {
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    engine.atlas(path, params).expect("an atlas").expect("a rank alone gets it")
}

fn found(input: &Path, room: &Room, more: &[&str]) -> String {
    let (input, to) = (input.to_string_lossy(), room.path("clumps.hdf5"));
    done(&[&["phew", &input, "-o", &to, "--quiet"], more].concat());
    to
}

/// A cube of noise around 0.
fn noise(room: &Room) -> String {
    let mut random = Random(5);
    let places: Vec<[u32; 3]> = (0..4096_u32).map(|i| [i % 16, i / 16 % 16, i / 256]).collect();
    let values: Vec<f64> = places.iter().map(|_| f64::from(random.below(2000) as u32) * 1e-3 - 1.0).collect();
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let cells = Cells::from_leaves(Geometry::cube(1.0), &[4_u8; 4096], &places).expect("cells");
    let params = PhewParams::new(-0.25).persistence(Persistence::Difference(0.3)).saddle(0.1);
    let to = room.path("noise.hdf5");
    engine.phew(&cells, &values, &params).expect("clumps").write(&to).expect("written");
    to
}

#[test]
fn every_number_is_that_of_recut() {
    let params = AtlasParams::default().values_per_decade(4).pair_values(3);
    let room = Room::new();
    let thresholds =
        ["--density-threshold", "80", "--relevance-threshold", "1.5", "--saddle-threshold", "200"];
    let of_cells = found(&output("dm_1rank"), &room, &thresholds);
    let atlas = atlas_of(&of_cells, &params);
    assert!(compare(&read_catalogue(&of_cells).expect("a catalogue"), &atlas) > 40);
    let names =
        |atlas: &ThresholdAtlas| atlas.lines.iter().map(|line| line.varied.name()).collect::<Vec<_>>();
    assert_eq!(names(&atlas), ["relevance", "saddle", "halo_relevance", "mass"]);
    assert!(atlas.lines[0].values.contains(&1.5) && atlas.lines[1].values.contains(&200.0));

    let of_particles = found(&gadget4().join("snapshot_004.hdf5"), &room, &["--mesh-from-particles"]);
    let atlas = atlas_of(&of_particles, &params);
    assert_eq!(names(&atlas), ["relevance", "significance", "saddle", "halo_relevance", "mass"]);
    compare(&read_catalogue(&of_particles).expect("a catalogue"), &atlas);
    let counts = atlas.lines[0].counts(CountedObjects::Clumps);
    assert!(counts.is_sorted_by(|a, b| a >= b) && counts[0] > 2 * counts[counts.len() - 1], "{counts:?}");

    // Haloes by a second relevance, and none below that of clumps.
    let second = ["--density-threshold", "80", "--relevance-threshold", "1.5", "--halo-relevance", "4"];
    let by_relevance = found(&output("dm_1rank"), &room, &second);
    let atlas = atlas_of(&by_relevance, &params);
    assert!(compare(&read_catalogue(&by_relevance).expect("a catalogue"), &atlas) > 40);
    assert_eq!(
        (atlas.lines[0].values.last(), atlas.lines[1].own, atlas.lines[2].own),
        (Some(&3.162), None, Some(4.0))
    );

    // The density threshold varies where there are cells.
    let with_cells = found(&output("gas_2ranks"), &room, &["--density-threshold", "2", "--with-cells"]);
    let atlas = atlas_of(&with_cells, &params.clone().density_values(3));
    assert_eq!(
        atlas.lines.last().map(|line| (line.varied, line.values.len())),
        Some((VariedThreshold::Density, 4))
    );
    compare(&read_catalogue(&with_cells).expect("a catalogue"), &atlas);

    let of_noise = noise(&room);
    let atlas = atlas_of(&of_noise, &params);
    assert_eq!(names(&atlas)[..2], ["relevance", "saddle"]);
    compare(&read_catalogue(&of_noise).expect("a catalogue"), &atlas);

    let ramses = [&thresholds[..], &["--compat", "ramses"]].concat();
    let by_ramses = found(&output("dm_1rank"), &room, &ramses);
    let atlas = atlas_of(&by_ramses, &params);
    compare(&read_catalogue(&by_ramses).expect("a catalogue"), &atlas);
    assert!(atlas.tree.is_none(), "{:?} has an order of its own for equal saddles", Rules::Ramses);
}

#[test]
fn ranks_and_threads_change_nothing() {
    let room = Room::new();
    let options = ["--density-threshold", "80", "--saddle-threshold", "200", "--with-cells"];
    let input = found(&output("dm_1rank"), &room, &options);
    let (one, three) = (room.path("one"), room.path("three"));
    let summary = done_json(&["atlas", &input, "-o", &one]);
    done(&["atlas", &input, "-o", &three, "--ranks", "3"]);
    let names = fs::read_dir(&one).expect("a folder").flatten().map(|entry| entry.file_name());
    let tables: Vec<_> = names.filter(|name| *name != "index.html").collect();
    assert!(tables.len() > 8, "{tables:?}");
    for name in tables {
        let bytes = |folder: &str| fs::read(Path::new(folder).join(&name)).expect("a table");
        assert_eq!(bytes(&one), bytes(&three), "{name:?}");
    }
    let stored = inselberg_io::catalogue::read(&Path::new(&one).join("atlas.csv")).expect("tables");
    assert!(stored.table("density").is_some_and(|density| density.n_rows() > 8), "cells are segmented again");
    let saddle = stored.table("saddle").expect("a table of the saddle threshold");
    let of_saddle = &summary["thresholds"][1];
    assert_eq!(of_saddle["option"], "saddle-threshold");
    let counts: Vec<u64> = serde_json::from_value(of_saddle["n_haloes"].clone()).expect("counts");
    assert_eq!(saddle.counts("n_haloes"), Some(&counts[..]));
    let plateaus = stored.table("relevance_plateaus").expect("plateaus");
    assert!(plateaus.reals("low").expect("values").iter().all(|low| *low > 1.0));
}

#[test]
fn what_is_no_catalogue_of_clumps_is_refused() {
    let room = Room::new();
    let input = found(&output("dm_1rank"), &room, &["--density-threshold", "80"]);
    room.refuses(&["atlas", &input, "-o", &input], &["clumps.hdf5", "both the input and the output"]);
    let absent = room.path("absent.hdf5");
    room.refuses(&["atlas", &absent], &[&format!("error: {absent}: there is no such file")]);
    room.refuses(
        &["atlas", &input, "--values-per-decade", "0"],
        &["--values-per-decade", "expected 1 to 100"],
    );
    room.refuses(&["atlas", &input, "--pair-values", "99"], &["--pair-values", "expected up to 40"]);
    room.refuses(&["atlas"], &["CATALOGUE"]);
    let mut stored = read_catalogue(&input).expect("a catalogue");
    stored.tables.retain(|table| table.name != "tree");
    let cut = room.path("cut.hdf5");
    inselberg::write_catalogue(&cut, &stored).expect("written");
    room.refuses(&["atlas", &cut], &["cut.hdf5", "no table `tree`"]);
    let snapshot = gadget4().join("snapshot_004.hdf5").to_string_lossy().into_owned();
    let groups = room.path("groups.hdf5");
    done(&["fof", &snapshot, "-o", &groups, "--quiet"]);
    room.refuses(&["atlas", &groups], &["groups.hdf5"]);
    let on_ranks = command(&["atlas", &cut, "--ranks", "2"]);
    room.refuses_command(on_ranks, &["no table `tree`"]);
}

/// Sets thresholds as a person types them, and keeps the shown numbers.
#[cfg(feature = "plot")]
const TYPE: &str = "<script>
if (window.failed) document.body.dataset.error = 'yes';
const shown = [];
for (const setting of SETTINGS) {
  document.getElementById('reset').click();
  for (const [id, value] of Object.entries(setting)) {
    const field = document.getElementById(id);
    field.value = value;
    field.dispatchEvent(new Event('change'));
  }
  shown.push(['clumps', 'haloes', 'levels', 'mass'].map(id => document.getElementById('n-' + id).dataset.value));
}
document.body.dataset.shown = shown.map(numbers => numbers.join(' ')).join(';');
const slider = document.getElementById('relevance-slider');
slider.value = 700;
slider.dispatchEvent(new Event('input'));
document.getElementById('relevance').dispatchEvent(new Event('change'));
document.body.dataset.slid = document.getElementById('relevance').value;
document.body.dataset.lines = document.querySelectorAll('#live polyline').length;
document.body.dataset.option = document.getElementById('recut').textContent;
</script>";

/// Compares the numbers that the page shows with those of `recut`.
#[cfg(feature = "plot")]
fn compare_page(browser: &Path, room: &Room, input: &str, settings: &[Vec<(VariedThreshold, f64)>]) {
    let folder = room.path("page");
    done(&["atlas", input, "-o", &folder, "--quiet", "--pair-values", "2", "--values-per-decade", "4"]);
    let page = fs::read_to_string(Path::new(&folder).join("index.html")).expect("a page");
    for word in ["http:", "https:", "src=", "@import", "<link"] {
        assert!(!page.contains(word), "the page needs nothing beside it, but has {word}");
    }
    let object = |setting: &Vec<(VariedThreshold, f64)>| {
        let pairs = setting.iter().map(|(varied, value)| format!("{}: {value:?}", varied.name()));
        format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
    };
    let list = settings.iter().map(object).collect::<Vec<_>>().join(", ");
    let script = TYPE.replace("SETTINGS", &format!("[{list}]"));
    let listen = "<script>window.addEventListener('error', () => window.failed = true);</script>";
    let copy = Path::new(&folder).join("look.html");
    let page = page.replacen("<head>", &format!("<head>{listen}"), 1);
    fs::write(&copy, page.replace("</body>", &format!("{script}</body>"))).expect("a copy");
    let shown = opened(browser, room, &copy);
    assert!(!shown.contains("data-error"), "a script failed");
    assert_eq!(between(&shown, "data-lines=\"", "\""), ["4"]);
    let slid: f64 = between(&shown, "data-slid=\"", "\"")[0].parse().expect("a value");
    assert!(between(&shown, "data-option=\"", "\"")[0].contains(&format!("{slid}")));
    let stored = read_catalogue(input).expect("a catalogue");
    let persistence =
        atlas_of(input, &AtlasParams::default().values_per_decade(1).pair_values(0)).persistence;
    let numbers: Vec<&str> = between(&shown, "data-shown=\"", "\"")[0].split(';').collect();
    assert_eq!(numbers.len(), settings.len());
    for (setting, numbers) in settings.iter().zip(numbers) {
        let new = setting
            .iter()
            .fold(NewThresholds::default(), |new, (varied, value)| with(new, *varied, *value, persistence));
        let of_recut = expected(&stored, &new, &[]);
        let numbers: Vec<f64> = numbers.split(' ').map(|n| n.parse().expect("a number")).collect();
        assert_eq!(numbers[..3], of_recut.counts.map(|n| n as f64), "{setting:?}");
        let mass = f64::from_bits(of_recut.mass);
        assert!((numbers[3] - mass).abs() <= 1e-9 * mass.abs(), "{setting:?}: {} {mass}", numbers[3]);
    }
}

#[cfg(feature = "plot")]
#[test]
fn the_page_cuts_the_tree_as_recut_does() {
    use VariedThreshold::{HaloRelevance, Mass, Relevance, Saddle, Significance};
    let Some(browser) = browser() else {
        println!("skipped: there is no chromium");
        return;
    };
    let room = Room::new();
    let mut settings = vec![Vec::new()];
    for relevance in [1.0, 1.2, 2.0, 5.0, 12.0] {
        settings.push(vec![(Relevance, relevance)]);
        settings.push(vec![(Relevance, relevance), (Saddle, 70.0 * relevance)]);
        settings.push(vec![(Saddle, 100.0 * relevance), (Mass, 0.7 * relevance)]);
        settings.push(vec![(Relevance, relevance), (HaloRelevance, 1.7 * relevance)]);
    }
    let mut of_particles = settings.clone();
    for significance in [0.0, 0.8, 2.0, 6.0, 15.0] {
        of_particles.push(vec![(Significance, significance), (Relevance, 1.1)]);
        of_particles.push(vec![(Significance, significance), (Saddle, 300.0)]);
    }
    let snapshot = gadget4().join("snapshot_004.hdf5");
    let input = found(&snapshot, &room, &["--mesh-from-particles", "--min-cells", "3"]);
    compare_page(&browser, &room, &input, &of_particles);
    let input =
        found(&output("dm_3ranks"), &room, &["--density-threshold", "40", "--saddle-threshold", "100"]);
    compare_page(&browser, &room, &input, &settings);
    let of_noise = [0.05, 0.2, 0.7].into_iter().flat_map(|difference| {
        let haloes = [(Saddle, 0.6 * difference), (HaloRelevance, 1.5 * difference)];
        let both = haloes.map(|of| vec![(Relevance, difference), of]);
        [vec![(Relevance, difference)]].into_iter().chain(both)
    });
    compare_page(&browser, &room, &noise(&room), &of_noise.collect::<Vec<_>>());
}
