"""scikit-build-core, and a source archive that holds the C++ sources, which stand above this folder.

The archive has the repository's folders and, at its root, the pyproject.toml of this folder with its
paths as they are from there. Building from the archive needs nothing of the repository.
"""

from __future__ import annotations

import gzip
import io
import os
import pathlib
import tarfile
import tempfile
from typing import Any

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403

_KEPT = (
    "CMakeLists.txt", "LICENSE", "cmake", "examples/data/cube_tosses", "include", "src", "python/CMakeLists.txt", "python/README.md",
    "python/build_backend.py", "python/carom", "python/src",
)  # fmt: skip
# Paths of pyproject.toml as they are from the root of the archive.
_FROM_ROOT = (
    ('backend-path = ["."]', 'backend-path = ["python"]'),
    ('readme = "README.md"', 'readme = "python/README.md"'),
    ('build-dir = "../build-python"', 'build-dir = "build-python"'),
    ('cmake.source-dir = ".."', 'cmake.source-dir = "."'),
    ('wheel.packages = ["carom"]', 'wheel.packages = ["python/carom"]'),
    ('metadata.version.input = "../CMakeLists.txt"', 'metadata.version.input = "CMakeLists.txt"'),
)


def _project(here: pathlib.Path) -> tuple[pathlib.Path, str]:
    """The folder of the sources, and the archive's pyproject.toml."""
    text = (here / "pyproject.toml").read_text(encoding="utf-8")
    if (here / "python").is_dir():  # an archive that was unpacked
        return here, text
    for own, from_root in _FROM_ROOT:
        if text.count(own) != 1:
            raise RuntimeError(f"pyproject.toml must have one line {own!r}")
        text = text.replace(own, from_root)
    return here.parent, text


def _files(root: pathlib.Path) -> list[str]:
    found = []
    for kept in _KEPT:
        top = root / kept
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            hidden = any(part.startswith((".", "__pycache__")) for part in path.relative_to(root).parts)
            if path.is_file() and not hidden and path.suffix not in (".so", ".pyc"):
                found.append(path.relative_to(root).as_posix())
    return found


def _metadata(settings: dict[str, Any] | None) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        name = _build.prepare_metadata_for_build_wheel(folder, settings)
        return (pathlib.Path(folder) / name / "METADATA").read_bytes()


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """The same bytes from the same sources."""
    root, project = _project(pathlib.Path.cwd())
    metadata = _metadata(config_settings)
    version = next(
        line.split()[1] for line in metadata.decode().splitlines() if line.startswith("Version:")
    )
    name = f"carom-{version}"
    contents = {file: (root / file).read_bytes() for file in _files(root)}
    contents |= {"pyproject.toml": project.encode(), "PKG-INFO": metadata}
    date = int(os.environ.get("SOURCE_DATE_EPOCH", 0))
    target = pathlib.Path(sdist_directory) / f"{name}.tar.gz"
    with open(target, "wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=date) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for file in sorted(contents):
                entry = tarfile.TarInfo(f"{name}/{file}")
                entry.size, entry.mtime, entry.mode = len(contents[file]), date, 0o644
                archive.addfile(entry, io.BytesIO(contents[file]))
    return target.name
