//! Tables of text.

/// Lines with equal numbers of cells; each column is as wide as its widest cell.
pub fn aligned(lines: &[Vec<String>]) -> String {
    let n_columns = lines.first().map_or(0, Vec::len);
    let widths: Vec<usize> =
        (0..n_columns).map(|i| lines.iter().map(|line| line[i].len()).max().unwrap_or(0)).collect();
    let line = |line: &Vec<String>| {
        line.iter()
            .zip(&widths)
            .fold(String::new(), |text, (cell, width)| text + &format!("  {cell:>width$}"))
    };
    lines.iter().map(|cells| line(cells).trim_end().to_string() + "\n").collect()
}
