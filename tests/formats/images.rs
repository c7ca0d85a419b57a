//! Plain arrays of two axes as images: every pixel, clumps by the definitions, and what is refused.

use crate::common::fits::{FitsFile, encoded};
use crate::common::npy::npy_file;
use crate::common::room::{Room, done, done_json};
use crate::fields::leaves;
use crate::fits::check_image;
use inselberg_io::catalogue::{Catalogue, read};
use inselberg_io::{ExtraCosmology, FieldDefaults, open_from, read_headers_with};
use std::fs;
use std::path::Path;

const AS_IMAGE: FieldDefaults = FieldDefaults {
    periodic: None,
    spacing: None,
    origin: None,
    is_image: true,
    hydro_names: None,
    stokes: None,
    cosmology: ExtraCosmology::NONE,
};

fn value(x: usize, y: usize) -> f64 {
    ((x * 7919 + y * 104_729) % 97 % 9) as f64
}

#[test]
fn arrays_of_two_axes_give_their_pixels() {
    let room = Room::new();
    let path = room.path("image.npy");
    for shape in [[7, 5], [33, 3], [1, 9], [1100, 40], [40, 1100]] {
        for (fortran, descr) in [(false, "<f8"), (true, ">f4"), (false, "<i2"), (true, "<f8")] {
            let is_masked = |x: usize, y: usize| descr != "<i2" && (x + 2 * y) % 11 == 3;
            let number = |at: &[usize]| if is_masked(at[0], at[1]) { f64::NAN } else { value(at[0], at[1]) };
            fs::write(&path, npy_file(&shape, fortran, descr, number)).expect("writing");
            let facts = read_headers_with(Path::new(&path), &AS_IMAGE).expect("an image");
            let found = leaves(open_from(&facts).as_ref(), "density").expect("pixels");
            let [nx, ny] = shape;
            let pixels = (0..nx * ny).map(|i| (i % nx, i / nx)).filter(|(x, y)| !is_masked(*x, *y));
            let expected = pixels.map(|(x, y)| ((0, [x as u32, y as u32, 0]), value(x, y)));
            assert_eq!(found, expected.collect(), "{shape:?} {descr}");
        }
    }
}

/// The catalogue of an image in which every peak is a clump.
fn searched(input: &str, to: &str, more: &[&str]) -> Catalogue {
    let search = ["phew", input, "-o", to, "--density-threshold", "2", "--relevance-threshold", "1"];
    let out = crate::common::program().args(search).args(["--with-cells"]).args(more).output();
    let out = out.expect("the program");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    read(Path::new(to)).expect("a catalogue")
}

fn tables(found: &Catalogue) -> String {
    format!("{:?}", found.tables)
}

#[test]
fn arrays_are_images_on_any_ranks_and_threads() {
    let room = Room::new();
    let [path, fits, to, cut] = ["image.npy", "image.fits", "c.csv", "cut.csv"].map(|name| room.path(name));
    for (nx, ny) in [(19, 11), (16, 32), (40, 3)] {
        fs::write(&path, npy_file(&[nx, ny], false, "<f4", |at| value(at[0], at[1]))).expect("writing");
        // Axis 1 of FITS is x, in which values lie closest.
        let values: Vec<f64> = (0..nx * ny).map(|i| value(i % nx, i / nx)).collect();
        let data = encoded(-32, values.iter().copied());
        fs::write(&fits, FitsFile::default().image(-32, &[nx, ny], &[], &data).bytes).expect("writing");
        let found = searched(&path, &to, &["--image", "--threads", "2"]);
        check_image(&found, [nx, ny], &values, 2.0);
        for more in [["--ranks", "1"], ["--ranks", "3"]] {
            let again = searched(&path, &to, &[&more[..], &["--image", "--threads", "1"]].concat());
            assert_eq!(tables(&again), tables(&found), "{more:?}");
        }
        assert_eq!(tables(&searched(&fits, &to, &[])), tables(&found));
    }
    done(&["recut", &to, "-o", &cut, "--relevance-threshold", "2", "--quiet"]);
    let cut = read(Path::new(&cut)).expect("a catalogue");
    assert!(cut.table("clumps").expect("clumps").column("area").is_some());
    let json = done_json(&["info", &path, "--image"]);
    assert_eq!(json["image"]["dimensions"], 2);
    assert!(done(&["info", &path, "--image"]).contains("40 x 3 pixels"));
}

#[test]
#[cfg(feature = "hdf5")]
fn datasets_of_two_axes_are_images() {
    let room = Room::new();
    let [file, to] = ["box.h5", "c.csv"].map(|name| room.path(name));
    let (nx, ny) = (23, 14);
    let pixels = ndarray::Array2::from_shape_fn((nx, ny), |(x, y)| value(x, y) as f32);
    let positions = ndarray::Array2::from_shape_fn((nx, 3), |(x, y)| value(x, y));
    {
        let made = hdf5::File::create(&file).expect("a file");
        made.new_dataset_builder().with_data(&pixels).chunk((8, 5)).deflate(3).create("image").expect("done");
        made.new_dataset_builder().with_data(&positions).create("three").expect("done");
    }
    let values: Vec<f64> = (0..nx * ny).map(|i| value(i % nx, i / nx)).collect();
    let input = format!("{file}:/image");
    let found = searched(&input, &to, &["--threads", "1"]);
    check_image(&found, [nx, ny], &values, 2.0);
    assert_eq!(tables(&searched(&input, &to, &["--ranks", "2", "--image"])), tables(&found));
    // Three columns may be positions; only the switch makes pixels of them.
    let three = format!("{file}:/three");
    let search = ["phew", &three, "-o", &room.path("d.csv"), "--density-threshold", "2"];
    room.refuses(&search, &["/three", "(--box)", "--image for pixels"]);
    let values: Vec<f64> = (0..nx * 3).map(|i| value(i % nx, i / nx)).collect();
    check_image(&searched(&three, &to, &["--image"]), [nx, 3], &values, 2.0);
}

#[test]
fn other_shapes_and_options_are_refused_in_one_line() {
    let room = Room::new();
    let [two, three, cube] = ["two.npy", "three.npy", "cube.npy"].map(|name| room.path(name));
    for (path, shape) in [(&two, &[6, 4][..]), (&three, &[5, 3]), (&cube, &[4, 3, 2])] {
        fs::write(path, npy_file(shape, false, "<f8", |at| at[0] as f64)).expect("writing");
    }
    let phew = |path: &str, more: &[&str], parts: &[&str]| {
        let search = ["phew", path, "-o", &room.path("c.csv"), "--density-threshold", "2"];
        room.refuses(&[&search[..], more].concat(), parts);
    };
    phew(&two, &[], &["[6, 4]", "two axes", "(--image)"]);
    room.refuses(&["info", &two], &["two axes", "(--image)"]);
    phew(&three, &[], &["(--box)", "--image for pixels"]);
    phew(&cube, &["--image"], &["[4, 3, 2]: 3-D", "two axes: x and y"]);
    phew(&two, &["--image", "--spacing", "2"], &["spacing", "an image of pixels"]);
    phew(&two, &["--image", "--periodic", "z"], &["periodic axis z", "an image of pixels"]);
    phew(&three, &["--image", "--mesh-from-particles"], &["--image", "without --mesh-from-particles"]);
    let plot = room.path("plt00001");
    crate::common::plotfile::Plotfile::sample().write(Path::new(&plot));
    phew(&plot, &["--image", "--field", "density"], &["AMReX", "a plain array of two axes"]);
    let fits = room.path("cube.fits");
    let data = encoded(-32, (0..24).map(f64::from));
    fs::write(&fits, FitsFile::default().image(-32, &[4, 3, 2], &[], &data).bytes).expect("writing");
    phew(&fits, &["--image"], &["FITS with three axes", "a plain array of two axes"]);
}
