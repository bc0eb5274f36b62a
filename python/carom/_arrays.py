"""Arguments of a call as contiguous NumPy arrays, with the same number of problems in each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from .errors import InvalidInput

_CPU = (1, 3, 11, 13)  # DLPack's host memories: plain, pinned by CUDA, ROCm, managed


def refuse(
    field: str, value: str, rule: str, relation: str = "is", index: Sequence[int] = (), problem: int | None = None
) -> InvalidInput:
    """The refusal in the library's words."""
    try:
        _core.refuse(field, list(map(int, index)), problem, relation, value, rule)
    except InvalidInput as refusal:
        return refusal.with_traceback(None)
    raise AssertionError("unreachable")


def from_any(field: str, value: Any, dtype: Any = np.float64, strict: bool = False) -> np.ndarray:
    """A C-ordered array of `dtype`: the caller's memory if it already is one, otherwise a copy.

    strict refuses the copy. Errors: InvalidInput for values that are not real numbers, for device memory,
    and for a torch tensor with requires_grad, whose gradient would be lost.
    """
    if getattr(value, "requires_grad", False) is True:
        raise refuse(field, "a tensor with requires_grad", "gradients are not taken: call .detach()")
    if not isinstance(value, (np.ndarray, np.generic)) and hasattr(value, "__dlpack_device__"):
        if int(value.__dlpack_device__()[0]) not in _CPU:
            raise refuse(field, "memory of a device", "copy it to the host first", "lives in")
        value = np.from_dlpack(value)
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise refuse(field, "masked numbers", "must not: fill them first", "has")
    if hasattr(value, "toarray"):  # of SciPy: NumPy takes it for one object
        raise refuse(field, "a sparse matrix", "must be dense: call .toarray()")
    try:
        array = np.asarray(value)
    except ValueError:  # rows of several lengths
        raise refuse(field, "not an array", "all rows must have the same length") from None
    except RuntimeError as error:  # a list of tensors, one of which has a gradient
        raise refuse(field, "not an array", str(error)) from None
    if array.dtype.kind not in "fiub":
        raise refuse(field, f"of type {array.dtype}", "must be real numbers")
    if array.dtype == dtype and array.flags.c_contiguous:
        return array
    if strict:
        raise refuse(
            field,
            f"{array.dtype}{'' if array.flags.c_contiguous else ', not in C order'}",
            f"must be {np.dtype(dtype)} in C order, since strict=True refuses copies",
        )
    if np.dtype(dtype).kind in "iu" and array.dtype.kind == "f":
        if not np.array_equal(array, np.trunc(array)):
            raise refuse(field, f"of type {array.dtype}", "must be integers")
    return np.ascontiguousarray(array, dtype=dtype).reshape(array.shape)  # which makes (1) of ()


class Given(dict[str, Any]):
    """Arrays by name, with the axis of problems first. without_axis: names of those that were given
    without this axis; scalars: names of those for which one number was given for all rows."""

    without_axis: frozenset[str] = frozenset()
    scalars: frozenset[str] = frozenset()


def require_symmetric(field: str, matrices: np.ndarray, tolerance: float = 1e-9) -> None:
    """Refuses matrices, the last two axes, that are not symmetric to the tolerance, relative to an entry
    or to the root of the product of its diagonal entries."""
    other = np.swapaxes(matrices, -1, -2)
    if np.array_equal(matrices, other):
        return
    with np.errstate(invalid="ignore"):  # not a number is a problem's own matter
        size = np.sqrt(np.abs(np.diagonal(matrices, axis1=-2, axis2=-1)))
        scale = np.maximum(np.maximum(np.abs(matrices), np.abs(other)), size[..., :, None] * size[..., None, :])
        apart = np.abs(matrices - other) > tolerance * scale
    if apart.any():
        place = tuple(map(int, np.argwhere(apart)[0]))
        mirror = (*place[:-2], place[-1], place[-2])
        value, opposite = ", ".join(map(str, place)), ", ".join(map(str, mirror))
        raise refuse(f"{field}[{value}]", f"{matrices[place]:g}", f"must be equal to {field}[{opposite}], {matrices[mirror]:g}")


def _shapes(letters: tuple[str | int, ...]) -> str:
    shared = ", ".join(map(str, letters)) + ("," if len(letters) == 1 else "")
    return f"must be ({', '.join(['n', *map(str, letters)])}), or ({shared}) for all problems"


class Batch:
    """The arrays of one call. A letter stands for the same extent in all of them. The axis of problems
    comes first: its length is n, or 1 (shared by all problems), or it is left out (likewise)."""

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self.extents: dict[str, int] = {}
        self._given: dict[str, np.ndarray] = {}
        self._ranks: dict[str, int] = {}
        self._problems: dict[str, int] = {}

    def add(self, field: str, value: Any, *letters: str | int, dtype: Any = np.float64) -> None:
        array = from_any(field, value, dtype, self.strict)
        if array.ndim not in (len(letters), len(letters) + 1):
            raise refuse(field, f"of shape {array.shape}", _shapes(letters))
        shape = array.shape[array.ndim - len(letters) :]
        for letter, extent in zip(letters, shape):
            known = letter if isinstance(letter, int) else self.extents.setdefault(letter, extent)
            if known != extent:
                where = "" if isinstance(letter, int) else f", with {letter} = {known} as in the other arrays"
                raise refuse(field, f"of shape {array.shape}", _shapes(letters) + where)
        if array.ndim > len(letters):
            self._problems[field] = array.shape[0]
        self._given[field] = array
        self._ranks[field] = len(letters)

    def add_symmetric(self, field: str, value: Any, *letters: str, tolerance: float = 1e-9) -> None:
        """letters: of the axes, of which the last one stands for rows and columns."""
        self.add(field, value, *letters, letters[-1])
        require_symmetric(field, self._given[field], tolerance)

    @property
    def problems(self) -> int:
        counts = {count for count in self._problems.values() if count != 1}
        if len(counts) > 1:
            first, *others = sorted(self._problems, key=lambda f: self._problems[f] == 1)
            other = next(f for f in others if self._problems[f] != self._problems[first])
            raise refuse(
                other,
                f"{self._problems[other]} problems",
                f"must have {self._problems[first]} as {first}, or 1",
                "has",
            )
        return counts.pop() if counts else 1

    def given(self) -> Given:
        """Every array with n problems or one."""
        made = Given(
            (field, array[None] if array.ndim == self._ranks[field] else array)
            for field, array in self._given.items()
        )
        made.without_axis = frozenset(
            field for field, array in self._given.items() if array.ndim == self._ranks[field]
        )
        return made

    def arrays(self) -> dict[str, np.ndarray]:
        """Every array with all problems; shared arrays are repeated in memory."""
        n = self.problems
        result = {}
        for field, array in self._given.items():
            if array.ndim == self._ranks[field]:
                array = array[None]
            if array.shape[0] != n:
                array = np.ascontiguousarray(np.broadcast_to(array, (n, *array.shape[1:])))
            result[field] = array
        return result
