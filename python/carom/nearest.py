"""The nearest feasible problem: the smallest shift of the rows that makes them feasible, and the proof that it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import Batch, refuse
from ._results import Batched, QpMethod, Status, result
from .solvers import QpResult, _bounds, solve_qp

__all__ = ["NearestResult", "nearest_feasible"]


@result
class NearestResult(Batched):
    """The least shift of n problems with l <= A x + s <= u.

    x (n, v), shift s (n, r), distance |D s| (n). status (n): solved, or infeasible if hard rows and bounds of x exclude
    each other. proof: a carom.QpResult for the rows A, then the bounds of x. Its status is infeasible if the distance is
    positive; its certificate is y = -D^2 s, a Farkas vector that also proves that no smaller shift suffices
    (proof.verify())."""

    x: np.ndarray
    shift: np.ndarray
    distance: np.ndarray
    status: np.ndarray
    residual: np.ndarray
    proof: Any

    _apart = ("proof",)

    def message(self, problem: int = 0) -> str:
        """The result of one problem in a sentence."""
        if self.status[problem] != Status.solved:
            return f"problem {problem}: {Status(int(self.status[problem])).name}"
        if self.proof.status[problem] != Status.infeasible:
            return f"problem {problem} is feasible at x"
        rows = ", ".join(map(str, np.flatnonzero(self.shift[problem])))
        return f"problem {problem} is infeasible by {self.distance[problem]:.6g}: rows {rows} must move, as shift says"


def nearest_feasible(
    A: Any, l: Any = None, u: Any = None, lower: Any = None, upper: Any = None, *, hard: Any = None,
    row_weight: Any = None, tolerance: float = 1e-9, threads: int = 0, strict: bool = False,
) -> NearestResult:  # fmt: skip
    """Finds x and the shift s with least |D s| such that l <= A x + s <= u and lower <= x <= upper.

    A (n, r, v); l, u (n, r); lower, upper (n, v); infinite if left out. hard (r,): mask of the rows that must not be
    shifted. row_weight (r,): the diagonal of D; default 1/|A_i|, so that distances are those in x. A
    shift of less than 1e-9 of its row's terms counts as none. Errors: InvalidInput for shapes, weights that
    are not positive, settings.
    """
    batch = Batch(strict)
    batch.add("matrix", A, "r", "v")
    r, v = batch.extents["r"], batch.extents["v"]
    for name, value, missing, letter in (("lower", l, -np.inf, "r"), ("upper", u, np.inf, "r"),
                                         ("column_lower", lower, -np.inf, "v"), ("column_upper", upper, np.inf, "v")):  # fmt: skip
        batch.add(name, _bounds(value, missing, batch.extents[letter], 1), letter)
    arrays, n = batch.arrays(), batch.problems
    A = arrays["matrix"]
    soft = np.ones(r, dtype=bool) if hard is None else ~np.asarray(hard, dtype=bool)
    if soft.shape != (r,):
        raise refuse("hard", f"of shape {soft.shape}", f"must be {(r,)}")
    length = np.linalg.norm(A, axis=2)
    weight = np.where(length > 0.0, 1.0 / np.where(length > 0.0, length, 1.0), 1.0)
    if row_weight is not None:
        weight = np.broadcast_to(np.asarray(row_weight, dtype=float), (n, r))
        if not (weight > 0.0).all():
            raise refuse("row_weight", str(weight.min()), "must be positive")
    k = int(soft.sum())
    # unknowns x and t = D s of soft rows
    P = np.zeros((v + k, v + k))
    P[v:, v:] = np.eye(k)
    rows = np.zeros((n, r + v, v + k))
    rows[:, :r, :v] = A
    rows[:, np.flatnonzero(soft), v + np.arange(k)] = 1.0 / weight[:, soft]
    rows[:, r:, :v] = np.eye(v)
    low = np.concatenate([arrays["lower"], arrays["column_lower"]], axis=1)
    high = np.concatenate([arrays["upper"], arrays["column_upper"]], axis=1)
    found = solve_qp(P, np.zeros((n, v + k)), rows, low, high, tolerance=tolerance, threads=threads)
    x, shift = found.x[:, :v], np.zeros((n, r))
    shift[:, soft] = found.x[:, v:] / weight[:, soft]
    terms = np.einsum("nij,nj->ni", np.abs(A), np.abs(x)) + np.abs(np.where(np.isfinite(low[:, :r]), low[:, :r], 0.0))
    with np.errstate(invalid="ignore"):
        shift[np.abs(shift) <= 1e-9 * (terms + np.abs(np.where(np.isfinite(high[:, :r]), high[:, :r], 0.0)))] = 0.0
        distance = np.linalg.norm(shift * weight, axis=1)
        apart = (found.status == Status.solved) & (distance > 0.0)
    y = np.full((n, max(v, r + v)), np.nan)
    y[apart, : r + v] = found.y[apart]
    y[found.status == Status.infeasible, : r + v] = found.certificate[found.status == Status.infeasible, : r + v]
    nothing = np.full((n, v), np.nan)
    status = np.where(apart | (found.status == Status.infeasible), Status.infeasible, Status.cancelled).astype(np.uint8)
    proof = QpResult(
        solution=nothing, dual=np.full((n, r + v), np.nan), cone_dual=np.zeros((n, 0)), objective=np.full(n, np.nan),
        status=status, method=np.full(n, int(QpMethod.auto), np.uint8), iterations=found.iterations,
        residual=np.full(n, np.nan), certificate=y, point=nothing,
        problem={
            "hessian": np.zeros((1, v, v)), "vector": np.zeros((1, v)), "matrix": np.ascontiguousarray(rows[:, :, :v]),
            "lower": low, "upper": high, "cone_matrix": np.zeros((1, 0, v)), "cone_vector": np.zeros((1, 0)), "cones": [],
            "tolerance": tolerance,
        },
    )  # fmt: skip
    return NearestResult(x=x, shift=shift, distance=distance, status=found.status, residual=found.residual, proof=proof)
