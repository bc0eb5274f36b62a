"""States of a robot as impact problems: the common part of the converters for MuJoCo and Pinocchio."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any

import numpy as np

from . import _core
from ._arrays import from_any, refuse
from ._reduce import NEAR, patch_corners
from ._pieces import Named, Pieces, islands_of
from ._results import Result
from ._state_rows import Equalities, Masses, Rows
from .errors import InvalidInput
from .problems import MAX_CONTACTS, MAX_FOLLOWED, MAX_VELOCITIES, RobotProblems

# How deep a contact may be by default, the smaller of a share of the size of the smaller rigid body and a length
# [m]; more at a plane, whose normal is right however deep. Then joints beyond their limits [m], [rad]: simulators
# leave them there, and start there; more is no angle, or one in degrees.
_DEEP, _DEEP_AT_PLANE = (0.125, 0.02), (1.0 / 3.0, 0.04)
_BEYOND, _BEYOND_ANGLE = 0.05, np.pi
PROJECTED_SHARE = 0.05  # of the energy, and ...
_PROJECTED_SPEED = 1e-3  # ... [m/s]: what a projection onto the equalities may change
_SLIP = 1e-9  # [m/s]: slower contacts have no direction of slip
_COARSER = (3e-4, 1e-3, 3e-3)  # [m]
_FOLLOWS = 1e-6, 1e-14  # what the others leave of a row's response: rounding of the model's axes, and of doubles
_MOVES = 1e-9  # of a row's normal, relative to its tangents
_KEPT = 1e-6  # a velocity so near to its equalities, relative, keeps them


class StateStatus(IntEnum):
    """Whether a robot's state was converted, or why not."""

    taken = 0
    no_contact = 1  # no active contact: the velocity does not change
    too_deep = 2
    off_equalities = 3
    too_many_contacts = 4
    too_many_velocities = 5
    not_taken = 6  # the state uses a feature of the model that carom does not support
    invalid = 7  # numbers that are not finite


@dataclasses.dataclass
class Options:
    """Options of the conversion, as in Robot.impacts; distances in m, times in s."""

    activation: float = 1e-6
    time_to_contact: float = 0.0
    max_penetration: float | None = None
    max_projected: float = PROJECTED_SHARE
    reduce: str | None = None
    islands: bool = False
    align: bool = False
    goals: str = "rigid"

    def __post_init__(self) -> None:
        if self.reduce not in (None, "hull"):
            raise refuse("reduce", repr(self.reduce), "must be None or 'hull'")
        if self.goals not in ("drive", "rigid"):
            raise refuse("goals", repr(self.goals), "must be 'drive' or 'rigid'")
        for name in ("activation", "time_to_contact", "max_penetration", "max_projected"):
            value = getattr(self, name)
            if value is not None and not (np.isfinite(value) and value >= 0.0):
                raise refuse(name, str(value), "must be finite and >= 0")


@dataclasses.dataclass
class Collected:
    """What a converter found: M, v (s, nv), rows, active equalities,
    trees (nv): velocities of different numbers are not coupled by M; welded: of bodies, one number for
    all that do not move against each other, 0 for what does not move at all; refused: by state, the first."""

    M: Masses
    v: np.ndarray
    rows: Rows
    equalities: Equalities
    trees: np.ndarray
    welded: np.ndarray
    refused: dict[int, tuple[StateStatus, InvalidInput]]


def limits(
    dof: np.ndarray, low: np.ndarray, high: np.ndarray, q: np.ndarray, v: np.ndarray, length: np.ndarray,
    options: Options,
) -> Rows:  # fmt: skip
    """Joints (j) of one coordinate at an end of their range: contacts without friction. q, v (s, j);
    length: whether m are its unit. geom[0] is -1 - j, geom[1] -2 for the lower end, -3 for the upper."""
    phi = np.stack([q - low, high - q], axis=2)
    rate = np.stack([v, -v], axis=2)
    taken = is_near(phi, rate, options)
    state, j, end = np.nonzero(taken)
    n = len(state)
    value = np.zeros((n, 3))
    value[:, 0] = np.where(end == 0, 1.0, -1.0)
    allowed = allowed_of_limits(length, high - low, options)
    lines = np.arange(n), np.ones(n, dtype=np.int64), dof[j], value
    return Rows.of(state, lines, np.zeros(n), phi[taken], allowed[j], np.stack([-1 - j, -2 - end], axis=1))


def allowed_of_limits(length: np.ndarray, span: np.ndarray, options: Options) -> np.ndarray:
    """How far beyond a limit a state may be: its row is the same wherever it is. span: from limit to limit."""
    if options.max_penetration is not None:
        return np.full(np.shape(length), options.max_penetration)
    return np.where(length, np.maximum(_BEYOND, span / 3.0), _BEYOND_ANGLE)


def allowed_of_contacts(size: np.ndarray, plane: np.ndarray, options: Options) -> np.ndarray:
    """How deep contacts may be; size: of the smaller body, plane: whether one side is one."""
    if options.max_penetration is not None:
        return np.full(np.shape(size), options.max_penetration)
    share, most = (np.where(plane, at_plane, other) for at_plane, other in zip(_DEEP_AT_PLANE, _DEEP))
    return np.asarray(np.minimum(most, share * size))


def is_near(phi: np.ndarray, rate: np.ndarray, options: Options) -> np.ndarray:
    """Touches, or will within the time to contact at this rate."""
    near = phi <= options.activation
    if options.time_to_contact > 0.0:
        near |= phi < -rate * options.time_to_contact
    return np.asarray(near)


def states_of(
    q_name: str, q: Any, nq: int, v_name: str, v: Any, nv: int, finite: bool = True
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Positions (s, nq), velocities (s, nv), and whether one state was given. Errors: InvalidInput."""
    q = from_any(q_name, q)
    v = np.zeros((*q.shape[:-1], nv)) if v is None else from_any(v_name, v)
    single = q.ndim == 1
    q, v = np.atleast_2d(q), np.atleast_2d(v)
    for field, array, width in ((q_name, q, nq), (v_name, v, nv)):
        if array.ndim != 2 or array.shape[1] != width:
            raise refuse(field, f"of shape {array.shape}", f"must be (s, {width}) or ({width},)")
        if finite and not np.isfinite(array).all():
            state, i = np.argwhere(~np.isfinite(array))[0]
            raise refuse(f"{field}[{i}] of state {state}", str(array[state, i]), "must be finite")
    if len(v) != len(q):
        raise refuse(v_name, f"{len(v)} states", f"must have {len(q)} as {q_name}", "has")
    return q, v, single


@dataclasses.dataclass(frozen=True)
class StateContact:
    """A contact of a state, or a joint at its limit (bodies and frame are then empty): distance [m],
    below 0 as deep as the simulator left it; point [m] and frame, lines normal and two tangents, in
    the world; normal_velocity before the impact [m/s], negative approaches; friction."""

    name: str
    bodies: tuple[str, ...]
    point: np.ndarray
    frame: np.ndarray
    distance: float
    normal_velocity: float
    friction: float

    def __repr__(self) -> str:
        where = ", ".join(f"{each:.4g}" for each in self.point) if len(self.frame) else "limit"
        return f"StateContact({self.name!r} at ({where}), {self.distance:.3g} m, {self.normal_velocity:.3g} m/s)"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class StateImpacts(Result):
    """Impacts of the states of a robot.

    status (s): StateStatus. why (s): the reason in words, empty where the state is accepted.
    parts: RobotProblems, one for each number of contacts and velocities. Their index has the states, their
    rows the places of the contacts.
    velocity (s, nv): the robot's, projected onto its equalities where it violated them. projected (s): the
    share of the kinetic energy that the projection took.
    depth (s) [m]: of the deepest contact that counts as touching.
    merged (s): number of contacts that reduction left out. This changes moments by at most
    reduction_moment (s) [m] times the force, and directions of forces by reduction_turn (s).
    islands (s): number of problems of the state, one for each group of bodies that move separately.
    """

    name: str
    status: np.ndarray
    why: tuple[str, ...]
    parts: tuple[RobotProblems, ...]
    velocity: np.ndarray
    projected: np.ndarray
    depth: np.ndarray
    merged: np.ndarray
    reduction_moment: np.ndarray
    reduction_turn: np.ndarray
    islands: np.ndarray
    row_state: np.ndarray
    row_name: np.ndarray
    row_bodies: np.ndarray
    row_still: np.ndarray
    row_point: np.ndarray
    row_frame: np.ndarray
    row_distance: np.ndarray
    row_normal_velocity: np.ndarray
    row_friction: np.ndarray
    part_rows: tuple[np.ndarray, ...]
    settings: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.status)

    @property
    def accepted(self) -> np.ndarray:
        """Whether each state was taken or touches nothing."""
        return np.asarray(self.status <= StateStatus.no_contact)

    def reasons(self) -> dict[str, int]:
        """How many states have each status."""
        return {StateStatus(int(code)).name: int(n) for code, n in zip(*np.unique(self.status, return_counts=True))}

    def of_state(self, i: int) -> list[tuple[int, int]]:
        """Part and place in it of each problem of state i: none where it is not taken."""
        if not -len(self) <= i < len(self):
            raise IndexError(f"state {i} of {len(self)}")
        i %= len(self)
        return [(k, int(place)) for k, part in enumerate(self.parts) for place in np.flatnonzero(part.index == i)]

    def __getitem__(self, i: int) -> RobotProblems:
        """The problem of state i. Errors: InvalidInput where there is none, or several."""
        found = self.of_state(i)
        if len(found) != 1:
            word = self.why[i] or f"{len(found)} problems"
            raise refuse(f"state {i}", word, "has no single problem: of_state(i) lists them")
        part, place = found[0]
        return self.parts[part][place]

    def contacts(self, i: int) -> list[StateContact]:
        """The contacts and limits of state i that act together."""
        if not -len(self) <= i < len(self):
            raise IndexError(f"state {i} of {len(self)}")
        return [self._row(int(row)) for row in np.flatnonzero(self.row_state == i % len(self))]

    def _row(self, row: int) -> StateContact:
        bodies = tuple(str(each) for each in self.row_bodies[row] if each)
        return StateContact(
            str(self.row_name[row]), bodies, self.row_point[row], self.row_frame[row] if bodies else np.zeros((0, 3)),
            float(self.row_distance[row]), float(self.row_normal_velocity[row]), float(self.row_friction[row]),
        )  # fmt: skip

    def after(self, i: int, outcomes: Any) -> np.ndarray:
        """The robot's velocities (k, nv) of outcomes of state i: one array (k, u) of each of its
        problems, in the order of of_state(i)."""
        found = self.of_state(i)
        given = [outcomes] if len(found) == 1 and isinstance(outcomes, np.ndarray) else list(outcomes)
        if len(given) != len(found):
            raise refuse("outcomes", f"{len(given)} arrays", f"must be of {len(found)} problems", "has")
        whole: np.ndarray = self.velocity[i]
        for (part, place), mine in zip(found, given):
            problem = self.parts[part]
            if problem.lift is None:
                return np.asarray(mine)
            whole = whole + (mine - problem.velocity[place]) @ problem.lift[place].T
        return whole

    def _summary(self) -> str:
        refused = len(self) - int(self.accepted.sum())
        sizes = ", ".join(f"{len(part)} of {part.contacts}" for part in self.parts[:8])
        text = f"{self.name!r}: {len(self)} states, {refused} refused; problems by contacts: {sizes or 'none'}"
        first = next((why for why in self.why if why), "")
        return text + (f"; first refusal: {first}" if refused and first else "")


def _held(
    found: Collected, options: Options, refuse_state: Callable[[int, StateStatus, InvalidInput], None]
) -> tuple[Equalities, np.ndarray, np.ndarray]:
    """The equalities without those that follow from others but for rounding in the model: the fourth hinge of a planar
    linkage is parallel to the others up to the digits of its axis, and would lock it. The velocities put onto
    them, the nearest in the mass metric, and the share of the energy that this took."""
    equalities = found.equalities
    if not len(equalities):
        return equalities, found.v.copy(), np.zeros(len(found.v))
    stays, lost, share, speed = _core.hold_equalities(
        found.M.parts(), found.v, equalities.E, equalities.state, equalities.unit, found.M.nv, *_FOLLOWS, _KEPT)  # fmt: skip
    for i in np.flatnonzero((share > options.max_projected) & (speed > _PROJECTED_SPEED)):
        refuse_state(int(i), StateStatus.off_equalities, refuse(
            "qvel", f"{100 * share[i]:.3g} % of the energy off the model's active equalities",
            f"must be at most max_projected = {options.max_projected:g}"))  # fmt: skip
    return equalities if stays.all() else equalities[stays.astype(bool)], found.v - lost, share


def assembled(
    found: Collected, options: Options, name: str, named: Named, body_named: Callable[[int], str], whole: bool
) -> tuple[StateImpacts, dict[int, InvalidInput]]:
    """The states' problems, and the refusals by state. named: of a row by geom; whole: states without contacts are problems, too."""
    s, nv = found.v.shape
    rows, refused = found.rows, dict(found.refused)

    def refuse_state(state: int, status: StateStatus, why: InvalidInput) -> None:
        refused.setdefault(state, (status, why))

    moves = np.ones(len(rows), dtype=bool)
    if options.reduce == "hull" and len(rows):  # a normal along an axis of the joints between is no way to move
        normal, largest = _core.row_sizes(rows.sparse()).T
        moves = normal > _MOVES * largest
    for row in np.flatnonzero(moves & (rows.phi < -rows.allowed)):
        rule = f"max_penetration = {options.max_penetration:g}" if options.max_penetration is not None else (
            f"{rows.allowed[row]:.3g}, by its size: max_penetration says otherwise")  # fmt: skip
        unit = "m" if rows.contact[row] else "m or rad"
        refuse_state(int(rows.state[row]), StateStatus.too_deep, refuse(
            named(*map(int, rows.geom[row])), f"{-rows.phi[row]:.6g} {unit} deep", f"must be at most {rule}"))  # fmt: skip

    changed = _Changed.none(s)
    if options.reduce == "hull" and len(rows):
        stays = moves & _corners(rows, np.flatnonzero(moves & rows.contact), found.welded, NEAR, changed)
        rows = rows if stays.all() else rows[stays]
        rows = _coarsened(rows, found, options.islands and found.trees.max(initial=0) > 0, changed)

    equalities, velocity, projected = _held(found, options, refuse_state)
    found = dataclasses.replace(found, rows=rows, equalities=equalities)
    if options.align:
        _core.align_rows(rows.sparse(), rows.frame, rows.state, velocity, nv, _SLIP)
    many = options.islands and found.trees.max(initial=0) > 0
    pieces = Pieces.islands(rows, found.trees, found.equalities, s) if many else Pieces.states(rows, found.equalities, s, whole)
    pieces = pieces.without(refused).restricted(found.equalities, nv)
    for piece in np.flatnonzero((pieces.width > MAX_VELOCITIES) | (pieces.contacts > MAX_CONTACTS)):
        _refuse_size(int(pieces.state[piece]), int(pieces.contacts[piece]), int(pieces.width[piece]), refuse_state,
                     options.reduce is not None)  # fmt: skip
    pieces = pieces.without(refused)
    parts = pieces.problems(found.M, velocity, rows, name, named)

    status = np.full(s, StateStatus.taken, dtype=np.int32)
    status[np.bincount(rows.state, minlength=s) == 0] = StateStatus.no_contact
    why = [""] * s
    for state, (code, error) in refused.items():
        status[state], why[state] = code, str(error)
    depth = np.zeros(s)
    touching = rows.contact
    np.maximum.at(depth, rows.state[touching], -rows.phi[touching])
    normal = _core.row_velocities(rows.sparse(), rows.state, velocity, nv)[:, 0]
    names, bodies = _row_words(rows, named, body_named)
    states = StateImpacts(
        name=name, status=status, why=tuple(why), parts=tuple(part for part, _ in parts), velocity=velocity,
        projected=projected, depth=depth, merged=changed.merged, reduction_moment=changed.moment, reduction_turn=changed.turn,
        islands=np.bincount(pieces.state, minlength=s), row_state=rows.state, row_name=names, row_bodies=bodies,
        row_still=(found.welded[rows.body] == 0) & rows.contact[:, None], row_point=rows.pos,
        row_frame=rows.frame, row_distance=rows.phi, row_normal_velocity=normal, row_friction=rows.mu,
        part_rows=tuple(places for _, places in parts), settings=dataclasses.asdict(options),
    )  # fmt: skip
    return states, {state: error for state, (_, error) in refused.items()}


def _refuse_size(
    state: int, contacts: int, velocities: int, refuse_state: Callable[[int, StateStatus, InvalidInput], None], reduced: bool
) -> None:
    if velocities > MAX_VELOCITIES:
        refuse_state(state, StateStatus.too_many_velocities, refuse(
            "model", f"{velocities} velocities", f"must have at most {MAX_VELOCITIES}", "has"))  # fmt: skip
        return
    hint = "" if reduced else "; reduce='hull' leaves out points between others"
    refuse_state(state, StateStatus.too_many_contacts, refuse(
        f"state {state}", f"{contacts} contacts", f"must have at most {MAX_CONTACTS}" + hint, "has"))  # fmt: skip


def _row_words(rows: Rows, named: Named, body_named: Callable[[int], str]) -> tuple[np.ndarray, np.ndarray]:
    """Names of rows, and of their bodies."""
    if not len(rows):
        return np.zeros(0, dtype="U1"), np.zeros((0, 2), dtype="U1")
    low = rows.geom.min(axis=0)
    width = int(rows.geom[:, 1].max() - low[1]) + 1
    pairs, place = distinct((rows.geom[:, 0] - low[0]) * width + rows.geom[:, 1] - low[1])
    names = np.array([named(int(pair // width + low[0]), int(pair % width + low[1])) for pair in pairs])[place]
    known, place = distinct(rows.body.reshape(-1) + 1)
    words = np.array([body_named(int(each) - 1) if each else "" for each in known])
    return names, words[place].reshape(rows.body.shape)


def distinct(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """np.unique of numbers >= 0 with the inverse, without sorting where they are small."""
    size = int(numbers.max()) + 1
    if size > 16 * len(numbers) + 65536:
        return np.unique(numbers, return_inverse=True)
    place = np.zeros(size, dtype=np.int64)
    place[numbers] = 1
    known = np.flatnonzero(place)
    place[known] = np.arange(len(known))
    return known, place[numbers]


def _corners(
    rows: Rows, chosen: np.ndarray, welded: np.ndarray, near: float, changed: _Changed
) -> np.ndarray:
    """Whether each row stays where of the chosen contacts those of one pair of bodies are reduced to the
    corners of their patches."""
    keep = np.ones(len(rows), dtype=bool)
    groups = _core.pair_groups(rows.state[chosen], welded[rows.body[chosen]].astype(np.int64))
    members, group = chosen[groups["members"]], groups["group"]
    if not len(members):
        return keep
    pos, frame = rows.pos.take(members, axis=0), rows.frame.take(members, axis=0)
    stays, moment, turn = patch_corners(pos, frame, rows.mu[members], group, near)
    keep[members] = stays
    changed.add(rows.state[members[~stays]], rows.state[members[group[:-1]]], moment, turn)
    return keep


@dataclasses.dataclass
class _Changed:
    """What reduction changed in each state."""

    merged: np.ndarray
    moment: np.ndarray
    turn: np.ndarray

    @classmethod
    def none(cls, states: int) -> _Changed:
        return cls(np.zeros(states, dtype=np.int64), np.zeros(states), np.zeros(states))

    def add(self, gone: np.ndarray, state: np.ndarray, moment: np.ndarray, turn: np.ndarray) -> None:
        """gone: the states of contacts that did not stay; moment, turn: of groups of these states."""
        np.add.at(self.merged, gone, 1)
        np.maximum.at(self.moment, state, moment)
        np.maximum.at(self.turn, state, turn)

    def then(self, other: _Changed, of: np.ndarray) -> None:
        """What came after it, of some states."""
        for mine, more in ((self.merged, other.merged), (self.moment, other.moment), (self.turn, other.turn)):
            mine[of] += more[of]


def _coarsened(rows: Rows, found: Collected, islands: bool, changed: _Changed) -> Rows:
    """With fewer corners where an island has more contacts than are followed from event to event, coarser
    step by step as far as need be, and where that is enough; elsewhere down to what an impact may have."""
    count = len(found.v)
    if np.bincount(rows.state, minlength=1).max() <= MAX_FOLLOWED:
        return rows
    stays = np.ones(len(rows), dtype=bool)
    number = islands_of(rows, found.trees, found.equalities, count)["island"] if islands else np.zeros(len(rows), dtype=np.int64)
    for most in (MAX_FOLLOWED, MAX_CONTACTS):
        trial, last = stays.copy(), np.zeros(count, dtype=bool)
        more = _Changed.none(count)
        for near in (*_COARSER, None):
            place = np.flatnonzero(trial)
            left = rows[place]
            crowded = _crowded(left.state, number[place], most)
            last[:] = False
            last[left.state[crowded]] = True
            contacts = crowded[left.contact[crowded]]
            if near is None or not len(contacts):
                break
            step = _Changed.none(count)
            trial[place[~_corners(left, contacts, found.welded, near, step)]] = False
            more.then(step, np.arange(count))
        taken = np.ones(count, dtype=bool) if most == MAX_CONTACTS else ~last
        changed.then(more, np.flatnonzero(taken))
        stays = np.where(taken[rows.state], trial, stays)
    return rows if stays.all() else rows[stays]


def _crowded(state: np.ndarray, number: np.ndarray, most: int) -> np.ndarray:
    """The rows of islands of more than `most`. number: of a row's island in its state, -1: none."""
    key = state * (int(number.max(initial=0)) + 1) + number
    return np.flatnonzero((number >= 0) & (np.bincount(key[number >= 0], minlength=int(key.max(initial=0)) + 1)[key] > most))


class Buckets(list[RobotProblems]):
    """Problems of many states by their number of contacts, and of each state what became of it."""

    def __init__(self, states: StateImpacts, parts: list[RobotProblems]) -> None:
        super().__init__(parts)
        self.states = states
        self.status, self.why = states.status, states.why


def answered(states: StateImpacts, single: bool, pad: bool, on_error: str | None, errors: dict[int, InvalidInput]) -> Any:
    """What from_mujoco and from_pinocchio return: the problem of one state, or Buckets."""
    if on_error not in (None, "raise", "status"):
        raise refuse("on_error", repr(on_error), "must be 'raise' or 'status'")
    if errors and (single or on_error == "raise"):
        raise errors[min(errors)]
    parts: list[RobotProblems] = list(states.parts)
    if single:
        return parts[0]
    if pad and parts:
        most = max(each.contacts for each in parts)
        parts = [each.padded(most) for each in parts]
    return Buckets(states, parts)
