"""Pictures made of numbers, as images of the file, and as icons for panels."""

from __future__ import annotations

import bpy
import numpy as np


def write_picture(name: str, pixels: np.ndarray, image: bpy.types.Image | None = None) -> bpy.types.Image:
    """An image of pixels (H, W, 4) float32 RGBA, the lowest row first, packed into the file.

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
    return image


def icon_of(image: bpy.types.Image) -> int:
    """The number of an icon that shows the image, for ``UILayout.template_icon``; 0 where there is none."""
    preview = image.preview_ensure()
    return preview.icon_id if preview is not None else 0
