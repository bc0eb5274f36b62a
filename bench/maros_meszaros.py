"""Convex QPs of Maros and Meszaros (1999), as .mat files with P, q, A, l, u, compared with Clarabel.

    python bench/maros_meszaros.py FOLDER [--most 600] [--seconds 30] [--json FILE]

Files of this kind are in test/data/maros_meszaros_data of github.com/Simple-Robotics/proxsuite. Of every problem of at
most `most` unknowns and 2.5 times as many rows: carom's status, residual and method, the objectives' difference
relative to Clarabel's, and time of the processor. Each problem has a process of its own and so many seconds.
"""
import argparse
import collections
import json
import multiprocessing
import pathlib
import queue
import time

import numpy as np
import scipy.io
import scipy.sparse


def problem_of(file):
    data = scipy.io.loadmat(file)
    P, A = (scipy.sparse.csc_matrix(data[name]).toarray().astype(float) for name in "PA")
    q, low, high = (np.asarray(data[name], dtype=float).ravel() for name in ("q", "l", "u"))
    return 0.5 * (P + P.T), q, A, np.where(low < -1e19, -np.inf, low), np.where(high > 1e19, np.inf, high)


def by_clarabel(P, q, A, low, high):
    import clarabel

    equal, above, below = low == high, (low != high) & np.isfinite(high), (low != high) & np.isfinite(low)
    rows = scipy.sparse.csc_matrix(np.vstack([A[equal], A[above], -A[below]]))
    bounds = np.concatenate([high[equal], high[above], -low[below]])
    cones = [clarabel.ZeroConeT(int(equal.sum())), clarabel.NonnegativeConeT(int(above.sum() + below.sum()))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-9
    found = clarabel.DefaultSolver(scipy.sparse.csc_matrix(np.triu(P)), q, rows, bounds, cones, settings).solve()
    return {"status": str(found.status), "objective": float(found.obj_val)}


def by_carom(P, q, A, low, high):
    import carom

    start = time.process_time()
    answer = carom.solve_qp(P, q, A, low, high, threads=1)
    x = answer.solution[0]
    return {"status": carom.Status(int(answer.status[0])).name, "residual": float(answer.residual[0]),
            "objective": float(0.5 * x @ P @ x + q @ x), "seconds": time.process_time() - start}


def run(solver, problem, answers):
    answers.put(solver(*problem))


def within(seconds, solver, problem):
    """What the solver says, in a process that ends after so many seconds."""
    answers = multiprocessing.Queue()
    process = multiprocessing.Process(target=run, args=(solver, problem, answers))
    process.start()
    try:
        return answers.get(timeout=seconds)
    except queue.Empty:
        return {"status": "time"}
    finally:
        process.kill()
        process.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--most", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    results, counts = [], collections.Counter()
    for file in sorted(options.folder.glob("*.mat"), key=lambda file: file.stat().st_size):
        rows, unknowns = next(shape for name, shape, _ in scipy.io.whosmat(file) if name == "A")
        if unknowns > options.most or rows > 2.5 * options.most:  # before a matrix of gigabytes is made dense
            continue
        ours, peer = (within(options.seconds, solver, problem_of(file)) for solver in (by_carom, by_clarabel))
        entry = {"name": file.stem, "unknowns": unknowns, "rows": rows, "carom": ours, "clarabel": peer}
        if ours["status"] == "solved" and peer["status"] == "Solved":
            entry["difference"] = abs(ours["objective"] - peer["objective"]) / max(1.0, abs(peer["objective"]))
        results.append(entry)
        counts[ours["status"]] += 1
        print(f"{file.stem:10s} {unknowns:4d} x {rows:4d}  {ours['status']:16s} {ours.get('residual', np.nan):8.1e}  "
              f"difference {entry.get('difference', np.nan):8.1e}  {ours.get('seconds', np.nan):8.3f} s  "
              f"Clarabel {peer['status']}", flush=True)
    print(dict(counts))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
