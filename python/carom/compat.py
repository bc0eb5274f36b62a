"""carom through the interfaces of other libraries: SciPy's linprog, qpsolvers, CVXPY and cvxpylayers.

    from carom.compat import linprog                       # as scipy.optimize.linprog
    carom.compat.register_qpsolvers()                      # then qpsolvers.solve_qp(..., solver="carom")
    problem.solve(solver=carom.compat.cvxpy_solver())      # a cvxpy.Problem
    CvxpyLayer(problem, parameters, variables, solver=carom.compat.cvxpylayers_solver())

Signs and statuses are those of the other library; bounds of 1e20 and more count as absent.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ._layers import layer_solver
from ._optional import needed
from ._results import Status
from ._semidefinite import solve as solve_semidefinite
from .solvers import solve_lp
from .solvers import solve_qp as _solve_qp

__all__ = ["cvxpy_solver", "cvxpylayers_solver", "linprog", "qpsolvers_solve_problem", "register_qpsolvers", "solve_qp"]

_ABSENT = 1e20


def _bounds(value: Any, n: int, missing: float) -> np.ndarray:
    if value is None:
        return np.full(n, missing)
    found = np.array(np.broadcast_to(np.asarray(value, dtype=float), n))
    found[np.isnan(found)] = missing
    found[np.abs(found) >= _ABSENT] = np.copysign(np.inf, found[np.abs(found) >= _ABSENT])
    return found


def _dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=float)


def linprog(
    c: Any, A_ub: Any = None, b_ub: Any = None, A_eq: Any = None, b_eq: Any = None,
    bounds: Any = (0, None), **settings: Any,
) -> Any:  # fmt: skip
    """As scipy.optimize.linprog: minimises c'x over A_ub x <= b_ub, A_eq x = b_eq and bounds, pairs of
    numbers or None, one pair for all. Needs SciPy for the class of its result.

    x, fun, success, status (0 solved, 1 iteration limit, 2 infeasible, 3 unbounded, 4 not certified),
    message, nit; slack, con; ineqlin, eqlin, lower and upper with residual and marginals, the sensitivity
    of fun to b_ub, b_eq and the bounds. Settings: as of carom.solve_lp. Errors: carom.InvalidInput, a
    ValueError, for shapes.
    """
    OptimizeResult = needed("scipy.optimize", "linprog", "scipy").OptimizeResult

    c = np.atleast_1d(np.squeeze(np.asarray(c, dtype=float)))
    n = c.size
    A1 = np.zeros((0, n)) if A_ub is None else np.atleast_2d(_dense(A_ub))
    A2 = np.zeros((0, n)) if A_eq is None else np.atleast_2d(_dense(A_eq))
    b1 = _bounds(() if b_ub is None else np.ravel(b_ub), len(A1), np.inf)
    b2 = np.zeros(0) if b_eq is None else np.ravel(np.asarray(b_eq, dtype=float))
    if bounds is None or np.size(bounds) == 0:
        bounds = (0, None)  # as SciPy reads it
    pairs = np.array(bounds, dtype=float)  # None becomes NaN
    pairs = np.broadcast_to(pairs.reshape(-1, 2), (n, 2)) if pairs.size == 2 else pairs.reshape(-1, 2)
    lower, upper = _bounds(pairs[:, 0], n, -np.inf), _bounds(pairs[:, 1], n, np.inf)
    if np.any(lower == np.inf) or np.any(upper == -np.inf):
        return OptimizeResult(
            success=False, status=2, message="Infeasible: no number meets an infinite bound.", nit=0,
            x=None, fun=None, slack=None, con=None,
        )  # fmt: skip
    answer = solve_lp(
        c, np.vstack([A1, A2]) if len(A1) + len(A2) else None,
        np.concatenate([np.full(len(A1), -np.inf), b2]) if len(A1) + len(A2) else None,
        np.concatenate([b1, b2]) if len(A1) + len(A2) else None,
        lower=lower, upper=upper, **settings,
    )  # fmt: skip
    own = int(answer.status[0, 0])
    status = {Status.solved: 0, Status.iteration_limit: 1, Status.infeasible: 2, Status.unbounded: 3}.get(own, 4)
    messages = (
        "Optimal, certified.", "Iteration limit reached.", "Infeasible, proven by a Farkas vector.",
        "Unbounded, proven by a ray.", f"No certified answer: {Status(own).name}.",
    )  # fmt: skip
    found = OptimizeResult(
        success=status == 0, status=status, message=messages[status], nit=int(answer.pivots[0, 0]),
        x=None, fun=None, slack=None, con=None,
    )  # fmt: skip
    if status != 0:
        return found
    x, y = answer.x[0, 0], answer.y[0, 0]
    reduced = c - np.concatenate([A1, A2]).T @ y if len(y) else c.copy()
    found.update(x=x, fun=float(answer.objective[0, 0]), slack=b1 - A1 @ x, con=b2 - A2 @ x)
    at_lower = np.where(x == lower, reduced, 0.0)
    at_upper = np.where((x == upper) & (x != lower), reduced, 0.0)
    fixed = (x == lower) & (x == upper)
    at_lower[fixed], at_upper[fixed] = np.maximum(reduced[fixed], 0.0), np.minimum(reduced[fixed], 0.0)
    for name, residual, marginals in (
        ("ineqlin", found["slack"], y[: len(A1)]), ("eqlin", found["con"], y[len(A1) :]),
        ("lower", x - lower, at_lower), ("upper", upper - x, at_upper),
    ):  # fmt: skip
        found[name] = OptimizeResult(residual=residual, marginals=marginals)
    return found


def _stacked(P: Any, q: Any, G: Any, h: Any, A: Any, b: Any, lb: Any, ub: Any) -> tuple[Any, ...]:
    """Rows G x <= h, A x = b and lb <= x <= ub as l <= R x <= u, and where each part ends."""
    n = np.asarray(q).size
    rows, low, high = [], [], []
    if G is not None:
        g = np.atleast_2d(_dense(G))
        rows.append(g)
        low.append(np.full(len(g), -np.inf))
        high.append(_bounds(np.ravel(h), len(g), np.inf))
    if A is not None:
        a = np.atleast_2d(_dense(A))
        rows.append(a)
        low.append(np.ravel(np.asarray(b, dtype=float)))
        high.append(low[-1])
    if lb is not None or ub is not None:
        rows.append(np.eye(n))
        low.append(_bounds(lb, n, -np.inf))
        high.append(_bounds(ub, n, np.inf))
    if not rows:
        return _dense(P), np.ravel(q), None, None, None
    return _dense(P), np.ravel(q), np.vstack(rows), np.concatenate(low), np.concatenate(high)


def solve_qp(
    P: Any, q: Any, G: Any = None, h: Any = None, A: Any = None, b: Any = None, lb: Any = None,
    ub: Any = None, **settings: Any,
) -> np.ndarray | None:  # fmt: skip
    """As qpsolvers.solve_qp: x of min x'P x / 2 + q'x over G x <= h, A x = b, lb <= x <= ub, or None where
    there is no certified answer. Settings: as of carom.solve_qp."""
    answer = _solve_qp(*_stacked(P, q, G, h, A, b, lb, ub), **settings)
    return np.asarray(answer.x[0]) if answer.status[0] == Status.solved else None


def qpsolvers_solve_problem(
    problem: Any, initvals: Any = None, verbose: bool = False, **settings: Any
) -> Any:
    """A qpsolvers.Problem to a qpsolvers.Solution: x, z (of G), y (of A), z_box (negative at lb), obj; extras
    has carom's status word and residual. initvals is taken by no method that `auto` chooses.

    tolerance: 1e-10 unless given, so that x is known to 1e-7 where rows without multipliers are active, as
    qpsolvers' tests ask; a residual of 1e-9 is an answer nevertheless."""
    Solution = needed("qpsolvers", "qpsolvers_solve_problem", "qpsolvers").Solution

    begin = time.perf_counter()
    P, q, G, h, A, b, lb, ub = problem.unpack_as_dense()
    close = "tolerance" not in settings
    answer = _solve_qp(*_stacked(P, q, G, h, A, b, lb, ub), **{"tolerance": 1e-10, **settings})
    found = Solution(problem)
    status = Status(int(answer.status[0]))
    if close and status == Status.inaccurate and answer.residual[0] <= 1e-9:
        status = Status.solved
    found.extras = {"status": status.name, "residual": float(answer.residual[0]), "iterations": int(answer.iterations[0])}
    found.solve_time = time.perf_counter() - begin
    found.found = status == Status.solved
    if verbose:
        print(f"carom: {status.name}, residual {answer.residual[0]:.2e}")
    if not found.found:
        return found
    y = answer.y[0]
    m, k = 0 if G is None else len(np.atleast_2d(G)), 0 if A is None else len(np.atleast_2d(A))
    found.x, found.obj = answer.x[0], float(answer.objective[0])
    found.z, found.y = y[:m], y[m : m + k]
    found.z_box = y[m + k :]
    return found


def register_qpsolvers() -> None:
    """Makes "carom" a solver of qpsolvers: in its available, dense and solve functions."""
    qpsolvers: Any = needed("qpsolvers", "register_qpsolvers", "qpsolvers")
    solvers: Any = needed("qpsolvers.solvers", "register_qpsolvers", "qpsolvers")

    def as_vector(P: Any, q: Any, G: Any = None, h: Any = None, A: Any = None, b: Any = None, lb: Any = None,
                  ub: Any = None, initvals: Any = None, verbose: bool = False, **settings: Any) -> Any:  # fmt: skip
        found = qpsolvers_solve_problem(qpsolvers.Problem(P, q, G, h, A, b, lb, ub), initvals, verbose, **settings)
        return found.x if found.found else None

    solvers.solve_function["carom"] = qpsolvers_solve_problem
    for names in (solvers.available_solvers, solvers.dense_solvers, qpsolvers.available_solvers, qpsolvers.dense_solvers):
        if "carom" not in names:
            names.append("carom")
    solvers.carom_solve_qp = as_vector


def cvxpy_solver() -> Any:
    """A solver for cvxpy.Problem.solve(solver=...): LPs, QPs, second-order cones and semidefinite matrices, dense, up to the
    sizes of carom.solve_qp, or of carom.solve_sdp where there are matrices. Keywords of solve() become settings of the one
    that is called.

    Statuses: solved and infeasible, unbounded (both proven) are CVXPY's optimal, infeasible, unbounded; inaccurate is
    optimal_inaccurate, an iteration limit user_limit, all else solver_error. Dual values have CVXPY's
    signs. solver_stats.extra_stats has carom's status word and residual.
    """
    def part(name: str) -> Any:
        return needed(f"cvxpy.{name}", "cvxpy_solver", "cvxpy")

    s, solution_of = part("settings"), part("reductions.solution")
    SOC = part("constraints.second_order").SOC
    matrices = getattr(part("constraints"), "SvecPSD", None)  # since CVXPY 1.9
    utilities = part("reductions.solvers.utilities")
    ConicSolver = part("reductions.solvers.conic_solvers.conic_solver").ConicSolver

    statuses = {
        Status.solved: s.OPTIMAL, Status.infeasible: s.INFEASIBLE, Status.unbounded: s.UNBOUNDED,
        Status.inaccurate: s.OPTIMAL_INACCURATE, Status.iteration_limit: s.USER_LIMIT,
    }  # fmt: skip

    class Carom(ConicSolver):  # type: ignore[misc, valid-type]
        MIP_CAPABLE = False
        SUPPORTED_CONSTRAINTS = [*ConicSolver.SUPPORTED_CONSTRAINTS, SOC, *([matrices] if matrices else [])]
        if matrices:
            PSD_TRIANGLE_KIND, PSD_SQRT2_SCALING = part("utilities.psd_utils").TriangleKind.LOWER, True

        def name(self) -> str:
            return "CAROM"

        def import_solver(self) -> None:
            pass

        def cite(self, data: Any) -> str:
            return ""

        def supports_quad_obj(self) -> bool:
            return True

        def solve_via_data(
            self, data: Any, warm_start: bool, verbose: bool, solver_opts: Any, solver_cache: Any = None
        ) -> Any:  # fmt: skip
            begin = time.perf_counter()
            q, b, dims = np.ravel(data[s.C]), np.ravel(data[s.B]), data[ConicSolver.DIMS]
            P = _dense(data[s.P]) if data.get(s.P) is not None else np.zeros((q.size, q.size))
            settings = {name: value for name, value in solver_opts.items() if name != "use_quad_obj"}
            P, A = 0.5 * (P + P.T), _dense(data[s.A])
            if dims.psd:
                answer = solve_semidefinite(P, q, A, b, dims, settings)
            else:
                cones = [("zero", dims.zero), ("nonneg", dims.nonneg), *(("soc", size) for size in dims.soc)]
                cones = [(kind, int(size)) for kind, size in cones if size > 0]
                answer = _solve_qp(P, q, C=A, b=b, cones=cones, **settings)
            if verbose:
                print(f"carom: {Status(int(answer.status[0])).name}, residual {answer.residual[0]:.2e}")
            return answer, time.perf_counter() - begin

        def invert(self, solution: Any, inverse_data: Any) -> Any:
            answer, seconds = solution
            own = Status(int(answer.status[0]))
            attributes = {
                s.SOLVE_TIME: seconds, s.NUM_ITERS: int(answer.iterations[0]),
                s.EXTRA_STATS: {"status": own.name, "residual": float(answer.residual[0])},
            }  # fmt: skip
            status = statuses.get(own, s.SOLVER_ERROR)
            if status not in s.SOLUTION_PRESENT or np.isnan(answer.objective[0]):
                return solution_of.failure_solution(s.SOLVER_ERROR if status in s.SOLUTION_PRESENT else status, attributes)
            z, zero = answer.cone_dual[0], inverse_data[ConicSolver.DIMS].zero
            duals = {}
            for part, constraints in ((z[:zero], self.EQ_CONSTR), (z[zero:], self.NEQ_CONSTR)):
                duals.update(
                    utilities.get_dual_values(part, utilities.extract_dual_value, inverse_data[constraints])
                )
            value = float(answer.objective[0]) + inverse_data[s.OFFSET]
            return solution_of.Solution(status, value, {inverse_data[self.VAR_ID]: answer.x[0]}, duals, attributes)

    return Carom()


def cvxpylayers_solver(at_kink: str = "nan", **settings: Any) -> Any:
    """A solver for cvxpylayers.jax.CvxpyLayer and cvxpylayers.torch.CvxpyLayer (solver=...): LPs, QPs and second-order
    cones, a batch in one call. Settings: as of carom.solve_qp; the layer's solver_args override them.

    Gradients go through the derivative of the certified answer. Where that has none (a row is active without a multiplier)
    at_kink says what they are, as in QpResult.vjp: NaN by default, so that no such gradient is silent.
    Errors: SolveError where a problem has no certified answer; InvalidInput for other cones.
    """
    return layer_solver(at_kink, settings)
