//! Which parameters do keys and values stand for?

use crate::message::refused;
use inselberg::{
    BoundRequest, CentralChoice, Error, FofParams, Linking, Persistence, PhewParams, Rules, TreeParams,
};

/// The parameters of the next calls.
#[derive(Debug, Clone, Default)]
pub struct Options {
    density: Option<f64>,
    persistence: Option<Persistence>,
    saddle: Option<f64>,
    mass: f64,
    min_cells: u64,
    rules: Rules,
    central: CentralChoice,
    with_cells: bool,
    fof: FofParams,
    trees: TreeParams,
}

const KEYS: &str = "density_threshold, relevance_threshold, relevance_difference, saddle_threshold, mass_threshold, min_cells, \
                    compat, central, with_cells, linking_length, linking_ratio, min_size, tree_gap, tree_tracers or tree_orphans";

impl Options {
    /// Sets one option.
    ///
    /// # Errors
    /// When there is no such key, or it does not take such a value.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let real = || real(key, value);
        match key {
            "density_threshold" => self.density = Some(real()?),
            "relevance_threshold" => self.persistence = Some(Persistence::Ratio(real()?)),
            "relevance_difference" => self.persistence = Some(Persistence::Difference(real()?)),
            "saddle_threshold" if value == "none" => self.saddle = None,
            "saddle_threshold" => self.saddle = Some(real()?),
            "mass_threshold" => self.mass = real()?,
            "min_cells" => self.min_cells = natural(key, value)?,
            "compat" => {
                self.rules = choice(key, value, [("paper", Rules::Paper), ("ramses", Rules::Ramses)])?
            }
            "central" => {
                self.central =
                    choice(key, value, CentralChoice::ALL.map(|central| (central.name(), central)))?
            }
            "with_cells" => self.with_cells = flag(key, value)?,
            "linking_length" => self.fof.linking = Linking::Length(real()?),
            "linking_ratio" => self.fof.linking = Linking::Ratio(real()?),
            "min_size" => self.fof.min_size = natural(key, value)?,
            "tree_gap" => self.trees.gap = natural(key, value)?,
            "tree_tracers" => self.trees.tracers = natural(key, value)?,
            "tree_orphans" => self.trees.orphans = flag(key, value)?,
            _ => return Err(refused(format!("unknown option {key:?}; expected {KEYS}"))),
        }
        Ok(())
    }

    /// The parameters of PHEW.
    ///
    /// # Errors
    /// When the density threshold is not set.
    pub fn phew(&self) -> Result<PhewParams, Error> {
        let density =
            self.density.ok_or_else(|| refused("density_threshold is not set; expected a value"))?;
        let mut params = PhewParams::new(density).mass(self.mass).min_cells(self.min_cells).rules(self.rules);
        params = params.bound(BoundRequest { central: self.central, ..BoundRequest::default() });
        if let Some(persistence) = self.persistence {
            params = params.persistence(persistence);
        }
        if let Some(saddle) = self.saddle {
            params = params.saddle(saddle);
        }
        Ok(if self.with_cells { params.with_cells() } else { params })
    }

    /// The parameters of friends-of-friends.
    pub fn fof(&self) -> FofParams {
        self.fof.clone()
    }

    /// The parameters of merger trees.
    pub fn trees(&self) -> TreeParams {
        self.trees.clone()
    }
}

fn real(key: &str, value: &str) -> Result<f64, Error> {
    let number = value.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| refused(format!("{key} = {value:?}; expected a number")))
}

fn natural(key: &str, value: &str) -> Result<u64, Error> {
    value.parse().map_err(|_| refused(format!("{key} = {value:?}; expected a whole number from 0")))
}

fn flag(key: &str, value: &str) -> Result<bool, Error> {
    choice(key, value, [("true", true), ("false", false)])
}

fn choice<T: Copy>(key: &str, value: &str, known: [(&str, T); 2]) -> Result<T, Error> {
    let found = known.iter().find(|(name, _)| *name == value);
    found
        .map(|(_, choice)| *choice)
        .ok_or_else(|| refused(format!("{key} = {value:?}; expected {} or {}", known[0].0, known[1].0)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("tree_tracers", "10"),
            ("tree_orphans", "false"),
        ] {
            options.set(key, value).expect(key);
        }
        let bound = BoundRequest { central: CentralChoice::Densest, ..BoundRequest::default() };
        let params =
            PhewParams::new(80.0).persistence(Persistence::Difference(0.5)).saddle(200.0).bound(bound);
        assert_eq!(options.phew(), Ok(params.with_cells()));
        assert_eq!(options.fof(), FofParams::default().linking(Linking::Length(0.25)).min_size(32));
        assert_eq!(options.trees(), TreeParams::default().gap(2).tracers(10).orphans(false));
        for (key, value, word) in [
            ("density", "80", "unknown option \"density\""),
            ("density_threshold", "80 ", "density_threshold = \"80 \""),
            ("mass_threshold", "inf", "mass_threshold"),
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
}
