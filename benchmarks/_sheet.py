"""Lines and numbers on a small white sheet, drawn by NumPy alone: for strips of many stick figures."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

Colour = tuple[float, float, float]
BLACK, GREY = (0.1, 0.1, 0.1), (0.75, 0.75, 0.75)
# Rows of three dots, from the top.
_DIGITS = {
    "0": "111 1.1 1.1 1.1 111", "1": ".1. 11. .1. .1. 111", "2": "111 ..1 111 1.. 111", "3": "111 ..1 111 ..1 111",
    "4": "1.1 1.1 111 ..1 ..1", "5": "111 1.. 111 ..1 111", "6": "111 1.. 111 1.1 111", "7": "111 ..1 ..1 ..1 ..1",
    "8": "111 1.1 111 1.1 111", "9": "111 1.1 111 ..1 111",
}  # fmt: skip
_DOT = 2
# Shades of each channel in the file: more cannot be told apart and take room.
_SHADES = 15


class Sheet:
    """A sheet of so many pixels; places (x, y) are in pixels from its upper left corner, y down."""

    def __init__(self, width: int, height: int):
        self.pixels = np.ones((height, width, 3))

    def lines(self, pieces: np.ndarray, colour: Colour = BLACK, width: float = 2.0) -> None:
        """Straight lines (N, 2, 2)."""
        for start, end in np.asarray(pieces, float):
            self._line(start, end, np.asarray(colour), 0.5 * width)

    def number(self, text: str, place: tuple[float, float], colour: Colour = BLACK) -> None:
        """Digits, their upper edge centred at a place."""
        rows = [" ".join(_DIGITS[digit].split()[k] for digit in text).replace(" ", ".") for k in range(5)]
        dots = np.array([[dot != "." for dot in row] for row in rows]).repeat(_DOT, axis=0).repeat(_DOT, axis=1)
        left, top = int(place[0] - dots.shape[1] / 2), int(place[1])
        self.pixels[top : top + dots.shape[0], left : left + dots.shape[1]][dots] = colour

    def save(self, path: Path) -> None:
        """As PNG."""
        levels = np.round(self.pixels * _SHADES) * (255 // _SHADES)
        height, width = levels.shape[:2]
        lines = np.zeros((height, 1 + 3 * width), np.uint8)
        lines[:, 1:] = levels.reshape(height, -1)
        head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
        parts = (b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")
        Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts))

    def _line(self, start, end, colour, half):
        """Each pixel is covered by as much as its centre lies inside, in one pixel's width."""
        limit = np.array(self.pixels.shape[1::-1])
        low = np.clip(np.floor(np.minimum(start, end) - half - 1), 0, limit).astype(int)
        high = np.clip(np.ceil(np.maximum(start, end) + half + 1), 0, limit).astype(int)
        if (high <= low).any():
            return
        x, y = np.arange(low[0], high[0]) + 0.5, np.arange(low[1], high[1])[:, None] + 0.5
        way = end - start
        share = ((x - start[0]) * way[0] + (y - start[1]) * way[1]) / max(way @ way, 1e-12)
        share = np.clip(share, 0.0, 1.0)
        distance = np.hypot(x - start[0] - share * way[0], y - start[1] - share * way[1])
        cover = np.clip(half + 0.5 - distance, 0.0, 1.0)[..., None]
        part = self.pixels[low[1] : high[1], low[0] : high[0]]
        part += cover * (colour - part)


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
