#!/usr/bin/env python3
"""What is worth keeping of Google Benchmark's JSON.

compact.py RAW.json OUT.json
Drops what names the machine or a path (host name, executable) and the aggregates that report.py
computes itself, adds the CPU's model, and rounds to six digits.
"""
import json
import platform
import sys

DROPPED_CONTEXT = ("host_name", "executable", "json_schema_version", "library_build_type")
KEPT = ("name", "run_type", "repetition_index", "iterations", "real_time", "cpu_time", "time_unit",
        "items_per_second", "error_occurred", "error_message")
COUNTERS = ("problems", "order", "threads", "solved", "claimed", "false_success", "fallback",
            "worst_residual", "lcps_per_sample")


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
    if len(sys.argv) != 3:
        sys.exit("compact.py RAW.json OUT.json")
    with open(sys.argv[1], encoding="utf-8") as stream:
        document = json.load(stream)
    context = {key: value for key, value in document["context"].items()
               if key not in DROPPED_CONTEXT}
    context["cpu"] = cpu_model()
    lines = []
    for entry in document["benchmarks"]:
        if entry.get("run_type") != "iteration":
            continue
        kept = {key: rounded(entry[key]) for key in KEPT + COUNTERS if key in entry}
        lines.append(json.dumps(kept))
    with open(sys.argv[2], "w", encoding="utf-8") as stream:
        stream.write('{"context": ' + json.dumps(context, indent=1) + ',\n"benchmarks": [\n')
        stream.write(",\n".join(lines) + "\n]}\n")


if __name__ == "__main__":
    main()
