"""Rows of datasets whose source is a MuJoCo model: impacts of drawn states."""

from __future__ import annotations

import hashlib
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import problems
from ._arrays import refuse
from ._mujoco import _mujoco, from_mujoco
from .problems import MAX_MODE_CONTACTS

_DEEP = 1e-3  # [m] of contacts that datasets take
_CONTACTS = 16  # of a problem, where its source does not say


def checked(source: Mapping[str, Any]) -> dict[str, Any]:
    """The source with what it leaves open: contacts (rows of every problem, more is refused),
    keyframe (whose state draws start from; -1: the model's own), and the digest of the file."""
    known = ("mujoco", "contacts", "keyframe", "sha256")
    for name in source:
        if name not in known:
            raise refuse(f"source.{name}", "no field", "known are " + ", ".join(known[:3]))
    contacts = source.get("contacts", _CONTACTS)
    if not isinstance(contacts, int) or not 1 <= contacts <= MAX_MODE_CONTACTS:
        raise refuse("source.contacts", repr(contacts), f"must be in 1..{MAX_MODE_CONTACTS}")
    path = pathlib.Path(source["mujoco"])
    if not path.exists():
        raise refuse("source.mujoco", repr(str(path)), "no such file")
    found = {"mujoco": str(path), "contacts": contacts, "keyframe": source.get("keyframe", -1),
             "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}  # fmt: skip
    if source.get("sha256", found["sha256"]) != found["sha256"]:
        raise refuse("source.mujoco", repr(str(path)), "has changed since the dataset was begun", "and")
    _start(_mujoco(), found)
    return found


def _start(mujoco: Any, source: Mapping[str, Any]) -> Any:
    model = mujoco.MjModel.from_xml_path(source["mujoco"])
    data = mujoco.MjData(model)
    keyframe = source["keyframe"]
    if keyframe >= 0:
        if keyframe >= model.nkey:
            raise refuse("source.keyframe", str(keyframe), f"the model has {model.nkey}")
        mujoco.mj_resetDataKeyframe(model, data, keyframe)
    return model, np.array(data.qpos), np.array(data.qvel)


def check_draws(source: Mapping[str, Any], names: Any) -> None:
    model, _, _ = _start(_mujoco(), source)
    for name in names:
        field, _, place = name.partition(".")
        size = {"qpos": model.nq, "qvel": model.nv}.get(field, 0)
        if not place.isdigit() or int(place) >= size:
            raise refuse(f"draw.{name}", "no coordinate", f"are qpos.0 to qpos.{model.nq - 1} and qvel.0 "
                         f"to qvel.{model.nv - 1}", "known")  # fmt: skip


def robot_problems(
    source: Mapping[str, Any], drawn: Mapping[str, np.ndarray], count: int
) -> tuple[problems.Problems, dict[str, np.ndarray]]:
    """Impacts of `count` states with the same number of contacts, those that lack being rows of
    zeros, and qpos, qvel and the contacts of each. A state that from_mujoco refuses has NaN for its
    velocity, so that its row has the status invalid_input."""
    model, start_q, start_v = _start(_mujoco(), source)
    qpos, qvel = np.tile(start_q, (count, 1)), np.tile(start_v, (count, 1))
    for name, values in drawn.items():
        field, _, place = name.partition(".")
        (qpos if field == "qpos" else qvel)[:, int(place)] = values
    m = source["contacts"]
    found: list[problems.Problems | None] = [None] * count
    for bucket in from_mujoco(model, qpos=qpos, qvel=qvel, max_penetration=_DEEP):
        for i, state in enumerate(bucket.index):
            found[int(state)] = bucket[i]
    contacts = np.array([-1 if each is None else each.contacts for each in found], dtype=np.int32)
    nv = next((each.velocities for each in found if each is not None), model.nv)
    refused = problems.Problems.of(
        np.eye(nv), np.zeros((m, nv)), np.zeros((2 * m, nv)), np.zeros(m), np.full(nv, np.nan), dimension=3
    )
    taken = [refused if each is None or each.contacts > m else each.padded(m) for each in found]
    for each in taken:
        if each.velocities != nv:
            raise refuse("source.mujoco", "with equalities that come and go", "must have one number of "
                         "velocities in all states")  # fmt: skip
    arrays: dict[str, Any] = {name: np.concatenate([each.arrays()[name] for each in taken]) for name in refused.arrays()}
    made = problems.Problems(**arrays, dimension=3, name=pathlib.Path(source["mujoco"]).stem)
    return made, {"qpos": qpos, "qvel": qvel, "contacts": contacts}
