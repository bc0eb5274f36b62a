"""Motions of mechanisms in time through contact and impacts: samples of the solutions of the
differential inclusion (53) of Halm and Posa (docs/explanation/motion.md)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import _core
from ._arrays import from_any, refuse
from ._progress import called
from ._results import Batched, MotionEnd, MotionEventKind, Result, result
from ._settings import in_words, takes_settings
from .impact import EpsilonNet
from .problems import BuiltIn, Problems, built_in, columns

__all__ = [
    "MotionEnd", "MotionEventKind", "MotionModel", "MotionResult", "MotionTerms", "Motions", "model",
    "models", "reachable", "replay", "simulate", "terms", "tree",
]  # fmt: skip

_ARRAYS = ("parameters", "position", "velocity", "position_spread", "velocity_spread", "drive")


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Motions(Result):
    """n starts of one mechanism: parameters (n, p), position (n, nq), velocity (n, nv); spreads, half
    widths of the uniform distributions of a sample's start, (n, nq) and (n, nv), or None; drive
    (n, knots, nv) [N, N m], held from knot to knot every drive_interval seconds, or None."""

    parameters: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    mechanism: str
    position_spread: np.ndarray | None = None
    velocity_spread: np.ndarray | None = None
    drive: np.ndarray | None = None
    drive_interval: float = 0.0
    name: str = "motion"
    duration: float | None = None
    coefficient: float | None = None

    def __len__(self) -> int:
        return len(self.position)

    def changed(self, **arrays: Any) -> Motions:
        """With other position, velocity, spreads or drive, for all n or one for all."""
        taken: dict[str, Any] = {}
        for name, value in arrays.items():
            if name == "drive_interval":
                taken[name] = float(value)
                continue
            if name not in ("position", "velocity", "position_spread", "velocity_spread", "drive"):
                raise refuse(name, "no array", "are position, velocity, position_spread, "
                             "velocity_spread, drive and drive_interval")  # fmt: skip
            array = from_any(name, value)
            width = self.position.shape[1] if name.startswith("position") else self.velocity.shape[1]
            if array.ndim < 1 or array.shape[-1] != width or array.ndim > (3 if name == "drive" else 2):
                raise refuse(name, f"of shape {array.shape}", f"must end in {width}")
            if name == "drive":
                array = np.broadcast_to(array, (len(self), *array.shape[-2:]))
            else:
                array = np.broadcast_to(array, (len(self), width))
            taken[name] = np.ascontiguousarray(array)
        return dataclasses.replace(self, **taken)

    def __getitem__(self, i: int) -> Motions:
        """Only that start."""
        if not -len(self) <= i < len(self):
            raise IndexError(f"motion {i} of {len(self)}")
        i %= len(self)
        one: dict[str, Any] = {name: np.ascontiguousarray(value[i : i + 1]) for name, value in self.arrays().items()}
        return dataclasses.replace(self, **one)

    def arrays(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _ARRAYS if getattr(self, name) is not None}

    def given(self) -> dict[str, Any]:
        return {
            "mechanism": self.mechanism, "problems": len(self),
            "knots": 0 if self.drive is None else self.drive.shape[1],
            "drive_interval": self.drive_interval,
        }  # fmt: skip

    def impact(self, i: int = 0, *, gap: float = 1e-9) -> Problems:
        """The impact of start i with the contacts whose gap is at most `gap` [m]."""
        one = self[i]
        dimension, arrays = _core.motion_impact(one.arrays(), one.given(), float(gap))
        return Problems(**arrays, dimension=dimension, name=self.name)

    def _summary(self) -> str:
        return f"{self.name!r}: {len(self)}"


@result
class MotionResult(Batched):
    """end (MotionEnd), time, s, events, impacts, pushes, ambiguous, zeno, residual, ... (n, samples);
    position, velocity at the end; of the stored samples state (n, stored, grid, nq + nv + 1), q, v and s
    on the grid, and event_kind, event_time, ... (n, stored, keep_events). name, grid [s]: of the run."""

    _axes = ("problem", "sample")
    name: str
    grid: float

    def plot(self, coordinate: int = 0, ax: Any = None) -> Any:
        """One coordinate of the stored samples over time, one line each. Needs matplotlib."""
        from ._plots import axes

        if not self.state.size:
            raise refuse("keep_samples, grid", "0", "states are kept by both", "are")
        wide = self.state.shape[3] - 1
        if not 0 <= coordinate < wide:
            raise refuse("coordinate", str(coordinate), f"must be in 0..{wide - 1}")
        ax = axes(ax)
        time = self.grid * np.arange(self.state.shape[2])
        ax.plot(time, self.state[..., coordinate].reshape(-1, len(time)).T)
        known = models().get(self.name)
        names = known.positions + known.velocities if known else ()
        ax.set_xlabel("time [s]")
        ax.set_ylabel(names[coordinate] if coordinate < len(names) else f"coordinate {coordinate}")
        ax.set_title(f"{self.name}: {self.state.shape[0] * self.state.shape[1]} motions")
        return ax

    def _summary(self) -> str:
        values, counts = np.unique(self.end, return_counts=True)
        ends = ", ".join(f"{int(c)} {MotionEnd(int(v)).name}" for v, c in zip(values, counts))
        return ends or "none"


@dataclasses.dataclass(frozen=True)
class MotionModel(BuiltIn):
    """A built-in mechanism with a start, and the run settings that are recommended. step_size [N s]:
    that of its source."""

    dimension: int
    contact_names: tuple[str, ...]
    step_size: float
    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    duration: float
    coefficient: float


def models() -> dict[str, MotionModel]:
    """All built-in motions by name."""
    return built_in(MotionModel, _core.motion_models())


def _made(arrays: Mapping[str, Any], **more: Any) -> Motions:
    given: dict[str, Any] = {
        key: None if value is None or value.size == 0 else value for key, value in arrays.items()
    }
    return Motions(**given, **more)


def model(name: str, *, n: int | None = None, **parameters: Any) -> Motions:
    """Starts of a built-in mechanism, parameters changed by name; arrays of them make a batch."""
    taken, count = columns(parameters, n)
    lists = {key: column.tolist() for key, column in taken.items()}
    arrays, mechanism, interval = _core.build_motions(name, lists, count)
    known = models()[name]
    return _made(
        arrays,
        mechanism=mechanism,
        drive_interval=interval,
        name=name,
        duration=known.duration,
        coefficient=known.coefficient,
    )


def _motions(given: Any) -> Motions:
    batch = model(given) if isinstance(given, str) else given
    if not isinstance(batch, Motions):
        raise TypeError("takes Motions or a model's name")
    return batch


def _one(given: Any) -> Motions:
    batch = _motions(given)
    if len(batch) != 1:
        raise refuse("motions", str(len(batch)), "must be one: give motions[i]")
    return batch


def _chosen(batch: Motions, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a run, with what the model recommends where nothing was given."""
    chosen = {name: value for name, value in settings.items() if value is not None}
    for name in _RECOMMENDED:
        if getattr(batch, name) is not None:
            chosen.setdefault(name, getattr(batch, name))
    return in_words(chosen)


_RECOMMENDED = {"duration": None, "coefficient": None}


@takes_settings(_core.motion_settings(), defaults=_RECOMMENDED)
def simulate(
    motions: Any, *, backend: str = "auto", progress: Callable[[int, int], Any] | bool | None = None,
    workspace: Any = None, **settings: Any,
) -> MotionResult:  # fmt: skip
    """Simulates motions from their starts. motions: Motions, or a model's name. duration and
    coefficient: None takes what the model recommends. progress: called with (done, all) of the
    problems, or of the samples where there are more; returning False ends the run, whose result has
    those done. True shows a bar.

    Errors: InvalidInput naming problem, field and value: NaN, a start in penetration, settings.
    """
    batch = _motions(motions)
    chosen = _chosen(batch, settings)
    answer = _core.simulate_motions(
        batch.arrays(), batch.given(), chosen, backend, called(progress), workspace
    )
    done = answer.pop("done")
    problems, samples = answer["end"].shape
    if 0 < done < max(problems, samples):  # which of them had come
        some = (slice(None), slice(done)) if samples > problems else (slice(done),)
        answer = {name: None if value is None else value[some] for name, value in answer.items()}
    return MotionResult(**answer, name=batch.name, grid=float(chosen.get("grid", 0.0)))


@takes_settings(
    _core.motion_settings(), without=("keep_samples", "keep_events"),
    defaults={**_RECOMMENDED, "samples": 4096, "grid": 0.1},
)  # fmt: skip
def reachable(
    motions: Any, *, epsilon: float, capacity: int = 2**20, backend: str = "auto", **settings: Any
) -> list[list[tuple[float, EpsilonNet]]]:
    """Nets of the states (q, v) that each problem's motions reach at 0, grid, 2 grid, ... and at the
    end: (time [s], net) of every time, states in net.velocity (k, nq + nv). Motions that ended
    before are counted in net.dropped.

    Errors: InvalidInput for settings, shapes and problems.
    """
    batch = _motions(motions)
    chosen = {"samples": 4096, "grid": 0.1, **_chosen(batch, settings)}
    found: Any = _core.reachable(
        batch.arrays(), batch.given(), chosen, float(epsilon), int(capacity), backend
    )
    return [[(time, EpsilonNet(**net)) for time, net in sets] for sets in found]


def tree(
    description: Mapping[str, Any], position: Any, velocity: Any, *, name: str = "tree"
) -> Motions:
    """Starts of your own mechanism: a tree of links against half-spaces, in the plane or in space.

    description: the keys of a mechanism in a file of the command (docs/reference/files.md): dimension,
    floating, gravity, links, contacts, half_spaces, springs.

    position (nq) or (n, nq) and velocity (nv) or (n, nv). In the plane: x and y of the floating point, then
    a number for each link. In space: place and quaternion w, x, y, z of the free first link, its velocity
    and its angular velocity in its own axes; then a number for each link, and for a ball joint the quaternion
    from link to parent and the angular velocity relative to the parent in the link's axes.

    Errors: InvalidInput naming the link, contact, half-space or spring, and the field.
    """
    from ._trees import resolved

    q, v = (np.atleast_2d(from_any(field, value)) for field, value in (("position", position), ("velocity", velocity)))
    if q.ndim != 2 or v.ndim != 2 or len(q) != len(v) or not len(q):
        raise refuse("velocity", f"of shape {v.shape}", f"must be as many as positions {q.shape}, (n, nv)")
    dimension, parts = resolved(description)
    arrays, mechanism, interval = _core.build_tree(
        {**parts, "name": name}, dimension, np.ascontiguousarray(q), np.ascontiguousarray(v), len(q)
    )
    return _made(arrays, mechanism=mechanism, drive_interval=interval, name=name)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MotionTerms(Result):
    """M v' = force + drive + J' lambda and q' = rates at one state: mass_matrix (nv, nv), force (nv)
    of gravity, Coriolis terms and springs, rates (nq), gap (m) [m], friction (m), jacobian
    (m, rows, nv), a contact's normal row first, drift (m, rows) = (dJ/dt) v, energy [J]."""

    mass_matrix: np.ndarray
    force: np.ndarray
    rates: np.ndarray
    gap: np.ndarray
    friction: np.ndarray
    jacobian: np.ndarray
    drift: np.ndarray
    energy: float

    def _summary(self) -> str:
        return f"{len(self.gap)} contacts, {self.energy:.6g} J"


def terms(motions: Any, position: Any = None, velocity: Any = None, *, time: float = 0.0) -> MotionTerms:
    """The equations of one problem's mechanism at q (nq) and v (nv), its start where left out, and at
    a time [s]. Errors: InvalidInput."""
    one = _one(motions)
    q = one.position[0] if position is None else from_any("position", position)
    v = one.velocity[0] if velocity is None else from_any("velocity", velocity)
    return MotionTerms(**_core.motion_terms(one.arrays(), one.given(), q, v, float(time)))


def replay(
    motions: Any, result: MotionResult, *, problem: int = 0, sample: int = 0, step: float = 1e-4,
    tolerance: float = 1e-6, longest: float = 3.0,
) -> dict[str, Any]:  # fmt: skip
    """Judges a stored motion from its events by small time steps [s] of the reference, without laws of
    contacts or event location: pieces compared, skipped, unsettled, differing; jumps,
    differing_jumps; worst difference beyond step_error.

    Errors: InvalidInput if the sample's events were not stored (keep_samples, keep_events).
    """
    one = _motions(motions)[problem]
    arrays = {
        name: np.ascontiguousarray(value[problem : problem + 1])
        for name, value in result.to_dict().items()
        if isinstance(value, np.ndarray)
    }
    sizes = {
        "samples": arrays["end"].shape[1], "positions": arrays["position"].shape[2],
        "velocities": arrays["velocity"].shape[2], "contacts": arrays["load"].shape[2],
        "kept": arrays["state"].shape[1], "grid_points": arrays["state"].shape[2],
        "event_rows": arrays["event_kind"].shape[2],
    }  # fmt: skip
    return _core.replay_motion(
        one.arrays(), one.given(), arrays, sizes, int(sample), float(step), float(tolerance), float(longest)
    )
