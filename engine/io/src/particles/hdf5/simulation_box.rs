//! The box of a snapshot, and whether it is periodic.
//!
//! AREPO and Gadget-4 write their compile-time options into the group `Config`: `LONG_X` of AREPO multiplies
//! the side along x, `LONG_X_BITS` of Gadget-4 divides it by a power of 2, and `PERIODIC` makes it periodic.
//! A snapshot without a statement has a periodic box if it expands. Without expansion, the side is often only
//! that of the region.

use super::header::WholeHeader;
use super::names::{HeaderNumber, SnapshotDialect, are_alike, contradiction, number_or_text, stated};
use crate::ReadResult;
use crate::hdf5_file::Hdf5File;

const CONFIG: &str = "Config";

/// Options that imply a periodic box unless another option says otherwise: those of AREPO's mesh, and those
/// that stretch a periodic box.
const PERIODIC: [&str; 9] = [
    "PERIODIC",
    "BOX_PERIODIC",
    "VORONOI",
    "LONG_X",
    "LONG_Y",
    "LONG_Z",
    "LONG_X_BITS",
    "LONG_Y_BITS",
    "LONG_Z_BITS",
];

/// Options of AREPO that make the box open.
const OPEN: [&str; 4] = ["GRAVITY_NOT_PERIODIC", "REFLECTIVE_X", "REFLECTIVE_Y", "REFLECTIVE_Z"];

/// The box of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SimulationBox {
    /// Its sides, if it has one.
    pub sides: Option<[f64; 3]>,
    /// Whether it wraps around.
    pub periodic: bool,
    /// Whether the input does not state this.
    pub is_assumed: bool,
}

impl SimulationBox {
    /// From the statements of a file; `is_expanding` says whether its run expands.
    ///
    /// # Errors
    /// Two statements contradict each other.
    pub fn read(
        source: &Hdf5File,
        header: &WholeHeader,
        dialect: SnapshotDialect,
        is_expanding: bool,
    ) -> ReadResult<Self> {
        check_types(source, header)?;
        let Some(sides) = sides(source, header)? else { return Ok(Self::default()) };
        let stated = periodic(source, dialect)?;
        let is_assumed = stated.is_none() && !is_expanding;
        Ok(Self { sides: Some(sides), periodic: stated.unwrap_or(is_expanding), is_assumed })
    }
}

/// The sides in the header, scaled for each axis as `Config` says. The side in the parameters must not
/// contradict them.
fn sides(source: &Hdf5File, header: &WholeHeader) -> ReadResult<Option<[f64; 3]>> {
    let parameter = number_or_text(source, "Parameters", "BoxSize")?.filter(|side| *side > 0.0);
    let sides = match (header.sides, parameter) {
        (Some([x, y, z]), Some(side)) if x == y && y == z && !are_alike(x, side) => {
            return Err(contradiction(source, "Parameters/BoxSize", side, x, "Header/BoxSize"));
        }
        (None, side) => side.map(|side| [side; 3]),
        (sides, _) => sides,
    };
    let Some(mut sides) = sides else { return Ok(None) };
    for (side, axis) in sides.iter_mut().zip(["X", "Y", "Z"]) {
        *side *= stretch(source, axis)?;
    }
    Ok(Some(sides))
}

/// The factor of the side along an axis.
fn stretch(source: &Hdf5File, axis: &str) -> ReadResult<f64> {
    let names = [format!("LONG_{axis}"), format!("LONG_{axis}_BITS"), format!("BOX_LONG_{axis}")];
    let number = |name: &str| match number_or_text(source, CONFIG, name)? {
        Some(number) if number > 0.0 && number.is_finite() => Ok(Some(number)),
        None if !source.has_attribute(CONFIG, name) => Ok(None),
        other => {
            let problem = other.map_or("no number".into(), |number| number.to_string());
            Err(source.bad(&format!("{CONFIG}/{name}"), problem, "a number above 0"))
        }
    };
    match (number(&names[0])?.or(number(&names[2])?), number(&names[1])?) {
        (Some(times), None) => Ok(times),
        (None, Some(bits)) => Ok((-bits).exp2()),
        (None, None) => Ok(1.0),
        (Some(_), Some(_)) => {
            let problem = format!("also exists as {}", names[0]);
            Err(source.bad(&format!("{CONFIG}/{}", names[1]), problem, "one of them"))
        }
    }
}

/// Whether the box is periodic, as far as the file states it.
fn periodic(source: &Hdf5File, dialect: SnapshotDialect) -> ReadResult<Option<bool>> {
    let by_options = match dialect {
        SnapshotDialect::Swift => None,
        SnapshotDialect::Gadget => by_config(source),
    };
    let by_parameter = match dialect {
        SnapshotDialect::Swift => {
            let text = number_or_text(source, "Parameters", "InitialConditions:periodic")?;
            text.map(|on| (on != 0.0, "Parameters/InitialConditions:periodic"))
        }
        SnapshotDialect::Gadget => {
            stated(source, dialect, HeaderNumber::Periodic)?.map(|on| (on != 0.0, "PeriodicBoundariesOn"))
        }
    };
    match (by_options, by_parameter) {
        (Some((config, option)), Some((parameter, name))) if config != parameter => {
            let word = |periodic: bool| if periodic { "periodic" } else { "not periodic" };
            let expected = format!("{} as {name} says", word(parameter));
            Err(source.bad(&format!("{CONFIG}/{option}"), word(config), expected))
        }
        (config, parameter) => Ok(config.or(parameter).map(|(periodic, _)| periodic)),
    }
}

/// Whether the compile-time options make the box periodic, and the deciding option.
fn by_config(source: &Hdf5File) -> Option<(bool, &'static str)> {
    let first = |names: &[&'static str], periodic: bool| {
        let option = names.iter().find(|name| source.has_attribute(CONFIG, name))?;
        Some((periodic, *option))
    };
    first(&OPEN, false).or_else(|| first(&PERIODIC, true))
}

/// Checks that `NTYPES`, if it is there, is the number of types in the header.
fn check_types(source: &Hdf5File, header: &WholeHeader) -> ReadResult<()> {
    match number_or_text(source, CONFIG, "NTYPES")? {
        Some(types) if types != header.n_types as f64 => {
            let problem = format!("{} types", header.n_types);
            Err(source.bad("Header/NumPart_ThisFile", problem, format!("{types} as in {CONFIG}/NTYPES")))
        }
        _ => Ok(()),
    }
}
