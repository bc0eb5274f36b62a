"""Exceptions of the library."""

from __future__ import annotations

from typing import Any


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text or None


class InvalidInput(ValueError):
    """A problem's number or a setting was refused, before anything was computed.

    field: array or setting; index: place in it, a tuple, empty for all of it; problem: index in the
    batch, or None; value: the number, or the text that the message shows; rule: what it must be.
    """

    def __init__(
        self,
        message: str,
        field: str = "",
        index: tuple[int, ...] = (),
        problem: int | None = None,
        value: str = "",
        rule: str = "",
    ) -> None:
        super().__init__(message)
        self.field = field
        self.index = tuple(index)
        self.problem = problem
        self.value = _number(value) if isinstance(value, str) else value
        self.rule = rule

    def __reduce__(self) -> tuple[Any, ...]:
        state = (str(self), self.field, self.index, self.problem, self.value, self.rule)
        return (_restored, (type(self), state))


def _restored(cls: type[InvalidInput], state: tuple[Any, ...]) -> InvalidInput:
    message, field, index, problem, value, rule = state
    error = cls(message, field, index, problem, rule=rule)
    error.value = value
    return error


class BackendUnavailable(RuntimeError):
    """The backend asked for is not compiled in, or has no usable device."""


class CudaError(RuntimeError):
    """The CUDA runtime reported an error."""


class SolveError(RuntimeError):
    """on_error="raise" and a problem of the batch was not solved.

    result: all of the call's; problem: index of the first that was not solved; status: its word.
    """

    def __init__(self, message: str, result: Any = None, problem: int = 0, status: str = "") -> None:
        super().__init__(message)
        self.result = result
        self.problem = problem
        self.status = status

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.result, self.problem, self.status))
