"""Words of the command line that hold several names: a name may have any sign in it, also those between names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from ...solvers.core.errors import InputError

Way = TypeVar("Way")


def cuts(text: str, sign: str) -> list[tuple[str, str]]:
    """What stands before and after each sign of a text, where there is something on both sides."""
    places = [k for k, found in enumerate(text) if found == sign]
    return [(text[:k], text[k + 1 :]) for k in places if text[:k].strip() and text[k + 1 :].strip()]


def name_in(text: str, is_there: Callable[[str], bool]) -> str | None:
    """The name that a text is, else the one that it is without the blanks around it; None where there is neither."""
    return next((name for name in (text, text.strip()) if name and is_there(name)), None)


def listed_names(text: str, is_there: Callable[[str], bool]) -> Iterator[tuple[str, ...]]:
    """Each way to read a text as names of what is there, with commas between them. Empty places count as nothing."""
    parts = text.split(",")

    def ways(start: int) -> Iterator[tuple[str, ...]]:
        if start == len(parts):
            yield ()
            return
        if not parts[start].strip():
            yield from ways(start + 1)
        for end in range(start + 1, len(parts) + 1):
            name = name_in(",".join(parts[start:end]), is_there)
            if name is not None:
                yield from ((name, *rest) for rest in ways(end))

    yield from (names for names in dict.fromkeys(ways(0)) if names)


def only_way(text: str, ways: Sequence[Way], words: Callable[[Way], str]) -> Way | None:
    """The one way to read a text, or None; raises InputError, with the first two, where there are several.

    words: what a way means, for that.
    """
    if len(ways) > 1:
        raise InputError(
            f"'{text}' may mean {words(ways[0])}, or {words(ways[1])}; give one of them a name without these signs."
        )
    return ways[0] if ways else None
