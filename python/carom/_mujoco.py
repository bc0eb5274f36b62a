"""Impact problems of MuJoCo states."""

from __future__ import annotations

import concurrent.futures
import copy
import ctypes
import functools
import os
import warnings
import weakref
from typing import Any

import numpy as np

from . import _core
from ._arrays import refuse
from ._clear import is_clear
from ._optional import needed
from ._reach import FEW, arms_of, fastest, levels_of, reach_of
from ._states import (
    Collected, Options, StateImpacts, StateStatus, allowed_of_contacts, allowed_of_limits, answered, assembled, distinct,
    is_near, limits, states_of,
)  # fmt: skip
from ._state_rows import Equalities, Masses, Rows, lines_of
from .errors import InvalidInput

_PROBED, _MANY = 8, 24  # states of a trial, and contacts a state found in it that are too many to look at
_CHUNK = 2048  # states of one pass through the arrays
_FIELDS = ("dist", "pos", "frame", "friction", "dim", "geom", "exclude", "surfacevel", "adhesion")
_READ = {"dist": np.float64, "pos": np.float64, "frame": np.float64, "geom": np.int32, "exclude": np.int32}  # by _core


def _mujoco() -> Any:
    return needed("mujoco", "from_mujoco", "mujoco")


def _name(mujoco: Any, model: Any, kind: str, index: int) -> str:
    found = mujoco.mj_id2name(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), index)
    return found or f"{kind.lower()} {index}"


_PROBE = """<mujoco><worldbody><geom type="plane" size="1 1 1" gap="0.02"/><body pos="0 0 0.11"><freejoint/>
<geom size="0.1"/></body></worldbody></mujoco>"""


class _Memory:
    """How contacts lie in a MuJoCo's memory, and whether it looks for contacts within the gap."""

    def __init__(self, mujoco: Any) -> None:
        model = mujoco.MjModel.from_xml_string(_PROBE)
        data = mujoco.MjData(model)
        mujoco.mj_fwdPosition(model, data)
        self.gap_is_searched = data.ncon == 1
        model.geom_margin[:] = 0.02
        data.qpos[2] = 0.09
        mujoco.mj_fwdPosition(model, data)
        contact = data.contact
        arrays = {name: getattr(contact, name) for name in _FIELDS if hasattr(contact, name)}
        base = self._address(arrays["dist"])
        places = {name: self._address(array) - base for name, array in arrays.items()}
        self.size = arrays["pos"].strides[0] if arrays["pos"].ndim == 2 else 0
        self.type = np.dtype([(name, _READ.get(name, array.dtype), array.shape[1:]) for name, array in arrays.items()])
        self.raw: np.dtype[Any] | None = None
        ends = [place + array.dtype.itemsize * int(np.prod(array.shape[1:])) for place, array in
                zip(places.values(), arrays.values())]  # fmt: skip
        as_read = all(arrays[name].dtype == kind for name, kind in _READ.items())
        if as_read and min(places.values()) >= 0 and max(ends) <= self.size:
            self.raw = np.dtype({"names": list(arrays), "formats": [(array.dtype, array.shape[1:]) for array in arrays.values()],
                                 "offsets": list(places.values()), "itemsize": self.size})  # fmt: skip
            if not self._right(data):
                self.raw = None
        place = self.first_place(data)
        data.qpos[2] = 0.08
        mujoco.mj_fwdPosition(model, data)
        self.stays = self.first_place(data) == place

    @property
    def own(self) -> np.dtype[Any]:
        return self.raw if self.raw is not None else self.type

    @property
    def fields(self) -> dict[str, tuple[int, int]]:
        """Where each field is in a contact, and how long it is [bytes]."""
        return {name: (self.own.fields[name][1], self.own.fields[name][0].itemsize) for name in self.own.names or ()}  # type: ignore[index]

    @staticmethod
    def _address(array: np.ndarray) -> int:
        return int(array.__array_interface__["data"][0])

    def _right(self, data: Any) -> bool:
        """Whether the memory says what the fields say."""
        copied = np.frombuffer(ctypes.string_at(self.first_place(data), self.size * data.ncon), dtype=self.raw)
        return all(np.array_equal(copied[name], getattr(data.contact, name)) for name in self.type.names or ())

    def first_place(self, data: Any) -> int:
        """The address of the first contact; where `stays`, of one MjData always the same."""
        return self._address(data.contact.dist) if self.raw is not None and data.ncon else 0

    def copied(self, data: Any) -> np.ndarray:
        """The contacts, field by field."""
        found = np.empty(data.ncon, dtype=self.type)
        for name in self.type.names or ():
            found[name] = getattr(data.contact, name)
        return found

    def values(self, name: str, read: np.ndarray) -> np.ndarray:
        """A field of contacts, from the bytes that _core has read."""
        kind = self.type[name]
        return read.view(kind.base).reshape(-1, *kind.shape)


@functools.cache
def _memory() -> _Memory:
    return _Memory(_mujoco())


class MujocoRobot:
    """A model made ready for many states: a copy that records contacts up to `reach` apart, with what
    follows from the model only."""

    def __init__(self, model: Any, reach: float) -> None:
        self.mujoco = _mujoco()
        self.memory = _memory()
        self.model = copy.copy(model)
        self.warned: set[str] = set()
        self._names: dict[tuple[str, int], str] = {}
        model = self.model
        self.own = tuple(np.array(each) for each in (model.geom_gap, model.geom_margin, model.pair_gap, model.pair_margin))
        self.own_body = np.array(model.body_margin) if hasattr(model, "body_margin") else None
        self.widen(reach)
        self._fit()

    def widen(self, reach: float) -> None:
        """Looks for contacts up to `reach` apart. gap, not margin: records within a gap have no forces, and
        pairs of boxes with a margin come and go (mujoco#2471). Explicit pairs have gaps of their own."""
        model = self.model
        for own, array in zip(self.own, (model.geom_gap, model.geom_margin, model.pair_gap, model.pair_margin)):
            array[:] = own
        for gap, margin in ((model.geom_gap, model.geom_margin), (model.pair_gap, model.pair_margin)):
            if not self.memory.gap_is_searched:
                np.maximum(margin, reach, out=margin)
            np.maximum(gap, reach, out=gap)
        if self.own_body is not None:  # of bodies with several geoms, which are looked at together first
            model.body_margin[:] = np.maximum(self.own_body, reach)

    def _fit(self) -> None:
        mujoco, model = self.mujoco, self.model
        model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        sleep = getattr(mujoco.mjtEnableBit, "mjENBL_SLEEP", None)
        if sleep is not None:  # a sleeping body has contacts that are not looked for
            model.opt.enableflags &= ~int(sleep)
        self.name = getattr(model, "name", "") or _model_name(model)
        self.nv, nbody = model.nv, model.nbody
        above = np.zeros((nbody, self.nv), dtype=bool)
        for body in range(1, nbody):
            above[body] = above[model.body_parentid[body]]
            first = model.body_dofadr[body]
            if first >= 0:
                above[body, first : first + model.body_dofnum[body]] = True
        self.above = above
        self.root = np.array(model.body_rootid, dtype=np.int64)
        self.body_of = np.array(model.geom_bodyid)
        self.welded = np.array(model.body_weldid)
        self.trees = np.array(model.dof_treeid, dtype=np.int64).reshape(-1)
        self.size = self._sizes()
        self.plane = np.array(model.geom_type) == int(mujoco.mjtGeom.mjGEOM_PLANE)
        self.built_in = self._built_in()
        kind = np.array(model.jnt_type)
        limited = np.array(model.jnt_limited, dtype=bool)
        hinge, slide, ball = (int(getattr(mujoco.mjtJoint, f"mjJNT_{word}")) for word in ("HINGE", "SLIDE", "BALL"))
        self.joints = np.flatnonzero(limited & ((kind == hinge) | (kind == slide)))
        self.balls = np.flatnonzero(limited & (kind == ball))
        self.slides = kind == slide
        free = int(mujoco.mjtJoint.mjJNT_FREE)
        self.turns = np.ones(self.nv, dtype=bool)
        self.dofs_of = np.where(kind == free, 6, np.where(kind == ball, 3, 1))
        for j in range(model.njnt):
            dof = model.jnt_dofadr[j]
            if kind[j] in (slide, free):
                self.turns[dof : dof + (1 if kind[j] == slide else 3)] = False
        self.arms = arms_of(model, self.turns, self.dofs_of, self.slides, self.plane)
        self.tendons = np.flatnonzero(np.array(model.tendon_limited, dtype=bool))
        joint = int(mujoco.mjtWrap.mjWRAP_JOINT)
        self.tendons_are_fixed = bool((np.array(model.wrap_type) == joint).all())
        self._mass_places()
        types = np.array(model.eq_type) if model.neq else np.zeros(0)
        self.equalities = len(types) > 0
        self.drives = self._drives()
        self.arrays = {"root": self.root, "body_of": self.body_of.astype(np.int64), "above": self.above.view(np.uint8)}  # for _core
        self.whole_forward = bool(model.nflex)  # its kinematics have steps of their own

    def _sizes(self) -> np.ndarray:
        """Of each geom the size of the rigid body that it is fixed to: the diameter of its colliding geoms, or
        of the ball that turns as heavily; of what does not move, infinite."""
        model = self.model
        reach = np.array(model.geom_rbound, dtype=np.float64)
        colliding = (np.array(model.geom_contype) != 0) | (np.array(model.geom_conaffinity) != 0)
        for pair in range(model.npair):
            colliding[[model.pair_geom1[pair], model.pair_geom2[pair]]] = True
        size = np.where(self.above[self.body_of].any(axis=1), 2.0 * reach, np.inf)
        data = self.mujoco.MjData(model)
        self.mujoco.mj_kinematics(model, data)
        mass, inertia = np.array(model.body_mass), np.array(model.body_inertia)
        ball = 2.0 * np.sqrt(5.0 / 3.0 * 0.5 * inertia.sum(axis=1) / np.where(mass > 0.0, mass, np.inf))
        rigid = self.welded[self.body_of]
        for body in np.unique(rigid[np.isfinite(size)]):
            mine = np.flatnonzero((rigid == body) & colliding & (reach > 0.0))
            wide = ball[self.welded == body].max()
            if len(mine):
                place = data.geom_xpos[mine]
                apart = np.linalg.norm(place[:, None] - place[None], axis=2)
                wide = max(wide, (apart + reach[mine][:, None] + reach[mine][None]).max())
            size[rigid == body] = np.maximum(size[rigid == body], wide)
        return size

    def _built_in(self) -> np.ndarray:
        """Pairs of geoms of one tree that are too deep in each other as the model is built, which is no state of
        theirs but how they are drawn."""
        mujoco, model, data = self.mujoco, self.model, self.mujoco.MjData(self.model)
        mujoco.mj_fwdPosition(model, data)
        geom, dist = np.array(data.contact.geom, dtype=np.int64).reshape(-1, 2), np.array(data.contact.dist)
        root = self.root[self.body_of[geom]]
        allowed = allowed_of_contacts(self.size[geom].min(axis=1, initial=np.inf), self.plane[geom].any(axis=1), Options())
        mine = (geom >= 0).all(axis=1) & (root[:, 0] == root[:, 1]) & (root[:, 0] > 0) & (dist < -allowed)
        return np.unique(geom[mine] @ [model.ngeom, 1])

    def notes(self) -> list[str]:
        """What of the model is left out, in words."""
        found = ["equalities with mocap bodies are drives: impacts leave them out"] if self.drives.any() else []
        if len(self.built_in):
            pairs = ", ".join(self.row_name(*map(int, divmod(pair, self.model.ngeom))) for pair in self.built_in)
            found.append(f"deep in each other as built, and left out: {pairs}")
        return found

    def _drives(self) -> np.ndarray:
        """Which equalities pull towards a mocap body, a goal that is moved by hand."""
        mujoco, model = self.mujoco, self.model
        found = np.zeros(model.neq, dtype=bool)
        goal = np.array(model.body_mocapid)[self.root] >= 0
        for i in np.flatnonzero(np.isin(model.eq_type, (int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD)))):
            ends = np.array([model.eq_obj1id[i], model.eq_obj2id[i]])
            if int(getattr(model, "eq_objtype", np.full(model.neq, int(mujoco.mjtObj.mjOBJ_BODY)))[i]) == int(mujoco.mjtObj.mjOBJ_SITE):
                ends = np.array(model.site_bodyid)[ends]
            found[i] = goal[ends].any()
        return found

    def _mass_places(self) -> None:
        """Where the numbers of the sparse inertia stand in the full one; of a MuJoCo without it, those of the full one."""
        model = self.model
        every = np.arange(self.nv * self.nv)
        self.mass_at, self.mass_is_sparse = (every, every), False
        if hasattr(model, "M_colind") and self.nv:
            rows = np.repeat(np.arange(self.nv), np.array(model.M_rownnz))
            columns = np.array(model.M_colind, dtype=np.int64)
            starts = np.array(model.M_rowadr)
            if len(rows) == len(columns) and (np.diff(starts) == np.array(model.M_rownnz)[:-1]).all():
                self.mass_at, self.mass_is_sparse = (rows * self.nv + columns, columns * self.nv + rows), True

    def _named(self, kind: str, index: int) -> str:
        if (kind, index) not in self._names:
            self._names[kind, index] = _name(self.mujoco, self.model, kind, index)
        return self._names[kind, index]

    def row_name(self, a: int, b: int) -> str:
        if a >= 0:
            return f"{self._named('GEOM', a)}/{self._named('GEOM', b)}"
        number, joints = -1 - a, self.model.njnt
        word = self._named("JOINT", number) if number < joints else self._named("TENDON", number - joints)
        return word + {-2: " lower", -3: " upper"}.get(b, "")

    def body_name(self, body: int) -> str:
        return self._named("BODY", body)

    def impacts(
        self, qpos: np.ndarray, qvel: np.ndarray, options: Options, *, prepare: Any = None, threads: int = 0,
        whole: bool = True,
    ) -> tuple[StateImpacts, dict[int, InvalidInput]]:  # fmt: skip
        return self.assembled(self.collected(qpos, qvel, options, prepare, threads), options, whole)

    def assembled(self, found: Collected, options: Options, whole: bool) -> tuple[StateImpacts, dict[int, InvalidInput]]:
        return assembled(found, options, self.name, self.row_name, self.body_name, whole)

    def collected(
        self, qpos: np.ndarray, qvel: np.ndarray, options: Options, prepare: Any = None, threads: int = 0,
        reaches: np.ndarray | None = None,
    ) -> Collected:  # fmt: skip
        """prepare: called with every MjData before it is used. reaches: how far apart contacts are looked for in
        each state; None: as the model was made ready."""
        count = len(qpos)
        workers = min(threads or os.cpu_count() or 1, max(1, count // 64))

        def piece(data: Any, states: np.ndarray | slice) -> _Found:
            return _Found(self, data, qpos, qvel, options, states, masses)

        masses = np.empty((count, len(self.mass_at[0])))
        datas = [self.mujoco.MjData(self.model) for _ in range(workers)]
        for data in datas:
            if prepare is not None:
                prepare(data)

        def threaded(states: np.ndarray | slice) -> _Found:
            data = datas.pop()
            try:
                return piece(data, states)
            finally:
                datas.append(data)

        found: list[_Found] = []
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for reach, states in self._levels(datas[0], qpos, reaches):
                if reach is not None:
                    self.widen(reach)
                size = min(_CHUNK, -(-len(states) // workers))
                pieces = [slice(begin, begin + size) for begin in range(0, len(states), size)]
                chunks = pieces if len(states) == count else [states[each] for each in pieces]  # all: without copies
                found.extend(map(threaded, chunks) if workers == 1 else pool.map(threaded, chunks))
        return self._joined(found, qvel, masses)

    def _levels(self, data: Any, qpos: np.ndarray, reaches: np.ndarray | None) -> list[tuple[float | None, np.ndarray]]:
        """Reaches, and the states that are looked at with each: all at the largest, unless a trial finds many
        contacts there."""
        if not len(qpos):
            return []
        if reaches is None:
            return [(None, np.arange(len(qpos)))]
        largest = float(reaches.max())
        if len(qpos) < 2 * FEW:
            return [(largest, np.arange(len(qpos)))]
        self.widen(largest)
        contacts = 0
        for q in qpos[:: len(qpos) // _PROBED][:_PROBED]:
            if np.isfinite(q).all():
                data.qpos[:] = q
                self.mujoco.mj_kinematics(self.model, data)
                self.mujoco.mj_collision(self.model, data)
                contacts += data.ncon
        return levels_of(reaches) if contacts >= _MANY * _PROBED else [(largest, np.arange(len(qpos)))]

    def fastest(self, qvel: np.ndarray) -> np.ndarray:
        """A bound on how fast points of it come near each other, of each state."""
        return fastest(self.arms, qvel)

    def is_fixed(self) -> bool:
        """Whether something that moves does so otherwise than from a free joint."""
        model = self.model
        free = int(self.mujoco.mjtJoint.mjJNT_FREE)
        roots = {int(body) for body in range(1, model.nbody) if self.above[body].any()
                 and not self.above[model.body_parentid[body]].any()}  # fmt: skip
        return any(model.jnt_type[model.body_jntadr[body]] != free for body in roots)

    def gravity(self) -> np.ndarray:
        return np.array(self.model.opt.gravity)

    def mass_centres(self, qpos: np.ndarray) -> tuple[np.ndarray, float]:
        """Of all that moves."""
        model, data = self.model, self.mujoco.MjData(self.model)
        moves = np.flatnonzero(self.above.any(axis=1))
        mass = np.array(model.body_mass)[moves]
        found = np.empty((len(qpos), 3))
        for i, q in enumerate(qpos):
            data.qpos[:] = q
            self.mujoco.mj_kinematics(model, data)
            found[i] = mass @ data.xipos[moves] / mass.sum()
        return found, float(mass.sum())

    def forces(self, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        """Generalised forces of gravity, Coriolis terms, springs and dampers (s, nv)."""
        model, data = self.model, self.mujoco.MjData(self.model)
        found = np.empty((len(qpos), self.nv))
        for i, (q, v) in enumerate(zip(qpos, qvel)):
            data.qpos[:], data.qvel[:] = q, v
            self.mujoco.mj_fwdPosition(model, data)
            self.mujoco.mj_fwdVelocity(model, data)
            found[i] = data.qfrc_passive - data.qfrc_bias
        return found

    def moved(self, qpos: np.ndarray, qvel: np.ndarray, h: float) -> np.ndarray:
        found = np.array(qpos)
        for q, v in zip(found, qvel):
            self.mujoco.mj_integratePos(self.model, q, np.ascontiguousarray(v), h)
        return found

    def _joined(self, found: list[_Found], qvel: np.ndarray, masses: np.ndarray) -> Collected:
        for name in sorted({name for each in found for name in each.torsional} - self.warned):
            self.warned.add(name)
            warnings.warn(f"{name}: torsional and rolling friction are left out", stacklevel=5)
        nv = self.nv
        rows = Rows.joined([each.rows for each in found]) if found else Rows.of([], lines_of(np.zeros((0, 3, nv))), [], [], [], [])
        equalities = Equalities.joined(nv, [each.equalities for each in found])
        refused = {state: why for each in found for state, why in each.refused.items()}
        return Collected(Masses(masses, *self.mass_at, nv), np.array(qvel), rows, equalities, self.trees, self.welded, refused)


class _Found:
    """A chunk of states: MuJoCo's part state by state, the rest in arrays."""

    def __init__(
        self, robot: MujocoRobot, data: Any, qpos: np.ndarray, qvel: np.ndarray, options: Options,
        states: np.ndarray | slice, masses: np.ndarray,
    ) -> None:  # fmt: skip
        """states: which of them; the numbers of their mass matrices are written to masses."""
        self.robot, self.options = robot, options
        self.number = np.arange(len(qpos))[states]
        self.qpos, self.qvel = qpos[states], qvel[states]
        self.refused: dict[int, tuple[StateStatus, InvalidInput]] = {}
        self.torsional: set[str] = set()
        self.tendon_shape: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        mine = masses[states] if isinstance(states, slice) else np.empty((len(self.number), masses.shape[1]))
        taker = self._taker(data, mine)
        self._run(data, mine, taker)
        if not isinstance(states, slice):
            masses[states] = mine
        found = taker.found()
        self.equalities = self._equalities(found)
        parts = [self._contacts(data, found), self._joint_limits(), *self._other_limits()]
        self.rows = Rows.joined(parts)
        self.rows.state = self.number[self.rows.state]

    def _refuse(self, state: int, status: StateStatus, error: InvalidInput) -> None:
        self.refused.setdefault(int(self.number[state]), (status, error))

    def _taker(self, data: Any, masses: np.ndarray) -> Any:
        """What reads the mass matrix and the contacts of each state; reads and writes arrays that stay where they are."""
        robot, options = self.robot, self.options
        views = {"com": data.subtree_com, "cdof": data.cdof, "mass": data.M if robot.mass_is_sparse else None}
        skipped = robot.built_in if options.max_penetration is None else robot.built_in[:0]
        return _core.ContactTaker(
            views, {**robot.arrays, "skipped": skipped}, robot.memory.fields, robot.memory.own.itemsize, options.activation,
            options.time_to_contact, self.qvel, masses,
        )  # fmt: skip

    def _run(self, data: Any, masses: np.ndarray, taker: Any) -> None:
        robot, (count, nv) = self.robot, self.qvel.shape
        mujoco, model, memory = robot.mujoco, robot.model, robot.memory
        tendons = len(robot.tendons) > 0
        self.length = np.zeros((count, model.ntendon if tendons else 0))
        self.ten_J = np.zeros((count, len(robot.tendons), nv))
        self.finite = np.isfinite(self.qpos).all(axis=1) & np.isfinite(self.qvel).all(axis=1)
        constrained = robot.equalities and np.any(getattr(data, "eq_active", True))
        make_mass = getattr(mujoco, "mj_makeM", mujoco.mj_crb)
        qpos_view = data.qpos
        place = 0  # of contacts
        for i, finite in enumerate(self.finite.tolist()):
            if not finite:
                self._not_finite(i)
                masses[i] = robot.mass_at[0] == robot.mass_at[1] if robot.mass_is_sparse else np.eye(nv).reshape(-1)
                continue
            qpos_view[:] = self.qpos[i]
            # Not mj_step: its qvel would be that after the contact solver.
            if robot.whole_forward:
                data.qvel[:] = self.qvel[i]
                mujoco.mj_fwdPosition(model, data)
            else:
                mujoco.mj_kinematics(model, data)
                mujoco.mj_comPos(model, data)
                if tendons or constrained:
                    mujoco.mj_tendon(model, data)
                make_mass(model, data)
                mujoco.mj_collision(model, data)
                if constrained:
                    mujoco.mj_makeConstraint(model, data)
            if not robot.mass_is_sparse:
                self._full_mass(data, masses[i].reshape(nv, nv))
            found = data.ncon
            if memory.raw is None:
                copied = memory.copied(data)
                place = copied.ctypes.data
            elif found and not (place and memory.stays):
                place = memory.first_place(data)
            taker.take(i, place, found)
            if tendons:
                self.length[i] = data.ten_length
                self.ten_J[i] = self._tendon_rows(data)
            if constrained and data.ne:
                taker.take_equalities(i, data.ne, data.efc_J, data.efc_id)

    def _not_finite(self, i: int) -> None:
        for field, array in (("qpos", self.qpos[i]), ("qvel", self.qvel[i])):
            bad = np.flatnonzero(~np.isfinite(array))
            if len(bad):
                self._refuse(i, StateStatus.invalid, refuse(f"{field}[{bad[0]}] of state {self.number[i]}",
                             str(array[bad[0]]), "must be finite"))  # fmt: skip

    def _full_mass(self, data: Any, M: np.ndarray) -> None:
        mujoco, model, nv = self.robot.mujoco, self.robot.model, self.robot.nv
        column = np.empty((nv, 1))
        mujoco.mj_factorM(model, data)
        for j in range(nv):
            unit = np.zeros((nv, 1))
            unit[j] = 1.0
            mujoco.mj_mulM(model, data, column.reshape(-1), unit.reshape(-1))
            M[:, j] = column.reshape(-1)
        M[:] = 0.5 * (M + M.T)

    def _tendon_rows(self, data: Any) -> np.ndarray:
        """Of the limited tendons, dense."""
        nv, tendons, model = self.robot.nv, self.robot.tendons, self.robot.model
        J = np.asarray(data.ten_J)
        owner = data if hasattr(data, "ten_J_rownnz") else model
        if J.size == nv * model.ntendon and not hasattr(owner, "ten_J_colind"):
            dense: np.ndarray = J.reshape(-1, nv)[tendons]
            return dense
        shape = self.tendon_shape[0] if self.tendon_shape is not None else np.zeros(0)
        if not self.robot.tendons_are_fixed:  # those through space have other joints as they wrap
            shape = np.concatenate([np.asarray(owner.ten_J_rownnz), np.asarray(owner.ten_J_colind).reshape(-1)])
        if self.tendon_shape is None or not np.array_equal(shape, self.tendon_shape[0]):
            counts, starts = np.asarray(owner.ten_J_rownnz)[tendons], np.asarray(owner.ten_J_rowadr)[tendons]
            place = np.concatenate([np.arange(a, a + n) for a, n in zip(starts, counts)]).astype(np.int64)
            columns = np.asarray(owner.ten_J_colind).reshape(-1)[place]
            self.tendon_shape = shape, place, np.repeat(np.arange(len(tendons)), counts) * nv + columns
        _, place, target = self.tendon_shape
        found = np.zeros(len(tendons) * nv)
        found[target] = J.reshape(-1)[place]
        return found.reshape(-1, nv)

    def _equalities(self, found: dict[str, np.ndarray]) -> Equalities:
        """The active ones that MuJoCo had, in its order."""
        state, number, J = found["equality_state"], found["equality_id"].astype(np.int64), found["equality"]
        first = np.flatnonzero((np.diff(state, prepend=-1) != 0) | (np.diff(number, prepend=-1) != 0))
        place = np.arange(len(state)) - np.repeat(first, np.diff(first, append=len(state)))
        unit = 2 * number + (place >= 3)  # of a weld the last three are turns
        equalities = Equalities(J, self.number[state], unit)
        if self.options.goals != "drive" or not self.robot.drives.any():
            return equalities
        return equalities[~self.robot.drives[number]]

    def _contacts(self, data: Any, found: dict[str, np.ndarray]) -> Rows:
        robot, options, memory = self.robot, self.options, self.robot.memory
        for i in np.unique(found["flexes"]):
            self._refuse(int(i), StateStatus.not_taken, refuse(
                f"a contact of state {self.number[i]}", "one of a flex", "only geoms are taken"))  # fmt: skip
        state, fields = found["state"], {name: memory.values(name, found[name]) for name in memory.fields}
        geom, dist, dim, friction = fields["geom"].astype(np.int64), fields["dist"], fields["dim"], fields["friction"]
        pos, frame = fields["pos"], fields["frame"]
        self._extras({name: fields[name] for name in ("surfacevel", "adhesion") if name in fields}, dim, friction, state, geom)
        mu = np.where(dim == 1, 0.0, friction[:, 0])
        size, plane = robot.size[geom].min(axis=1, initial=np.inf), robot.plane[geom].any(axis=1)
        allowed = allowed_of_contacts(size, plane, options)
        deep = np.flatnonzero(dist < -allowed)
        if len(deep):
            most = allowed_of_contacts(size[deep], np.ones(len(deep), dtype=bool), options)
            clear = self._clear(data, state[deep], geom[deep], frame[deep, :3], dist[deep], most)
            allowed[deep] = np.where(clear, most, allowed[deep])
        lines = found["begin"], found["width"], found["dof"], found["value"]
        return Rows.of(state, lines, mu, dist, allowed, geom, pos, frame, robot.body_of[geom])

    def _clear(
        self, data: Any, state: np.ndarray, geom: np.ndarray, normal: np.ndarray, dist: np.ndarray, most: np.ndarray
    ) -> np.ndarray:
        """Of deep contacts: whether they are at most as deep as at a plane, with a normal as sure as a plane's."""
        mujoco, model = self.robot.mujoco, self.robot.model
        found = np.zeros(len(state), dtype=bool)
        last = -1
        for r in np.flatnonzero(dist >= -most):
            if state[r] != last:
                last = state[r]
                data.qpos[:] = self.qpos[last]
                mujoco.mj_kinematics(model, data)
            found[r] = is_clear(mujoco, model, data, geom[r], normal[r], -dist[r])
        return found

    def _extras(
        self, extras: dict[str, np.ndarray], dim: np.ndarray, friction: np.ndarray, state: np.ndarray, geom: np.ndarray
    ) -> None:
        """What of contacts is not taken."""
        robot = self.robot
        for field, values in extras.items():
            extra = values != 0.0
            for r in np.flatnonzero(extra.any(axis=1) if extra.ndim > 1 else extra):
                self._refuse(int(state[r]), StateStatus.not_taken, refuse(
                    f"{field} of {robot.row_name(*map(int, geom[r]))}", str(values[r]), "is not taken: must be zero"))  # fmt: skip
        for r in np.flatnonzero((dim >= 3) & (friction[:, 0] != friction[:, 1])):
            self._refuse(int(state[r]), StateStatus.not_taken, refuse(
                f"friction of {robot.row_name(*map(int, geom[r]))}", str(tuple(float(each) for each in friction[r, :2])),
                "must be one number: anisotropic pairs are not taken"))  # fmt: skip
        torsional = dim > 3
        if torsional.any():
            count = robot.model.ngeom
            for pair in distinct(geom[torsional] @ [count, 1])[0]:
                self.torsional.add(robot.row_name(*map(int, divmod(pair, count))))

    def _joint_limits(self) -> Rows:
        """From the joints' ranges: a joint exactly at its limit has no row of MuJoCo's."""
        robot, model = self.robot, self.robot.model
        j = robot.joints
        dof = np.array(model.jnt_dofadr)[j]
        low, high = np.array(model.jnt_range)[j].T.reshape(2, -1)
        rows = limits(
            dof, low, high, self.qpos[:, np.array(model.jnt_qposadr)[j]], self.qvel[:, dof], robot.slides[j],
            self.options,
        )  # fmt: skip
        rows.geom[:, 0] = -1 - j[-1 - rows.geom[:, 0]]
        return rows

    def _other_limits(self) -> list[Rows]:
        """Of tendons and of ball joints, as MuJoCo has them."""
        robot, model, options = self.robot, self.robot.model, self.options
        found: list[Rows] = []
        if len(robot.tendons):
            t = robot.tendons
            span = np.array(model.tendon_range)[t]
            rate = np.einsum("stj,sj->st", self.ten_J, self.qvel)
            phi = np.stack([self.length[:, t] - span[:, 0], span[:, 1] - self.length[:, t]], axis=2)
            taken = is_near(phi, np.stack([rate, -rate], axis=2), options) & self.finite[:, None, None]
            state, k, end = np.nonzero(taken)
            J = np.zeros((len(state), 3, robot.nv))
            J[:, 0] = np.where(end == 0, 1.0, -1.0)[:, None] * self.ten_J[state, k]
            allowed = allowed_of_limits(np.ones(len(t), dtype=bool), span[:, 1] - span[:, 0], options)
            found.append(Rows.of(state, lines_of(J), np.zeros(len(state)), phi[taken], allowed[k],
                                 np.stack([-1 - model.njnt - t[k], -2 - end], axis=1)))  # fmt: skip
        for j in robot.balls:
            place, dof = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
            q = self.qpos[:, place : place + 4]
            q = q / np.linalg.norm(q, axis=1)[:, None]
            q = np.where(q[:, :1] < 0.0, -q, q)
            size = np.linalg.norm(q[:, 1:], axis=1)
            angle = 2.0 * np.arctan2(size, q[:, 0])
            axis = np.where(size[:, None] > 0.0, q[:, 1:] / np.where(size > 0.0, size, 1.0)[:, None], [1.0, 0.0, 0.0])
            most = float(np.max(model.jnt_range[j]))
            phi = most - angle
            rate = -np.einsum("si,si->s", axis, self.qvel[:, dof : dof + 3])
            state = np.flatnonzero(is_near(phi, rate, options) & self.finite)
            J = np.zeros((len(state), 3, robot.nv))
            J[:, 0, dof : dof + 3] = -axis[state]
            allowed = allowed_of_limits(np.array([False]), np.array([most]), options)
            found.append(Rows.of(state, lines_of(J), np.zeros(len(state)), phi[state], np.repeat(allowed, len(state)),
                                 np.tile([-1 - int(j), -4], (len(state), 1))))  # fmt: skip
        return found


# Models made ready by from_mujoco, one a model and reach, with what was copied then: a model that its
# owner changes is made ready anew.
_READY: dict[int, tuple[Any, float, list[Any], MujocoRobot]] = {}
_MESHES = ("mesh_", "bvh_", "oct_", "hfield_", "tex_", "skin_", "names", "paths", "text_data")


def _numbers(model: Any) -> list[Any]:
    """What of a model its owner may have changed, meshes and the like left out."""
    found: list[Any] = []
    for part in (model, model.opt):
        for name in dir(part):
            if name.startswith(("_", *_MESHES)):
                continue
            value = getattr(part, name)
            if isinstance(value, np.ndarray):
                found.append(value.tobytes())
            elif isinstance(value, (int, float)):
                found.append(value)
    return found


def ready(model: Any, reach: float) -> MujocoRobot:
    """The model made ready; the last one of a model is kept while the model lives."""
    numbers = _numbers(model)
    known = _READY.get(id(model))
    if known is not None and known[0]() is model and known[1] == reach and known[2] == numbers:
        return known[3]
    made = MujocoRobot(model, reach)
    key = id(model)
    try:
        _READY[key] = (weakref.ref(model, lambda _: _READY.pop(key, None)), reach, numbers, made)
    except TypeError:  # a MuJoCo whose models have no weak references
        pass
    return made


def from_mujoco(
    model: Any, data: Any = None, *, qpos: Any = None, qvel: Any = None, activation: float = 1e-6,
    time_to_contact: float = 0.0, max_penetration: float | None = None, max_projected: float = 0.05,
    reduce: str | None = None, pad: bool = False, threads: int = 0, on_error: str | None = None,
) -> Any:  # fmt: skip
    """Impact problems of states of a MuJoCo model, just before contacts act. carom.robot does this and more.

    data: an MjData, which is not changed; or qpos (nq) and qvel (nv); or many states (s, nq) and (s, nv).

    One state gives Problems. Many states give a list of Problems, one for each number of contacts. Its
    attribute index has the place of each state, and status and why say what became of it. pad=True
    adds rows of zeros up to the largest number of contacts.

    Active are contacts nearer than activation [m], those that touch within time_to_contact [s] at their
    speed, and joints, balls and tendons at their limits (mu = 0). Contacts may be as deep as
    max_penetration [m, limits rad]; None: as in robot(). reduce="hull" leaves out contacts that lie
    between others of a patch of one pair of bodies.

    Velocities are MuJoCo's. Where equalities are active they are u with v = Z u; Z is in lift. A velocity
    that violates the equalities is projected onto them. That may take the share max_projected of the
    kinetic energy; states.projected says how much it took.

    on_error: "raise" (the default for one state), or "status" (the default for many): a refused state is in
    no problem.

    Errors: InvalidInput naming what is not supported: deeper contacts, flexes, anisotropic friction,
    surface velocities, adhesion, more than 64 contacts or 256 velocities, a velocity that violates the
    equalities by more than max_projected.
    """
    if (data is None) == (qpos is None):
        raise TypeError("takes data, or qpos and qvel")
    options = Options(activation, time_to_contact, max_penetration, max_projected, reduce)
    _mujoco()
    robot = ready(model, reach_of(options))
    prepare = None
    if data is not None:
        qpos, qvel = np.array(data.qpos), np.array(data.qvel)
        prepare = functools.partial(_other_state, data)
    qpos, qvel, single = states_of("qpos", qpos, model.nq, "qvel", qvel, model.nv, finite=False)
    states, errors = robot.impacts(qpos, qvel, options, prepare=prepare, threads=threads)
    return answered(states, single, pad, on_error, errors)


def _other_state(source: Any, data: Any) -> None:
    """What of a state is neither position nor velocity."""
    for field in ("act", "mocap_pos", "mocap_quat", "eq_active", "userdata"):
        getattr(data, field)[:] = getattr(source, field)


def _model_name(model: Any) -> str:
    names = bytes(model.names)
    return names[: names.find(b"\0")].decode(errors="replace") or "robot"
