"""Does a rigid body on two frictional contacts return to rest after a small push? (Varkonyi,
"Lyapunov stability analysis of rigid body systems with multiple contacts by sums-of-squares
programming".) Mass and radius of gyration are 1, positions q = (y, z, theta) relative to rest."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core, _parts
from ._arrays import Batch, from_any, refuse
from ._results import Batched, CertificateKind, Result, StabilityVerdict, result
from ._settings import in_words, takes_settings
from .errors import InvalidInput
from .problems import BuiltIn, built_in, columns, json_entries

__all__ = [
    "CertificateKind", "StabilityChart", "StabilityResult", "StabilityVerdict", "StanceModel",
    "Stances", "analyse", "chart", "impact", "impacts_dissipate", "model", "models", "modes",
    "proves_ambiguous", "read", "replayed_growth", "trajectory", "verify",
]  # fmt: skip

_BY_CONTACT = ("l", "h", "slope", "friction", "restitution")
_BY_STANCE = ("force", "angle", "torque")
_NEEDED = ("l", "h", "friction", "angle")
_ABSENT = {"slope": 0.0, "restitution": 0.0, "force": 1.0, "torque": 0.0}  # what a file may leave out


@result
class Stances(Result):
    """n bodies on c contacts: l, h [m], slope [rad], friction, restitution (n, c); force [N], its
    angle from the vertical [rad], torque [N m] (n)."""

    @classmethod
    def of(
        cls, *, l: Any, h: Any, slope: Any = 0.0, friction: Any, restitution: Any = 0.0,
        force: Any = 1.0, angle: Any = 0.0, torque: Any = 0.0,
    ) -> Stances:  # fmt: skip
        """From arrays; a number holds for all contacts, or all stances."""
        batch = Batch()
        batch.add("l", l, "c")
        c = batch.extents["c"]
        for field, value in zip(_BY_CONTACT[1:], (h, slope, friction, restitution)):
            batch.add(field, np.full(c, value) if np.ndim(value) == 0 else value, "c")
        for field, value in zip(_BY_STANCE, (force, angle, torque)):
            batch.add(field, value)
        return cls(**batch.arrays())

    def validate(self) -> None:
        """Errors: InvalidInput naming the stance, the field, the contact and the value."""
        _core.validate_stances(self.to_dict(), len(self), self.contacts)

    def __len__(self) -> int:
        return len(self.l)

    @property
    def contacts(self) -> int:
        return int(self.l.shape[1])

    def __getitem__(self, i: int) -> Stances:
        if not -len(self) <= i < len(self):
            raise IndexError(f"stance {i} of {len(self)}")
        i %= len(self)
        return Stances(**{k: np.ascontiguousarray(v[i : i + 1]) for k, v in self.to_dict().items()})

    def _summary(self) -> str:
        return f"{len(self)} on {self.contacts} contacts"


@result
class StabilityResult(Batched):
    """verdict (n), of carom.stability.StabilityVerdict, with its proof: certificate and its numbers
    s, kappa, margin (n), coefficients (n, 24); or a start (n, 6) from which the motion grows;
    force_margin [N], ambiguous_modes, paradox, growth, events (n); sos_status, sos_residual,
    sos_iterations (n) of methods "sos" and "single". problem: the stances' arrays."""

    problem: dict[str, Any] = dataclasses.field(default_factory=dict)

    def _refused(self) -> list[int]:
        bad: list[int] = np.flatnonzero(self.verdict == StabilityVerdict.invalid_input).tolist()
        return bad

    def _reasons(self, problems: list[int]) -> dict[int, str]:
        if not problems or not self.problem:
            return {}
        n, c = self.problem["l"].shape
        found: dict[Any, str] = _core.stance_refusals(self.problem, n, c, problems)
        return found

    def verdicts(self) -> dict[str, int]:
        """How many stances have each verdict."""
        values, counts = np.unique(self.verdict, return_counts=True)
        return {StabilityVerdict(int(v)).name: int(c) for v, c in zip(values, counts)}

    def _summary(self) -> str:
        text = ", ".join(f"{count} {word}" for word, count in self.verdicts().items()) or "none"
        return text + self._first_reason()


@dataclasses.dataclass(frozen=True)
class StanceModel(BuiltIn):
    """A built-in stance; axes: the parameters that its source's chart varies, with ranges."""

    axes: tuple[tuple[str, float, float], ...]


def models() -> dict[str, StanceModel]:
    """All built-in stances by name."""
    return built_in(StanceModel, _core.stance_models())


def model(name: str, *, n: int | None = None, **parameters: Any) -> Stances:
    """Stances of a built-in model, parameters changed by name; arrays of them make a batch."""
    taken, count = columns(parameters, n)
    lists = {key: column.tolist() for key, column in taken.items()}
    return Stances(**_core.build_stances(name, lists, count))


def read(path: Any) -> Stances:
    """Stances of a file that `carom stability` takes: JSON, or HDF5 data sets l, h, slope, friction,
    restitution (n, c), force, angle, torque (n), also below /stance of its own output.

    Errors: InvalidInput naming the file, the field and the stance; FileNotFoundError.
    """
    with open(path, "rb") as file:
        is_hdf5 = file.read(8) == b"\x89HDF\r\n\x1a\n"
    columns = _hdf5_columns(path) if is_hdf5 else _json_columns(path)
    for field in _NEEDED:
        if field not in columns:
            raise refuse(f"{path}: {field}", "missing", "must be there")
    try:
        stances = Stances.of(**columns)
        stances.validate()
    except InvalidInput as error:
        raise InvalidInput(
            f"{path}: {error}", error.field, error.index, error.problem, str(error.value), error.rule
        ) from None
    return stances


def _hdf5_columns(path: Any) -> dict[str, Any]:
    h5py = _parts.need_h5py()
    with h5py.File(path, "r") as file:
        group = file["stance"] if file.attrs.get("kind") == "stability" else file
        odd = sorted(set(group) - {"name", *_BY_CONTACT, *_BY_STANCE})
        if odd:
            raise refuse(f"{path}: {odd[0]}", "no data set of stances", "must be one")
        return {field: item[...] for field, item in group.items() if field != "name"}


def _json_columns(path: Any) -> dict[str, Any]:
    entries = json_entries(path)
    counts = {len(entry.get("contacts", ())) for entry in entries}
    if len(counts) != 1:
        raise refuse(f"{path}: contacts", "of several numbers", "read them one number at a time", "are")
    columns: dict[str, Any] = {}
    for i, entry in enumerate(entries):
        known = {field: entry.get(field, _ABSENT.get(field)) for field in _BY_STANCE}
        for field in _BY_CONTACT:
            known[field] = [c.get(field, _ABSENT.get(field)) for c in entry["contacts"]]
        for field, value in known.items():
            if value is None or (isinstance(value, list) and None in value):
                raise refuse(f"{path}: {field} of stance {i}", "missing", "must be there")
            columns.setdefault(field, []).append(value)
    return columns


def _stances(given: Any) -> Stances:
    if isinstance(given, str):
        return model(given)
    if not isinstance(given, Stances):
        raise TypeError("takes Stances or a model's name")
    return given


def _one(given: Any) -> tuple[dict[str, np.ndarray], int]:
    stances = _stances(given)
    if len(stances) != 1:
        raise refuse("stances", str(len(stances)), "must be one: give stances[i]")
    return stances.to_dict(), stances.contacts


@takes_settings(_core.stability_settings())
def analyse(
    stances: Any, *, backend: str = "auto", workspace: Any = None, **settings: Any
) -> StabilityResult:
    """Verdicts of stances on two contacts, each with its proof or its counterexample. A stance with a
    refused number has the verdict invalid_input; StabilityResult.reasons() says why. Errors: InvalidInput
    for settings and shapes."""
    batch = _stances(stances)
    problem = batch.to_dict()
    answer = _core.analyse_stability(
        problem, len(batch), batch.contacts, in_words(settings), backend, workspace
    )
    return StabilityResult(**answer, problem=problem)


def verify(stances: Any, found: StabilityResult, *, threads: int = 0) -> np.ndarray:
    """Judges the certificates again in exact arithmetic: True (n) where one proves stability."""
    batch = _stances(stances)
    verified: np.ndarray = _core.verify_certificates(
        batch.to_dict(), len(batch), batch.contacts, found.to_dict(), threads
    )
    return np.asarray(verified, dtype=bool)


def replayed_growth(stance: Any, start: Any, events: int = 20000) -> float:
    """The largest growth of the motion from start (6), simulated again with 60 decimal digits."""
    arrays, contacts = _one(stance)
    return float(_core.replayed_growth(arrays, contacts, _numbers("start", start, 6), int(events)))


def _numbers(field: str, value: Any, count: int) -> list[float]:
    array: np.ndarray = from_any(field, value)
    if array.shape != (count,):
        raise refuse(field, f"of shape {array.shape}", f"must be ({count},)")
    return [float(number) for number in array]


def modes(stance: Any) -> list[dict[str, Any]]:
    """All contact modes of one stance: word, admissible, solvable, consistent, acceleration, forces
    and margin (section II.C)."""
    return _core.contact_modes(*_one(stance))


def impact(stance: Any, contact: int, velocity: Any) -> dict[str, Any]:
    """The impact of a contact, 0 first, from a velocity (3) that approaches (15)-(21)."""
    return _core.stance_impact(*_one(stance), int(contact), _numbers("velocity", velocity, 3))


def impacts_dissipate(stance: Any) -> bool:
    """Whether no single impact creates kinetic energy."""
    return _core.impacts_dissipate(*_one(stance))


def proves_ambiguous(stance: Any, word: str) -> bool:
    """Whether it is certain, in exact arithmetic, that mode `word` (letters of FSPN, one a contact)
    makes the equilibrium of one stance ambiguous."""
    return bool(_core.proves_ambiguous(*_one(stance), word))


@result
class StabilityChart(Result):
    """Verdicts over a grid of two parameters: values of the first, x (nx), of the second, y (ny);
    verdict (ny, nx); stances and found, of all points, x first."""

    names: tuple[str, str]
    x: np.ndarray
    y: np.ndarray
    verdict: np.ndarray
    stances: Stances
    found: StabilityResult

    def plot(self, ax: Any = None) -> Any:
        """A colour for each verdict. Needs matplotlib."""
        from ._plots import plot_chart

        return plot_chart(self, ax)

    def _summary(self) -> str:
        return f"{self.names[0]} x {self.names[1]}, {len(self.x)} x {len(self.y)}: {self.found._summary()}"


@takes_settings(_core.stability_settings())
def chart(
    name: str, x: Any = None, y: Any = None, *, points: int = 60, backend: str = "auto",
    parameters: Mapping[str, float] | None = None, **settings: Any,
) -> StabilityChart:  # fmt: skip
    """Verdicts of a built-in model over two of its parameters.

    x, y: (parameter, values), or None for the axes of the model's source with this number of points;
    parameters: the others that differ from their defaults. Errors: InvalidInput.
    """
    known = models().get(name)
    if known is None:
        raise refuse("model", repr(name), "must be one of " + ", ".join(models()))
    axes = []
    for field, given, place in (("x", x, 0), ("y", y, 1)):
        if given is None:
            if len(known.axes) <= place:
                raise refuse(field, "left out", f"{name} has no axis of its own for it", "is")
            parameter, low, high = known.axes[place]
            given = parameter, np.linspace(low, high, points)
        axis = from_any(field, given[1])
        if axis.ndim != 1 or not len(axis):
            raise refuse(field, f"of shape {axis.shape}", "must be (parameter, values), a list of them")
        axes.append((str(given[0]), axis))
    (across, u), (up, v) = axes
    values: dict[str, Any] = {**(parameters or {}), across: np.tile(u, len(v)), up: np.repeat(v, len(u))}
    stances = model(name, **values)
    found = analyse(stances, backend=backend, **settings)
    return StabilityChart(
        names=(across, up), x=u, y=v, verdict=found.verdict.reshape(len(v), len(u)), stances=stances, found=found
    )


def trajectory(
    stance: Any, position: Any, velocity: Any, *, events: int = 100, seed: int = 0
) -> dict[str, Any]:
    """The motion from (q, v), (3) each, by closed forms between events: time, kind, contact, mode,
    position and velocity (e, 3) of each event."""
    return _core.stance_trajectory(
        *_one(stance), _numbers("position", position, 3), _numbers("velocity", velocity, 3),
        int(events), int(seed),
    )  # fmt: skip
