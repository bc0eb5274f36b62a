"""Checks answers of semidefinite programs from their problems, with eigenvalues by NumPy, by the rules of
docs/explanation/sdp.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._results import Status


_PASSES = 3


def _power(size: float) -> float:
    """The power of two that is next above a size; 1 for nothing."""
    return float(np.ldexp(1.0, np.frexp(size)[1])) if size > 0.0 else 1.0


def _roots(sizes: np.ndarray) -> np.ndarray:
    """The powers of two next to the roots of sizes; 1 for nothing."""
    exponents = np.trunc(np.frexp(sizes)[1] / 2).astype(int)
    return np.where(sizes > 0.0, np.ldexp(1.0, exponents), 1.0)


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))


class _Program:
    """max b'y over C - sum y_i A_i positive semidefinite: matrices as a list of blocks, A as (v, n, n)."""

    def __init__(self, b: np.ndarray, c: list[np.ndarray], a: list[np.ndarray]) -> None:
        self.b, self.c, self.a = b, c, a

    def slack(self, y: np.ndarray, share: float = 1.0) -> list[np.ndarray]:
        return [share * c - np.tensordot(y, a, 1) for c, a in zip(self.c, self.a)]

    def traces(self, x: list[np.ndarray]) -> np.ndarray:
        return np.asarray(sum(np.tensordot(a, block, 2) for a, block in zip(self.a, x)))

    def value(self, x: list[np.ndarray]) -> float:
        return float(sum((c * block).sum() for c, block in zip(self.c, x)))

    def residual(self, y: np.ndarray, x: list[np.ndarray], size_x: float) -> float:
        of_c, of_b = 1.0 + max(_largest(c) for c in self.c), 1.0 + _largest(self.b)
        objective, dual = float(self.b @ y), self.value(x)
        return max(
            _below_zero(self.slack(y)) / of_c, _below_zero(x) / size_x, _largest(self.traces(x) - self.b) / of_b,
            abs(dual - objective) / (1.0 + abs(objective) + abs(dual)),
        )  # fmt: skip


def _below_zero(blocks: list[np.ndarray]) -> float:
    """The most negative eigenvalue, as a positive number."""
    return max(0.0, *(-float(np.linalg.eigvalsh(0.5 * (b + b.T))[0]) for b in blocks))


class _Units:
    """A program in units in which rows, variables, constant and objective have size 1, and answers in these units."""

    def __init__(self, given: _Program) -> None:
        b, c, a = given.b.copy(), [m.copy() for m in given.c], [m.copy() for m in given.a]
        self.rows, self.variables = [np.ones(len(m)) for m in c], np.ones(len(b))
        for _ in range(_PASSES):
            for k, (constant, matrices) in enumerate(zip(c, a)):
                sizes = np.abs(matrices).max(axis=(0, 2))
                if not sizes.any():
                    sizes = np.abs(constant).max(axis=1)
                sizes /= (whole := _power(_largest(sizes)))
                alone = (sizes == 0.0) & constant.any(axis=1)  # rows that only the constant has
                unit = max(_largest(m) for m in [*c[:k], constant / whole, *c[k + 1 :]])
                rows = np.abs(constant).max(axis=1) / whole
                sizes[alone] = np.maximum(rows[alone] / unit, 2.0**-30)
                d = 1.0 / _roots(sizes)
                self.rows[k] *= d / np.sqrt(whole)
                c[k], a[k] = (m * d[:, None] * d / whole for m in (constant, matrices))
            factor = np.array([_power(max(_largest(m[i]) for m in a)) for i in range(len(b))])
            a, b = [m / factor[:, None, None] for m in a], b / factor
            self.variables *= factor
        self.constant, self.objective = _power(max(_largest(m) for m in c)), _power(_largest(b))
        self.program = _Program(b / self.objective, [m / self.constant for m in c], a)

    def y(self, y: np.ndarray) -> np.ndarray:
        return y * self.variables / self.constant

    def x(self, x: list[np.ndarray]) -> list[np.ndarray]:
        return [m / d[:, None] / d / self.objective for m, d in zip(x, self.rows)]


def sdp_residuals(problem: Mapping[str, Any], answer: Mapping[str, Any]) -> np.ndarray:
    """Of a solution, the larger one in the given units and in the program's own; of a proof, what is left of it in the
    program's own units, where <C, X> = -1 or b'd = 1."""
    sizes = [int(size) for size in problem["blocks"]]
    ends = np.cumsum([size * size for size in sizes])
    n, v = answer["y"].shape

    def blocks(flat: np.ndarray) -> list[np.ndarray]:
        parts = [flat[..., end - size * size : end] for size, end in zip(sizes, ends)]
        return [part.reshape(*flat.shape[:-1], size, size) for size, part in zip(sizes, parts)]

    def of(name: str, i: int) -> np.ndarray:
        array: np.ndarray = problem[name][0 if len(problem[name]) == 1 else i]
        return array

    found = np.full(n, np.nan)
    for i in range(n):
        coefficients = of("coefficients", i).reshape(v, ends[-1])
        given = _Program(of("objective", i), blocks(of("constant", i).ravel()), blocks(coefficients))
        units = _Units(given)
        own = units.program
        y, x, ray = answer["y"][i], blocks(answer["x"][i]), answer["ray"][i]
        status, x_finite = answer["status"][i], bool(np.isfinite(answer["x"][i]).all())
        with np.errstate(all="ignore"):
            if status == Status.solved and x_finite and np.isfinite(y).all():
                found[i] = max(
                    given.residual(y, x, 1.0 + _largest(answer["x"][i])),
                    own.residual(units.y(y), units.x(x), 1.0 + _largest(own.b)),
                )
            elif status == Status.infeasible and x_finite:
                own_x = units.x(x)
                falls = -own.value(own_x)
                found[i] = max(_largest(own.traces(own_x)), _below_zero(own_x)) / falls if falls > 0.0 else np.inf
            elif status == Status.unbounded and np.isfinite([*y, *ray]).all():
                d, at = units.y(ray), units.y(y)
                rise = float(own.b @ d)
                inside = _below_zero(own.slack(at)) / (1.0 + max(map(_largest, own.c)))
                found[i] = max(_below_zero(own.slack(d, 0.0)) / rise, inside) if rise > 0.0 else np.inf
            elif status in (Status.solved, Status.infeasible, Status.unbounded):
                found[i] = np.inf
    return found
