"""Cone problems with semidefinite matrices, for CVXPY, as programs of solve_sdp: minimise x'P x / 2 + q'x over b - A x
in a product of zero, nonnegative, second-order and semidefinite cones. Matrices are lower triangles, column by column, with
sqrt(2) off the diagonal."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ._results import Status
from .solvers import solve_sdp

_RANK = 1e-12  # of the largest singular value
_ROUNDING = 1e-9  # of the terms of an equation, and of the largest eigenvalue
_SQUARES = 30  # of a quadratic objective in one cone


class _Arrow:
    """|s| <= s0 where [[s0, s'], [s, s0 I]] is semidefinite."""

    def __init__(self, order: int) -> None:
        self.order = self.rows = order

    def matrices(self, s: np.ndarray) -> np.ndarray:
        found = s[..., :1, None] * np.eye(self.order)
        found[..., 0, 1:] = found[..., 1:, 0] = s[..., 1:]
        return found

    def dual(self, X: np.ndarray) -> np.ndarray:
        """What pairs with s as X does with the matrix."""
        return np.asarray(np.r_[np.trace(X), 2.0 * X[0, 1:]])


class _Triangle:
    def __init__(self, order: int) -> None:
        self.order, self.rows = order, order * (order + 1) // 2
        self.places = np.triu_indices(order)
        self.weights = np.where(self.places[0] == self.places[1], 1.0, np.sqrt(0.5))

    def matrices(self, s: np.ndarray) -> np.ndarray:
        found = np.zeros((*s.shape[:-1], self.order, self.order))
        found[..., self.places[0], self.places[1]] = found[..., self.places[1], self.places[0]] = s * self.weights
        return found

    def dual(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(X[self.places] / self.weights)


def solve(P: np.ndarray, q: np.ndarray, A: np.ndarray, b: np.ndarray, dims: Any, settings: dict[str, Any]) -> Any:
    """An answer with status, iterations, residual, objective, x and cone_dual, as of QpResult. Equations are eliminated,
    and a quadratic objective becomes second-order cones."""
    zero = int(dims.zero)
    E, e, conic = A[:zero], b[:zero], A[zero:]
    U, sizes, rows = np.linalg.svd(E)
    rank = int((sizes > _RANK * max(sizes, default=0.0)).sum())
    start, N = rows[:rank].T @ (U[:, :rank].T @ e / sizes[:rank]), rows[rank:].T

    def ended(status: Status, iterations: int = 0, residual: float = np.nan, x: Any = None, dual: Any = None) -> Any:
        x = np.full(q.size, np.nan) if x is None else x
        return SimpleNamespace(
            status=np.array([int(status)]), iterations=np.array([iterations]), residual=np.array([residual]), x=x[None],
            objective=np.array([0.5 * x @ P @ x + q @ x]), cone_dual=np.full((1, b.size), np.nan) if dual is None else dual[None],
        )  # fmt: skip

    def contradicts(x: np.ndarray) -> bool:
        terms = np.abs(E * x).max(axis=1, initial=0.0) + np.abs(e)
        return bool((np.abs(E @ x - e) > _ROUNDING * terms).any())

    if contradicts(start):  # a proof where the rows that were left out depend on others but for rounding
        clear = sizes[rank:].max(initial=0.0) <= 4 * max(E.shape) * np.finfo(float).eps * sizes.max(initial=0.0)
        return ended(Status.infeasible, residual=0.0) if clear else ended(Status.numerical_error)
    cones: list[_Arrow | _Triangle] = [_Arrow(int(k)) for k in (*[1] * int(dims.nonneg), *dims.soc)]
    cones += [_Triangle(int(k)) for k in dims.psd]
    left, moved, cost = b[zero:] - conic @ start, conic @ N, N.T @ (q + P @ start)
    curvature, axes = np.linalg.eigh(N.T @ P @ N)
    curved = curvature > _ROUNDING * np.abs(curvature).max(initial=0.0)
    root = np.sqrt(2.0 * curvature[curved])[:, None] * axes[:, curved].T
    for first in range(0, len(root), _SQUARES):  # (t + 1, t - 1, sqrt(2) R y): |R y|^2 / 2 <= t
        own = np.vstack([np.zeros((2, N.shape[1])), root[first : first + _SQUARES]])
        height = np.r_[1.0, 1.0, np.zeros(len(own) - 2)]
        others = np.zeros((len(own), moved.shape[1] - N.shape[1]))  # the t of other cones
        moved = np.block([[moved, np.zeros((len(moved), 1))], [-own, others, -height[:, None]]])
        left, cost = np.r_[left, 1.0, -1.0, np.zeros(len(own) - 2)], np.r_[cost, 1.0]
        cones.append(_Arrow(len(own)))
    ends = np.cumsum([cone.rows for cone in cones])
    constant = [cone.matrices(left[end - cone.rows : end]) for cone, end in zip(cones, ends)]
    if len(cost) == 0:  # the equations leave one point
        inside = min(np.linalg.eigvalsh(own)[0] for own in constant) >= 0.0
        return ended(Status.solved if inside else Status.numerical_error, 0, 0.0, start, np.full(b.size, np.nan))
    coefficients = [
        cone.matrices(moved[end - cone.rows : end].T).reshape(len(cost), -1) for cone, end in zip(cones, ends)
    ]
    answer = solve_sdp(
        np.concatenate([own.ravel() for own in constant]), np.hstack(coefficients), -cost,
        blocks=[cone.order for cone in cones], **settings,
    )  # fmt: skip
    status, iterations, residual = Status(int(answer.status[0])), int(answer.iterations[0]), float(answer.residual[0])
    if status not in (Status.solved, Status.inaccurate):
        return ended(status, iterations, residual)
    x = start + N @ answer.y[0, : N.shape[1]]
    if contradicts(x):
        status = Status.inaccurate
    ends = np.cumsum([cone.order**2 for cone in cones])
    z = np.concatenate([
        cone.dual(answer.x[0][end - cone.order**2 : end].reshape(cone.order, cone.order)) for cone, end in zip(cones, ends)
    ])[: b.size - zero]  # fmt: skip
    y = -U[:, :rank] @ (rows[:rank] @ (P @ x + q + conic.T @ z) / sizes[:rank])
    return ended(status, iterations, residual, x, np.r_[y, z])
