"""Boxed, mixed and friction-index LCPs and affine variational inequalities against other methods."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pytest

import carom
from carom import Status

lsq_linear = pytest.importorskip("scipy.optimize").lsq_linear


def test_symmetric_boxes_are_bounded_least_squares():
    rng = np.random.default_rng(2)
    for k in (3, 10, 25):
        A, b = rng.normal(size=(k + 5, k)), rng.normal(size=k + 5)
        lo, hi = -rng.random(k), rng.random(k)
        found = carom.solve_boxed_lcp(A.T @ A, -A.T @ b, lo, hi)
        assert found.status[0] == Status.solved and found.verify()[0]
        other = lsq_linear(A, b, (lo, hi), method="bvls", tol=1e-14)
        np.testing.assert_allclose(found.z[0], other.x, atol=1e-9)
        assert ((found.w[0] > 1e-9) <= (found.z[0] == lo)).all()
        assert ((found.w[0] < -1e-9) <= (found.z[0] == hi)).all()


def test_the_box_without_upper_bounds_is_the_lcp():
    rng = np.random.default_rng(3)
    root = rng.normal(size=(50, 7, 7))
    M, q = root @ root.transpose(0, 2, 1) + 0.1 * np.eye(7), rng.normal(size=(50, 7))
    np.testing.assert_allclose(carom.solve_boxed_lcp(M, q, np.zeros(7)).z, carom.solve_lcp(M, q).z, atol=1e-9)


def test_mixed_problems_take_singular_blocks():
    # min x'x / 2 - c'x over x >= 0 and one equation that is there twice
    rng = np.random.default_rng(5)
    for _ in range(20):
        k = 6
        c, row = rng.normal(size=k), rng.random(k) + 0.1
        E = np.stack([row, row])
        found = carom.solve_mixed_lcp(np.zeros((2, 2)), np.eye(k), E, -E.T, [-1.0, -1.0], -c)
        assert found.status[0] == Status.solved and found.verify()[0]
        x = found.z[0, 2:]
        qp = carom.solve_qp(np.eye(k), -c, np.vstack([row[None], np.eye(k)]), np.r_[1.0, np.zeros(k)],
                            np.r_[1.0, np.full(k, np.inf)])  # fmt: skip
        np.testing.assert_allclose(x, qp.x[0], atol=1e-8)
    twice = carom.solve_mixed_lcp(np.zeros((2, 2)), np.eye(k), E, -E.T, [-1.0, -2.0], -c)
    assert twice.status[0] == Status.infeasible and twice.verify()[0]  # row x = 1 and row x = 2


def test_affine_vi():
    # the page of DAQP: H, f on a box, as bounds and as rows
    H, f = np.array([[1.0, 1.75], [0.0, 1.0]]), np.array([-0.5, 2.0])
    box = carom.solve_affine_vi(H, f, lower=[-1.0, -1.0], upper=[1.0, 1.0])
    rows = carom.solve_affine_vi(H, f, np.eye(2), [-1.0, -1.0], [1.0, 1.0])
    assert (box.status == Status.solved).all() and (rows.status == Status.solved).all()
    np.testing.assert_allclose(box.z[0, :2], rows.z[0, :2], atol=1e-12)
    none = carom.solve_affine_vi(H, f, [], lower=[-1.0, -1.0], upper=[1.0, 1.0])
    np.testing.assert_array_equal(none.z, box.z)
    x = rows.z[0, :2]
    corners = np.array([[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)])
    assert ((corners - x) @ (H @ x + f) >= -1e-12).all()
    empty = carom.solve_affine_vi(H, f, [[1.0, 0.0]], [2.0], None, [-1.0, -1.0], [1.0, 1.0])
    assert empty.status[0] == Status.infeasible and empty.verify()[0]
    equal = carom.solve_affine_vi(np.eye(2), f, [[1.0, 1.0]], [1.0], [1.0])
    np.testing.assert_allclose(equal.z[0, :2], [1.75, -0.75], atol=1e-12)  # nearest of the line to -f


def contacts(rng, m):
    """W = J J' of one body, a normal and two friction rows a contact; q = J v."""
    J = np.zeros((3 * m, 6))
    for c in range(m):
        p = np.r_[rng.integers(-1, 2, 2), -1.0]
        for d, axis in enumerate(np.eye(3)[[2, 0, 1]]):
            J[3 * c + d] = np.r_[axis, np.cross(p, axis)]
    return J @ J.T, J @ rng.uniform(-1, 1, 6)


def test_friction_indices():
    rng = np.random.default_rng(7)
    m = 6
    W, q = map(np.array, zip(*[contacts(rng, m) for _ in range(100)]))
    index = np.array([-1 if i % 3 == 0 else i - i % 3 for i in range(3 * m)])
    rubs = index >= 0
    lo, mu = np.where(rubs, -np.inf, 0.0), np.where(rubs, 0.5, 0.0)
    exact = carom.solve_boxed_lcp(W, q, lo, None, findex=index, mu=mu)
    assert (exact.status == Status.solved).all() and exact.verify().all()
    limit = 0.5 * exact.z[:, index[rubs]]
    assert (np.abs(exact.z[:, rubs]) <= limit).all() and (exact.limit_error == 0.0).all()
    power = exact.z[:, rubs] * exact.w[:, rubs]
    assert power.max() <= 1e-9  # friction never drives
    slides = np.abs(exact.w[:, rubs]) > 1e-9
    assert (np.abs(exact.z[:, rubs])[slides] == limit[slides]).all() and slides.sum() > 100
    as_ode = np.where(rubs, 0.5, np.inf)
    same = carom.solve_boxed_lcp(W, q, np.where(rubs, -0.5, 0.0), as_ode, findex=index)
    assert same.z.tobytes() == exact.z.tobytes()
    unread = carom.solve_boxed_lcp(W, q, np.zeros(3 * m), np.where(rubs, 7.0, np.inf), findex=index, mu=mu)
    assert unread.z.tobytes() == exact.z.tobytes()
    frozen = carom.solve_boxed_lcp(W, q, lo, None, findex=index, mu=mu, friction_law="ode")
    good = frozen.status == Status.solved
    assert good.all() and frozen.verify().all()
    own = 0.5 * frozen.z[:, index[rubs]]
    most = np.maximum(own, frozen.limit[:, rubs]).max(1)
    error = np.abs(own - frozen.limit[:, rubs]).max(1) / np.where(most > 0.0, most, 1.0)
    np.testing.assert_allclose(frozen.limit_error, error, atol=1e-12)
    z = exact.z.copy()
    z[3] += 1e-3
    assert not dataclasses.replace(exact, solution=z).verify()[3]


def test_what_the_law_ode_leaves_open_is_a_box_that_is_decided():
    M = np.array([[-2.0, 2.0, 1.0, -3.0], [-1.0, 3.0, 0.0, -3.0], [2.0, 2.0, 2.0, -2.0], [-3.0, 3.0, -3.0, 0.0]])
    q, friction = np.array([-3.0, -1.0, 0.0, -1.0]), np.array([False, False, False, True])
    law = {"findex": np.where(friction, 0, -1), "mu": 0.5 * friction, "friction_law": "ode"}
    left = carom.solve_boxed_lcp(M, q, np.where(friction, -np.inf, 0.0), None, **law)
    assert left.status[0] == carom.Status.ray and "there are no trees" in left.message()
    limit = np.where(friction, left.limit[0], np.inf)
    box = carom.solve_boxed_lcp(M, q, np.where(friction, -limit, 0.0), limit)
    assert box.status[0] == carom.Status.infeasible and box.verify().all() and len(box.tree) > 1


def test_contacts_that_press_are_named():
    M = [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    found = carom.solve_boxed_lcp(M, [-1.0, -1.0, 0.2], [0, 0, -np.inf], findex=[-1, -1, 0], mu=[0, 0, 0.5])
    assert found.status[0] == Status.infeasible and found.verify()[0]
    assert found.pressed_rows().tolist() == [0, 1] and "rows 0, 1" in found.message()
    assert not dataclasses.replace(found, farkas=-found.farkas).verify()[0]


def test_the_command_says_the_same(command, tmp_path):
    problem = {"kind": "boxed_lcp", "M": [[2, 1], [1, 2]], "q": [-5, -6], "lo": [0, -1], "hi": [None, 1]}
    file = tmp_path / "box.json"
    file.write_text(json.dumps(problem))
    said = command("solve", file, "--json")[0]
    ours = carom.solve_boxed_lcp(problem["M"], problem["q"], [0, -1], [np.inf, 1])
    assert said["x"] == ours.z[0].tolist() and said["w"] == ours.w[0].tolist()


def test_refusals():
    M, q = np.eye(2), -np.ones(2)
    for arguments, words in (
        ({"findex": [-1, 5], "mu": [0, 1]}, "findex[1]"),
        ({"findex": [-1, 0], "mu": [0, -1]}, "mu[1] (friction)"),
        ({"mu": [0, 1]}, "mu (friction)"),
        ({"findex": [-1, 0]}, "mu (friction) is left out: findex needs mu"),
        ({"lo": [0, 0, 0]}, "lo (lower) is of shape (3,)"),
        ({"findex": [-1, 0, 1], "mu": [0, 1, 1]}, "findex"),
    ):
        with pytest.raises(carom.InvalidInput, match=re.escape(words)):
            carom.solve_boxed_lcp(M, q, **{"lo": [0, -np.inf], **arguments})
    with pytest.raises(carom.InvalidInput, match="A"):
        carom.solve_mixed_lcp(np.eye(3), M, np.eye(2), np.eye(2), q, q)


def test_a_tree_decides_what_paths_leave_open():
    # |z_1| <= z_0, w_0 = 5 (z_0 + z_1) + q_0, w_1 = 5 (z_0 + z_1) - 3: no answer for q_0 = -4; z_1 = z_0 for -2.
    M, findex, mu = np.full((2, 2), 5.0), [-1, 0], [0.0, 1.0]
    q = np.array([[-4.0, -3.0], [-2.0, -3.0]])
    found = carom.solve_boxed_lcp(M, q, [0.0, -np.inf], [np.inf, np.inf], findex=findex, mu=mu)
    assert found.status.tolist() == [Status.infeasible, Status.solved]
    assert found.verify().all() and np.isinf(found.bound).all()
    np.testing.assert_allclose(found.solution[1], [0.2, 0.2], atol=1e-12)
    proof = found.decision(0)
    assert proof.verify() and proof.leaf_farkas.shape[1] == 4 and "no answer" in found.message(0)
    bare = carom.solve_boxed_lcp(M, q[:1], [0.0, -np.inf], [np.inf, np.inf], findex=findex, mu=mu, max_nodes=0)
    assert bare.status[0] == Status.ray and not bare.verify()[0]
    found.leaf_farkas[0] *= -1.0
    assert found.verify().tolist() == [False, True]
