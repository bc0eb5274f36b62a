"""Whether measured outcomes of impacts lie in the sampled sets."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from typing import Any

import numpy as np

from . import _core, _parts
from ._arrays import from_any, refuse
from ._results import Result, result
from .problems import Problems, given_problems

FILE_ARRAYS = ("mass_matrix", "normal_jacobian", "tangent_jacobian", "friction", "velocity")


@result
class ImpactFloor(Result):
    """floor (n): least distance of any impulse in the friction cones from what was measured, NaN where
    the program was not solved; floor_impulse (n, d m) [N s]; floor_status, floor_residual (n)."""

    def _summary(self) -> str:
        return f"{len(self.floor)} impacts, median floor {np.nanmedian(self.floor):.3g}"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Measured(Result):
    """Impacts of a file, v+ as measured (n, nv), its covariance (n, nv, nv) or None, and names."""

    problems: Problems
    velocity: np.ndarray
    covariance: np.ndarray | None
    names: tuple[str, ...]

    def _summary(self) -> str:
        return f"{len(self.velocity)} impacts"


def read_measured(path: str | os.PathLike[str]) -> Measured:
    """Impact problems of an HDF5 file, as `carom impact` takes it, with what was measured. Needs h5py.
    Errors: InvalidInput for shapes and numbers."""
    with _parts.need_h5py().File(path, "r") as file:
        missing = [name for name in (*FILE_ARRAYS, "measured_velocity") if name not in file]
        if missing:
            raise refuse(str(path), f"without {missing[0]}", "must have it")
        arrays = [file[name][:].astype(float) for name in FILE_ARRAYS]
        v = file["measured_velocity"][:].astype(float)
        sigma = file["measured_covariance"][:].astype(float) if "measured_covariance" in file else None
        names = tuple(file["name"].asstr()[:]) if "name" in file else ()
    problems = Problems.of(*arrays, name=pathlib.Path(path).stem)
    problems.validate()
    outcomes(problems, v, sigma)
    return Measured(problems, v, sigma, names)


def outcomes(batch: Problems, measured: Any, sigma: Any = None) -> dict[str, np.ndarray]:
    """The arrays of what was measured. Errors: InvalidInput for shapes."""
    n, nv = len(batch), batch.velocities
    v = from_any("measured", measured)
    if v.shape not in ((nv,), (n, nv)):
        raise refuse("measured", f"of shape {v.shape}", f"must be ({n}, {nv})")
    arrays = {"measured_velocity": np.ascontiguousarray(np.broadcast_to(v, (n, nv)))}
    if sigma is None:
        return arrays
    s = from_any("sigma", sigma)
    if s.shape in ((), (nv,), (n, nv)):
        if not (s > 0).all():
            raise refuse("sigma", f"{s.min():.9g}", "must be > 0")
        s = np.broadcast_to(s, (n, nv))[:, :, None] ** 2 * np.eye(nv)
    elif s.shape not in ((n, nv, nv), (nv, nv)):
        raise refuse("sigma", f"of shape {s.shape}", f"must be ({n}, {nv}), or a covariance ({n}, {nv}, {nv})")
    arrays["measured_covariance"] = np.ascontiguousarray(np.broadcast_to(s, (n, nv, nv)))
    return arrays


def floor(problems: Any, measured: Any, sigma: Any = None, *, threads: int = 0) -> ImpactFloor:
    """How close any impulse in the friction cones comes to what was measured, whatever the law. A large
    floor says that geometry, mass or contacts are wrong.

    problems: Problems, or a model's name. measured: v+ (n, nv). sigma: standard deviations (n, nv) or
    covariances (n, nv, nv) of it; None: distances are |.|_M over |v-|_M. Errors: InvalidInput.
    """
    batch = given_problems((problems,), False)
    return ImpactFloor(**_core.impact_floor(batch.arrays(), *batch.sizes(), outcomes(batch, measured, sigma), threads))
