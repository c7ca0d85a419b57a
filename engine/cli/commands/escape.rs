//! Text from files and command lines, made safe to print.

/// `text` with line ends and terminal controls escaped as in Rust: names in files may contain any character.
pub fn escaped(text: &str) -> String {
    const SEPARATORS: [char; 2] = ['\u{2028}', '\u{2029}'];
    // Controls of the direction of text.
    const DIRECTIONS: [std::ops::RangeInclusive<char>; 3] =
        ['\u{200e}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{2066}'..='\u{2069}'];
    let steers = |c: char| {
        c.is_control() || SEPARATORS.contains(&c) || DIRECTIONS.iter().any(|range| range.contains(&c))
    };
    let one = |c: char| if steers(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(one).collect()
}
