"""Datasets: what a kill, a flipped bit and shards do to them; drawing; loading; export."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import carom
from carom import _draw, dataset

pytest.importorskip("h5py")

IMPACT = {
    "dataset": {"name": "falls", "kind": "impact", "problems": 230, "seed": 11, "part_rows": 32,
                "splits": {"train": 0.9, "test": 0.1}},
    "source": {"model": "rocking_block"},
    "draw": {"friction": {"uniform": [0.1, 1.2]}, "width": {"loguniform": [0.5, 2.0]},
             "downward_velocity": {"norm": [0.6, 0.1], "clip": [0.1, 1.5]},
             "v.0": {"truncnorm": [0.0, 0.1, -0.2, 0.2]}, "height": {"choice": [0.5, 1.0]}},
    "impact": {"samples": 16},
}  # fmt: skip
TOML = """
[dataset]
name = "falls"
kind = "impact"
problems = 230
seed = 11
part_rows = 32
splits = {train = 0.9, test = 0.1}
[source]
model = "rocking_block"
[draw]
friction = {uniform = [0.1, 1.2]}
width = {loguniform = [0.5, 2.0]}
downward_velocity = {norm = [0.6, 0.1], clip = [0.1, 1.5]}
v.0 = {truncnorm = [0.0, 0.1, -0.2, 0.2]}
height = {choice = [0.5, 1.0]}
[impact]
samples = 16
"""


def changed(base=IMPACT, **tables):
    return {**base, **{name: {**base.get(name, {}), **each} for name, each in tables.items()}}


def digests(folder):
    manifest = json.loads((pathlib.Path(folder) / "manifest.json").read_text())
    return [part["digest"] for part in manifest["parts"]]


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "carom", "dataset", *map(str, arguments)],
                          capture_output=True, text=True, check=False)  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "falls"
    assert dataset.make(IMPACT, folder) == 8
    dataset.finish(folder)
    return folder


def test_philox_is_random123s():
    # Known answers of the Random123 distribution.
    zero = _draw.philox(np.zeros((1, 4), dtype=np.uint64), (0, 0))[0]
    assert [hex(int(word)) for word in zero] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
    ones = _draw.philox(np.full((1, 4), 0xFFFFFFFF, dtype=np.uint64), (0xFFFFFFFF, 0xFFFFFFFF))[0]
    assert [hex(int(word)) for word in ones] == ["0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"]


def test_values_out_of_range_are_foreseen(tmp_path):
    for spec, share in (
        ({"uniform": [0.0, 1.0]}, 0.0), ({"uniform": [-1.0, 1.0]}, 1.0), ({"choice": [-1.0, 1.0]}, 0.5),
        ({"norm": [0.0, 1.0]}, 0.5), ({"norm": [0.6, 0.1], "clip": [0.1, 1.0]}, 0.0), ({"loguniform": [0.5, 20.0]}, 1.0),
        ({"truncnorm": [0.5, 1.0, 0.0, 1.0]}, 0.0), ({"norm": [-1.0, 1.0], "clip": [-1.0, 1.0]}, 1.0),
    ):  # fmt: skip
        assert _draw.outside(spec, 0.0, 10.0) == pytest.approx(share, abs=1e-12), spec
    assert _draw.outside({"choice": [0.0]}, 0.0, 1.0, True) == 1.0
    assert _draw.outside({"uniform": [0.0, 1.0]}, 0.0, 1.0, True) == 0.0
    assert _draw.outside({"norm": [0.0, 1.0]}, -1.0, 1.0) == pytest.approx(0.3173, abs=1e-4)
    rare = changed(draw={"friction": {"norm": [0.6, 0.1]}})  # one of 10^9
    assert dataset.resolve(rare)["draw"]["friction"] == {"norm": [0.6, 0.1]}
    with pytest.raises(carom.InvalidInput, match="clip"):
        dataset.resolve(changed(rare, dataset={"problems": 2**31}))


def test_draws_have_their_distributions_and_no_order():
    n = 20000
    draw = {name: _draw.drawn(_draw.checked(name, each), 3, 0, n, name)
            for name, each in IMPACT["draw"].items()}  # fmt: skip
    assert abs(draw["friction"].mean() - 0.65) < 0.01 and draw["friction"].min() >= 0.1
    assert abs(np.log(draw["width"]).mean()) < 0.01
    assert abs(draw["downward_velocity"].std() - 0.1) < 0.003
    assert np.abs(draw["v.0"]).max() <= 0.2
    assert set(draw["height"]) == {0.5, 1.0}
    part = _draw.drawn(_draw.checked("friction", IMPACT["draw"]["friction"]), 3, 777, 10, "friction")
    assert part.tobytes() == draw["friction"][777:787].tobytes()
    assert abs(np.corrcoef(draw["friction"], draw["width"])[0, 1]) < 0.03


def test_files_rows_and_manifest(whole):
    import h5py

    manifest = json.loads((whole / "manifest.json").read_text())
    assert manifest["rows"] == 230
    assert [p["split"] for p in manifest["parts"]] == ["train"] * 7 + ["test"]
    assert manifest["spec"]["settings"]["mode_table"] is False  # 16 samples do not pay for it
    first = 0
    for part in manifest["parts"]:
        with h5py.File(whole / part["file"]) as file:
            assert set(len(file[name]) for name in manifest["columns"]) == {part["rows"]}
            assert file["index"][0] == first and file["velocity_after"].shape[1:] == (16, 3)
            assert file["modes"].dtype == np.uint8
        first += part["rows"]
    card = (whole / "README.md").read_text()
    assert "path: data/train-*.h5" in card and "velocity_after" in card
    assert dataset.verify(whole, recompute="20%") == []
    shown = dataset.show(whole)
    assert shown["parts_done"] == shown["parts"] == 8 and shown["finished"]


def test_rows_are_those_of_one_call(whole):
    rows = carom.data.Rows(whole, "train")
    at = rows.batch([5, 100, 206])
    for place, i in enumerate((5, 100, 206)):
        problem = carom.model(
            "rocking_block", **{name: at[f"parameter/{name}"][place]
                                for name in ("friction", "width", "downward_velocity", "height")})
        v = problem.velocity.copy()
        v[:, 0] = at["parameter/v.0"][place]
        run = carom.impact.sample(
            problem.mass_matrix, problem.normal_jacobian, problem.tangent_jacobian,
            problem.friction, v, samples=16, seed=11, first_problem=i, mode_table=False,
        )  # fmt: skip
        assert run.samples.velocity[0].tobytes() == at["velocity_after"][place].tobytes()


def test_parts_do_not_depend_on_their_size(whole, tmp_path):
    other = tmp_path / "other"
    dataset.make(changed(dataset={"part_rows": 50}), other)
    dataset.finish(other)
    for split in ("train", "test"):
        a, b = carom.data.Rows(whole, split), carom.data.Rows(other, split)
        ours, theirs = a.batch(range(len(a))), b.batch(range(len(b)))
        for name, column in ours.items():
            assert column.tobytes() == theirs[name].tobytes(), name


def test_shards_make_the_whole(whole, tmp_path):
    spec = tmp_path / "spec.toml"
    spec.write_text(TOML)
    folder = tmp_path / "shards"
    environment = {"SLURM_ARRAY_TASK_COUNT": "3"}
    for task in range(3):
        environment["SLURM_ARRAY_TASK_ID"] = str(task)
        shard = f"{environment['SLURM_ARRAY_TASK_ID']}/{environment['SLURM_ARRAY_TASK_COUNT']}"
        done = command("make", spec, folder, "--shard", shard, "--threads", 1)
        assert done.returncode == 0, done.stderr
        if task < 2:
            refused = command("finish", folder)
            assert refused.returncode == 2 and "make parts" in refused.stderr
    assert command("finish", folder).returncode == 0
    assert command("verify", folder, "--recompute", 2).returncode == 0
    assert digests(folder) == digests(whole)
    assert (folder / "spec.toml").read_text() == TOML
    assert json.loads(command("show", folder).stdout)["finished"]


def test_kills_at_any_moment_change_nothing(whole, tmp_path):
    spec = tmp_path / "spec.toml"
    spec.write_text(TOML)
    folder = tmp_path / "killed"
    chance = random.Random(1)
    script = f"import carom; carom.dataset.make({str(spec)!r}, {str(folder)!r}, shard=__import__('sys').argv[1])"
    kills = 0
    for round_ in range(12):
        pair = [subprocess.Popen([sys.executable, "-c", script, shard]) for shard in ("0/1", f"{round_ % 2}/2")]
        time.sleep(0.25 + 0.6 * chance.random())
        for process in pair:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
            process.wait()
    assert kills > 0
    dataset.make(str(spec), folder)
    (folder / "data" / ".train-00000.h5.host.1.tmp").write_bytes(b"left by a kill")
    dataset.finish(folder)
    assert digests(folder) == digests(whole)
    assert dataset.verify(folder) == []
    assert not list(folder.rglob("*.tmp"))


def test_a_flipped_bit_is_named(whole, tmp_path):
    folder = tmp_path / "flipped"
    shutil.copytree(whole, folder)
    for at in (0.3, 0.97):
        path = folder / "data/train-00002.h5"
        content = bytearray(path.read_bytes())
        content[int(at * len(content))] ^= 4
        path.write_bytes(content)
        wrong = dataset.verify(folder)
        assert len(wrong) == 1 and wrong[0].startswith("data/train-00002.h5")
        shutil.copy(whole / "data/train-00002.h5", path)
    assert dataset.verify(folder) == []
    (folder / "data/test-00000.h5").unlink()
    assert dataset.verify(folder) == ["data/test-00000.h5: missing"]
    with pytest.raises(carom.InvalidInput, match="7 of 8"):
        dataset.finish(folder)
    assert dataset.make(IMPACT, folder) == 1
    dataset.finish(folder)
    assert digests(folder) == digests(whole)


def test_one_folder_has_one_spec(whole):
    with pytest.raises(carom.InvalidInput) as refused:
        dataset.make(changed(dataset={"seed": 12}), whole)
    assert refused.value.field in ("seed", "settings")


@pytest.mark.parametrize(
    ("tables", "field"),
    [
        ({"dataset": {"problems": 0}}, "dataset.problems"),
        ({"dataset": {"kind": "motions"}}, "dataset.kind"),
        ({"dataset": {"part_row": 4}}, "dataset.part_row"),
        ({"dataset": {"splits": {"train": 0.5}}}, "dataset.splits"),
        ({"source": {"model": "rock"}}, "source.model"),
        ({"source": {"file": "x.json"}}, "source"),
        ({"draw": {"frction": {"uniform": [0, 1]}}}, "draw.frction"),
        ({"draw": {"friction": {"uniform": [1, 0]}}}, "draw.friction.uniform"),
        ({"draw": {"friction": {"beta": [1, 2]}}}, "draw.friction"),
        ({"draw": {"width": {"loguniform": [0, 1]}}}, "draw.width.loguniform"),
        ({"draw": {"v.9": 1.0}}, "draw.v.9"),
        ({"draw": {"friction": {"uniform": [-0.1, 1]}}}, "draw.friction"),
        ({"draw": {"friction": {"norm": [0.3, 0.1]}}}, "draw.friction"),
        ({"draw": {"width": {"choice": [1.0, 0.0]}}}, "draw.width"),
        ({"draw": {"width": {"truncnorm": [1.0, 1.0, -1.0, 2.0]}}}, "draw.width"),
        ({"impact": {"sampels": 4}}, "sampels"),
        ({"impact": {"samples": 0}}, "samples"),
        ({"impact": {"first_problem": 4}}, "impact.first_problem"),
        ({"equilibrium": {}}, "equilibrium"),
    ],
)
def test_specs_are_refused_by_name(tables, field, tmp_path):
    with pytest.raises(carom.InvalidInput) as refused:
        dataset.make(changed(**tables), tmp_path / "none")
    assert refused.value.field == field, str(refused.value)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("kind", "source", "draw", "settings", "columns"),
    [
        ("equilibrium", {"model": "two_contacts"}, {}, {}, {"lower": (), "force": (2, 2, 2)}),
        ("equilibrium", {"model": "tripod_flat"}, {}, {"directions": 8}, {"upper": (8,)}),
        ("step", {"scenario": "inclined_block"}, {"friction": {"uniform": [0, 0.4]}},
         {"steps": 20, "stride": 10}, {"displacement": (), "state": (3, 13)}),
        ("stability", {"model": "figure2"}, {"alpha": {"uniform": [0, 40]}}, {},
         {"verdict": (), "coefficients": (24,)}),
        ("motion", {"model": "rocking_block_drop"}, {"angle": {"uniform": [-2, 2]}},
         {"duration": 0.4, "samples": 3, "grid": 0.1, "keep_samples": 2},
         {"end": (3,), "position": (3, 3), "start_position": (3,), "state": (2, 5, 7)}),
    ],
)  # fmt: skip
def test_every_kind(kind, source, draw, settings, columns, tmp_path):
    spec = {"dataset": {"kind": kind, "problems": 40, "part_rows": 16}, "source": source,
            "draw": draw, kind: settings}  # fmt: skip
    dataset.make(spec, tmp_path / "set", shard="1/2")
    dataset.make(spec, tmp_path / "set")
    dataset.finish(tmp_path / "set")
    assert dataset.verify(tmp_path / "set", recompute=2) == []
    rows = carom.data.Rows(tmp_path / "set")
    assert len(rows) == 40
    for name, shape in columns.items():
        assert rows[39][name].shape == shape


@pytest.mark.parametrize(("kind", "source", "draw", "settings", "column"), [
    ("stability", "figure3", {"e": {"choice": [0.2]}, "mu": {"uniform": [0.3, 1.4]}},
     {"method": "simulate", "states": 20, "events": 1000}, "events"),
    ("motion", "rocking_block_drop", {"angle": {"uniform": [-2, 2]}}, {"duration": 0.5, "samples": 2}, "position"),
])  # fmt: skip
def test_random_numbers_do_not_depend_on_parts(kind, source, draw, settings, column, tmp_path):
    found = []
    for rows in (16, 7):
        spec = {"dataset": {"kind": kind, "problems": 30, "seed": 5, "part_rows": rows}, "source": {"model": source},
                "draw": draw, kind: settings}  # fmt: skip
        dataset.make(spec, tmp_path / str(rows))
        dataset.finish(tmp_path / str(rows))
        found.append(carom.data.Rows(tmp_path / str(rows)).batch(range(30)))
    assert len(np.unique(found[0][column])) > 3
    for name, values in found[0].items():
        assert values.tobytes() == found[1][name].tobytes(), name


def test_rows_are_a_sequence_that_pickles_and_forks(whole):
    rows = carom.data.Rows(whole, "train", fields=["index", "velocity_after"])
    assert len(rows) == 207 and rows[-1]["index"] == 206 and set(rows[0]) == {"index", "velocity_after"}
    some = [206, 3, 3, 64, 31]
    assert rows.batch(some)["index"].tolist() == some
    assert [row["index"] for row in rows.__getitems__(some)] == some
    assert [int(row["index"]) for row in rows] == list(range(207))
    again = pickle.loads(pickle.dumps(rows))
    assert again.batch(some)["velocity_after"].tobytes() == rows.batch(some)["velocity_after"].tobytes()
    child = os.fork()
    if child == 0:
        good = rows.batch(some)["index"].tolist() == some
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert rows.batch(some)["index"].tolist() == some
    with pytest.raises(IndexError):
        rows[207]
    with pytest.raises(carom.InvalidInput, match="fields"):
        carom.data.Rows(whole, "train", fields=["velocities"])
    with pytest.raises(carom.InvalidInput, match="split"):
        carom.data.Rows(whole, "validation")


def test_data_loaders(whole):
    torch = pytest.importorskip("torch")
    rows = carom.data.Rows(whole, "train", fields=["index", "velocity_after"])
    for workers, context in ((0, None), (2, "fork"), (2, "spawn")):
        loader = torch.utils.data.DataLoader(rows, batch_size=16, shuffle=True, num_workers=workers,
                                             multiprocessing_context=context)  # fmt: skip
        seen = sorted(int(i) for batch in loader for i in batch["index"])
        assert seen == list(range(207))


def test_grain(whole):
    grain = pytest.importorskip("grain")
    rows = carom.data.Rows(whole, "train", fields=["index", "velocity_after"])
    batches = list(grain.MapDataset.source(rows).shuffle(seed=3).batch(16))
    assert batches[0]["velocity_after"].shape == (16, 16, 3)
    assert sorted(int(i) for batch in batches for i in batch["index"]) == list(range(207))


def test_load_dataset_in_one_line(whole):
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset(str(whole))
    assert loaded["train"].num_rows == 207 and loaded["test"].num_rows == 23


def test_export(whole, tmp_path):
    assert dataset.export(whole, tmp_path / "npz", to="npz") == 8
    with np.load(tmp_path / "npz/data/train-00000.npz") as kept:
        rows = carom.data.Rows(whole, "train").batch(range(32))
        assert kept["velocity_after"].tobytes() == rows["velocity_after"].tobytes()
        assert kept["parameter.friction"].tobytes() == rows["parameter/friction"].tobytes()
    with pytest.raises(carom.InvalidInput, match="parquet or npz"):
        dataset.export(whole, tmp_path / "x", to="csv")
    with pytest.raises(carom.InvalidInput, match="not empty"):
        dataset.export(whole, tmp_path / "npz", to="npz")
    with pytest.raises(carom.InvalidInput, match="worlds with kept frames"):
        dataset.export(whole, tmp_path / "x", to="lerobot")
    parquet = pytest.importorskip("pyarrow.parquet")
    dataset.export(whole, tmp_path / "parquet", to="parquet")
    table = parquet.read_table(tmp_path / "parquet/data/train-00000.parquet")
    assert table.num_rows == 32
    assert np.array(table["velocity_after"][3].as_py()).tobytes() == rows["velocity_after"][3].tobytes()


def test_files_of_the_command_are_a_source(tmp_path):
    file = tmp_path / "block.json"
    carom.model("rocking_block").write_json(file)
    spec = {"dataset": {"problems": 6, "part_rows": 4}, "source": {"file": str(file)},
            "draw": {"friction": {"uniform": [0.2, 0.9]}, "v.2": {"uniform": [-0.1, 0.1]}},
            "impact": {"samples": 8, "step_size": 0.3}}  # fmt: skip
    dataset.make(spec, tmp_path / "set")
    dataset.finish(tmp_path / "set")
    rows = carom.data.Rows(tmp_path / "set").batch(range(6))
    assert rows["velocity"][:, 2].tobytes() == rows["parameter/v.2"].tobytes()
    assert (rows["friction"] == rows["parameter/friction"][:, None]).all()


ROBOT = """
<mujoco model="hopper"><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
<body name="box" pos="0 0 .2"><freejoint/><geom name="box" type="box" size=".5 .3 .2"/></body></worldbody></mujoco>"""


def test_states_of_a_robot(tmp_path):
    pytest.importorskip("mujoco")
    file = tmp_path / "robot.xml"
    file.write_text(ROBOT)
    spec = {"dataset": {"problems": 24, "part_rows": 10, "seed": 5}, "source": {"mujoco": str(file), "contacts": 4},
            "draw": {"qpos.2": {"choice": [0.2, 0.21, 0.19]}, "qvel.2": {"uniform": [-1.0, -0.5]}},
            "impact": {"samples": 8, "step_size": 1000.0}}  # fmt: skip
    dataset.make(spec, tmp_path / "set")
    dataset.finish(tmp_path / "set")
    assert dataset.verify(tmp_path / "set", recompute="100%") == []
    rows = carom.data.Rows(tmp_path / "set").batch(range(24))
    height = rows["qpos"][:, 2]
    assert rows["friction"].shape == (24, 4) and set(height) == {0.2, 0.21, 0.19}
    assert (rows["contacts"] == np.select([height == 0.2, height == 0.21], [4, 0], -1)).all()
    held = rows["contacts"] == 4
    assert (rows["status"][held] == carom.TrajectoryStatus.terminated).all()
    assert (rows["problem_status"][height == 0.19] == carom.Status.invalid_input).all()  # 1 cm deep
    assert rows["velocity"][held][:, 2].tobytes() == rows["parameter/qvel.2"][held].tobytes()
    with pytest.raises(carom.InvalidInput, match="no coordinate"):
        dataset.resolve({**spec, "draw": {"qpos.7": 1.0}})
    with pytest.raises(carom.InvalidInput, match="no such file"):
        dataset.resolve({**spec, "source": {"mujoco": "none.xml"}})
    file.write_text(ROBOT.replace(".5 .3", ".5 .4"))
    with pytest.raises(carom.InvalidInput, match="one spec"):
        dataset.make(spec, tmp_path / "set")


def test_zarr(whole, tmp_path):
    zarr = pytest.importorskip("zarr")
    dataset.export(whole, tmp_path / "zarr", to="zarr")
    root = zarr.open_group(str(tmp_path / "zarr"), mode="r")
    for split in ("train", "test"):
        rows = carom.data.Rows(whole, split)
        every = rows.batch(range(len(rows)))
        for name in ("index", "velocity_after", "parameter/friction", "modes"):
            assert root[f"{split}/{name}"][:].tobytes() == every[name].tobytes(), name
    assert root["train/velocity_after"].chunks[0] == 32
    assert root.attrs["carom"]["seed"] == 11


def test_ray(whole, tmp_path):
    pytest.importorskip("ray")
    (tmp_path / "spec.toml").write_text(TOML)
    script = pathlib.Path(__file__).parents[2] / "examples/cluster/ray_dataset.py"
    done = subprocess.run([sys.executable, str(script), str(tmp_path / "spec.toml"), str(tmp_path / "set")],
                          capture_output=True, text=True, check=False, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert digests(tmp_path / "set") == digests(whole)


def test_slurm(whole, tmp_path):
    """The job script as Slurm runs it: once a task of the array, then the dependent job."""
    folder = pathlib.Path(__file__).parents[2] / "examples/cluster"
    (tmp_path / "spec.toml").write_text(TOML)
    python = pathlib.Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{python}:{os.environ['PATH']}", "SLURM_ARRAY_TASK_COUNT": "3",
                   "SLURM_CPUS_PER_TASK": "1"}  # fmt: skip
    for task in (2, 0, 1):
        environment["SLURM_ARRAY_TASK_ID"] = str(task)
        subprocess.run(["bash", folder / "dataset.slurm", "spec.toml", "set"], cwd=tmp_path, env=environment, check=True)
    subprocess.run(["bash", folder / "finish.slurm", "set"], cwd=tmp_path, env=environment, check=True)
    assert digests(tmp_path / "set") == digests(whole)
