//! What `inselberg phew` makes from particles, checked.

use super::values::CheckedValues;
use super::{ConfigError, fof};
use inselberg::{FieldChoice, ParticleGraphParams, ParticleMeshParams};
use inselberg_io::particles::N_KINDS;
use inselberg_kernels::graph::MOST_NEIGHBOURS;
use inselberg_kernels::particle_mesh::{DEEPEST, DEEPEST_COARSE};

/// What is made from particles and segmented.
#[derive(Debug, Clone, PartialEq)]
pub enum FromParticles {
    /// A mesh.
    Mesh(ParticleMeshParams),
    /// The graph of nearest neighbours.
    Graph(ParticleGraphParams),
}

/// What becomes of an input of particles, and what was asked for that suits one kind of input alone.
#[derive(Debug, Clone, PartialEq)]
pub struct ParticleUse {
    /// What particles make.
    pub made: FromParticles,
    /// Whether the particles of any input are taken; else cells, where it has some.
    pub is_forced: bool,
    /// A flag that only particles understand, with its value.
    pub of_particles: Option<(&'static str, String)>,
    /// A flag that only cells understand, with its value.
    pub of_cells: Option<(&'static str, String)>,
}

/// What particles make: the mesh, unless the graph is requested.
pub(super) fn from_particles(
    raw: &CheckedValues<'_>,
    field: &FieldChoice,
) -> Result<ParticleUse, ConfigError> {
    let level = |name, most: u8| {
        let level =
            raw.count(name, |n| (2..=u64::from(most)).contains(&n), &format!("a level from 2 to {most}"))?;
        Ok(level.map(|level| level as u8))
    };
    let m_refine = raw.count_or_default("m-refine", |n| (1..=1 << 40).contains(&n), "1 or more particles")?;
    let (level_min, level_max) =
        (level("level-min", DEEPEST_COARSE)?, level("level-max", DEEPEST)?.expect("level-max has a default"));
    let (kinds, _) = raw.kinds("particle-types");
    let side = raw.real("box", |x| x > 0.0, "a finite side above 0")?;
    let most = format!("1 to {MOST_NEIGHBOURS} neighbours");
    let neighbours =
        raw.count_or_default("neighbours", |n| (1..=MOST_NEIGHBOURS as u64).contains(&n), &most)?;
    let (is_mesh, is_graph) = (raw.switch("mesh-from-particles"), raw.switch("particle-graph"));
    check_placed(raw, is_mesh, is_graph)?;
    let given = |names: &[&'static str]| {
        names.iter().find(|name| raw.is_flag(name)).map(|name| (*name, raw.shown(name)))
    };
    let is_of_cells = !matches!(field, FieldChoice::Auto | FieldChoice::Cic);
    let field_of_cells = is_of_cells.then(|| ("field", raw.text_or_default("field")));
    let is_forced = is_mesh || is_graph;
    let particle_use = |made| ParticleUse {
        made,
        is_forced,
        of_particles: given(&OF_MESH).or_else(|| given(&OF_PARTICLES)),
        of_cells: given(&OF_CELLS).or(field_of_cells),
    };
    if is_graph && *field != FieldChoice::Auto {
        let given = raw.text_or_default("field");
        return Err(raw.unfit("field", &given, "auto with --particle-graph, whose density is its own"));
    }
    if is_mesh && is_of_cells {
        let given = raw.text_or_default("field");
        return Err(raw.unfit("field", &given, "auto or cic with --mesh-from-particles"));
    }
    if kinds == [false; N_KINDS] {
        return Err(raw.unfit(
            "particle-types",
            &raw.shown("particle-types"),
            "at least one kind of particles",
        ));
    }
    if let Some(least) = level_min.filter(|least| *least > level_max) {
        let expected = format!("at most --level-max {level_max}");
        return Err(raw.unfit("level-min", &least.to_string(), &expected));
    }
    let types = fof::types(&kinds);
    if is_graph {
        let mut graph = ParticleGraphParams::default().neighbours(neighbours as usize).types(&types);
        (graph.side, graph.given_density) = (side, raw.switch("given-density"));
        return Ok(particle_use(FromParticles::Graph(graph)));
    }
    let mut mesh = ParticleMeshParams::default().m_refine(m_refine).level_max(level_max).types(&types);
    (mesh.level_min, mesh.side) = (level_min, side);
    Ok(particle_use(FromParticles::Mesh(mesh)))
}

const OF_GRAPH: [&str; 2] = ["neighbours", "given-density"];
const OF_MESH: [&str; 3] = ["m-refine", "level-min", "level-max"];
const OF_PARTICLES: [&str; 8] = [
    "particle-types",
    "box",
    "particle-mass",
    "unit-length",
    "unit-mass",
    "unit-velocity",
    "expansion-factor",
    "gadget-blocks",
];
const OF_CELLS: [&str; 4] = ["periodic", "spacing", "origin", "image"];

/// Checks that options of meshes and graphs are given where there are such.
fn check_placed(raw: &CheckedValues<'_>, is_mesh: bool, is_graph: bool) -> Result<(), ConfigError> {
    if is_mesh && is_graph {
        let expected = "it without --mesh-from-particles: a graph has no mesh";
        return Err(raw.unfit("particle-graph", "true", expected));
    }
    for (names, is_placed, expected) in [
        (&OF_GRAPH[..], is_graph, "it with --particle-graph alone"),
        (&OF_MESH[..], !is_graph, "it without --particle-graph: a graph has no mesh"),
    ] {
        if let Some(name) = names.iter().find(|name| !is_placed && raw.is_flag(name)) {
            return Err(raw.unfit(name, &raw.shown(name), expected));
        }
    }
    Ok(())
}
