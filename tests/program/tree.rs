//! Merger trees of catalogues: links, equal bytes on any ranks and threads, and one line per mistake.

use crate::common::room::{Room, done, done_json};
use crate::common::{output, program, swift_fixture};
use inselberg::{
    BoundRequest, Engine, FieldChoice, Geometry, MergerTree, PhewParams, RankBuilder, TreeObject, TreeParams,
};
use inselberg_io::catalogue::merger_tree::TrackName;
use inselberg_io::catalogue::{self, Attribute, Catalogue, Dimension, Table, TableColumn, Values};
use std::fs;
use std::path::Path;

/// An object: its identifier, its parent, and identities and types of its members, the most bound first.
type Object = (u64, u64, Vec<(u64, u8)>);

fn column(name: &str, dimension: Dimension, values: Values) -> TableColumn {
    TableColumn { name: name.into(), dimension, description: name.into(), values }
}

/// A catalogue of clumps as `phew --unbind --with-members` lays it out. Every second one has signed
/// identities, as those of earlier versions.
fn clumps(number: i64, objects: &[Object]) -> Catalogue {
    let none = Dimension::NONE;
    let counts = |of: &dyn Fn(usize) -> u64| Values::U64((0..objects.len()).map(of).collect());
    let before = |i: usize| objects[..i].iter().map(|object| object.2.len() as u64).sum();
    let masses = objects.iter().map(|object| 0.5 * object.2.len() as f64).collect();
    let places = objects.iter().map(|object| [object.0 as f64, 0.25, number as f64]).collect();
    let columns = vec![
        column("id", none, counts(&|i| objects[i].0)),
        column("parent", none, counts(&|i| objects[i].1)),
        column("n_bound", none, counts(&|i| objects[i].2.len() as u64)),
        column("bound_mass", Dimension::MASS, Values::F64(masses)),
        column("most_bound_position", Dimension::LENGTH, Values::F64x3(places)),
        column("members_offset", none, counts(&before)),
    ];
    let members: Vec<(u64, u64, u8)> =
        objects.iter().flat_map(|(id, _, members)| members.iter().map(|m| (*id, m.0, m.1))).collect();
    let ids: Vec<u64> = members.iter().map(|m| m.1).collect();
    let signed = ids.iter().map(|id| id.cast_signed()).collect();
    let of_members = vec![
        column("id", none, if number % 2 == 0 { Values::I64(signed) } else { Values::U64(ids) }),
        column("type", none, Values::U8(members.iter().map(|m| m.2).collect())),
        column("clump", none, Values::U64(members.iter().map(|m| m.0).collect())),
    ];
    let text = |name: &str, value: &str| (name.to_string(), Attribute::Text(value.into()));
    let real = |name: &str, value: f64| (name.to_string(), Attribute::Real(value));
    Catalogue {
        attributes: vec![
            text("program", "inselberg"),
            text("input_format", "RAMSES"),
            ("input_number".into(), Attribute::Int(number)),
            real("time", 0.5 * number as f64 - 3.0),
            real("boxlen", 1.0),
            real("unit_length", 3e24 * (0.1 + 0.01 * number as f64)),
            real("unit_density", 1e-28),
            real("unit_time", 1e17),
            real("aexp", 0.1 + 0.01 * number as f64),
            real("h0", 70.0),
            real("omega_m", 0.3),
        ],
        tables: vec![
            Table { name: "clumps".into(), columns },
            Table { name: "members".into(), columns: of_members },
        ],
    }
}

fn dark(ids: impl Iterator<Item = u64>) -> Vec<(u64, u8)> {
    ids.map(|id| (id, 1)).collect()
}

/// Writes the outputs as c_1.hdf5, c_2.hdf5, ... Returns the paths.
fn written(room: &Room, outputs: &[Vec<Object>]) -> Vec<String> {
    let write = |(number, objects): (i64, &Vec<Object>)| {
        let path = room.path(&format!("c_{number}.hdf5"));
        catalogue::write(Path::new(&path), &clumps(number, objects)).expect("written");
        path
    };
    (1..).zip(outputs).map(write).collect()
}

fn tree(room: &Room, inputs: &[String], more: &[&str]) -> Catalogue {
    let out = room.path("tree.hdf5");
    let inputs = inputs.iter().map(String::as_str);
    let args: Vec<&str> = ["tree"].into_iter().chain(inputs).chain(["-o", &out, "--quiet"]).collect();
    done(&[&args[..], more].concat());
    catalogue::read(Path::new(&out)).expect("a tree")
}

fn integers(tree: &Catalogue, table: &str, name: &str) -> Vec<i64> {
    let column = tree.table(table).and_then(|table| table.column(name)).expect("a column");
    match &column.values {
        Values::U8(values) => values.iter().map(|value| i64::from(*value)).collect(),
        Values::U64(values) => values.iter().map(|value| value.cast_signed()).collect(),
        Values::I64(values) => values.clone(),
        other => panic!("{other:?}"),
    }
}

fn nodes(tree: &Catalogue, name: &str) -> Vec<i64> {
    integers(tree, "nodes", name)
}

/// A host with gas and stars, and a satellite that is only seen in the first and last output. Dark matter,
/// stars and gas share identities, which are below and above 2^63.
fn fly_through() -> Vec<Vec<Object>> {
    let big = (1 << 63) - 15;
    let host: Vec<(u64, u8)> = (0..60).map(|i| (big + i / 3, [0, 1, 4][i as usize % 3])).collect();
    let satellite: Vec<(u64, u8)> = dark(big + 100..big + 130);
    let both = vec![(7, 7, host.clone()), (9, 7, satellite.clone())];
    let one = vec![(3, 3, [host, satellite].concat())];
    vec![both.clone(), one.clone(), one.clone(), one, both]
}

/// People see the birth of a track, which is also how they choose it. Lists have the heaviest first.
#[test]
fn tracks_have_short_names_and_are_listed() {
    let room = Room::new();
    let inputs = written(&room, &fly_through());
    tree(&room, &inputs, &[]);
    let path = room.path("tree.hdf5");
    let listed = done(&["view", &path]);
    let rows: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(rows, ["tracks", "track", "1:7", "1:9"], "{listed}");
    let json = done_json(&["view", &path]);
    assert_eq!((&json["kind"], &json["tracks"][1]["id"]), (&"tracks".into(), &(1_u64 << 40 | 9).into()));
    let info = done(&["info", &path]);
    let heaviest = info.split("the heaviest of 2 tracks").nth(1).expect("a list");
    assert!(
        heaviest.contains(" 1:7 ") && heaviest.contains(" 1:9 ") && heaviest.contains("1 to 5"),
        "{info}"
    );
    let long = (1_u64 << 40 | 9).to_string();
    let shown = done(&["view", &path, "--track", "1:9"]);
    assert_eq!(shown, done(&["view", &path, "--track", &long]));
    // A configuration file may have the whole number without quotes.
    let config = room.path("view.toml");
    fs::write(&config, format!("[view]\ntrack = {long}\n")).expect("written");
    assert_eq!(shown, done(&["view", &path, "--config", &config]));
    assert!(
        shown.starts_with("track 1:9\n") && shown.contains("  1:7") && !shown.contains("10995"),
        "{shown}"
    );
    let unknown = ["no track 2:9", "2 tracks"];
    room.refuses(&["view", &path, "--track", "2:9"], &unknown);
    room.refuses(&["view", &path, "--track", "1:x"], &["--track: `1:x`", "a track such as 1:509"]);
}

#[test]
fn a_satellite_is_linked_over_a_gap() {
    let room = Room::new();
    let inputs = written(&room, &fly_through());
    let tree = tree(&room, &inputs, &[]);
    assert_eq!(tree.attribute("kind"), Some(&Attribute::Text("tree".into())));
    assert_eq!(nodes(&tree, "snapshot"), [0, 0, 1, 2, 3, 4, 4]);
    assert_eq!(nodes(&tree, "object"), [7, 9, 3, 3, 3, 7, 9]);
    assert_eq!(nodes(&tree, "descendant"), [2, 6, 3, 4, 5, -1, -1]);
    assert_eq!(nodes(&tree, "main_progenitor"), [-1, -1, 0, 2, 3, 4, 1]);
    assert_eq!(nodes(&tree, "next_progenitor"), [-1; 7]);
    assert_eq!(nodes(&tree, "last_descendant"), [5, 6, 5, 5, 5, 5, 6]);
    assert_eq!(nodes(&tree, "fate"), [0, 0, 0, 0, 0, 3, 3]);
    assert_eq!(nodes(&tree, "host"), [-1, 0, -1, -1, -1, -1, 5]);
    assert_eq!(nodes(&tree, "kind"), [0; 7]);
    assert_eq!(nodes(&tree, "n_members"), [60, 30, 90, 90, 90, 60, 30]);
    let [host, satellite] = [1 << 40 | 7, 1 << 40 | 9];
    assert_eq!(nodes(&tree, "track"), [host, satellite, host, host, host, host, satellite]);
    // The most bound member of the host is gas.
    let big = (1 << 63) - 15;
    let tracers = tree.table("nodes").and_then(|nodes| nodes.counts("tracer"));
    assert_eq!(tracers, Some(&[big, big + 100, big, big, big, big, big + 100][..]));
    assert_eq!(nodes(&tree, "tracer_type"), [1; 7]);
    let table = tree.table("nodes").expect("nodes");
    assert_eq!(table.reals("mass"), Some(&[30.0, 15.0, 45.0, 45.0, 45.0, 30.0, 15.0][..]));
    assert_eq!(table.vectors("position").map(|p| p[1]), Some([9.0, 0.25, 1.0]));
    assert_eq!(integers(&tree, "snapshots", "number"), [1, 2, 3, 4, 5]);
    assert_eq!(integers(&tree, "snapshots", "first_node"), [0, 2, 3, 4, 5]);
    let aexp = tree.table("snapshots").and_then(|table| table.reals("aexp"));
    assert_eq!(aexp.map(|a| a[4]), Some(0.1 + 0.01 * 5.0));
}

#[test]
fn an_orphan_stands_where_its_host_is() {
    let room = Room::new();
    let inputs = written(&room, &fly_through());
    let tree = tree(&room, &inputs, &["--gap", "1"]);
    assert_eq!(nodes(&tree, "object"), [7, 9, 3, 0, 3, 0, 3, 0, 7, 9]);
    assert_eq!(nodes(&tree, "kind"), [0, 0, 0, 1, 0, 1, 0, 1, 0, 0]);
    assert_eq!(nodes(&tree, "descendant"), [2, 3, 4, 5, 6, 7, 8, 9, -1, -1]);
    assert_eq!(nodes(&tree, "host"), [-1, 0, -1, 2, -1, 4, -1, 6, -1, 8]);
    let table = tree.table("nodes").expect("nodes");
    assert_eq!(table.vectors("position").map(|p| p[3]), Some([3.0, 0.25, 2.0]));
    assert_eq!(table.reals("mass").map(|m| m[3]), Some(0.0));
}

/// A pseudo-random number from a seed.
fn mixed(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 5
}

/// Objects that lose and gain members, vanish and come back, with gas and stars among the members and large
/// ones beside small ones.
fn busy_series(n_outputs: u64) -> Vec<Vec<Object>> {
    let output = |k: u64| {
        let mut objects: Vec<Object> = Vec::new();
        let mut spare: Vec<(u64, u8)> = Vec::new();
        for o in 0..40_u64 {
            let size = if o == 0 { 6000 } else { 20 + mixed(o) % 300 };
            let is_gone = mixed(o * 100 + k).is_multiple_of(5) && o > 0;
            let mut members: Vec<(u64, (u64, u8))> = Vec::new();
            for i in 0..size {
                let member_type = [1, 1, 1, 4, 0, 5][(mixed(i + o) % 6) as usize];
                let member = ((1 << 63) - 50_000 + o * 10_000 + i, member_type);
                match mixed(o << 32 | i << 8 | k) % 20 {
                    _ if is_gone => spare.push(member),
                    0 => spare.push(member),
                    1 => {}
                    // The order of energies changes a little.
                    other => members.push((i + other, member)),
                }
            }
            if !is_gone {
                members.sort_unstable();
                let members = members.into_iter().map(|(_, member)| member).collect();
                objects.push((mixed(o * 7 + k) % 1000 * 64 + o, 1, members));
            }
        }
        // Lost members go to the first objects.
        for (i, member) in spare.into_iter().enumerate() {
            objects[i % 3].2.push(member);
        }
        objects
    };
    (0..n_outputs).map(output).collect()
}

#[test]
fn bytes_are_equal_on_any_ranks_and_threads() {
    let room = Room::new();
    let inputs = written(&room, &busy_series(8));
    let mut first: Option<Vec<u8>> = None;
    for ranks in ["1", "2", "3", "5"] {
        for threads in ["1", "2"] {
            let out = room.path("tree.hdf5");
            let mut command = program();
            command.arg("tree").args(&inputs).args(["-o", &out, "--gap=2", "--tracers=20"]);
            let ran = command.args(["--ranks", ranks, "--threads", threads]).output().expect("started");
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
            let bytes = fs::read(&out).expect("a tree");
            assert!(*first.get_or_insert(bytes.clone()) == bytes, "{ranks} ranks, {threads} threads");
        }
    }
    let tree = catalogue::read(Path::new(&room.path("tree.hdf5"))).expect("a tree");
    let (fate, kind) = (nodes(&tree, "fate"), nodes(&tree, "kind"));
    let count = |wanted: i64| fate.iter().filter(|fate| **fate == wanted).count();
    assert!(count(0) > 200 && count(3) > 30 && kind.contains(&1), "{} go on, {} end", count(0), count(3));
    let gaps = nodes(&tree, "descendant")
        .iter()
        .zip(nodes(&tree, "snapshot"))
        .filter(|(descendant, snapshot)| {
            **descendant >= 0 && nodes(&tree, "snapshot")[**descendant as usize] > snapshot + 1
        })
        .count();
    assert!(gaps > 5, "{gaps} links over a gap");
}

#[test]
fn patterns_order_and_formats() {
    let room = Room::new();
    let inputs = written(&room, &fly_through());
    let expected = tree(&room, &inputs, &[]);
    let (pattern, csv) = (room.path("c_?.hdf5"), room.path("t.csv"));
    let summary =
        done_json(&["tree", &inputs[4], &inputs[0], &inputs[3], &inputs[1], &inputs[2], "-o", &csv]);
    assert_eq!(summary["sorted_by"], "expansion factor");
    assert_eq!(summary["catalogues"].as_array().map(Vec::len), Some(5));
    assert_eq!(summary["totals"]["nodes"], 7);
    let from_csv = catalogue::read(Path::new(&csv)).expect("a tree");
    assert_eq!(from_csv.checksum(), expected.checksum());
    let again = room.path("again.hdf5");
    let text = done(&["tree", &pattern, "-o", &again]);
    assert!(text.contains("snapshots") && text.contains("mergers") && !text.contains("note:"), "{text}");
    assert_eq!(catalogue::read(Path::new(&again)).expect("a tree"), expected);
    // The catalogues themselves may be CSV.
    let of_csv: Vec<String> = (1..)
        .zip(&fly_through())
        .map(|(number, objects)| {
            let path = room.path(&format!("p_{number}.csv"));
            catalogue::write(Path::new(&path), &clumps(number, objects)).expect("written");
            path
        })
        .collect();
    assert_eq!(tree(&room, &of_csv, &["--ranks", "2"]).checksum(), expected.checksum());
}

/// The page has the heaviest tracks with their numbers and histories, the outputs, and nothing beside it.
#[cfg(feature = "plot")]
#[test]
fn the_report_shows_the_heaviest_tracks() {
    let room = Room::new();
    let inputs = written(&room, &busy_series(8));
    let folder = room.path("<report>");
    let mut shuffled = inputs.clone();
    shuffled.swap(0, 1);
    let tree = tree(&room, &shuffled, &["--report", &folder, "--ranks", "2"]);
    let page = fs::read_to_string(Path::new(&folder).join("index.html")).expect("a page");
    assert!(page.contains("they are sorted by expansion factor") && page.contains("&lt;report&gt;"));
    for word in ["https:", "src=", "@import", "<link", "<report>"] {
        assert!(!page.contains(word), "the page needs nothing beside it, but has {word}");
    }
    for part in ["id=\"counts\"", "id=\"snapshots\"", "id=\"stages\"", "id=\"traffic\""] {
        assert!(page.contains(part), "{part}");
    }
    // The tracks in the table are those of the last output, by mass.
    let (snapshot, track) = (nodes(&tree, "snapshot"), nodes(&tree, "track"));
    let table = tree.table("nodes").expect("nodes");
    let (mass, kind) = (table.reals("mass").expect("masses"), nodes(&tree, "kind"));
    let mut last: Vec<usize> = (0..track.len()).filter(|i| snapshot[*i] == 7 && kind[*i] == 0).collect();
    last.sort_by(|a, b| mass[*b].total_cmp(&mass[*a]).then(track[*a].cmp(&track[*b])));
    let rows = page.split("<table id=\"heaviest\"").nth(1).and_then(|rest| rest.split("</table>").next());
    let rows: Vec<&str> = rows.expect("a table").split("<tr><td").skip(1).collect();
    assert_eq!(rows.len(), last.len());
    for (row, node) in rows.iter().zip(&last) {
        let shown = format!(">{}<", TrackName(track[*node].cast_unsigned()));
        assert!(row.contains(&shown), "{shown} is not in {row}");
    }
    assert_eq!(page.matches("<figure").count(), 6);
    assert_eq!(page.matches("<svg").count(), 6);
    let heaviest = format!("id=\"track-{}\"", track[last[0]]);
    assert!(page.contains(&heaviest), "{heaviest}");
    let out = room.path("other.hdf5");
    let both = ["tree", &inputs[0], &inputs[1], "-o", &out, "--report", &out];
    room.refuses(&both, &["is both"]);
}

/// Replaces an attribute, or adds it.
fn with(mut of: Catalogue, name: &str, value: Attribute) -> Catalogue {
    of.attributes.retain(|(n, _)| n != name);
    of.attributes.push((name.into(), value));
    of
}

#[test]
fn each_mistake_is_one_line() {
    let room = Room::new();
    let outputs = fly_through();
    let inputs = written(&room, &outputs);
    let [first, second] = [&inputs[0], &inputs[1]];
    let (out, other) = (room.path("tree.hdf5"), room.path("other.hdf5"));
    let write = |catalogue: &Catalogue| catalogue::write(Path::new(&other), catalogue).expect("written");
    let refused = |parts: &[&str]| {
        room.refuses(&["tree", first, &other, "-o", &out], parts);
        room.refuses(&["tree", first, &other, "-o", &out, "--ranks", "2"], &parts[1..]);
    };
    room.refuses(&["tree", first, "-o", &out], &["one catalogue", "expected two or more"]);
    room.refuses(&["tree", first, first, "-o", &out], &["the same output as"]);
    room.refuses(&["tree", &room.path("none_*.hdf5"), "-o", &out], &["no file has such a name"]);
    room.refuses(&["tree", first, second], &["output"]);
    room.refuses(&["tree", first, second, "-o", &out, "--tracers", "0"], &["--tracers", "1 to 1048576"]);
    room.refuses(&["tree", first, second, "-o", first], &["is both"]);

    let next = clumps(2, &outputs[1]);
    write(&with(next.clone(), "omega_m", Attribute::Real(0.25)));
    refused(&["other.hdf5", "omega_m is 0.25, but 0.3", "expected outputs of one run"]);
    write(&with(next.clone(), "boxlen", Attribute::Real(2.0)));
    refused(&["other.hdf5", "side of the box", "one run"]);
    write(&with(next.clone(), "time", Attribute::Real(-3.0)));
    refused(&["other.hdf5", "its time is below", "its expansion factor is above"]);
    let mut bare = next.clone();
    bare.tables.pop();
    write(&bare);
    refused(&["other.hdf5", "no members", "--unbind --with-members"]);
    write(&Catalogue { tables: Vec::new(), ..next.clone() });
    refused(&["other.hdf5", "neither clumps nor groups"]);
    let mut groups = next.clone();
    groups.tables[0].name = "Groups".into();
    groups.tables[0].columns[0].name = "GroupIDs".into();
    write(&groups);
    refused(&["other.hdf5", "groups, but", "has clumps", "one kind"]);
    write(&clumps(2, &[(1, 1, dark(0..30)), (2, 2, dark(29..50))]));
    refused(&["other.hdf5", "the dark matter particle 29", "member", "expected each particle in one object"]);
    write(&clumps(2, &[(1, 1, dark(0..30)), (1, 1, dark(40..50))]));
    refused(&["other.hdf5", "two objects have the identifier 1"]);
    let mut beyond = next.clone();
    beyond.tables[0].columns[5].values = Values::U64(vec![1]);
    write(&beyond);
    refused(&["other.hdf5", "members 1 to 91 of object 3", "rows of the 90 members"]);
    write(&next);
    let bytes = fs::read(&other).expect("there");
    fs::write(&other, &bytes[..bytes.len() / 2]).expect("written");
    refused(&["other.hdf5"]);
}

/// Real catalogues, and copies of them that are an output later: every object continues as itself.
#[test]
fn objects_of_a_copy_go_on_as_themselves() {
    let room = Room::new();
    let [c, g] = [room.path("c_1.hdf5"), room.path("g_1.hdf5")];
    let snapshot = output("dm_1rank").to_string_lossy().into_owned();
    let particles = swift_fixture().join("snap_0000.hdf5").to_string_lossy().into_owned();
    done(&[
        "phew",
        &snapshot,
        "-o",
        &c,
        "--density-threshold=40",
        "--saddle-threshold=200",
        "--unbind",
        "--with-members",
        "--quiet",
    ]);
    done(&["fof", &particles, "-o", &g, "--properties=bound", "--with-members", "--quiet"]);
    for (from, to, table, id) in [(&c, "c_2.hdf5", "clumps", "id"), (&g, "g_2.hdf5", "Groups", "GroupIDs")] {
        let to = room.path(to);
        let whole = catalogue::read(Path::new(from)).expect("a catalogue");
        let real = |name: &str| match whole.attribute(name) {
            Some(Attribute::Real(value)) => Some(*value),
            _ => None,
        };
        let time = real("time").expect("a time") + 0.01;
        let mut later = with(whole.clone(), "time", Attribute::Real(time));
        // Code units grow with the expansion factor.
        if let (Some(aexp), Some(length)) = (real("aexp"), real("unit_length")) {
            later = with(later, "aexp", Attribute::Real(1.01 * aexp));
            later = with(later, "unit_length", Attribute::Real(1.01 * length));
        }
        catalogue::write(Path::new(&to), &with(later, "input_number", Attribute::Int(77))).expect("written");
        let tree = tree(&room, &[from.clone(), to], &["--ranks", "3"]);
        let objects = whole.table(table).expect("objects");
        let n_bound = objects.integers("n_bound").expect("counts");
        let mut bound: Vec<(i64, i64)> =
            objects.integers(id).expect("ids").into_iter().zip(n_bound).collect();
        // Objects without members make no nodes.
        bound.retain(|(_, n)| *n > 0);
        bound.sort_unstable();
        let n = bound.len();
        assert!(n > 3, "{table}: bound objects");
        let (object, descendant, fate) =
            (nodes(&tree, "object"), nodes(&tree, "descendant"), nodes(&tree, "fate"));
        assert_eq!(object.len(), 2 * n);
        for (i, (id, _)) in bound.iter().enumerate() {
            assert_eq!((object[i], (descendant[i], fate[i])), (*id, ((i + n) as i64, 0)));
        }
    }
}

/// What rank 0 of `n_ranks` has of a tree, to which `add` adds outputs.
fn in_memory(n_ranks: usize, add: impl Fn(usize, &mut Engine, &mut MergerTree) + Sync) -> Catalogue {
    let add = &add;
    let trees = std::thread::scope(|scope| {
        let ranks = RankBuilder::threads(n_ranks).into_iter().enumerate();
        let threads: Vec<_> = ranks
            .map(|(number, rank)| {
                scope.spawn(move || {
                    let mut engine = Engine::builder().threads(1).rank(rank).build().expect("an engine");
                    let params = TreeParams::default().gap(2).tracers(20);
                    let mut tree = engine.trees(&params).expect("a tree");
                    add(number, &mut engine, &mut tree);
                    tree.catalogue()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    trees.into_iter().flatten().next().expect("rank 0 has the tree")
}

/// Objects of a program, dealt to ranks, give the nodes of the command.
#[test]
fn objects_in_memory_are_linked_as_those_in_files() {
    let room = Room::new();
    let outputs = busy_series(6);
    let inputs = written(&room, &outputs);
    let of_files = tree(&room, &inputs, &["--gap=2", "--tracers=20"]);
    for n_ranks in [1, 3] {
        let of_memory = in_memory(n_ranks, |rank, _, tree| {
            for (number, objects) in (1_u32..).zip(&outputs) {
                let split = |object: &Object| {
                    let (ids, types): (Vec<u64>, Vec<u8>) = object.2.iter().copied().unzip();
                    (object.0, ids, types)
                };
                let own: Vec<_> = objects.iter().skip(rank).step_by(n_ranks).map(split).collect();
                let mut objects: Vec<TreeObject<'_>> = Vec::new();
                for (id, ids, types) in &own {
                    let place = [*id as f64, 0.25, f64::from(number)];
                    let object = TreeObject::new(*id, ids).parent(1).types(types);
                    objects.push(object.mass(0.5 * ids.len() as f64).place(place, [0.0; 3]));
                }
                let space = Geometry::cube(1.0).time(f64::from(number));
                tree.add_objects(u64::from(number), &space, &objects).expect("added");
            }
        });
        assert_eq!(of_memory.table("nodes"), of_files.table("nodes"), "{n_ranks} ranks");
    }
    let [ids, twice] = [[1, 2], [2, 3]];
    in_memory(2, |rank, _, tree| {
        let own = [TreeObject::new(rank as u64 + 1, if rank == 0 { &ids } else { &twice })];
        let refused = tree.add_objects(1, &Geometry::cube(1.0), &own).expect_err("refused");
        assert!(
            refused.to_string().contains("particle 2 is a member of object 1 and of object 2"),
            "{refused}"
        );
        // The tree takes the next output.
        let own = [TreeObject::new(rank as u64 + 1, if rank == 0 { &ids } else { &[] })];
        tree.add_objects(1, &Geometry::cube(1.0), &own).expect("added");
        let refused = tree.add_objects(1, &Geometry::cube(1.0), &own).expect_err("refused");
        assert!(refused.to_string().contains("the same output as"), "{refused}");
        assert_eq!(tree.n_outputs(), 1);
    });
}

/// Clumps that a search leaves on several ranks, without a file.
#[test]
fn clumps_of_a_search_are_linked_in_memory() {
    let mut trees = [1, 3].map(|n_ranks| {
        in_memory(n_ranks, |_, engine, tree| {
            let snapshot = engine.open(output("dm_1rank")).expect("an output");
            let mut params = PhewParams::new(40.0).saddle(200.0);
            params.bound = BoundRequest { unbind: true, with_members: true, ..BoundRequest::default() };
            let clumps = engine.phew_snapshot(&snapshot, &FieldChoice::Auto, &params).expect("clumps");
            (1..4).for_each(|number| tree.add_clumps(&clumps, number).expect("added"));
            params.bound.with_members = false;
            let bare = engine.phew_snapshot(&snapshot, &FieldChoice::Auto, &params).expect("clumps");
            let refused = tree.add_clumps(&bare, 5).expect_err("refused").to_string();
            assert!(refused.contains("output 5: no members"), "{refused}");
        })
    });
    let [one, three] = &mut trees;
    assert_eq!(one, three);
    let (descendant, fate) = (nodes(one, "descendant"), nodes(one, "fate"));
    let n = (descendant.len() / 3) as i64;
    let goes_on = (0..n).filter(|i| descendant[*i as usize] == i + n && fate[*i as usize] == 0).count();
    let is_lost = (0..n).filter(|i| fate[*i as usize] == 4).count();
    assert!(
        goes_on > 3 && goes_on + is_lost == n as usize,
        "{goes_on} of {n} go on, {is_lost} have no members"
    );
}
