"""Impact problems of MuJoCo states."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

from ._arrays import refuse
from ._optional import needed
from ._states import bucketed, limit_rows, problem_of, reduced, refuse_deep, states_of

_RANK = 1e-10  # of rows of equalities, relative to the largest
_BROKEN = 1e-6  # how far a velocity may be from its equalities, relative


def _mujoco() -> Any:
    return needed("mujoco", "from_mujoco", "mujoco")


def _name(mujoco: Any, model: Any, kind: str, index: int) -> str:
    found = mujoco.mj_id2name(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), index)
    return found or f"{kind.lower()} {index}"


def _prepared(mujoco: Any, model: Any, activation: float) -> Any:
    """A copy whose contacts are recorded up to `activation` apart, with their true distance.

    gap, not margin: records within a gap have no forces, and pairs of boxes with a margin come and
    go (mujoco#2471)."""
    found = copy.copy(model)
    found.geom_gap[:] = np.maximum(found.geom_gap, activation)
    found.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    sleep = getattr(mujoco.mjtEnableBit, "mjENBL_SLEEP", None)
    if sleep is not None:  # a sleeping body has contacts that are not looked for
        found.opt.enableflags &= ~int(sleep)
    ball = int(mujoco.mjtJoint.mjJNT_BALL)
    for j in range(found.njnt):
        if found.jnt_limited[j] and found.jnt_type[j] == ball:
            raise refuse("joint", repr(_name(mujoco, model, "JOINT", j)), "limits of ball joints are "
                         "not taken: remove them from the model")  # fmt: skip
    for t in range(found.ntendon):
        if found.tendon_limited[t]:
            raise refuse("tendon", repr(_name(mujoco, model, "TENDON", t)), "limits of tendons are not "
                         "taken: remove them from the model")  # fmt: skip
    return found


class _State:
    """Rows of the contacts of one state."""

    def __init__(self, mujoco: Any, model: Any, original: Any, options: dict[str, Any]) -> None:
        self.mujoco, self.model, self.original, self.options = mujoco, model, original, options
        self.warned: set[str] = set()

    def problem(self, data: Any, place: int) -> dict[str, Any]:
        mujoco, model = self.mujoco, self.model
        # Not mj_step: its qvel would be that after the contact solver.
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        nv = model.nv
        M, column = np.empty((nv, nv)), np.empty((nv, 1))
        for i in range(nv):
            unit = np.zeros((nv, 1))
            unit[i] = 1.0
            mujoco.mj_mulM(model, data, column.reshape(-1), unit.reshape(-1))
            M[:, i] = column.reshape(-1)
        M = 0.5 * (M + M.T)
        rows = reduced(self._contacts(data, place), self.options["reduce"]) + self._limits(data)
        v = np.array(data.qvel)
        Z = self._free_directions(data)
        if Z is not None:
            u = Z.T @ v
            gap = np.abs(v - Z @ u).max(initial=0.0)
            if gap > _BROKEN * (1.0 + np.abs(v).max(initial=0.0)):
                raise refuse("qvel", f"{gap:.3g} off", "must keep the model's active equalities")
            M, v = Z.T @ M @ Z, u
            M = 0.5 * (M + M.T)
            for row in rows:
                row["Jn"], row["Jt"] = row["Jn"] @ Z, row["Jt"] @ Z
        return problem_of(M, v, rows, place, Z)

    def _contacts(self, data: Any, place: int) -> list[dict[str, Any]]:
        mujoco, model = self.mujoco, self.model
        rows = []
        for i in range(data.ncon):
            contact = data.contact[i]
            # 1, within the gap, stays: a body that exactly touches is recorded so.
            if contact.exclude in (2, 3) or contact.dist > self.options["activation"]:
                continue
            if min(contact.geom) < 0:
                raise refuse(f"contact {i} of state {place}", "one of a flex", "only geoms are taken")
            name = "/".join(_name(mujoco, self.original, "GEOM", int(g)) for g in contact.geom)
            refuse_deep(name, contact.dist, self.options["max_penetration"])
            for field in ("surfacevel", "adhesion"):
                extra = np.asarray(getattr(contact, field, 0.0), dtype=np.float64)
                if np.any(extra != 0.0):
                    raise refuse(f"{field} of {name}", str(extra), "is not taken: must be zero")
            if contact.dim >= 3 and contact.friction[0] != contact.friction[1]:
                raise refuse(f"friction of {name}", str(tuple(contact.friction[:2])),
                             "must be one number: anisotropic pairs are not taken")  # fmt: skip
            if contact.dim > 3 and name not in self.warned:
                self.warned.add(name)
                warnings.warn(f"{name}: torsional and rolling friction (condim {contact.dim}) are left "
                              "out", stacklevel=4)  # fmt: skip
            jacobians = []
            for geom in contact.geom:
                jacobian = np.zeros((3, model.nv))
                mujoco.mj_jac(model, data, jacobian, None, contact.pos, model.geom_bodyid[int(geom)])
                jacobians.append(jacobian)
            J = jacobians[1] - jacobians[0]
            frame = np.array(contact.frame).reshape(3, 3)
            rows.append({
                "Jn": frame[0] @ J, "Jt": frame[1:] @ J,
                "mu": 0.0 if contact.dim == 1 else float(contact.friction[0]),
                "phi": float(contact.dist), "name": name, "pair": tuple(map(int, contact.geom)),
                "pos": np.array(contact.pos), "frame": frame,
            })  # fmt: skip
        return rows

    def _limits(self, data: Any) -> list[dict[str, Any]]:
        """From the joints' ranges: a joint exactly at its limit has no row of MuJoCo's."""
        mujoco, model = self.mujoco, self.model
        single = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
        rows = []
        for j in range(model.njnt):
            if not model.jnt_limited[j] or model.jnt_type[j] not in single:
                continue
            name = _name(mujoco, self.original, "JOINT", j)
            rows += limit_rows(
                name, data.qpos[model.jnt_qposadr[j]], model.jnt_range[j], model.jnt_dofadr[j],
                model.nv, self.options["activation"],
            )  # fmt: skip
        return rows

    def _free_directions(self, data: Any) -> np.ndarray | None:
        """Z with orthonormal columns: v = Z u are the velocities that keep the active equalities."""
        equality = int(self.mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        types = np.asarray(data.efc_type[: data.nefc])
        chosen = np.flatnonzero(types == equality)
        if not len(chosen):
            return None
        J = np.asarray(data.efc_J).reshape(-1, self.model.nv)[chosen]
        _, sizes, directions = np.linalg.svd(J)
        rank = int(np.count_nonzero(sizes > _RANK * sizes.max(initial=0.0)))
        Z = directions[rank:].T
        signs = np.sign(Z[np.abs(Z).argmax(axis=0), np.arange(Z.shape[1])])
        return np.ascontiguousarray(Z * np.where(signs == 0.0, 1.0, signs))


def from_mujoco(
    model: Any, data: Any = None, *, qpos: Any = None, qvel: Any = None, activation: float = 1e-6,
    max_penetration: float = 1e-3, reduce: str | None = None, pad: bool = False,
) -> Any:  # fmt: skip
    """Impact problems of states of a MuJoCo model, just before contacts act.

    data: an MjData, which is left as it is; or qpos (nq) and qvel (nv), or many of them (s, nq) and
    (s, nv). One state gives Problems, many a list of Problems, one for each number of contacts, with
    the states' places in index; pad=True adds rows of zeros up to the largest. Contacts nearer than
    activation [m] count, hinges and slides at their limits likewise (mu = 0); velocities are those of
    MuJoCo, or u of v = Z u, Z in lift, where equalities are active. reduce="hull" leaves out contacts
    between others of their pair of geoms. The recommended step size is the impulse that stops the
    contact which takes most.

    Errors: InvalidInput naming what is not taken: contacts deeper than max_penetration [m], flexes,
    anisotropic friction, surface velocities, adhesion, limits of ball joints and tendons, more than
    16 contacts or 64 velocities, a velocity that breaks the equalities.
    """
    mujoco = _mujoco()
    if (data is None) == (qpos is None):
        raise TypeError("takes data, or qpos and qvel")
    options = {"activation": activation, "max_penetration": max_penetration, "reduce": reduce}
    ready = _prepared(mujoco, model, activation)
    work = mujoco.MjData(ready)
    name = getattr(model, "name", "") or _model_name(model)
    state = _State(mujoco, ready, model, options)
    if data is not None:
        qpos, qvel = np.array(data.qpos), np.array(data.qvel)
        for field in ("act", "mocap_pos", "mocap_quat", "eq_active", "userdata"):
            getattr(work, field)[:] = getattr(data, field)
    qpos, qvel, single = states_of("qpos", qpos, model.nq, "qvel", qvel, model.nv)
    found = []
    for place in range(len(qpos)):
        work.qpos[:], work.qvel[:] = qpos[place], qvel[place]
        found.append(state.problem(work, place))
    buckets = bucketed(found, name, pad)
    return buckets[0] if single else buckets


def _model_name(model: Any) -> str:
    names = bytes(model.names)
    return names[: names.find(b"\0")].decode(errors="replace") or "robot"
