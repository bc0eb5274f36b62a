"""LCPs, LPs, QPs and SDPs: the command's numbers, proofs, warm starts, statuses."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import carom


def test_lcp_of_the_command(command, tmp_path):
    rng = np.random.default_rng(3)
    root = rng.normal(size=(5, 5))
    M, q = root @ root.T + np.eye(5), rng.normal(size=5)
    file = tmp_path / "lcp.json"
    file.write_text(json.dumps({"kind": "lcp", "M": M.tolist(), "q": q.tolist()}))
    said = command("solve", file, "--json")
    said = said[0] if isinstance(said, list) else said
    ours = carom.solve_lcp(M, q)
    assert said["x"] == ours.z[0].tolist()
    assert said["residual"] == ours.residual[0]
    np.testing.assert_allclose(ours.w, M @ ours.z[0] + q + np.zeros((1, 5)), atol=1e-12)
    assert (ours.w * ours.z).max() < 1e-9


def test_a_bad_lcp_leaves_its_neighbours():
    rng = np.random.default_rng(4)
    q = rng.normal(size=(6, 3))
    good = carom.solve_lcp(2.0 * np.eye(3), q)
    q[2, 1] = np.nan
    mixed = carom.solve_lcp(2.0 * np.eye(3), q)
    assert mixed.status[2] == carom.Status.invalid_input and np.isnan(mixed.z[2]).all()
    others = [0, 1, 3, 4, 5]
    assert mixed.z[others].tobytes() == good.z[others].tobytes()
    with pytest.raises(carom.SolveError) as raised:
        carom.solve_lcp(2.0 * np.eye(3), q, on_error="raise")
    assert raised.value.problem == 2


def test_lp_duals_proofs_and_starts():
    A = np.array([[1.0, 1.0], [1.0, -1.0]])
    c = np.array([[[-1.0, 0.0], [0.0, -1.0]]])  # two objectives
    found = carom.solve_lp(c, A, row_upper=[4.0, 2.0], lower=[0.0, 0.0])
    np.testing.assert_allclose(found.objective, [[-3.0, -4.0]])
    np.testing.assert_allclose(found.x[0], [[3.0, 1.0], [0.0, 4.0]])
    again = carom.solve_lp(c[:, ::-1], A, row_upper=[4.0, 2.0], lower=[0.0, 0.0], start=found.basis)
    assert again.pivots[0, 0] == 0
    empty = carom.solve_lp([1.0, 1.0], A, row_lower=[5.0, 0.0], upper=[1.0, 1.0], lower=[0.0, 0.0])
    assert empty.status[0, 0] == carom.Status.infeasible
    y = empty.farkas[0, 0]
    reduced = A.T @ y  # y'A x <= max over the box < the rows' bound
    assert np.maximum(reduced, 0.0).sum() < y[0] * 5.0
    free = carom.solve_lp([-1.0, 0.0], A, row_upper=[np.inf, 2.0], lower=[0.0, 0.0])
    assert free.status[0, 0] == carom.Status.unbounded
    ray = free.ray[0, 0]
    assert ray[0] > 0 and A[1] @ ray <= 1e-12
    assert carom.solve_lp([-1.0, 0.0], A, certificates=False, upper=[1.0, 1.0]).ray is None


def test_qp_multipliers_cones_and_warm_start():
    rng = np.random.default_rng(5)
    root = rng.normal(size=(40, 4, 4))
    P, q = root @ root.transpose(0, 2, 1) + np.eye(4), rng.normal(size=(40, 4))
    A, u = rng.normal(size=(3, 4)), np.full(3, 0.1)
    found = carom.solve_qp(P, q, A, u=u)
    assert (found.status == carom.Status.solved).all()
    gradient = np.einsum("nij,nj->ni", P, found.x) + q + found.y @ A
    assert np.abs(gradient).max() < 1e-7
    assert (found.x @ A.T <= u + 1e-8).all() and (found.y >= -1e-9).all()
    warm = carom.solve_qp(P, q, A, u=u, method="active_set", warm_start=found)
    np.testing.assert_allclose(warm.x, found.x, atol=1e-7)
    with pytest.raises(carom.InvalidInput, match="warm_start has 'x': must have solution"):
        carom.solve_qp(P, q, A, u=u, warm_start={"x": found.x})
    # the point of the cone t >= |(x, y)| that is nearest to (0; 3, 4)
    C = -np.eye(3)
    near = carom.solve_qp(np.eye(3), [0.0, -3.0, -4.0], C=C, b=np.zeros(3), cones=[("soc", 3)])
    np.testing.assert_allclose(near.x[0], [2.5, 1.5, 2.0], atol=1e-7)
    with pytest.raises(carom.InvalidInput, match="cones"):
        carom.solve_qp(np.eye(3), np.zeros(3), C=C, b=np.zeros(3), cones=[("soc", 2)])
    with pytest.raises(carom.InvalidInput, match=r"cones\[1\] is 'cube': must be zero, nonneg"):
        carom.solve_qp(np.eye(3), np.zeros(3), C=C, b=np.zeros(3), cones=[("soc", 2), ("cube", 1)])
    with pytest.raises(carom.InvalidInput, match=r"must be \(n, v\), or \(v,\) for all problems, with v = 3 as in"):
        carom.solve_qp(np.eye(3), np.zeros(2))
    none = carom.solve_qp(np.eye(1), [0.0], [[1.0], [1.0]], l=[1.0, -9.0], u=[9.0, 0.0])
    assert none.status[0] == carom.Status.infeasible


def test_sdp_of_the_largest_eigenvalue():
    rng = np.random.default_rng(6)
    S = rng.normal(size=(7, 4, 4))
    S = S + S.transpose(0, 2, 1)
    # max y with S - y I semidefinite: the least eigenvalue
    found = carom.solve_sdp(S, np.eye(4)[None], [1.0])
    np.testing.assert_allclose(found.y[:, 0], np.linalg.eigvalsh(S)[:, 0], atol=1e-6)
    blocks = carom.solve_sdp([1.0, 4.0], [[1.0, 1.0]], [1.0], blocks=[1, 1])
    np.testing.assert_allclose(blocks.y, [[1.0]], atol=1e-6)


def test_every_backend_agrees():
    rng = np.random.default_rng(8)
    root = rng.normal(size=(20, 4, 4))
    M, q = root @ root.transpose(0, 2, 1) + np.eye(4), rng.normal(size=(20, 4))
    np.testing.assert_allclose(
        carom.solve_lcp(M, q).z, carom.solve_lcp(M, q, backend="reference").z, atol=1e-9
    )
    with pytest.raises(carom.BackendUnavailable):
        if carom.info()["cuda_devices"]:
            pytest.skip("there is a device")
        carom.solve_lcp(M, q, backend="cuda")


def test_decimals_do_not_hide_that_netlibs_problems_are_infeasible():
    # g = A'y is to have zeros where decimals leave 1e-17 against an absent bound; the rows bound those columns.
    data = dict(np.load(pathlib.Path(__file__).parents[2] / "bench/data/netlib.npz"))
    at, seen = np.zeros(3, dtype=int), set()
    for name, (n, m, equations, entries) in zip(data["names"], data["sizes"]):
        part, columns, rows = (slice(a, a + b) for a, b in zip(at, (entries, n, m)))
        at += (entries, n, m)
        if str(name) not in {"refinery", "vol1", "qual", "pang"}:
            continue
        A = np.zeros((m, n))
        A[data["rows"][part], data["columns"][part]] = data["values"][part]
        right = data["right"][rows]
        low = np.where(np.arange(m) < m - equations, -np.inf, right)
        found = carom.solve_lp(data["cost"][columns], A, low, right, data["lower"][columns], data["upper"][columns])
        assert found.status[0, 0] == carom.Status.infeasible and found.verify().all()
        seen.add(str(name))
    assert len(seen) == 4


def test_qps_whose_rows_have_no_numbers_of_their_own():
    """Stages of a process: what each uses comes from the one before, and only the first has a bound of its own."""
    random = np.random.default_rng(41)
    solved = 0
    for _ in range(12):
        stages = int(random.integers(20, 50))
        n = 4 * stages
        rows, upper = [np.zeros(n)], [1.0]
        rows[0][:4] = 1.0
        equations = []
        for use, keep, stock, out in np.arange(4, n).reshape(-1, 4):
            for entries, equation in (({use: 1, keep: 1, keep - 4: -1.1, stock - 4: -0.2}, False),
                                      ({stock: 1, use: -round(random.uniform(0.2, 0.9), 1), stock - 4: -0.9}, True),
                                      ({out: 1, stock: -0.5}, False)):
                row = np.zeros(n)
                row[list(entries)] = list(entries.values())
                equations.append(len(rows) if equation else 0)
                rows.append(row)
                upper.append(0.0)
        A, u = np.vstack([rows, np.eye(n)]), np.concatenate([upper, np.full(n, np.inf)])
        l = np.concatenate([np.full(len(rows), -np.inf), np.zeros(n)])
        l[[row for row in equations if row]] = 0.0
        q, P = np.zeros(n), np.zeros((n, n))
        q[3::4] = -random.uniform(0, 1, stages).round(2) * (random.random(stages) < 0.5)
        q[0::4] = 0.01 * random.uniform(0, 1, stages).round(2) * (random.random(stages) < 0.5)
        some = random.choice(n, 4, replace=False)
        P[some, some] = random.uniform(0.1, 2.0)
        answer = carom.solve_qp(P, q, A, l, u)
        if answer.status[0] != carom.Status.solved:
            continue
        solved += 1
        x, y = answer.solution[0], answer.dual[0]
        held = np.where(y > 0, u, l)[y != 0.0]
        terms = np.concatenate([x * (P @ x), q * x, y[y != 0.0] * held])
        assert np.abs(P @ x + q + A.T @ y).max() < 1e-9 and (A @ x - u).max() < 1e-9 and (l - A @ x).max() < 1e-9
        assert abs(terms.sum()) <= 1e-9 * np.abs(terms).sum()
    # Of two an unknown with curvature ends at its bound, with a multiplier of zero: found to the root of rounding.
    assert solved >= 10


def test_qps_with_bounds_that_are_rounding():
    """Balances whose right-hand sides are 1e-16 where zero was meant, as in files that were converted."""
    random = np.random.default_rng(5)
    for _ in range(60):
        n, m = int(random.integers(26, 40)), int(random.integers(6, 12))
        balances = np.zeros((m, n))
        for row in balances:
            some = random.choice(n, int(random.integers(3, 6)), replace=False)
            row[some] = -random.uniform(0.2, 0.6, len(some)).round(2)
            row[some[0]] = 1.0
        A = np.vstack([balances, random.uniform(0.5, 1.5, n).round(1), np.eye(n)])
        noise = random.choice([-2.220446049250313e-16, 1.1e-16, -5.5e-17, 0.0], m)
        l, u = np.concatenate([noise, [-np.inf], np.zeros(n)]), np.concatenate([noise, [80.0], np.full(n, np.inf)])
        P, q = np.zeros((n, n)), random.uniform(-0.3, 1.0, n).round(2)
        P[0, 0] = 1.0
        answer = carom.solve_qp(P, q, A, l, u)
        assert answer.status[0] == carom.Status.solved, answer.residual
        meant = carom.solve_qp(P, q, A, np.where(abs(l) < 1e-12, 0.0, l), np.where(abs(u) < 1e-12, 0.0, u))
        values = [0.5 * x @ P @ x + q @ x for x in (answer.solution[0], meant.solution[0])]
        assert values[0] == pytest.approx(values[1], rel=1e-9, abs=1e-12)


def test_what_rounding_leaves_of_zeros_in_a_hessian_is_symmetric():
    P = np.diag([2.0, 3.0])
    P[0, 1], P[1, 0] = 1e-17, -3e-17  # as R D R' has it
    assert carom.solve_qp(P, np.array([-2.0, -3.0])).status[0] == carom.Status.solved
    P[1, 0] = -3e-6
    with pytest.raises(carom.InvalidInput, match="must be equal to"):
        carom.solve_qp(P, np.array([-2.0, -3.0]))


def test_a_hessian_that_is_not_symmetric_is_refused():
    P = np.array([[[2.0, 1.0], [1.0, 2.0]], [[2.0, 0.0], [1.0, 2.0]]])
    with pytest.raises(carom.InvalidInput, match=r"P\[1, 0, 1\] \(hessian\) is 0: must be equal to P\[1, 1, 0\], 1"):
        carom.solve_qp(P, np.zeros((2, 2)))
    with pytest.raises(carom.InvalidInput, match=r"P\[0, 1\] is 0: must be equal to P\[1, 0\], 1"):
        carom.QpBatch(P[1], np.zeros(2))
    solver = carom.QpBatch(P[0], np.ones(2))
    with pytest.raises(carom.InvalidInput, match=r"P\[0, 1\]"):
        solver.update(P=P[1])
    np.testing.assert_allclose(solver.solve().solution, [[-1 / 3, -1 / 3]])
    rounded = P[0] * np.array([[1.0, 1.0 + 1e-12], [1.0, 1.0]])
    assert carom.solve_qp(rounded, np.ones(2)).status[0] == carom.Status.solved
    assert carom.solve_qp(np.full((2, 2), np.nan), np.ones(2)).status[0] == carom.Status.invalid_input


def test_infinite_bounds_on_the_wrong_side_have_a_reason():
    upward = carom.solve_qp(np.eye(1), [0.0], [[1.0]], [np.inf], [np.inf])
    assert upward.reasons() == {0: "l[0] (lower) of problem 0 is inf: must be finite, or -inf if there is none"}
    downward = carom.solve_lp([1.0], [[1.0]], [0.0], [-np.inf])
    assert downward.reasons() == {0: "row_upper[0] of problem 0 is -inf: must be finite, or inf if there is none"}


def test_empty_batches_can_be_printed():
    assert repr(carom.solve_lcp(np.zeros((0, 2, 2)), np.zeros((0, 2)))) == "LcpResult(0 problems: none)"
