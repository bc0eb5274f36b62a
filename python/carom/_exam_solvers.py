"""Solvers that sit the exam (carom.exam) for comparison: carom's own, and two ways of simulators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._results import Status
from .boxed import solve_boxed_lcp
from .decisions import decide_lcp
from .exam import Problem
from .solvers import solve_coulomb, solve_lcp, solve_qp


def lemke(problem: Problem) -> np.ndarray | None:
    """One run of Lemke's method on the LCP; in space solve_coulomb."""
    if problem.components == 3:
        return _coulomb(problem)
    found = solve_lcp(*problem.lcp(), max_nodes=0)
    if found.status[0] == Status.infeasible:
        return None
    return problem.from_lcp(found.solution[0])


def decide(problem: Problem) -> np.ndarray | None:
    """carom.decide_lcp; in space solve_coulomb."""
    if problem.components == 3:
        return _coulomb(problem)
    M, q = problem.lcp()
    found = decide_lcp(M, q)[0]
    if found.status == Status.infeasible:
        return None
    return problem.from_lcp(np.full(len(q), np.nan) if found.solution is None else found.solution)


def boxed(problem: Problem) -> np.ndarray | None:
    """carom.solve_boxed_lcp with friction indices; in space friction is a box."""
    given = problem.boxed_lcp()
    found = solve_boxed_lcp(
        given["M"], given["q"], given["lo"], given["hi"], findex=given["findex"], mu=given["mu"]
    )
    if found.status[0] == Status.infeasible:
        return None
    return np.asarray(found.solution[0])


def convex(problem: Problem) -> np.ndarray | None:
    """The convex law of MuJoCo without its compliance: a cone program over the friction cones."""
    return np.asarray(solve_qp(**problem.cone_program()).solution[0])


def sequential_impulses(problem: Problem, sweeps: int = 50) -> np.ndarray:
    """Projected Gauss-Seidel, contact by contact, as game engines have it (Catto 2005)."""
    W, q = problem.delassus()
    size = problem.components
    r = np.zeros(len(q))
    for _ in range(sweeps):
        for i in range(problem.contacts):
            n, t = i * size, slice(i * size + 1, (i + 1) * size)
            r[n] = max(0.0, r[n] - (W[n] @ r + q[n]) / W[n, n])
            for j in range(n + 1, n + size):
                r[j] -= (W[j] @ r + q[j]) / W[j, j]
            limit, length = problem.friction[i] * r[n], np.linalg.norm(r[t])
            if length > limit:
                r[t] *= limit / length
    return r


def _coulomb(problem: Problem) -> np.ndarray:
    W, q = problem.delassus()
    return np.asarray(solve_coulomb(W, q, problem.friction).reaction[0])


SOLVERS: dict[str, Callable[[Problem], np.ndarray | None]] = {
    "carom: one run of Lemke's method": lemke,
    "carom: decide_lcp, solve_coulomb": decide,
    "carom: solve_boxed_lcp": boxed,
    "convex contact (MuJoCo's law)": convex,
    "sequential impulses, 50 sweeps": sequential_impulses,
}
