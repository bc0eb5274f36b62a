"""Writes carom/_core.pyi, or the file named, from the installed module: python python/stubs.py

nanobind knows of a dict only that it is one; what its values are, the package checks."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tempfile

_PRECISE = {"dict": "dict[str, Any]", "list": "list[dict[str, Any]]", "tuple": "tuple[Any, ...]", "object": "Any"}


def stubs() -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "_core.pyi"
        command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "carom._core", "-o", str(path)]
        subprocess.run(command, check=True, cwd=folder)
        text = path.read_text(encoding="utf-8")
    text = re.sub(r"(?<=: |> )(dict|list|tuple|object)\b(?!\[)", lambda found: _PRECISE[found[0]], text)
    return text.replace("Sequence\n", "Sequence\nfrom typing import Any\n", 1)


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "carom/_core.pyi"
    target.write_text(stubs(), encoding="utf-8")
