//! A comparison for machines.

use inselberg::compare::{
    CatalogueComparison, CentreOffsets, ComparedCatalogue, Difference, LevelComparison, LevelObjects,
    Partition, Ratios, SizeCount,
};
use serde_json::{Map, Value, json};

/// Adds the comparison to a summary. Lists of objects have at most `n_listed`.
pub fn add_comparison(summary: &mut Value, compared: &CatalogueComparison, n_listed: usize) {
    let level = |level: &LevelComparison| level_json(level, compared, n_listed);
    summary["first"] = catalogue_json(&compared.a);
    summary["second"] = catalogue_json(&compared.b);
    summary["difference"] = json!(compared.difference.as_ref().map(difference_json));
    summary["levels"] = compared.levels.iter().map(level).collect();
    summary["centrals"] = json!(centrals_json(compared));
    summary["notes"] = json!(compared.notes);
}

fn catalogue_json(of: &ComparedCatalogue) -> Value {
    let counts: Map<String, Value> =
        of.counts.iter().map(|(word, n)| ((*word).to_string(), json!(n))).collect();
    json!({ "path": of.name, "finder": of.finder, "counts": counts })
}

fn difference_json(difference: &Difference) -> Value {
    let (table, column, row) = match difference {
        Difference::Value { table, column, row, .. } => (Some(table), Some(column), Some(row)),
        Difference::Rows(table, _) => (Some(table), None, None),
        _ => (None, None, None),
    };
    let equal = *difference == Difference::None;
    json!({ "equal": equal, "table": table, "column": column, "row": row, "text": difference.to_string() })
}

fn centrals_json(compared: &CatalogueComparison) -> Option<Value> {
    let (n, differ) = compared.centrals()?;
    let hosts = compared.levels.last()?;
    let ids = |(a, b): &(u32, u32)| [hosts.a.id[*a as usize], hosts.b.id[*b as usize]];
    let of_hosts: Vec<_> = differ.iter().map(ids).collect();
    Some(json!({ "compared": n, "differ": differ.len(), "hosts": of_hosts }))
}

fn level_json(level: &LevelComparison, compared: &CatalogueComparison, n_listed: usize) -> Value {
    let (params, a, b) = (&compared.params, &level.a, &level.b);
    let sizes = |counts: Vec<SizeCount>| counts.iter().map(size_json).collect::<Value>();
    let (splits, mergers) = (level.splits(params), level.mergers(params));
    let pieces = |list: &[Partition], whole: &LevelObjects, piece: &LevelObjects| {
        list.iter().take(n_listed).map(|of| partition_json(of, whole, piece)).collect::<Value>()
    };
    let id = |of: &LevelObjects, row: Option<u32>| row.map(|row| of.id[row as usize]);
    let disagreements: Value = level
        .disagreements(n_listed, params)
        .iter()
        .map(|of| json!({ "first": id(a, of.a), "second": id(b, of.b), "difference": of.apart }))
        .collect();
    json!({
        "first": a.word, "second": b.word, "by_members": level.by_members,
        "mutual": level.mutual(params).count(),
        "completeness": sizes(level.completeness(params)), "purity": sizes(level.purity(params)),
        "ratios": level.ratios(params).iter().map(ratios_json).collect::<Value>(),
        "offsets": level.offsets(params).iter().map(offsets_json).collect::<Value>(),
        "n_splits": splits.len(), "splits": pieces(&splits, b, a),
        "n_mergers": mergers.len(), "mergers": pieces(&mergers, a, b),
        "disagreements": disagreements,
    })
}

fn size_json(of: &SizeCount) -> Value {
    json!({
        "from": of.from, "below": of.below, "n": of.n, "found": of.n_found,
        "satellites": of.n_satellites, "satellites_found": of.n_satellites_found,
    })
}

fn ratios_json(of: &Ratios) -> Value {
    let ([p5, p50, p95], [least, most]) = (of.percentiles, of.range);
    json!({
        "quantity": of.quantity, "from": of.from, "n": of.n, "p5": p5, "p50": p50, "p95": p95, "min": least,
        "max": most, "off_by_10_percent": of.off,
    })
}

fn offsets_json(of: &CentreOffsets) -> Value {
    let [p50, p95] = of.percentiles;
    json!({
        "radius": of.radius, "from": of.from, "n": of.n, "p50": p50, "p95": p95, "beyond_0.05": of.far,
    })
}

fn partition_json(of: &Partition, whole: &LevelObjects, piece: &LevelObjects) -> Value {
    let pieces: Vec<Value> =
        of.pieces.iter().map(|(row, share)| json!([piece.id[*row as usize], share])).collect();
    json!({ "id": whole.id[of.whole as usize], "pieces": pieces })
}
