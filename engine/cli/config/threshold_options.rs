//! Thresholds of clumps and haloes.

use super::Command::{Phew, Recut};
use super::Heading::Particles;
use super::opt::{Opt, OptionKind, ROW};
use inselberg::phew::defaults;

/// In the order of the help.
pub(super) const THRESHOLDS: &[Opt] = &[
    Opt {
        name: "density-threshold",
        key: "density_threshold",
        kind: OptionKind::Real,
        default: defaults::DENSITY.text,
        commands: &[Phew],
        help: "Density above which cells or particles are segmented",
        doc: "For particles the unit is the mean density of matter, Omega_m rho_crit, where the input states its cosmology and units, else \
              the mean density of the particles. Fields of cells are in code units; in a cosmological RAMSES run that is the mean density \
              of matter too. The default holds for particles, and for the matter of such runs without --compat ramses; it is required \
              elsewhere, and `inselberg info --thresholds` suggests values. A positive number, or any with --relevance-difference in a \
              field of cells; RAMSES's density_threshold.",
        ..ROW
    },
    Opt {
        name: "relevance-threshold",
        key: "relevance_threshold",
        instead_of: "relevance-difference",
        kind: OptionKind::Real,
        default: defaults::RELEVANCE.text,
        commands: &[Phew],
        help: "Smallest peak-to-saddle density ratio of a peak that is not noise",
        doc: "A peak with a smaller ratio to its highest saddle is merged through that saddle. On a mesh that particles make the \
              default is 1.5, because the significance of peaks tells noise there. RAMSES's relevance_threshold is 2 by default; the PHEW paper uses 1.5 for gas. 1 or less keeps \
              every peak.",
        ..ROW
    },
    Opt {
        name: "relevance-difference",
        key: "relevance_difference",
        instead_of: "relevance-threshold",
        kind: OptionKind::Real,
        example: "1.5",
        commands: &[Phew],
        help: "Instead of a ratio: smallest peak-to-saddle density difference (code units)",
        doc: "A peak is noise if its density minus its highest saddle is smaller. For fields such as overdensities: leaf cells \
              may then be negative, and so may the density threshold. Not with --compat ramses. The \
              unit is that of the density threshold.",
        ..ROW
    },
    Opt {
        name: "relevance-threshold",
        key: "relevance_threshold",
        instead_of: "relevance-difference",
        kind: OptionKind::Real,
        example: "5",
        commands: &[Recut],
        help: "New relevance threshold; default: that of the catalogue",
        ..ROW
    },
    Opt {
        name: "relevance-difference",
        key: "relevance_difference",
        instead_of: "relevance-threshold",
        kind: OptionKind::Real,
        example: "2",
        commands: &[Recut],
        help: "The same for a catalogue of `phew --relevance-difference` (code units)",
        doc: "For a mesh from particles the unit is the mean density, as in the first run.",
        ..ROW
    },
    Opt {
        name: "significance-threshold",
        key: "significance_threshold",
        heading: Particles,
        kind: OptionKind::Real,
        example: "0",
        commands: &[Phew],
        help: "Least significance of a peak in a density of particles; 3 by default",
        doc: "The significance is the excess of mass above the saddle of a peak, in standard deviations of the shot noise of \
              particles. A peak below the threshold is noise if less than 0.02 of the mass of its clump is above its saddle, and \
              in any case below 1. \
              0: no peak is noise for that reason. Only for densities that are made of particles, and not with --compat ramses.",
        ..ROW
    },
    Opt {
        name: "significance-threshold",
        key: "significance_threshold",
        kind: OptionKind::Real,
        example: "0",
        commands: &[Recut],
        help: "New least significance of peaks; default: that of the catalogue",
        ..ROW
    },
    Opt {
        name: "saddle-threshold",
        key: "saddle_threshold",
        kind: OptionKind::Real,
        default: defaults::SADDLE.text,
        commands: &[Phew],
        help: "Saddle density above which clumps merge into one halo",
        doc: "At least the density threshold, in the same units; RAMSES's saddle_threshold. The default holds where no density threshold \
              is given. With one, and without this, every clump is its own halo.",
        ..ROW
    },
    Opt {
        name: "saddle-threshold",
        key: "saddle_threshold",
        kind: OptionKind::Real,
        example: "150",
        commands: &[Recut],
        help: "New saddle threshold (code units); default: that of the catalogue",
        doc: "For a mesh from particles the unit is the mean density, as in the first run.",
        ..ROW
    },
    Opt {
        name: "mass-threshold",
        key: "mass_threshold",
        kind: OptionKind::Real,
        default: "0",
        commands: &[Phew],
        help: "Largest halo mass whose clumps are not listed (code units)",
        doc: "With --compat ramses the unit is the mass of the lightest particle, as for RAMSES's mass_threshold.",
        ..ROW
    },
    Opt {
        name: "mass-threshold",
        key: "mass_threshold",
        kind: OptionKind::Real,
        example: "0",
        commands: &[Recut],
        help: "New mass threshold (code units); default: that of the catalogue",
        doc: "After --compat ramses the unit is the mass of the lightest particle, as in the first run.",
        ..ROW
    },
    Opt {
        name: "min-cells",
        key: "min_cells",
        kind: OptionKind::Count,
        default: "0",
        commands: &[Phew],
        help: "Least number of leaf cells of a halo whose clumps are listed",
        doc: "Every clump of such a halo is listed, however small, so that every parent is. Labels of cells and particles stay. \
              For pictures there is --plot-min-cells.",
        ..ROW
    },
    Opt {
        name: "min-particles",
        key: "min_particles",
        kind: OptionKind::Count,
        default: "0",
        commands: &[Phew],
        help: "Least number of particles, of any type, of a halo whose clumps are listed",
        doc: "The particles in the patches of the halo count, bound or not. They are read once more. As for --min-cells, every clump \
              of such a halo is listed. recut cannot apply it: the tree has no numbers of particles.",
        ..ROW
    },
    Opt {
        name: "min-cells",
        key: "min_cells",
        kind: OptionKind::Count,
        example: "20",
        commands: &[Recut],
        help: "New least number of leaf cells of a listed halo; default: that of the catalogue",
        ..ROW
    },
];
