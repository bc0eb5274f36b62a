"""Exports to LeRobot: the files, and the library itself where it is installed."""

from __future__ import annotations

import json

import numpy as np
import pytest

import carom
from carom import dataset

pytest.importorskip("h5py")


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("worlds")
    spec = {"dataset": {"name": "blocks", "kind": "step", "problems": 10, "part_rows": 4,
                        "splits": {"train": 0.8, "test": 0.2}},
            "source": {"scenario": "inclined_block"}, "draw": {"friction": {"uniform": [0, 0.4]}},
            "step": {"steps": 20, "stride": 5}}  # fmt: skip
    dataset.make(spec, folder / "set")
    dataset.finish(folder / "set")
    pytest.importorskip("pyarrow")
    dataset.export(folder / "set", folder / "lerobot", to="lerobot")
    return folder


def test_lerobots_files(worlds):
    parquet = pytest.importorskip("pyarrow.parquet")
    info = json.loads((worlds / "lerobot/meta/info.json").read_text())
    assert info["fps"] == 20 and info["total_episodes"] == 10 and info["total_frames"] == 50
    assert info["splits"] == {"train": "0:8", "test": "8:10"}
    table = parquet.read_table(worlds / "lerobot/data/chunk-000/file-000.parquet").to_pydict()
    assert table["index"] == list(range(50))
    assert table["episode_index"] == [i // 5 for i in range(50)]
    rows = carom.data.Rows(worlds / "set", "test")
    expected = rows[1]["state"].astype(np.float32)
    assert np.array(table["observation.state"][45:], dtype=np.float32).tobytes() == expected.tobytes()
    friction = np.float32(rows[1]["parameter/friction"])
    assert np.float32(table["observation.environment_state"][47]) == friction
    np.testing.assert_allclose(table["timestamp"][:5], [0, 0.05, 0.1, 0.15, 0.2], rtol=1e-6)


def test_lerobot_loads_it(worlds):
    """The real library, where it is installed (it wants an environment of its own: lerobot==0.4.4)."""
    lerobot = pytest.importorskip("lerobot.datasets.lerobot_dataset")
    torch = pytest.importorskip("torch")
    loaded = lerobot.LeRobotDataset("carom/blocks", root=worlds / "lerobot",
                                    delta_timestamps={"observation.state": [-0.1, -0.05, 0.0]})  # fmt: skip
    assert loaded.num_episodes == 10 and len(loaded) == 50 and loaded.fps == 20
    rows = [carom.data.Rows(worlds / "set", split) for split in ("train", "test")]
    worlds_ = [each for split in rows for each in split]
    seen = 0
    for batch in torch.utils.data.DataLoader(loaded, batch_size=16, shuffle=True, num_workers=0):
        states, padded = batch["observation.state"].numpy(), batch["observation.state_is_pad"].numpy()
        assert states.shape[1:] == (3, 13) and states.dtype == np.float32
        for state, pad, frame, episode, given in zip(
            states, padded, batch["frame_index"].tolist(), batch["episode_index"].tolist(),
            batch["observation.environment_state"].ravel().tolist(),
        ):  # fmt: skip
            kept = worlds_[episode]["state"].astype(np.float32)
            # a window does not reach into the episode before: its first frame stands in, marked
            places = [max(frame - 2, 0), max(frame - 1, 0), frame]
            assert state.tobytes() == kept[places].tobytes()
            assert pad.tolist() == [frame < 2, frame < 1, False]
            assert np.float32(given) == np.float32(worlds_[episode]["parameter/friction"])
            seen += 1
    assert seen == 50
