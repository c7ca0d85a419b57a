//! Friends-of-friends by the definition: all pairs.

/// The smallest index of each particle's group, whatever its size.
pub fn roots(position: &[[f64; 3]], length: f64, side: Option<f64>) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..position.len()).collect();
    for i in 0..position.len() {
        for j in 0..i {
            if distance2(position[i], position[j], side) < length * length {
                let (a, b) = (find(&parent, i), find(&parent, j));
                parent[a.max(b)] = a.min(b);
            }
        }
    }
    (0..position.len()).map(|i| find(&parent, i)).collect()
}

fn find(parent: &[usize], mut i: usize) -> usize {
    while parent[i] != i {
        i = parent[i];
    }
    i
}

pub fn distance2(a: [f64; 3], b: [f64; 3], side: Option<f64>) -> f64 {
    (0..3)
        .map(|k| {
            let d = (a[k] - b[k]).abs();
            let d = side.map_or(d, |side| d.min(side - d));
            d * d
        })
        .sum()
}

/// Group IDs as the program gives them: by falling size, then by the lowest particle ID; `none` for the rest.
pub fn group_ids(
    position: &[[f64; 3]],
    id: &[u64],
    length: f64,
    side: Option<f64>,
    min_size: usize,
    none: i64,
) -> Vec<i64> {
    let roots = roots(position, length, side);
    let mut groups = std::collections::BTreeMap::<usize, Vec<usize>>::new();
    roots.iter().enumerate().for_each(|(i, root)| groups.entry(*root).or_default().push(i));
    let mut kept: Vec<Vec<usize>> = groups.into_values().filter(|m| m.len() >= min_size).collect();
    kept.sort_by_key(|m| (std::cmp::Reverse(m.len()), m.iter().map(|i| id[*i]).min()));
    let mut ids = vec![none; position.len()];
    for (number, members) in (1..).zip(&kept) {
        members.iter().for_each(|i| ids[*i] = number);
    }
    ids
}
