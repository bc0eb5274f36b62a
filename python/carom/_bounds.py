"""Certified bounds of optimal objectives, from any multipliers and any point (weak duality).

Sums carry a bound of their rounding: of k terms in any order it is at most k u / (1 - k u) times the sum of
the terms' sizes (Higham 2002, 3.1), u = 2^-53; four times that also covers how the sizes themselves are rounded."""

from __future__ import annotations

import dataclasses

import numpy as np

__all__ = ["AnytimeBounds", "bounds_of_lps", "bounds_of_qps"]


@dataclasses.dataclass(frozen=True, eq=False)
class AnytimeBounds:
    """Certain bounds of the optimal objective of n problems, solved or not; rounding is included.

    lower, upper (n): -inf and inf if nothing is known. x (n, v): the latest point; upper is its objective if it
    satisfies all rows and bounds. violation (n): its largest violation of them."""

    lower: np.ndarray
    upper: np.ndarray
    x: np.ndarray
    violation: np.ndarray


def _share(terms: int) -> float:
    return 4.0 * (terms + 4) * 2.0**-53


def _times(matrix: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """matrix (r, v) or (n, r, v) by vectors (n, v)."""
    found: np.ndarray = vectors @ matrix.T if matrix.ndim == 2 else np.einsum("nrv,nv->nr", matrix, vectors)
    return found


def _turned(matrix: np.ndarray) -> np.ndarray:
    return np.swapaxes(matrix, -1, -2)


def _usable(y: np.ndarray, at_upper: np.ndarray, at_lower: np.ndarray) -> np.ndarray:
    """y without what presses on bounds that are not there; at_upper: where y > 0 stands at the upper bound."""
    y = np.where((y > 0) & ~np.isfinite(at_upper), 0.0, y)
    return np.where((y < 0) & ~np.isfinite(at_lower), 0.0, y)


def _row_rounding(A: np.ndarray, x: np.ndarray, share: float) -> np.ndarray:
    """Of A x; none in rows that are one unknown, or its negative."""
    single = (np.count_nonzero(A, axis=-1) == 1) & (abs(A).max(axis=-1, initial=0.0) == 1.0)
    return np.asarray(np.where(single, 0.0, share * _times(abs(A), abs(x))))


def _missed(values: np.ndarray, rounding: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    over = np.maximum(low - values, values - high) + rounding * (1.0 + 1e-12)
    fixed = over.max(axis=1, initial=0.0)
    return np.asarray(np.where(np.isnan(fixed), np.inf, fixed))


def bounds_of_qps(
    P: np.ndarray, q: np.ndarray, A: np.ndarray, low: np.ndarray, high: np.ndarray, x: np.ndarray, y: np.ndarray
) -> AnytimeBounds:
    """min x'P x / 2 + q'x, low <= A x <= high; P, A shared or of each problem, all others (n, .). y > 0: at high."""
    n, v = x.shape
    share = _share(2 * v + 2 * A.shape[-2])
    y = _usable(y, high, low)
    g = q + _times(_turned(A), y)
    eigen = np.linalg.eigvalsh(P)
    least = eigen[..., 0] - share * np.abs(eigen).max(axis=-1)  # Weyl's bound for the rounding of P
    with np.errstate(all="ignore"):
        try:
            # the minimum of the Lagrangian, up to rounding
            z = -np.linalg.solve(P, g[..., None] if P.ndim == 3 else g.T)
            z = z[..., 0] if P.ndim == 3 else z.T
        except np.linalg.LinAlgError:
            z = x
        z = np.where(np.isfinite(z), z, 0.0)
        bent, sizes = _times(P, z), _times(abs(P), abs(z))
        r = np.abs(bent + g) + share * (sizes + abs(q) + _times(abs(_turned(A)), abs(y)))
        rows = np.where(y > 0, high, np.where(y < 0, low, 0.0))
        value = 0.5 * (z * bent).sum(1) + (z * g).sum(1) - (y * rows).sum(1)
        size = (abs(z) * (0.5 * sizes + abs(q) + _times(abs(_turned(A)), abs(y)))).sum(1) + abs(y * rows).sum(1)
        left = np.where(least > 0, (1.0 + share) * (r * r).sum(1) / (2.0 * least), np.inf)
        lower = value - left - share * (size + left)
        lower = np.where(np.isfinite(lower), lower, -np.inf)
        # the point
        sizes = _times(abs(P), abs(x))
        value = (x * (0.5 * _times(P, x) + q)).sum(1)
        rounding = share * (abs(x) * (0.5 * sizes + abs(q))).sum(1)
        missed = _missed(_times(A, x), _row_rounding(A, x, share), low, high)
    upper = np.where(missed == 0.0, value + rounding, np.inf)
    return AnytimeBounds(lower, np.where(np.isfinite(upper), upper, np.inf), x, missed)


def bounds_of_lps(
    c: np.ndarray, A: np.ndarray, low: np.ndarray, high: np.ndarray, lower: np.ndarray, upper: np.ndarray,
    x: np.ndarray, y: np.ndarray,
) -> AnytimeBounds:  # fmt: skip
    """min c'x, low <= A x <= high, lower <= x <= upper; A shared or of each problem, all others (n, .). y > 0: at low."""
    n, v = x.shape
    share = _share(2 * v + 2 * A.shape[-2])
    y = _usable(y, low, high)
    with np.errstate(all="ignore"):
        d = c - _times(_turned(A), y)
        error = share * (abs(c) + _times(abs(_turned(A)), abs(y)))
        # the least of d_j x_j over the column's bounds and all d_j that rounding leaves possible
        ends = [np.where(e == 0.0, 0.0, e * b) for e in (d - error, d + error) for b in (lower, upper)]
        columns = np.minimum.reduce(ends)
        rows = np.where(y > 0, low, np.where(y < 0, high, 0.0))
        value = columns.sum(1) + (y * rows).sum(1)
        least = value - share * (abs(columns).sum(1) + abs(y * rows).sum(1))
        least = np.where(np.isfinite(least), least, -np.inf)
        missed = _missed(_times(A, x), _row_rounding(A, x, share), low, high)
        missed = np.maximum(missed, _missed(x, np.zeros_like(x), lower, upper))
        most = (c * x).sum(1) + share * abs(c * x).sum(1)
    return AnytimeBounds(least, np.where((missed == 0.0) & np.isfinite(most), most, np.inf), x, missed)
