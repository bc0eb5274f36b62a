"""Measured impacts of a tossed cube: examples/cube_tosses.py, and the impacts that it cut out.

With CAROM_CUBE_TOSSES=FILE.h5 everything is found again from the tosses themselves."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import sys

import numpy as np
import pytest

import carom

h5py = pytest.importorskip("h5py")
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
DATA = EXAMPLES / "data" / "cube_tosses"


def script():
    spec = importlib.util.spec_from_file_location("cube_tosses", EXAMPLES / "cube_tosses.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["cube_tosses"] = module
    spec.loader.exec_module(module)
    return module


def impacts(name):
    measured = carom.impact.read_measured(DATA / f"{name}.h5")
    return measured.problems, measured.velocity, measured.covariance


# of what the rigid cube explains at best; the last is the price of a wrong centre of mass
@pytest.mark.parametrize(
    "name, count, median, worst",
    [("one_corner", 526, 0.0085, 0.025), ("two_corners", 82, 0.0045, 0.025), ("two_corners_middle", 82, 0.027, np.inf)],
)
def test_floors(name, count, median, worst):
    problems, v, _ = impacts(name)
    found = carom.impact.floor(problems, v)
    assert len(problems) == count and (found.floor_status == 0).all()
    assert np.median(found.floor) == pytest.approx(median, rel=0.1)
    assert found.floor.max() < worst


def test_floor_agrees_with_a_conic_solver():
    clarabel = pytest.importorskip("clarabel")
    sparse = pytest.importorskip("scipy.sparse")
    problems, v, covariance = impacts("two_corners")
    for some, sigma in ((problems[:20], None), (problems[:20], covariance[:20])):
        found = carom.impact.floor(some, v[:20], sigma)
        for p in range(20):
            M, mu = some.mass_matrix[p], some.friction[p]
            J = np.stack([some.normal_jacobian[p], *some.tangent_jacobian[p].reshape(2, 2, 6).swapaxes(0, 1)], 1).reshape(6, 6)
            W = M / (some.velocity[p] @ M @ some.velocity[p]) if sigma is None else np.linalg.inv(sigma[p])
            U = np.linalg.cholesky(W).T
            G, b = U @ np.linalg.solve(M, J.T), U @ (v[p] - some.velocity[p])
            scale = 1 / np.abs(G).max()
            cone = -np.diag(np.r_[mu[0], 1, 1, mu[1], 1, 1])
            settings = clarabel.DefaultSettings()
            settings.verbose = False
            answer = clarabel.DefaultSolver(
                sparse.csc_matrix(np.triu(G.T @ G) * scale**2), -(G.T @ b) * scale, sparse.csc_matrix(cone), np.zeros(6),
                [clarabel.SecondOrderConeT(3)] * 2, settings).solve()  # fmt: skip
            least = np.linalg.norm(b - G @ np.array(answer.x) * scale)
            assert found.floor[p] == pytest.approx(least, rel=1e-5, abs=1e-6)


def test_shapes_of_what_was_measured_are_checked():
    problems, v, covariance = impacts("two_corners")
    with pytest.raises(carom.InvalidInput, match=r"measured is of shape \(82, 5\): must be \(82, 6\)"):
        carom.impact.floor(problems, v[:, :5])
    with pytest.raises(carom.InvalidInput, match="sigma is of shape"):
        carom.impact.floor(problems, v, covariance[:3])
    with pytest.raises(carom.InvalidInput, match="sigma is -1: must be > 0"):
        carom.impact.floor(problems, v, -np.ones(6))


def test_the_tosses_give_the_cube_and_its_impacts(tmp_path):
    source = os.environ.get("CAROM_CUBE_TOSSES")
    if not source:
        pytest.skip("CAROM_CUBE_TOSSES does not name the file of the tosses")
    tosses = script()
    facts, cut, cube, corners = tosses.examine(tosses.read_tosses(source))
    assert facts["scale"] == pytest.approx(1.022, abs=2e-3)
    assert facts["offset"] == pytest.approx([0, 0, 6.4e-3], abs=1e-3)
    assert np.subtract(*facts["offset_of_halves"]) == pytest.approx(np.zeros(3), abs=5e-4)
    assert facts["radius"] == pytest.approx(4.4e-3, abs=1e-3)
    assert facts["radius_of_height"] == pytest.approx(4.4e-3, abs=1e-3)
    assert facts["inertia_over_mass"] == pytest.approx(2.64e-3, rel=0.02)
    assert facts["noise"]["position"] == pytest.approx(0.022e-3, rel=0.1)
    assert facts["noise"]["rotation"] == pytest.approx(0.25e-3, rel=0.15)
    assert facts["corners"][:2] == pytest.approx([529, 98], rel=0.05)
    written = json.loads((DATA / "facts.json").read_text())
    for name in ("scale", "radius", "inertia_over_mass", "candidates", "meeting", "corners", "floor"):
        assert facts[name] == pytest.approx(written[name], rel=1e-6)
    tosses.write(tmp_path / "one.h5", cut[corners == 1], cube, 1, facts["noise"])
    with h5py.File(tmp_path / "one.h5") as new, h5py.File(DATA / "one_corner.h5") as kept:
        for name in kept:
            if name != "name":
                assert new[name][:] == pytest.approx(kept[name][:], rel=1e-4, abs=1e-5)
