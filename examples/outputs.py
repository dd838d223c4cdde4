"""The files that the demos write, each whole or not at all; the extension is to be enabled before."""

from __future__ import annotations

import importlib

import bpy
import numpy as np
import strip

import checkout

_SCENE = f"{checkout.PACKAGE}.scene"
blend_file, whole_file = (importlib.import_module(f"{_SCENE}.{name}") for name in ("blend_file", "whole_file"))

_WAY_OUT = "choose another --out, on a disk with space"
_PNG_END = b"IEND\xaeB`\x82"


def save_picture(pixels: np.ndarray, path: str) -> None:
    """Write a picture (H, W, 4), bottom line first, as PNG; raises OutputError where the disk does not take it."""
    height, width = pixels.shape[:2]
    place = whole_file.destination(path, _WAY_OUT)
    image = bpy.data.images.new("strip", width, height, alpha=False)
    try:
        image.pixels.foreach_set(np.ascontiguousarray(pixels, np.float32).ravel())
        image.file_format = "PNG"
        with place.part() as part:
            image.filepath_raw = str(part)
            try:
                image.save()
            except RuntimeError as error:
                raise place.refused(f"'{path}' cannot be written: {str(error).strip()}") from error
            if not part.read_bytes().endswith(_PNG_END):
                raise place.refused(f"'{path}' cannot be written: the disk did not take all of it")
    finally:
        bpy.data.images.remove(image)


def save_scene(path: str, frame: int) -> None:
    """Save the open file there, showing a frame; raises OutputError where the disk does not take it."""
    place = whole_file.destination(path, _WAY_OUT)
    bpy.context.scene.frame_set(frame)
    try:
        with strip.quiet():
            bpy.ops.wm.save_as_mainfile(filepath=str(place.path), check_existing=False)
    except RuntimeError as error:
        raise place.refused(f"'{path}' cannot be saved, perhaps the disk is full ({str(error).strip()})") from error
    if not blend_file.is_whole(place.path):
        place.path.unlink()
        raise place.refused(f"'{path}' cannot be saved: the disk did not take all of it")
