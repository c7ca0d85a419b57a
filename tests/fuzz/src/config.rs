//! Configurations: an error of one line, or the values that the TOML library gives.

use inselberg_cli::config::{COMMANDS, Opt, OptionKind, RawConfig, check, options_of};
use std::path::Path;

pub fn target(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for command in COMMANDS {
        let mut raw = RawConfig::new(command.command);
        if raw.read_text(Path::new("a.toml"), text).is_err() {
            continue;
        }
        crate::compared();
        // The program reads an integer beyond 64 bits as a real where it expects one; the TOML library
        // refuses it.
        let whole = match text.parse::<toml::Table>() {
            Ok(whole) => whole,
            Err(error) => {
                assert!(error.message().contains("overflow"), "what was read is TOML: {error}");
                continue;
            }
        };
        for (opt, read) in raw.typed(options_of(command.command)) {
            let table = if opt.commands.is_empty() { Some(&whole) } else { table_of(&whole, command.table) };
            let written = table.and_then(|t| t.get(opt.key).or_else(|| t.get(opt.alias)));
            compare(opt, written.expect("a value that nobody wrote"), &read);
        }
        if let Err(error) = check(&raw) {
            assert!(!error.to_string().is_empty());
        }
    }
}

/// The table of a command, `scaling.phew` among them.
fn table_of<'a>(whole: &'a toml::Table, name: &str) -> Option<&'a toml::Table> {
    name.split('.').try_fold(whole, |table, part| table.get(part)?.as_table())
}

/// Holds a value against the words that would be typed for it.
fn compare(opt: &Opt, written: &toml::Value, read: &[String]) {
    let number = || read[0].parse::<f64>().expect("a number");
    let is_same = match written {
        // Of a switch only the name would be typed, of kinds of particles one of several spellings.
        _ if matches!(opt.kind, OptionKind::Flag | OptionKind::Kinds) => true,
        toml::Value::Float(x) => x.to_bits() == number().to_bits() || x.is_nan() && number().is_nan(),
        toml::Value::Integer(i) if opt.kind == OptionKind::Real => *i as f64 == number(),
        toml::Value::Integer(i) => i.to_string() == read[0],
        toml::Value::String(s) => read == [s.clone()],
        toml::Value::Array(list) => {
            list.iter().filter_map(|v| v.as_str()).eq(read.iter().map(String::as_str))
        }
        _ => false,
    };
    assert!(is_same, "{}: {written:?} in the file became {read:?}", opt.name);
}
