"""Datasets in parts: a process can be killed at any moment, and shards run without communication.

    carom.dataset.make("spec.toml", "DIR")       # python -m carom dataset make spec.toml DIR
    carom.dataset.finish("DIR")
    carom.dataset.verify("DIR", recompute=3)

docs/tutorials/dataset.md has the spec's fields and the files.
"""

from __future__ import annotations

import json
import math
import pathlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from . import _certified_rows, _core, _draw, _kinds, _manifest, _parts, _recipes
from ._arrays import refuse
from ._export import FORMATS
from ._layout import Part, Parts
from ._manifest import SCHEMA
from ._optional import needed
from ._progress import called
from ._recipes import RECIPES, recipe
from ._store import Store, store_of
from .errors import InvalidInput

__all__ = ["RECIPES", "Part", "export", "finish", "make", "parts", "recipe", "resolve", "show", "verify", "write_part"]

_DATASET = {
    "name": "dataset", "kind": "impact", "problems": None, "seed": 0, "part_rows": 0,
    "splits": None, "float": "float64", "compression": 0,
}  # fmt: skip
_PART_BYTES = 64 << 20


def _whole(field: str, value: Any, least: int, most: int = 2**63 - 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise refuse(field, repr(value), f"must be an integer, {least} to {most}")
    return value


def _loaded(spec: Any) -> tuple[dict[str, Any], str | None]:
    """The spec as a dict, and its text where it is a file."""
    if isinstance(spec, Mapping):
        return dict(spec), None
    if spec in RECIPES:
        return recipe(spec), None
    tomllib = needed("tomllib" if sys.version_info >= (3, 11) else "tomli", "a spec in TOML", "data")
    if not pathlib.Path(spec).is_file():
        raise refuse("spec", repr(str(spec)), "must be a TOML file, or one of " + ", ".join(RECIPES))
    text = pathlib.Path(spec).read_text(encoding="utf-8")
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        raise refuse(str(spec), "no TOML", str(error)) from None


def resolve(spec: Any) -> dict[str, Any]:
    """The spec with every default in it; what make computes is a function only of it.

    spec: a TOML file, a dict of its tables, or the name of a recipe. Errors: InvalidInput naming the field.
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
    if kind in ("impact", "impact_set"):
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


def parts(spec: Mapping[str, Any]) -> Parts:
    """All parts of a resolved spec, a sequence: a function of it, so that shards agree without talking."""
    return Parts(spec)


def _comparable(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in json.loads(json.dumps(spec)).items() if name != "carom"}


def _spec_of(store: Store) -> dict[str, Any] | None:
    """None where there is none, or half of one, as a store without rename may have."""
    try:
        spec: dict[str, Any] = store.read_json("spec.json")
    except (FileNotFoundError, ValueError):
        return None
    if spec.get("schema") != SCHEMA:
        raise refuse(f"{store}/spec.json", repr(spec.get("schema")), f"must be {SCHEMA}")
    return spec


def _opened(store: Store) -> dict[str, Any]:
    spec = _spec_of(store)
    if spec is None:
        raise refuse(str(store), "no dataset", "has no spec.json: make one")
    return spec


def _same(kept: Mapping[str, Any], asked: Mapping[str, Any], store: Store) -> None:
    old, new = _comparable(kept), _comparable(asked)
    for name in new:
        if old.get(name) != new[name]:
            raise refuse(
                name, json.dumps(new[name]), f"is {json.dumps(old.get(name))} in {store}: one "
                "dataset has one spec",
            )  # fmt: skip


def write_part(spec: Mapping[str, Any], folder: Any, part: Part, *, threads: int = 0) -> dict[str, Any]:
    """Computes and writes one part of a resolved spec; the record, written last, says it is done. Where
    another writer has done it meanwhile, that record, and nothing is written."""
    store = store_of(folder)
    columns = _columns(spec, part.first, part.rows, threads)
    kept = _manifest.record_of(store, part)
    if kept is not None:
        return kept
    attributes = {"schema": SCHEMA, "split": part.split, "first": part.first, "rows": part.rows}

    def write(file: BinaryIO) -> None:
        _parts.write_columns(file, columns, attributes, spec["compression"])

    try:
        size, sha256 = store.put_by(part.file, write)
        record = _manifest.new_record(part, columns, size, sha256)
        store.put_json(part.record, record, indent=None)
    except FileNotFoundError:  # finish swept away what a writer that came late had begun
        kept = _manifest.record_of(store, part)
        if kept is None:
            raise
        return kept
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


def _begin(store: Store, spec: Any, resolved: Mapping[str, Any]) -> None:
    kept = _spec_of(store)
    if kept is not None:
        _same(kept, resolved, store)
        return
    names = {*store.sizes(""), *store.folders("")}
    if names - {"spec.json", "spec.toml", "data", "parts"}:
        raise refuse(str(store), "no dataset and not empty", "choose another folder")
    _, source = _loaded(spec)
    if source is not None:
        store.put_text("spec.toml", source)
    store.put_json("spec.json", resolved)


def make(
    spec: Any, folder: Any, *, shard: Any = None, part: int | Iterable[int] | None = None,
    threads: int = 0, progress: Any = None,
) -> int:  # fmt: skip
    """Computes the parts of a dataset that are missing and returns their number.

    Parameters:

    spec
        A TOML file, a dict of its tables, or the name of a recipe (RECIPES).
    folder
        A folder, or the URL of an object store (s3://bucket/name, by fsspec).
    shard
        "I/N" or (I, N): every N-th part from part I.
    part
        Only this part, or these.
    progress
        Called with (parts done, parts in all); returning False ends the call. True shows a bar.

    Parts have the same bytes whoever computes them. Shards may overlap, and the next call completes what was
    interrupted.

    Errors: InvalidInput for the spec, or where the folder holds another dataset. OSError where it cannot be
    written; parts that were written completely stay.
    """
    store = store_of(folder)
    resolved = resolve(spec)
    index, count = _shard(shard)
    every = parts(resolved)
    mine: Sequence[int] = range(index, len(every), count)
    if part is not None:
        mine = [part] if isinstance(part, int) else list(part)
        for each in mine:
            _whole("part", each, 0, len(every) - 1)
    _begin(store, spec, resolved)
    written, report = 0, called(progress)
    for done, each in enumerate(mine):
        if _manifest.record_of(store, every[each]) is None:
            write_part(resolved, store, every[each], threads=threads)
            written += 1
        if report is not None and report(done + 1, len(mine)) is False:
            break
    return written


def _card(spec: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    lines = ["---", "configs:", "- config_name: default", "  data_files:"]
    for split in spec["splits"]:
        below = "data/*" if "branches" in manifest else "data"
        lines += [f"  - split: {split}", f"    path: {below}/{split}-*.h5"]
    source = " ".join(f"{key} {value}" for key, value in spec["source"].items())
    what, reading, licence, limits = _recipes.ABOUT.get(spec["kind"], ("", "", "", ""))
    rows = ", ".join(f"{split.name} {split.rows}" for split in Parts(spec).splits)
    lines += [
        "---", "", f"# {spec['name']}", "",
        f"{spec['problems']} problems of kind {spec['kind']}, {source}, by carom {spec['carom']['version']} "
        f"({spec['carom']['commit']}), {manifest['bytes'] / 1e6:.1f} MB. Splits, in the order of rows: {rows}. {what}", "",
        "    datasets.load_dataset(DIR)      # its formatters give float32 unless asked for float64",
        "    carom.data.Rows(DIR, 'train')   # for torch's DataLoader and grain", *([reading] if reading else []), "",
        "| column | type | shape of a row | unit | |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for name, column in manifest["columns"].items():
        kind = "bytes" if column["dtype"] == "|O" else np.dtype(column["dtype"]).name
        unit, meaning = _recipes.described(name)
        lines.append(f"| {name} | {kind} | {tuple(column['shape'])} | {unit} | {meaning} |")
    lines += [
        "", f"Checksum of all values: {manifest['digest']} (of SHA-256). `python -m carom dataset verify DIR --recompute 1%` reads every byte and "
        "computes some parts again; all of it follows from `spec.json`"
        + (f", as `python -m carom dataset make {spec['name']} DIR --problems {spec['problems']}` has it." if spec["name"] in RECIPES else "."),
    ]  # fmt: skip
    if licence:
        lines += ["", f"Licence: {licence}", "", f"Limits: {limits}"]
    return "\n".join(lines) + "\n"


def finish(folder: Any) -> dict[str, Any]:
    """Writes the card and, last, the manifest, which it returns. More than a thousand parts: the manifest
    is a tree, a file of records a thousand (docs/howto/scale.md). Errors: InvalidInput naming the parts that
    lack."""
    store = store_of(folder)
    spec = _opened(store)
    manifest = _manifest.write(store, spec, parts(spec))
    for left in store.orphans():
        store.remove(left)
    store.put_text("README.md", _card(spec, manifest))
    if spec["kind"] == "tosses":
        store.put_text("LICENSE", _certified_rows.measured_file("LICENSE").read_text(encoding="utf-8"))
    store.put_json("manifest.json", manifest)
    return manifest


def _sampled(count: int, recompute: Any) -> set[int]:
    """Which parts are computed again: a number of them, a share such as "1%", or all."""
    if recompute in (None, 0):
        return set()
    if isinstance(recompute, str) and recompute.endswith("%"):
        recompute = math.ceil(float(recompute[:-1]) / 100.0 * count)
    wanted = min(_whole("recompute", int(recompute), 1), count)
    return set(np.linspace(0, count - 1, wanted).round().astype(int).tolist())


def _wrong_part(store: Store, part: Part, record: Mapping[str, Any]) -> str | None:
    if store.size(part.file) is None:
        return f"{part.file}: missing"
    with store.local(part.file) as path:
        if _parts.file_digest(path) != record["sha256"]:
            return f"{part.file}: its bytes are not those that were written"
        if _parts.digest_of(_parts.read_columns(path)) != record["digest"]:
            return f"{part.file}: its values are not those that were computed"
    return None


def _strangers(store: Store, every: Parts) -> list[str]:
    found = []
    for below in ("data", *(f"data/{name}" for name in store.folders("data"))):
        found += [key for key in store.sizes(below) if key.endswith(".h5") and every.named(key) is None]
    return [f"{key}: belongs to no part" for key in sorted(found)]


def verify(folder: Any, *, recompute: Any = 0, shard: Any = None, threads: int = 0) -> list[str]:
    """What is wrong with a finished dataset, a line each; empty where nothing is. Every file's
    bytes and values are read; recompute: a number of parts, or "1%" of them, that are computed again. shard: as in
    make, only every N-th part."""
    store = store_of(folder)
    manifest = _manifest.opened(store)
    spec = manifest["spec"]
    every = parts(spec)
    index, count = _shard(shard)
    wrong: list[str] = []
    try:
        _same(_opened(store), spec, store)
    except InvalidInput as error:
        wrong.append(f"spec.json: {error}")
    if _manifest.count_of_parts(manifest) != len(every):
        return [*wrong, "manifest.json: its parts are not those of its spec"]
    again = _sampled(len(every), recompute)
    for records in _manifest.branches(store, manifest, wrong):
        for record in records:
            part = every[record["part"]]
            if part.file != record["file"]:
                return [*wrong, "manifest.json: its parts are not those of its spec"]
            if part.part % count != index:
                continue
            found = _wrong_part(store, part, record)
            if found is not None:
                wrong.append(found)
            if part.part in again:
                columns = _columns(spec, part.first, part.rows, threads)
                if _parts.digest_of(columns) != record["digest"]:
                    wrong.append(f"{part.file}: computed again, its values are others")
    if _manifest.digest_of(manifest) != manifest.get("digest", _manifest.digest_of(manifest)):
        wrong.append("manifest.json: its digest is not that of its parts")
    return wrong + _strangers(store, every)


def show(folder: Any) -> dict[str, Any]:
    """What a dataset is and how far it is: spec, parts done, rows, bytes, statuses; once it is finished
    the digest of it all."""
    store = store_of(folder)
    spec = _opened(store)
    every = parts(spec)
    finished = store.size("manifest.json") is not None
    done, totals = _manifest.parts_done(store, every)
    return {
        "name": spec["name"], "kind": spec["kind"], "source": spec["source"],
        "problems": spec["problems"], "splits": spec["splits"], "part_rows": spec["part_rows"],
        "parts": len(every), "parts_done": done, "rows_done": totals.rows, "bytes": totals.bytes,
        "status": totals.status, "finished": finished,
        "digest": _manifest.opened(store).get("digest") if finished else None,
        "settings": spec["settings"],
    }  # fmt: skip


def export(folder: Any, out: Any, *, to: str) -> int:
    """Writes a finished dataset in another format; how many parts. parquet, npz: a file a part, nested
    lists; zarr: a group a split, its columns as arrays; lerobot: worlds of kind step
    with stored frames as episodes. Errors: InvalidInput for another format, or a kind that has no such
    export; ImportError."""
    store, out = store_of(folder), pathlib.Path(out)
    if to not in FORMATS:
        raise refuse("to", repr(to), "must be " + " or ".join(FORMATS))
    manifest = _manifest.opened(store)
    if out.exists() and any(out.iterdir()):
        raise refuse(str(out), "not empty", "choose another folder")
    FORMATS[to](store, manifest, out)
    return _manifest.count_of_parts(manifest)
