"""What a window shows, as a PNG file: drawn once more and read back, which software rendering can do as well."""

import struct
import zlib
from pathlib import Path

import bpy
import gpu
import numpy as np


def save_window(path: str | Path) -> None:
    """Draw the first window and write it to a file; nothing in the .blend is touched."""
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.wm.redraw_timer(type="DRAW_WIN", iterations=1)
        width, height = gpu.state.viewport_get()[2:]
        drawn = gpu.state.active_framebuffer_get().read_color(0, 0, width, height, 3, 0, "UBYTE")
    drawn.dimensions = width * height * 3
    write_png(path, np.array(drawn, np.uint8).reshape(height, width, 3)[::-1])


def write_png(path: str | Path, pixels: np.ndarray) -> None:
    """Write pixels (H, W, 3) uint8, top row first."""
    height, width = pixels.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = np.concatenate((np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)), axis=1)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b"")
    Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks))


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
