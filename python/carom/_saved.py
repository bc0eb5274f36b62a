"""Results into HDF5 files, by h5py: arrays as data sets, the rest as JSON attributes. _files.py reads them."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np

from . import _parts
from ._store import write_whole

SCHEMA = "carom-result/1"


def _write(group: Any, name: str, value: Any) -> None:
    if isinstance(value, np.ndarray) and value.dtype.kind == "U":
        words = _parts.need_h5py().string_dtype()
        group.create_dataset(name, data=value.astype(object), dtype=words, track_times=False)
    elif isinstance(value, np.ndarray):
        group.create_dataset(name, data=value, track_times=False)
    elif hasattr(value, "to_dict"):
        inner = group.create_group(name)
        inner.attrs["class"] = type(value).__name__
        for field, each in value.to_dict().items():
            _write(inner, field, each)
    elif isinstance(value, (tuple, list)) and any(
        isinstance(each, (np.ndarray, tuple)) or hasattr(each, "to_dict") for each in value
    ):
        inner = group.create_group(name)
        inner.attrs["class"] = type(value).__name__
        for i, each in enumerate(value):
            _write(inner, f"{i:08d}", each)
    elif isinstance(value, dict) and any(isinstance(each, np.ndarray) for each in value.values()):
        inner = group.create_group(name)
        inner.attrs["class"] = "dict"
        for key, each in value.items():
            _write(inner, key, each)
    else:
        kind = type(value).__name__ if isinstance(value, (tuple, list)) else "json"
        group.attrs[f"{kind}:{name}"] = json.dumps(dict(value) if isinstance(value, dict) else value)


def save(result: Any, path: Any) -> None:
    """Writes a result to an HDF5 file, whole or not at all."""
    h5py = _parts.need_h5py()

    def write(temporary: pathlib.Path) -> None:
        with h5py.File(temporary, "w") as file:
            file.attrs["schema"] = SCHEMA
            _write(file, "result", result)

    write_whole(pathlib.Path(path), write)
