"""Reduces contacts without changing the wrenches: patches to their corners, nearly equal points to one."""

from __future__ import annotations

import numpy as np

from . import _core

NEAR = 1e-4  # [m]: points so near are one, and planes so near are one
_ALIKE = 1e-6  # of unit normals


def hull(points: np.ndarray) -> list[int]:
    """Indices of the corners of the convex hull in the plane, counter-clockwise."""
    found: list[int] = _core.hull_corners(np.ascontiguousarray(points, dtype=np.float64)).tolist()
    return found


def patch_corners(
    pos: np.ndarray, frame: np.ndarray, mu: np.ndarray, group: np.ndarray, near: float = NEAR
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which contacts (k) are kept, and two bounds for each group (g) of what that changes.

    Contacts with one normal, one friction and one plane are a patch. Its corners are kept: a force at a
    point between them is a sum of such forces at the corners. A force through a contact that is left out
    is then one through the kept contacts, up to a moment of at most the first bound [m] times the force,
    and up to the second bound times the force in its direction.

    group (g + 1): where the contacts of each pair of bodies begin, and the end. near [m]: points and planes
    that are nearer than this are one; with more than NEAR corners, corners that stick out by less are left
    out, too.
    """
    pos, frame, mu = (np.ascontiguousarray(each, dtype=np.float64) for each in (pos, frame, mu))
    found = _core.reduce_patches(pos, frame, mu, np.ascontiguousarray(group, dtype=np.int64), near, NEAR, _ALIKE)
    return found["keep"].astype(bool), found["moment"], found["turn"]
