"""Files of a dataset that a kill at any moment leaves whole or absent."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import socket
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._optional import needed

_ROWS_A_CHUNK, _BYTES_A_CHUNK = 64, 1 << 17  # at least


def need_h5py() -> Any:
    return needed("h5py", "what is kept in files", "data")


def write_whole(path: pathlib.Path, write: Callable[[pathlib.Path], Any]) -> None:
    """write(a file beside) -> on disk -> renamed -> the rename on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{socket.gethostname()}.{os.getpid()}.tmp")
    try:
        write(beside)
        with open(beside, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_text(path: pathlib.Path, text: str) -> None:
    write_whole(path, lambda beside: beside.write_text(text, encoding="utf-8"))


def write_json(path: pathlib.Path, document: Any) -> None:
    write_text(path, json.dumps(document, indent=1) + "\n")


def read_json(path: pathlib.Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def digest_of(columns: Mapping[str, np.ndarray]) -> str:
    """Of names, types, shapes and values: the identity of a part, whatever wrote its file."""
    total = hashlib.sha256()
    for name in sorted(columns):
        column = np.ascontiguousarray(columns[name])
        total.update(f"{name} {column.dtype.str} {column.shape}\n".encode())
        total.update(column.data if column.size else b"")
    return total.hexdigest()


def file_digest(path: pathlib.Path) -> str:
    total = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            total.update(block)
    return total.hexdigest()


def write_columns(
    path: pathlib.Path, columns: Mapping[str, np.ndarray], attributes: Mapping[str, Any],
    compression: int,
) -> None:  # fmt: skip
    """One data set a column, rows first in all of them. Whole numbers are compressed always, other
    numbers by the level asked for: digits of doubles hardly shrink and cost most of the time."""
    h5py = need_h5py()

    def write(beside: pathlib.Path) -> None:
        with h5py.File(beside, "w", libver=("v108", "v110")) as file:
            for name, value in attributes.items():
                file.attrs[name] = value
            for name, column in columns.items():
                level = compression if column.dtype.kind == "f" else max(compression, 1)
                packed: dict[str, Any] = {}
                if column.size:
                    rows = max(_ROWS_A_CHUNK, _BYTES_A_CHUNK // max(column.nbytes // len(column), 1))
                    rows = min(rows, len(column))
                    packed = {"chunks": (rows, *column.shape[1:])}
                    if level > 0:
                        packed |= {"compression": "gzip", "compression_opts": level, "shuffle": True}
                file.create_dataset(name, data=column, track_times=False, **packed)

    write_whole(path, write)


def read_columns(path: pathlib.Path) -> dict[str, np.ndarray]:
    h5py = need_h5py()
    columns: dict[str, np.ndarray] = {}

    def take(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            columns[name] = item[...]

    with h5py.File(path, "r") as file:
        file.visititems(take)
    return columns


def orphans(folder: pathlib.Path) -> list[pathlib.Path]:
    """What killed writers left."""
    return sorted(folder.rglob(".*.tmp"))
