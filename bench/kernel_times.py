#!/usr/bin/env python3
"""Launches, time and registers of each kernel, from `ncu --csv` on standard input (gpu_check.sh)."""
import csv
import sys


def main():
    lines = [line for line in sys.stdin if line.startswith('"')]
    kernels = {}
    for row in csv.DictReader(lines):
        name = row["Kernel Name"].split("(")[0].replace("<unnamed>::", "").replace("unnamed>::", "")
        launch = kernels.setdefault(name, {}).setdefault(row["ID"], {})
        launch[row["Metric Name"]] = (float(row["Metric Value"].replace(",", "")), row["Metric Unit"])
    rows = []
    for name, launches in kernels.items():
        unit = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3, "nsecond": 1e-6, "usecond": 1e-3,
                "msecond": 1.0, "second": 1e3}
        times = [value * unit[text] for value, text in
                 (launch["gpu__time_duration.sum"] for launch in launches.values())]
        registers = max(launch["launch__registers_per_thread"][0] for launch in launches.values())
        grid = max(launch["launch__grid_size"][0] for launch in launches.values())
        rows.append((sum(times), name, len(times), max(times), registers, grid))
    for total, name, count, longest, registers, grid in sorted(rows, reverse=True):
        print(f"{total:10.3f} ms  {count:4d} launches, longest {longest:9.3f} ms, "
              f"{registers:3.0f} registers, {grid:7.0f} blocks  {name[:90]}")


if __name__ == "__main__":
    main()
