"""Fixtures of the tests, which run against the installed package."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess

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

    def run(*arguments, **options):
        done = subprocess.run(
            [candidate, *map(str, arguments)], capture_output=True, text=True, check=False, **options
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if "--json" in arguments else done.stdout

    return run
