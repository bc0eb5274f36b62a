"""bench/history.py: what counts as slower, and the page of rates over time."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))
import history  # noqa: E402


def measured(**seconds):
    """A file of 1000 problems a benchmark, in these times."""
    return {"context": {}, "benchmarks": [
        {"name": f"lcps/{name}/carom/process_time", "time_unit": "ms", "problems": 1000.0, "cpu_time": [1e3 * t for t in times]}
        for name, times in seconds.items()
    ]}  # fmt: skip


def test_rates_are_problems_per_second():
    assert history.rates(measured(a=(2.0, 4.0, 5.0))) == {"lcps/a": (250.0, 500.0)}


@pytest.mark.parametrize(
    ("times", "worse"),
    [((1.04, 1.04, 1.04), False), ((1.06, 1.07, 1.06), True),
     ((1.0, 1.2, 1.2), False),  # the best repetition is as fast as before
     ((0.5, 0.5, 0.5), False)],
)  # fmt: skip
def test_slower_by_more_than_a_share(tmp_path, times, worse):
    old, new = measured(a=(1.0, 1.0, 1.0), b=(1.0, 1.0, 1.0)), measured(a=times, b=(1.0, 1.0, 1.0))
    assert history.compare(old, new)[1] == (["lcps/a"] if worse else [])
    for name, document in (("old", old), ("new", new)):
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    done = subprocess.run([sys.executable, ROOT / "bench/history.py", "compare", tmp_path / "old.json", tmp_path / "new.json"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == int(worse) and ("lcps/a" in done.stderr) == worse


def test_files_without_a_common_benchmark():
    with pytest.raises(ValueError, match="no benchmark in common"):
        history.compare(measured(a=(1.0,)), measured(b=(1.0,)))


def test_page_has_the_rates_of_the_files(tmp_path):
    pytest.importorskip("matplotlib")
    history.page(tmp_path / "history.md")
    text = (tmp_path / "history.md").read_text()
    for path in history.RESULTS.glob("cpu-*.json"):
        document = json.loads(path.read_text())
        assert f"## {path.stem}\n" in text
        section = text.split(f"## {path.stem}\n")[1].split("\n## ")[0]
        for name, (rate, _) in history.rates(document).items():
            row = next(line for line in section.splitlines() if line.startswith(f"| {name} |"))
            assert history.number(rate) in row
    for line in text.splitlines():
        if line.startswith("!["):
            assert (tmp_path / line.split("(")[1][:-1]).stat().st_size > 1000
