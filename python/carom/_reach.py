"""The margin within which MuJoCo looks for the contacts of a state, from its velocities."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._states import Options

_FASTEST = 10.0  # [m/s]: approaches beyond are looked for as if they had this speed
FEW = 64  # states that are looked at by themselves


def arms_of(model: Any, turns: np.ndarray, dofs_of: np.ndarray, slides: np.ndarray, plane: np.ndarray) -> np.ndarray:
    """How fast a unit of each velocity moves points of the geoms of a body, at most, of each body that has
    geoms (bodies, nv): 1, or for turns the way from the joint to the farthest point [m], all bodies between
    stretched out. turns (nv); dofs_of and slides: of joints; plane: of geoms."""
    body_of = np.array(model.geom_bodyid)
    outer = np.zeros(model.nbody)
    np.maximum.at(outer, body_of, np.linalg.norm(model.geom_pos, axis=1) + model.geom_rbound)
    unknown = 2.0 * float(model.stat.extent)  # planes that move, slides without limits
    np.maximum.at(outer, body_of[plane & (body_of > 0)], unknown)
    anchor = np.linalg.norm(model.jnt_pos, axis=1)
    bodies = np.unique(body_of).tolist()
    arms = np.zeros((len(bodies), model.nv))
    for place, body in enumerate(bodies):
        far, at = outer[body], body
        while at:
            joints = range(model.body_jntadr[at], model.body_jntadr[at] + model.body_jntnum[at])
            for j in joints:
                first = model.jnt_dofadr[j]
                last = first + dofs_of[j]
                arms[place, first:last] = np.where(turns[first:last], far + anchor[j], 1.0)
            for j in joints:
                far += 2.0 * anchor[j]
                if slides[j]:
                    far += np.abs(model.jnt_range[j]).max() if model.jnt_limited[j] else unknown
            far += float(np.linalg.norm(model.body_pos[at]))
            at = int(model.body_parentid[at])
    return arms


def fastest(arms: np.ndarray, qvel: np.ndarray) -> np.ndarray:
    """A bound on how fast points of bodies come near each other, of each state: two points at one place have
    different velocities by what turns or moves only one of them."""
    speed = np.abs(np.where(np.isfinite(qvel), qvel, 0.0))
    # not by a product of matrices, whose library wakes threads for it
    bodies = np.einsum("sj,bj->sb", speed, arms)
    whole = np.einsum("sj,j->s", speed, arms.max(axis=0, initial=0.0))
    two = np.partition(bodies, -2, axis=1)[:, -2:].sum(axis=1) if bodies.shape[1] > 1 else whole
    found: np.ndarray = np.minimum(two, whole)
    return found


def reach_of(options: Options, speed: Any = _FASTEST) -> Any:
    """How far apart contacts are looked for, of states that are so fast; like speed a number or an array."""
    return np.maximum(options.activation, np.minimum(speed, _FASTEST) * options.time_to_contact)


def levels_of(reaches: np.ndarray) -> list[tuple[float | None, np.ndarray]]:
    """Reaches, and the states that are looked at with each: at most four times what they need, unless they are
    few. One fast state would cost all others the same."""
    largest = float(reaches.max())
    level = np.floor(np.log(largest / np.maximum(reaches, 1e-9 * largest)) / np.log(4.0)).astype(np.int64)
    found: list[tuple[float | None, np.ndarray]] = []
    waiting = np.zeros(len(reaches), dtype=bool)
    for each in range(int(level.max()), -1, -1):  # from the slowest on
        waiting |= level == each
        if waiting.sum() >= FEW or (each == 0 and waiting.any()):
            found.append((float(reaches[waiting].max()), np.flatnonzero(waiting)))
            waiting[:] = False
    return found
