"""Sampled impacts of many problems of several shapes: lists of Problems, and states of a robot."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import refuse
from ._results import Result, TrajectoryStatus, result
from ._states import StateImpacts
from .problems import (
    MAX_MODE_CONTACTS, ROBOT_FINE_DIRECTIONS, ROBOT_TURNS, Problems, letters, robot_settings,
)  # fmt: skip

_WORDS = ("separating", "sticking", "sliding")  # of two bits a contact; 3 slides the other way


def _contact_modes(run: Any, place: int) -> tuple[np.ndarray, np.ndarray]:
    """Modes (k, m) of the contacts of a problem, and how often each row of them was met."""
    m = run.problems.contacts
    if m <= MAX_MODE_CONTACTS:
        modes, counts = run.mode_counts[place]
        return (modes.astype(np.uint64)[:, None] >> (2 * np.arange(m, dtype=np.uint64)) & np.uint64(3)).astype(np.int64), counts
    # They fit no word: from the velocities that are kept.
    ended = run.samples.status[place] == TrajectoryStatus.terminated
    normal, tangent = run.problems[place].contact_velocity(run.samples.velocity[place][ended])
    tolerance = run.settings["mode_tolerance"]
    slip = np.linalg.norm(tangent.reshape(len(normal), m, -1), axis=2)
    modes = np.where(normal > tolerance, 0, np.where(slip <= tolerance, 1, 2))
    return modes, np.ones(len(modes))


@result
class ImpactRuns(Result):
    """Sampled impacts of k problems with different numbers of contacts and velocities.

    runs: an ImpactResult for each group of problems of the same shape. Problem j is number place[j] of run part[j];
    status (k), the worst of all orientations. states: the robot's states (StateImpacts) or None; the runs of state i
    are of_state(i). turned: the runs with the other orientations of the friction polygons."""

    runs: tuple[Any, ...]
    part: np.ndarray
    place: np.ndarray
    status: np.ndarray
    states: Any
    turned: tuple[ImpactRuns, ...] = ()

    def __len__(self) -> int:
        return len(self.status) if self.states is None else len(self.states)

    @property
    def taken(self) -> tuple[str, ...]:
        """For each run in words: contacts, method, friction directions and orientations of the friction polygon."""
        turns = f", {1 + len(self.turned)} turns" if self.turned else ""
        return tuple(
            f"{run.problems.contacts} contacts: {run.settings['method']}, "
            f"{run.settings['friction_directions']} friction directions{turns}" for run in self.runs
        )  # fmt: skip

    def of_state(self, i: int) -> list[tuple[Any, int]]:
        """The run and the place in it of each problem of state i, or of problem i of a list."""
        if self.states is not None:
            return [(self.runs[part], place) for part, place in self.states.of_state(i)]
        if not -len(self) <= i < len(self):
            raise IndexError(f"problem {i} of {len(self)}")
        return [(self.runs[int(self.part[i])], int(self.place[i]))]

    def velocity(self, i: int) -> np.ndarray:
        """The velocities (samples, nv) after the impact of state i, the robot's own, NaN where a sample did
        not end. Islands of a state are drawn apart: sample s has sample s of each."""
        if self.turned and self.of_state(i):
            return np.concatenate([each.velocity(i) for each in (dataclasses.replace(self, turned=()), *self.turned)])
        found = self.of_state(i)
        outcomes = []
        for run, place in found:
            mine = np.array(run.samples.velocity[place])
            mine[run.samples.status[place] != TrajectoryStatus.terminated] = np.nan
            outcomes.append(mine)
        if self.states is None:
            return outcomes[0]
        if not found:
            return np.asarray(self.states.velocity[i : i + 1]) if not self.states.why[i] else self._refused(i)
        after: np.ndarray = self.states.after(i, outcomes)
        return after

    def _refused(self, i: int) -> np.ndarray:
        raise refuse(f"state {i}", self.states.why[i], "has no impact")

    def modes(self, i: int) -> dict[str, dict[str, float]]:
        """Of each contact of state i the shares of samples that leave it separating, sticking, sliding."""
        if self.turned:
            return self._mean_modes(i)
        found: dict[str, dict[str, float]] = {}
        for k, (run, place) in enumerate(self.of_state(i)):
            modes, counts = _contact_modes(run, place)
            total = float(counts.sum())
            for mine, name in zip(modes.T, self._names(i, k, run, place)):
                shares = np.bincount(mine, counts, minlength=4)
                shares[2] += shares[3]
                found[name] = {word: shares[code] / total if total else float("nan")
                               for code, word in enumerate(_WORDS)}  # fmt: skip
        return found

    def _mean_modes(self, i: int) -> dict[str, dict[str, float]]:
        each = [run.modes(i) for run in (dataclasses.replace(self, turned=()), *self.turned)]
        weight = [run.runs[0].settings["samples"] for run in (self, *self.turned)]
        return {name: {word: float(np.average([modes[name][word] for modes in each], weights=weight)) for word in _WORDS}
                for name in each[0]}  # fmt: skip

    def _names(self, i: int, k: int, run: Any, place: int) -> Sequence[str]:
        if self.states is None:
            return run.problems.contact_names or letters(run.problems.contacts)
        part, place = self.states.of_state(i)[k]
        return [self._place_name(row) for row in self.states.part_rows[part][place]]

    def _place_name(self, row: int) -> str:
        """A contact's name; with its number among those of its pair, where there are several."""
        states = self.states
        mine = np.flatnonzero((states.row_state == states.row_state[row]) & (states.row_name == states.row_name[row]))
        name = str(states.row_name[row])
        return name if len(mine) == 1 else f"{name} {int(np.flatnonzero(mine == row)[0]) + 1}"

    def plot(self, i: int = 0, ax: Any = None) -> Any:
        """Which contacts of state i may stay, slip or lift: a bar each. Needs matplotlib."""
        from ._plots import plot_modes

        return plot_modes(self.modes(i), ax)

    def _summary(self) -> str:
        text = f"{len(self.status)} problems in {len(self.runs)} shapes; " + "; ".join(self.taken[:4])
        if self.states is not None:
            text += f"; {len(self.states)} states, {int((~self.states.accepted).sum())} refused"
        return text


def parts_of(arguments: Sequence[Any]) -> tuple[list[Problems], StateImpacts | None] | None:
    """The parts of a ragged batch, and the states they are of; None for what is one batch."""
    if len(arguments) != 1 or isinstance(arguments[0], (Problems, str)):
        return None
    given = arguments[0]
    if isinstance(given, StateImpacts):
        return list(given.parts), given
    if isinstance(given, (list, tuple)) and all(isinstance(each, Problems) for each in given):
        states = getattr(given, "states", None)
        whole = states is not None and [id(each) for each in given] == [id(each) for each in states.parts]
        return list(given), states if whole else None
    return None


def sampled(
    parts: list[Problems], states: StateImpacts | None, sample: Callable[..., Any], settings: dict[str, Any]
) -> ImpactRuns:
    """Samples each part separately. Problems are numbered through all parts, so that no two have the same random numbers.

    turns: the samples are divided among this number of orientations of the friction polygons. None: 1, but ROBOT_TURNS
    with finer polygons for a robot's states if friction_directions is not given, because the outcomes that one polygon
    misses may be farther away than the set is wide."""
    turns = settings.pop("turns", None)
    chosen = [robot_settings(part, settings, settings.get("backend", "auto")) for part in parts]
    defaults = {each["name"]: each["default"] for each in _core.impact_settings()}
    each_own: list[dict[str, Any]] = [{} for _ in parts]
    count = int(settings.get("samples") or defaults["samples"])
    if turns is None:
        turns = 1
        if states is not None and settings.get("friction_directions") is None:
            turns = min(ROBOT_TURNS, count)
            each_own = [{"friction_directions": ROBOT_FINE_DIRECTIONS} if mine["method"] == "events" else {} for mine in chosen]
    if count < turns:
        raise refuse("turns", str(turns), f"must be at most samples = {count}")
    if turns == 1 or not parts:
        return _once(parts, states, sample, settings, each_own)
    first = int(settings.get("first_sample") or 0)
    ends = [first + count * k // turns for k in range(turns + 1)]
    edges = [2.0 * np.pi / int({**mine, **own}.get("friction_directions") or defaults["friction_directions"])
             for mine, own in zip(chosen, each_own)]  # fmt: skip
    runs = [
        _once([part.turned(edge * k / turns) for part, edge in zip(parts, edges)], states, sample,
              {**settings, "first_sample": ends[k], "samples": ends[k + 1] - ends[k]}, each_own)
        for k in range(turns)
    ]  # fmt: skip
    return dataclasses.replace(runs[0], turned=tuple(runs[1:]), status=np.max([run.status for run in runs], axis=0))


def _once(
    parts: list[Problems], states: StateImpacts | None, sample: Callable[..., Any], settings: dict[str, Any],
    each_own: list[dict[str, Any]],
) -> ImpactRuns:  # fmt: skip
    settings = dict(settings)
    first = int(settings.pop("first_problem", 0))
    runs = []
    for part, own in zip(parts, each_own):
        runs.append(sample(part, first_problem=first, **{**settings, **own}))
        first += len(part)
    sizes = [len(part) for part in parts]
    return ImpactRuns(
        runs=tuple(runs),
        part=np.repeat(np.arange(len(parts)), sizes),
        place=np.concatenate([np.arange(size) for size in sizes]) if sizes else np.zeros(0, dtype=np.int64),
        status=np.concatenate([run.status for run in runs]) if runs else np.zeros(0, dtype=np.int32),
        states=states,
    )
