//! The page of a comparison: completeness, ratios, and the largest disagreements, level by level.

use super::frame;
use crate::report::html::{HtmlCell, escaped, figure, table};
use crate::report::plot::{completeness_svg, ratios_svg};
use crate::report::summary::grouped;
use crate::report::units::four_digits;
use inselberg::compare::{
    CatalogueComparison, CentreOffsets, Disagreement, LevelComparison, Partition, Ratios, SizeCount,
};

/// The content of the page.
#[derive(Debug)]
pub struct ComparisonReport<'a> {
    /// Its title.
    pub title: String,
    /// The command and its input: names and values.
    pub facts: Vec<(&'static str, String)>,
    /// The comparison.
    pub compared: &'a CatalogueComparison,
    /// The first difference of two catalogues of this program, in words.
    pub difference: Option<String>,
    /// Rows of the lists of disagreements.
    pub n_listed: usize,
}

/// The page.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn comparison_page(data: &ComparisonReport<'_>) -> Result<String, String> {
    let compared = data.compared;
    let mut text = frame::warnings(&compared.notes);
    text += &frame::facts(&data.facts);
    if let Some(difference) = &data.difference {
        text += &format!("<p id=\"difference\">First difference: {}.</p>\n", escaped(difference));
    }
    for (i, level) in compared.levels.iter().enumerate() {
        text += &level_section(i, level, data)?;
    }
    if let Some((n, differ)) = compared.centrals() {
        text += &format!(
            "<p id=\"centrals\">Central objects that are not partners: {} of {}.</p>\n",
            grouped(differ.len() as i64),
            grouped(n as i64)
        );
    }
    Ok(frame::page(&data.title, &text))
}

fn level_section(i: usize, level: &LevelComparison, data: &ComparisonReport<'_>) -> Result<String, String> {
    let params = &data.compared.params;
    let how = match level.by_members {
        true => "by members in common: score n\u{b2} / (n_A n_B)",
        false => "by place and mass: members of both are not known",
    };
    let n_mutual = grouped(level.mutual(params).count() as i64);
    let mut text = format!("<h2 id=\"level-{i}\">{}</h2>\n", escaped(&level.title()));
    text += &format!("<p>{n_mutual} pairs of best partners, matched {how}.</p>\n<div class=\"maps\">\n");
    let (of_a, of_b) = (level.purity(params), level.completeness(params));
    let caption = "Found objects by size: of the second catalogue (completeness), of the first one (purity)";
    text += &figure(
        &format!("completeness-{i}"),
        "masses",
        &completeness_svg(level.size_word(), &of_a, &of_b)?,
        caption,
    );
    let masses = level.mutual(params).map(|of| [level.a.mass[of.a as usize], level.b.mass[of.b as usize]]);
    let has_logarithms = |pair: &[f64; 2]| pair.iter().all(|mass| *mass > 0.0 && mass.is_finite());
    let masses: Vec<[f64; 2]> = masses.filter(has_logarithms).collect();
    if !masses.is_empty() {
        let caption = "Mass of each pair: first over second catalogue";
        text += &figure(&format!("ratios-{i}"), "masses", &ratios_svg(&masses)?, caption);
    }
    text += "</div>\n";
    text += &sizes(i, level.size_word(), &of_a, &of_b);
    text += &ratios(i, level, data);
    if level.by_members {
        let lists = [("splits", level.splits(params), "second"), ("mergers", level.mergers(params), "first")];
        for (name, list, of) in lists {
            let word = if of == "first" { level.a.word } else { level.b.word };
            let caption =
                format!("{word} of the {of} catalogue in several pieces: {}", grouped(list.len() as i64));
            text += &partitions(&format!("{name}-{i}"), &caption, &list, level, of == "first", data.n_listed);
        }
    }
    text += &disagreements(i, level, data);
    Ok(text)
}

fn count(n: u64) -> HtmlCell {
    HtmlCell::number(n as f64, grouped(n as i64))
}

fn real(x: f64) -> HtmlCell {
    HtmlCell::number(x, four_digits(x))
}

fn sizes(i: usize, size_word: &str, of_a: &[SizeCount], of_b: &[SizeCount]) -> String {
    let names =
        [size_word, "second", "found", "satellites", "found", "first", "found", "satellites", "found"];
    let optional = |n: Option<u64>| n.map_or(HtmlCell::text("-"), count);
    let of = |of: &SizeCount| {
        [count(of.n), count(of.n_found), optional(of.n_satellites), optional(of.n_satellites_found)]
    };
    let row = |(a, b): (&SizeCount, &SizeCount)| {
        let mut row = vec![HtmlCell::text(b.to_string())];
        row.extend(of(b));
        row.extend(of(a));
        row
    };
    let rows: Vec<_> = of_a.iter().zip(of_b).map(row).collect();
    table(&format!("sizes-{i}"), "Found objects by size", &names.map(String::from), &rows, false)
}

fn ratios(i: usize, level: &LevelComparison, data: &ComparisonReport<'_>) -> String {
    let names =
        ["first / second", level.size_word(), "pairs", "p5", "p50", "p95", "min", "max", "off by 10 %"];
    let params = &data.compared.params;
    let ratio = |of: &Ratios| {
        let mut row = vec![HtmlCell::text(of.quantity), HtmlCell::text(format!("{}+", of.from)), count(of.n)];
        row.extend(of.percentiles.iter().chain(&of.range).map(|x| real(*x)));
        row.push(HtmlCell::number(of.off, format!("{:.1} %", 100.0 * of.off)));
        row
    };
    let rows: Vec<_> = level.ratios(params).iter().map(ratio).collect();
    let mut text =
        table(&format!("table-ratios-{i}"), "Ratios of pairs", &names.map(String::from), &rows, true);
    let offset = |of: &CentreOffsets| {
        let far = HtmlCell::number(of.far, format!("{:.1} %", 100.0 * of.far));
        let [p50, p95] = of.percentiles.map(real);
        vec![HtmlCell::text(of.radius), HtmlCell::text(format!("{}+", of.from)), count(of.n), p50, p95, far]
    };
    let rows: Vec<_> = level.offsets(params).iter().map(offset).collect();
    if !rows.is_empty() {
        let names = ["over", level.size_word(), "pairs", "p50", "p95", "beyond 0.05"].map(String::from);
        text += &table(&format!("offsets-{i}"), "Distances of centres", &names, &rows, false);
    }
    text
}

fn partitions(
    id: &str,
    caption: &str,
    list: &[Partition],
    level: &LevelComparison,
    of_a: bool,
    n_listed: usize,
) -> String {
    let (wholes, pieces) = if of_a { (&level.a, &level.b) } else { (&level.b, &level.a) };
    let row = |of: &Partition| {
        let parts = of
            .pieces
            .iter()
            .map(|(row, share)| format!("{}: {:.0} %", pieces.id[*row as usize], 100.0 * share));
        let whole = of.whole as usize;
        vec![
            HtmlCell::number(wholes.id[whole] as f64, wholes.id[whole].to_string()),
            count(wholes.size[whole]),
            HtmlCell::text(parts.collect::<Vec<_>>().join(", ")),
        ]
    };
    let rows: Vec<_> = list.iter().take(n_listed).map(row).collect();
    let names = ["object", wholes.size_word, "pieces in the other catalogue"].map(String::from);
    table(id, caption, &names, &rows, true)
}

fn disagreements(i: usize, level: &LevelComparison, data: &ComparisonReport<'_>) -> String {
    let apart = if level.by_members { "members not in common" } else { "masses apart" };
    let names = ["first", "members", "mass", "second", "members", "mass", apart].map(String::from);
    let listed = level.disagreements(data.n_listed, &data.compared.params);
    let row = |Disagreement { a, b, apart, .. }: &Disagreement| {
        let mut row = Vec::new();
        for (of, at) in [(&level.a, a), (&level.b, b)] {
            match at.map(|at| at as usize) {
                Some(at) => row.extend([
                    HtmlCell::number(of.id[at] as f64, of.id[at].to_string()),
                    count(of.n_members[at]),
                    real(of.mass[at]),
                ]),
                None => row.extend((0..3).map(|_| HtmlCell::text("-"))),
            }
        }
        row.push(real(*apart));
        row
    };
    let rows: Vec<_> = listed.iter().map(row).collect();
    table(&format!("disagreements-{i}"), "The largest disagreements", &names, &rows, true)
}
