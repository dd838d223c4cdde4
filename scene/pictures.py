"""Pictures made of numbers, as images of the file, and as icons for panels."""

from __future__ import annotations

import bpy
import numpy as np

_PREVIEW = 256  # pixels of the longer side, at most: more than panels give an icon


def write_picture(name: str, pixels: np.ndarray, image: bpy.types.Image | None = None) -> bpy.types.Image:
    """An image of pixels (H, W, 4) float32 sRGB with alpha, the lowest row first, packed into the file.

    image: is given these pixels instead of a new one, where it has no other size and can be changed.
    """
    height, width = pixels.shape[:2]
    if image is not None and (image.library is not None or tuple(image.size) != (width, height)):
        if image.library is None:
            image.scale(width, height)
        else:
            image = None
    if image is None:
        image = bpy.data.images.new(name, width, height, alpha=False)
    image.pixels.foreach_set(np.ascontiguousarray(pixels, np.float32).ravel())
    image.update()
    image.pack()
    _write_preview(image, pixels)
    return image


def _write_preview(image: bpy.types.Image, pixels: np.ndarray) -> None:
    """Blender's own previews skip pixels, which tears thin lines, and come later than the panel is drawn."""
    preview = image.preview_ensure()
    rows, columns = (_averages(count, max(pixels.shape[:2])) for count in pixels.shape[:2])
    small = np.einsum("ij,jkc,lk->ilc", rows, pixels, columns, optimize=True)
    preview.image_size = small.shape[1], small.shape[0]
    preview.image_pixels_float.foreach_set(np.ascontiguousarray(small, np.float32).ravel())


def _averages(count: int, longer: int) -> np.ndarray:
    """(M, count) weights by which the pixels along a side become those of the preview."""
    many = max(1, min(count, round(count * _PREVIEW / longer)))
    edges, pixel = np.linspace(0.0, count, many + 1), np.arange(count)
    shares = np.minimum(edges[1:, None], pixel + 1) - np.maximum(edges[:-1, None], pixel)
    return np.clip(shares, 0.0, None) * (many / count)


def icon_of(image: bpy.types.Image) -> int:
    """The number of an icon that shows the image, for ``UILayout.template_icon``; 0 where there is none."""
    preview = image.preview_ensure()
    return preview.icon_id if preview is not None else 0
