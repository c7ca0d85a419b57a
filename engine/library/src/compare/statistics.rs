//! Completeness and purity by size, ratios, offsets, splits and disagreements.

use super::CatalogueComparison;
use super::params::CompareParams;
use super::partners::{LevelComparison, ObjectPair};
use super::places::distance;
use super::scaled::LevelKind;

/// Sizes at which ranges begin, beside the least size.
const EDGES: [u64; 4] = [50, 100, 300, 1000];
/// A ratio that is off by more than this is counted.
const OFF: f64 = 0.1;
/// An offset beyond this part of the radius is counted.
const FAR: f64 = 0.05;

/// Objects of a range of sizes, and those with a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SizeCount {
    /// The least size.
    pub from: u64,
    /// Sizes are below this; `None` for no limit.
    pub below: Option<u64>,
    /// Objects.
    pub n: u64,
    /// Those that are found.
    pub n_found: u64,
    /// Satellites among them; `None` if the catalogue does not tell them apart.
    pub n_satellites: Option<u64>,
    /// Satellites that are found.
    pub n_satellites_found: Option<u64>,
}

/// The sizes: `20-49`, or `1000+`.
impl std::fmt::Display for SizeCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.below {
            Some(below) => write!(f, "{}-{}", self.from, below - 1),
            None => write!(f, "{}+", self.from),
        }
    }
}

/// Ratios of a quantity of the first catalogue over the second one.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Ratios {
    /// The quantity.
    pub quantity: &'static str,
    /// The least size in the second catalogue.
    pub from: u64,
    /// Pairs.
    pub n: u64,
    /// The percentiles 5, 50 and 95.
    pub percentiles: [f64; 3],
    /// The least and the largest ratio.
    pub range: [f64; 2],
    /// The part that is off by more than 10 %.
    pub off: f64,
}

/// Distances of centres, over a radius of the second catalogue.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CentreOffsets {
    /// The radius.
    pub radius: &'static str,
    /// The least size in the second catalogue.
    pub from: u64,
    /// Pairs.
    pub n: u64,
    /// The percentiles 50 and 95.
    pub percentiles: [f64; 2],
    /// The part beyond 0.05 radii.
    pub far: f64,
}

/// An object of one catalogue with several pieces in the other one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Partition {
    /// Its row.
    pub whole: u32,
    /// The rows of the pieces, and the part of its members in each; the largest first.
    pub pieces: Vec<(u32, f64)>,
}

/// Two objects that are partners, or one without a partner, and how much they differ.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Disagreement {
    /// The row of the object of the first catalogue.
    pub a: Option<u32>,
    /// That of the second one.
    pub b: Option<u32>,
    /// Number of members that are not in common; for pairs by place, the difference of masses.
    pub apart: f64,
}

/// The value below which a part of the values lies, between neighbours in proportion. The values ascend.
fn percentile(values: &[f64], part: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    let at = part * last as f64;
    let below = at.floor() as usize;
    let (low, high) = (values[below], values[(below + 1).min(last)]);
    let part = at - below as f64;
    // From the nearer end, as NumPy does.
    if part < 0.5 { low + part * (high - low) } else { high - (1.0 - part) * (high - low) }
}

/// The least size, and the edges above it.
pub fn edges(params: &CompareParams) -> Vec<u64> {
    let least = params.least_members;
    std::iter::once(least).chain(EDGES.into_iter().filter(|edge| *edge > least)).collect()
}

impl LevelComparison {
    /// By size in the second catalogue: the objects that are found in the first one.
    pub fn completeness(&self, params: &CompareParams) -> Vec<SizeCount> {
        let is_found = |row: usize| self.partner_of_b(row).is_some_and(|pair| self.is_find(pair, params));
        counts(&self.b.size, self.b.is_satellite.as_deref(), is_found, params)
    }

    /// By size in the first catalogue: the objects that are found in the second one.
    pub fn purity(&self, params: &CompareParams) -> Vec<SizeCount> {
        let is_found = |row: usize| self.partner_of_a(row).is_some_and(|pair| self.is_find(pair, params));
        counts(&self.a.size, self.a.is_satellite.as_deref(), is_found, params)
    }

    /// Pairs in which each is the best partner of the other and that count as finds, with the least size in
    /// one of the catalogues.
    pub fn mutual<'a>(&'a self, params: &'a CompareParams) -> impl Iterator<Item = &'a ObjectPair> + 'a {
        let is_large = |pair: &&ObjectPair| {
            let size = self.a.size[pair.a as usize].max(self.b.size[pair.b as usize]);
            size >= params.least_members
        };
        self.pairs.iter().filter(is_large).filter(|pair| self.is_mutual(pair) && self.is_find(pair, params))
    }

    /// The finds of the objects of the second catalogue with at least this size.
    fn finds<'a>(
        &'a self,
        from: u64,
        params: &'a CompareParams,
    ) -> impl Iterator<Item = &'a ObjectPair> + 'a {
        let partners = self.b.at_least(from).filter_map(|row| self.partner_of_b(row));
        partners.filter(|pair| self.is_find(pair, params))
    }

    /// Ratios of members, masses, maximum circular velocities and radii, from each size on.
    pub fn ratios(&self, params: &CompareParams) -> Vec<Ratios> {
        let reals = |n: &[u64]| Some(n.iter().map(|n| *n as f64).collect::<Vec<f64>>());
        let quantities = [
            ("members", reals(&self.a.n_members), reals(&self.b.n_members)),
            ("mass", Some(self.a.mass.clone()), Some(self.b.mass.clone())),
            ("maximum circular velocity", self.a.vmax.clone(), self.b.vmax.clone()),
            ("half-mass radius", self.a.radius.clone(), self.b.radius.clone()),
            ("mass 200 crit", self.a.mass_200.clone(), self.b.mass_200.clone()),
            ("radius 200 crit", self.a.radius_200.clone(), self.b.radius_200.clone()),
        ];
        let mut all = Vec::new();
        for (quantity, of_a, of_b) in quantities {
            let (Some(of_a), Some(of_b)) = (of_a, of_b) else { continue };
            for from in edges(params) {
                let pairs = self.finds(from, params).filter(|pair| of_b[pair.b as usize] > 0.0);
                let mut ratios: Vec<f64> =
                    pairs.map(|pair| of_a[pair.a as usize] / of_b[pair.b as usize]).collect();
                all.extend(summary_of(quantity, from, &mut ratios));
            }
        }
        all
    }

    /// Distances of centres over the radius of 200 times the critical density, or else of half the mass.
    pub fn offsets(&self, params: &CompareParams) -> Vec<CentreOffsets> {
        let lists =
            [("radius 200 crit", self.b.radius_200.as_ref()), ("half-mass radius", self.b.radius.as_ref())];
        let Some((radius, radii)) = lists.into_iter().find_map(|(name, list)| Some((name, list?))) else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for from in edges(params) {
            let pairs = self.finds(from, params).filter(|pair| radii[pair.b as usize] > 0.0);
            let mut offsets: Vec<f64> =
                pairs.map(|pair| self.offset(pair) / radii[pair.b as usize]).collect();
            if offsets.is_empty() {
                continue;
            }
            offsets.sort_unstable_by(f64::total_cmp);
            let n_far = offsets.iter().filter(|offset| **offset > FAR).count();
            all.push(CentreOffsets {
                radius,
                from,
                n: offsets.len() as u64,
                percentiles: [0.5, 0.95].map(|part| percentile(&offsets, part)),
                far: n_far as f64 / offsets.len() as f64,
            });
        }
        all
    }

    /// The distance of the centres of a pair.
    pub fn offset(&self, pair: &ObjectPair) -> f64 {
        distance(self.a.position[pair.a as usize], self.b.position[pair.b as usize], self.side)
    }

    /// Objects of the second catalogue that are in several pieces in the first one. Empty without members.
    pub fn splits(&self, params: &CompareParams) -> Vec<Partition> {
        self.partitions(params, false)
    }

    /// Objects of the first catalogue that are in several pieces in the second one. Empty without members.
    pub fn mergers(&self, params: &CompareParams) -> Vec<Partition> {
        self.partitions(params, true)
    }

    fn partitions(&self, params: &CompareParams, of_a: bool) -> Vec<Partition> {
        if !self.by_members {
            return Vec::new();
        }
        let (wholes, n) = if of_a { (&self.a, &self.n[0]) } else { (&self.b, &self.n[1]) };
        let mut pieces: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n.len()];
        for pair in &self.pairs {
            let (whole, piece) = if of_a { (pair.a, pair.b) } else { (pair.b, pair.a) };
            let share = pair.n_shared as f64 / n[whole as usize] as f64;
            if share >= params.least_share {
                pieces[whole as usize].push((piece, share));
            }
        }
        let mut all = Vec::new();
        for row in wholes.at_least(params.least_members) {
            let mut pieces = std::mem::take(&mut pieces[row]);
            if pieces.len() > 1 {
                pieces.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                all.push(Partition { whole: row as u32, pieces });
            }
        }
        all.sort_by(|a, b| {
            let size = |partition: &Partition| wholes.size[partition.whole as usize];
            size(b).cmp(&size(a)).then(a.whole.cmp(&b.whole))
        });
        all
    }

    /// Partners, and objects without one, by how much they differ: by members that are not in common, or by
    /// mass for pairs by place. At most `n`, the largest difference first.
    pub fn disagreements(&self, n: usize, params: &CompareParams) -> Vec<Disagreement> {
        let mut all: Vec<Disagreement> = Vec::new();
        for pair in self.mutual(params) {
            let (a, b) = (pair.a as usize, pair.b as usize);
            let apart = match self.by_members {
                true => (self.n[0][a] + self.n[1][b] - 2 * pair.n_shared) as f64,
                false => (self.a.mass[a] - self.b.mass[b]).abs(),
            };
            all.push(Disagreement { a: Some(pair.a), b: Some(pair.b), apart });
        }
        let is_alone = |pair: Option<&ObjectPair>| {
            pair.is_none_or(|pair| !self.is_mutual(pair) || !self.is_find(pair, params))
        };
        let whole = |i: usize, row: usize| match self.by_members {
            true => self.n[i][row] as f64,
            false => [&self.a, &self.b][i].mass[row],
        };
        for row in self.a.at_least(params.least_members).filter(|row| is_alone(self.partner_of_a(*row))) {
            all.push(Disagreement { a: Some(row as u32), b: None, apart: whole(0, row) });
        }
        for row in self.b.at_least(params.least_members).filter(|row| is_alone(self.partner_of_b(*row))) {
            all.push(Disagreement { a: None, b: Some(row as u32), apart: whole(1, row) });
        }
        all.retain(|of| of.apart > 0.0);
        all.sort_by(|x, y| y.apart.total_cmp(&x.apart).then((x.a, x.b).cmp(&(y.a, y.b))));
        all.truncate(n);
        all
    }
}

impl CatalogueComparison {
    /// Hosts that are partners of each other, of which both state a central object: their number, and the
    /// rows of those whose central objects are not partners. `None` without both levels.
    pub fn centrals(&self) -> Option<(u64, Vec<(u32, u32)>)> {
        let of = |kind: LevelKind| self.levels.iter().find(|level| level.kind == kind);
        let (objects, hosts) = (of(LevelKind::Objects)?, of(LevelKind::Hosts)?);
        let (of_a, of_b) = (hosts.a.central.as_ref()?, hosts.b.central.as_ref()?);
        let (mut n, mut differ) = (0, Vec::new());
        for pair in hosts.mutual(&self.params) {
            let (Some(a), Some(b)) = (of_a[pair.a as usize], of_b[pair.b as usize]) else { continue };
            n += 1;
            let partner = objects.partner_of_a(a as usize).map(|pair| pair.b);
            if partner != Some(b) {
                differ.push((pair.a, pair.b));
            }
        }
        Some((n, differ))
    }
}

fn counts(
    sizes: &[u64],
    is_satellite: Option<&[bool]>,
    is_found: impl Fn(usize) -> bool,
    params: &CompareParams,
) -> Vec<SizeCount> {
    let edges = edges(params);
    let zero = is_satellite.map(|_| 0);
    let range = |i: usize| SizeCount {
        from: edges[i],
        below: edges.get(i + 1).copied(),
        n_satellites: zero,
        n_satellites_found: zero,
        ..SizeCount::default()
    };
    let mut ranges: Vec<SizeCount> = (0..edges.len()).map(range).collect();
    for (row, size) in sizes.iter().enumerate() {
        let Some(at) = edges.iter().rposition(|edge| size >= edge) else { continue };
        let (range, found) = (&mut ranges[at], u64::from(is_found(row)));
        range.n += 1;
        range.n_found += found;
        if is_satellite.is_some_and(|satellites| satellites[row]) {
            range.n_satellites = range.n_satellites.map(|n| n + 1);
            range.n_satellites_found = range.n_satellites_found.map(|n| n + found);
        }
    }
    ranges
}

fn summary_of(quantity: &'static str, from: u64, ratios: &mut [f64]) -> Option<Ratios> {
    ratios.sort_unstable_by(f64::total_cmp);
    let (first, last) = (*ratios.first()?, *ratios.last()?);
    let n_off = ratios.iter().filter(|ratio| (**ratio - 1.0).abs() > OFF).count();
    Some(Ratios {
        quantity,
        from,
        n: ratios.len() as u64,
        percentiles: [0.05, 0.5, 0.95].map(|part| percentile(ratios, part)),
        range: [first, last],
        off: n_off as f64 / ratios.len() as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_numpy() {
        let values = [1.0, 2.0, 4.0, 8.0];
        let found = [0.05, 0.5, 0.95].map(|part| percentile(&values, part));
        // numpy.percentile([1, 2, 4, 8], (5, 50, 95))
        assert_eq!(found, [1.15, 3.0, 7.399_999_999_999_999]);
        assert!(percentile(&[], 0.5).is_nan());
        assert_eq!(percentile(&[5.0], 0.95), 5.0);
    }
}
