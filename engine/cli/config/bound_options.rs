//! Options of bound particles, and the checks that `phew` and `fof` share.

use super::Command::{Fof, Phew};
use super::ConfigError;
use super::Heading::{Properties, Results, Viewers};
use super::opt::{Opt, OptionKind, ROW};
use super::values::CheckedValues;
use inselberg::CentralChoice;
use inselberg::PotentialChoice;
use inselberg::bound::PropertyWords;

/// What `phew` and `fof` find out about bound particles.
pub(super) const BOUND: &[Opt] = &[
    Opt {
        name: "unbind",
        key: "unbind",
        commands: &[Phew],
        help: "Find the particles and gas cells that gravity holds in each clump",
        doc: "Those with too much energy leave their clump for the one that it merges into. The clumps then have bound masses, \
              centres and energies. Needs velocities and units.",
        ..ROW
    },
    Opt {
        name: "potential",
        key: "potential",
        heading: Properties,
        kind: OptionKind::Choice(&["tree", "spherical", "ramses"]),
        default: "tree",
        commands: &[Phew, Fof],
        help: "How potentials of bound particles are computed",
        doc: "tree: from all particles of the clump or group. spherical: as if these were shells about its densest part; faster, and \
              wrong for those that are not round. ramses: in bins of radius, with RAMSES's own rules of unbinding; for phew with --compat \
              ramses, on the cells of an output.",
        ..ROW
    },
    Opt {
        name: "central",
        key: "central",
        heading: Properties,
        kind: OptionKind::Choice(&["heaviest", "densest"]),
        default: "heaviest",
        commands: &[Phew],
        help: "Which clump of a halo is its central",
        doc: "heaviest: the clump with the greatest bound mass, without --unbind the one with the heaviest patch; losers of unbinding \
              go to it. densest: the main clump, which has the densest peak; losers go to the clump that theirs merges into. With \
              --compat ramses it is the densest.",
        ..ROW
    },
    Opt {
        name: "potential-from",
        key: "potential_from",
        heading: Properties,
        kind: OptionKind::Text("all|TYPE,..."),
        default: "all",
        commands: &[Phew],
        help: "The types whose mass makes the potential of --unbind",
        doc: "Types are gas, dark-matter, stars and other. Members of the other types are still tested against the potential.",
        ..ROW
    },
    Opt {
        name: "no-thermal-energy",
        key: "no_thermal_energy",
        heading: Properties,
        commands: &[Phew],
        help: "Leave the thermal energy of gas cells out of --unbind",
        ..ROW
    },
    Opt {
        name: "gamma",
        key: "gamma",
        heading: Properties,
        kind: OptionKind::Real,
        example: "1.4",
        commands: &[Phew],
        help: "The ratio of specific heats of gas cells for --unbind and --properties gas",
        doc: "Above 1. Default: that of the input, and 5/3 where the input states none above 1.",
        ..ROW
    },
    Opt {
        name: "softening",
        key: "softening",
        heading: Properties,
        kind: OptionKind::Text("LENGTH|TYPE=LENGTH,..."),
        example: "dark-matter=0.004,stars=0.002",
        commands: &[Phew],
        help: "Softening lengths of the particles for --unbind (code units)",
        doc: "One length for all types, or one per type. Defaults are the lengths that the snapshot states, and otherwise the side of \
              the leaf around a particle. A gas cell always has its own side. docs/haloes.md has the definition.",
        ..ROW
    },
    Opt {
        name: "duplicate-ids",
        key: "duplicate_ids",
        heading: Properties,
        kind: OptionKind::Choice(&["error", "allow"]),
        default: "error",
        commands: &[Phew],
        help: "Whether particles of one type and halo may share an ID in --unbind",
        doc: "allow: particles of one ID are told apart by position and velocity.",
        ..ROW
    },
    Opt {
        name: "properties",
        key: "properties",
        kind: OptionKind::Text("WORD,..."),
        default: "basic",
        commands: &[Phew],
        help: "Properties of what --unbind finds, and of gas: words out of basic, bound, so, all, gas",
        doc: "basic: mass, centres, velocity, energies, maximum circular velocity, half-mass radius. bound: also masses and radii by \
              type, dispersion, angular momenta, spins, inertia tensors. so: spheres of given mean density about haloes \
              (spherical overdensities). all: bound and so. These need --unbind. gas, with or without --unbind: thermal, turbulent, \
              magnetic and potential energy, velocity dispersion, virial parameters, half-mass radius, axis ratios and free-fall \
              time of the gas cells of each clump, bound or not. docs/haloes.md has the definitions.",
        ..ROW
    },
    Opt {
        name: "properties",
        key: "properties",
        kind: OptionKind::Text("WORD,..."),
        example: "so,bound",
        commands: &[Fof],
        help: "Properties of groups: words out of basic, bound, so, all",
        doc: "basic, bound and all keep the particles that gravity holds in each group, without substructure. basic: their mass, \
              centres, velocity, energies, maximum circular velocity, half-mass radius. bound: also masses and radii by type, \
              dispersion, angular momenta, spins, inertia tensors. so: spheres of given mean density (spherical overdensities) \
              about the most bound particle, or about the centre of mass with so alone. all: bound and so. Reads the input a \
              second time. Needs units; bound particles need velocities, and spheres a cosmology. docs/haloes.md has the \
              definitions.",
        ..ROW
    },
    Opt {
        name: "softening",
        key: "softening",
        heading: Properties,
        kind: OptionKind::Real,
        example: "0.005",
        commands: &[Fof],
        help: "Softening length of potentials in the units of the positions",
        doc: "At distance 0 the potential of a particle is -G m / softening. Default: that of the snapshot, else a fifth of the linking \
              length, which is a 25th of the mean separation for a linking ratio of 0.2.",
        ..ROW
    },
    Opt {
        name: "with-members",
        key: "with_members",
        heading: Results,
        commands: &[Phew, Fof],
        help: "Also list the bound particles of each clump or group, the most bound first",
        doc: "Needs --unbind for phew, and --properties basic, bound or all for fof.",
        ..ROW
    },
    Opt {
        name: "soap",
        key: "soap",
        heading: Viewers,
        kind: OptionKind::Path,
        example: "soap.hdf5",
        commands: &[Phew, Fof],
        help: "Also write properties in the layout of SOAP, for swiftsimio: a file .hdf5, or a folder",
        doc: "A folder gets halo_properties.hdf5. With --with-members it also gets membership.hdf5, in the order of a snapshot that keeps \
              particles by type. Needs --unbind for phew, and --properties for fof. Clumps and groups without bound particles are \
              left out, where particles are unbound. docs/haloes.md lists the datasets.",
        ..ROW
    },
];

/// Which clump of a halo is its central.
pub(super) fn central(raw: &CheckedValues<'_>) -> CentralChoice {
    CentralChoice::from_name(&raw.text_or_default("central")).expect("a choice of its own words")
}

/// How potentials are computed.
pub(super) fn potential(raw: &CheckedValues<'_>) -> PotentialChoice {
    match raw.text_or_default("potential").as_str() {
        "spherical" => PotentialChoice::Spherical,
        "ramses" => PotentialChoice::Ramses,
        _ => PotentialChoice::Tree,
    }
}

/// The words of `--properties`, as far as options or defaults say.
pub(super) fn property_words(
    raw: &CheckedValues<'_>,
    expected: &str,
) -> Result<Option<PropertyWords>, ConfigError> {
    let Some(text) = raw.text("properties") else { return Ok(None) };
    match text.parse() {
        Ok(words) => Ok(Some(words)),
        Err(_) => Err(raw.unfit("properties", &text, expected)),
    }
}
