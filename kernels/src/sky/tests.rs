use super::*;

fn axis(kind: &str, unit: &str, value: f64, pixel: f64) -> AxisCards {
    AxisCards { kind: kind.into(), unit: unit.into(), value, pixel }
}

fn celestial(code: &str, [lon, lat]: [f64; 2]) -> SkyCards {
    SkyCards {
        axes: vec![
            axis(&format!("RA---{code}"), "deg", lon, 3.0),
            axis(&format!("DEC--{code}"), "deg", lat, -1.0),
        ],
        matrix: PixelMatrix::of_steps(vec![-0.5, 0.25]),
        ..SkyCards::default()
    }
}

fn world(cards: &SkyCards, pixel: &[f64]) -> Vec<f64> {
    let mut to = vec![7.0];
    SkyGrid::new(cards.clone()).expect("known axes").world(pixel, &mut to);
    to
}

fn vector([lon, lat]: [f64; 2]) -> [f64; 3] {
    let ([sin_lon, cos_lon], [sin_lat, cos_lat]) = (sine(lon), sine(lat));
    [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat]
}

fn sine(degrees: f64) -> [f64; 2] {
    let (sin, cos) = degrees.to_radians().sin_cos();
    [sin, cos]
}

/// A point at an angular distance from a place, in the direction of offsets to the east and north.
fn moved([lon, lat]: [f64; 2], [east, north]: [f64; 2], distance: f64) -> [f64; 3] {
    let centre = vector([lon, lat]);
    let to_east = [-sine(lon)[0], sine(lon)[1], 0.0];
    let to_north = vector([lon, lat + 90.0]);
    let length = east.hypot(north).max(1e-300);
    let (sin, cos) = distance.sin_cos();
    std::array::from_fn(|a| cos * centre[a] + sin * (east * to_east[a] + north * to_north[a]) / length)
}

/// Of two poles that are as near to `LATPOLE`, WCSLIB 8 takes these. The values are those of astropy 8.0.2.
#[test]
fn of_two_poles_the_first_counts() {
    let poles = |lon_pole: f64, lat_pole: f64, lat: f64| SkyCards {
        lon_pole: Some(lon_pole),
        lat_pole: Some(lat_pole),
        ..celestial("CAR", [10.0, lat])
    };
    for (cards, up, left) in [
        (poles(0.0, 0.0, 20.0), [10.0, 15.0], [15.319103338346746, 19.92066435907087]),
        (poles(180.0, 0.0, -20.0), [10.0, -15.0], [4.68089666165326, -19.920664359070862]),
        (
            poles(170.0, 0.0, -20.0),
            [9.668195495621376, -15.01001516292193],
            [4.680991458154324, -20.24131179536507],
        ),
        (
            poles(30.0, -90.0, 20.0),
            [8.913005478525463, 15.108499422038577],
            [15.166611996341146, 18.875231801906285],
        ),
    ] {
        for (pixel, expected) in [([3.0, 19.0], up), ([13.0, -1.0], left)] {
            let found = world(&cards, &pixel);
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-11), "{found:?} {expected:?}");
        }
    }
    // Here the paper and WCSLIB disagree, so nothing is said.
    assert!(SkyGrid::new(poles(90.0, 30.0, 0.0)).is_err());
}

/// The distance from the centre of a projection for one on its plane.
type Distance = fn(f64) -> f64;

/// Zenithal projections by their geometry, without rotations of angles: the distance from the centre as a
/// function of that on the plane.
#[test]
fn zenithal_projections_follow_their_geometry() {
    let distances: [(&str, Distance); 5] = [
        ("TAN", f64::atan),
        ("SIN", f64::asin),
        ("ARC", |r| r),
        ("STG", |r| 2.0 * (r / 2.0).atan()),
        ("ZEA", |r| 2.0 * (r / 2.0).asin()),
    ];
    for (code, distance) in distances {
        for centre in [[83.8, -5.4], [359.9, 41.0], [0.0, 0.0], [120.0, 89.99], [200.0, -89.0]] {
            for pixel in [[3.0, -1.0], [10.0, 20.0], [-40.0, 3.0], [3.5, -70.0], [60.0, 60.0]] {
                let [east, north] = [-0.5 * (pixel[0] - 3.0), 0.25 * (pixel[1] + 1.0)].map(f64::to_radians);
                let expected = moved(centre, [east, north], distance(east.hypot(north)));
                let found = world(&celestial(code, centre), &pixel);
                let near =
                    vector([found[0], found[1]]).iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14);
                assert!(near && (0.0..360.0).contains(&found[0]), "{code} {centre:?} {pixel:?}: {found:?}");
            }
        }
    }
}

#[test]
fn the_plate_carree_is_linear_on_the_equator() {
    let found = world(&celestial("CAR", [10.0, 0.0]), &[43.0, 7.0]);
    assert!((found[0] - 350.0).abs() < 1e-12 && (found[1] - 2.0).abs() < 1e-12, "{found:?}");
    let found = world(&celestial("SFL", [10.0, 0.0]), &[43.0, 239.0]);
    assert!((found[0] - 330.0).abs() < 1e-10 && (found[1] - 60.0).abs() < 1e-12, "{found:?}");
    // The reference point itself, away from the equator.
    for lat in [30.0, -30.0, 90.0] {
        let found = world(&celestial("CAR", [10.0, lat]), &[3.0, -1.0]);
        assert!((found[1] - lat).abs() < 1e-12, "{found:?}");
    }
}

/// Codes of before the standard: latitudes of GLS lie in the plane as they are; NCP is a slanted orthographic
/// projection.
#[test]
fn old_codes_are_projections_of_the_standard() {
    let found = world(&celestial("GLS", [10.0, 50.0]), &[43.0, 39.0]);
    assert!(
        (found[1] - 60.0).abs() < 1e-12 && (found[0] - (370.0 - 20.0 / sine(60.0)[1])).abs() < 1e-9,
        "{found:?}"
    );
    let slanted = SkyCards {
        parameters: vec![(2, 2, 1.0 / 50_f64.to_radians().tan())],
        ..celestial("SIN", [10.0, 50.0])
    };
    for pixel in [[3.0, -1.0], [30.0, 50.0]] {
        assert_eq!(world(&celestial("NCP", [10.0, 50.0]), &pixel), world(&slanted, &pixel));
    }
    assert!(SkyGrid::new(celestial("NCP", [10.0, 0.0])).is_err());
}

#[test]
fn units_of_velocities_have_many_spellings() {
    for unit in ["km/s", "KM/S", "km s-1", "km s**-1", "km s^-1", "km.s-1", "km*s**(-1)"] {
        let cards = SkyCards {
            axes: vec![axis("VRAD", unit, 7.0, 1.0)],
            matrix: PixelMatrix::of_steps(vec![1.0]),
            ..SkyCards::default()
        };
        assert_eq!(world(&cards, &[3.0]), [9.0], "{unit}");
    }
}

#[test]
fn nothing_is_seen_beyond_the_edge_of_the_sphere() {
    assert!(world(&celestial("SIN", [0.0, 0.0]), &[203.0, -1.0])[0].is_nan());
    assert!(world(&celestial("ARC", [0.0, 0.0]), &[603.0, -1.0])[1].is_nan());
}

#[test]
fn spectral_axes_become_velocities() {
    let cube = |kind: &str, unit: &str, value: f64, step: f64, rest: Option<f64>| SkyCards {
        axes: vec![axis(kind, unit, value, 1.0)],
        matrix: PixelMatrix::of_steps(vec![step]),
        rest_frequency: rest,
        rest_wavelength: rest,
        ..SkyCards::default()
    };
    let line = 1_420_405_751.77;
    assert_eq!(world(&cube("VRAD", "m/s", -5e3, 1e3, None), &[3.0]), [-3.0]);
    assert_eq!(world(&cube("VELO-LSR", "km/s", -5.0, 1.0, None), &[3.0]), [-3.0]);
    assert_eq!(world(&cube("FREQ", "MHz", 1400.0, 1.0, None), &[3.0]), [1.402e9]);
    let found = world(&cube("FREQ", "Hz", line * (1.0 - 1e-3), 1.0, Some(line)), &[1.0]);
    assert!((found[0] - 299.792_458).abs() < 1e-9, "{found:?}");
    let found = world(&cube("WAVE", "nm", 656.28 * 1.001, 1.0, Some(656.28e-9)), &[1.0]);
    assert!((found[0] - 299.792_458).abs() < 1e-6, "{found:?}");
    let names = |cards| SkyGrid::new(cards).map(|grid| grid.axes()[0].name.clone());
    assert_eq!(names(cube("FREQ", "", 1.0, 1.0, None)), Ok("frequency".into()));
    assert_eq!(names(cube("FREQ", "", 1.0, 1.0, Some(1.0))), Ok("velocity".into()));
    assert_eq!(names(cube("VOPT-F2W", "", 1.0, 1.0, None)), Err(SkyError::Spectral("VOPT-F2W".into())));
    assert!(matches!(names(cube("VRAD", "Hz", 1.0, 1.0, None)), Err(SkyError::Unit { .. })));
}

#[test]
fn what_is_not_known_is_an_error() {
    let sound = celestial("TAN", [10.0, 20.0]);
    let error = |change: &dyn Fn(&mut SkyCards)| {
        let mut cards = sound.clone();
        change(&mut cards);
        SkyGrid::new(cards).expect_err("a fault")
    };
    assert_eq!(error(&|cards| cards.axes.iter_mut().for_each(|axis| axis.kind.clear())), SkyError::Nothing);
    assert_eq!(error(&|cards| cards.axes[1].kind = "LINEAR".into()), SkyError::Alone("RA---TAN".into()));
    assert!(matches!(error(&|cards| cards.axes[1].kind = "DEC--SIN".into()), SkyError::Projection(_)));
    let distorted = error(&|cards| {
        for axis in &mut cards.axes {
            axis.kind += "-SIP";
        }
    });
    assert_eq!(distorted, SkyError::Projection("TAN-SIP".into()));
    assert_eq!(error(&|cards| cards.parameters = vec![(2, 3, 0.1)]), SkyError::Parameter(2, 3));
    assert_eq!(error(&|cards| cards.parameters = vec![(1, 1, 0.1)]), SkyError::Parameter(1, 1));
    assert_eq!(error(&|cards| cards.matrix.steps[1] = 0.0), SkyError::Step(2));
    assert_eq!(error(&|cards| cards.matrix.rows[0][0] = 0.0), SkyError::Step(1));
    assert_eq!(error(&|cards| cards.axes[0].pixel = f64::NAN), SkyError::Step(1));
    assert_eq!(error(&|cards| cards.axes[1].value = 91.0), SkyError::Pole);
    assert!(matches!(error(&|cards| cards.axes[0].unit = "m".into()), SkyError::Unit { .. }));
}

#[test]
fn other_axes_keep_their_names() {
    let mut cards = celestial("TAN", [10.0, 20.0]);
    cards.axes.extend([axis("X", "pc", 5.0, 1.0), axis("X", "", 0.0, 1.0), axis("STOKES", "", 1.0, 1.0)]);
    cards.matrix = PixelMatrix::of_steps(vec![1.0, 1.0, 2.0, 1.0, 1.0]);
    let grid = SkyGrid::new(cards).expect("axes");
    let names: Vec<_> = grid.axes().iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(names, ["ra", "dec", "x", "axis4"]);
    let mut to = Vec::new();
    grid.world(&[3.0, -1.0, 4.0, 2.0, 1.0], &mut to);
    assert_eq!(to, [10.0, 20.0, 11.0, 1.0]);
}

/// Astropy and spectral-cube write GLS so.
#[test]
fn a_sinusoidal_plane_that_begins_at_the_reference_point_is_the_old_one() {
    let old = SkyGrid::new(celestial("GLS", [284.25, 2.5])).expect("known");
    let mut cards = celestial("SFL", [284.25, 2.5]);
    cards.parameters = vec![(1, 0, 1.0), (1, 1, 0.0), (1, 2, 2.5)];
    let new = SkyGrid::new(cards.clone()).expect("known");
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for pixel in [[1.0, 1.0], [-30.0, 44.0], [7.5, -3.25]] {
        old.world(&pixel, &mut a);
        new.world(&pixel, &mut b);
        assert_eq!(a, b);
    }
    cards.parameters[2].2 = 2.25;
    assert_eq!(SkyGrid::new(cards).expect_err("elsewhere"), SkyError::Parameter(1, 0));
}
