"""Results as tables of pandas and xarray."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._optional import needed


def impact_xarray(run: Any) -> Any:
    xarray = needed("xarray", "to_xarray", "tables")
    samples = run.samples
    first = run.settings["first_sample"]
    data = {
        name: (("problem", "sample", *more), getattr(samples, name))
        for name, more in {
            "velocity": ("velocity_index",),
            "impulse": ("row",),
            "residual": (),
            "modes": (),
            "steps": (),
            "status": (),
        }.items()
    }
    coordinates: dict[str, Any] = {"sample": first + np.arange(samples.status.shape[1])}
    for name, values in run.problems.parameters.items():
        coordinates[name] = ("problem", np.asarray(values))
    attributes = {key: str(value) for key, value in run.settings.items()}
    data_set = xarray.Dataset(data, coords=coordinates, attrs=attributes)
    data_set["velocity"].attrs["units"] = "m/s, rad/s"
    data_set["impulse"].attrs["units"] = "N s"
    return data_set


def impact_pandas(run: Any) -> Any:
    pandas = needed("pandas", "to_pandas", "tables")
    samples = run.samples
    n, s = samples.status.shape
    index = pandas.MultiIndex.from_product(
        [range(n), run.settings["first_sample"] + np.arange(s)], names=["problem", "sample"]
    )
    table: dict[str, Any] = {}
    for letter, array in (("v", samples.velocity), ("p", samples.impulse)):
        for j in range(array.shape[2]):
            table[f"{letter}{j}"] = array[:, :, j].ravel()
    table["residual"] = samples.residual.ravel()
    table["steps"] = samples.steps.ravel()
    kinds, places = np.unique(samples.modes.ravel(), return_inverse=True)
    words = [
        _core.mode_words(int(kind), run.problems.contacts, run.problems.dimension) for kind in kinds
    ]
    table["modes"] = pandas.Categorical.from_codes(places.astype(np.int64), words)
    names = [word for word, _ in _core.enumerations()["TrajectoryStatus"]]
    table["status"] = pandas.Categorical.from_codes(samples.status.ravel().astype(int), names)
    return pandas.DataFrame(table, index=index)


def _rows(batch: Any) -> tuple[tuple[str, ...], tuple[int, ...], dict[str, np.ndarray]]:
    """Names and extents of a row's place, and the arrays that have such rows."""
    arrays = {name: value for name, value in batch.to_dict().items() if isinstance(value, np.ndarray) and value.ndim}
    known = next(arrays[name] for name in ("end", "verdict", "status") if name in arrays)
    extents = known.shape[: len(batch._axes)]
    return batch._axes, extents, {
        name: value for name, value in arrays.items() if value.shape[0] == extents[0] and name not in batch._apart
    }


def batch_xarray(batch: Any) -> Any:
    xarray = needed("xarray", "to_xarray", "tables")
    axes, extents, arrays = _rows(batch)
    data = {}
    for name, value in arrays.items():
        leads = len(axes) if value.shape[: len(axes)] == extents else 1
        data[name] = ((*axes[:leads], *(f"{name}_{k}" for k in range(leads, value.ndim))), value)
    return xarray.Dataset(data, coords={axis: np.arange(extent) for axis, extent in zip(axes, extents)})


def batch_pandas(batch: Any, words: Mapping[str, Any]) -> Any:
    """words: the enumerations of arrays of whole numbers by these names."""
    pandas = needed("pandas", "to_pandas", "tables")
    axes, extents, arrays = _rows(batch)
    table: dict[str, Any] = {}
    for name, value in arrays.items():
        inner = value.shape[len(axes) :]
        if value.shape[: len(axes)] != extents or not 0 < np.prod(inner, dtype=int) <= 64:
            continue
        flat = value.reshape((-1, *inner))
        if not inner and name in words and value.dtype.kind in "iu":
            members = sorted(words[name])
            places = np.searchsorted([int(member) for member in members], flat)
            table[name] = pandas.Categorical.from_codes(places, [member.name for member in members])
            continue
        for place in np.ndindex(*inner):
            column = (slice(None), *place)
            table[f"{name}[{','.join(map(str, place))}]" if inner else name] = flat[column]
    index = pandas.MultiIndex.from_product([range(extent) for extent in extents], names=axes)
    return pandas.DataFrame(table, index=index if len(axes) > 1 else pandas.RangeIndex(extents[0], name=axes[0]))
