//! A table as Markdown, CSV and HTML, with the same numbers in each.

use crate::report::html::escaped;
use std::fmt::Write;

/// A cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum TableCell {
    /// A word.
    Text(String),
    /// A count.
    Count(u64),
    /// A number.
    Real(f64),
    /// Nothing.
    Empty,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyTable {
    /// Its name in files.
    pub name: &'static str,
    /// Its title.
    pub title: String,
    /// Its caption; may be empty.
    pub about: String,
    /// Names of the columns; the first column labels the rows.
    pub header: Vec<String>,
    /// Its rows, each as long as the header.
    pub rows: Vec<Vec<TableCell>>,
}

impl From<u64> for TableCell {
    fn from(n: u64) -> Self {
        Self::Count(n)
    }
}

impl From<usize> for TableCell {
    fn from(n: usize) -> Self {
        Self::Count(n as u64)
    }
}

impl From<f64> for TableCell {
    fn from(x: f64) -> Self {
        Self::Real(x)
    }
}

impl From<Option<f64>> for TableCell {
    fn from(x: Option<f64>) -> Self {
        x.map_or(Self::Empty, Self::Real)
    }
}

impl From<&str> for TableCell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl TableCell {
    /// For reading: numbers with four digits.
    fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(n) => n.to_string(),
            Self::Real(x) => four_digits(*x),
            Self::Empty => String::new(),
        }
    }

    /// For programs: numbers with every digit.
    fn exact(&self) -> String {
        match self {
            Self::Real(x) => x.to_string(),
            other => other.shown(),
        }
    }
}

fn four_digits(x: f64) -> String {
    let power = if x == 0.0 || !x.is_finite() { 0 } else { x.abs().log10().floor() as i32 };
    match power {
        -4..=3 => format!("{x:.*}", (3 - power) as usize),
        4..=6 => format!("{x:.0}"),
        _ => format!("{x:.3e}"),
    }
}

impl StudyTable {
    /// For Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n", self.title);
        if !self.about.is_empty() {
            let _ = writeln!(text, "{}\n", self.about);
        }
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        text += &line(self.header.iter().map(|name| name.replace('|', "\\|")).collect());
        text += &line(self.header.iter().map(|_| "---:".to_string()).collect());
        for row in &self.rows {
            text += &line(row.iter().map(|cell| cell.shown().replace('|', "\\|")).collect());
        }
        text
    }

    /// For spreadsheets and programs, every digit.
    pub fn csv(&self) -> String {
        let line = |cells: Vec<String>| cells.iter().map(|c| quoted(c)).collect::<Vec<_>>().join(",") + "\n";
        let mut text = line(self.header.clone());
        for row in &self.rows {
            text += &line(row.iter().map(TableCell::exact).collect());
        }
        text
    }

    /// As HTML; each number also carries its value with every digit.
    pub fn html(&self) -> String {
        let mut text = format!(
            "<table id=\"table-{}\">\n<caption>{}</caption>\n<thead><tr>",
            self.name,
            escaped(&self.title)
        );
        for name in &self.header {
            let _ = write!(text, "<th scope=\"col\">{}</th>", escaped(name));
        }
        text += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            text += "<tr>";
            for (i, cell) in row.iter().enumerate() {
                let shown = escaped(&cell.shown());
                let inner = match cell {
                    TableCell::Real(x) => format!("<data value=\"{x}\">{shown}</data>"),
                    TableCell::Count(n) => format!("<data value=\"{n}\">{shown}</data>"),
                    _ => shown,
                };
                let _ = match i {
                    0 => write!(text, "<th scope=\"row\">{inner}</th>"),
                    _ => write!(text, "<td>{inner}</td>"),
                };
            }
            text += "</tr>\n";
        }
        text + "</tbody>\n</table>\n"
    }
}

/// A CSV field, quoted if it has a comma or a quote.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_for_people_and_exact_for_programs() {
        let row =
            vec![TableCell::from(3_usize), TableCell::from(0.123_456), "a<b, \"c\"".into(), TableCell::Empty];
        let header = ["n", "x", "word", "none"].map(String::from).to_vec();
        let table =
            StudyTable { name: "t", title: "T & U".into(), about: String::new(), header, rows: vec![row] };
        assert!(table.markdown().contains("| 3 | 0.1235 | a<b, \"c\" |  |"), "{}", table.markdown());
        assert_eq!(table.csv(), "n,x,word,none\n3,0.123456,\"a<b, \"\"c\"\"\",\n");
        let html = table.html();
        assert!(html.contains("<th scope=\"row\"><data value=\"3\">3</data></th>"), "{html}");
        assert!(html.contains(
            "<td><data value=\"0.123456\">0.1235</data></td><td>a&lt;b, &quot;c&quot;</td><td></td>"
        ));
        assert!(html.contains("<caption>T &amp; U</caption>"));
        assert_eq!([0.0, 1234.6, 0.000_12, 3e9].map(four_digits), ["0.000", "1235", "0.0001200", "3.000e9"]);
    }
}
