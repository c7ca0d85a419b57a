//! A series of catalogues of haloes that move, grow, merge, pass through each other and are stripped, with
//! their true history.
//!
//! | file | content |
//! |---|---|
//! | `rules` | the evolution of haloes from one output to the next |
//! | `encounters` | how strongly haloes disturb each other: gentle or hard rules |
//! | `sight` | the haloes and members that a finder lists, with its noise |
//! | `catalogue` | the catalogue of an output |
//! | `truth` | the true links, as a catalogue of a merger tree |
//!
//! Haloes are lists of particles, the most bound first; there are no forces. One output is in memory at a
//! time, in addition to the lists.
//! The same parameters give the same bytes.

mod catalogue;
mod encounters;
mod rules;
mod sight;
mod truth;

use super::stream::{Permutation, Purpose};
pub use encounters::SeriesRules;
use inselberg_io::catalogue::Catalogue;
use rules::Haloes;
use sight::FinderSight;
use truth::Truth;

/// The parameters of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesParams {
    /// Number of outputs.
    pub outputs: u32,
    /// Approximate number of members per output.
    pub members: u64,
    /// Seed.
    pub seed: u64,
    /// How strongly haloes disturb each other.
    pub rules: SeriesRules,
}

/// A series that is being made.
pub struct SynthSeries {
    params: SeriesParams,
    identities: Permutation,
    haloes: Haloes,
    truth: Truth,
    /// Outputs that are made.
    n_made: u32,
}

impl SynthSeries {
    /// The haloes before the first output. Memory: 8 bytes per particle, and about 100 while an output is
    /// made.
    pub fn new(params: SeriesParams) -> Self {
        Self {
            params,
            // Identities have up to 62 bits, so programs that take them for doubles are found out.
            identities: Permutation::new(1 << 62, params.seed, Purpose::Identity),
            haloes: Haloes::new(params),
            truth: Truth::default(),
            n_made: 0,
        }
    }

    /// The catalogue of the next output; `None` after the last one.
    pub fn next_output(&mut self) -> Option<Catalogue> {
        if self.n_made == self.params.outputs {
            return None;
        }
        if self.n_made > 0 {
            self.haloes.step(self.n_made);
        }
        let seen = FinderSight { seed: self.params.seed, output: self.n_made }.look(&self.haloes);
        let output = catalogue::SeriesOutput { params: self.params, index: self.n_made };
        let listed = output.rows(&self.haloes, &seen);
        let identity = |counter| self.identities.image(counter);
        self.truth.add(&output, &listed, identity);
        self.n_made += 1;
        Some(output.catalogue(&listed, identity))
    }

    /// The true history of the outputs that are made: a catalogue of a merger tree without orphans.
    pub fn truth(&self) -> Catalogue {
        self.truth.catalogue(&self.haloes, self.params)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_io::catalogue::Values;
    use std::collections::HashSet;

    const SMALL: SeriesParams =
        SeriesParams { outputs: 6, members: 20_000, seed: 3, rules: SeriesRules::Gentle };

    fn all(params: SeriesParams) -> (Vec<Catalogue>, Catalogue) {
        let mut series = SynthSeries::new(params);
        let outputs = std::iter::from_fn(|| series.next_output()).collect();
        (outputs, series.truth())
    }

    #[test]
    fn a_series_is_a_function_of_its_parameters() {
        assert!(all(SMALL) == all(SMALL));
        assert!(all(SMALL) != all(SeriesParams { seed: 4, ..SMALL }));
        assert!(all(SMALL) != all(SeriesParams { rules: SeriesRules::Hard, ..SMALL }));
    }

    #[test]
    fn each_particle_is_bound_once_and_counts_agree() {
        let rules = [SeriesRules::Gentle, SeriesRules::Hard];
        let outputs: Vec<Catalogue> =
            rules.into_iter().flat_map(|rules| all(SeriesParams { rules, ..SMALL }).0).collect();
        assert_eq!(outputs.len(), 12);
        for output in outputs {
            let (clumps, members) =
                (output.table("clumps").expect("one"), output.table("members").expect("one"));
            let ids = members.counts("id").expect("identities");
            assert!((10_000..40_000).contains(&ids.len()), "{}", ids.len());
            assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
            let (first, n) =
                (clumps.counts("members_offset").expect("rows"), clumps.counts("n_bound").expect("numbers"));
            assert_eq!(n.iter().sum::<u64>(), ids.len() as u64);
            let (owner, id) =
                (members.counts("clump").expect("owners"), clumps.counts("id").expect("identifiers"));
            for row in 0..id.len() {
                let range = first[row] as usize..(first[row] + n[row]) as usize;
                assert!(n[row] >= 20 && owner[range].iter().all(|clump| *clump == id[row]));
            }
        }
    }

    /// Haloes go on, merge, are missed and end; a descendant is later, and its list of progenitors has each
    /// of them once.
    #[test]
    fn true_links_are_a_forest() {
        let (_, truth) = all(SMALL);
        let nodes = truth.table("nodes").expect("nodes");
        let [descendant, main, next] = ["descendant", "main_progenitor", "next_progenitor"]
            .map(|name| nodes.integers(name).expect("links"));
        let (snapshot, track) =
            (nodes.counts("snapshot").expect("snapshots"), nodes.counts("track").expect("tracks"));
        let Values::U8(fate) = &nodes.column("fate").expect("fates").values else {
            panic!("fates are bytes")
        };
        let (mut gaps, mut mergers) = (0, 0);
        let mut seen = vec![0; descendant.len()];
        for node in 0..descendant.len() {
            let mut progenitor = main[node];
            while progenitor >= 0 {
                assert_eq!(descendant[progenitor as usize], node as i64);
                seen[progenitor as usize] += 1;
                progenitor = next[progenitor as usize];
            }
            let Ok(to) = usize::try_from(descendant[node]) else { continue };
            assert!(snapshot[to] > snapshot[node]);
            assert_eq!(track[to] == track[node], fate[node] == 0);
            gaps += usize::from(snapshot[to] > snapshot[node] + 1);
            mergers += usize::from(fate[node] != 0);
        }
        assert!((0..seen.len()).all(|node| seen[node] == i32::from(descendant[node] >= 0)));
        assert!(gaps > 5 && mergers > 5, "{gaps} {mergers}");
    }
}
