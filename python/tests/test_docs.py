"""The examples of the documentation give what it says."""

import doctest
import tarfile
from pathlib import Path

import pytest

import inselberg

ROOT = Path(__file__).resolve().parents[2]
FIXTURE = ROOT / "tests" / "fixtures" / "ramses_16.tar.xz"


def test_the_docstring_of_the_package():
    assert doctest.testmod(inselberg).attempted > 0
    assert doctest.testmod(inselberg).failed == 0


@pytest.mark.skipif(not FIXTURE.exists(), reason="only in the repository")
def test_the_guide(tmp_path, monkeypatch):
    with tarfile.open(FIXTURE) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path / "ramses_16" / "dm_1rank")
    results = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert results.attempted > 20 and results.failed == 0
