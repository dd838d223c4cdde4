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
