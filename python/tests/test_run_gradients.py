"""Gradients of whole runs of worlds: shapes, statuses, Gauss-Newton on a friction."""

from __future__ import annotations

import numpy as np
import pytest

import carom
from carom import compliant


def slide(friction, **more):
    return compliant.worlds("inclined_block", {"friction": friction, "angle": 20.0}, steps=200, centripetal=False, **more)


def test_gradients_have_the_shapes_that_parameters_were_given_in():
    runs = slide([0.1, 0.2, 0.3])
    g = runs.vjp(displacement=1.0)
    assert g.words() == ["smooth"] * 3 and (g.first_step == -1).all()
    assert g.parameters["friction"].shape == (3,) and isinstance(g.parameters["angle"], float)
    alone = slide(0.2).vjp(displacement=1.0, wrt="friction")
    assert alone.parameters["friction"] == g.parameters["friction"][1] and alone.step_size is None
    assert set(alone.parameters) == {"friction"}
    t = 1e-6
    difference = (slide(0.2 + t).displacement - slide(0.2 - t).displacement)[0] / (2 * t)
    np.testing.assert_allclose(alone.parameters["friction"], difference, rtol=1e-7)
    np.testing.assert_array_equal(runs.vjp(displacement=1.0, checkpoint=3).parameters["friction"], g.parameters["friction"])
    assert g.position.shape == (3, 7) and g.velocity.shape == (3, 6)
    # A block that starts a little further down ends as much further down.
    np.testing.assert_allclose(g.position[:, 0], 1.0, rtol=1e-12)


def test_a_friction_is_found_from_a_displacement():
    measured = slide(0.2137).displacement[0]
    mu = 0.1
    for _ in range(4):
        run = slide(mu)
        mu -= (run.displacement[0] - measured) / run.vjp(displacement=1.0, wrt="friction").parameters["friction"]
    assert abs(mu - 0.2137) < 1e-9


def test_a_sticking_block_has_a_gradient_of_almost_zero_and_dependent_feet_theirs_when_they_turn():
    run = slide(0.6)
    g = run.vjp(displacement=1.0, wrt="friction")
    assert g.words() == ["smooth"] and abs(g.parameters["friction"]) < 1e-6
    def turning(friction):  # with the centripetal term, of which four feet have one too many
        return compliant.worlds("inclined_block", {"friction": friction}, steps=20, tolerance=1e-12)

    g = turning(0.2).vjp(displacement=1.0, wrt="friction")
    far, near = ((turning(0.2 + t).displacement - turning(0.2 - t).displacement)[0] for t in (2e-4, 1e-4))
    assert g.words() == ["smooth"]
    assert g.parameters["friction"] == pytest.approx((8.0 * near - far) / 1.2e-3, rel=1e-7)
    flat = compliant.worlds("compliant_block_impact", {"angle": 0.0}, steps=10)
    assert flat.vjp(displacement=1.0).words() == ["set_valued"]
    with pytest.raises(carom.SolveError):
        flat.vjp(displacement=1.0, on_error="raise")


def test_saved_runs_have_the_same_gradients(tmp_path):
    pytest.importorskip("h5py")
    run = slide([0.2, 0.25])
    run.save(tmp_path / "run.h5")
    again = carom.load(tmp_path / "run.h5")
    np.testing.assert_array_equal(again.vjp(displacement=1.0).parameters["friction"], run.vjp(displacement=1.0).parameters["friction"])


def test_misuse_is_refused_by_name():
    run = slide(0.2)
    for given, words in (({}, "cotangent"), ({"displacement": [1.0, 2.0]}, "displacement"), ({"displacement": 1.0, "wrt": "frictoin"}, "wrt")):
        with pytest.raises(carom.InvalidInput, match=words):
            run.vjp(**given)


def test_rates_ahead_are_those_of_differences_and_adjoint_to_gradients():
    run = compliant.worlds("inclined_block", {"friction": [0.2, 0.25], "angle": 20.0}, steps=50, tolerance=1e-12)
    d = run.jvp(parameters={"friction": [1.0, 0.5], "angle": -2.0}, step_size=1e-3)
    g = run.vjp(displacement=[1.0, 3.0])
    assert d.words() == g.words() == ["smooth"] * 2
    left = d.displacement @ [1.0, 3.0]
    right = g.parameters["friction"] @ [1.0, 0.5] - 2.0 * g.parameters["angle"] + 1e-3 * g.step_size
    assert left == pytest.approx(right, rel=1e-12)

    def end(t):
        friction = np.array([0.2, 0.25]) + t * np.array([1.0, 0.5])
        return compliant.worlds("inclined_block", {"friction": friction, "angle": 20.0 - 2.0 * t}, steps=50,
                                dt=run.step_size + 1e-3 * t, tolerance=1e-12).position  # fmt: skip

    far, near = (end(t) - end(-t) for t in (2e-4, 1e-4))
    np.testing.assert_allclose(d.position, (8.0 * near - far) / 1.2e-3, rtol=1e-7, atol=1e-9)
    start = run.jvp(position=np.eye(7)[0])
    np.testing.assert_allclose(start.displacement, 1.0, rtol=1e-14)  # moved along the incline
    for given, words in (({"parameters": {"frictoin": 1.0}}, "frictoin"), ({"position": np.zeros(3)}, "position"),
                         ({"parameters": {"friction": np.nan}}, "nan")):
        with pytest.raises(carom.InvalidInput, match=words):
            run.jvp(**given)
