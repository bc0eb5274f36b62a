#!/usr/bin/env python3
"""Tables from carom_bench's JSON (compact.py's): one per family.

report.py FILE.json [--markdown]
A rate is the median over the repetitions of problems per second of the process's CPU time, which is
what one core delivers. "x 12.3" is how many times carom's rate is the peer's; the share in brackets
is that of problems solved to 1e-9, judged by one residual for everybody, where it is not 100 %.
"""
import argparse
import json
import os
import statistics
import sys

BASE = "carom"
TICKS = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}


def load(path):
    """The context, and {family: {set: {solver: entry}}} in the order of the file."""
    with open(path, encoding="utf-8") as stream:
        document = json.load(stream)
    families = {}
    for entry in document["benchmarks"]:
        family, problem, solver = entry["name"].split("/")[:3]
        families.setdefault(family, {}).setdefault(problem, {})[solver] = entry
    return document.get("context", {}), families


def rate(entry):
    """Problems per second of CPU time."""
    return entry["problems"] * TICKS[entry["time_unit"]] / statistics.median(entry["cpu_time"])


def best_wall_rate(entry):
    return entry["problems"] * TICKS[entry["time_unit"]] / min(entry["real_time"])


def spread(entry):
    """Largest departure of a repetition from the median, relative."""
    middle = statistics.median(entry["cpu_time"])
    return max(abs(time - middle) for time in entry["cpu_time"]) / middle


def number(value):
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def ratio(own, peer):
    value = rate(own) / rate(peer)
    solved = peer.get("solved", 1.0)
    share = "" if solved == 1.0 else f" ({100.0 * solved:.4g} %)"
    return ("x " + (f"{value:.3g}" if value < 100 else f"{value:.0f}")) + share


def family_rows(sets):
    others = []
    for by_solver in sets.values():
        others += [name for name in by_solver if name not in others and name != BASE]
    rows = [["problems", "n", f"{BASE} /s/core", "solved", "fallbacks"] + others]
    for problem, by_solver in sets.items():
        own = by_solver.get(BASE)
        if own is None:
            continue
        row = [problem, f"{own['order']:.0f}" if "order" in own else "-", number(rate(own)),
               f"{100.0 * own.get('solved', 1.0):.5g} %",
               f"{100.0 * own.get('fallback', 0.0):.2g} %"]
        rows.append(row + [ratio(own, by_solver[name]) if name in by_solver else "-"
                           for name in others])
    keep = [i for i in range(len(rows[0])) if i != 1 or any(row[1] != "-" for row in rows[1:])]
    return [[row[i] for i in keep] for row in rows]


def thread_rows(sets):
    """Wall time from the best repetition: others on the machine can only lengthen it."""
    rows = [["problems", "threads", "/s of wall time, best", "times one thread", "cores in use",
             "CPU time a sample, against one thread"]]
    for problem, by_solver in sets.items():
        first = next(iter(by_solver.values()))
        for own in by_solver.values():
            cores = max(cpu / real for cpu, real in zip(own["cpu_time"], own["real_time"]))
            rows.append([problem, f"{own['threads']:.0f}", number(best_wall_rate(own)),
                         f"{best_wall_rate(own) / best_wall_rate(first):.2f}", f"{cores:.2f}",
                         f"{rate(first) / rate(own):.2f}"])
    return rows


def part_rows(sets):
    """Rates of <instruction set>_<way>, a row per instruction set."""
    ways = list(dict.fromkeys(name.split("_")[1] for by in sets.values() for name in by))
    rows = [["problems", "instruction set"] + [f"{way} /s/core" for way in ways]]
    for problem, by_solver in sets.items():
        for isa in dict.fromkeys(name.split("_")[0] for name in by_solver):
            rows.append([problem, isa] + [
                number(rate(by_solver[f"{isa}_{way}"])) if f"{isa}_{way}" in by_solver else "-"
                for way in ways])
    return rows


def world_rows(sets):
    """Steps of worlds, a row per solver; what slope() of world_bench.cpp knows where it is known."""
    slope = any("creep" in entry for by in sets.values() for entry in by.values())
    rows = [["problems", "solver", "rows", "steps /s/core", "us a step", f"{BASE} is", "solved",
             "linear solutions a step"] + (["slid, off by", "creep m/s"] if slope else [])]
    for problem, by_solver in sets.items():
        own = by_solver.get(BASE)
        for name, entry in by_solver.items():
            row = [problem, name, f"{entry['rows']:.0f}" if "rows" in entry else "-",
                   number(rate(entry)), f"{1e6 / rate(entry):.3g}",
                   "-" if name == BASE or own is None else ratio(own, entry),
                   f"{100.0 * entry['solved']:.5g} %" if "solved" in entry else "-",
                   f"{entry['iterations']:.2f}" if "iterations" in entry else "-"]
            if slope:
                row += [f"{100.0 * entry['slid_error']:.2g} %" if "slid_error" in entry else "-",
                        f"{entry['creep']:.2g}" if "creep" in entry else "-"]
            rows.append(row)
    return rows


def derivative_rows(sets):
    """Times over that of the forward call of the same set."""
    ways = list(dict.fromkeys(name for by in sets.values() for name in by if name != "forward"))
    statuses = ("smooth", "kink", "set_valued", "undefined", "not_solved")
    rows = [["problems", "forward us"] + [way.replace("_", ", ") for way in ways] + [
        status.replace("_", " ") for status in statuses]]
    for problem, by_solver in sets.items():
        forward = by_solver.get("forward")
        if forward is None:
            continue
        own = by_solver.get("vjp", {})
        rows.append([problem, f"{1e6 / rate(forward):.3g}"] + [
            f"{rate(forward) / rate(by_solver[way]):.2f}" if way in by_solver else "-"
            for way in ways] + [f"{100.0 * own[key]:.4g} %" if key in own else "-"
                                for key in statuses])
    return rows


def device_rows(sets):
    """Whole calls by wall time: a batch and its results in the GPU's memory, or in the host's."""
    known = ("cuda", "cuda_host", "cpu")
    others = list(dict.fromkeys(name for by_solver in sets.values() for name in by_solver
                                if name not in known))
    rows = [["problems", "cuda /s", "solved", "GB/s", "in host memory /s", "this machine's cores /s",
             "times the cores"] + [f"{name} /s (solved)" for name in others]]
    for problem, by_solver in sets.items():
        def wall(name):
            entry = by_solver.get(name)
            return entry and entry["problems"] * TICKS[entry["time_unit"]] / statistics.median(
                entry["real_time"])
        own = by_solver.get("cuda")
        if own is None:
            continue
        cuda, host, cpu = (wall(name) for name in known)
        moved = own.get("bytes", 0.0) * cuda / own["problems"] / 1e9
        rows.append([problem, number(cuda), f"{100.0 * own['solved']:.5g} %",
                     f"{moved:.3g}" if moved else "-", number(host) if host else "-",
                     number(cpu) if cpu else "-", f"{cuda / cpu:.3g}" if cpu else "-"] + [
                         f"{number(wall(name))} ({100.0 * by_solver[name]['solved']:.4g} %)"
                         if name in by_solver else "-" for name in others])
    return rows


def plain_rows(sets):
    """Entries that count no problems: their time and what else they say in numbers."""
    known = {"threads", "cpu_time", "real_time", "time_unit", "name"}
    entries = [entry for by_solver in sets.values() for entry in by_solver.values()]
    more = list(dict.fromkeys(
        name for entry in entries for name, value in entry.items()
        if name not in known and isinstance(value, (int, float))))
    rows = [["problems", "solver", "CPU time"] + [name.replace("_", " ") for name in more]]
    for problem, by_solver in sets.items():
        for name, entry in by_solver.items():
            seconds = statistics.median(entry["cpu_time"]) / TICKS[entry["time_unit"]]
            rows.append([problem, name, f"{1e6 * seconds:.4g} us"] + [
                f"{entry[key]:.9g}" if key in entry else "-" for key in more])
    return rows


def rows_of(family, sets):
    counted = all("problems" in entry for by in sets.values() for entry in by.values())
    return SPECIAL.get(family, family_rows)(sets) if counted else plain_rows(sets)


def text(rows, markdown):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for index, row in enumerate(rows):
        cells = [row[0].ljust(widths[0])] + [
            cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("| " + " | ".join(cells) + " |" if markdown else "  " + "  ".join(cells))
        if markdown and index == 0:
            lines.append("|---" + "|---:" * (len(row) - 1) + "|")
    return "\n".join(lines)


SPECIAL = {"threads": thread_rows, "parts": part_rows, "worlds": world_rows,
           "stiffness": world_rows, "constraints": world_rows, "device": device_rows,
           "derivatives": derivative_rows}

# What a family's table shows; the families are those of the benchmarks' names.
CAPTIONS = {
    "steps": "Single impact steps (75), all contacts at once.",
    "contacts": "The same by the number of contacts.",
    "directions": "The same by the number of friction directions.",
    "trajectories": "Sampled trajectories of Algorithm 1, set-up included.",
    "samples": "Trajectories by the number of samples of a problem.",
    "threads": "Trajectories by the number of threads.",
    "parts": "Trajectories by instruction set and way.",
    "lcps": "Dense linear complementarity problems.",
    "lps": "Linear programmes of support functions, by the general solver.",
    "equilibrium": "Support functions and regions of spatial postures.",
    "qps": "Quadratic programmes and steps of a box on four contacts.",
    "sdps": "Small semidefinite programmes: random ones with planted answers, those of labelled certificates.",
    "stability": "Stances: events of motions (plain: the same motions, written simply; solved: same verdicts), points of charts with judged "
                 "proofs (solved: share decided).",
    "worlds": "Steps of worlds.",
    "stiffness": "Steps of worlds by stiffness.",
    "constraints": "Steps of worlds by the number of constraints.",
    "motions": "Motions in time, compared with others' time steps.",
    "derivatives": "Derivatives, in calls of the forward function on the same problems; vjp in all inputs (kept: with checkpoints).",
    "device": "Whole calls on a GPU, compared with this machine's cores.",
}


def page(path):
    """All tables of a result file as a page, with what was measured where and when."""
    with open(path, encoding="utf-8") as stream:
        if "rows" in json.load(stream):  # of classes.py
            import classes
            return classes.page(path)
    context, families = load(path)
    with open(path, encoding="utf-8") as stream:
        other = {name: value for name, value in json.load(stream).items() if isinstance(value, dict)}
    title = os.path.splitext(os.path.basename(path))[0]
    lines = [f"# Measured: {title}", "",
             "Written from the result file when the site was built; how it is measured: "
             "[Performance](../../explanation/performance.md)."]
    for name, values in other.items():
        lines += ["", f"| {name} | |", "|---|---|"]
        lines += [f"| {key.replace('_', ' ')} | {value} |" for key, value in values.items()]
    for family, sets in families.items():
        lines += ["", f"## {family}", "", CAPTIONS.get(family, ""), ""]
        lines.append(text(rows_of(family, sets), markdown=True))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    context, families = load(arguments.file)
    if not families:
        sys.exit(f"{arguments.file}: holds no measurements")
    print(f"carom {context.get('carom_version')} ({context.get('carom_commit')}), "
          f"{context.get('compiler')}, {context.get('cpu')}, {context.get('instruction_set')}; "
          f"peers: {context.get('peers')}; device: {context.get('device')}")
    spreads = []
    for family, sets in families.items():
        print(f"\n### {family}\n" if arguments.markdown else f"\n{family}\n")
        print(text(rows_of(family, sets), arguments.markdown))
        spreads += [spread(entry) for by in sets.values() for entry in by.values()]
    spreads.sort()
    print(f"\nDeparture of a repetition from its median: at most {100.0 * spreads[-1]:.0f} %, for "
          f"half of the benchmarks at most {100.0 * spreads[len(spreads) // 2]:.1f} %")


if __name__ == "__main__":
    main()
