#!/usr/bin/env python3
"""Rates of carom over time, and comparison of two measurements.

history.py compare OLD.json NEW.json [--limit 0.05]     exit status 1 where carom became slower by more
history.py page OUT.md                                  of bench/results and its commits

A rate is problems per second of CPU time (report.py). A benchmark is slower where both the median and the best
of its repetitions are: one of them alone is noise.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

from report import BASE, TICKS, number

RESULTS = pathlib.Path(__file__).parent / "results"


def rates(document):
    """{benchmark: (median, best)} of carom's own entries that solve whole sets."""
    found = {}
    for entry in document["benchmarks"]:
        names = entry["name"].split("/")
        if len(names) > 2 and names[2] == BASE and "problems" in entry:
            size = entry["problems"] * TICKS[entry["time_unit"]]
            found["/".join(names[:2])] = (size / statistics.median(entry["cpu_time"]), size / min(entry["cpu_time"]))
    return found


def compare(old, new, limit=0.05):
    """Lines of a table, and the names of what became slower by more than limit."""
    before, after = rates(old), rates(new)
    common = [name for name in before if name in after]
    if not common:
        raise ValueError("the two files have no benchmark in common")
    lines, slower = [f"{'benchmark':<44} {'old /s/core':>12} {'new /s/core':>12} {'median':>8} {'best':>8}"], []
    for name in common:
        median, best = (after[name][i] / before[name][i] for i in (0, 1))
        worse = max(median, best) < 1.0 - limit
        slower += [name] if worse else []
        lines.append(f"{name:<44} {number(before[name][0]):>12} {number(after[name][0]):>12} {median:>8.3f} {best:>8.3f}"
                     + ("  slower" if worse else ""))
    lines += [f"only in one of them: {name}" for name in [*before, *after] if (name in before) != (name in after)]
    return lines, slower


def versions(path):
    """(commit, date, document) of every version of a results file, the oldest first; that on disk where git knows none."""
    def git(*words):
        return subprocess.run(["git", "-C", str(path.parent), *words], capture_output=True, text=True, check=False)

    found = []
    for line in reversed(git("log", "--format=%h %cs", "--", path.name).stdout.splitlines()):
        commit, date = line.split()
        shown = git("show", f"{commit}:./{path.name}")
        if shown.returncode == 0:
            found.append((commit, date, json.loads(shown.stdout)))
    return found or [("now", "", json.loads(path.read_text(encoding="utf-8")))]


def table(history):
    """Markdown: a row a benchmark, its rate in every version; the last column is the last over the first."""
    every = [rates(document) for _, _, document in history]
    names = list(dict.fromkeys(name for each in every for name in each))
    head = [f"{commit}, {date}" for commit, date, _ in history]
    lines = ["| benchmark | " + " | ".join(head) + " | last / first |", "|---" * (len(head) + 2) + "|"]
    for name in names:
        known = [each[name][0] for each in every if name in each]
        change = f"{known[-1] / known[0]:.2f}" if len(known) > 1 else ""
        cells = [number(each[name][0]) if name in each else "" for each in every]
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {change} |")
    return lines


def picture(history, path):
    """A line a family: the geometric mean of its benchmarks' rates over those of the first version that has them."""
    import matplotlib
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    every = [rates(document) for _, _, document in history]
    first = {}
    for each in every:
        for name, (median, _) in each.items():
            first.setdefault(name, median)
    figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
    for family in dict.fromkeys(name.split("/")[0] for name in first):
        points = []
        for i, each in enumerate(every):
            own = [median / first[name] for name, (median, _) in each.items() if name.split("/")[0] == family]
            if own:
                points.append((i, statistics.geometric_mean(own)))
        if len(points) > 1:
            axes.plot(*zip(*points), marker="o", label=family)
    axes.set(xticks=range(len(history)), xticklabels=[commit for commit, _, _ in history],
             ylabel="rate / rate at first")
    axes.legend(fontsize="x-small", ncols=2)
    figure.savefig(path)
    plt.close(figure)


def page(out):
    lines = ["# Performance over time", "",
             "Rates of carom alone, problems per second and core, in every version of `bench/results`. Versions of one file were measured on one machine, but not in one "
             "run: differences of a few percent are noise. `scripts/compare_commits.sh OLD NEW` measures two commits in turn.", ""]
    for path in sorted(RESULTS.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if "context" not in document or not rates(document):
            continue
        history = [each for each in versions(path) if rates(each[2])]
        lines += [f"## {path.stem}", "", f"{document['context'].get('cpu', '')}.", ""]
        if len(history) > 1:
            drawn = pathlib.Path(out).parent / f"history-{path.stem}.svg"
            picture(history, drawn)
            lines += [f"![Rates over commits]({drawn.name})", ""]
        lines += [*table(history), ""]
    pathlib.Path(out).write_text("\n".join(lines), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    ways = parser.add_subparsers(dest="way", required=True)
    two = ways.add_parser("compare")
    two.add_argument("old", type=pathlib.Path)
    two.add_argument("new", type=pathlib.Path)
    two.add_argument("--limit", type=float, default=0.05)
    ways.add_parser("page").add_argument("out", type=pathlib.Path)
    chosen = parser.parse_args()
    if chosen.way == "page":
        page(chosen.out)
        return 0
    lines, slower = compare(*(json.loads(path.read_text(encoding="utf-8")) for path in (chosen.old, chosen.new)), chosen.limit)
    print("\n".join(lines))
    if slower:
        print(f"slower by more than {100 * chosen.limit:g} %: {', '.join(slower)}", file=sys.stderr)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
