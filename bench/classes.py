#!/usr/bin/env python3
"""Compares carom with other solvers on classes of problems from the literature: LPs, LCPs, cone programs, QPs.

  python3 bench/classes.py build-bench/bin/carom_classes [--kind lp] [--quick] [--class NAME] [--json FILE]

Each class has its seed in the table; classes and peers of a kind are in lp_classes.py, lcp_classes.py,
cone_classes.py and qp_classes.py. carom reads the same numbers from a file and gives its proofs; peers
are called once a problem, and what the call itself costs, measured on a tiny problem, is subtracted.
One thread, process time, the best of several rounds. An answer counts as solved where its residuals
and its gap, each relative to its largest term, are within the kind's tolerance, judged here by the
same lines for everybody; a claim of no solution where it is the right one. What is right of a problem
is what its class planted, else an answer that was judged good, else what most codes claim. Claims
that are not right are counted as false."""
import argparse
import contextlib
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # before NumPy reads them

import numpy as np

KINDS = ("lp", "lcp", "cone", "qp")
STATUSES = ("solved", "inaccurate", "infeasible", "unbounded", "nonconvex", "ray", "limit", "error", "invalid",
            "cancelled", "no_interior", "contradiction")
CLAIMS = ("solved", "infeasible", "unbounded")


def finite(bound):
    return np.where(np.isfinite(bound), bound, 0.0)


def largest(*arrays):
    return max([1e-300] + [np.abs(a).max() for a in arrays if np.size(a)])


def cone_distance(s, cones):
    """How far (t, v) of each cone is outside of t >= |v|."""
    at, worst = 0, 0.0
    for size in cones:
        worst = max(worst, np.linalg.norm(s[at + 1:at + size]) - s[at])
        at += size
    return worst


def feasible(problem, x, tolerance):
    """l <= A x <= u and b - C x in the cones."""
    _, _, matrix, lower, upper = problem[:5]
    value = matrix @ x
    if len(lower) and max(0.0, (lower - value).max(), (value - upper).max()) > \
            tolerance * largest(value, finite(lower), finite(upper)):
        return False
    if len(problem) == 5 or not problem[5]:
        return True
    slack = problem[7] - problem[6] @ x
    return cone_distance(slack, problem[5]) <= tolerance * largest(slack, problem[7])


def optimal(problem, x, y, z=None, tolerance=1e-7):
    """x of: minimise 1/2 x'P x + q'x, l <= A x <= u, b - C x in cones; P None is zero. P x + q + A'y + C'z = 0,
    y positive at upper bounds; the sign of y may be the other one."""
    hessian, q, matrix, lower, upper = problem[:5]
    cones, cone_matrix, cone_vector = problem[5:8] if len(problem) > 5 else ((), None, None)
    if x is None or y is None or not np.all(np.isfinite(x)) or not np.all(np.isfinite(y)):
        return False
    value = matrix @ x
    curved = hessian @ x if hessian is not None else np.zeros_like(x)
    size = largest(value, finite(lower), finite(upper))
    if not feasible(problem, x, tolerance):
        return False
    pulled, cone_term = np.zeros_like(x), 0.0
    if cones:
        if z is None or cone_distance(z, cones) > tolerance * largest(z):
            return False
        pulled, cone_term = cone_matrix.T @ z, cone_vector @ z
    for sign in (1.0, -1.0):
        pull = matrix.T @ (sign * y)
        unit = largest(curved, q, pull, pulled)
        up, down = np.maximum(sign * y, 0.0), np.maximum(-sign * y, 0.0)
        wrong = largest(np.where(np.isfinite(upper), 0.0, up), np.where(np.isfinite(lower), 0.0, down))
        gap = abs(x @ curved + q @ x + finite(upper) @ up - finite(lower) @ down + cone_term)
        terms = (abs(x @ curved) + abs(q @ x) + np.abs(finite(upper)) @ up + np.abs(finite(lower)) @ down
                 + abs(cone_term))
        if np.abs(curved + q + pull + pulled).max() <= tolerance * unit \
                and wrong <= max(tolerance * largest(y), 1e-290) and gap <= tolerance * max(terms, unit * size):
            return True
    return False


def write(path, kind, problems):
    with open(path, "wb") as file:
        np.array([len(problems), *kind.sizes(problems[0])], np.int32).tofile(file)
        for part in zip(*(kind.arrays(problem) for problem in problems)):
            np.ascontiguousarray(part, float).tofile(file)


def seconds(solve, problems):
    start = time.process_time()
    for problem in problems:
        try:
            solve(problem)
        except Exception:
            pass
    return (time.process_time() - start) / len(problems)


def claim_of(solve, arrays):
    """Status and answer of a peer; one that raises has none."""
    try:
        answer = solve(arrays)
    except Exception:
        return "error", ()
    return (answer[0], answer[1:]) if isinstance(answer[0], str) else ("solved", answer)


def compare(kind, problems, planted, answers):
    """Shares of right answers and false claims: {code: (solved, false)}, and objectives that differ."""
    right = {code: 0 for code in answers}
    false = {code: [] for code in answers}
    apart = 0.0
    for at, problem in enumerate(problems):
        good = {code: of[at][0] == "solved" and kind.good(problem, *of[at][1]) for code, of in answers.items()}
        if hasattr(kind, "feasible") and answers["carom"][at][0] == "solved" and not good["carom"]:
            # Its multipliers may be those of a face (QpResult::certificate): the value decides.
            x = answers["carom"][at][1][0]
            values = [kind.objective(problem, of[at][1][0]) for code, of in answers.items() if good[code]]
            good["carom"] = bool(values) and kind.feasible(problem, x) and \
                kind.objective(problem, x) <= min(values) + kind.TOLERANCE * max(largest(values), kind.unit(problem))
        claims = [of[at][0] for of in answers.values() if of[at][0] in CLAIMS[1:]]
        truth = planted or ("solved" if any(good.values()) else max(claims, key=claims.count, default=None),)
        for code, of in answers.items():
            status = of[at][0]
            true = status in truth and (status != "solved" or good[code])
            right[code] += true
            if status in CLAIMS and not true:
                false[code].append([at, status])
        if good.get("carom"):
            values = [kind.objective(problem, of[at][1][0]) for code, of in answers.items() if good[code]]
            apart = max(apart, (max(values) - min(values)) / max(largest(values), 1e-3 * kind.unit(problem)))
    return {code: right[code] / len(problems) for code in answers}, false, apart


def run_class(kind, name, n, command, solvers, count, rounds, folder):
    make, _, planted = (*kind.CLASSES[name], None)[:3]
    seed = 1000 * list(kind.CLASSES).index(name) + (n if isinstance(n, int) else 0)
    rng = np.random.default_rng(seed)
    problems = [make(rng, n) for _ in range(count)]
    path, written = os.path.join(folder, "problems.bin"), os.path.join(folder, "answers.bin")
    write(path, kind, problems)
    unknowns, rows = kind.shape(problems[0])
    row = {"kind": kind.KIND, "class": name, "size": n, "n": unknowns, "rows": rows, "seed": seed, "count": count,
           "rate": {}}
    prepared, answers, first = {}, {}, {}
    for peer, (prepare, solve) in solvers.items():
        try:
            prepared[peer] = [prepare(problem) for problem in problems]
        except NotImplementedError:  # not a problem for this peer
            continue
        start = time.process_time()
        answers[peer] = [claim_of(solve, arrays) for arrays in prepared[peer]]
        first[peer] = (time.process_time() - start) / count
    best = {peer: (of, np.inf) for peer, of in first.items()}
    carom = np.inf
    for turn in range(rounds):
        out = subprocess.run([command, kind.PROGRAM, path, written], check=True, capture_output=True, text=True)
        carom = min(carom, json.loads(out.stdout)["seconds"])
        for peer in prepared:
            if turn and first[peer] * count > 1.0:  # slow enough that a second round tells nothing
                continue
            prepare, solve = solvers[peer]
            call = seconds(solve, [prepare(kind.TRIVIAL)] * min(count, 100))
            best[peer] = (min(best[peer][0], seconds(solve, prepared[peer])), min(best[peer][1], call))
    for peer in prepared:  # what is lost in the time of the call is not known
        work = best[peer][0] - best[peer][1]
        row["rate"][peer] = float(f"{1.0 / work:.3g}") if work > 0.1 * best[peer][1] else None
    numbers = np.fromfile(written).reshape(count, -1)
    answers["carom"] = [(STATUSES[int(line[0])], kind.split(problem, line[1:]))
                        for problem, line in zip(problems, numbers)]
    row["rate"]["carom"] = float(f"{1.0 / carom:.3g}")
    row["solved"], false, row["objectives_apart"] = compare(kind, problems, planted, answers)
    row["false"] = {code: claims for code, claims in false.items() if claims}
    statuses = [status for status, _ in answers["carom"]]
    row["statuses"] = {status: statuses.count(status) for status in sorted(set(statuses))}
    return row, problems


def best_peer(row):
    """The fastest that solves nearly all of what carom solves; none where the slow one is all that is left."""
    right = [peer for peer, share in row["solved"].items()
             if peer != "carom" and share > 0 and share >= min(0.95, row["solved"]["carom"])]
    peers = [(row["rate"][peer], peer) for peer in right if row["rate"][peer]]
    if len(peers) < len(right):
        peers = [(rate, peer) for rate, peer in peers if peer != "lemkelcp"]
    return max(peers, default=(None, None))


def ratio(row):
    rate, _ = best_peer(row)
    return row["rate"]["carom"] / rate if rate else np.inf


def rank(row):
    """What is not solved comes first."""
    return ratio(row) if row["solved"]["carom"] >= 0.5 else 0.0


def percent(share):
    return f"{100 * share:.0f}"


def show(rows):
    """A line a class and size, losses first."""
    print(f"{'class':>30} {'n':>4} {'rows':>4} {'seed':>6} {'ratio':>6}  problems a second (% solved)")
    for row in sorted(rows, key=rank):
        cells = [f"{name} {row['rate'][name] or np.nan:.3g} ({percent(row['solved'][name])})"
                 for name in ["carom"] + [peer for peer in row["rate"] if peer != "carom"]]
        if set(row["statuses"]) != {"solved"}:
            cells.append(str(row["statuses"]))
        if row["false"]:
            cells.append("FALSE " + ", ".join(f"{code} {len(claims)}" for code, claims in row["false"].items()))
        if row["objectives_apart"] > 1e-6:
            cells.append(f"objectives apart {row['objectives_apart']:.1g}")
        name = row["class"] + (f" {row['size']}" if isinstance(row["size"], str) else "")
        print(f"{name:>30} {row['n']:>4} {row['rows']:>4} {row['seed']:>6} {ratio(row):>6.2f}  "
              + "  ".join(cells))


def table(rows):
    """A line a class for the page, losses first; the peer is named where carom loses."""
    lines = ["| class | n, rows | right, carom | right, best peer | rate, times the best peer |", "|---|---|---|---|---|"]
    classes = {}
    for row in rows:
        classes.setdefault(row["class"], []).append(row)
    for name, of in sorted(classes.items(), key=lambda item: min(map(rank, item[1]))):
        peers = {peer for row in of for peer in row["solved"]} - {"carom"}
        best = max(np.mean([row["solved"].get(peer, 0.0) for row in of]) for peer in peers)
        first, last = of[0], of[-1]
        sizes = f"{first['n']}, {first['rows']}" + (f" to {last['n']}, {last['rows']}" if len(of) > 1 else "")
        cells, wins, alone = [], [], 0
        for row in of:
            named, (rate, peer) = isinstance(row["size"], str), best_peer(row)
            if row["solved"]["carom"] < 0.5:
                cells.append(f"{row['size']}: not solved")
            elif rate and ratio(row) < 1.0:
                cells.append(f"{row['size']}: **{ratio(row):.2f}** {peer}")
            elif named:
                wins += [ratio(row)] if rate else []
                alone += not rate
            else:
                cells.append(f"{row['size']}: " + (f"{ratio(row):.2f}" if rate else "alone"))
        if wins:
            cells.append(f"{len(wins)} others: {min(wins):.2f} to {max(wins):.2f}")
        if alone:
            cells.append(f"{alone} too short to tell, or alone")
        lines.append(f"| {name.replace('_', ' ')} | {sizes} | {percent(np.mean([row['solved']['carom'] for row in of]))} % | "
                     f"{percent(best)} % | {', '.join(cells)} |")
    return "\n".join(lines)


def page(path):
    """All tables of a result file."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    lines = [f"# Measured: {os.path.splitext(os.path.basename(path))[0]}", "",
             f"{data['processor']}, commit {data['commit']}; [Performance](../../explanation/performance.md#problems-of-other-people) says how."]
    for kind in KINDS:
        if kind in data["peers"]:
            lines += ["", f"## {kind}", "", f"Peers: {', '.join(data['peers'][kind])}.", "",
                      table([row for row in data["rows"] if row["kind"] == kind])]
    return "\n".join(lines) + "\n"


def commit():
    here = os.path.dirname(os.path.abspath(__file__))
    out = subprocess.run(["git", "-C", here, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return out.stdout.strip()


def processor():
    with open("/proc/cpuinfo") as file:
        info = [line.split(":", 1)[1].strip() for line in file if line.startswith(("model name", "cpu family"))]
    return f"{info[1]}, family {info[0]}" if len(info) > 1 else platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("command", help="carom_classes of the build")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this kind; repeatable")
    parser.add_argument("--quick", action="store_true", help="fewer problems and rounds")
    parser.add_argument("--class", dest="only", action="append", help="only this class; repeatable")
    parser.add_argument("--n", action="append", help="only this size; repeatable")
    parser.add_argument("--peers", help="comma-separated; all of the kind where left out, '' for none")
    parser.add_argument("--json", help="writes the rows there")
    parser.add_argument("--table", help="reads such a file instead and prints the page's tables",
                        action="store_true")
    parser.add_argument("--keep", help="writes problems with false claims of carom into this folder")
    options = parser.parse_args()
    if options.table:
        print(page(options.command))
        return
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what peers print
    rows, peers = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in [importlib.import_module(f"{name}_classes") for name in options.kind or KINDS]:
            solvers = {}
            for name, load in kind.PEERS.items():
                if options.peers is not None and name not in options.peers.split(","):
                    continue
                try:
                    solvers[name] = load()
                except (ImportError, OSError):
                    print(f"{name}: not installed", file=sys.stderr)
            peers[kind.KIND] = list(solvers)
            here = []
            for name, entry in kind.CLASSES.items():
                for n in entry[1]:
                    if (options.only and name not in options.only) or (options.n and str(n) not in options.n):
                        continue
                    count = kind.count(n, options.quick)
                    row, problems = run_class(kind, name, n, options.command, solvers, count,
                                              1 if options.quick else 3, folder)
                    here.append(row)
                    print(".", end="", file=sys.stderr, flush=True)
                    for at, status in row["false"].get("carom", []):
                        if options.keep:
                            np.savez(os.path.join(options.keep, f"{name}_{n}_{at}_{status}.npz"),
                                     *[np.array(part, object) if part is None else part for part in problems[at]])
            print(file=sys.stderr)
            with contextlib.redirect_stdout(out):
                show(here)
            rows += here
    if options.json:
        with open(options.json, "w") as file:
            head = json.dumps({"processor": processor(), "commit": commit(), "quick": options.quick, "peers": peers})
            file.write(head[:-1] + ', "rows": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]}\n")


if __name__ == "__main__":
    sys.modules["classes"] = sys.modules["__main__"]  # what the kinds import
    main()
