"""Tables, their units, and the files that they go into."""

import copy
import pickle

import numpy as np
import pytest
from conftest import same_tables

import inselberg as ib

UNITS = ib.Units(length=3.0e21, density=7.0e-25, time=3.0e13)


@pytest.fixture(scope="module")
def cat(mesh):
    return ib.phew_cells(mesh.levels, mesh.positions, mesh.density, units=UNITS, with_cells=True, **mesh.thresholds)


@pytest.mark.parametrize("ending", ["hdf5", "csv"])
def test_a_saved_catalogue_reads_back(cat, tmp_path, ending):
    path = tmp_path / f"clumps.{ending}"
    cat.save(path)
    back = ib.read_catalogue(str(path))
    assert isinstance(back, ib.ClumpCatalogue)
    assert same_tables(back, cat)
    assert back.attributes["density_threshold"] == 0.5
    assert back.clumps.units == cat.clumps.units
    # The table of cells lists every leaf.
    assert back.labels[back.cells(1)].tolist() == [1] * int(back.clumps[0].n_cells)
    with pytest.raises(ib.InvalidArgumentError, match="with_cells=True"):
        back.recut(relevance=1.5).labels
    with pytest.raises(ib.InvalidArgumentError, match="has no coverage"):
        back.coverage
    cut, expected = back.recut(relevance=1.5), cat.recut(relevance=1.5)
    for name in ("clumps", "haloes"):
        for column in cut[name].columns:
            np.testing.assert_array_equal(cut[name][column], expected[name][column])
    assert cut.clumps[0].halo.main == cut.clumps[0].halo.main


def test_saved_groups_read_back(tmp_path):
    groups = ib.fof(np.random.default_rng(2).random((500, 3)), box=1.0, ratio=0.6, min_size=2)
    groups.save(tmp_path / "groups.hdf5")
    back = ib.read_catalogue(tmp_path / "groups.hdf5")
    assert isinstance(back, ib.GroupCatalogue) and len(back.groups) == len(groups.groups) > 0
    for column in ("GroupIDs", "Sizes", "Masses", "Centres"):
        np.testing.assert_array_equal(back.groups[column], groups.groups[column])


def test_other_programs_read_the_file(cat, tmp_path):
    h5py = pytest.importorskip("h5py")
    cat.save(tmp_path / "clumps.hdf5")
    with h5py.File(tmp_path / "clumps.hdf5") as file:
        np.testing.assert_array_equal(file["clumps/mass"][:], cat.clumps["mass"])
        assert file["clumps/mass"].attrs["cgs_factor"] == cat.clumps.column("mass").cgs


def test_rows_and_selections(cat):
    table = cat.clumps
    heavy = table[table["mass"] > np.median(table["mass"])]
    assert 0 < len(heavy) < len(table)
    assert heavy[0].halo == table[int(heavy[0].id) - 1].halo or heavy[0].halo.id == heavy[0].id
    assert [row.id for row in table[1:3]] == table["id"][1:3].tolist()
    assert table[-1].to_dict()["id"] == table["id"][-1]
    assert table[np.array([2, 0])]["id"].tolist() == table["id"][[2, 0]].tolist()
    assert not table["mass"].flags.writeable
    assert "mass" in dir(table[0]) and "mass" in table


def test_units(cat):
    assert cat.clumps.units["density_peak"] == "code_mass / code_length**3"
    assert cat.clumps.descriptions["id"].startswith("identifier")
    grams = UNITS.density * UNITS.length**3
    np.testing.assert_allclose(cat.clumps.cgs("mass"), cat.clumps["mass"] * grams)
    plain = ib.phew_cells([1], [[0, 0, 0]], [2.0], density=1.0)
    with pytest.raises(ValueError, match="no units"):
        plain.clumps.cgs("mass")
    assert ib.__version__ == plain.attributes["version"]


def test_unyt(cat):
    pytest.importorskip("unyt")
    table = cat.clumps
    assert table.unyt["mass"].to("g").value == pytest.approx(table.cgs("mass"))
    assert table.unyt["density_peak"].to("g/cm**3").value == pytest.approx(table.cgs("density_peak"))


def test_astropy(cat):
    pytest.importorskip("astropy")
    table = cat.clumps
    columns = table.astropy
    assert columns["mass"].to("g").value == pytest.approx(table.cgs("mass"))
    assert columns["peak_position"].to("kpc").value == pytest.approx(table.cgs("peak_position") / 3.0856775814913674e21)
    assert columns.colnames == table.columns


def test_pandas(cat):
    pytest.importorskip("pandas")
    frame = cat.clumps.to_pandas()
    assert len(frame) == len(cat.clumps)
    np.testing.assert_array_equal(frame["peak_position_y"], cat.clumps["peak_position"][:, 1])
    assert frame.attrs["units"]["mass"] == "code_mass"


def test_notebooks(cat):
    for shown in (cat, cat.clumps, cat.clumps[0]):
        text = shown._repr_html_()
        assert "<table>" in text and "mass" in text and text.count("<table>") == text.count("</table>")
        assert "clump" in repr(shown).lower()


def test_plots(cat):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = cat.plot(axis=0)
    assert ax.get_xlabel() == "y [code_length]"
    assert len(ax.collections[0].get_offsets()) == len(cat.clumps)


def test_pickles_and_copies(cat):
    for other in (pickle.loads(pickle.dumps(cat)), copy.copy(cat), copy.deepcopy(cat)):
        assert same_tables(other, cat) and other.attributes == cat.attributes and other.attributes is not cat.attributes
        np.testing.assert_array_equal(other.labels, cat.labels)
        np.testing.assert_array_equal(other.halo_labels, cat.halo_labels)
        assert other.coverage == cat.coverage and len(other.clump(1).cells()) == len(cat.clump(1).cells())
        assert same_tables(other.recut(relevance_threshold=2.0), cat.recut(relevance_threshold=2.0))
    table, row = pickle.loads(pickle.dumps((cat.clumps, cat.clumps[1])))
    np.testing.assert_array_equal(table["peak_position"], cat.clumps["peak_position"])
    assert table.units == cat.clumps.units and row.to_dict().keys() == cat.clumps[1].to_dict().keys()
    groups = ib.fof(np.zeros((3, 3)), linking_length=0.1, min_size=2)
    other = pickle.loads(pickle.dumps(groups))
    assert other.linking_length == groups.linking_length and other.labels.tolist() == [1, 1, 1]


def test_identities_keep_their_bits():
    pytest.importorskip("astropy")
    ids = np.array([2**62 + 1, 2**62 + 3], dtype=np.uint64)
    tree = ib.trees()
    tree.add_objects(1, [0], [2], ids, time=1.0)
    nodes = tree.catalogue()["nodes"]
    whole = [name for name in nodes.columns if nodes[name].dtype.kind in "iu"]
    columns = nodes.astropy
    assert whole and all(columns[name].dtype == nodes[name].dtype for name in whole)
    assert all((np.asarray(columns[name]) == nodes[name]).all() for name in whole)


def test_a_mistyped_column_is_named_with_the_nearest(cat):
    with pytest.raises(KeyError, match="did you mean mass?"):
        cat.clumps["maas"]


def test_thresholds_have_an_atlas(mesh, tmp_path):
    path = tmp_path / "clumps.hdf5"
    cells = ib.Cells.leaves(mesh.levels, mesh.positions)
    ib.phew(cells, mesh.density, **mesh.thresholds).save(path)
    tables = ib.atlas(path, values_per_decade=4)
    saddle = tables["saddle"]
    for value, n in zip(saddle["saddle_threshold"], saddle["n_haloes"]):
        assert len(ib.read_catalogue(path).recut(saddle_threshold=value).haloes) == n
    with pytest.raises(ib.ReadError):
        ib.atlas(tmp_path / "absent.hdf5")


def test_catalogues_are_compared(mesh, tmp_path):
    cells = ib.Cells.leaves(mesh.levels, mesh.positions)
    paths = [tmp_path / name for name in ("a.hdf5", "b.hdf5")]
    for path, relevance in zip(paths, (1.2, 3.0)):
        ib.phew(cells, mesh.density, **dict(mesh.thresholds, relevance=relevance)).save(path)
    a, b = map(ib.read_catalogue, paths)
    assert len(a.clumps) > len(b.clumps)
    pairs = ib.compare(*paths, least_members=1)
    clumps = pairs["clumps"]
    assert sorted(clumps["first_id"][clumps["first_id"] > 0]) == sorted(a.clumps["id"])
    assert sorted(clumps["second_id"][clumps["second_id"] > 0]) == sorted(b.clumps["id"])
    assert "tree" not in pairs.tables and "clumps" in pairs.attributes["first_difference"]
    same = ib.compare(paths[0], paths[0])
    assert same.attributes["first_difference"] == "equal bit for bit"
    both = same["clumps"]
    assert np.array_equal(both["first_id"], both["second_id"]) and (both["score"] == 1).all()
    with pytest.raises(ib.InvalidArgumentError, match="least_score is 2; expected 0 to 1"):
        ib.compare(*paths, least_score=2)
    with pytest.raises(ib.ReadError, match="absent.hdf5"):
        ib.compare(paths[0], tmp_path / "absent.hdf5")
