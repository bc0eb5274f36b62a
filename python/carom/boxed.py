"""Boxed and mixed LCPs, LCPs with friction indices, and affine variational inequalities.

Each answer comes with a residual that is recomputed from the problem's numbers, or with a proof that there is none.
Arrays: the first axis counts the problems; its length is n, or 1 (shared by all), or it is left out. Results always
have it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import Batch, from_any, refuse
from ._results import Status, checked, result
from ._settings import in_words, takes_arrays, takes_settings
from .decisions import decide_open
from .solvers import Decided, _problem

__all__ = ["BoxedLcpResult", "solve_affine_vi", "solve_boxed_lcp", "solve_mixed_lcp"]


@result
class BoxedLcpResult(Decided):
    """Answers of n boxed LCPs of order k.

    solution z (n, k), slack w = M z + q (n, k), status, pivots, residual (n). farkas y (n, k) proves the status
    infeasible: y_i >= 0 if hi_i is absent, y_i <= 0 if lo_i is absent, 0 in all other rows and in friction rows, and
    y'(M z + q) < 0 for every z in the box. With findex: limit (n, k), the half width of the box of friction rows, and
    limit_error (n), how far mu z_j is from it; otherwise None.

    If one vector does not prove that there is no answer, farkas is NaN and a tree is the proof, as in LcpResult. Its
    sides are 0 (z at its lower bound), 1 (w = 0) and 2 (z at its upper bound); leaf_farkas has two more columns for
    each friction row."""

    _arguments = {"matrix": "M", "vector": "q", "lower": "lo", "upper": "hi", "friction": "mu"}
    problem: dict[str, Any]
    bound: Any = None
    tree: Any = None
    leaf_farkas: Any = None

    def _judged(self) -> np.ndarray:
        n, k = self.solution.shape
        frozen = self.problem.get("friction_law") == "ode" and self.limit is not None
        arrays = {
            name: np.ascontiguousarray(np.broadcast_to(value, (n, *value.shape[1:])))
            for name, value in self.problem.items()
            if isinstance(value, np.ndarray)
        }
        return self._trees_judged(_core.boxed_lcp_residuals(arrays, self.to_dict(), n, k, frozen))

    @property
    def z(self) -> np.ndarray:
        return self.solution

    @property
    def w(self) -> np.ndarray:
        return self.slack

    def pressed_rows(self, problem: int = 0) -> np.ndarray:
        """The rows (r,) whose multipliers prove that a problem is infeasible. For contact rows these are the contacts
        that press against each other (self-stress): no answer opens all of them."""
        if self.status[problem] != Status.infeasible or np.isnan(self.farkas[problem]).any():
            return np.zeros(0, dtype=np.int64)
        y = np.abs(self.farkas[problem])
        return np.flatnonzero(y > 1e-9 * y.max(initial=0.0))

    def message(self, problem: int = 0) -> str:
        """The status of one problem in a sentence, with the rows that prove it."""
        status = Status(int(self.status[problem]))
        if status != Status.infeasible:
            text = f"problem {problem} is {status.name}"
            if self.problem.get("friction_law") != "ode" or status in (Status.solved, Status.invalid_input):
                return text
            return (
                f"{text}; there are no trees for friction_law='ode', whose limits come from one answer of several. To "
                "decide the box with these limits, call solve_boxed_lcp without findex, with -limit and limit as bounds"
            )
        if np.isnan(self.farkas[problem]).any():
            return f"problem {problem} is {self.decision(problem).message()}"
        rows = ", ".join(map(str, self.pressed_rows(problem).tolist()))
        if not rows:
            return f"problem {problem} is infeasible: a lower bound exceeds its upper bound"
        return (
            f"problem {problem} is infeasible: no z within its bounds gives rows {rows} of w the required "
            "signs; farkas is the proof"
        )


def _absent(value: Any, missing: float, k: int) -> Any:
    return np.full(k, missing) if value is None else value


def _friction(findex: Any, mu: Any, lo: Any, hi: Any) -> tuple[Any, Any, Any]:
    """mu, lo and hi as the library has them: friction rows without bounds of their own."""
    index = from_any("findex", findex, np.int32)
    rows = index >= 0
    low, high = np.broadcast_arrays(from_any("lower", lo), from_any("upper", hi))
    shape = np.broadcast_shapes(low.shape, rows.shape)
    rows = np.broadcast_to(rows, shape)
    low, high = np.array(np.broadcast_to(low, shape)), np.array(np.broadcast_to(high, shape))
    if mu is None:  # as ODE has it: hi is the coefficient
        mu = np.where(rows, high, 0.0)
        bad = np.argwhere(rows & ((low != -high) & (low != -np.inf) | np.isinf(high)))
        if bad.size:
            at = tuple(bad[0])
            place = ", ".join(map(str, at))
            raise refuse(
                "friction", "left out", f"findex needs mu, or as in ODE hi = mu and lo = -mu in friction rows; "
                f"hi[{place}] is {high[at]:g} and lo[{place}] is {low[at]:g}",
            )  # fmt: skip
    else:
        mu = np.broadcast_to(from_any("friction", mu), np.broadcast_shapes(np.shape(mu), index.shape))
        mu = np.where(index >= 0, mu, 0.0)
    low[rows], high[rows] = -np.inf, np.inf
    return mu, low, high


@takes_arrays(**BoxedLcpResult._arguments)
@takes_settings(_core.boxed_lcp_settings())
def solve_boxed_lcp(
    M: Any, q: Any, lo: Any = None, hi: Any = None, *, findex: Any = None, mu: Any = None, max_nodes: int = 500,
    backend: str = "auto", strict: bool = False, on_error: str = "status", **settings: Any,
) -> BoxedLcpResult:  # fmt: skip
    """Solves boxed LCPs, optionally with friction indices.

    lo <= z <= hi and w = M z + q with w_i >= 0 if z_i = lo_i, w_i <= 0 if z_i = hi_i and w_i = 0 between: the
    variational inequality over a box (Facchinei and Pang 2003). An LCP has lo = 0 and no hi; an equation has no bounds.

    The method is Lemke's path on the box. A problem that it leaves open is decided by a tree over the pairs (z_i, w_i)
    of at most max_nodes nodes: an answer, or a proof that there is none. That may take thousands of times as long;
    max_nodes=0 switches it off.

    Parameters:

    M, q, lo, hi
        (n, k, k) and (n, k); absent bounds are infinite or left out. k is at most 128.
    findex
        (n, k), integers. findex_i = j >= 0 makes row i a friction row: |z_i| <= mu_i z_j, and w_i opposes z_i. Row j
        must not be a friction row, and lo_j >= 0. -1: no friction.
    mu
        (n, k), read in friction rows; their lo and hi are then ignored. Without mu their hi is the coefficient, as in
        ODE.
    friction_law
        "simultaneous" solves this law exactly, as an LCP of order k + 2 f with f friction rows (Stewart and
        Trinkle 1996), at most 128. "ode" solves the rows without findex first and computes the limits from these
        z_j, as ODE's dSolveLCP does; limit_error says how far mu z_j of the answer is from these limits. There are
        no trees for it (BoxedLcpResult.message).

    Errors: InvalidInput for shapes, findex, mu and settings. A problem with NaN has the status
    invalid_input; the others are solved.
    """
    batch = Batch(strict)
    batch.add("matrix", M, "k", "k")
    batch.add("vector", q, "k")
    k = batch.extents["k"]
    low, high = _absent(lo, -np.inf, k), _absent(hi, np.inf, k)
    if findex is not None:
        batch.add("findex", findex, "k", dtype=np.int32)
        mu, low, high = _friction(findex, mu, low, high)
        batch.add("friction", mu, "k")
    elif mu is not None:
        raise refuse("friction", "given without findex", "findex says which rows are friction")
    batch.add("lower", low, "k")
    batch.add("upper", high, "k")
    arrays = batch.arrays()
    answer = _core.solve_boxed_lcp(arrays, batch.problems, k, in_words(settings), backend)
    problem = _problem(
        batch, _core.boxed_lcp_settings(), settings,
        friction_law=settings.get("friction_law", "simultaneous"),
    )  # fmt: skip
    if settings.get("max_pivots", 0) > 0 or problem["friction_law"] == "ode":
        max_nodes = 0
    decided = {"tolerance": problem["tolerance"], "threads": settings.get("threads", 0), "max_nodes": max_nodes}
    before = answer["status"].copy()
    trees = decide_open(arrays, answer, decided)
    _complete(arrays, answer, np.flatnonzero((answer["status"] == Status.solved) & (before != Status.solved)))
    return checked(BoxedLcpResult(**answer, problem=problem, **trees), on_error)


def _complete(arrays: dict[str, np.ndarray], answer: dict[str, Any], problems: np.ndarray) -> None:
    """slack and limits of the answers that trees found."""
    for p in problems:
        own = {name: array[0 if len(array) == 1 else p] for name, array in arrays.items()}
        z = answer["solution"][p]
        answer["slack"][p] = own["matrix"] @ z + own["vector"]
        if "findex" in own:
            rows = np.flatnonzero(own["findex"] >= 0)
            answer["limit"][p, rows] = own["friction"][rows] * z[own["findex"][rows]]
            answer["limit_error"][p] = 0.0


def _joined(field: str, blocks: list[tuple[str, Any, int]]) -> list[np.ndarray]:
    """Arrays with their problems in front, of one number of these."""
    found = []
    for name, value, rank in blocks:
        array = from_any(name, value)
        if array.ndim not in (rank, rank + 1):
            raise refuse(name, f"of shape {array.shape}", f"must have {rank} axes, or one more for problems")
        found.append(array if array.ndim > rank else array[None])
    n = max(array.shape[0] for array in found)
    for (name, _, _), array in zip(blocks, found):
        if array.shape[0] not in (1, n):
            raise refuse(name, f"{array.shape[0]} problems", f"must have {n} as {field}, or 1", "has")
    return [np.broadcast_to(array, (n, *array.shape[1:])) for array in found]


def _shaped(name: str, array: np.ndarray, *shape: int) -> None:
    if array.shape[1:] != shape:
        raise refuse(name, f"of shape {array.shape[1:]}", f"must be {shape}")


def solve_mixed_lcp(
    A: Any, B: Any, C: Any, D: Any, a: Any, b: Any, **options: Any
) -> BoxedLcpResult:  # fmt: skip
    """Solves mixed LCPs: A u + C v + a = 0 with u free, and 0 <= v perp D u + B v + b >= 0.

    A (n, e, e), may be singular; B (n, k, k), C (n, e, k), D (n, k, e), a (n, e), b (n, k). Returns a BoxedLcpResult
    whose solution is (u, v). options: those of solve_boxed_lcp.
    """
    A, B, C, D, a, b = _joined(
        "the others", [("A", A, 2), ("B", B, 2), ("C", C, 2), ("D", D, 2), ("a", a, 1), ("b", b, 1)]
    )
    e, k = a.shape[1], b.shape[1]
    for name, array, shape in (("A", A, (e, e)), ("B", B, (k, k)), ("C", C, (e, k)), ("D", D, (k, e))):
        _shaped(name, array, *shape)
    M = np.concatenate([np.concatenate([A, C], axis=2), np.concatenate([D, B], axis=2)], axis=1)
    lo = np.concatenate([np.full(e, -np.inf), np.zeros(k)])
    return solve_boxed_lcp(M, np.concatenate([a, b], axis=1), lo, None, **options)


def solve_affine_vi(
    M: Any, q: Any, A: Any = None, l: Any = None, u: Any = None, lower: Any = None, upper: Any = None,
    **options: Any,
) -> BoxedLcpResult:  # fmt: skip
    """Solves affine variational inequalities: x in K with (M x + q)'(y - x) >= 0 for every y in K.

    K = {l <= A x <= u, lower <= x <= upper}. M (n, v, v); q, lower, upper (n, v); A (n, r, v); l, u (n, r); absent
    bounds are infinite or left out. Returns a BoxedLcpResult: solution[:, :v] is x, behind it the multipliers, one for
    each row of A, two for a row with two bounds. options: those of solve_boxed_lcp.
    """
    v = from_any("vector", q).shape[-1]
    if A is None or np.size(A) == 0:
        A = np.zeros((0, v))
    r = np.shape(A)[-2]
    M, q, A, l, u, lower, upper = _joined(
        "the others",
        [("M", M, 2), ("q", q, 1), ("A", A, 2), ("l", _absent(l, -np.inf, r), 1),
         ("u", _absent(u, np.inf, r), 1), ("lower", _absent(lower, -np.inf, v), 1),
         ("upper", _absent(upper, np.inf, v), 1)],
    )  # fmt: skip
    for name, array, shape in (("M", M, (v, v)), ("A", A, (r, v)), ("l", l, (r,)), ("u", u, (r,)),
                               ("lower", lower, (v,)), ("upper", upper, (v,))):  # fmt: skip
        _shaped(name, array, *shape)
    equal = l == u
    at_l, at_u = ~np.isinf(l), ~np.isinf(u) & ~equal  # a side that a problem lacks has the multiplier 0
    below, above = at_l.any(axis=0), at_u.any(axis=0)
    there = np.concatenate([at_l[:, below], at_u[:, above]], axis=1)
    rows = np.concatenate([A[:, below], -A[:, above]], axis=1)
    rest = np.where(there, np.concatenate([-l[:, below], u[:, above]], axis=1), 0.0)
    n, m = rows.shape[:2]
    full = np.zeros((n, v + m, v + m))
    full[:, :v, :v] = M
    full[:, :v, v:] = -rows.transpose(0, 2, 1)
    full[:, v:, :v] = rows
    free = np.concatenate([equal[:, below], np.zeros((n, int(above.sum())), dtype=bool)], axis=1)
    lo = np.concatenate([lower, np.where(free & there, -np.inf, 0.0)], axis=1)
    hi = np.concatenate([upper, np.where(there, np.inf, 0.0)], axis=1)
    return solve_boxed_lcp(full, np.concatenate([q, rest], axis=1), lo, hi, **options)
