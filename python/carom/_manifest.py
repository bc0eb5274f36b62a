"""Records of parts, and the manifest made of them, which is a tree for datasets of many parts.

A manifest of up to a thousand parts contains their records. For more parts it has a line for each branch, a
file of a thousand records in manifest/, with that file's digest. The digest of a branch is that of its
parts' digests, the dataset's that of its branches' digests: one number for all values. It does not
depend on who computed the parts, and can be checked for some of them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from . import _parts, _recipes
from ._arrays import refuse
from ._layout import Part, Parts
from ._store import Store

SCHEMA = "carom-dataset/1"
Record = dict[str, Any]


def new_record(part: Part, columns: Mapping[str, np.ndarray], size: int, sha256: str) -> Record:
    status = columns.get("problem_status", columns.get("status", columns.get("verdict")))
    status = columns.get("end") if status is None else status
    residual = columns.get("residual", columns.get("max_residual"))
    assert status is not None  # every kind has one of these
    kinds, counts = np.unique(status, return_counts=True)
    finite = residual[np.isfinite(residual)] if residual is not None else np.zeros(0)
    own = {name: value for name, value in dataclasses.asdict(part).items() if name != "folder"}
    return {
        **own,
        "file": part.file,
        "bytes": size,
        "digest": _parts.digest_of(columns),
        "sha256": sha256,
        "status": {str(int(kind)): int(count) for kind, count in zip(kinds, counts)},
        "max_residual": float(finite.max(initial=0.0)),
        "columns": {
            name: {
                "dtype": column.dtype.str, "shape": list(column.shape[1:]),
                "unit": _recipes.described(name)[0],
            }
            for name, column in columns.items()
        },
    }  # fmt: skip


def record_of(store: Store, part: Part, size: int | None = None) -> Record | None:
    """The record of a part that is there: a whole record, and a file of its size. size: the file's,
    where it is known from a listing."""
    try:
        record = store.read_json(part.record)
    except (FileNotFoundError, ValueError):  # a store without rename may have half of one
        return None
    size = store.size(part.file) if size is None else size
    whole = isinstance(record, dict) and record.get("file") == part.file and record.get("bytes") == size
    return record if whole else None


def scanned(store: Store, every: Parts, branch: int) -> list[Record | None]:
    """The records of a branch's parts, None for those that are not there."""
    parts = every.branch(branch)
    sizes = store.sizes(f"data/{parts[0].folder}".rstrip("/"))
    return [record_of(store, each, sizes[each.file]) if each.file in sizes else None for each in parts]


def _digest_of_digests(digests: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


class _Totals:
    """What a run has in all, counted part by part."""

    def __init__(self) -> None:
        self.rows = self.bytes = 0
        self.status: dict[str, int] = {}
        self.max_residual = 0.0

    def add(self, record: Mapping[str, Any]) -> None:
        self.rows += record["rows"]
        self.bytes += record["bytes"]
        for status, count in record["status"].items():
            self.status[status] = self.status.get(status, 0) + count
        self.max_residual = max(self.max_residual, record["max_residual"])


def write(store: Store, spec: Mapping[str, Any], every: Parts) -> Record:
    """The manifest from the records; its file comes last, by the caller. Errors: InvalidInput naming
    the parts that lack."""
    totals, lacking, branches = _Totals(), [], []
    done, columns = 0, None
    kept: list[Record] = []
    for branch in range(every.branches):
        found = scanned(store, every, branch)
        lacking += [each.part for each, record in zip(every.branch(branch), found) if record is None]
        records = [record for record in found if record is not None]
        done += len(records)
        for record in records:
            own = record.pop("columns")
            columns = own if columns is None else columns
            if own != columns:
                raise refuse(record["file"], "other columns", "must be those of the first part", "has")
            totals.add(record)
        if len(records) < len(found):
            continue
        kept = records
        if every.branches > 1:
            file = f"manifest/{branch:05d}.json"
            text = json.dumps({"schema": SCHEMA, "parts": records}) + "\n"
            store.put_text(file, text)
            branches.append({
                "file": file, "first_part": records[0]["part"], "parts": len(records),
                "rows": sum(record["rows"] for record in records),
                "bytes": sum(record["bytes"] for record in records),
                "digest": _digest_of_digests(record["digest"] for record in records),
                "sha256": hashlib.sha256(text.encode()).hexdigest(),
            })  # fmt: skip
    if lacking:
        shown = ", ".join(map(str, lacking[:8])) + (", ..." if len(lacking) > 8 else "")
        raise refuse(str(store), f"{done} of {len(every)} parts", f"make parts {shown} first", "has")
    manifest = {
        "schema": SCHEMA,
        "spec": dict(spec),
        "rows": totals.rows,
        "bytes": totals.bytes,
        "digest": "",
        "status": totals.status,
        "max_residual": totals.max_residual,
        "columns": columns,
        **({"branches": branches} if branches else {"parts": kept}),
    }
    manifest["digest"] = digest_of(manifest)
    return manifest


def digest_of(manifest: Mapping[str, Any]) -> str:
    """Of its branches' digests; those are of their parts' as each branch's sha256 vouches."""
    if "branches" in manifest:
        return _digest_of_digests(branch["digest"] for branch in manifest["branches"])
    return _digest_of_digests([_digest_of_digests(record["digest"] for record in manifest["parts"])])


def opened(store: Store) -> Record:
    """The manifest of a finished dataset. Errors: InvalidInput."""
    try:
        manifest: Record = store.read_json("manifest.json")
    except FileNotFoundError:
        raise refuse(str(store), "not finished", "has no manifest.json: finish it") from None
    return manifest


def branches(store: Store, manifest: Mapping[str, Any], wrong: list[str]) -> Iterator[list[Record]]:
    """The records, branch by branch; what is wrong with the manifest's files goes into `wrong`."""
    if "branches" not in manifest:
        yield manifest["parts"]
        return
    for branch in manifest["branches"]:
        try:
            content = store.read(branch["file"])
        except FileNotFoundError:
            wrong.append(f"{branch['file']}: missing")
            continue
        if hashlib.sha256(content).hexdigest() != branch["sha256"]:
            wrong.append(f"{branch['file']}: its bytes are not those that were written")
            continue
        yield json.loads(content)["parts"]


def every_record(store: Store, manifest: Mapping[str, Any]) -> Iterator[Record]:
    """The records of all parts. Errors: InvalidInput where the manifest is not whole."""
    wrong: list[str] = []
    for records in branches(store, manifest, wrong):
        if wrong:
            break
        yield from records
    if wrong:
        raise refuse(str(store), wrong[0], "verify it", "is not whole:")


def count_of_parts(manifest: Mapping[str, Any]) -> int:
    return sum(branch["parts"] for branch in manifest["branches"]) if "branches" in manifest else len(manifest["parts"])


def parts_done(store: Store, every: Parts) -> tuple[int, _Totals]:
    """How far an unfinished dataset is."""
    totals, done = _Totals(), 0
    for branch in range(every.branches):
        for record in scanned(store, every, branch):
            if record is not None:
                done += 1
                totals.add(record)
    return done, totals
