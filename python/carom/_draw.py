"""Random parameters that depend only on (seed, problem, parameter), without state or order, so that every
process computes the same part of a dataset. Philox4x32-10 (Salmon et al. 2011)."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

import numpy as np

from ._arrays import refuse

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def philox(counter: np.ndarray, key: tuple[int, int]) -> np.ndarray:
    """Ten rounds on counters (n, 4) of 32 bits, held in uint64."""
    c = [counter[:, i].astype(np.uint64) for i in range(4)]
    k = [np.uint64(key[0] & 0xFFFFFFFF), np.uint64(key[1] & 0xFFFFFFFF)]
    for _ in range(10):
        first, second = (np.uint64(m) * x for m, x in zip(_MULTIPLIERS, (c[0], c[2])))
        c = [
            (second >> _HALF) ^ c[1] ^ k[0],
            second & _LOW,
            (first >> _HALF) ^ c[3] ^ k[1],
            first & _LOW,
        ]
        k = [np.uint64((int(x) + w) & 0xFFFFFFFF) for x, w in zip(k, _WEYL)]
    return np.stack(c, axis=1)


def words(seed: int, first: int, count: int, name: str) -> np.ndarray:
    """Numbers of 53 bits of problems [first, first + count)."""
    problem = np.arange(first, first + count, dtype=np.uint64)
    counter = np.empty((count, 4), dtype=np.uint64)
    counter[:, 0] = problem & _LOW
    counter[:, 1] = problem >> _HALF
    counter[:, 2] = zlib.crc32(name.encode())
    counter[:, 3] = 0x6361726F  # apart from the samples' numbers
    mixed = philox(counter, (seed & 0xFFFFFFFF, seed >> 32))
    drawn: np.ndarray = (mixed[:, 0] << np.uint64(21)) ^ (mixed[:, 1] >> np.uint64(11))
    return drawn


def uniforms(seed: int, first: int, count: int, name: str) -> np.ndarray:
    """Numbers in (0, 1), multiples of 2^-53 plus half of one."""
    return (words(seed, first, count, name).astype(np.float64) + 0.5) * 2.0**-53


# How many numbers each distribution takes; None: a list of any length.
_KINDS = {
    "uniform": 2,
    "loguniform": 2,
    "norm": 2,
    "truncnorm": 4,
    "choice": None,
}


def checked(name: str, given: Any) -> dict[str, Any]:
    """A distribution as the spec has it, or a number that stands for itself."""
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return {"choice": [float(given)]}
    if not isinstance(given, Mapping):
        raise refuse(f"draw.{name}", repr(given), "must be a number or a table such as {uniform=[0, 1]}")
    kinds = [key for key in given if key != "clip"]
    if len(kinds) != 1 or kinds[0] not in _KINDS:
        raise refuse(f"draw.{name}", str(sorted(given)), "must be one of " + ", ".join(_KINDS))
    kind = kinds[0]
    result: dict[str, Any] = {}
    for key in given:
        values = given[key]
        wanted = 2 if key == "clip" else _KINDS[kind]
        if not isinstance(values, (list, tuple)) or (len(values) != wanted if wanted else not values):
            raise refuse(f"draw.{name}.{key}", repr(values), f"must be a list of {wanted or 'numbers'}")
        numbers = [float(value) for value in values]
        if not all(math.isfinite(number) for number in numbers):
            raise refuse(f"draw.{name}.{key}", repr(values), "must be finite")
        result[key] = numbers
    numbers = result[kind]
    if kind in ("uniform", "loguniform") and not numbers[0] <= numbers[1]:
        raise refuse(f"draw.{name}.{kind}", str(numbers), "must not decrease")
    if kind == "loguniform" and numbers[0] <= 0:
        raise refuse(f"draw.{name}.{kind}", str(numbers), "must be positive")
    if kind in ("norm", "truncnorm") and numbers[1] <= 0:
        raise refuse(f"draw.{name}.{kind}", str(numbers), "the deviation, second, must be positive")
    if kind == "truncnorm" and not numbers[2] < numbers[3]:
        raise refuse(f"draw.{name}.{kind}", str(numbers), "is mean, deviation, low < high")
    if "clip" in result and not result["clip"][0] <= result["clip"][1]:
        raise refuse(f"draw.{name}.clip", str(result["clip"]), "must not decrease")
    return result


def outside(spec: Mapping[str, Any], low: float, high: float, low_open: bool = False) -> float:
    """The share of a distribution's values that are not in [low, high], or (low, high]."""

    def out(value: float) -> bool:
        return value < low or value > high or (low_open and value == low)

    if "choice" in spec:
        values = spec["choice"] if "clip" not in spec else np.clip(spec["choice"], *spec["clip"])
        return sum(map(out, values)) / len(values)
    if "clip" in spec:
        ends = spec["clip"]
    elif "norm" in spec:
        normal = NormalDist(*spec["norm"])
        return normal.cdf(low) + (0.0 if math.isinf(high) else normal.cdf(2.0 * normal.mean - high))
    else:
        ends = spec["truncnorm"][2:] if "truncnorm" in spec else spec.get("uniform", spec.get("loguniform"))
    if "clip" not in spec:  # whose ends are not reached
        return 1.0 if ends[0] < low or ends[1] > high else 0.0
    return 1.0 if any(map(out, ends)) else 0.0


def drawn(spec: Mapping[str, Any], seed: int, first: int, count: int, name: str) -> np.ndarray:
    """Values of a parameter. uniform, loguniform: (low, high); norm: (mean, deviation); truncnorm:
    (mean, deviation, low, high). The C library's functions, value by value: NumPy's own differ in
    the last digit between machines."""
    result: np.ndarray
    u = uniforms(seed, first, count, name)
    if "choice" in spec:
        values = np.array(spec["choice"], dtype=np.float64)
        chosen: np.ndarray = values[np.minimum((u * len(values)).astype(np.int64), len(values) - 1)]
        return chosen
    if "uniform" in spec:
        low, high = spec["uniform"]
        result = low + (high - low) * u
    elif "loguniform" in spec:
        low, high = (math.log(value) for value in spec["loguniform"])
        result = np.array([math.exp(low + (high - low) * value) for value in u.tolist()])
        result = np.clip(result, *spec["loguniform"])
    elif "norm" in spec:
        inverse = NormalDist(*spec["norm"]).inv_cdf
        result = np.array([inverse(value) for value in u.tolist()])
    else:
        mean, deviation, low, high = spec["truncnorm"]
        normal = NormalDist(mean, deviation)
        below, above = normal.cdf(low), normal.cdf(high)
        if not below < above:
            raise refuse(f"draw.{name}.truncnorm", str(spec["truncnorm"]), "has no mass in its range")
        result = np.array([normal.inv_cdf(below + (above - below) * v) for v in u.tolist()])
        result = np.clip(result, low, high)
    if "clip" in spec:
        result = np.clip(result, *spec["clip"])
    return result
