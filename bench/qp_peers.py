#!/usr/bin/env python3
"""Quadratic programming codes from PyPI on the problems of qp_bench.cpp.

  CAROM_QP_PROBLEMS=problems.bin carom_bench --benchmark_filter='^qps/'
  python3 bench/qp_peers.py problems.bin [COUNT]

Each solver is called once a problem with arrays made before the clock runs; what the call itself
costs is measured on a problem with one unknown and one row, and subtracted. An answer counts as
solved where primal and dual residuals and the gap, each relative to its own largest term, are at
most 1e-7. Process time, one thread. Solvers that are not installed are left out."""
import json
import sys
import time

import numpy as np


def read(path, count):
    with open(path, "rb") as file:
        problems, n, m = np.fromfile(file, np.int32, 3)
        hessian = np.fromfile(file, float, problems * n * n).reshape(problems, n, n)
        vector = np.fromfile(file, float, problems * n).reshape(problems, n)
        matrix = np.fromfile(file, float, problems * m * n).reshape(problems, m, n)
        lower = np.fromfile(file, float, problems * m).reshape(problems, m)
    return [(np.ascontiguousarray(hessian[p]), vector[p].copy(), np.ascontiguousarray(matrix[p]),
             lower[p].copy()) for p in range(min(count, problems))]


def good(problem, x, y):
    """y >= 0 with P x + q = A'y."""
    hessian, q, matrix, lower = problem
    if x is None or y is None or not np.all(np.isfinite(x)) or not np.all(np.isfinite(y)):
        return False
    y = np.maximum(np.abs(y), 0.0)
    slack = matrix @ x - lower
    curved, pull = hessian @ x, matrix.T @ y
    primal = max(0.0, -slack.min()) / max(1e-300, np.abs(matrix @ x).max(), np.abs(lower).max())
    dual = np.abs(curved + q - pull).max() / max(np.abs(curved).max(), np.abs(q).max())
    gap = abs(y @ slack) / max(1e-300, abs(x @ curved), abs(q @ x))
    return primal <= 1e-7 and dual <= 1e-7 and gap <= 1e-7


def solver_quadprog():
    import quadprog
    def solve(hessian, q, matrix, lower):
        answer = quadprog.solve_qp(hessian, -q, matrix.T, lower)
        return answer[0], answer[4]
    return solve


def solver_daqp():
    from ctypes import c_int
    import daqp
    def solve(hessian, q, matrix, lower):
        m = len(lower)
        upper = np.full(m, 1e30)
        sense = np.zeros(m, dtype=c_int)
        x, _, _, info = daqp.solve(hessian, q, matrix, upper, lower, sense)
        return x, np.array(info["lam"])
    return solve


def solver_osqp():
    import osqp
    from scipy import sparse
    def solve(hessian, q, matrix, lower):
        code = osqp.OSQP()
        code.setup(sparse.csc_matrix(np.triu(hessian)), q, sparse.csc_matrix(matrix), lower,
                   np.full(len(lower), np.inf), eps_abs=1e-9, eps_rel=1e-9, polishing=True,
                   verbose=False, max_iter=20000)
        answer = code.solve()
        return answer.x, answer.y
    return solve


def solver_proxqp():
    import proxsuite
    def solve(hessian, q, matrix, lower):
        code = proxsuite.proxqp.dense.QP(len(q), 0, len(lower))
        code.settings.eps_abs = 1e-9
        code.settings.eps_rel = 1e-9
        code.init(hessian, q, None, None, matrix, lower, np.full(len(lower), 1e30))
        code.solve()
        return np.array(code.results.x), np.array(code.results.z)
    return solve


def solver_piqp():
    import piqp
    def solve(hessian, q, matrix, lower):
        code = piqp.DenseSolver()
        code.settings.eps_abs = 1e-9
        code.settings.eps_rel = 1e-9
        code.setup(hessian, q, G=matrix, h_l=lower)
        code.solve()
        return np.array(code.result.x), np.array(code.result.z_l)
    return solve


def seconds(solve, problems):
    start = time.process_time()
    for problem in problems:
        try:
            solve(*problem)
        except Exception:
            pass
    return (time.process_time() - start) / len(problems)


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    problems = read(sys.argv[1], count)
    trivial = [(np.eye(1), np.array([1.0]), np.eye(1), np.array([0.0]))] * len(problems)
    solvers = {}
    for make in (solver_quadprog, solver_daqp, solver_osqp, solver_proxqp, solver_piqp):
        name = make.__name__[7:]
        try:
            solvers[name] = make()
        except ImportError:
            print(f"{name}: not installed", file=sys.stderr)
    solved = dict.fromkeys(solvers, 0)
    for name, solve in solvers.items():
        for problem in problems:
            try:
                solved[name] += good(problem, *solve(*problem))
            except Exception as error:
                if solved[name] == 0 and problem is problems[0]:
                    print(f"{name}: {error}", file=sys.stderr)
    # Rounds over all, each with its own call: a slow moment of the machine meets one of them.
    times = {name: [] for name in solvers}
    calls = {name: [] for name in solvers}
    for _ in range(7):
        for name, solve in solvers.items():
            call = seconds(solve, trivial)
            times[name].append(max(seconds(solve, problems) - call, 1e-9))
            calls[name].append(call)
    results = []
    # Compared with carom's answers to the same programs, and with its steps with true cones.
    for form in ("contact_pyramids_n012", "contact_steps_n012"):
        for name in solvers:
            results.append({"name": f"qps/{form}/{name}", "time_unit": "s",
                            "cpu_time": times[name], "real_time": times[name], "problems": 1.0,
                            "order": 12.0, "threads": 1, "solved": solved[name] / len(problems),
                            "call_seconds": sorted(calls[name])[3]})
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
