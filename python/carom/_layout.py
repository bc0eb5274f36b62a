"""The parts of a dataset and their paths, computed only from the specification, so that writers and
readers need no communication and no list."""

from __future__ import annotations

import bisect
import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

BRANCH = 1000  # parts of a branch of the manifest, and of a folder where there are several branches


@dataclasses.dataclass(frozen=True)
class Part:
    """Rows [first, first + rows) of the dataset, of one split; a file of its own."""

    part: int
    split: str
    number: int
    first: int
    rows: int
    folder: str = ""  # "00012/" in a dataset of more than a thousand parts

    @property
    def file(self) -> str:
        return f"data/{self.folder}{self.split}-{self.number:05d}.h5"

    @property
    def record(self) -> str:
        return f"parts/{self.folder}{self.split}-{self.number:05d}.json"


@dataclasses.dataclass(frozen=True)
class Split:
    """Rows [first, first + rows) of the dataset, in parts from number `part` on."""

    name: str
    first: int
    rows: int
    part: int


class Parts(Sequence[Part]):
    """All parts of a resolved spec, each made when it is asked for."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.rows_a_part = int(spec["part_rows"])
        self.splits: list[Split] = []
        first, part, share = 0, 0, 0.0
        for name in spec["splits"]:
            share += spec["splits"][name]
            last = len(self.splits) == len(spec["splits"]) - 1
            end = spec["problems"] if last else round(share * spec["problems"])
            self.splits.append(Split(name, first, end - first, part))
            part += -(-(end - first) // self.rows_a_part)
            first = end
        self._count = part
        self._begins = [split.part for split in self.splits]

    def __len__(self) -> int:
        return self._count

    @property
    def branches(self) -> int:
        return -(-self._count // BRANCH)

    @overload
    def __getitem__(self, place: int) -> Part: ...
    @overload
    def __getitem__(self, place: slice) -> list[Part]: ...
    def __getitem__(self, place: int | slice) -> Part | list[Part]:
        if isinstance(place, slice):
            return [self._made(part) for part in range(*place.indices(self._count))]
        return self._made(range(self._count)[place])

    def __iter__(self) -> Iterator[Part]:
        return map(self._made, range(self._count))

    def branch(self, number: int) -> list[Part]:
        return self[BRANCH * number : BRANCH * (number + 1)]

    def _made(self, part: int) -> Part:
        # the last split that begins there: others may be empty
        split = self.splits[bisect.bisect_right(self._begins, part) - 1]
        number = part - split.part
        begin = number * self.rows_a_part
        rows = min(self.rows_a_part, split.rows - begin)
        folder = f"{part // BRANCH:05d}/" if self._count > BRANCH else ""
        return Part(part, split.name, number, split.first + begin, rows, folder)

    def split(self, name: str) -> Split:
        return next(split for split in self.splits if split.name == name)

    def named(self, file: str) -> Part | None:
        """Whose file it is, if anybody's."""
        match = re.fullmatch(r"data/(?:\d+/)?([^/]+)-(\d+)\.h5", file)
        for split in self.splits if match else ():
            if split.name == match[1]:  # type: ignore[index]
                part = split.part + int(match[2])  # type: ignore[index]
                if part < self._count and self[part].file == file:
                    return self[part]
        return None
