//! Pieces of HTML.

/// A text as HTML shows it.
pub fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

/// A drawing with a caption, which also describes it to those who do not see it.
#[cfg(feature = "plot")]
pub fn figure(id: &str, class: &str, svg: &str, caption: &str) -> String {
    let (id, caption) = (escaped(id), escaped(caption));
    let start = svg.find("<svg").unwrap_or(0);
    // Within HTML the name space of SVG is known, and pages name no address.
    let svg = svg[start..].replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
    let svg = svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{caption}\" "), 1);
    format!("<figure id=\"{id}\" class=\"{class}\">\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>\n")
}

/// A value in a table: what people read, and a number by which rows are sorted.
#[cfg(feature = "plot")]
pub struct HtmlCell {
    /// The text.
    pub text: String,
    /// The number, at full precision; `None` for texts.
    pub number: Option<f64>,
    /// The target of a link on the text.
    pub link: Option<String>,
}

#[cfg(feature = "plot")]
impl HtmlCell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), number: None, link: None }
    }

    /// A number, shown as `text`.
    pub fn number(number: f64, text: String) -> Self {
        Self { text, number: Some(number), link: None }
    }
}

/// A table with this identifier. One that can be sorted gets buttons in its header.
#[cfg(feature = "plot")]
pub fn table(id: &str, caption: &str, header: &[String], rows: &[Vec<HtmlCell>], can_sort: bool) -> String {
    use std::fmt::Write;
    let class = if can_sort { " class=\"sortable\"" } else { "" };
    let mut text =
        format!("<table id=\"{id}\"{class}>\n<caption>{}</caption>\n<thead><tr>", escaped(caption));
    for name in header {
        let name = escaped(name);
        let _ = match can_sort {
            true => write!(text, "<th scope=\"col\"><button type=\"button\">{name}</button></th>"),
            false => write!(text, "<th scope=\"col\">{name}</th>"),
        };
    }
    text += "</tr></thead>\n<tbody>\n";
    for row in rows {
        text += "<tr>";
        for HtmlCell { text: shown, number, link } in row {
            let mut shown = escaped(shown);
            if let Some(link) = link {
                shown = format!("<a href=\"{}\">{shown}</a>", escaped(link));
            }
            let _ = match number {
                Some(number) => write!(text, "<td data-value=\"{number:?}\">{shown}</td>"),
                None => write!(text, "<td class=\"word\">{shown}</td>"),
            };
        }
        text += "</tr>\n";
    }
    let table = text + "</tbody>\n</table>\n";
    let caption = escaped(caption);
    // A wide table scrolls by itself, with the keyboard too.
    format!("<div class=\"wide\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\">\n{table}</div>\n")
}

#[cfg(all(test, feature = "plot"))]
mod tests {
    use super::*;

    #[test]
    fn no_name_can_become_a_tag() {
        let rows = vec![vec![HtmlCell::text("<script>'\"&"), HtmlCell::number(0.1, "0.1000".into())]];
        let html = table("t", "a<b", &["n<1".to_string(), "x".into()], &rows, true);
        assert!(html.contains("&lt;script&gt;&#39;&quot;&amp;") && html.contains("a&lt;b"), "{html}");
        assert!(html.contains("<td data-value=\"0.1\">0.1000</td>"), "{html}");
        assert!(!html.contains("<script"), "{html}");
    }
}
