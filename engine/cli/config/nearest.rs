//! Suggests the known name for a mistyped one.

/// The candidate at the smallest edit distance from `name`, if that is at most a third of its
/// length (and at least 2); the first of equals.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(2);
    candidates
        .into_iter()
        .map(|c| (distance(name, c), c))
        .min_by_key(|&(d, _)| d)
        .filter(|&(d, _)| d <= limit)
        .map(|(_, c)| c)
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_only_if_near() {
        let known = ["density_threshold", "saddle_threshold", "output"];
        assert_eq!(nearest("densty_threshold", known), Some("density_threshold"));
        assert_eq!(nearest("ouput", known), Some("output"));
        assert_eq!(nearest("colour", known), None);
    }
}
