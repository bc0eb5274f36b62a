"""Gradients of 10^4 rigid contact steps beside each other: carom's vjp, qpax's jax.grad, central differences.

    python bench/derivatives.py [STEPS]

A box in space meets the ground with 4 or 8 corners: min v'M v/2 - (M v0)'v over N v >= 0. The gradient is that of
w'v in v0 for random w. What is right is known from the rows that hold (strict complementarity, in exact modes of an answer
polished in long double): v = v0 - M^-1 N_B'(N_B M^-1 N_B')^-1 N_B v0, whatever the multipliers. A gradient counts as
right where its error is at most 1e-6 of its size. One thread."""

from __future__ import annotations

import sys
import time

import numpy as np

import carom

CORNERS = np.array([(x, y) for x in (-0.5, 0.5) for y in (-0.4, 0.4)])
DOUBLED = np.concatenate([CORNERS, 0.6 * CORNERS])


def problems(rng, n, corners):
    rows = np.array([[1.0, y, -x] for x, y in corners])
    N = np.repeat(rows[None], n, axis=0)
    M = np.zeros((n, 3, 3))
    for p in range(n):
        A = rng.normal(size=(3, 3))
        M[p] = np.diag([2.0, 0.1, 0.15]) @ (np.eye(3) + 0.05 * (A + A.T)) @ np.diag([1.0, 1.0, 1.0])
        M[p] = (M[p] + M[p].T) / 2
    v0 = np.concatenate([-rng.uniform(0.1, 1, (n, 1)), rng.normal(size=(n, 2)) * rng.choice([0.05, 1.0, 4.0], (n, 1))], axis=1)
    return M, v0, N


def exact(M, v, N, w):
    """The gradient in v0 from the rows that hold."""
    found = np.empty_like(w)
    rank = np.empty(len(w), int)
    for p in range(len(w)):
        held = np.abs(N[p] @ v[p]) < 1e-9
        G = N[p][held]
        if len(G) == 0:
            found[p], rank[p] = w[p], 0
            continue
        U, s, Vt = np.linalg.svd(G)
        B = Vt[: int((s > 1e-9).sum())]
        X = np.linalg.solve(M[p], B.T)
        found[p] = w[p] - B.T @ np.linalg.solve(B @ X, X.T @ w[p])
        rank[p] = len(G) - len(B)
    return found, rank


def main(n):
    rng = np.random.default_rng(0)
    for name, corners in (("4 corners", CORNERS), ("8 corners", DOUBLED)):
        M, v0, N = problems(rng, n, corners)
        m = len(corners)
        w = rng.normal(size=(n, 3))
        q = -np.einsum("nij,nj->ni", M, v0)
        zero = np.zeros((n, m))
        solve = lambda q: carom.solve_qp(M, q, N, zero, None, threads=1)  # noqa: E731
        start = time.perf_counter()
        r = solve(q)
        forward = time.perf_counter() - start
        expected, redundant = exact(M, r.solution, N, w)

        def report(who, gradient, seconds, more=""):
            error = np.abs(gradient - expected).max(axis=1) / np.abs(expected).max(axis=1).clip(1e-3)
            nan = np.isnan(gradient).any(axis=1)
            right = (error <= 1e-6).mean()
            print(f"  {who:34s} right {100 * right:6.2f} %  NaN {100 * nan.mean():6.2f} %  wrong, no NaN "
                  f"{100 * ((error > 1e-6) & ~nan).mean():6.2f} %  {1e6 * seconds / n:8.2f} us{more}")

        print(f"{name}, {n} steps, redundant rows held in {100 * (redundant > 0).mean():.1f} %; "
              f"forward {1e6 * forward / n:.2f} us")
        start = time.perf_counter()
        g = r.vjp(solution=w, wrt="vector", threads=1)
        seconds = time.perf_counter() - start
        gradient = -np.einsum("nij,nj->ni", M, g.vector)
        words, counts = np.unique(g.words(), return_counts=True)
        report("carom vjp", gradient, seconds, f"  ({seconds / forward:.2f} of forward) " + ", ".join(
            f"{c} {word}" for word, c in zip(words, counts)))
        smooth = g.status == 0
        error = np.abs(gradient - expected).max(axis=1) / np.abs(expected).max(axis=1).clip(1e-3)
        print(f"  {'':34s} worst error of those called smooth: {error[smooth].max():.1e}")
        for t in (1e-4, 1e-6):
            start = time.perf_counter()
            found = np.empty((n, 3))
            for j in range(3):
                e = t * np.eye(3)[j]
                up, down = (solve(-np.einsum("nij,nj->ni", M, v0 + s * e)).solution for s in (1, -1))
                found[:, j] = ((up - down) * w).sum(axis=1) / (2 * t)
            report(f"carom, central differences {t:g}", found, time.perf_counter() - start)
        try:
            import jax
            import jax.numpy as jnp
            import qpax
        except ImportError:
            print("  qpax: not installed")
            continue
        jax.config.update("jax_enable_x64", True)

        def loss(v0, M, N, w):
            none = jnp.zeros((0, 3)), jnp.zeros(0)
            return qpax.solve_qp_primal(M, -M @ v0, *none, -N, jnp.zeros(m), solver_tol=1e-10, target_kappa=kappa) @ w

        for kappa in (1e-3, 1e-9):
            gradient_of = jax.jit(jax.vmap(jax.grad(loss)))
            gradient_of(v0, M, N, w).block_until_ready()
            start = time.perf_counter()
            found = np.asarray(gradient_of(v0, M, N, w).block_until_ready())
            report(f"qpax, target_kappa {kappa:g}", found, time.perf_counter() - start)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
