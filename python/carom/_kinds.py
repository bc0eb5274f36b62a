"""The rows of each kind of dataset: columns computed from drawn parameters."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import _certified_rows, _core, _draw, compliant, equilibrium, exam, impact, motion, problems, stability
from ._arrays import refuse

Columns = dict[str, np.ndarray]
Parameters = Mapping[str, np.ndarray]
_RARE = 1e-3  # values out of range that may be expected in a whole dataset


def _with_velocities(made: problems.Problems, drawn: Parameters) -> problems.Problems:
    """Components v.0, v.1, ... of the velocity before the impact replaced."""
    velocity = made.velocity.copy()
    for name, values in drawn.items():
        place = name[2:]
        if not place.isdigit() or int(place) >= made.velocities:
            raise refuse(f"draw.{name}", "no velocity", f"are v.0 to v.{made.velocities - 1}")
        velocity[:, int(place)] = values
    return dataclasses.replace(made, velocity=velocity)


def impact_problems(source: Mapping[str, Any], drawn: Parameters, count: int) -> problems.Problems:
    velocities = {name: values for name, values in drawn.items() if name.startswith("v.")}
    rest = {name: values for name, values in drawn.items() if name not in velocities}
    if "random" in source:
        made = _certified_rows.two_contacts(rest)
    elif "model" in source:
        made = problems.model(source["model"], n=count, **rest)
    else:
        made = problems.read_json(source["file"])
        if len(made) != 1:
            raise refuse("source.file", f"{len(made)} problems", "must have one", "has")
        unknown = set(rest) - {"friction"}
        if unknown:
            raise refuse(f"draw.{sorted(unknown)[0]}", "no parameter", "of a file: friction, v.0, ...")
        made = made[np.zeros(count, dtype=np.int64)]
        if "friction" in rest:
            friction = np.repeat(rest["friction"][:, None], made.contacts, axis=1)
            made = dataclasses.replace(made, friction=friction)
    return _with_velocities(made, velocities) if velocities else made


def _impact_settings(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Of the whole run: what is left open is decided here, once, and kept in the dataset."""
    given = dict(spec["settings"])
    for name in ("first_sample", "first_problem", "bad_problem", "keep_samples", "keep_paths",
                 "epsilon", "threads"):  # fmt: skip
        if name in given:
            raise refuse(f"impact.{name}", repr(given[name]), "is the dataset's own matter")
    chosen = problems.run_settings(given)
    for name in ("first_problem", "bad_problem", "keep_samples", "keep_paths", "threads", "epsilon"):
        chosen.pop(name, None)
    return chosen


def _smallest(modes: np.ndarray, contacts: int) -> np.ndarray:
    bits = 2 * contacts
    kind = next((kind for kind in (np.uint8, np.uint16, np.uint32) if bits <= 8 * kind().itemsize), np.uint64)
    return modes.astype(kind)


def _impact(spec: Mapping[str, Any], drawn: Parameters, first: int, count: int, threads: int) -> Columns:
    more: Columns = {}
    if "mujoco" in spec["source"]:
        from ._robot_rows import robot_problems

        made, more = robot_problems(spec["source"], drawn, count)
    else:
        made = impact_problems(spec["source"], drawn, count)
    run = impact.sample(
        made, **spec["settings"], first_problem=first, keep_samples=-1, bad_problem="isolate",
        threads=threads, epsilon=0.0,
    )  # fmt: skip
    samples = run.samples
    kept = np.float32 if spec["float"] == "float32" else np.float64
    return {
        **made.arrays(),
        **more,
        "velocity_after": samples.velocity.astype(kept, copy=False),
        "impulse": samples.impulse.astype(kept, copy=False),
        "residual": samples.residual,
        "modes": _smallest(samples.modes, made.contacts),
        "steps": samples.steps,
        "status": samples.status,
        "problem_status": run.summary["status"].copy(),
    }


def _impact_set(spec: Mapping[str, Any], drawn: Parameters, first: int, count: int, threads: int) -> Columns:
    """Exact sets of outcomes compared with sampled ones."""
    sampled = _impact(spec, drawn, first, count, threads)
    sets = _certified_rows.outcome_sets(impact_problems(spec["source"], drawn, count))
    worst = sampled.pop("residual").max(axis=1)
    for name in ("impulse", "steps", "problem_status"):
        del sampled[name]
    return {**sampled, **sets, "max_residual": worst}


def _equilibrium(spec: Mapping[str, Any], drawn: Parameters, first: int, count: int, threads: int) -> Columns:
    postures = equilibrium.model(spec["source"]["model"], n=count, **drawn)
    settings = dict(spec["settings"], threads=threads)
    inputs = {k: v for k, v in postures.arrays().items() if v.size}
    if postures.dimension == 2:
        found = equilibrium.planar(postures, **settings).to_dict()
        return inputs | {k: v for k, v in found.items() if v is not None and v.size}
    directions = settings.pop("directions")
    angle = 2.0 * np.pi * np.arange(directions) / directions
    wanted = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    found = equilibrium.support(postures, directions=wanted, **settings).to_dict()
    return inputs | {"direction": np.repeat(wanted[None], count, axis=0)} | found


def _step(spec: Mapping[str, Any], drawn: Parameters, first: int, count: int, threads: int) -> Columns:
    settings = dict(spec["settings"])
    run = {name: settings.pop(name) for name in ("dt", "steps", "stride") if name in settings}
    ran = compliant.worlds(
        spec["source"]["scenario"], drawn, n=count, bad_problem="isolate", threads=threads, **run,
        **settings,
    )  # fmt: skip
    columns = {
        name: getattr(ran, name)
        for name in ("position", "velocity", "force", "displacement", "energy_start", "energy",
                     "max_residual", "failed", "steps_taken", "status")
    }  # fmt: skip
    if len(ran.frame_time):
        columns["state"] = np.ascontiguousarray(ran.frame_state.transpose(1, 0, 2))
        columns["time"] = np.repeat(ran.frame_time[None], count, axis=0)
    return columns


def _stability(spec: Mapping[str, Any], drawn: Parameters, first: int, count: int, threads: int) -> Columns:
    stances = stability.model(spec["source"]["model"], n=count, **drawn)
    found = stability.analyse(stances, **spec["settings"], first_problem=first, threads=threads)
    columns = {f"stance_{name}": value for name, value in stances.to_dict().items()}
    return columns | {name: value for name, value in found.to_dict().items() if name != "problem"}


def _motion(spec: Mapping[str, Any], drawn: Parameters, first: int, count: int, threads: int) -> Columns:
    starts = motion.model(spec["source"]["model"], n=count, **drawn)
    ran = motion.simulate(
        starts, **spec["settings"], seed=spec["seed"], first_problem=first, threads=threads
    )
    columns = {f"start_{name}": getattr(starts, name) for name in ("parameters", "position", "velocity")}
    return columns | {name: value for name, value in ran.to_dict().items() if isinstance(value, np.ndarray)}


Rows = Callable[[Mapping[str, Any], Parameters, int, int, int], Columns]
ROWS: dict[str, Rows] = {
    "impact": _impact,
    "equilibrium": _equilibrium,
    "step": _step,
    "stability": _stability,
    "motion": _motion,
    "impact_set": _impact_set,
    "exam": _certified_rows.exam_rows,
    "tosses": _certified_rows.toss_rows,
}

def _known(spec: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The source's key, and the parameters that may be drawn."""
    kind, source = spec["kind"], spec["source"]
    allowed = {
        "impact": ("model", "file", "mujoco", "random"), "impact_set": ("model", "file", "random"),
        "step": ("scenario",), "exam": ("groups",), "tosses": ("measured",),
    }.get(kind, ("model",))  # fmt: skip
    keys = [key for key in source if key in allowed]
    if len(keys) != 1 or (len(source) != 1 and keys != ["mujoco"]):
        raise refuse("source", str(sorted(source)), "must be one of " + ", ".join(allowed))
    key = keys[0]
    if key == "mujoco":
        return key, {}
    if key == "file":
        return key, {}
    choices = {"random": ["two_contacts"], "measured": ["cube_tosses"], "groups": list(exam.GROUPS)}.get(key)
    if choices:
        given = source[key] if key == "groups" else [source[key]]
        for each in given or ["none"]:
            if each not in choices:
                raise refuse(f"source.{key}", repr(each), "must be one of " + ", ".join(choices))
        if key == "measured" and spec["problems"] > (most := _certified_rows.count_of_tosses()):
            raise refuse("dataset.problems", str(spec["problems"]), f"must be at most {most}")
        known: Mapping[str, problems.Parameter] = _certified_rows.RANDOM_PARAMETERS if key == "random" else {}
        return key, known
    lists: Mapping[str, Callable[[], Mapping[str, Any]]] = {
        "impact": problems.models, "impact_set": problems.models, "equilibrium": equilibrium.models, "stability": stability.models,
        "step": compliant.scenarios, "motion": motion.models,
    }  # fmt: skip
    listed = lists[kind]()
    if source[key] not in listed:
        raise refuse(f"source.{key}", repr(source[key]), "must be one of " + ", ".join(listed))
    return key, listed[source[key]].parameters


def resolved_settings(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with every default in them. Errors: InvalidInput naming the unknown."""
    kind = spec["kind"]
    if kind in ("impact", "impact_set"):
        return _impact_settings(spec)
    if kind == "exam":
        table: list[dict[str, Any]] = []
    elif kind == "tosses":
        table = [{"name": "samples", "default": 1024}, {"name": "kept", "default": 256}]
    elif kind == "equilibrium":
        planar = equilibrium.models()[spec["source"]["model"]].dimension == 2
        table = _core.planar_settings() if planar else _core.spatial_settings()
    elif kind == "step":
        table = _core.compliant_settings()
    elif kind == "motion":
        table = [entry for entry in _core.motion_settings() if entry["name"] not in
                 ("seed", "first_sample", "first_problem")]  # fmt: skip
    else:
        table = [entry for entry in _core.stability_settings() if entry["name"] != "first_problem"]
    defaults = {entry["name"]: entry["default"] for entry in table if entry["name"] != "threads"}
    if kind == "step":
        scenario = compliant.scenarios()[spec["source"]["scenario"]]
        defaults |= {"dt": scenario.step_size, "steps": scenario.steps, "stride": 0}
    if kind == "motion":
        known = motion.models()[spec["source"]["model"]]
        for name in ("duration", "coefficient"):
            defaults[name] = getattr(known, name)
    unknown = set(spec["settings"]) - set(defaults)
    if unknown:
        field = f"{kind}.{sorted(unknown)[0]}"
        raise refuse(field, "no setting", "known are " + ", ".join(defaults))
    return {**defaults, **spec["settings"]}


def check_source(spec: dict[str, Any]) -> None:
    """Errors: InvalidInput for an unknown source, parameter or value out of range."""
    key, parameters = _known(spec)
    if key == "mujoco":
        from . import _robot_rows

        spec["source"] = _robot_rows.checked(spec["source"])
        _robot_rows.check_draws(spec["source"], spec["draw"])
        return
    for name in spec["draw"]:
        free = spec["kind"] in ("impact", "impact_set") and key != "random" and (name.startswith("v.") or key == "file")
        if name not in parameters and not free:
            raise refuse(f"draw.{name}", "no parameter", "known are " + ", ".join(parameters))
        if name in parameters:
            known = parameters[name]
            _check_range(spec, name, known.minimum, known.maximum, known.minimum_open)
        elif name == "friction":
            _check_range(spec, name, 0.0, math.inf, False)


def _check_range(spec: Mapping[str, Any], name: str, low: float, high: float, low_open: bool) -> None:
    """Before hours of work: a part with a value out of range could not be made."""
    share = _draw.outside(spec["draw"][name], low, high, low_open)
    if share * spec["problems"] > _RARE:
        least = f"{'>' if low_open else '>='} {low:g}"
        rule = least + ("" if math.isinf(high) else f" and <= {high:g}")
        raise refuse(f"draw.{name}", str(spec["draw"][name]), f"must stay {rule}; clip = [low, high] cuts it off")


def checked_spec(kind: Any) -> str:
    if kind not in ROWS:
        raise refuse("dataset.kind", repr(kind), "must be one of " + ", ".join(ROWS))
    return str(kind)
