"""States of a robot as impact problems: the common part of the converters for MuJoCo and Pinocchio."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any

import numpy as np

from . import _core
from ._arrays import from_any, refuse
from ._reduce import NEAR, patch_corners
from ._results import Result
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
_RANK = 1e-10  # of rows of equalities, relative to the largest
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
class Rows:
    """Contacts and limits of many states, ordered by state: J (r, 3, nv), lines normal and both
    tangents; frame (r, 3, 3), the same lines in the world, pos (r, 3), geom (r, 2) and body (r, 2) of
    contacts; limits have geom -1 - number, -2 - end, body -1 and tangents 0. allowed (r): depth."""

    state: np.ndarray
    J: np.ndarray
    mu: np.ndarray
    phi: np.ndarray
    pos: np.ndarray
    frame: np.ndarray
    geom: np.ndarray
    body: np.ndarray
    allowed: np.ndarray

    def __len__(self) -> int:
        return len(self.state)

    def __getitem__(self, which: Any) -> Rows:
        return Rows(*(getattr(self, field.name)[which] for field in dataclasses.fields(self)))

    @classmethod
    def of(cls, nv: int, state: Any, J: Any, mu: Any, phi: Any, allowed: Any, geom: Any, pos: Any = None,
           frame: Any = None, body: Any = None) -> Rows:  # fmt: skip
        n = len(state)
        return cls(
            np.asarray(state, dtype=np.int64), np.asarray(J, dtype=np.float64).reshape(n, 3, nv),
            np.asarray(mu, dtype=np.float64), np.asarray(phi, dtype=np.float64),
            np.zeros((n, 3)) if pos is None else np.asarray(pos, dtype=np.float64).reshape(n, 3),
            np.zeros((n, 3, 3)) if frame is None else np.asarray(frame, dtype=np.float64).reshape(n, 3, 3),
            np.asarray(geom, dtype=np.int64).reshape(n, 2),
            np.full((n, 2), -1) if body is None else np.asarray(body, dtype=np.int64).reshape(n, 2),
            np.asarray(allowed, dtype=np.float64),
        )  # fmt: skip

    @classmethod
    def joined(cls, parts: list[Rows]) -> Rows:
        """In the order of the states, and within a state of the parts."""
        filled = [part for part in parts if len(part)] or parts[:1]
        whole = filled[0]
        if len(filled) > 1:
            whole = cls(*(np.concatenate([getattr(part, field.name) for part in filled])
                          for field in dataclasses.fields(cls)))  # fmt: skip
        if (whole.state[1:] >= whole.state[:-1]).all():
            return whole
        return whole[np.argsort(whole.state, kind="stable")]

    @property
    def contact(self) -> np.ndarray:
        return np.asarray(self.geom[:, 0] >= 0)


@dataclasses.dataclass
class Collected:
    """What a converter found: M (s, nv, nv), v (s, nv), rows, E (e, nv) of active equalities by state and
    in units (e) one number for rows of one equality that have one unit,
    trees (nv): velocities of different numbers are not coupled by M; welded: of bodies, one number for
    all that do not move against each other, 0 for what does not move at all; refused: by state, the first."""

    M: np.ndarray
    v: np.ndarray
    rows: Rows
    equalities: dict[int, np.ndarray]
    units: dict[int, np.ndarray]
    trees: np.ndarray
    welded: np.ndarray
    refused: dict[int, tuple[StateStatus, InvalidInput]]


Named = Callable[[int, int], str]
Piece = tuple[int, np.ndarray, "np.ndarray | None"]  # of a state: rows and velocities, None: all


def limits(
    nv: int, dof: np.ndarray, low: np.ndarray, high: np.ndarray, q: np.ndarray, v: np.ndarray, length: np.ndarray,
    options: Options,
) -> Rows:  # fmt: skip
    """Joints (j) of one coordinate at an end of their range: contacts without friction. q, v (s, j);
    length: whether m are its unit. geom[0] is -1 - j, geom[1] -2 for the lower end, -3 for the upper."""
    phi = np.stack([q - low, high - q], axis=2)
    rate = np.stack([v, -v], axis=2)
    taken = is_near(phi, rate, options)
    state, j, end = np.nonzero(taken)
    J = np.zeros((len(state), 3, nv))
    J[np.arange(len(state)), 0, dof[j]] = np.where(end == 0, 1.0, -1.0)
    allowed = allowed_of_limits(length, high - low, options)
    return Rows.of(nv, state, J, np.zeros(len(state)), phi[taken], allowed[j],
                   np.stack([-1 - j, -2 - end], axis=1))  # fmt: skip


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
        bad = np.argwhere(~np.isfinite(array))
        if finite and len(bad):
            state, i = bad[0]
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


def _numbered(names: list[str]) -> tuple[str, ...]:
    many, seen, result = Counter(names), Counter[str](), []
    for name in names:
        seen[name] += 1
        result.append(f"{name} {seen[name]}" if many[name] > 1 else name)
    return tuple(result)


def free_directions(E: np.ndarray) -> list[np.ndarray]:
    """Of equalities E (k, e, nv) each Z of v = Z u, with orthonormal columns: the velocities that keep them."""
    _, sizes, directions = np.linalg.svd(E)
    ranks = (sizes > _RANK * sizes.max(axis=1, initial=0.0, keepdims=True)).sum(axis=1)
    found: list[np.ndarray] = [np.zeros((0, 0))] * len(E)
    for rank in np.unique(ranks):
        which = np.flatnonzero(ranks == rank)
        Z = directions[which, int(rank) :].transpose(0, 2, 1)
        if Z.size:
            largest = np.take_along_axis(Z, np.abs(Z).argmax(axis=1)[:, None], axis=1)
            Z = Z * np.where(largest < 0.0, -1.0, 1.0)
        for i, mine in zip(which.tolist(), np.ascontiguousarray(Z)):
            found[i] = mine
    return found


def _by_shape(given: list[tuple[int, np.ndarray]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Numbered matrices stacked, those of one shape together."""
    shapes: dict[tuple[int, ...], list[int]] = {}
    for place, (_, matrix) in enumerate(given):
        shapes.setdefault(matrix.shape, []).append(place)
    return [(np.array([given[i][0] for i in places]), np.stack([given[i][1] for i in places])) for places in shapes.values()]


def _drop_dependent(found: Collected) -> None:
    """Leaves out equalities that follow from others but for rounding in the model: the fourth hinge of a planar
    linkage is parallel to the others up to the digits of its axis, and would lock it."""
    for states, E in _by_shape(list(found.equalities.items())):
        A = E @ np.linalg.solve(found.M[states], E.transpose(0, 2, 1))
        units = np.stack([found.units[int(state)] for state in states])
        own = np.diagonal(A, axis1=1, axis2=2)
        size = np.sqrt(np.where(units[:, :, None] == units[:, None], own[:, None], 0.0).max(axis=2))
        scale = 1.0 / np.where(size > 0.0, size, np.inf)
        left = A * scale[:, :, None] * scale[:, None]
        keep = np.zeros(size.shape, dtype=bool)
        every = np.arange(len(E))
        for _ in range(E.shape[1]):  # Cholesky's factors, the largest pivot first
            pivots = np.where(keep, 0.0, np.diagonal(left, axis1=1, axis2=2))
            row = pivots.argmax(axis=1)
            pivot = pivots[every, row]
            taken = pivot > _FOLLOWS[0]
            keep[every, row] |= taken
            column = left[every, :, row] / np.sqrt(np.where(taken, pivot, np.inf))[:, None]
            left = left - column[:, :, None] * column[:, None]
        rest = np.where(keep, 0.0, np.diagonal(left, axis1=1, axis2=2)).max(axis=1, initial=0.0)
        for i in np.flatnonzero(rest > _FOLLOWS[1]):
            found.equalities[int(states[i])] = E[i][keep[i]]


def _projected(
    found: Collected, velocity: np.ndarray, options: Options, refuse_state: Callable[[int, StateStatus, InvalidInput], None]
) -> np.ndarray:
    """The share of the energy that was lost where velocities were put onto their equalities, the nearest that
    keep them in the mass metric."""
    lost_share = np.zeros(len(velocity))
    for states, E in _by_shape(list(found.equalities.items())):
        M, v = found.M[states], found.v[states]
        W = np.linalg.solve(M, E.transpose(0, 2, 1))
        push = np.linalg.pinv(E @ W, rcond=1e-12, hermitian=True) @ (E @ v[:, :, None])
        lost = (W @ push)[:, :, 0]
        off = np.abs(lost).max(axis=1) > _KEPT * (1.0 + np.abs(v).max(axis=1, initial=0.0))
        energy = np.einsum("si,sij,sj->s", lost, M, lost)
        whole = np.einsum("si,sij,sj->s", v, M, v)
        share = np.where(off, energy / np.where(whole > 0.0, whole, 1.0), 0.0)
        speed = np.sqrt(energy / np.diagonal(M, axis1=1, axis2=2).max(axis=1))
        velocity[states[off]] = (v - lost)[off]
        lost_share[states] = share
        for i in np.flatnonzero((share > options.max_projected) & (speed > _PROJECTED_SPEED)):
            refuse_state(int(states[i]), StateStatus.off_equalities, refuse(
                "qvel", f"{100 * share[i]:.3g} % of the energy off the model's active equalities",
                f"must be at most max_projected = {options.max_projected:g}"))  # fmt: skip
    return lost_share


def assembled(
    found: Collected, options: Options, name: str, named: Named, body_named: Callable[[int], str], whole: bool
) -> tuple[StateImpacts, dict[int, InvalidInput]]:
    """The states' problems, and the refusals by state. named: of a row by geom; whole: states without contacts are problems, too."""
    s, nv = found.v.shape
    rows, refused, velocity = found.rows, dict(found.refused), found.v.copy()

    def refuse_state(state: int, status: StateStatus, why: InvalidInput) -> None:
        refused.setdefault(state, (status, why))

    moves = np.ones(len(rows), dtype=bool)
    if options.reduce == "hull" and len(rows):  # a normal along an axis of the joints between is no way to move
        largest = np.maximum(rows.J.max(axis=2, initial=0.0), -rows.J.min(axis=2, initial=0.0))
        moves = largest[:, 0] > _MOVES * largest.max(axis=1)
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

    _drop_dependent(found)
    projected = _projected(found, velocity, options, refuse_state)
    if options.align:
        _align(rows, velocity)
    first = np.searchsorted(rows.state, np.arange(s + 1))
    count = np.diff(first)
    groups: dict[tuple[int, int, bool], list[tuple[int, np.ndarray, np.ndarray | None, np.ndarray | None]]] = {}
    islands = np.zeros(s, dtype=np.int64)
    many = options.islands and found.trees.max(initial=0) > 0
    sizes = _Sizes(refuse_state, options.reduce is not None)
    if not many and not found.equalities:  # all states at once
        everywhere = np.arange(s)
        out = np.isin(everywhere, np.fromiter(refused, dtype=np.int64, count=len(refused)))
        if nv > MAX_VELOCITIES:
            for state in everywhere[~out]:
                if whole or count[state]:
                    sizes.taken(int(state), int(count[state]), nv)
        for state in everywhere[~out & (count > MAX_CONTACTS)]:
            sizes.taken(int(state), int(count[state]), nv)
        out = np.isin(everywhere, np.fromiter(refused, dtype=np.int64, count=len(refused)))
        islands[~out & ((count > 0) | whole)] = 1
        simple = [(int(m), everywhere[~out & (count == m)]) for m in np.unique(count[~out]) if m or whole]
        parts = [_simple_part(found.M, velocity, rows, first, m, states, name, named) for m, states in simple]
    else:
        split = _islands(rows, found) if many else []
        others: list[Piece] = [(state, np.arange(first[state], first[state + 1]), None)
                               for state in range(s) if not many or count[state] == 0]  # fmt: skip
        pieces: list[Piece] = []
        bound: list[tuple[int, np.ndarray]] = []  # equalities of pieces
        for state, places, dofs in sorted(split + others, key=lambda piece: piece[0]):
            if state in refused or not (len(places) or whole):
                continue
            active = found.equalities.get(state)
            if active is not None:
                own = active if dofs is None else active[:, dofs]
                own = own if dofs is None else own[(own != 0.0).any(axis=1)]
                if len(own):
                    bound.append((len(pieces), own))
            pieces.append((state, places, dofs))
        keeping: dict[int, np.ndarray] = {}
        for places, E in _by_shape(bound):
            keeping.update(zip(places.tolist(), free_directions(E)))
        widths = [keeping[k].shape[1] if k in keeping else nv if dofs is None else len(dofs)
                  for k, (_, _, dofs) in enumerate(pieces)]  # fmt: skip
        for (state, places, _), width in zip(pieces, widths):
            sizes.taken(state, len(places), width)
        for k, (state, places, dofs) in enumerate(pieces):
            if state in refused:
                continue
            islands[state] += 1
            lifted = dofs is not None or k in keeping
            groups.setdefault((len(places), widths[k], lifted), []).append((state, places, dofs, keeping.get(k)))
        parts = [_part(found, velocity, rows, groups[key], name, named) for key in sorted(groups)]

    status = np.full(s, StateStatus.taken, dtype=np.int32)
    status[count == 0] = StateStatus.no_contact
    why = [""] * s
    for state, (code, error) in refused.items():
        status[state], why[state] = code, str(error)
    depth = np.zeros(s)
    touching = rows.contact
    np.maximum.at(depth, rows.state[touching], -rows.phi[touching])
    normal = np.einsum("ri,ri->r", rows.J[:, 0], velocity[rows.state]) if len(rows) else np.zeros(0)
    names, bodies = _row_words(rows, named, body_named)
    states = StateImpacts(
        name=name, status=status, why=tuple(why), parts=tuple(part for part, _ in parts), velocity=velocity,
        projected=projected, depth=depth, merged=changed.merged, reduction_moment=changed.moment, reduction_turn=changed.turn,
        islands=islands, row_state=rows.state, row_name=names, row_bodies=bodies,
        row_still=(found.welded[rows.body] == 0) & rows.contact[:, None], row_point=rows.pos,
        row_frame=rows.frame, row_distance=rows.phi, row_normal_velocity=normal, row_friction=rows.mu,
        part_rows=tuple(places for _, places in parts), settings=dataclasses.asdict(options),
    )  # fmt: skip
    return states, {state: error for state, (_, error) in refused.items()}


class _Sizes:
    def __init__(self, refuse_state: Callable[[int, StateStatus, InvalidInput], None], reduced: bool) -> None:
        self.refuse_state = refuse_state
        self.hint = "" if reduced else "; reduce='hull' leaves out points between others"

    def taken(self, state: int, contacts: int, velocities: int) -> bool:
        if velocities > MAX_VELOCITIES:
            self.refuse_state(state, StateStatus.too_many_velocities, refuse(
                "model", f"{velocities} velocities", f"must have at most {MAX_VELOCITIES}", "has"))  # fmt: skip
            return False
        if contacts > MAX_CONTACTS:
            self.refuse_state(state, StateStatus.too_many_contacts, refuse(
                f"state {state}", f"{contacts} contacts", f"must have at most {MAX_CONTACTS}" + self.hint, "has"))  # fmt: skip
            return False
        return True


def _row_words(rows: Rows, named: Named, body_named: Callable[[int], str]) -> tuple[np.ndarray, np.ndarray]:
    """Names of rows, and of their bodies."""
    if not len(rows):
        return np.zeros(0, dtype="U1"), np.zeros((0, 2), dtype="U1")
    low = rows.geom.min(axis=0)
    width = int(rows.geom[:, 1].max() - low[1]) + 1
    pairs, place = np.unique((rows.geom[:, 0] - low[0]) * width + rows.geom[:, 1] - low[1], return_inverse=True)
    names = np.array([named(int(pair // width + low[0]), int(pair % width + low[1])) for pair in pairs])[place]
    known, place = np.unique(rows.body, return_inverse=True)
    words = np.array([body_named(int(each)) if each >= 0 else "" for each in known])
    return names, words[place.reshape(rows.body.shape)]


def _corners(
    rows: Rows, chosen: np.ndarray, welded: np.ndarray, near: float, changed: _Changed
) -> np.ndarray:
    """Whether each row stays where of the chosen contacts those of one pair of bodies are reduced to the
    corners of their patches."""
    keep = np.ones(len(rows), dtype=bool)
    pair = np.sort(welded[rows.body[chosen]], axis=1)
    base = int(pair.max(initial=0)) + 1
    key = (rows.state[chosen] * base + pair[:, 0]) * base + pair[:, 1]
    order = np.argsort(key, kind="stable")
    members, key = chosen[order], key[order]
    first = np.concatenate([[True], key[1:] != key[:-1]])
    size = np.diff(np.append(np.flatnonzero(first), len(key)))
    several = np.repeat(size > 1, size)
    members, size = members[several], size[size > 1]
    if not len(members):
        return keep
    group = np.concatenate([[0], np.cumsum(size)])
    stays, moment, turn = patch_corners(rows.pos[members], rows.frame[members], rows.mu[members], group, near)
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


def _align(rows: Rows, velocity: np.ndarray) -> None:
    """Turns the first tangent of each contact into the direction of its slip: friction's polygon then has a
    corner where it opposes that slip."""
    slip = np.einsum("rti,ri->rt", rows.J[:, 1:], velocity[rows.state])
    size = np.sqrt((slip * slip).sum(axis=1))
    moves = np.flatnonzero(size > _SLIP)
    if not len(moves):
        return
    c, d = (slip[moves] / size[moves, None]).T
    turn = np.stack([np.stack([c, d], axis=1), np.stack([-d, c], axis=1)], axis=1)
    rows.J[moves, 1:] = turn @ rows.J[moves, 1:]
    rows.frame[moves, 1:] = turn @ rows.frame[moves, 1:]


def _coarsened(rows: Rows, found: Collected, islands: bool, changed: _Changed) -> Rows:
    """With fewer corners where an island has more contacts than are followed from event to event, coarser
    step by step as far as need be, and where that is enough; elsewhere down to what an impact may have."""
    count = len(found.v)
    if np.bincount(rows.state, minlength=1).max() <= MAX_FOLLOWED:
        return rows
    stays = np.ones(len(rows), dtype=bool)
    number = _island_numbers(rows, found)[1] if islands else np.zeros(len(rows), dtype=np.int64)
    slim = dataclasses.replace(rows, J=rows.J[:, :, :0])  # of which parts are taken again and again
    for most in (MAX_FOLLOWED, MAX_CONTACTS):
        trial, last = stays.copy(), np.zeros(count, dtype=bool)
        more = _Changed.none(count)
        for near in (*_COARSER, None):
            place = np.flatnonzero(trial)
            left = slim[place]
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


def _of_trees(moves: np.ndarray, trees: np.ndarray) -> np.ndarray:
    """Which trees each line (r, nv) moves (r, trees); each tree has velocities."""
    order = np.argsort(trees, kind="stable")
    first = np.searchsorted(trees[order], np.arange(int(trees.max(initial=-1)) + 1))
    return np.asarray(np.logical_or.reduceat(moves[:, order], first, axis=1))


def _island_numbers(rows: Rows, found: Collected) -> tuple[np.ndarray, np.ndarray]:
    """Of what moves apart, blocks of J M^-1 J' by the trees of M, which rows and equalities join: a number of
    each tree in each state (s, trees), and of each row, -1 where it moves nothing."""
    touched = _of_trees((rows.J != 0.0).any(axis=1), found.trees)
    tied = [_of_trees(E != 0.0, found.trees) for E in found.equalities.values()]
    states = np.repeat(np.array(list(found.equalities), dtype=np.int64), [len(each) for each in tied])
    number = _core.island_numbers(np.concatenate([touched, *tied]).view(np.uint8), np.concatenate([rows.state, states]),
                                  len(found.v), touched.shape[1])  # fmt: skip
    return number, np.where(touched.any(axis=1), number[rows.state, touched.argmax(axis=1)], -1)


def _islands(rows: Rows, found: Collected) -> list[Piece]:
    """States, rows and velocities of all islands with rows, by state and then by their first row; None: all
    velocities. Equal ones are one array."""
    trees, (number, own) = found.trees, _island_numbers(rows, found)
    some = np.flatnonzero(own >= 0)
    _, begin, inverse = np.unique(rows.state[some] * number.shape[1] + own[some], return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(begin))[inverse.reshape(-1)]
    places = some[np.argsort(order, kind="stable")]
    heads = some[np.sort(begin)]
    known: dict[bytes, np.ndarray | None] = {}
    islands: list[Piece] = []
    members = number[rows.state[heads]] == own[heads][:, None]
    ends = np.cumsum(np.bincount(order, minlength=len(heads)))
    for state, which, low, high in zip(rows.state[heads].tolist(), members, [0, *ends.tolist()], ends.tolist()):
        key = which.tobytes()
        if key not in known:
            dofs = np.flatnonzero(which[trees])
            known[key] = dofs if len(dofs) < len(trees) else None
        islands.append((state, places[low:high], known[key]))
    return islands


Entry = tuple[int, np.ndarray, "np.ndarray | None", "np.ndarray | None"]


def _simple_part(
    M: np.ndarray, velocity: np.ndarray, rows: Rows, first: np.ndarray, m: int, states: np.ndarray, name: str,
    named: Named,
) -> tuple[RobotProblems, np.ndarray]:  # fmt: skip
    places = first[states][:, None] + np.arange(m)
    nv = M.shape[1]
    J = rows.J[places]
    everything = len(states) == len(M)
    return RobotProblems.of(
        M if everything else M[states], np.ascontiguousarray(J[:, :, 0]), J[:, :, 1:].reshape(len(states), 2 * m, nv),
        rows.mu[places], velocity[states], dimension=3, name=name, distance=rows.phi[places], index=states,
        contact_names=_common_names(rows, places, named), lift=None,
    ), places  # fmt: skip


def _common_names(rows: Rows, places: np.ndarray, named: Named) -> tuple[str, ...]:
    """Of a part's contacts, where all its states have the same."""
    geom = rows.geom[places]
    if not len(geom) or not (geom == geom[0]).all():
        return ()
    return _numbered([named(int(a), int(b)) for a, b in geom[0]])


def _part(
    found: Collected, velocity: np.ndarray, rows: Rows, entries: list[Entry], name: str, named: Named
) -> tuple[RobotProblems, np.ndarray]:
    """Problems of one shape."""
    nv, m, n = found.v.shape[1], len(entries[0][1]), len(entries)
    state_of = np.array([state for state, _, _, _ in entries], dtype=np.int64)
    places = np.array([each for _, each, _, _ in entries], dtype=np.int64).reshape(n, m)
    _, _, dofs, Z = entries[0]
    width = nv if dofs is None and Z is None else len(dofs) if Z is None and dofs is not None else Z.shape[1]  # type: ignore[union-attr]
    lifted = dofs is not None or Z is not None
    M, v, J = np.empty((n, width, width)), np.empty((n, width)), np.empty((n, m, 3, width))
    lift = np.zeros((n, nv, width)) if lifted else None
    alike: dict[tuple[int, bool], list[int]] = {}  # entries of the same velocities: those of one list, which is kept
    for place, (_, _, dofs, Z) in enumerate(entries):
        alike.setdefault((id(dofs), Z is None), []).append(place)
    for members in alike.values():
        which = np.array(members)
        _, _, dofs, Z = entries[members[0]]
        states, lines = state_of[which], places[which]
        if dofs is None:
            mine, mine_v, mine_J = found.M[states], velocity[states], rows.J[lines]
        else:  # what is not taken is not copied
            mine = found.M[states[:, None, None], dofs[:, None], dofs]
            mine_v = velocity[states[:, None], dofs]
            mine_J = rows.J[lines[:, :, None, None], np.arange(3)[:, None], dofs]
        if Z is not None:
            bases = np.stack([np.asarray(entries[place][3]) for place in members])
            mine_v = (mine_v[:, None] @ bases)[:, 0]
            mine = bases.transpose(0, 2, 1) @ mine @ bases
            mine = 0.5 * (mine + mine.transpose(0, 2, 1))
            mine_J = mine_J @ bases[:, None]
        M[which], v[which], J[which] = mine, mine_v, mine_J
        if lift is not None:
            moved = np.arange(nv) if dofs is None else dofs
            lift[which[:, None, None], moved[:, None], np.arange(width)] = np.eye(width) if Z is None else bases
    problems = RobotProblems.of(
        M, np.ascontiguousarray(J[:, :, 0]), J[:, :, 1:].reshape(n, 2 * m, width), rows.mu[places], v, dimension=3, name=name,
        distance=rows.phi[places], index=state_of, contact_names=_common_names(rows, places, named), lift=lift,
    )  # fmt: skip
    return problems, places


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
