"""Messages go to logging or, by CAROM_LOG, to standard error; otherwise nothing is written."""

from __future__ import annotations

import logging
import os
import subprocess
import sys

import numpy as np
import pytest

import carom

CALL = "import carom, numpy as np; carom.solve_lcp(np.eye(2), -np.ones(2), backend='cpu')"


def written(**environment):
    kept = {name: value for name, value in os.environ.items() if name != "CAROM_LOG"}
    done = subprocess.run([sys.executable, "-c", CALL], capture_output=True, text=True, check=True, env={**kept, **environment})
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_nothing_is_written():
    assert written() == [] == written(CAROM_LOG="warning") == written(CAROM_LOG="loud")


def test_environment():
    build = carom.info()
    first = f"carom info: version {build['version']} ({build['commit']}), instruction set {build['instruction_set']}"
    (line,) = written(CAROM_LOG="info")
    assert line.startswith(first)
    line, *calls = written(CAROM_LOG="debug")
    assert line.startswith(first) and "carom debug: backend cpu, asked for cpu" in calls


def test_logging(caplog):
    try:
        with caplog.at_level(logging.DEBUG, logger="mine"):
            carom.set_log("debug", "mine")
            answer = carom.solve_lcp(np.eye(2), -np.ones(2), backend="cpu")
            with pytest.raises(carom.BackendUnavailable):
                carom.solve_lcp(np.eye(2), -np.ones(2), backend="cuda")
    finally:
        carom.set_log("off")
    said = [(record.name, record.levelno, record.getMessage()) for record in caplog.records]
    assert ("mine", logging.DEBUG, "backend cpu, asked for cpu") in said
    assert any(level == logging.WARNING and "cuda" in text for _, level, text in said)
    assert np.array_equal(answer.solution[0], np.ones(2))
    caplog.clear()
    carom.solve_lcp(np.eye(2), -np.ones(2), backend="cpu")
    assert not caplog.records


@pytest.mark.skipif(bool(carom.info()["cuda_devices"]), reason="there is a device")
def test_refusals():
    with pytest.raises(carom.InvalidInput, match="level is loud: must be off, warning, info or debug"):
        carom.set_log("loud")
