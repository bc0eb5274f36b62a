"""States of a robot as impact problems: what from_mujoco and from_pinocchio share."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np

from ._arrays import from_any, refuse
from .problems import Problems

MAX_CONTACTS = 16
MAX_VELOCITIES = 64

# A row: {"Jn": (nv), "Jt": (2, nv), "mu", "phi", "name"}, and of contacts "pair", "pos" and "frame", whose
# lines are the normal and both tangents.
Row = dict[str, Any]


def states_of(
    q_name: str, q: Any, nq: int, v_name: str, v: Any, nv: int
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Positions (s, nq), velocities (s, nv), and whether one state was given. Errors: InvalidInput."""
    q = from_any(q_name, q)
    v = np.zeros((*q.shape[:-1], nv)) if v is None else from_any(v_name, v)
    single = q.ndim == 1
    q, v = np.atleast_2d(q), np.atleast_2d(v)
    for field, array, width in ((q_name, q, nq), (v_name, v, nv)):
        if array.ndim != 2 or array.shape[1] != width:
            raise refuse(field, f"of shape {array.shape}", f"must be (s, {width}) or ({width},)")
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            state, i = bad[0]
            raise refuse(f"{field}[{i}] of state {state}", str(array[state, i]), "must be finite")
    if len(v) != len(q):
        raise refuse(v_name, f"{len(v)} states", f"must have {len(q)} as {q_name}", "has")
    return q, v, single


def refuse_deep(name: str, distance: float, max_penetration: float) -> None:
    if distance < -max_penetration:
        raise refuse(name, f"{-distance:.6g} m deep", f"must be at most max_penetration = {max_penetration:g} m")


def limit_rows(name: str, q: float, limits: Any, dof: int, nv: int, activation: float) -> list[Row]:
    """A joint within `activation` of an end of its range: contacts without friction."""
    rows = []
    low, high = limits
    for sign, phi, which in ((1.0, q - low, "lower"), (-1.0, high - q, "upper")):
        if phi <= activation:
            row = np.zeros(nv)
            row[dof] = sign
            rows.append({"Jn": row, "Jt": np.zeros((2, nv)), "mu": 0.0, "phi": float(phi),
                         "name": f"{name} {which}"})  # fmt: skip
    return rows


def reduced(rows: list[Row], reduce: str | None) -> list[Row]:
    """With "hull", of the contacts of a pair of geoms those at the corners of their convex hull."""
    if reduce not in (None, "hull"):
        raise refuse("reduce", repr(reduce), "must be None or 'hull'")
    if reduce is None:
        return rows
    kept: list[Row] = []
    for pair in dict.fromkeys(row["pair"] for row in rows):
        mine = [row for row in rows if row["pair"] == pair]
        across = np.array([mine[0]["frame"][1:] @ row["pos"] for row in mine])
        kept += [mine[i] for i in sorted(_hull(across))]
    return kept


def problem_of(M: np.ndarray, v: np.ndarray, rows: list[Row], place: int, Z: np.ndarray | None = None) -> Row:
    """A state's arrays. Errors: InvalidInput for more contacts or velocities than carom takes."""
    if len(v) > MAX_VELOCITIES:
        raise refuse("model", f"{len(v)} velocities", f"must have at most {MAX_VELOCITIES}", "has")
    if len(rows) > MAX_CONTACTS:
        raise refuse(f"state {place}", f"{len(rows)} contacts", f"must have at most {MAX_CONTACTS}; "
                     "reduce='hull' leaves out points between others", "has")  # fmt: skip
    n = len(v)
    return {
        "M": M,
        "v": v,
        "Jn": np.array([row["Jn"] for row in rows]).reshape(-1, n),
        "Jt": np.array([row["Jt"] for row in rows]).reshape(-1, n),
        "mu": np.array([row["mu"] for row in rows], dtype=np.float64),
        "phi": np.array([row["phi"] for row in rows], dtype=np.float64),
        "names": _numbered([row["name"] for row in rows]),
        "Z": Z,
    }


def _hull(points: np.ndarray) -> list[int]:
    """Indices of the corners of the convex hull (Andrew)."""
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


def _numbered(names: list[str]) -> tuple[str, ...]:
    many, seen, result = Counter(names), Counter[str](), []
    for name in names:
        seen[name] += 1
        result.append(f"{name} {seen[name]}" if many[name] > 1 else name)
    return tuple(result)


def bucketed(found: list[dict[str, Any]], name: str, pad: bool) -> list[Problems]:
    """States of one number of contacts and velocities together, in order of the contacts."""
    groups: dict[tuple[int, int], list[int]] = {}
    for i, each in enumerate(found):
        groups.setdefault((len(each["mu"]), len(each["v"])), []).append(i)
    result = []
    for key in sorted(groups):
        members = [found[i] for i in groups[key]]
        names = members[0]["names"]
        lifted = all(each["Z"] is not None for each in members)

        def stacked(field: str) -> np.ndarray:
            return np.stack([each[field] for each in members])

        result.append(
            Problems.of(
                stacked("M"), stacked("Jn"), stacked("Jt"), stacked("mu"), stacked("v"),
                dimension=3, name=name, distance=stacked("phi"),
                index=np.array(groups[key], dtype=np.int64),
                contact_names=names if all(each["names"] == names for each in members) else (),
                lift=stacked("Z") if lifted else None,
            )
        )  # fmt: skip
    if pad and result:
        most = max(each.contacts for each in result)
        result = [each.padded(most) for each in result]
    return result
