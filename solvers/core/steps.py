"""Work in steps: generators that yield how far they are and return their result."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any


def result_of(steps: Generator[Any, None, Any]) -> Any:
    """Run a generator to its end; returns what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def within(steps: Generator[float, None, Any], start: float, end: float) -> Generator[float, None, Any]:
    """The same steps, the shares done that they yield lying between start and end; returns what they return."""
    while True:
        try:
            share = next(steps)
        except StopIteration as stop:
            return stop.value
        yield start + (end - start) * share
