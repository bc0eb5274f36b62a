"""Datasets in parts that survive a kill at any moment, in shards that need not know of each other.

    carom.dataset.make("spec.toml", "DIR")       # python -m carom dataset make spec.toml DIR
    carom.dataset.finish("DIR")
    carom.dataset.verify("DIR", recompute=3)

docs/python.md has the spec's fields and the files.
"""

from __future__ import annotations

import dataclasses
import json
import math
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core, _draw, _kinds, _parts
from ._export import FORMATS
from ._arrays import refuse
from ._optional import needed
from .errors import InvalidInput

SCHEMA = "carom-dataset/1"
__all__ = ["Part", "export", "finish", "make", "parts", "resolve", "show", "verify", "write_part"]

_DATASET = {
    "name": "dataset", "kind": "impact", "problems": None, "seed": 0, "part_rows": 0,
    "splits": None, "float": "float64", "compression": 0,
}  # fmt: skip
_PART_BYTES = 64 << 20


@dataclasses.dataclass(frozen=True)
class Part:
    """Rows [first, first + rows) of the dataset, of one split; a file of its own."""

    part: int
    split: str
    number: int
    first: int
    rows: int

    @property
    def file(self) -> str:
        return f"data/{self.split}-{self.number:05d}.h5"

    @property
    def record(self) -> str:
        return f"parts/{self.split}-{self.number:05d}.json"


def _whole(field: str, value: Any, least: int, most: int = 2**63 - 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise refuse(field, repr(value), f"must be an integer, {least} to {most}")
    return value


def _loaded(spec: Any) -> tuple[dict[str, Any], str | None]:
    """The spec as a dict, and its text where it is a file."""
    if isinstance(spec, Mapping):
        return dict(spec), None
    tomllib = needed("tomllib" if sys.version_info >= (3, 11) else "tomli", "a spec in TOML", "data")
    text = pathlib.Path(spec).read_text(encoding="utf-8")
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        raise refuse(str(spec), "no TOML", str(error)) from None


def resolve(spec: Any) -> dict[str, Any]:
    """The spec with every default in it; what make computes is a function of it alone.

    spec: a TOML file, or a dict of its tables. Errors: InvalidInput naming the field.
    """
    tables, _ = _loaded(spec)
    data = tables.get("dataset", {})
    kind = _kinds.checked_spec(data.get("kind", "impact"))
    for name in tables:
        if name not in ("dataset", "source", "draw", kind):
            known = f"dataset, source, draw and {kind}"
            raise refuse(name, "no table of the spec", f"known are {known}")
    for name in data:
        if name not in _DATASET:
            raise refuse(f"dataset.{name}", "no field", "known are " + ", ".join(_DATASET))
    result = {**_DATASET, **data, "kind": kind}
    _whole("dataset.problems", result["problems"], 1, 2**32)
    _whole("dataset.seed", result["seed"], 0, 2**64 - 1)
    _whole("dataset.part_rows", result["part_rows"], 0)
    _whole("dataset.compression", result["compression"], 0, 9)
    if result["float"] not in ("float64", "float32"):
        raise refuse("dataset.float", repr(result["float"]), "must be float64 or float32")
    splits = result["splits"] or {"train": 1.0}
    for split, share in splits.items():
        if not split.isidentifier() or not isinstance(share, (int, float)) or not share > 0:
            raise refuse(f"dataset.splits.{split}", repr(share), "must be a word and a positive share")
    if abs(math.fsum(splits.values()) - 1.0) > 1e-9:
        raise refuse("dataset.splits", str(dict(splits)), "must add up to 1")
    result["splits"] = {split: float(share) for split, share in splits.items()}
    result["source"] = dict(tables.get("source", {}))
    given = _flat(tables.get("draw", {}))
    result["draw"] = {name: _draw.checked(name, each) for name, each in given.items()}
    result["settings"] = dict(tables.get(kind, {}))
    _kinds.check_source(result)
    if kind == "impact":
        result["settings"].setdefault("seed", result["seed"])
    result["settings"] = _kinds.resolved_settings(result)
    size = sum(column.nbytes for column in _columns(result, 0, 1, 1).values())  # of a row
    if result["part_rows"] == 0:
        result["part_rows"] = max(1, min(_PART_BYTES // max(size, 1), result["problems"]))
    build = _core.info()
    result["carom"] = {"version": build["version"], "commit": build["commit"]}
    return {"schema": SCHEMA, **result}


def _flat(draw: Mapping[str, Any]) -> dict[str, Any]:
    """TOML reads v.0 = ... as a table v; its keys go back to names with dots."""
    flat: dict[str, Any] = {}
    for name, each in draw.items():
        if isinstance(each, Mapping) and each and all(key.isdigit() for key in each):
            flat.update({f"{name}.{key}": value for key, value in each.items()})
        else:
            flat[name] = each
    return flat


def _drawn(spec: Mapping[str, Any], first: int, rows: int) -> dict[str, np.ndarray]:
    return {
        name: _draw.drawn(each, spec["seed"], first, rows, name)
        for name, each in spec["draw"].items()
    }


def _columns(spec: Mapping[str, Any], first: int, rows: int, threads: int) -> dict[str, np.ndarray]:
    drawn = _drawn(spec, first, rows)
    computed = _kinds.ROWS[spec["kind"]](spec, drawn, first, rows, threads)
    columns = {"index": np.arange(first, first + rows, dtype=np.int64)}
    columns |= {f"parameter/{name}": values for name, values in drawn.items()}
    columns |= computed
    for name, column in columns.items():
        if len(column) != rows:
            raise AssertionError(f"{name} has {len(column)} rows of {rows}")
    return columns


def parts(spec: Mapping[str, Any]) -> list[Part]:
    """All parts of a resolved spec: a function of it, so that shards agree without talking."""
    found: list[Part] = []
    begin, share = 0, 0.0
    names = list(spec["splits"])
    for split in names:
        share += spec["splits"][split]
        end = spec["problems"] if split == names[-1] else round(share * spec["problems"])
        for number, first in enumerate(range(begin, end, spec["part_rows"])):
            rows = min(spec["part_rows"], end - first)
            found.append(Part(len(found), split, number, first, rows))
        begin = end
    return found


def _comparable(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in json.loads(json.dumps(spec)).items() if name != "carom"}


def _opened(folder: pathlib.Path) -> dict[str, Any]:
    path = folder / "spec.json"
    if not path.exists():
        raise refuse(str(folder), "no dataset", "has no spec.json: make one")
    spec: dict[str, Any] = _parts.read_json(path)
    if spec.get("schema") != SCHEMA:
        raise refuse(str(path), repr(spec.get("schema")), f"must be {SCHEMA}")
    return spec


def _same(kept: Mapping[str, Any], asked: Mapping[str, Any], folder: pathlib.Path) -> None:
    old, new = _comparable(kept), _comparable(asked)
    for name in new:
        if old.get(name) != new[name]:
            raise refuse(
                name, json.dumps(new[name]), f"is {json.dumps(old.get(name))} in {folder}: one "
                "dataset has one spec",
            )  # fmt: skip


def _valid(folder: pathlib.Path, part: Part) -> bool:
    return (folder / part.record).exists() and (folder / part.file).exists()


def write_part(spec: Mapping[str, Any], folder: Any, part: Part, *, threads: int = 0) -> dict[str, Any]:
    """Computes and writes one part of a resolved spec; the record, written last, says it is done."""
    folder = pathlib.Path(folder)
    columns = _columns(spec, part.first, part.rows, threads)
    attributes = {"schema": SCHEMA, "split": part.split, "first": part.first, "rows": part.rows}
    _parts.write_columns(folder / part.file, columns, attributes, spec["compression"])
    status = columns.get("problem_status", columns.get("status", columns.get("verdict")))
    status = columns.get("end") if status is None else status
    residual = columns.get("residual", columns.get("max_residual"))
    assert status is not None  # every kind has one of these
    kinds, counts = np.unique(status, return_counts=True)
    finite = residual[np.isfinite(residual)] if residual is not None else np.zeros(0)
    record = {
        **dataclasses.asdict(part),
        "file": part.file,
        "bytes": (folder / part.file).stat().st_size,
        "digest": _parts.digest_of(columns),
        "sha256": _parts.file_digest(folder / part.file),
        "status": {str(int(kind)): int(count) for kind, count in zip(kinds, counts)},
        "max_residual": float(finite.max(initial=0.0)),
        "columns": {
            name: {
                "dtype": column.dtype.str, "shape": list(column.shape[1:]),
                "unit": _kinds.UNITS.get(name, ""),
            }
            for name, column in columns.items()
        },
    }  # fmt: skip
    _parts.write_json(folder / part.record, record)
    return record


def _shard(given: Any) -> tuple[int, int]:
    if given is None:
        return 0, 1
    if isinstance(given, str):
        pieces = given.split("/")
        if len(pieces) != 2 or not all(piece.isdigit() for piece in pieces):
            raise refuse("shard", repr(given), "must be I/N, such as 0/4")
        given = tuple(int(piece) for piece in pieces)
    index, count = given
    if count < 1 or not 0 <= index < count:
        raise refuse("shard", f"{index}/{count}", "must be I/N with 0 <= I < N")
    return index, count


def make(
    spec: Any, folder: Any, *, shard: Any = None, part: int | None = None, threads: int = 0,
    progress: Any = None,
) -> int:  # fmt: skip
    """Computes the parts of a dataset that are not there yet; how many those were.

    spec: a TOML file or a dict of its tables. shard: "I/N" or (I, N), every N-th part from I; part:
    that one alone. Parts are the same bytes whoever computes them: shards may overlap, and what a
    kill interrupted is done again by the next call. progress: called with (parts done, parts).
    Errors: InvalidInput for the spec, or where the folder holds another dataset.
    """
    folder = pathlib.Path(folder)
    resolved = resolve(spec)
    index, count = _shard(shard)
    kept = folder / "spec.json"
    if kept.exists():
        _same(_opened(folder), resolved, folder)
    else:
        if folder.exists() and any(p for p in folder.iterdir() if not p.name.startswith(".")):
            text = [p.name for p in folder.iterdir()]
            if set(text) - {"spec.toml", "data", "parts"}:
                raise refuse(str(folder), "no dataset and not empty", "choose another folder")
        _, source = _loaded(spec)
        if source is not None:
            _parts.write_text(folder / "spec.toml", source)
        _parts.write_json(kept, resolved)
    every = parts(resolved)
    if part is not None:
        _whole("part", part, 0, len(every) - 1)
        mine = [every[part]]
    else:
        mine = every[index::count]
    written = 0
    for done, each in enumerate(mine):
        if not _valid(folder, each):
            write_part(resolved, folder, each, threads=threads)
            written += 1
        if progress is not None:
            progress(done + 1, len(mine))
    return written


def _card(spec: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    lines = ["---", "configs:", "- config_name: default", "  data_files:"]
    for split in spec["splits"]:
        lines += [f"  - split: {split}", f"    path: data/{split}-*.h5"]
    source = " ".join(f"{key} {value}" for key, value in spec["source"].items())
    lines += [
        "---", "", f"# {spec['name']}", "",
        f"{spec['problems']} problems of kind {spec['kind']}, {source}, by carom "
        f"{spec['carom']['version']}.", "",
        "    datasets.load_dataset(DIR)      # its formatters give float32 unless asked for float64",
        "    carom.data.Rows(DIR, 'train')   # for torch's DataLoader and grain", "",
        "| column | type | shape of a row | unit |", "|---|---|---|---|",
    ]  # fmt: skip
    for name, column in manifest["columns"].items():
        lines.append(f"| {name} | {column['dtype']} | {tuple(column['shape'])} | {column['unit']} |")
    return "\n".join(lines) + "\n"


def finish(folder: Any) -> dict[str, Any]:
    """Writes the card and, last, the manifest. Errors: InvalidInput naming the parts that lack."""
    folder = pathlib.Path(folder)
    spec = _opened(folder)
    every = parts(spec)
    lacking = [each.part for each in every if not _valid(folder, each)]
    if lacking:
        shown = ", ".join(map(str, lacking[:8])) + (", ..." if len(lacking) > 8 else "")
        raise refuse(str(folder), f"{len(every) - len(lacking)} of {len(every)} parts",
                     f"make parts {shown} first", "has")  # fmt: skip
    records = [_parts.read_json(folder / each.record) for each in every]
    for record in records:
        size = (folder / record["file"]).stat().st_size
        if size != record["bytes"]:
            raise refuse(record["file"], f"{size} bytes", f"must have {record['bytes']}", "has")
    for left in _parts.orphans(folder):
        left.unlink(missing_ok=True)
    columns = records[0]["columns"]
    manifest = {
        "schema": SCHEMA,
        "spec": spec,
        "rows": sum(record["rows"] for record in records),
        "columns": columns,
        "parts": [{k: v for k, v in r.items() if k != "columns"} for r in records],
    }
    _parts.write_text(folder / "README.md", _card(spec, manifest))
    _parts.write_json(folder / "manifest.json", manifest)
    return manifest


def _sampled(every: Sequence[Any], recompute: Any) -> list[Any]:
    """How many parts are computed again: a number, a share such as "1%", or all."""
    if recompute in (None, 0):
        return []
    if isinstance(recompute, str) and recompute.endswith("%"):
        recompute = math.ceil(float(recompute[:-1]) / 100.0 * len(every))
    count = min(_whole("recompute", int(recompute), 1), len(every))
    chosen = np.linspace(0, len(every) - 1, count).round().astype(int)
    return [every[i] for i in sorted(set(chosen.tolist()))]


def verify(folder: Any, *, recompute: Any = 0, threads: int = 0) -> list[str]:
    """What is wrong with a finished dataset, a line each; empty where nothing is. Every file's
    bytes and values are read; recompute: so many parts, or "1%" of them, are computed again."""
    folder = pathlib.Path(folder)
    if not (folder / "manifest.json").exists():
        raise refuse(str(folder), "not finished", "has no manifest.json: finish it")
    manifest = _parts.read_json(folder / "manifest.json")
    spec = manifest["spec"]
    every = parts(spec)
    wrong: list[str] = []
    try:
        _same(_opened(folder), spec, folder)
    except InvalidInput as error:
        wrong.append(f"spec.json: {error}")
    if [record["part"] for record in manifest["parts"]] != [each.part for each in every]:
        return [*wrong, "manifest.json: its parts are not those of its spec"]
    for each, record in zip(every, manifest["parts"]):
        path = folder / each.file
        if not path.exists():
            wrong.append(f"{each.file}: missing")
        elif _parts.file_digest(path) != record["sha256"]:
            wrong.append(f"{each.file}: its bytes are not those that were written")
        elif _parts.digest_of(_parts.read_columns(path)) != record["digest"]:
            wrong.append(f"{each.file}: its values are not those that were computed")
    known = {each.file for each in every}
    for path in sorted((folder / "data").glob("*.h5")):
        if f"data/{path.name}" not in known:
            wrong.append(f"data/{path.name}: belongs to no part")
    for each in _sampled(every, recompute):
        if _parts.digest_of(_columns(spec, each.first, each.rows, threads)) != (
            manifest["parts"][each.part]["digest"]
        ):
            wrong.append(f"{each.file}: computed again, its values are others")
    return wrong


def show(folder: Any) -> dict[str, Any]:
    """What a dataset is and how far it is: spec, parts done, rows, bytes, statuses."""
    folder = pathlib.Path(folder)
    spec = _opened(folder)
    every = parts(spec)
    done = [each for each in every if _valid(folder, each)]
    statuses: dict[str, int] = {}
    size = 0
    for each in done:
        record = _parts.read_json(folder / each.record)
        size += record["bytes"]
        for status, count in record["status"].items():
            statuses[status] = statuses.get(status, 0) + count
    return {
        "name": spec["name"], "kind": spec["kind"], "source": spec["source"],
        "problems": spec["problems"], "splits": spec["splits"], "part_rows": spec["part_rows"],
        "parts": len(every), "parts_done": len(done), "rows_done": sum(p.rows for p in done),
        "bytes": size, "status": statuses, "finished": (folder / "manifest.json").exists(),
        "settings": spec["settings"],
    }  # fmt: skip


def export(folder: Any, out: Any, *, to: str) -> int:
    """Writes a finished dataset in another format; how many parts. parquet, npz: a file a part, nested
    lists; zarr: a group a split, its columns as arrays (docs/python.md); lerobot: worlds of kind step
    with kept frames as episodes. Errors: InvalidInput for another format, or a kind that has no such
    export; ImportError."""
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    if to not in FORMATS:
        raise refuse("to", repr(to), "must be " + " or ".join(FORMATS))
    if not (folder / "manifest.json").exists():
        raise refuse(str(folder), "not finished", "has no manifest.json: finish it")
    if out.exists() and any(out.iterdir()):
        raise refuse(str(out), "not empty", "choose another folder")
    manifest = _parts.read_json(folder / "manifest.json")
    FORMATS[to](folder, manifest, out)
    return len(manifest["parts"])
