"""Solutions of the impact inclusion, followed in rational arithmetic by random rates, end inside of enclosures."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import carom
from carom.impact import EnclosureStatus


def dot(a, b):
    return sum((x * y for x, y in zip(a, b)), Fraction(0))


def solved(rows, right):
    """A solution of rows x = right with zeros for free unknowns; None if there is none."""
    table = [[*row, value] for row, value in zip(rows, right)]
    pivots = []
    for column in range(len(table[0]) - 1):
        found = next((i for i in range(len(pivots), len(table)) if table[i][column] != 0), None)
        if found is None:
            continue
        k = len(pivots)
        table[k], table[found] = table[found], table[k]
        table[k] = [v / table[k][column] for v in table[k]]
        for i, row in enumerate(table):
            if i != k and row[column] != 0:
                table[i] = [v - row[column] * p for v, p in zip(row, table[k])]
        pivots.append(column)
    if any(row[-1] != 0 for row in table[len(pivots) :]):
        return None
    x = [Fraction(0)] * (len(table[0]) - 1)
    for row, column in zip(table, pivots):
        x[column] = row[-1]
    return x


def rate(rng, pushes, J, mu, un, ut):
    """Impulses of a random admissible direction, as a change of v with its contact velocities; None if a draw is not
    admissible: contacts that touch push only while they do not separate, friction opposes the slip that is or begins."""
    m = len(un)
    acting = [i for i in range(m) if un[i] <= 0 and rng.random() < 0.7]
    if not acting:
        return None
    weight = {i: Fraction(int(rng.integers(1, 9)), int(rng.choice([1, 4, 4096]))) for i in acting}
    held = [i for i in acting if un[i] == 0 and rng.random() < 0.6]
    side = {i: int(rng.choice([0, 0, 1, -1])) if ut[i] == 0 else -1 if ut[i] > 0 else 1 for i in acting}
    stuck = [i for i in acting if ut[i] == 0 and side[i] == 0]
    push = {i: [a + side[i] * mu[i] * b for a, b in zip(pushes[i], pushes[m + i])] for i in acting}
    change = [sum(weight[i] * push[i][k] for i in acting if i not in held) + Fraction(0) for k in range(len(pushes[0]))]
    columns, rows = [push[i] for i in held] + [pushes[m + i] for i in stuck], held + [m + i for i in stuck]
    x = solved([[dot(J[r], c) for c in columns] for r in rows], [-dot(J[r], change) for r in rows]) if rows else []
    if x is None:
        return None
    friction = {i: side[i] * mu[i] * weight[i] for i in acting}
    for i, value in zip(rows, x):
        if i < m:
            weight[i], friction[i] = value, side[i] * mu[i] * value
    friction.update({i: value for i, value in zip(stuck, x[len(held) :])})
    for c, value in zip(columns, x):
        change = [a + value * b for a, b in zip(change, c)]
    du = [dot(row, change) for row in J]
    for i in acting:
        if weight[i] < 0 or abs(friction[i]) > mu[i] * weight[i]:
            return None
        if weight[i] > 0 and un[i] == 0 and du[i] > 0:
            return None
        if ut[i] == 0 and du[m + i] != 0 and friction[i] != (-1 if du[m + i] > 0 else 1) * mu[i] * weight[i]:
            return None
    return (change, du) if any(du) else None


def end_of(rng, minv, J, mu, v):
    """The velocity where no contact approaches any more; None where the draws do not get there."""
    m = len(mu)
    pushes = [[dot(row, column) for row in minv] for column in J]
    for _ in range(40):
        u = [dot(row, v) for row in J]
        if min(u[:m]) >= 0:
            return v
        found = next(filter(None, (rate(rng, pushes, J, mu, u[:m], u[m:]) for _ in range(60))), None)
        stops = [-a / b for a, b in zip(u, found[1]) if a * b < 0] if found else []
        if not stops:
            return None
        far = min(stops) * (Fraction(int(rng.integers(1, 8)), 8) if rng.random() < 0.4 else 1)
        v = [a + far * b for a, b in zip(v, found[0])]
    return None


@pytest.mark.parametrize("seed", range(20))
def test_ends_of_exact_solutions_are_inside(seed):
    rng = np.random.default_rng([38, seed])
    m, nv = 2 + seed % 2, 3
    root = rng.integers(-2, 3, (nv, nv))
    M = np.diag(2.0 ** rng.integers(-10, 11, nv)) if seed % 3 == 0 else (root @ root.T + np.eye(nv)).astype(float)
    J = rng.integers(-2, 3, (2 * m, nv)).astype(float)
    if seed % 5 == 0:  # normals that are parallel but for little
        J[1] = J[0] * (1.0 + 2.0 ** -int(rng.choice([10, 30, 50])))
    mu, v = rng.choice([0.0, 0.125, 0.5, 3.0], m), rng.integers(-3, 4, nv).astype(float)
    v = v if (J[:m] @ v).min() < 0 else -v
    enclosed = carom.impact.enclose(M, J[:m], J[m:], mu, v, budget=1000)[0]
    exact = [[Fraction(x) for x in row] for row in M.tolist()]
    minv = list(map(list, zip(*(solved(exact, [Fraction(i == k) for i in range(nv)]) for k in range(nv)))))
    rows = [[Fraction(x) for x in row] for row in J.tolist()]
    ends = [end_of(rng, minv, rows, [Fraction(x) for x in mu], [Fraction(x) for x in v]) for _ in range(8)]
    reached = np.array([[float(dot(row, end)) for row in rows] for end in ends if end is not None])
    assert enclosed.status in (EnclosureStatus.enclosed, EnclosureStatus.outer) and len(reached)
    room = 1e-10 * np.abs(J @ v).max()
    low = np.concatenate([enclosed.normal_velocity_min, enclosed.tangent_velocity_min])
    high = np.concatenate([enclosed.normal_velocity_max, enclosed.tangent_velocity_max])
    assert (reached >= low - room).all() and (reached <= high + room).all()
    if len(enclosed.modes):
        outside = [min((c[:, :-1] @ u - c[:, -1]).max() for c in enclosed.constraints) for u in reached]
        assert max(outside) <= 10.0 * room
