//! For which other thresholds are clumps and haloes the same?
//!
//! One threshold varies, the others stay. Noise removal unites patches over the contacts at which noise dies,
//! that is where the persistence v of a peak is below the threshold R. So a clump has the same cells as long
//! as all deaths within it stay noise, and all deaths at its border do not:
//!
//! ```text
//!     greatest v of the noise in it  <  R  <=  least v of the contacts with other clumps
//! ```
//!
//! An isolated clump is listed up to its own relevance. Haloes are clumps and what is above the saddle
//! threshold S, so the same holds for them, but noise that dies above S stays in the halo in any case. Their
//! cells are also the same as long as
//!
//! ```text
//!     greatest saddle at the border of the halo  <=  S  <  least saddle between clumps in it
//! ```
//!
//! The significance of particles has no such ranges, because it also depends on the masses of clumps. Where
//! it decides, only the saddle threshold and the masses have ranges.
//!
//! Masses: the tree is cut again at both ends of a neighbourhood. All numbers are densities and sums of the
//! tree, so they are the same on any number of ranks and threads, and for a new cut of a stored tree.

use crate::bound::CentralChoice;
use crate::exchange::{grouped, looked_up};
use crate::phew::Rules;
use crate::phew::hierarchy::{Structures, structures};
use crate::phew::params::Thresholds;
use crate::phew::peaks::Peaks;
use crate::tables::column;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_io::catalogue::{Dimension, Table, TableColumn, Values};
use inselberg_kernels::ids::PeakName;
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::props::Structure;
use rustc_hash::FxHashMap;

/// The factor by which thresholds vary for the range of masses.
pub const NEIGHBOURHOOD: f64 = 1.5;

/// The column that catalogues with stability have.
const MASS_LOW: &str = "mass_low";

/// What a cut says of thresholds around its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stability {
    /// Saddle at which its highest peak dies; 0 if never.
    pub death: f64,
    /// Above this relevance threshold, and up to the second one, it has the same cells.
    pub relevance: [f64; 2],
    /// Up to this relevance threshold its highest peak is listed.
    pub relevance_listed: f64,
    /// From this saddle threshold on, and below the second one, a halo has the same cells.
    pub saddle: [f64; 2],
    /// Least and greatest mass in the neighbourhood of the thresholds; 0 where it is not listed.
    pub mass: [f64; 2],
}

/// Stability of the listed clumps and haloes of this rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Stabilities {
    /// By row of clumps, and of haloes.
    pub rows: [Vec<Stability>; 2],
    /// Whether the ranges of the relevance threshold are known.
    pub has_relevance: bool,
    /// Whether there is a saddle threshold.
    pub has_saddle: bool,
}

/// Whether a stored table of clumps has stability.
pub fn is_stored(clumps: &Table) -> bool {
    clumps.column(MASS_LOW).is_some()
}

/// What deaths say of a clump or halo.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Limits {
    /// Identifier, and 0 for a clump or 1 for a halo.
    id: u64,
    kind: u64,
    /// Greatest persistence of the noise that only the relevance threshold keeps in it; 0 without any.
    noise: f64,
    /// Least persistence of contacts at its border; infinite without any.
    border: f64,
    /// Greatest saddle at its border; 0 without any.
    border_saddle: f64,
    /// Least saddle between clumps in it; infinite without any.
    inner_saddle: f64,
    /// The saddle at which its highest peak dies, and its persistence there; 0 if never.
    death: [f64; 2],
}

impl Limits {
    fn new(id: u64, kind: usize) -> Self {
        Self {
            id,
            kind: kind as u64,
            noise: 0.0,
            border: f64::INFINITY,
            border_saddle: 0.0,
            inner_saddle: f64::INFINITY,
            death: [0.0; 2],
        }
    }

    fn merge(&mut self, other: &Self) {
        self.noise = self.noise.max(other.noise);
        self.border = self.border.min(other.border);
        self.border_saddle = self.border_saddle.max(other.border_saddle);
        self.inner_saddle = self.inner_saddle.min(other.inner_saddle);
        self.death = [0, 1].map(|i| self.death[i].max(other.death[i]));
    }
}

/// Clump and halo of a patch, by identifier; 0 for discarded ones.
type Ids = [u64; 2];

/// The limits of the clumps and haloes that deaths of own peaks are about.
struct AllLimits(FxHashMap<(u64, usize), Limits>);

impl AllLimits {
    /// Those of the clump or halo `id`; 0 has none.
    fn add(&mut self, id: u64, kind: usize, change: impl FnOnce(&mut Limits)) {
        if id > 0 {
            change(self.0.entry((id, kind)).or_insert_with(|| Limits::new(id, kind)));
        }
    }

    /// A peak that is noise.
    fn noise(&mut self, [clump, halo]: Ids, persistence: f64, stays_in_halo: bool) {
        self.add(clump, 0, |limits| limits.noise = limits.noise.max(persistence));
        if !stays_in_halo {
            self.add(halo, 1, |limits| limits.noise = limits.noise.max(persistence));
        }
    }

    /// A contact of two clumps.
    fn contact(&mut self, ends: [Ids; 2], persistence: f64, saddle: f64) {
        let is_inner = ends[0][1] == ends[1][1];
        for [clump, halo] in ends {
            self.add(clump, 0, |limits| limits.border = limits.border.min(persistence));
            self.add(halo, 1, |limits| match is_inner {
                true => limits.inner_saddle = limits.inner_saddle.min(saddle),
                false => {
                    limits.border = limits.border.min(persistence);
                    limits.border_saddle = limits.border_saddle.max(saddle);
                }
            });
        }
    }
}

/// Collective: the stability of the listed clumps and haloes. `found` is the cut at `thresholds`, which may
/// have left out small haloes since. `None` under RAMSES's rules, where equal saddles have an order of their
/// own. Four exchanges, and two more cuts.
///
/// # Errors
/// When another rank fails.
pub fn stabilities(
    peaks: &Peaks,
    found: &Structures,
    thresholds: &Thresholds,
    (rules, central): (Rules, CentralChoice),
    comm: &Comm,
) -> Result<Option<Stabilities>, CommError> {
    if rules == Rules::Ramses {
        return Ok(None);
    }
    let limits = limits(peaks, found, thresholds, comm)?;
    let others = around(thresholds).map(|cut| masses(peaks, &cut, central, found, comm));
    let [low, high] = others;
    let others = [low?, high?];
    let (persistence, density) = (thresholds.persistence, thresholds.density);
    let of = |kind: usize, row: &Structure| {
        let limits = limits.get(&(row.id, kind)).copied().unwrap_or_else(|| Limits::new(row.id, kind));
        let isolated = persistence.value(row.rho_peak, density);
        let relevance_listed = if limits.death[0] > 0.0 { limits.death[1] } else { isolated };
        let border = if limits.border.is_finite() { limits.border } else { isolated };
        let mass_at =
            |cut: &FxHashMap<(u64, usize), f64>| cut.get(&(row.peak_rank, kind)).copied().unwrap_or(0.0);
        let [a, b] = others.each_ref().map(mass_at);
        Stability {
            death: limits.death[0],
            relevance: [limits.noise, border],
            relevance_listed,
            saddle: [limits.border_saddle, limits.inner_saddle],
            mass: [row.mass.min(a).min(b), row.mass.max(a).max(b)],
        }
    };
    let rows = [
        found.clumps.iter().map(|row| of(0, row)).collect(),
        found.haloes.iter().map(|row| of(1, row)).collect(),
    ];
    let has_relevance = peaks.prominence.is_none() || thresholds.least_significance() == 0.0;
    Ok(Some(Stabilities { rows, has_relevance, has_saddle: thresholds.saddle.is_some() }))
}

/// The thresholds at both ends of the neighbourhood: the one with the smallest clumps and haloes, and the one
/// with the largest. All clumps and haloes are listed there.
fn around(thresholds: &Thresholds) -> [Thresholds; 2] {
    [1.0 / NEIGHBOURHOOD, NEIGHBOURHOOD].map(|factor| Thresholds {
        persistence: thresholds.persistence.with(thresholds.persistence.threshold() * factor),
        saddle: thresholds.saddle.map(|saddle| saddle / factor),
        halo_relevance: thresholds.halo_relevance.map(|least| least * factor),
        mass: 0.0,
        min_cells: 0,
        ..*thresholds
    })
}

/// Collective: the limits of the listed rows of this rank, by identifier and kind.
fn limits(
    peaks: &Peaks,
    found: &Structures,
    thresholds: &Thresholds,
    comm: &Comm,
) -> Result<FxHashMap<(u64, usize), Limits>, CommError> {
    let all = limits_by_own_peaks(peaks, found, thresholds, comm)?;
    let mut sent: Vec<(Rank, Limits)> =
        all.0.into_values().map(|limits| (keeper(limits.id, comm), limits)).collect();
    sent.sort_unstable_by_key(|(to, limits)| (*to, limits.kind, limits.id));
    let received = comm.exchange(grouped(&sent, |item| *item))?;
    let mut kept: FxHashMap<(u64, usize), Limits> = FxHashMap::default();
    for of in received.into_iter().flat_map(|(_, of)| of) {
        kept.entry((of.id, of.kind as usize)).and_modify(|limits| limits.merge(&of)).or_insert(of);
    }
    let mut answers = FxHashMap::default();
    for (kind, rows) in [&found.clumps, &found.haloes].into_iter().enumerate() {
        let asked = rows.iter().map(|row| row.id).collect();
        let value = |id: u64| kept.get(&(id, kind)).copied().unwrap_or_else(|| Limits::new(id, kind));
        let received = looked_up(asked, |id| keeper(id, comm), value, comm)?;
        answers.extend(received.into_iter().map(|(id, limits)| ((id, kind), limits)));
    }
    Ok(answers)
}

/// Collective: what the deaths of own peaks say of clumps and haloes, which may have rows on any rank.
fn limits_by_own_peaks(
    peaks: &Peaks,
    found: &Structures,
    thresholds: &Thresholds,
    comm: &Comm,
) -> Result<AllLimits, CommError> {
    let mut all = AllLimits(FxHashMap::default());
    let mut is_head = vec![false; peaks.len()];
    found.clump_peaks.iter().for_each(|peak| is_head[peak.at()] = true);
    let ids = |i: usize| [found.clump_of_patch[i], found.halo_of_patch[i]];
    let dies = |i: &usize| !peaks.tree.death[*i].is_never();
    let ends = |i: usize| {
        let death = &peaks.tree.death[i];
        [death.near, death.endpoint].map(|patch| peaks.name_of(patch))
    };
    let kept: Vec<usize> = (0..peaks.len()).filter(dies).filter(|i| is_head[*i]).collect();
    let asked: Vec<u64> = kept.iter().flat_map(|i| ends(*i)).map(PeakName::word).collect();
    let answer = |word: u64| ids(peaks.own(PeakName::from_word(word)).expect("its owner is asked").at());
    let ids_of = looked_up(asked, |word| Rank(PeakName::from_word(word).owner()), answer, comm)?;
    let facts = |i: usize| {
        let saddle = peaks.tree.death[i].saddle;
        (thresholds.persistence.value(peaks.tree.rho[i], saddle), saddle)
    };
    let cut = thresholds.cut();
    let merges = |i: usize, saddle: f64| cut.merges(peaks.tree.rho[i], saddle);
    for i in (0..peaks.len()).filter(dies).filter(|i| !is_head[*i]) {
        let (persistence, saddle) = facts(i);
        all.noise(ids(i), persistence, merges(i, saddle));
    }
    for i in kept {
        let (persistence, saddle) = facts(i);
        all.contact(ends(i).map(|end| ids_of[&end.word()]), persistence, saddle);
        // A peak that dies is the highest one of its clump; of its halo, unless it merges.
        let [clump, halo] = ids(i);
        all.add(clump, 0, |limits| limits.death = [saddle, persistence]);
        if !merges(i, saddle) {
            all.add(halo, 1, |limits| limits.death = [saddle, persistence]);
        }
    }
    Ok(all)
}

/// The rank that keeps what is known of an identifier or a place.
fn keeper(id: u64, comm: &Comm) -> Rank {
    Rank((id % comm.n_ranks() as u64) as u32)
}

/// The mass of a clump or halo of another cut, by the place of its highest peak.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct MassOfPeak {
    peak_rank: u64,
    mass: f64,
}

/// Collective: the masses that the clumps and haloes of `found` have at these thresholds, by the place of
/// their highest peak and their kind. 0 where that peak is the highest of none.
fn masses(
    peaks: &Peaks,
    thresholds: &Thresholds,
    central: CentralChoice,
    found: &Structures,
    comm: &Comm,
) -> Result<FxHashMap<(u64, usize), f64>, CommError> {
    let other = structures(peaks, thresholds, Rules::Paper, central, comm)?;
    let mut masses = FxHashMap::default();
    let lists = [(&other.clumps, &found.clumps), (&other.haloes, &found.haloes)];
    for (kind, (others, rows)) in lists.into_iter().enumerate() {
        let record = |row: &Structure| {
            (keeper(row.peak_rank, comm), MassOfPeak { peak_rank: row.peak_rank, mass: row.mass })
        };
        let mut sent: Vec<(Rank, MassOfPeak)> = others.iter().map(record).collect();
        sent.sort_unstable_by_key(|(to, of)| (*to, of.peak_rank));
        let received = comm.exchange(grouped(&sent, |item| *item))?;
        let kept: FxHashMap<u64, f64> =
            received.into_iter().flat_map(|(_, of)| of).map(|of| (of.peak_rank, of.mass)).collect();
        let asked = rows.iter().map(|row| row.peak_rank).collect();
        let value = |place: u64| kept.get(&place).copied().unwrap_or(0.0);
        let found = looked_up(asked, |place| keeper(place, comm), value, comm)?;
        masses.extend(found.into_iter().map(|(place, mass)| ((place, kind), mass)));
    }
    Ok(masses)
}

impl Stabilities {
    /// The columns of clumps (kind 0) or haloes (kind 1).
    pub fn columns(&self, kind: usize, persistence: Persistence) -> Vec<TableColumn> {
        let rows = &self.rows[kind];
        let reals = |of: &dyn Fn(&Stability) -> f64| Values::F64(rows.iter().map(of).collect());
        let density = Dimension::DENSITY;
        let measure = if persistence.is_difference() { density } else { Dimension::NONE };
        let mut columns = vec![column(
            "death_density",
            density,
            "density of the saddle where its peak's component meets a higher peak's; 0 if never",
            reals(&|of| of.death),
        )];
        if self.has_relevance {
            let names = [
                (
                    "relevance_same_low",
                    "above this relevance threshold, up to relevance_same_high, it has the same cells",
                ),
                ("relevance_same_high", "greatest relevance threshold with the same cells"),
                ("relevance_listed_high", "greatest relevance threshold at which its peak is listed"),
            ];
            let of: [fn(&Stability) -> f64; 3] =
                [|of| of.relevance[0], |of| of.relevance[1], |of| of.relevance_listed];
            columns.extend(
                names.iter().zip(of).map(|((name, text), of)| column(name, measure, text, reals(&of))),
            );
        }
        if kind == 1 && self.has_saddle {
            let low =
                "from this saddle threshold on, below saddle_same_high, it has the same cells; 0 for any";
            let high = "below this saddle threshold it has the same cells; infinite without one";
            columns.push(column("saddle_same_low", density, low, reals(&|of| of.saddle[0])));
            columns.push(column("saddle_same_high", density, high, reals(&|of| of.saddle[1])));
        }
        let about =
            "mass within a factor 1.5 of the relevance and the saddle threshold; 0 where it is not listed";
        for (i, (name, word)) in [(MASS_LOW, "least"), ("mass_high", "greatest")].into_iter().enumerate() {
            let text = format!("{word} {about}");
            columns.push(column(name, Dimension::MASS, &text, reals(&|of| of.mass[i])));
        }
        columns
    }
}
