#!/usr/bin/env python3
"""Keeps the useful part of Google Benchmark's JSON.

compact.py RAW.json OUT.json [PEERS.json ...]
PEERS.json is qp_peers.py's, sdp_peers.py's or mujoco_peer.py's, whose entries are of the same form and follow. One
entry per benchmark with the times of its repetitions. Drops what names the machine or a path (host
name, executable) and the aggregates, adds the CPU's model, and rounds to six digits.
"""
import json
import platform
import sys

KEPT_CONTEXT = ("date", "num_cpus", "carom_version", "carom_commit", "compiler", "build_type",
                "instruction_set", "peers", "device")
TIMES = ("cpu_time", "real_time")
COUNTERS = ("problems", "order", "threads", "solved", "claimed", "false_success", "fallback",
            "worst_residual", "lcps_per_sample", "rows", "iterations", "slid_error", "creep", "bytes", "smooth", "kink",
            "set_valued", "undefined", "not_solved")


def cpu_model():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as stream:
            fields = {}
            for line in stream:
                key, _, value = line.partition(":")
                fields.setdefault(key.strip(), value.strip())
        return (f"{fields.get('model name', platform.machine())}, family "
                f"{fields.get('cpu family', '?')}, model {fields.get('model', '?')}")
    except OSError:
        return platform.machine()


def rounded(value):
    return float(f"{value:.6g}") if isinstance(value, float) else value


def main():
    if len(sys.argv) < 3:
        sys.exit("compact.py RAW.json OUT.json [PEERS.json ...]")
    with open(sys.argv[1], encoding="utf-8") as stream:
        document = json.load(stream)
    context = {key: value for key, value in document["context"].items() if key in KEPT_CONTEXT}
    context["cpu"] = cpu_model()
    by_name = {}
    # random interleaving shuffles the file; family_index is the order of registration
    for entry in sorted(document["benchmarks"], key=lambda e: e["family_index"]):
        if entry.get("run_type") != "iteration" or entry.get("error_occurred"):
            continue
        kept = by_name.setdefault(entry["name"], {
            "name": entry["name"], "time_unit": entry["time_unit"], **{time: [] for time in TIMES}})
        for time in TIMES:
            kept[time].append(rounded(entry[time]))
        kept.update({key: rounded(entry[key]) for key in COUNTERS if key in entry})
    for path in sys.argv[3:]:
        with open(path, encoding="utf-8") as stream:
            peers = json.load(stream)
        for entry in peers:
            by_name[entry["name"]] = {key: [rounded(time) for time in value]
                                      if key in TIMES else rounded(value)
                                      for key, value in entry.items()}
            peer = entry["name"].split("/")[2]
            if peer not in context["peers"].split():
                context["peers"] = f"{context['peers']} {peer}".strip()
    with open(sys.argv[2], "w", encoding="utf-8") as stream:
        stream.write('{"context": ' + json.dumps(context, indent=1) + ',\n"benchmarks": [\n')
        stream.write(",\n".join(json.dumps(entry) for entry in by_name.values()) + "\n]}\n")


if __name__ == "__main__":
    main()
