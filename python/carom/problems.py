"""Batches of impact problems with the same numbers of contacts and velocities, from models, robots, arrays or files."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from . import _core
from ._arrays import Batch, from_any, refuse
from ._results import Result
from ._settings import IMPACT_ARRAYS, in_words, takes_arrays

# Where the table of modes that a problem's samples share pays for itself.
_TABLE_SAMPLES = 32
P = TypeVar("P", bound="Problems")
_ARRAYS = ("mass_matrix", "normal_jacobian", "tangent_jacobian", "friction", "velocity")
_INTERVALS = ("restitution_low", "restitution_high", "friction_high")  # None where left out


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Problems(Result):
    """n impact problems with m contacts and nv velocities each.

    mass_matrix (n, nv, nv), normal_jacobian (n, m, nv), tangent_jacobian (n, (d-1) m, nv) in contact order,
    friction (n, m), velocity (n, nv): just before the impact. J v is the contact velocity [m/s]; a contact with a
    negative normal component approaches.
    dimension d: 2 planar, 3 spatial.
    distance (n, m): gaps phi [m], or None.
    index (n): which of the given states each problem comes from, or None.
    restitution_low, restitution_high (n, m) in 0..1: intervals of restitution; None: inelastic.
    friction_high (n, m): upper ends of intervals of friction; None: friction is a number. with_intervals()
    sets these.
    """

    mass_matrix: np.ndarray
    normal_jacobian: np.ndarray
    tangent_jacobian: np.ndarray
    friction: np.ndarray
    velocity: np.ndarray
    dimension: int
    name: str = "impact"
    contact_names: tuple[str, ...] = ()
    distance: np.ndarray | None = None
    index: np.ndarray | None = None
    lift: np.ndarray | None = None  # Z of v = Z u, (n, nv of the robot, nv), where rows were removed
    parameters: Mapping[str, np.ndarray] = dataclasses.field(default_factory=dict)
    restitution_low: np.ndarray | None = None
    restitution_high: np.ndarray | None = None
    friction_high: np.ndarray | None = None

    @classmethod
    @takes_arrays(**IMPACT_ARRAYS)
    def of(
        cls: type[P], M: Any, Jn: Any, Jt: Any, mu: Any, v: Any, *, strict: bool = False, **more: Any
    ) -> P:
        """Makes a batch from arrays, with or without the axis of problems. Errors: InvalidInput for shapes."""
        batch = Batch(strict)
        batch.add("mass_matrix", M, "nv", "nv")
        batch.add("velocity", v, "nv")
        batch.add("normal_jacobian", Jn, "m", "nv")
        batch.add("friction", mu, "m")
        batch.add("tangent_jacobian", Jt, "t", "nv")
        m, t = batch.extents["m"], batch.extents["t"]
        if m == 0 and t == 0 and "dimension" not in more:
            raise refuse("dimension", "left out", "must be 2 or 3 if there are no contacts")
        if t not in (m, 2 * m):
            raise refuse("tangent_jacobian", f"{t} rows", f"must have {m} (planar) or {2 * m}", "has")
        more.setdefault("dimension", 2 if t == m else 3)
        arrays: dict[str, Any] = batch.arrays()
        return cls(**arrays, **more)

    def __len__(self) -> int:
        return len(self.velocity)

    @property
    def contacts(self) -> int:
        return int(self.friction.shape[1])

    @property
    def velocities(self) -> int:
        return int(self.velocity.shape[1])

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name, without those that are None."""
        given = {name: getattr(self, name) for name in _ARRAYS + _INTERVALS}
        return {name: value for name, value in given.items() if value is not None}

    def with_intervals(self: P, restitution: Any = None, friction: Any = None) -> P:
        """A copy with other restitution or friction: a number, an interval (low, high), or an array of numbers (m,) or
        of intervals (m, 2) or (n, m, 2). Errors: InvalidInput for shapes and numbers."""
        changed: dict[str, Any] = {}
        if restitution is not None:
            changed["restitution_low"], changed["restitution_high"] = self._ends("restitution", restitution)
        if friction is not None:
            low, high = self._ends("friction", friction)
            changed["friction"] = low
            changed["friction_high"] = None if (low == high).all() else high
        made = dataclasses.replace(self, **changed)
        made.validate()
        return made

    def _ends(self, name: str, given: Any) -> tuple[np.ndarray, np.ndarray]:
        n, m = len(self), self.contacts
        ends = from_any(name, given)
        if isinstance(given, tuple) and ends.shape == (2,):
            ends = np.broadcast_to(ends, (n, m, 2))
        elif ends.shape in ((), (m,)):
            ends = np.broadcast_to(ends[..., None], (n, m, 2))
        elif ends.shape in ((m, 2), (n, m, 2)):
            ends = np.broadcast_to(ends, (n, m, 2))
        else:
            raise refuse(name, f"of shape {ends.shape}",
                         f"must be a number, (low, high), ({m},), ({m}, 2) or ({n}, {m}, 2)")  # fmt: skip
        return np.ascontiguousarray(ends[..., 0]), np.ascontiguousarray(ends[..., 1])

    def sizes(self) -> tuple[int, int, int, int]:
        return len(self), self.dimension, self.velocities, self.contacts

    def __getitem__(self: P, which: int | slice | np.ndarray) -> P:
        """A batch of the selected problems; an int selects one."""
        if isinstance(which, (int, np.integer)):
            if not -len(self) <= which < len(self):
                raise IndexError(f"problem {which} of {len(self)}")
            which = slice(which, which + 1 or None)
        changed: dict[str, Any] = {
            name: np.ascontiguousarray(value[which]) for name, value in self.arrays().items()
        }
        for name in ("distance", "index", "lift"):
            value = getattr(self, name)
            changed[name] = None if value is None else np.ascontiguousarray(value[which])
        changed["parameters"] = {k: p[which] for k, p in self.parameters.items()}
        return dataclasses.replace(self, **changed)

    def validate(self) -> None:
        """Checks all numbers. Errors: InvalidInput names field, index, problem and value."""
        _core.validate_impacts(self.arrays(), *self.sizes())

    def contact_velocity(self, velocity: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Jn v and Jt v for the velocities before the impact, or for other velocities (n, ..., nv)."""
        v = self.velocity if velocity is None else np.asarray(velocity)
        flat = v.reshape(len(self), -1, self.velocities)
        shape = v.shape[:-1]
        normal = np.einsum("nsj,nij->nsi", flat, self.normal_jacobian)
        tangent = np.einsum("nsj,nij->nsi", flat, self.tangent_jacobian)
        return normal.reshape(*shape, -1), tangent.reshape(*shape, -1)

    def stopping_impulse(self) -> float:
        """The largest impulse [N s] that stops one approaching contact; 0 if none approaches."""
        speed = -self.contact_velocity()[0]
        inverse = np.linalg.solve(self.mass_matrix, self.normal_jacobian.transpose(0, 2, 1))
        compliance = np.einsum("nij,nji->ni", self.normal_jacobian, inverse)
        approaching = (speed > 0.0) & (compliance > 0.0)
        return float((speed[approaching] / compliance[approaching]).max(initial=0.0))

    def turned(self: P, angle: float) -> P:
        """The same impacts with the tangents of spatial contacts, and so the friction polygons, rotated by angle [rad]."""
        if self.dimension == 2:
            return self
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        pairs = self.tangent_jacobian.reshape(len(self), self.contacts, 2, self.velocities)
        return dataclasses.replace(self, tangent_jacobian=(turn @ pairs).reshape(self.tangent_jacobian.shape))

    def padded(self: P, contacts: int) -> P:
        """A copy padded with rows of zeros to `contacts` contacts. These take no impulse, but the random numbers of the
        samples change to those of a problem of that size."""
        more = contacts - self.contacts
        if more < 0:
            raise refuse("contacts", str(contacts), f"must be >= {self.contacts}")

        def grown(array: np.ndarray, by: int) -> np.ndarray:
            return np.pad(array, [(0, 0), (0, by)] + [(0, 0)] * (array.ndim - 2))

        intervals: dict[str, Any] = {
            name: grown(value, more) for name, value in self.arrays().items() if name in _INTERVALS
        }
        return dataclasses.replace(
            self,
            normal_jacobian=grown(self.normal_jacobian, more),
            tangent_jacobian=grown(self.tangent_jacobian, more * (self.dimension - 1)),
            friction=grown(self.friction, more),
            **intervals,
            distance=None
            if self.distance is None
            else np.pad(self.distance, [(0, 0), (0, more)], constant_values=np.inf),
            contact_names=self.contact_names and self.contact_names + ("",) * more,
        )

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Writes a file for the carom command (docs/tutorials/impact.md, "Your own impact")."""
        entries = []
        for i in range(len(self)):
            entry: dict[str, Any] = {"name": self.name if len(self) == 1 else f"{self.name} {i}"}
            entry.update((name, getattr(self, name)[i].tolist()) for name in _ARRAYS)
            for name, low, high in (("friction", self.friction, self.friction_high),
                                    ("restitution", self.restitution_low, self.restitution_high)):  # fmt: skip
                if low is not None and high is not None:
                    entry[name] = np.stack([low[i], high[i]], axis=-1).tolist()
            if len(set(self.contact_names)) == self.contacts > 0 and all(self.contact_names):
                entry["contact_names"] = list(self.contact_names)
            entries.append(entry)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(entries, file)

    def __repr__(self) -> str:
        kind = "planar" if self.dimension == 2 else "spatial"
        return (
            f"Problems({self.name!r}: {len(self)} {kind}, {self.contacts} contacts, "
            f"{self.velocities} velocities)"
        )


class RobotProblems(Problems):
    """Problems of states of a robot, from carom.robot, from_mujoco or from_pinocchio; impact.sample takes
    other defaults for them. index (n): states; distance (n, m); lift (n, nv of the robot, nv) or None: the
    robot's velocity changes by lift (u+ - u)."""


def json_entries(path: str | os.PathLike[str]) -> list[Any]:
    """The objects of a file that holds one or a list of them. Errors: InvalidInput naming the file."""
    with open(path, encoding="utf-8") as file:
        try:
            entries = json.load(file)
        except json.JSONDecodeError as error:
            raise refuse(str(path), "no JSON", str(error)) from None
    entries = entries if isinstance(entries, list) else [entries]
    return entries


def read_json(path: str | os.PathLike[str]) -> Problems:
    """Problems of one shape from a file of the carom command (docs/tutorials/impact.md, "Your own impact").

    Errors: InvalidInput naming the file, the field and the problem.
    """
    entries = json_entries(path)
    if not entries:
        raise refuse(str(path), "empty", "must hold a problem")
    arrays = {}
    bounces = any("restitution" in entry for entry in entries)
    for name in _ARRAYS + ("restitution",) * bounces:
        for i, entry in enumerate(entries):
            if name not in entry:
                raise refuse(f"{path}: {name} of problem {i}", "missing", "must be there")
        rows = [np.asarray(entry[name], dtype=np.float64) for entry in entries]
        if len({row.shape for row in rows}) > 1:
            raise refuse(f"{path}: {name}", "of several shapes", "read them one shape at a time")
        arrays[name] = np.stack(rows)
    contacts = arrays["normal_jacobian"].shape[1]
    ends: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for name in ("friction", "restitution")[: 1 + bounces]:
        given = arrays[name]
        if given.ndim == 1:  # one number for all contacts
            given = np.repeat(given[:, None], contacts, axis=1)
        pairs = given if given.ndim == 3 and given.shape[2] == 2 else np.stack([given, given], axis=-1)
        ends[name] = np.ascontiguousarray(pairs[..., 0]), np.ascontiguousarray(pairs[..., 1])
    intervals: dict[str, Any] = {}
    if (ends["friction"][0] != ends["friction"][1]).any():
        intervals["friction_high"] = ends["friction"][1]
    if bounces:
        intervals["restitution_low"], intervals["restitution_high"] = ends["restitution"]
    made = Problems.of(
        arrays["mass_matrix"], arrays["normal_jacobian"], arrays["tangent_jacobian"],
        ends["friction"][0], arrays["velocity"], name=str(entries[0].get("name", "impact")),
        contact_names=tuple(entries[0].get("contact_names", ())), **intervals,
    )  # fmt: skip
    made.validate()
    return made


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of a model: unit, default, accepted range, meaning."""

    name: str
    unit: str
    value: float
    minimum: float
    minimum_open: bool
    maximum: float
    meaning: str


@dataclasses.dataclass(frozen=True)
class BuiltIn:
    """A built-in problem; source: where its numbers are from."""

    name: str
    summary: str
    source: str
    parameters: Mapping[str, Parameter]


B = TypeVar("B", bound=BuiltIn)


def built_in(kind: type[B], listed: list[dict[str, Any]]) -> dict[str, B]:
    """What the library lists, by name."""
    made = {}
    for entry in listed:
        parameters = {each["name"]: Parameter(**each) for each in entry["parameters"]}
        made[entry["name"]] = kind(**{**entry, "parameters": parameters})
    return made


@dataclasses.dataclass(frozen=True)
class Model(BuiltIn):
    """A built-in mechanism at an impact; step_size [N s] and max_steps: those of its source."""

    dimension: int
    contact_names: tuple[str, ...]
    step_size: float
    max_steps: int


def models() -> dict[str, Model]:
    """All built-in impact models by name."""
    return built_in(Model, _core.impact_models())


def columns(parameters: Mapping[str, Any], n: int | None) -> tuple[dict[str, np.ndarray], int]:
    """Parameters as columns of one length, or of one value, and that length."""
    given = {name: from_any(name, value) for name, value in parameters.items()}
    for name, column in given.items():
        if column.ndim > 1:
            raise refuse(name, f"of shape {column.shape}", "must be a number or a list")
    longer = [len(column) for column in given.values() if column.size != 1]
    count = n if n is not None else longer[0] if longer else 1
    for name, column in given.items():
        if column.size not in (1, count):
            raise refuse(name, f"{column.size} values", f"must have {count}, or 1", "has")
    return {name: column.reshape(-1) for name, column in given.items()}, count


def model(name: str, *, n: int | None = None, **parameters: Any) -> Problems:
    """The impact of a built-in model, parameters changed by name; arrays of them, all of one
    length, make a batch. n: the number of copies if none is an array.

    Errors: InvalidInput naming an unknown model or parameter, or a value out of its range.
    """
    taken, count = columns(parameters, n)
    lists = {key: column.tolist() for key, column in taken.items()}
    dimension, arrays = _core.build_impacts(name, lists, count)
    known = models()[name]
    return Problems(
        **arrays,
        dimension=dimension,
        name=name,
        contact_names=known.contact_names,
        parameters={key: np.broadcast_to(column, (count,)) for key, column in taken.items()},
    )


def given_problems(arguments: Sequence[Any], strict: bool) -> Problems:
    """What a function that takes *problems was given."""
    if len(arguments) == 1 and isinstance(arguments[0], Problems):
        return arguments[0]
    if len(arguments) == 1 and isinstance(arguments[0], str):
        return model(arguments[0])
    if len(arguments) != 5:
        raise TypeError("takes Problems, a model's name, or the five arrays M, Jn, Jt, mu, v")
    return Problems.of(*arguments, strict=strict)


def run_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """All settings of a run; 0, and epsilon -1, mean values that follow from each problem."""
    settings = in_words({name: value for name, value in settings.items() if value is not None})
    defaults = {each["name"]: each["default"] for each in _core.impact_settings()}
    settings.setdefault("keep_samples", -1)
    whole = settings.get("samples", defaults["samples"])
    if "mode_table" not in settings:
        settings["mode_table"] = isinstance(whole, int) and whole >= _TABLE_SAMPLES
    del defaults["result_space"]
    return {**defaults, **settings}


MAX_CONTACTS, MAX_VELOCITIES, MAX_FOLLOWED, MAX_FOLLOWED_ON_DEVICE, MAX_MODE_CONTACTS = _core.impact_limits()
_ROBOT_DIRECTIONS = 8
ROBOT_TURNS, ROBOT_FINE_DIRECTIONS = 4, 16  # of a robot's states
_ROBOT_STEPS = 4096  # at most, of the LCP method: fast joints at their limits take hundreds


def _followed(backend: str) -> int:
    """Up to so many contacts the samples of a robot's impacts are followed from event to event."""
    device = backend == "cuda" or (backend == "auto" and bool(_core.info()["cuda_devices"]))
    most: int = MAX_FOLLOWED_ON_DEVICE if device else MAX_FOLLOWED
    return most


def robot_settings(batch: Problems, settings: dict[str, Any], backend: str) -> dict[str, Any]:
    """With what is taken for a robot where it is left open: four friction directions and large steps
    err by more than its sets are wide."""
    if not isinstance(batch, RobotProblems):
        return settings
    chosen = {name: value for name, value in settings.items() if value is not None}
    stepped = any(chosen.get(name, 0) for name in ("step_size", "max_steps")) or "sampler" in chosen or "selection" in chosen
    chosen.setdefault("method", "lcp" if stepped or batch.contacts > _followed(backend) else "events")
    chosen.setdefault("friction_directions", _ROBOT_DIRECTIONS)
    if chosen["method"] == "lcp" and not chosen.get("max_steps"):
        chosen["max_steps"] = _ROBOT_STEPS
    return chosen


def one_problem(problems: Sequence[Any], what: str) -> Problems:
    batch = given_problems(problems, False)
    if len(batch) != 1:
        raise refuse("problems", str(len(batch)), f"{what} takes one: give problems[i]")
    return batch


def letters(contacts: int) -> list[str]:
    """Names of contacts that have none: as those of the command."""
    return [chr(ord("A") + i) if i < 26 else f"C{i}" for i in range(contacts)]
