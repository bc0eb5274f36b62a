"""The gallery: a script for every figure and table of the papers, whose numbers it asserts."""

from __future__ import annotations

import importlib.util
import runpy
import subprocess
import sys
import warnings

import pytest
from conftest import ROOT

GALLERY = ROOT / "docs" / "gallery"
SCRIPTS = sorted(GALLERY.glob("plot_*.py"))
loaded = importlib.util.spec_from_file_location("published", ROOT / "scripts" / "published.py")
published = importlib.util.module_from_spec(loaded)
loaded.loader.exec_module(published)
matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def in_gallery(monkeypatch):
    import matplotlib.pyplot as plt

    matplotlib.use("agg")
    monkeypatch.syspath_prepend(str(GALLERY))
    yield
    plt.close("all")
    sys.modules.pop("papers", None)


def test_every_figure_has_its_script():
    loaded = importlib.util.spec_from_file_location("papers", GALLERY / "papers.py")
    papers = importlib.util.module_from_spec(loaded)
    loaded.loader.exec_module(papers)
    wanted = {f"plot_{paper}_{item.replace(' ', '_')}" for paper, items in papers.FIGURES.items() for item in items}
    assert len(wanted) == 46
    assert wanted == {script.stem for script in SCRIPTS}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem[5:])
def test_figure(script, capsys):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
        runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip(), "it asserts something"
    page = published.PAGE.read_text()
    for row in sys.modules["papers"].ROWS:
        if not row["clock"]:  # scripts/published.py writes the page
            assert published.line(row) + "\n" in page


def test_a_number_that_is_off_is_seen():
    import papers

    with pytest.raises(AssertionError, match="speed: off by 0.1"):
        papers.agree("speed", 1.1, 1.0, relative=0.05)
    with pytest.raises(AssertionError, match="a thing"):
        papers.holds("a thing", False)
    # Compared with the paper both ways: what differs fails, and so does what agrees and is called not reproduced.
    for ours, within, reproduced in ((1.0, 0.05, True), (1.1, 0.2, False), (1.1, 0.0, False), (1.0, 0.2, True)):
        if (abs(ours - 1.1) <= within) == reproduced:
            papers.compare("Table 1", "speed", 1.1, ours, within=within, reproduced=reproduced)
        else:
            with pytest.raises(AssertionError, match="Table 1, speed"):
                papers.compare("Table 1", "speed", 1.1, ours, within=within, reproduced=reproduced)
    with pytest.raises(AssertionError, match="it stands"):
        papers.compare("Figure 2", "it stands", True, False)


def test_a_script_that_no_mutant_breaks_is_seen(tmp_path):
    blind = tmp_path / "plot_blind.py"
    blind.write_text(
        "import carom\n"
        "outcomes = carom.impact.simultaneous(carom.model('compass_gait'))\n"
        "assert len(outcomes) == 3 and max(abs(outcomes[2].velocity)) > 0\n"
    )
    command = [sys.executable, str(ROOT / "scripts" / "mutants.py"), str(blind), str(GALLERY / "plot_or_rimon_2d_figure_6.py")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stderr
    passing = [line.split()[-1] for line in ran.stdout.splitlines() if "PASSES" in line]
    assert passing == ["sign", "twice"]  # zeros it notices, and the other script notices all
    assert ran.stdout.endswith("2 scripts, 6 mutants, 1 scripts to mend\n")
