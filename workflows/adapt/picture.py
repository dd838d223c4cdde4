"""The contacts and the worst events of a result over time, as an SVG file."""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import escape

import numpy as np

from ...solvers.adapt import findings
from ...solvers.adapt.findings import Findings
from ...solvers.adapt.worst_events import Event
from .findings import bone_of, contacts_at, joints_of_limbs

_WIDTH, _LEFT, _RIGHT, _TOP = 960, 150, 44, 40
_BAR, _STRIP, _GAP = 18, 80, 34
_INK, _FAINT, _CURVE = "#222222", "#e4e4e4", "#2f6db5"
_KEPT, _LOST, _COVERED = "#3a8f5c", "#d1442f", "#a8a8a8"


@dataclass(frozen=True)
class _Strip:
    """A curve over time. values: (F,), NaN where there is none.  bound: what is too much."""

    title: str
    unit: str
    values: np.ndarray
    bound: float | None
    event: Event | None
    factor: float


def picture(found: Findings, title: str) -> str:
    """Bars of each limb's contacts above curves of the largest jump, turn, tilt and shift at each frame.

    What is lost is red, what is covered dark grey; the worst of each curve is marked, what is too much is dashed.
    """
    limbs = joints_of_limbs(found)
    strips = _strips(found)
    out = [_text(_LEFT, 22, title, size=15)]
    y = _TOP
    for bone, joints in limbs.items():
        out += _bars(found, joints, bone, y)
        y += _BAR
    y += _GAP if limbs else 0
    for strip in strips:
        out += _curve(found, strip, y)
        y += _STRIP + _GAP
    out += _axis(found, y - _GAP + 16)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" width="{_WIDTH}" height="{y}" '
        f'font-family="sans-serif" font-size="12"><rect width="{_WIDTH}" height="{y}" fill="#ffffff"/>'
    )
    return "\n".join((head, *out, "</svg>\n"))


def titled(svg: str, title: str) -> str:
    """A picture that was made under another title, which is its first text."""
    before, after = svg.split("</text>", 1)
    return f"{before[: before.rindex('>') + 1]}{escape(title)}</text>{after}"


def _strips(found: Findings) -> list[_Strip]:
    bound = 100.0 * findings.JUMP * found.scale
    return [
        _Strip("Jump", "cm a frame", 100.0 * _of_steps(found.jumps), bound, found.jump, 100.0),
        _Strip("Turn", "degrees a frame", _of_steps(found.turns), findings.TURN, found.turn, 1.0),
        _Strip("Tilt of the trunk", "degrees", found.tilts, findings.TILT, found.tilt, 1.0),
        _Strip("Balance", "cm", 100.0 * found.balance, None, found.shift, 100.0),
    ]


def _of_steps(sizes):
    """(F,) the largest of all joints at the frame at which each of (F - 1, J) steps ends."""
    return np.concatenate(([np.nan], np.maximum(sizes.max(axis=1), 0.0)))


def _x(found: Findings, frame):
    """Pixels of a scene frame; each frame is as wide as the step to the next."""
    first, last = found.frames[0], found.frames[-1]
    step = (last - first) / max(len(found.frames) - 1, 1) or 1.0
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (frame - first) / (last - first + step)


def _bars(found: Findings, joints, bone: str, y: float) -> list[str]:
    counted, kept, covered = contacts_at(found, joints)
    state = np.select((kept, counted, covered), (_KEPT, _LOST, _COVERED), _FAINT)
    out = [
        _text(_LEFT - 8, y + 12, bone, anchor="end"),
        _box(_LEFT, y + 2, _WIDTH - _LEFT - _RIGHT, _BAR - 4, _FAINT),
    ]
    step = found.frames[1] - found.frames[0] if len(found.frames) > 1 else 1.0
    for start, end in _runs(state):
        if state[start] != _FAINT:
            left, right = _x(found, found.frames[start]), _x(found, found.frames[end - 1] + step)
            out.append(_box(left, y + 2, right - left, _BAR - 4, state[start]))
    return out


def _curve(found: Findings, strip: _Strip, y: float) -> list[str]:
    known = np.isfinite(strip.values)
    top = max(1.15 * float(strip.values[known].max(initial=0.0)), 1.3 * (strip.bound or 0.0), 1e-6)
    heights = y + _STRIP * (1.0 - strip.values / top)
    out = [
        _box(_LEFT, y, _WIDTH - _LEFT - _RIGHT, _STRIP, "#f6f6f6"),
        _text(_LEFT - 8, y + 14, strip.title, anchor="end"),
        _text(_LEFT - 8, y + 30, strip.unit, anchor="end", colour="#777777"),
    ]
    if strip.bound:
        level = y + _STRIP * (1.0 - strip.bound / top)
        out += [
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{level:.1f}" y2="{level:.1f}" stroke="{_LOST}" '
            'stroke-dasharray="5 4"/>',
            _text(_WIDTH - _RIGHT + 4, level + 4, f"{strip.bound:.3g}", colour=_LOST),
        ]
    for xs, ys in _pieces(_x(found, found.frames), heights):
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(xs, ys, strict=True))
        out.append(f'<polyline points="{points}" fill="none" stroke="{_CURVE}" stroke-width="1.5"/>')
    return out + _mark(found, strip, y, top)


def _mark(found: Findings, strip: _Strip, y: float, top: float) -> list[str]:
    """The worst of a curve: a dot and what it is."""
    event = strip.event
    if event is None:
        return [_text(_LEFT + 8, y + 16, "nothing to measure", colour="#777777")]
    size = strip.factor * max(event.size, 0.0)
    x, height = _x(found, event.frame), y + _STRIP * (1.0 - size / top)
    left = x > 0.6 * _WIDTH
    said = f"{size:.1f} {strip.unit.split()[0]}, {bone_of(found, event.joint)}, frame {event.frame:g}"
    return [
        f'<circle cx="{x:.1f}" cy="{height:.1f}" r="4" fill="{_LOST}"/>',
        _text(x - 8 if left else x + 8, max(height, y + 10) + 2, said, anchor="end" if left else "start"),
    ]


def _pieces(xs, ys):
    """Runs of known places (n,) each, thinned out to the highest of each pixel."""
    column = np.floor(xs).astype(int)
    order = np.lexsort((ys, column))
    keep = np.zeros(len(xs), bool)
    keep[order[np.flatnonzero(np.diff(column[order], prepend=-1))]] = True
    xs, ys = xs[keep], ys[keep]
    known = np.isfinite(ys)
    return [(xs[a:b], ys[a:b]) for a, b in _runs(known) if known[a]]


def _runs(values):
    """Where runs of equal values (n,) start and end."""
    edges = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    return zip(edges, np.append(edges[1:], len(values)), strict=True)


def _axis(found: Findings, y: float) -> list[str]:
    first, last = found.frames[0], found.frames[-1]
    step = max(_rounded(last - first) / 10.0, 1.0)
    ticks = np.arange(np.ceil(first / step) * step, last + 1e-6, step)
    return [
        *(_text(_x(found, tick), y, f"{tick:g}", anchor="middle") for tick in ticks),
        _text(_LEFT - 8, y, "frame", anchor="end"),
    ]


def _rounded(span: float) -> float:
    """The next larger of 1, 2, 5, 10, 20 ..."""
    size = 10.0 ** np.floor(np.log10(max(span, 1.0)))
    return next(size * factor for factor in (1.0, 2.0, 5.0, 10.0) if size * factor >= span)


def _box(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start", colour: str = _INK, size: int = 12) -> str:
    look = f'text-anchor="{anchor}" fill="{colour}" font-size="{size}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(text)}</text>'
