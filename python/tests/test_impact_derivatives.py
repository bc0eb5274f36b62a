"""Derivatives of sampled impacts, against closed forms and differences of the sampler."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import carom
from carom import impact

MU, RIGHT, DOWN = 0.25, 3.0, 1.0


def sliding_point(**settings):
    """A point mass that slides to the right while it lands: it ends at (RIGHT - MU DOWN, 0)."""
    point = impact.Problems.of([[2.0, 0.0], [0.0, 2.0]], [[0.0, 1.0]], [[1.0, 0.0]], [MU], [RIGHT, -DOWN])
    given = {"samples": 8, "selection": "lemke", "epsilon": 0, "max_steps": 200, **settings}
    return impact.sample(point, **given)


def test_a_sliding_point_has_the_gradient_of_its_closed_form():
    run = sliding_point()
    w = np.zeros_like(run.samples.velocity)
    w[..., 0] = 1.0
    g = run.vjp(velocity=w)
    assert g.status.shape == (1, 8) and set(g.words()) == {"smooth"}
    np.testing.assert_allclose(g.sample_velocity, np.broadcast_to([1.0, MU], (1, 8, 2)), atol=1e-12)
    np.testing.assert_allclose(g.sample_friction, np.full((1, 8, 1), -DOWN), atol=1e-12)
    np.testing.assert_allclose(g.velocity, [[8.0, 8.0 * MU]], atol=1e-11)
    assert g.mass_matrix.shape == (1, 2, 2) and g.tangent_jacobian.shape == (1, 1, 2)
    d = run.jvp(friction=[[1.0]], velocity=[[1.0, 2.0]])
    np.testing.assert_allclose(d.velocity, np.broadcast_to([1.0 + 2.0 * MU - DOWN, 0.0], (1, 8, 2)), atol=1e-12)
    few = run.vjp(velocity=w, wrt=("velocity", "step_size"))
    assert few.friction is None and few.mass_matrix is None and few.normal_jacobian is None
    np.testing.assert_allclose(few.step_size, [0.0], atol=1e-12)


def test_samples_of_a_model_agree_with_differences():
    run = impact.sample("cube_two_corners", samples=20, selection="lemke", epsilon=0)
    way = np.array([[0.3, -0.2, 0.5, 0.1, 0.4, -0.3]])
    slope = run.jvp(velocity=way)
    assert set(slope.words()) == {"smooth"}
    step = 1e-5
    same = {name: run.settings[name] for name in ("samples", "selection", "epsilon", "step_size", "max_steps")}
    up, down = (
        dataclasses.replace(run.problems, velocity=run.problems.velocity + sign * step * way) for sign in (1, -1)
    )
    rise = impact.sample(up, **same).samples.velocity - impact.sample(down, **same).samples.velocity
    np.testing.assert_allclose(slope.velocity, rise / (2.0 * step), atol=1e-7)


def test_samples_say_where_they_may_jump_and_what_has_no_derivative():
    several = impact.sample("ramone", samples=4, selection="lemke", epsilon=0)
    slope = several.jvp(velocity=several.problems.velocity)
    assert set(slope.words()) == {"set_valued"} and np.isfinite(slope.velocity).all()
    with pytest.raises(carom.InvalidInput, match="selection any: derivatives"):
        sliding_point(selection="any").jvp(friction=[[1.0]])
    run = sliding_point()
    with pytest.raises(carom.InvalidInput, match="velocity is of shape"):
        run.vjp(velocity=[1.0, 0.0])
    with pytest.raises(carom.InvalidInput, match="wrt"):
        run.vjp(velocity=np.zeros_like(run.samples.velocity), wrt="speed")
