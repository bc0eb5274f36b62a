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
    [("one_corner", 505, 0.0086, 0.025), ("two_corners", 82, 0.0045, 0.025), ("two_corners_middle", 82, 0.027, np.inf)],
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
    with pytest.raises(carom.InvalidInput, match=r"restitution\[1\] is 1.5: must be in 0..1"):
        carom.impact.identify(problems, v, restitution=[0.5, 1.5], friction=[0.1])
    with pytest.raises(FileNotFoundError, match="no_such.h5"):
        carom.impact.read_measured("no_such.h5")
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
    assert facts["corners"][:2] == pytest.approx([506, 98], rel=0.05)
    written = json.loads((DATA / "facts.json").read_text())
    for name in ("scale", "radius", "inertia_over_mass", "candidates", "meeting", "impacts", "corners", "floor"):
        assert facts[name] == pytest.approx(written[name], rel=1e-6)
    tosses.write(tmp_path / "one.h5", cut[corners == 1], cube, 1, facts["noise"])
    with h5py.File(tmp_path / "one.h5") as new, h5py.File(DATA / "one_corner.h5") as kept:
        for name in kept:
            if name != "name":
                assert new[name][:] == pytest.approx(kept[name][:], rel=1e-4, abs=1e-5)


EXACT = {"method": "events", "friction_directions": 16}


# shares within 0.03, and medians, of the published prototype's tables: the set with intervals of one corner
# is a prediction for two. The last median is 0.014 there, without refinement.
@pytest.mark.parametrize(
    "name, restitution, friction, median, share",
    [("one_corner", 0.0, (0.1, 0.3), 0.162, 0.0), ("one_corner", 0.28, 0.16, 0.027, 0.58), ("one_corner", (0.2, 0.4), (0.1, 0.2), 0.014, 0.96),
     ("two_corners", 0.0, 0.18, 0.167, 0.0), ("two_corners", (0.24, 0.34), (0.13, 0.2), 0.012, 0.92),
     ("two_corners", (0.2, 0.4), (0.1, 0.2), 0.009, 0.96)],
)  # fmt: skip
def test_sets_reach_what_they_should(name, restitution, friction, median, share):
    problems, v, _ = impacts(name)
    found = carom.impact.judge(problems, v, restitution=restitution, friction=friction, samples=512, sampling=EXACT)
    assert np.median(found.distance) == pytest.approx(median, rel=0.12, abs=4e-3)
    assert found.share(0.03) == pytest.approx(share, abs=0.05)
    assert (found.distance >= found.floor - 1e-7).all()
    assert (found.distance <= found.sampled_distance).all()


def test_random_outcomes_are_not_reached():
    spec = importlib.util.spec_from_file_location("cube_judge", EXAMPLES / "cube_judge.py")
    judging = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judging)
    problems, _, _ = impacts("one_corner")
    problems = problems[::3]
    found = carom.impact.judge(problems, judging.admissible(problems), restitution=(0.2, 0.4), friction=(0.1, 0.2), samples=256, sampling=EXACT)
    assert found.share(0.03) == pytest.approx(0.0, abs=0.04)


def test_outcomes_of_the_set_are_inside_and_the_nearest_sample_is_found_again():
    problems, _, _ = impacts("two_corners")
    problems = problems[:6].with_intervals((0.2, 0.4), (0.1, 0.2))
    run = carom.impact.sample(problems, samples=4, seed=99, epsilon=0.0, **EXACT)
    v = run.samples.velocity[:, 3]
    found = carom.impact.judge(problems, v, samples=512, sampling=EXACT, tolerance=0.02)
    assert found.words() == ["inside"] * 6 and found.floor == pytest.approx(np.zeros(6), abs=1e-5)
    again = carom.impact.judge(problems[4:5], v[4:5], samples=512, sampling={**EXACT, "first_problem": 4}, tolerance=0.02)
    assert again.distance[0] == found.distance[4]  # whatever the neighbours
    for i in range(6):
        one = found.nearest(i)
        assert np.array_equal(one.samples.velocity[0, 0], found.nearest_velocity[i])
        assert np.array_equal(one.samples.restitution[0, 0], found.nearest_restitution[i])


def test_verdicts():
    block = carom.model("rocking_block", friction=0.5)
    inside = carom.impact.sample(block, samples=1, method="events", epsilon=0.0).samples.velocity[0, 0]
    found = carom.impact.judge(block, inside, samples=256, sampling={"method": "events"}, seed=3)
    assert found.words() == ["inside"]
    pulled = carom.impact.judge(block, block.velocity[0] * 1.5, samples=256)  # no push does that
    assert pulled.words() == ["outside proven"] and pulled.floor[0] > 0.02
    bounced = carom.impact.judge(block, -block.velocity[0], samples=256)  # a push does, no inelastic law
    assert bounced.words() == ["not reached"] and bounced.floor[0] < 1e-6
    proven = carom.impact.judge(block, -block.velocity[0], samples=256, enclose=True)
    assert proven.words() == ["outside proven"]
    for law in ("stronge", "poisson", "newton"):  # half of the speed, or of the work, does not give it all back
        found = carom.impact.judge(block, -block.velocity[0], samples=256, enclose=True, restitution=0.5,
                                   sampling={"law": law})  # fmt: skip
        assert found.words() == ["outside proven"]


def test_the_cube_is_identified():
    problems, v, _ = impacts("one_corner")
    found = carom.impact.identify(problems[::2], v[::2], restitution=np.arange(0.2, 0.37, 0.04), friction=np.arange(0.1, 0.23, 0.03),
                                  sampling={"friction_directions": 16}, share=0.8, bootstrap=20)  # fmt: skip
    assert found.best() == pytest.approx((0.28, 0.16), abs=0.03)
    inside = [(grid >= low - 1e-12) & (grid <= high + 1e-12) for grid, (low, high) in zip((found.restitution, found.friction), found.smallest_interval)]
    reached = found.explains[:, inside[0]][:, :, inside[1]].any((1, 2)).mean()
    assert reached == pytest.approx(0.85, abs=0.05)
