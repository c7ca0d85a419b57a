//! Programs from PyPI that open our files and the same inputs: swiftsimio, yt, pynbody, VTK, astropy,
//! astrodendro and ytree.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What `scripts/setup.sh --python` installs.
const PACKAGES: [&str; 7] = [
    "swiftsimio>=12",
    "yt>=4.4",
    "pynbody==2.8.0",
    "vtk>=9.5",
    "astropy>=6",
    "astrodendro>=0.3",
    "ytree>=3.2",
];

/// Python with these programs, if such tests were asked for. It is in the environment that `scripts/setup.sh
/// --python` makes. If there is none, one is made here, which needs Python and the network.
pub fn python() -> Option<PathBuf> {
    static MADE: OnceLock<(PathBuf, Option<tempfile::TempDir>)> = OnceLock::new();
    if std::env::var("INSELBERG_PIP").ok()? != "1" {
        eprintln!("not asked for: INSELBERG_PIP=1 lets programs from PyPI open our files");
        return None;
    }
    let ready = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python/bin/python");
    if ready.exists() {
        return Some(ready);
    }
    let (python, _) = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        (installed(folder.path()), Some(folder))
    });
    Some(python.clone())
}

/// Makes such an environment in `folder`.
fn installed(folder: &Path) -> PathBuf {
    let done = |program: &Path, args: &[&str]| {
        let out = Command::new(program).args(args).output().expect("Python");
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    };
    let place = folder.join("python");
    done(Path::new("python3"), &["-m", "venv", &place.to_string_lossy()]);
    let python = place.join("bin/python");
    done(&python, &[&["-m", "pip", "install", "--quiet"][..], &PACKAGES].concat());
    python
}
