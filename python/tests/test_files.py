"""Results in files and tables."""

from __future__ import annotations

import numpy as np
import pytest

import carom
from carom import compliant, equilibrium, stability


def same(a, b):
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if hasattr(a, "to_dict"):
        return type(a) is type(b) and all(same(v, b.to_dict()[k]) for k, v in a.to_dict().items())
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(v, b[k]) for k, v in a.items())
    return a == b


RESULTS = {
    "impact": lambda: carom.impact.sample(
        carom.model("rocking_block", friction=[0.2, 0.9]), samples=64, epsilon=0.05, keep_paths=3),
    "lcp": lambda: carom.solve_lcp(np.eye(3), [-1.0, 2.0, 0.0]),
    "lp": lambda: carom.solve_lp([1.0], [[1.0]], lower=[2.0], certificates=False),
    "planar": lambda: equilibrium.planar("two_contacts"),
    "spatial": lambda: equilibrium.spatial("tripod_flat")[0],
    "three": lambda: equilibrium.three_contacts("tripod_steep")[0],
    "worlds": lambda: compliant.worlds("inclined_block", stride=50),
    "stability": lambda: stability.analyse("figure2"),
    "problems": lambda: carom.model("compass_gait", n=3),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_comes_back(name, tmp_path):
    pytest.importorskip("h5py")
    found = RESULTS[name]()
    found.save(tmp_path / "kept.h5")
    assert same(found, carom.load(tmp_path / "kept.h5"))
    assert [path.name for path in tmp_path.iterdir()] == ["kept.h5"]


def test_other_files_are_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    (tmp_path / "text.h5").write_text("no")
    with pytest.raises(carom.InvalidInput, match="text.h5"):
        carom.load(tmp_path / "text.h5")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    with pytest.raises(carom.InvalidInput, match="schema"):
        carom.load(tmp_path / "other.h5")
    with pytest.raises(FileNotFoundError):
        carom.load(tmp_path / "none.h5")


def test_json_problems_come_back(tmp_path):
    problems = carom.model("tripod", n=2)
    problems.write_json(tmp_path / "p.json")
    again = carom.load(tmp_path / "p.json")
    for name, value in problems.arrays().items():
        assert value.tobytes() == getattr(again, name).tobytes()


def test_pandas_has_words():
    pytest.importorskip("pandas")
    run = RESULTS["impact"]()
    table = run.to_pandas()
    assert len(table) == 128 and list(table.columns[:3]) == ["v0", "v1", "v2"]
    counted = table.loc[0]["modes"].value_counts()
    assert {k: int(v) for k, v in counted.items() if v} == run.mode_names(0)
    assert set(table["status"]) == {"terminated"}


def test_xarray_has_coordinates():
    pytest.importorskip("xarray")
    run = RESULTS["impact"]()
    data = run.to_xarray()
    assert dict(data.sizes)["sample"] == 64 and data["friction"].values.tolist() == [0.2, 0.9]
    assert data["velocity"].values.tobytes() == run.samples.velocity.tobytes()
