"""Deep contacts: whether the normal is the only short direction that separates the bodies."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

_SIDEWAYS = 0.5  # cosine: ways that turn further from the normal are others
_LONGER = 2.0  # than the contact is deep: every other way apart
_AS_DEEP = 0.1  # relative: a normal along which geoms overlap by more is not their shortest way
_WAYS = 400


@functools.cache
def _ways() -> np.ndarray:
    """Directions (k, 3) evenly over the sphere, on a spiral."""
    k = np.arange(_WAYS)
    z, turn = 1.0 - (2.0 * k + 1.0) / _WAYS, k * np.pi * (3.0 - np.sqrt(5.0))
    wide = np.sqrt(1.0 - z * z)
    return np.stack([wide * np.cos(turn), wide * np.sin(turn), z], axis=1)


def _support(mujoco: Any, model: Any, data: Any, geom: int, ways: np.ndarray) -> np.ndarray | None:
    """How far the convex geom reaches along directions of the world [m]; None: of a kind that is not convex."""
    of, kind, size = mujoco.mjtGeom, model.geom_type[geom], model.geom_size[geom]
    local = ways @ data.geom_xmat[geom].reshape(3, 3)
    if kind == of.mjGEOM_SPHERE:
        reach = np.full(len(ways), size[0])
    elif kind == of.mjGEOM_CAPSULE:
        reach = size[0] + size[1] * np.abs(local[:, 2])
    elif kind == of.mjGEOM_CYLINDER:
        reach = size[0] * np.hypot(local[:, 0], local[:, 1]) + size[1] * np.abs(local[:, 2])
    elif kind == of.mjGEOM_ELLIPSOID:
        reach = np.sqrt(((local * size) ** 2).sum(axis=1))
    elif kind == of.mjGEOM_BOX:
        reach = np.abs(local) @ size
    elif kind == of.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        first = model.mesh_vertadr[mesh]
        reach = (local @ model.mesh_vert[first : first + model.mesh_vertnum[mesh]].T).max(axis=1)
    else:
        return None
    return np.asarray(reach + ways @ data.geom_xpos[geom])


def is_clear(mujoco: Any, model: Any, data: Any, geom: np.ndarray, normal: np.ndarray, depth: float) -> bool:
    """Whether the second geom leaves the first along the normal by the depth, and in no other direction by less than
    twice of that: the normal is then right however deep. data: kinematics of the state."""
    ways = np.vstack([normal, _ways()])
    reach = _support(mujoco, model, data, int(geom[0]), ways), _support(mujoco, model, data, int(geom[1]), -ways)
    if reach[0] is None or reach[1] is None:
        return False
    apart = reach[0] + reach[1]
    other = apart[ways @ normal < _SIDEWAYS]
    return bool(apart[0] <= (1.0 + _AS_DEEP) * depth and other.min() >= _LONGER * depth)
