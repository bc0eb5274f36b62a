"""Rows of a finished dataset for torch's DataLoader and grain."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _manifest, _parts
from ._arrays import refuse
from ._layout import Parts
from ._store import store_of

__all__ = ["Rows"]

_OPEN_FILES = 64  # of a dataset of very many parts no process may hold all


class Rows:
    """A split of a dataset as a sequence of rows, dicts of arrays by column.

    fields: the columns wanted, all where left out. Picklable; files are opened by the process that
    reads them, never shared with a forked child. __getitems__ reads a whole batch, sorted by file
    and place, which is what makes shuffled loading fast.
    """

    def __init__(self, folder: Any, split: str = "train", fields: Iterable[str] | None = None) -> None:
        self._store = store_of(folder)
        if self._store.size("manifest.json") is None:
            raise refuse(str(folder), "no finished dataset", "has no manifest.json")
        manifest = _manifest.opened(self._store)
        if split not in manifest["spec"]["splits"]:
            raise refuse("split", repr(split), "must be one of " + ", ".join(manifest["spec"]["splits"]))
        self.folder, self.split = folder, split
        self.fields = list(manifest["columns"]) if fields is None else list(fields)
        for name in self.fields:
            if name not in manifest["columns"]:
                known = ", ".join(manifest["columns"])
                raise refuse("fields", repr(name), f"must be among {known}")
        self._parts = Parts(manifest["spec"])
        self._own = self._parts.split(split)
        self._open: dict[int, OrderedDict[int, Any]] = {}  # by process, the last used last

    def __len__(self) -> int:
        return self._own.rows

    def _file(self, part: int) -> Any:
        # Handles of another process are its own: they are neither used nor closed here.
        files = self._open.setdefault(os.getpid(), OrderedDict())
        if part not in files:
            while len(files) >= _OPEN_FILES:
                files.popitem(last=False)[1].close()
            key = self._parts[self._own.part + part].file
            files[part] = _parts.need_h5py().File(self._store.handle(key), "r")
        files.move_to_end(part)
        return files[part]

    def batch(self, indices: Sequence[int]) -> dict[str, np.ndarray]:
        """Rows at these places, stacked, in their order."""
        wanted = np.asarray(indices, dtype=np.int64)
        if wanted.ndim != 1:
            raise refuse("indices", f"of shape {wanted.shape}", "must be a list")
        if len(wanted) and not (-len(self) <= wanted.min() and wanted.max() < len(self)):
            raise IndexError(f"rows {wanted.min()}..{wanted.max()} of {len(self)}")
        wanted = np.where(wanted < 0, wanted + len(self), wanted)
        owner = wanted // self._parts.rows_a_part
        result: dict[str, np.ndarray] = {}
        for part in np.unique(owner):
            places = np.flatnonzero(owner == part)
            begin = int(part) * self._parts.rows_a_part
            rows, back = np.unique(wanted[places] - begin, return_inverse=True)
            file = self._file(int(part))
            for name in self.fields:
                data = file[name]
                # Many rows of a part are read faster as one block than picked one by one.
                low, high = int(rows[0]), int(rows[-1]) + 1
                values = data[low:high][rows - low][back]
                if name not in result:
                    result[name] = np.empty((len(wanted), *data.shape[1:]), dtype=data.dtype)
                result[name][places] = values
        return result

    def __getitems__(self, indices: Sequence[int]) -> list[dict[str, np.ndarray]]:
        """What torch asks for a batch by."""
        rows = self.batch(indices)
        return [{name: column[i] for name, column in rows.items()} for i in range(len(indices))]

    def __getitem__(self, index: int) -> dict[str, np.ndarray]:
        return self.__getitems__([int(index)])[0]

    def __iter__(self) -> Any:
        for begin in range(0, len(self), 256):
            yield from self.__getitems__(range(begin, min(begin + 256, len(self))))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_open": {}}

    def __repr__(self) -> str:
        return f"Rows({str(self.folder)!r}, {self.split!r}: {len(self)} rows of {len(self.fields)} columns)"
