//! The request of a caller.

use crate::particles::{MemberType, source_types, text_of};
use inselberg_io::params::ParamValue;
use inselberg_io::{params, words};
pub use inselberg_kernels::bound::SourceTypes;
use inselberg_kernels::bound::slices::BLOCK;
use inselberg_kernels::phew::Rules;
use std::str::FromStr;

params! {
    /// The requested properties of bound particles and gas cells.
    #[derive(Copy)]
    pub struct BoundRequest of "phew" {
        /// Find the particles and gas cells that gravity binds to each clump.
        ///
        /// Members with too much energy leave their clump for the one that it merges into. The clumps then
        /// have bound masses, centres and energies. Needs velocities and units.
        pub unbind: bool = false, "unbind" = flag("false").topic(Topic::Properties);
        /// How potentials of bound particles are computed.
        ///
        /// tree: from all particles of the clump. spherical: as if these were shells about its densest part;
        /// faster, but wrong for clumps that are not round. ramses: in bins of radius, with RAMSES's rules of
        /// unbinding; needs RAMSES's rules and the cells of an output.
        pub potential: PotentialChoice = PotentialChoice::Tree, "potential" =
            choice("tree", PotentialChoice::WORDS, "tree, spherical or ramses").topic(Topic::Properties);
        /// The properties. Without unbinding, groups may have spheres, and clumps have none.
        pub properties: PropertyChoice = PropertyChoice::Basic;
        /// Which clump of a halo is its central.
        ///
        /// heaviest: the clump with the greatest bound mass, or without unbinding the one with the heaviest
        /// patch; it gets what other clumps lose. densest: the main clump, which has the densest peak; what a
        /// clump loses goes to the clump that it merges into. With RAMSES's rules it is the densest.
        pub central: CentralChoice = CentralChoice::Heaviest, "central" =
            choice("heaviest", CentralChoice::WORDS, "heaviest or densest").topic(Topic::Properties);
        /// Also list the bound particles of each clump, the most bound first.
        ///
        /// Needs `unbind`.
        pub with_members: bool = false, "with_members" = flag("false").topic(Topic::Results);
        /// The types whose mass makes the potential of unbinding.
        ///
        /// Types are gas, dark-matter, stars and other. Members of the other types are still tested against
        /// the potential.
        pub potential_from: SourceTypes = SourceTypes::ALL, "potential_from" = of_whole(
            ParamKind::Text("all|TYPE,..."),
            "all",
            |sources, text, _| assign(sources, source_types(text)),
            |sources| Some(text_of(*sources)),
            "all, or gas, dark-matter, stars and other, separated by commas",
        ).topic(Topic::Properties);
        /// Count the thermal energy of gas cells in unbinding.
        pub thermal_energy: bool = true, "thermal_energy" = flag("true").topic(Topic::Properties);
        /// Softening lengths of the particles for unbinding (code units).
        ///
        /// One length for all types, or one per type. Defaults are the lengths that the snapshot states, else
        /// the side of the leaf around a particle. A gas cell always has its own side. docs/haloes.md has the
        /// definition.
        pub softening: SofteningLengths = SofteningLengths::default(), "softening" = text(
            "",
            "LENGTH|TYPE=LENGTH,...",
            "a length, 0 or more, or TYPE=LENGTH for gas, dark-matter, stars and other, separated by commas",
        ).topic(Topic::Properties).measured(Measure::LENGTH).example("dark-matter=0.004,stars=0.002");
        /// Whether particles of one type and halo may share an ID. They are then told apart by position and
        /// velocity.
        pub allow_duplicate_ids: bool = false;
        /// Whether clumps have the properties of their gas cells, bound or not. Needs no unbinding.
        pub gas: bool = false;
        /// The ratio of specific heats of gas cells, for unbinding and properties of gas.
        ///
        /// Above 1. Default: that of the input, or 5/3 if the input states none above 1.
        pub adiabatic_index: Option<f64> = None, "gamma" = real(
            "",
            |x: &Option<f64>| x.is_none_or(|x| x > 1.0),
            "a finite number above 1",
        ).topic(Topic::Properties).example("1.4");
        /// Which haloes and groups all ranks process together: for tests.
        #[doc(hidden)]
        pub spanning: SpanRules = SpanRules::default();
    }
    also {
        /// Whether particles of one type and halo may share an ID in unbinding.
        ///
        /// allow: position and velocity distinguish particles with the same ID.
        "duplicate_ids" = of_whole(
            ParamKind::Choice(&["error", "allow"]),
            "error",
            |of: &mut BoundRequest, text, _| assign(&mut of.allow_duplicate_ids, allows_duplicates(text)),
            |of| Some(if of.allow_duplicate_ids { "allow" } else { "error" }.into()),
            "error or allow",
        ).topic(Topic::Properties);
        /// Properties of bound members and of gas: words from basic, bound, so, all, gas.
        ///
        /// basic: mass, centres, velocity, energies, maximum circular velocity, half-mass radius. bound: also
        /// masses and radii by type, dispersion, angular momenta, spins, inertia tensors. so: spheres of
        /// given mean density about haloes (spherical overdensities). all: bound and so. These need `unbind`.
        /// gas, with or without `unbind`: thermal, turbulent, magnetic and potential energy, velocity
        /// dispersion, virial parameters, half-mass radius, axis ratios and free-fall time of the gas cells
        /// of each clump, bound or not. docs/haloes.md has the definitions.
        "properties" = of_whole(
            ParamKind::Text("WORD,..."),
            "basic",
            |of: &mut BoundRequest, text, _| set_properties(of, text),
            |of| Some(match (of.properties, of.gas) {
                (choice, false) => choice.name().into(),
                (PropertyChoice::Basic, true) => "gas".into(),
                (choice, true) => format!("{},gas", choice.name()),
            }),
            PropertyWords::EXPECTED,
        ).topic(Topic::Properties);
    }
}

fn set_properties(of: &mut BoundRequest, text: &str) -> bool {
    let Ok(PropertyWords { choice, gas, .. }) = text.parse() else { return false };
    (of.properties, of.gas) = (choice, gas);
    true
}

/// Whether a word of `duplicate_ids` lets particles share an ID.
pub(crate) fn allows_duplicates(text: &str) -> Option<bool> {
    match text {
        "allow" => Some(true),
        "error" => Some(false),
        _ => None,
    }
}

/// Which haloes and groups all ranks process together. For tests: results depend on the block, but not on
/// which haloes these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanRules {
    /// The least number of members; `None`: those that might not fit into the memory of a rank in addition to
    /// its share.
    pub fewest: Option<u64>,
    /// Members per block of sums.
    pub block: u64,
}

impl Default for SpanRules {
    fn default() -> Self {
        Self { fewest: None, block: BLOCK }
    }
}

/// Haloes with fewer members never span ranks: 40 MB at 200 bytes each.
const FEWEST: u64 = 200_000;

/// A halo spans ranks if it has more than 1 / `PART` of the mean number of members per rank.
const PART: u64 = 4;

impl SpanRules {
    /// The least number of members of a halo that spans ranks, from the members of all haloes on all ranks.
    pub(crate) fn limit(&self, n_members: u64, n_ranks: usize) -> u64 {
        let of_share = match n_ranks {
            1 => u64::MAX,
            _ => FEWEST.max(n_members / (PART * n_ranks as u64)),
        };
        self.fewest.unwrap_or(of_share)
    }
}

impl BoundRequest {
    /// Whether members of clumps are needed.
    pub(crate) fn needs_members(&self) -> bool {
        self.unbind || self.gas
    }

    /// How potentials are computed, if particles are unbound.
    pub fn unbinding(&self) -> Option<PotentialChoice> {
        self.unbind.then_some(self.potential)
    }
}

/// Softening lengths of particles by type in code units, as in a Plummer sphere: the potential at distance 0
/// is -G m / length.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SofteningLengths([Option<f64>; MemberType::ALL.len()]);

impl SofteningLengths {
    /// One length for all types.
    pub fn same(length: f64) -> Self {
        Self([Some(length); MemberType::ALL.len()])
    }

    /// With this length for a type.
    #[must_use]
    pub fn with(mut self, of: MemberType, length: f64) -> Self {
        self.0[of.place()] = Some(length);
        self
    }

    /// The length of a type; `None` if none is given.
    pub fn of(&self, member_type: MemberType) -> Option<f64> {
        self.0[member_type.place()]
    }

    /// The first length that is not valid: all must be finite, 0 or more.
    pub fn invalid(&self) -> Option<f64> {
        self.0.into_iter().flatten().find(|length| !(length.is_finite() && *length >= 0.0))
    }
}

impl ParamValue for SofteningLengths {
    /// From `LENGTH`, or from `TYPE=LENGTH` for some types, separated by commas.
    fn from_text(text: &str) -> Option<Self> {
        let length = |text: &str| text.trim().parse::<f64>().ok();
        let lengths = match length(text) {
            Some(length) => Self::same(length),
            None => text.split(',').try_fold(Self::default(), |all, part| {
                let (name, of_type) = part.split_once('=')?;
                Some(all.with(MemberType::from_name(name.trim())?, length(of_type)?))
            })?,
        };
        lengths.invalid().is_none().then_some(lengths)
    }

    fn to_text(&self) -> Option<String> {
        let of = |member: MemberType| Some(format!("{}={}", member.name(), self.of(member)?));
        let lengths: Vec<String> = MemberType::ALL.into_iter().filter_map(of).collect();
        (!lengths.is_empty()).then(|| lengths.join(","))
    }
}

/// How unbinding computes the potentials of particles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PotentialChoice {
    /// From all particles of a clump, by a tree.
    #[default]
    Tree,
    /// As if the particles were shells about the peak of their clump.
    Spherical,
    /// In bins of radius, as RAMSES does it, and with RAMSES's own rules of unbinding. Only for clumps of the
    /// cells of an output, with RAMSES's rules.
    Ramses,
}

words!(PotentialChoice { Tree = "tree", Spherical = "spherical", Ramses = "ramses" });

/// Which clump of a halo is its central: the centre of the halo, to which the others are satellites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CentralChoice {
    /// The clump with the greatest bound mass; without unbinding, the one with the heaviest patch. Between
    /// equals, the one with the denser peak.
    #[default]
    Heaviest,
    /// The main clump, which has the densest peak. Members that a clump loses go to the clump that it merges
    /// into.
    Densest,
}

impl CentralChoice {
    /// The rule that holds under `compat` if this one is requested.
    pub(crate) fn by(self, rules: Rules) -> Self {
        match rules {
            Rules::Paper => self,
            Rules::Ramses => Self::Densest,
        }
    }
}

words!(CentralChoice { Heaviest = "heaviest", Densest = "densest" });

/// A choice of properties of clumps or groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PropertyChoice {
    /// Of the bound particles: mass, centres, velocity, energies, maximum circular velocity and half-mass
    /// radius.
    #[default]
    Basic,
    /// Of the bound particles also masses and radii by type, dispersion, angular momenta, spins and inertia
    /// tensors.
    Bound,
    /// The basic ones, and spheres of given mean density about haloes or groups.
    Spheres,
    /// All properties.
    All,
}

words!(PropertyChoice { Basic = "basic", Bound = "bound", Spheres = "so", All = "all" });

impl PropertyChoice {
    /// Whether bound particles have all their properties.
    pub(crate) fn has_all_bound(self) -> bool {
        matches!(self, Self::Bound | Self::All)
    }

    /// Whether there are spheres.
    pub(crate) fn has_spheres(self) -> bool {
        matches!(self, Self::Spheres | Self::All)
    }
}

/// The words of a list of properties, as the command and Python take it: `so,bound`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PropertyWords {
    /// Whether a word is about bound particles.
    pub needs_bound: bool,
    /// The choice.
    pub choice: PropertyChoice,
    /// Whether a word is about gas cells.
    pub gas: bool,
}

impl PropertyWords {
    /// Whether a word is about more than gas cells.
    pub fn is_of_bound(&self) -> bool {
        self.needs_bound || self.choice.has_spheres()
    }

    /// The words that a list of properties of groups may contain, for messages.
    pub const OF_GROUPS: &'static str = "words out of basic, bound, so and all, separated by commas";

    /// The words that a list of properties of clumps may contain, for messages.
    pub const EXPECTED: &'static str = "words out of basic, bound, so, all and gas, separated by commas";
}

/// A text that is not a list of properties: it is empty, or has another word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected {}", PropertyWords::EXPECTED)]
pub struct NoPropertyWords;

impl FromStr for PropertyWords {
    type Err = NoPropertyWords;

    fn from_str(text: &str) -> Result<Self, NoPropertyWords> {
        let (mut needs_bound, mut has_all_bound, mut has_spheres, mut gas) = (false, false, false, false);
        for word in text.split(',') {
            let word = word.trim();
            if !["basic", "bound", "so", "all", "gas"].contains(&word) {
                return Err(NoPropertyWords);
            }
            needs_bound |= !["so", "gas"].contains(&word);
            gas |= word == "gas";
            has_all_bound |= ["bound", "all"].contains(&word);
            has_spheres |= ["so", "all"].contains(&word);
        }
        let choice = match (has_all_bound, has_spheres) {
            (false, false) => PropertyChoice::Basic,
            (true, false) => PropertyChoice::Bound,
            (false, true) => PropertyChoice::Spheres,
            (true, true) => PropertyChoice::All,
        };
        Ok(Self { needs_bound, choice, gas })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_add_up_in_any_order() {
        let of = |text: &str| text.parse::<PropertyWords>().map(|words| (words.needs_bound, words.choice));
        assert_eq!(of("basic"), Ok((true, PropertyChoice::Basic)));
        assert_eq!(of("so"), Ok((false, PropertyChoice::Spheres)));
        assert_eq!(of("so,basic"), Ok((true, PropertyChoice::Spheres)));
        assert_eq!(of("bound, basic"), Ok((true, PropertyChoice::Bound)));
        for all in ["all", "so,bound", "bound,so", "all,so"] {
            assert_eq!(of(all), Ok((true, PropertyChoice::All)));
        }
        for wrong in ["", "so,", "few", "so;bound", "SO"] {
            assert_eq!(of(wrong), Err(NoPropertyWords), "{wrong}");
        }
        let gas = |text: &str| text.parse::<PropertyWords>().map(|words| words.gas);
        assert_eq!(of("gas"), Ok((false, PropertyChoice::Basic)));
        assert_eq!(of("gas,so"), Ok((false, PropertyChoice::Spheres)));
        assert_eq!((gas("gas"), gas("so, gas"), gas("all")), (Ok(true), Ok(true), Ok(false)));
    }
}
