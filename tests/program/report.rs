//! The report: one page, whose table is the catalogue's, in a real browser.
//!
//! With `INSELBERG_BROWSER=1` there must be a browser (Debian's chromium); elsewhere that test says that it
//! is skipped.

use crate::common::output;
use crate::common::room::{Room, done};
use crate::scaling::{between, browser, opened};
use std::fs;
use std::path::{Path, PathBuf};

/// Notes errors of any later script.
const LISTEN: &str = "<script>window.addEventListener('error', () => window.failed = true);</script>";

/// Sorts by mass once, rising, and prints what the browser sees.
const LOOK: &str = "<script>
if (window.failed) document.body.dataset.error = 'yes';
const button = document.querySelectorAll('#largest th button')[1];
button.click(); button.click();
const masses = [...document.querySelectorAll('#largest tbody tr')].map(row => Number(row.cells[1].dataset.value));
const find = document.querySelector('.tools input');
const most = masses[masses.length - 1];
const search = text => {
  find.value = text;
  find.dispatchEvent(new Event('input'));
  return [...document.querySelectorAll('#largest tbody tr')].filter(row => !row.hidden);
};
const none = search('mass > ' + most);
const kept = search('mass>=' + most);
document.body.dataset.found = none.length === 0 && kept.length === masses.filter(mass => mass >= most).length;
let csv;
URL.createObjectURL = blob => { csv = blob; return 'blob:none'; };
HTMLAnchorElement.prototype.click = () => {};
document.querySelector('.tools button').click();
csv.text().then(text => { document.body.dataset.rows = text.trim().split('\\n').length - 1 - kept.length; });
document.body.dataset.rising = masses.every((mass, i) => i === 0 || masses[i - 1] <= mass);
document.body.dataset.seen = [...document.querySelectorAll('image')].filter(i => i.getBoundingClientRect().width > 200).length;
</script>";

fn report(room: &Room, more: &[&str]) -> String {
    let (field, csv, folder) = (room.path("f"), room.path("c.csv"), room.path("<r&>"));
    done(&["synth", "field", "--test-cells", "5e3", "-o", &field, "--quiet"]);
    let input = format!("{field}/output_00001");
    let phew = ["phew", &input, "-o", &csv, "--report", &folder, "--quiet", "--density-threshold=80"];
    done(&[&phew[..], &["--saddle-threshold=200", "--units", "code"], more].concat());
    fs::read_to_string(PathBuf::from(folder).join("index.html")).expect("a page")
}

/// Identifier and mass of the haloes in the CSV, by identifier.
fn haloes(room: &Room) -> Vec<(f64, f64)> {
    let text = fs::read_to_string(room.path("c.haloes.csv")).expect("haloes");
    let mut rows = text.lines().filter(|line| !line.starts_with('#'));
    let header: Vec<&str> = rows.next().expect("a header").split(',').collect();
    let at = |name: &str| header.iter().position(|column| *column == name).expect("a column");
    let (id, mass) = (at("id"), at("mass"));
    let number = |row: &str, at: usize| row.split(',').nth(at).expect("a value").parse().expect("a number");
    rows.map(|row| (number(row, id), number(row, mass))).collect()
}

#[test]
fn the_table_is_that_of_the_catalogue_and_names_are_escaped() {
    let room = Room::new();
    let page = report(&room, &["--plot-axis", "all", "--ranks", "2"]);
    assert!(page.contains("&lt;r&amp;&gt;") && !page.contains("<r&>"));
    for word in ["http:", "https:", "src=", "@import", "<link"] {
        assert!(!page.contains(word), "the page needs nothing beside it, but has {word}");
    }
    let table = between(&page, "<table id=\"largest\"", "</table>")[0];
    let rows = between(table, "<tr><td", "</tr>");
    let shown: Vec<(f64, f64)> = rows
        .iter()
        .map(|row| {
            let values = between(row, "data-value=\"", "\"");
            (values[0].parse().expect("an identifier"), values[1].parse().expect("a mass"))
        })
        .collect();
    let mut expected = haloes(&room);
    expected.sort_by(|a, b| b.1.total_cmp(&a.1));
    expected.truncate(100);
    assert!(!expected.is_empty());
    assert_eq!(shown, expected);
    for part in ["id=\"map-x\"", "id=\"map-y\"", "id=\"map-z\"", "id=\"load\"", "id=\"traffic\""] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_browser_sorts_the_table_and_shows_the_pictures() {
    let Some(browser) = browser() else {
        println!("skipped: there is no chromium");
        return;
    };
    let room = Room::new();
    let page = report(&room, &[]);
    // Each map has a bar of its colours beside it.
    let n_pictures = page.matches("<image").count() / 2;
    assert!(n_pictures > 1);
    let copy = PathBuf::from(room.path("look.html"));
    fs::write(
        &copy,
        page.replacen("<head>", &format!("<head>{LISTEN}"), 1).replace("</body>", &format!("{LOOK}</body>")),
    )
    .expect("a copy");
    let shown = opened(&browser, &room, &copy);
    assert!(!shown.contains("data-error"), "a script failed");
    assert_eq!(between(&shown, "data-rising=\"", "\""), ["true"]);
    assert_eq!(between(&shown, "data-found=\"", "\""), ["true"], "a condition on a column");
    assert_eq!(between(&shown, "data-rows=\"", "\""), ["0"], "the rows that are shown are saved");
    assert_eq!(between(&shown, "data-seen=\"", "\""), [n_pictures.to_string()]);
}

/// The lines of circles on the maps of the whole box: one or more per halo, and per clump of a halo of
/// several.
fn circles(page: &str) -> usize {
    let maps = page.split_once("id=\"maps\"").and_then(|(_, rest)| rest.split_once("id=\"mass-function\""));
    let maps = maps.expect("maps").0;
    ["stroke=\"#FFFFFF\" stroke-width=\"2\"", "stroke=\"#56B4E9\" stroke-width=\"4\""]
        .map(|line| maps.matches(line).count())
        .into_iter()
        .sum()
}

#[test]
fn small_clumps_get_no_circle_and_stay_in_the_catalogue() {
    let (whole, fewer) = (Room::new(), Room::new());
    let cells = |room: &Room| {
        let found = inselberg_io::catalogue::read(Path::new(&room.path("c.csv"))).expect("a catalogue");
        found.table("clumps").and_then(|clumps| clumps.counts("n_cells")).expect("counts").to_vec()
    };
    let report = |room: &Room, more: &[&str]| {
        let (input, csv, folder) = (output("dm_1rank"), room.path("c.csv"), room.path("r"));
        let input = input.to_str().expect("a plain path");
        let phew = ["phew", input, "-o", &csv, "--report", &folder, "--quiet", "--density-threshold=40"];
        done(&[&phew[..], more].concat());
        fs::read_to_string(Path::new(&folder).join("index.html")).expect("a page")
    };
    let every = report(&whole, &[]);
    let mut sorted = cells(&whole);
    sorted.sort_unstable();
    let least = sorted[sorted.len() / 2];
    let large = report(&fewer, &["--plot-min-cells", &least.to_string()]);
    assert_eq!(cells(&whole), cells(&fewer));
    let n_large = sorted.iter().filter(|n| **n >= least).count();
    let n_maps = every.matches("id=\"map-").count();
    assert!(0 < n_large && n_large < sorted.len(), "{sorted:?}");
    let (all, of_large) = (circles(&every), circles(&large));
    assert!(of_large >= n_maps * n_large && all - of_large >= n_maps * (sorted.len() - n_large));
    let captions = |page: &str, n: usize| page.matches(&format!(" {n} clumps")).count() >= 2 * n_maps;
    assert!(captions(&every, sorted.len()) && captions(&large, n_large));
    assert!(large.contains(&format!("of {least} cells or more")) && !every.contains("cells or more"));
}

#[test]
fn regions_and_axes_that_mean_nothing_are_refused() {
    let room = Room::new();
    let phew = ["phew", "no", "-o", "c.csv", "--density-threshold", "80"];
    let (folder, with) = (room.path("r"), "--report");
    let expected = ["--plot-region", "three coordinates and a positive side"];
    for region in ["1,2,3", "1,2,3,0", "a,b,c,d", "1,2,3,inf"] {
        room.refuses(&[&phew[..], &[with, &folder, "--plot-region", region]].concat(), &expected);
    }
    for (name, value) in [("--plot-axis", "x"), ("--plot-min-cells", "9"), ("--plot-min-particles", "9")] {
        room.refuses(&[&phew[..], &[name, value]].concat(), &[name, "--plot or --report"]);
    }
}
