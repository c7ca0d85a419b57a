"""The notebooks of the tutorials run from the first cell to the last."""

import json
from pathlib import Path

import pytest

TUTORIALS = Path(__file__).resolve().parents[2] / "docs/tutorials"


@pytest.mark.parametrize("notebook", sorted(TUTORIALS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_cells_run(notebook, tmp_path, monkeypatch):
    pytest.importorskip("h5py")
    monkeypatch.setenv("CLONE", str(TUTORIALS.parents[1]))
    monkeypatch.chdir(tmp_path)
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 4
    names = {}
    for cell in cells:
        exec(compile("".join(cell["source"]), str(notebook), "exec"), names)
