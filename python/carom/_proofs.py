"""Checks answers of semidefinite programs from their problems, with eigenvalues by NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ._results import Status


def _blocks(sizes: list[int], flat: np.ndarray) -> Iterator[np.ndarray]:
    begin = 0
    for size in sizes:
        yield flat[begin : begin + size * size].reshape(size, size)
        begin += size * size


def _below_zero(sizes: list[int], flat: np.ndarray) -> float:
    """The most negative eigenvalue, as a positive number."""
    return max(0.0, *(-float(np.linalg.eigvalsh(0.5 * (b + b.T))[0]) for b in _blocks(sizes, flat)))


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))


def sdp_residuals(problem: Mapping[str, Any], answer: Mapping[str, Any]) -> np.ndarray:
    """As SdpResult::residual says; of a proof: what is left of it relative to its terms."""
    sizes = [int(size) for size in problem["blocks"]]
    n, v = answer["y"].shape
    length = answer["x"].shape[1]

    def of(name: str, i: int, *shape: int) -> np.ndarray:
        array: np.ndarray = problem[name][0 if len(problem[name]) == 1 else i]
        return array.reshape(shape)

    found = np.full(n, np.nan)
    for i in range(n):
        b, c, a = of("objective", i, v), of("constant", i, length), of("coefficients", i, v, length)
        y, x, ray = answer["y"][i], answer["x"][i], answer["ray"][i]
        status = answer["status"][i]
        with np.errstate(all="ignore"):
            if status == Status.solved and np.isfinite([*y, *x]).all():
                gap = abs(c @ x - b @ y) / (1.0 + abs(c @ x) + abs(b @ y))
                found[i] = max(
                    _below_zero(sizes, c - y @ a) / (1.0 + _largest(c)),
                    _below_zero(sizes, x) / (1.0 + _largest(x)),
                    _largest(a @ x - b) / (1.0 + _largest(b)), gap,
                )  # fmt: skip
            elif status == Status.infeasible and np.isfinite(x).all():
                # relative to its terms, or to what it would take of y, in units of C over A, to
                # make up for <C, X>: entries of X that are rounding have terms of that size only
                sizes_a = np.abs(a).max(axis=1)
                terms = np.maximum(np.abs(a) @ np.abs(x), sizes_a / max(_largest(c), 1e-300) * abs(c @ x))
                off = np.abs(a @ x) / np.where(terms > 0.0, terms, 1.0)
                worst = max(_largest(off), _below_zero(sizes, x) / max(_largest(x), 1e-300))
                found[i] = worst if c @ x < 0.0 else np.inf
            elif status == Status.unbounded and np.isfinite([*y, *ray]).all():
                rise = b @ ray
                falls = _below_zero(sizes, -(ray @ a)) / max(_largest(np.abs(ray) @ np.abs(a)), 1e-300)
                inside = _below_zero(sizes, c - y @ a) / (1.0 + _largest(c))
                found[i] = max(falls, inside) if rise > 0.0 else np.inf
            elif status in (Status.solved, Status.infeasible, Status.unbounded):
                found[i] = np.inf
    return found
