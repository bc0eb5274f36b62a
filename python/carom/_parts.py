"""The columns of a part: their digest and their HDF5 file."""

from __future__ import annotations

import hashlib
import pathlib
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from ._optional import needed

_ROWS_A_CHUNK, _BYTES_A_CHUNK = 64, 1 << 17  # at least
_BYTES_IN_ONE_PIECE = 4096  # up to which the index of chunks is larger than what it saves


def need_h5py() -> Any:
    return needed("h5py", "what is kept in files", "data")


def digest_of(columns: Mapping[str, np.ndarray]) -> str:
    """Of names, types, shapes and values: the identity of a part, whatever wrote its file."""
    total = hashlib.sha256()
    for name in sorted(columns):
        column = np.ascontiguousarray(columns[name])
        total.update(f"{name} {column.dtype.str} {column.shape}\n".encode())
        if column.dtype.kind == "O":  # bytes of any length
            for row in column:
                total.update(len(row).to_bytes(8, "little") + row.tobytes())
        else:
            total.update(column.data if column.size else b"")
    return total.hexdigest()


def file_digest(path: pathlib.Path) -> str:
    total = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            total.update(block)
    return total.hexdigest()


def write_columns(
    target: BinaryIO, columns: Mapping[str, np.ndarray], attributes: Mapping[str, Any], compression: int
) -> None:
    """An HDF5 file of one data set a column, rows first in all of them; objects are rows of bytes of any length, as
    they are. Whole numbers are compressed always, other numbers by the level asked for: digits of doubles hardly shrink and cost most of the
    time."""
    with need_h5py().File(target, "w", libver=("v108", "v110")) as file:
        for name, value in attributes.items():
            file.attrs[name] = value
        for name, column in columns.items():
            if column.dtype.kind == "O":
                file.create_dataset(name, data=column, dtype=need_h5py().vlen_dtype(np.uint8), track_times=False)
                continue
            level = compression if column.dtype.kind == "f" else max(compression, 1)
            packed: dict[str, Any] = {}
            if column.nbytes > _BYTES_IN_ONE_PIECE:
                rows = max(_ROWS_A_CHUNK, _BYTES_A_CHUNK // max(column.nbytes // len(column), 1))
                rows = min(rows, len(column))
                packed = {"chunks": (rows, *column.shape[1:])}
                if level > 0:
                    packed |= {"compression": "gzip", "compression_opts": level, "shuffle": True}
            file.create_dataset(name, data=column, track_times=False, **packed)


def read_columns(path: pathlib.Path) -> dict[str, np.ndarray]:
    h5py = need_h5py()
    columns: dict[str, np.ndarray] = {}

    def take(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            columns[name] = item[...]

    try:
        with h5py.File(path, "r") as file:
            file.visititems(take)
    except FileNotFoundError:
        raise
    except (OSError, RuntimeError) as error:
        raise OSError(f"{path} is damaged: {error}") from None
    return columns
