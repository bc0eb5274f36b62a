"""A MuJoCo model as a tree of links against half-spaces, for motions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import refuse
from ._mujoco import _name

_POINTS = 8  # contacts of a spatial tree


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of quaternions w, x, y, z."""
    w, x = a[..., :1], a[..., 1:]
    u, y = b[..., :1], b[..., 1:]
    return np.concatenate([w * u - (x * y).sum(axis=-1, keepdims=True), w * y + u * x + np.cross(x, y)], axis=-1)


def tree_of(ready: Any, qpos: np.ndarray, qvel: np.ndarray) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """The description that motion.tree takes, and positions and velocities of states in its coordinates.

    Links have the axes of the free first body, or the world's, where all joints are at their reference,
    and stand in their joint. Errors: InvalidInput naming what such a tree has not."""
    mujoco, model = ready.mujoco, ready.model
    free, hinge, slide, ball = (int(getattr(mujoco.mjtJoint, f"mjJNT_{word}")) for word in ("FREE", "HINGE", "SLIDE", "BALL"))

    def name(kind: str, i: int) -> str:
        return _name(mujoco, model, kind, i)

    if model.neq and np.asarray(model.eq_active0).any():
        raise refuse("model", "with equalities", "a tree of links has none", "is")
    if model.ntendon and (np.asarray(model.tendon_stiffness).any() or np.asarray(model.tendon_limited).any()):
        raise refuse("model", "with tendons", "a tree of links has none", "is")
    for field in ("dof_armature", "dof_frictionloss"):
        if np.asarray(getattr(model, field)).any():
            raise refuse(field, "not zero", "a tree of links has none")
    limited = np.flatnonzero(np.asarray(model.jnt_limited))
    if len(limited):
        raise refuse(f"range of {name('JOINT', int(limited[0]))}", "a limit", "a tree of links has none")
    data = mujoco.MjData(model)
    data.qpos[:] = model.qpos0
    mujoco.mj_kinematics(model, data)
    moving = [body for body in range(1, model.nbody) if ready.above[body].any()]
    jointed = [body for body in moving if model.body_jntnum[body]]
    for body in jointed:
        if model.body_jntnum[body] > 1:
            raise refuse(f"body {name('BODY', body)}", f"{model.body_jntnum[body]} joints", "a link has one", "has")
    kind = {body: int(model.jnt_type[model.body_jntadr[body]]) for body in jointed}
    floating = bool(jointed) and kind[jointed[0]] == free
    if any(kind[body] == free for body in jointed[1:]) or (floating and any(
            not ready.above[model.body_parentid[body]].any() for body in jointed[1:])):  # fmt: skip
        raise refuse("model", "of several free bodies", "a tree has one first link", "is")
    turn = data.xmat[jointed[0]].reshape(3, 3) if floating else np.eye(3)
    origin = {body: np.array(data.xpos[body] if kind[body] == free else data.xanchor[model.body_jntadr[body]]) for body in jointed}
    links, q, v = [], [], []
    for body in jointed:
        joint = int(model.body_jntadr[body])
        rigid = [b for b in moving if ready.welded[b] == body]
        mass, centre, inertia = _together(model, data, rigid, origin[body], turn)
        link: dict[str, Any] = {"name": name("BODY", body), "mass": mass, "mass_centre": centre.tolist(),
                                "inertia": inertia.tolist()}  # fmt: skip
        place, dof = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        parent = int(model.body_weldid[model.body_parentid[body]])
        if kind[body] == free:
            q.append(qpos[:, place : place + 7])
            v.append(qvel[:, dof : dof + 6])
        else:
            if parent:
                link["parent"] = name("BODY", parent)
            link["place"] = (turn.T @ (origin[body] - origin.get(parent, np.zeros(3)))).tolist()
            damping, stiffness = float(model.dof_damping[dof]), float(model.jnt_stiffness[joint])
            if kind[body] == ball:
                if damping or stiffness:
                    raise refuse(f"joint {name('JOINT', joint)}", "a ball with a spring or damper", "a tree has none")
                axes = turn.T @ data.xmat[body].reshape(3, 3)
                reference = np.asarray(model.qpos0[place : place + 4]) * [1.0, -1.0, -1.0, -1.0]
                turned = _product(qpos[:, place : place + 4], np.broadcast_to(reference, (len(qpos), 4)))
                q.append(np.concatenate([turned[:, :1], turned[:, 1:] @ (turn.T @ _parent_axes(model, data, body)).T], axis=1))
                v.append(qvel[:, dof : dof + 3] @ axes.T)
                link["joint"] = "ball"
            else:
                link["joint"] = "slide" if kind[body] == slide else "hinge"
                link["axis"] = (turn.T @ data.xaxis[joint]).tolist()
                if damping:
                    link["damping"] = damping
                if stiffness:
                    link["stiffness"] = stiffness
                    link["rest"] = float(model.qpos_spring[place] - model.qpos0[place])
                q.append(qpos[:, place : place + 1] - model.qpos0[place])
                v.append(qvel[:, dof : dof + 1])
        links.append(link)
    assert hinge >= 0
    surfaces, contacts = _points(ready, data, jointed, origin, turn, name)
    gravity = np.asarray(model.opt.gravity)
    description = {"dimension": 3, "floating": floating, "gravity": gravity.tolist(), "links": links,
                   "half_spaces": surfaces, "contacts": contacts}  # fmt: skip
    return description, np.concatenate(q, axis=1), np.concatenate(v, axis=1)


def _parent_axes(model: Any, data: Any, body: int) -> np.ndarray:
    """In which a ball joint's quaternion turns: the body's at its reference, before the joint."""
    axes: np.ndarray = data.xmat[body].reshape(3, 3)
    return axes


def _together(
    model: Any, data: Any, rigid: list[int], at: np.ndarray, turn: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and inertia about it, xx yy zz xy xz yz, of bodies fixed to each other, in a link's axes."""
    mass = np.asarray(model.body_mass)[rigid]
    places = np.asarray(data.xipos)[rigid]
    centre = mass @ places / mass.sum()
    whole = np.zeros((3, 3))
    for b, m, place in zip(rigid, mass, places):
        axes = data.ximat[b].reshape(3, 3)
        off = place - centre
        whole += axes @ np.diag(model.body_inertia[b]) @ axes.T + m * (off @ off * np.eye(3) - np.outer(off, off))
    whole = turn.T @ whole @ turn
    return float(mass.sum()), turn.T @ (centre - at), whole[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def _points(
    ready: Any, data: Any, jointed: list[int], origin: dict[int, np.ndarray], turn: np.ndarray, name: Any
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Planes of the world raised by the radius of what may touch them, and the points of it."""
    mujoco, model = ready.mujoco, ready.model
    kinds = {int(getattr(mujoco.mjtGeom, f"mjGEOM_{word}")): word for word in ("PLANE", "SPHERE", "CAPSULE", "BOX")}
    planes = [g for g in range(model.ngeom) if kinds.get(int(model.geom_type[g])) == "PLANE" and ready.welded[ready.body_of[g]] == 0]
    explicit = {tuple(sorted((int(model.pair_geom1[p]), int(model.pair_geom2[p])))) for p in range(model.npair)}
    contacts: list[dict[str, Any]] = []
    radii: set[float] = set()
    for g in range(model.ngeom):
        body = int(ready.welded[ready.body_of[g]])
        against = [p for p in planes if (model.geom_contype[g] & model.geom_conaffinity[p]) or (
            model.geom_contype[p] & model.geom_conaffinity[g]) or tuple(sorted((g, p))) in explicit]  # fmt: skip
        if body == 0 or not against:
            continue
        axes, middle = data.geom_xmat[g].reshape(3, 3), data.geom_xpos[g]
        size, kind = model.geom_size[g], kinds.get(int(model.geom_type[g]))
        if kind == "SPHERE":
            offsets, radius = np.zeros((1, 3)), float(size[0])
        elif kind == "CAPSULE":
            offsets, radius = np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]]), float(size[0])
        elif kind == "BOX":
            offsets, radius = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size, 0.0
        else:
            raise refuse(f"geom {name('GEOM', g)}", "no sphere, capsule or box", "motions have points against planes")
        radii.add(radius)
        mu = float(max(model.geom_friction[g, 0], max(model.geom_friction[p, 0] for p in against)))
        for k, offset in enumerate(offsets):
            point = turn.T @ (middle + axes @ offset - origin[body])
            word = name("GEOM", g) + (f" {k + 1}" if len(offsets) > 1 else "")
            contacts.append({"name": word, "link": name("BODY", body), "point": point.tolist(), "friction": mu})
    if len(radii) > 1:
        raise refuse("geoms", f"of radii {sorted(radii)}", "what touches planes must have one radius", "are")
    if len(contacts) * len(planes) > _POINTS:
        raise refuse("geoms", f"{len(contacts) * len(planes)} points at planes", f"must be at most {_POINTS}", "have")
    radius = radii.pop() if radii else 0.0
    surfaces = []
    for p in planes:
        normal = data.geom_xmat[p].reshape(3, 3)[:, 2]
        surfaces.append({"normal": normal.tolist(), "offset": float(normal @ data.geom_xpos[p]) + radius,
                         "friction": float(model.geom_friction[p, 0])})  # fmt: skip
    return surfaces, contacts
