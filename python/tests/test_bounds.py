"""Bounds of solver objects against exact optima of integer problems, and against a budget that is spent at once."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import carom
from carom import Status


def solve_exactly(rows, right):
    """x of a square system in fractions, or None."""
    a = [[Fraction(int(v)) for v in row] + [Fraction(int(b))] for row, b in zip(rows, right)]
    n = len(a)
    for k in range(n):
        pivot = next((i for i in range(k, n) if a[i][k] != 0), None)
        if pivot is None:
            return None
        a[k], a[pivot] = a[pivot], a[k]
        for i in range(n):
            if i != k and a[i][k] != 0:
                share = a[i][k] / a[k][k]
                a[i] = [u - share * v for u, v in zip(a[i], a[k])]
    return [a[k][n] / a[k][k] for k in range(n)]


def within(A, low, high, x):
    values = [sum(int(a) * v for a, v in zip(row, x)) for row in A]
    return all(lo <= v <= hi for v, lo, hi in zip(values, low, high))


def least_qp(P, q, A, low, high):
    """The optimum over every set of active rows; None where there is no point."""
    n, best = len(q), None
    for k in range(min(n, len(A)) + 1):
        for rows in itertools.combinations(range(len(A)), k):
            for sides in itertools.product((0, 1), repeat=k):
                bounds = [(high if s else low)[i] for i, s in zip(rows, sides)]
                if not np.isfinite(bounds).all():
                    continue
                system = [[*P[j], *(A[i][j] for i in rows)] for j in range(n)]
                system += [[*A[i], *([0] * k)] for i in rows]
                found = solve_exactly(system, [*(-v for v in q), *bounds])
                if found is None or not within(A, low, high, found[:n]):
                    continue
                x = found[:n]
                value = sum(Fraction(int(q[i])) * x[i] for i in range(n))
                value += sum(int(P[i][j]) * x[i] * x[j] for i in range(n) for j in range(n)) / 2
                best = value if best is None else min(best, value)
    return best


def least_lp(c, A, low, high):
    """The optimum over every vertex; rows bound all x."""
    n, best = len(c), None
    for rows in itertools.combinations(range(len(A)), n):
        for sides in itertools.product((0, 1), repeat=n):
            x = solve_exactly([A[i] for i in rows], [(high if s else low)[i] for i, s in zip(rows, sides)])
            if x is not None and within(A, low, high, x):
                value = sum(int(v) * t for v, t in zip(c, x))
                best = value if best is None else min(best, value)
    return best


def holds(bounds, exact):
    """No bound is on the wrong side of an exact optimum, and where there is none no point is called one."""
    for low, high, missed, value in zip(bounds.lower, bounds.upper, bounds.violation, exact):
        if value is None:
            assert high == np.inf and missed > 0
            continue
        assert low == -np.inf or Fraction(float(low)) <= value
        assert high == np.inf or value <= Fraction(float(high))


@pytest.mark.parametrize("own", [False, True])
def test_qps(own):
    rng, n, r, count = np.random.default_rng(91), 2, 4, 60

    def problem(k):
        root = rng.integers(-3, 4, (k, n, n))
        P = root @ root.transpose(0, 2, 1) + np.eye(n, dtype=int)
        return P, rng.integers(-5, 6, (k, n)), rng.integers(-3, 4, (k, r, n))

    P, q, A = problem(count)
    if not own:
        P, A = np.repeat(P[:1], count, 0), np.repeat(A[:1], count, 0)
    low, high = rng.integers(-6, 2, (count, r)), rng.integers(-1, 7, (count, r))
    shared = (lambda a: a) if own else (lambda a: a[0])
    solver = carom.QpBatch(shared(P).astype(float), q.astype(float), shared(A).astype(float), low, high, threads=1)
    exact = [least_qp(*p) for p in zip(P, q, A, low, high)]
    first = solver.solve()
    known = np.array([value is not None for value in exact])
    np.testing.assert_array_equal(first.status == Status.solved, known)
    bounds = solver.bounds()
    holds(bounds, exact)
    values = np.array([float(value) for value in exact if value is not None])
    np.testing.assert_allclose(bounds.lower[known], values, rtol=1e-9, atol=1e-9)  # and they are close
    assert (np.isfinite(bounds.upper) | (bounds.violation > 0)).all()
    # other data, and a budget that is spent at once
    q, low = rng.integers(-5, 6, (count, n)), rng.integers(-6, 2, (count, r))
    second = solver.update(q=q, l=low).solve(time_budget=1e-9)
    assert (second.status == Status.cancelled).sum() >= count - 1
    exact = [least_qp(*p) for p in zip(P, q, A, low, high)]
    bounds = solver.bounds()
    holds(bounds, exact)
    assert np.isfinite(bounds.lower).all() and np.isfinite(bounds.upper).sum() >= 3


def test_lps():
    rng, n, r, count = np.random.default_rng(92), 3, 2, 80
    A, c = rng.integers(-3, 4, (r, n)), rng.integers(-4, 5, n)
    sides = lambda: (rng.integers(-6, 1, (count, r)), rng.integers(0, 7, (count, r)))
    lower, upper = np.full(n, -2), np.full(n, 3)
    low, high = sides()
    solver = carom.LpBatch(c.astype(float), A.astype(float), low, high, lower=lower, upper=upper, threads=1)
    whole = np.vstack([A, np.eye(n, dtype=int)])

    def exact():
        return [least_lp(c, whole, [*l, *lower], [*h, *upper]) for l, h in zip(low, high)]

    solver.solve()
    bounds, values = solver.bounds(), exact()
    holds(bounds, values)
    known = np.array([value is not None for value in values])
    np.testing.assert_allclose(bounds.lower[known], [float(v) for v in values if v is not None], atol=1e-9)
    low, high = sides()
    second = solver.update(row_lower=low, row_upper=high).solve(time_budget=1e-9)
    assert (second.status == Status.cancelled).sum() >= count - 1
    bounds = solver.bounds()
    holds(bounds, exact())
    assert np.isfinite(bounds.lower).all() and np.isfinite(bounds.upper).sum() >= 3
    free = carom.LpBatch(np.ones(2), np.ones((1, 2)), row_lower=np.ones(1))
    assert free.bounds().lower[0] == -np.inf and free.bounds().upper[0] == np.inf


def test_what_has_no_bounds():
    solver = carom.QpBatch(np.zeros((2, 2)), np.ones(2), np.eye(2), -np.ones(2), np.ones(2))
    solver.solve()
    bounds = solver.bounds()
    assert bounds.lower[0] == -np.inf and bounds.upper[0] >= -2.0
    cone = carom.QpBatch(np.eye(2), np.ones(2), C=np.eye(2), b=np.ones(2), cones=[("nonneg", 2)])
    with pytest.raises(carom.InvalidInput, match="cones"):
        cone.bounds()


def made(rng, count, n, r, own, quadratic):
    """Integer problems made around an optimum: P, q, A, low, high and twice the least objective, exactly."""
    each = count if own else 1
    root = rng.integers(-3, 4, (each, n, n))
    P = (root @ root.transpose(0, 2, 1) + np.eye(n, dtype=int)) * quadratic
    A, x, y = rng.integers(-3, 4, (each, r, n)), rng.integers(-4, 5, (count, n)), rng.integers(-2, 3, (count, r))
    bent, pull = (P @ x[:, :, None])[..., 0], (A.transpose(0, 2, 1) @ y[:, :, None])[..., 0]
    q, value = -(bent + pull), (A @ x[:, :, None])[..., 0]
    low = np.where(y < 0, value, value - rng.integers(0, 4, (count, r)))
    high = np.where(y > 0, value, value + rng.integers(0, 4, (count, r)))
    return P, q, A, low, high, x, (x * (bent + 2 * q)).sum(1)


@pytest.mark.parametrize("own", [False, True])
def test_bounds_of_many_integer_problems(own):
    """100,000 in all: halves of integers below 2^53 are exact in doubles, and so is what they are compared with."""
    rng, n, r, count = np.random.default_rng(93), 4, 6, 25_000
    for quadratic in (True, False):
        P, q, A, low, high, x, twice = made(rng, count, n, r, own, quadratic)
        first = (lambda a: a) if own else (lambda a: a[0])
        as_floats = [a.astype(float) for a in (first(P), q, first(A), low, high)]
        if quadratic:
            solver = carom.QpBatch(*as_floats, threads=1)
        else:
            box = {"lower": x - rng.integers(0, 3, x.shape), "upper": x + rng.integers(0, 3, x.shape)}
            solver = carom.LpBatch(*as_floats[1:], **box, threads=1)
        found = solver.solve()
        assert (found.status == Status.solved).mean() > 0.999
        bounds = solver.bounds()
        for turn in range(2):
            assert (2.0 * bounds.lower <= twice).all() and (2.0 * bounds.upper >= twice).all()
            assert (np.isfinite(bounds.lower)).all() and (bounds.violation >= 0).all()
            if turn == 0:  # all but rounding apart
                assert (twice - 2.0 * bounds.lower <= 1e-8 * (1.0 + abs(twice))).mean() > 0.999
                # the same matrices, another optimum, and no time
                shift = rng.integers(-2, 3, x.shape)
                moved = (first(A) @ shift[:, :, None])[..., 0] if own else shift @ A[0].T
                twice = twice + (shift * ((P @ (2 * x + shift)[:, :, None])[..., 0] + 2 * q)).sum(1)
                new_q = q - (P @ shift[:, :, None])[..., 0]
                twice = twice + 2 * ((new_q - q) * (x + shift)).sum(1)
                vectors = {"row_lower" if not quadratic else "l": low + moved, "row_upper" if not quadratic else "u": high + moved}
                if quadratic:
                    vectors["q"] = new_q
                else:
                    vectors |= {"lower": box["lower"] + shift, "upper": box["upper"] + shift}
                late = solver.update(**vectors).solve(time_budget=1e-9)
                assert (late.status == Status.cancelled).sum() >= count - 1
                bounds = solver.bounds()
