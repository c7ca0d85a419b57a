//! What the program says about itself: to people, to shells and to `man`.

use crate::common::program;
use crate::common::room::Room;
use inselberg_cli::config::{COMMANDS, OptionKind, options_of};
use std::fs;

fn printed(args: &[&str]) -> String {
    let out = program().args(args).output().expect("the program starts");
    assert_eq!((out.status.code(), String::from_utf8_lossy(&out.stderr)), (Some(0), "".into()), "{args:?}");
    String::from_utf8(out.stdout).expect("text")
}

fn refuses(args: &[&str], part: &str) {
    let out = program().args(args).output().expect("the program starts");
    let line = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(
        (out.status.code(), line.lines().count(), out.stdout.len()),
        (Some(2), 1, 0),
        "{args:?}: {line}"
    );
    assert!(line.starts_with("inselberg: error: ") && line.contains(part), "{args:?}: {line}");
}

#[test]
fn the_version_names_features_and_libraries() {
    let number = concat!("inselberg ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(printed(&["-V"]), number);
    let long = printed(&["--version"]);
    assert!(long.starts_with(number), "{long}");
    let line = |name: &str| {
        let line = long.lines().find(|line| line.starts_with(name)).expect("a line");
        line[name.len()..].trim().to_string()
    };
    let features: Vec<String> = line("features").split_whitespace().map(String::from).collect();
    for (name, is_in) in [
        ("hdf5", cfg!(feature = "hdf5")),
        ("plot", cfg!(feature = "plot")),
        ("numa", cfg!(feature = "numa")),
        ("mpi", cfg!(feature = "mpi")),
    ] {
        assert_eq!(features.iter().any(|feature| feature == name), is_in, "{name}: {long}");
    }
    let is_absent = |name| line(name) == "not in this build";
    assert_eq!(
        (is_absent("HDF5"), is_absent("MPI")),
        (!cfg!(feature = "hdf5"), !cfg!(feature = "mpi")),
        "{long}"
    );
    #[cfg(feature = "hdf5")]
    {
        let (major, minor, release) = hdf5::library_version();
        assert_eq!(line("HDF5"), format!("{major}.{minor}.{release}"));
    }
    #[cfg(feature = "mpi")]
    assert!(line("MPI").contains("MPI") || line("MPI").contains("MPICH"), "{long}");
}

#[test]
fn the_short_help_is_shorter_and_both_are_grouped() {
    for info in COMMANDS {
        let [short, long] = ["-h", "--help"].map(|flag| printed(&[info.words, &[flag]].concat()));
        assert!(short.lines().count() < long.lines().count(), "{}", info.table);
        for opt in options_of(info.command).filter(|opt| !opt.positional) {
            let heading = format!("\n{}:\n", opt.heading.title());
            assert!(long.contains(&heading), "{}: {}", info.table, opt.name);
            let flag = format!("--{}", opt.name);
            let is_short = short.split([' ', '\n', ',']).any(|word| word == flag);
            assert_eq!(is_short, opt.is_brief(), "{}: {}", info.table, opt.name);
        }
    }
    let [short, long] = ["-h", "--help"].map(|flag| printed(&["phew", flag]));
    let family = long.split("Properties and bound particles:").nth(1).expect("a heading");
    let family = family.split("Results:").next().expect("a heading after it");
    for name in ["--unbind", "--potential", "--properties", "--softening"] {
        assert!(family.contains(name), "{name}");
    }
    assert!(short.contains("`inselberg phew --help`") && !short.contains("--unit-mass"), "{short}");
    assert!(short.lines().count() <= 75, "{}", short.lines().count());
    assert!(long.contains("Exit codes: 0, success"), "{long}");
}

#[test]
fn completions_know_every_command_option_and_choice() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(&["completions", shell]);
        for info in COMMANDS {
            assert!(info.words.iter().all(|word| script.contains(word)), "{shell}: {}", info.table);
            for opt in options_of(info.command).filter(|opt| !opt.positional) {
                assert!(script.contains(opt.name), "{shell}: {}", opt.name);
                // PowerShell and elvish complete only names of options.
                if let (OptionKind::Choice(words), "bash" | "fish" | "zsh") = (opt.kind, shell) {
                    assert!(words.iter().all(|word| script.contains(word)), "{shell}: {}", opt.name);
                }
            }
        }
    }
    refuses(&["completions", "csh"], "csh");
    refuses(&["completions"], "SHELL");
}

/// Bash itself accepts the script.
#[test]
#[cfg(unix)]
fn bash_completes_with_the_script() {
    let room = Room::new();
    let file = room.path("inselberg.bash");
    fs::write(&file, printed(&["completions", "bash"])).expect("written");
    let ask = "source \"$0\"; COMP_WORDS=(inselberg phew --pin n); COMP_CWORD=3; \
               _inselberg inselberg n --pin; echo \"${COMPREPLY[@]}\"";
    let Ok(out) = std::process::Command::new("bash").args(["-c", ask, &file]).output() else {
        println!("skipped: there is no bash");
        return;
    };
    let (said, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert_eq!((said.trim(), errors.trim()), ("none numa", ""));
}

#[test]
fn every_command_has_a_manual_page() {
    let room = Room::new();
    let folder = room.path("share/man/man1");
    assert_eq!(printed(&["man", &folder]), "");
    let page = |name: &str| fs::read_to_string(format!("{folder}/{name}.1")).expect("a page");
    for info in COMMANDS {
        let text = page(&format!("inselberg-{}", info.words.join("-")));
        assert!(text.starts_with(".ie") && text.contains(".TH inselberg-"), "{text}");
        // `man` shows `\\-` as a hyphen.
        let plain = text.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "");
        for opt in options_of(info.command) {
            assert!(plain.contains(&opt.label()), "{}: {}", info.table, opt.name);
        }
        assert!(plain.contains("Exit codes: 0, success"), "{}", info.table);
    }
    for name in
        ["inselberg", "inselberg-scaling", "inselberg-synth", "inselberg-man", "inselberg-completions"]
    {
        assert!(page(name).contains(".SH NAME"), "{name}");
    }
    let n = fs::read_dir(&folder).expect("there").count();
    assert_eq!(n, COMMANDS.len() + 5, "no page of a hidden command");
    // A second run replaces them.
    printed(&["man", &folder]);
    assert_eq!(fs::read_dir(&folder).expect("there").count(), n);
}

#[test]
fn pages_that_cannot_be_written_are_one_line() {
    let room = Room::new();
    let plain = room.path("plain");
    fs::write(&plain, "").expect("written");
    refuses(&["man", &plain], "is not a folder");
    refuses(&["man"], "DIR");
    refuses(&["man", &format!("{plain}/man1")], "plain");
    #[cfg(target_os = "linux")]
    refuses(&["man", "/proc/man1"], "/proc/man1");
    assert_eq!(room.names(), ["plain"]);
}
