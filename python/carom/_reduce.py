"""Fewer contacts with the same wrenches: patches to their corners, nearly equal points to one, and
what of a state moves apart from the rest."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

NEAR = 1e-4  # [m]: points so near are one, and planes so near are one
_ALIKE = 1e-6  # of unit normals


def hull(points: np.ndarray) -> list[int]:
    """Indices of the corners of the convex hull in the plane (Andrew)."""
    order = sorted(range(len(points)), key=lambda i: tuple(points[i]))
    if len(order) < 3:
        return order
    scale = np.ptp(points, axis=0).max()

    def chain(indices: list[int]) -> list[int]:
        corners: list[int] = []
        for i in indices:
            while len(corners) > 1:
                a, b = points[corners[-1]] - points[corners[-2]], points[i] - points[corners[-2]]
                if a[0] * b[1] - a[1] * b[0] > 1e-12 * scale * scale:
                    break
                corners.pop()
            corners.append(i)
        return corners[:-1]

    return list(dict.fromkeys(chain(order) + chain(order[::-1])))


def _first_of_near(points: np.ndarray, near: float) -> list[int]:
    """Of points within `near` of an earlier one that stays, the earlier one."""
    apart = points[:, None] - points[None]
    close = np.einsum("abi,abi->ab", apart, apart) <= near * near
    if close.sum() == len(points):
        return list(range(len(points)))
    kept: list[int] = []
    for i, row in enumerate(close):
        if not row[kept].any():
            kept.append(i)
    return kept


def _fewer(points: np.ndarray, corners: list[int], near: float) -> list[int]:
    """Corners of a polygon without those that lie within `near` of what is left, the nearest first."""
    gone: list[int] = []
    while len(corners) > 2:
        before, at, after = (np.roll(points[corners], shift, axis=0) for shift in (1, 0, -1))
        edge, off = after - before, at - before
        along = np.einsum("ei,ei->e", off, edge) / np.maximum(np.einsum("ei,ei->e", edge, edge), 1e-300)
        off = off - np.clip(along, 0.0, 1.0)[:, None] * edge
        out = np.sqrt(np.einsum("ei,ei->e", off, off))
        least = int(out.argmin())
        rest = corners[:least] + corners[least + 1 :]
        if out[least] > near or _distance_to_hull(points[[*gone, corners[least]]], points[rest]) > near:
            break
        gone.append(corners[least])
        corners = rest
    return corners


def _distance_to_hull(points: np.ndarray, corners: np.ndarray) -> float:
    """In the plane, the largest of points to the convex hull of a few in counter-clockwise order."""
    edge = np.roll(corners, -1, axis=0) - corners
    off = points[:, None] - corners[None]
    along = np.einsum("pei,ei->pe", off, edge) / np.maximum(np.einsum("ei,ei->e", edge, edge), 1e-300)
    foot = off - np.clip(along, 0.0, 1.0)[:, :, None] * edge
    least = np.sqrt(np.einsum("pei,pei->pe", foot, foot).min(axis=1))
    if len(corners) > 2:
        least[(edge[:, 0] * off[:, :, 1] - edge[:, 1] * off[:, :, 0] >= 0.0).all(axis=1)] = 0.0
    return float(least.max())


def patch_corners(
    pos: np.ndarray, frame: np.ndarray, mu: np.ndarray, near: float = NEAR
) -> tuple[list[int], float, float]:
    """Which contacts (k) of one pair of bodies stay, and what that changes: a force through one that does
    not is one through those that do up to a moment of at most the first number [m] times the force,
    and up to the second number times the force in its direction.

    Contacts with one normal, one friction and one plane are a patch, of which the corners stay: a
    force at a point between others is a sum of such forces at those. near [m]: points so near are one,
    planes so near too; beyond NEAR corners that stick out by no more are left out as well."""
    left, kept = list(range(len(mu))), list[int]()
    moment = turn = 0.0
    while left:
        first = left[0]
        normal = frame[first, 0]
        height = (pos[left] - pos[first]) @ normal
        apart = np.sqrt(((frame[left, 0] - normal) ** 2).sum(axis=1))
        one = (np.abs(height) <= near) & (apart <= _ALIKE) & (mu[left] == mu[first])
        patch = [i for i, mine in zip(left, one) if mine]
        left = [i for i, mine in zip(left, one) if not mine]
        if len(patch) > 1:
            across = pos[patch] @ frame[first, 1:].T
            apart_ones = _first_of_near(pos[patch], near)
            corners = [apart_ones[i] for i in hull(across[apart_ones])]
            if near > NEAR:
                corners = _fewer(across, corners, near)
            gone = sorted(set(range(len(patch))) - set(corners))
            if gone:
                outside = _distance_to_hull(across[gone], across[corners])
                moment = max(moment, float(np.hypot(outside, np.ptp(height[one]))))
                turn = max(turn, float(2.0 * apart[one].max()))
            patch = [patch[i] for i in sorted(corners)]
        kept += patch
    return sorted(kept), moment, turn


def nothing_to_do(pos: np.ndarray, frame: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """Of groups (g, k) of contacts of one pair of bodies each whether all stay for certain: no two near, and
    seen along their normals all corners of a convex polygon."""
    k = pos.shape[1]
    first, second = np.triu_indices(k, 1)
    apart = pos[:, first] - pos[:, second]
    far = (np.einsum("gpi,gpi->gp", apart, apart) > NEAR * NEAR).all(axis=1)
    if k < 3:
        return np.asarray(far)
    normal = frame[:, :, 0]
    alike = np.abs(normal[:, :, None] - normal[:, None]).max(axis=3) <= 2.0 * _ALIKE
    one_way = alike.all(axis=(1, 2))  # then corners of all are corners of any of them
    alike &= mu[:, :, None] == mu[:, None]
    height = np.einsum("gkji,gki->gkj", pos[:, None] - pos[:, :, None], normal)
    alike &= np.abs(height) <= 2.0 * NEAR
    few = (alike.sum(axis=2) < 3).all(axis=1)  # of two alike none is between others
    across = np.einsum("gki,gai->gka", pos, frame[:, 0, 1:])
    across = across - across.mean(axis=1, keepdims=True)
    order = np.argsort(np.arctan2(across[:, :, 1], across[:, :, 0]), axis=1)
    across = np.take_along_axis(across, order[:, :, None], axis=1)
    edge = np.roll(across, -1, axis=1) - across
    following = np.roll(edge, -1, axis=1)
    turn = edge[:, :, 0] * following[:, :, 1] - edge[:, :, 1] * following[:, :, 0]
    scale = np.abs(across).max(axis=(1, 2)) ** 2
    corners = (turn > 1e-9 * scale[:, None]).all(axis=1)
    return np.asarray(far & (few | (corners & one_way)))


def components(sets: Iterable[Iterable[int]], size: int) -> np.ndarray:
    """Numbers 0.. of the classes of 0..size-1 when the members of each set belong together."""
    parent = list(range(size))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for each in sets:
        members = [root(int(i)) for i in each]
        for other in members[1:]:
            parent[root(other)] = root(members[0])
    _, numbers = np.unique([root(i) for i in range(size)], return_inverse=True)
    return np.asarray(numbers).reshape(-1)
