//! `inselberg atlas`.

use super::aligned::aligned;
use super::catalogue_run::{CatalogueRun, ResultFolder};
use super::driver::RunCosts;
use super::fault::CommandError;
use super::grouped::grouped;
use super::{log, out};
use crate::config::{AtlasJob, Common};
use crate::report::{four_digits, short_number, table_json, table_text};
use inselberg::{AtlasLine, CountedObjects, Plateau, ThresholdAtlas};
use inselberg_comm::Comm;
use inselberg_io::catalogue::Staged;
use serde_json::{Value, json};

/// The first file of tables in the folder of results.
const TABLES: &str = "atlas.csv";

/// Cuts the tree of a catalogue at many thresholds on all ranks, and writes the page.
pub fn atlas(job: &AtlasJob, common: Common, world: Comm) -> Result<(), CommandError> {
    let folder = job.output.as_deref().map(|path| ResultFolder { path, tables: TABLES });
    let run = CatalogueRun { launch: &job.launch, common, log: job.log.as_deref() };
    run.run(
        world,
        |is_first| match folder.as_ref().filter(|_| is_first) {
            Some(folder) => folder.check(&[&job.input], job.log.as_deref(), common.force),
            None => Ok(()),
        },
        |(), rank| {
            let atlas = rank.engine.atlas(&job.input, &job.params);
            atlas.map_err(|error| CommandError::of_call(&job.input, &error))
        },
        |(), atlas, costs| {
            let summary = AtlasSummary { job, atlas: &atlas, costs: &costs };
            let staged = folder.as_ref().map(|folder| summary.stage(folder)).transpose()?;
            log::text(&summary.text());
            out::finish(common, staged.unwrap_or_default(), || summary.text(), || summary.json())
        },
    )
}

/// The summary of an atlas.
struct AtlasSummary<'a> {
    job: &'a AtlasJob,
    atlas: &'a ThresholdAtlas,
    costs: &'a RunCosts,
}

impl AtlasSummary<'_> {
    /// The files in the folder of results.
    fn stage(&self, folder: &ResultFolder<'_>) -> Result<Staged, CommandError> {
        folder.stage(
            &self.atlas.tables(),
            #[cfg(feature = "plot")]
            || self.page(),
        )
    }

    #[cfg(feature = "plot")]
    fn page(&self) -> Result<String, String> {
        use crate::report::{DisplayUnits, UnitChoice};
        let stored = inselberg_io::catalogue::Catalogue {
            attributes: self.atlas.attributes.clone(),
            tables: Vec::new(),
        };
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
        crate::report::page::atlas_page(&data)
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
