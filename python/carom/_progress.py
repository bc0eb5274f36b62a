"""A progress bar on the terminal or in a notebook."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def called(progress: Any) -> Any:
    """What the library calls: a bar for True, None for False."""
    return Bar() if progress is True else progress or None


class Bar:
    """Called with (done, total); by tqdm where it is installed."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._plain = False

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None and not self._plain:
            try:
                self._bar = importlib.import_module("tqdm.auto").tqdm(total=total, unit_scale=True)
            except ImportError:
                self._plain = True
        if self._plain:
            end = "\n" if done >= total else ""
            print(f"\r{100.0 * done / max(total, 1):5.1f} %", end=end, file=sys.stderr, flush=True)
            return
        self._bar.update(done - self._bar.n)
        if done >= total:
            self._bar.close()
