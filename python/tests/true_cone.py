"""Simultaneous inelastic impacts with Coulomb's true cone by many small steps, to compare with: shares nothing
with the library.

Each step gives every contact at most a share of a small impulse, shares drawn anew now and then; within
these bounds contacts stop approaching and friction, a disc of the contact's own normal impulse, opposes slip."""

from __future__ import annotations

import numpy as np


def outcomes(M, Jn, Jt, mu, v, count=256, steps=60, iterations=40, seed=0, most=4000, share=0.3):
    """Velocities (count, nv) after the impact, NaN where it did not end in `most` steps. steps: of the size that
    stops the contact which takes most."""
    rng = np.random.default_rng(seed)
    m, nv = Jn.shape
    J = np.zeros((m, 3, nv))
    J[:, 0], J[:, 1:] = Jn, Jt.reshape(m, 2, nv)
    rows = J.reshape(3 * m, nv)
    A = rows @ np.linalg.solve(M, rows.T)
    diagonal = np.array([np.diag(A)[3 * i : 3 * i + 3] for i in range(m)])
    tangent = np.array([np.linalg.eigvalsh(A[3 * i + 1 : 3 * i + 3, 3 * i + 1 : 3 * i + 3]).max() for i in range(m)])
    u = np.tile(rows @ v, (count, 1))
    stop = max((-u[0, 3 * i] / diagonal[i, 0] for i in range(m) if u[0, 3 * i] < 0.0 and diagonal[i, 0] > 0.0), default=0.0)
    h = stop / steps
    total = np.zeros((count, 3 * m))
    weights = np.zeros((count, m))
    tolerance = 1e-7 * max(1e-9, np.abs(u[:, ::3]).max())
    going = (u[:, ::3] < -tolerance).any(axis=1)
    for step in range(most):
        left = np.flatnonzero(going)
        if not len(left):
            break
        anew = left[(rng.random(len(left)) < 0.05) | (step == 0)]
        sparse = rng.gamma(rng.choice([0.05, 0.3, 1.0], size=(len(anew), 1)), size=(len(anew), m)) + 1e-12
        weights[anew] = sparse / sparse.max(axis=1, keepdims=True)
        bound = h * weights[left]
        # A share of the steps lets every contact take what it needs, or drawn weights of 0 would never end.
        bound[rng.random(len(left)) < 0.01] = h
        p = np.zeros((len(left), 3 * m))
        w = u[left].copy()  # velocities with this step's impulses
        for _ in range(iterations):
            for i in range(m):
                if diagonal[i, 0] <= 0.0:
                    continue
                n = 3 * i
                new = np.clip(p[:, n] - w[:, n] / diagonal[i, 0], 0.0, bound[:, i])
                w += (new - p[:, n])[:, None] * A[:, n]
                p[:, n] = new
                if mu[i] == 0.0:
                    continue
                aim = p[:, n + 1 : n + 3] - w[:, n + 1 : n + 3] / tangent[i]
                size = np.sqrt((aim * aim).sum(axis=1))
                limit = mu[i] * p[:, n]
                aim *= np.minimum(1.0, limit / np.maximum(size, 1e-300))[:, None]
                w += (aim - p[:, n + 1 : n + 3]) @ A[n + 1 : n + 3]
                p[:, n + 1 : n + 3] = aim
        u[left] = w
        total[left] += p
        going[left] = (w[:, ::3] < -tolerance).any(axis=1)
    after = v + total @ np.linalg.solve(M, rows.T).T
    after[going] = np.nan
    return after


def outside(inner, outer, M, v, directions=400, seed=1):
    """By how much `inner` reaches beyond `outer`, both (k, nv): the largest excess of a support over directions
    of the mass metric, as a share of the largest change of velocity; and how much of outer's width it fills."""
    root = np.linalg.cholesky(M)
    a, b, start = (np.asarray(x) @ root for x in (inner[np.isfinite(inner).all(axis=1)], outer, v))
    both = np.concatenate([a, b]) - start
    scale = np.sqrt((both * both).sum(axis=1)).max()
    _, sizes, axes = np.linalg.svd(both - both.mean(axis=0), full_matrices=False)
    axes = axes[sizes > 1e-9 * max(sizes[0], 1e-300)]
    rng = np.random.default_rng(seed)
    wanted = rng.normal(size=(directions, len(axes)))
    wanted = np.concatenate([wanted / np.linalg.norm(wanted, axis=1)[:, None], np.eye(len(axes)), -np.eye(len(axes))]) @ axes
    reach, allowed = (a @ wanted.T).max(axis=0), (b @ wanted.T).max(axis=0)
    low = (b @ wanted.T).min(axis=0)
    wide = allowed - low > 1e-3 * scale
    filled = (reach - (a @ wanted.T).min(axis=0))[wide] / (allowed - low)[wide]
    return float((reach - allowed).max() / scale), float(np.median(filled)) if wide.any() else 1.0, float(scale)
