//! The mesh or graph that `inselberg phew` makes from particles, checked.

use super::ConfigError;
use super::library::only_in;
use super::values::CheckedValues;
use inselberg::{FieldChoice, FieldDefaults, InputDefaults, ParticleGraphParams, ParticleMeshParams};

/// The mesh or graph from particles, which is segmented.
#[derive(Debug, Clone, PartialEq)]
pub enum FromParticles {
    /// A mesh.
    Mesh(ParticleMeshParams),
    /// The graph of nearest neighbours.
    Graph(ParticleGraphParams),
}

/// The use of an input of particles, and options that are valid for only one kind of input.
#[derive(Debug, Clone, PartialEq)]
pub struct ParticleUse {
    /// The mesh or graph.
    pub made: FromParticles,
    /// Whether the particles of any input are used; otherwise its cells, if it has some.
    pub is_forced: bool,
    /// A flag that is valid only for particles, with its value.
    pub of_particles: Option<(&'static str, String)>,
    /// A flag that is valid only for cells, with its value.
    pub of_cells: Option<(&'static str, String)>,
}

/// The mesh from particles, unless the graph is requested.
pub(super) fn from_particles(
    raw: &CheckedValues<'_>,
    field: &FieldChoice,
) -> Result<ParticleUse, ConfigError> {
    let (mesh, graph) = (raw.params::<ParticleMeshParams>()?, raw.params::<ParticleGraphParams>()?);
    let (is_mesh, is_graph) = (raw.switch("mesh-from-particles"), raw.switch("particle-graph"));
    let (of_mesh, of_graph) = (only_in(&mesh, &graph), only_in(&graph, &mesh));
    check_placed(raw, [is_mesh, is_graph], [&of_mesh, &of_graph])?;
    mesh.check().map_err(|error| raw.refused(&error))?;
    let is_of_cells = !matches!(field, FieldChoice::Auto | FieldChoice::Cic);
    if is_graph && *field != FieldChoice::Auto {
        let given = raw.text_or_default("field");
        return Err(raw.unfit("field", &given, "auto with --particle-graph, whose density is its own"));
    }
    if is_mesh && is_of_cells {
        let given = raw.text_or_default("field");
        return Err(raw.unfit("field", &given, "auto or cic with --mesh-from-particles"));
    }
    let (of_input, of_field) = (InputDefaults::default(), FieldDefaults::default());
    let shared = ["particle-types", "box"];
    let of_particles = only_in(&of_input, &of_input.cosmology).into_iter().chain(shared);
    let of_cells = only_in(&of_field, &of_field.cosmology);
    let given = |mut names: std::vec::IntoIter<&'static str>| {
        names.find(|name| raw.is_flag(name)).map(|name| (name, raw.shown(name)))
    };
    let field_of_cells = is_of_cells.then(|| ("field", raw.text_or_default("field")));
    Ok(ParticleUse {
        made: if is_graph { FromParticles::Graph(graph) } else { FromParticles::Mesh(mesh) },
        is_forced: is_mesh || is_graph,
        of_particles: given(of_mesh.into_iter())
            .or_else(|| given(of_particles.collect::<Vec<_>>().into_iter())),
        of_cells: given(of_cells.into_iter()).or(field_of_cells),
    })
}

/// Checks that options of meshes and graphs are only given for meshes and graphs.
fn check_placed(
    raw: &CheckedValues<'_>,
    [is_mesh, is_graph]: [bool; 2],
    [of_mesh, of_graph]: [&[&'static str]; 2],
) -> Result<(), ConfigError> {
    if is_mesh && is_graph {
        let expected = "it without --mesh-from-particles: a graph has no mesh";
        return Err(raw.unfit("particle-graph", "true", expected));
    }
    for (names, is_placed, expected) in [
        (of_graph, is_graph, "it with --particle-graph alone"),
        (of_mesh, !is_graph, "it without --particle-graph: a graph has no mesh"),
    ] {
        if let Some(name) = names.iter().find(|name| !is_placed && raw.is_flag(name)) {
            return Err(raw.unfit(name, &raw.shown(name), expected));
        }
    }
    Ok(())
}
