#!/usr/bin/env python3
"""Writes docs/reference/published.md: the numbers of the five papers, compared with those that the gallery computes.

    scripts/published.py            PYTHONPATH has the package carom

Runs every script of docs/gallery; each compare() and clock() in them is a row. The tests of the gallery ask for the
rows of every script on the page, times apart.
"""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GALLERY = ROOT / "docs" / "gallery"
PAGE = ROOT / "docs" / "reference" / "published.md"
HEADER = """# Published numbers

<!-- Written by scripts/published.py -->

All numbers and statements of the five papers that carom can compute, compared with carom's results. A row is reproduced if the difference is at most "allowed". The gallery's scripts assert this, and for a row that
is **not reproduced** that the difference is larger. Times are from different machines and are not compared. Errors of the papers are explained in the [errata](../errata.md).

Not computed: drawings without numbers (Halm and Posa's Figures 4 and 5, whose outcomes are those of 10 and 11; Or and Rimon's positions of contacts, which are not printed), measured points (Or and Rimon's Figure 7), and
the number of curves in section 4.2 of the spatial paper. The white region of Varkonyi's Figure 3 is bounded from both sides, but not drawn.
"""
PAPERS = {
    "halm_posa": "Halm and Posa, set-valued impacts",
    "drumwright": "Drumwright, compliant steps",
    "or_rimon_2d": "Or and Rimon, planar postures",
    "or_rimon_3d": "Or and Rimon, spatial postures",
    "varkonyi": "Varkonyi, stability",
}


def shown(value, theirs=None, within=0.0):
    """A cell: with as many digits as the paper has, at least four."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "holds" if value else "does not hold"
    if isinstance(value, str):
        return value
    if theirs == 0.0 and abs(value) <= within:
        return f"0 (to {within:.0e})"
    if value == round(value) and abs(value) < 1e9:
        return f"{value:.0f}"
    mantissa = repr(value if theirs is None else theirs).split("e")[0]
    return f"{value:.{max(4, len(mantissa.strip('-0.').replace('.', '')))}g}"


def line(row):
    """A row of the page."""
    theirs, ours, note = shown(row["theirs"]), row["ours"], row["note"]
    if row["clock"]:
        ours = "-" if ours is None else f"{ours:.1e}"
        return f"| {row['where']} | {row['what']} | {theirs} | {ours} | | a time{'; ' if note else ''}{note} |"
    allowed = [f"{row['within']:.2g}"] if row["within"] else []
    allowed += [f"{100 * row['relative']:.2g} %"] if row["relative"] else []
    number = not isinstance(row["theirs"], (bool, str))
    verdict = "reproduced" if row["reproduced"] else "**not reproduced**"
    cells = [row["where"], row["what"], theirs, shown(ours, row["theirs"] if number else None, row["within"]),
             " + ".join(allowed), verdict + ("; " if note else "") + note]  # fmt: skip
    return "| " + " | ".join(cells).replace("|  |", "| |") + " |"


def in_order(script):
    """Figures before tables, figure 2 before figure 10."""
    head, number = script.stem.rsplit("_", 1)
    return head, int(number)


def rows_of(script):
    """What a script compares."""
    import matplotlib.pyplot as plt

    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        runpy.run_path(str(script), run_name="__main__")
    plt.close("all")
    return sys.modules.pop("papers").ROWS


def main():
    import matplotlib

    matplotlib.use("agg")
    sys.path.insert(0, str(GALLERY))
    sys.dont_write_bytecode = True
    found = {paper: [] for paper in PAPERS}
    for script in sorted(GALLERY.glob("plot_*.py"), key=in_order):
        paper = next(name for name in PAPERS if script.stem.startswith(f"plot_{name}_"))
        found[paper] += rows_of(script)
    compared = [row for rows in found.values() for row in rows if not row["clock"]]
    text = [HEADER, f"{len(compared)} rows are compared; {sum(row['reproduced'] for row in compared)} are reproduced, "
            f"{sum(not row['reproduced'] for row in compared)} are not.\n"]  # fmt: skip
    for paper, title in PAPERS.items():
        text.append(f"\n## {title}\n\n| where | what | paper | carom | allowed | |\n|---|---|---|---|---|---|\n")
        text += [line(row) + "\n" for row in found[paper]]
    PAGE.write_text("\n".join(text[:2]) + "".join(text[2:]))


if __name__ == "__main__":
    main()
