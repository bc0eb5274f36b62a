"""Solver objects: the answers of the functions, whatever the start, and budgets."""

from __future__ import annotations

import numpy as np
import pytest

import carom
from carom import Status


def test_lcps():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(6, 6))
    M, q = root @ root.T + 0.1 * np.eye(6), rng.normal(size=(40, 6))
    solver = carom.LcpBatch(M, q)
    assert solver.solve().z.tobytes() == carom.solve_lcp(M, q).z.tobytes()
    q[3] = 1.0
    found = solver.update(q=np.ones(6), problems=[3]).solve()
    assert found.z.tobytes() == carom.solve_lcp(M, q).z.tobytes() and found.verify().all()
    with pytest.raises(carom.InvalidInput, match="Q"):
        solver.update(Q=q)


def test_lps_start_at_the_last_basis():
    rng = np.random.default_rng(2)
    A, x = rng.normal(size=(8, 16)), rng.random(16)
    c, b = A.T @ rng.normal(size=8) + rng.random(16), A @ x

    def sides():
        return b * (1.0 + 0.05 * rng.uniform(-1, 1, (60, 8)))

    high = sides()
    solver = carom.LpBatch(c, A, high - 1.0, high, lower=0.0, upper=2.0)
    first = solver.solve()
    cold = carom.solve_lp(c, A, high - 1.0, high, lower=np.zeros(16), upper=np.full(16, 2.0))
    assert first.x.tobytes() == cold.x.tobytes() and first.verify().all()
    high = sides()
    warm = solver.update(row_lower=high - 1.0, row_upper=high).solve()
    cold = carom.solve_lp(c, A, high - 1.0, high, lower=np.zeros(16), upper=np.full(16, 2.0))
    np.testing.assert_array_equal(warm.status, cold.status)
    np.testing.assert_allclose(warm.objective, cold.objective, rtol=1e-9)
    assert warm.verify().all() and warm.pivots.sum() < 0.1 * cold.pivots.sum()
    assert (warm.pivots == 0).mean() > 0.5  # answered by bases of the pool
    again = solver.reset().solve()
    assert again.x.tobytes() == cold.x.tobytes()


@pytest.mark.parametrize("method", ["auto", "active_set"])
def test_qps_of_a_receding_horizon(method):
    rng = np.random.default_rng(3)
    root = rng.normal(size=(12, 12))
    P, A, q = root @ root.T / 12 + np.eye(12), rng.normal(size=(24, 12)), rng.normal(size=(30, 12))
    solver = carom.QpBatch(P, q, A, -np.ones(24), np.ones(24), method=method)
    cold_steps = warm_steps = 0
    solver.solve()
    for _ in range(4):
        q = q + 0.05 * rng.normal(size=q.shape)
        warm = solver.update(q=q).solve()
        cold = carom.solve_qp(P, q, A, -np.ones(24), np.ones(24), method=method)
        np.testing.assert_array_equal(warm.status, cold.status)
        np.testing.assert_allclose(warm.x, cold.x, atol=1e-8)
        assert warm.verify().all()
        cold_steps, warm_steps = cold_steps + cold.iterations.sum(), warm_steps + warm.iterations.sum()
    assert warm_steps < 0.5 * cold_steps
    moved = solver.solve(shift=(3, 6))
    np.testing.assert_allclose(moved.x, warm.x, atol=1e-8)
    empty = solver.update(l=np.full(24, 2.0)).solve()  # above u: no start turns that into an answer
    assert (empty.status == Status.infeasible).all()


def test_budgets_leave_the_rest_cancelled():
    rng = np.random.default_rng(4)
    root = rng.normal(size=(3000, 24, 24))
    M, q = root @ root.transpose(0, 2, 1) + 0.1 * np.eye(24), rng.normal(size=(3000, 24))
    found = carom.LcpBatch(M, q, threads=1).solve(time_budget=1e-3)
    done = found.status == Status.solved
    assert 0 < done.sum() < 3000 and (found.status[~done] == Status.cancelled).all()
    assert np.isnan(found.z[~done]).all() and found.verify()[done].all()
    whole = carom.solve_lcp(M[done], q[done])
    assert found.z[done].tobytes() == whole.z.tobytes()


@pytest.mark.parametrize("budget", [-1e-3, float("nan")])
def test_budgets_that_are_no_time_are_refused(budget):
    one = np.eye(2)
    for solver in (
        carom.LcpBatch(one, -np.ones(2)),
        carom.LpBatch(np.ones(2), one, np.ones(2), np.full(2, 2.0)),
        carom.QpBatch(one, np.ones(2), one, np.ones(2), np.full(2, 2.0)),
    ):
        with pytest.raises(carom.InvalidInput, match=f"time_budget is {budget:g}"):
            solver.solve(time_budget=budget)


def test_a_solve_can_be_cancelled():
    rng = np.random.default_rng(6)
    root = rng.normal(size=(4000, 24, 24))
    M, q = root @ root.transpose(0, 2, 1) + 0.1 * np.eye(24), rng.normal(size=(4000, 24))
    solver = carom.LcpBatch(M, q, threads=1)
    whole = solver.solve_async()
    with pytest.raises(carom.InvalidInput, match="solve_async"):
        solver.solve_async()
    assert whole.result().z.tobytes() == carom.solve_lcp(M, q, max_nodes=0).z.tobytes() and whole.done()
    pending = solver.solve_async()
    pending.cancel()
    found = pending.result()
    done = found.status == Status.solved
    assert 0 < done.sum() < 4000 and (found.status[~done] == Status.cancelled).all() and found.verify()[done].all()
    with pytest.raises(TypeError):
        solver.solve_async(speed="high").result()
    assert solver.solve().status.max() == 0  # and the object can be used again


def test_working_sets_are_kept_and_can_be_given():
    rng = np.random.default_rng(5)
    root = rng.normal(size=(8, 8))
    P, A, q = root @ root.T / 8 + np.eye(8), rng.normal(size=(16, 8)), 2.0 * rng.normal(size=(50, 8))
    solver = carom.QpBatch(P, q, A, -np.ones(16), np.ones(16))
    assert solver.state is None
    first = solver.solve()
    np.testing.assert_array_equal(solver.state, np.where(first.y > 0, 2, np.where(first.y < 0, 1, 0)))
    again = solver.solve()
    assert (again.iterations == 0).all() and again.verify().all()
    other = carom.QpBatch(P, q, A, -np.ones(16), np.ones(16))
    other.state = solver.state
    assert (other.solve().iterations == 0).all()
    with pytest.raises(carom.InvalidInput, match="state"):
        other.state = np.zeros((50, 3))
    P = P + 0.1 * np.eye(8)
    new = solver.update(P=P).solve()
    np.testing.assert_allclose(new.x, carom.solve_qp(P, q, A, -np.ones(16), np.ones(16)).x, atol=1e-9)
    part = solver.update(q=np.zeros(8), problems=[3]).solve()
    np.testing.assert_allclose(part.x[3], 0.0, atol=1e-12)
    assert part.verify().all()


@pytest.mark.parametrize("own", ["P", "A", "both"])
def test_qps_with_matrices_of_their_own(own):
    rng, count = np.random.default_rng(43), 40
    root = rng.normal(size=(count, 12, 12))
    P, A = root @ root.transpose(0, 2, 1) / 12 + np.eye(12), rng.normal(size=(count, 24, 12))
    P, A = P[0] if own == "A" else P, A[0] if own == "P" else A
    q = rng.normal(size=(count, 12))
    solver = carom.QpBatch(P, q, A, -np.ones(24), np.ones(24))
    solver.solve()
    cold_steps = warm_steps = 0
    for step in range(4):
        q = q + 0.05 * rng.normal(size=q.shape)
        if step == 2:
            A = A + 0.01 * rng.normal(size=A.shape)
            solver.update(A=A)
            assert solver.solve().verify().all()
        warm = solver.update(q=q).solve()
        cold = carom.solve_qp(P, q, A, -np.ones(24), np.ones(24), method="active_set")
        np.testing.assert_array_equal(warm.status, cold.status)
        np.testing.assert_allclose(warm.x, cold.x, atol=1e-8)
        assert warm.verify().all()
        cold_steps, warm_steps = cold_steps + cold.iterations.sum(), warm_steps + warm.iterations.sum()
    assert warm_steps < 0.6 * cold_steps
    held = solver.state
    assert held is not None and held.shape == (count, 24) and (held > 0).any()
    part = solver.solve(time_budget=10.0)  # in pieces
    np.testing.assert_allclose(part.x, warm.x, atol=1e-9)
    empty = solver.update(l=np.full(24, 2.0)).solve()
    assert (empty.status == Status.infeasible).all()


def test_matrices_that_are_not_definite_take_no_harm():
    rng, count = np.random.default_rng(44), 30
    P = np.zeros((count, 6, 6))
    P[::3] = np.eye(6)
    P[1::3, 0, 0] = 1.0  # semidefinite; every third is zero, a linear program
    A, q = rng.normal(size=(count, 12, 6)), rng.normal(size=(count, 6))
    A[:, :6] = np.eye(6)
    solver = carom.QpBatch(P, q, A, -np.ones(12), np.ones(12))
    solver.solve()
    solver.solve()
    q = q + 0.1 * rng.normal(size=q.shape)
    warm, cold = solver.update(q=q).solve(), carom.solve_qp(P, q, A, -np.ones(12), np.ones(12))
    np.testing.assert_array_equal(warm.status, cold.status)
    np.testing.assert_allclose(warm.objective, cold.objective, atol=1e-8)
    assert warm.verify().all()
