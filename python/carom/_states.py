"""States of a robot as impact problems: what the converters of MuJoCo and Pinocchio share."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any

import numpy as np

from ._arrays import from_any, refuse
from ._reduce import components, patch_corners
from ._results import Result
from .errors import InvalidInput
from .problems import RobotProblems

MAX_CONTACTS = 16
MAX_VELOCITIES = 64

DEEP = 0.02  # [m], and ...
DEEP_ANGLE = 0.2  # [rad], and ...
DEEP_SHARE = 0.1  # ... of a body's size: how deep a contact or limit may be by default
PROJECTED_SHARE = 0.05  # of the energy, and ...
_PROJECTED_SPEED = 1e-3  # ... [m/s]: what a projection onto the equalities may change
_RANK = 1e-10  # of rows of equalities, relative to the largest
_KEPT = 1e-6  # a velocity so near to its equalities, relative, keeps them


class StateStatus(IntEnum):
    """What became of a state of a robot."""

    taken = 0
    no_contact = 1  # nothing touches or is about to: the velocity stays
    too_deep = 2
    off_equalities = 3
    too_many_contacts = 4
    too_many_velocities = 5
    not_taken = 6  # something of the model that carom does not have
    invalid = 7  # numbers that are not finite


@dataclasses.dataclass
class Options:
    """How states are taken; distances in m, times in s."""

    activation: float = 1e-6
    time_to_contact: float = 0.0
    max_penetration: float | None = None
    max_projected: float = PROJECTED_SHARE
    reduce: str | None = None
    islands: bool = False

    def __post_init__(self) -> None:
        if self.reduce not in (None, "hull"):
            raise refuse("reduce", repr(self.reduce), "must be None or 'hull'")
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
        whole = cls(*(np.concatenate([getattr(part, field.name) for part in parts])
                      for field in dataclasses.fields(cls)))  # fmt: skip
        if len(parts) == 1 or not len(whole):
            return whole
        return whole[np.argsort(whole.state, kind="stable")]

    @property
    def contact(self) -> np.ndarray:
        return np.asarray(self.geom[:, 0] >= 0)


@dataclasses.dataclass
class Collected:
    """What a converter found: M (s, nv, nv), v (s, nv), rows, E (e, nv) of active equalities by state,
    trees (nv): velocities of different numbers are not coupled by M; welded: of bodies, one number for
    all that do not move against each other, 0 for what does not move at all; refused: by state, the first."""

    M: np.ndarray
    v: np.ndarray
    rows: Rows
    equalities: dict[int, np.ndarray]
    trees: np.ndarray
    welded: np.ndarray
    refused: dict[int, tuple[StateStatus, InvalidInput]]


Named = Callable[[int, int], str]


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
    allowed = allowed_of_limits(length, options)
    return Rows.of(nv, state, J, np.zeros(len(state)), phi[taken], allowed[j],
                   np.stack([-1 - j, -2 - end], axis=1))  # fmt: skip


def allowed_of_limits(length: np.ndarray, options: Options) -> np.ndarray:
    """How far beyond a limit a state may be: its row is the same wherever it is."""
    if options.max_penetration is not None:
        return np.full(np.shape(length), options.max_penetration)
    return np.where(length, DEEP, DEEP_ANGLE)


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

    status (s): StateStatus; why (s): the reason in words, empty where the state is taken; parts:
    RobotProblems of one number of contacts and velocities each, with their states in index and the
    contacts' places in rows. velocity (s, nv): the robot's, projected onto its equalities where it
    kept them not; projected (s): the share of the kinetic energy which that took. depth (s) [m]: of
    the deepest contact that is taken as touching. merged (s): contacts that reduction left out, which
    changes moments by at most reduction_moment (s) [m] times the force and directions of forces by
    reduction_turn (s). islands (s): problems of the state, each of what moves apart from the rest.
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
        """The problem of state i alone. Errors: InvalidInput where there is none, or several."""
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


def free_directions(E: np.ndarray) -> np.ndarray:
    """Z of v = Z u, with orthonormal columns: the velocities that keep the equalities E v = 0."""
    _, sizes, directions = np.linalg.svd(E)
    rank = int(np.count_nonzero(sizes > _RANK * sizes.max(initial=0.0)))
    Z = directions[rank:].T
    if not Z.size:
        return np.ascontiguousarray(Z)
    signs = np.sign(Z[np.abs(Z).argmax(axis=0), np.arange(Z.shape[1])])
    return np.ascontiguousarray(Z * np.where(signs == 0.0, 1.0, signs))


def assembled(
    found: Collected, options: Options, name: str, named: Named, body_named: Callable[[int], str], whole: bool
) -> tuple[StateImpacts, dict[int, InvalidInput]]:
    """The states' problems, and the refusals by state. named: of a row by geom; whole: states without contacts are problems, too."""
    s, nv = found.v.shape
    rows, refused, velocity = found.rows, dict(found.refused), found.v.copy()

    def refuse_state(state: int, status: StateStatus, why: InvalidInput) -> None:
        refused.setdefault(state, (status, why))

    for row in np.flatnonzero(rows.phi < -rows.allowed):
        rule = f"max_penetration = {options.max_penetration:g}" if options.max_penetration is not None else (
            f"{rows.allowed[row]:.3g}, by its size: max_penetration says otherwise")  # fmt: skip
        unit = "m" if rows.contact[row] else "m or rad"
        refuse_state(int(rows.state[row]), StateStatus.too_deep, refuse(
            named(*map(int, rows.geom[row])), f"{-rows.phi[row]:.6g} {unit} deep", f"must be at most {rule}"))  # fmt: skip

    merged, moment, turn = np.zeros(s, dtype=np.int64), np.zeros(s), np.zeros(s)
    if options.reduce == "hull" and len(rows):
        rows = _reduced(rows, found.welded, merged, moment, turn)

    projected = np.zeros(s)
    kept: dict[int, np.ndarray] = {}  # Z of states whose velocity keeps its equalities, by rounding
    for state, active in found.equalities.items():
        v = found.v[state]
        Z = kept[state] = free_directions(active)
        gap = np.abs(v - Z @ (Z.T @ v)).max(initial=0.0)
        if gap > _KEPT * (1.0 + np.abs(v).max(initial=0.0)):
            M = found.M[state]
            velocity[state] = Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (M @ v)) if Z.size else np.zeros(nv)
            lost = v - velocity[state]
            projected[state] = (lost @ M @ lost) / (v @ M @ v)
            speed = np.sqrt((lost @ M @ lost) / np.diag(M).max())
            if projected[state] > options.max_projected and speed > _PROJECTED_SPEED:
                refuse_state(state, StateStatus.off_equalities, refuse(
                    "qvel", f"{100 * projected[state]:.3g} % of the energy off the model's active equalities",
                    f"must be at most max_projected = {options.max_projected:g}"))  # fmt: skip

    first = np.searchsorted(rows.state, np.arange(s + 1))
    count = np.diff(first)
    groups: dict[tuple[int, int, bool], list[tuple[int, np.ndarray, np.ndarray | None, np.ndarray | None]]] = {}
    islands = np.zeros(s, dtype=np.int64)
    many = options.islands and found.trees.max(initial=0) > 0
    sizes = _Sizes(refuse_state)
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
        for state in range(s):
            if state in refused:
                continue
            mine = np.arange(first[state], first[state + 1])
            pieces = _islands(rows, mine, found.equalities.get(state), found.trees) if many else [(mine, None)]
            if not len(mine):
                pieces = [(mine, None)] if whole else []
            made = []
            for places, dofs in pieces:
                keeping = kept.get(state)
                if keeping is not None and dofs is not None:
                    mine_alone = found.equalities[state][:, dofs]
                    mine_alone = mine_alone[(mine_alone != 0.0).any(axis=1)]
                    keeping = free_directions(mine_alone) if len(mine_alone) else None
                width = keeping.shape[1] if keeping is not None else nv if dofs is None else len(dofs)
                if not sizes.taken(state, len(places), width):
                    break
                made.append((len(places), width, (state, places, dofs, keeping)))
            else:
                islands[state] = len(made)
                for m, width, entry in made:
                    groups.setdefault((m, width, entry[2] is not None or entry[3] is not None), []).append(entry)
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
        projected=projected, depth=depth, merged=merged, reduction_moment=moment, reduction_turn=turn,
        islands=islands, row_state=rows.state, row_name=names, row_bodies=bodies,
        row_still=(found.welded[rows.body] == 0) & rows.contact[:, None], row_point=rows.pos,
        row_frame=rows.frame, row_distance=rows.phi, row_normal_velocity=normal, row_friction=rows.mu,
        part_rows=tuple(places for _, places in parts), settings=dataclasses.asdict(options),
    )  # fmt: skip
    return states, {state: error for state, (_, error) in refused.items()}


class _Sizes:
    def __init__(self, refuse_state: Callable[[int, StateStatus, InvalidInput], None]) -> None:
        self.refuse_state = refuse_state

    def taken(self, state: int, contacts: int, velocities: int) -> bool:
        if velocities > MAX_VELOCITIES:
            self.refuse_state(state, StateStatus.too_many_velocities, refuse(
                "model", f"{velocities} velocities", f"must have at most {MAX_VELOCITIES}", "has"))  # fmt: skip
            return False
        if contacts > MAX_CONTACTS:
            self.refuse_state(state, StateStatus.too_many_contacts, refuse(
                f"state {state}", f"{contacts} contacts", f"must have at most {MAX_CONTACTS}; "
                "reduce='hull' leaves out points between others", "has"))  # fmt: skip
            return False
        return True


def _row_words(rows: Rows, named: Named, body_named: Callable[[int], str]) -> tuple[np.ndarray, np.ndarray]:
    """Names of rows, and of their bodies."""
    if not len(rows):
        return np.zeros(0, dtype="U1"), np.zeros((0, 2), dtype="U1")
    pairs, place = np.unique(rows.geom, axis=0, return_inverse=True)
    names = np.array([named(int(a), int(b)) for a, b in pairs])[place.reshape(-1)]
    known, place = np.unique(rows.body, return_inverse=True)
    words = np.array([body_named(int(each)) if each >= 0 else "" for each in known])
    return names, words[place.reshape(rows.body.shape)]


def _reduced(rows: Rows, welded: np.ndarray, merged: np.ndarray, moment: np.ndarray, turn: np.ndarray) -> Rows:
    """With the corners of patches alone; fills what that changed in each state."""
    several = rows.contact
    pair = np.sort(welded[rows.body], axis=1)
    base = int(pair.max(initial=0)) + 1
    key = (rows.state * base + pair[:, 0]) * base + pair[:, 1]
    key[~several] = -1
    _, group, count = np.unique(key, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    keep = np.ones(len(rows), dtype=bool)
    candidates = np.flatnonzero(several & (count[group] > 1))
    if not len(candidates):
        return rows
    candidates = candidates[np.argsort(group[candidates], kind="stable")]
    for members in np.split(candidates, np.flatnonzero(np.diff(group[candidates])) + 1):
        corners, change, turned = patch_corners(rows.pos[members], rows.frame[members], rows.mu[members])
        if len(corners) < len(members):
            keep[members] = False
            keep[members[corners]] = True
            state = rows.state[members[0]]
            merged[state] += len(members) - len(corners)
            moment[state] = max(moment[state], change)
            turn[state] = max(turn[state], turned)
    return rows if keep.all() else rows[keep]


def _islands(
    rows: Rows, mine: np.ndarray, E: np.ndarray | None, trees: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """Rows and velocities of what moves apart: blocks of J M^-1 J' by the trees of M, which rows and
    equalities join."""
    size = int(trees.max(initial=-1)) + 1
    touched = [np.unique(trees[(rows.J[i] != 0.0).any(axis=0)]) for i in mine]
    joins = [each for each in touched if len(each) > 1]
    for row in E if E is not None else ():
        joins.append(np.unique(trees[row != 0.0]))
    number = components(joins, size)
    island = np.array([number[each[0]] if len(each) else -1 for each in touched], dtype=np.int64)
    found: list[tuple[np.ndarray, np.ndarray | None]] = []
    for k in dict.fromkeys(island.tolist()):
        if k < 0:  # a contact that moves nothing
            continue
        dofs = np.flatnonzero(number[trees] == k)
        found.append((mine[island == k], dofs if len(dofs) < len(trees) else None))
    return found


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
    nv = found.v.shape[1]
    m = len(entries[0][1])
    fields: dict[str, list[np.ndarray]] = {key: [] for key in ("M", "Jn", "Jt", "v", "Z")}
    for state, places, dofs, Z in entries:
        M, v, J = found.M[state], velocity[state], rows.J[places]
        lift = None
        if dofs is not None:
            M, v, J = M[np.ix_(dofs, dofs)], v[dofs], J[:, :, dofs]
            lift = np.zeros((nv, len(dofs)))
            lift[dofs, np.arange(len(dofs))] = 1.0
        if Z is not None:
            v = Z.T @ v
            M = Z.T @ M @ Z
            M = 0.5 * (M + M.T)
            J = J @ Z
            lift = Z if lift is None else lift @ Z
        fields["M"].append(M)
        fields["v"].append(v)
        fields["Jn"].append(J[:, 0])
        fields["Jt"].append(J[:, 1:].reshape(2 * m, -1))
        if lift is not None:
            fields["Z"].append(lift)
    places = np.array([each for _, each, _, _ in entries], dtype=np.int64).reshape(len(entries), m)
    stacked = {key: np.stack(value) if value else None for key, value in fields.items()}
    problems = RobotProblems.of(
        stacked["M"], stacked["Jn"], stacked["Jt"], rows.mu[places], stacked["v"], dimension=3, name=name,
        distance=rows.phi[places], index=np.array([state for state, _, _, _ in entries], dtype=np.int64),
        contact_names=_common_names(rows, places, named), lift=stacked["Z"],
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
