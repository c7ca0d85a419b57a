//! A study whose ranks are processes.

use super::job::{Launcher, alone};
use super::{field, text};
use serde_json::Value;

#[test]
fn a_study_runs_processes_and_checks_its_model_against_them() {
    let _alone = alone();
    let Some(launcher) = Launcher::here() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (case, to) = (field(folder.path(), "1e4"), text(&folder.path().join("study")));
    let line = launcher.line();
    let what =
        ["scaling", "phew", "--input", &case.input, "-o", &to, "--ranks", "1,3", "--repeats", "1", "--json"];
    let how = ["--simulate", "4", "--density-threshold", "80", "--launcher", &line];
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_inselberg"));
    command.args([&what[..], &how].concat()).envs(Launcher::ENVIRONMENT);
    let out = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success() && said.is_empty(), "{said}");
    let json: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let runs = json["provenance"]["runs"].to_string();
    assert!(runs.contains(&line.replace("{ranks}", "3")), "{runs}");
    assert!(json["configurations"][1]["messages"].as_u64() > Some(0));
    let check = &json["checks"][1];
    assert_eq!(check["ranks"], 3);
    let [modelled, real] = ["modelled_work", "real_work"].map(|name| check[name].as_f64().expect("a number"));
    assert!(modelled > 0.0 && real > 0.0 && check["real_imbalance"].as_f64() >= Some(1.0), "{check}");
    // A run that fails: messages of its ranks are recognised among those of the launcher.
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_inselberg"));
    let args = [&what[..], &how, &["--field", "colour"]].concat();
    let out = command.args(&args).envs(Launcher::ENVIRONMENT).output().expect("it starts");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!((out.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("no field `colour`"), "{said}");
}
