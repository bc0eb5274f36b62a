#!/usr/bin/env python3
"""Semidefinite programming codes on the problems of sdp_bench.cpp.

  CAROM_SDP_PROBLEMS=FOLDER carom_bench --benchmark_filter='^sdps/'
  python3 bench/sdp_peers.py FOLDER [COUNT]

FOLDER holds SET/NUMBER.dat-s in SDPA's sparse format; what is true of a set's programmes is the
first word of its name. Clarabel and SCS come from PyPI, CSDP is the command of that name. Each is
called once a programme with matrices made before the clock runs; what a call itself costs is
measured on a programme of one number, and subtracted. An answer counts as solved where eigenvalues
of C - sum y A, of X, <A_i, X> - b_i and the gap, each relative to the size of what it belongs to, are
within 1e-7, and an infeasible or unbounded programme where the code says so; false_success is the
share whose own status the numbers, or the truth, contradict by more than 1e-5. CPU time, one
thread. Codes that are not installed are left out."""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np


class Programme:
    """max b'y over C - sum y A >= 0, block after block."""

    def __init__(self, path):
        with open(path, encoding="ascii") as file:
            rows = [line for line in file if line[0] not in '"*']
        self.path, m = path, int(rows[0].split()[0])
        self.blocks = [int(word) for word in rows[2].split()]
        self.b = -np.array(rows[3].split(), dtype=float)
        self.c = [np.zeros((n, n)) for n in self.blocks]
        self.a = [np.zeros((m, n, n)) for n in self.blocks]
        for row in rows[4:]:
            matrix, block, i, j, value = row.split()
            to = self.c[int(block) - 1] if matrix == "0" else self.a[int(block) - 1][int(matrix) - 1]
            to[int(i) - 1, int(j) - 1] = to[int(j) - 1, int(i) - 1] = -float(value)
        self.size_c = 1.0 + max(np.abs(c).max() for c in self.c)
        self.size_b = 1.0 + np.abs(self.b).max()

    def residual(self, y, x):
        if y is None or not np.all(np.isfinite(y)):
            return np.inf
        slack = min(np.linalg.eigvalsh(c - np.tensordot(y, a, 1)).min() for c, a in zip(self.c, self.a))
        least = min(np.linalg.eigvalsh(part).min() for part in x)
        traces = sum(np.tensordot(a, part, 2) for a, part in zip(self.a, x))
        dual = sum(np.sum(c * part) for c, part in zip(self.c, x))
        gain = self.b @ y
        return max(0.0, -slack / self.size_c, -least / (1.0 + max(np.abs(part).max() for part in x)),
                   np.abs(traces - self.b).max() / self.size_b,
                   abs(dual - gain) / (1.0 + abs(dual) + abs(gain)))


def triangle(n, upper):
    """Places of a triangle, column by column, and what off-diagonals are multiplied by."""
    pairs = [(i, j) for j in range(n) for i in (range(j + 1) if upper else range(j, n))]
    rows, columns = np.array(pairs).T
    return rows, columns, np.where(rows == columns, 1.0, np.sqrt(2.0))


def cone_form(p, upper):
    """A y + s = c with s in triangles."""
    from scipy import sparse
    left, right = [], []
    for n, c, a in zip(p.blocks, p.c, p.a):
        rows, columns, factor = triangle(n, upper)
        left.append((a[:, rows, columns] * factor).T)
        right.append(c[rows, columns] * factor)
    return sparse.csc_matrix(np.vstack(left)), np.concatenate(right)


def unpacked(p, z, upper):
    parts, at = [], 0
    for n in p.blocks:
        rows, columns, factor = triangle(n, upper)
        part = np.zeros((n, n))
        part[rows, columns] = part[columns, rows] = z[at:at + len(rows)] / factor
        parts.append(part)
        at += len(rows)
    return parts


def solver_clarabel():
    import clarabel
    from scipy import sparse
    words = {"Solved": "solved", "PrimalInfeasible": "infeasible", "DualInfeasible": "unbounded"}
    words |= {"Almost" + key: value for key, value in words.items()}  # the numbers are judged here

    def prepare(p):
        a, c = cone_form(p, True)
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads = False, 1
        cones = [clarabel.PSDTriangleConeT(n) for n in p.blocks]
        zero = sparse.csc_matrix((len(p.b), len(p.b)))

        def solve():
            found = clarabel.DefaultSolver(zero, -p.b, a, c, cones, settings).solve()
            return words.get(str(found.status), "none"), np.array(found.x), np.array(found.z)
        return solve, lambda z: unpacked(p, z, True)
    return prepare


def solver_scs():
    import scs
    words = {1: "solved", -2: "infeasible", -1: "unbounded"}

    def prepare(p):
        a, c = cone_form(p, False)

        def solve():
            code = scs.SCS({"A": a, "b": c, "c": -p.b}, {"s": p.blocks}, verbose=False,
                           eps_abs=1e-8, eps_rel=1e-8, max_iters=20000)
            found = code.solve()
            return words.get(found["info"]["status_val"], "none"), found["x"], found["y"]
        return solve, lambda z: unpacked(p, z, False)
    return prepare


def solver_csdp():
    if shutil.which("csdp") is None:
        raise ImportError("csdp")
    folder = tempfile.mkdtemp()

    def prepare(p):
        out = os.path.join(folder, "answer")

        def solve():
            done = subprocess.run(["csdp", str(p.path), out], cwd=folder, capture_output=True,
                                  timeout=120, check=False)
            return {0: "solved", 1: "unbounded", 2: "infeasible"}.get(done.returncode, "none"), out, None

        def read():
            with open(out, encoding="ascii") as file:
                y = np.array(file.readline().split(), dtype=float)
                x = [np.zeros((n, n)) for n in p.blocks]
                for row in file:
                    matrix, block, i, j, value = row.split()
                    if matrix == "2":
                        part = x[int(block) - 1]
                        part[int(i) - 1, int(j) - 1] = part[int(j) - 1, int(i) - 1] = float(value)
            return y, x
        return solve, read
    return prepare


def clock():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def trivial(folder):
    path = pathlib.Path(folder) / "trivial.dat-s"
    path.write_text("1\n1\n1\n1\n0 1 1 1 1\n1 1 1 1 1\n", encoding="ascii")
    return Programme(path)


def call_cost(prepare):
    with tempfile.TemporaryDirectory() as folder:
        solve, _ = prepare(trivial(folder))
        times = []
        for _ in range(10):
            start = clock()
            solve()
            times.append(clock() - start)
        return float(np.median(times))


def measure(name, prepare, problem_set, programmes):
    truth = problem_set.split("_")[0].replace("feasible", "solved") if problem_set.startswith(
        ("feasible", "unbounded")) else ("infeasible" if problem_set.startswith("infeasible") else "solved")
    overhead = call_cost(prepare)
    seconds, solved, claimed, false, worst = 0.0, 0, 0, 0, 0.0
    for p in programmes:
        solve, read = prepare(p)
        start = clock()
        try:
            status, y, z = solve()
        except subprocess.TimeoutExpired:
            status = "none"
        seconds += max(clock() - start - overhead, 0.0)
        claims = status != "none"
        claimed += claims
        if status == "solved" and truth == "solved":
            y, x = read() if z is None else (y, read(z))
            residual = p.residual(y, x)
            solved += residual <= 1e-7
            worst = max(worst, residual)
            false += residual > 1e-5
        else:
            solved += status == truth
            false += claims and status != truth
    count = len(programmes)
    return {"name": f"sdps/{problem_set}/{name}", "time_unit": "ms", "cpu_time": [1e3 * seconds],
            "real_time": [1e3 * seconds], "problems": count, "order": max(programmes[0].blocks),
            "solved": solved / count, "claimed": claimed / count, "false_success": false / count,
            "worst_residual": worst}


def main():
    warnings.filterwarnings("ignore")
    if len(sys.argv) < 2:
        sys.exit(__doc__.splitlines()[3])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 32
    entries = []
    for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        programmes = [Programme(path) for path in sorted(folder.glob("*.dat-s"))[:count]]
        for name, make in (("clarabel", solver_clarabel), ("scs", solver_scs), ("csdp", solver_csdp)):
            try:
                prepare = make()
            except ImportError:
                print(f"{name} is not installed", file=sys.stderr)
                continue
            entries.append(measure(name, prepare, folder.name, programmes))
            print(entries[-1], file=sys.stderr)
    json.dump(entries, sys.stdout)


if __name__ == "__main__":
    main()
