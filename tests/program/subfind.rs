//! Comparison with Gadget-4's own finders on the bundled output: its groups and SUBFIND's subhaloes. All with
//! default options.

use crate::common::gadget4;
use crate::common::room::{Room, done};
use inselberg_io::catalogue::{Catalogue, Table, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Side of the box.
const SIDE: f64 = 14.0;

/// Gadget-4's table.
struct Peer {
    file: hdf5::File,
    /// The identity of each particle, in the order of groups and subhaloes.
    ids: Vec<u64>,
}

impl Peer {
    fn new() -> Self {
        let open = |name: &str| hdf5::File::open(gadget4().join(name)).expect("the fixture");
        let ids = open("snapshot_004.hdf5").dataset("PartType1/ParticleIDs").expect("identities");
        Self { file: open("fof_subhalo_tab_004.hdf5"), ids: ids.read_raw().expect("identities") }
    }

    fn column(&self, name: &str) -> Vec<f64> {
        self.file.dataset(name).expect("a column").read_raw().expect("numbers")
    }

    /// The particles of each group or subhalo.
    fn particles(&self, first: &str, number: &str) -> Vec<&[u64]> {
        let (first, number) = (self.column(first), self.column(number));
        let run = |(first, n): (&[f64], &f64)| &self.ids[first[1] as usize..][..*n as usize];
        first.chunks_exact(2).zip(&number).map(run).collect()
    }
}

fn table<'a>(catalogue: &'a Catalogue, name: &str) -> &'a Table {
    catalogue.table(name).expect("a table")
}

fn found(command: &str, more: &[&str]) -> Catalogue {
    let room = Room::new();
    let input = gadget4().join("snapshot_004.hdf5").to_string_lossy().into_owned();
    let to = room.path("c.hdf5");
    done(&[&[command, &input, "-o", &to, "--with-members"], more].concat());
    read(Path::new(&to)).expect("a catalogue")
}

/// The members of each clump or group.
fn members(catalogue: &Catalogue, owner: &str) -> BTreeMap<u64, BTreeSet<u64>> {
    let of = table(catalogue, "members");
    let mut all: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (owner, id) in
        of.integers(owner).expect("owners").iter().zip(of.identities("id").expect("identities"))
    {
        all.entry(owner.cast_unsigned()).or_default().insert(*id);
    }
    all
}

fn percentile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * part) as usize]
}

/// A group holds what SUBFIND binds in it, and its centre is Gadget-4's.
#[test]
fn groups_are_those_of_gadget_and_keep_what_subfind_keeps() {
    let (peer, catalogue) = (Peer::new(), found("fof", &["--min-size", "32", "--properties", "so,bound"]));
    let groups = table(&catalogue, "Groups");
    let sizes = groups.integers("Sizes").expect("sizes");
    let mut of_gadget: Vec<i64> = peer.column("Group/GroupLen").iter().map(|n| *n as i64).collect();
    of_gadget.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(sizes, of_gadget, "every group has its size");
    let lowest = groups.identities("LowestIDs").expect("identities");
    let row: BTreeMap<u64, usize> = lowest.iter().copied().zip(0..).collect();
    let mut in_subhaloes = vec![0.0; of_gadget.len()];
    let owners = peer.column("Subhalo/SubhaloGroupNr");
    owners.iter().zip(peer.column("Subhalo/SubhaloLen")).for_each(|(of, n)| in_subhaloes[*of as usize] += n);
    let n_bound = groups.integers("n_bound").expect("numbers");
    let (centre, position) =
        (groups.vectors("most_bound_position").expect("centres"), peer.column("Group/GroupPos"));
    let (mass, radius) = (peer.column("Group/Group_M_Crit200"), peer.column("Group/Group_R_Crit200"));
    let own_mass = groups.reals("mass_200_crit").expect("masses");
    let (mut kept, mut n_far, mut n_off, mut n_spheres) = (Vec::new(), 0, 0, 0);
    for (g, ids) in peer.particles("Group/GroupOffsetType", "Group/GroupLen").iter().enumerate() {
        let row = row[ids.iter().min().expect("members")];
        if ids.len() >= 300 && in_subhaloes[g] > 0.0 {
            kept.push(n_bound[row] as f64 / in_subhaloes[g]);
        }
        if ids.len() >= 300 && mass[g] > 0.0 {
            let near = |d: f64| d - SIDE * (d / SIDE).round();
            let d2: f64 = (0..3).map(|a| near(centre[row][a] - position[3 * g + a]).powi(2)).sum();
            n_spheres += 1;
            n_far += usize::from(d2.sqrt() > 0.05 * radius[g]);
            n_off += usize::from((own_mass[row] / mass[g] - 1.0).abs() > 0.1);
        }
    }
    let (low, high) = (percentile(&mut kept, 0.05), percentile(&mut kept, 0.95));
    assert!(kept.len() > 30 && low >= 0.95 && high <= 1.10, "{} groups, p5 {low}, p95 {high}", kept.len());
    assert!(10 * n_far <= n_spheres && 40 * n_off <= n_spheres, "{n_far} far, {n_off} off, of {n_spheres}");
}

/// Satellites of SUBFIND are found, most of the small ones too; the central of every halo is its heaviest
/// clump.
#[test]
fn satellites_of_subfind_are_found() {
    let (peer, catalogue) = (Peer::new(), found("phew", &["--unbind", "--properties", "so"]));
    let clumps = table(&catalogue, "clumps");
    let of_clump = members(&catalogue, "clump");
    let owner: BTreeMap<u64, u64> =
        of_clump.iter().flat_map(|(clump, ids)| ids.iter().map(|id| (*id, *clump))).collect();
    let (rank, subhaloes) = (
        peer.column("Subhalo/SubhaloRankInGr"),
        peer.particles("Subhalo/SubhaloOffsetType", "Subhalo/SubhaloLen"),
    );
    let is_found = |ids: &&[u64]| {
        let mut shared: BTreeMap<u64, usize> = BTreeMap::new();
        ids.iter().filter_map(|id| owner.get(id)).for_each(|clump| *shared.entry(*clump).or_default() += 1);
        shared.iter().any(|(clump, n)| 4 * n * n >= ids.len() * of_clump[clump].len())
    };
    let satellites: Vec<&[u64]> =
        subhaloes.iter().zip(&rank).filter(|(_, rank)| **rank > 0.0).map(|(ids, _)| *ids).collect();
    let part = |least: usize, most: usize| {
        let all: Vec<&&[u64]> = satellites.iter().filter(|ids| (least..most).contains(&ids.len())).collect();
        (all.iter().filter(|ids| is_found(ids)).count(), all.len())
    };
    let ((small, n_small), (large, n_large)) = (part(20, 50), part(100, usize::MAX));
    assert!(n_small > 20 && 100 * small >= 80 * n_small, "{small} of {n_small} with 20 to 50 particles");
    assert!(n_large > 10 && 100 * large >= 80 * n_large, "{large} of {n_large} with 100 or more");
    let [halo, n_bound, is_central] =
        ["halo", "n_bound", "is_central"].map(|name| clumps.integers(name).expect("numbers"));
    let mut heaviest: BTreeMap<i64, i64> = BTreeMap::new();
    halo.iter().zip(&n_bound).for_each(|(halo, n)| {
        let most = heaviest.entry(*halo).or_default();
        *most = n.max(most).to_owned();
    });
    let centrals: Vec<usize> = (0..halo.len()).filter(|row| is_central[*row] == 1).collect();
    assert_eq!(centrals.len(), heaviest.len(), "one central per halo");
    assert!(centrals.iter().all(|row| n_bound[*row] == heaviest[&halo[*row]]), "centrals are the heaviest");
    let haloes = table(&catalogue, "haloes");
    let [bound, mass] = ["bound_mass", "mass_200_crit"].map(|name| haloes.reals(name).expect("masses"));
    assert!(
        bound.iter().zip(mass).all(|(bound, mass)| *bound == 0.0 || *mass > 0.0),
        "each bound halo has a sphere"
    );
}
