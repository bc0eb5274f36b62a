"""Solvers that are scored by carom.exam for comparison: carom's and those of simulators."""

from __future__ import annotations

import ctypes
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


def _dantzig() -> Callable[[Problem], np.ndarray] | None:
    """DART's contact solver, dSolveLCP of ODE (Dantzig's method), where the library of Debian's package
    libdart-external-odelcpsolver6.12 or its -dev is found. In space friction is a box, and limits are frozen."""
    for name in ("libdart-external-odelcpsolver.so", "libdart-external-odelcpsolver.so.6.12"):
        try:
            call = ctypes.CDLL(name)._ZN4dart8external3ode9dSolveLCPEiPdS2_S2_S2_iS2_S2_Pib
            break
        except (OSError, AttributeError):
            continue
    else:
        return None
    numbers, wholes = (np.ctypeslib.ndpointer(kind, flags="C_CONTIGUOUS") for kind in (np.float64, np.int32))
    call.argtypes = [
        ctypes.c_int, *[numbers] * 4, ctypes.c_int, numbers, numbers, wholes, ctypes.c_bool,
    ]  # fmt: skip
    call.restype = ctypes.c_bool

    def dart(problem: Problem) -> np.ndarray:
        given = problem.boxed_lcp()
        n = len(given["q"])
        friction = given["findex"] >= 0
        A = np.zeros((n, (n - 1 | 3) + 1))  # rows are padded to four numbers
        A[:, :n] = given["M"]
        r, w = np.zeros(n), np.zeros(n)
        low = np.where(friction, -given["mu"], 0.0)
        high = np.where(friction, given["mu"], np.inf)
        found = call(n, A, r, -given["q"], w, 0, low, high, given["findex"].copy(), False)
        return r if found else np.full(n, np.nan)

    return dart


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
if (found := _dantzig()) is not None:
    SOLVERS["DART (dSolveLCP)"] = found
