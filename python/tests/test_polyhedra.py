"""Enclosures' polyhedra against Fukuda's cddlib, which shares no code with carom."""

import numpy as np
import pytest

from carom import impact

cdd = pytest.importorskip("cdd")

SEPARATING, STICKING, SLIDING = 0, 1, 2  # modes as two bits a contact; 3 is sliding-


def random_problems(rng, n):
    """M, Jn, Jt, mu, v of two contacts in four coordinates, J of full rank."""
    half = rng.normal(size=(n, 4, 4))
    velocity = rng.normal(size=(n, 4))
    normal, tangent = rng.normal(size=(2, n, 2, 4))
    away = np.einsum("nj,nj->n", normal[:, 0], velocity) > 0
    velocity[away] *= -1
    mass = half @ half.transpose(0, 2, 1) + 0.3 * np.eye(4)
    return mass, normal, tangent, rng.uniform(0, 1, (n, 2)), velocity


def closure(modes, m):
    """Rows (b, -a), a . u <= b, of the velocities that have these modes or are limits of such."""
    rows = []
    for i in range(m):
        mode, n, t = modes >> (2 * i) & 3, np.zeros(2 * m), np.zeros(2 * m)
        n[i] = t[m + i] = 1
        signs = [(n, 1)] if mode == SEPARATING else [(n, 1), (n, -1)]
        if mode == STICKING:
            signs += [(t, 1), (t, -1)]
        elif mode != SEPARATING:
            signs += [(t, 1 if mode == SLIDING else -1)]
        rows += [np.concatenate(([0], sign * row)) for row, sign in signs]
    return rows


def farthest(rows, direction):
    """max direction . u over b - a . u >= 0, by cddlib."""
    matrix = cdd.matrix_from_array(
        rows,
        rep_type=cdd.RepType.INEQUALITY,
        obj_type=cdd.LPObjType.MAX,
        obj_func=[0.0, *direction],
    )
    program = cdd.linprog_from_matrix(matrix)
    cdd.linprog_solve(program)
    assert program.status == cdd.LPStatusType.OPTIMAL
    return program.obj_value


def test_constraints_reach_as_far_as_vertices():
    rng = np.random.default_rng(8)
    compared = 0
    for found in impact.enclose(*random_problems(rng, 12), budget=100):
        if found.status != impact.EnclosureStatus.enclosed:
            continue
        for modes, vertices, constraints in zip(found.modes, found.vertices, found.constraints):
            # What rounding to doubles takes away from thin sets is given back.
            size = np.abs(vertices).max() or 1.0
            rows = [np.concatenate(([c[-1]], -c[:-1])) for c in constraints]
            rows += closure(int(modes), 2)
            rows = [[r[0] / size + 1e-8 * np.abs(r[1:]).sum(), *r[1:]] for r in rows]
            for direction in rng.normal(size=(20, 4)):
                oracle = size * farthest(rows, direction)
                own = (vertices @ direction).max()
                assert own <= oracle + 1e-12 * size
                assert oracle <= own + 1e-5 * size
            compared += 1
    assert compared >= 10
