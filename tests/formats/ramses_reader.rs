//! The RAMSES reader on real outputs.

use crate::common::{leaves, octs, open, output, particles, volume};
use inselberg_io::Family;

#[test]
fn header_of_a_cosmological_output() {
    let snapshot = open(&output("gas_2ranks"));
    let header = snapshot.header();
    assert_eq!((header.format, header.number, header.n_pieces), ("RAMSES", Some(2), 2));
    assert_eq!((header.levelmin, header.levelmax, header.boxlen), (4, 8, 1.0));
    assert_eq!((header.coarse, header.periodic), ([1; 3], [true; 3]));
    assert_eq!(header.units.density, 0.272174462202125e-29);
    let cosmology = header.cosmology.as_ref().expect("a cosmology");
    assert_eq!((cosmology.aexp, cosmology.h0, cosmology.omega_b), (1.00510000682559, 70.0, 0.045));
}

#[test]
fn an_output_opens_by_its_info_file_too() {
    let folder = output("dm_3ranks");
    let by_info = open(&folder.join("info_00002.txt"));
    assert_eq!(by_info.header(), open(&folder).header());
}

#[test]
fn fields_of_hydro_and_grav_by_name() {
    let snapshot = open(&output("gas_2ranks"));
    let names: Vec<_> = snapshot.fields().iter().map(|f| (f.family, f.name.as_str())).collect();
    let hydro = ["density", "velocity_x", "velocity_y", "velocity_z", "pressure"].map(|n| ("hydro", n));
    let grav = ["potential", "force_x", "force_y", "force_z"].map(|n| ("grav", n));
    assert_eq!(names[..5], hydro);
    assert_eq!(names[5..], [&[("grav", "rho")], &grav[..]].concat());
}

#[test]
fn octs_of_every_run_tile_the_box_once() {
    for run in ["dm_1rank", "dm_3ranks", "gas_2ranks"] {
        let all = octs(&*open(&output(run)), &[]);
        assert_eq!(volume(&leaves(&all)), 1.0, "{run}");
        for (level, position) in all.keys().filter(|(level, _)| *level > 1) {
            let (parent, bit) = parent_cell(*level, *position);
            assert!(all[&parent].0 >> bit & 1 == 1, "{run}: {level} {position:?} is in a leaf");
        }
        let n_split: u32 = all.values().map(|(split, _)| split.count_ones()).sum();
        assert_eq!(n_split as usize + 1, all.len(), "{run}: a split cell has no oct");
    }
}

fn parent_cell(level: u8, position: [u32; 3]) -> (crate::common::Place, u32) {
    let bit = (position[0] & 1) | (position[1] & 1) << 1 | (position[2] & 1) << 2;
    ((level - 1, position.map(|p| p / 2)), bit)
}

#[test]
fn a_run_on_three_ranks_has_the_cells_and_densities_of_the_run_on_one() {
    let one = leaves(&octs(&*open(&output("dm_1rank")), &["rho"]));
    let three = leaves(&octs(&*open(&output("dm_3ranks")), &["rho"]));
    assert!(one.keys().eq(three.keys()));
    let most = one.values().copied().fold(0.0, f64::max);
    for (place, rho) in &one {
        assert!((rho - three[place]).abs() <= 1e-9 * most, "{place:?}");
    }
}

#[test]
fn gas_mass_is_the_baryon_fraction() {
    let gas = leaves(&octs(&*open(&output("gas_2ranks")), &["density", "pressure", "density"]));
    let mass: f64 = gas.iter().map(|((level, _), rho)| rho * 0.125_f64.powi(i32::from(*level))).sum();
    assert!((mass - 0.15).abs() < 1e-3, "{mass}");
}

#[test]
fn particles_as_the_header_file_counts_them() {
    for run in ["dm_1rank", "dm_3ranks", "gas_2ranks"] {
        let snapshot = open(&output(run));
        assert!(snapshot.has_particles());
        let all = particles(&*snapshot);
        assert_eq!(all.len(), 4096, "{run}");
        assert!(all.keys().copied().eq(1..=4096), "{run}");
        assert!(all.values().all(|p| p.family == Family::DarkMatter), "{run}");
        assert!(all.values().all(|p| p.position.iter().all(|x| (0.0..1.0).contains(x))), "{run}");
        let mass: f64 = all.values().map(|p| p.mass).sum();
        let expected = if run == "gas_2ranks" { 0.85 } else { 1.0 };
        assert!((mass - expected).abs() < 1e-3, "{run}: {mass}");
    }
}

#[test]
fn an_unknown_field_is_named_with_what_there_is() {
    let snapshot = open(&output("dm_1rank"));
    let error = snapshot.octs(0, &["density"], &mut |_| Ok(())).expect_err("no such field");
    let line = error.to_string();
    assert!(line.ends_with(
        "no field \"density\"; expected one of what it has: rho, potential, force_x, force_y, force_z"
    ));
}
