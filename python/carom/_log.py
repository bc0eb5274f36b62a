"""Log messages of carom for Python's logging."""

from __future__ import annotations

import atexit
import logging
from typing import Any

from . import _core

_LEVELS = {"warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}


def set_log(level: str = "info", logger: Any = "carom") -> None:
    """Sends messages up to a level to a logger, or the logger of a name.

    level: "off", "warning" (what was asked for is not there), "info" (once: version, instruction set, devices)
    or "debug" (the backend of each call). Without this call nothing is written, unless the environment variable
    CAROM_LOG names a level: messages then go to standard error. Errors: InvalidInput for another level.
    """
    own = logging.getLogger(logger) if isinstance(logger, str) else logger
    _core.set_log(lambda word, text: own.log(_LEVELS[word], text), level)


# The library outlives the interpreter.
atexit.register(_core.set_log, None, "off")
