"""Impact problems of Pinocchio states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import refuse
from ._optional import needed
from ._states import Row, bucketed, limit_rows, problem_of, reduced, refuse_deep, states_of


def _tangents(normal: np.ndarray) -> np.ndarray:
    """Two directions across a normal that depend on it alone: contacts on one surface share them."""
    least = np.eye(3)[np.abs(normal).argmin()]
    first = np.cross(normal, least)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(normal, first)])


def _friction(given: Any, names: tuple[str, str]) -> float:
    if not isinstance(given, Mapping):
        return float(given)
    for pair in (names, names[::-1]):
        if pair in given:
            return float(given[pair])
    raise refuse("friction", f"without {names}", "must name every pair that touches, or be a number", "is")


def _contacts(pin: Any, model: Any, data: Any, geom: Any, found: Any, options: dict[str, Any]) -> list[Row]:
    def point_jacobian(joint: int, at: np.ndarray) -> np.ndarray:
        if joint == 0:
            return np.zeros((3, model.nv))
        six: np.ndarray = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)
        x, y, z = at - data.oMi[joint].translation
        moved: np.ndarray = six[:3] - np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) @ six[3:]
        return moved

    rows = []
    for k, pair in enumerate(geom.collisionPairs):
        if not found.activeCollisionPairs[k] or not found.collisionResults[k].isCollision():
            continue
        first, second = (geom.geometryObjects[i] for i in (pair.first, pair.second))
        name = f"{first.name}/{second.name}"
        patches = found.contactPatchResults[k]
        for p in range(patches.numContactPatches()):
            patch = patches.getContactPatch(p)
            phi, normal = float(patch.penetration_depth), np.array(patch.getNormal())
            points = [np.array(patch.getPoint(i)) for i in range(patch.size())]
            if not np.isfinite(normal).all() or not np.isfinite(points).all():
                raise refuse(name, "no contact point", "comes from coal for this pair: a Halfspace instead "
                             "of a Box as the ground has one", "and")  # fmt: skip
            refuse_deep(name, phi, options["max_penetration"])
            if phi > options["activation"]:
                continue
            normal /= np.linalg.norm(normal)
            frame = np.vstack([normal, _tangents(normal)])
            for at in points:
                J = point_jacobian(second.parentJoint, at) - point_jacobian(first.parentJoint, at)
                rows.append({
                    "Jn": frame[0] @ J, "Jt": frame[1:] @ J, "phi": phi, "name": name, "pos": at,
                    "mu": _friction(options["friction"], (first.name, second.name)),
                    "pair": (pair.first, pair.second), "frame": frame,
                })  # fmt: skip
    return rows


def from_pinocchio(
    model: Any, geom: Any, q: Any, v: Any = None, *, friction: Any, activation: float = 1e-6,
    max_penetration: float = 1e-3, reduce: str | None = None, pad: bool = False,
) -> Any:  # fmt: skip
    """Impact problems of states of a Pinocchio model, just before contacts act.

    geom: a GeometryModel with its collision pairs; both are left as they are. q (nq) and v (nv), or
    many of them (s, nq) and (s, nv), velocities as Pinocchio has them (a free-flyer's in the body's
    frame). friction: a number, or {(name, name): number} of pairs of geometries. One state gives
    Problems, many a list of them by the number of contacts, as from_mujoco does; activation, reduce
    and pad are its, too. Flat touching faces have a contact at each corner of what they share; joints
    of one coordinate at a limit are contacts without friction.

    Errors: InvalidInput naming contacts deeper than max_penetration [m], pairs without friction or for
    which the collision library has no point, more than 16 contacts or 64 velocities.
    """
    pin = needed("pinocchio", "from_pinocchio", "pinocchio")
    q, v, single = states_of("q", q, model.nq, "v", v, model.nv)
    options = {"activation": activation, "max_penetration": max_penetration, "friction": friction}
    data, found = model.createData(), pin.GeometryData(geom)
    for request in found.collisionRequests:
        request.enable_contact = True
        request.security_margin = activation
    problems = []
    for place in range(len(q)):
        M = np.array(pin.crba(model, data, q[place]))
        M = np.triu(M) + np.triu(M, 1).T  # crba fills the upper triangle
        pin.computeJointJacobians(model, data, q[place])
        pin.updateGeometryPlacements(model, data, geom, found, q[place])
        pin.computeCollisions(geom, found, False)
        # Contacts alone are one point a pair, however flat.
        pin.computeContactPatches(geom, found)
        rows = reduced(_contacts(pin, model, data, geom, found, options), reduce)
        for j in range(1, model.njoints):
            joint = model.joints[j]
            if joint.nq == joint.nv == 1:
                limits = model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]
                rows += limit_rows(model.names[j], q[place, joint.idx_q], limits, joint.idx_v, model.nv, activation)
        problems.append(problem_of(M, v[place], rows, place))
    buckets = bucketed(problems, model.name or "robot", pad)
    return buckets[0] if single else buckets
