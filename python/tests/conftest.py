"""Fixtures of the tests, which run against the installed package."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def command():
    """The carom command, to compare with: CAROM, or a build folder's."""
    candidates = [os.environ.get("CAROM", ""), *map(str, sorted(ROOT.glob("build*/bin/carom")))]
    for candidate in candidates:
        if candidate and shutil.which(candidate):
            break
    else:
        pytest.skip("no carom command: set CAROM")

    def run(*arguments, status=0, **options):
        done = subprocess.run(
            [candidate, *map(str, arguments)], capture_output=True, text=True, check=False, **options
        )
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout) if "--json" in arguments else done.stdout

    return run


def ends_at_ctrl_c(setup, code):
    """Whether a process that runs `setup`, then `code` again and again, ends when it is interrupted."""
    # a process that a script started in the background ignores interrupts until it says otherwise
    script = f"""\
import signal, time
import numpy as np, carom
signal.signal(signal.SIGINT, signal.default_int_handler)
{textwrap.dedent(setup)}
print('ready', flush=True)
try:
    while True:
        {code}
except KeyboardInterrupt:
    print('interrupted', flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().strip() == "ready"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        return process.communicate(timeout=20)[0].strip() == "interrupted" and process.returncode == 0
    finally:
        process.kill()
