//! Tables 1 and 2 of Bleuler et al. 2015, beside those of a study.

use super::model::Modelled;
use super::sample::step_of;
use super::study::Study;
use super::table::{StudyTable, TableCell};

/// A quantity: its name, its values in the paper, and that of a modelled run.
type PaperRow = (&'static str, [f64; 2], fn(&Modelled) -> TableCell);

/// Table 1: runs of 1024 tasks on simulations of 512^3 and 1024^3 particles.
const MERGING: [PaperRow; 9] = [
    ("test cells", [104_360_968.0, 835_609_288.0], |m| total(m, "test_cells")),
    ("density peaks", [6_714_764.0, 53_994_995.0], |m| total(m, "peaks")),
    ("relevant clumps", [1_311_208.0, 10_612_079.0], |m| total(m, "clumps")),
    ("haloes", [521_185.0, 4_234_746.0], |m| total(m, "haloes")),
    ("seconds", [8.0, 38.9], |m| m.seconds.into()),
    ("exchanges for patches", [7.0, 9.0], |m| exchanges(m, &["ascent", "labels", "saddles"])),
    ("exchanges for noise", [21.0, 25.0], |m| exchanges(m, &["forest"])),
    ("exchanges for substructure", [14.0, 16.0], |m| exchanges(m, &["hierarchy"])),
    ("levels of substructure", [6.0, 7.0], |m| total(m, "levels")),
];

/// Table 2, by number of tasks: load imbalance, surface effect, connectivity, most ghosts over active, most
/// peaks and most entries of the saddle matrix on a task, most collisions of its hash table.
const BALANCE: [(u64, [f64; 7]); 7] = [
    (32, [1.4, 0.0087, 9.4, 0.012, 3.0e5, 3.3e6, 4.0]),
    (64, [1.5, 0.012, 9.4, 0.017, 1.6e5, 1.8e6, 3.0]),
    (128, [1.8, 0.016, 9.4, 0.044, 9.6e4, 1.2e6, 2.0]),
    (256, [2.4, 0.021, 9.3, 0.064, 6.4e4, 8.7e5, 3.0]),
    (512, [2.8, 0.030, 9.3, 0.10, 3.8e4, 6.3e5, 16.0]),
    (1024, [3.3, 0.040, 9.3, 0.15, 2.2e4, 4.7e5, 17.0]),
    (2048, [3.9, 0.055, 9.2, 0.24, 1.3e4, 3.0e5, 13.0]),
];

fn total(of: &Modelled, name: &str) -> TableCell {
    let n = of.totals.get(name).copied().flatten();
    n.map_or(TableCell::Empty, TableCell::Count)
}

fn exchanges(of: &Modelled, stages: &[&str]) -> TableCell {
    let rows = of.stages.iter().filter(|stage| stages.contains(&step_of(&stage.stage)));
    rows.map(|stage| stage.exchanges).sum::<u64>().into()
}

/// Whether the study has clumps of modelled ranks.
fn has_peaks(study: &Study) -> bool {
    study.modelled.iter().any(|m| !m.quantities.is_empty())
}

/// Table 1 with a column for each modelled number of ranks, of the first balance and number of threads.
pub(super) fn merging(study: &Study) -> StudyTable {
    let first = study.modelled.first();
    let alike = |m: &&Modelled| first.is_some_and(|of| (&m.balance, m.threads) == (&of.balance, of.threads));
    let runs: Vec<&Modelled> = study.modelled.iter().filter(alike).filter(|_| has_peaks(study)).collect();
    let header = ["quantity", "paper, 512^3", "paper, 1024^3"].map(String::from).into_iter();
    let row = |(name, paper, of): &PaperRow| {
        let paper = paper.map(|x| if x.fract() == 0.0 { TableCell::Count(x as u64) } else { x.into() });
        [vec![(*name).into()], paper.to_vec(), runs.iter().map(|run| of(run)).collect()].concat()
    };
    let merged = |level: usize| {
        let of_run =
            |run: &&Modelled| run.merges_per_level.get(level).map_or(TableCell::Empty, |n| (*n).into());
        let name = TableCell::Text(format!("clumps merged at level {}", level + 1));
        [vec![name, TableCell::Empty, TableCell::Empty], runs.iter().map(of_run).collect()].concat()
    };
    let n_levels = runs.iter().map(|run| run.merges_per_level.len()).max().unwrap_or(0);
    let rows = MERGING.iter().filter(|_| !runs.is_empty()).map(row).chain((0..n_levels).map(merged));
    StudyTable {
        name: "merging",
        title: "What is found, and the exchanges for it".into(),
        about: "Table 1 of Bleuler et al. 2015, whose iterations are exchanges, on 1024 tasks; then the modelled runs by \
                number of ranks. Here the merge tree (forest) serves every relevance, so noise needs no rounds of its own."
            .into(),
        header: header.chain(runs.iter().map(|run| format!("{} ranks", run.ranks))).collect(),
        rows: rows.collect(),
    }
}

/// Table 2 of the paper.
pub(super) fn balance(study: &Study) -> StudyTable {
    let header = [
        "ranks",
        "load imbalance",
        "surface effect",
        "connectivity",
        "most ghosts/active",
        "most peaks",
        "most saddle entries",
        "most collisions",
    ];
    let row = |(ranks, numbers): &(u64, [f64; 7])| {
        std::iter::once(TableCell::Count(*ranks))
            .chain(numbers.map(TableCell::from))
            .collect::<Vec<TableCell>>()
    };
    StudyTable {
        name: "paper",
        title: "The paper's own table, for comparison".into(),
        about: "Table 2 of Bleuler et al. 2015: a simulation of 512^3 particles with 104 million test cells, divided by \
                all cells. Its saddle matrix has every contact of two patches. Here most contacts are dropped as they are \
                found, so entries and connectivity are those of the contacts that are kept; there is no hash table \
                of peaks."
            .into(),
        header: header.map(String::from).to_vec(),
        rows: BALANCE.iter().filter(|_| has_peaks(study)).map(row).collect(),
    }
}
