//! Runs on the bundled and the synthetic outputs.

use inselberg::phew::params::{BoundRequest, FieldChoice, Persistence, PropertyChoice, Thresholds};
use inselberg::phew::{PhewParams, PhewRequest, Rules};
use inselberg_io::Snapshot;

/// A field with thresholds that give it clumps in haloes.
#[derive(Clone, Copy)]
pub struct Case {
    /// The field; `cic` and `cic-ramses` are made of particles.
    pub field: &'static str,
    /// Density, relevance and saddle.
    pub thresholds: [f64; 3],
}

/// For an output without gas.
pub const DARK: Case = Case { field: "rho", thresholds: [40.0, 3.0, 200.0] };
/// For one with gas.
pub const GAS: Case = Case { field: "density", thresholds: [2.0, 3.0, 200.0] };
/// For a synthetic field.
pub const SYNTH: Case = Case { field: "density", thresholds: [80.0, 1.05, 200.0] };

/// All that a catalogue may hold.
pub fn config(snapshot: &dyn Snapshot, case: Case, rules: Rules) -> PhewRequest {
    let [density, relevance, saddle] = case.thresholds;
    PhewRequest {
        field: match case.field {
            "cic" => FieldChoice::Cic,
            "cic-ramses" => FieldChoice::CicRamses,
            name => FieldChoice::Named(name.into()),
        },
        params: PhewParams::from(Thresholds {
            density,
            persistence: Persistence::Ratio(relevance),
            significance: None,
            saddle: Some(saddle),
            halo_relevance: None,
            mass: 0.0,
            min_cells: 0,
        })
        .rules(rules)
        .with_cells(true)
        .with_particles(snapshot.has_particles())
        .bound(BoundRequest {
            unbind: snapshot.has_particles(),
            // Spheres need a cosmology.
            properties: match snapshot.header().cosmology {
                Some(_) => PropertyChoice::All,
                None => PropertyChoice::Bound,
            },
            with_members: snapshot.has_particles(),
            ..BoundRequest::default()
        }),
    }
}
