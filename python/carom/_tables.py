"""Results as tables of pandas and xarray."""

from __future__ import annotations

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
