"""Results: frozen dataclasses over NumPy arrays that the library filled."""

from __future__ import annotations

import dataclasses
import html
import re
from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from . import _core
from ._settings import argument_words
from .errors import SolveError

T = TypeVar("T", bound=type)
R = TypeVar("R", bound="Result")


def _enumeration(name: str, doc: str) -> Any:
    members = {}
    for word, number in _core.enumerations()[name]:
        members[word.replace("-", "_negative")] = number
    made: Any = IntEnum(name, members, module="carom")  # type: ignore[misc]
    made.__doc__ = doc
    return made


Status = _enumeration("Status", "How a problem ended; the values of status arrays.")
TrajectoryStatus = _enumeration("TrajectoryStatus", "How a sample's trajectory ended.")
Smoothness = _enumeration("Smoothness", "Whether an answer has a derivative.")
QpMethod = _enumeration("QpMethod", "Which method gave a QP's answer.")
RowType = _enumeration("RowType", "The kind of a constraint row of a compliant step.")
StabilityVerdict = _enumeration("StabilityVerdict", "Whether a stance is stable.")
CertificateKind = _enumeration("CertificateKind", "Which functions prove a stance stable.")
EnclosureStatus = _enumeration("EnclosureStatus", "What an enclosure proves.")
ImpactAnswer = _enumeration("ImpactAnswer", "Whether an event of an impact can happen.")
JudgeVerdict = _enumeration("JudgeVerdict", "Whether a measured outcome is in its set.")
MotionEnd = _enumeration("MotionEnd", "How a motion ended.")
MotionEventKind = _enumeration("MotionEventKind", "What happened in a motion.")

# Of arrays of whole numbers by these names.
WORDS: dict[str, Any] = {
    "status": Status, "end": MotionEnd, "verdict": StabilityVerdict, "method": QpMethod, "certificate": CertificateKind,
    "sos_status": Status,
}  # fmt: skip


def result(cls: T) -> T:
    """A result's class: its own fields, after those of the library's list of that name, if any. What the list says of
    arrays that the docstring does not name is added to it."""
    listed = _core.tables().get(cls.__name__, {})
    own = cls.__dict__.get("__annotations__", {})
    doc = cls.__doc__ or ""
    more = [f"{name}: {meaning}" for name, meaning in listed.items() if meaning and not re.search(rf"\b{name}\b", doc)]
    if more:
        cls.__doc__ = doc.rstrip() + "\n\n    " + "; ".join(more) + "."
    cls.__annotations__ = {**{name: "np.ndarray" for name in listed}, **own}
    dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
    return cls


class Result:
    """What all results have: arrays as attributes, problem first."""

    if TYPE_CHECKING:  # fields come from the library's lists

        __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

        def __init__(self, **fields: Any) -> None: ...
        def __getattr__(self, name: str) -> np.ndarray: ...

    def to_dict(self) -> dict[str, Any]:
        """Attributes by name; arrays are shared, not copied."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def _summary(self) -> str:
        text = ""
        status = getattr(self, "status", None)
        if isinstance(status, np.ndarray):
            names = {int(number): word for word, number in _core.enumerations()["Status"]}
            values, counts = np.unique(status, return_counts=True)
            shape = " x ".join(map(str, status.shape))
            parts = ", ".join(f"{c} {names.get(int(v), v)}" for v, c in zip(values, counts))
            text = f"{shape} problem{'' if status.size == 1 else 's'}: {parts or 'none'}"
        residual = getattr(self, "residual", None)
        if isinstance(residual, np.ndarray) and np.isfinite(residual).any():
            text += f"; largest residual {np.nanmax(residual):.3g}"
        return text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._summary()})"

    def _repr_html_(self) -> str:
        rows = []
        for name, value in self.to_dict().items():
            if isinstance(value, np.ndarray):
                shown = f"{value.dtype} {value.shape}"
            elif isinstance(value, (tuple, list)):
                shown = f"{len(value)} entries"
            elif isinstance(value, Result):
                shown = repr(value)
            else:
                shown = repr(value)
                shown = shown if len(shown) < 80 else shown[:77] + "..."
            rows.append(f"<tr><td>{html.escape(name)}</td><td>{html.escape(shown)}</td></tr>")
        return f"<b>{html.escape(repr(self))}</b><table>{''.join(rows)}</table>"

    def save(self, path: Any) -> None:
        """Writes everything to an HDF5 file, which carom.load reads. Needs h5py."""
        from ._saved import save

        save(self, path)


class Batched(Result):
    """A result whose arrays have a row for each problem, and along rows' second axis, where there is one,
    for each of what `_axes` names."""

    _axes: ClassVar[tuple[str, ...]] = ("problem",)
    _apart: ClassVar[tuple[str, ...]] = ()  # arrays without such rows
    _arguments: ClassVar[Mapping[str, str]] = {}  # of the call, by the library's names of the arrays

    def _refused(self) -> list[int]:
        bad = np.asarray(self.status) == Status.invalid_input
        return list(map(int, np.flatnonzero(bad.any(axis=tuple(range(1, bad.ndim))))))

    def reasons(self) -> dict[int, str]:
        """Why problems have the status invalid_input: the first number of each that is refused."""
        return self._reasons(self._refused())

    def _reasons(self, problems: list[int]) -> dict[int, str]:
        found = {}
        for p in problems:
            for name, array in getattr(self, "problem", {}).items():
                if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or not array.ndim:
                    continue
                own = array[0 if len(array) == 1 else p]
                absent = -np.inf if name.endswith("lower") else np.inf if name.endswith("upper") else None
                bad = np.argwhere(~np.isfinite(own) if absent is None else ~np.isfinite(own) & (own != absent))
                if len(bad):
                    place = "][".join(map(str, bad[0]))
                    rule = "must be finite" if absent is None else f"must be finite, or {absent} if there is none"
                    text = f"{name}[{place}] of problem {p} is {own[tuple(bad[0])]}: {rule}"
                    found[p] = argument_words(text, name, self._arguments)
                    break
        return found

    def _summary(self) -> str:
        text = super()._summary()
        return text + self._first_reason() if isinstance(getattr(self, "status", None), np.ndarray) else text

    def _first_reason(self) -> str:
        return "".join(f"; {reason}" for reason in self._reasons(self._refused()[:1]).values())

    def to_xarray(self) -> Any:
        """All arrays of it as an xarray.Dataset: dimensions problem (and sample, cost or direction),
        the others by the array's name and their place. Needs xarray."""
        from ._tables import batch_xarray

        return batch_xarray(self)

    def to_pandas(self) -> Any:
        """A row for each problem (and sample, cost or direction): numbers by name, arrays of up to 64
        numbers a row by name and place, statuses in words. Needs pandas."""
        from ._tables import batch_pandas

        return batch_pandas(self, WORDS)


def checked(answer: R, on_error: str, solved: tuple[int, ...] = (0,)) -> R:
    """The answer, or SolveError where on_error is "raise" and a status is none of `solved`."""
    if on_error == "status":
        return answer
    if on_error != "raise":
        from ._arrays import refuse

        raise refuse("on_error", repr(on_error), "must be 'status' or 'raise'")
    status = answer.status
    bad = np.flatnonzero(~np.isin(status.reshape(len(status), -1), solved).all(axis=1))
    if bad.size:
        first = int(bad[0])
        row = np.atleast_1d(status[first]).ravel()
        word = Status(int(row[~np.isin(row, solved)][0])).name
        reason = ""
        if isinstance(answer, Batched) and word == Status.invalid_input.name:
            reason = "".join(f", {text}" for text in answer._reasons([first]).values())
        raise SolveError(
            f"problem {first} is {word}{reason}; {bad.size} of {len(status)} are not solved",
            answer,
            first,
            word,
        )
    return answer
