"""Work in steps: generators that yield how far they are and return their result."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any


def changed(steps: Generator[Any, None, Any], change: Callable[[Any], Any]) -> Generator[Any, None, Any]:
    """The same steps with what a function makes of each that they yield; returns what they return."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            return end.value
        yield change(step)


def result_of(steps: Generator[Any, None, Any]) -> Any:
    """Run a generator to its end; returns what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def within(steps: Generator[float, None, Any], start: float, end: float) -> Generator[float, None, Any]:
    """The same steps, the shares done that they yield lying between start and end; returns what they return."""
    return changed(steps, lambda share: start + (end - start) * share)
