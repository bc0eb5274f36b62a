"""Exports finished datasets to other formats."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from . import _manifest, _parts, compliant
from ._arrays import refuse
from ._layout import Parts
from ._optional import needed
from ._store import Folder, Store, write_whole

Manifest = Mapping[str, Any]


def _each(store: Store, manifest: Manifest) -> Iterator[tuple[Mapping[str, Any], dict[str, np.ndarray]]]:
    for record in _manifest.every_record(store, manifest):
        with store.local(record["file"]) as path:
            yield record, _parts.read_columns(path)


def _file_a_part(
    suffix: str, writer: Callable[[Mapping[str, np.ndarray]], Callable[[pathlib.Path], None]]
) -> Callable[[Store, Manifest, pathlib.Path], None]:
    def export(store: Store, manifest: Manifest, out: pathlib.Path) -> None:
        for record, columns in _each(store, manifest):
            target = out / (os.path.splitext(record["file"])[0] + suffix)
            write_whole(target, writer(columns))

    return export


def _npz(columns: Mapping[str, np.ndarray]) -> Callable[[pathlib.Path], None]:
    def write(temporary: pathlib.Path) -> None:
        arrays: dict[str, Any] = {}
        for name, column in columns.items():
            name = name.replace("/", ".")
            if column.dtype.kind == "O":  # all bytes, and where each row's end
                arrays[name] = np.concatenate(list(column))
                arrays[f"{name}.end"] = np.cumsum([len(row) for row in column])
            else:
                arrays[name] = column
        with open(temporary, "wb") as file:
            np.savez(file, **arrays)

    return write


def _pyarrow() -> Any:
    needed("pyarrow.parquet", "parquet", "export")
    return needed("pyarrow", "parquet", "export")


def _table(columns: Mapping[str, np.ndarray]) -> Any:
    pyarrow = _pyarrow()
    arrays = {}
    for name, column in columns.items():
        if column.dtype.kind == "O":
            arrays[name.replace("/", ".")] = pyarrow.array([row.tobytes() for row in column])
            continue
        values: Any = pyarrow.array(np.ascontiguousarray(column).reshape(-1))
        for extent in reversed(column.shape[1:]):
            values = pyarrow.FixedSizeListArray.from_arrays(values, extent)
        arrays[name.replace("/", ".")] = values
    return pyarrow.table(arrays)


def _parquet(columns: Mapping[str, np.ndarray]) -> Callable[[pathlib.Path], None]:
    table = _table(columns)
    return lambda temporary: _pyarrow().parquet.write_table(table, temporary)


def _zarr(store: Store, manifest: Manifest, out: pathlib.Path) -> None:
    """A group a split, a chunk of an array for every part; the manifest's digests in the attributes."""
    zarr = needed("zarr", "an export to zarr", "export")
    for name, column in manifest["columns"].items():
        if column["dtype"] == "|O":
            raise refuse("to", "'zarr'", f"takes columns of one shape: {name} is bytes, which parquet and npz take", "is")
    root = zarr.open_group(str(out), mode="w-")
    root.attrs["carom"] = json.loads(json.dumps(manifest["spec"]))
    rows = {split.name: split.rows for split in Parts(manifest["spec"]).splits}
    done = {split: 0 for split in rows}
    for record, columns in _each(store, manifest):
        split = record["split"]
        for name, column in columns.items():
            path = f"{split}/{name}"
            if path not in root:
                root.create_array(path, shape=(rows[split], *column.shape[1:]), dtype=column.dtype,
                                  chunks=(max(1, manifest["spec"]["part_rows"]), *column.shape[1:]))  # fmt: skip
            root[path][done[split] : done[split] + len(column)] = column
        done[split] += record["rows"]


def _lerobot(store: Store, manifest: Manifest, out: pathlib.Path) -> None:
    """LeRobotDataset v3: every world of kind step is an episode, its kept frames the state, its
    parameters observation.environment_state. float32, as that format has it."""
    pyarrow = _pyarrow()
    spec = manifest["spec"]
    if spec["kind"] != "step" or "state" not in manifest["columns"]:
        raise refuse("to", "'lerobot'", "takes worlds with kept frames: kind step and a stride", "is")
    scenario = compliant.scenarios()[spec["source"]["scenario"]]
    names = [*scenario.positions, *scenario.velocities]
    drawn = sorted(name for name in manifest["columns"] if name.startswith("parameter/"))
    fps = 1.0 / (spec["settings"]["dt"] * spec["settings"]["stride"])
    if abs(fps - round(fps)) > 1e-6 * fps:
        raise refuse("stride", f"{fps:g} frames a second", "that format has whole numbers of them", "makes")
    frames = manifest["columns"]["state"]["shape"][0]

    data: dict[str, list[np.ndarray]] = {}
    episodes = 0
    splits: dict[str, list[int]] = {}
    for record, columns in _each(store, manifest):
        count = record["rows"]
        splits.setdefault(record["split"], [episodes, episodes])[1] += count
        state = columns["state"].astype(np.float32)
        given = np.stack([columns[name] for name in drawn], axis=1).astype(np.float32) if drawn else None
        index = np.arange(episodes, episodes + count, dtype=np.int64)
        made = {
            "observation.state": state.reshape(count * frames, -1),
            "timestamp": np.tile(np.arange(frames) / fps, count).astype(np.float32),
            "frame_index": np.tile(np.arange(frames, dtype=np.int64), count),
            "episode_index": np.repeat(index, frames),
            "index": np.arange(episodes * frames, (episodes + count) * frames, dtype=np.int64),
            "task_index": np.zeros(count * frames, dtype=np.int64),
        }
        if given is not None:
            made["observation.environment_state"] = np.repeat(given, frames, axis=0)
        for name, column in made.items():
            data.setdefault(name, []).append(column)
        episodes += count
    whole = {name: np.concatenate(parts) for name, parts in data.items()}
    # A feature of shape (1) is a plain number there.
    whole = {name: column.reshape(len(column)) if column[0].size == 1 else column for name, column in whole.items()}

    def write(path: str, table: Any) -> None:
        write_whole(out / path, lambda temporary: pyarrow.parquet.write_table(table, temporary))

    task = f"{spec['name']}: {scenario.name}"
    write("data/chunk-000/file-000.parquet", _table(whole))
    write("meta/tasks.parquet", pyarrow.table({"task_index": np.zeros(1, dtype=np.int64), "__index_level_0__": [task]}))
    first = np.arange(episodes, dtype=np.int64) * frames
    statistics = {name: _statistics(column) for name, column in whole.items()}
    by_episode = {
        "episode_index": np.arange(episodes, dtype=np.int64),
        "data/chunk_index": np.zeros(episodes, dtype=np.int64),
        "data/file_index": np.zeros(episodes, dtype=np.int64),
        "dataset_from_index": first,
        "dataset_to_index": first + frames,
        "tasks": [[task]] * episodes,
        "length": np.full(episodes, frames, dtype=np.int64),
        "meta/episodes/chunk_index": np.zeros(episodes, dtype=np.int64),
        "meta/episodes/file_index": np.zeros(episodes, dtype=np.int64),
    }
    write("meta/episodes/chunk-000/file-000.parquet", pyarrow.table(by_episode))
    Folder(out).put_json("meta/stats.json", statistics)
    labels = {"observation.state": names, "observation.environment_state": [name.split("/", 1)[1] for name in drawn]}
    features = {
        name: {"dtype": str(column.dtype), "shape": list(column.shape[1:]) or [1], "names": labels.get(name)}
        for name, column in whole.items()
    }
    Folder(out).put_json("meta/info.json", {
        "codebase_version": "v3.0", "robot_type": scenario.name, "total_episodes": episodes,
        "total_frames": episodes * frames, "total_tasks": 1, "chunks_size": 1000,
        "data_files_size_in_mb": 100, "video_files_size_in_mb": 200, "fps": round(fps),
        "splits": {split: f"{begin}:{end}" for split, (begin, end) in splits.items()},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet", "video_path": None,
        "features": features,
    })  # fmt: skip


def _statistics(column: np.ndarray) -> dict[str, Any]:
    values = column.reshape(len(column), -1).astype(np.float64)
    return {
        "min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist(),
        "mean": values.mean(axis=0).tolist(), "std": values.std(axis=0).tolist(), "count": [len(values)],
    }  # fmt: skip


FORMATS: dict[str, Callable[[Store, Manifest, pathlib.Path], None]] = {
    "parquet": _file_a_part(".parquet", _parquet),
    "npz": _file_a_part(".npz", _npz),
    "zarr": _zarr,
    "lerobot": _lerobot,
}
