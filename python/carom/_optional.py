"""Imports of packages that only some functions need."""

from __future__ import annotations

import importlib
from typing import Any


def needed(module: str, what: str, extra: str) -> Any:
    """The module. Errors: ImportError that says what needs it and which extra of carom has it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{what} needs {package}: pip install 'carom[{extra}]'") from error
