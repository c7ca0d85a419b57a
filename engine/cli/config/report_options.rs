//! Options of pictures, reports and their units.

use super::Command::{Fof, Info, Phew, Recut, Tree, View, Voids};
use super::ConfigError;
use super::Heading::{Maps, Pictures, Results};
use super::opt::{Opt, OptionKind, ROW};
use super::options_of;
use super::values::CheckedValues;
use crate::report::{ColourChoice, ColourScale, LeastDrawn, UnitChoice};
use inselberg_io::params::{InputScale, Measure, Quantity};
use std::path::PathBuf;

/// Options of commands with pictures or reports.
pub(super) const REPORTS: &[Opt] = &[
    Opt {
        name: "report",
        key: "report",
        heading: Pictures,
        kind: OptionKind::Path,
        example: "report",
        commands: &[Phew, Fof, Tree, Voids],
        help: "Also write a report into this folder: index.html, one page with pictures and tables",
        doc: "The page needs no other files. It shows the command and its input, counts, mass functions, \
              maps, the largest objects with their substructure, and the time of each stage. The report of \
              tree has the mass histories and mergers of the heaviest tracks.",
        ..ROW
    },
    Opt {
        name: "units",
        key: "units",
        heading: Pictures,
        kind: OptionKind::Choice(&["physical", "code"]),
        example: "physical",
        commands: &[Phew, Fof, Tree, View, Voids, Recut],
        help: "Units of picture and report: Mpc, Msun, km/s and g/cm3, or those of the snapshot",
        doc: "Default: physical. A snapshot without units is shown in code units, and the report says so. Summaries and catalogues are \
              always in code units.",
        ..ROW
    },
    Opt {
        name: "units",
        key: "units",
        heading: Results,
        kind: OptionKind::Choice(&["physical", "code"]),
        example: "physical",
        commands: &[Info],
        help: "Units of the objects of a catalogue: Mpc and Msun, or those of its snapshot (default)",
        doc: "physical also lists the units of all columns. Attributes and JSON are always in code units.",
        ..ROW
    },
    Opt {
        name: "plot-axis",
        key: "plot_axis",
        heading: Maps,
        kind: OptionKind::Choice(&["x", "y", "z", "all"]),
        default: "z",
        commands: &[Phew, Fof, View, Voids, Recut],
        help: "The line of sight of the maps in picture and report; all: three maps",
        ..ROW
    },
    Opt {
        name: "plot-region",
        key: "plot_region",
        heading: Maps,
        kind: OptionKind::Text("X,Y,Z,SIDE"),
        example: "0.5,0.5,0.5,0.2",
        commands: &[Phew, Fof, View, Voids, Recut],
        help: "Maps of only a cube: its centre and its side, in the units of the positions",
        doc: "Objects outside of it are not drawn; mass functions and tables still have all objects.",
        ..ROW
    },
    Opt {
        name: "plot-scale",
        key: "plot_scale",
        heading: Maps,
        kind: OptionKind::Choice(&["auto", "linear", "log", "sqrt", "symmetric"]),
        default: "auto",
        commands: &[Phew, Fof, View, Voids, Recut],
        help: "The scale of the colours of maps",
        doc: "auto: log, or linear where values are below 0. symmetric: about linear near 0, and log on both \
              sides of it.",
        ..ROW
    },
    Opt {
        name: "plot-limits",
        key: "plot_limits",
        heading: Maps,
        kind: OptionKind::Text("LOW,HIGH"),
        example: "1e-29,1e-26",
        commands: &[Phew, Fof, View, Voids, Recut],
        help: "The values at the ends of the colours, in the units of the picture",
        doc: "Default: the quantiles of the map at 1 and 99.9 per cent. The zoomed maps of a report keep \
              their own.",
        ..ROW
    },
    Opt {
        name: "plot-min-cells",
        key: "plot_min_cells",
        heading: Maps,
        kind: OptionKind::Count,
        example: "20",
        commands: &[Phew, View, Recut],
        help: "On maps, draw no circles of clumps and haloes with fewer leaf cells",
        doc: "Mass functions, tables and catalogue still have them.",
        ..ROW
    },
    Opt {
        name: "plot-min-particles",
        key: "plot_min_particles",
        heading: Maps,
        kind: OptionKind::Count,
        example: "100",
        commands: &[Phew, Fof, View],
        help: "On maps, draw no circles of groups and bound objects with fewer particles",
        doc: "For clumps and haloes, this is the number of bound particles after --unbind. Mass functions, \
              tables and catalogue still have all objects.",
        ..ROW
    },
];

/// The cube that maps show, as it was given: its centre and its side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapRegion([Quantity; 4]);

/// A cube in code units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CubeRegion {
    /// Its centre.
    pub centre: [f64; 3],
    /// Its side.
    pub side: f64,
}

impl MapRegion {
    /// The region of a text; `None` if it has none.
    fn new(text: &str) -> Option<Self> {
        let quantities: Option<Vec<Quantity>> = text.split(',').map(|part| part.parse().ok()).collect();
        let region: [Quantity; 4] = quantities?.try_into().ok()?;
        let is_length = |of: &Quantity| of.unit.fits(&Measure::LENGTH);
        (region.iter().all(is_length) && region[3].value > 0.0).then_some(Self(region))
    }

    /// The cube in code units. Its centre is in the box with this lower corner and these sides.
    ///
    /// # Errors
    /// It is not, or the input lacks what its units need: a message.
    pub fn cube(&self, scale: &InputScale, low: [f64; 3], sides: [f64; 3]) -> Result<CubeRegion, String> {
        let mut numbers = [0.0; 4];
        for (number, quantity) in numbers.iter_mut().zip(self.0) {
            let lack = |lack| format!("--plot-region: expected lengths without units: {lack}");
            *number = scale.plain(quantity, &Measure::LENGTH).map_err(lack)?;
        }
        let [x, y, z, side] = numbers;
        let centre = [x, y, z];
        let is_inside = |a: usize| (low[a]..=low[a] + sides[a]).contains(&centre[a]);
        if (0..3).all(is_inside) {
            return Ok(CubeRegion { centre, side });
        }
        let high: [f64; 3] = std::array::from_fn(|a| low[a] + sides[a]);
        Err(format!(
            "--plot-region: its centre {centre:?} is not in the box from {low:?} to {high:?} in code units; expected a point of the box",
        ))
    }
}

/// Which maps are shown, and how.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MapChoices {
    /// The units, if chosen.
    pub units: Option<UnitChoice>,
    /// The lines of sight.
    pub axes: Vec<usize>,
    /// The region of maps; `None`: the whole box, or around an object.
    pub region: Option<MapRegion>,
    /// The colours.
    pub colours: ColourChoice,
    /// Which circles are drawn.
    pub least: LeastDrawn,
}

/// Pictures and reports.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShownResults {
    /// The picture.
    pub plot: Option<PathBuf>,
    /// The folder of the report.
    pub report: Option<PathBuf>,
    /// Their maps.
    pub maps: MapChoices,
}

impl ShownResults {
    /// Whether there are maps.
    pub fn has_maps(&self) -> bool {
        self.plot.is_some() || self.report.is_some()
    }
}

pub(super) fn shown_results(raw: &CheckedValues<'_>) -> Result<ShownResults, ConfigError> {
    let report = has_option(raw, "report").then(|| raw.path("report")).flatten();
    let shown = ShownResults { plot: raw.plot()?, report, maps: map_choices(raw)? };
    match map_option(raw) {
        Some(name) if !shown.has_maps() => {
            let needed = if has_option(raw, "report") { "--plot or --report" } else { "--plot" };
            Err(raw.unfit(name, &raw.shown(name), &format!("{needed} as well")))
        }
        _ => Ok(shown),
    }
}

/// An option on the command line that needs a map.
pub(super) fn map_option(raw: &CheckedValues<'_>) -> Option<&'static str> {
    let of_maps = options_of(raw.raw.command()).filter(|opt| opt.heading == Maps);
    of_maps.map(|opt| opt.name).find(|name| raw.is_flag(name))
}

/// Which maps are shown, and how.
pub(super) fn map_choices(raw: &CheckedValues<'_>) -> Result<MapChoices, ConfigError> {
    Ok(MapChoices {
        units: units(raw),
        axes: axes(raw),
        region: region(raw)?,
        colours: colours(raw)?,
        least: least_drawn(raw)?,
    })
}

/// The colours of maps.
fn colours(raw: &CheckedValues<'_>) -> Result<ColourChoice, ConfigError> {
    let scale = match raw.text_or_default("plot-scale").as_str() {
        "linear" => ColourScale::Linear,
        "log" => ColourScale::Log,
        "sqrt" => ColourScale::Sqrt,
        "symmetric" => ColourScale::Symmetric,
        _ => ColourScale::Auto,
    };
    let Some(text) = raw.text("plot-limits") else { return Ok(ColourChoice { scale, limits: None }) };
    let numbers: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    let limits = numbers.and_then(|numbers| <[f64; 2]>::try_from(numbers).ok());
    match limits.filter(|[low, high]| low.is_finite() && high.is_finite() && low < high) {
        Some([low, _]) if scale == ColourScale::Log && low <= 0.0 => {
            Err(raw.unfit("plot-limits", &text, "two positive numbers for the scale log"))
        }
        Some(limits) => Ok(ColourChoice { scale: scale.within(limits), limits: Some(limits) }),
        None => Err(raw.unfit("plot-limits", &text, "two numbers that rise, separated by a comma")),
    }
}

/// The units, if chosen.
pub(super) fn units(raw: &CheckedValues<'_>) -> Option<UnitChoice> {
    raw.text("units").map(|word| match word.as_str() {
        "code" => UnitChoice::Code,
        _ => UnitChoice::Physical,
    })
}

/// The lines of sight.
fn axes(raw: &CheckedValues<'_>) -> Vec<usize> {
    match raw.text_or_default("plot-axis").as_str() {
        "x" => vec![0],
        "y" => vec![1],
        "all" => vec![2, 1, 0],
        _ => vec![2],
    }
}

/// Whether the command has an option: `fof` has no cells, `recut` no report.
fn has_option(raw: &CheckedValues<'_>, name: &str) -> bool {
    options_of(raw.raw.command()).any(|opt| opt.name == name)
}

/// Which circles are drawn.
fn least_drawn(raw: &CheckedValues<'_>) -> Result<LeastDrawn, ConfigError> {
    let least = |name| match has_option(raw, name) {
        true => raw.count(name, |_| true, "a number").map(Option::unwrap_or_default),
        false => Ok(0),
    };
    Ok(LeastDrawn { cells: least("plot-min-cells")?, particles: least("plot-min-particles")? })
}

/// The region of maps, if chosen.
fn region(raw: &CheckedValues<'_>) -> Result<Option<MapRegion>, ConfigError> {
    let Some(text) = raw.text("plot-region") else { return Ok(None) };
    match MapRegion::new(&text) {
        Some(region) => Ok(Some(region)),
        None => {
            let expected = "three coordinates and a positive side, separated by commas";
            Err(raw.unfit("plot-region", &text, expected))
        }
    }
}
