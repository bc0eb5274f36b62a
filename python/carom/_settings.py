"""Keywords of the functions, made from the library's lists of settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# Settings of earlier versions, which have no effect, and the values that they took.
_FORMER = {"precision": ("double", "float", "float64", "float32")}


def in_words(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of the library, without those of earlier versions."""
    for name, words in _FORMER.items():
        if settings.get(name) in words:
            del settings[name]
    return settings


def described(setting: dict[str, Any], default: Any) -> str:
    text = f"    {setting['name']}={default!r}: {setting['help']}"
    if setting["unit"]:
        text += f" [{setting['unit']}]"
    if "words" in setting:
        text += ": " + ", ".join(setting["words"])
    if setting["zero"]:
        text += f"; 0: {setting['zero']}"
    return text


def takes_settings(
    table: Iterable[dict[str, Any]],
    without: Iterable[str] = (),
    defaults: dict[str, Any] | None = None,
) -> Callable[[Function], Function]:
    """Gives a function that ends in **settings the signature and the documentation of them all.

    defaults: those that differ from the library's own.
    """

    def decorated(function: Function) -> Function:
        signature = inspect.signature(function)
        parameters = [p for p in signature.parameters.values() if p.kind != p.VAR_KEYWORD]
        lines = []
        for setting in table:
            name = setting["name"]
            if name in without or name in signature.parameters:
                continue
            default = (defaults or {}).get(name, setting["default"])
            lines.append(described(setting, default))
            parameters.append(
                inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=setting["type"]
                )
            )
        function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        doc = inspect.cleandoc(function.__doc__ or "")
        function.__doc__ = doc + "\n\nSettings:\n" + "\n".join(lines) + "\n"
        return function

    return decorated
