"""Results that were saved (_saved.py), read back."""

from __future__ import annotations

import dataclasses
import importlib
import json
from typing import Any

from . import _parts
from ._arrays import refuse
from ._results import Result
from ._saved import SCHEMA
from .problems import read_json

_MODULES = ("impact", "problems", "solvers", "equilibrium", "compliant", "stability", "motion", "robots", "_validate", "_derivatives")


def _classes() -> dict[str, type[Result]]:
    found = {}
    for name in _MODULES:
        module = importlib.import_module(f"carom.{name}")
        for each in vars(module).values():
            if isinstance(each, type) and issubclass(each, Result) and each is not Result:
                found[each.__name__] = each
    return found


def _read(group: Any, classes: dict[str, type[Result]]) -> Any:
    h5py = _parts.need_h5py()
    fields: dict[str, Any] = {}
    for name, item in group.items():
        if isinstance(item, h5py.Dataset):
            words = h5py.check_string_dtype(item.dtype) is not None
            fields[name] = item.asstr()[...].astype(str) if words else item[...]
        else:
            fields[name] = _read(item, classes)
    for key, text in group.attrs.items():
        kind, _, name = key.partition(":")
        if name:
            value = json.loads(text)
            fields[name] = tuple(value) if kind == "tuple" else value
    kind = group.attrs["class"]
    if kind in ("tuple", "list"):
        values = [fields[name] for name in sorted(fields)]
        return tuple(values) if kind == "tuple" else values
    if kind == "dict":
        return fields
    if kind not in classes:
        raise refuse(str(group.file.filename), repr(kind), "is no result of this version")
    known = {field.name for field in dataclasses.fields(classes[kind])}
    if set(fields) != known:
        odd = sorted(set(fields) ^ known)[0]
        raise refuse(f"{group.file.filename}: {odd} of {kind}", "no field of it", "in this version")
    return classes[kind](**fields)


def load(path: Any) -> Any:
    """A result that .save wrote, or Problems from a JSON file of the command.

    Errors: InvalidInput for another file; FileNotFoundError.
    """
    if str(path).endswith(".json"):
        return read_json(path)
    h5py = _parts.need_h5py()
    with open(path, "rb") as file:
        if file.read(8) != b"\x89HDF\r\n\x1a\n":
            raise refuse(str(path), "no HDF5 file", "must be one that .save wrote")
    with h5py.File(path, "r") as file:
        if file.attrs.get("schema") != SCHEMA:
            raise refuse(str(path), "no saved result", f"must have schema {SCHEMA}")
        return _read(file["result"], _classes())
