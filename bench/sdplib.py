"""Semidefinite programs of SDPLIB (Borchers 1999), in SDPA's sparse format, compared with Clarabel.

    python bench/sdplib.py FOLDER [--seconds 60] [--json FILE]

Files of this kind are in data of github.com/vsdp/SDPLIB; those with a block of more than 32 rows are left out. For
either solver: its status, the residual that carom's certificate recomputes (least eigenvalues, equations and gap, each
relative to the size of what it belongs to), the objective in SDPA's sense, and time of the processor. Each programme
has a process of its own and so many seconds.
"""
import argparse
import collections
import json
import pathlib
import re
import time

import numpy as np
from maros_meszaros import within

LARGEST_BLOCK = 32


def programme_of(file):
    """blocks, C [s], A [v, s], b [v] of max b'y over C - sum y A positive semidefinite; None if a block is too large."""
    rows = [row for row in file.read_text().splitlines() if row.strip() and row[0] not in '"*']
    count = int(re.split(r"[ ,=]+", rows[0].strip())[0])
    given = [int(word) for word in re.findall(r"-?\d+", rows[2])]
    if max(given) > LARGEST_BLOCK:
        return None
    b = -np.array(re.findall(r"[-+0-9.eE]+", rows[3]), dtype=float)
    blocks, first = [], []
    for n in given:
        first.append(sum(k * k for k in blocks))
        blocks += [n] if n > 0 else [1] * -n
    size = sum(k * k for k in blocks)
    C, A = np.zeros(size), np.zeros((count, size))
    for row in rows[4:]:
        words = re.split(r"[\s,{}()]+", row.strip())
        variable, block, i, j = (int(word) for word in words[:4])
        n, at, to = given[block - 1], first[block - 1], C if variable == 0 else A[variable - 1]
        places = [at + i - 1] if n < 0 else [at + (i - 1) * n + j - 1, at + (j - 1) * n + i - 1]
        to[places] = -float(words[4])
    return blocks, C, A, b


def residual_of(blocks, C, A, b, y, x):
    """carom's measure: docs/explanation/sdp.md."""
    slack, least_s, least_x, at = C - y @ A, 0.0, 0.0, 0
    for n in blocks:
        for matrix, which in ((slack, "s"), (x, "x")):
            least = np.linalg.eigvalsh(matrix[at : at + n * n].reshape(n, n))[0]
            least_s, least_x = (min(least_s, least), least_x) if which == "s" else (least_s, min(least_x, least))
        at += n * n
    objective, dual = b @ y, C @ x
    return float(max(-least_s / (1 + abs(C).max()), -least_x / (1 + abs(x).max()), abs(A @ x - b).max() / (1 + abs(b).max()),
                     abs(dual - objective) / (1 + abs(objective) + abs(dual))))


def by_carom(blocks, C, A, b):
    import carom

    start = time.process_time()
    found = carom.solve_sdp(C[None], A[None], b[None], blocks=blocks, threads=1)
    seconds = time.process_time() - start
    return {"status": carom.Status(int(found.status[0])).name, "residual": float(found.residual[0]),
            "objective": -float(found.objective[0]), "seconds": seconds}


def by_clarabel(blocks, C, A, b):
    import clarabel
    import scipy.sparse

    places, weights, at = [], [], 0
    for n in blocks:  # the upper triangle, column by column
        for j in range(n):
            for i in range(j + 1):
                places.append(at + i * n + j)
                weights.append(1.0 if i == j else np.sqrt(2.0))
        at += n * n
    weights = np.array(weights)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-9
    cones = [clarabel.PSDTriangleConeT(n) for n in blocks]
    rows = scipy.sparse.csc_matrix((A[:, places] * weights).T)
    start = time.process_time()
    found = clarabel.DefaultSolver(scipy.sparse.csc_matrix((len(b), len(b))), -b, rows, C[places] * weights, cones, settings).solve()
    seconds = time.process_time() - start
    x, at, values = np.zeros(len(C)), 0, np.array(found.z) / weights
    k = 0
    for n in blocks:
        block = np.zeros((n, n))
        for j in range(n):
            for i in range(j + 1):
                block[i, j] = block[j, i] = values[k]
                k += 1
        x[at : at + n * n] = block.ravel()
        at += n * n
    return {"status": str(found.status), "residual": residual_of(blocks, C, A, b, np.array(found.x), x),
            "objective": -float(b @ np.array(found.x)), "seconds": seconds}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    results, counts = [], collections.Counter()
    for file in sorted(options.folder.glob("*.dat-s"), key=lambda file: file.stat().st_size):
        programme = programme_of(file)
        if programme is None:
            continue
        ours, peer = (within(options.seconds, solver, programme) for solver in (by_carom, by_clarabel))
        results.append({"name": file.stem, "variables": len(programme[3]), "carom": ours, "clarabel": peer})
        counts[ours["status"]] += 1
        shown = "  ".join(f"{one['status']:16s} {one.get('residual', np.nan):8.1e} {one.get('objective', np.nan):14.8g} {one.get('seconds', np.nan):7.3f} s"
                          for one in (ours, peer))  # fmt: skip
        print(f"{file.stem:10s} {len(programme[3]):4d}  {shown}", flush=True)
    print(dict(counts))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
