"""Least shifts against closed forms, least squares and the certificates of what they prove."""

from __future__ import annotations

import numpy as np
import pytest

import carom
from carom import Status


def test_two_half_lines_meet_in_the_middle():
    found = carom.nearest_feasible([[1.0], [1.0]], [1.0, -np.inf], [np.inf, 0.0])
    np.testing.assert_allclose(found.x, [[0.5]], atol=1e-12)
    np.testing.assert_allclose(found.shift, [[0.5, -0.5]], atol=1e-12)
    assert found.distance[0] == pytest.approx(np.sqrt(0.5)) and found.proof.verify().all()
    hard = carom.nearest_feasible([[1.0], [1.0]], [1.0, -np.inf], [np.inf, 0.0], hard=[True, False])
    np.testing.assert_allclose(hard.shift, [[0.0, -1.0]], atol=1e-12)
    assert hard.proof.verify().all() and "rows 1 must move" in hard.message()
    none = carom.nearest_feasible([[1.0], [1.0]], [1.0, -np.inf], [np.inf, 0.0], hard=[True, True])
    assert none.status[0] == Status.infeasible and none.proof.verify().all()


def test_equations_are_least_squares():
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(20, 7, 3)), rng.normal(size=(20, 7))
    found = carom.nearest_feasible(A, b, b, row_weight=np.ones(7))
    for p in range(20):
        x = np.linalg.lstsq(A[p], b[p])[0]
        np.testing.assert_allclose(found.x[p], x, atol=1e-9)
        np.testing.assert_allclose(found.shift[p], b[p] - A[p] @ x, atol=1e-9)
    assert found.proof.verify().all()


def test_random_problems_are_feasible_or_proven_apart():
    rng = np.random.default_rng(2)
    A, l = rng.normal(size=(300, 6, 3)), rng.normal(size=(300, 6))
    u = l + 3.0 * rng.random((300, 6))
    found = carom.nearest_feasible(A, l, u, -np.ones(3), np.ones(3))
    lp = carom.solve_lp(np.zeros(3), A, l, u, lower=-np.ones(3), upper=np.ones(3))
    assert (found.status == Status.solved).all()
    feasible = lp.status[:, 0] == Status.solved
    assert 10 < feasible.sum() < 290
    np.testing.assert_array_equal(feasible, found.distance == 0.0)
    np.testing.assert_array_equal(found.proof.verify(), ~feasible)
    moved = np.einsum("nij,nj->ni", A, found.x) + found.shift
    assert (moved >= l - 1e-9).all() and (moved <= u + 1e-9).all() and (np.abs(found.x) <= 1.0 + 1e-9).all()
    # the shift is the multiplier: y = -D^2 s
    D = 1.0 / np.linalg.norm(A, axis=2)
    np.testing.assert_allclose(found.proof.certificate[~feasible, :6], -(D**2 * found.shift)[~feasible], atol=1e-9)
    with pytest.raises(carom.InvalidInput, match="row_weight"):
        carom.nearest_feasible(A, l, u, row_weight=np.zeros(6))
