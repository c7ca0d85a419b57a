//! Which parameters do keys and values stand for? The library declares all parameters; this file only finds
//! the set to which a key belongs.

use crate::message::refused;
use inselberg::{
    Error, FofParams, LinkingTypes, ParamError, Params, ParticleGraphParams, ParticleMeshParams, PhewParams,
    TimeLimits, TreeParams, VoidParams,
};

/// The parameters of the next calls.
#[derive(Debug, Clone)]
pub struct Options {
    phew: PhewParams,
    fof: FofParams,
    types: LinkingTypes,
    trees: TreeParams,
    limits: TimeLimits,
    mesh: ParticleMeshParams,
    graph: ParticleGraphParams,
    /// The graph of voids, which has other defaults.
    void_graph: ParticleGraphParams,
    voids: VoidParams,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            phew: PhewParams::default(),
            fof: FofParams::default(),
            types: LinkingTypes::default(),
            trees: TreeParams::default(),
            limits: TimeLimits::default(),
            mesh: ParticleMeshParams::default(),
            graph: ParticleGraphParams::default(),
            void_graph: ParticleGraphParams::for_voids(),
            voids: VoidParams::default(),
        }
    }
}

/// Older keys, which are still taken.
const OLDER: [(&str, &str); 3] =
    [("tree_gap", "tree.gap"), ("tree_tracers", "tree.tracers"), ("tree_orphans", "tree.orphans")];

/// The parameters that share keys with others of another meaning.
const VOIDS: &str = "voids";

impl Options {
    /// Those of voids last.
    fn sets(&mut self) -> [&mut dyn Params; 9] {
        [
            &mut self.phew,
            &mut self.fof,
            &mut self.types,
            &mut self.trees,
            &mut self.limits,
            &mut self.mesh,
            &mut self.graph,
            &mut self.void_graph,
            &mut self.voids,
        ]
    }

    /// Sets one option, in all sets of parameters that have its key, or in one: `phew.softening`. Thresholds
    /// of voids mean something else than those of clumps. So a key that both have is set for voids only by
    /// `voids.`.
    ///
    /// # Errors
    /// When there is no such key, or it does not take such a value. Nothing is set then.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let key = OLDER.iter().find(|(older, _)| *older == key).map_or(key, |(_, key)| key);
        let (subject, name) =
            key.split_once('.').map_or((None, key), |(subject, name)| (Some(subject), name));
        let (mut new, mut is_known) = (self.clone(), false);
        for set in new.sets() {
            let is_of = match subject {
                Some(subject) => subject == set.subject(),
                None => set.subject() != VOIDS || !is_known,
            };
            if is_of && set.parameters().iter().any(|about| about.key == name) {
                set.set(name, value)?;
                is_known = true;
            }
        }
        match is_known {
            true => *self = new,
            false => return Err(self.unknown(key)),
        }
        Ok(())
    }

    fn unknown(&mut self, key: &str) -> Error {
        let mut known: Vec<&str> =
            self.sets().iter().flat_map(|set| set.parameters()).map(|about| about.key).collect();
        known.sort_unstable();
        known.dedup();
        ParamError::Unknown { key: key.into(), known }.into()
    }

    /// The parameters of PHEW.
    ///
    /// # Errors
    /// When the density threshold is not set.
    pub fn phew(&self) -> Result<PhewParams, Error> {
        match self.phew.has_density() {
            true => Ok(self.phew.clone()),
            false => Err(refused("density_threshold is not set; expected a value")),
        }
    }

    /// The parameters of friends-of-friends.
    pub fn fof(&self) -> FofParams {
        self.fof.clone()
    }

    /// The parameters of clumps of particles, which have default thresholds.
    pub fn clumps_of_particles(&self) -> &PhewParams {
        &self.phew
    }

    /// Which particles link, and which attach.
    pub fn types(&self) -> &LinkingTypes {
        &self.types
    }

    /// The mesh of particles.
    pub fn mesh(&self) -> &ParticleMeshParams {
        &self.mesh
    }

    /// The graph of particles.
    pub fn graph(&self) -> &ParticleGraphParams {
        &self.graph
    }

    /// The graph and the parameters of voids.
    pub fn voids(&self) -> (&ParticleGraphParams, &VoidParams) {
        (&self.void_graph, &self.voids)
    }

    /// How long ranks wait.
    pub fn limits(&self) -> &TimeLimits {
        &self.limits
    }

    /// The parameters of merger trees.
    pub fn trees(&self) -> TreeParams {
        self.trees.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg::{CentralChoice, Linking, Persistence};

    #[test]
    fn options_are_checked_one_by_one() {
        let mut options = Options::default();
        assert!(options.phew().is_err());
        for (key, value) in [
            ("density_threshold", "80"),
            ("relevance_threshold", "3"),
            ("relevance_difference", "0.5"),
            ("saddle_threshold", "200"),
            ("compat", "paper"),
            ("central", "densest"),
            ("with_cells", "true"),
            ("linking_length", "0.25"),
            ("min_size", "32"),
            ("tree_gap", "2"),
            ("tracers", "10"),
            ("tree.orphans", "false"),
        ] {
            options.set(key, value).expect(key);
        }
        let phew = options.phew().expect("a density threshold");
        assert_eq!((phew.density, phew.saddle), (Some(80.0), Some(200.0)));
        assert_eq!(phew.persistence, Some(Persistence::Difference(0.5)));
        assert_eq!((phew.bound.central, phew.with_cells), (CentralChoice::Densest, true));
        assert_eq!(options.fof(), FofParams::default().linking(Linking::Length(0.25)).min_size(32));
        assert_eq!(options.trees(), TreeParams::default().gap(2).tracers(10).orphans(false));
        for (key, value, word) in [
            ("density", "80", "unknown option \"density\""),
            ("fof.saddle_threshold", "80", "unknown option"),
            ("density_threshold", "80 ", "density_threshold is 80 ;"),
            ("mass_threshold", "inf", "mass_threshold"),
            ("density_threshold", "80kpc", "80kpc; expected a density"),
            ("min_cells", "-3", "min_cells"),
            ("min_size", "-1", "min_size"),
            ("compat", "RAMSES", "expected paper or ramses"),
            ("central", "first", "expected heaviest or densest"),
            ("tree_orphans", "no", "expected true or false"),
        ] {
            let error = options.set(key, value).expect_err(key).to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn values_have_units() {
        let mut options = Options::default();
        options.set("density_threshold", "200crit").expect("a density");
        options.set("fof.softening", "0.3kpc").expect("a length");
        assert_eq!(options.phew().expect("one is set").get("density_threshold").as_deref(), Some("200crit"));
        assert_eq!(options.fof().get("softening").as_deref(), Some("0.3kpc"));
        options.set("density_threshold", "80").expect("a number");
        assert_eq!(options.phew().expect("one is set").density, Some(80.0));
    }

    /// Whatever the library declares, C and Fortran can set to its default.
    #[test]
    fn every_parameter_has_a_key() {
        let mut options = Options::default();
        let all: Vec<_> = options.sets().iter().map(|set| (set.subject(), set.parameters())).collect();
        for (subject, parameters) in all {
            for about in parameters.iter().filter(|about| !about.default.is_empty()) {
                options.set(&format!("{subject}.{}", about.key), about.default).expect(about.key);
            }
        }
        assert_eq!(options.fof(), FofParams::default());
        assert_eq!(options.trees(), TreeParams::default());
        assert_eq!(*options.limits(), TimeLimits::default());
    }
}
