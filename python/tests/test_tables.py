"""Results of every family as tables and pictures."""

from __future__ import annotations

import numpy as np
import pytest

import carom


def batches():
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    angles = np.linspace(0, 5, 4)
    return {
        "lcp": carom.solve_lcp(np.eye(3), -np.ones((4, 3))),
        "lp": carom.solve_lp(np.ones((4, 2, 2)), [[1.0, 1.0]], row_lower=[1.0], lower=[0, 0], upper=[1, 1]),
        "qp": carom.solve_qp(np.eye(2), np.ones((4, 2))),
        "coulomb": carom.solve_coulomb(np.eye(2), -np.ones((4, 2)), [0.5]),
        "planar": carom.equilibrium.planar(carom.equilibrium.model("two_contacts", friction=np.linspace(0.6, 1, 4))),
        "support": carom.equilibrium.support(corners, [[0, 0, 1]] * 3, np.full((4, 3), 0.5),
                                             directions=np.stack([np.cos(angles), np.sin(angles)], axis=1)[:3]),
        "worlds": carom.compliant.worlds("inclined_block", {"friction": np.linspace(0, 0.3, 4)}, steps=12, stride=3),
        "motion": carom.motion.simulate(carom.motion.model("rocking_block_drop", angle=np.linspace(-1, 1, 4)),
                                        samples=3, duration=0.3, grid=0.1, keep_samples=3),
        "stability": carom.stability.analyse(carom.stability.model("figure2", alpha=np.linspace(0, 30, 4))),
    }  # fmt: skip


@pytest.fixture(scope="module")
def found():
    return batches()


def test_tables_of_pandas(found):
    pytest.importorskip("pandas")
    for name, result in found.items():
        table = result.to_pandas()
        rows = {"lp": 8, "support": 12, "motion": 12}.get(name, 4)
        assert len(table) == rows, name
        assert table.index.names[0] == "problem"
    assert found["lcp"].to_pandas()["solution[2]"].tolist() == [1.0] * 4
    assert found["lcp"].to_pandas()["status"].tolist() == ["solved"] * 4
    lp = found["lp"].to_pandas()
    assert lp.loc[(2, 1), "objective"] == found["lp"].objective[2, 1] and lp.index.names == ["problem", "cost"]
    motion = found["motion"].to_pandas()
    assert motion.loc[(1, 2), "position[1]"] == found["motion"].position[1, 2, 1]
    assert set(motion["end"]) <= {end.name for end in carom.motion.MotionEnd}
    verdicts = found["stability"].to_pandas()["verdict"].tolist()
    assert verdicts == [carom.stability.StabilityVerdict(v).name for v in found["stability"].verdict]
    assert not [name for name in found["worlds"].to_pandas() if name.startswith("frame")]


def test_tables_of_xarray(found):
    pytest.importorskip("xarray")
    for name, result in found.items():
        table = result.to_xarray()
        assert table.sizes["problem"] == 4, name
        for field, array in table.items():
            np.testing.assert_array_equal(array.values, getattr(result, field))
    assert found["lp"].to_xarray()["solution"].dims == ("problem", "cost", "solution_2")
    assert found["motion"].to_xarray()["state"].dims == ("problem", "sample", "state_2", "state_3")


def test_pictures():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    found = batches()
    assert len(found["motion"].plot().lines) == 12
    assert found["motion"].plot(3).get_ylabel() == carom.motion.models()["rocking_block_drop"].velocities[0]
    with pytest.raises(carom.InvalidInput, match="coordinate"):
        found["motion"].plot(6)
    with pytest.raises(carom.InvalidInput, match="kept"):
        carom.motion.simulate("rocking_block_drop", samples=1, duration=0.1).plot()
    assert len(found["worlds"].plot().lines) == 4
    (strips,) = found["planar"].plot().collections
    ends = np.array([segment[:, 0] for segment in strips.get_segments()])
    np.testing.assert_array_equal(ends, np.stack([found["planar"].lower, found["planar"].upper], axis=1))
    enclosure = carom.impact.enclose(carom.model("rocking_block"))[0]
    assert len(enclosure.plot().lines) == 1 + len(enclosure.modes)
    one = carom.impact.enclose(carom.model("cube_drop"), closeness=0)[0]
    assert len(one.plot().lines) == 1  # in space: bounds alone
    matplotlib.pyplot.close("all")


def test_lists_of_tensors_with_gradients():
    torch = pytest.importorskip("torch")
    with pytest.raises(carom.InvalidInput, match="detach"):
        carom.solve_lcp([torch.eye(2), torch.eye(2, requires_grad=True)], [[1.0, 1.0]])


def test_progress_of_datasets(tmp_path, capsys):
    pytest.importorskip("h5py")
    spec = {"dataset": {"kind": "equilibrium", "problems": 8, "part_rows": 2}, "source": {"model": "two_contacts"}}
    seen = []
    assert carom.dataset.make(spec, tmp_path / "a", progress=lambda *given: seen.append(given) or len(seen) < 2) == 2
    assert seen == [(1, 4), (2, 4)]
    assert carom.dataset.make(spec, tmp_path / "a", progress=True) == 2
    assert "100" in capsys.readouterr().err
