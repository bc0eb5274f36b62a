"""Batches of small linear complementarity problems and linear, quadratic and semidefinite programs.

Each answer comes with a residual that is recomputed from the problem's numbers, or with a proof that there is none.
Arrays: the first axis counts the problems; its length is n, or 1 (shared by all), or it is left out. Results always
have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import Batch, from_any, refuse
from ._derivatives import (
    SETTINGS, Differentiable, LcpGradient, LcpTangent, LpAsQp, LpGradient, LpTangent, QpGradient, QpTangent,
)  # fmt: skip
from ._derivatives import Inputs as _Inputs
from ._proofs import sdp_residuals
from ._results import Batched, Result, Status, checked, result
from ._settings import in_words, takes_arrays, takes_settings
from .decisions import LcpDecision, decide_open

__all__ = [
    "CoulombResult", "LcpResult", "LpResult", "QpResult", "SdpResult",
    "solve_coulomb", "solve_lcp", "solve_lp", "solve_qp", "solve_sdp",
]  # fmt: skip


class Proven(Batched):
    """An answer with its problem: `problem` has the given arrays by their names in C++. They are not copied if they
    are float64 in C order, so later changes of them are seen."""

    def _judged(self) -> np.ndarray:
        raise NotImplementedError

    def residuals(self) -> np.ndarray:
        """Residuals that certify the statuses, computed from the present arrays of problem and result.

        The certificates share no code with the solvers. They judge x with its multipliers (solved), the Farkas
        vector (infeasible), ray and point (unbounded), the direction (nonconvex), the face or the ray
        (no_interior). Infinite if the numbers prove nothing, NaN if the status claims nothing. Shape of status."""
        return self._judged().reshape(self.status.shape)

    def verify(self, tolerance: float | None = None) -> np.ndarray:
        """True if residuals() of a problem is at most the tolerance (default: the solver's), which proves its status
        solved, infeasible, unbounded, nonconvex or no_interior. False for a status that claims nothing. Shape of
        status."""
        bound = self.problem["tolerance"] if tolerance is None else tolerance
        with np.errstate(invalid="ignore"):
            return np.asarray(self.residuals() <= bound)


class Decided(Proven):
    """Answers whose proof may be a tree: tree (t, 4) of problem, parent, pair, side, and leaf_farkas (l, k), problem
    after problem. bound (n): infinite, unless the proof excludes only answers with all |z| <= bound."""

    _apart = ("tree", "leaf_farkas")
    problem: dict[str, Any]

    def decision(self, problem: int = 0) -> LcpDecision:
        """One problem's decision: message(), verify() and, if it is infeasible, its tree or its Farkas vector."""
        count = len(self.status)
        if not -count <= problem < count:
            raise refuse("problem", str(problem), f"must be from {-count} to {count - 1}")
        p, status = problem % count, Status(int(self.status[problem]))
        given = {
            name: value[0 if len(value) == 1 else p] for name, value in self.problem.items() if isinstance(value, np.ndarray)
        }
        own = np.zeros((0, 3), np.int32) if self.tree is None else self.tree[self.tree[:, 0] == p, 1:]
        leaves = np.zeros((0, self.solution.shape[1]))
        if len(own):
            before = sum(_leaves(self.tree[self.tree[:, 0] == i, 1:]) for i in np.unique(self.tree[:, 0]) if i < p)
            rows = len(given["vector"]) + 2 * int((given.get("findex", np.zeros(0)) >= 0).sum())
            leaves = self.leaf_farkas[before : before + _leaves(own), :rows]
        elif status == Status.infeasible and self.farkas is not None:
            leaves = self.farkas[p][None]
        return LcpDecision(
            status, self.solution[p] if status == Status.solved else None, float(self.residual[p]), len(own), own, leaves,
            np.inf if self.bound is None else float(self.bound[p]), {**given, "tolerance": self.problem["tolerance"]},
        )  # fmt: skip

    def _trees_judged(self, found: np.ndarray) -> np.ndarray:
        for p in np.unique(self.tree[:, 0]) if self.tree is not None else ():
            found[p] = self.decision(int(p)).proof_residual()
        return found


@result
class LcpResult(Decided, Differentiable):
    """Answers of n LCPs of order k.

    solution z (n, k), w = M z + q (n, k), status, pivots and residual (n). farkas (n, k): y >= 0 with M'y <= 0 and
    q'y < 0, which proves the status infeasible; None without certificates.

    If one vector does not prove that, farkas is NaN and a tree is the proof (carom.decide_lcp): tree (t, 4) of problem,
    parent, pair, side, and leaf_farkas (l, k), problem after problem. bound (n): infinite, unless the proof excludes
    only answers with all z <= bound. decision(p) has the tree of one problem."""

    _arguments = {"matrix": "M", "vector": "q"}
    w: np.ndarray
    problem: dict[str, Any]
    bound: Any = None
    tree: Any = None
    leaf_farkas: Any = None

    _inputs = ("matrix", "vector")
    _outputs = ("solution", "w")

    def _again(self, given: dict[str, np.ndarray]) -> LcpResult:
        found: LcpResult = solve_lcp(given["matrix"], given["vector"], max_nodes=0, tolerance=self.problem["tolerance"])
        return found

    def _left(self, given: dict[str, np.ndarray], names: list[str], settings: dict[str, Any]) -> dict[str, Any]:
        n, k = self.solution.shape
        answer = {"solution": self.solution, "status": self.status}
        found: dict[str, Any] = _core.differentiate_lcp(self._given().all, answer, given, n, k, settings, names)
        return found

    def _right(self, along: dict[str, np.ndarray], settings: dict[str, Any]) -> dict[str, Any]:
        n, k = self.solution.shape
        answer = {"solution": self.solution, "status": self.status}
        found: dict[str, Any] = _core.propagate_lcp(self._given().all, answer, along, n, k, settings)
        return found

    @takes_settings(SETTINGS, without=("at_kink",))
    def vjp(
        self, *, solution: Any = None, w: Any = None, wrt: Any = None, factored: bool = False,
        at_kink: str = "mean", not_solved: str = "nan", on_error: str = "status", **settings: Any,
    ) -> LcpGradient:  # fmt: skip
        """The gradient of a loss in M and q, from its gradients in solution and w (n, k); reverse mode.

        wrt: "matrix", "vector" or a list; None: both. factored: matrix is (a, z), the gradient is -a z'. at_kink: what
        is returned where there is no derivative: "mean", "held" or "free", an element of the generalised Jacobian;
        "nan"; or "raise", a SolveError. not_solved: "nan" or "zero" for problems that are not solved.
        on_error="raise": SolveError if there is neither a derivative nor an element. Errors: InvalidInput for
        shapes, names, NaN."""

        def factors(answer: dict[str, Any], inputs: _Inputs) -> None:
            adjoint = answer["adjoint"]
            if w is not None:
                adjoint = adjoint - np.asarray(w, dtype=np.float64)
            answer["matrix"] = (adjoint, answer["solution"])

        names = [name for name in (self._inputs if wrt is None else wrt)] if not isinstance(wrt, str) else [wrt]
        asked = factored and "matrix" in names
        if asked:
            wrt = [name for name in names if name != "matrix"]
        made: LcpGradient = self._vjp(
            LcpGradient, {"solution": solution, "w": w}, wrt, at_kink, not_solved, on_error, settings,
            factors if asked else None,
        )  # fmt: skip
        return made

    @takes_settings(SETTINGS, without=("at_kink",))
    def jvp(
        self, *, matrix: Any = None, vector: Any = None, not_solved: str = "nan", on_error: str = "status",
        **settings: Any,
    ) -> LcpTangent:  # fmt: skip
        """The directional derivative of solution and w along dM and dq; forward mode.

        matrix, vector: dM and dq, in the shapes of the inputs or with the axis of problems. One-sided and exact at
        kinks. Otherwise as vjp."""
        made: LcpTangent = self._jvp(
            LcpTangent, {"matrix": matrix, "vector": vector}, not_solved, on_error, settings
        )
        return made

    def _judged(self) -> np.ndarray:
        return self._trees_judged(_core.lcp_residuals(self.problem, self.to_dict(), *self.solution.shape))

    @property
    def z(self) -> np.ndarray:
        return self.solution


@result
class LpResult(Proven, Differentiable):
    """Answers of n LPs with K objectives each, v variables and r rows.

    solution (n, K, v); dual (n, K, r); objective, status, pivots, residual (n, K); basis (n, v + r). Proofs, None
    without certificates: farkas (n, K, r) of infeasible; ray and point (n, K, v) of unbounded."""

    _arguments = {"cost": "c", "matrix": "A", "column_lower": "col_lower", "column_upper": "col_upper"}
    _axes = ("problem", "cost")
    problem: dict[str, Any]

    _inputs = ("cost", "matrix", "row_lower", "row_upper", "column_lower", "column_upper")
    _outputs = ("solution", "dual", "objective")

    def _again(self, given: dict[str, np.ndarray]) -> LpResult:
        found: LpResult = solve_lp(*(given[name] for name in self._inputs), tolerance=self.problem["tolerance"])
        return found

    def _as_qp(self) -> LpAsQp:
        return LpAsQp(self._given().all, self.solution, self.dual, self.status)

    def _left(self, given: dict[str, np.ndarray], names: list[str], settings: dict[str, Any]) -> dict[str, Any]:
        return self._as_qp().left(given, names, settings)

    def _right(self, along: dict[str, np.ndarray], settings: dict[str, Any]) -> dict[str, Any]:
        return self._as_qp().right(along, settings)

    @takes_settings(SETTINGS, without=("at_kink",))
    def vjp(
        self, *, solution: Any = None, dual: Any = None, objective: Any = None, wrt: Any = None,
        at_kink: str = "mean", not_solved: str = "nan", on_error: str = "status", **settings: Any,
    ) -> LpGradient:  # fmt: skip
        """The gradient of a loss in c, A and the bounds, from its gradients in the answer's arrays (n, K, ..).

        A vertex does not change with c, so that its gradient in c is zero. An optimum that is not unique is
        set_valued. At a degenerate vertex the gradients in the rows are an element of the generalised Jacobian, with
        status kink. wrt: names out of cost, matrix, row_lower, row_upper, column_lower, column_upper. Otherwise as
        LcpResult.vjp."""
        cotangent = {"solution": solution, "dual": dual, "objective": objective}
        made: LpGradient = self._vjp(LpGradient, cotangent, wrt, at_kink, not_solved, on_error, settings)
        return made

    @takes_settings(SETTINGS, without=("at_kink",))
    def jvp(
        self, *, cost: Any = None, matrix: Any = None, row_lower: Any = None, row_upper: Any = None,
        column_lower: Any = None, column_upper: Any = None, not_solved: str = "nan", on_error: str = "status",
        **settings: Any,
    ) -> LpTangent:  # fmt: skip
        """The directional derivative of solution, dual and objective along a direction of the inputs.

        At a degenerate vertex it is undefined along changes after which the rows no longer meet in one point. Otherwise
        as LcpResult.jvp."""
        direction = {
            "cost": cost, "matrix": matrix, "row_lower": row_lower, "row_upper": row_upper,
            "column_lower": column_lower, "column_upper": column_upper,
        }  # fmt: skip
        made: LpTangent = self._jvp(LpTangent, direction, not_solved, on_error, settings)
        return made

    def _judged(self) -> np.ndarray:
        n, k, v = self.solution.shape
        found: np.ndarray = _core.lp_residuals(self.problem, self.to_dict(), n, self.dual.shape[2], v, k)
        return found

    @property
    def x(self) -> np.ndarray:
        return self.solution

    @property
    def y(self) -> np.ndarray:
        return self.dual


@result
class QpResult(Proven, Differentiable):
    """Answers of n QPs with v variables, r rows and k cone rows.

    solution (n, v), dual (n, r), cone_dual (n, k); objective, status, method, iterations, residual (n). Proofs:
    certificate (n, max(v, r + k)): the Farkas vector of infeasible, the ray of unbounded, the direction of nonconvex
    or the face of no_interior; point (n, v): where the ray starts."""

    _arguments = {"hessian": "P", "vector": "q", "matrix": "A", "lower": "l", "upper": "u", "cone_matrix": "C", "cone_vector": "b"}
    problem: dict[str, Any]

    _inputs = ("hessian", "vector", "matrix", "lower", "upper", "cone_matrix", "cone_vector")
    _outputs = ("solution", "dual", "cone_dual", "objective")

    def _again(self, given: dict[str, np.ndarray]) -> QpResult:
        arrays = [given[name] for name in self._inputs]
        found: QpResult = solve_qp(*arrays, cones=self.problem["cones"], tolerance=self.problem["tolerance"])
        return found

    def _sizes(self) -> tuple[int, int, int, list[tuple[str, int]]]:
        n, v = self.solution.shape
        cones = [(str(kind), int(size)) for kind, size in self.problem["cones"]]
        return n, v, self.dual.shape[1], cones

    def _answer(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in ("solution", "dual", "cone_dual", "status")}

    def _left(self, given: dict[str, np.ndarray], names: list[str], settings: dict[str, Any]) -> dict[str, Any]:
        problem = self._given().all
        found: dict[str, Any] = _core.differentiate_qp(
            problem, self._answer(), given, *self._sizes(), settings, names
        )
        return found

    def _right(self, along: dict[str, np.ndarray], settings: dict[str, Any]) -> dict[str, Any]:
        problem = self._given().all
        found: dict[str, Any] = _core.propagate_qp(problem, self._answer(), along, *self._sizes(), settings)
        return found

    @takes_settings(SETTINGS, without=("at_kink",))
    def vjp(
        self, *, solution: Any = None, dual: Any = None, cone_dual: Any = None, objective: Any = None,
        wrt: Any = None, at_kink: str = "mean", not_solved: str = "nan", on_error: str = "status",
        **settings: Any,
    ) -> QpGradient:  # fmt: skip
        """The gradient of a loss in P, q, A, l, u, C and b, from its gradients in the answer's arrays.

        wrt: names out of hessian, vector, matrix, lower, upper, cone_matrix, cone_vector; None: all. If active rows
        depend on each other, there is a derivative in P and q only: ask for wrt=("hessian", "vector"). Otherwise
        as LcpResult.vjp."""
        cotangent = {"solution": solution, "dual": dual, "cone_dual": cone_dual, "objective": objective}
        made: QpGradient = self._vjp(QpGradient, cotangent, wrt, at_kink, not_solved, on_error, settings)
        return made

    @takes_settings(SETTINGS, without=("at_kink",))
    def jvp(
        self, *, hessian: Any = None, vector: Any = None, matrix: Any = None, lower: Any = None,
        upper: Any = None, cone_matrix: Any = None, cone_vector: Any = None, not_solved: str = "nan",
        on_error: str = "status", **settings: Any,
    ) -> QpTangent:  # fmt: skip
        """The directional derivative of solution, dual, cone_dual and objective along a direction of the inputs.

        One-sided and exact at kinks of rows. Undefined at a cone with slack zero and multiplier on the boundary, and
        along directions in which dependent rows turn or contradict each other. Otherwise as LcpResult.jvp."""
        direction = {
            "hessian": hessian, "vector": vector, "matrix": matrix, "lower": lower, "upper": upper,
            "cone_matrix": cone_matrix, "cone_vector": cone_vector,
        }  # fmt: skip
        made: QpTangent = self._jvp(QpTangent, direction, not_solved, on_error, settings)
        return made

    def _judged(self) -> np.ndarray:
        n, v = self.solution.shape
        cones = [(str(kind), int(size)) for kind, size in self.problem["cones"]]
        found: np.ndarray = _core.qp_residuals(self.problem, self.to_dict(), n, v, self.dual.shape[1], cones)
        return found

    @property
    def x(self) -> np.ndarray:
        return self.solution

    @property
    def y(self) -> np.ndarray:
        return self.dual

    @property
    def z(self) -> np.ndarray:
        return self.cone_dual


@result
class SdpResult(Proven):
    """Answers of n SDPs.

    y, ray (n, v); x (n, s): X, block after block by rows, s the sum of the squares of the block sizes; objective b'y,
    dual <C, X>, residual, iterations, status (n). residuals() are computed by NumPy, relative to the size of their
    terms."""

    y: np.ndarray
    ray: np.ndarray
    x: np.ndarray
    objective: np.ndarray
    dual: np.ndarray
    residual: np.ndarray
    iterations: np.ndarray
    status: np.ndarray
    problem: dict[str, Any]

    def _judged(self) -> np.ndarray:
        return sdp_residuals(self.problem, self.to_dict())


@result
class CoulombResult(Proven):
    """Answers of n friction problems: reaction r and velocity u = W r + q (n, d m), the normal of each contact first;
    status, residual, iterations (n)."""

    _arguments = {"matrix": "W", "vector": "q", "friction": "mu"}
    reaction: np.ndarray
    velocity: np.ndarray
    status: np.ndarray
    residual: np.ndarray
    iterations: np.ndarray
    problem: dict[str, Any]

    def _judged(self) -> np.ndarray:
        n, m = len(self.status), self.problem["friction"].shape[-1]
        rows = self.reaction.shape[1]
        found: np.ndarray = _core.coulomb_residuals(self.problem, self.to_dict(), n, rows // m, m)
        return found


def _problem(batch: Batch, table: Any, settings: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What a result keeps of its problem."""
    default = next(entry["default"] for entry in table if entry["name"] == "tolerance")
    given = batch.given()
    given.update(**more, tolerance=float(settings.get("tolerance", default)))
    return given


@takes_arrays(**CoulombResult._arguments)
@takes_settings(_core.coulomb_settings())
def solve_coulomb(
    W: Any, q: Any, mu: Any, *, threads: int = 0, strict: bool = False, on_error: str = "status",
    **settings: Any,
) -> CoulombResult:  # fmt: skip
    """Solves friction problems: u = W r + q with Signorini's and Coulomb's laws, with true friction cones.

    0 <= u_n perp r_n >= 0, |r_t| <= mu r_n, and r_t = -mu r_n u_t / |u_t| where a contact slides. W (n, d m, d m),
    q (n, d m), mu (n, m): a contact has d consecutive rows, its normal first; d = 2 or 3 follows from the shapes. The
    method has no proof of convergence: look at the status. Errors: InvalidInput for shapes, settings and mu that
    is negative, infinite or NaN; a problem with NaN in W or q has the status invalid_input.
    """
    batch = Batch(strict)
    batch.add("matrix", W, "k", "k")
    batch.add("vector", q, "k")
    batch.add("friction", mu, "m")
    k, m = batch.extents["k"], batch.extents["m"]
    if m == 0 or k not in (2 * m, 3 * m):
        raise refuse("vector", f"{k} rows", f"must have 2 or 3 for each of {m} contacts", "has")
    arrays = batch.arrays()
    friction = arrays["friction"]
    bad = np.argwhere(~(np.isfinite(friction) & (friction >= 0.0)))
    if bad.size:
        p, i = map(int, bad[0])
        raise refuse("friction", str(friction[p, i]), "must be >= 0 and finite", index=[i], problem=p)
    answer = _core.solve_coulomb(
        arrays, batch.problems, k // m, m, in_words(settings), int(threads)
    )
    problem = _problem(batch, _core.coulomb_settings(), settings)
    return checked(CoulombResult(**answer, problem=problem), on_error)


@takes_arrays(**LcpResult._arguments)
@takes_settings(_core.lcp_settings())
def solve_lcp(
    M: Any, q: Any, *, max_nodes: int = 500, backend: str = "auto", workspace: Any = None,
    strict: bool = False, on_error: str = "status", **settings: Any,
) -> LcpResult:  # fmt: skip
    """Solves LCPs: z >= 0 with w = M z + q >= 0 and z'w = 0, by Lemke's method (Cottle, Pang, Stone 2009).

    A problem whose path ends on a ray is then decided as by carom.decide_lcp, by a tree of at most max_nodes nodes:
    solved, or infeasible with a proof. That may take thousands of times as long. With max_nodes=0 such problems keep
    the status ray, which proves nothing.

    M (n, k, k), q (n, k); k at most 128. Errors: InvalidInput for shapes and settings; a problem with NaN has the status
    invalid_input and does not change the others.
    """
    batch = Batch(strict)
    batch.add("matrix", M, "k", "k")
    batch.add("vector", q, "k")
    arrays = batch.arrays()
    answer = _core.solve_lcp(
        arrays, batch.problems, batch.extents["k"], in_words(settings), backend, workspace
    )
    problem = _problem(batch, _core.lcp_settings(), settings)
    if settings.get("max_pivots", 0) > 0:
        max_nodes = 0
    decided = {"tolerance": problem["tolerance"], "threads": settings.get("threads", 0), "max_nodes": max_nodes}
    trees = decide_open(arrays, answer, decided)
    w = np.einsum("nij,nj->ni", arrays["matrix"], answer["solution"]) + arrays["vector"]
    return checked(LcpResult(**answer, w=w, problem=problem, **trees), on_error)


def _leaves(tree: np.ndarray) -> int:
    return len(tree) - len(np.unique(tree[tree[:, 0] >= 0, 0]))


def _bounds(value: Any, missing: float, count: int, n: int) -> Any:
    return np.full((n, count), missing) if value is None else value


@takes_arrays(**LpResult._arguments)
@takes_settings(_core.lp_settings())
def solve_lp(
    c: Any, A: Any = None, row_lower: Any = None, row_upper: Any = None, col_lower: Any = None,
    col_upper: Any = None, *, lower: Any = None, upper: Any = None, start: Any = None,
    backend: str = "auto", workspace: Any = None,
    strict: bool = False, on_error: str = "status", **settings: Any,
) -> LpResult:  # fmt: skip
    """Minimises c_k'x subject to row_lower <= A x <= row_upper and col_lower <= x <= col_upper.

    c (n, K, v) for K objectives over one polyhedron, or (n, v) or (v,) for one. A (n, r, v), left out if there are no
    rows. Bounds (n, r) and (n, v), infinite if left out (x >= 0 is not implied).
    lower and upper: other names of col_lower and col_upper. start: basis (n, v + r) of an earlier result.
    Errors: InvalidInput for shapes and settings. A problem with NaN has the status invalid_input.
    """
    for name, value, other in (("lower", lower, col_lower), ("upper", upper, col_upper)):
        if value is not None and other is not None:
            raise refuse(name, "given together with col_" + name, "give only one of them")
    col_lower = lower if col_lower is None else col_lower
    col_upper = upper if col_upper is None else col_upper
    batch = Batch(strict)
    cost = from_any("cost", c, strict=strict)
    if A is None or np.shape(A) == (0,):
        A = np.zeros((0, cost.shape[-1] if cost.ndim else 0))
    batch.add("matrix", A, "r", "v")
    v, r = batch.extents["v"], batch.extents["r"]
    if cost.ndim == 0 or cost.ndim > 3 or cost.shape[-1] != v:
        shapes = f"must be (n, K, {v}), (n, {v}) or ({v},), as A has {v} columns"
        raise refuse("cost", f"of shape {cost.shape}", shapes)
    if cost.ndim == 2:  # one objective a problem
        cost = cost[:, None, :]
    elif cost.ndim == 1:
        cost = cost[None, :]
    batch.add("cost", cost, "K", "v")
    for field, value, missing, letter in (
        ("row_lower", row_lower, -np.inf, "r"),
        ("row_upper", row_upper, np.inf, "r"),
        ("column_lower", col_lower, -np.inf, "v"),
        ("column_upper", col_upper, np.inf, "v"),
    ):
        batch.add(field, _bounds(value, missing, batch.extents[letter], 1), letter)
    n = batch.problems
    if start is not None:
        start = from_any("start", start, np.uint8)
        if start.shape != (n, v + r):
            raise refuse("start", f"of shape {start.shape}", f"must be {(n, v + r)}")
    answer = _core.solve_lp(
        batch.arrays(), n, r, v, batch.extents["K"], in_words(settings), backend, start, workspace
    )
    problem = _problem(batch, _core.lp_settings(), settings)
    return checked(LpResult(**answer, problem=problem), on_error)


_CONES = {"zero": "zero", "nonneg": "nonneg", "nonnegative": "nonneg", "soc": "second_order"}


@takes_arrays(**QpResult._arguments)
@takes_settings(_core.qp_settings())
def solve_qp(
    P: Any, q: Any, A: Any = None, l: Any = None, u: Any = None, C: Any = None, b: Any = None, *,
    cones: Sequence[tuple[str, int]] = (), warm_start: QpResult | dict[str, Any] | None = None,
    backend: str = "auto", workspace: Any = None, strict: bool = False, on_error: str = "status",
    **settings: Any,
) -> QpResult:  # fmt: skip
    """Minimises x'P x / 2 + q'x subject to l <= A x <= u and b - C x in a product of cones.

    P (n, v, v) symmetric. q (n, v), A (n, r, v), l and u (n, r), infinite if
    left out, C (n, k, v), b (n, k). cones: (kind, size) in the order of C's rows; kind is "zero", "nonneg" or
    "soc", whose first row bounds the norm of the others. warm_start: a result, or solution, dual and cone_dual by
    name. Errors: InvalidInput for shapes, settings, a P that is not symmetric and a method that does not take
    the cones. A problem with NaN has the status invalid_input; crossed bounds (l > u) have the status infeasible.
    """
    batch = Batch(strict)
    batch.add_symmetric("hessian", P, "v")
    batch.add("vector", q, "v")
    v = batch.extents["v"]
    if A is None:
        if l is not None or u is not None:
            raise refuse("matrix", "left out", "bounds l and u need the rows A")
        A, l, u = np.zeros((0, v)), np.zeros(0), np.zeros(0)
    batch.add("matrix", A, "r", "v")
    r = batch.extents["r"]
    batch.add("lower", _bounds(l, -np.inf, r, 1), "r")
    batch.add("upper", _bounds(u, np.inf, r, 1), "r")
    if (C is None) != (b is None):
        raise refuse("cone_matrix" if C is None else "cone_vector", "left out", "C and b go together")
    if C is None:
        C, b = np.zeros((0, v)), np.zeros(0)
    batch.add("cone_matrix", C, "k", "v")
    batch.add("cone_vector", b, "k")
    for place, (kind, size) in enumerate(cones):
        if kind not in (*_CONES, *_CONES.values()):
            raise refuse(f"cones[{place}]", repr(kind), "must be " + ", ".join(_CONES))
        if int(size) < 1:
            raise refuse(f"cones[{place}]", f"size {size}", "must be at least 1", "has")
    kinds = [(_CONES.get(kind, kind), int(size)) for kind, size in cones]
    if sum(size for _, size in kinds) != batch.extents["k"]:
        raise refuse("cones", f"{sum(s for _, s in kinds)} rows", f"must be the {batch.extents['k']} of C", "have")
    n = batch.problems
    start: dict[str, np.ndarray] = {}
    if warm_start is not None:
        given = warm_start.to_dict() if isinstance(warm_start, Result) else warm_start
        widths = {"solution": v, "dual": r, "cone_dual": batch.extents["k"]}
        if given and not widths.keys() & given.keys():
            raise refuse("warm_start", ", ".join(map(repr, given)), "must have solution, dual or cone_dual", "has")
        for name, width in widths.items():
            if given.get(name) is not None:
                start[name] = from_any(name, given[name])
                if start[name].shape != (n, width):
                    raise refuse(name, f"of shape {start[name].shape}", f"must be {(n, width)}")
    answer = _core.solve_qp(
        batch.arrays(), n, v, r, kinds, start, in_words(settings), backend, workspace
    )
    problem = _problem(batch, _core.qp_settings(), settings, cones=[list(cone) for cone in kinds])
    return checked(QpResult(**answer, problem=problem), on_error)


@takes_arrays(objective="b", constant="C", coefficients="A")
@takes_settings(_core.sdp_settings())
def solve_sdp(
    C: Any, A: Any, b: Any, *, blocks: Sequence[int] | None = None, strict: bool = False,
    on_error: str = "status", **settings: Any,
) -> SdpResult:  # fmt: skip
    """Maximises b'y over C - sum_i y_i A_i positive semidefinite (docs/explanation/sdp.md).

    C (n, k, k), A (n, v, k, k), b (n, v), symmetric. With blocks, the sizes of the blocks on the
    diagonal, C is (n, s) and A (n, v, s): block after block by rows, s the sum of their squares.
    Errors: InvalidInput for shapes, settings, NaN and matrices that are not symmetric.
    """
    batch = Batch(strict)
    batch.add("objective", b, "v")
    if blocks is None:
        batch.add_symmetric("constant", C, "k", tolerance=0.0)
        batch.add_symmetric("coefficients", A, "v", "k", tolerance=0.0)
        blocks = [batch.extents["k"]]
    else:
        size = sum(int(k) ** 2 for k in blocks)
        batch.add("constant", C, size)
        batch.add("coefficients", A, "v", size)
    arrays = batch.arrays()
    answer = _core.solve_sdp(
        list(blocks), arrays["objective"], arrays["constant"], arrays["coefficients"],
        batch.problems, batch.extents["v"], in_words(settings),
    )  # fmt: skip
    problem = _problem(batch, _core.sdp_settings(), settings, blocks=[int(k) for k in blocks])
    return checked(SdpResult(**answer, problem=problem), on_error)
