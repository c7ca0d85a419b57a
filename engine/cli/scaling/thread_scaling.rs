//! How the work of a rank scales with its threads, from real runs of one rank.

use super::measured::{Configuration, in_headline};
use super::rate::{Rate, Speed};
use super::sample::step_of;
use std::collections::BTreeMap;

/// The serial fraction of each stage.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ThreadScaling {
    stages: BTreeMap<String, f64>,
    /// Of the whole run, for stages that one rank does not have.
    whole: f64,
}

impl ThreadScaling {
    /// From the runs of one rank with one thread and with most threads; `None` if there are no two.
    pub fn new(all: &[Configuration]) -> Option<Self> {
        let of_one: Vec<&Configuration> = in_headline(all).into_iter().filter(|c| c.ranks == 1).collect();
        let one = of_one.iter().find(|c| c.threads == 1)?;
        let most = of_one.iter().max_by_key(|c| c.threads).filter(|c| c.threads > 1)?;
        let serial = |most: Rate, one: Rate| fraction(&most.over(&one), most.cores);
        let stages = most.stages.iter().filter_map(|stage| {
            let before = one.stage(&stage.stage)?;
            Some((stage.stage.clone(), serial(most.rate_of(stage), one.rate_of(before))))
        });
        Some(Self { stages: stages.collect(), whole: serial(most.rate(), one.rate()) })
    }

    /// The time of work on these threads over that on one.
    pub fn factor(&self, stage: &str, threads: usize) -> f64 {
        let serial = self.stages.get(step_of(stage)).copied().unwrap_or(self.whole);
        serial + (1.0 - serial) / threads as f64
    }
}

/// The share of the work that does not speed up, if the work grows with the items.
fn fraction(speed: &Speed, threads: usize) -> f64 {
    let even = 1.0 / threads as f64;
    ((1.0 / speed.speed_up - even) / (1.0 - even)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_keep_their_serial_part() {
        let speed = |speed_up| Speed { speed_up, ..Speed::NONE };
        assert!((fraction(&speed(1.6), 2) - 0.25).abs() < 1e-12);
        assert_eq!(
            (fraction(&speed(2.0), 2), fraction(&speed(3.0), 2), fraction(&speed(0.5), 2)),
            (0.0, 0.0, 1.0)
        );
        let of = ThreadScaling { stages: BTreeMap::from([("forest".into(), 0.25)]), whole: 1.0 };
        assert_eq!((of.factor("forest 3", 1), of.factor("forest 3", 4)), (1.0, 0.4375));
        assert_eq!(of.factor("ghosts", 4), 1.0);
        assert_eq!(ThreadScaling::new(&[]), None);
    }
}
