"""Motions of mechanisms in time through contact and impacts: samples of the solutions of the
differential inclusion (53) of Halm and Posa (docs/algorithms/motion.md)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._arrays import from_any, refuse
from ._results import MotionEnd, MotionEventKind, Result, result
from ._settings import in_words, takes_settings
from .problems import Parameter, columns, parameters_of

__all__ = [
    "MotionEnd", "MotionEventKind", "MotionModel", "MotionResult", "Motions", "model", "models",
    "simulate",
]  # fmt: skip


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
    step_size: float | None = None
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

    def _summary(self) -> str:
        return f"{self.name!r}: {len(self)}"


@result
class MotionResult(Result):
    """end (MotionEnd), time, s, events, impacts, pushes, ambiguous, zeno, residual, ... (n, samples);
    position, velocity at the end; of the kept samples state (n, kept, grid, nq + nv + 1), q, v and s
    on the grid, and event_kind, event_time, ... (n, kept, keep_events)."""

    def _summary(self) -> str:
        values, counts = np.unique(self.end, return_counts=True)
        ends = ", ".join(f"{int(c)} {MotionEnd(int(v)).name}" for v, c in zip(values, counts))
        return ends or "none"


@dataclasses.dataclass(frozen=True)
class MotionModel:
    """A built-in mechanism with a start, and the run settings that are recommended."""

    name: str
    summary: str
    source: str
    dimension: int
    contact_names: tuple[str, ...]
    parameters: Mapping[str, Parameter]
    step_size: float
    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    duration: float
    coefficient: float


def models() -> dict[str, MotionModel]:
    """All built-in motions by name."""
    return {
        entry["name"]: MotionModel(**{**entry, "parameters": parameters_of(entry["parameters"])})
        for entry in _core.motion_models()
    }


def model(name: str, *, n: int | None = None, **parameters: Any) -> Motions:
    """Starts of a built-in mechanism, parameters changed by name; arrays of them make a batch."""
    taken, count = columns(parameters, n)
    lists = {key: column.tolist() for key, column in taken.items()}
    arrays, mechanism, interval = _core.build_motions(name, lists, count)
    known = models()[name]
    given: dict[str, Any] = {
        key: None if value is None or value.size == 0 else value for key, value in arrays.items()
    }
    return Motions(
        **given,
        mechanism=mechanism,
        drive_interval=interval,
        name=name,
        step_size=known.step_size,
        duration=known.duration,
        coefficient=known.coefficient,
    )


@takes_settings(
    _core.motion_settings(), defaults={"step_size": None, "duration": None, "coefficient": None}
)
def simulate(motions: Any, *, backend: str = "auto", **settings: Any) -> MotionResult:
    """Simulates motions from their starts. motions: Motions, or a model's name. step_size, duration
    and coefficient: None takes what the model recommends.

    Errors: InvalidInput naming problem, field and value: NaN, a start in penetration, settings.
    """
    batch = model(motions) if isinstance(motions, str) else motions
    if not isinstance(batch, Motions):
        raise TypeError("takes Motions or a model's name")
    chosen = {name: value for name, value in settings.items() if value is not None}
    for name in ("step_size", "duration", "coefficient"):
        if getattr(batch, name) is not None:
            chosen.setdefault(name, getattr(batch, name))
    names = ("parameters", "position", "velocity", "position_spread", "velocity_spread", "drive")
    arrays = {name: getattr(batch, name) for name in names if getattr(batch, name) is not None}
    knots = 0 if batch.drive is None else batch.drive.shape[1]
    answer = _core.simulate_motions(
        arrays, len(batch), batch.mechanism, knots, batch.drive_interval, in_words(chosen), backend
    )
    return MotionResult(**answer)
