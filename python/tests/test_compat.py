"""carom in the place of SciPy's linprog and of qpsolvers' solvers."""

from __future__ import annotations

import numpy as np
import pytest

import carom.compat


def test_linprog_says_what_scipy_says():
    optimize = pytest.importorskip("scipy.optimize")
    rng = np.random.default_rng(1)
    seen, compared = set(), 0
    for _ in range(300):
        n, m, k = rng.integers(1, 8), rng.integers(0, 6), rng.integers(0, 3)
        c = rng.normal(size=n)
        A = rng.normal(size=(m, n)) if m else None
        b = rng.normal(size=m) + 0.5 if m else None
        E = rng.normal(size=(k, n)) if k else None
        e = E @ rng.random(n) if k else None
        bounds = [(rng.choice([0, None, -1.0]), rng.choice([None, 2.0, 3.0])) for _ in range(n)]
        own = carom.compat.linprog(c, A, b, E, e, bounds)
        other = optimize.linprog(c, A, b, E, e, bounds, method="highs")
        assert own.status == other.status and own.success == other.success
        seen.add(own.status)
        if own.status != 0:
            assert own.x is None
            continue
        assert own.fun == pytest.approx(other.fun, rel=1e-8, abs=1e-9)
        active = (other.slack < 1e-9).sum() + k + (other.lower.residual < 1e-9).sum() + (other.upper.residual < 1e-9).sum()
        if active != n:  # multipliers are not unique
            continue
        compared += 1
        for part in ("ineqlin", "eqlin", "lower", "upper"):
            np.testing.assert_allclose(own[part].marginals, other[part].marginals, atol=1e-7)
            np.testing.assert_allclose(own[part].residual, other[part].residual, atol=1e-7)
    assert seen == {0, 2, 3} and compared > 50


def test_defaults_of_linprog_are_scipys():
    found = carom.compat.linprog([1.0, 1.0], [[-1.0, -2.0]], [-3.0])  # x >= 0
    np.testing.assert_allclose(found.x, [0.0, 1.5])
    for bounds in (None, [], [[]]):  # SciPy's default as well
        assert carom.compat.linprog([1.0], bounds=bounds).fun == 0.0
    assert carom.compat.linprog([1.0], bounds=(None, None)).status == 3
    for bounds in ((np.inf, None), (None, -np.inf)):  # of SciPy's test_bounds_infeasible_2
        assert carom.compat.linprog([1.0], bounds=bounds).status == 2
    assert carom.compat.linprog([-1.0], bounds=[(0, 2.5)]).fun == -2.5


def test_as_a_solver_of_qpsolvers():
    qpsolvers = pytest.importorskip("qpsolvers")
    carom.compat.register_qpsolvers()
    rng = np.random.default_rng(2)
    for _ in range(30):
        n = 5
        root = rng.normal(size=(n, n))
        problem = qpsolvers.Problem(
            root @ root.T + np.eye(n), rng.normal(size=n), rng.normal(size=(4, n)), rng.random(4),
            rng.normal(size=(1, n)), 0.3 * rng.normal(size=1), -2.0 * np.ones(n), 2.0 * np.ones(n),
        )  # fmt: skip
        found = qpsolvers.solve_problem(problem, "carom")
        assert found.found and found.is_optimal(1e-8), found.extras
        at_lower = found.x == -2.0
        assert (found.z_box[at_lower] <= 0.0).all()
    x = qpsolvers.solve_qp(np.eye(2), np.array([-1.0, -3.0]), ub=np.ones(2), solver="carom")
    np.testing.assert_allclose(x, [1.0, 1.0])
    none = qpsolvers.Problem(np.eye(1), np.zeros(1), lb=np.ones(1), ub=np.zeros(1))
    assert not qpsolvers.solve_problem(none, "carom").found


def test_weakly_active_rows_by_qpsolvers():
    qpsolvers = pytest.importorskip("qpsolvers")
    carom.compat.register_qpsolvers()
    n = 150  # qpsolvers' get_sparse_problem: the bound of the last but one has no multiplier
    M = np.eye(n)
    for i in range(1, n - 1):
        M[i, i + 1], M[i, i - 1] = -1.0, 1.0
    found = qpsolvers.solve_problem(qpsolvers.Problem(M @ M.T, -np.ones(n), lb=2.0 * np.ones(n)), "carom")
    assert found.found and found.extras["status"] == "solved"
    np.testing.assert_allclose(found.x, [2.0] * (n - 1) + [3.0], atol=1e-7)


def test_plain_calls():
    np.testing.assert_allclose(carom.compat.solve_qp(np.eye(2), [-1.0, -3.0], A=[[1.0, 1.0]], b=[1.0]), [-0.5, 1.5])
    assert carom.compat.solve_qp(np.eye(1), [0.0], G=[[1.0], [-1.0]], h=[-1.0, -1.0]) is None


def test_as_a_solver_of_cvxpy():
    cp = pytest.importorskip("cvxpy")
    solver = carom.compat.cvxpy_solver()
    rng = np.random.default_rng(3)
    for _ in range(20):
        A, b, R = rng.normal(size=(4, 5)), rng.random(4), rng.normal(size=(5, 5))
        x = cp.Variable(5)
        rows, plane, cone = A @ x <= b, cp.sum(x) == 0.2, cp.norm(x) <= 1.0
        problem = cp.Problem(cp.Minimize(cp.quad_form(x, R @ R.T + np.eye(5)) + rng.normal(size=5) @ x), [rows, plane, cone])
        problem.solve(solver=solver)
        assert problem.status == "optimal" and problem.solver_stats.extra_stats["residual"] <= 1e-9
        value, dual = problem.value, [rows.dual_value, plane.dual_value, cone.dual_value]
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
        assert value == pytest.approx(problem.value, abs=1e-7)
        for own, other in zip(dual, [rows.dual_value, plane.dual_value, cone.dual_value]):
            np.testing.assert_allclose(own, other, atol=1e-4)
    x = cp.Variable(2)
    assert cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, x <= 0]).solve(solver=solver) == np.inf
    assert cp.Problem(cp.Minimize(cp.sum(x)), [x <= 0]).solve(solver=solver) == -np.inf
    with pytest.raises(carom.InvalidInput, match="tolerance"):
        cp.Problem(cp.Minimize(cp.sum_squares(x))).solve(solver=solver, tolerance=-1.0)


def test_semidefinite_matrices_of_cvxpy():
    cp = pytest.importorskip("cvxpy")
    solver, rng = carom.compat.cvxpy_solver(), np.random.default_rng(4)
    for n in (3, 9):  # 36 squares are two cones
        B, x = rng.normal(size=(n, n)), cp.Variable(n)
        X, Y = cp.Variable((n, n), symmetric=True), cp.Variable((n, n), PSD=True)
        matrix, diagonal, ball = X >> 0, cp.diag(X) == 1, cp.norm(x) <= 0.5
        problem = cp.Problem(cp.Minimize(cp.sum_squares(X - B - B.T)), [matrix, diagonal])
        for wanted, constraints in ((problem, [matrix, diagonal]),
                                    (cp.Problem(cp.Minimize(cp.lambda_max(B + B.T + cp.diag(x))), [ball]), [ball])):  # fmt: skip
            wanted.solve(solver=solver)
            assert wanted.status == "optimal" and wanted.solver_stats.extra_stats["residual"] <= 1e-8
            value, dual = wanted.value, [each.dual_value for each in constraints]
            wanted.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
            assert value == pytest.approx(wanted.value, abs=1e-6)
            for own, each in zip(dual, constraints):
                np.testing.assert_allclose(own, each.dual_value, atol=1e-3)
        assert cp.Problem(cp.Minimize(cp.trace(Y)), [cp.trace(Y) <= -1]).solve(solver=solver) == np.inf
        assert cp.Problem(cp.Minimize(cp.trace(Y)), [Y[0, 0] == 1, Y[0, 0] == 2]).solve(solver=solver) == np.inf
        assert cp.Problem(cp.Minimize(-cp.trace(Y)), [Y[0, 0] == 1]).solve(solver=solver) == -np.inf
        assert cp.Problem(cp.Minimize(cp.trace(Y)), [Y == np.eye(n)]).solve(solver=solver) == pytest.approx(n)
    Y = cp.Variable((33, 33), PSD=True)
    with pytest.raises(carom.InvalidInput, match=r"blocks\[0\].* is 33"):
        cp.Problem(cp.Minimize(cp.trace(Y)), [Y[0, 0] == 1]).solve(solver=solver)


@pytest.mark.parametrize("kind", ["LP", "QP", "SOCP", "SDP"])
def test_cvxpys_own_standard_problems(kind):
    helpers = pytest.importorskip("cvxpy.tests.solver_test_helpers")
    solver, tried = carom.compat.cvxpy_solver(), 0
    tests = getattr(helpers, f"StandardTest{kind}s")
    for name in dir(tests):
        # lp_7 asks for another solver's module; *_bound_attr for bounds beside the rows, which conic solvers do
        # not take.
        if name.startswith("test_") and "_mi_" not in name and not name.endswith(("lp_7", "p_bound_attr")):
            getattr(tests, name)(solver)
            tried += 1
    assert tried == {"LP": 7, "QP": 2, "SOCP": 7, "SDP": 4}[kind]
