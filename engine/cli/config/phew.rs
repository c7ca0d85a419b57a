//! `inselberg phew`, checked.

use super::bound_options::{central, potential, property_words};
use super::from_particles::{ParticleUse, from_particles};
use super::launch::{Launch, launch};
use super::report_options::{ShownResults, shown_results};
use super::series::{Series, SnapshotPaths, series};
use super::thresholds::{CELLS, MASS, SADDLE, SIGNIFICANCE, field_choice, is_number_of_cells, persistence};
use super::values::CheckedValues;
use super::viewer_options::{dendrogram_of_phew, vtk_of_phew};
use super::{ConfigError, fof};
use inselberg::bound::PropertyWords;
use inselberg::phew::defaults;
use inselberg::{
    BoundRequest, FieldChoice, Persistence, PhewParams, PotentialChoice, Region, Rules, Selection,
    SofteningLengths, Weights, source_types,
};
use inselberg_io::FieldDefaults;
use inselberg_io::catalogue::VtkCells;
use inselberg_io::particles::InputDefaults;
use std::path::PathBuf;

/// `inselberg phew` on one snapshot, checked. It has at least one output or diagnostics.
#[derive(Debug, Clone, PartialEq)]
pub struct PhewJob {
    /// The snapshot.
    pub input: PathBuf,
    /// The density that is segmented.
    pub field: FieldChoice,
    /// What is computed.
    pub phew: PhewParams,
    /// What becomes of particles.
    pub particles: ParticleUse,
    /// Defaults for what the particles leave open.
    pub defaults: InputDefaults,
    /// Defaults for what the cells leave open.
    pub grid: FieldDefaults,
    /// The catalogue.
    pub output: Option<PathBuf>,
    /// The folder of RAMSES-style text files.
    pub ramses_text: Option<PathBuf>,
    /// The file in the layout of SOAP.
    pub soap: Option<PathBuf>,
    /// The folder for yt.
    pub yt: Option<PathBuf>,
    /// The folder for VTK, and the cells that it gets.
    pub vtk: Option<(PathBuf, VtkCells)>,
    /// The dendrogram of the cells.
    pub dendrogram: Option<PathBuf>,
    /// What people look at.
    pub shown: ShownResults,
    /// Ranks and threads.
    pub launch: Launch,
    /// The trace of the run.
    pub trace: Option<PathBuf>,
    /// The graphs of tasks.
    pub task_graph: Option<PathBuf>,
}

pub(super) fn phew(raw: &CheckedValues<'_>) -> Result<Series<PhewJob>, ConfigError> {
    let inputs = raw.paths("input");
    let input = inputs.first().cloned().ok_or_else(|| raw.missing("input"))?;
    let (output, ramses_text, shown) = (raw.path("output"), raw.path("ramses-text"), shown_results(raw)?);
    let no_diagnostics = !raw.switch("diagnostics");
    let (soap, yt, vtk) = (raw.path("soap"), raw.path("yt"), vtk_of_phew(raw)?);
    let dendrogram = dendrogram_of_phew(raw)?;
    let is_nothing = [&output, &ramses_text, &shown.plot, &shown.report, &soap, &yt, &dendrogram]
        .iter()
        .all(|path| path.is_none())
        && vtk.is_none();
    if is_nothing && no_diagnostics {
        return Err(raw.missing("output"));
    }
    let is_ramses = raw.text("compat").as_deref() == Some("ramses");
    let persistence = given_persistence(raw)?;
    let density = density_threshold(raw, persistence)?;
    if is_ramses && let Some(Persistence::Difference(difference)) = persistence {
        let expected = "--relevance-threshold with --compat ramses";
        return Err(raw.unfit("relevance-difference", &difference.to_string(), expected));
    }
    let significance = raw.real("significance-threshold", |x| x >= 0.0, SIGNIFICANCE)?;
    if let Some(least) = significance.filter(|_| is_ramses) {
        let expected = "no such threshold with --compat ramses";
        return Err(raw.unfit("significance-threshold", &least.to_string(), expected));
    }
    let saddle = raw.real("saddle-threshold", |x| x > 0.0, SADDLE)?;
    let saddle = saddle.filter(|_| raw.is_written("saddle-threshold"));
    let least = density.unwrap_or(defaults::DENSITY.value);
    if let Some(saddle) = saddle.filter(|&s| s < least) {
        let expected = format!("at least the density threshold {least}");
        return Err(raw.unfit("saddle-threshold", &saddle.to_string(), &expected));
    }
    let mass = raw.real_or_default("mass-threshold", |x| x >= 0.0, MASS)?;
    let min_cells = raw.count_or_default("min-cells", is_number_of_cells, CELLS)?;
    let min_particles = raw.count_or_default("min-particles", |_| true, "a number of particles")?;
    let field = field_choice(&raw.text_or_default("field"));
    let rules = if is_ramses { Rules::Ramses } else { Rules::Paper };
    let mut phew = PhewParams::default().mass(mass).rules(rules);
    (phew.density, phew.persistence, phew.saddle) = (density, persistence, saddle);
    phew.significance = significance;
    (phew.min_cells, phew.min_particles) = (min_cells, min_particles);
    let needs_cells = vtk.as_ref().is_some_and(|(_, cells)| *cells != VtkCells::None);
    phew.with_cells = raw.switch("with-cells") || needs_cells || dendrogram.is_some();
    phew.with_particles = raw.switch("with-particles");
    phew.selection = selection(raw)?;
    phew.bound = bound_request(raw, is_ramses)?;
    phew.weights = weights(&raw.text_or_default("balance"));
    phew.keep_density = shown.has_maps();
    let job = PhewJob {
        input,
        particles: from_particles(raw, &field)?,
        defaults: InputDefaults { cosmology: fof::extra_cosmology(raw)?, ..fof::input_defaults(raw)? },
        grid: grid(raw)?,
        field,
        phew,
        output,
        ramses_text,
        soap,
        yt,
        vtk,
        dendrogram,
        shown,
        launch: launch(raw)?,
        trace: raw.path("trace"),
        task_graph: raw.path("task-graph"),
    };
    series(raw, job, inputs.into_iter().map(|input| vec![input]).collect())
}

impl SnapshotPaths for PhewJob {
    fn set_inputs(&mut self, mut inputs: Vec<PathBuf>) {
        self.input = inputs.pop().expect("a snapshot with cells has one path");
    }

    fn results(&mut self) -> Vec<(&'static str, &mut PathBuf)> {
        let files = [
            ("output", &mut self.output),
            ("ramses-text", &mut self.ramses_text),
            ("soap", &mut self.soap),
            ("yt", &mut self.yt),
            ("dendrogram", &mut self.dendrogram),
            ("plot", &mut self.shown.plot),
            ("report", &mut self.shown.report),
            ("trace", &mut self.trace),
            ("task-graph", &mut self.task_graph),
        ];
        let files = files.into_iter().filter_map(|(name, path)| Some((name, path.as_mut()?)));
        files.chain(self.vtk.as_mut().map(|(folder, _)| ("vtk", folder))).collect()
    }
}

/// Which leaves take part.
fn selection(raw: &CheckedValues<'_>) -> Result<Selection, ConfigError> {
    let mut selection = Selection::default();
    if let Some(text) = raw.text("region") {
        for part in text.split(';') {
            let region = part.parse::<Region>().map_err(|_| raw.unfit("region", &text, REGION))?;
            selection = selection.region(region);
        }
    }
    let Some(text) = raw.text("levels") else { return Ok(selection) };
    let level = |word: &str| word.trim().parse::<u8>().ok();
    let levels = text.split_once(':').and_then(|(least, most)| level(least).zip(level(most)));
    match levels.filter(|(least, most)| least <= most) {
        Some((least, most)) => Ok(selection.levels(least, most)),
        None => Err(raw.unfit("levels", &text, "two levels, the first at most the second, as in 10:14")),
    }
}

const REGION: &str = "box:X0,Y0,Z0,X1,Y1,Z1 with X0 < X1 and so on, or sphere:X,Y,Z,R with R > 0; several are separated by `;`";

/// What the cells of an input leave open.
fn grid(raw: &CheckedValues<'_>) -> Result<FieldDefaults, ConfigError> {
    let given = ["periodic", "spacing", "origin", "image", "hydro-names", "stokes"]
        .into_iter()
        .find(|name| raw.is_flag(name));
    let of_particles = ["mesh-from-particles", "particle-graph"].into_iter().find(|name| raw.switch(name));
    if let (Some(name), Some(made)) = (given, of_particles) {
        return Err(raw.unfit(name, &raw.shown(name), &format!("it for cells, without --{made}")));
    }
    let spacing = raw.real("spacing", |x| x > 0.0, "a finite side above 0")?;
    let axes = |text: String| match text.as_str() {
        "none" => Ok([false; 3]),
        axes if !axes.is_empty() && axes.chars().all(|c| "xyz".contains(c)) => {
            Ok(['x', 'y', 'z'].map(|axis| axes.contains(axis)))
        }
        _ => Err(raw.unfit("periodic", &text, "none, or some of the letters xyz")),
    };
    let corner = |text: String| {
        let numbers: Option<Vec<f64>> =
            text.split(',').map(|word| word.trim().parse().ok().filter(|x: &f64| x.is_finite())).collect();
        let three = numbers.and_then(|numbers| <[f64; 3]>::try_from(numbers).ok());
        three.ok_or_else(|| raw.unfit("origin", &text, "three finite numbers, as in -0.5,-0.5,0"))
    };
    let periodic = raw.text("periodic").map(axes).transpose()?;
    let origin = raw.text("origin").map(corner).transpose()?;
    let (is_image, cosmology) = (raw.switch("image"), fof::extra_cosmology(raw)?);
    let (hydro_names, stokes) = (hydro_names(raw)?, raw.text("stokes"));
    Ok(FieldDefaults { periodic, spacing, origin, is_image, hydro_names, stokes, cosmology })
}

/// The names of hydro variables, where they are given.
pub(super) fn hydro_names(raw: &CheckedValues<'_>) -> Result<Option<Vec<String>>, ConfigError> {
    let names = |text: String| {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_string()).collect();
        let is_good = |i: usize| !names[i].is_empty() && !names[..i].contains(&names[i]);
        match (0..names.len()).all(is_good) {
            true => Ok(names),
            false => Err(raw.unfit("hydro-names", &text, "different names, separated by commas")),
        }
    };
    raw.text("hydro-names").map(names).transpose()
}

/// What is found out about members of clumps.
fn bound_request(raw: &CheckedValues<'_>, is_ramses: bool) -> Result<BoundRequest, ConfigError> {
    let words = property_words(raw, PropertyWords::EXPECTED)?.expect("the option properties has a default");
    let adiabatic_index = raw.real("gamma", |x| x > 1.0, "a finite number above 1")?;
    let without_cells = ["mesh-from-particles", "particle-graph"].into_iter().find(|name| raw.switch(name));
    if let (true, Some(name)) = (words.gas, without_cells) {
        let expected = &format!("the gas cells of an output, without --{name}");
        return Err(raw.unfit("properties", &raw.shown("properties"), expected));
    }
    let of_cells =
        BoundRequest { gas: words.gas, adiabatic_index, central: central(raw), ..BoundRequest::default() };
    match raw.switch("unbind") {
        true => unbind_request(raw, words, is_ramses, of_cells),
        false => check_without_unbinding(raw, words).map(|()| of_cells),
    }
}

/// Checks that nothing is asked for on the command line that needs unbinding.
fn check_without_unbinding(raw: &CheckedValues<'_>, words: PropertyWords) -> Result<(), ConfigError> {
    const OF_UNBINDING: [&str; 6] =
        ["with-members", "potential-from", "no-thermal-energy", "softening", "duplicate-ids", "soap"];
    if let Some(name) = OF_UNBINDING.into_iter().find(|name| raw.is_flag(name)) {
        return Err(raw.unfit(name, &raw.shown(name), "--unbind beside it"));
    }
    if raw.is_flag("properties") && words.is_of_bound() {
        let expected = "--unbind beside it, or gas alone";
        return Err(raw.unfit("properties", &raw.shown("properties"), expected));
    }
    if raw.is_flag("gamma") && !words.gas {
        return Err(raw.unfit("gamma", &raw.shown("gamma"), "--unbind or --properties gas beside it"));
    }
    Ok(())
}

/// What is found out about bound particles.
fn unbind_request(
    raw: &CheckedValues<'_>,
    words: PropertyWords,
    is_ramses: bool,
    of_cells: BoundRequest,
) -> Result<BoundRequest, ConfigError> {
    let potential = match potential(raw) {
        PotentialChoice::Ramses if !is_ramses => {
            return Err(raw.unfit("potential", "ramses", "--compat ramses beside it"));
        }
        PotentialChoice::Ramses if raw.switch("mesh-from-particles") || raw.switch("particle-graph") => {
            let expected = "the cells of an output, not particles alone";
            return Err(raw.unfit("potential", "ramses", expected));
        }
        PotentialChoice::Ramses => {
            const OF_ENERGIES: [&str; 3] = ["potential-from", "no-thermal-energy", "softening"];
            if let Some(name) = OF_ENERGIES.into_iter().find(|name| raw.is_flag(name)) {
                return Err(raw.unfit(name, &raw.shown(name), "it with --potential tree or spherical"));
            }
            PotentialChoice::Ramses
        }
        potential => potential,
    };
    let sources = raw.text_or_default("potential-from");
    let potential_from = source_types(&sources).ok_or_else(|| {
        let expected = "all, or gas, dark-matter, stars and other, separated by commas";
        raw.unfit("potential-from", &sources, expected)
    })?;
    let softening = raw.text("softening").map(|text| {
        let expected =
            "a length, 0 or more, or TYPE=LENGTH for gas, dark-matter, stars and other, separated by commas";
        SofteningLengths::from_text(&text).ok_or_else(|| raw.unfit("softening", &text, expected))
    });
    Ok(BoundRequest {
        unbind: Some(potential),
        properties: words.choice,
        with_members: raw.switch("with-members"),
        potential_from,
        thermal_energy: !raw.switch("no-thermal-energy"),
        softening: softening.transpose()?.unwrap_or_default(),
        allow_duplicate_ids: raw.text("duplicate-ids").as_deref() == Some("allow"),
        ..of_cells
    })
}

/// The ratio or difference that a peak needs, if one is given.
fn given_persistence(raw: &CheckedValues<'_>) -> Result<Option<Persistence>, ConfigError> {
    let is_given = raw.is_written("relevance-threshold") || raw.is_written("relevance-difference");
    Ok(persistence(raw)?.filter(|_| is_given))
}

/// `None` if it is not given. Only where persistence is a difference may it be below 0.
fn density_threshold(
    raw: &CheckedValues<'_>,
    persistence: Option<Persistence>,
) -> Result<Option<f64>, ConfigError> {
    let of_particles = raw.switch("mesh-from-particles") || raw.switch("particle-graph");
    let density = match persistence {
        Some(Persistence::Difference(_)) if !of_particles => {
            raw.real("density-threshold", |_| true, "a finite number")?
        }
        _ => {
            let expected =
                "a finite number above 0 (any number with --relevance-difference in a field of cells)";
            raw.real("density-threshold", |x| x > 0.0, expected)?
        }
    };
    Ok(density.filter(|_| raw.is_written("density-threshold")))
}

/// The meaning of a word of `--balance`.
pub(super) fn weights(word: &str) -> Weights {
    match word {
        "leaves" => Weights::Leaves,
        "work" => Weights::Work,
        _ => Weights::TestCells,
    }
}
