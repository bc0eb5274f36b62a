#!/usr/bin/env python3
"""Tables from carom_bench's JSON: one per family, rates per second and core.

report.py FILE.json [--markdown]
A rate is the median over the repetitions of problems per second of the process's CPU time, which is
what one core delivers. "x 12.3" is how many times carom's rate is the peer's; the share in brackets
is that of problems solved to 1e-9, judged by one residual for everybody, where it is not 100 %.
"""
import argparse
import collections
import json
import statistics
import sys

BASE = "carom"


def load(path):
    """{family: {set: {solver: runs}}} in the order of the file."""
    with open(path, encoding="utf-8") as stream:
        document = json.load(stream)
    families = collections.OrderedDict()
    for entry in document["benchmarks"]:
        if entry.get("run_type") != "iteration" or entry.get("error_occurred"):
            continue
        words = entry["name"].split("/")
        family, problem, solver = words[0], words[1], words[2]
        sets = families.setdefault(family, collections.OrderedDict())
        sets.setdefault(problem, collections.OrderedDict()).setdefault(solver, []).append(entry)
    return document["context"], families


def rate(runs):
    """Problems per second of CPU time."""
    scale = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}
    return statistics.median(
        run["problems"] * scale[run["time_unit"]] / run["cpu_time"] for run in runs)


def wall_rate(runs):
    scale = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}
    return statistics.median(
        run["problems"] * scale[run["time_unit"]] / run["real_time"] for run in runs)


def spread(runs):
    """Largest departure of a repetition from the median, relative."""
    rates = [run["problems"] / run["cpu_time"] for run in runs]
    middle = statistics.median(rates)
    return max(abs(value - middle) for value in rates) / middle


def number(value):
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def share(runs):
    worst = min((run["solved"] for run in runs if "solved" in run), default=1.0)
    return "" if worst == 1.0 else f" ({100.0 * worst:.4g} %)"


def ratio(own, peer):
    value = rate(own) / rate(peer)
    return f"x {value:.3g}" if value < 100 else f"x {value:.0f}"


def family_rows(sets):
    solvers = []
    for by_solver in sets.values():
        solvers += [name for name in by_solver if name not in solvers]
    base = BASE if BASE in solvers else solvers[0]
    others = [name for name in solvers if name != base]
    orders = any("order" in runs[0] for by in sets.values() for runs in by.values())
    head = ["problems"] + (["n"] if orders else []) + [f"{base} /s/core", "solved", "fallback"]
    rows = [head + others]
    for problem, by_solver in sets.items():
        own = by_solver.get(base)
        if own is None:
            continue
        first = own[0]
        row = [problem] + ([f"{first.get('order', 0):.0f}"] if orders else [])
        row += [number(rate(own)), f"{100.0 * first.get('solved', 1.0):.5g} %",
                f"{100.0 * first.get('fallback', 0.0):.2g} %"]
        for name in others:
            peer = by_solver.get(name)
            row.append("-" if peer is None else ratio(own, peer) + share(peer))
        rows.append(row)
    return rows


def thread_rows(sets):
    rows = [["problems", "threads", "/s of wall time", "/s/core", "times one thread (wall)",
             "CPU time a sample, against one thread"]]
    for problem, by_solver in sets.items():
        runs = list(by_solver.values())
        for own in runs:
            rows.append([problem, f"{own[0]['threads']:.0f}", number(wall_rate(own)),
                         number(rate(own)), f"{wall_rate(own) / wall_rate(runs[0]):.2f}",
                         f"{rate(runs[0]) / rate(own):.2f}"])
    return rows


def text(rows, markdown):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for index, row in enumerate(rows):
        cells = [row[0].ljust(widths[0])] + [
            cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("| " + " | ".join(cells) + " |" if markdown else "  " + "  ".join(cells))
        if markdown and index == 0:
            lines.append("|" + "---|" + "---:|" * (len(row) - 1))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    context, families = load(arguments.file)
    if not families:
        sys.exit(f"{arguments.file}: holds no measurements")
    print(f"carom {context.get('carom_version')} ({context.get('carom_commit')}), "
          f"{context.get('compiler')}, {context.get('cpu', 'unknown CPU')}, "
          f"{context.get('instruction_set')}; peers: {context.get('peers')}")
    widest = 0.0
    for family, sets in families.items():
        rows = thread_rows(sets) if family == "threads" else family_rows(sets)
        print(f"\n{family}\n" if not arguments.markdown else f"\n### {family}\n")
        print(text(rows, arguments.markdown))
        widest = max([widest] + [spread(runs) for by in sets.values() for runs in by.values()])
    print(f"\nLargest departure of a repetition from its median: {100.0 * widest:.0f} %")


if __name__ == "__main__":
    main()
