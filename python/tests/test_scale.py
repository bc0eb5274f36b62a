"""Datasets of very many parts, on machines that fail, and in stores without rename."""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import carom
from carom import _layout, _store, data, dataset

pytest.importorskip("h5py")

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = {
    "dataset": {"kind": "equilibrium", "problems": 60, "part_rows": 4, "seed": 5,
                "splits": {"train": 0.9, "test": 0.1}},
    "source": {"model": "two_contacts"},
    "draw": {"friction": {"uniform": [0.1, 1.2]}},
}  # fmt: skip


def made(where, spec=SPEC):
    dataset.make(spec, where, threads=1)
    return dataset.finish(where)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "set"
    made(folder)
    return folder


def test_parts_are_arithmetic():
    spec = {"problems": 2**32, "part_rows": 400, "splits": {"train": 0.9, "none": 1e-12, "test": 0.1 - 1e-12}}
    every = dataset.parts(spec)
    train = round(0.9 * 2**32)
    assert every.split("train").rows == train and every.split("none").rows == 0
    assert len(every) == -(-train // 400) + -(-(2**32 - train) // 400) and every.branches == 10738
    assert every[0].file == "data/00000/train-00000.h5" and every[-1] == every[len(every) - 1]
    assert every[9663676].rows == train % 400 and every[9663677].split == "test"
    assert every[9663677].first == train and every[-1].first + every[-1].rows == 2**32
    for place in (0, 1, 999, 1000, 9663676, 9663677, 9663678, len(every) - 1):
        part = every[place]
        assert part.part == place and part.folder == f"{place // 1000:05d}/" and every.named(part.file) == part
    assert every.named("data/00001/train-00000.h5") is None and every.named("data/train-00000.h5") is None
    small = dataset.parts({**spec, "problems": 401})
    assert [(p.split, p.first, p.rows) for p in small] == [("train", 0, 361), ("test", 361, 40)]
    with pytest.raises(IndexError):
        every[len(every)]


def test_a_manifest_of_many_parts_is_a_tree(whole, monkeypatch, tmp_path):
    order = np.random.default_rng(1).permutation(54)
    rows = data.Rows(whole, "train").batch(order)
    monkeypatch.setattr(_layout, "BRANCH", 4)
    folder = tmp_path / "tree"
    manifest = made(folder)
    assert [branch["parts"] for branch in manifest["branches"]] == [4, 4, 4, 4] and "parts" not in manifest
    flat = json.loads((whole / "manifest.json").read_text())
    kept = [json.loads((folder / branch["file"]).read_text())["parts"] for branch in manifest["branches"]]
    assert [part["digest"] for part in sum(kept, [])] == [part["digest"] for part in flat["parts"]]
    for name in ("rows", "status", "max_residual", "columns"):
        assert manifest[name] == flat[name], name
    assert dataset.verify(folder, recompute=3) == []
    assert sum((dataset.verify(folder, shard=(i, 3)) for i in range(3)), []) == []
    shown = dataset.show(folder)
    assert shown["parts_done"] == 16 and shown["rows_done"] == 60 and shown["digest"] == manifest["digest"]
    assert "path: data/*/train-*.h5" in (folder / "README.md").read_text()

    for name, column in data.Rows(folder, "train").batch(order).items():
        assert column.tobytes() == rows[name].tobytes(), name

    path = folder / "data/00002/train-00009.h5"
    content = bytearray(path.read_bytes())
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert dataset.verify(folder) == ["data/00002/train-00009.h5: its bytes are not those that were written"]
    assert [len(dataset.verify(folder, shard=(i, 3))) for i in range(3)] == [1, 0, 0]
    branch = folder / "manifest/00001.json"
    branch.write_text(branch.read_text().replace('"rows": 4', '"rows": 5', 1))
    assert dataset.verify(folder)[0] == "manifest/00001.json: its bytes are not those that were written"
    with pytest.raises(carom.InvalidInput, match="00001.json"):
        dataset.export(folder, tmp_path / "npz", to="npz")
    branch.unlink()
    assert dataset.verify(folder)[0] == "manifest/00001.json: missing"
    (folder / "parts/00003/train-00012.json").unlink()
    with pytest.raises(carom.InvalidInput, match=r"15 of 16 parts: make parts 12 first"):
        dataset.finish(folder)
    assert dataset.make(SPEC, folder) == 1


def test_load_dataset_of_a_tree(monkeypatch, tmp_path):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(_layout, "BRANCH", 4)
    made(tmp_path / "tree")
    loaded = datasets.load_dataset(str(tmp_path / "tree"), cache_dir=str(tmp_path / "cache"))
    assert loaded["train"].num_rows == 54 and loaded["test"].num_rows == 6


def test_rows_hold_few_files(whole, monkeypatch):
    monkeypatch.setattr(data, "_OPEN_FILES", 3)
    rows = data.Rows(whole, "train", fields=["index"])
    for _ in range(3):
        assert rows.batch(range(54))["index"].tolist() == list(range(54))
    assert len(rows._open[os.getpid()]) == 3


def test_what_is_not_whole_is_made_again(whole, tmp_path):
    """As a store without rename leaves it, or a disk that lost what it had."""
    folder = tmp_path / "set"
    shutil.copytree(whole, folder)
    part, record = folder / "data/train-00003.h5", folder / "parts/train-00005.json"
    part.write_bytes(part.read_bytes()[:1000])
    record.write_text(record.read_text()[:100])
    assert dataset.show(folder)["parts_done"] == 14
    with pytest.raises(carom.InvalidInput, match="14 of 16 parts: make parts 3, 5 first"):
        dataset.finish(folder)
    assert dataset.make(SPEC, folder) == 2
    dataset.finish(folder)
    assert (folder / "manifest.json").read_bytes() == (whole / "manifest.json").read_bytes()


def test_a_writer_that_comes_late_writes_nothing(whole, tmp_path):
    spec = dataset.resolve(SPEC)
    part = dataset.parts(spec)[2]

    class Late(_store.Folder):
        def put(self, key, content):  # meanwhile another has done it, and finish swept the file
            dataset.write_part(spec, tmp_path, part)
            raise FileNotFoundError(key)

    record = dataset.write_part(spec, Late(tmp_path), part)
    assert record == json.loads((tmp_path / part.record).read_text())
    before = (tmp_path / part.file).stat().st_mtime_ns
    assert dataset.write_part(spec, tmp_path, part) == record
    assert (tmp_path / part.file).stat().st_mtime_ns == before


def test_threads_may_make_the_same_parts(whole, tmp_path):
    """As two containers may that have one host name and process number."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: dataset.make(SPEC, tmp_path / "set", threads=1), range(4)))
    dataset.finish(tmp_path / "set")
    assert (tmp_path / "set/manifest.json").read_bytes() == (whole / "manifest.json").read_bytes()


@pytest.mark.parametrize("form", ["memory", "file"])
def test_object_stores(whole, form, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    url = "memory://bucket/set" if form == "memory" else f"file://{tmp_path}/set"
    with pytest.raises(carom.InvalidInput, match="no spec.json"):
        dataset.show(url)
    dataset.make(SPEC, url, shard="0/2")
    with pytest.raises(carom.InvalidInput, match="8 of 16"):
        dataset.finish(url)
    dataset.make(SPEC, url, shard="1/2")
    with pytest.raises(carom.InvalidInput, match="one dataset has one spec"):
        dataset.make({**SPEC, "dataset": {**SPEC["dataset"], "seed": 6}}, url)
    dataset.finish(url)
    system, root = fsspec.core.url_to_fs(url)
    assert system.cat_file(f"{root}/manifest.json") == (whole / "manifest.json").read_bytes()
    assert dataset.verify(url, recompute=1) == [] and dataset.show(url)["parts_done"] == 16
    rows, plain = data.Rows(url), data.Rows(whole)
    assert rows.batch([50, 3])["lower"].tobytes() == plain.batch([50, 3])["lower"].tobytes()
    assert dataset.export(url, tmp_path / "npz", to="npz") == 16
    system.pipe_file(f"{root}/data/test-00001.h5", b"not what was written")
    assert dataset.verify(url) == ["data/test-00001.h5: its bytes are not those that were written"]
    with pytest.raises(carom.InvalidInput, match="make parts 15 first"):
        dataset.finish(url)
    assert dataset.make(SPEC, url) == 1 and dataset.finish(url)["rows"] == 60
    system.rm(root, recursive=True)


FULL = """
import os, pathlib, sys
folder = pathlib.Path(sys.argv[1])
import carom
from carom import dataset
spec = dict(%r, dataset=dict(%r, problems=20000, part_rows=1000))
try:
    dataset.make(spec, folder / "set", threads=1)
except OSError as error:
    print(type(error).__name__, error.errno, len(list((folder / "set/parts").glob("*.json"))) > 0,
          list(folder.rglob("*.tmp")))
(folder / "ballast").unlink()
dataset.make(spec, folder / "set", threads=1)
dataset.finish(folder / "set")
print(dataset.verify(folder / "set", recompute=2))
"""


def test_a_full_disk(tmp_path):
    """A file system of 24 MB, half of it taken: the call ends with the system's own error, what was whole
    stays, and once there is room the next call goes on."""
    (tmp_path / "small").mkdir()
    (tmp_path / "full.py").write_text(FULL % (SPEC, SPEC["dataset"]))
    mount = "mount -t tmpfs -o size=24m tmpfs small && dd if=/dev/zero of=small/ballast bs=1M count=20 2>/dev/null"
    unshared = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"]), "sh", "-c"]
    if not shutil.which("unshare") or subprocess.run([*unshared, mount], cwd=tmp_path, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    done = subprocess.run([*unshared, f"{mount} && exec '{sys.executable}' full.py small"], cwd=tmp_path,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["OSError 28 True []", "[]"] and done.stderr == ""


def test_a_file_that_another_process_sweeps_is_written_again(tmp_path):
    swept = []

    def write(beside):
        beside.write_text("whole")
        if not swept:  # as `finish` elsewhere does
            swept.append(beside)
            beside.unlink()

    _store.write_whole(tmp_path / "part", write)
    assert (tmp_path / "part").read_text() == "whole" and len(list(tmp_path.iterdir())) == 1 and swept
    with pytest.raises(FileNotFoundError, match="tmp"):
        _store.write_whole(tmp_path / "part", lambda beside: None)
    assert (tmp_path / "part").read_text() == "whole" and len(list(tmp_path.iterdir())) == 1

    def begun(beside):
        beside.write_text("half")
        (tmp_path / "other").read_text()

    with pytest.raises(FileNotFoundError, match="other"):
        _store.write_whole(tmp_path / "part", begun)
    assert (tmp_path / "part").read_text() == "whole" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("store", ["folder", "objects"])
def test_machines_that_fail(store, tmp_path):
    """The short form of bench/scale.py: kills, stragglers, a full disk, a clock that jumps, two schedulers."""
    if shutil.which(os.environ.get("CC", "cc")) is None:
        pytest.skip("no C compiler")
    if store == "objects":
        pytest.importorskip("fsspec")
    done = subprocess.run(
        [sys.executable, ROOT / "bench/scale.py", "--parts", "160", "--life", "0.4", "--store", store,
         "--folder", tmp_path], capture_output=True, text=True, check=False, timeout=550,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["equal"] and found["wrong"] == [] and found["parts_begun"] >= 160
    assert store == "objects" or found["made_again"] == 0
    assert found["killed"] > 0 and found["orphans_left"] == 0
