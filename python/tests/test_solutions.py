"""Every solution of small LCPs: against bases that are tried one by one in fractions, and known sets."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import carom


def exact_solve(M, q, rows):
    """z of M_aa z_a = -q_a in fractions; None where M_aa is singular."""
    n = len(rows)
    a = [[Fraction(int(M[i, j])) for j in rows] + [-Fraction(int(q[i]))] for i in rows]
    for c in range(n):
        pivot = next((i for i in range(c, n) if a[i][c] != 0), None)
        if pivot is None:
            return None
        a[c], a[pivot] = a[pivot], a[c]
        for i in range(n):
            if i != c and a[i][c] != 0:
                factor = a[i][c] / a[c][c]
                a[i] = [x - factor * y for x, y in zip(a[i], a[c])]
    return [a[i][n] / a[i][i] for i in range(n)]


def by_bases(M, q, top=None):
    """Solutions of 0 <= z perp w >= 0, or of the box [0, top], by all bases; None where one is singular."""
    k = len(q)
    found = set()
    for states in itertools.product((-1, 0, 1) if top is not None else (-1, 0), repeat=k):
        free = [i for i in range(k) if states[i] == 0]
        z = [Fraction(int(top)) if s == 1 else Fraction(0) for s in states]
        shifted = [q[i] + sum(int(M[i, j]) * z[j] for j in range(k)) for i in range(k)]
        part = exact_solve(M, shifted, free)
        if part is None:
            return None
        for i, value in zip(free, part):
            z[i] = value
        w = [Fraction(int(q[i])) + sum(Fraction(int(M[i, j])) * z[j] for j in range(k)) for i in range(k)]
        fine = all(
            (s == 0 and z[i] >= 0 and (top is None or z[i] <= top)) or (s == -1 and w[i] >= 0) or (s == 1 and w[i] <= 0)
            for i, s in enumerate(states)
        )
        if fine:
            found.add(tuple(z))
    return found


@pytest.mark.parametrize("top", [None, 2])
def test_they_are_those_of_all_bases(top):
    rng = np.random.default_rng(31)
    sizes, tried = [], 0
    while tried < 40:
        k = int(rng.integers(1, 5))
        M, q = rng.integers(-4, 5, (k, k)), rng.integers(-4, 5, k)
        expected = by_bases(M, q, top)
        if expected is None:
            continue
        tried += 1
        found = carom.all_solutions(M, q, 0.0, np.inf if top is None else top)
        assert found.complete and set(found.kind) <= {"point"}
        assert len(found) == len(expected)
        want = np.array(sorted([[float(x) for x in z] for z in expected])).reshape(-1, k)
        order = np.lexsort(found.solution.T[::-1].round(9)) if len(found) else []
        np.testing.assert_allclose(found.solution[order], want, atol=1e-9)
        assert (found.residual <= 1e-12).all()
        sizes.append(len(found))
    assert max(sizes) >= 3
    if top is None:
        assert min(sizes) == 0  # proven to have none
    else:
        assert min(sizes) >= 1  # a box always has one


def test_pieces_that_are_no_points():
    # 0 <= z1 + z2 - 1 perp both: a segment; the points at its ends are part of it.
    segment = carom.all_solutions(np.ones((2, 2)), [-1.0, -1.0])
    assert segment.complete and segment.kind == ["face"] and len(segment) == 1
    np.testing.assert_allclose(segment.lower, [[0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(segment.upper, [[1.0, 1.0]], atol=1e-12)
    assert segment.residual[0] <= 1e-12 and segment.solution.sum() == pytest.approx(1.0)
    # w = 0 z + 0: a ray.
    ray = carom.all_solutions([[0.0]], [0.0])
    assert ray.complete and ray.kind == ["ray"] and ray.upper[0, 0] == np.inf
    # Painleve's: one dimension, w = 1 - z with 0 <= z: z = 0 and z = 1.
    two = carom.all_solutions([[-1.0]], [1.0])
    assert two.complete and sorted(two.solution[:, 0]) == [0.0, 1.0] and two.kind == ["point", "point"]
    # An equation, a fixed unknown.
    mixed = carom.all_solutions([[2.0, 1.0], [1.0, 3.0]], [-1.0, 5.0], [-np.inf, 0.5], [np.inf, 0.5])
    np.testing.assert_allclose(mixed.solution, [[0.25, 0.5]], atol=1e-12)


def test_what_was_not_finished_says_so():
    rng = np.random.default_rng(0)
    k = 12
    M = -np.eye(k)
    few = carom.all_solutions(M, np.ones(k), max_nodes=50)
    assert not few.complete and few.left > 0 and "not known" in repr(few)
    n = 5
    every = carom.all_solutions(-np.eye(n), np.ones(n))  # each z_i is 0 or 1
    assert every.complete and len(every) == 2**n
    with pytest.raises(carom.InvalidInput, match=r"M\[0, 1\]"):
        carom.all_solutions([[1.0, np.nan], [0.0, 1.0]], [1.0, 1.0])
    with pytest.raises(carom.InvalidInput, match=r"lo\[1\]"):
        carom.all_solutions(np.eye(2), rng.normal(size=2), [0.0, 2.0], 1.0)
    with pytest.raises(carom.InvalidInput, match="q"):
        carom.all_solutions(np.eye(25), np.ones(25))


def with_friction(M, q, findex, mu):
    """Solutions by every state of contacts and friction rows in fractions; None where one is singular."""
    k, found = len(q), set()
    for states in itertools.product(*[(-1, 0, 1) if j >= 0 else (-1, 0) for j in findex]):
        rows, right = [], []
        for i, (s, j) in enumerate(zip(states, findex)):
            row = [Fraction(int(v)) for v in M[i]] if s == 0 else [Fraction(int(i == c)) for c in range(k)]
            if s != 0 and j >= 0:
                row[j] -= s * mu[i]
            rows.append(row)
            right.append(-Fraction(int(q[i])) if s == 0 else Fraction(0))
        a = [[*row, b] for row, b in zip(rows, right)]
        for c in range(k):
            pivot = next((i for i in range(c, k) if a[i][c] != 0), None)
            if pivot is None:
                return None
            a[c], a[pivot] = a[pivot], a[c]
            for i in range(k):
                if i != c and a[i][c] != 0:
                    factor = a[i][c] / a[c][c]
                    a[i] = [x - factor * y for x, y in zip(a[i], a[c])]
        z = [a[i][k] / a[i][i] for i in range(k)]
        w = [int(q[i]) + sum(int(M[i, c]) * z[c] for c in range(k)) for i in range(k)]
        fine = all(
            (z[i] >= 0 and w[i] >= 0) if j < 0 else (abs(z[i]) <= mu[i] * z[j] and (s == 0 or s * w[i] <= 0))
            for i, (s, j) in enumerate(zip(states, findex))
        )
        if fine:
            found.add(tuple(z))
    return found


def test_friction_indices():
    rng, findex = np.random.default_rng(33), [-1, 0, -1, 2]
    counts, tried = [], 0
    while tried < 60:
        M, q = rng.integers(-4, 5, (4, 4)), rng.integers(-4, 5, 4)
        mu = [Fraction(0), Fraction(int(rng.integers(0, 4)), 2), Fraction(0), Fraction(1)]
        expected = with_friction(M, q, findex, mu)
        if expected is None:
            continue
        tried += 1
        found = carom.all_solutions(M, q, findex=findex, mu=[float(m) for m in mu])
        assert found.complete and set(found.kind) <= {"point"} and (found.residual <= 1e-9).all()
        own = sorted(map(tuple, np.round(found.solution + 0.0, 9)))
        assert own == sorted(tuple(np.round([float(v) + 0.0 for v in z], 9)) for z in expected)
        counts.append(len(own))
        one = carom.solve_boxed_lcp(
            M.astype(float), q.astype(float), [0.0, -np.inf, 0.0, -np.inf], np.inf, findex=findex, mu=[float(m) for m in mu]
        )
        if one.status[0] == carom.Status.solved:
            assert np.abs(found.solution - one.solution[0]).max(axis=1).min() <= 1e-8
        else:
            assert one.status[0] != carom.Status.infeasible or not expected
    assert counts.count(0) >= 5 and sum(c > 1 for c in counts) >= 5


def test_friction_indices_that_are_none():
    M, q = np.eye(2), -np.ones(2)
    for wrong in ({"findex": [-1, 0]}, {"findex": [0, 0], "mu": 1.0}, {"findex": [-1, 0], "mu": -1.0}, {"findex": [-1, 2], "mu": 1.0}):
        with pytest.raises(carom.InvalidInput):
            carom.all_solutions(M, q, **wrong)
    with pytest.raises(carom.InvalidInput, match=r"lo\[0\]"):
        carom.all_solutions(M, q, lo=-1.0, findex=[-1, 0], mu=1.0)
