"""Robots: prepares a model once and converts its states to impacts, stances, compliant steps and motions."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import compliant, equilibrium, motion
from ._arrays import refuse
from ._mujoco import MujocoRobot, _mujoco, _other_state
from ._optional import needed
from ._pinocchio import PinocchioRobot
from ._reach import reach_of
from ._results import Result, RowType, result
from ._state_runs import ImpactRuns
from ._states import Options, StateContact, StateImpacts, StateStatus, states_of

__all__ = ["ImpactRuns", "Robot", "StateContact", "StateImpacts", "StatePostures", "StateStatus", "StateSteps", "robot"]

GROUND = "ground"
_MASSLESS = 1e-14  # of a mass matrix's eigenvalues
TIME_TO_CONTACT = 1e-3  # [s]: what touches within it acts together with what touches


def host(value: Any) -> Any:
    """An array in host memory: what devices hold is copied."""
    if value is None or isinstance(value, np.ndarray):
        return value
    for name in ("detach", "cpu", "numpy"):  # torch; Warp has only numpy()
        if hasattr(value, name):
            value = getattr(value, name)()
    return np.asarray(value)


@result
class StatePostures(Result):
    """Stances of s states of a robot.

    status, why (s): as in StateImpacts. parts: Postures, one for each number of contacts; index: the states of each
    part. mass_centre (s, 3) [m]; weight [N]."""

    name: str
    status: np.ndarray
    why: tuple[str, ...]
    parts: tuple[equilibrium.Postures, ...]
    index: tuple[np.ndarray, ...]
    mass_centre: np.ndarray
    weight: float

    def __len__(self) -> int:
        return len(self.status)

    def margins(self, **settings: Any) -> np.ndarray:
        """Lower and upper bound (s, 2) of the distance [m] of each state's centre of mass to the boundary of its
        support region, negative outside; NaN without contacts. settings: those of equilibrium.margins."""
        found = np.full((len(self), 2), np.nan)
        for part, index in zip(self.parts, self.index):
            answer = equilibrium.margins(part, com=self.mass_centre[index], bad_problem="isolate", **settings)
            found[index] = np.stack([answer.margin_lower, answer.margin_upper], axis=1)
        return found

    def _summary(self) -> str:
        sizes = ", ".join(f"{len(part)} of {part.contacts}" for part in self.parts)
        return f"{self.name!r}: {len(self)} states; stances by contacts: {sizes or 'none'}"


@result
class StateSteps(Result):
    """One compliant step of s states: qpos (s, nq) and qvel (s, nv) after it; kinetic_energy [J], residual and
    solved (s); status and why (s) as in StateImpacts. A refused state keeps its positions and velocities."""

    name: str
    status: np.ndarray
    why: tuple[str, ...]
    solved: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray
    kinetic_energy: np.ndarray
    residual: np.ndarray

    def _summary(self) -> str:
        return f"{self.name!r}: {len(self.status)} states, {int(self.solved.sum())} solved"


class Robot:
    """A model that is prepared for many states; made by robot(). Later changes of the model have no effect.
    notes: what was changed or left out when the model was converted, in words."""

    def __init__(self, ready: Any, notes: tuple[str, ...]) -> None:
        self._ready = ready
        self.notes = notes

    @property
    def name(self) -> str:
        return str(self._ready.name)

    @property
    def library(self) -> str:
        return "mujoco" if isinstance(self._ready, MujocoRobot) else "pinocchio"

    @property
    def positions(self) -> int:
        return int(self._ready.model.nq)

    @property
    def velocities(self) -> int:
        return int(self._ready.nv)

    def __repr__(self) -> str:
        return f"Robot({self.name!r} of {self.library}: {self.positions} positions, {self.velocities} velocities)"

    def _states(self, qpos: Any, qvel: Any) -> tuple[np.ndarray, np.ndarray, Any]:
        """Positions and velocities of states, and the MjData that they came in, if any."""
        data = None
        if qvel is None and hasattr(qpos, "qpos") and hasattr(qpos, "qvel"):
            data, qpos, qvel = qpos, qpos.qpos, qpos.qvel
        q, v, _ = states_of("qpos", np.array(host(qpos)), self.positions, "qvel", host(qvel), self.velocities, finite=False)
        if type(data).__name__ != "MjData":
            data = None
        return q, v, data

    def impacts(
        self, qpos: Any, qvel: Any = None, *, activation: float = 1e-6, time_to_contact: float = TIME_TO_CONTACT,
        max_penetration: float | None = None, max_projected: float = 0.05, reduce: str | None = "hull",
        islands: bool = True, align: bool = True, goals: str = "drive", threads: int = 0, on_error: str = "status",
    ) -> StateImpacts:  # fmt: skip
        """Converts states to impact problems, for impact.sample: the velocities just before the contacts act.

        Parameters:

        qpos, qvel
            (s, nq) and (s, nv), or one state, as the simulator has them, from NumPy, MJX, Warp or torch; or an
            object with both, such as an MjData.
        activation, time_to_contact
            Which contacts act: those nearer than activation [m], and those that touch within time_to_contact [s]
            at their present speed; 0: by distance only.
        max_penetration
            The largest accepted penetration of contacts [m] and violation of limits [m or rad]. None: an eighth of the
            size of the smaller rigid body's geoms, at most 2 cm; a third, at most 4 cm, for planes, and for MuJoCo's
            convex geoms if every other separating direction is at least twice as deep; for limits half a turn, or
            the larger of 5 cm and a third of their range.
        max_projected
            Velocities are projected onto active equalities. The projection may remove this share of the kinetic
            energy; otherwise the state is refused.
        reduce
            "hull": contacts of one pair of bodies with the same normal, friction and plane are reduced to the corners
            of their patch, and points within 0.1 mm of each other to one. None: all contacts are kept.
        islands
            Bodies that no contact, joint or equality connects become separate problems.
        align
            The first tangent of a contact is the direction of its slip, so that the friction polygon can oppose it.
        goals
            "drive": equalities with mocap bodies are like actuators, which transmit no impulse. "rigid": they hold
            like other equalities.
        threads
            0: all cores.
        on_error
            "status", or "raise" at the first refused state.

        Errors: InvalidInput for shapes; with on_error="raise" that of the first refused state.
        """
        options = Options(activation, time_to_contact, max_penetration, max_projected, reduce, islands, align, goals)
        q, v, data = self._states(qpos, qvel)
        if on_error not in ("status", "raise"):
            raise refuse("on_error", repr(on_error), "must be 'status' or 'raise'")
        states: StateImpacts
        states, errors = self._taken(q, v, data, options, threads)
        if errors and on_error == "raise":
            raise errors[min(errors)]
        return states

    def _taken(self, q: np.ndarray, v: np.ndarray, data: Any, options: Options, threads: int = 0) -> Any:
        return self._ready.assembled(self._collected(q, v, data, options, threads), options, False)

    def _collected(self, q: np.ndarray, v: np.ndarray, data: Any, options: Options, threads: int = 0) -> Any:
        if isinstance(self._ready, PinocchioRobot):
            return self._ready.collected(q, v, options)
        prepare = None if data is None else lambda made: _other_state(data, made)
        return self._ready.collected(q, v, options, prepare, threads, reach_of(options, self._ready.fastest(v)))

    def posture(self, qpos: Any, *, activation: float = 1e-3, max_penetration: float | None = None) -> StatePostures:
        """Converts states to stances, for equilibrium: the whole robot is one rigid body (joints as strong as
        necessary) on its contacts with the world. activation [m]: contacts within this distance count.

        Errors: InvalidInput for a robot whose base is fixed, or whose gravity is not along -z.
        """
        q, v, data = self._states(qpos, None)
        if self._ready.is_fixed():
            raise refuse("model", "with a fixed base", "stands on contacts where its base is free", "is")
        gravity = self._ready.gravity()
        if gravity[2] >= 0.0 or np.abs(gravity[:2]).max() > 1e-12 * abs(gravity[2]):
            raise refuse("gravity", str(gravity.tolist()), "must be along -z")
        options = Options(activation, 0.0, max_penetration, reduce="hull")
        states, _ = self._taken(q, np.zeros_like(v), data, options)
        centre, mass = self._ready.mass_centres(q)
        weight = float(-mass * gravity[2])
        parts, index = [], []
        mine = states.row_still.sum(axis=1) == 1
        count = np.bincount(states.row_state[mine], minlength=len(states))
        for k in np.unique(count[count > 0]):
            chosen = np.flatnonzero((count == k) & ((states.status <= StateStatus.no_contact)))
            if not len(chosen):
                continue
            rows = np.flatnonzero(mine & np.isin(states.row_state, chosen)).reshape(len(chosen), int(k))
            normal = states.row_frame[rows][:, :, 0]
            inward = states.row_still[rows][:, :, 0]  # normals point to the second body
            normal = np.where(inward[:, :, None], normal, -normal)
            parts.append(equilibrium.Postures.of(
                states.row_point[rows], normal, states.row_friction[rows],
                wrench=np.array([0.0, 0.0, -weight, 0.0, 0.0, 0.0]), name=self.name))  # fmt: skip
            index.append(chosen)
        return StatePostures(
            name=self.name, status=states.status, why=states.why, parts=tuple(parts), index=tuple(index),
            mass_centre=centre, weight=weight,
        )  # fmt: skip

    def step(
        self, qpos: Any, qvel: Any, h: float, *, force: Any = None, stiffness: float = 1e5, damping: float = 1e3,
        activation: float = 1e-3, max_penetration: float | None = None, **settings: Any,
    ) -> StateSteps:  # fmt: skip
        """One compliant time step of h [s] of every state (compliant.step).

        Contacts and limits have a stiffness [N/m] and a damping [N s/m]; equalities are rigid. force (s, nv) or
        (nv,): generalised forces of the actuators [N, N m], default 0. Gravity, Coriolis forces, and springs and
        dampers of joints come from the model.

        Errors: InvalidInput for shapes and settings.
        """
        q, v, data = self._states(qpos, qvel)
        options = Options(activation, 0.0, max_penetration, 1.0, "hull")
        found = self._collected(q, v, data, options)
        states, _ = self._ready.assembled(found, options, False)
        nv, count = self.velocities, len(q)
        free = self._ready.forces(q, v)
        if force is not None:
            free = free + np.broadcast_to(np.asarray(host(force), dtype=np.float64), free.shape)
        after_q, after_v = np.array(q), np.array(v)
        energy, residual = np.full(count, np.nan), np.full(count, np.nan)
        solved = np.zeros(count, dtype=bool)
        good = np.flatnonzero(~np.isin(states.status, (StateStatus.too_deep, StateStatus.not_taken, StateStatus.invalid)))
        J = found.rows.dense(nv)
        blocks = [self._rows(found, J, int(i), stiffness, damping, h) for i in good]
        most = max((len(block[0]) for block in blocks), default=0)
        if len(good):
            stacked = [np.zeros((len(good), most, *block.shape[1:])) for block in blocks[0]]
            for place, block in enumerate(blocks):
                for array, mine in zip(stacked, block):
                    array[place, : len(mine)] = mine
            kinds = stacked[0].astype(np.uint8)  # what a state lacks is 0, none
            rows = compliant.Rows(kinds, stacked[1], phi=stacked[2], K=stacked[3], B=stacked[4], mu=stacked[5])
            answer = compliant.step(found.M[good], free[good], v[good], rows, h, **settings)
            solved[good] = answer.status == 0
            energy[good], residual[good] = answer.kinetic_energy, answer.residual
            done = good[answer.status == 0]
            after_v[done] = answer.velocity[answer.status == 0]
            after_q[done] = self._ready.moved(q[done], after_v[done], h)
        return StateSteps(
            name=self.name, status=states.status, why=states.why, solved=solved, qpos=after_q, qvel=after_v,
            kinetic_energy=energy, residual=residual,
        )  # fmt: skip

    def _rows(self, found: Any, dense: np.ndarray, i: int, stiffness: float, damping: float, h: float) -> tuple[Any, ...]:
        """A state's constraint rows: type, J, phi, K, B, mu."""
        kind = RowType
        mine = np.flatnonzero(found.rows.state == i)
        types, J, phi, K, B, mu = [], [], [], [], [], []
        for r in mine:
            contact = found.rows.geom[r, 0] >= 0
            lines = 3 if contact else 1
            types += [kind.normal, kind.tangent, kind.tangent] if contact else [kind.unilateral]
            J += list(dense[r, :lines])
            phi += [found.rows.phi[r]] + [0.0] * (lines - 1)
            K += [stiffness] + [0.0] * (lines - 1)
            B += [damping] * lines
            mu += [found.rows.mu[r]] + [0.0] * (lines - 1)
        for line in found.equalities.E[found.equalities.state == i]:
            types.append(kind.bilateral)
            J.append(line)
            phi.append(0.0)
            K.append(0.0)
            B.append(1e3 / h)
            mu.append(0.0)
        return (np.array(types, dtype=np.uint8), np.array(J).reshape(-1, self.velocities), np.array(phi), np.array(K),
                np.array(B), np.array(mu))  # fmt: skip

    def motion(self, qpos: Any, qvel: Any = None) -> motion.Motions:
        """Initial states of motions, for motion.simulate: links, hinge, slide and ball joints with their springs and
        dampers, and points of spheres, boxes and capsules that may touch planes.

        Errors: InvalidInput names what motions do not support: equalities, armature, several free bodies, other
        shapes at planes.
        """
        if isinstance(self._ready, PinocchioRobot):
            raise refuse("model", "of Pinocchio", "motions are made of MuJoCo models", "is")
        from ._robot_trees import tree_of

        q, v, _ = self._states(qpos, qvel)
        description, position, velocity = tree_of(self._ready, q, v)
        return motion.tree(description, position, velocity, name=self.name)


def robot(
    model: Any, *, geometry: Any = None, friction: Any = None, floating: bool | None = None, ground: bool = True,
    self_collisions: bool = False, packages: Any = None, hulls: bool = True,
) -> Robot:  # fmt: skip
    """Prepares a robot model for many states.

    Parameters:

    model
        A MuJoCo MjModel, or an object that has one (dm_control's Physics, an environment of Gymnasium); the
        path of an MJCF file (.xml, .mjb); the path of a URDF file, which Pinocchio reads; a Pinocchio Model
        with its GeometryModel in geometry; or a RobotWrapper.
    geometry
        Pinocchio's GeometryModel.
    friction
        Friction coefficients for Pinocchio, whose models have none: a number, by default 0.8, or
        {(name, name): number}.
    floating
        Whether the base of a URDF is free. None: if its link has a mass.
    ground
        Adds a half-space z <= 0 to URDFs and RobotWrappers.
    self_collisions
        In URDFs and RobotWrappers links may touch each other, except neighbours and links that overlap already in
        the model.
    packages
        Folders for package:// paths of a URDF.
    hulls
        Pinocchio's meshes are replaced by their convex hulls, as in MuJoCo.

    Errors: InvalidInput for any other model; ImportError if MuJoCo or Pinocchio is missing.
    """
    if isinstance(model, (str, os.PathLike)):
        return _from_file(pathlib.Path(model), friction, floating, ground, packages, hulls, self_collisions)
    holder = model
    for _ in range(4):  # Gymnasium's environments, dm_control's Physics and its wrapper of a model
        kind = type(holder).__name__
        if kind == "MjModel" and type(holder).__module__.startswith("mujoco."):
            made = MujocoRobot(holder, 0.0)
            return Robot(made, ("made of a MuJoCo model; later changes to it are not seen", *made.notes()))
        if kind == "MjSpec":
            holder = holder.compile()
        elif kind == "Model" and type(holder).__module__.startswith("pinocchio"):
            if geometry is None:
                raise refuse("geometry", "None", "a Pinocchio model comes with its GeometryModel")
            return _pinocchio_robot(holder, geometry, friction, hulls, _notes(friction, hulls))
        elif hasattr(holder, "collision_model"):  # Pinocchio's RobotWrapper, example-robot-data
            return _of_pinocchio(holder.model, holder.collision_model, friction, ground, hulls, self_collisions)
        elif type(holder).__module__.startswith(("mujoco.mjx", "mujoco_warp")):
            raise refuse("model", f"a {type(holder).__module__} Model", "has not all of the MjModel that it was made of: give "
                         "that; states may come from MJX and Warp")  # fmt: skip
        else:
            following = next((getattr(holder, name) for name in ("unwrapped", "physics", "model", "ptr", "mj_model", "sim")
                              if getattr(holder, name, None) is not None and getattr(holder, name) is not holder), None)  # fmt: skip
            if following is None:
                break
            holder = following
    raise refuse("model", type(model).__name__, "must be an MjModel, a Pinocchio Model or RobotWrapper, or the path of a file")


def _from_file(
    path: pathlib.Path, friction: Any, floating: bool | None, ground: bool, packages: Any, hulls: bool, self_collisions: bool
) -> Robot:
    if not path.exists():
        raise refuse("model", repr(str(path)), "no such file")
    if path.suffix == ".mjb":
        return robot(_mujoco().MjModel.from_binary_path(str(path)))
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".urdf" or "<robot" in text:
        pin = needed("pinocchio", "a URDF", "pinocchio")
        folders = [str(each) for each in ([packages] if isinstance(packages, (str, os.PathLike)) else packages or ())]
        folders += [str(parent) for parent in path.resolve().parents[:4]]
        notes: tuple[str, ...] = ()
        with _as_refused(path):
            model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
            if floating is None and model.inertias[1].mass == 0.0:
                floating, notes = False, ("the base is fixed: its link has no mass",)
            if floating is False:
                model = pin.buildModelFromUrdf(str(path))
            geom = pin.buildGeomFromUrdf(model, str(path), pin.GeometryType.COLLISION, package_dirs=folders)
        return _of_pinocchio(model, geom, friction, ground, hulls, self_collisions, notes)
    with _as_refused(path):
        model = _mujoco().MjModel.from_xml_path(str(path))
    return robot(model)


@contextlib.contextmanager
def _as_refused(path: pathlib.Path) -> Iterator[None]:
    """What the reader of a file says."""
    try:
        yield
    except ValueError as error:
        raise refuse("model", repr(str(path)), " ".join(str(error).split()), "is not read:") from error


def _pinocchio_robot(model: Any, geom: Any, friction: Any, hulls: bool, notes: tuple[str, ...]) -> Robot:
    made = PinocchioRobot(model, geom, 0.8 if friction is None else friction, hulls)
    pin = made.pin
    if not model.nv:
        raise refuse("model", "0 velocities", "must move", "has")
    upper = np.triu(pin.crba(model, model.createData(), pin.neutral(model)))
    sizes, ways = np.linalg.eigh(upper + np.triu(upper, 1).T)
    if sizes[0] <= _MASSLESS * sizes[-1]:
        dof = int(np.abs(ways[:, 0]).argmax())
        joint = next(j for j in range(1, model.njoints) if model.joints[j].idx_v <= dof < model.joints[j].idx_v + model.joints[j].nv)
        raise refuse("model", f"joint {str(model.names[joint])!r} moves no mass", "every joint must move some mass", "has:")
    return Robot(made, notes)


def _notes(friction: Any, hulls: bool) -> tuple[str, ...]:
    notes = ["made of a Pinocchio model"]
    if friction is None:
        notes.append("friction 0.8")
    if hulls:
        notes.append("meshes are their convex hulls")
    return tuple(notes)


def _of_pinocchio(
    model: Any, geom: Any, friction: Any, ground: bool, hulls: bool, self_collisions: bool, notes: tuple[str, ...] = ()
) -> Robot:
    """With a ground, and where asked for the pairs of bodies that are not neighbours and do not overlap as built."""
    pin = needed("pinocchio", "a Pinocchio model", "pinocchio")
    geom = geom.clone()
    words = [*_notes(friction, hulls), *notes]
    if ground and not geom.existGeometryName(GROUND):
        coal = needed("coal", "a ground", "pinocchio")
        plane = coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        geom.addGeometryObject(pin.GeometryObject(GROUND, 0, pin.SE3.Identity(), plane))
        words.append("a ground z <= 0")
        number = geom.getGeometryId(GROUND)
        for i, each in enumerate(geom.geometryObjects):
            if each.parentJoint != 0:
                geom.addCollisionPair(pin.CollisionPair(i, number))
    if self_collisions:
        _self_pairs(pin, model, geom)
    else:
        words.append("links do not touch each other but where the model has pairs")
    return _pinocchio_robot(model, geom, friction, hulls, tuple(words))


def _self_pairs(pin: Any, model: Any, geom: Any) -> None:
    trial = geom.clone()
    trial.removeAllCollisionPairs()
    objects = list(geom.geometryObjects)
    for i, first in enumerate(objects):
        for j in range(i + 1, len(objects)):
            a, b = first.parentJoint, objects[j].parentJoint
            neighbours = a == b or model.parents[a] == b or model.parents[b] == a
            if not neighbours and GROUND not in (first.name, objects[j].name):
                trial.addCollisionPair(pin.CollisionPair(i, j))
    data, found = model.createData(), pin.GeometryData(trial)
    pin.computeCollisions(model, data, trial, found, pin.neutral(model), False)
    for k in range(len(trial.collisionPairs)):
        if not found.collisionResults[k].isCollision():
            pair = trial.collisionPairs[k]
            geom.addCollisionPair(pin.CollisionPair(pair.first, pair.second))
