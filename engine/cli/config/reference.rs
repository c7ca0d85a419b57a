//! The reference file: every option with its help and default, as a commented TOML file.

use super::{COMMANDS, OPTIONS, Opt, OptionKind};
use std::fmt::Write;

/// The text of `configs/reference.toml`.
pub fn reference_toml() -> String {
    let mut text = String::from(
        "# Every option of inselberg, from the same table as --help.\n\
         # A line that starts with `#key =` shows the default, or an example if there is no default.\n\
         # Use: inselberg phew --config FILE. Options on the command line override the file.\n",
    );
    let shared = OPTIONS.iter().filter(|o| o.commands.is_empty() && !o.key.is_empty());
    shared.for_each(|o| entry(&mut text, o));
    for info in COMMANDS {
        let _ = write!(text, "\n# inselberg {}: {}\n[{}]\n", info.words.join(" "), info.help, info.table);
        let own = OPTIONS.iter().filter(|o| !o.commands.is_empty() && o.belongs_to(info.command));
        own.for_each(|o| entry(&mut text, o));
    }
    text
}

fn entry(text: &mut String, opt: &Opt) {
    let _ = writeln!(text, "\n# {}: {}.", opt.label(), opt.help);
    for line in wrapped(opt.doc, 96) {
        let _ = writeln!(text, "# {line}");
    }
    if !opt.alias.is_empty() {
        let _ = writeln!(text, "# Also called {}, as in SWIFT.", opt.alias);
    }
    if let OptionKind::Choice(words) = opt.kind {
        let _ = writeln!(text, "# One of: {}.", words.join(", "));
    }
    let note = if opt.default.is_empty() && opt.kind != OptionKind::Flag { "  # an example" } else { "" };
    let _ = writeln!(text, "#{} = {}{note}", opt.key, shown_value(opt));
}

fn shown_value(opt: &Opt) -> String {
    let shown = if opt.default.is_empty() { opt.example } else { opt.default };
    match opt.kind {
        OptionKind::Flag => "false".into(),
        OptionKind::Count | OptionKind::Real | OptionKind::Quantity => shown.into(),
        OptionKind::Kinds => format!("[{}]", shown.replace(',', ", ")),
        OptionKind::Paths => format!("[\"{shown}\"]"),
        OptionKind::Path | OptionKind::Choice(_) | OptionKind::Text(_) => format!("\"{shown}\""),
    }
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}
