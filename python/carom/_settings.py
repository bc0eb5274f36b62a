"""Keywords of the functions, made from the library's lists of settings."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from .errors import InvalidInput

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


def argument_words(text: str, field: str, arguments: Mapping[str, str]) -> str:
    """A refusal of `field` that begins with the argument as its caller wrote it: "l[2] (lower) is ..."."""
    for array, argument in arguments.items():
        text = re.sub(rf"\b{array}\[", f"{argument}[", text)
        text = re.sub(rf"(must have \d+ as ){array}\b", rf"\g<1>{argument}", text)
    array = re.split(r"\W", field)[0]
    argument = arguments.get(array, array)
    if argument == array:
        return text
    return re.sub(rf"^(?:{argument}((?:\[[^\]]*\])+)|{array}\b)", lambda m: f"{argument}{m[1] or ''} ({array})", text)


def takes_arrays(**arguments: str) -> Callable[[Function], Function]:
    """Refusals of a function name the argument, too.

    arguments: by the names that the library has for the arrays, which `field` of the exception keeps.
    """

    def decorated(function: Function) -> Function:
        @functools.wraps(function)
        def call(*args: Any, **more: Any) -> Any:
            try:
                return function(*args, **more)
            except InvalidInput as error:
                error.args = (argument_words(str(error), error.field, arguments),)
                raise

        return call  # type: ignore[return-value]

    return decorated


IMPACT_ARRAYS = {
    "mass_matrix": "M", "velocity": "v", "normal_jacobian": "Jn", "tangent_jacobian": "Jt", "friction": "mu",
}  # fmt: skip


def takes_problems(function: Function) -> Function:
    """Refusals of a function of *problems name the argument, too, where the five arrays were given."""

    @functools.wraps(function)
    def call(*problems: Any, **more: Any) -> Any:
        if len(problems) != len(IMPACT_ARRAYS):
            return function(*problems, **more)
        replaced = {array: array for array in IMPACT_ARRAYS if more.get(array) is not None}
        return takes_arrays(**{**IMPACT_ARRAYS, **replaced})(function)(*problems, **more)

    return call  # type: ignore[return-value]
