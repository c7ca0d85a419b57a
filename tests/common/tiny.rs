//! The parts of a small output of RAMSES, which the fuzzer uses as well.

use inselberg_io::{Cosmology, Family, FieldInfo, Header, OctBlock, ParticleBlock, Units};

/// Two units long per coarse cell, levels 2 to 4.
pub fn header(coarse: [u32; 3], periodic: [bool; 3]) -> Header {
    Header {
        format: "RAMSES",
        number: Some(7),
        time: 0.25,
        boxlen: 2.0,
        origin: [0.0; 3],
        coarse,
        periodic,
        levelmin: 2,
        levelmax: 4,
        units: Units { length: 3.0e24, density: 1.0e-30, time: 1.0e17 },
        cosmology: Some(Cosmology {
            aexp: 0.5,
            h0: 70.0,
            omega_m: 0.3,
            omega_l: 0.7,
            omega_b: 0.05,
            ..Cosmology::default()
        }),
        n_pieces: 1,
    }
}

/// The fields of the gas and of gravity.
pub fn fields() -> Vec<FieldInfo> {
    let hydro = ["density", "velocity_x", "velocity_y", "velocity_z", "pressure"];
    let grav = ["rho", "potential", "force_x", "force_y", "force_z"];
    let field = |family| move |name: &str| FieldInfo { family, name: name.into() };
    hydro.map(field("hydro")).into_iter().chain(grav.map(field("grav"))).collect()
}

/// Levels 1 and 2 everywhere, and the last cell of level 2 split.
pub fn octs(coarse: [u32; 3], n_fields: usize) -> Vec<OctBlock> {
    let mut blocks = Vec::new();
    for level in 1..=3_u8 {
        let n = coarse.map(|n| n << (level - 1));
        let places = (0..n[2]).flat_map(|z| (0..n[1]).flat_map(move |y| (0..n[0]).map(move |x| [x, y, z])));
        let place_of_deep = n.map(|n| n - 1);
        let position: Vec<_> = places.filter(|p| level < 3 || *p == place_of_deep).collect();
        let split = match level {
            1 => vec![0xff; position.len()],
            2 => position.iter().map(|p| if *p == place_of_deep { 0x80 } else { 0 }).collect(),
            _ => vec![0; position.len()],
        };
        let value = |field: usize, [x, y, z]: [u32; 3], cell: usize| {
            f64::from(level) + f64::from(x + 10 * y + 100 * z) + field as f64 / 4.0 + cell as f64 / 64.0
        };
        let column = |f| position.iter().map(|&p| std::array::from_fn(|c| value(f, p, c))).collect();
        let values = (0..n_fields).map(column).collect();
        blocks.push(OctBlock { level, position, split, values });
    }
    blocks
}

/// One or more particles of every family.
pub fn particles(coarse: [u32; 3]) -> ParticleBlock {
    use Family::{Cloud, DarkMatter, Debris, Other, Star, Tracer};
    let family = vec![DarkMatter, DarkMatter, Star, Cloud, Debris, Other, Tracer, DarkMatter];
    let side = coarse.map(|n| 2.0 * f64::from(n));
    let at = |i: usize| std::array::from_fn(|a| side[a] * (i as f64 / 8.0 + a as f64 / 32.0));
    ParticleBlock {
        first: 0,
        position: (0..8).map(at).collect(),
        velocity: (0..8).map(|i| [f64::from(i), 0.5, -f64::from(i)]).collect(),
        mass: family.iter().map(|f| if *f == Tracer { 0.0 } else { 0.125 }).collect(),
        id: family.iter().zip(1..).map(|(f, id)| if *f == Cloud { -id } else { id }).collect(),
        family,
    }
}
