//! `inselberg atlas`.

use super::aligned::aligned;
use super::driver::{DriverRequest, RunCosts, recorder};
use super::fault::CommandError;
use super::grouped::grouped;
use super::{interrupt, log, log_file, out, preflight};
use crate::config::{AtlasJob, Common};
use crate::report::{four_digits, short_number, table_json, table_text};
use inselberg::{AtlasLine, CountedObjects, Engine, Plateau, ThresholdAtlas};
use inselberg_comm::{Comm, Rank};
use inselberg_io::catalogue::{self, Staged};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// The first file of tables in the folder of results.
const TABLES: &str = "atlas.csv";

/// Cuts the tree of a catalogue at many thresholds on all ranks, and writes the page.
pub fn atlas(job: &AtlasJob, common: Common, world: Comm) -> Result<(), CommandError> {
    let request = DriverRequest { launch: &job.launch, common, traced: false };
    let (ranks, driver) = request.start(world)?;
    ranks.prepare(|is_first| {
        if is_first {
            check_results(job, common)?;
            log::begin(job.log.as_deref().map(log_file::opened).transpose()?, common.verbose);
        }
        Ok(())
    })?;
    ranks.prepare(|_| interrupt::guard_once())?;
    ranks.run(|comm| {
        comm.before_end(interrupt::wipe);
        let (_threads, pool) = driver.start(comm.rank())?;
        let recorder = Arc::new(recorder(common, &job.launch, comm));
        let mut engine = Engine::of_program(comm.clone(), pool.clone(), recorder.clone());
        let atlas = engine.atlas(&job.input, &job.params);
        let atlas = atlas.map_err(|error| CommandError::of_call(&job.input, &error))?;
        let costs = RunCosts::new(&recorder, &pool, None, &job.launch, comm)?;
        if comm.rank() != Rank(0) {
            return Ok(());
        }
        let atlas = atlas.expect("rank 0 has the atlas");
        let summary = AtlasSummary { job, atlas: &atlas, costs: &costs };
        let staged = match &job.output {
            Some(folder) => summary.stage(folder)?,
            None => Staged::default(),
        };
        log::text(&summary.text());
        out::finish(common, staged, || summary.text(), || summary.json())
    })
}

/// Checks that the results can be written.
fn check_results(job: &AtlasJob, common: Common) -> Result<(), CommandError> {
    let Some(folder) = &job.output else { return Ok(()) };
    let mut files = vec![("input", job.input.as_path()), ("output", folder.as_path())];
    files.extend(job.log.as_deref().map(|log| ("log", log)));
    preflight::distinct(&files)?;
    match cfg!(feature = "plot") {
        true => preflight::report(folder, common.force)?,
        false => preflight::folder(folder)?,
    }
    preflight::replaceable(&folder.join(TABLES), common.force)
}

/// The summary of an atlas.
struct AtlasSummary<'a> {
    job: &'a AtlasJob,
    atlas: &'a ThresholdAtlas,
    costs: &'a RunCosts,
}

impl AtlasSummary<'_> {
    /// The files in the folder of results.
    fn stage(&self, folder: &Path) -> Result<Staged, CommandError> {
        let place = inselberg_io::staging::hidden::place(folder);
        let place = place.map_err(|error| CommandError::about(folder, error))?;
        let tables = catalogue::stage(&folder.join(TABLES), &self.atlas.tables())?;
        let mut staged = Staged::default();
        staged.extend(tables.in_place(place));
        #[cfg(feature = "plot")]
        staged.extend(super::pictures::stage_html(folder, &self.page(folder)?)?);
        Ok(staged)
    }

    #[cfg(feature = "plot")]
    fn page(&self, folder: &Path) -> Result<String, CommandError> {
        use crate::report::{DisplayUnits, UnitChoice};
        let stored = catalogue::Catalogue { attributes: self.atlas.attributes.clone(), tables: Vec::new() };
        let units = DisplayUnits::new(UnitChoice::Code, &stored.attributes);
        let input = &self.job.input;
        let name = super::picture_title::title(&stored, input);
        let mut facts = vec![
            ("Catalogue", input.display().to_string()),
            ("Search", super::picture_title::conditions(&stored, &units)),
        ];
        facts.extend(super::pictures::about_program());
        let data = crate::report::page::AtlasReport {
            title: format!("What thresholds do: {name}"),
            catalogue: input.display().to_string(),
            facts,
            density_unit: self.density_unit().into(),
            atlas: self.atlas,
        };
        crate::report::page::atlas_page(&data).map_err(|problem| CommandError::about(folder, problem))
    }

    /// The unit in which `recut` takes densities.
    #[cfg(feature = "plot")]
    fn density_unit(&self) -> &'static str {
        if self.atlas.units.density == 1.0 { "code units" } else { "mean densities" }
    }

    fn text(&self) -> String {
        let own = &self.atlas.own;
        let mut text = format!(
            "{}: {} clumps, {} haloes, {} levels\n\n",
            self.job.input.display(),
            grouped(own.n_clumps),
            grouped(own.n_haloes),
            own.n_levels
        );
        for line in &self.atlas.lines {
            text += &line_text(line);
            text += "\n";
        }
        text + &table_text(&[], "cuts", &self.costs.stages, self.costs.peak_memory)
            + &self.costs.tables_text()
    }

    fn json(&self) -> Value {
        let mut summary = table_json(&[], "cuts", &self.costs.stages, self.costs.peak_memory);
        let own = &self.atlas.own;
        summary["n_clumps"] = json!(own.n_clumps);
        summary["n_haloes"] = json!(own.n_haloes);
        summary["n_levels"] = json!(own.n_levels);
        summary["thresholds"] = self.atlas.lines.iter().map(|line| self.line_json(line)).collect();
        self.costs.add_tables(&mut summary);
        summary
    }

    fn line_json(&self, line: &AtlasLine) -> Value {
        let counts = |of| line.counts(of);
        let plateau = |of: &Plateau| {
            json!({
                "counted": counted(of),
                "range": of.range,
                "recommended": of.recommended,
                "count": of.count,
                "slope": Some(of.slope).filter(|slope| slope.is_finite()),
                "is_open": of.is_open,
            })
        };
        json!({
            "name": line.varied.name(),
            "option": line.varied.key(self.atlas.persistence).replace('_', "-"),
            "own": line.own,
            "values": line.values,
            "n_clumps": counts(CountedObjects::Clumps),
            "n_haloes": counts(CountedObjects::Haloes),
            "n_levels": line.cuts.iter().map(|cut| cut.n_levels).collect::<Vec<_>>(),
            "mass": line.cuts.iter().map(|cut| cut.mass).collect::<Vec<_>>(),
            "plateaus": line.plateaus.iter().map(plateau).collect::<Vec<_>>(),
        })
    }
}

fn counted(of: &Plateau) -> &'static str {
    if of.counted == CountedObjects::Haloes { "haloes" } else { "clumps" }
}

/// A threshold in words: its values, its counts, and its plateaus.
fn line_text(line: &AtlasLine) -> String {
    let ends =
        [line.values.first(), line.values.last()].map(|value| value.map_or("-".into(), |v| short_number(*v)));
    let own = line.own.map_or("none".into(), short_number);
    let mut text = format!("{} threshold, {} to {}, here {own}\n", line.varied.name(), ends[0], ends[1]);
    let range = |of: CountedObjects| {
        let counts = line.counts(of);
        let least = counts.iter().min().copied().unwrap_or(0);
        let most = counts.iter().max().copied().unwrap_or(0);
        format!("{} to {}", grouped(least), grouped(most))
    };
    text +=
        &format!("  clumps {}, haloes {}\n", range(CountedObjects::Clumps), range(CountedObjects::Haloes));
    if line.plateaus.is_empty() {
        return text;
    }
    let mut rows = vec![
        ["plateau", "from", "to", "recommended", "number", "d ln N / d ln threshold"]
            .map(String::from)
            .to_vec(),
    ];
    for of in &line.plateaus {
        let [low, high] = of.count.map(grouped);
        let number = if low == high { low } else { format!("{low} to {high}") };
        let [from, to] = of.range.map(short_number);
        let name = format!("{} {}", counted(of), of.number);
        rows.push(vec![
            name,
            from,
            to,
            of.recommended.map_or("-".into(), short_number),
            number,
            four_digits(of.slope),
        ]);
    }
    text + &aligned(&rows)
}
