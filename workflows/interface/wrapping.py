"""Texts over as many lines as the sidebar's width asks for: labels do not wrap by themselves."""

from __future__ import annotations

_POINTS = 11.0  # of the interface's font, for which the widths below hold
# Pixels a letter, rounded up: small sizes are drawn somewhat wider than the font's outlines say.
_NARROW, _USUAL, _BROAD, _BROADEST, _SQUARE = 3.8, 6.2, 7.9, 10.5, 12.0
_NARROW_LETTERS = frozenset("fijlrtI.,:;'`|!/\\ ")
_USUAL_LETTERS = frozenset("()[]{}_?\"")
_BROADEST_LETTERS = frozenset("mwMW@%")
# What a label loses on a line of the sidebar: tabs, margins, a box and an icon.
_FRAME = 92.0


def fitting_lines(context, text: str) -> list[str]:
    """The text cut into lines that fit a label with an icon in the region that is drawn."""
    preferences = context.preferences
    style = preferences.ui_styles[0].widget if len(preferences.ui_styles) else None
    letter = (style.points if style else _POINTS) / _POINTS
    return wrap(text, (context.region.width / preferences.system.ui_scale - _FRAME) / letter)


def wrap(text: str, width: float) -> list[str]:
    """Cut a text into lines of at most width pixels, between words where it can be done."""
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}".strip()
        if length(joined) <= width:
            lines[-1] = joined
            continue
        *full, rest = _pieces(word, width)
        lines += [*full, rest]
    return [line for line in lines if line]


def _pieces(word: str, width: float) -> list[str]:
    """A word that is longer than a line, such as a path, in pieces."""
    pieces = [""]
    for letter in word:
        if pieces[-1] and length(pieces[-1] + letter) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def length(text: str) -> float:
    """Pixels that a text takes, at the usual size of the interface."""
    return sum(map(_letter, text))


def _letter(letter: str) -> float:
    if letter in _NARROW_LETTERS:
        return _NARROW
    if letter in _BROADEST_LETTERS:
        return _BROADEST
    if ord(letter) > 0x2E7F:  # from here on scripts whose letters are squares
        return _SQUARE
    return _USUAL if letter.islower() or letter in _USUAL_LETTERS else _BROAD
